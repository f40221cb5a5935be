"""Files of runs and qrels in forms other than TREC's, as columns.

Those for learning to rank (LETOR, SVMlight) come last: lines with judgments, and files of scores.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace
from math import isfinite

import numpy as np
import polars as pl

from irmeta.errors import DataError, NoTableError
from irmeta.parallel import check_not_forked
from irmeta.policies import Comments
from irmeta.trec.archives import archive_kind
from irmeta.trec.qrels import (
    GRADES_FIX,
    QrelsFormat,
    QrelsText,
    grade_column,
    once_each,
    parse_qrels,
)
from irmeta.trec.readers.columns import QrelsColumns, RunColumns
from irmeta.trec.readers.engine_json import EngineFile
from irmeta.trec.readers.file_tables import (
    FileTable,
    as_text,
    has_tab_fields,
    line_of_key,
    numeric,
    place_of_key,
    read_content,
    read_json,
    table_of_csv,
    table_of_fields,
    table_of_jsonl,
    table_of_parquet,
    table_of_tabs,
)
from irmeta.trec.readers.forms import FORMS, TABLES, Form, Kind, recognize
from irmeta.trec.readers.frames import (
    ALL_RELEVANT,
    as_frame,
    has_doc_lists,
    qrels_of_dict,
    qrels_of_frame,
    run_of_dict,
    runs_of_frame,
)
from irmeta.trec.room import Room, check_room, cost, half_of_memory
from irmeta.trec.runs import reading_notes
from irmeta.trec.source import BrokenTrack, TrackSource
from irmeta.trec.streams import InputFile, open_stream
from irmeta.trec.text import NUMBER, Text, first_fields, lines

_TEXT = ("msmarco", "scores", "tabs")
"""Forms of text without names of columns, other than TREC's."""
_WIDTH = {"msmarco": ("query", "doc", "rank"), "scores": ("query", "doc", "score")}


def read_run_file(
    file: InputFile,
    form: Form,
    *,
    is_given: bool,
    comments: Comments = "auto",
    room: Room = half_of_memory,
) -> tuple[RunColumns, str | None]:
    """Read a run that is not in TREC form.

    Parameters
    ----------
    is_given
        Whether the user named the form; otherwise three columns of whole numbers must be ranks.
    comments
        See `ReadPolicy`.
    room
        The memory left for it.

    Returns
    -------
    columns
        The rows, with notes on the form.
    tag
        The system that a column names, or None.

    Raises
    ------
    DataError
        If the file is malformed, holds several systems, or its third column may be a rank or a
        score.
    """
    content, sha256 = read_content(file, form, room)
    tag = None
    tabs = table_of_tabs(content, file.name, "run", comments) if form in _TEXT else None
    if tabs is not None and "q0" in tabs.frame.columns and form != "tabs":
        tabs = None  # not of the form that the user named
    if tabs is not None and "q0" in tabs.frame.columns:
        table, tag = _without_tags(tabs)
    elif form in ("json", "jsonl"):
        table = _run_of_json(content, file, form)
        if isinstance(table, RunColumns):
            return _noted(table, form, sha256), None
    elif form in _TEXT:
        given = form if form in _WIDTH else "msmarco"
        if tabs is None:
            has_score = given == "msmarco" and len(first_fields(content)) == 4
            columns = _WIDTH[given] + (("score",) if has_score else ())
            tabs = table_of_fields(content, file.name, columns, comments)
        form, table = _of_fields(tabs, given, is_given=is_given)
    else:
        table = _table(content, file, form, room)
    del content  # tables have copies of its fields
    with _located(table):
        runs = list(runs_of_frame(as_frame(table.frame, file.name), file.name, table.chosen))
    if len(runs) > 1:
        names = ", ".join(repr(name) for name, _ in runs[:3])
        fix = "Write one file per system, or pass the table to irmeta.from_data."
        problem = f"{len(runs)} systems in one file: {names}{', ...' if len(runs) > 3 else ''}"
        raise DataError(problem, file=file.name, fix=fix)
    ((named, columns),) = runs
    columns = replace(columns, place=file.name, notes=table.notes + columns.notes)
    return _noted(columns, form, sha256), named or tag


def _without_tags(table: FileTable) -> tuple[FileTable, str | None]:
    """Return a run without its column of tags, and the first of them."""
    if "tag" not in table.frame.columns:
        return numeric(table), None
    tags = table.frame["tag"].unique(maintain_order=True)
    notes = reading_notes(tags.to_list(), 0, 0)
    table = replace(table, frame=table.frame.drop("tag"), notes=(*table.notes, *notes))
    return numeric(table), tags[0]


