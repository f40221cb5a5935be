"""The jobs that leave something on disk: ingest and reanalyze; and what opens it again."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

from irmeta.api.in_memory import ReadChoices, whole
from irmeta.api.store import EvalChoices, Measures, Store
from irmeta.errors import UsageError
from irmeta.parallel import check_open_files
from irmeta.policies import ReadPolicy
from irmeta.store.ingest import Outcome, ingest_collection
from irmeta.store.layout import Layout, is_store, store_folder
from irmeta.store.read_track import Progress
from irmeta.store.scan import Tracks, tracks_of
from irmeta.studies.framework.control import Progress as BatchProgress
from irmeta.studies.framework.control import Run
from irmeta.studies.framework.plan import check_folder
from irmeta.studies.framework.recorded_files import PARTS
from irmeta.studies.framework.runner import Batch, run
from irmeta.studies.framework.study_results import StudyResults
from irmeta.studies.reanalysis.options import OverviewOptions
from irmeta.studies.reanalysis.study import STUDY as OVERVIEW
from irmeta.trec.collection import chosen, read_collection


def open_store(path: str | Path) -> Store:
    """Open the store in a folder."""
    return Store(path)


def ingest(
    collection: str | Path,
    store: str | Path,
    *,
    tracks: Tracks = None,
    rehash: bool = False,
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
    rehash
        Read every file to see whether it has changed. By default a source file of the same size
        and time of change is taken for unchanged, and a file of the store by its size and footer.
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
        tie_order, depth, duplicates, malformed, names: see `ReadPolicy`.

    Warns
    -----
    SkippedRunWarning, NamesWarning, QrelsWarning
        As `read`.

    Raises
    ------
    IrmetaError
        When a track could not be read; the others are in the store.
    """
    outcomes = ingest_collection(
        collection,
        Layout(Path(store)),
        ReadPolicy(**choices),
        tracks=tracks,
        rehash=rehash,
        workers=workers,
        memory=memory,
        executor=executor,
        progress=progress,
    )
    return whole(Store(store), outcomes)


@dataclass(frozen=True)
class Reanalysis:
    """What `reanalyze` did and where it lies."""

    folder: Path
    report: Path
    store: Store
    outcomes: tuple[Outcome, ...]
    batch: Batch

    @property
    def results(self) -> StudyResults:
        """Tables and figures."""
        return StudyResults(self.folder, self.batch)


def reanalyze(
    source: str | Path,
    out: str | Path,
    *,
    tracks: Tracks = None,
    measures: Measures = "default",
    rarity_depth: int = 100,
    unretrieved: str = "irrel",
    policy: EvalChoices | None = None,
    only: bool = False,
    force: bool = False,
    rehash: bool = False,
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
        Only these; results of others that are in `out` stay, unless `only`.
    rehash
        As for `ingest`, of a collection; results are always compared with their checksums.
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
        tie_order, depth, duplicates, malformed, names, for a collection: see `ReadPolicy`.

    Warns
    -----
    SkippedRunWarning, NamesWarning, QrelsWarning
        As `read`, for a collection.

    Raises
    ------
    IrmetaError
        When a track could not be read or analysed; the results of the others are in `out`.
    """
    names = (measures,) if isinstance(measures, str) else tuple(measures)
    options = OverviewOptions.of(
        {"measures": names, "rarity_depth": rarity_depth, "unretrieved": unretrieved}
        | dict(policy or {})
    )
    asked = None if tracks is None else (tracks,) if isinstance(tracks, str) else tuple(tracks)
    control = Run(asked, only, force, workers, executor, batch_progress)
    done = reanalyze_tracks(
        source,
        out,
        options,
        choices,
        control,
        rehash=rehash,
        memory=memory,
        read_progress=read_progress,
    )
    if done.outcomes or done.batch.failed:
        whole(done.store, done.outcomes, done.batch.failed)
    return done


def reanalyze_tracks(
    source: str | Path,
    out: str | Path,
    options: OverviewOptions,
    choices: ReadChoices,
    control: Run,
    *,
    rehash: bool = False,
    memory: int | None = None,
    read_progress: Progress | None = None,
) -> Reanalysis:
    """As `reanalyze`, but failures are in what it returns, and nothing is warned of."""
    check_open_files()
    root, outcomes, tracks = Path(out), list[Outcome](), control.tracks
    store = Store(source) if is_store(store_folder(source)) else None
    if store is None:  # where the collection cannot be followed, no folder is made for it
        chosen(read_collection(source, ReadPolicy(**choices)), tracks, str(source))
    elif choices:
        raise UsageError(f"{store.path} is a store: how runs are read was settled at ingest.")
    elif rehash:
        raise UsageError(f"{store.path} is a store: rehash is for a collection.")
    check_folder(root, OVERVIEW.name, control.force)
    if store is None:
        (root / PARTS).mkdir(parents=True, exist_ok=True)  # the folder is ours from now on
        outcomes = ingest_collection(
            source,
            Layout(root / "store"),
            ReadPolicy(**choices),
            tracks=tracks,
            rehash=rehash,
            workers=control.workers,
            memory=memory,
            executor=control.executor,
            progress=read_progress,
        )
        store = Store(root / "store")
        names = [o.track for o in outcomes if o.error is None]
    else:
        names = tracks_of(store.reader, tracks)
    # Of a whole collection, tracks that left it leave the results too.
    control = replace(control, tracks=tuple(names), only=control.only or tracks is None)
    batch = run(OVERVIEW, store.reader, root, options, control) if names else Batch((), (), ())
    return Reanalysis(root, root / "report.html", store, tuple(outcomes), batch)
