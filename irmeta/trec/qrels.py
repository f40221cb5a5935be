"""Read qrels files: grades, judgments of docs, and judgments by several people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.errors import DataError, EmptyFileError
from irmeta.policies import Comments
from irmeta.trec.room import Room, check_room, cost, count_rest, half_of_memory
from irmeta.trec.streams import InputFile, open_stream
from irmeta.trec.text import (
    MARK,
    NUMBER,
    HashLines,
    Text,
    first_fields,
    lines,
    read_columns,
)

MOST_LISTED = 255
"""Most distinct grades, other than those of `WHOLE`, that the record of a set lists."""
WHOLE = (-128, 127)
"""Range of whole grades that are kept as int8, however many a set has."""
GREATEST_GRADE = 2**31 - 1
"""Greatest size of a grade: tables hold the highest grade of a track as a 32-bit number."""
EMPTY = "queries without a judgment, which are not averaged: "
"""Beginning of the note on queries without docs."""
REGRADED = "docs repeated with another grade, of which the last counts: "
"""Beginning of the note on docs with several grades."""
UNRATED = "rows without a grade, taken as unjudged: "
"""Prefix of the note on rows without a grade."""
GRADES_FIX = "Grades are numbers, 1 and above relevant by default: translate the file's own labels."


def grade_column(grades: pl.Series, place: str, digits: int | None) -> pl.Series:
    """Return the finite grades of a set as Int8, or as Float64 if not all of them fit.

    Parameters
    ----------
    grades
        Int8, which is returned unchanged, or Float64.
    place
        The file or object that holds them, for messages.
    digits
        Decimals to round to; None: grades are not rounded.

    Raises
    ------
    DataError
        If a grade is beyond `GREATEST_GRADE`.
    """
    if grades.dtype == pl.Int8:
        return grades
    if (largest := grades.abs().arg_max()) is not None and abs(grades[largest]) > GREATEST_GRADE:
        problem = f"grade {grades[largest]:g} is beyond {GREATEST_GRADE:,}"
        raise DataError(problem, file=place, fix="Map the grades to smaller numbers.")
    rounded = grades if digits is None else grades.round(digits)
    return narrowed(rounded + 0.0)  # -0.0 is 0.0


def narrowed(grades: pl.Series) -> pl.Series:
    """Return finite grades as Int8 if all are whole numbers of -128 to 127, else unchanged."""
    fits = ((grades == grades.floor()) & grades.is_between(*WHOLE)).all()
    return grades.cast(pl.Int8) if fits else grades


def plain(grade: float) -> int | float:
    """Return a grade or a threshold of grades as int if it is a whole number, for printing."""
    return int(grade) if grade == int(grade) else float(grade)


QrelsFormat = Literal["trec", "prels", "sample-eval"]
SAMPLED: tuple[QrelsFormat, ...] = ("prels", "sample-eval")
"""Formats of judgments of a sample of the pool."""

FIELDS: dict[str, tuple[str, ...]] = {
    "trec": ("query", "second", "doc", "grade"),
    "prels": ("query", "doc", "grade", "method", "probability"),
    "sample-eval": ("query", "second", "doc", "stratum", "grade"),
}
"""The fields of a line of each format, in order."""
_SHAPE = {name: f"A {name} line is: {' '.join(fields)}." for name, fields in FIELDS.items()}
_FIVE = (
    'Five columns can be `format = "prels"` (query doc grade method probability) or '
    '`format = "sample-eval"` (query 0 doc stratum grade): name it in collection.toml.'
)
SUBTOPICS_FIX = (
    "Keep one judgment of each doc; or, if column 2 is a subtopic, write subtopics = true for the "
    "file in collection.toml. `subtopics=True` reads it so."
)
"""How to mend a doc with several values of column 2."""


@dataclass(frozen=True)
class QrelsText:
    """One qrels file.

    Attributes
    ----------
    frame
        Columns query, subtopic (null for ad hoc), doc, grade (see `grade_column`), line; distinct
        (query, subtopic, doc), in file order.
    sha256
        SHA-256 of the file as stored.
    notes
        Notes of reading, as text.
    sample
        How each row of `frame` was sampled, in a format of `SAMPLED`: stratum (of sample-eval),
        method and probability (of prels; null where it is NA). None in other formats.
    """

    frame: pl.DataFrame
    sha256: str
    notes: tuple[str, ...]
    sample: pl.DataFrame | None = None

    @property
    def has_subtopics(self) -> bool:
        """Whether docs are judged by subtopic."""
        return self.frame["subtopic"].null_count() < self.frame.height

    @property
    def shown(self) -> list[str]:
        """Return the notes on comments and grades, as commands print them."""
        return [note for note in self.notes if note.startswith((MARK, UNRATED, EMPTY, REGRADED))]


def parse_qrels(
    file: InputFile,
    form: QrelsFormat = "trec",
    *,
    subtopics: bool = False,
    grade_digits: int | None = None,
    comments: Comments = "auto",
    room: Room = half_of_memory,
    last_grade: bool = False,
) -> QrelsText:
    """Read a qrels file; negative grades are kept.

    At most two megabytes of text are held at a time.

    Parameters
    ----------
    form
        ``trec`` has four fields, the second ignored unless `subtopics`; the five-field ``prels``
        and ``sample-eval`` forms cannot be distinguished safely and are read only when named.
    subtopics
        Whether the second column is a subtopic.
    grade_digits
        Decimals that grades are rounded to; None: grades are not rounded.
    comments
        See `ReadPolicy`.
    room
        The memory left for it.
    last_grade
        Whether the last of several grades of a doc counts.

    Raises
    ------
    OutOfRoomError
        If the judgments do not fit into it.
    EmptyFileError
        If the file holds no judgment.
    DataError
        If a line is malformed, a grade is too large (see `grade_column`), a (query, subtopic, doc)
        has two different grades, or, without `subtopics`, a (query, doc) has several values in the
        second column.
    """
    width, grade = len(FIELDS[form]), FIELDS[form].index("grade")
    hashes = HashLines(comments, lambda row: len(row) == width and bool(NUMBER.match(row[grade])))
    with open_stream(file) as stream:
        text = Text(stream, file.name)
        frames, rows = list[pl.DataFrame](), 0
        for first, piece in text.pieces():
            parsed = _fast(piece, form, first)
            if parsed is None:
                parsed = _by_line(piece, form, file.name, first, hashes)
            frames.append(parsed)
            rows += frames[-1].height
            needed = cost("qrels", rows, text.size)
            check_room(
                room, needed, file.name, lambda n=needed: n + cost("qrels", *count_rest(stream))
            )
        sha256 = stream.sha256()
    frame = pl.concat(frames, how="vertical_relaxed")  # some pieces may have only whole grades
    if frame.is_empty():
        raise EmptyFileError("holds no judgment", file=file.name, fix=_SHAPE[form])
    if "second" in frame.columns and frame["second"][0].startswith("qid:"):
        raise DataError("features of learning to rank", file=file.name, fix=_SHAPE[form])
    hashed = hashes.notes(frame["query"].unique(), file.name)
    frame = frame.with_columns(grade_column(frame["grade"], file.name, grade_digits))
    if "second" not in frame.columns:
        frame = frame.with_columns(second=pl.lit(None, pl.String))
    read = frame.rename({"second": "subtopic"})
    frame, notes = once_each(read, file.name, subtopics, last_grade=last_grade)
    sample = None
    if form in SAMPLED:
        kept = read.join(frame.select("line"), on="line", how="semi", maintain_order="left")
        sample = sample_columns(kept, file.name)
    return QrelsText(frame, sha256, text.notes + hashed + notes, sample)


def _fast(data: bytes, form: str, first: int) -> pl.DataFrame | None:
    """Parse complete lines from line `first` on by Arrow; None if a line is not as simple."""
    types = dict.fromkeys(FIELDS[form], pa.string())
    if form == "trec" and len(first_fields(data)) != 4:
        return None
    for kind in (pa.int8(), pa.float64()):
        if (table := read_columns(data, types | {"grade": kind})) is not None:
            frame = pl.DataFrame(table).with_row_index("line", first)
            if kind == pa.float64() and not frame["grade"].is_finite().all():
                return None
            return frame.select(*FIELDS[form], pl.col("line").cast(pl.Int64))
    return None


def _by_line(data: bytes, form: str, file: str, first: int, hashes: HashLines) -> pl.DataFrame:
    names = FIELDS[form]
    rows = [
        (*_row(fields, names, form, file, number), number)
        for number, fields in lines(data, file, first=first, hashes=hashes)
    ]
    types = dict.fromkeys(names, pl.String) | {"grade": pl.Float64, "line": pl.Int64}
    return pl.DataFrame(rows, schema=types, orient="row")


def _row(
    fields: list[bytes], names: tuple[str, ...], form: str, file: str, line: int
) -> tuple[str | float, ...]:
    def error(problem: str, value: bytes, fix: str) -> DataError:
        return DataError(problem, file=file, line=line, value=value, fix=fix)

    if len(fields) != len(names):
        problem = f"{len(fields)} fields where {form} qrels have {len(names)}"
        five = form == "trec" and len(fields) == 5
        raise error(problem, b" ".join(fields), _FIVE if five else _SHAPE[form])
    named = dict(zip(names, fields, strict=True))
    grade = float(named["grade"]) if NUMBER.match(named["grade"]) else None
    if grade is None or not isfinite(grade):
        problem = f"field {names.index('grade') + 1} (the grade) is not a finite number"
        raise error(problem, named["grade"], GRADES_FIX)
    return tuple(grade if name == "grade" else named[name].decode() for name in names)


def sample_columns(frame: pl.DataFrame, file: str) -> pl.DataFrame:
    """Return how docs were sampled: stratum, method (Int8) and probability (float64).

    Raises
    ------
    DataError
        If a method is not a whole number, or a probability is neither NA nor in 0..1 without 0.
    """
    if "stratum" in frame.columns:
        nulls = {"method": pl.lit(None, pl.Int8), "probability": pl.lit(None, pl.Float64)}
        return frame.select("stratum", **nulls)
    read = frame.with_columns(
        number=pl.col("method").cast(pl.Int8, strict=False),
        share=pl.col("probability").cast(pl.Float64, strict=False),
    )
    is_share = pl.col("share").is_between(0, 1, closed="right").fill_null(value=False)
    problems = {
        "method": ("the method is not a small whole number", pl.col("number").is_null(), ""),
        "probability": (
            "the inclusion probability is not above 0 and at most 1",
            ~is_share & (pl.col("probability") != "NA"),
            "Write NA for a doc without a known probability, which measures then ignore.",
        ),
    }
    for name, (problem, is_wrong, fix) in problems.items():
        wrong = read.filter(is_wrong).head(1)
        if wrong.height:
            line, value = wrong["line"][0], wrong[name][0].encode()
            fix = fix or _SHAPE["prels"]
            raise DataError(problem, file=file, line=line, value=value, fix=fix)
    return read.select(
        stratum=pl.lit(None, pl.String), method=pl.col("number"), probability=pl.col("share")
    )


def once_each(
    frame: pl.DataFrame,
    file: str,
    subtopics: bool,
    unit: str = "line",
    *,
    last_grade: bool = False,
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Drop repeated judgments of a (query, subtopic, doc) with equal grades.

    Parameters
    ----------
    frame
        query, subtopic, doc, grade and line.
    subtopics
        Whether subtopics are kept; otherwise each doc must have the same, and they become null.
    unit
        What the column `line` counts, for messages.
    last_grade
        Whether the last of several grades of a doc counts, which is noted.

    Returns
    -------
    frame
        query, subtopic, doc, grade, line.
    notes
        Notes of reading, as text.

    Raises
    ------
    DataError
        If two rows of a doc disagree in their grade, unless the last one counts, or, without
        `subtopics`, in their subtopic.
    """
    key = ["query", "subtopic", "doc"] if subtopics else ["query", "doc"]
    frame = frame.select("query", "subtopic", "doc", "grade", "line")
    notes = ()
    hashes = np.sort(frame.select(key).hash_rows().to_numpy())  # a tenth of the memory of groups
    if (hashes[1:] == hashes[:-1]).any() and frame.select(key).is_duplicated().any():
        regraded = 0
        if last_grade:
            several = pl.col("grade").n_unique().over(key) > 1
            regraded = frame.filter(several).select(key).n_unique()
            frame = frame.with_columns(pl.col("grade").last().over(key))
        _check_duplicates(frame, key, file, unit)
        distinct = frame.unique(key, keep="first", maintain_order=True)
        dropped = frame.height - distinct.height
        notes = (f"{dropped:,} judgments given twice with equal grades",)
        if regraded:
            notes = (f"{REGRADED}{regraded:,}",)
        frame = distinct
    return frame if subtopics else frame.with_columns(subtopic=pl.lit(None, pl.String)), notes


