"""Lines on stderr: notes, errors, warnings, and advice as options of the running command."""

from __future__ import annotations

import re
import sys
import traceback
from collections import defaultdict
from threading import Lock
from typing import NoReturn

from irmeta.errors import short
from irmeta.escapes import print_line
from irmeta.progress import erase

KEYWORD = re.compile(r"`([a-z_]\w*)=([^`]*)`")
"""A keyword with its value, or without a value where any will do."""
OPTIONS = dict[str, tuple[str, str]]()
"""The option of the running command, and its negation, by the keyword of the same meaning."""
_SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z`])")


def in_options(text: str) -> str:
    """Return a message with its keywords as options of the running command.

    A sentence after the first is dropped if it advises a keyword that the command lacks.

    Examples
    --------
    >>> in_options("line 3: not a number. `no_option=True` drops such lines.")
    'line 3: not a number.'
    """
    problem, *more = _SENTENCE.split(text)
    known = [
        sentence
        for sentence in more
        if all(_as_option(match) != match[0] for match in KEYWORD.finditer(sentence))
    ]
    return KEYWORD.sub(_as_option, " ".join([problem, *known]))


def _as_option(match: re.Match[str]) -> str:
    name, value = match[1], match[2].strip("\"'")
    if name in OPTIONS:
        option, negation = OPTIONS[name]
        written = {"": option, "True": option, "False": negation}
        return f"`{written.get(value, f'{option} {value}')}`"
    is_flag = any(f"--{value}" in both for both in OPTIONS.values())  # a choice, as --copy
    return f"`--{value}`" if is_flag else match[0]


class Notes:
    """Level of detail on stderr: only results and errors, or also steps, times and tracebacks."""

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
    erase()
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


def note_duration(track: str, systems: int, seconds: float, faster: str) -> None:
    """Print how long all pairs of a track take, where that is over half a minute."""
    if seconds > 30:
        minutes = max(1, round(seconds / 60))
        pairs = f"{systems * (systems - 1) // 2:,} pairs of {systems:,} systems"
        unit = "minute" if minutes == 1 else "minutes"
        note(f"irmeta: {track}: {pairs} take about {minutes:,} {unit}: {faster}")


PRINTED = 5
"""Warnings of one kind about tracks that are printed in full."""
_OF_TRACK = re.compile(r"track (.+?): ")


class WarningLines:
    """Replacement of `warnings.showwarning` that prints one line per warning, and none twice.

    Of the warnings of one category whose text starts with ``track NAME:``, the first five are
    printed in full; `finish` lists the tracks of the others. Threads may share an instance.
    """

    def __init__(self) -> None:
        self._tracks: dict[str, list[str]] = defaultdict(list)
        self._shown = set[tuple[str, str]]()
        self._lock = Lock()

    def show(self, message: Warning | str, category: type[Warning], *_: object) -> None:
        """Print a warning, or keep its track for `finish`."""
        track = _OF_TRACK.match(str(message))
        with self._lock:
            if (category.__name__, str(message)) in self._shown:
                return
            self._shown.add((category.__name__, str(message)))
            if track:
                tracks = self._tracks[category.__name__]
                tracks.append(track[1])
                if len(tracks) > PRINTED:
                    return
            note(f"irmeta: {message}")

    def finish(self) -> None:
        """Print the number and the names of the tracks whose warnings were not printed."""
        for category, tracks in self._tracks.items():
            more = sorted(set(tracks[PRINTED:]))
            if more:
                kind = f"{len(more)} more tracks with a warning like this ({category})"
                note(f"irmeta: {kind}: {', '.join(more)}")
        self._tracks.clear()
