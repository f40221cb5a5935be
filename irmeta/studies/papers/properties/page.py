"""The figures and the sections of the study's page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import polars as pl

from irmeta.numbered_rankings import EMPTY, NONRELEVANT
from irmeta.phrases import count, listed
from irmeta.report.charts.curves import Pane, curve_panes
from irmeta.report.charts.graph import graph
from irmeta.report.charts.heat import heat_map
from irmeta.studies.framework.study import Figure, Section, Show, Tables
from irmeta.studies.papers.properties.study import RELEVANT, SLIPS
from irmeta.studies.papers.properties.study import PropertiesOptions as Options

KINDS = ("relevance", "irrelevance", "redundancy")
PAPERS = (*KINDS, "induction")
HELD = (*PAPERS, "swap", "replacement", "monotonicity", "convergence", "top-weightedness")
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
    drawn = options.drawn
    rankings = (
        f"{count(drawn.count, 'ranking')} of up to {count(drawn.length, 'doc')} over "
        f"{count(drawn.subtopics, 'subtopic')}"
    )
    return graph(
        _placed(options),
        edges,
        title=title,
        subtitle=rankings if edges.is_empty() else ARROWS,
        kinds=KINDS,
        headings=[count(level, "doc") for level in range(drawn.length + 1)],
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
    order = [name for name in PAPERS if (rows["property"] == name).any()]
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


# The sections

CERTAINTY = (
    "One violated pair proves that a measure lacks the property. No violated pair among these "
    "rankings does not prove that it has the property: a longer ranking may violate it."
)
BY_PROPERTY = ("measure", "property", "violated")
MOST_NAMED = 8  # measures in a sentence


def sections(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield the sections."""
    yield _rankings(options)
    yield _properties()
    yield _induction(tables, options)
    yield _violations(tables, options)
    if not tables["iterations"].is_empty():
        yield _iterations(tables)
    yield _examples()
    yield _truncation(tables)
    yield _single(tables, options)
    yield _further(tables)


def _rankings(options: Options) -> Section:
    space = options.space
    text = (
        "Each doc of a ranking is relevant to one subtopic (a, b, ...) or to none (x). The study "
        f"scores all rankings of up to {count(space.length, 'doc')} (h) over "
        f"{count(space.subtopics, 'subtopic')} (m), each with "
        f"{count(space.relevant_docs, 'relevant doc')}: ((m + 1)^(h + 1) - 1) / m = "
        f"{space.count:,} rankings, the empty one included."
    )
    notes = [*SLIPS["rankings"]]
    if space.relevant_docs < space.length:
        notes.append(
            f"A ranking has more docs of a subtopic than its {space.relevant_docs} relevant ones: "
            "those beyond are judged non-relevant, though their labels say otherwise."
        )
    if space.weights:
        weights = [f"{a}: {w:g}" for a, w in zip(space.letters, space.weights, strict=False)]
        notes.append(
            f"Weights of the subtopics: {', '.join(weights)}. Redundancy then relates a doc of a "
            "seen subtopic only with docs of unseen subtopics of at least its weight."
        )
    return Section("Rankings (Section 3, Figure 1)", text, ["figure_1"], notes=notes)


def _properties() -> Section:
    text = (
        "A property relates two rankings, of which the lower one should not score more. Pairs with "
        "the empty ranking are left out, as in the paper; the tables count them separately."
    )
    shown = [Show("properties", rows={"property": PAPERS}), "figure_2", "figure_3", "figure_4"]
    return Section("Properties (Section 3.1, Figures 2 to 4)", text, shown)


def _induction(tables: Tables, options: Options) -> Section:
    first, middle, last = induced_path(options)
    text = (
        "Several steps of the three properties relate further rankings: "
        f"{first} should not score more than {middle} by irrelevance, nor {middle} more than "
        f"{last} by relevance, hence {first} not more than {last}. Induction is the transitive "
        "closure of the three properties over all rankings. It counts ordered pairs of different "
        "rankings, of one or several steps; the empty ranking may be a step between others, but "
        "not an end of a pair."
    )
    rows = tables["table_1"].filter(property="induction")
    applicable, indirect = rows.select("applicable", "indirect").row(0)
    facts = {"related pairs": applicable, "of these, by several steps": indirect}
    note = (
        "The paper prints no number of these pairs. Its released program counts 1,135,428 for "
        "m = 2 and h = 10: a ranking with itself, some pairs twice, and two further rules. The "
        "closure has 853,865."
    )
    heading = "Induction (Section 3.2, Figure 5)"
    return Section(heading, text, ["figure_5"], facts=facts, notes=[note])


def _violations(tables: Tables, options: Options) -> Section:
    rows = tables["table_1"]
    failed = rows.filter(pl.col("violated") > 0)
    measures = rows["measure"].unique(maintain_order=True).to_list()
    lacking = failed["measure"].unique(maintain_order=True).to_list()
    facts: dict[str, str | int | float | None] = {
        "rankings": options.space.count,
        "measures": len(measures),
        "measures with a violation": len(lacking),
    }
    undefined = rows.filter(pl.col("undefined") > 0)["measure"].unique(maintain_order=True)
    notes = [*SLIPS["table_1"], *SLIPS["equations"]]
    if len(undefined):
        measures = listed(undefined.to_list(), MOST_NAMED)
        notes.append(f"{measures}: a pair with an undefined (NaN) score violates nothing.")
    has_printed = rows["printed"].null_count() < rows.height
    columns = (*BY_PROPERTY, "printed") if has_printed else BY_PROPERTY
    marks = Show(
        "table_1",
        ("measure", "property", "holds"),
        pivot="property",
        caption="Properties that measures have (\u2713) or lack (\u00d7) (Table 1).",
    )
    counts = Show("table_1", columns, pivot="property", name="violation_counts")
    shown: list[str | Show] = [marks, counts, "violations_by_property", "violations_by_length"]
    return Section(
        "Violations (Section 4.2, Table 1)",
        [*_sentences(failed), CERTAINTY],
        [*shown, "by_length", "paper_numbers"],
        facts=facts,
        notes=notes,
    )


