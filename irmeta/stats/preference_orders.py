"""Order of systems by a preference over queries, and how transitive the preference is."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Literal, get_args

import numpy as np
import polars as pl

from irmeta.errors import check_choice, check_share, check_whole
from irmeta.policies import Majority
from irmeta.results.matrix import Matrix
from irmeta.results.verdicts import TIE, Verdicts
from irmeta.stats.aggregation import loses, power_steps
from irmeta.stats.bootstrap_ranks import rank_intervals, rank_rows, summarise_ranks
from irmeta.stats.permutation_bootstrap import query_counts
from irmeta.stats.resampling import Plan, correlate_samples

By = Literal["win-rate", "borda", "mc4"]
STEPS = 10
"""Power steps of MC4, as in the code of Diaz and Ferraro (2022)."""
_HELD = 1 << 22


def preference_order(
    win_rates: Matrix,
    by: By = "win-rate",
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> pl.DataFrame:
    """Rank systems by their win rates on each query, with bootstrap intervals over queries.

    Parameters
    ----------
    win_rates : Matrix
        Mean preference of each system over the others, by query: `TrackPreferences.win_rates`.
        Queries without a preference are left out.
    by : {'win-rate', 'borda', 'mc4'}, default 'win-rate'
        ``win-rate``: mean over queries; ``borda``: see `irmeta.stats.borda`; ``mc4``: 10 steps of
        `irmeta.stats.mc4` by the majority of all queries (ties count against moving), as in [1]_.
        The limit of MC4 would tie all systems but the best, where one beats all others.
    resamples, confidence, rng
        See `rank_intervals`.

    Returns
    -------
    DataFrame
        system, score (by the rule; greater is better), rank, rank_low, rank_high, p_first: see
        `rank_intervals`. Equal scores share the smallest rank.

    Raises
    ------
    UsageError
        If `by` is unknown; or as `rank_intervals`.

    References
    ----------
    .. [1] Diaz and Ferraro (2022), Section 5.4. doi:10.1145/3477495.3532033

    Examples
    --------
    >>> irmeta.stats.preference_order(ap, "borda").select("system", "score", "rank").rows()
    [('a', 7.0, 1), ('b', 5.0, 2), ('c', 0.0, 3)]
    """
    check_choice("by", by, get_args(By))
    check_whole("resamples", resamples)
    check_share("confidence", confidence)
    ranked = partial(rank_intervals, resamples=resamples, confidence=confidence, rng=rng)
    if by == "win-rate":
        return ranked(win_rates).rename({"mean": "score"})
    complete = win_rates.complete()
    verdicts = Verdicts.of(complete)
    if by == "borda":
        counts = [(sign.sum(axis=1) + len(sign) - 1.0) / 2.0 for sign in verdicts]
        values = np.reshape(counts, complete.values.shape)
        found = ranked(Matrix(values, complete.queries, complete.systems))
        score = pl.col("mean") * len(complete.queries)
        return found.select("system", score.alias("score"), *found.columns[2:])
    return _by_mc4(verdicts, resamples, confidence, rng)


def _by_mc4(
    verdicts: Verdicts, resamples: int, confidence: float, rng: int | np.random.Generator
) -> pl.DataFrame:
    queries, systems = len(verdicts.queries), len(verdicts.systems)
    wins = _wins_by_query(verdicts)
    draws = np.random.default_rng(rng).random((resamples, queries), np.float32)
    score = _mc4_scores(wins, np.ones((1, queries), np.int64))[0]
    score = score if queries else np.full(systems, np.nan)
    return summarise_ranks(
        verdicts.systems,
        score,
        lambda part: _mc4_scores(wins, query_counts(draws[part])),
        (resamples, queries),
        confidence,
        relative=True,
    )


def preference_subsets(
    win_rates: Matrix,
    sizes: Iterable[int],
    replicates: int = 100,
    *,
    majority: Majority = "queries",
    rng: int | np.random.Generator = 0,
) -> pl.DataFrame:
    """Correlate the order of systems by subsets of queries with the order by all, both by MC4.

    Parameters
    ----------
    win_rates : Matrix
        See `preference_order`, whose ``mc4`` orders the systems.
    sizes : iterable of int
        Numbers of queries to sample, from 1 to the queries with a preference.
    replicates, rng
        See `irmeta.stats.Plan` and `irmeta.stats.resample`, which also describe errors.
    majority : {'queries', 'decided'}, default 'queries'
        Majority of MC4: see `irmeta.stats.mc4`.

    Returns
    -------
    DataFrame
        size, replicate, measure, systems, tau: see `irmeta.stats.resample`.

    References
    ----------
    .. [1] Diaz and Ferraro (2022), Figure 6. doi:10.1145/3477495.3532033

    Examples
    --------
    >>> irmeta.stats.preference_subsets(ap, [3], replicates=2)["tau"].to_list()
    [1.0, 1.0]
    """
    check_choice("majority", majority, get_args(Majority))
    complete = win_rates.complete()
    wins = _wins_by_query(Verdicts.of(complete))
    queries = len(complete.queries)

    def places(sampled: np.ndarray) -> np.ndarray:
        times = np.zeros((len(sampled), queries), np.int64)
        np.put_along_axis(times, sampled, 1, axis=1)
        # Scores of MC4 span many powers of ten, so equal ones are recognised by ranks.
        return -rank_rows(_mc4_scores(wins, times, majority), True).astype(np.float64)

    plan = Plan("queries", tuple(sizes), replicates, queries, len(complete.systems))
    whole = places(np.arange(queries)[None])[0]
    return correlate_samples(plan, win_rates.measure, whole, places, rng=rng)


def _wins_by_query(verdicts: Verdicts) -> np.ndarray:
    """Return whether the row's system is better: bool [query, system, system]."""
    size = len(verdicts.systems)
    wins = np.zeros((len(verdicts.queries), size, size), bool)
    for q, sign in enumerate(verdicts):
        wins[q] = sign > 0
    return wins


