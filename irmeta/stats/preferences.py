"""Orders of systems by a preference, its transitivity, tests of all pairs, and leaderboards."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import get_args

import numpy as np
import polars as pl

from irmeta.equality import TIE, tolerance
from irmeta.errors import UsageError, check_choice, check_share, check_whole, first_few
from irmeta.kernels.permutation import permuted_preferences
from irmeta.policies import By, Majority, On
from irmeta.results.factors import Segments, usable_segments
from irmeta.results.matrix import Matrix
from irmeta.results.verdicts import (
    Opponents,
    Preference,
    Source,
    TrackPreferences,
    Verdicts,
    rates_of,
)
from irmeta.stats.aggregation import loses, power_steps
from irmeta.stats.corrections import adjusted, interval_confidence
from irmeta.stats.hsd import permuted, reached_p
from irmeta.stats.orders import rank_rows
from irmeta.stats.paired import Differences, square
from irmeta.stats.pairs import OF_BOLD, Pairs, printed_systems
from irmeta.stats.permutation_bootstrap import critical_value
from irmeta.stats.rank_confidence import RankSets, rank_sets
from irmeta.stats.resampling import Plan, correlate_samples
from irmeta.summaries import Line, Part, Result, Summary

STEPS = 10
"""Power steps of MC4, as in the code of Diaz and Ferraro (2022)."""
_HELD = 1 << 20


def preference_order(
    win_rates: Matrix,
    by: By = "win-rate",
    *,
    majority: Majority = "queries",
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> pl.DataFrame:
    """Rank systems by their win rates on each query, with rank sets over queries.

    Parameters
    ----------
    win_rates : Matrix
        Mean preference of each system over the others, by query: `TrackPreferences.win_rates`.
        Queries without a preference are left out.
    by : {'win-rate', 'borda', 'mc4'}, default 'win-rate'
        ``win-rate``: mean over queries; ``borda``: see `irmeta.stats.borda`; ``mc4``: 10 steps of
        `irmeta.stats.mc4`, as in [1]_. The limit of MC4 would tie all systems but the best, where
        one beats all others.
    majority : {'queries', 'decided'}, default 'queries'
        Majority of MC4: of all queries (ties count against moving), or of those that decide.
    resamples, confidence, rng
        See `rank_sets`.

    Returns
    -------
    DataFrame
        system, score (by the rule; greater is better), rank, rank_low and rank_high (the ends of
        its simultaneous rank set: see `rank_sets`). Equal scores share the smallest rank. Sets are
        null by MC4, whose scores are no means over queries.

    Raises
    ------
    UsageError
        If `by` or `majority` is unknown, `by` has no majority, or as `rank_sets`.

    References
    ----------
    .. [1] Diaz and Ferraro (2022), Section 5.4. doi:10.1145/3477495.3532033

    Examples
    --------
    >>> irmeta.stats.preference_order(ap, "borda").select("system", "score", "rank").rows()
    [('a', 7.0, 1), ('b', 5.0, 2), ('c', 0.0, 3)]
    """
    ranked = partial(rank_sets, resamples=resamples, confidence=confidence, rng=rng)
    return order_and_sets(win_rates, by, majority, ranked)[0]


def order_and_sets(
    win_rates: Matrix, by: By, majority: Majority, ranked: Callable[[Matrix], RankSets]
) -> tuple[pl.DataFrame, RankSets | None]:
    """Return the frame of `preference_order`, and the rank sets; None by MC4."""
    check_choice("by", by, get_args(By))
    check_choice("majority", majority, get_args(Majority))
    if majority != "queries" and by != "mc4":
        raise UsageError(f"majority = {majority!r} is for by = 'mc4', not {by!r}.")
    if by == "mc4":
        return _by_mc4(Verdicts.of(win_rates.complete()), majority), None
    matrix, factor = win_rates, 1
    if by == "borda":
        complete = win_rates.complete()
        verdicts = Verdicts.of(complete)
        counts = [(sign.sum(axis=1) + len(sign) - 1.0) / 2.0 for sign in verdicts]
        values = np.reshape(counts, complete.values.shape)
        matrix, factor = Matrix(values, complete.queries, complete.systems), len(values)
    sets = ranked(matrix)
    score = (pl.col("mean") * factor).alias("score")
    return sets.systems.select("system", score, "rank", "rank_low", "rank_high"), sets


def _by_mc4(verdicts: Verdicts, majority: Majority) -> pl.DataFrame:
    queries, systems = len(verdicts.queries), len(verdicts.systems)
    score = np.full(systems, np.nan)
    if queries:
        times = np.ones((1, queries), np.int64)
        score = _mc4_scores(_wins_by_query(verdicts), times, majority)[0]
    undefined = pl.lit(None, pl.Int32)
    ranks = rank_rows(score[None], True)[0]
    frame = pl.DataFrame({"system": verdicts.systems, "score": score, "rank": ranks})
    known = pl.when(pl.col("score").is_not_nan()).then("rank").alias("rank")
    frame = frame.sort(pl.col("score").is_nan(), "rank", "system").with_columns(known)
    return frame.with_columns(rank_low=undefined, rank_high=undefined)


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
    all_places = places(np.arange(queries)[None])[0]
    return correlate_samples(plan, win_rates.measure, all_places, places, rng=rng)


def _wins_by_query(verdicts: Verdicts) -> np.ndarray:
    """Return whether the row's system is better: bool [query, system, system]."""
    size = len(verdicts.systems)
    wins = np.zeros((len(verdicts.queries), size, size), bool)
    for q, sign in enumerate(verdicts):
        wins[q] = sign > 0
    return wins


