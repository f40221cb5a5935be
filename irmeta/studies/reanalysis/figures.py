"""The figures of each track."""

from __future__ import annotations

from typing import Any

import polars as pl

from irmeta.measures.names import display_of
from irmeta.phrases import count
from irmeta.report.charts.heat import heat_map, lower_triangle
from irmeta.report.charts.ranked import ranked
from irmeta.report.charts.row_charts import rank_places
from irmeta.report.figures import length_histogram, rarity_histogram
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


def _headline(tables: Tables, options: Options) -> pl.DataFrame:
    return tables["best"].filter(pl.col("measure").is_in(headline(options)))


def _ranks(rows: pl.DataFrame, options: Options) -> Any:
    first = count(int((rows["rank_low"] == 1).sum()), "system")
    subtitle = f"95 % simultaneous rank sets over queries; {first} could be first"
    return rank_places(rows.rename({"system": "name"}), f"Ranks by {rows['measure'][0]}", subtitle)


FIGURES = (
    Figure("systems", _headline, _ranked,
           lambda rows, _: f"All systems by {rows['measure'][0]}.",
           "Each dot is a system, best first. The dark dot is the best system, the dashed line the "
           "median.", by="track", each="measure"),
    Figure("ranks", _headline, _ranks,
           lambda rows, _: f"Ranks that each system could have by {rows['measure'][0]}.",
           "Each row is a system, best first: a dot at its rank, and a line over its rank set, the "
           "ranks that it could have on all queries of which these are a sample. The sets of all "
           "systems hold at once with 95 % (Mogstad et al. 2024), by 1,000 bootstrap samples of "
           "the queries, with the standard errors of the sample, or of each bootstrap sample where "
           "there are fewer than 25 queries. Horizontal lines divide tiers.",
           by="track", each="measure"),
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
