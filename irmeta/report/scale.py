"""Shared scale of the rows of a table, for small pictures of worst, median and best value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from irmeta.schema.columns import Display


@dataclass(frozen=True)
class Scale:
    """Scale from the worst value, 0, to the best value, 100."""

    measure: str
    low: float
    high: float
    display: Display

    @property
    def is_log(self) -> bool:
        """Whether the scale is logarithmic, as for search lengths."""
        return self.display.format == "length"

    def place(self, value: float) -> float:
        """Return the position of a value on the scale."""
        ends = value, self.low, self.high
        value, low, high = (math.log10(max(n, 1)) for n in ends) if self.is_log else ends
        share = (value - low) / (high - low) if high > low else 1.0
        share = share if self.display.direction > 0 else 1 - share
        return round(100 * min(max(share, 0.0), 1.0), 1)

    def picture(self, *values: float | None) -> tuple[float, float, float] | None:
        """Return the positions of worst, median and best; None if one of them is undefined."""
        known = [self.place(v) for v in values if v is not None and math.isfinite(v)]
        worst, median, best = known if len(known) == 3 else (None, None, None)
        return None if worst is None or median is None or best is None else (worst, median, best)

    @property
    def text(self) -> str:
        """The scale in words, worst end first."""
        ends = (self.low, self.high) if self.display.direction > 0 else (self.high, self.low)
        low, high = (f"{end:,.0f}" if end >= 100 else f"{end:.4g}" for end in ends)
        kind = " on a log scale" if self.is_log else ""
        return f"{self.measure}: from {low} at the left to {high} at the right{kind}."


def scale_of(frame: pl.DataFrame, measure: str, display: Display) -> Scale | None:
    """Return the scale of one measure for all rows: 0 to 1 for shares, logarithms for lengths.

    Parameters
    ----------
    frame
        Columns value, median, worst.
    display
        How the measure's values are shown.
    """
    numbers = [v for name in ("value", "median", "worst") for v in frame[name].drop_nulls()]
    numbers = [float(v) for v in numbers if math.isfinite(v)]
    if not numbers:
        return None
    if display.format == "length":
        top = 10.0 ** max(1, math.ceil(math.log10(max(1.0, *numbers))))
        return Scale(measure, 1.0, top, display)
    top = max(1.0, *numbers) if display.format == "score" else max(numbers)
    return Scale(measure, min([0.0, *numbers]), top, display)