def _mc4_scores(wins: np.ndarray, times: np.ndarray, majority: Majority = "queries") -> np.ndarray:
    """Compute scores of MC4, float64 [sample, system], of as many samples at once as fit in memory.

    `times` [sample, query] says how often each sample has each query.
    """
    systems = wins.shape[1]
    out = np.empty((len(times), systems))
    step = max(1, _HELD // max(1, systems * systems))
    for start in range(0, len(times), step):
        part = times[start : start + step]
        queries = part.sum(axis=1).astype(np.float64)[:, None, None]
        worse = loses(_weighted_wins(wins, part), queries, majority)
        out[start : start + step] = power_steps(worse, STEPS)
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


PREFERENCE_TESTS = ("t", "hsd-randomised")
MOST_HELD = 1 << 27
"""Largest number of preferences that ``hsd-randomised`` holds in memory: 1 GiB."""


def preference_pairs(
    preferences: Source,
    test: str = "hsd-randomised",
    *,
    correction: str = "none",
    confidence: float = 0.95,
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
    track: str = "",
    workers: int | None = None,
) -> Pairs:
    """Test the mean preference of all pairs of systems.

    Parameters
    ----------
    preferences : Preference, Matrix or Verdicts
        Preferences by query, such as `TrackPreferences.preference`; a matrix gives the differences
        of its values. A query with an undefined preference of any pair is left out.
    test : {'hsd-randomised', 't'}, default 'hsd-randomised'
        ``t``: one-sample t-test of a pair's preferences over queries. ``hsd-randomised``: under the
        null hypothesis, the systems of a query are exchangeable. Rows and columns of each query's
        preferences are permuted together; p is the share of permutations in which the greatest
        absolute mean is at least the pair's. It controls the error over all pairs.
    correction : {'none', 'bonferroni', 'holm', 'benjamini-hochberg'}, default 'none'
        Correction of ``t`` over the unordered pairs.
    confidence : float, default 0.95
        Confidence level of the intervals: of all pairs together for ``hsd-randomised`` and the
        correction ``bonferroni``, else of each pair alone.
    resamples : int, default 10,000
        Number of permutations.
    rng : int or Generator, default 0
        Random seed; the same seed gives the permutations of ``hsd-randomised`` in `pairwise`.
    track : str, default ''
        Name of the track in the result.
    workers : int, optional
        Number of threads, default the usable cores. No value depends on it.

    Returns
    -------
    Pairs
        Mean preferences as `difference`; NaN for p and intervals of ``t`` with fewer than two
        queries.

    Raises
    ------
    UsageError
        For an unknown test or correction, ``hsd-randomised`` with a correction, a confidence
        outside (0, 1), fewer than one resample, or more preferences than ``hsd-randomised`` can
        hold.

    Notes
    -----
    For differences of values the tests equal ``t`` and ``hsd-randomised`` of `pairwise`.
    ``hsd-randomised`` holds the preferences of all queries in memory (up to `MOST_HELD`), ``t`` one
    query at a time.

    References
    ----------
    .. [1] Diaz and Ferraro (2022), Section 6.3. doi:10.1145/3477495.3532033
    .. [2] Carterette (2012). doi:10.1145/2094072.2094076

    Examples
    --------
    >>> pairs = irmeta.stats.preference_pairs(ap, "t")
    >>> pairs.p_adjusted.round(3)[0].tolist()
    [1.0, 0.312, 0.008]
    """
    check_choice("test", test, PREFERENCE_TESTS)
    check_share("confidence", confidence)
    check_whole("resamples", resamples)
    adjusted(np.empty(0), correction)
    if test != "t" and correction != "none":
        raise UsageError(f"{test} already controls the family-wise error: use correction 'none'.")
    preference = Preference.of(preferences)
    differences, size = _moments(preference)
    if test == "t":
        p, upper = differences.p(), differences.upper
        p_uncorrected = p
        tests = int((~np.isnan(p[upper])).sum())
        low, high = differences.limits(interval_confidence(confidence, correction, tests))
        if correction != "none":
            p = square(adjusted(p[upper], correction), upper)
    else:
        p, margin = _randomised(preference, differences, size, resamples, rng, confidence, workers)
        p_uncorrected = np.full_like(p, np.nan)
        low, high = differences.mean - margin, differences.mean + margin
    for limit in (low, high):
        limit[np.isnan(p)] = np.nan  # as in `pairwise`
    return Pairs(
        test=test,
        correction=correction,
        track=track,
        measure=preference.name,
        direction=1,
        systems=preference.systems,
        difference=differences.mean,
        p_adjusted=p,
        p_uncorrected=p_uncorrected,
        queries=differences.queries,
        effect=differences.effect(),
        confidence=confidence,
        low=low,
        high=high,
    )


def _defined(preference: Preference) -> Iterator[np.ndarray]:
    """Yield the preferences of each query on which all are defined."""
    for query in range(len(preference.queries)):
        values = preference.difference(query)
        if not np.isnan(values).any():
            yield values


def _moments(preference: Preference) -> tuple[Differences, float]:
    """Compute mean and deviation of all pairs, and the mean of the greatest |preference|."""
    size = len(preference.systems)
    mean, squares, largest = np.zeros((size, size)), np.zeros((size, size)), np.zeros((size, size))
    scratch = np.empty((size, size))  # 2,000 systems fill 32 MB
    number, greatest = 0, 0.0
    for values in _defined(preference):
        number += 1
        mean += values
        np.maximum(largest, np.abs(values, out=scratch), out=largest)
        greatest += float(scratch.max(initial=0.0))
    with np.errstate(invalid="ignore"):  # NaN without a query
        mean /= number
    for values in _defined(preference):
        np.square(np.subtract(values, mean, out=scratch), out=scratch)
        squares += scratch
    if number > 1:
        squares /= number - 1
    else:
        squares[:] = np.nan
    deviation = np.sqrt(squares, out=squares)
    np.maximum(largest, 1.0, out=largest)
    largest *= TIE
    deviation[deviation <= largest] = 0.0
    np.fill_diagonal(deviation, 0.0)
    mean[np.abs(mean, out=scratch) <= largest] = 0.0
    np.fill_diagonal(mean, 0.0)
    queries = np.full((size, size), number, np.int32)
    return Differences(mean, deviation, queries), greatest / max(number, 1)


def _randomised(
    preference: Preference,
    differences: Differences,
    size: float,
    resamples: int,
    rng: int | np.random.Generator,
    confidence: float,
    workers: int | None,
) -> tuple[np.ndarray, float]:
    """Compute p of the randomised HSD, and half the width of every pair's interval."""
    systems = len(preference.systems)
    number = int(differences.queries.max(initial=0))
    if number == 0 or systems == 0:
        p = np.full((systems, systems), np.nan)
        np.fill_diagonal(p, 1.0)
        return p, float("nan")
    if number * systems * systems > MOST_HELD:
        gigabytes = number * systems * systems * 8 / 1e9
        raise UsageError(
            f"hsd-randomised of {systems:,} systems on {number:,} queries needs {gigabytes:.1f} GB "
            "of memory: use test 't', or fewer systems."
        )
    table = np.empty((number, systems, systems))
    for query, values in enumerate(_defined(preference)):
        table[query] = values
    statistics = permuted(permuted_preferences, table, resamples, rng, workers=workers)
    p = reached_p(np.abs(differences.mean) - tolerance(size), statistics)
    return p, critical_value(statistics, confidence)


@dataclass(frozen=True, repr=False)
class Leaderboard(Result):
    """Order of the systems of one track by one preference.

    Attributes
    ----------
    preference, track
        Canonical name of the preference, and the track.
    systems : DataFrame
        One row per system, best first: rank, system, value (mean preference over the other
        systems), score (by the rule of the order), rank_low, rank_high (see
        `irmeta.stats.preference_order`), better_than, worse_than (number of systems, by the test),
        top (worse than none), queries.
    baseline : DataFrame or None
        If a baseline was named, one row per other system, in the order of `systems`: system, value
        (mean preference over the baseline, or what the test is `on`), low, high (interval of the
        test), interval (its kind: see `Pairs.interval`), p_uncorrected and p_adjusted (see
        `Pairs`), won, tied, lost (queries, by the preference), queries; in a segment also turned
        (whether the value has the opposite sign over all queries).
    pairs : Pairs
        The test's result for every pair.
    beats_all : str or None
        The system whose mean preference over every other system is above 0, if there is one.
    cycles, cycles_by_query : float
        Share of intransitive triples of systems, by the mean preference and by single queries.
    alpha : float
        The significance level.
    rank_sets : RankSets or None
        The rank sets of `systems`, and how they were computed; None by MC4.
    segment : str or None
        The segment of the queries; None: all queries.
    by_segment : bool
        Whether it is one of several leaderboards, of all queries and of segments.
    """

    preference: str
    track: str
    systems: pl.DataFrame
    baseline: pl.DataFrame | None
    pairs: Pairs
    beats_all: str | None
    cycles: float
    cycles_by_query: float
    alpha: float
    rank_sets: RankSets | None = None
    segment: str | None = None
    by_segment: bool = False

    def _summary(self) -> Summary:
        segment = "" if self.segment is None else f", segment {self.segment}"
        return Summary(f"{self.preference} on {self.track}{segment}")

    def parts(self, digits: int | None = None, every: bool = False) -> Iterator[Part]:
        """Return the lines and tables to print: see `Summarized.parts`."""
        yield printed_systems(self.systems if self.baseline is None else self.baseline)
        tested, sets = self.lines()
        yield Line(tested, "bold", OF_BOLD if self.baseline is None else "")
        yield Line(sets)

    def lines(self) -> tuple[str, str]:
        """Return what was tested and found, and how the rank sets were computed."""
        cycles = ""
        if not math.isnan(self.cycles):
            by_query = f"{100 * self.cycles_by_query:.2g} % by query"
            shares = f"{100 * self.cycles:.2g} % over queries, {by_query}"
            cycles = f"; intransitive triples: {shares}"
        subject = f"{self.preference} on {self.track}"
        if self.segment is not None:
            subject += f", segment {self.segment} ({self.systems['queries'][0]:,} queries)"
        first = "no system beats all on average"
        if self.beats_all is not None:
            first = f"{self.beats_all} beats every other system on average"
        sets = "cannot be said by mc4, whose scores are no means over queries"
        return (
            f"{subject}, {self.pairs.test}: {self.pairs.separated_text(self.alpha)}; "
            f"{first}{cycles}{self._turned()}",
            f"rank_low, rank_high: {sets if self.rank_sets is None else self.rank_sets.text}",
        )

    def _turned(self) -> str:
        """Name the systems whose mean preference over the baseline turns in a segment."""
        if self.baseline is None or self.segment is None:
            return ""
        rows = self.baseline.filter("turned").select("system", better=pl.col("value") > 0).rows()
        named = [f"{system} ({'better' if better else 'worse'} here)" for system, better in rows]
        listed = first_few(named, "see the column turned") or "none"
        return f"; turned from all queries against the baseline: {listed}"

    def frame(self) -> pl.DataFrame:
        """Return `baseline`, or else `systems`, with the track and the preference.

        With segments, there is a column segment, null for all queries.
        """
        names: dict[str, str | None] = {"track": self.track, "preference": self.preference}
        if self.by_segment:
            names["segment"] = self.segment
        rows = self.systems if self.baseline is None else self.baseline
        named = (pl.lit(value, pl.String).alias(name) for name, value in names.items())
        return rows.select(*named, pl.all())

    def in_segment(self, name: str | None, every: Leaderboard) -> Leaderboard:
        """Return the leaderboard of a segment; `every` is that of all queries."""
        baseline = self.baseline
        if baseline is not None and every.baseline is not None:
            overall = every.baseline.select("system", every=_sign("value"))
            joined = baseline.join(overall, on="system", maintain_order="left")
            turned = _sign("value") * pl.col("every") < 0 if name is not None else pl.lit(None)
            baseline = joined.with_columns(turned=turned.cast(pl.Boolean)).drop("every")
        return replace(self, segment=name, by_segment=True, baseline=baseline)


@dataclass(frozen=True)
class Rules:
    """Options of a leaderboard, as in `irmeta.prefer`.

    `order` is a function from win rates to the result of `order_and_sets`, `test` one from
    preferences or win rates to the result of a test.
    """

    order: Callable[[Matrix], tuple[pl.DataFrame, RankSets | None]]
    test: Callable[[Preference | Matrix], Pairs]
    opponents: Opponents
    on: On
    against: str | None
    alpha: float

    def boards(self, compared: TrackPreferences, segments: Segments | None) -> list[Leaderboard]:
        """Return the leaderboard over all queries, and one for each segment."""
        every = self.board(compared)
        if segments is None:
            return [every]
        queries = segments.of_track(compared.track)
        usable = usable_segments(queries, compared.track, compared.compared_queries)
        boards = {name: self.board(compared.only_queries(queries[name])) for name in usable}
        return [board.in_segment(name, every) for name, board in [(None, every), *boards.items()]]

    def board(self, compared: TrackPreferences) -> Leaderboard:
        """Order and test the systems of one track, or of some queries of it."""
        rates, means = rates_of(compared, self.opponents), compared.means()
        ordered, sets = self.order(rates)
        pairs = self.test(compared.preference() if self.on == "preference" else rates)
        better, values = pairs.better(self.alpha), rates.complete().means
        worse_than = better.sum(axis=0)
        facts = pl.DataFrame(
            {
                "system": pl.Series(list(compared.systems), dtype=pl.String),
                "value": values,
                "better_than": better.sum(axis=1).astype(np.int32),
                "worse_than": worse_than.astype(np.int32),
                "top": (worse_than == 0) & ~np.isnan(values),
                "queries": np.full(len(values), compared.defined.sum(), np.int32),
            }
        )
        columns = ["rank", "system", "value", "score", "rank_low", "rank_high"]
        systems = ordered.join(facts, on="system", maintain_order="left").select(
            *columns, "better_than", "worse_than", "top", "queries"
        )
        beats = (means > TIE) & ~np.eye(len(means), dtype=bool)
        best = np.flatnonzero((beats.sum(axis=1) == len(means) - 1) & beats.any(axis=1))
        baseline = None
        if self.against is not None:
            baseline = _baseline(compared, pairs, self.against, systems["system"])
        return Leaderboard(
            preference=compared.name,
            track=compared.track,
            systems=systems,
            baseline=baseline,
            pairs=pairs,
            beats_all=next((compared.systems[place] for place in best.tolist()), None),
            cycles=intransitive_triples([means]),
            cycles_by_query=intransitive_triples(values for _, values in compared.differences()),
            alpha=self.alpha,
            rank_sets=sets,
        )


def _baseline(
    compared: TrackPreferences, pairs: Pairs, against: str, order: pl.Series
) -> pl.DataFrame:
    """Compare every system with a baseline, in the given order."""
    index = list(compared.systems).index(against)
    won = np.zeros(len(compared.systems), np.int32)
    lost = won.copy()
    for _, values in compared.differences():
        won += values[:, index] > TIE
        lost += values[:, index] < -TIE
    undefined = np.full(pairs.p_adjusted.shape, np.nan)
    limits = (undefined if limit is None else limit for limit in (pairs.low, pairs.high))
    columns = zip(("value", "low", "high"), (pairs.difference, *limits), strict=True)
    number = int(compared.defined.sum())
    frame = pl.DataFrame(
        {
            "system": pl.Series(list(compared.systems), dtype=pl.String),
            **{name: values[:, index] for name, values in columns},
            "interval": pl.Series([pairs.interval] * len(won), dtype=pl.String),
            "p_uncorrected": pairs.p_uncorrected[:, index],
            "p_adjusted": pairs.p_adjusted[:, index],
            "won": won,
            "tied": number - won - lost,
            "lost": lost,
            "queries": np.full(len(won), number, np.int32),
        }
    )
    return pl.DataFrame({"system": order}).join(
        frame.filter(pl.col("system") != against), on="system", maintain_order="left"
    )


def _sign(column: str) -> pl.Expr:
    """Return the sign of a preference, 0 for a tie and for an undefined preference."""
    value = pl.col(column).fill_nan(0.0)
    return pl.when(value.abs() > TIE).then(value.sign()).otherwise(0.0)
