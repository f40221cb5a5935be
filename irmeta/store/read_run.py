"""Reading of one run file to lists in file order, and its rows in memory or in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol, Self, TypeVar, cast

import numpy as np
import polars as pl

from irmeta.errors import DataError, printable
from irmeta.kernels.lists import (
    RISES,
    collect,
    gather_floats,
    gather_ints,
    gather_names,
    ranks_contradict,
    score_states,
)
from irmeta.parallel import release_freed
from irmeta.phrases import agreeing, count
from irmeta.trec.readers.columns import RunColumns
from irmeta.trec.readers.file_tables import has_tab_fields
from irmeta.trec.readers.files import read_predictions, read_run_file
from irmeta.trec.readers.forms import Form, read_metadata, recognize
from irmeta.trec.runs import (
    NO_RANK,
    ODD_RANKS,
    RowReader,
    Rows,
    RunText,
    first_repeat,
    parse_clean_run,
    parse_odd_run,
)
from irmeta.trec.source import TrackSource
from irmeta.trec.streams import InputFile, stored_sha256
from irmeta.trec.tie_orders import (
    TIE_RULES,
    TieRule,
    contradicting_lists,
    missing_rank,
    row_without_rank,
    rows_of,
)

KINDS: dict[str, type[np.generic]] = {
    "doc": np.int32,
    "score": np.float64,
    "rank_given": np.int32,
    "position": np.int32,
}


MANY_ROWS = 1 << 20
"""Rows of a run from which freed memory is returned before they are numbered."""


class Columns(Protocol):
    """Arrays of one length, by the names of `KINDS`."""

    @property
    def held(self) -> int:
        """Return the bytes of memory that the arrays take."""
        ...

    def rows(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """Return rows `start` to `stop` of each array."""
        ...


@dataclass(frozen=True)
class InMemory:
    """Columns as arrays."""

    arrays: dict[str, np.ndarray]

    @property
    def held(self) -> int:
        """Number of bytes in memory."""
        return sum(values.nbytes for values in self.arrays.values())

    def rows(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """Return the columns of some rows."""
        return {name: values[start:stop] for name, values in self.arrays.items()}

    def spill(self, path: Path) -> Spilled:
        """Write the columns to a file; `OSError` if incomplete (numpy's `tofile` raises none)."""
        with path.open("wb") as file:
            for name, kind in KINDS.items():
                file.write(self.arrays[name].astype(kind, copy=False).tobytes())
        return Spilled(path, len(self.arrays["doc"]))


@dataclass(frozen=True)
class Spilled:
    """Columns in a file, one after another in the order of `KINDS`, each of `count` values."""

    path: Path
    count: int
    held = 0

    def rows(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """Read the columns of some rows."""
        arrays, begin = {}, 0
        for name, kind in KINDS.items():
            size = np.dtype(kind).itemsize
            offset = begin + start * size
            begin += self.count * size
            arrays[name] = np.fromfile(self.path, kind, stop - start, offset=offset)
            if len(arrays[name]) != stop - start:  # a kernel would read beyond the array
                raise OSError(f"{self.path} is shorter than the rows written to it")
        return arrays


class ListRows(NamedTuple):
    """The source, first row and number of rows of each list; all int64."""

    source: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray


@dataclass(frozen=True)
class Sources:
    """Columns of several runs, each with the table that maps its doc numbers.

    `addresses` are int64 [sources] by the names of `KINDS` and "table"; `held` keeps the arrays.
    """

    held: tuple[dict[str, np.ndarray], ...]
    addresses: dict[str, np.ndarray]

    @classmethod
    def of(cls, columns: Sequence[InMemory], tables: Sequence[np.ndarray]) -> Self:
        """Collect columns as they were read, each with its table."""
        held = tuple(
            run.arrays | {"table": table} for run, table in zip(columns, tables, strict=True)
        )
        kinds = KINDS | {"table": np.int32}
        addresses = {
            name: np.array([_address(arrays[name], kind) for arrays in held], np.int64)
            for name, kind in kinds.items()
        }
        return cls(held, addresses)

    def rows(self, list_rows: ListRows) -> dict[str, np.ndarray]:
        """Return the rows of lists, list after list, by the names of `KINDS`; doc is mapped."""
        arrays = {name: np.empty(list_rows.lengths.sum(), kind) for name, kind in KINDS.items()}
        addresses = self.addresses
        gather_names(addresses["doc"], addresses["table"], *list_rows, arrays["doc"])
        gather_floats(addresses["score"], *list_rows, arrays["score"])
        for name in ("rank_given", "position"):
            gather_ints(addresses[name], *list_rows, arrays[name])
        return arrays


def _address(array: np.ndarray, kind: type[np.generic]) -> int:
    if array.dtype != kind or not array.flags.c_contiguous:  # a kernel would read beyond the array
        raise TypeError(f"not a contiguous array of {np.dtype(kind)}: {array.dtype}")
    return array.ctypes.data


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """The lists of a run file, and what was noticed.

    `queries` (int32) are numbers by list, which begin at the rows `starts`; `empty` are queries
    with an empty list. `malformed`, `duplicates` and `contradicting` count lines and rows dropped,
    and lists whose rank column contradicts the scores. Without a `tag` (five columns) it is None.
    `metadata` are the comments at the start of the file, if they hold ir_metadata.
    """

    file: str
    sha256: str
    tag: str | None
    queries: np.ndarray
    starts: np.ndarray
    malformed: int
    duplicates: int
    notes: list[str]
    contradicting: int = 0
    system: str = ""
    empty: tuple[str, ...] = ()
    metadata: bytes = b""

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.starts[-1])


AnyRun = TypeVar("AnyRun", bound=RunFacts)


@dataclass(frozen=True, kw_only=True)
class Run(RunFacts):
    """One run file in file order, with the numbers that its reader gives to queries and docs.

    `states` (uint8, by list) are the orders of scores, see irmeta.kernels.lists; `columns` are by
    row: doc, score, rank_given and position, 1-based in the file.
    """

    reader: RowReader
    states: np.ndarray
    columns: Columns


@dataclass(frozen=True)
class SkippedRun:
    """A skipped run file with the reason; `tag` is None if the file was not read."""

    file: str
    sha256: str | None
    tag: str | None
    reason: str
    system: str | None = None


def read_run(source: TrackSource, file: InputFile, reader: RowReader) -> Run | SkippedRun:
    """Read one run file of a track; a run that cannot be read becomes a `SkippedRun`."""
    sha256 = tag = None
    comments = source.policy.comments
    try:
        if printable(file.name) != file.name:
            raise DataError("its name is not UTF-8", file=printable(file.name), fix="Rename it.")
        form: str = source.policy.run_format
        is_given, parsed = form != "auto", None
        if form in ("auto", "trec"):
            parsed = parse_clean_run(file, reader, comments)
        if not is_given:
            form = "trec"
            is_odd = parsed is None or parsed.rows.may_be_shifted
            if is_odd and reader.has_tabs and has_tab_fields(file, "run", comments, reader.room):
                form = "tabs"
            elif parsed is None:
                form = recognize(file, "run")
        if form == "predictions":
            judged = [source.input_file(qrels.file) for qrels in source.qrels]
            columns = read_predictions(file, judged, comments, reader.room)
            return run_of_columns(columns, None, source, reader)
        if form != "trec":
            columns, tag = read_run_file(
                file, cast(Form, form), is_given=is_given, comments=comments, room=reader.room
            )
            sha256 = columns.sha256()
            run = run_of_columns(columns, tag, source, reader)
            return replace(run, metadata=read_metadata(file))
        has_comments = parsed is None or parsed.rows.comments > 0
        parsed = parsed or parse_odd_run(file, reader, source.policy.malformed, comments)
        sha256, tag = parsed.sha256, parsed.tag
        repeat = partial(first_repeat, file, comments)
        run = run_of_rows(source, file.name, parsed, reader, repeat)
        return replace(run, metadata=read_metadata(file)) if has_comments else run
    except DataError as error:
        if not source.may_quote(file.name):
            error.conceal()
        return SkippedRun(file.name, sha256 or stored_sha256(file), tag, str(error))


def run_of_columns(
    columns: RunColumns, name: str | None, source: TrackSource, reader: RowReader
) -> Run:
    """Return a run of columns, see `run_of_rows`; `name` is its tag."""
    if len(columns.docs) > MANY_ROWS:
        release_freed()  # of the table that they were in, 50 MB of two million rows
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
    notes = [*columns.notes, *([f"{odd:,} {ODD_RANKS}"] if odd else [])]
    text = RunText(rows, columns.sha256(), name, notes=notes)
    run = run_of_rows(source, columns.place, text, reader, partial(_first_repeat, columns))
    return replace(run, empty=columns.empty + run.empty)


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
        fix="Keep one row of each doc; `duplicates='first'` keeps the first, `duplicates='best'` "
        "that of the best score.",
    )


