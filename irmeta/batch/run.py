"""Run a study over tracks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

from irmeta.batch.plan import Task, forget_others, mark_done, plan
from irmeta.errors import DataError, IrmetaError, of_track
from irmeta.parallel import ordered_map, thread_count
from irmeta.store.layout import write_atomic
from irmeta.store.scan import StoreReader, undisturbed
from irmeta.studies import drawing
from irmeta.studies.base import Folder, Study
from irmeta.studies.publish import forget_combined

Progress = Callable[[str, int, int], None]
"""Called with a track, how many tracks are finished, and how many there are."""


@dataclass(frozen=True)
class Batch:
    """What a run did: tracks analysed, tracks whose results were there already, and failures."""

    analysed: tuple[str, ...]
    unchanged: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]


def run(
    study: Study,
    store: StoreReader,
    tracks: Sequence[str],
    settings: Mapping[str, Any],
    folder: Folder,
    progress: Progress | None = None,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Batch:
    """Do every track's part that is not finished, then combine.

    A track that fails is reported and does not stop the others; its mark is written last, so a
    batch that was stopped at any moment goes on where it was. Results of tracks that are not in
    `tracks`, or that fail now, are removed: what lies in the folder is of this run.

    Parameters
    ----------
    workers
        Threads over tracks, default the usable cores; as many tracks are held in memory at once.
        The results do not depend on it.
    executor
        Whatever runs the tracks in place of own threads: processes, or a cluster that sees the same
        folders.
    """
    tasks = plan(study, store, tracks, settings, folder)
    analysed, failed = [], []
    do = partial(_do, study, folder, dict(settings))
    threads = 1 if executor is not None else thread_count(workers)
    with nullcontext() if threads == 1 else drawing.apart(threads):
        parts = ((store.only(task.track), task) for task in tasks)
        with closing(ordered_map(do, parts, workers=workers, executor=executor)) as errors:
            for number, (task, error) in enumerate(zip(tasks, errors, strict=True)):
                if error is not None:
                    failed.append((task.track, error))
                elif not task.finished:
                    analysed.append(task.track)
                if progress is not None:
                    progress(task.track, number + 1, len(tasks))
        lost = {track for track, _ in failed}
        done = [task.track for task in tasks if task.track not in lost]
        forget_others(study, folder, done)
        if done:
            with undisturbed(store, *done):  # what is said of the store must be of what was done
                for task in tasks:
                    if task.track not in lost:
                        _check_unchanged(store, task)
                study.combine(store, done, settings, folder)
        else:
            forget_combined(folder)
    unchanged = tuple(t.track for t in tasks if t.finished)
    return Batch(tuple(analysed), unchanged, tuple(failed))


def _do(
    study: Study, folder: Folder, settings: Mapping[str, Any], part: tuple[StoreReader, Task]
) -> str | None:
    """One track's part and its mark, unless they are there; what is wrong with it, if anything is.

    Of this module and with values for arguments, so that another process can be sent it.
    """
    store, task = part
    if task.finished:
        return None
    if task.problem is not None:
        return task.problem
    # Its files are about to be replaced: without its mark, a stop now leaves nothing to trust.
    folder.done(task.track).unlink(missing_ok=True)
    try:
        with undisturbed(store, task.track):
            _check_unchanged(store, task)
            try:
                files = study.per_track(store, task.track, settings, folder)
            except OSError as error:
                raise DataError(f"a file of it cannot be read or written ({error})") from error
    except IrmetaError as error:
        return str(of_track(task.track, error))
    write_atomic(folder.done(task.track), mark_done(folder, task, files))
    return None


def _check_unchanged(store: StoreReader, task: Task) -> None:
    if store.fingerprint(task.track) != task.fingerprint:
        fix = "An ingest put another in its place: run this again."
        raise DataError("was replaced meanwhile", track=task.track, fix=fix)
