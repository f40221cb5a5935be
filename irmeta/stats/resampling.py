"""Robustness of the ranking of systems to fewer queries, systems or labels, by resampling.

A `Plan` declares the part to sample (queries, systems or labels), the sizes and the replicates.
`resample` evaluates every sample with the caller's function, and returns Kendall's tau-b between
the ranking of systems by the sample and by the full collection. `system_subsets` is Algorithm 1 for
measures where the values of a system depend on the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations
from math import comb
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
    """Queries, systems and labels of one sample.

    Attributes
    ----------
    size
        The plan's size: number of queries or systems, or the share of labels.
    replicate
        Number of the replicate, from 0 within each size; -1: the full collection.
    queries, systems
        int64, ascending: indices in the sample; all indices unless the plan samples this part.
    labels
        For each query, ascending: indices of the labels in the sample. None: all.
    seed
        Seed of `rng`.
    """

    size: float
    replicate: int
    queries: np.ndarray
    systems: np.ndarray
    labels: tuple[np.ndarray, ...] | None
    seed: np.random.SeedSequence

    @property
    def rng(self) -> np.random.Generator:
        """New generator with the seed of this sample."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True)
class Plan:
    """Sizes x replicates samples of a collection, each drawn without replacement.

    Attributes
    ----------
    part
        The part to sample; the other parts stay complete.
    sizes
        Number of ``queries`` or ``systems``; for ``labels`` the share of every query's labels,
        above 0 and at most 1: of n labels the integer part of share x n is drawn, and at least 1,
        as in pref_eval.
    replicates
        Number of independent samples of each size.
    queries, systems
        Number of queries and of systems in the collection.
    labels
        Number of labels of each query; the caller decides whether labels are all judged docs or
        only the relevant docs.

    Raises
    ------
    UsageError
        If a size cannot be drawn, or `replicates` is less than 1.
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
                    f"labels has {len(self.labels)} counts for {self.queries} queries."
                )
            bad = [s for s in self.sizes if not 0.0 < s <= 1.0]
            reason = "a share of labels is above 0 and at most 1"
        else:
            number = self.queries if self.part == "queries" else self.systems
            bad = [s for s in self.sizes if not (float(s).is_integer() and 1 <= s <= number)]
            reason = f"sizes are integers from 1, and there are {number} {self.part}"
        if bad:
            raise UsageError(f"size {bad[0]} cannot be drawn: {reason}.")

    def whole(self, rng: Rng = 0) -> Sample:
        """Return the sample that is the full collection."""
        size = {"queries": self.queries, "systems": self.systems, "labels": 1.0}[self.part]
        every = np.arange(self.queries), np.arange(self.systems)
        return Sample(size, -1, *every, None, seed_sequence(rng).spawn(1)[0])

    def samples(self, rng: Rng = 0) -> Iterator[Sample]:
        """Yield the samples, size by size.

        The seed of a sample depends on the index of its size and replicate, so that more replicates
        or further sizes leave the earlier samples unchanged.
        """
        _, *seeds = seed_sequence(rng).spawn(1 + len(self.sizes))
        for size, of_size in zip(self.sizes, seeds, strict=True):
            for replicate, seed in enumerate(of_size.spawn(self.replicates)):
                yield self._drawn(size, replicate, *seed.spawn(2))

    def _drawn(
        self,
        size: float,
        replicate: int,
        draw: np.random.SeedSequence,
        seed: np.random.SeedSequence,
    ) -> Sample:
        rng = np.random.default_rng(draw)

        def drawn(part: str, total: int, number: float) -> np.ndarray:
            if part != self.part:
                return np.arange(total)
            return np.sort(rng.permutation(total)[: int(number)])

        labels = None
        if self.part == "labels":
            # The addend guards int() against rounding: .29 of 100 is 28.99... in floating point.
            labels = tuple(drawn("labels", n, max(size * n + 1e-9, 1)) for n in self.labels)
        queries = drawn("queries", self.queries, size)
        systems = drawn("systems", self.systems, size)
        return Sample(size, replicate, queries, systems, labels, seed)


Evaluate = Callable[[Sample], Matrix | Scores | Iterable[Matrix]]


def resample(
    evaluate: Evaluate,
    plan: Plan,
    *,
    rng: Rng = 0,
    workers: int | None = 1,
    executor: Executor | None = None,
) -> pl.DataFrame:
    """Correlate the ranking of systems by each sample with the ranking by the full collection.

    Parameters
    ----------
    evaluate : callable
        Function from a sample to its values, with system names: one matrix, several, or scores; it
        is called with the full collection first. Systems are ranked by mean over queries; another
        ranking (by MC4, say) is a matrix of one row. The direction of values does not matter. A
        process executor needs a picklable function.
    plan : Plan
        The part to sample, sizes and replicates.
    rng : int, Generator or SeedSequence, default 0
        Random seed; the same seed gives the same result for any number of workers.
    workers, executor
        See `irmeta.parallel.ordered_map`.

    Returns
    -------
    DataFrame
        size, replicate, measure, systems, tau: in the order of the plan, then of the measures. tau
        is over the `systems` systems with a mean in both; NaN for fewer than two systems, or if all
        tie in either. Means that are equal to 12 significant digits tie.

    Raises
    ------
    UsageError
        If a sample has a measure or a system that the full collection does not have.

    References
    ----------
    .. [1] Diaz and Ferraro (2022), Figures 6 and 7: fewer queries and labels; the number of samples
       and the treatment of ties are not stated. doi:10.1145/3477495.3532033
    .. [2] Türkmen, Lease and Kutlu (2023), Algorithm 1: fewer systems, each without the others.

    Examples
    --------
    >>> plan = irmeta.stats.Plan("systems", sizes=(2,), replicates=3, queries=4, systems=3)
    >>> irmeta.stats.resample(lambda sample: ap.only_systems(sample.systems), plan)["tau"].to_list()
    [1.0, 1.0, 1.0]
    """
    seed = seed_sequence(rng)
    full = _orders(evaluate(plan.whole(seed)))
    compare = partial(_compared, evaluate, full)
    rows = []
    for part in ordered_map(compare, plan.samples(seed), workers=workers, executor=executor):
        rows += part
    return _frame(rows, plan)


def query_subsets(
    matrix: Matrix, sizes: Iterable[int], replicates: int = 1000, *, rng: Rng = 0
) -> pl.DataFrame:
    """Correlate the ranking of systems by subsets of queries with the ranking by all queries.

    The result equals that of `resample` with a plan of queries and these values, without a call per
    sample. A mean is over the sampled queries on which the system has a value.

    Parameters
    ----------
    matrix : Matrix
        Values of one measure.
    sizes : iterable of int
        Numbers of queries to sample, from 1 to all.
    replicates, rng
        See `Plan` and `resample`, which also describe errors.

    Returns
    -------
    DataFrame
        See `resample`.

    Examples
    --------
    >>> irmeta.stats.query_subsets(ap, [3], replicates=2)["tau"].to_list()
    [1.0, 1.0]
    """
    known = ~np.isnan(matrix.values)
    values = np.where(known, matrix.values, 0.0)

    def means(sampled: np.ndarray) -> np.ndarray:
        total, number = np.zeros((2, len(sampled), len(matrix.systems)))
        # A matrix product would make the sums depend on the block size of the BLAS library.
        for query in sampled.T:
            total += values[query]
            number += known[query]
        return np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)

    plan = Plan("queries", tuple(sizes), replicates, *matrix.values.shape)
    return correlate_samples(plan, matrix.measure, matrix.means, means, rng=rng)


def correlate_samples(
    plan: Plan,
    measure: str,
    whole: np.ndarray,
    values_of: Callable[[np.ndarray], np.ndarray],
    *,
    rng: Rng = 0,
) -> pl.DataFrame:
    """Correlate the ranking of systems by samples of queries with the ranking `whole` by all.

    `values_of` is a function from int64 [sample, query], the indices of the queries of all samples
    of one size, to the values that rank the systems: float64 [sample, system].
    """
    if isinstance(rng, int):  # measures of a track share their samples
        samples = _seeded_queries(plan.queries, plan.sizes, plan.replicates, rng)
    else:
        samples = _queries_of(plan, rng)
    rows = []
    for size, sampled in zip(plan.sizes, samples, strict=True):
        tau, systems = _tau(whole, values_of(sampled))
        pairs = zip(systems.tolist(), tau.tolist(), strict=True)
        rows += [(size, i, measure, *pair) for i, pair in enumerate(pairs)]
    return _frame(rows, plan)


@lru_cache(maxsize=8)
def _seeded_queries(
    queries: int, sizes: tuple[float, ...], replicates: int, seed: int
) -> Sequence[np.ndarray]:
    return _queries_of(Plan("queries", sizes, replicates, queries, 0), seed)


def _queries_of(plan: Plan, rng: Rng) -> Sequence[np.ndarray]:
    samples = plan.samples(rng)
    return [np.array([next(samples).queries for _ in range(plan.replicates)]) for _ in plan.sizes]


def spread(frame: pl.DataFrame) -> pl.DataFrame:
    """Summarise tau over replicates by mean, standard deviation (n - 1) and quantiles.

    Columns: size, measure, replicates, undefined, mean, sd, low, median, high (quantiles .025, .5,
    .975); NaN where no replicate has a tau.
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


