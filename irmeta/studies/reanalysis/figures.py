"""The figures of each track."""

from __future__ import annotations

from typing import Any

import polars as pl

from irmeta.measures.names import display_of
from irmeta.report.charts.heat import heat_map, lower_triangle
from irmeta.report.charts.ranked import ranked
from irmeta.report.figures.length_figures import length_histogram, rarity_histogram
from irmeta.studies.framework.study import Figure, Tables
from irmeta.studies.reanalysis.options import OverviewOptions as Options
from irmeta.studies.reanalysis.sections import DAGGERS, headline


def _ranked(rows: pl.DataFrame, options: Options) -> Any:
    measure = rows["measure"][0]
    return ranked(rows.select("value", name="system"), measure, display_of(measure))


def _best(tables: Tables, options: Options) -> pl.DataFrame:
    """Return histograms of the best systems by search lengths, or by the first measure."""
    best = tables["best_systems"].filter(pl.col("measure").is_in(headline(options)))
    lengths = best.filter(pl.col("missed").is_not_null())
    chosen = (lengths if lengths.height else best.head(1)).unique("system", maintain_order=True)
    return chosen.select("track", "measure", "system", "short").join(
        tables["search_length_histogram"], on=["track", "system"], maintain_order="left_right"
    )


def _lengths(rows: pl.DataFrame, options: Options) -> Any:
    mark = " \u2020" * rows["short"][0]
    return length_histogram(rows, f"Search lengths of {rows['system'][0]}{mark}")


def _caption(rows: pl.DataFrame, options: Options) -> str:
    note = f" {DAGGERS}" * rows["short"][0]
    return f"Search lengths of {rows['system'][0]}, the best system by {rows['measure'][0]}.{note}"


def _agreement(rows: pl.DataFrame, options: Options) -> Any:
    return heat_map(
        lower_triangle(rows, "measure_a", "measure_b", "tau"),
        title="Agreement of measures",
        subtitle="Kendall's tau-b between the orders of the systems",
    )


FIGURES = (
    Figure("systems", lambda tables, o: tables["best"].filter(pl.col("measure").is_in(headline(o))),
           _ranked,
           lambda rows, _: f"All systems by {rows['measure'][0]}.",
           "Each dot is a system, best first. The dark dot is the best system, the dashed line the "
           "median.", by="track", each="measure"),
    Figure("search_lengths", _best, _lengths, _caption,
           "Each bar counts relevant docs by their search length. Bars at the left are docs "
           "retrieved early; the last bar, orange, is the docs that were not retrieved.",
           by="track", each="measure"),
    Figure("rarity_of_docs", "rarity_histogram", lambda rows, _: rarity_histogram(rows),
           lambda _, o: "Relevant docs by the number of systems that retrieve them in the first "
           f"{o.rarity_depth} ranks.",
           "Each bar counts relevant docs by the number of systems that retrieve them. Rare docs "
           "are at the left; the first bar, orange, is the docs that no system retrieves.",
           by="track"),
    Figure("tau_b", "agreement", _agreement,
           "Kendall's tau-b between the measures' orders of systems.",
           "Each cell is Kendall's tau-b between the orders of the systems by two measures: 1 is "
           "the same order, 0 no relation, below 0 more pairs of systems reversed than kept.",
           by="track"),
)  # fmt: skip
