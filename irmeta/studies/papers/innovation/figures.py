"""The figures of the study of innovation, from its tables."""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from irmeta.phrases import count, listed
from irmeta.report.charts.curve_panes import Pane, curve_panes
from irmeta.report.figures.length_figures import rarity_histogram
from irmeta.studies.framework.study import Figure, Tables
from irmeta.studies.papers.innovation.beyond_figures import (
    BEYOND,
    SHORT,
    number_of_tracks,
    short,
)
from irmeta.studies.papers.innovation.options import MARKED, MEASURES
from irmeta.studies.papers.innovation.options import InnovationOptions as Options
from irmeta.studies.papers.innovation.paper import FEWER_SYSTEMS

THRESHOLD = 0.9  # tau of equivalent orders (Section 4.2)
MADE = {"rare": "S_rare: docs of no other system", "common": "S_common: docs of most systems"}
METHODS = {"tau-b": "tau-b", "tau-ap-b": "tau_AP,b"}
_COUNTED = {"systems": "systems", "groups": "groups", "pooled": "pooled systems"}


def _alpha(column: str = "alpha") -> pl.Expr:
    """Return an alpha as text, without the zeros of a whole number."""
    return pl.col(column).cast(pl.String).str.strip_suffix(".0")


# Rarity, and Figures 1 and 2


def _rarity(rows: pl.DataFrame, options: Options) -> Any:
    return rarity_histogram(rows.select("retrieved_by", "docs"), _COUNTED[options.counted_docs])


def _caption_rarity(rows: pl.DataFrame, options: Options) -> str:
    return (
        f"Relevant docs by the number of {_COUNTED[options.counted_docs]} that retrieve them "
        f"within rank {options.held_to}."
    )


def _ranks(tables: Tables, options: Options) -> pl.DataFrame:
    """Return the ranks of hypothetical systems with the first places of S_rare."""
    keys = ["track", "query", "alpha"]
    return tables["figure_1"].join(tables["first_places"], on=keys, maintain_order="left")


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
        [Pane(made, text) for made, text in MADE.items()],
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
    return curve_panes(
        _by_alpha(_in_order(rows, options), SHORT, "method"),
        [Pane(method, text) for method, text in METHODS.items()],
        title=f"{rows['track'][0]}: order of systems by the weight of rarity",
        subtitle="correlation with the order by alpha = 0, that of P and AP",
        x_title="alpha",
        levels=[THRESHOLD],
        linear="~g",
        same_y=True,
    )


def _caption_2(rows: pl.DataFrame, options: Options, where: str) -> str:
    names = listed(options.families())
    return f"{where}: correlation of the orders of systems with that by alpha = 0, {names}."


def _tau_b(tables: Tables, options: Options) -> pl.DataFrame:
    return tables["figure_2"].filter(method="tau-b")


def _figure_2_tracks(rows: pl.DataFrame, options: Options) -> Any:
    return curve_panes(
        _by_alpha(rows, pl.col("track"), "measure"),
        [Pane(name, f"{short(name)}: tau-b") for name in options.families()],
        title=f"Orders of systems by the weight of rarity, {number_of_tracks(rows)}",
        subtitle="correlation with the order by alpha = 0, that of P and AP",
        x_title="alpha",
        levels=[THRESHOLD],
        linear="~g",
        same_y=True,
    )


def _in_order(rows: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Return the rows of RareP before those of RareAP."""
    order = pl.DataFrame({"measure": options.families()})
    return order.join(rows, on="measure", maintain_order="left_right")


# Table 3


def _fewer(tables: Tables, options: Options) -> pl.DataFrame:
    return tables["table_3"].filter(pl.col("tau_b").is_finite())


def _fewer_systems(rows: pl.DataFrame, options: Options) -> Any:
    several = rows["alpha"].n_unique() > 1
    name = pl.format("{}, alpha = {}", "track", _alpha()) if several else pl.col("track")
    ours = rows.select(pane="measure", name=name, x="systems", y="tau_b", dashed=pl.lit(False))
    return curve_panes(
        pl.concat([ours, pl.DataFrame(_printed(options), schema=ours.schema)]),
        [Pane(name, f"{short(name)}: tau-b") for name in options.families()],
        title=f"Orders of fewer systems, {number_of_tracks(rows)}",
        subtitle="order of N systems by their own rarity with their order among all, mean of draws",
        x_title="N",
        dashes=("computed", "the paper, Table 3") if options.is_papers else ("", ""),
        same_y=True,
    )


def _printed(options: Options) -> list[dict[str, Any]]:
    """Return the curves of the paper's Table 3, if the measures are the paper's."""
    return [
        {"pane": pane, "name": "TREC-8", "x": systems, "y": float(value), "dashed": True}
        for measure, pane in zip(MEASURES, options.families(), strict=True)
        for (of, systems), value in FEWER_SYSTEMS.items()
        if of == measure and options.is_papers
    ]


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
OF_TRACKS = (
    f"{ORDERS} Each line is a track; of more than eight, those with the least, the quartiles and "
    "the greatest value at alpha = 1 are emphasised."
)
FEWER_LINES = (
    "Near 1, rarity among a few systems orders them as it does among all. Dashed: the paper's "
    "TREC-8, if the measures are the paper's."
)
FIGURES = (
    Figure("docs_by_holders", "docs_by_holders", _rarity, _caption_rarity, HELD, by="track"),
    Figure("figure_1", _ranks, _figure_1, _caption_1, MADE_SYSTEMS, by="track"),
    Figure("figure_2", "figure_2", _figure_2,
           partial(_caption_2, where="Figure 2"), ORDERS, by="track"),
    Figure("figure_2_tracks", _tau_b, _figure_2_tracks,
           partial(_caption_2, where="Figure 2 over tracks"), OF_TRACKS),
    Figure("fewer_systems", _fewer, _fewer_systems,
           "Table 3 as curves: orders of N systems by their own rarity.", FEWER_LINES),
    *BEYOND,
)  # fmt: skip