_Orders = dict[str, dict[str, float]]  # means by measure and system
_Row = tuple[float, int, str, int, float]


def _orders(values: Matrix | Scores | Iterable[Matrix]) -> _Orders:
    if isinstance(values, Scores):
        return {
            m: dict(zip(values.systems, row.tolist(), strict=True))
            for m, row in zip(values.measures, values.mean_values(), strict=True)
        }
    matrices = [values] if isinstance(values, Matrix) else list(values)
    return {m.measure: dict(zip(m.systems, m.means.tolist(), strict=True)) for m in matrices}


def _compared(evaluate: Evaluate, whole: _Orders, sample: Sample) -> list[_Row]:
    rows = []
    for measure, means in _orders(evaluate(sample)).items():
        unknown = [measure] if measure not in whole else [*means.keys() - whole[measure].keys()]
        if unknown:
            raise UsageError(f"a sample has {unknown[0]!r}, which is not in the full collection.")
        before = np.array([whole[measure][s] for s in means], float)
        tau, systems = _tau(before, np.array([[*means.values()]], float))
        rows.append((sample.size, sample.replicate, measure, int(systems[0]), float(tau[0])))
    return rows


def _tau(whole: np.ndarray, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute tau-b of means [system] with each row of `draws` [draw, system], without NaN.

    Also return the number of systems of each.
    """
    reference, samples = round_means(whole)[None], round_means(draws)
    systems = (~np.isnan(reference) & ~np.isnan(samples)).sum(axis=1)
    return over_common(kendall_tau_b, reference, samples, False)[0], systems


def seed_sequence(rng: Rng) -> np.random.SeedSequence:
    """Return a seed sequence that has not spawned, so that its children are always the same."""
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


def draw_counts(queries: int, resamples: int, rng: Rng) -> np.ndarray:
    """Draw queries with replacement: int64 [resample, query], how often each is drawn."""
    shares = np.full(queries, 1.0 / max(queries, 1))
    return np.random.default_rng(rng).multinomial(queries, shares, resamples)


def draw_query_sets(
    queries: int, size: int, sets: int, trials: int, rng: int | np.random.Generator
) -> np.ndarray:
    """Draw query indices without replacement within a trial: int64 [trial, set, query]."""
    check_whole("trials", trials)
    if size == 0:
        return np.zeros((0, sets, 0), np.int64)
    every = np.tile(np.arange(queries), (trials, 1))
    order = np.random.default_rng(rng).permuted(every, axis=1)
    return order[:, : sets * size].reshape(trials, sets, size)


def checked_query_sets(subsets: np.ndarray, queries: int) -> np.ndarray:
    """Check that the indices are of queries, each at most once in a trial."""
    indices = np.ascontiguousarray(subsets, np.int64)
    if indices.ndim != 2 or (indices.size and not (0 <= indices.min() <= indices.max() < queries)):
        raise UsageError(f"sets of queries are arrays [trial, query] of indices below {queries}.")
    ordered = np.sort(indices, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        raise UsageError("a trial has a duplicate query: queries are drawn without replacement.")
    return indices


Means = Callable[[np.ndarray], np.ndarray]
"""Function from bool [draws, systems] to float64 [measures, draws, systems]; NaN: not drawn."""


def system_subsets(
    means_of: Means,
    measures: Sequence[str],
    systems: int,
    sizes: Iterable[int],
    draws: int = 1000,
    *,
    rng: int | np.random.Generator = 0,
) -> pl.DataFrame:
    """Correlate the order of some systems on their own with their order among all systems.

    Parameters
    ----------
    means_of : callable
        Function from the systems of many draws, bool [draws, systems], to the means of each measure
        as if only they had taken part: float64 [measures, draws, systems], where systems that are
        not in a draw have any value. Greater values are better.
    measures : sequence of str
        Names of the measures.
    systems : int
        Number of systems.
    sizes : iterable of int
        Numbers of systems to draw.
    draws : int, default 1000
        Random sets of systems of each size. If there are at most as many sets of a size, each of
        them is taken once instead.
    rng : int or Generator, default 0
        Random seed.

    Returns
    -------
    DataFrame
        size, replicate, measure, systems, tau: as returned by `resample`, by size, then measure.
        tau is tau-b, NaN if all systems of a draw tie in either order. Means that are equal to 12
        significant digits tie.

    Raises
    ------
    UsageError
        If a size is not between 1 and the number of systems, or `draws` is not at least 1.

    References
    ----------
    .. [1] Tuerkmen, Lease and Kutlu (2023), Algorithm 1: a draw of two tied systems has no tau; the
       released code then has none at all. doi:10.1007/978-3-031-28238-6_16

    Examples
    --------
    >>> def rank_all(members):
    ...     return np.broadcast_to(ap.means, (1, *members.shape))
    >>> irmeta.stats.system_subsets(rank_all, ["AP"], 3, [2])["tau"].to_list()
    [1.0, 1.0, 1.0]
    """
    check_whole("draws", draws)
    checked = [check_whole("size", size) for size in sizes]
    if not checked or max(checked) > systems:
        raise UsageError(f"sizes {checked}: give numbers of systems from 1 to all {systems}.")
    all_means = round_means(means_of(np.ones((1, systems), bool))[:, 0])
    frames = list[pl.DataFrame]()
    for size, chosen in _subsets(systems, checked, draws, rng):
        rows = np.arange(len(chosen))[:, None]
        members = np.zeros((len(chosen), systems), bool)
        members[rows, chosen] = True
        for measure, full, means in zip(measures, all_means, means_of(members), strict=True):
            drawn = round_means(means[rows, chosen])
            frames.append(
                pl.DataFrame(
                    {
                        "size": np.full(len(chosen), size, np.int32),
                        "replicate": np.arange(len(chosen), dtype=np.int32),
                        "measure": [measure] * len(chosen),
                        "systems": np.full(len(chosen), size, np.int32),
                        "tau": kendall_tau_b(full[chosen], drawn, True),
                    }
                )
            )
    return pl.concat(frames)


def takes_every_subset(systems: int, size: int, draws: int) -> bool:
    """Check whether `system_subsets` takes every set of a size once."""
    return comb(systems, size) <= draws


def _subsets(
    systems: int, sizes: Iterable[int], draws: int, rng: int | np.random.Generator
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each size with the indices of the systems of its sets: int64 [draws, size]."""
    seed = int(np.random.default_rng(rng).integers(2**62))
    for size in sizes:
        if takes_every_subset(systems, size, draws):
            yield size, np.array([*combinations(range(systems), size)], np.int64)
        else:
            # Neither more draws nor other sizes change the first draws of a size.
            generator = np.random.default_rng((seed, size))
            yield size, np.sort(draw_query_sets(systems, size, 1, draws, generator)[:, 0])