def _check_duplicates(frame: pl.DataFrame, key: list[str], file: str, unit: str) -> None:
    pairs = frame.with_columns(
        first_grade=pl.col("grade").first().over(key),
        first_line=pl.col("line").first().over(key),
        other=pl.col("subtopic").ne_missing(pl.col("subtopic").first().over(key)),
    )
    clash = pairs.filter(pl.col("other") | (pl.col("grade") != pl.col("first_grade"))).head(1)
    if clash.is_empty():
        return
    row = clash.row(0, named=True)
    ids = {"query": row["query"], "doc": row["doc"]}
    problem = "query {query}, doc {doc} "
    if row["other"]:
        problem += "is judged under several values of column 2"
        fix = SUBTOPICS_FIX
    else:
        problem += "has grades {first} and {second}"
        ids |= {"first": plain(row["first_grade"]), "second": plain(row["grade"])}
        fix = f"Keep one of the two {unit}s."
    problem += f", first in {unit} {row['first_line']}"
    raise DataError(problem, file=file, line=row["line"], unit=unit, ids=ids, fix=fix)


_FIELDS: dict[str, tuple[str, ...]] = {
    "prefs": ("query", "group", "subgroup", "doc", "level"),
    "qrels_prefs": ("query", "group", "doc", "level"),
    "qrels_jg": ("query", "group", "doc", "level"),
}


