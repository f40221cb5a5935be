"""What a kind of fault is, and how a failure is made small."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any, Literal, Protocol

from irmeta.errors import IrmetaError

Group = Literal["inputs", "kills", "flips", "others"]
SHRUNK = 400  # checks that making an input small may take


class Kind(Protocol):
    """Faults of one kind; `work` is an empty folder of its own.

    `check` returns the problem that an input finds, None if the outcome is one of those allowed.
    """

    group: Group

    def __init__(self, work: Path) -> None: ...

    def draw(self, rng: Random) -> Any: ...

    def check(self, drawn: Any) -> str | None: ...


def problem_of(kind: Kind, drawn: Any) -> str | None:
    """Check an input; an error that irmeta does not raise on purpose is a problem."""
    try:
        return kind.check(drawn)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # panics of Rust are no Exception
        return f"{type(error).__name__}: {str(error)[:300]}"


def refusal(error: IrmetaError, *names: str) -> str | None:
    """Return the problem of an error that names none of the files."""
    said = str(error)
    return None if any(name in said for name in names) else f"an error that names no file: {said}"


def smallest(kind: Kind, drawn: Any, problem: str) -> Any:
    """Remove parts of bytes as long as the same sort of problem remains."""
    if not isinstance(drawn, bytes):
        return drawn
    left, size, sort = SHRUNK, max(1, len(drawn) // 2), problem[:12]
    while left and drawn:
        at = 0
        while at < len(drawn) and left:
            smaller, left = drawn[:at] + drawn[at + size :], left - 1
            if (problem_of(kind, smaller) or "")[:12] == sort:
                drawn = smaller
            else:
                at += size
        if size == 1:
            break
        size //= 2
    return drawn
