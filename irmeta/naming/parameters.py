"""Parameters in names of measures and preferences: reading, checking, printing of values."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from irmeta.errors import MeasureError, did_you_mean

Kind = Literal["whole", "number", "grade", "choice", "gain", "levels", "set"]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a measure or preference.

    Attributes
    ----------
    kind
        ``whole``, ``number`` or ``grade`` (a number that is an int if it is whole) with `low` and
        `high` as bounds (`open` ones excluded), or one of `choices`; ``choice``;
        ``gain``: one of `choices`, or gains by grade such as ``1:3;2:9``; ``levels``: numbers
        within the bounds, such as ``0;0.5;1``; ``set``: one of `choices`, or the name of a qrels
        set.
    """

    name: str
    default: Any
    meaning: str
    kind: Kind = "whole"
    low: float = 1
    high: float = float("inf")
    open: bool = False
    choices: tuple[str, ...] = ()

    @property
    def range(self) -> str:
        """Valid values, in words."""
        if self.kind == "choice":
            return " | ".join(self.choices)
        if self.kind == "gain":
            return " | ".join((*self.choices, "GRADE:GAIN;..."))
        if self.kind == "set":
            return " | ".join((*self.choices, "SET"))
        named = "".join(f"{choice} | " for choice in self.choices)
        what = {"whole": "whole number", "levels": "NUMBER;NUMBER;..."}.get(self.kind, "number")
        return f"{named}{what}, {self._between}"

    @property
    def default_text(self) -> str:
        """The default as a name writes it; ``-`` for None."""
        return "-" if self.default is None else printed(self.default)

    @property
    def _between(self) -> str:
        least, most = f"{self.low:g}", f"{self.high:g}"
        if self.high < float("inf"):
            return f"between {least} and {most}" + (", both excluded" if self.open else "")
        if self.low > -float("inf"):
            return f"above {least}" if self.open else f"at least {least}"
        return "any"

    def read(self, text: str, of: str) -> Any:
        """Parse and check a value."""
        if self.kind == "choice":
            return self._choice(text, of)
        if text in self.choices:
            return text
        if self.kind == "gain":
            return self._gain_map(text, of)
        if self.kind == "set":
            return self._set(text, of)
        if self.kind == "levels":
            levels = {self._number(part, of) for part in text.split(";")}
            return ";".join(printed(level) for level in sorted(levels))
        return self._number(text, of)

    def _choice(self, text: str, of: str) -> str:
        if text not in self.choices:
            hint = did_you_mean(text, self.choices)
            raise MeasureError(f"{of}: {self.name}={text} is not a choice. {hint}")
        return text

    def _set(self, text: str, of: str) -> str:
        if not re.fullmatch(r"[\w.-]+", text):
            raise MeasureError(f"{of}: {self.name}={text} is not the name of a qrels set.")
        return text

    def _number(self, text: str, of: str) -> float:
        try:
            if not text.isascii() or "_" in text:
                raise ValueError
            value = int(text) if self.kind == "whole" else float(text) + 0.0  # -0.0 is 0.0
        except ValueError:
            kind = "a whole number" if self.kind == "whole" else "a number"
            raise MeasureError(f"{of}: {self.name}={text} is not {kind}.") from None
        if math.isinf(value):
            raise MeasureError(f"{of}: {self.name}={text} is not finite.")
        inside = self.low < value < self.high if self.open else self.low <= value <= self.high
        if not inside:
            raise MeasureError(f"{of}: {self.name}={text} is not {self._between}.")
        return _plain(value) if self.kind == "grade" else value

    def _gain_map(self, text: str, of: str) -> str:
        gains: dict[float, float] = {}
        for part in text.split(";"):
            grade, colon, gain = part.partition(":")
            try:
                pair = _plain(float(grade) + 0.0), float(gain) + 0.0
            except (ValueError, OverflowError):
                colon = ""
                pair = 0, 0.0
            if not colon or not (pair[0] >= 0 and 0 <= pair[1] < float("inf")):
                hint = did_you_mean(text, self.choices)
                raise MeasureError(
                    f"{of}: {self.name}={text} is neither a choice nor gains of at least 0 by "
                    f"grade, such as 1:3;2:9. {hint}"
                )
            if pair[0] in gains:
                raise MeasureError(f"{of}: {self.name}={text} gives grade {pair[0]} twice.")
            gains[pair[0]] = pair[1]
        return ";".join(
            f"{printed(grade)}:{printed(gain)}" for grade, gain in sorted(gains.items())
        )


def printed(value: object) -> str:
    """Format a parameter's value for a canonical name."""
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def numbers(levels: str) -> list[float]:
    """Return the numbers of a ``levels`` value."""
    return [float(part) for part in levels.split(";")]


def gain_map(text: str) -> dict[float, float]:
    """Return the gains by grade of a ``gain`` value that is not a choice."""
    pairs = (part.split(":") for part in text.split(";"))
    return {_plain(float(grade)): float(gain) for grade, gain in pairs}


def _plain(grade: float) -> float:
    """Return a grade as int if it is a whole number, so that names print it as one."""
    return int(grade) if grade == int(grade) else grade


REL = Parameter("rel", 1, "least grade that is relevant", kind="grade", low=0, open=True)


def unjudged_parameter(choices: Sequence[str]) -> Parameter:
    """Return the parameter for the treatment of unjudged docs."""
    return Parameter(
        "unjudged",
        "nonrelevant",
        "treatment of unjudged docs of a list; condensed: removed",
        kind="choice",
        choices=("nonrelevant", *choices),
    )


GMAX = Parameter("gmax", None, "highest grade; default the track's", kind="grade", low=0, open=True)
TIES = Parameter(
    "ties",
    "order",
    "weights within a block of tied docs: by the tie order, or shared by its docs",
    kind="choice",
    choices=("order", "share"),
)
BETA = Parameter("beta", 1.0, "weight of recall relative to precision", "number", low=0, high=1e6)
AVERAGES = ("arithmetic", "geometric", "harmonic", "median", "sum", "difficulty")


def average_parameter(default: str) -> Parameter:
    """Return the parameter for the kind of mean over queries."""
    return Parameter("average", default, "mean over queries", kind="choice", choices=AVERAGES)