class JudgedDoc(NamedTuple):
    """A doc judged in a group, such as one person's judgments; `level` is text as in the file.

    Docs of a subgroup are compared with one another; docs of two subgroups only through a third.
    """

    group: str
    subgroup: str
    doc: str
    level: str


def read_groups(
    file: InputFile, form: str, comments: Comments = "skip"
) -> dict[str, Sequence[JudgedDoc]]:
    """Read the judged docs of each query; queries are sorted. For `comments` see `ReadPolicy`.

    Raises
    ------
    DataError
        If the file cannot be read, or a line has another number of fields.
    """
    names, found = _FIELDS[form], dict[str, list[JudgedDoc]]()
    hashes = HashLines(comments, lambda fields: len(fields) == len(names))
    with open_stream(file) as stream:
        for number, piece in Text(stream, file.name).pieces():
            for line, fields in lines(piece, file.name, first=number, hashes=hashes):
                if len(fields) != len(names):
                    problem = f"{len(fields)} fields instead of {len(names)}"
                    fix = f"A line is: {' '.join(names)}."
                    value = b" ".join(fields)
                    raise DataError(problem, file=file.name, line=line, value=value, fix=fix)
                named = dict(zip(names, (field.decode() for field in fields), strict=True))
                doc = JudgedDoc(
                    named["group"], named.get("subgroup", "0"), named["doc"], named["level"]
                )
                found.setdefault(named["query"], []).append(doc)
    return dict(sorted(found.items()))
