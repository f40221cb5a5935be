"""The jobs that leave something on disk: ingest and reanalyze; and what opens it again."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from irmeta.api.reading import ReadChoices, whole
from irmeta.api.store import EvalChoices, Measures, Store, store_folder
from irmeta.batch.run import Batch, run
from irmeta.batch.run import Progress as BatchProgress
from irmeta.errors import UsageError
from irmeta.measures.names import parse_call
from irmeta.policies import ReadPolicy
from irmeta.results.tables import write_text
from irmeta.store.ingest import Outcome, ingest_collection
from irmeta.store.layout import Layout, has_content, is_store
from irmeta.store.lock import only_writer
from irmeta.store.scan import Tracks, tracks_of
from irmeta.store.track import Progress
from irmeta.studies.base import Folder
from irmeta.studies.overview import OVERVIEW, Settings
from irmeta.trec.collection import chosen, read_collection


def open_store(path: str | Path) -> Store:
    """Open the store in a folder."""
    return Store(path)


def ingest(
    collection: str | Path,
    store: str | Path,
    *,
    tracks: Tracks = None,
    workers: int | None = None,
    memory: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **choices: Unpack[ReadChoices],
) -> Store:
    """Read a collection's runs and qrels into a store; unchanged tracks are not read again.

    Parameters
    ----------
    collection
        A folder with one sub-folder a track (`runs/` and one file named qrels*), or with a
        `collection.toml`.
    store
        The store's folder; made if it is not there.
    tracks
        Only these; others that the store has are left alone.
    workers
        Threads that read tracks, and the run files of one; default the usable cores. The store does
        not depend on it.
    memory
        Bytes for the names and rows of all tracks that are read at once, default a quarter of what
        the machine has; rows beyond it wait in a temporary file in the store's folder.
    executor
        Any concurrent.futures.Executor to read tracks instead: processes that are spawned,
        not forked, or a cluster.
    **choices
        tie_order, depth, duplicates, malformed: see `ReadPolicy`.

    Warns
    -----
    SetAsideWarning
        When runs were set aside; `store.systems()` says why.

    Raises
    ------
    IrmetaError
        When a track could not be read; the others are in the store.
    """
    outcomes = ingest_tracks(
        collection,
        store,
        ReadPolicy(**choices),
        tracks=tracks,
        workers=workers,
        memory=memory,
        executor=executor,
        progress=progress,
    )
    return whole(Store(store), outcomes)


def ingest_tracks(
    collection: str | Path,
    store: str | Path,
    policy: ReadPolicy,
    *,
    tracks: Tracks = None,
    workers: int | None = None,
    memory: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[Outcome]:
    """As `ingest`, but failures are outcomes, and nothing is warned of."""
    return ingest_collection(
        collection,
        Layout(Path(store)),
        policy,
        tracks=tracks,
        workers=workers,
        memory=memory,
        executor=executor,
        progress=progress,
    )


@dataclass(frozen=True)
class Reanalysis:
    """What `reanalyze` did and where it lies."""

    folder: Path
    report: Path
    store: Store
    outcomes: tuple[Outcome, ...]
    batch: Batch


def reanalyze(
    source: str | Path,
    out: str | Path,
    *,
    tracks: Tracks = None,
    measures: Measures = "default",
    rarity_depth: int = 100,
    unretrieved: str = "irrel",
    policy: EvalChoices | None = None,
    force: bool = False,
    workers: int | None = None,
    memory: int | None = None,
    executor: Executor | None = None,
    read_progress: Progress | None = None,
    batch_progress: BatchProgress | None = None,
    **choices: Unpack[ReadChoices],
) -> Reanalysis:
    """Every track's scores, search lengths and rarity as Parquet, and a page.

    Parameters
    ----------
    source
        A collection, whose store is then kept in `out`/store, or a store.
    out
        The results' folder: new, empty, or one that `reanalyze` made; any other with `force`.
        Tracks whose input has not changed are not done again.
    tracks
        Only these; results of others that are in `out` are removed.
    rarity_depth
        A system retrieves a doc for `rarity` if it has it up to this rank.
    unretrieved
        The search length of a relevant doc that is not retrieved, in the tables of search lengths:
        irrel, floor, irrel+1 or depth, as in measure ASL.
    policy
        queries, negative, qrels, tie_order, pool_order: see `EvalPolicy`.
    workers
        Threads that read, and that analyse tracks; default the usable cores.
    memory
        Bytes for what is read: see `ingest`.
    executor
        Any concurrent.futures.Executor to read and analyse tracks instead: processes that are
        spawned, not forked, or a cluster.
    **choices
        tie_order, depth, duplicates, malformed, for a collection: see `ReadPolicy`.

    Warns
    -----
    SetAsideWarning
        When runs of a collection were set aside; `systems.parquet` says why.

    Raises
    ------
    IrmetaError
        When a track could not be read or analysed; the results of the others are in `out`.
    """
    specs, averaged = parse_call(measures, policy or {})
    names = tuple(spec.name for spec in specs)
    done = reanalyze_tracks(
        source,
        out,
        Settings(names, rarity_depth, unretrieved, averaged),
        choices,
        tracks=tracks,
        force=force,
        workers=workers,
        memory=memory,
        executor=executor,
        read_progress=read_progress,
        batch_progress=batch_progress,
    )
    if done.outcomes or done.batch.failed:
        whole(done.store, done.outcomes, done.batch.failed)
    return done


def reanalyze_tracks(
    source: str | Path,
    out: str | Path,
    settings: Settings,
    choices: ReadChoices,
    *,
    tracks: Tracks = None,
    force: bool = False,
    workers: int | None = None,
    memory: int | None = None,
    executor: Executor | None = None,
    read_progress: Progress | None = None,
    batch_progress: BatchProgress | None = None,
) -> Reanalysis:
    """As `reanalyze`, but failures are in what it returns, and nothing is warned of."""
    folder, outcomes, names = Folder(Path(out)), list[Outcome](), list[str]()
    tracks = tracks if tracks is None or isinstance(tracks, str) else list(tracks)
    store = Store(source) if is_store(store_folder(source)) else None
    if store is None:  # where the collection cannot be followed, no folder is made for it
        chosen(read_collection(source, ReadPolicy(**choices)), tracks, str(source))
    elif choices:
        raise UsageError(f"{store.path} is a store: how runs are read was settled at ingest.")
    else:
        names = tracks_of(store.reader, tracks)
    check_folder(folder, OVERVIEW.name, force)
    if store is None:
        place = folder.root / "store"
        outcomes = ingest_tracks(
            source,
            place,
            ReadPolicy(**choices),
            tracks=tracks,
            workers=workers,
            memory=memory,
            executor=executor,
            progress=read_progress,
        )
        store = Store(place)
        names = [o.track for o in outcomes if o.error is None]
    with only_writer(folder.parts):
        batch = run(
            OVERVIEW,
            store.reader,
            names,
            settings.record(),
            folder,
            batch_progress,
            workers=workers,
            executor=executor,
        )
    return Reanalysis(folder.root, folder.root / "report.html", store, tuple(outcomes), batch)


def check_folder(folder: Folder, study: str, force: bool) -> None:
    """Refuse other people's files and another study's; mark it as ours before anything else."""
    root = folder.root
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is a file: name a folder for the results.")
    if root.exists() and not force and not folder.parts.is_dir() and has_content(root):
        raise UsageError(f"{root} holds other files: name a new folder, or use --force.")
    if folder.study.is_file() and not force:
        other = folder.study.read_text(encoding="utf-8").strip()
        if other != study:
            fix = "name a new folder, or use --force."
            raise UsageError(f"{root} holds the results of {other}: {fix}")
    write_text(folder.study, f"{study}\n")