def run_of_rows(
    source: TrackSource,
    name: str,
    parsed: RunText,
    reader: RowReader,
    repeat_error: Callable[[], DataError],
) -> Run:
    """Return the run of some rows, list by list, without duplicates.

    Raises `repeat_error` for a doc twice in a list, unless the policy keeps one, and `DataError`
    for a row without a rank that the tie order compares, or if all docs are dropped.
    """
    policy, rows = source.policy, parsed.rows
    position = np.arange(1, len(rows.doc) + 1, dtype=np.int32)
    columns = {"doc": rows.doc, "score": rows.score, "rank_given": rows.rank, "position": position}
    queries, starts, order = _group_lists(rows.queries, rows.starts)
    if order is not None:
        columns = {name: values[order] for name, values in columns.items()}
    dropped = 0
    if rows.repeats or order is not None:
        by_rule = TIE_RULES[policy.tie_order] if policy.duplicates == "best" else None
        first_rows = _one_of_each(starts, columns, by_rule)
        dropped = len(rows.doc) - len(first_rows)
        if dropped and policy.duplicates == "error":
            raise repeat_error()
        columns = {name: values[first_rows] for name, values in columns.items()}
        starts = np.searchsorted(first_rows, starts)
    ruled, empty = list[str](), tuple[str, ...]()
    if policy.drop_self or source.doc_rules is not None:
        ruled_lists = Lists(queries, starts, columns)
        (queries, starts, columns), ruled, empty = _ruled(source, name, ruled_lists, reader)
    if row_without_rank(policy.tie_order, columns) is not None:
        raise missing_rank(policy.tie_order, file=name)
    notes = [*parsed.notes]
    if dropped:
        reason = "came before" if policy.duplicates == "first" else "has a better row"
        whose = agreeing(dropped, "its", "their")
        notes.append(f"{count(dropped, 'row')} dropped: {whose} doc {reason} in the same list")
    notes += ruled
    states = np.empty(len(starts) - 1, np.uint8)
    score_states(starts, columns["score"], states)
    lists = contradicting(starts, states, columns["score"], columns["rank_given"])
    notes += contradiction_notes(lists)
    return Run(
        file=name,
        sha256=parsed.sha256,
        tag=parsed.tag,
        reader=reader,
        queries=queries,
        starts=starts,
        states=states,
        columns=InMemory(columns),
        malformed=parsed.malformed,
        duplicates=dropped,
        contradicting=lists,
        notes=notes,
        empty=empty,
    )