def read_qrels(
    file: InputFile,
    form: QrelsFormat = "trec",
    *,
    subtopics: bool = False,
    grade_digits: int | None = None,
    comments: Comments = "auto",
    room: Room = half_of_memory,
    last_grade: bool = False,
) -> QrelsText:
    """Read a qrels file: in TREC form, or in another that is recognised by content.

    Parameters
    ----------
    form
        A format of five fields, which is not recognised; or ``trec``, for every other form.
    subtopics, grade_digits, comments, room
        See `parse_qrels`.
    last_grade
        See `parse_qrels`; of files in TREC form alone.

    Raises
    ------
    DataError
        If the file is malformed.
    """
    check_not_forked()
    other: Form = "tabs"
    if form != "trec" or not has_tab_fields(file, "qrels", comments, room):
        try:
            return parse_qrels(
                file,
                form,
                subtopics=subtopics,
                grade_digits=grade_digits,
                comments=comments,
                room=room,
                last_grade=last_grade,
            )
        except DataError:
            if form != "trec" or (other := recognize(file, "qrels")) == "trec":
                raise
    if other == "letor":
        table, sha256 = read_judged_lines(file, room)
        return _judged(_qrels_of(table), sha256, other, subtopics, table, grade_digits)
    content, sha256 = read_content(file, other, room)
    if (tabs := table_of_tabs(content, file.name, "qrels", comments)) is not None:
        return _judged(_qrels_of(numeric(tabs)), sha256, "tabs", subtopics, tabs, grade_digits)
    if other in ("json", "jsonl"):
        read = read_json if other == "json" else table_of_jsonl
        found = read(as_text(content, file.name), file.name, "qrels", file.columns)
        if isinstance(found, FileTable):
            return _judged(_qrels_of(found), sha256, other, subtopics, found, grade_digits)
        with _located_in_json(content):
            if isinstance(found, EngineFile):
                return _judged(found.qrels(file.name), sha256, other, subtopics, None, grade_digits)
            columns = qrels_of_dict(found, file.name)
        judged = _judged(columns, sha256, other, subtopics, None, grade_digits)
        if not has_doc_lists(found):
            return judged
        return replace(judged, notes=(*judged.notes, ALL_RELEVANT))
    if other == "msmarco":
        table = numeric(table_of_fields(content, file.name, ("query", "doc", "grade"), comments))
    else:
        table = _table(content, file, other, room)
    return _judged(_qrels_of(table), sha256, other, subtopics, table, grade_digits)


def _table(content: bytes, file: InputFile, form: Form, room: Room) -> FileTable:
    if form == "parquet":
        return table_of_parquet(content, file.name, file.columns, room)
    return table_of_csv(content, file.name, file.columns)


def _run_of_json(content: bytes, file: InputFile, form: Form) -> RunColumns | FileTable:
    read = read_json if form == "json" else table_of_jsonl
    data = read(as_text(content, file.name), file.name, "run", file.columns)
    if isinstance(data, FileTable):
        return data
    with _located_in_json(content):
        if isinstance(data, EngineFile):
            return data.run(file.name)
        return run_of_dict(data, file.name)


def _of_fields(table: FileTable, form: Form, *, is_given: bool) -> tuple[Form, FileTable]:
    """Return the rows of a run without names of columns, and whether it has ranks or scores."""
    file, width = table.place, table.frame.width
    columns = _WIDTH[form] + (("score",) if width == 4 else ())
    names = dict(zip(table.frame.columns, columns, strict=True))
    table = replace(table, frame=table.frame.rename(names))
    if not is_given:
        third = table.frame["rank"]
        if width == 3 and not third.str.contains(r"\A[+-]?\d+\z").all():
            form, table = "scores", replace(table, frame=table.frame.rename({"rank": "score"}))
        elif (query := _unlike_ranks(table.frame)) is not None:
            row = table.frame["query"].index_of(query) or 0
            line = None if table.lines is None else int(table.lines[row])
            raise DataError(
                "the third column may be a rank or a score: for query {query} it does not count up",
                file=file,
                line=line,
                ids={"query": query},
                fix="`run_format='msmarco'` reads query doc rank. "
                "`run_format='scores'` reads query doc score.",
            )
    return form, numeric(table)


