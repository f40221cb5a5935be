"""Leaderboards by preference: `prefer`, and comparisons with one baseline."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Unpack, get_args

import polars as pl

from irmeta.api.namespaces.pairs import StorePairs
from irmeta.api.opened_store import OpenedStore
from irmeta.api.results_or_data import results_or_data
from irmeta.errors import UsageError, check_choice, check_share, did_you_mean
from irmeta.locations import AnyLocation
from irmeta.policies import Majority
from irmeta.policy_keywords import DataPolicies
from irmeta.results.segments import Segments
from irmeta.results.verdicts import Opponents, check_opponents
from irmeta.stats.leaderboards import Leaderboard, On, Rules
from irmeta.stats.preferences import By, order_and_sets, preference_pairs
from irmeta.stats.rank_confidence import rank_sets
from irmeta.store.scan import Tracks, lazy, tracks_of
from irmeta.summaries import SummaryList


def prefer(
    store: OpenedStore | str | Path | object,
    runs: object = None,
    preferences: str | Iterable[str] | None = None,
    *,
    by: By = "win-rate",
    majority: Majority = "queries",
    baseline: str | None = None,
    opponents: Opponents = "systems",
    segments: Segments | pl.DataFrame | str | Path | None = None,
    track: Tracks = None,
    on: On = "preference",
    test: str = "hsd-randomised",
    correction: str = "none",
    alpha: float = 0.05,
    resamples: int = 10_000,
    rank_resamples: int = 1000,
    rng: int = 0,
    workers: int | None = None,
    **choices: Unpack[DataPolicies],
) -> list[Leaderboard]:
    """Order the systems of every track by preferences, and test all pairs.

    Parameters
    ----------
    store : Store, str or Path; or qrels
        A store, or its folder; or qrels in memory, followed by runs.
    runs : object, optional
        Runs, where `store` are qrels in memory: see `irmeta.from_data`. After a store, the second
        argument is `preferences`.
    preferences, track, workers, **choices
        See `Store.pairs.preferences`, default ``RPP``; and, for qrels and runs in memory,
        `irmeta.evaluate`.
    by : {'win-rate', 'borda', 'mc4'}, default 'win-rate'
        Rule of the order: see `irmeta.stats.preference_order`.
    majority : {'queries', 'decided'}, default 'queries'
        Queries that MC4 needs to rank a system above another: more than half of all, or more than
        rank it below.
    baseline : str, optional
        A baseline to compare every other system with.
    opponents : {'systems', 'groups'}, default 'systems'
        See `Store.pairs.win_rates`.
    segments : DataFrame, str or Path, optional
        Segments of the queries, such as groups of users, to compare the systems on: a frame with
        the columns query, segment and optionally track, or a CSV or TSV file of them. A query may
        be in several segments. Segments with fewer than two queries with a relevant doc are left
        out, with a warning; queries in no segment, and queries that no track judges, are named in
        one.
    on : {'preference', 'win-rate'}, default 'preference'
        Test the preferences of all pairs, or the differences of their win rates, which separate
        fewer pairs.
    test, correction, resamples
        See `irmeta.stats.preference_pairs`.
    alpha : float, default 0.05
        Significance level; intervals have the confidence level 1 - alpha.
    rank_resamples : int, default 1,000
        Number of bootstrap resamples of the queries, for rank sets.
    rng : int, default 0
        Random seed.

    Returns
    -------
    list of Leaderboard
        One for each track and preference; with segments, followed by one for each segment, sorted
        by name.

    Raises
    ------
    MeasureError
        If a preference is unknown.
    UsageError
        If a name, rule or level is unknown, or the baseline is in none of the tracks; tracks
        without the baseline are left out.
    DataError
        If `segments` cannot be read, or none of its queries is judged.

    References
    ----------
    .. [1] Diaz and Ferraro (2022). Offline retrieval evaluation without evaluation metrics.
       doi:10.1145/3477495.3532033

    Examples
    --------
    >>> (board,) = irmeta.prefer(store, "RPP", track="news", by="mc4")
    >>> board.systems.select("rank", "system", "better_than", "top").row(0)
    (1, 'doumMan2', 17, True)
    >>> board.beats_all
    'doumMan2'
    """
    check_share("alpha", alpha)
    check_opponents(opponents)
    check_choice("on", on, get_args(On))
    source, names, given = results_or_data(store, runs, preferences, workers, choices)
    if not isinstance(source, OpenedStore | AnyLocation):
        raise UsageError("no store: pass a store or its folder; or qrels, runs and preferences.")
    opened = source if isinstance(source, OpenedStore) else OpenedStore(source)
    asked = "RPP" if names is None else names
    ranked = partial(rank_sets, resamples=rank_resamples, confidence=1 - alpha, rng=rng)
    order = partial(order_and_sets, by=by, majority=majority, ranked=ranked)
    tested = partial(
        preference_pairs,
        test=test,
        correction=correction,
        confidence=1 - alpha,
        resamples=resamples,
        rng=rng,
        workers=workers,
    )
    tracks, known = tracks_of(opened.reader, track), set[str]()
    chosen = None if segments is None else Segments.of(segments)
    if chosen is not None:
        chosen.check_queries({name: _judged(opened, name) for name in tracks})
    boards: list[Leaderboard] = []
    for name in tracks:
        systems = opened.reader.read_record(name)["systems"]
        known.update(systems)
        if baseline is None or baseline in systems:
            rules = Rules(order, partial(tested, track=name), opponents, on, baseline, alpha)
            for found in StorePairs(opened).compare(asked, track=name, workers=workers, **given):
                boards += rules.boards(found, chosen)
    if not boards:
        raise UsageError(
            f"no system {baseline!r} in {opened.reader}. {did_you_mean(baseline, known)}"
        )
    return SummaryList(boards)


def _judged(store: OpenedStore, track: str) -> set[str]:
    """Return the queries that a qrels set of a track judges."""
    return set(
        lazy(store.reader, "qrels", track).select(pl.col("query").unique()).collect()["query"]
    )