class Lists(NamedTuple):
    """Lists of a run: the queries, the first row of each list and the end, and columns by row."""

    queries: np.ndarray
    starts: np.ndarray
    columns: dict[str, np.ndarray]

    def only(self, is_row: np.ndarray) -> Lists:
        """Return some rows of the lists; a list without a row is none."""
        starts = np.append(0, np.cumsum(is_row))[self.starts]
        is_list = np.diff(starts) > 0
        columns = {name: values[is_row] for name, values in self.columns.items()}
        return Lists(self.queries[is_list], np.append(starts[:-1][is_list], starts[-1]), columns)


def _ruled(
    source: TrackSource, file: str, lists: Lists, reader: RowReader
) -> tuple[Lists, list[str], tuple[str, ...]]:
    """Return lists under the rules of the policy for docs, notes, and queries without docs left.

    Raises `DataError` if all docs are dropped.
    """
    notes, empty, rules = list[str](), tuple[str, ...](), source.doc_rules
    if rules is not None and rules.separator is not None:
        docs, note = rules.docs_of_chunks(lists.columns["doc"], reader.docs, file)
        if note:
            columns = lists.columns | {"doc": docs}
            best_rows = _one_of_each(lists.starts, columns, TIE_RULES[source.policy.tie_order])
            is_best = np.zeros(len(docs), bool)
            is_best[best_rows] = True
            lists = Lists(lists.queries, lists.starts, columns).only(is_best)
            notes.append(f"{note}; {len(docs) - len(best_rows):,} rows of lower chunks dropped")
    if source.policy.drop_self:
        queries = reader.docs.numbers(reader.queries.strings().gather(lists.queries))
        is_left = lists.columns["doc"] != np.repeat(queries, np.diff(lists.starts))
        if not is_left.any():
            raise DataError("all docs have the id of their query", file=file)
        if selves := int(np.count_nonzero(~is_left)):
            notes.append(f"{selves:,} docs dropped that have the id of their query")
        lists = lists.only(is_left)
    if rules is not None and rules.file:
        queries = reader.queries.strings().gather(lists.queries)
        is_left = ~rules.are_dropped(queries, lists.starts, lists.columns["doc"], reader.docs)
        if not is_left.any():
            raise DataError(f"all docs are in {rules.file}", file=file)
        notes.append(f"{np.count_nonzero(~is_left):,} docs dropped that are in {rules.file}")
        before, lists = lists.queries, lists.only(is_left)
        empty = tuple(queries.filter(~np.isin(before, lists.queries)))
    return lists, notes, empty


