"""The study's tables as a reader sees them, on the page and in LaTeX."""

from __future__ import annotations

import math

import polars as pl

from irmeta.report.study_page import Shown
from irmeta.studies.atomized.chain import STEPS
from irmeta.studies.atomized.figures import Tables
from irmeta.studies.atomized.paper import TABLE_1
from irmeta.studies.atomized.summaries import BEYOND, ORDER


def plus_minus(sd: float) -> str:
    """A standard deviation of shares as the paper prints it; nothing where there is none."""
    return "" if math.isnan(sd) else f" +- {100 * sd:.0f}"


def tracks(tables: Tables) -> Shown:
    return Shown(
        "tracks",
        "The tracks of the store.",
        tables["studied_tracks"].select(
            "track",
            "systems",
            "queries",
            relevant_docs="relevant",
            deepest_rank="deepest_rank",
            counted=pl.when("used").then(pl.lit("yes")).otherwise(pl.lit("no")),
        ),
    )


def classes(tables: Tables) -> Shown:
    last = pl.col("high") == 1.0
    bounds = (
        pl.when(pl.col("high").is_null())
        .then(pl.format("over {}", pl.col("low").cast(pl.Int64)))
        .otherwise(
            pl.format(
                "[{}, {}{}",
                "low",
                "high",
                pl.when(last).then(pl.lit("]")).otherwise(pl.lit(")")),
            )
        )
    )
    frame = tables["classes"].select(
        pl.col("measure"),
        bounds.alias("best system"),
        "tracks",
        pl.format("{}%", (100 * pl.col("share")).round(0).cast(pl.Int64)).alias("share"),
        "paper",
    )
    return Shown("classes", "Tracks by their best system (Section 4.2).", frame)


def headroom(tables: Tables) -> Shown:
    """A row a track, the best system and its value by each measure."""
    used = tables["studied_tracks"].filter("used").select("track")
    own = tables["headroom"].join(used, on="track", how="semi", maintain_order="left")
    measures = own["measure"].unique(maintain_order=True).to_list()
    frame = used
    for measure in measures:
        one = own.filter(measure=measure).select(
            "track", pl.col("value").alias(measure), pl.col("system").alias(f"best by {measure}")
        )
        frame = frame.join(one, on="track", how="left", maintain_order="left")
    kinds = {m: "length" if m.startswith("ASL") else "score" for m in measures}
    caption = "The best system of each track by four measures (Figures 1 to 4)."
    return Shown("headroom", caption, frame, kinds)  # pyright: ignore[reportArgumentType]


def groups(tables: Tables) -> Shown:
    frame = tables["groups"].select(
        "track",
        "measure",
        "baseline",
        _measured("baseline_value").alias("its value"),
        "contender",
        _measured("contender_value").alias("its value "),
        RRIE=_percent("rrie"),
    )
    caption = "Two systems of each track and the relative reduction in error (Table 1)."
    return Shown("table_1", caption, frame)


def paper_groups() -> Shown:
    """The paper's own Table 1."""
    frame = pl.DataFrame(
        [
            {
                "2020 Deep Learning": row.track,
                "measure": row.measure,
                "BM25": "-" if row.baseline is None else f"{row.baseline:g}",
                "neural": f"{row.contender:g}",
                "RRIE": f"{row.rrie}%",
            }
            for row in TABLE_1
        ]
    )
    return Shown("paper_table_1", "The paper's Table 1.", frame, folded=True)


def table_2(tables: Tables) -> Shown:
    caption = "Reordering of systems, step by step (Table 2 and Section 4.4)."
    return Shown("table_2", caption, _chains(tables["table_2"], ORDER, paper=True))


def beyond(tables: Tables) -> Shown:
    caption = "The same for nDCG, RBP and ERR."
    return Shown("beyond", caption, _chains(tables["table_2"], BEYOND, paper=False))


