"""All rankings over a few labels, numbered as the nodes of a heap, and their names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from irmeta.errors import UsageError, check_whole, did_you_mean

LABELS = "abcdefghijklmnopqrstuvw"
"""Labels of docs that are relevant to one subtopic each."""
NONRELEVANT = "x"
"""Label of a doc that is relevant to no subtopic."""
EMPTY = "empty"
"""Name of the ranking without docs."""
MOST_RANKINGS = 2**24


@dataclass(frozen=True)
class NumberedRankings:
    """Rankings of up to `length` docs, each relevant to one of the subtopics or to none.

    The empty ranking has number 0; those that extend ranking i by one doc have the numbers
    ``branching * i + 1 + label``, the label being the subtopic's index, or `nonrelevant`, the last.
    Longer rankings have greater numbers, so that every relation of two rankings is arithmetic.
    """

    subtopics: int
    length: int

    def __post_init__(self) -> None:
        if check_whole("subtopics", self.subtopics) > len(LABELS):
            raise UsageError(f"subtopics = {self.subtopics} is more than {len(LABELS)}.")
        check_whole("length", self.length)
        # 2^24 rankings are longer than 23 docs for no number of subtopics.
        number = f"more than {MOST_RANKINGS:,}" if self.length > 24 else f"{self.count:,}"
        if self.length > 24 or self.count > MOST_RANKINGS:
            raise UsageError(
                f"there are {number} rankings of up to {self.length} docs over "
                f"{self.subtopics} subtopics, above the limit of {MOST_RANKINGS:,}: choose a "
                "smaller length, or fewer subtopics."
            )

    @property
    def branching(self) -> int:
        """Number of labels, m + 1."""
        return self.subtopics + 1

    @property
    def nonrelevant(self) -> int:
        """Label of a doc that is relevant to no subtopic."""
        return self.subtopics

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Number of the first ranking of each length from 0, and at last the count."""
        return tuple((self.branching**n - 1) // self.subtopics for n in range(self.length + 2))

    @property
    def count(self) -> int:
        """Number of all rankings, the empty one included."""
        return self.starts[-1]

    def of_length(self, length: int) -> np.ndarray:
        """Return the numbers of the rankings of a length: int64."""
        return np.arange(self.starts[length], self.starts[length + 1])

    def lengths(self, numbers: np.ndarray) -> np.ndarray:
        """Return the lengths of rankings: int64."""
        return np.searchsorted(self.starts, numbers, side="right") - 1

    def labels(self, numbers: np.ndarray) -> np.ndarray:
        """Return the label at each rank: int8 [length, rankings], -1 below the end of a ranking."""
        lengths, remaining = self.lengths(numbers), np.array(numbers, np.int64)
        out = np.full((self.length, len(remaining)), -1, np.int8)
        for depth in range(self.length, 0, -1):
            reaches = lengths >= depth
            out[depth - 1, reaches] = (remaining[reaches] - 1) % self.branching
            remaining[reaches] = (remaining[reaches] - 1) // self.branching
        return out

    def name(self, number: int) -> str:
        """Return the labels of a ranking as text, such as "abx"."""
        letters = ""
        while number > 0:
            number, label = divmod(number - 1, self.branching)
            letters = self.letters[label] + letters
        return letters or EMPTY

    def number(self, name: str) -> int:
        """Return the number of a ranking by its name."""
        number, letters = 0, "" if name == EMPTY else name
        for letter in letters:
            if letter not in self.letters:
                raise UsageError(f"ranking {name!r}: {did_you_mean(letter, self.letters)}")
            number = self.branching * number + 1 + self.letters.index(letter)
        if number >= self.count:
            raise UsageError(f"ranking {name!r} has more than {self.length} docs.")
        return number

    def names(self, numbers: Iterable[int]) -> list[str]:
        """Return the names of rankings."""
        return [self.name(int(number)) for number in numbers]

    @property
    def letters(self) -> str:
        """Letter of each label."""
        return LABELS[: self.subtopics] + NONRELEVANT
