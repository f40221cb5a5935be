"""The figures of the study of judges."""

from __future__ import annotations

from typing import Any

import polars as pl

from irmeta.report.charts.heat import heat_map
from irmeta.report.charts.slopes import slopes
from irmeta.report.charts.stacked import stacked_bars
from irmeta.report.figures.judge_figures import judge_intervals
from irmeta.report.theme import BLUE, GREY, PALE_BLUE, VERMILLION
from irmeta.studies.framework.study import Figure, Tables
from irmeta.studies.papers.judges.options import JudgesOptions as Options

OTHER_QUERIES = "reference on other queries"
PARTS = {"kept": BLUE, "lost": PALE_BLUE, "new": GREY, "reversed": VERMILLION}
"""Colours of the parts of conclusions; orange is for signs that differ."""


def _taus(tables: Tables, options: Options) -> pl.DataFrame:
    """Return tau-b by judge and measure, below that of the reference on other queries."""
    boards = tables["leaderboards"].filter(pl.col("docs") == "all")
    noise = (
        tables["query_noise"]
        .unique(["track", "measure"], maintain_order=True)
        .select("track", "measure", judge=pl.lit(OTHER_QUERIES), tau_b="tau_reference")
    )
    found = boards.select("track", "measure", "judge", "tau_b")
    return pl.concat([noise.select(found.columns), found]) if found.height else found


def _tau_map(rows: pl.DataFrame, options: Options) -> Any:
    return heat_map(
        rows.select(
            across="measure",
            down="judge",
            value="tau_b",
            name=pl.format("{}, {}", "judge", "measure"),
        ),
        title="Leaderboards by judge and measure",
        subtitle="Kendall's tau-b with the reference's leaderboard; top row: the reference on half "
        "of the queries with the reference on the other half",
    )


def _places(tables: Tables, options: Options) -> pl.DataFrame:
    """Return the places of all systems by the reference and by each judge, first measure."""
    rows = tables["systems"]
    return rows.filter(pl.col("measure") == options.measures[0])


def _slopes(rows: pl.DataFrame, options: Options) -> Any:
    judge = rows["judge"][0]
    return slopes(
        rows.select(name="system", left="place_reference", right="place_judge"),
        ("reference", judge),
        title=f"Systems by the reference and by {judge}",
        subtitle=f"by {rows['measure'][0]}, best first; dark: greatest falls, blue: greatest rises",
    )


def _conclusions(tables: Tables, options: Options) -> pl.DataFrame:
    rows = tables["conclusions"].filter(
        pl.col("measure") == options.measures[0], pl.col("test") == options.tests[0]
    )
    return rows.sort("survived", "judge", descending=[True, False], nulls_last=True)


def _bars(rows: pl.DataFrame, options: Options) -> Any:
    parts = rows.select(row="judge", **{name: name for name in PARTS}).unpivot(
        [*PARTS], index="row", variable_name="part", value_name="value"
    )
    return stacked_bars(
        parts,
        PARTS,
        title="Conclusions by judge",
        subtitle=f"pairs of systems by {rows['measure'][0]}, {rows['test'][0]}, "
        f"p <= {options.alpha:g}; most kept first",
        x_title="pairs of systems",
    )


def _agreement(rows: pl.DataFrame, options: Options) -> Any:
    reference = rows.with_columns(reference=pl.lit("the reference"))
    return judge_intervals(reference, "kappa_binary")


FIGURES = (
    Figure("tau", _taus, _tau_map,
           "Kendall's tau-b between the leaderboards of each judge and of the reference.",
           "Each cell compares the order of the systems by a judge with that by the reference. The "
           "top row is the noise of queries: the reference on half of the queries compared with "
           "the reference on the other half. These have half of the queries, so a judge above "
           "that row is not proven better; the table of query noise compares alike.", by="track"),
    Figure("slopes", _places, _slopes,
           lambda rows, _: f"Leaderboards of the reference and of {rows['judge'][0]}.",
           "Each line is a system: its place by the reference at the left, by the judge at the "
           "right. A group of systems that rises together is what a biased judge favours.",
           by="track", each="judge"),
    Figure("conclusions", _conclusions, _bars,
           "Pairs of systems that the judge concludes as the reference does, or otherwise.",
           "Kept and lost are conclusions of the reference; new ones are unconfirmed, not false; "
           "reversed ones are false.", by="track"),
    Figure("agreement", "agreement", _agreement,
           "Cohen's kappa of relevance with the reference.",
           "Each dot is a judge; the line is a 95 % interval that draws whole queries.",
           by="track"),
)  # fmt: skip
