"""Chains of steps from a measure to search length: Section 4.4 and Table 2.

The paper changes AP to ASL in three steps: each doc alone (its precision is 1/SL, independent of
relevant docs above it), docs averaged as 1/P, queries averaged as 1/P. Each such measure discounts
rank r by some c(r); for precision c is 1/r, and the paper averages the inverse of c, the length.
nDCG, RBP and ERR take the same steps: a doc alone is worth c(SL); then docs, and then queries, are
averaged as lengths, weighted by the measure's gains. `sections` explains why the literal 1/c is
unsuitable, and why Delta-value includes a change of scale.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Literal

import numpy as np
import polars as pl

from irmeta.measures.search_length import Atomized, Chain, Discount
from irmeta.results.matrix import Matrix
from irmeta.stats.new_measure import Reordering, reordering
from irmeta.studies.papers.search_length.options import PERSISTENCE
from irmeta.studies.papers.search_length.options import SearchLengthOptions as Options

STEPS = ("cumulative", "atomize P", "aggregate docs", "aggregate queries")
"""Names of the steps by number; step 0 compares the first measure with the last."""


def _reciprocal(lengths: np.ndarray) -> np.ndarray:
    return 1.0 / lengths


CHAINS = (
    Chain("AP", _reciprocal),
    Chain("nDCG", lambda lengths: 1.0 / np.log2(1.0 + lengths), "grade"),
    Chain(f"RBP(p={PERSISTENCE})", lambda lengths: PERSISTENCE ** (lengths - 1.0)),
    Chain("ERR", _reciprocal, "exp"),
)


def steps(
    chain: Chain, old: Matrix, atomized_values: Atomized, options: Options
) -> Iterator[tuple[int, Reordering]]:
    """Yield step 0, from the first measure of a chain to the last, then each single step.

    `old` has the measure's values. Lists without a value or without a relevant doc are excluded
    from every step.
    """
    known = ~np.isnan(atomized_values.length) & ~np.isnan(old.values)

    def stage(values: np.ndarray, name: str, direction: Literal[1, -1] = 1) -> Matrix:
        values = np.where(known, values, np.nan)
        return replace(old, values=values, measure=name, direction=direction)

    stages = [
        stage(old.values, old.measure),
        stage(atomized_values.worth, "atomized"),
        stage(chain.discount(atomized_values.length), "docs as lengths"),
        stage(atomized_values.length, "search length", -1),
    ]
    for step, (before, after) in enumerate([(stages[0], stages[-1]), *pairwise(stages)]):
        yield step, _compare(before, after, options, chain.discount)


def cumulative(old: Matrix, new: Matrix, options: Options) -> Iterator[tuple[int, Reordering]]:
    """Compare two measures over lists on which both are defined, as step 0."""
    known = ~np.isnan(new.values) & ~np.isnan(old.values)
    before, after = (replace(m, values=np.where(known, m.values, np.nan)) for m in (old, new))
    yield 0, _compare(before, after, options)


def _compare(
    old: Matrix, new: Matrix, options: Options, in_p_space: Discount | None = None
) -> Reordering:
    ratio, alpha, test = options.ratio, options.alpha, options.test
    return reordering(old, new, ratio=ratio, alpha=alpha, test=test, in_p_space=in_p_space)


def frames(
    chain: str, comparisons: Iterable[tuple[int, Reordering]]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the tables `reordering` (a row per step) and `moves` (a row per step and system)."""
    summaries, moves = [], []
    for step, one in comparisons:
        key = {"chain": pl.lit(chain), "step": pl.lit(step, pl.Int32)}
        systems = one.frame().drop("old", "new")
        moved = systems.filter(pl.col("moved") > 0)
        furthest = moved.filter(pl.col("moved") == pl.col("moved").max()).head(1)
        furthest = furthest.select("track", "better_old", "better_new", furthest="system")
        summaries.append(one.summary().join(furthest, on="track", how="left").with_columns(**key))
        moves.append(systems.with_columns(**key))
    return pl.concat(summaries), pl.concat(moves)
