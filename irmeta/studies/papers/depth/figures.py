"""The figures of the study, from its tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import polars as pl

from irmeta.measures.names import display_of
from irmeta.phrases import count
from irmeta.report.charts.curves import Pane, curve_panes
from irmeta.report.charts.heat import BANDS, banded_maps
from irmeta.report.charts.row_charts import dumbbell
from irmeta.report.theme import axis_title
from irmeta.schema.columns import Display
from irmeta.studies.framework.study import EVERY, Figure, Tables
from irmeta.studies.papers.depth.study import LEAST_TAU, PLOTTED_DEPTHS, cut
from irmeta.studies.papers.depth.study import DepthOptions as Options

MOST_NAMED = 5  # tracks in a caption
MOST_CONDENSED = 4  # tracks with two lines in each pane of Figure 4
MOST_RANKS = 50  # ranks of judged docs that are all drawn; deeper, those of Figure 1
MOST_GROUPS = 6  # groups of tracks side by side
MOST_RUNS = 40  # left-out runs in one figure
LISTS = {"full": "full lists", "condensed": "condensed lists"}
CUTOFF = "cutoff k"
RANK = Display("count", direction=-1)
SIMILAR = 0.8  # where no correlation is lower, the bands are narrower, from 0.9
FINE_BANDS = (0.9, 0.92, 0.94, 0.96, 0.98)


def _first(rows: pl.DataFrame, column: str, chosen: Sequence[int]) -> pl.DataFrame:
    """Return the rows of the first of the chosen values that a column has, or of its least."""
    every = rows[column].unique().sort().to_list()
    present = [value for value in (*chosen, *every) if value in every]
    return rows.filter(pl.col(column).is_in(present[:1]))


def _sourced(tables: Tables, rows: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """Add the source of the depth of the pool, and further columns of the collections."""
    sources = tables["collections"].select("track", *columns, "depth_source")
    return rows.join(sources, on="track", how="left", maintain_order="left")


def _of_first_depth(tables: Tables, rows: pl.DataFrame, options: Options) -> pl.DataFrame:
    return _sourced(tables, _first(rows, "depth", options.pool_depths))


POOL = "pool of depth {depth} ({depth_source})"
BEYOND = "Beyond the paper"


# Figure 1


def _figure_1(rows: pl.DataFrame, options: Options, tracks: Sequence[str]) -> Any:
    rates = rows.select(
        "track",
        "depth",
        dashed=~pl.col("comprehensive"),
        relevant_per_query="relevant_per_query",
        new_relevant_rate="new_relevant_rate",
    )
    # The dashed part of a line starts at the last point of its solid part.
    last = rates.filter(~pl.col("dashed")).group_by("track", maintain_order=True).last()
    dashed = pl.concat([last.with_columns(dashed=True), rates.filter("dashed")], how="diagonal")
    lines = pl.concat([rates.filter(~pl.col("dashed")), dashed], how="diagonal").unpivot(
        index=["track", "depth", "dashed"], variable_name="pane", value_name="y"
    )
    return curve_panes(
        lines.sort("track", "dashed", "depth").rename({"track": "name", "depth": "x"}),
        [
            Pane("relevant_per_query", "relevant docs per query"),
            Pane("new_relevant_rate", "relevant among new judged docs", "%"),
        ],
        title=f"Relevant docs by the depth of the pool, {count(rows['track'].n_unique(), 'track')}",
        subtitle="new judged docs: those of the pool since the previous plotted depth",
        x_title="depth d of the pool",
        dashes=("every doc judged to depth d", "beyond that depth"),
        names=tracks,
    )


def _by_rank(tables: Tables, options: Options) -> pl.DataFrame:
    shown = (pl.col("rank") <= MOST_RANKS) | pl.col("rank").is_in(PLOTTED_DEPTHS)
    return _sourced(tables, tables["judged_by_rank"].filter(shown), "depth")


def _judged_by_rank(rows: pl.DataFrame, options: Options, tracks: Sequence[str]) -> Any:
    return curve_panes(
        rows.select(pane=pl.lit(""), name="track", x="rank", y="share", dashed=pl.lit(False)),
        [Pane("", "judged docs", "%")],
        title=f"Judged docs by rank, {count(rows['track'].n_unique(), 'track')}",
        subtitle=f"docs of the contributing lists; dotted: {options.least_judged:.3g}",
        x_title="rank in the contributing lists",
        levels=[options.least_judged],
        height=240,
        names=tracks,
    )


def _caption_judged(rows: pl.DataFrame, options: Options) -> str:
    facts = rows.select("track", "depth", "depth_source").unique(maintain_order=True)
    text = "Judged docs of the contributing lists by rank"
    if facts.height > MOST_NAMED:
        return f"{text}."
    return f"{text}; {'; '.join(f'{t}: d = {d} ({source})' for t, d, source in facts.rows())}."


# Figures 2 to 4


def _scores(rows: pl.DataFrame, options: Options) -> Any:
    track, measure, depth = rows.select("track", "measure", "depth").row(0)
    systems, unit = count(rows["system"].n_unique(), "system"), display_of(measure).unit
    return curve_panes(
        rows.select(pane="lists", name="system", x="k", y="value", dashed=pl.lit(False)),
        [Pane(lists, axis_title(text, unit)) for lists, text in LISTS.items()],
        title=f"{track}: {measure} by the cutoff",
        subtitle=f"mean over queries; {systems}; {POOL.format(**rows.row(0, named=True))}",
        x_title=CUTOFF,
        rules=[(depth, f"d = {depth}")],
        same_y=True,
        names=rows["system"].unique().sort().to_list(),
    )


def _by_cutoff(tables: Tables, options: Options) -> pl.DataFrame:
    rows = tables["table_7"].filter(pl.col("measure") == options.drawn, pl.col("k").is_not_null())
    return _sourced(tables, rows)


INDICATORS = (
    Pane("median_p", "median p-value"),
    Pane("discrimination", "discrimination, % of pairs", "%"),
    Pane("coverage", "coverage, % of reference", "%"),
    Pane("inversion", "inversion, % of reference", "%"),
    Pane("tau_b", "tau-b with the reference"),
    Pane("pearson", "Pearson's r with the reference"),
)


def _indicators(rows: pl.DataFrame, name: pl.Expr) -> pl.DataFrame:
    """Return the curves of the six indicators of Figure 4."""
    index = ["track", "depth", "lists", "k", "reference_k"]
    lines = rows.unpivot([pane.name for pane in INDICATORS], index=index, variable_name="pane")
    return lines.sort("track", "depth", "lists", "k").select(
        "pane",
        name=name,
        x="k",
        y="value",
        dashed=pl.col("lists") == "condensed",
        marked=pl.col("k") == pl.col("reference_k"),
    )


def _of_every_track(tables: Tables, options: Options) -> pl.DataFrame:
    """Return the rows of one pool of each track whose depth is known, as the reference is at d."""
    rows = _by_cutoff(tables, options).filter(pl.col("depth_source").ne_missing("default"))
    parts = rows.partition_by("track", maintain_order=True)
    first = (_first(part, "depth", options.pool_depths) for part in parts)
    return pl.concat([rows.clear(), *first])


def _figure_4_tracks(rows: pl.DataFrame, options: Options, tracks: Sequence[str]) -> Any:
    number = rows["track"].n_unique()
    lines = _indicators(rows, pl.col("track"))
    if number > MOST_CONDENSED:
        lines = lines.filter(~pl.col("dashed"))
    return curve_panes(
        lines,
        INDICATORS,
        title=f"Effect of the cutoff of {options.drawn}, {count(number, 'track')}",
        subtitle=f"reference: {options.drawn} on full lists at the marked cutoff",
        x_title=CUTOFF,
        dashes=(LISTS["full"], LISTS["condensed"]) if lines["dashed"].any() else ("", ""),
        height=150,
        names=tracks,
    )


def _figure_4(rows: pl.DataFrame, options: Options) -> Any:
    references = rows.select("reference_k").unique().sort("reference_k")["reference_k"]
    return curve_panes(
        _indicators(rows, pl.format("d = {}", "depth")).drop("marked"),
        INDICATORS,
        title=f"{rows['track'][0]}: effect of the cutoff of {options.drawn}",
        subtitle=f"{rows['pairs'][0]:,} pairs of systems; reference: {options.drawn}"
        f" at k = {', '.join(map(str, references))}",
        x_title=CUTOFF,
        dashes=(LISTS["full"], LISTS["condensed"]),
        rules=[(k, f"k = {k}") for k in references],
        height=120,
    )


def _caption_4(rows: pl.DataFrame, options: Options) -> str:
    depths = ", ".join(f"{d}" for d in rows["depth"].unique().sort())
    return (
        f"Figure 4: effect of the cutoff of {options.drawn}; pool of depth "
        f"{depths} ({rows['depth_source'][0]})."
    )


# Figures 5 to 7


def _matrices(tables: Tables, options: Options, figure: str) -> pl.DataFrame:
    """Return the volatility matrices of one figure, in the order of `matrices`."""
    pairs = [pair for pair, number in options.matrices.items() if number == figure]
    wanted = pl.DataFrame(
        pairs, schema={"measure_a": pl.String, "measure_b": pl.String}, orient="row"
    )
    rows = wanted.join(
        tables["volatility"], on=["measure_a", "measure_b"], maintain_order="left_right"
    )
    return _of_first_depth(tables, rows, options)


def _volatility(rows: pl.DataFrame, options: Options) -> Any:
    track, depth, method = rows.select("track", "depth", "method").row(0)
    pairs = rows.select("measure_a", "measure_b").unique(maintain_order=True)
    values = rows["value"].drop_nulls().drop_nans()
    ruled = f"; lines: d = {depth}" if depth in rows["k_a"] and depth in rows["k_b"] else ""
    return banded_maps(
        rows.select(
            pl.format("{} {}", "measure_a", "measure_b").alias("pane"),
            x="k_a",
            y="k_b",
            value="value",
        ),
        {f"{a} {b}": (f"cutoff of {a}", f"cutoff of {b}") for a, b in pairs.iter_rows()},
        title=f"{track}: orders of systems by two cutoffs",
        subtitle=f"{method} of the orders by the means at two cutoffs{ruled}",
        rules=[depth],
        bands=BANDS if any(value < SIMILAR for value in values) else FINE_BANDS,
    )


def _matrices_of_groups(tables: Tables, options: Options, figure: str) -> pl.DataFrame:
    """Return the mean matrices of two measures, of the largest groups of tracks or of all."""
    measures = [a for (a, b), number in options.matrices.items() if number == figure and a == b]
    rows = tables["volatility_tracks"].filter(pl.col("measure_a").is_in(measures[:2]))
    groups = rows.filter(pl.col("group") != EVERY)
    sizes = groups.group_by("group").agg(pl.max("tracks")).sort("tracks", "group", descending=True)
    largest = groups.filter(pl.col("group").is_in(sizes["group"].head(MOST_GROUPS).to_list()))
    return (largest if groups.height else rows).sort("group", maintain_order=True)


def _volatility_of_groups(rows: pl.DataFrame, options: Options) -> Any:
    panes = rows.group_by("measure_a", "group", maintain_order=True).agg(pl.max("tracks"))
    values = rows["value"].drop_nulls().drop_nans()
    return banded_maps(
        rows.select(
            pl.format("{} {}", "measure_a", "group").alias("pane"), x="k_a", y="k_b", value="value"
        ),
        {
            f"{measure} {group}": (
                f"cutoff of {measure}, {group} ({tracks})",
                f"cutoff of {measure}",
            )
            for measure, group, tracks in panes.iter_rows()
        },
        title="Orders of systems by two cutoffs, mean over tracks",
        subtitle=f"mean {options.method} of the orders by the means at two cutoffs",
        bands=BANDS if any(value < SIMILAR for value in values) else FINE_BANDS,
    )


# Leaving out, and the budget


def _left_out(tables: Tables, options: Options) -> pl.DataFrame:
    rows = tables["leave_out"].filter(level="run", judgments="pool")
    rows = _first(_of_first_depth(tables, rows, options), "k", options.leave_out_ks)
    measures = [cut(options.compared[0], k) for k in rows["k"].unique()]
    return rows.filter(pl.col("measure").is_in(measures))


def _ranks(rows: pl.DataFrame, options: Options) -> Any:
    track, measure = rows.select("track", "measure").row(0)
    moved = rows.with_columns(move=pl.col("rank_left_out") - pl.col("rank")).sort(
        pl.col("move").abs(), "system", descending=[True, False], nulls_last=True
    )
    runs = count(rows.height, "left-out run")
    shown = f"{MOST_RUNS} of {runs} that move most" if rows.height > MOST_RUNS else runs
    sign = pl.when(pl.col("move") > 0).then(pl.lit("+")).otherwise(pl.lit(""))
    columns = {
        "filled_name": pl.format("{}, by the full pool", "system"),
        "ring_name": pl.format("{}, by the pool without it", "system"),
        "aside": pl.concat_str(sign, pl.col("move").cast(pl.String)).fill_null("\u2014"),
    }
    return dumbbell(
        moved.head(MOST_RUNS).select(row="system", filled="rank", ring="rank_left_out", **columns),
        title=f"{track}: ranks of left-out runs by {measure}",
        subtitle=f"{shown}; filled: by the full pool; ring: without the run",
        x_title="rank among the contributors, 1 is best",
        aside="places",
        display=RANK,
    )


def _budget(rows: pl.DataFrame, options: Options) -> Any:
    depths = rows.select("judged", "depth").unique().sort("judged", "depth")
    return curve_panes(
        rows.select(pane=pl.lit(""), name="measure", x="judged", y="tau_b", dashed=pl.lit(False)),
        [Pane("", "tau-b with the order by all judgments")],
        title=f"{rows['track'][0]}: judged docs and the order of contributors",
        subtitle=f"above: depth d of the pool; dotted: tau-b of {LEAST_TAU:g}",
        x_title="judged (query, doc) pairs in the pool",
        levels=[LEAST_TAU],
        labels=[(judged, f"{depth}") for judged, depth in depths.iter_rows()],
        height=240,
    )


JUDGED = (
    "Each line is a track: the share of the docs at each rank of the contributing lists that are "
    "judged. An evident depth of the pool is where it falls. An estimated depth is the greatest "
    "rank up to which the line stays above the dotted share; a comprehensive depth is where it "
    "leaves 100%."
)
CURVES = (
    "Each line is a system. Systems change places where their lines cross; the dotted line is the "
    "depth of the pool."
)
GROWTH = (
    "Left: relevant docs per query in the pool of each depth. Right: share of relevant docs among "
    "the judged docs that the pool has beyond the previous point. Lines are dashed where some "
    "lists have unjudged docs."
)
SIX = (
    "Solid: full lists; dashed: without unjudged docs. The reference is the same measure at the "
    "dotted cutoff on full lists; its own coverage, tau-b and Pearson's r are 1. An indicator "
    "that is undefined at every cutoff has no pane."
)
SIX_OF_ALL = (
    "Each line is a track with the judgments of one pool: solid for full lists, dashed without "
    "unjudged docs, which are drawn for up to four tracks. The mark is the reference, the same "
    "measure at the depth of the pool."
)
MAPS = (
    "Each cell compares the orders of systems by the two measures at two cutoffs: dark where they "
    "agree, hatched where the correlation is undefined. The dashed lines are the depth of the pool."
)
GROUP_MAPS = (
    "Each cell is the mean over tracks of the correlation of the orders of systems by a measure at "
    "two cutoffs; each track has one vote. Groups of tracks (--track-groups) side by side show "
    "whether the cutoff matters more in one kind of collection, as in the paper in ClueWeb; of "
    f"more than {MOST_GROUPS} groups, the largest are shown."
)
MOVED = (
    "Each line is a run: the filled dot is its rank by the pool of all contributors, the ring its "
    "rank when its own docs are left out of the pool. Long lines are runs that these judgments "
    "would not have evaluated fairly."
)
COST = (
    "Each point is a pool: the docs to judge, and how well it orders the contributors. Above the "
    "dotted line the order is about that by all judgments."
)
FIGURES = (
    Figure("figure_1", "pool_growth", _figure_1,
           "Figure 1: relevant docs by the depth of the pool.", GROWTH, of_tracks=True),
    Figure("judged_ranks", _by_rank, _judged_by_rank, _caption_judged, JUDGED, of_tracks=True),
    Figure("score_curves",
           lambda tables, o: _of_first_depth(tables, tables["score_curves"], o), _scores,
           f"Figures 2 and 3: {{measure}} of every system by the cutoff; {POOL}.", CURVES,
           by="track", each="measure"),
    Figure("figure_4_tracks", _of_every_track, _figure_4_tracks,
           lambda rows, o: f"Figure 4: effect of the cutoff of {o.drawn} on all tracks.",
           SIX_OF_ALL, of_tracks=True),
    Figure("figure_4", _by_cutoff, _figure_4, _caption_4, SIX, by="track"),
    *(
        Figure(f"figure_{figure}", partial(_matrices, figure=figure), _volatility,
               f"{name}: correlation of the orders of systems by two cutoffs; {POOL}.", MAPS,
               by="track")
        for figure, name in {**{n: f"Figure {n}" for n in "567"}, "beyond": BEYOND}.items()
    ),
    *(
        Figure(f"figure_{figure}_tracks", partial(_matrices_of_groups, figure=figure),
               _volatility_of_groups, f"Figure {figure} over tracks, their number in brackets: "
               "mean correlation of the orders of systems by two cutoffs, each track with its own "
               "pool.", GROUP_MAPS)
        for figure in "56"
    ),
    Figure("leave_out_ranks", _left_out, _ranks,
           "Ranks of runs by {measure} before and after they are left out of the pool (Table 5); "
           f"{POOL}.", MOVED, by="track"),
    Figure("budget", lambda tables, o: tables["pool_budget"].filter(pl.col("judged") > 0), _budget,
           "Judged docs, and the correlation of the order of contributors with that by all "
           "judgments.", COST, by="track"),
)  # fmt: skip
