"""Errors and warnings of reading tracks into a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from irmeta.api.opened_store import OpenedStore
from irmeta.errors import (
    IrmetaError,
    NamesWarning,
    PoolDepthWarning,
    QrelsWarning,
    SelfRetrievalWarning,
    SkippedRunWarning,
    first_few,
    warn,
)
from irmeta.store.ingest import Outcome

AnyStore = TypeVar("AnyStore", bound=OpenedStore)
WARNINGS: dict[str, type[UserWarning]] = {
    "names": NamesWarning,
    "qrels": QrelsWarning,
    "qrels_sets": QrelsWarning,
    "rows": QrelsWarning,
    "pool_depth": PoolDepthWarning,
    "self_retrieval": SelfRetrievalWarning,
}
"""The warnings of a track's record, by kind."""


def whole(
    store: AnyStore, outcomes: Sequence[Outcome], unfinished: Sequence[tuple[str, str]] = ()
) -> AnyStore:
    """Return the store if no track failed; issue the warnings of reading.

    `unfinished` are tracks that could be read and then failed, and why.
    """
    failed = [str(o.error) for o in outcomes if o.error is not None]
    failed += [error for _, error in unfinished]
    if failed:
        tracks = len(outcomes) or len(store.tracks)
        said = first_few(failed, "fix these to see the others.", " ")
        raise IrmetaError(f"{len(failed)} of {tracks} tracks failed. {said}")
    skipped = []
    for outcome in outcomes:
        for kind, text in store.warnings(outcome.track).items():
            warn(f"track {outcome.track}: {text}", WARNINGS[kind], stacklevel=3)
        rows = store.systems(outcome.track).drop_nulls("skip_reason").select("file", "skip_reason")
        skipped += [outcome.source.located(*row) for row in rows.iter_rows()]
    if skipped:
        runs = "1 run" if len(skipped) == 1 else f"{len(skipped)} runs"
        said = first_few(skipped, "store.systems() says why.", "; ")
        warn(f"{runs} skipped: {said}", SkippedRunWarning, stacklevel=3)
    return store
