"""The study's tables as a reader sees them, on the page and in LaTeX."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from irmeta.report.study_page import Shown
from irmeta.report.tables import ABSENT, Kind
from irmeta.studies.atomized.chain import STEPS
from irmeta.studies.atomized.paper import TABLE_1
from irmeta.studies.atomized.summaries import BEYOND, ORDER
from irmeta.studies.base import Tables

_LENGTHS: Mapping[str, Kind] = dict.fromkeys(("difference", "low", "high"), "length")
_WHOLE_WAY = {"P@20": "P@20 to ASL@g10", "RR": "RR to ASL@g1"}


def plus_minus(sd: float) -> str:
    """A standard deviation of shares as the paper prints it; nothing where there is none."""
    return "" if math.isnan(sd) else f" +- {100 * sd:.0f}"


def tracks(tables: Tables) -> Shown:
    frame = tables["studied_tracks"].select(
        "track",
        "systems",
        "queries",
        pl.col("relevant").alias("relevant docs"),
        pl.col("deepest_rank").alias("deepest rank"),
        pl.when("used").then(pl.lit("yes")).otherwise(pl.lit("no")).alias("counted"),
    )
    return Shown("studied_tracks", "The tracks of the store.", frame)


def classes(tables: Tables) -> Shown:
    rows = []
    for row in tables["classes"].iter_rows(named=True):
        last = "]" if row["high"] == 1.0 else ")"
        bounds = (
            f"[{row['low']:g}, {row['high']:g}{last}" if row["high"] else f"over {row['low']:g}"
        )
        share = f"{row['share']:.0%}"
        rows.append((row["measure"], bounds, row["tracks"], share, row["paper"]))
    names = ["measure", "best system", "tracks", "share", "the paper"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return Shown("classes", "Tracks by their best system (Section 4.2).", frame, _printed("share"))


def headroom(tables: Tables) -> Shown:
    """A row a track, the best system and its value by each measure."""
    own = tables["headroom"]
    measures = own["measure"].unique(maintain_order=True).to_list()
    frame = own.select("track").unique(maintain_order=True)
    for measure in measures:
        one = own.filter(measure=measure)
        by = f"best by {one['chosen_by'][0]}"
        one = one.select("track", pl.col("value").alias(measure), pl.col("system").alias(by))
        frame = frame.join(
            one.select(c for c in one.columns if c == "track" or c not in frame.columns),
            on="track",
            how="left",
            maintain_order="left",
        )
    kinds: dict[str, Kind] = {m: "length" if m.startswith("ASL") else "score" for m in measures}
    caption = "The best system of each track by four measures (Figures 1 to 4)."
    return Shown("headroom", caption, frame, kinds, in_latex=["track", *measures])


def choices(tables: Tables) -> Shown:
    frame = tables["best_by_choice"].select(
        "track",
        "measure",
        pl.col("system").alias("best system"),
        _measured("value").alias("its value"),
        _percent("missed").alias("it misses"),
        _percent("median_missed").alias("median of all"),
        pl.col("rows").round(0).cast(pl.Int64).alias("rows a list"),
    )
    caption = "Who is best under each choice for docs that are not retrieved (Section 3.1)."
    kinds = _printed("its value", "it misses", "median of all")
    return Shown("best_by_choice", caption, frame, kinds, folded=True)


def table_1(tables: Tables) -> Shown:
    intervals = tables["asl_differences"].filter(comparison="contender - baseline")
    joined = tables["table_1"].join(
        intervals, on=["track", "measure"], how="left", maintain_order="left"
    )
    frame = joined.select(
        "track",
        "measure",
        "baseline",
        _measured("baseline_value").alias("its value"),
        "contender",
        _measured("contender_value").alias("the contender's"),
        _percent("rrie").alias("RRIE"),
        pl.when(pl.col("low").is_not_null())
        .then(pl.format("{} to {}", _rounded("low"), _rounded("high")))
        .otherwise(pl.lit(""))
        .alias("interval of the difference"),
    )
    caption = "Two systems of each track and the relative reduction in error (Table 1)."
    kinds = _printed("its value", "the contender's", "RRIE", "interval of the difference")
    return Shown("table_1", caption, frame, kinds, in_latex=frame.columns[:-1])


def paper_table_1() -> Shown:
    """The paper's own Table 1."""
    rows = [
        {
            "2020 Deep Learning": row.track,
            "measure": row.measure,
            "BM25": ABSENT if row.baseline is None else f"{row.baseline:g}",
            "neural": f"{row.contender:g}",
            "RRIE": f"{row.rrie}%",
        }
        for row in TABLE_1
    ]
    kinds = _printed("BM25", "neural", "RRIE")
    return Shown("paper_table_1", "The paper's Table 1.", pl.DataFrame(rows), kinds, folded=True)


def table_2(tables: Tables) -> Shown:
    caption = "Reordering of systems, step by step (Table 2 and Section 4.4)."
    frame = _chains(tables["table_2"], ORDER, paper=True)
    return Shown("table_2", caption, frame, in_latex=[c for c in frame.columns if c != "tracks"])


def beyond(tables: Tables) -> Shown:
    caption = "The same for nDCG, RBP and ERR."
    return Shown("beyond", caption, _chains(tables["table_2"], BEYOND, paper=False))


