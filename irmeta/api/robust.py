"""Conclusions of a comparison that other conditions keep: `compare(..., robust=True)`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from irmeta.api.matrices import opened
from irmeta.api.opened_store import OpenedStore
from irmeta.errors import UsageError
from irmeta.locations import Location
from irmeta.measures.names import measure_texts, parse_measures
from irmeta.results.matrix import Matrix
from irmeta.stats.pairs import Pairs
from irmeta.store.layout import is_store, store_folder
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.original.trust.conclusions import conclusion_tables
from irmeta.studies.original.trust.study import CONCLUDED, STUDY, TrustOptions, checked_measures
from irmeta.studies.original.trust.trusted_track import TrustedTrack


class Robust(NamedTuple):
    """Conclusions of a comparison, and the conditions that undo them.

    Attributes
    ----------
    conclusions : DataFrame
        One row per pair of systems that differs significantly: track, measure, better, worse,
        difference, p_adjusted, undone_by (conditions under which it does not, with p there) and
        reversed_by (both null: none), safe.
    conditions : DataFrame
        One row per condition: track, measure, condition, draws, conclusions, kept, kept_low and
        kept_high (over draws), kept_share, reversed.
    best : DataFrame
        The systems that no other beats safely: track, measure, rank, rank_low and rank_high
        (its simultaneous rank set over queries), system, mean, beats, worse_than.
    """

    conclusions: pl.DataFrame
    conditions: pl.DataFrame
    best: pl.DataFrame


def robust_conclusions(
    results: object,
    measures: str | Iterable[str] | None,
    found: Sequence[Matrix],
    test: Callable[[Matrix], Pairs],
    settings: Mapping[str, Any],
    choices: Mapping[str, Any],
) -> Robust:
    """Check the conclusions on matrices of a store by the conditions of the study of trust.

    The matrices were made of `results`; `measures` are as the user named them: without `rel`, each
    qrels set has its own. `settings` are options of the study, `choices` fields of `EvalPolicy`.
    """
    store = _store_of(results, choices)
    names = defaultdict[str, list[str]](list)
    for matrix in found:
        names[matrix.track].append(matrix.measure)
    rows = defaultdict[str, list[pl.DataFrame]](list)
    asked = () if measures is None else checked_measures(measure_texts(measures))
    chosen = {**settings, **store.merged(choices)}
    for track, in_set in names.items():
        view = TrackView(store.track(track), TrustOptions(**chosen))
        by_name = {view.named_in_set(parse_measures(name))[0].name: name for name in asked}
        own = tuple(by_name.get(name, name) for name in in_set)
        options = TrustOptions(measures=(*own, *CONCLUDED), concluded=own, **chosen)
        trusted = TrustedTrack.of(TrackView(store.track(track), options), options)
        for name, table in conclusion_tables(trusted, test):
            rows[name].append(STUDY.table(name).frame(table, track))
    return Robust(**{name: pl.concat(frames) for name, frames in rows.items()})


def _store_of(results: object, choices: Mapping[str, Any]) -> OpenedStore:
    source = opened(results, choices)
    if isinstance(source, OpenedStore):
        return source
    if isinstance(source, Location) and is_store(store_folder(source)):
        return OpenedStore(source)
    raise UsageError("`robust` scores the runs again: compare a store, or qrels and runs.")
