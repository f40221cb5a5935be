"""Reading of runs and qrels that a user passes, in memory or as files, to a track in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from irmeta.errors import DataError, of_track
from irmeta.inputs.columns import QrelsColumns, RunColumns
from irmeta.inputs.given import GivenQrels, GivenRun
from irmeta.kernels.numbering import collect
from irmeta.parallel import ordered_map, thread_count
from irmeta.policies import ReadPolicy
from irmeta.store.ingest import Outcome
from irmeta.store.memory import MemoryStore, hold
from irmeta.store.read_run import Run, SkippedRun, read_run, run_of_rows
from irmeta.store.read_track import read_with
from irmeta.store.readers import Readers
from irmeta.trec.qrels import QrelsText, once_each, parse_qrels
from irmeta.trec.rows import RowReader, Rows
from irmeta.trec.runs import RunText
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
    workers
        Threads over the runs; default: the usable cores.

    Raises
    ------
    DataError
        If the qrels, a run in memory, or all run files cannot be read.
    """
    workers, policy = thread_count(workers), replace(policy, names="tag")
    sets = [_judged(one, subtopics) for one in qrels]
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


def _judged(given: GivenQrels, subtopics: bool) -> tuple[QrelsSource, QrelsText]:
    """Return one qrels set, with the rows of all its parts."""
    in_memory = [part for part in given.parts if isinstance(part, QrelsColumns)]
    subtopics = subtopics or any(part.is_subtopic for part in in_memory)
    read = [_part(part, subtopics) for part in given.parts]
    first = given.parts[0]
    place = first.name if isinstance(first, InputFile) else first.place
    place = place if len(read) == 1 else f"qrels {given.name!r}"
    if len(read) > 1:
        frame = pl.concat([text.frame for text in read]).drop("line").with_row_index("line")
        frame, notes = once_each(frame, place, subtopics, "row", SUBTOPICS_FIX)
        sha256 = " ".join(text.sha256 for text in read)
        read = [QrelsText(frame, sha256, (*(n for text in read for n in text.notes), *notes))]
    return QrelsSource(given.name, place, subtopics=subtopics), read[0]


def _part(part: QrelsColumns | InputFile, subtopics: bool) -> QrelsText:
    if isinstance(part, InputFile):
        return parse_qrels(part, subtopics=subtopics)
    if "subtopic" not in part.frame.columns:
        if subtopics:
            fix = "Add a column 'subtopic'."
            raise DataError("no column of the subtopic", file=part.place, fix=fix)
        part = replace(part, frame=part.frame.with_columns(subtopic=pl.lit(None, pl.String)))
    frame = part.frame.with_row_index("line").with_columns(pl.col("line").cast(pl.Int64))
    frame, notes = once_each(frame, part.place, subtopics, "row", SUBTOPICS_FIX)
    return QrelsText(frame, part.sha256(), notes)


def _read_run(source: TrackSource, readers: Readers, given: GivenRun) -> Run | SkippedRun:
    content = given.load()
    with readers.borrow() as reader:
        if isinstance(content, RunColumns):
            return _run_of_columns(content, given.name, source.policy, reader)
        run = read_run(source, content, reader)
    return run if given.name is None else replace(run, tag=given.name)


def _run_of_columns(
    columns: RunColumns, name: str | None, policy: ReadPolicy, reader: RowReader
) -> Run:
    rows = Rows(
        queries=reader.queries.numbers(columns.queries),
        starts=columns.starts,
        doc=reader.docs.numbers_of(columns.docs),
        score=np.array(columns.score),
        rank=np.array(columns.rank),
        tags=(),
        commas=0,
        odd_ranks=columns.odd_ranks,
        repeats=0,
    )
    rows = replace(rows, repeats=_repeats(rows, len(reader.docs)))
    odd = columns.odd_ranks
    notes = [f"{odd:,} ranks are not whole numbers"] if odd else []
    text = RunText(rows, columns.sha256(), name, notes=notes)
    return run_of_rows(policy, columns.place, text, reader, partial(_first_repeat, columns))


def _repeats(rows: Rows, docs: int) -> int:
    """Count the rows whose doc is also in an earlier row of their list."""
    lists = len(rows.starts) - 1
    seen, ends = np.zeros(docs, np.int32), np.empty(lists, np.int64)
    none, no_docs = np.zeros(lists + 1, np.int64), np.empty(0, np.int32)
    distinct = np.empty_like(rows.doc)
    collect(rows.doc, rows.starts, no_docs, none, seen, 1, distinct, ends)
    return len(rows.doc) - int(ends[-1])


def _first_repeat(columns: RunColumns) -> DataError:
    """Return the error of the first duplicate (query, doc)."""
    lists = np.repeat(np.arange(len(columns.queries)), np.diff(columns.starts))
    rows = pl.DataFrame(
        {"query": columns.queries.gather(lists), "doc": pl.Series(columns.docs, dtype=pl.String)}
    )
    row = rows.select((~pl.struct(pl.all()).is_first_distinct()).arg_max()).item()
    ids: dict[str, object] = rows.row(row, named=True)
    problem = "query {query} has doc {doc} a second time"
    return DataError(
        problem,
        file=columns.place,
        ids=ids,
        fix="Keep one row of each doc; `duplicates='first'` keeps the first.",
    )
