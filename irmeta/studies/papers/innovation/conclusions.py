"""Sentences about one track: who retrieves what, orders that change, grades, and the pool."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from irmeta.studies.framework.study import Tables
from irmeta.studies.framework.words import count, listed

MOST_COVERED = 0.95  # share of the relevant docs that a few systems retrieve


def conclusions(tables: Tables, track: str) -> Iterator[str]:
    """Yield the sentences about a track; tables may hold other tracks too."""
    yield from contributions(tables, track)
    yield from swaps(tables, track)
    yield from gaming(tables, track)
    yield from grades(tables, track)
    yield from pool(tables, track)


def contributions(tables: Tables, track: str) -> Iterator[str]:
    """Yield who retrieves the most relevant docs, and the most that no other system does."""
    rows = tables["contributions"].filter(track=track, level="system")
    if not rows["found"].sum():
        return
    most, alone = (
        rows.sort(name, "name", descending=[True, False]).row(0, named=True)
        for name in ("found", "unique")
    )
    text = (
        f"On {track}, {most['name']} retrieves the most relevant docs ({most['found']:,}, "
        f"{most['share']:.0%} of those that any system retrieves)"
    )
    if alone["unique"]:
        text += f", {alone['name']} the most that no other system does ({alone['unique']:,})"
    few = tables["greedy"].filter(pl.col("share") >= MOST_COVERED, track=track)["order"].min()
    if isinstance(few, int):
        text += f"; {count(few, 'system')} of {rows.height} cover {MOST_COVERED:.0%}"
    yield f"{text}."


def swaps(tables: Tables, track: str) -> Iterator[str]:
    """Yield how many pairs change places by each measure, and when the best does."""
    rows = tables["dethroned"].filter(pl.col("pairs") > 0, track=track)
    for row in rows.iter_rows(named=True):
        pairs = f"{row['swapped']:,} of {count(row['pairs'], 'pair')}"
        stays = f"{row['best']} stays the best"
        if row["alpha"] is not None:
            stays = f"{row['next']} is better than {row['best']} from {row['alpha']:.2f} on"
        yield f"By {row['measure']}, {pairs} change places for an alpha up to 1; {stays}."


def gaming(tables: Tables, track: str) -> Iterator[str]:
    """Yield how far a system falls at most when its group adds clones of it."""
    fall = pl.col("rank_after") - pl.col("rank_before")
    rows = tables["gaming_effects"].filter(track=track).with_columns(fall=fall)
    rows = rows.filter(pl.col("attack").str.contains("clone"), pl.col("fall").is_finite())
    texts = []
    for (counted,), of_kind in rows.group_by("counted", maintain_order=True):
        most = of_kind.sort("fall", "target", descending=[True, False]).row(0, named=True)
        text = "no system falls"
        if most["fall"] > 0:
            text = (
                f"{most['system']} falls from rank {most['rank_before']:g} to "
                f"{most['rank_after']:g} by {most['measure']} ({most['attack']})"
            )
        texts.append(f"{text} under counted={counted}")
    if texts:
        yield f"Among groups that add clones of their best system, {'; '.join(texts)}."


def grades(tables: Tables, track: str) -> Iterator[str]:
    """Yield the share of highly relevant docs among the rarest and the most common docs."""
    rows = tables["rare_grades"].filter(pl.col("low") > 0, pl.col("docs") > 0, track=track)
    rows = rows.sort("grade", "low")
    levels = rows["grade"].unique().sort().to_list()
    if len(levels) < 2 or rows["low"].n_unique() < 2:
        return
    of_grade = rows.filter(grade=levels[1])
    rare, common = of_grade.row(0, named=True), of_grade.row(-1, named=True)
    yield (
        f"Of the relevant docs with {_held(rare)}, {rare['share_at_least']:.0%} have grade "
        f"{levels[1]} or above; with {_held(common)}, {common['share_at_least']:.0%}."
    )


def _held(row: dict[str, int]) -> str:
    low, high = row["low"], row["high"]
    return f"S_d = {low}" if low == high else f"S_d = {low} to {high}"


def pool(tables: Tables, track: str) -> Iterator[str]:
    """Yield the mean fall of systems whose group is left out, by measure."""
    fall = (pl.col("rank_after") - pl.col("rank_before")).fill_nan(None).mean()
    rows = tables["pool_bias"].filter(track=track).group_by("measure", maintain_order=True)
    falls = [
        f"{mean:.1f} by {measure}" for measure, mean in rows.agg(fall=fall).drop_nulls().iter_rows()
    ]
    if falls:
        yield (
            "Left out of the pool and of S_d, a system falls by so many places in the mean: "
            f"{listed(falls)}."
        )