def _chains(
    frame: pl.DataFrame, order: tuple[tuple[str, int], ...], *, paper: bool
) -> pl.DataFrame:
    """Rows in the order of the paper, each number as mean (mean - sd to mean + sd)."""
    rows = []
    found = {(row["chain"], row["step"]): row for row in frame.iter_rows(named=True)}
    for key in order:
        if (row := found.get(key)) is None:
            continue
        chain, step = key
        cells = {
            "step": f"{chain}: {STEPS[step]}" if (chain, 1) in found else f"{chain} to ASL",
            "Delta-sort": _range(row, "delta_sort", ".0f", "%"),
            "tau-b": _range(row, "tau", ".2f", ""),
            "Delta-value": _range(row, "delta_value", ".2g", "x"),
            "its median": _plain(row["delta_value_median"], ".2g", "x"),
            "tracks": row["tracks"],
        }
        if paper:
            said = [row[f"paper_{name}"] for name in ("delta_sort", "tau", "delta_value")]
            cells["the paper"] = ", ".join(text for text in said if text) or "-"
        rows.append(cells)
    return pl.DataFrame(rows)


def _range(row: dict[str, float], name: str, digits: str, unit: str) -> str:
    mean, sd = row[name], row[f"{name}_sd"]
    if math.isnan(mean):
        return "-"
    said = f"{mean:{digits}}{unit}"
    return said if math.isnan(sd) else f"{said} ({mean - sd:{digits}} to {mean + sd:{digits}})"


def _plain(value: float, digits: str, unit: str) -> str:
    return "-" if math.isnan(value) else f"{value:{digits}}{unit}"


def furthest(tables: Tables) -> Shown:
    """For each track and whole chain the system that moves furthest, by name."""
    used = tables["studied_tracks"].filter("used").select("track")
    frame = (
        tables["reordering"]
        .join(used, on="track", how="semi", maintain_order="left")
        .filter(step=0)
        .select(
            "track",
            pl.format("{} to {}", "chain", "new").alias("change"),
            pl.col("furthest").alias("moves furthest"),
            pl.col("better_old").alias("systems better before"),
            pl.col("better_new").alias("after"),
            pl.col("systems"),
            pl.format("{}%", pl.col("delta_sort").round(0).cast(pl.Int64)).alias("Delta-sort"),
            pl.col("tau").alias("tau-b"),
        )
    )
    caption = "The system of each track that moves furthest."
    return Shown("furthest", caption, frame, {"tau-b": "score"}, folded=True)


def differences(tables: Tables) -> Shown:
    frame = tables["asl_differences"].select(
        "track", "measure", "comparison", "a", "b", "difference", "low", "high", "queries"
    )
    kinds = dict.fromkeys(("difference", "low", "high"), "length")
    caption = "Differences of ASL with their intervals."
    return Shown("asl_differences", caption, frame, kinds, folded=frame.height > 40)  # pyright: ignore[reportArgumentType]


def fractions(tables: Tables) -> Shown:
    frame = (
        tables["effective_fraction"]
        .group_by("track", maintain_order=True)
        .agg(
            pl.len().alias("systems"),
            *(
                pl.col(name).fill_nan(None).mean().alias(said)
                for name, said in (("fraction", "share by query"), ("pooled", "share of a run"))
            ),
            pl.col("undefined").sum().alias("lists whose AP is 0"),
        )
    )
    kinds = dict.fromkeys(("share by query", "share of a run"), "score")
    caption = "The share of the relevant docs that AP averages (Appendix A.1)."
    return Shown("effective_fraction", caption, frame, kinds)  # pyright: ignore[reportArgumentType]


def depth(tables: Tables) -> Shown:
    frame = tables["depth_sensitivity"].select(
        "track",
        "measure",
        "best",
        _measured("value").alias("its value"),
        pl.col("best_cut").alias("best by cut lists"),
        _measured("value_cut").alias("its value "),
        pl.col("tau").alias("tau-b"),
    )
    caption = "Whole lists against cut ones (footnote 6)."
    return Shown("depth_sensitivity", caption, frame, {"tau-b": "score"})


def _measured(column: str) -> pl.Expr:
    """A mean as its measure asks: search lengths to 1 decimal, the others to 4."""
    is_length = pl.col("measure").str.starts_with("ASL")
    value = pl.col(column)
    return (
        pl.when(is_length)
        .then(value.map_elements(lambda v: f"{v:,.1f}", return_dtype=pl.String))
        .otherwise(value.map_elements(lambda v: f"{v:.4f}", return_dtype=pl.String))
    )


def _percent(column: str) -> pl.Expr:
    value = pl.col(column)
    said = pl.format("{}%", (100 * value).round(0).cast(pl.Int64, strict=False))
    return pl.when(value.is_nan()).then(pl.lit("undefined")).otherwise(said)
