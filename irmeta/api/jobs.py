"""`ingest` and `reanalyze`, which write to disk, and `open_store`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from irmeta.api.results_or_data import whole
from irmeta.api.store import Measures, Store
from irmeta.errors import UsageError
from irmeta.locations import AnyLocation, local
from irmeta.parallel import check_open_files
from irmeta.policies import ReadPolicy
from irmeta.policy_keywords import EvalChoices, ReadChoices
from irmeta.progress import Progress, showing, shows_progress
from irmeta.report import parse_formats
from irmeta.store.ingest import Outcome, ingest_collection
from irmeta.store.layout import Layout, is_store, store_folder
from irmeta.store.scan import Tracks, tracks_of
from irmeta.studies.framework.plan import check_folder
from irmeta.studies.framework.recorded_files import PARTS
from irmeta.studies.framework.registry import options_on
from irmeta.studies.framework.runner import Batch, run
from irmeta.studies.framework.study import RunOptions
from irmeta.studies.framework.study_results import StudyResults
from irmeta.studies.reanalysis.study import STUDY as OVERVIEW
from irmeta.summaries import Part, Result, Summary
from irmeta.trec.collection import chosen, read_collection


def open_store(path: AnyLocation) -> Store:
    """Open the store in a folder.

    Parameters
    ----------
    path : str or Path
        The store's folder, or the folder of `reanalyze`'s results; either may be a URL such as
        ``s3://bucket/store``.

    Returns
    -------
    Store
        As `Store(path)`, which also describes errors. A store that is opened by a folder of results
        has the policies of these results (`Store.eval_policy`) unless keywords of a method are
        others; ``results/store`` opens the same store without them.

    Examples
    --------
    >>> irmeta.open_store("store/").tracks
    ['news', 'passage', 'web']
    """
    return Store(path)


@shows_progress("Reading")
def ingest(
    collection: str | Path,
    out: str | Path,
    *,
    track: Tracks = None,
    rehash: bool = False,
    workers: int | None = None,
    memory: int | None = None,
    executor: Executor | None = None,
    progress: Progress = None,
    **choices: Unpack[ReadChoices],
) -> Store:
    """Read a collection's runs and qrels into a store; unchanged tracks are not read again.

    Parameters
    ----------
    collection : str or Path
        A folder with one sub-folder per track (`runs/` and one file named qrels*), or with a
        `collection.toml`.
    out : str or Path
        The store's folder; created if missing.
    track : str or iterable of str, optional
        Only these; other tracks of the store are unchanged.
    rehash : bool, default False
        Read every file to find out whether it has changed. By default a source file of the same
        size and modification time is unchanged, and a file of the store by its size and footer.
    workers : int, optional
        Threads that read tracks and run files; default: the usable cores. With `executor`, the
        largest number of tracks in work; default: all. The store does not depend on it.
    memory : int, optional
        Limit in bytes for the process, of which its start takes about 256 MiB, and for all
        processes of an executor together; on a Dask cluster, for each worker. Data that the caller
        holds do not count. Beyond it, rows move to a temporary file in the store's folder, then
        one thread reads on, then tracks are read one by one; a track that still does not fit fails
        with an error that names the least limit that works, and so does a file of any form that
        takes more than is left. The peak may exceed it by a fifth. Default: a quarter of the
        memory of the machine or worker.
    executor : Executor, optional
        Any concurrent.futures.Executor to read tracks instead of threads: spawned (not forked)
        processes, or a cluster that shares the folders, such as of `irmeta.dask_executor`. A track
        whose worker is killed repeatedly fails; the others continue.
    progress, **choices
        See `read`.

    Returns
    -------
    Store

    Warns
    -----
    SkippedRunWarning, NamesWarning, QrelsWarning, PoolDepthWarning
        See `read`.

    Raises
    ------
    IrmetaError
        If a track could not be read; the others are in the store.

    Examples
    --------
    >>> irmeta.ingest("collection/", "new-store/", track="news").tracks
    ['news']
    """
    outcomes = ingest_collection(
        collection,
        Layout(local(out)),
        ReadPolicy.of(choices),
        tracks=track,
        rehash=rehash,
        workers=workers,
        memory=memory,
        executor=executor,
    )
    return whole(Store(out), outcomes)


@dataclass(frozen=True, repr=False)
class Reanalysis(Result):
    """Outcome of `reanalyze`: folder, page, store and what was analysed."""

    folder: Path
    report: Path
    store: Store
    outcomes: tuple[Outcome, ...]
    batch: Batch

    def _summary(self) -> Summary:
        sizes = {"analysed": self.batch.analysed, "up to date": self.batch.unchanged}
        sizes |= {"failed": self.batch.failed}
        facts = [f"{len(tracks):,} {what}" for what, tracks in sizes.items() if tracks]
        return Summary(repr(str(self.folder)), [f"tracks: {', '.join(facts) or 'none'}"])

    def parts(self, digits: int | None = None, every: bool = False) -> Iterable[Part]:
        """Return the lines and tables to print: see `Summarized.parts`."""
        return self.results.parts() if self.batch.analysed or self.batch.unchanged else ()

    def frame(self) -> pl.DataFrame:
        """Return the tables of `results`: see `StudyResults.frame`."""
        return self.results.frame()

    @property
    def results(self) -> StudyResults:
        """Tables and figures."""
        return StudyResults(self.folder, self.batch)


def reanalyze(
    source: AnyLocation,
    out: str | Path,
    *,
    track: Tracks = None,
    measures: Measures = "default",
    rarity_depth: int = 100,
    unretrieved: str = "irrel",
    policy: EvalChoices | None = None,
    only: bool = False,
    force: bool = False,
    figures: bool = True,
    titles: bool = True,
    formats: str | Sequence[str] = "svg",
    rehash: bool = False,
    workers: int | None = None,
    memory: int | None = None,
    executor: Executor | None = None,
    progress: Progress = None,
    **choices: Unpack[ReadChoices],
) -> Reanalysis:
    """Write scores, search lengths and rarity of every track as Parquet, and a page.

    Parameters
    ----------
    source : str or Path
        A store or its URL, or a collection, whose store is then written to `out`/store.
    out : str or Path
        Folder for the results: new, empty, or one that `reanalyze` made; any other with `force`.
        Unchanged tracks are not analysed again.
    track : str or iterable of str, optional
        Only these; results of other tracks stay in `out`, unless `only`.
    measures : str or iterable of str, default 'default'
        See `Store.evaluate`.
    rarity_depth : int, default 100
        Deepest rank that counts for `rarity`.
    unretrieved : {'irrel', 'floor', 'irrel+1', 'depth'}, default 'irrel'
        Search length of a relevant doc that is not retrieved: see measure ASL.
    policy : dict, optional
        Fields of `EvalPolicy`. Of a `source` that holds results of `reanalyze`, the other fields
        are those of these results.
    only, force : bool, default False
        Remove results of other tracks; write to a folder with other files.
    figures : bool, default True
        Whether figures are drawn. Without, there are tables and the page alone; a later run with
        figures draws them from the tables.
    titles : bool, default True
        Whether figures have titles. Without, the captions of the page end with the subtitles.
    formats : str or sequence of str, default 'svg'
        Formats of the figures: svg, pdf, png, such as ``"svg,pdf"``. SVG is always written, because
        the page contains it; PDFs lie beside the LaTeX tables.
    rehash, workers, memory, executor, progress
        See `ingest`; results are always compared with their checksums.
    **choices
        Fields of `ReadPolicy`, for a collection.

    Returns
    -------
    Reanalysis
        Folder, page, store, tables and figures.

    Warns
    -----
    SkippedRunWarning, NamesWarning, QrelsWarning, PoolDepthWarning
        See `read`, for a collection.

    Raises
    ------
    IrmetaError
        If a track could not be read or analysed; the results of the others are in `out`.

    Examples
    --------
    >>> done = irmeta.reanalyze("store/", "results/", track="news", measures="AP")
    >>> done.results.tables["means"].height
    20
    """
    overview = {"measures": measures, "rarity_depth": rarity_depth, "unretrieved": unretrieved}
    overview |= dict(policy or {})
    asked = None if track is None else (track,) if isinstance(track, str) else tuple(track)
    run_options = RunOptions(
        track=asked,
        only=only,
        force=force,
        figures=figures,
        titles=titles,
        formats=parse_formats(formats),
        workers=workers,
        executor=executor,
        progress=progress,
    )
    done = reanalyze_tracks(
        source,
        out,
        overview,
        choices,
        run_options,
        rehash=rehash,
        memory=memory,
    )
    if done.outcomes or done.batch.failed:
        whole(done.store, done.outcomes, done.batch.failed)
    return done


def reanalyze_tracks(
    source: AnyLocation,
    out: str | Path,
    given: Mapping[str, Any],
    choices: ReadChoices,
    run_options: RunOptions,
    *,
    rehash: bool = False,
    memory: int | None = None,
) -> Reanalysis:
    """Analyse tracks like `reanalyze`; return failures instead of warning about them.

    `given` are options of the overview by name.
    """
    policy, options = ReadPolicy.of(choices), OVERVIEW.options.of(given)
    check_open_files()
    root, outcomes, tracks = local(out), list[Outcome](), run_options.track
    store = Store(source) if is_store(store_folder(source)) else None
    if store is None:  # where the collection cannot be followed, no folder is made for it
        chosen(read_collection(source, policy), tracks, str(source))
    elif choices:
        raise UsageError(f"{store.reader} is a store: its reading options were fixed at ingest.")
    elif rehash:
        raise UsageError(f"{store.reader} is a store: rehash is for a collection.")
    check_folder(root, OVERVIEW.name, run_options.force)
    if store is None:
        (root / PARTS).mkdir(parents=True, exist_ok=True)  # the folder is ours from now on
        with showing("Reading", run_options.progress):
            outcomes = ingest_collection(
                source,
                Layout(root / "store"),
                policy,
                tracks=tracks,
                rehash=rehash,
                workers=run_options.workers,
                memory=memory,
                executor=run_options.executor,
            )
        store = Store(root / "store")
        read_tracks = [o.track for o in outcomes if o.error is None]
    else:
        read_tracks = tracks_of(store.reader, tracks)
        options = options_on(OVERVIEW, store.eval_policy, given)
    # Of a whole collection, tracks that left it leave the results too.
    run_options = replace(
        run_options, track=tuple(read_tracks), only=run_options.only or tracks is None
    )
    batch = (
        run(OVERVIEW, store.reader, root, options, run_options)
        if read_tracks
        else Batch((), (), ())
    )
    return Reanalysis(root, root / "report.html", store, tuple(outcomes), batch)
