"""Sentences about one track, each from one table of the study."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from irmeta.phrases import count, listed
from irmeta.studies.framework.study import Tables

MOST_COVERED = 0.95  # share of the relevant docs that a few systems retrieve


def conclusions(tables: Tables, track: str) -> Iterator[str]:
    """Yield the sentences about a track; tables may hold other tracks too."""
    yield from rarity(tables, track)
    yield from power(tables, track)
    yield from stability(tables, track)
    yield from contributions(tables, track)
    yield from swaps(tables, track)
    yield from gaming(tables, track)
    yield from grades(tables, track)
    yield from pool(tables, track)
    yield from labels(tables, track)


def rarity(tables: Tables, track: str) -> Iterator[str]:
    """Yield how many relevant docs no system and one system alone retrieves."""
    rows = tables["docs_by_holders"].filter(track=track)
    total = int(rows["docs"].sum())
    if not total:
        return
    lost, alone = (int(rows.filter(retrieved_by=n)["docs"].sum()) for n in (0, 1))
    yield (
        f"On {track}, no system retrieves {lost:,} ({lost / total:.0%}), and one system alone "
        f"{alone:,} ({alone / total:.0%}) of {count(total, 'relevant doc')}."
    )


def power(tables: Tables, track: str) -> Iterator[str]:
    """Yield the significantly different pairs by each test at the least and the greatest alpha."""
    rows = tables["table_1"].filter(pl.col("percent").is_finite(), track=track)
    rows = rows.filter(pl.col("level") == pl.col("level").max())
    for (measure,), of_measure in rows.group_by("measure", maintain_order=True):
        pairs, level = of_measure.select("pairs", "level").row(0)
        ends = _ends(of_measure, "test", "separated", ",d")
        yield (
            f"On {track}, the number of significantly different pairs (of {pairs:,}, level "
            f"{level:g}) by {measure} is {ends}."
        )


def stability(tables: Tables, track: str) -> Iterator[str]:
    """Yield the stability by each rule for ties at the least and the greatest alpha."""
    added = ~pl.col("measure").str.contains("convex")
    rows = tables["table_2"].filter(pl.col("stability").is_finite(), added, track=track)
    for (measure,), of_measure in rows.group_by("measure", maintain_order=True):
        kinds = of_measure.with_columns(pl.col("ties").replace("none", "no") + " ties")
        ends = _ends(kinds, "ties", "stability", ".3f")
        yield f"On {track}, the stability of {measure} is {ends}."


def _ends(rows: pl.DataFrame, by: str, value: str, digits: str) -> str:
    """Return a value at the least and the greatest alpha, e.g. "9 at alpha = 0, 12 at 1 by t"."""
    least, most = rows["alpha"].min(), rows["alpha"].max()
    texts = []
    for (kind,), of_kind in rows.sort("alpha").group_by(by, maintain_order=True):
        first, last = (format(of_kind[value][end], digits) for end in (0, -1))
        texts.append((first, last, kind))
    (first, last, kind), *others = texts
    start = f"{first} at alpha = {least:g} and {last} at alpha = {most:g} by {kind}"
    return listed([start, *(f"{a} and {b} by {name}" for a, b, name in others)])


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
        who = " and" if alone["name"] == most["name"] else f", {alone['name']}"
        text += f"{who} the most that no other system does ({alone['unique']:,})"
    few = tables["greedy"].filter(pl.col("share") >= MOST_COVERED, track=track)["order"].min()
    if isinstance(few, int):
        cover = "covers" if few == 1 else "cover"
        text += f"; {few:,} of {count(rows.height, 'system')} {cover} {MOST_COVERED:.0%}"
    yield f"{text}."


def swaps(tables: Tables, track: str) -> Iterator[str]:
    """Yield how many pairs change places by each measure, and where the best system does."""
    rows = tables["dethroned"].filter(pl.col("pairs") > 0, track=track)
    for row in rows.iter_rows(named=True):
        pairs = f"{row['swapped']:,} of {count(row['pairs'], 'pair')}"
        best = f"{row['best']} stays the best"
        if row["alpha"] is not None:
            best = f"{row['next']} is better than {row['best']} above alpha = {row['alpha']:.3g}"
        change = "changes" if 1 in (row["swapped"], row["pairs"]) else "change"
        yield (
            f"On {track}, {pairs} {change} places by {row['measure']} for an alpha up to 1; {best}."
        )


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
        yield f"On {track}, where groups add clones of their best system, {'; '.join(texts)}."


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
        f"On {track}, {rare['share_at_least']:.0%} of the relevant docs with {_held(rare)} have "
        f"grade {levels[1]} or above, and {common['share_at_least']:.0%} of those with "
        f"{_held(common)}."
    )


def _held(row: dict[str, int]) -> str:
    low, high = row["low"], row["high"]
    return f"S_d = {low}" if low == high else f"S_d = {low} to {high}"


def pool(tables: Tables, track: str) -> Iterator[str]:
    """Yield how far systems whose group is left out fall or rise on average, by measure."""
    fall = (pl.col("rank_after") - pl.col("rank_before")).fill_nan(None).mean()
    rows = tables["pool_bias"].filter(track=track).group_by("measure", maintain_order=True)
    moves = [
        f"{_moved(round(mean, 1))} by {measure}"
        for measure, mean in rows.agg(fall=fall).drop_nulls().iter_rows()
    ]
    if moves:
        yield (
            f"On {track}, a system that is left out of the pool and of S_d on average "
            f"{listed(moves)}."
        )


def _moved(fall: float) -> str:
    if not fall:
        return "keeps its place"
    return f"{'falls' if fall > 0 else 'rises'} {abs(fall):.1f} places"


def labels(tables: Tables, track: str) -> Iterator[str]:
    """Yield which share of the relevant docs of a qrels set another set confirms, by S_d."""
    rows = tables["label_confirmations"].filter(pl.col("share").is_finite(), track=track)
    for (of, by), pair in rows.group_by("relevant_in", "judged_in", maintain_order=True):
        shares = dict(pair.select("retrieved_by", "share").iter_rows())
        if "few" in shares and "many" in shares:
            yield (
                f"On {track}, {by} confirms {shares['few']:.0%} of the docs relevant in {of} that "
                f"few systems retrieve, and {shares['many']:.0%} of those that many do."
            )