def _unlike_ranks(frame: pl.DataFrame) -> str | None:
    """Return the first query whose ranks are not 1, 2, 3, ... (or 0, 1, 2, ...) in any order."""
    rank = pl.col("rank").cast(pl.Int64, strict=False)
    counts_up = (rank.n_unique() == pl.len()) & (rank.max() - rank.min() + 1 == pl.len())
    is_rank = (counts_up & rank.min().is_in([0, 1])).fill_null(value=False)
    wrong = frame.group_by("query", maintain_order=True).agg(is_rank.alias("is_rank"))
    queries = wrong.filter(~pl.col("is_rank"))["query"]
    return queries[0] if len(queries) else None


def _noted(columns: RunColumns, form: Form, sha256: str) -> RunColumns:
    notes = (f"read as {FORMS[form]}", *columns.notes)
    return replace(columns, notes=notes, stored_sha256=sha256)


def _qrels_of(table: FileTable) -> QrelsColumns:
    with _located(table):
        return qrels_of_frame(as_frame(table.frame, table.place), table.place, table.chosen)


def _judged(
    columns: QrelsColumns,
    sha256: str,
    form: Form,
    subtopics: bool,
    table: FileTable | None,
    grade_digits: int | None,
) -> QrelsText:
    name = "three columns: query doc grade" if form == "msmarco" else FORMS[form]
    text = qrels_text(columns, subtopics, sha256, table, grade_digits=grade_digits)
    read = () if table is None else table.notes
    return replace(text, notes=(f"read as {name}", *read, *text.notes))


def qrels_text(
    columns: QrelsColumns,
    subtopics: bool,
    sha256: str,
    table: FileTable | None = None,
    grade_digits: int | None = None,
) -> QrelsText:
    """Return qrels in columns as those of a file: each judgment once.

    Raises
    ------
    DataError
        If there is no column of subtopics with `subtopics`, or a doc has two grades.
    """
    frame, subtopics = columns.frame, subtopics or columns.is_subtopic
    if "subtopic" not in frame.columns:
        if subtopics:
            add = "Add a column 'subtopic'."
            raise DataError("no column of the subtopic", file=columns.place, fix=add)
        frame = frame.with_columns(subtopic=pl.lit(None, pl.String))
    lines = None if table is None else table.lines
    rows = columns.rows
    if lines is not None and rows is not None:
        lines = lines[rows]
    unit = "row" if lines is None else "line"
    if lines is None:
        lines = np.arange(frame.height) if rows is None else rows.astype(np.int64)
    frame = frame.with_columns(line=pl.Series(lines))
    grades = grade_column(frame["grade"], columns.place, grade_digits)
    frame, notes = once_each(frame.with_columns(grades), columns.place, subtopics, unit)
    return QrelsText(frame, sha256, columns.notes + notes)


@contextmanager
def _located(table: FileTable) -> Generator[None]:
    try:
        yield
    except DataError as error:
        raise table.located(error) from None


@contextmanager
def _located_in_json(content: bytes) -> Generator[None]:
    """Add the line of the query and doc of an error; the text is decoded only for that."""
    try:
        yield
    except DataError as error:
        ids = error.ids or {}
        if error.line is None and {"query", "doc"} <= ids.keys():
            text = content.decode()
            start = max(0, place_of_key(text, str(ids["query"])))
            error.line = line_of_key(text, str(ids["doc"]), after=start)
        raise


def refuse_without_tables(sources: Iterable[TrackSource | BrokenTrack]) -> None:
    """Raise `NoTableError` if the user names columns and no file is a table with such names."""
    files = list[tuple[InputFile, Kind]]()
    for source in sources:
        if isinstance(source, TrackSource):
            files.extend((source.input_file(qrels.file), "qrels") for qrels in source.qrels)
            files.extend((source.input_file(run), "run") for run in source.runs)
    if not any(may_have_named_columns(*file) for file in files):
        raise NoTableError("no file has named columns: omit `columns=`.")


def may_have_named_columns(file: InputFile, kind: Kind) -> bool:
    """Check whether a file is a table with names of columns, an archive, or cannot be read."""
    try:
        return archive_kind(file) is not None or recognize(file, kind) in TABLES
    except DataError:  # which reading raises again
        return True


_DOCID = re.compile(rb"\bdocid\s*=\s*(\S+)")
_SHAPE = "A line is: grade qid:QUERY feature:value ... # DOC."
_NAMED: dict[str, tuple[Callable[[bytes, int], bytes | None], str]] = {
    "docid": (
        lambda comment, _: match[1] if (match := _DOCID.search(comment)) else None,
        "docs are named by docid = after #",
    ),
    "word": (
        lambda comment, _: comment.split(None, 1)[0] if comment.strip() else None,
        "docs are named by the first word after #",
    ),
    "line": (
        lambda comment, number: None if comment.strip() else b"%d" % number,
        "no line names its doc after #: docs are named by the numbers of their lines",
    ),
}
"""Functions that return the name of a line's doc from its comment and number; and notes on them.

The first function that names the doc of the first line names those of all.
"""


