"""Figures drawn by processes of their own: vl-convert keeps Python's lock while it draws.

Those that draw SVG are kept from the system's fonts. vl-convert opens them again for each text that
it measures, where Liberation Sans is among them; the one that it carries measures the same. What
that cannot write, and PNG and PDF, of which glyphs are a part, are drawn with all fonts.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from base64 import b64decode
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from irmeta.errors import IrmetaError
from irmeta.parallel import ObjectPool
from irmeta.report import vega
from irmeta.report.look import print_of, svg_of

_NO_FONTS = str(Path(vega.__file__).with_name("fonts.conf"))
# Latin, Greek, dashes, quotes, the minus and signs of inequality: what Liberation Sans of 1.07 on
# has, less the characters that vl-convert's own measures otherwise (U+00B7, U+2010)
_CARRIED = re.compile(
    "[\0-\u00b6\u00b8-\u017f\u0391-\u03a1\u03a3-\u03ce\u2013-\u2015\u2017-\u201e\u2020-\u2022"
    "\u2026\u2212\u2264\u2265]*"
)


class Drawer:
    """A process that draws, for one thread at a time; begun when it is asked for something.

    Parameters
    ----------
    fonts
        Whether it has the system's fonts beside the one that vl-convert carries.
    """

    def __init__(self, fonts: bool = True) -> None:
        self._fonts = fonts
        self._process: subprocess.Popen[bytes] | None = None
        self._refused = False

    def draw(self, spec: dict[str, Any], ppi: int | None) -> dict[str, str]:
        """Draw a figure, see `vega.answer`; in this process where no other can be started.

        Raises
        ------
        IrmetaError
            If it cannot be drawn, or the process ends meanwhile; the next figure has a new one.
        """
        if self._process is None and not self._refused:
            self._process = _begin(self._fonts)
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


def _begin(fonts: bool) -> subprocess.Popen[bytes] | None:
    """Start a process that draws; None where there is no Python to start."""
    if getattr(sys, "frozen", False) or not sys.executable:
        return None
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", vega.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=None if fonts else os.environ | {"FONTCONFIG_FILE": _NO_FONTS},
            process_group=0 if os.name == "posix" else None,  # Ctrl-C is for who asks
        )
    except OSError:
        return None
    if _ask(process, [path or os.getcwd() for path in sys.path]) == vega.READY:
        return process
    _end(process, at_once=True)
    return None


def _ask(process: subprocess.Popen[bytes], what: object) -> bytes:
    """Return the line that a process answers; less than a line if it has ended."""
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


@dataclass(frozen=True)
class _Drawers:
    """Processes with the system's fonts and without; as many of each as are asked at once."""

    plain: ObjectPool[Drawer] = field(
        default_factory=lambda: ObjectPool(lambda: Drawer(fonts=False))
    )
    full: ObjectPool[Drawer] = field(default_factory=lambda: ObjectPool(Drawer))

    def close(self) -> None:
        for drawer in (*self.plain.all, *self.full.all):
            drawer.close()


_lock = Lock()
_users = 0
_threads = 1
_drawers: _Drawers | None = None


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
        _drawers = _drawers or _Drawers()
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            ended = _drawers if _users == 0 else None
            if ended is not None:
                _drawers, _threads = None, 1
        if ended is not None:
            ended.close()


def threads() -> int:
    """How many figures may be drawn at once."""
    return _threads


def svg(spec: dict[str, Any]) -> str:
    """Draw a Vega-Lite spec as SVG, within `apart` in another process."""
    if (drawers := _drawers) is None:
        return vega.vega_svg(spec)
    carried = _CARRIED.fullmatch(json.dumps(spec, ensure_ascii=False))
    with (drawers.plain if carried else drawers.full).borrow() as drawer:
        return drawer.draw(spec, None)["svg"]


def pdf_and_png(spec: dict[str, Any], ppi: int) -> tuple[bytes, bytes]:
    """As `svg`, for paper."""
    if (drawers := _drawers) is None:
        return vega.vega_print(spec, ppi)
    with drawers.full.borrow() as drawer:
        found = drawer.draw(spec, ppi)
    return b64decode(found["pdf"]), b64decode(found["png"])


def draw(spec: dict[str, Any], formats: Collection[str]) -> dict[str, bytes]:
    """Draw a spec of `irmeta.report.look.to_spec` in some of the formats svg, pdf and png."""
    images = {}
    if "svg" in formats:
        images["svg"] = svg_of(spec, svg).encode()
    if "pdf" in formats or "png" in formats:
        images["pdf"], images["png"] = print_of(spec, draw=pdf_and_png)
    return {name: images[name] for name in formats}
