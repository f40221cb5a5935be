"""The figures of the study of judges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from irmeta.report.charts.curves import NAMED, Pane, curve_panes
from irmeta.report.charts.heat import heat_map
from irmeta.report.charts.row_charts import intervals, slopes, stacked_bars, strip
from irmeta.report.figures import judge_intervals
from irmeta.report.theme import BLUE, GREY, PALE_BLUE, VERMILLION
from irmeta.studies.framework.study import Figure, Tables
from irmeta.studies.original.judges.study import JudgesOptions as Options
from irmeta.studies.original.judges.verdicts import first_measure

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
    taus = boards.select("track", "measure", "judge", "tau_b")
    return pl.concat([noise.select(taus.columns), taus]) if taus.height else taus


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
        measure=first_measure(tables, options), test=options.tests[0]
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


def _first_measure(table: str, **row: str) -> Callable[[Tables, Options], pl.DataFrame]:
    """Return a function that selects the rows of a table by the first measure, and by `row`."""
    return lambda tables, options: tables[table].filter(
        measure=first_measure(tables, options), **row
    )


def _contrasts(tables: Tables, options: Options) -> pl.DataFrame:
    """Return the contrasts of all systems by judge and group, or by type, or all together."""
    rows = _first_measure("systems")(tables, options).filter(pl.col("contrast").is_not_nan())
    return rows.with_columns(row=pl.coalesce("group", "type", pl.lit("all systems")))


def _strips(rows: pl.DataFrame, options: Options) -> Any:
    judge, measure = rows["judge"][0], rows["measure"][0]
    reach = max(rows["contrast"].abs().to_numpy().max(initial=0.0), 1e-3) * 1.05
    means = rows.group_by("row").agg(pl.col("contrast").mean()).sort("contrast", "row")
    place = {row: i for i, row in enumerate(means["row"].reverse())}
    order = pl.col("row").replace_strict(place, return_dtype=pl.Int64)
    flagged = int(rows["flagged"].sum())
    return strip(
        rows.sort(order, "system").select("row", name="system", value="contrast"),
        title=f"Systems that {judge} favours",
        subtitle=f"{measure}: rise by errors beyond that of all other systems; {flagged} of "
        f"{rows.height:,} significant",
        x_title="contrast",
        domain=(-reach, reach),
        digits=".3f",
        rule=(0.0, ""),
    )


def _ceiling(rows: pl.DataFrame, options: Options) -> Any:
    people = rows.filter("is_person")["tau"].drop_nans().mean()
    told = pl.when("is_person").then(pl.lit(" (two people)")).otherwise(pl.lit(""))
    row = pl.format("{}, {}{}", "judge", "person", told)
    once = ~pl.col("is_person") | (pl.col("judge") < pl.col("person"))
    return intervals(
        rows.filter(once).select(row=row, value="tau", low="tau_low", high="tau_high"),
        title="Judges with people beside people with people",
        subtitle=f"tau-b of the leaderboards by {rows['measure'][0]}, with 95 % intervals; line: "
        "mean of two people",
        x_title="tau-b",
        empty="No pair has a tau-b.",
        mark=float(people) if isinstance(people, float) else 0.0,
        always=True,
    )


def _effects(rows: pl.DataFrame, options: Options) -> Any:
    return intervals(
        rows.select(row="judge", value="effect", low="effect_low", high="effect_high"),
        title="Circular effect of each judge",
        subtitle=f"tau-b by {rows['measure'][0]} if all systems adopt the reference's labels, "
        "minus that if all adopt the judge's; 95 % intervals over queries",
        x_title="circular effect",
        empty="No judge has a circular effect.",
        always=True,
    )


def _spaced_judges(rows: pl.DataFrame, value: str) -> tuple[pl.DataFrame, str]:
    """Return the rows of the judges that curves show beside the reference, and a subtitle.

    Of too many judges for a colour each: evenly spaced from the least value to the greatest.
    """
    least = rows.filter(pl.col("labelled") == pl.col("labelled").min())
    judges = least.sort(value, "judge")["judge"].unique(maintain_order=True).to_list()
    shown = NAMED - 1
    if len(judges) <= shown:
        return rows, ""
    chosen = {judges[round(i * (len(judges) - 1) / (shown - 1))] for i in range(shown)}
    told = f"; {shown} of {len(judges)} judges, from the best to the worst at the left"
    return rows.filter(pl.col("judge").is_in(chosen)), told


def _mixtures(rows: pl.DataFrame, options: Options) -> Any:
    rows, told = _spaced_judges(rows, "tau")
    taus = rows.select("judge", "labelled", "tau", "tau_unlabelled").unpivot(
        ["tau", "tau_unlabelled"], index=["judge", "labelled"], variable_name="pane",
        value_name="y",
    )  # fmt: skip
    first = rows.filter(pl.col("judge") == rows["judge"][0])
    alone = first.select(
        pl.lit("reference alone").alias("judge"), "labelled", "alone", "alone_unlabelled"
    ).rename({"alone": "tau", "alone_unlabelled": "tau_unlabelled"})
    beside = alone.unpivot(
        ["tau", "tau_unlabelled"], index=["judge", "labelled"], variable_name="pane",
        value_name="y",
    )  # fmt: skip
    curves = pl.concat([beside, taus]).select("pane", "y", name="judge", x="labelled", dashed=False)
    return curve_panes(
        curves,
        [
            Pane("tau", "with the full reference", ".2f"),
            Pane("tau_unlabelled", "with the reference on the other queries", ".2f"),
        ],
        title="Orders of systems by mixtures of labels",
        subtitle=f"{rows['measure'][0]}; mean tau-b over {rows['repeats'][0]:,} random orders"
        + told,
        x_title="queries with the reference's labels",
        linear="d",
        same_y=True,
    )


def _width_curves(rows: pl.DataFrame, options: Options) -> Any:
    rows, told = _spaced_judges(rows, "width")
    first = rows.filter(pl.col("judge") == rows["judge"][0])
    curves = pl.concat(
        [
            first.select(name=pl.lit("reference alone"), x="labelled", y="width_reference"),
            rows.select(name="judge", x="labelled", y="width"),
        ]
    ).with_columns(pane=pl.lit("width"), dashed=False)
    return curve_panes(
        curves,
        [Pane("width", "mean width of 95 % intervals of systems", ".2f")],
        title="Means corrected by few labels of people",
        subtitle=f"{rows['measure'][0]}, PPI++; dotted: all queries labelled" + told,
        x_title="queries with the reference's labels",
        linear="d",
        levels=[float(first["width_all"][0])],
    )


FIGURES = (
    Figure("tau", _taus, _tau_map,
           "Kendall's tau-b between the leaderboards of each judge and of the reference.",
           "Each cell compares the order of the systems by a judge with that by the reference. The "
           "top row is the noise of queries: the reference on half of the queries compared with "
           "the reference on the other half. These have half of the queries, so a judge above "
           "that row is not proven better; the table `query_noise` compares equally many queries.",
           by="track"),
    Figure("replicates",
           lambda tables, _: tables["replicate_judges"].sort("model", "pairs", maintain_order=True)
           if "replicate_judges" in tables else pl.DataFrame(),
           lambda rows, _: strip(
        rows.select(
            row=pl.format("{}, {} pairs", "model", "pairs"),
            name=pl.format("{}: {}", "judge", "replicate"),
            value="tau_b",
        ),
        title="Prompts and repeats of each model",
        subtitle="tau-b with the reference's leaderboard; all pairs: each judge with all its "
        "labels; shared: those that all replicates labelled",
        x_title="tau-b",
        domain=(-1.0, 1.0),
        digits=".3f",
    ),
           "Tau-b of the prompts and repeats of each model.",
           "Each dot is a judge, the tick the mean of a model. With all pairs, replicates differ "
           "also in the docs that they labelled; on shared pairs docs without a label are unjudged "
           "for both sides, which raises tau-b. Compare the rows of the same pairs alone.",
           by="track"),
    Figure("ceiling", "ceiling", _ceiling,
           "Tau-b of each judge with each person, and of people with people.",
           "Each dot compares the leaderboards by two sets of labels. Intervals of pairs that "
           "share a set are not independent: the table has the interval of their difference.",
           by="track"),
    Figure("slopes", _first_measure("systems"), _slopes,
           "Leaderboards of the reference and of {judge}.",
           "Each line is a system: its place by the reference at the left, by the judge at the "
           "right. A group of systems that rises together may be one that the judge favours: the "
           "table of groups has tests.",
           by="track", each="judge"),
    Figure("conclusions", _conclusions, _bars,
           "Conclusions of each judge on pairs of systems, beside those of the reference.",
           "Kept and lost are conclusions of the reference; new ones are unconfirmed, not false; "
           "reversed ones are false if the reference is right.", by="track"),
    Figure("contrasts", _contrasts, _strips,
           "Systems that {judge} favours, by group.",
           "Each dot is a system: right of 0 the judge's errors raise its mean more than those of "
           "all other systems, left less. They are compared with the judge's labels permuted among "
           "docs of the same query and reference grade. The black tick is the mean of a group. "
           "Means away from 0 may be chance: the table of groups has tests.",
           by="track", each="judge"),
    Figure("adoption",
           lambda tables, _: tables["adoption"].filter(labels="reference", share=1.0)
           if "adoption" in tables else pl.DataFrame(), _effects,
           "Loss of tau-b because systems adopt the judge's labels, not the reference's.",
           "Each dot is a judge. Right of the line at 0 its order of the systems suffers more when "
           "all re-rank by its labels than when all re-rank by the reference's; where the interval "
           "reaches 0, that is not shown.", by="track"),
    Figure("mixtures", _first_measure("mixtures"), _mixtures,
           "Tau-b of mixtures of labels by the number of queries that the reference labels.",
           "A curve above that of the reference alone saves labels. At the left, the judge labels "
           "all queries; at the right, the reference does, whatever the judge. The second pane "
           "compares with queries that nobody but the judge has labelled.", by="track"),
    Figure("widths", _first_measure("corrected", method="ppi++", target="systems"), _width_curves,
           "Widths of intervals of corrected means by the number of labelled queries.",
           "The lower, the more the judge's labels add to those of people.", by="track"),
    Figure("agreement", "agreement",
           lambda rows, _: judge_intervals(
               rows.with_columns(reference=pl.lit("the reference")), "kappa_binary"
           ),
           "Cohen's kappa of relevance with the reference.",
           "Each dot is a judge; the line is a 95 % interval that draws whole queries.",
           by="track"),
)  # fmt: skip
