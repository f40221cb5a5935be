"""Leaderboards by preference: `prefer`, and comparisons with one baseline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, Unpack, get_args

import numpy as np
import polars as pl

from irmeta.api.preference_tables import Opponents, check_opponents, rates_of
from irmeta.api.store import EvalChoices, Store
from irmeta.errors import UsageError, check_choice, check_share, did_you_mean
from irmeta.results.matrix import Matrix
from irmeta.results.pair_preferences import TrackPreferences
from irmeta.results.verdicts import TIE
from irmeta.stats.pairs import Pairs
from irmeta.stats.preference_orders import By, intransitive_triples, preference_order
from irmeta.stats.preference_tests import preference_pairs
from irmeta.store.scan import Tracks, tracks_of

On = Literal["preference", "win-rate"]


@dataclass(frozen=True)
class Leaderboard:
    """Order of the systems of one track by one preference.

    Attributes
    ----------
    preference, track
        Canonical name of the preference, and the track.
    systems : DataFrame
        One row per system, best first: rank, system, value (mean preference over the other
        systems), score (by the rule of the order), rank_low, rank_high, p_first (see
        `irmeta.stats.preference_order`), better_than, worse_than (number of systems, by the test),
        top (worse than none), queries.
    baseline : DataFrame or None
        If a baseline was named, one row per other system, in the order of `systems`: system, value
        (mean preference over the baseline, or what the test is `on`), low, high (interval of the
        test), p, won, tied, lost (queries, by the preference), queries.
    pairs : Pairs
        The test's result for every pair.
    beats_all : str or None
        The system whose mean preference over every other system is above 0, if there is one.
    cycles, cycles_by_query : float
        Share of intransitive triples of systems, by the mean preference and by single queries.
    alpha : float
        The significance level.
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

    def frame(self) -> pl.DataFrame:
        """Return `baseline`, or else `systems`, with the track and the preference."""
        named = [pl.lit(self.track).alias("track"), pl.lit(self.preference).alias("preference")]
        return (self.systems if self.baseline is None else self.baseline).select(*named, pl.all())


def prefer(
    store: Store | str | Path,
    preferences: str | Iterable[str] = "RPP",
    *,
    by: By = "win-rate",
    against: str | None = None,
    opponents: Opponents = "systems",
    track: Tracks = None,
    on: On = "preference",
    test: str = "hsd-randomised",
    correction: str = "none",
    alpha: float = 0.05,
    resamples: int = 10_000,
    bootstraps: int = 1000,
    rng: int = 0,
    workers: int | None = None,
    **choices: Unpack[EvalChoices],
) -> list[Leaderboard]:
    """Order the systems of every track by preferences, and test all pairs.

    Parameters
    ----------
    store : Store, str or Path
        A store, or its folder.
    preferences, track, workers, **choices
        See `Store.preferences`.
    by : {'win-rate', 'borda', 'mc4'}, default 'win-rate'
        Rule of the order: see `irmeta.stats.preference_order`.
    against : str, optional
        A baseline to compare every other system with.
    opponents : {'systems', 'groups'}, default 'systems'
        See `Store.win_rates`.
    on : {'preference', 'win-rate'}, default 'preference'
        Test the preferences of all pairs, or the differences of their win rates, which separate
        fewer pairs.
    test, correction, resamples
        See `irmeta.stats.preference_pairs`.
    alpha : float, default 0.05
        Significance level; intervals have the confidence level 1 - alpha.
    bootstraps : int, default 1,000
        Number of bootstrap resamples of the queries, for intervals of ranks.
    rng : int, default 0
        Random seed.

    Returns
    -------
    list of Leaderboard
        One for each track and preference.

    Raises
    ------
    MeasureError
        If a preference is unknown.
    UsageError
        If a name, rule or level is unknown, or the baseline is in none of the tracks; tracks
        without the baseline are left out.

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
    opened = store if isinstance(store, Store) else Store(store)
    order = partial(preference_order, by=by, resamples=bootstraps, confidence=1 - alpha, rng=rng)
    tested = partial(
        preference_pairs,
        test=test,
        correction=correction,
        confidence=1 - alpha,
        resamples=resamples,
        rng=rng,
        workers=workers,
    )
    known, boards = set[str](), list[Leaderboard]()
    for name in tracks_of(opened.reader, track):
        systems = opened.reader.read_record(name)["systems"]
        known.update(systems)
        if against is None or against in systems:
            for found in opened.compare_pairs(preferences, track=name, workers=workers, **choices):
                rates = rates_of(found, opponents)
                pairs = tested(found.preference() if on == "preference" else rates, track=name)
                boards.append(_board(found, rates, order(rates), pairs, against, alpha))
    if not boards:
        raise UsageError(f"no system {against!r} in {opened}. {did_you_mean(against, known)}")
    return boards


def _board(
    found: TrackPreferences,
    rates: Matrix,
    ordered: pl.DataFrame,
    pairs: Pairs,
    against: str | None,
    alpha: float,
) -> Leaderboard:
    better, means = pairs.better(alpha), found.means()
    worse_than = better.sum(axis=0)
    values = rates.complete().means
    facts = pl.DataFrame(
        {
            "system": pl.Series(list(found.systems), dtype=pl.String),
            "value": values,
            "better_than": better.sum(axis=1).astype(np.int32),
            "worse_than": worse_than.astype(np.int32),
            "top": (worse_than == 0) & ~np.isnan(values),
            "queries": np.full(len(values), found.defined.sum(), np.int32),
        }
    )
    columns = ["rank", "system", "value", "score", "rank_low", "rank_high", "p_first"]
    systems = ordered.join(facts, on="system", maintain_order="left").select(
        *columns, "better_than", "worse_than", "top", "queries"
    )
    others = ~np.eye(len(means), dtype=bool)
    beaten = ((means > TIE) & others).sum(axis=1).tolist()
    first = [s for s, wins in zip(found.systems, beaten, strict=True) if 0 < wins == len(means) - 1]
    return Leaderboard(
        preference=found.name,
        track=found.track,
        systems=systems,
        baseline=None if against is None else _baseline(found, pairs, against, systems["system"]),
        pairs=pairs,
        beats_all=first[0] if first else None,
        cycles=intransitive_triples([means]),
        cycles_by_query=intransitive_triples(values for _, values in found.differences()),
        alpha=alpha,
    )


def _baseline(
    found: TrackPreferences, pairs: Pairs, against: str, order: pl.Series
) -> pl.DataFrame:
    """Compare every system with a baseline, in the given order."""
    index = list(found.systems).index(against)
    won = np.zeros(len(found.systems), np.int32)
    lost = won.copy()
    for _, values in found.differences():
        won += values[:, index] > TIE
        lost += values[:, index] < -TIE
    undefined = np.full(pairs.p.shape, np.nan)
    limits = (undefined if one is None else one for one in (pairs.low, pairs.high))
    columns = zip(("value", "low", "high", "p"), (pairs.difference, *limits, pairs.p), strict=True)
    number = int(found.defined.sum())
    frame = pl.DataFrame(
        {
            "system": pl.Series(list(found.systems), dtype=pl.String),
            **{name: values[:, index] for name, values in columns},
            "won": won,
            "tied": number - won - lost,
            "lost": lost,
            "queries": np.full(len(won), number, np.int32),
        }
    )
    return pl.DataFrame({"system": order}).join(
        frame.filter(pl.col("system") != against), on="system", maintain_order="left"
    )
