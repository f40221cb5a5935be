"""Sentences about one track: safe cutoffs, reuse of the judgments, undecided pairs."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from irmeta.phrases import count, listed
from irmeta.studies.framework.study import Tables

VERDICTS = {
    "reusable": "reusable",
    "with care": "to be used with care",
    "not for new systems": "not for new systems",
}
"""The verdicts of `reusability`, best first, and their wording."""
MOST_LISTED = 4  # measures; the most frequent verdict on as many is that of the other measures


def conclusions(tables: Tables, track: str) -> Iterator[str]:
    """Yield the sentences about a track; tables may hold other tracks too."""
    yield from guidance(tables, track)
    yield from reusability(tables, track)
    yield from undecided(tables, track)


def guidance(tables: Tables, track: str) -> Iterator[str]:
    """Yield one sentence per depth of the pool: cutoffs that lead to the same conclusions.

    The lists are full. A range that ends at the greatest computed cutoff prints as "from k on".
    """
    rows = tables["guidance"].filter(track=track, lists="full")
    greatest = tables["table_7"].filter(track=track)["k"].max()
    for (depth,), of_depth in rows.group_by("depth", maintain_order=True):
        several = f" and a pool of depth {depth}" if rows["depth"].n_unique() > 1 else ""
        several += _estimated(tables, track)
        ranges: dict[str, list[str]] = {}
        depths: dict[int | None, list[str]] = {}
        for measure, low, high, least in of_depth.select(
            "measure", "k_low", "k_high", "least_depth"
        ).iter_rows():
            ranges.setdefault(_cutoffs(low, high, greatest), []).append(measure)
            depths.setdefault(least, []).append(measure)
        held = "; ".join(
            f"{listed(names)} {'holds' if len(names) == 1 else 'hold'} {text}"
            for text, names in ranges.items()
        )
        yield f"On {track}{several}, {held}; {_pools(depths)}."


def _cutoffs(low: int | None, high: int | None, greatest: object) -> str:
    if low is None or high is None:
        return "at no cutoff"
    if high == greatest:
        return f"from k = {low} on"
    return f"for k = {low}" + (f" to {high}" if high > low else "")


def _pools(depths: dict[int | None, list[str]]) -> str:
    """Return which pools order the contributors as all judgments do, by which measures."""
    known = sorted((depth, names) for depth, names in depths.items() if depth is not None)
    same = len(known) == 1 and None not in depths
    pools = [f"a pool of depth {d}" + ("" if same else f" ({listed(names)})") for d, names in known]
    done = "its contributors as all judgments do"
    if not pools:
        return f"no pool orders {done}"
    text = f"{listed(pools)} {'orders' if len(pools) == 1 else 'order'} {done}"
    return f"{text}, and no pool by {listed(depths[None])}" if None in depths else text


def reusability(tables: Tables, track: str) -> Iterator[str]:
    """Yield one sentence per kind of judgments, or one if they agree: the verdicts by level."""
    rows = tables["reusability"].filter(track=track)
    lost = tables["table_5"].filter(track=track)
    kinds: dict[str, list[str]] = {}
    for (judgments,), of_kind in rows.group_by("judgments", maintain_order=True):
        levels = []
        for (level,), of_level in of_kind.group_by("level", maintain_order=True):
            most = lost.filter(level=level, judgments=judgments)["judged_lost"].max()
            text = "no judgment is lost, which proves nothing" if most == 0 else _verdicts(of_level)
            levels.append(f"with each {level} left out, {text}")
        which = "of the pool" if judgments == "pool" else "of every depth"
        kinds.setdefault("; ".join(levels), []).append(which)
    for text, which in kinds.items():
        yield f"Judgments {listed(which)} on {track}{_estimated(tables, track)}: {text}."


def _estimated(tables: Tables, track: str) -> str:
    """Return " (estimated depth of the pool: 7)" if the depth is estimated, otherwise ""."""
    rows = tables["collections"].filter(track=track, depth_source="estimated")
    return f" (estimated depth of the pool: {rows['depth'].item()})" if rows.height else ""


def _verdicts(rows: pl.DataFrame) -> str:
    """Return the verdicts with their measures, e.g. "reusable by ERR@10 and RR@10"."""
    by_verdict = [(v, rows.filter(verdict=v)["measure"].to_list()) for v in VERDICTS]
    by_verdict = [(VERDICTS[verdict], names) for verdict, names in by_verdict if names]
    if len(by_verdict) == 1 and rows.height > 1:
        return f"{by_verdict[0][0]} by every measure"
    if max(sizes := [len(names) for _, names in by_verdict]) >= MOST_LISTED:
        most = by_verdict.pop(sizes.index(max(sizes)))[0]
        by_verdict.append((most, ["the other measures"]))
    return ", ".join(f"{verdict} by {listed(names)}" for verdict, names in by_verdict)


def undecided(tables: Tables, track: str) -> Iterator[str]:
    """Yield how many pairs of systems the unjudged docs leave undecided, if there are systems."""
    systems = tables["unjudged"].filter(track=track).height
    if pairs := systems * (systems - 1) // 2:
        number = tables["undecided"].filter(track=track).height
        yield (
            f"{number:,} of {count(pairs, 'pair')} of systems on {track} "
            f"{'is' if number == 1 else 'are'} undecided: their RBP(p=0.8) differs by less than "
            "the residual of the worse system."
        )
