"""The errors that irmeta raises, each written for a person in a hurry."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from numbers import Integral, Real

_LISTED = 30  # names that a message lists where none is near
_SHOWN = 80  # characters of an offending value that a message repeats


class IrmetaError(Exception):
    """Base of every error that irmeta raises on purpose."""


class UsageError(IrmetaError):
    """The call itself cannot be carried out: a missing file, a clash of options."""


class SetAsideWarning(UserWarning):
    """Some runs of an ingested collection were set aside; the message names them."""


class PoolDepthWarning(UserWarning):
    """Measures of a depth-k pool are undefined on queries whose pool is complete at no depth."""


class DataError(IrmetaError):
    """Input that cannot be read, with the place and what to do about it.

    Parameters
    ----------
    problem
        What is wrong, in a few words.
    file, line
        Where: a path as the user would type it, and a 1-based line.
    track
        The track that was being read.
    value
        The offending value; long ones are shortened in the message.
    fix
        What to do.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        track: str | None = None,
        value: object = None,
        fix: str | None = None,
    ) -> None:
        self.problem, self.file, self.line = problem, file, line
        self.track, self.value, self.fix = track, value, fix
        super().__init__(problem)

    def __str__(self) -> str:
        place = [f"track {self.track}"] if self.track is not None else []
        if self.file is not None:
            place.append(self.file if self.line is None else f"{self.file}, line {self.line}")
        said = self.problem if self.value is None else f"{self.problem}: {shown(self.value)}"
        text = ": ".join([*place, said]) + (f". {self.fix}" if self.fix else "")
        return text.replace("\r", "\\r").replace("\n", "\\n")

    def __reduce__(self) -> tuple[object, ...]:
        place = (self.problem, self.file, self.line, self.track, self.value, self.fix)
        return _data_error, place


def of_track(track: str, error: IrmetaError) -> DataError:
    """An error as what is wrong with a track."""
    found = error if isinstance(error, DataError) else DataError(str(error))
    found.track = track
    return found


class MeasureError(IrmetaError):
    """A measure's name or parameter that is not known, with the nearest that is."""


def _data_error(problem, file, line, track, value, fix) -> DataError:
    return DataError(problem, file=file, line=line, track=track, value=value, fix=fix)


def shown(value: object) -> str:
    """`value` quoted and short enough for one line of a terminal."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    text = value if isinstance(value, str) else str(value)
    if len(text) > _SHOWN:
        text = f"{text[:_SHOWN]}... ({len(text):,} characters)"
    return repr(text) if isinstance(value, str) else text


def short(name: object) -> str:
    """An id short enough for a message."""
    text = str(name)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def printable(name: str) -> str:
    """A file name that any text file can hold: bytes that are not UTF-8 are escaped."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def did_you_mean(given: object, known: Iterable[str]) -> str:
    """A sentence that offers the nearest known name, or lists them all when few."""
    name, names = str(given), sorted(set(known))
    lower = {n.lower(): n for n in reversed(names)}
    near = [lower[name.lower()]] if name.lower() in lower else []
    near += difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    near += [lower[m] for m in difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.6)]
    if near:
        return f"Did you mean {near[0]!r}?"
    some = ", ".join(names[:_LISTED])
    rest = f", ... ({len(names):,} in all)" if len(names) > _LISTED else ""
    return f"Known: {some}{rest}." if names else ""


def check_choice(name: str, value: object, known: Collection[str]) -> None:
    """Refuse the value of an argument that is none of the names known.

    Raises
    ------
    UsageError
        With the nearest of them.
    """
    if value not in known:
        hint = did_you_mean(value, known)
        raise UsageError(f"{name} = {value!r} is not a choice. {hint}")


def check_whole(name: str, value: object, least: int = 1) -> int:
    """The value of an argument as an int; numpy's are whole numbers too, and True is none.

    Raises
    ------
    UsageError
        If it is no whole number, or below `least`.
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise UsageError(f"{name} = {value!r} is not a whole number of at least {least}.")
    return int(value)


def check_share(name: str, value: object) -> None:
    """Refuse the value of an argument, such as a level, that is not between 0 and 1.

    Raises
    ------
    UsageError
        With the value.
    """
    if not isinstance(value, Real) or not 0 < float(value) < 1:
        raise UsageError(f"{name} = {value!r} is not between 0 and 1: write 0.05 for 5 %.")
