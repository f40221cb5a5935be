"""Tables with a row for each relevant doc of some tracks, a block of queries at a time."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from irmeta.errors import check_choice, check_whole
from irmeta.measures.search_length import UNRETRIEVED, lengths_by_doc
from irmeta.policies import EvalPolicy
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import over_blocks
from irmeta.rankings.pool import retrieved_by
from irmeta.results.per_doc import rarity_frame, search_length_table
from irmeta.schema.arrow import as_frame
from irmeta.store.scan import StoreReader, Tracks, tracks_of


def search_lengths(
    store: StoreReader,
    track: Tracks,
    rel: int,
    unretrieved: str,
    policy: EvalPolicy,
    workers: int | None,
) -> pl.DataFrame:
    """See `Store.search_lengths`."""
    check_choice("unretrieved", unretrieved, UNRETRIEVED)
    check_whole("rel", rel)

    def rows(view: JudgedRanks) -> pl.DataFrame:
        return as_frame(search_length_table(view, rel, lengths_by_doc(view, rel, unretrieved)))

    return _joined(rows, store, track, policy, workers)


def rarity(
    store: StoreReader,
    track: Tracks,
    depth: int,
    rel: int,
    policy: EvalPolicy,
    workers: int | None,
) -> pl.DataFrame:
    """See `Store.rarity`."""
    check_whole("depth", depth)
    check_whole("rel", rel)

    def rows(view: JudgedRanks) -> pl.DataFrame:
        return rarity_frame(view, rel, retrieved_by(view, depth, rel))

    return _joined(rows, store, track, policy, workers)


def _joined(
    rows: Callable[[JudgedRanks], pl.DataFrame],
    store: StoreReader,
    track: Tracks,
    policy: EvalPolicy,
    workers: int | None,
) -> pl.DataFrame:
    """Concatenate the rows of all blocks."""
    return pl.concat(
        found
        for name in tracks_of(store, track)
        for found in over_blocks(rows, store, name, policy, workers=workers)
    )
