"""Figures drawn by processes of their own: vl-convert keeps Python's lock while it draws."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any

from irmeta.errors import IrmetaError
from irmeta.parallel import Lent
from irmeta.report import vega


class Drawer:
    """A process that draws, for one thread at a time; begun when it is asked for something."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._refused = False

    def draw(self, spec: dict[str, Any], ppi: int | None) -> dict[str, str]:
        """A figure, see `vega.answer`; drawn here where no process can be begun.

        Raises
        ------
        IrmetaError
            If it cannot be drawn, or the process ends meanwhile; the next figure has a new one.
        """
        if self._process is None and not self._refused:
            self._process = _begin()
            self._refused = self._process is None
        if self._process is None:
            return vega.answer(spec, ppi)
        try:
            line = _ask(self._process, [spec, ppi])
        except BaseException:  # its answer would be taken for the next one
            self.close(at_once=True)
            raise
        if not line.endswith(b"\n"):
            self.close(at_once=True)
            raise IrmetaError("a figure is lost: the process that drew it has ended.")
        found = json.loads(line)
        if "error" in found:
            raise IrmetaError(f"a figure cannot be drawn ({found['error']}).")
        return found

    def close(self, at_once: bool = False) -> None:
        """Let the process end, and wait for it."""
        process, self._process = self._process, None
        if process is not None:
            _end(process, at_once)


def _begin() -> subprocess.Popen[bytes] | None:
    """A process that is ready to draw; None where there is no Python to begin."""
    if getattr(sys, "frozen", False) or not sys.executable:
        return None
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", vega.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0 if os.name == "posix" else None,  # Ctrl-C is for who asks
        )
    except OSError:
        return None
    if _ask(process, [path or os.getcwd() for path in sys.path]) == vega.READY:
        return process
    _end(process, at_once=True)
    return None


def _ask(process: subprocess.Popen[bytes], what: object) -> bytes:
    """The line that a process answers; less than a line where it has ended."""
    into, out = process.stdin, process.stdout
    assert into is not None
    assert out is not None
    try:
        into.write(json.dumps(what).encode() + b"\n")
        into.flush()
        return out.readline()
    except OSError:
        return b""


def _end(process: subprocess.Popen[bytes], at_once: bool) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # of a pipe that no one reads any more
                stream.close()
    if at_once:
        process.kill()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


_lock = Lock()
_users = 0
_threads = 1
_drawers: Lent[Drawer] | None = None


@contextmanager
def apart(workers: int) -> Iterator[None]:
    """Let `svg` draw in other processes, as many as threads ask at once, until this ends.

    Those threads, `workers` of them, must have ended by then. Whoever is within it at once shares
    the processes.
    """
    global _drawers, _threads, _users
    with _lock:
        _users += 1
        _threads = max(_threads, workers)
        _drawers = _drawers or Lent(Drawer)
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            ended = _drawers if _users == 0 else None
            if ended is not None:
                _drawers, _threads = None, 1
        for drawer in ended.all if ended is not None else ():
            drawer.close()


def threads() -> int:
    """How many figures may be drawn at once."""
    return _threads


def svg(spec: dict[str, Any]) -> str:
    """The figure of a Vega-Lite spec, drawn here or, within `apart`, in another process."""
    if (drawers := _drawers) is None:
        return vega.vega_svg(spec)
    with drawers.lend() as drawer:
        return drawer.draw(spec, None)["svg"]


def pdf_and_png(spec: dict[str, Any], ppi: int) -> tuple[bytes, bytes]:
    """As `svg`, for paper."""
    if (drawers := _drawers) is None:
        return vega.vega_print(spec, ppi)
    with drawers.lend() as drawer:
        found = drawer.draw(spec, ppi)
    return b64decode(found["pdf"]), b64decode(found["png"])
