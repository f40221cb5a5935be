"""One run file to numbers: names interned, duplicates dealt with, the list order still open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from irmeta.errors import DataError, printable
from irmeta.kernels.lists import RISES, ranks_contradict, score_states
from irmeta.store.spill import Columns, InMemory
from irmeta.trec.ordering import contradicting_lists, rows_of
from irmeta.trec.rows import NO_RANK, RowReader
from irmeta.trec.runs import RunText, first_repeat, parse_run
from irmeta.trec.source import TrackSource
from irmeta.trec.streams import InputFile, stored_sha256
from irmeta.trec.tie_orders import missing_rank, row_without_rank


@dataclass(frozen=True)
class Run:
    """The rows of one system, list by list, each in file order.

    Attributes
    ----------
    tag
        The first tag of the file; None where it has none.
    reader
        Whose names the numbers of queries and docs are of.
    queries, starts
        int32: the query of each list, each once; int64 [lists + 1]: where its rows begin.
    states
        uint8 [lists]: how the scores of each go, see irmeta.kernels.lists.
    columns
        By row: doc, score, rank_given (the file's own rank) and position, 1-based in the file.
    system
        Its name, which may depend on the other runs of the track.
    """

    file: str
    sha256: str
    tag: str | None
    reader: RowReader
    queries: np.ndarray
    starts: np.ndarray
    states: np.ndarray
    columns: Columns
    malformed: int
    duplicates: int
    notes: list[str]
    system: str = ""

    @property
    def rows(self) -> int:
        return int(self.starts[-1])


@dataclass(frozen=True)
class SkippedRun:
    """A run file that is not in the track, and why; `tag` is None where it was not read."""

    file: str
    sha256: str | None
    tag: str | None
    reason: str
    system: str | None = None


def read_run(source: TrackSource, file: InputFile, reader: RowReader) -> Run | SkippedRun:
    """Read one run file of a track; a run that cannot be read becomes a `SkippedRun`."""
    sha256 = tag = None
    try:
        if printable(file.name) != file.name:
            raise DataError("its name is not UTF-8", file=printable(file.name), fix="Rename it.")
        parsed = parse_run(file, reader, source.policy.malformed)
        sha256, tag = parsed.sha256, parsed.tag
        return _run(source, file, parsed, reader)
    except DataError as error:
        if not source.may_quote(file.name):
            error.conceal()
        return SkippedRun(file.name, sha256 or stored_sha256(file), tag, str(error))


def _run(source: TrackSource, file: InputFile, parsed: RunText, reader: RowReader) -> Run:
    rows = parsed.rows
    count = len(rows.doc)
    position = np.arange(1, count + 1, dtype=np.int32)
    columns = {"doc": rows.doc, "score": rows.score, "rank_given": rows.rank, "position": position}
    queries, starts, order = _whole_lists(rows.queries, rows.starts)
    if order is not None:
        columns = {name: values[order] for name, values in columns.items()}
    dropped = 0
    if rows.repeats or order is not None:
        kept = _first_of_each(starts, columns["doc"])
        dropped = count - len(kept)
        if dropped and source.policy.duplicates == "error":
            raise first_repeat(file)
        columns = {name: values[kept] for name, values in columns.items()}
        starts = np.searchsorted(kept, starts)
    if row_without_rank(source.policy.tie_order, columns) is not None:
        raise missing_rank(source.policy.tie_order, file=file.name)
    notes = [*parsed.notes]
    if dropped:
        notes.append(f"{dropped:,} rows dropped: their doc came before in the same list")
    states = np.empty(len(starts) - 1, np.uint8)
    score_states(starts, columns["score"], states)
    if lists := _contradicting(starts, states, columns["score"], columns["rank_given"]):
        notes.append(f"the rank column disagrees with the scores in {lists:,} lists")
    counts = (parsed.malformed, dropped)
    held = InMemory(columns)
    return Run(
        file.name, parsed.sha256, parsed.tag, reader, queries, starts, states, held, *counts, notes
    )


def _whole_lists(
    queries: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return each query once in order of appearance, where its rows begin, and their permutation.

    The permutation is None where the rows of each query lie together already.
    """
    if len(set(queries.tolist())) == len(queries):
        return queries, starts, None
    once, firsts, which = np.unique(queries, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    place = np.empty(len(once), np.int64)
    place[order] = np.arange(len(once))
    lists = np.repeat(place[which], np.diff(starts))
    lengths = np.bincount(lists, minlength=len(once))
    return once[order], np.r_[0, np.cumsum(lengths)], np.argsort(lists, kind="stable")


def _first_of_each(starts: np.ndarray, doc: np.ndarray) -> np.ndarray:
    """The rows whose doc has not come before in their list, ascending."""
    lists = np.repeat(np.arange(len(starts) - 1, dtype=np.int64), np.diff(starts))
    # Rows of a list lie in file order, so the first of a pair is the first in the file.
    return np.sort(np.unique(lists << 32 | doc, return_index=True)[1])


def _contradicting(
    starts: np.ndarray, states: np.ndarray, score: np.ndarray, rank: np.ndarray
) -> int:
    """How many lists have a rank column that no order by score agrees with."""
    found = np.empty(len(states), bool)
    ranks_contradict(starts, score, rank, NO_RANK, found)
    rising = np.flatnonzero(states == RISES)
    if not len(rising):
        return int(found.sum())
    lengths = np.diff(starts)[rising]
    rows, lists = rows_of(starts[rising], lengths), np.repeat(rising, lengths)
    return int(found[states != RISES].sum()) + contradicting_lists(lists, score[rows], rank[rows])
