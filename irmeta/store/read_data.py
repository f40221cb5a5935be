"""Reading of runs and qrels that a user passes, in memory or as files, to a track in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from irmeta.errors import DataError, UsageError, did_you_mean, of_track
from irmeta.inputs.columns import QrelsColumns, RunColumns
from irmeta.inputs.files import qrels_text, read_qrels
from irmeta.inputs.given import GivenQrels, GivenRun
from irmeta.parallel import check_not_forked, ordered_map, thread_count
from irmeta.policies import ReadPolicy
from irmeta.store.ingest import Outcome
from irmeta.store.memory import MemoryStore, hold
from irmeta.store.read_run import Run, SkippedRun, read_run, run_of_columns
from irmeta.store.read_track import read_with
from irmeta.store.readers import Readers
from irmeta.trec.grades import grade_column
from irmeta.trec.qrels import QrelsText, once_each
from irmeta.trec.source import QrelsSource, TrackSource
from irmeta.trec.streams import InputFile

SUBTOPICS_FIX = "pass `subtopics=True`."


def read_data(
    track: str,
    qrels: Sequence[GivenQrels],
    runs: Sequence[GivenRun],
    policy: ReadPolicy,
    *,
    subtopics: bool = False,
    rel: float | Mapping[str, float] | None = None,
    workers: int | None = None,
) -> tuple[MemoryStore, Outcome]:
    """Read one track into memory.

    Parameters
    ----------
    track
        Name of the track.
    qrels, runs
        See irmeta.inputs.given. Files are read as those of a collection.
    policy
        The policy of reading; its `names` has no effect.
    subtopics
        Whether iterations of qrels are subtopics.
    rel
        Least relevant grade of every qrels set, or of some by name.
    workers
        Threads over the runs; default: the usable cores.

    Raises
    ------
    DataError
        If the qrels, a run in memory, or all run files cannot be read.
    """
    check_not_forked()
    workers, policy = thread_count(workers), replace(policy, names="tag")
    rels = _rels(rel, [one.name for one in qrels])
    sets = [_judged(one, subtopics, policy, rels.get(one.name)) for one in qrels]
    files = tuple(run.place for run in runs)
    source = TrackSource(
        track,
        Path(),
        files,
        tuple(given for given, _ in sets),
        policy=policy,
        given={file: file for file in (*files, *(given.file for given, _ in sets))},
    )

    def read_runs(readers: Readers) -> tuple[list[Run | SkippedRun], dict[str, str | None]]:
        read = partial(_read_run, source, readers)
        found = list(ordered_map(read, runs, workers=workers))
        return found, {run.file: run.sha256 for run in found}

    try:
        held = hold(read_with(source, sets, read_runs), workers)
    except DataError as error:  # what names no run or qrels is about the track
        raise (of_track(track, error) if error.file is None else error) from None
    return MemoryStore(track, policy, {track: held}), Outcome(source, "read")


def _judged(
    given: GivenQrels, subtopics: bool, policy: ReadPolicy, rel: float | None
) -> tuple[QrelsSource, QrelsText]:
    """Return one qrels set, with the rows of all its parts."""
    in_memory = [part for part in given.parts if isinstance(part, QrelsColumns)]
    subtopics = subtopics or any(part.is_subtopic for part in in_memory)
    read = [_part(part, subtopics, policy) for part in given.parts]
    first = given.parts[0]
    place = first.name if isinstance(first, InputFile) else first.place
    place = place if len(read) == 1 else f"qrels {given.name!r}"
    if len(read) > 1:
        frame = pl.concat([text.frame for text in read], how="vertical_relaxed")
        frame = frame.with_columns(grade_column(frame["grade"], place, policy.grade_digits))
        frame = frame.drop("line").with_row_index("line")
        frame, notes = once_each(frame, place, subtopics, "row", SUBTOPICS_FIX)
        sha256 = " ".join(text.sha256 for text in read)
        read = [QrelsText(frame, sha256, (*(n for text in read for n in text.notes), *notes))]
    stated: Any = {} if rel is None else {"rel": rel}
    return QrelsSource(given.name, place, subtopics=subtopics, **stated), read[0]


def _rels(rel: float | Mapping[str, float] | None, names: list[str]) -> dict[str, float]:
    """Return the stated least relevant grades by qrels set."""
    if rel is None or not isinstance(rel, Mapping):
        return {} if rel is None else dict.fromkeys(names, rel)
    for name in rel:
        if name not in names:
            raise UsageError(f"rel: no qrels set {name!r}. {did_you_mean(name, names)}")
    return dict(rel)


def _part(part: QrelsColumns | InputFile, subtopics: bool, policy: ReadPolicy) -> QrelsText:
    digits = policy.grade_digits
    if isinstance(part, InputFile):
        return read_qrels(part, subtopics=subtopics, grade_digits=digits, comments=policy.comments)
    return qrels_text(part, subtopics, part.sha256(), fix=SUBTOPICS_FIX, grade_digits=digits)


def _read_run(source: TrackSource, readers: Readers, given: GivenRun) -> Run | SkippedRun:
    content = given.load()
    with readers.borrow() as reader:
        if isinstance(content, RunColumns):
            return run_of_columns(content, given.name, source.policy, reader)
        run = read_run(source, content, reader)
    return run if given.name is None else replace(run, tag=given.name)
