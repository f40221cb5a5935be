"""The figures of the study of innovation, from its tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

import polars as pl

from irmeta.phrases import count, listed
from irmeta.report.charts.curves import PRINTED, Pane, curve_panes
from irmeta.report.charts.heat import banded_maps, heat_map
from irmeta.report.charts.row_charts import dumbbell, strip
from irmeta.report.figures import rarity_histogram
from irmeta.schema.columns import Display
from irmeta.studies.framework.study import Figure, Tables
from irmeta.studies.papers.innovation.study import GRID, MARKED, MEASURES, PAPER_FEWER_SYSTEMS
from irmeta.studies.papers.innovation.study import InnovationOptions as Options

THRESHOLD = 0.9  # tau of equivalent orders (Section 4.2)
MADE = {"rare": "S_rare: docs of no other system", "common": "S_common: docs of most systems"}
METHODS = {"tau-b": "tau-b", "tau-ap-b": "tau_AP,b"}
_COUNTED = {"systems": "systems", "groups": "groups", "pooled": "pooled systems"}


def _alpha(column: str = "alpha") -> pl.Expr:
    """Return an alpha as text, without the zeros of a whole number."""
    return pl.col(column).cast(pl.String).str.strip_suffix(".0")


# Rarity, and Figures 1 and 2


def _ranks(tables: Tables, options: Options) -> pl.DataFrame:
    """Return the ranks of hypothetical systems with the first places of S_rare."""
    keys = ["track", "query", "alpha"]
    ranks = tables["figure_1"].join(tables["first_places"], on=keys, maintain_order="left")
    return ranks.with_columns(measure=pl.lit(options.families()[0]))


def _figure_1(rows: pl.DataFrame, options: Options) -> Any:
    track, query, systems = rows.select("track", "query", "systems").row(0)
    return curve_panes(
        rows.select(
            pane="made",
            name=pl.format("alpha = {}", _alpha()),
            x="docs",
            y="rank",
            dashed=pl.lit(False),
        ),
        [Pane(system, text) for system, text in MADE.items()],
        title=f"{track}: rank of a hypothetical system on query {query}",
        subtitle=f"by {short(options.families()[0])}, among {systems - 1} systems and itself; 1 is "
        "best",
        x_title="D, relevant docs retrieved",
        linear="d",
        same_y=True,
        ranks=True,
    )


def _caption_1(rows: pl.DataFrame, options: Options) -> str:
    query, relevant, median, most = rows.select("query", "relevant", "median_relevant", "most").row(
        0
    )
    by_alpha = rows.select("first", _alpha()).unique().sort("first", "alpha").rows()
    places = [f"D = {docs} (alpha = {alpha})" for docs, alpha in by_alpha if docs is not None]
    never = [f"alpha = {alpha}" for docs, alpha in by_alpha if docs is None]
    alone = [f"alone on rank 1 from {listed(places)} on"] if places else []
    alone += [f"not alone on rank 1 up to D = {most} ({listed(never)})"] if never else []
    return (
        f"Figure 1: rank of two hypothetical systems by {options.families()[0]} on query {query}, "
        f"which has {count(relevant, 'relevant doc')} (median of the track: {median}); S_rare is "
        f"{listed(alone)}."
    )


def _by_alpha(rows: pl.DataFrame, name: pl.Expr, pane: str) -> pl.DataFrame:
    """Return curves by alpha, marked where the paper has values."""
    marked = pl.col("alpha").is_in(MARKED)
    return rows.select(
        name=name, pane=pane, x="alpha", y="value", dashed=pl.lit(False), marked=marked
    )


def _figure_2(rows: pl.DataFrame, options: Options) -> Any:
    order = pl.DataFrame({"measure": options.families()})
    return curve_panes(
        _by_alpha(order.join(rows, on="measure", maintain_order="left_right"), SHORT, "method"),
        [Pane(method, text) for method, text in METHODS.items()],
        title=f"{rows['track'][0]}: order of systems by the weight of rarity",
        subtitle="correlation with the order by alpha = 0, that of P and AP",
        x_title="alpha",
        levels=[THRESHOLD],
        linear="~g",
        same_y=True,
    )


def _caption_2(rows: pl.DataFrame, options: Options, where: str) -> str:
    families = listed(options.families())
    return f"{where}: correlation of the orders of systems with that by alpha = 0, {families}."


def _figure_2_tracks(rows: pl.DataFrame, options: Options, tracks: Sequence[str]) -> Any:
    return curve_panes(
        _by_alpha(rows, pl.col("track"), "measure"),
        [Pane(name, f"{short(name)}: tau-b") for name in options.families()],
        title=f"Orders of systems by the weight of rarity, {number_of_tracks(rows)}",
        subtitle="correlation with the order by alpha = 0, that of P and AP",
        x_title="alpha",
        levels=[THRESHOLD],
        linear="~g",
        same_y=True,
        names=tracks,
    )


# Table 3


def _fewer_systems(rows: pl.DataFrame, options: Options, tracks: Sequence[str]) -> Any:
    pane = pl.format("{}, alpha = {}", "measure", _alpha())
    alphas = rows.select(_alpha()).unique(maintain_order=True)["alpha"]
    shown = [(name, alpha) for alpha in alphas for name in options.families()]
    printed = [
        (f"{family}, alpha = 1", systems, float(value))
        for measure, family in zip(MEASURES, options.families(), strict=True)
        for (of, systems), value in PAPER_FEWER_SYSTEMS.items()
        if of == measure and "1" in alphas and options.is_papers
    ]
    return curve_panes(
        rows.select(pane=pane, name="track", x="systems", y="tau_b", dashed=pl.lit(False)),
        [
            Pane(f"{name}, alpha = {alpha}", f"{short(name)}, alpha = {alpha}: tau-b")
            for name, alpha in shown
        ],
        title=f"Orders of fewer systems, {number_of_tracks(rows)}",
        subtitle="order of N systems by their own rarity with their order among all, mean of draws",
        x_title="N",
        dashes=("computed", "TREC-8, printed in Table 3 of the paper") if printed else ("", ""),
        same_y=True,
        names=tracks,
        printed=pl.DataFrame(printed, schema=PRINTED, orient="row"),
    )


MOST_SYSTEMS = 40  # rows of the contributions; of more, those with the most unique docs
MOST_NAMED = 18  # systems whose names and numbers fit the map of the overlap
BANDS = (0.1, 0.2, 0.3, 0.5, 0.8)  # of the overlap of more systems
DOCS = Display("count", "docs")
PARAMETERS = r"\(.*\)"
SHORT = pl.col("measure").str.replace(PARAMETERS, "")
"""Names of measures without their parameters."""


def number_of_tracks(rows: pl.DataFrame) -> str:
    """Return how many tracks some rows have, e.g. "3 tracks"."""
    return count(rows["track"].n_unique(), "track")


def short(measure: str) -> str:
    """Return the name of a measure without its parameters, which captions state."""
    return re.sub(PARAMETERS, "", measure)


# Who retrieves what


def _contributors(tables: Tables, options: Options) -> pl.DataFrame:
    """Return the systems and groups that alone retrieve some doc, of how many."""
    rows = tables["contributions"].filter(pl.col("level") != "type")
    rows = rows.with_columns(of=pl.len().over("track", "level"))
    return rows.filter(pl.max_horizontal("unique", "unique_to_group") > 0)


def _contributions(rows: pl.DataFrame, options: Options) -> Any:
    track, level, of = rows.select("track", "level", "of").row(0)
    most = rows.sort("unique", "found", "name", descending=[True, True, False]).head(MOST_SYSTEMS)
    has_rings = most["unique_to_group"].count() > 0
    marks = f"docs of no other {level}"
    if has_rings:
        marks = f"filled: no other {level}; ring: no other group"
    labels = [
        f"{docs:,} ({share:.0%})" for docs, share in most.select("found", "share").iter_rows()
    ]
    shown = count(of, level)
    if most.height < of:
        shown = f"{most.height} of {shown}"
    columns = {
        "filled_name": pl.format(f"{{}}, no other {level}", "name"),
        "ring_name": pl.format("{}, no other group", "name"),
        "aside": pl.Series(labels, dtype=pl.String),
    }
    return dumbbell(
        most.select(row="name", filled="unique", ring="unique_to_group", **columns),
        title=f"{track}: relevant docs that one {level} alone retrieves",
        subtitle=f"{shown}; {marks}",
        x_title=f"relevant docs within rank {options.k}",
        aside="all found",
        display=DOCS,
    )


def _greedy(rows: pl.DataFrame, options: Options, tracks: Sequence[str]) -> Any:
    return curve_panes(
        rows.select(pane=pl.lit(""), name="track", x="order", y="share", dashed=pl.lit(False)),
        [Pane("", "share of the relevant docs that any system retrieves", "%")],
        title=f"Systems that cover the relevant docs, {number_of_tracks(rows)}",
        subtitle="each system adds the most docs to those of the systems before it",
        x_title="systems",
        height=240,
        names=tracks,
    )


def _overlap(rows: pl.DataFrame, options: Options) -> Any:
    systems = int(rows.select(pl.max("place_b")).item())
    title = f"{rows['track'][0]}: overlap of the relevant docs of systems"
    subtitle = "Jaccard index; similar systems are side by side"
    if systems <= MOST_NAMED:
        cells = rows.sort("place_b", "place_a").select(
            across="system_a",
            down="system_b",
            value="jaccard",
            name=pl.format("{} and {}", "system_a", "system_b"),
        )
        return heat_map(cells, title=title, subtitle=subtitle)
    place = pl.int_range(1, systems + 1, eager=True, dtype=pl.Int32)
    cells = [
        rows.select(x="place_a", y="place_b", value="jaccard"),
        rows.select(x="place_b", y="place_a", value="jaccard"),
        pl.DataFrame({"x": place, "y": place}).with_columns(value=pl.lit(1.0)),
    ]
    axis = "place of the system"
    return banded_maps(
        pl.concat(cells).with_columns(pane=pl.lit("")),
        {"": (axis, axis)},
        title=title,
        subtitle=subtitle,
        bands=BANDS,
    )


# Swaps and gaming


def _swaps(tables: Tables, options: Options) -> pl.DataFrame:
    """Return the share of the pairs of each track that have changed places up to each alpha."""
    grid = pl.DataFrame({"alpha": GRID})
    changed = (
        tables["swaps"]
        .sort("alpha")
        .select(
            "track",
            "measure",
            "alpha",
            swapped=pl.int_range(1, pl.len() + 1).over("track", "measure"),
        )
    )
    pairs = tables["dethroned"].filter(pl.col("pairs") > 0).select("track", "measure", "pairs")
    every = pairs.join(grid, how="cross").sort("alpha")
    sides = ["track", "measure"]
    joined = every.join_asof(changed, on="alpha", by=sides, check_sortedness=False)
    share = pl.col("swapped").fill_null(0) / pl.col("pairs")
    return joined.with_columns(share=share).sort("track", "measure", "alpha")


def _swapped(rows: pl.DataFrame, options: Options, tracks: Sequence[str]) -> Any:
    marked = pl.col("alpha").is_in(MARKED)
    return curve_panes(
        rows.select(
            pane="measure", name="track", x="alpha", y="share", dashed=pl.lit(False), marked=marked
        ),
        [Pane(name, f"{short(name)}: pairs that changed", "~%") for name in options.families()],
        title=f"Pairs of systems that change places, {number_of_tracks(rows)}",
        subtitle="share of all pairs whose order by P or AP has changed up to alpha",
        x_title="alpha",
        linear="~g",
        same_y=True,
        names=tracks,
    )


def _gaming(rows: pl.DataFrame, options: Options) -> Any:
    track, measure = rows["track"][0], short(rows["measure"][0])
    groups = count(rows["target"].n_unique(), "group")
    moved = rows["rank_after"] - rows["rank_before"]
    return strip(
        rows.select(row=pl.format("{}, {}", "attack", "counted"), name="system", value=moved),
        title=f"{track}: ranks after a group adds runs",
        subtitle=f"{measure}; one dot per group, {groups}: its best system; tick: mean",
        **_fall(moved),
    )


def _fall(values: pl.Series) -> dict[str, Any]:
    """Return the axis of a strip of places."""
    known = [0.0, *values.drop_nulls().drop_nans()]
    margin = 0.05 * max(max(known) - min(known), 2.0)
    return {
        "x_title": "places that a system falls (negative: rises)",
        "domain": (min(known) - margin, max(known) + margin),
        "digits": ".1f",
        "rule": (0.0, ""),
    }


# Grades and the pool


def _rare_grades(rows: pl.DataFrame, options: Options) -> Any:
    docs = rows.select("low", "docs").unique().sort("low")
    ends = rows.with_columns(x=pl.concat_list("low", "high").list.unique()).explode("x")
    grades = rows["grade"].unique().to_list()
    which = f"grade {grades[0]} or above" if len(grades) == 1 else "at least a grade"
    return curve_panes(
        ends.sort("grade", "x").select(
            pane=pl.lit(""),
            name=pl.format("grade {} or above", "grade"),
            x="x",
            y="share_at_least",
            dashed=pl.lit(False),
        ),
        [Pane("", f"share of the relevant docs with {which}", "%")],
        title=f"{rows['track'][0]}: grades of rare and common docs",
        subtitle="level lines: the docs of a range of S_d; above each range: their number",
        x_title="S_d",
        labels=[(low, f"{number:,}") for low, number in docs.iter_rows()],
        height=220,
    )


def _pool_bias(rows: pl.DataFrame, options: Options) -> Any:
    fallen = rows["rank_after"] - rows["rank_before"]
    systems = count(rows["system"].n_unique(), "system")
    return strip(
        rows.select(row=SHORT, name="system", value=fallen),
        title=f"{rows['track'][0]}: systems that neither pool nor S_d knew",
        subtitle=f"one dot per system, {systems}; tick: mean",
        **_fall(fallen),
    )


UNIQUE = (
    "Relevant docs that the pool lacks without the system or its group. Where many more docs are "
    "unique to the group than to the system, other runs of the group retrieve the same docs."
)
COVER = (
    "A line that rises fast needs few systems for most relevant docs. The last systems add little."
)
PAIRS = (
    "Dark cells are systems that retrieve the same relevant docs, often runs of one group. Systems "
    "are in the order of average linkage on 1 - Jaccard; the table `overlap` names the systems of "
    "all places."
)
CHANGES = (
    "The higher a line, the more pairs of systems are ordered otherwise than by P or AP. Marks: "
    "the alphas of the paper."
)
ADDED = (
    "Each row is a kind of added runs, and what S and S_d count. Dots right of 0 are groups whose "
    "own best system falls when they add the runs. Under groups, clones and empty runs move none; "
    "under others, the empty runs of a group make the docs of all others rarer. The table `gaming` "
    "has every system."
)
BETTER = (
    "A level line between two marks is the share among all docs of that range of S_d. If lines "
    "rise, docs that few systems retrieve are less often highly relevant, and binary "
    "rareness rewards them as if they were not."
)
UNKNOWN = (
    "Each dot is a system whose group is left out: docs that its group alone pooled are unjudged, "
    "and S_d is that of the others. Right of 0 are systems that these judgments would underrate."
)
HELD = (
    "Left are the docs that rareness rewards most. A doc that no system retrieves within the depth "
    "earns nothing."
)
MADE_SYSTEMS = (
    "Each line is a weight of rarity. S_rare climbs sooner with a greater alpha, because each of "
    "its docs earns nearly 1 + alpha; rarity adds little to S_common, and its line ends where the "
    "query has no more relevant docs. The last of them may be docs that no other system retrieves."
)
ORDERS = (
    "The further a line falls, the more rarity changes the order of systems. Marks: the alphas of "
    "the paper. The dotted line is 0.9, a usual threshold of equivalent orders."
)
FEWER_LINES = (
    "Near 1, rarity among a few systems orders them as it does among all. Hollow marks: the "
    "paper's TREC-8, where the measures are the paper's."
)
FIGURES = (
    Figure("docs_by_holders", "docs_by_holders",
           lambda rows, o: rarity_histogram(
               rows.select("retrieved_by", "docs"), _COUNTED[o.counted_docs], rows["track"][0]
           ),
           lambda _, o: f"Relevant docs by the number of {_COUNTED[o.counted_docs]} that retrieve "
           f"them within rank {o.held_to}.", HELD, by="track"),
    Figure("figure_1", _ranks, _figure_1, _caption_1, MADE_SYSTEMS, by="track"),
    Figure("figure_2", "figure_2", _figure_2,
           partial(_caption_2, where="Figure 2"), ORDERS, by="track"),
    Figure("figure_2_tracks", lambda tables, o: tables["figure_2"].filter(method="tau-b"),
           _figure_2_tracks, partial(_caption_2, where="Figure 2 over tracks"),
           f"{ORDERS} Each line is a track.", of_tracks=True),
    Figure("fewer_systems",
           lambda tables, o: tables["table_3"].filter(pl.col("tau_b").is_finite()), _fewer_systems,
           "Table 3 as curves: orders of N systems by their own rarity.", FEWER_LINES,
           of_tracks=True),
    Figure("greedy", "greedy", _greedy,
           "Share of the relevant docs that the first systems of the greedy order retrieve.",
           COVER, of_tracks=True),
    Figure("swaps", _swaps, _swapped,
           lambda rows, o: "Share of the pairs of systems that change places up to an alpha, by "
           f"{listed(o.families())}.", CHANGES, of_tracks=True),
    Figure("contributions", _contributors, _contributions,
           "Relevant docs that no other {level} retrieves, and all that each {level} retrieves.",
           UNIQUE, by="track", each="level"),
    Figure("overlap", "overlap", _overlap, "Overlap of the relevant docs of systems.", PAIRS,
           by="track"),
    Figure("gaming", "gaming_effects", _gaming, "Ranks by {measure} after a group adds runs.",
           ADDED, by="track", each="measure"),
    Figure("rare_grades",
           lambda tables, o: tables["rare_grades"].filter(
               pl.col("grade") > o.rel, pl.col("low") > 0
           ), _rare_grades,
           "Grades of relevant docs by the number of systems that retrieve them.", BETTER,
           by="track"),
    Figure("pool_bias", "pool_bias", _pool_bias,
           lambda rows, o: "Ranks of systems whose group is left out of the pool and of S_d, by "
           f"{listed(rows['measure'].unique(maintain_order=True).to_list())}.", UNKNOWN,
           by="track"),
)  # fmt: skip
