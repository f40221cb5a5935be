"""Errors and warnings of irmeta, and helpers for their messages."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral, Real

from irmeta.escapes import escape_text, hide_passwords, shorten_quoted

_LISTED = 30  # names listed in a message without a near match
_FEW = 5  # items listed of many
_SHOWN = 80  # characters of an invalid value shown in a message


class IrmetaError(Exception):
    """Base class of all errors that irmeta raises."""

    def __str__(self) -> str:
        return shorten_quoted(escape_text(hide_passwords(super().__str__()), keep="\n"))


class UsageError(IrmetaError):
    """Invalid call, such as a missing file or conflicting options."""


class NoTableError(UsageError):
    """Columns were named, and none of the files is a table with named columns."""


class NothingToStudyError(UsageError):
    """Store that lacks what a study compares, such as judges; `study all` goes on without it."""


class ExecutorError(IrmetaError):
    """Executor that has lost all of its workers."""


class SkippedRunWarning(UserWarning):
    """Some runs of an ingested collection were skipped; the message names them."""


class EntryPointWarning(UserWarning):
    """Measures of another package are missing, since its entry point could not be loaded."""


class NamesWarning(UserWarning):
    """Runs of a track share their tags, so that all its systems are named by file."""


class PoolDepthWarning(UserWarning):
    """The depth of the pool of some queries is not stated, or 0: then measures are undefined."""


class QrelsWarning(UserWarning):
    """Qrels cannot be read, have rows of unclear meaning, or look like those of another track."""


class RelevanceWarning(UserWarning):
    """Some measures count docs of a grade that no doc of the qrels set has."""


class SelfRetrievalWarning(UserWarning):
    """Systems rank the doc with the id of the query first for most queries."""


class SegmentWarning(UserWarning):
    """Queries are in no segment, a segment has too few queries, or variants count as queries."""


class DataError(IrmetaError):
    """Input that cannot be read, with its location and a fix.

    Parameters
    ----------
    problem : str
        The problem in a few words; with `ids`, a template that names them in braces.
    file, line : str, int, optional
        The location: a path as the user would type it, and a 1-based line.
    unit : str, default 'line'
        What `line` counts: ``row`` for a 0-based row of a frame.
    track : str, optional
        The track that was being read.
    value : object, optional
        The invalid value; the message shortens long values.
    ids : mapping, optional
        Names and grades that `problem` quotes from the file.
    fix : str, optional
        A fix, as an instruction.

    Examples
    --------
    >>> print(irmeta.DataError("not a number", file="run.txt", line=3, value="x", fix="Remove it."))
    run.txt, line 3: not a number: 'x'. Remove it.
    """

    problem: str
    file: str | None
    line: int | None
    unit: str
    track: str | None
    value: object
    ids: Mapping[str, object] | None
    fix: str | None
    is_concealed: bool = False
    exceeds_memory: bool = False  # a track that may fit into a limit that no other shares

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        unit: str = "line",
        track: str | None = None,
        value: object = None,
        ids: Mapping[str, object] | None = None,
        fix: str | None = None,
    ) -> None:
        self.problem, self.file, self.line, self.unit = problem, file, line, unit
        self.track, self.value, self.ids, self.fix = track, value, ids, fix
        super().__init__(problem)

    def conceal(self) -> None:
        """Remove all content of the file from the message."""
        self.is_concealed = self.is_concealed or bool(self.value is not None or self.ids)
        self.value = None
        self.ids = dict.fromkeys(self.ids or {}, "...")

    def __str__(self) -> str:
        location = [f"track {self.track}"] if self.track is not None else []
        if self.file is not None:
            line = "" if self.line is None else f", {self.unit} {self.line}"
            location.append(self.file + line)
        problem = self.problem
        if self.ids:
            problem = problem.format_map({name: short(value) for name, value in self.ids.items()})
        if self.value is not None:
            problem += f": {shown(self.value)}"
        if self.is_concealed:
            problem += " (not quoted, since the file lies outside the collection)"
        text = ": ".join([*location, problem]) + (f". {self.fix}" if self.fix else "")
        return shorten_quoted(escape_text(hide_passwords(text)))

    def __reduce__(self) -> tuple[object, ...]:
        return _data_error, (type(self), self.problem, self.__dict__)


class EmptyFileError(DataError):
    """A file without a row."""


Warned = tuple[str, type[Warning]]
_collected: ContextVar[list[Warned] | None] = ContextVar("collected", default=None)


def warn(message: str, category: type[Warning] = UserWarning, stacklevel: int = 1) -> None:
    """Issue an escaped warning like `warnings.warn`, with `stacklevel` 1 for the caller."""
    text = shorten_quoted(escape_text(hide_passwords(message), keep="\n"))
    if (collected := _collected.get()) is not None:
        collected.append((text, category))
    else:
        warnings.warn(text, category, stacklevel=stacklevel + 1)


@contextmanager
def collected_warnings() -> Generator[list[Warned]]:
    """Collect the warnings of `warn` in this thread, to be issued in another; after an error, here.

    Python's own `warnings.catch_warnings` would catch those of all threads.
    """
    collected: list[Warned] = []
    token = _collected.set(collected)
    is_complete = False
    try:
        yield collected
        is_complete = True
    finally:
        _collected.reset(token)
        for text, category in () if is_complete else collected:
            warn(text, category)


def of_track(track: str, error: IrmetaError) -> DataError:
    """Convert an error to a DataError of a track."""
    converted = error if isinstance(error, DataError) else DataError(str(error))
    converted.track = track
    return converted


class MeasureError(IrmetaError):
    """Unknown name or parameter of a measure, with the nearest known name."""


class NoMeasureError(MeasureError):
    """No measure is defined by a track's grades, so that a study leaves the track out."""


