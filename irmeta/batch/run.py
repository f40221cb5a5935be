"""Run a study over tracks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from irmeta.batch.plan import forget_others, mark_done, plan
from irmeta.errors import IrmetaError
from irmeta.store.layout import Layout, write_atomic
from irmeta.studies.base import Folder, Study

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
    layout: Layout,
    tracks: Sequence[str],
    settings: Mapping[str, Any],
    folder: Folder,
    progress: Progress | None = None,
) -> Batch:
    """Do every track's part that is not finished, then combine.

    A track that fails is reported and does not stop the others; its mark is written last, so a
    batch that was stopped at any moment goes on where it was. Results of tracks that are not in
    `tracks`, or that fail now, are removed: what lies in the folder is of this run.
    """
    tasks = plan(study, layout, tracks, settings, folder)
    analysed, failed = [], []
    for number, task in enumerate(tasks):
        if progress is not None:
            progress(task.track, number, len(tasks))
        if task.finished:
            continue
        # Its files are about to be replaced: without its mark, a stop now leaves nothing to trust.
        folder.done(task.track).unlink(missing_ok=True)
        try:
            files = study.per_track(layout, task.track, settings, folder)
        except IrmetaError as error:
            failed.append((task.track, str(error)))
            continue
        write_atomic(folder.done(task.track), mark_done(folder, task, files))
        analysed.append(task.track)
    lost = {track for track, _ in failed}
    done = [task.track for task in tasks if task.track not in lost]
    forget_others(study, folder, done)
    if done:
        study.combine(layout, done, settings, folder)
    unchanged = tuple(t.track for t in tasks if t.finished)
    return Batch(tuple(analysed), unchanged, tuple(failed))