def _iterations(tables: Tables) -> Section:
    rows = tables["iterations"]
    text = [
        "The cube tests divide the gain of a list by its iterations. The paper puts all docs into "
        "one iteration (per=all). In TREC's Dynamic Domain track a system returned five docs per "
        "iteration (per=5, the default of irmeta); with per=1, each doc is an iteration. CT "
        "falls where a new iteration adds too little gain, so it violates relevance only in "
        "rankings that are longer than an iteration.",
        *_sentences(rows.filter(pl.col("violated") > 0)),
    ]
    columns = ("measure", "per", "property", "violated", "applicable")
    heading = "Beyond the paper: docs per iteration of the cube tests"
    return Section(heading, text, [Show("iterations", columns, pivot="property")])


def _sentences(failed: pl.DataFrame) -> Iterator[str]:
    """Yield a sentence on the measures that violate each property."""
    for prop in PAPERS:
        rows = failed.filter(property=prop).select("measure", "violated", "applicable", "share")
        each = []
        for measure, violated, applicable, share in rows.iter_rows():
            percent = "100%" if share == 1 else f"{min(share, 0.9999):.2%}"  # 100%: exactly that
            each.append(f"{measure} ({violated:,} of {applicable:,}, {percent})")
        if each:
            verb = "violates" if len(each) == 1 else "violate"
            yield f"{listed(each, MOST_NAMED)} {verb} {prop}."
    if failed.is_empty():
        yield "No measure violates a property."


def _examples() -> Section:
    text = [
        "ACT averages CT over the docs of the ranking, and a further non-relevant doc repeats the "
        "last and greatest CT. AP-IA averages AP over subtopics, and a second doc of a seen "
        "subtopic has a greater precision at its rank than the first doc of an unseen one.",
        f"The paper's examples have {RELEVANT} relevant docs per subtopic. Below them, of each "
        "measure and property: the first violated pair of the shortest rankings, and the pairs "
        "whose scores differ least and most, with the arithmetic of both scores as irmeta explain "
        "shows it.",
    ]
    heading = "Worked examples (Section 4.3)"
    return Section(heading, text, ["worked", "violations"], notes=SLIPS["worked"])


def _truncation(tables: Tables) -> Section:
    rows = tables["truncation"]
    text = [
        "A ranking of l docs is shorter than a cutoff k > l. Its score is compared with that of "
        "the same ranking with non-relevant docs down to k, or down to h without a cutoff. Where "
        "both are equal, the measure pads; SetP, the precision of trec_eval that the paper "
        "mentions, divides by l instead.",
        *_treatments(rows),
    ]
    heading = "Rankings shorter than the cutoff (Section 5)"
    return Section(heading, text, ["truncation"], notes=SLIPS["truncation"])


def _treatments(rows: pl.DataFrame) -> Iterator[str]:
    treated = rows.drop_nulls("treatment")
    if treated.is_empty():
        yield "No ranking is shorter than the cutoff of a measure."
        return
    padded = treated.filter(treatment="pads").height
    yield f"{padded} of {count(treated.height, 'measure')} {'pads' if padded == 1 else 'pad'}."
    for name, rise, of in rows.filter(pl.col("better") > 0).select(
        "measure", "better", "rankings"
    ).iter_rows():  # fmt: skip
        yield f"{name} is better padded in {rise:,} of {count(of, 'ranking')}."


def _single(tables: Tables, options: Options) -> Section:
    rows = tables["single_subtopic"]
    failed = rows.filter(pl.col("violated") > 0)
    text = [
        f"With one subtopic there are {count(options.single.count, 'ranking')}. Redundancy then "
        "applies to no pair, as no subtopic is unseen, and AP-IA is AP.",
        *_sentences(failed),
    ]
    heading = "Rankings of a single subtopic (Section 5)"
    return Section(heading, text, [Show("single_subtopic", BY_PROPERTY, pivot="property")])


def _further(tables: Tables) -> Section:
    rows = tables["further"].unique("property", maintain_order=True)
    properties = rows["property"].to_list()
    text = (
        "Swap and replacement move a relevant doc up, or substitute one; monotonicity, convergence "
        "and top-weightedness are three of Moffat's seven properties. Strict properties do not "
        "allow equal scores, and count only rankings within the cutoff of a measure: measures of "
        "the relevant docs alone cannot have strict irrelevance. Rank-biased utility and the "
        "terminal docs of Liu et al. (2016) are left out, because they need more than labels."
    )
    shown = [
        Show("properties", rows={"property": properties}),
        Show("further", BY_PROPERTY, pivot="property"),
    ]
    return Section("Beyond the paper: further properties", text, shown)
