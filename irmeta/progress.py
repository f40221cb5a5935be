"""Progress of long work: loops that report, and who is told: a function, or a line on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any, ParamSpec, TypeVar

from irmeta.errors import UsageError
from irmeta.escapes import escape_name

Report = Callable[[str, int, int], object]
"""Function of what is done, such as a track, the number of finished items, and of all items."""
Progress = bool | Report | None
"""Whether progress is shown; or a function that is called instead."""
Item = TypeVar("Item")
P = ParamSpec("P")
R = TypeVar("R")

SWITCH = "IRMETA_PROGRESS"
"""Environment variable; 0: no progress is shown."""
WAIT = 2.0
"""Seconds of work before progress is shown."""
TICK, LINE_TICK = 0.2, 10.0
"""Seconds between updates on a terminal, and in a file or pipe."""
COMPILING = "compiling kernels, once (5 s)"

REPORT: ContextVar[Report | None] = ContextVar("report", default=None)
"""The function to tell of finished items, which threads may call one at a time; None: nobody."""


@contextmanager
def showing(doing: str, progress: Progress = None) -> Generator[None]:
    """Tell a function, or show in a line on stderr, how much of some work is done.

    Inside another such block, progress of None is that of the outer block.

    Parameters
    ----------
    doing
        What the work is, such as "Reading".
    progress
        None: a line on a terminal or in a notebook, if the work takes over 2 seconds; True: also
        where stderr is a file or a pipe; False: nothing. `IRMETA_PROGRESS` of 0 is False for both.

    Raises
    ------
    UsageError
        If `progress` is neither a bool, a function nor None.
    """
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise UsageError(f"progress = {progress!r} is neither true, false nor a function.")
    if callable(progress):
        token = REPORT.set(progress)
        try:
            yield
        finally:
            REPORT.reset(token)
        return
    is_inner = REPORT.get() is not None or _Line.current is not None
    if progress is None and (is_inner or not _is_live()):
        yield
        return
    is_shown = progress is not False and os.environ.get(SWITCH) != "0"
    with _Line(doing, is_shown) as line:
        token = REPORT.set(line.report)  # also where none is shown: by no block inside, either
        try:
            yield
        finally:
            REPORT.reset(token)


def shows_progress(doing: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Show the progress of a function by its keyword `progress`, which it does not receive."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*arguments: P.args, **keywords: P.kwargs) -> R:
            progress: Any = keywords.pop("progress", None)
            with showing(doing, progress):
                return function(*arguments, **keywords)

        return call

    return decorate


def reported(
    items: Iterable[Item], total: int, what: str | Callable[[Item], str]
) -> Generator[Item]:
    """Yield items, and report each that is done; of nested loops only the outermost reports.

    A loop over a single item leaves that to the loops inside. `what` names the items, or returns
    the name of one.
    """
    report = REPORT.get()
    if report is None or total <= 1:
        yield from items
        return
    REPORT.set(None)
    try:
        for done, item in enumerate(items, 1):
            yield item
            report(what if isinstance(what, str) else what(item), min(done, total), total)
    finally:
        REPORT.set(report)


def compiling(is_compiling: bool) -> None:
    """Show that kernels are being compiled, or no longer."""
    if (line := _Line.current) is not None:
        line.compile(is_compiling)


def erase() -> None:
    """Remove the line from the terminal, before another line is printed on stderr."""
    if (line := _Line.current) is not None:
        line.erase()


def _is_live() -> bool:
    """Check whether stderr is a terminal or in a notebook, where a line can be overwritten."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return is_terminal or type(sys.stderr).__module__.startswith("ipykernel")


class _Line:
    """A line on stderr that a thread updates; only one at a time is shown."""

    current: _Line | None = None

    def __init__(self, doing: str, is_shown: bool) -> None:
        self._doing, self._is_shown, self._step, self._text = doing, is_shown, "", ""
        self._is_compiling = self._is_drawn = False
        self._start, self._lock, self._wake, self._is_done = monotonic(), Lock(), Event(), Event()
        self._thread = Thread(target=self._run, name="irmeta-progress", daemon=True)

    def __enter__(self) -> _Line:
        if self._is_shown and _Line.current is None:
            _Line.current = self
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if _Line.current is self:
            self._is_done.set()
            self._wake.set()
            self._thread.join()
            _Line.current = None
            self.erase()

    def report(self, what: str, done: int, total: int) -> None:
        """Note what is done; the thread shows it."""
        share = f": {done:,} of {total:,} ({100 * done // total} %)" if total else ""
        self._step = f" {escape_name(what)}{share}" if what else share

    def compile(self, is_compiling: bool) -> None:
        """Note whether kernels are being compiled, which is shown at once."""
        self._is_compiling = is_compiling
        if is_compiling:
            self._wake.set()

    def erase(self) -> None:
        """Remove the line where it can be overwritten."""
        with self._lock:
            if self._is_drawn and _is_live():
                end = "\r\x1b[K" if sys.stderr.isatty() else f"\r{' ' * len(self._text)}\r"
                self._write(end)
            self._is_drawn = False

    def _run(self) -> None:
        self._wake.wait(WAIT)
        while not self._is_done.is_set():
            self._draw()
            self._is_done.wait(TICK if _is_live() else LINE_TICK)

    def _draw(self) -> None:
        seconds = int(monotonic() - self._start)
        step = f": {COMPILING}" if self._is_compiling else self._step
        text = f"{self._doing}{step}, {seconds // 60}:{seconds % 60:02}"
        with self._lock:
            if not _is_live():
                self._write(f"{text}\n")
            elif sys.stderr.isatty():
                self._write(f"\r{text}\x1b[K")
            else:
                self._write(f"\r{text.ljust(len(self._text))}")
            self._text, self._is_drawn = text, True

    @staticmethod
    def _write(text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):  # closed: work goes on
            pass
