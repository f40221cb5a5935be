"""Leaderboards by preference: `prefer`, and comparisons with one baseline."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Unpack

import polars as pl

from irmeta.api.arguments import PreferOptions
from irmeta.api.namespaces.pairs import StorePairs
from irmeta.api.opened_store import OpenedStore
from irmeta.api.operation import operation
from irmeta.api.results_or_data import results_or_data
from irmeta.errors import UsageError, did_you_mean
from irmeta.locations import AnyLocation
from irmeta.policy_keywords import PreferDataChoices
from irmeta.results.segments import Segments
from irmeta.stats.leaderboards import Leaderboard, Rules
from irmeta.stats.preferences import order_and_sets, preference_pairs
from irmeta.stats.rank_confidence import rank_sets
from irmeta.store.scan import Tracks, lazy, tracks_of
from irmeta.summaries import SummaryList


@operation(PreferOptions)
def prefer(
    options: PreferOptions,
    store: OpenedStore | str | Path | object,
    runs: object = None,
    preferences: str | Iterable[str] | None = None,
    *,
    segments: Segments | pl.DataFrame | str | Path | None = None,
    track: Tracks = None,
    workers: int | None = None,
    **choices: Unpack[PreferDataChoices],
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
    {options}
    segments : DataFrame, str or Path, optional
        Segments of the queries, such as groups of users, to compare the systems on: a frame with
        the columns query, segment and optionally track, or a CSV or TSV file of them. A query may
        be in several segments. Segments with fewer than two queries with a relevant doc are left
        out, with a warning; queries in no segment, and queries that no track judges, are named in
        one.

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
    source, names, policies = results_or_data(store, runs, preferences, workers, choices)
    if not isinstance(source, OpenedStore | AnyLocation):
        raise UsageError("no store: pass a store or its folder; or qrels, runs and preferences.")
    opened = source if isinstance(source, OpenedStore) else OpenedStore(source)
    asked = "RPP" if names is None else names
    ranked = partial(
        rank_sets,
        resamples=options.rank_resamples,
        confidence=1 - options.alpha,
        rng=options.rng,
    )
    order = partial(order_and_sets, by=options.by, majority=options.majority, ranked=ranked)
    tested = partial(
        preference_pairs,
        test=options.test,
        correction=options.correction,
        confidence=1 - options.alpha,
        resamples=options.resamples,
        rng=options.rng,
        workers=workers,
    )
    tracks, known, baseline = tracks_of(opened.reader, track), set[str](), options.baseline
    chosen = None if segments is None else Segments.of(segments)
    if chosen is not None:
        chosen.check_queries({name: _judged(opened, name) for name in tracks})
    boards: list[Leaderboard] = []
    for name in tracks:
        systems = opened.reader.read_record(name)["systems"]
        known.update(systems)
        if baseline is None or baseline in systems:
            test = partial(tested, track=name)
            rules = Rules(order, test, options.opponents, options.on, baseline, options.alpha)
            compare = StorePairs(opened).compare
            for preferred in compare(asked, track=name, workers=workers, **policies):
                boards += rules.boards(preferred, chosen)
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