def _mc4_scores(wins: np.ndarray, times: np.ndarray, majority: Majority = "queries") -> np.ndarray:
    """Compute scores of MC4 for samples of queries, as many at once as fit in memory.

    `times` [sample, query] says how often each sample has each query. Returns float64
    [sample, system].
    """
    systems = wins.shape[1]
    out = np.empty((len(times), systems))
    step = max(1, _HELD // max(1, systems * systems))
    for start in range(0, len(times), step):
        part = times[start : start + step]
        for i, count in enumerate(_weighted_wins(wins, part), start):
            out[i] = power_steps(loses(count, float(times[i].sum()), majority), STEPS)
    return out


def _weighted_wins(wins: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the wins over resampled queries: float32 [resample, system, system].

    Sums of whole numbers are exact, whatever the number of threads of the BLAS library.
    """
    out = np.empty((len(times), *wins.shape[1:]), np.float32)
    weights = times.astype(np.float32)
    step = max(1, _HELD // max(1, wins.shape[0] * wins.shape[2]))
    for row in range(0, wins.shape[1], step):
        part = wins[:, row : row + step].astype(np.float32)
        product = weights @ part.reshape(len(part), part.shape[1] * part.shape[2])
        out[:, row : row + step] = product.reshape(len(times), *part.shape[1:])
    return out


def intransitive_triples(preferences: Iterable[np.ndarray]) -> float:
    """Return the share of triples of systems that form a cycle, over several preferences.

    Parameters
    ----------
    preferences : iterable of ndarray of float64, shape (systems, systems)
        Antisymmetric preferences, positive where the row's system is better: of single queries, or
        their mean. Differences of at most 1e-12 are ties; undefined preferences are left out.

    Returns
    -------
    float
        Share of triples a, b, c with a better than b, b better than c, and c better than a; NaN for
        fewer than three systems, or without a preference.

    References
    ----------
    .. [1] Kendall and Babington Smith (1940). On the method of paired comparisons.
       doi:10.2307/2332613

    Examples
    --------
    >>> circle = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    >>> irmeta.stats.intransitive_triples([circle, np.zeros((3, 3))])
    0.5
    """
    cycles = triples = 0
    for preference in preferences:
        if np.isnan(preference).any():
            continue
        size = len(preference)
        better = (preference > TIE).astype(np.float32)
        # Counts of paths of two steps are whole numbers below 2^24, so float32 is exact.
        paths = (better @ better).astype(np.float64)
        cycles += round(float((paths * better.T).sum())) // 3
        triples += size * (size - 1) * (size - 2) // 6
    return cycles / triples if triples else float("nan")
