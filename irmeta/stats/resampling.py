"""How much of a test collection an order of systems needs: parts of it drawn and evaluated anew.

A `Plan` says what is drawn (queries, systems or labels), in which sizes and how often. `resample`
evaluates every draw with a function of the caller's, and tells Kendall's tau-b between the order of
systems by that and by the whole:

- fewer queries: Diaz and Ferraro 2022 (doi:10.1145/3477495.3532033), Figure 6, which for values
  that are there already `query_subsets` does at once;
- fewer systems: Türkmen, Lease and Kutlu 2023 (ECIR), Algorithm 1, where the systems drawn are
  evaluated without the others, and compared with their order among all;
- missing labels: Diaz and Ferraro 2022, Figure 7.

Neither paper says how ties are counted, nor the first how many draws there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_choice, check_whole
from irmeta.parallel import ordered_map
from irmeta.results.matrix import Matrix
from irmeta.results.scores import Scores
from irmeta.stats.orders import kendall_tau_b, over_common, round_means

Rng = int | np.random.Generator | np.random.SeedSequence

_PARTS = ("queries", "systems", "labels")


@dataclass(frozen=True)
class Sample:
    """What one draw keeps.

    Attributes
    ----------
    size
        As the plan has it: how many queries or systems, or the share of labels.
    replicate
        From 0 within each size; -1: the whole.
    queries, systems
        int64, ascending: the places kept; all of them where they are not what is drawn.
    labels
        For each query, ascending: the places kept of its labels. None: all.
    seed
        Of `rng`.
    """

    size: float
    replicate: int
    queries: np.ndarray
    systems: np.ndarray
    labels: tuple[np.ndarray, ...] | None
    seed: np.random.SeedSequence

    @property
    def rng(self) -> np.random.Generator:
        """A generator of this draw's own, always from its beginning."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True)
class Plan:
    """Sizes x replicates draws from a collection, each without replacement.

    Attributes
    ----------
    part
        What is drawn; the rest is kept whole.
    sizes
        How many ``queries`` or ``systems``; for ``labels`` a share above 0 up to 1 of every query's
        own: of n it keeps the integer part of share x n, and at least 1, as pref_eval does.
    replicates
        Draws of each size, independent of one another.
    queries, systems
        How many there are.
    labels
        How many labels each query has. Whether these are all judged docs or the relevant ones alone
        is the caller's to choose.

    Raises
    ------
    UsageError
        If a size cannot be drawn, or there is no replicate.
    """

    part: Literal["queries", "systems", "labels"]
    sizes: tuple[float, ...]
    replicates: int
    queries: int
    systems: int
    labels: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_choice("part", self.part, _PARTS)
        check_whole("replicates", self.replicates)
        if self.part == "labels":
            if len(self.labels) != self.queries:
                raise UsageError(
                    f"the labels of {len(self.labels)} queries are told, of {self.queries}."
                )
            bad = [s for s in self.sizes if not 0.0 < s <= 1.0]
            said = "a share of labels is above 0 and at most 1"
        else:
            there = self.queries if self.part == "queries" else self.systems
            bad = [s for s in self.sizes if not (float(s).is_integer() and 1 <= s <= there)]
            said = f"there are {there} {self.part} to draw 1 or more of"
        if bad:
            raise UsageError(f"size {bad[0]} cannot be drawn: {said}.")

    def whole(self, rng: Rng = 0) -> Sample:
        """The sample that keeps everything."""
        size = {"queries": self.queries, "systems": self.systems, "labels": 1.0}[self.part]
        every = np.arange(self.queries), np.arange(self.systems)
        return Sample(size, -1, *every, None, _seed(rng).spawn(1)[0])

    def samples(self, rng: Rng = 0) -> Iterator[Sample]:
        """The draws, size by size.

        Each comes from a seed of its own, that of its size and number, so that more replicates or
        further sizes leave the first as they are.
        """
        _, *seeds = _seed(rng).spawn(1 + len(self.sizes))
        for size, of_size in zip(self.sizes, seeds, strict=True):
            for replicate, seed in enumerate(of_size.spawn(self.replicates)):
                yield self._drawn(size, replicate, *seed.spawn(2))

    def _drawn(
        self, size: float, replicate: int, draw: np.random.SeedSequence, own: np.random.SeedSequence
    ) -> Sample:
        rng = np.random.default_rng(draw)

        def some(part: str, there: int, number: float) -> np.ndarray:
            if part != self.part:
                return np.arange(there)
            return np.sort(rng.permutation(there)[: int(number)])

        labels = None
        if self.part == "labels":
            # A share such as .29 of 100 is 28.99... in floating point.
            labels = tuple(some("labels", n, max(size * n + 1e-9, 1)) for n in self.labels)
        queries = some("queries", self.queries, size)
        systems = some("systems", self.systems, size)
        return Sample(size, replicate, queries, systems, labels, own)


Evaluate = Callable[[Sample], Matrix | Scores | Iterable[Matrix]]


