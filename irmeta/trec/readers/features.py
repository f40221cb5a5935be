"""Files for learning to rank (LETOR, SVMlight): lines with judgments, and files of their scores."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from math import isfinite

import numpy as np
import polars as pl

from irmeta.errors import DataError
from irmeta.policies import Comments
from irmeta.trec.qrels import GRADES_FIX
from irmeta.trec.readers.columns import RunColumns
from irmeta.trec.readers.file_tables import FileTable, numeric, read_content, table_of_fields
from irmeta.trec.readers.forms import recognize
from irmeta.trec.readers.frames import as_frame, runs_of_frame
from irmeta.trec.room import Room, check_room, cost
from irmeta.trec.streams import InputFile, open_stream
from irmeta.trec.text import NUMBER, Text, lines

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
