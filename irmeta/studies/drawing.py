"""Figures drawn by processes of their own: vl-convert keeps Python's lock for as long as it draws.

Run as a script this is such a process. Each line in and out is JSON: a Vega-Lite spec, with the
pixels of its PNG or none; its SVG, or its PDF and PNG, or the error.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from irmeta.errors import IrmetaError
from irmeta.parallel import Lent, usable_cores
from irmeta.report.vega import vega_print, vega_svg


class Drawer:
    """A process that draws, for one thread at a time; begun when it is asked for something."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def draw(self, spec: dict[str, Any], ppi: int | None) -> dict[str, str]:
        """The figure of a spec: svg or, with `ppi`, pdf and png in base64.

        Raises
        ------
        IrmetaError
            If it cannot be drawn, or the process ends meanwhile; the next figure has a new one.
        """
        self._process = self._process or _begin()
        into, out = self._process.stdin, self._process.stdout
        assert into is not None
        assert out is not None
        try:
            into.write(json.dumps([spec, ppi]).encode() + b"\n")
            into.flush()
            line = out.readline()
        except OSError:
            line = b""
        if not line:
            self.close()
            raise IrmetaError("a figure is lost: the process that drew it has ended.")
        found = json.loads(line)
        if "error" in found:
            raise IrmetaError(f"a figure cannot be drawn ({found['error']}).")
        return found

    def close(self) -> None:
        """Let the process end, and wait for it."""
        if self._process is None:
            return
        with suppress(OSError):  # of a pipe that no one reads any more
            self._process.communicate()
        self._process = None


def _begin() -> subprocess.Popen[bytes]:
    # It finds vl-convert where this process does, and nothing beside this file.
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-P", __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": paths},
    )


_drawers: Lent[Drawer] | None = None


@contextmanager
def apart() -> Iterator[None]:
    """Let `svg` draw in other processes, as many as threads ask at once, until this ends."""
    global _drawers
    before, own = _drawers, Lent(Drawer)
    _drawers = own
    try:
        yield
    finally:
        _drawers = before
        for drawer in own.all:
            drawer.close()


def threads() -> int:
    """How many figures are best drawn at once."""
    return 1 if _drawers is None else usable_cores()


def svg(spec: dict[str, Any]) -> str:
    """The figure of a Vega-Lite spec, drawn here or, within `apart`, in another process."""
    if (drawers := _drawers) is None:
        return vega_svg(spec)
    with drawers.lend() as drawer:
        return drawer.draw(spec, None)["svg"]


def pdf_and_png(spec: dict[str, Any], ppi: int) -> tuple[bytes, bytes]:
    """As `svg`, for paper."""
    if (drawers := _drawers) is None:
        return vega_print(spec, ppi)
    with drawers.lend() as drawer:
        found = drawer.draw(spec, ppi)
    return b64decode(found["pdf"]), b64decode(found["png"])


def _answer(spec: dict[str, Any], ppi: int | None) -> dict[str, str]:
    if ppi is None:
        return {"svg": vega_svg(spec)}
    images = zip(("pdf", "png"), vega_print(spec, ppi), strict=True)
    return {name: b64encode(image).decode() for name, image in images}


def serve() -> None:
    """Draw until there is nothing more to draw; whoever asks ends, not a Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin.buffer:
        try:
            answer = _answer(*json.loads(line))
        except Exception as error:
            answer = {"error": str(error)}
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    serve()
