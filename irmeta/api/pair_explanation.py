"""`PairExplanation`: the explanation of a preference as a table and as a figure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from irmeta.preferences.evaluate import PreferenceExplanation
from irmeta.report.charts.graph import arcs
from irmeta.report.figure_file import offline
from irmeta.summaries import Summary

if TYPE_CHECKING:
    import altair as alt

_SCHEMA = {
    "part": pl.String,
    "level": pl.Int32,
    "rank": pl.Int32,
    "doc": pl.String,
    "other_rank": pl.Int32,
    "other_doc": pl.String,
    "sign": pl.Int8,
    "weight": pl.Float64,
}


@dataclass(frozen=True, repr=False)
class PairExplanation(PreferenceExplanation):
    """Explanation of one preference, as a table and as a figure."""

    def _summary(self) -> Summary:
        return super()._summary()._replace(table=self.frame)

    def frame(self) -> pl.DataFrame:
        """Return the terms that the value is the sum of.

        Returns
        -------
        DataFrame
            part (grade, subtopic or list of the level; empty if there is one), level, rank, doc,
            other_rank, other_doc (i-th relevant doc of both lists; null: not retrieved), sign (1:
            `system` is better), weight, amount (sign x weight).
        """
        rows = [[getattr(term, name) for name in _SCHEMA] for term in self.trace.terms]
        frame = pl.DataFrame(rows, _SCHEMA, orient="row")
        return frame.with_columns(amount=pl.col("sign") * pl.col("weight"))

    def show(self) -> alt.ConcatChart | alt.LayerChart:
        """Draw both lists, with an arc between their i-th relevant docs (Figure 3 of the paper)."""
        frame = self.frame().select(
            pl.col("part").alias("pane"),
            pl.col("rank").alias("above"),
            pl.col("other_rank").alias("below"),
            "sign",
            "weight",
            pl.Series("said", list(self._said()), dtype=pl.String),
        )
        won, lost = (frame.filter(sign=sign).height for sign in (1, -1))
        value = "undefined" if math.isnan(self.value) else f"{self.value:.4g}"
        more = "; width: weight" if frame["weight"].n_unique() > 1 else ""
        chart = arcs(
            frame,
            (self.system, self.baseline),
            title=f"{self.preference} on query {self.query} of {self.track}: {value}",
            subtitle=f"levels better in the first list: {won}, in the second: {lost}, "
            f"tied: {frame.height - won - lost}{more}",
            kinds=(f"{self.system} better", f"{self.baseline} better", "tied"),
        )
        return offline(chart)

    def _said(self) -> Iterator[str]:
        for term in self.trace.terms:
            own = _place(term.doc, term.rank)
            yield f"level {term.level}: {own}; {_place(term.other_doc, term.other_rank)}"


def _place(doc: str | None, rank: int | None) -> str:
    return "not retrieved" if rank is None else f"{doc} at rank {rank}"
