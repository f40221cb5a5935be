"""Places of rows, which are tall if they have a name, and thin otherwise."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.charts.panes import linear_ticks

if TYPE_CHECKING:
    import altair as alt

NAMED, THIN = 13.0, 2.4  # pixels of a row
REST = 360.0  # largest number of pixels of all thin rows


class RowPlaces:
    """Edges of rows in pixels from the top, and an axis with the names of the high rows.

    Parameters
    ----------
    names
        Name of each row, the first at the top.
    named
        Indices of the high rows.
    numbered
        Whether names have their number, from 1, and some of the other rows are numbered too.
    """

    def __init__(
        self, names: Sequence[str], named: Collection[int], *, numbered: bool = False
    ) -> None:
        rest = len(names) - len(named)
        thin = min(THIN, REST / rest) if rest else THIN
        sizes = [NAMED if i in named else thin for i in range(len(names))]
        self._named = {i: f"{i + 1:,}. {names[i]}" if numbered else names[i] for i in sorted(named)}
        self._numbered = range(len(names)) if numbered else ()
        self.edges: list[float] = list(accumulate(sizes, initial=0.0))
        self.middles: list[float] = [
            (a + b) / 2 for a, b in zip(self.edges, self.edges[1:], strict=False)
        ]
        self.height: int = round(self.edges[-1])

    def frame(self) -> pl.DataFrame:
        """Return top, bottom and middle of each row, and whether it is tall."""
        return pl.DataFrame(
            {
                "top": self.edges[:-1],
                "bottom": self.edges[1:],
                "middle": self.middles,
                "tall": [i in self._named for i in range(len(self.middles))],
            }
        )

    def channel(self, field: str) -> alt.Y:
        """Return the channel of a field in pixels, with names or ranks as labels."""
        import altair as alt

        labels = dict(self._named)
        ticks = linear_ticks(1, len(self._numbered), whole=True) if self._numbered else ()
        for number in ticks:
            place = int(number) - 1
            if all(abs(self.middles[place] - self.middles[i]) >= NAMED for i in labels):
                labels[place] = f"{int(number):,}."
        texts = {f"{self.middles[i]:.3f}": text for i, text in sorted(labels.items())}
        more: dict[str, Any] = {"labelOverlap": False, "labelLimit": 225, "labelPadding": 4}
        axis = alt.Axis(
            values=[self.middles[i] for i in sorted(labels)],
            labelExpr=f"{json.dumps(texts)}[format(datum.value, '.3f')]",
            title=None, grid=False, ticks=False, labelFontSize=10, **more,
        )  # fmt: skip
        scale = alt.Scale(domain=[self.edges[-1], 0], nice=False, zero=False)
        return alt.Y(field, axis=axis, scale=scale)