def _chains(frame: pl.DataFrame, order: Sequence[tuple[str, int]], *, paper: bool) -> pl.DataFrame:
    """Rows in the order of the paper, each number as mean (mean - sd to mean + sd)."""
    rows = []
    found = {(row["chain"], row["step"]): row for row in frame.iter_rows(named=True)}
    for chain, step in order:
        if (row := found.get((chain, step))) is None:
            continue
        cells = {
            "step": _WHOLE_WAY.get(chain, f"{chain}: {STEPS[step]}"),
            "Delta-sort": _range(row, "delta_sort", ".0f", "%"),
            "tau-b": _range(row, "tau", ".2f", ""),
            "Delta-value": _range(row, "delta_value", ".2g", "x"),
            "its median": _number(row["delta_value_median"], ".2g", "x"),
            "tracks": row["tracks"],
        }
        if paper:
            said = [row[f"paper_{name}"] for name in ("delta_sort", "tau", "delta_value")]
            cells["the paper"] = ", ".join(text for text in said if text) or ABSENT
        rows.append(cells)
    return pl.DataFrame(rows)


def _range(row: Mapping[str, Any], name: str, digits: str, unit: str) -> str:
    mean, sd = row[name], row[f"{name}_sd"]
    said = _number(mean, digits, unit)
    if math.isnan(mean) or math.isnan(sd):
        return said
    return f"{said} ({_number(mean - sd, digits, '')} to {_number(mean + sd, digits, '')})"


def _number(value: float, digits: str, unit: str) -> str:
    if math.isnan(value):
        return ABSENT
    if digits.endswith("g") and 0 < abs(value) < 1e-3:
        return f"<0.001{unit}" if value > 0 else f">-0.001{unit}"
    return f"{value:{digits}}{unit}"


def furthest(tables: Tables) -> Shown:
    """For each track and whole chain the system that moves furthest, by name."""
    missed = (
        tables["search_length_histogram"]
        .group_by("track", "system")
        .agg(missed=pl.col("docs").filter(pl.col("low").is_null()).sum() / pl.col("docs").sum())
    )
    whole = tables["reordering"].filter(step=0)
    frame = whole.join(
        missed.rename({"system": "furthest"}),
        on=["track", "furthest"],
        how="left",
        maintain_order="left",
    ).select(
        "track",
        pl.col("chain").replace(_WHOLE_WAY).str.replace(r"^([^ ]+)$", "$1 to search length")
        .alias("change"),
        pl.col("furthest").fill_null("none").alias("moves furthest"),
        _percent("missed").alias("it misses"),
        pl.col("better_old").alias("better before"),
        pl.col("better_new").alias("after"),
        "systems",
        pl.format("{}%", pl.col("delta_sort").round(0).cast(pl.Int64)).alias("Delta-sort"),
        pl.col("tau").alias("tau-b"),
    )  # fmt: skip
    caption = "The system of each track that moves furthest, and how many are better than it."
    kinds: dict[str, Kind] = {"tau-b": "score", **_printed("it misses", "Delta-sort")}
    latex = ["track", "change", "moves furthest", "Delta-sort", "tau-b"]
    return Shown("furthest", caption, frame, kinds, folded=True, in_latex=latex)


def differences(tables: Tables) -> Shown:
    frame = tables["asl_differences"].select(
        "track", "measure", "comparison", "a", "b", "difference", "low", "high", "queries"
    )
    caption = "Differences of ASL with their intervals."
    latex = ["track", "measure", "comparison", "difference", "low", "high"]
    return Shown("asl_differences", caption, frame, _LENGTHS, in_latex=latex)


def fractions(tables: Tables) -> Shown:
    means = [
        pl.col(name).fill_nan(None).mean().alias(said)
        for name, said in (("fraction", "share by query"), ("pooled", "share of a run"))
    ]
    frame = (
        tables["effective_fraction"]
        .group_by("track", maintain_order=True)
        .agg(pl.len().alias("systems"), *means, pl.col("undefined").sum().alias("lists of AP 0"))
    )
    kinds: dict[str, Kind] = {"share by query": "score", "share of a run": "score"}
    caption = "The share of the relevant docs that AP averages (Appendix A.1)."
    return Shown("effective_fraction", caption, frame, kinds)


def depth(tables: Tables) -> Shown:
    frame = tables["depth_sensitivity"].select(
        "track",
        "measure",
        "best",
        _measured("value").alias("its value"),
        pl.col("best_cut").alias("best by cut lists"),
        _measured("value_cut").alias("its value cut"),
        pl.col("tau").alias("tau-b"),
    )
    caption = "Whole lists against cut ones (footnote 6)."
    kinds: dict[str, Kind] = {"tau-b": "score", **_printed("its value", "its value cut")}
    return Shown("depth_sensitivity", caption, frame, kinds)


def _printed(*columns: str) -> dict[str, Kind]:
    return dict.fromkeys(columns, "printed")


def _measured(column: str) -> pl.Expr:
    """A mean as its measure asks: search lengths to 1 decimal, the others to 4."""
    is_length = pl.col("measure").str.starts_with("ASL")
    return (
        pl.when(is_length)
        .then(_rounded(column))
        .otherwise(pl.col(column).map_elements(lambda v: f"{v:.4f}", return_dtype=pl.String))
    )


def _rounded(column: str) -> pl.Expr:
    return pl.col(column).map_elements(lambda v: f"{v:,.1f}", return_dtype=pl.String)


def _percent(column: str) -> pl.Expr:
    value = pl.col(column)
    said = pl.format("{}%", (100 * value).round(0).cast(pl.Int64, strict=False))
    return pl.when(value.is_nan() | value.is_null()).then(pl.lit(ABSENT)).otherwise(said)