def read_judged_lines(file: InputFile, room: Room) -> tuple[FileTable, str]:
    """Read the judgments of a file for learning to rank, without its features.

    Two megabytes of text are held at a time.

    Returns
    -------
    table
        query, doc, grade (float64).
    sha256
        SHA-256 of the file as stored.

    Raises
    ------
    OutOfRoomError
        If the judgments do not fit into memory.
    DataError
        If a line has no grade, query or doc, or a field that is no feature.
    """
    frames, numbers = list[pl.DataFrame](), list[np.ndarray]()
    naming, rows, size = None, 0, 0
    with open_stream(file) as stream:
        text = Text(stream, file.name)
        for first, piece in text.pieces():
            read = list[tuple[str, str, float, int]]()
            for number, fields in lines(piece, file.name, fields=3, first=first):
                query, grade, comment = _parts(fields, file.name, number)
                if naming is None:
                    naming = next(how for how, _ in _NAMED.values() if how(comment, number))
                if (doc := naming(comment, number)) is None:
                    problem = "the doc is not named as those of the lines before"
                    fix = "Name all docs after #, as # docid = DOC, or none."
                    value = b"# " + comment
                    raise DataError(problem, file=file.name, line=number, value=value, fix=fix)
                read.append((query.decode(), doc.decode(), grade, number))
                size += len(query) + len(doc)
            rows += len(read)
            check_room(room, cost("qrels", rows, size), file.name)
            frame = pl.DataFrame(read, schema=_SCHEMA, orient="row")
            frames.append(frame.drop("line"))
            numbers.append(frame["line"].to_numpy())
        sha256 = stream.sha256()
    if naming is None:
        raise DataError("holds no judgment", file=file.name, fix=_SHAPE)
    notes = (next(note for how, note in _NAMED.values() if how is naming), *text.notes)
    return FileTable(file.name, pl.concat(frames), np.concatenate(numbers), notes), sha256


_SCHEMA = {"query": pl.String, "doc": pl.String, "grade": pl.Float64, "line": pl.Int64}


def _parts(fields: list[bytes], file: str, line: int) -> tuple[bytes, float, bytes]:
    """Return the query, the grade and the comment of a line."""
    grade, qid, features = (*fields, b"", b"")[:3]
    features, _, comment = features.partition(b"#")
    problem, value, fix = "no query (qid:) in field 2", qid, _SHAPE
    if qid.startswith(b"qid:") and len(qid) > len(b"qid:"):
        problem, value = "a field that is no feature:value", features
        if features.count(b":") == len(features.split()):
            problem, value, fix = "the grade is not a finite number", grade, GRADES_FIX
            if NUMBER.match(grade) and isfinite(float(grade)):
                return qid[len(b"qid:") :], float(grade), comment
    raise DataError(problem, file=file, line=line, value=value, fix=fix)


def read_predictions(
    file: InputFile, judged: Iterable[InputFile], comments: Comments, room: Room
) -> RunColumns:
    """Read a file with a score on each line as a run, for the lines of the qrels.

    Parameters
    ----------
    judged
        Files of the qrels, of which the first for learning to rank is used.
    comments, room
        See `read_run_file`.

    Raises
    ------
    DataError
        If a line is no finite number, or there is no such file of as many lines.
    """
    content, sha256 = read_content(file, "scores", room)
    table = numeric(table_of_fields(content, file.name, ("score",), comments))
    features = next((qrels for qrels in judged if recognize(qrels, "qrels") == "letor"), None)
    if features is None:
        problem = "a score per line, without qrels of qid: lines to which the scores belong"
        fix = "Name the file of these lines as qrels, or write query Q0 doc rank score tag."
        raise DataError(problem, file=file.name, line=1, fix=fix)
    scored = read_judged_lines(features, room)[0].frame
    if len(scored) != len(table.frame):
        problem = f"{len(table.frame):,} scores for {len(scored):,} lines of {{judged}}"
        fix = "Write a score for each line, in the order of the lines."
        raise DataError(problem, file=file.name, ids={"judged": features.name}, fix=fix)
    frame = scored.select("query", "doc").with_columns(table.frame["score"])
    try:
        ((_, columns),) = runs_of_frame(as_frame(frame, file.name), file.name)
    except DataError as error:
        raise table.located(error) from None
    note = f"the scores of the lines of {features.name}"
    return replace(columns, notes=(note, *columns.notes), stored_sha256=sha256)
