"""Arguments that are either results, or qrels and runs in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import polars as pl

from irmeta.api.matrices import with_columns
from irmeta.api.opened_store import OpenedStore
from irmeta.errors import (
    IrmetaError,
    NamesWarning,
    PoolDepthWarning,
    QrelsWarning,
    SelfRetrievalWarning,
    SkippedRunWarning,
    UsageError,
    first_few,
    shown,
    warn,
)
from irmeta.locations import AnyLocation, NamedFile, location
from irmeta.policies import ReadPolicy, columns_by_key
from irmeta.policy_keywords import DataChoices, EvalChoices
from irmeta.results.factors import Factor, Variants
from irmeta.results.matrix import Matrix, holds_values
from irmeta.stats.tables import has_measures, is_measure
from irmeta.store.ingest import Outcome
from irmeta.store.layout import is_store, store_folder
from irmeta.store.memory import MemoryStore, read_data
from irmeta.store.scan import Tracks
from irmeta.trec.readers.given import given_qrels, given_runs, name_of, name_text
from irmeta.trec.source import is_dataset
from irmeta.trec.system_names import track_name

AnyStore = TypeVar("AnyStore", bound=OpenedStore)
FactorT = TypeVar("FactorT", bound=Factor)
WARNINGS: dict[str, type[UserWarning]] = {
    "names": NamesWarning,
    "qrels": QrelsWarning,
    "qrels_sets": QrelsWarning,
    "rows": QrelsWarning,
    "pool_depth": PoolDepthWarning,
    "self_retrieval": SelfRetrievalWarning,
    "drop_docs": QrelsWarning,
    "metadata": UserWarning,
    "yaml": UserWarning,
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


def factor_of(
    kind: type[FactorT], given: FactorT | pl.DataFrame | str | Path, source: object, track: Tracks
) -> FactorT:
    """Read a factor of a source; of a store, a text may name a column of the tables beside runs."""
    store = _store_in(source)
    return kind.of(given) if store is None else kind.within(given, store.reader, track)


def variants_in(source: object, track: Tracks) -> Variants | None:
    """Return the variants of the queries of a source; None without a column variant_of."""
    store = _store_in(source)
    if store is None or not store.reader.describes_queries():
        return None
    return Variants.among(store.reader, track)


def variants_text(settings: Mapping[str, object]) -> str:
    """Return what the queries of recorded settings are; empty unless variants are averaged."""
    column = settings.get("variants_column")
    return f"queries: each the mean over its variants ({column})" if column else ""


def _store_in(source: object) -> OpenedStore | None:
    """Return the store that a source is, or names; None for other sources."""
    if isinstance(source, AnyLocation) and is_store(store_folder(source)):
        return OpenedStore(source)
    return source if isinstance(source, OpenedStore) else None


Names = str | Iterable[str]
"""Names of measures or preferences."""
READ_ALONE = tuple(
    name for name in DataChoices.__annotations__ if name not in EvalChoices.__annotations__
)
"""Fields of `ReadPolicy` for data in memory that `EvalPolicy` does not have."""


def refuse_names(choices: Mapping[str, object]) -> None:
    """Refuse the field `names` of `ReadPolicy`, which concerns files."""
    if "names" in choices:
        raise UsageError("names: runs are named by their keys in a dict, or by a column 'system'.")


def read_given(
    qrels: object,
    runs: object,
    track: object,
    workers: int | None,
    policy: ReadPolicy,
    rel: float | Mapping[str, float] | None = None,
) -> tuple[MemoryStore, Outcome]:
    """Read one track from qrels and runs, named by `track` or by the qrels."""
    if track is not None and not (isinstance(track, str) and track):
        raise UsageError(f"track = {shown(track)} is not the name of a track.")
    if isinstance(qrels, str | os.PathLike) and not is_dataset(str(qrels)):
        of_qrels = track_name(Path(str(qrels)))
    else:
        of_qrels = name_of(qrels)
    name = name_text(track or of_qrels or "data", "the track")
    columns = columns_by_key(policy.columns)
    judged, lists = given_qrels(qrels, columns), given_runs(runs, columns)
    return read_data(name, judged, lists, policy, rel=rel, workers=workers)


def read_in_order(
    qrels: object, runs: object, workers: int | None, reading: dict[str, Any]
) -> OpenedStore:
    """Read data into memory; without a tie order, in that of `ReadPolicy`."""
    order, rel = reading.pop("tie_order", None), reading.pop("rel", None)
    if order is not None:
        reading["tie_order"] = order
    held, outcome = read_given(qrels, runs, None, workers, ReadPolicy(**reading), rel)
    return whole(OpenedStore(held), [outcome])


def results_or_data(
    results: object,
    runs: object,
    names: Names | None,
    workers: int | None,
    choices: Mapping[str, Any],
) -> tuple[Any, Names | None, dict[str, Any]]:
    """Return results, names and choices of a function that takes results, or qrels and runs.

    Parameters
    ----------
    results, runs, names
        The first arguments: results and names, or else qrels, runs and names.
    workers, choices
        Threads, and fields of `DataPolicies`.

    Returns
    -------
    tuple
        The results, or a store in memory of the qrels and runs; the names of measures or
        preferences; and the fields of `EvalPolicy`.

    Raises
    ------
    UsageError
        If there are runs beside results; for data see `from_data`.
    """
    policies, takes_names = dict(choices), _is_results(results)
    if "columns" in policies and (runs is None or takes_names):
        results = with_columns(results, policies.pop("columns"))
    if runs is None or (takes_names and names is None):
        return results, cast("Names | None", names if runs is None else runs), policies
    if takes_names and not isinstance(results, AnyLocation):
        raise UsageError("results hold their runs: pass only measures or preferences.")
    refuse_names(policies)
    reading = (*READ_ALONE, "rel", "tie_order")
    read = {name: policies.pop(name) for name in reading if name in policies}
    return read_in_order(results, runs, workers, read), names, policies


def _is_results(source: object) -> bool:
    """Check whether a source is results or matrices instead of qrels in memory."""
    if isinstance(source, Mapping) and source:
        source = list(cast("Mapping[object, object]", source).values())
    if isinstance(source, list | tuple):
        items = cast("Sequence[object]", source)
        several = [item.path if isinstance(item, NamedFile) else item for item in items]
        paths = [location(item) for item in several if isinstance(item, AnyLocation)]
        if paths and len(paths) == len(several):
            return all(holds_values(path, is_measure) for path in paths)
        return all(isinstance(item, Matrix) for item in several)
    if has_measures(source):
        return True
    return isinstance(source, OpenedStore | Matrix | AnyLocation | Iterator)
