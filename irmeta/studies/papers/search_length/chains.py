"""From a measure to search length, a step at a time: paper 1, Section 4.4 and Table 2.

The paper takes AP to ASL in three steps: each doc by itself (its precision is 1/SL, which docs
above it do not raise), docs averaged as 1/P, queries averaged as 1/P. Every such measure discounts
rank r by some c(r); precision's c is 1/r, and what the paper averages is c's inverse, the length.
So nDCG, RBP and ERR go the same way: a doc by itself is worth c(SL); then docs, and then queries,
are averaged as lengths and not as worths, with the measure's own gains as weights. `sections` says
why the literal 1/c would not do, and why Delta-value has a change of scale in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Literal

import numpy as np
import polars as pl

from irmeta.measures.atomized import Atomized, Chain, Discount
from irmeta.results.matrix import Matrix
from irmeta.stats.system_reordering import Reordering, reordering
from irmeta.studies.papers.search_length.options import PERSISTENCE
from irmeta.studies.papers.search_length.options import SearchLengthOptions as Options

STEPS = ("cumulative", "atomize P", "aggregate docs", "aggregate queries")
"""By number; 0 compares the old measure with the last."""


def _reciprocal(lengths: np.ndarray) -> np.ndarray:
    return 1.0 / lengths


CHAINS = (
    Chain("AP", _reciprocal),
    Chain("nDCG", lambda lengths: 1.0 / np.log2(1.0 + lengths), "grade"),
    Chain(f"RBP(p={PERSISTENCE})", lambda lengths: PERSISTENCE ** (lengths - 1.0)),
    Chain("ERR", _reciprocal, "exp"),
)


def steps(
    chain: Chain, old: Matrix, found: Atomized, options: Options
) -> Iterator[tuple[int, Reordering]]:
    """Yield step 0, a chain's whole way, then each of its steps against the one before.

    `old` has the measure's values; lists on which it has none, or that have no relevant doc to
    find, are left out of every step.
    """
    known = ~np.isnan(found.length) & ~np.isnan(old.values)

    def stage(values: np.ndarray, name: str, direction: Literal[1, -1] = 1) -> Matrix:
        values = np.where(known, values, np.nan)
        return replace(old, values=values, measure=name, direction=direction)

    way = [
        stage(old.values, old.measure),
        stage(found.worth, "atomized"),
        stage(chain.discount(found.length), "docs as lengths"),
        stage(found.length, "search length", -1),
    ]
    for step, (before, after) in enumerate([(way[0], way[-1]), *pairwise(way)]):
        yield step, _compare(before, after, options, chain.discount)


def cumulative(old: Matrix, new: Matrix, options: Options) -> Iterator[tuple[int, Reordering]]:
    """Compare two measures as they are, over lists on which both are defined, as step 0."""
    known = ~np.isnan(new.values) & ~np.isnan(old.values)
    before, after = (replace(m, values=np.where(known, m.values, np.nan)) for m in (old, new))
    yield 0, _compare(before, after, options)


def _compare(
    old: Matrix, new: Matrix, options: Options, in_p_space: Discount | None = None
) -> Reordering:
    ratio, alpha, test = options.ratio, options.alpha, options.test
    return reordering(old, new, ratio=ratio, alpha=alpha, test=test, in_p_space=in_p_space)


def frames(
    chain: str, found: Iterable[tuple[int, Reordering]]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the tables `reordering`, a row a step, and `moves`, a row a step and system."""
    summaries, moves = [], []
    for step, one in found:
        place = {"chain": pl.lit(chain), "step": pl.lit(step, pl.Int32)}
        systems = one.frame().drop("old", "new")
        moved = systems.filter(pl.col("moved") > 0)
        furthest = moved.filter(pl.col("moved") == pl.col("moved").max()).head(1)
        furthest = furthest.select("track", "better_old", "better_new", furthest="system")
        summaries.append(one.summary().join(furthest, on="track", how="left").with_columns(**place))
        moves.append(systems.with_columns(**place))
    return pl.concat(summaries), pl.concat(moves)
