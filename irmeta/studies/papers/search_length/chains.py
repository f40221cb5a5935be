"""From a measure to search length, a step at a time: paper 1, Section 4.4 and Table 2.

The paper takes AP to ASL in three steps: each doc by itself (its precision is 1/SL, which docs
above it do not raise), docs averaged as 1/P, queries averaged as 1/P. It leaves nDCG, RBP and ERR
as future work, since they are other functions of rank than precision. Here is what they become.

Every such measure discounts rank r by some c(r), and 1/P is a search length only because
precision's c is 1/r: what the paper averages is c's inverse, the length. So each measure goes the
same way: a doc by itself is worth c(SL); then docs, and then queries, are averaged as lengths and
not as worths. The literal 1/c would not do: it is log2(1 + SL) for nDCG, no flat scale of ranks,
and p^(1 - SL) for RBP, the deepest doc's alone. Weights stay the measure's own gains, so that nDCG
and ERR end at a search length in which a doc of a higher grade counts more, RBP and AP at ASL
itself.

The worth of a perfect list is 1 after the first step, where RBP's is 1 - p^R and ERR's less than 1
before: their Delta-value of that step, and of the whole way, has that change of scale in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import polars as pl

from irmeta.measures.gains import gains
from irmeta.rankings.judged import JudgedRanks
from irmeta.results.matrix import Matrix
from irmeta.stats.reordering import Reordering, reordering
from irmeta.studies.papers.search_length.options import PERSISTENCE, SearchLengthOptions

STEPS = ("cumulative", "atomize P", "aggregate docs", "aggregate queries")
"""By number; 0 compares the old measure with the last."""
VALUES = ("", "atomized", "docs as lengths", "search length")
"""What is compared after each step."""


@dataclass(frozen=True)
class Chain:
    """A measure and what its way to search length needs to know of it.

    Attributes
    ----------
    discount
        c: from search lengths to what a doc found there is worth, 1 at length 1.
    gain
        The kind of gain (see irmeta.measures.gains) that weights the relevant docs. With another
        than ``binary`` every doc of grade 1 and above has one, whatever the study's `rel` is.
    """

    name: str
    discount: Callable[[np.ndarray], np.ndarray]
    gain: str = "binary"

    @property
    def graded(self) -> bool:
        return self.gain != "binary"


def _reciprocal(lengths: np.ndarray) -> np.ndarray:
    return 1.0 / lengths


def _logarithmic(lengths: np.ndarray) -> np.ndarray:
    return 1.0 / np.log2(1.0 + lengths)


def _geometric(lengths: np.ndarray) -> np.ndarray:
    return PERSISTENCE ** (lengths - 1.0)


CHAINS = (
    Chain("AP", _reciprocal),
    Chain("nDCG", _logarithmic, "grade"),
    Chain(f"RBP(p={PERSISTENCE})", _geometric),
    Chain("ERR", _reciprocal, "exp"),
)


@dataclass(frozen=True)
class Atomized:
    """Per-query values of a chain's steps 1 and 3, float64 [query, system].

    Attributes
    ----------
    worth
        The mean worth of the relevant docs, each by itself; NaN: no relevant doc.
    length
        The mean of their search lengths, with the same weights.
    """

    worth: np.ndarray
    length: np.ndarray

    @classmethod
    def concat(cls, blocks: Sequence[Atomized]) -> Atomized:
        """The blocks of a track, one after another."""
        return cls(
            np.concatenate([b.worth for b in blocks]), np.concatenate([b.length for b in blocks])
        )


def atomized(view: JudgedRanks, chain: Chain, rel: int, lengths: np.ndarray) -> Atomized:
    """A block's values; `lengths` as `lengths_by_doc` gives them, 1 at least, for `rel`."""
    rows = view.relevant_rows(rel)
    bounds = np.searchsorted(view.query_of(rows), np.arange(len(view.queries) + 1))
    weights = gains(view.grades[rows], chain.gain, rel, view.facts.highest_grade)
    worth = chain.discount(lengths)
    found = np.full((2, len(view.queries), len(view.systems)), np.nan)
    for query, (start, stop) in enumerate(pairwise(bounds)):
        if start < stop:
            own = weights[start:stop] / weights[start:stop].sum()
            found[0, query] = own @ worth[start:stop]
            found[1, query] = own @ lengths[start:stop]
    return Atomized(*found)


def steps(
    chain: Chain, old: Matrix, found: Atomized, options: SearchLengthOptions
) -> Iterator[tuple[int, Reordering]]:
    """Each step of a chain against the one before it, then step 0, the whole way.

    `old` has the measure's values; lists on which it has none, or that have no relevant doc to
    find, are left out of every step.
    """
    compare = partial(_compare, options, in_p_space=chain.discount)
    known = ~np.isnan(found.length) & ~np.isnan(old.values)

    def as_matrix(values: np.ndarray, step: int, direction: Literal[1, -1] = 1) -> Matrix:
        kept = np.where(known, values, np.nan)
        name = VALUES[step] if step else old.measure
        return replace(old, values=kept, measure=name, direction=direction)

    way = [
        as_matrix(old.values, 0),
        as_matrix(found.worth, 1),
        as_matrix(chain.discount(found.length), 2),
        as_matrix(found.length, 3, direction=-1),
    ]
    for step, (before, after) in enumerate(pairwise(way), 1):
        yield step, compare(before, after)
    yield 0, compare(way[0], way[3])


def cumulative(
    old: Matrix, new: Matrix, options: SearchLengthOptions
) -> Iterator[tuple[int, Reordering]]:
    """Two measures that are compared as they are, over lists on which both are defined."""
    known = ~np.isnan(new.values) & ~np.isnan(old.values)
    before, after = (replace(m, values=np.where(known, m.values, np.nan)) for m in (old, new))
    yield 0, _compare(options, before, after)


def _compare(
    options: SearchLengthOptions,
    old: Matrix,
    new: Matrix,
    in_p_space: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Reordering:
    return reordering(
        old,
        new,
        ratio=options.ratio,
        alpha=options.alpha,
        test=options.test,
        in_p_space=in_p_space,
    )


def frames(
    chain: str, found: Sequence[tuple[int, Reordering]]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tables `reordering`, a row a step, and `moves`, a row a step and system."""
    summaries, moves = [], []
    for step, one in sorted(found, key=lambda pair: pair[0]):
        names = pl.lit(chain).alias("chain"), pl.lit(step, pl.Int32).alias("step")
        furthest = int(np.argmax(one.moved)) if one.delta_sort > 0 else None
        summaries.append(
            one.summary().select(
                "track",
                *names,
                pl.exclude("track"),
                pl.lit(_at(one.systems, furthest), pl.String).alias("furthest"),
                pl.lit(_at(one.better_old, furthest), pl.Int64).alias("better_old"),
                pl.lit(_at(one.better_new, furthest), pl.Int64).alias("better_new"),
            )
        )
        moves.append(one.frame().drop("old", "new").select("track", *names, pl.exclude("track")))
    return pl.concat(summaries), pl.concat(moves)


def _at(values: Sequence[Any] | np.ndarray, place: int | None) -> Any:
    return None if place is None else values[place]