def resample(
    evaluate: Evaluate,
    plan: Plan,
    *,
    rng: Rng = 0,
    workers: int | None = 1,
    executor: Executor | None = None,
) -> pl.DataFrame:
    """How the order of systems by each draw agrees with that by everything.

    Parameters
    ----------
    evaluate
        The values of what a sample keeps, with the systems' names: one matrix, several, or scores.
        It is called with the whole first, and then once for each draw. Systems are ordered by their
        means over queries; an order that comes otherwise (by MC4, say) is a matrix of one row.
        Whether greater is better does not matter. For an executor of processes it must be
        picklable.
    rng
        Same seed, same result, whatever the workers.
    workers, executor
        As `irmeta.parallel.ordered_map` has them.

    Returns
    -------
    DataFrame
        size, replicate, measure, systems, tau: in the order of the plan, then of the measures. tau
        is over the systems that have a mean in both, `systems` of them; NaN where there are fewer
        than two, or either ties them all. Means that differ beyond the twelfth digit alone tie.

    Raises
    ------
    UsageError
        If a draw has a measure or a system that the whole has not.
    """
    seed = _seed(rng)
    whole = _orders(evaluate(plan.whole(seed)))
    compare = partial(_compared, evaluate, whole)
    rows = []
    for found in ordered_map(compare, plan.samples(seed), workers=workers, executor=executor):
        rows += found
    return _frame(rows, plan)


def query_subsets(
    matrix: Matrix, sizes: Iterable[int], replicates: int = 1000, *, rng: Rng = 0
) -> pl.DataFrame:
    """How the order of systems by some queries agrees with that by all.

    What `resample` says of a plan of queries and these values, and the very same numbers, without
    a call for each draw. A mean is over the kept queries on which the system has a value, as it is
    over all.

    Parameters
    ----------
    sizes
        How many queries to keep, from 1 to all.

    Returns
    -------
    DataFrame
        As of `resample`.
    """
    plan = Plan("queries", tuple(sizes), replicates, *matrix.values.shape)
    known = ~np.isnan(matrix.values)
    values = np.where(known, matrix.values, 0.0)
    samples = plan.samples(rng)
    rows = []
    for size in plan.sizes:
        kept = np.array([next(samples).queries for _ in range(replicates)])
        total, number = np.zeros((2, replicates, len(matrix.systems)))
        # Query by query and not as a matrix product: sums that hang on no library's blocks.
        for place in kept.T:
            total += values[place]
            number += known[place]
        means = np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)
        tau, systems = _tau(matrix.means, means)
        found = zip(systems.tolist(), tau.tolist(), strict=True)
        rows += [(size, i, matrix.measure, *pair) for i, pair in enumerate(found)]
    return _frame(rows, plan)


def spread(frame: pl.DataFrame) -> pl.DataFrame:
    """The means of tau over replicates, and how far they spread.

    Returns
    -------
    DataFrame
        size, measure, replicates (those with a tau), undefined (those without), mean, sd (with
        n - 1; NaN for one), low, median, high (the quantiles .025, .5, .975): in the frame's order.
        NaN where no replicate has a tau.
    """
    tau = pl.col("tau").fill_nan(None)
    numbers = {
        "mean": tau.mean(),
        "sd": tau.std(),
        "low": tau.quantile(0.025, "linear"),
        "median": tau.median(),
        "high": tau.quantile(0.975, "linear"),
    }
    return frame.group_by("size", "measure", maintain_order=True).agg(
        tau.count().cast(pl.Int32).alias("replicates"),
        tau.null_count().cast(pl.Int32).alias("undefined"),
        *(number.fill_null(np.nan).alias(name) for name, number in numbers.items()),
    )


_Orders = dict[str, dict[str, float]]  # by measure and system: its mean
_Row = tuple[float, int, str, int, float]


def _orders(found: Matrix | Scores | Iterable[Matrix]) -> _Orders:
    if isinstance(found, Scores):
        return {
            m: dict(zip(found.systems, row.tolist(), strict=True))
            for m, row in zip(found.measures, found.mean_values(), strict=True)
        }
    matrices = [found] if isinstance(found, Matrix) else list(found)
    return {m.measure: dict(zip(m.systems, m.means.tolist(), strict=True)) for m in matrices}


def _compared(evaluate: Evaluate, whole: _Orders, sample: Sample) -> list[_Row]:
    rows = []
    for measure, means in _orders(evaluate(sample)).items():
        unknown = [measure] if measure not in whole else [*means.keys() - whole[measure].keys()]
        if unknown:
            raise UsageError(f"a draw has {unknown[0]!r}, which the whole has not.")
        before = np.array([whole[measure][s] for s in means], float)
        tau, systems = _tau(before, np.array([[*means.values()]], float))
        rows.append((sample.size, sample.replicate, measure, int(systems[0]), float(tau[0])))
    return rows


def _tau(whole: np.ndarray, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Kendall's tau-b of one order [system] with each of some [draw, system], NaN left out.

    And over how many systems it is.
    """
    order, others = round_means(whole)[None], round_means(draws)
    systems = (~np.isnan(order) & ~np.isnan(others)).sum(axis=1)
    return over_common(kendall_tau_b, order, others, False)[0], systems


def _seed(rng: Rng) -> np.random.SeedSequence:
    """A seed that has had no children, so that the first are always the same."""
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(rng.integers(2**32, size=4).tolist())
    if isinstance(rng, np.random.SeedSequence):
        return np.random.SeedSequence(rng.entropy, spawn_key=rng.spawn_key)
    return np.random.SeedSequence(rng)


def _frame(rows: list[_Row], plan: Plan) -> pl.DataFrame:
    size = pl.Float64 if plan.part == "labels" else pl.Int32
    schema = {"size": pl.Float64, "replicate": pl.Int32, "measure": pl.String}
    schema |= {"systems": pl.Int32, "tau": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col("size").cast(size))