def _group_lists(
    queries: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the distinct queries by appearance, their first rows, and a permutation of rows.

    The permutation is None if the rows of each query are already adjacent.
    """
    if len(set(queries.tolist())) == len(queries):
        return queries, starts, None
    distinct, firsts, inverse = np.unique(queries, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    new_index = np.empty(len(distinct), np.int64)
    new_index[order] = np.arange(len(distinct))
    lists = np.repeat(new_index[inverse], np.diff(starts))
    lengths = np.bincount(lists, minlength=len(distinct))
    return distinct[order], np.r_[0, np.cumsum(lengths)], np.argsort(lists, kind="stable")


def _one_of_each(
    starts: np.ndarray, columns: dict[str, np.ndarray], best: TieRule | None
) -> np.ndarray:
    """Return one row of each doc in its list, ascending: the first, or the first of the best."""
    lists = np.repeat(np.arange(len(starts) - 1, dtype=np.int64), np.diff(starts))
    pairs = lists << 32 | columns["doc"]
    if best is None:
        # Rows are in file order, so the first row of a pair is the first in the file.
        return np.sort(np.unique(pairs, return_index=True)[1])
    values = columns[best.column]
    order = np.lexsort((-values if best.column == "score" else values, pairs))  # is stable
    return np.sort(order[np.diff(pairs[order], prepend=-1) != 0])


def contradiction_notes(lists: int) -> list[str]:
    """Return the note on lists whose rank column contradicts the scores, if there are any."""
    return [f"the rank column disagrees with the scores in {count(lists, 'list')}"] if lists else []


def contradicting(
    starts: np.ndarray, states: np.ndarray, score: np.ndarray, rank: np.ndarray
) -> int:
    """Count the lists whose rank column contradicts every order by score."""
    contradicts = np.empty(len(states), bool)
    ranks_contradict(starts, score, rank, NO_RANK, contradicts)
    rising = np.flatnonzero(states == RISES)
    if not len(rising):
        return int(contradicts.sum())
    lengths = np.diff(starts)[rising]
    rows, lists = rows_of(starts[rising], lengths), np.repeat(rising, lengths)
    return int(contradicts[states != RISES].sum()) + contradicting_lists(
        lists, score[rows], rank[rows]
    )
