"""Drawing of figures in other processes: vl-convert holds Python's lock while it draws.

The processes run `irmeta.report.vega` alone. A ProcessPoolExecutor would run the user's script
again in every spawned process, which fails in scripts without a ``__main__`` guard.

Processes that draw SVG do not see the system's fonts: where Liberation Sans is installed,
vl-convert would open it again for every text that it measures, and its bundled copy measures the
same. PNG, PDF and texts with other characters are drawn with all fonts.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from base64 import b64decode
from collections.abc import Collection, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from threading import Lock
from typing import Any

from irmeta.errors import IrmetaError
from irmeta.parallel import ObjectPool, check_stopped
from irmeta.report import vega
from irmeta.report.figure_file import images_of
from irmeta.report.theme import PPI

_NO_FONTS = str(Path(vega.__file__).with_name("fonts.conf"))
# Latin, Greek, dashes, quotes, minus and inequality signs: the characters of Liberation Sans from
# version 1.07 on, except those that the bundled copy measures differently (U+00B7, U+2010).
_CARRIED = re.compile(
    "[\0-\u00b6\u00b8-\u017f\u0391-\u03a1\u03a3-\u03ce\u2013-\u2015\u2017-\u201e\u2020-\u2022"
    "\u2026\u2212\u2264\u2265]*"
)


_TICK = 0.1  # seconds between looks for an interrupt
_running: set[subprocess.Popen[bytes]] = set()


class Drawer:
    """Process that draws for one thread at a time, started by the first figure.

    Without `fonts` the process sees vl-convert's bundled font alone, not those of the system.
    """

    def __init__(self, fonts: bool = True) -> None:
        self._fonts = fonts
        self._process: subprocess.Popen[bytes] | None = None
        self._refused = False

    def draw(
        self, spec: dict[str, Any], formats: Collection[str], ppi: int = PPI
    ) -> dict[str, str]:
        """Draw a figure as `vega.answer` does; in this process if no other can be started.

        Raises
        ------
        IrmetaError
            If the figure cannot be drawn, or the process ends; the next figure starts a new one.
        """
        if self._process is None and not self._refused:
            self._process = _begin(self._fonts)
            self._refused = self._process is None
        if self._process is None:
            return vega.answer(spec, formats, ppi)
        try:
            line = _ask(self._process, [spec, [*formats], ppi])
        except BaseException:  # the next figure would receive this one's answer
            self.close(at_once=True)
            raise
        if not line.endswith(b"\n"):
            self.close(at_once=True)
            raise IrmetaError("a figure was not drawn: the drawing process has ended.")
        answer = json.loads(line)
        if "error" in answer:
            raise IrmetaError(f"a figure cannot be drawn ({answer['error']}).")
        return answer

    def close(self, at_once: bool = False) -> None:
        """End the process and wait for it."""
        process, self._process = self._process, None
        if process is not None:
            _end(process, at_once)


def _begin(fonts: bool) -> subprocess.Popen[bytes] | None:
    """Start a process that draws; return None if no Python can be started."""
    if getattr(sys, "frozen", False) or not sys.executable:
        return None
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", vega.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=None if fonts else os.environ | {"FONTCONFIG_FILE": _NO_FONTS},
            process_group=0 if os.name == "posix" else None,  # Ctrl-C is for this process
        )
    except OSError:
        return None
    _running.add(process)
    is_ready = False
    try:
        is_ready = _ask(process, [path or os.getcwd() for path in sys.path]) == vega.READY
    finally:  # an interrupt too
        if not is_ready:
            _end(process, at_once=True)
    return process if is_ready else None


def _ask(process: subprocess.Popen[bytes], what: object) -> bytes:
    """Return the line that a process answers; an incomplete line if the process has ended."""
    into, out = process.stdin, process.stdout
    assert into is not None
    assert out is not None
    try:
        into.write(json.dumps(what).encode() + b"\n")
        into.flush()
        if os.name == "posix":  # Windows waits for no pipe
            with DefaultSelector() as selector:
                selector.register(out, EVENT_READ)
                while not selector.select(_TICK):
                    check_stopped()
        return out.readline()
    except OSError:
        return b""


def _end(process: subprocess.Popen[bytes], at_once: bool) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # the other end of the pipe is closed
                stream.close()
    if at_once:
        process.kill()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    _running.discard(process)


def end_all() -> None:
    """Kill all processes that draw, before this process exits without cleaning up."""
    for process in tuple(_running):
        process.kill()


@dataclass(frozen=True)
class _Drawers:
    """Processes with and without the system's fonts, one of each per thread that draws."""

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
def apart(workers: int) -> Generator[None]:
    """Draw in other processes within this context, one for each of `workers` threads.

    The threads must end before the context does. Overlapping contexts share the processes.
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
    """Return the number of figures that may be drawn at once."""
    return _threads


def svg(spec: dict[str, Any]) -> str:
    """Draw a Vega-Lite spec as SVG, in another process within `apart`."""
    if (drawers := _drawers) is None:
        return vega.vega_svg(spec)
    carried = _CARRIED.fullmatch(json.dumps(spec, ensure_ascii=False))
    with (drawers.plain if carried else drawers.full).borrow() as drawer:
        return drawer.draw(spec, ["svg"])["svg"]


def printed(spec: dict[str, Any], formats: Collection[str], ppi: int) -> dict[str, bytes]:
    """Draw a spec as pdf or png, in another process within `apart`."""
    if (drawers := _drawers) is None:
        return vega.vega_print(spec, formats, ppi)
    with drawers.full.borrow() as drawer:
        images = drawer.draw(spec, formats, ppi)
    return {name: b64decode(image) for name, image in images.items()}


def draw(spec: dict[str, Any], formats: Collection[str]) -> dict[str, bytes]:
    """Draw a spec of `irmeta.report.theme.to_spec` in the formats svg, pdf or png."""
    return images_of(spec, formats, svg, printed)
