"""Run a study: compute outdated parts, report failures, and join the results."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from irmeta.clusters import appears
from irmeta.delimited import read_cells
from irmeta.errors import (
    DataError,
    ExecutorError,
    IrmetaError,
    NoMeasureError,
    UsageError,
    did_you_mean,
    of_track,
)
from irmeta.files import only_writer
from irmeta.options import Options
from irmeta.parallel import check_open_files, ordered_map, release_freed, thread_count
from irmeta.policies import TrackOptions
from irmeta.progress import REPORT, Report, reported, showing
from irmeta.rankings.track import Track
from irmeta.schema.result_tables import MEASURES, QUERIES
from irmeta.stats.tables import facts_of_queries
from irmeta.store.scan import StoreReader, undisturbed
from irmeta.studies import drawing_processes
from irmeta.studies.framework.claims import claim_rows
from irmeta.studies.framework.intervals import Drawing, draw_claims, intervals
from irmeta.studies.framework.part_tables import (
    JoinedTables,
    PartTables,
    TableWriter,
    gated,
    joined_parts,
    kept_tables,
    provenance,
    used_only,
)
from irmeta.studies.framework.plan import Part, check_folder, check_store, plan
from irmeta.studies.framework.recorded_files import (
    ALL,
    PARTS,
    RecordedFiles,
    folder_of,
    recorded_tracks,
    remove_leftovers,
)
from irmeta.studies.framework.registry import find
from irmeta.studies.framework.study import (
    CLAIM_DRAWS,
    CLAIMS,
    PAPER_NUMBERS,
    STUDIED_TRACKS,
    ClaimRunOptions,
    RunOptions,
    Study,
    declared_rows,
)
from irmeta.studies.framework.study_figures import charts, draw_figures
from irmeta.studies.framework.study_page import write_page
from irmeta.studies.framework.track_groups import named_groups
from irmeta.studies.framework.track_view import TrackView

WHOLE_BLOCKS = 4
"""Blocks in the largest track that one worker reads alone, if a study splits tracks."""


@dataclass(frozen=True)
class Batch:
    """Outcome of a run: analysed tracks, tracks with up-to-date results, and failures."""

    analysed: tuple[str, ...]
    unchanged: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]


def run(
    study: Study, store: StoreReader | None, root: Path, options: Options, run_options: RunOptions
) -> Batch:
    """Compute all parts of a study that are not up to date, then join the parts.

    A failed track is reported and does not stop the others. An interrupted run resumes.
    """
    check_open_files()
    check_store(study, store, options, run_options)
    _check_files(options, run_options.executor)
    check_folder(root, study.name, run_options.force)
    with showing("Studying", run_options.progress), only_writer(root / PARTS):
        remove_leftovers(root)
        parts = plan(study, store, root, options, run_options)
        files = RecordedFiles(root, ALL)
        facts = run_options.drawn
        if isinstance(run_options, ClaimRunOptions):
            asked = ("compared_systems", "interval", "interval_draws", "independent_by")
            facts |= {"claims": {name: getattr(run_options, name) for name in asked}}
        files.start(study=study.name, options=options.record(), **facts)
        with drawing(run_options):
            failed = _run_parts(study, store, root, options, run_options, parts)
            if run_options.executor is not None:
                remove_leftovers(root)  # of workers that were killed
            done = [part for part in parts if part.track not in failed]
            for track in set(recorded_tracks(root)) - {part.track for part in done}:
                RecordedFiles(root, folder_of(track)).remove()
            if done:
                _join(study, store, files, options, run_options, done)
            else:
                files.remove()
    tracks = [part for part in done if part.track is not None]
    return Batch(
        tuple(str(part.track) for part in tracks if not part.is_done),
        tuple(str(part.track) for part in tracks if part.is_done),
        tuple((track or study.name, error) for track, error in failed.items()),
    )


def drawing(run_options: RunOptions) -> AbstractContextManager[None]:
    """Return the context of processes that draw, one per thread; overlapping contexts share them.

    One thread draws in this process, and an executor's workers draw in theirs.
    """
    threads = 1 if run_options.executor is not None else thread_count(run_options.workers)
    is_apart = threads > 1 and run_options.figures
    return drawing_processes.apart(threads) if is_apart else nullcontext()


def _check_files(options: Options, executor: Executor | None) -> None:
    """Check that options name files by paths that workers in other folders find."""
    if executor is None or isinstance(executor, ProcessPoolExecutor | ThreadPoolExecutor):
        return
    for name, path in options.files.items():
        if not Path(path).is_absolute():
            fix = "give an absolute path, since workers of a cluster may run in another folder."
            raise UsageError(f"{name} = {path!r}: {fix}")


def _run_parts(
    study: Study,
    store: StoreReader | None,
    root: Path,
    options: Options,
    run_options: RunOptions,
    parts: Sequence[Part],
) -> dict[str | None, str]:
    """Run the parts; return the errors of failed parts by track."""
    executor, folder = run_options.executor, root
    split = [part for part in parts if _is_split(study, store, part, run_options)]
    alone = [part for part in parts if part not in split]
    sent = ((store, part) for part in alone)
    if executor is not None:  # its workers may run in another folder
        folder = root.absolute()
        sent = (
            (None if store is None or part.track is None else store.only(part.track), part)
            for part in alone
        )
    # Another process cannot call the function of this one.
    report = REPORT.get() if executor is None else None
    drawing = None
    if isinstance(run_options, ClaimRunOptions) and run_options.interval != "none":
        drawing = Drawing(run_options.interval, run_options.interval_draws)
    work = partial(_do, study.name, folder, options, (run_options.drawn, drawing), report)
    failed: dict[str | None, str] = {}
    results = ordered_map(
        work,
        sent,
        workers=run_options.workers,
        executor=executor,
        lost=lambda sent, error: _error(sent[1], error),  # its worker was killed
    )
    shared = (work((store, part), run_options.workers, executor) for part in split)
    with closing(results) as errors:
        done = zip([*alone, *split], chain(errors, shared), strict=True)
        for part, error in reported(done, len(parts), lambda pair: pair[0].track or study.name):
            error = error or _not_received(root, part)
            if error is not None:
                failed[part.track] = error
    return {part.track: failed[part.track] for part in parts if part.track in failed}


def _is_split(study: Study, store: StoreReader | None, part: Part, run_options: RunOptions) -> bool:
    """Check whether all workers share the blocks of a track, after the other tracks."""
    if store is None or part.track is None or part.problem is not None or part.is_done:
        return False
    if not study.splits_tracks or (run_options.executor is not None and not store.is_shared):
        return False
    return store.track(part.track).record["rows"] > WHOLE_BLOCKS * store.block_rows


def _not_received(root: Path, part: Part) -> str | None:
    """Return the error of a part that a worker has done, but whose record is missing here."""
    if part.is_done or appears(lambda: RecordedFiles(root, part.folder).is_finished(part.key)):
        return None
    fix = "Do the workers of the executor share this folder?"
    return _error(part, DataError(f"files written by a worker are missing from {root}", fix=fix))


def _error(part: Part, error: IrmetaError) -> str:
    return str(error if part.track is None else of_track(part.track, error))


def _do(
    name: str,
    root: Path,
    options: Options,
    recorded: tuple[Mapping[str, Any], Drawing | None],
    report: Report | None,
    sent: tuple[StoreReader | None, Part],
    workers: int | None = 1,
    executor: Executor | None = None,
) -> str | None:
    """Run one part; return its error, or None.

    Arguments without workers for the track's blocks can be sent to another process.
    """
    (store, part), (drawn, drawing) = sent, recorded
    if part.problem is not None or (part.is_done and part.is_drawn):
        return part.problem
    study, files = find(name), RecordedFiles(root, part.folder)
    try:
        files.start(track=part.track, **drawn)
        if part.is_done:
            tables = kept_tables(study, files)
        else:
            with _unchanged(store, [part]):
                track = None
                if part.track is not None:
                    assert isinstance(options, TrackOptions)
                    track = (
                        study.call("file_tracks", options)[part.track]
                        if store is None
                        else TrackView(Track.of(store, part.track), options, workers, executor)
                    )
                    if isinstance(track, TrackView):
                        track.note_variants()
                tables = _compute(study, store, part, files, options, track, report, drawing)
        if part.track is not None and drawn["figures"]:
            of_track = PartTables(study, files, tables)
            # each track already has its thread
            draw_figures(files, charts(study, of_track, options, part.track), workers=1)
    except ExecutorError:  # no track can be analysed
        raise
    except IrmetaError as error:
        return _error(part, error)
    except OSError as error:
        failure = DataError(f"a file cannot be read or written ({error})", track=part.track)
        return str(failure)
    finally:
        release_freed()  # each thread's heap would keep what its largest track took
    files.finish(part.key)
    return None


def _compute(
    study: Study,
    store: StoreReader | None,
    part: Part,
    files: RecordedFiles,
    options: Options,
    track: TrackView | None,
    report: Report | None,
    drawing: Drawing | None,
) -> dict[str, pl.DataFrame]:
    """Compute, write and return the tables of one part; report the tables that no track has."""
    by = "all" if track is None else "track"
    of_join = (CLAIMS.name, MEASURES.name)  # their rows are made when parts are joined
    tables = [t for t in study.by_table.values() if t.by == by and t.name not in of_join]
    facts = provenance(study, store, options, [] if track is None else [track.name])
    started = set[str]()
    with TableWriter(study, files, facts, tables, part.track) as writer:
        try:
            for name, rows in study.call("compute", track, options):
                writer.add(name, rows)
                started.add(name)
                if track is None and report is not None:
                    report(study.name, len(started), len(tables))
        except NoMeasureError:
            if track is None:
                raise
            track.leave_out("no measure is defined by its grades")  # `studied` knows why
        if track is None:
            return writer.finish(())
        studied = track.studied()
        writer.add("studied_tracks", [studied])
        with suppress(NoMeasureError):  # the track is left out
            for matrix in track.values():
                writer.add(QUERIES.name, facts_of_queries(matrix))
        if drawing is not None and studied["used"]:
            assert store is not None
            assert isinstance(options, TrackOptions)
            asked = study.call("on_parts", options, writer.joined()) or options
            drawn = draw_claims(study, Track.of(store, track.name), asked, drawing)
            for done, rows in enumerate(drawn, 1):
                writer.add(CLAIM_DRAWS.name, rows)
                if report is not None:
                    report(f"{track.name}: {drawing.method}", done, drawing.draws)
        return writer.finish([t for t in tables if store is not None and not t.only_filled])


def _join(
    study: Study,
    store: StoreReader | None,
    files: RecordedFiles,
    options: Options,
    run_options: RunOptions,
    done: Sequence[Part],
) -> None:
    """Join the tables of all parts, and write tables, figures and page over all tracks."""
    tracks = [part.track for part in done if part.track is not None]
    with _unchanged(store, done):
        facts = provenance(study, store, options, tracks)
        joined = dict(joined_parts(study, files.root, [part.folder for part in done]))
        tables = [t for t in study.by_table.values() if t.name in joined or t.by == "all"]
        with TableWriter(study, files, facts, tables) as writer:
            if STUDIED_TRACKS.name in joined and isinstance(run_options, ClaimRunOptions):
                least = run_options.compared_systems
                joined[STUDIED_TRACKS.name] = gated(joined[STUDIED_TRACKS.name], least)
            for name, frame in joined.items():
                writer.add(name, frame)
            used = JoinedTables(study, files.root, joined)
            for name, rows in declared_rows(study.by_table.values(), used, options, by="all"):
                writer.add(name, rows)
            if study.printed:
                writer.add(PAPER_NUMBERS, study.printed)
            if study.claims is not None:
                made_so_far = used_only(writer.joined(tables))
                groups = _groups(run_options, tracks)
                rows = claim_rows(study, made_so_far, options, intervals(joined), groups)
                writer.add(CLAIMS.name, rows)
            written = writer.finish([t for t in tables if not t.only_filled])
        if run_options.figures:
            of_tracks = charts(study, used_only(written, study.of_orders), options)
            draw_figures(files, of_tracks, workers=drawing_processes.threads())
        write_page(study, files, written, options, tracks, facts)
    files.finish("")


def _groups(run_options: RunOptions, tracks: Sequence[str]) -> dict[str, str] | None:
    """Return the group of each track by the option `independent_by`; None: it is not given."""
    asked = getattr(run_options, "independent_by", None)
    if asked is None:
        return None
    path, _, columns = asked.rpartition(":")
    asked_columns = ["track", *(column.strip() for column in columns.split(","))]
    if not path:
        return named_groups(tracks, asked_columns[1:])
    rows = read_cells(Path(path), path, trim=True)
    for name in asked_columns:
        if name not in rows.columns:
            hint = did_you_mean(name, rows.columns)
            raise DataError(f"has no column {name!r}", file=path, fix=hint)
    if (repeated := rows.filter(pl.col("track").is_duplicated())).height:
        raise DataError(f"track {repeated['track'][0]!r} is there twice", file=path)
    named = rows.select(asked_columns).fill_null("").rows()
    groups = {track: " ".join(group) for track, *group in named}
    if missing := [track for track in tracks if track not in groups]:
        raise DataError(f"no row of track {missing[0]!r}", file=path, fix="Add its groups.")
    return groups


@contextmanager
def _unchanged(store: StoreReader | None, parts: Sequence[Part]) -> Generator[None]:
    """Check, before and after the body runs, that no ingest replaces tracks of planned parts."""
    tracks = [part for part in parts if part.track is not None]
    if store is None or not tracks:
        yield
        return
    opened = [store.track(str(part.track)) for part in tracks]
    with undisturbed(*opened):
        for part, track in zip(tracks, opened, strict=True):
            if track.fingerprint() != part.version:
                fix = "An ingest replaced it: run the command again."
                raise DataError("was replaced during the run", track=part.track, fix=fix)
        yield
