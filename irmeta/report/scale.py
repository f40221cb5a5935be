"""Shared scale of the rows of a table, for sparklines of worst, median and best value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Scale:
    """Scale from the worst value, 0, to the best value, 100.

    Attributes
    ----------
    is_log
        Whether the scale is logarithmic, as for search lengths.
    """

    measure: str
    low: float
    high: float
    greater_is_better: bool
    is_log: bool

    def position(self, value: float) -> float:
        """Return the position of a value on the scale."""
        ends = value, self.low, self.high
        value, low, high = (math.log10(max(n, 1)) for n in ends) if self.is_log else ends
        share = (value - low) / (high - low) if high > low else 1.0
        share = share if self.greater_is_better else 1 - share
        return round(100 * min(max(share, 0.0), 1.0), 1)

    def picture(self, *values: float | None) -> tuple[float, float, float] | None:
        """Return the positions of worst, median and best; None if one of them is undefined."""
        known = [self.position(v) for v in values if v is not None and math.isfinite(v)]
        worst, median, best = known if len(known) == 3 else (None, None, None)
        return None if worst is None or median is None or best is None else (worst, median, best)

    @property
    def text(self) -> str:
        """The scale in words, worst value first."""
        ends = (self.low, self.high) if self.greater_is_better else (self.high, self.low)
        low, high = (f"{end:,.0f}" if end >= 100 else f"{end:.4g}" for end in ends)
        kind = " on a log scale" if self.is_log else ""
        return f"{self.measure}: from {low} at the left to {high} at the right{kind}."


def scale_of(frame: pl.DataFrame, measure: str) -> Scale | None:
    """Return the scale of one measure for all rows: 0 to 1 for shares, logarithms for lengths.

    Parameters
    ----------
    frame
        Columns direction, value, median, worst.
    """
    numbers = [v for name in ("value", "median", "worst") for v in frame[name].drop_nulls()]
    numbers = [float(v) for v in numbers if math.isfinite(v)]
    if not numbers:
        return None
    greater = frame["direction"][0] > 0
    if greater and max(numbers) <= 1:
        return Scale(measure, min([0.0, *numbers]), 1.0, greater, is_log=False)
    if not greater and min(numbers) >= 1:
        top = 10.0 ** max(1, math.ceil(math.log10(max(numbers))))
        return Scale(measure, 1.0, top, greater, is_log=True)
    return Scale(measure, min([0.0, *numbers]), max(numbers), greater, is_log=False)