class BrokenMeasureError(MeasureError):
    """A measure of another package raised an exception, or returned a wrong shape or type."""


def _data_error(kind: type[DataError], problem: str, attributes: dict[str, object]) -> DataError:
    error = kind(problem)
    error.__dict__.update(attributes)
    return error


def shown(value: object) -> str:
    """Quote a value, shortened to one line of a terminal."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    text = value if isinstance(value, str) else _as_text(value)
    if len(text) > _SHOWN:
        text = f"{text[:_SHOWN]}... ({len(text):,} characters)"
    return repr(text) if isinstance(value, str) else text


def _as_text(value: object) -> str:
    """Return the text of a value, or its type where an object of a user has no text."""
    try:
        return str(value)
    except Exception as error:  # whatever a user's __str__ or __repr__ raises
        if isinstance(value, int):  # Python prints at most 4,300 digits
            return f"<number of {value.bit_length():,} bits>"
        return f"<{type(value).__name__} without a text: {type(error).__name__}>"


def short(name: object) -> str:
    """Shorten an id for a message."""
    text = _as_text(name)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def printable(name: str) -> str:
    """Escape bytes of a file name that are not UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def nearest(given: object, known: Iterable[str]) -> str | None:
    """Return the known name that is nearest to another, None if none is near."""
    name, candidates = _as_text(given), sorted(set(known))
    lower = {n.lower(): n for n in reversed(candidates)}
    matches = [lower[name.lower()]] if name.lower() in lower else []
    matches += difflib.get_close_matches(name, candidates, n=1, cutoff=0.6)
    matches += [lower[m] for m in difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.6)]
    return matches[0] if matches else None


def did_you_mean(given: object, known: Iterable[str]) -> str:
    """Suggest the nearest known name, or list the first known names, in a sentence.

    Examples
    --------
    >>> did_you_mean("robust4", ["robust04", "web-2012"])
    "Did you mean 'robust04'?"
    >>> did_you_mean("robust04,web-2012", ["robust04", "web-2012"])
    "Give one name at a time: 'robust04', 'web-2012'."
    """
    candidates = sorted(set(known))
    several = _as_text(given).split(",")
    if len(several) > 1 and candidates and set(several) <= set(candidates):
        return f"Give one name at a time: {', '.join(map(repr, several))}."
    if (match := nearest(given, candidates)) is not None:
        return f"Did you mean {match!r}?"
    some = ", ".join(candidates[:_LISTED])
    ellipsis = f", ... ({len(candidates):,} in all)" if len(candidates) > _LISTED else ""
    return f"Known: {some}{ellipsis}." if candidates else ""


def first_few(items: Sequence[str], hint: str, joined_by: str = ", ") -> str:
    """Return a list for a message: the first five items, the number of others, and `hint`."""
    listed = joined_by.join(items[:_FEW])
    more = len(items) - _FEW
    return f"{listed} and {more:,} more: {hint}" if more > 0 else listed


def check_choice(name: str, value: object, known: Collection[str]) -> None:
    """Check that the value of an argument is a known name.

    Raises UsageError if it is not, with the nearest known name.
    """
    if value not in known:
        hint = did_you_mean(value, known)
        raise UsageError(f"{name} = {shown(value)} is not a choice. {hint}")


def check_whole(name: str, value: object, least: int = 1) -> int:
    """Return the value of an argument as an int; numpy's integers are accepted, True is not.

    Raises UsageError if the value is no whole number, or below `least`.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise UsageError(f"{name} = {shown(value)} is not a whole number of at least {least}.")
    return int(value)


def check_positive(name: str, value: object) -> float:
    """Return the value of an argument, such as a grade, as a number; an int if it is whole.

    Raises UsageError if the value is no finite number above 0.
    """
    number = 0.0 if value is True or not isinstance(value, Real) else float(value)
    if not 0 < number < float("inf"):
        raise UsageError(f"{name} = {shown(value)} is not a finite number above 0.")
    return int(number) if number.is_integer() else number


def check_share(name: str, value: object) -> None:
    """Check that the value of an argument, such as a level, is between 0 and 1.

    Raises UsageError if it is not.
    """
    if not isinstance(value, Real) or not 0 < float(value) < 1:
        raise UsageError(f"{name} = {shown(value)} is not between 0 and 1: write 0.05 for 5 %.")
