"""Notes on stderr: `--quiet` suppresses them, `--verbose` adds steps and times."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from time import perf_counter
from typing import NoReturn

from irmeta.errors import short
from irmeta.escapes import print_line
from irmeta.show.advice import in_options


class Notes:
    """Level of detail on stderr.

    Attributes
    ----------
    quiet
        Whether only results and errors are printed.
    verbose
        Whether steps, their times, and tracebacks are printed too.
    """

    def __init__(self) -> None:
        self.quiet: bool = False
        self.verbose: bool = False

    def set(self, *, quiet: bool = False, verbose: bool = False) -> None:
        """Set the level of detail."""
        self.quiet, self.verbose = quiet, verbose


LEVEL = Notes()
"""The level of the running command."""


def error_line(line: str) -> None:
    """Print a line on stderr, even if the command is quiet."""
    print_line(in_options(line), sys.stderr)


def fail_internally(error: Exception) -> NoReturn:
    """Print an error that irmeta did not expect as one line, and end with status 1."""
    if LEVEL.verbose:
        traceback.print_exception(error)
    problem = " ".join(f"{type(error).__name__}: {error}".split())
    error_line(
        f"irmeta: internal error ({short(problem)}): this is a bug. Run again with --verbose and "
        "report what it prints."
    )
    raise SystemExit(1) from None


def note(line: str) -> None:
    """Print a line on stderr, unless the command is quiet."""
    if not LEVEL.quiet:
        error_line(line)


def detail(line: str) -> None:
    """Print a line on stderr if the command is verbose."""
    if LEVEL.verbose:
        print_line(line, sys.stderr)


def note_duration(track: str, systems: int, seconds: float, faster: str) -> None:
    """Print how long all pairs of a track take, where that is over half a minute."""
    if seconds > 30:
        minutes = max(1, round(seconds / 60))
        pairs = f"{systems * (systems - 1) // 2:,} pairs of {systems:,} systems"
        unit = "minute" if minutes == 1 else "minutes"
        note(f"irmeta: {track}: {pairs} take about {minutes:,} {unit}: {faster}")


@contextmanager
def timed(step: str) -> Generator[None]:
    """Print the duration of a step on stderr if the command is verbose."""
    start = perf_counter()
    yield
    detail(f"irmeta: {step}: {perf_counter() - start:.2f} s")
