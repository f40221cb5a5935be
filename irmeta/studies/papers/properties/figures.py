"""The figures of the study of desirable properties, from its tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import polars as pl

from irmeta.numbered_rankings import EMPTY, NONRELEVANT
from irmeta.phrases import count
from irmeta.report.charts.curves import Pane, curve_panes
from irmeta.report.charts.graph import graph
from irmeta.report.charts.heat import heat_map
from irmeta.studies.framework.study import Figure, Tables
from irmeta.studies.papers.properties.study import PropertiesOptions as Options

KINDS = ("relevance", "irrelevance", "redundancy")
HELD = (*KINDS, "induction", "swap", "replacement", "monotonicity", "convergence",
        "top-weightedness")  # fmt: skip
"""Properties of the heat map; the strict forms of the paper's are in the table `further`."""
ARROWS = "arrows lead to the ranking that should score at least as much"
READING = (
    "Labels are of docs relevant to subtopic a, b, ..., or to none (x). An arrow leads to the "
    "ranking that should score at least as much; pale arrows start or end at the empty ranking, "
    "and are not counted."
)


# Figures 1 to 5


def _relations(tables: Tables, options: Options, kinds: Sequence[str] | None) -> pl.DataFrame:
    """Return the rankings if `kinds` is None; else the relations of these kinds."""
    if kinds is None:
        return tables["nodes"]
    return tables["edges"].filter(pl.col("property").is_in(kinds))


def _placed(options: Options) -> pl.DataFrame:
    """Return the rankings of the figures on levels, each in the middle of those that extend it."""
    drawn = options.drawn
    numbers = range(drawn.count)
    rows = []
    for number, name in zip(numbers, drawn.names(numbers), strict=True):
        level = 0 if name == EMPTY else len(name)
        leaves = drawn.branching ** (drawn.length - level)
        rows.append((name, level, (number - drawn.starts[level] + 0.5) * leaves - 0.5))
    schema = {"name": pl.String, "level": pl.Int64, "row": pl.Float64}
    return pl.DataFrame(rows, schema, orient="row")


def induced_path(options: Options) -> tuple[str, str, str]:
    """Return three rankings, of which irrelevance and relevance relate the first to the last."""
    letters = options.drawn.letters
    last = letters[-2]
    if options.drawn.length == 1:
        return NONRELEVANT, EMPTY, last
    return last + NONRELEVANT, last, 2 * last


def _graph(rows: pl.DataFrame, options: Options, title: str, bold: bool = False) -> Any:
    edges = pl.DataFrame(schema=["source", "target", "kind", "weight"])
    if "lower" in rows.columns:
        weight = _weight(options, bold)
        edges = rows.select(source="lower", target="upper", kind="property", weight=weight)
    return graph(
        _placed(options),
        edges,
        title=title,
        subtitle=_rankings(options) if edges.is_empty() else ARROWS,
        kinds=KINDS,
        headings=[count(level, "doc") for level in range(options.drawn_length + 1)],
    )


def _rankings(options: Options) -> str:
    drawn = options.drawn
    return (
        f"{count(drawn.count, 'ranking')} of up to {count(drawn.length, 'doc')} over "
        f"{count(drawn.subtopics, 'subtopic')}"
    )


def _weight(options: Options, bold: bool) -> pl.Expr:
    first, middle, last = induced_path(options)
    pair = pl.struct("lower", "upper")
    path = [{"lower": first, "upper": middle}, {"lower": middle, "upper": last}]
    is_bold = pair.is_in(path) & bold
    pale = pl.when("with_empty").then(pl.lit("pale")).otherwise(pl.lit("plain"))
    return pl.when(is_bold).then(pl.lit("bold")).otherwise(pale)


def _relation(number: int, kind: str, words: str) -> Figure:
    return Figure(
        f"figure_{number}",
        partial(_relations, kinds=(kind,)),
        partial(_graph, title=f"{kind.capitalize()}: {words}"),
        f"Figure {number}: rankings related by {kind}.",
        READING,
    )


def _caption_5(rows: pl.DataFrame, options: Options) -> str:
    first, middle, last = induced_path(options)
    return (
        f"Figure 5: rankings related by the three properties. The bold path relates {first} to "
        f"{last}, by way of {middle}: {first} should not score more than {last}."
    )


# Violations


def _by_length(rows: pl.DataFrame, options: Options) -> Any:
    order = [name for name in (*KINDS, "induction") if (rows["property"] == name).any()]
    return curve_panes(
        rows.select(pane="property", name="measure", x="length", y="share", dashed=pl.lit(False)),
        [Pane(name, name, ".0%") for name in order],
        title="Violated pairs by length of the rankings",
        subtitle=f"share of applicable pairs; {count(options.subtopic_count, 'subtopic')}, "
        "only measures with a violation",
        x_title="length of the longest rankings, h",
        linear="d",
    )


def _shares(tables: Tables, options: Options) -> pl.DataFrame:
    columns = ("measure", "property", "share", "violated")
    both = pl.concat([tables["table_1"].select(columns), tables["further"].select(columns)])
    measures = [spec.name for spec in options.specs]
    every = pl.DataFrame({"measure": measures}).join(pl.DataFrame({"property": HELD}), how="cross")
    return every.join(both, on=["measure", "property"], how="left", maintain_order="left")


def _heat(rows: pl.DataFrame, options: Options) -> Any:
    return heat_map(
        rows.select(
            across="property",
            down="measure",
            value="share",
            text=pl.when(violated=0).then(pl.lit("0")),
            name=pl.format("{}, {}", "measure", "property"),
        ),
        title="Violated pairs by measure and property",
        subtitle="share of applicable pairs; 0: none is violated; dash: no pair is applicable",
    )


FIGURES = (
    Figure(
        "figure_1",
        partial(_relations, kinds=None),
        partial(_graph, title="Short rankings"),
        "Figure 1: all rankings, truncated ones included.",
        "Labels are of docs relevant to subtopic a, b, ..., or to none (x).",
    ),
    _relation(2, "relevance", "a relevant doc at the end"),
    _relation(3, "irrelevance", "a non-relevant doc at the end"),
    _relation(4, "redundancy", "a seen or an unseen subtopic"),
    Figure(
        "figure_5",
        partial(_relations, kinds=KINDS),
        partial(_graph, title="The three properties together", bold=True),
        _caption_5,
        READING,
    ),
    Figure(
        "violations_by_property",
        _shares,
        _heat,
        "Share of pairs that a measure violates, by property.",
        "Shares are rounded: the tables have the counts. Convergence and top-weightedness are "
        "strict: equal scores violate them.",
    ),
    Figure(
        "violations_by_length",
        "by_length",
        _by_length,
        "Share of violated pairs among the rankings up to each length.",
        "The judgments are those of the longest rankings.",
    ),
)
