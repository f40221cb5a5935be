"""Content of files that are not in TREC form, as frames with a line for each row."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.delimited import longer_row, read_cells, rows_of
from irmeta.errors import DataError
from irmeta.policies import Columns, Comments
from irmeta.schema.arrow import DAMAGED, as_frame
from irmeta.trec.readers.columns import refuse
from irmeta.trec.readers.engine_json import EngineFile, engine_file
from irmeta.trec.readers.forms import WRITE, Kind, header_of, refuse_json, separator_of
from irmeta.trec.readers.frames import (
    NAMES,
    NOT_CHOSEN,
    OWN_TABLE,
    column_of,
    has_doc_lists,
    holds_columns,
    no_such_column,
    rows_of_columns,
)
from irmeta.trec.room import Room, check_room, cost, count_rest, half_of_memory
from irmeta.trec.streams import InputFile, open_stream
from irmeta.trec.text import WHOLE, HashLines, is_number, is_utf8, lines, read_columns

_TOO_LONG = "Shorten the field, or write the file without quotes."
MOST_READ = 2 << 30  # bytes of text of one file, which takes several times as much memory
MOST_COLUMNS = 1000  # of a CSV or Parquet file
_BARE_RETURN = re.compile(r"\r(?!\n)")
_KNOWN = OWN_TABLE.union(*NAMES.values())
_NUMERIC = ("score", "rank", "grade")
_FIRST = 1 << 20


@dataclass(frozen=True)
class FileTable:
    """The rows of a file: ids as text, numbers as float64.

    Attributes
    ----------
    place
        Name of the file.
    frame
        Rows, by the names of the file's columns.
    lines
        int64: the 1-based line of each row; None where rows are no lines.
    notes
        Notes of reading, as text.
    chosen
        Columns that the user names.
    """

    place: str
    frame: pl.DataFrame
    lines: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    chosen: Columns = field(default_factory=dict)

    def located(self, error: DataError) -> DataError:
        """Return an error of a row with the row's line."""
        if error.unit == "row" and error.line is not None and self.lines is not None:
            error.line, error.unit = int(self.lines[error.line]), "line"
        return error


def read_content(file: InputFile, form: str, room: Room = half_of_memory) -> tuple[bytes, str]:
    """Return the decompressed content of a file, and the SHA-256 of the file as stored.

    Raises
    ------
    OutOfRoomError
        If reading its rows in this form takes more memory than is left.
    DataError
        If the file cannot be read, is empty or too large.
    """
    mark = {"json": b",", "jsonl": b"{"}.get(form, b"\n")
    parts, size, items, buffer = list[bytes](), 0, 0, memoryview(bytearray(_FIRST))
    with open_stream(file) as stream:
        while count := stream.readinto(buffer):
            parts.append(bytes(buffer[:count]))
            size += count
            items += buffer[:count].tobytes().count(mark)
            needed = cost(form, items, size)

            def whole(needed: int = needed) -> int:
                parts.clear()
                return needed + cost(form, *count_rest(stream, mark))

            check_room(room, needed, file.name, whole)
            if size > MOST_READ:
                fix = "Convert it to TREC form, which is read piece by piece."
                problem = f"more than {MOST_READ / (1 << 30):g} GB of text"
                raise DataError(problem, file=file.name, fix=fix)
        return b"".join(parts), stream.sha256()


def as_text(content: bytes, file: str) -> str:
    """Decode UTF-8.

    Raises
    ------
    DataError
        At the first line that is not UTF-8.
    """
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        value = content[max(0, error.start - 20) : error.end]
        fix = "Convert the file to UTF-8."
        raise DataError("not UTF-8", file=file, line=line, value=value, fix=fix) from None


def table_of_fields(
    content: bytes, file: str, columns: Sequence[str], comments: Comments
) -> FileTable:
    """Return lines of fields separated by white space, each as text.

    The last field is a number. For `comments` see `ReadPolicy`.

    Raises
    ------
    DataError
        If a line has another number of fields.
    """
    table = read_columns(content, dict.fromkeys(columns, pa.string()))
    if table is not None:
        return FileTable(file, pl.DataFrame(table), np.arange(1, table.num_rows + 1))
    rows, numbers = list[list[str]](), list[int]()
    width = len(columns)
    hashes = HashLines(comments, lambda found: len(found) == width and is_number(found[-1]))
    for number, fields in lines(as_text(content, file).encode(), file, hashes=hashes):
        if len(fields) != width:
            problem, fix = f"{len(fields)} fields instead of {width}", "Mend the line."
            raise DataError(problem, file=file, line=number, value=b" ".join(fields), fix=fix)
        rows.append([field.decode() for field in fields])
        numbers.append(number)
    frame = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
    return FileTable(
        file, frame, np.array(numbers), hashes.notes(frame.to_series(0).unique(), file)
    )


def table_of_csv(content: bytes, file: str, chosen: Columns) -> FileTable:
    """Return the rows of a file whose first line names its columns.

    `chosen` are the columns that the user names.

    Raises
    ------
    DataError
        If a name occurs twice, a row is longer than the first line, or a number is malformed.
    """
    text = as_text(content, file)
    separator = separator_of(header_of(content), chosen) or ","
    skipped = len(text) - len(text.lstrip())
    first = text.count("\n", 0, skipped) + 1
    text = text[skipped:]
    header = csv_header(text, separator, file, first)
    cells = text.encode() if skipped else content
    del text  # as large as all cells

    def rows() -> Iterator[tuple[int, list[str]]]:
        return rows_of(cells.decode(), file, separator, first=first, fix=_TOO_LONG)

    try:
        frame = read_cells(cells, file, separator=separator, trim=True)
    except DataError:
        text = cells.decode()
        if (longer := longer_row(rows(), len(header))) is not None:
            problem = f"{len(longer[1])} fields where the first line has {len(header)}"
            value = separator.join(longer[1])
            raise DataError(problem, file=file, line=longer[0], value=value) from None
        if (match := _BARE_RETURN.search(text)) is not None:
            raise _bare_return(file, first + text.count("\n", 0, match.start())) from None
        raise
    lines = np.arange(frame.height) + first + 1
    if b'"' in cells:  # a quoted cell may have several lines
        lines = np.array([line for line, _ in rows()][1:])
    is_row = (~frame.select(pl.all_horizontal(pl.all().is_null())).to_series()).to_numpy()
    lines = lines[: frame.height]
    if not is_row.all():  # otherwise a copy of all rows
        frame, lines = frame.filter(is_row), lines[is_row]
    return numeric(FileTable(file, frame, lines, chosen=chosen))


def csv_header(text: str, separator: str, file: str, line: int) -> list[str]:
    """Return the names of columns in the first line of a CSV file, which is line `line`.

    Raises
    ------
    DataError
        If a name occurs twice, there are too many, or lines end in carriage returns alone.
    """
    end = text.find("\n")
    written = text[: end if end >= 0 else None].removesuffix("\r")
    if "\r" in written:
        raise _bare_return(file, line)
    ((_, header),) = rows_of(written, file, separator, first=line, fix=_TOO_LONG)
    if len(header) > MOST_COLUMNS:
        raise _many_columns(len(header), file)
    if (name := first_repeated(header)) is not None:
        raise DataError("two columns have the same name", file=file, line=line, value=name)
    return header


def _many_columns(count: int, file: str) -> DataError:
    fix = "Keep those of the query, the doc, and the score, rank or grade."
    return DataError(
        f"{count:,} columns, where at most {MOST_COLUMNS:,} are read", file=file, fix=fix
    )


def _bare_return(file: str, line: int) -> DataError:
    fix = "End lines with line feeds, as `tr '\\r' '\\n'` writes them."
    return DataError("a carriage return without a line feed", file=file, line=line, fix=fix)


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurs a second time, or None."""
    seen = set[str]()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def numeric(table: FileTable) -> FileTable:
    """Convert columns of scores, ranks and grades from text to float64.

    Raises
    ------
    DataError
        At the first text that is not a number.
    """
    found = {column_of(table.frame.columns, name, table.chosen) for name in _NUMERIC}
    converted: list[pl.Series] = []
    for name in found - {None}:
        column = table.frame[cast(str, name)]
        if column.dtype == pl.String:
            numbers = column.str.strip_chars().cast(pl.Float64, strict=False)
            if (wrong := numbers.is_null() & (column.str.strip_chars() != "")).any():
                try:
                    refuse(column, wrong, table.place, "is not a number", "Correct the value.")
                except DataError as error:
                    raise table.located(error) from None
            converted.append(numbers)
    return replace(table, frame=table.frame.with_columns(converted))


def table_of_parquet(
    content: bytes, file: str, chosen: Columns = NOT_CHOSEN, room: Room = half_of_memory
) -> FileTable:
    """Return the rows of a Parquet file; `chosen` are the columns that the user names.

    Raises
    ------
    OutOfRoomError
        If its rows take more memory than is left.
    DataError
        If the file is damaged.
    """
    import pyarrow.parquet as pq  # slow, and few files are Parquet

    try:  # by Arrow, since polars' reader panics at damaged schemas, with a trace on stderr
        parquet = pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True)
        names = parquet.schema_arrow.names
        if len(names) > MOST_COLUMNS:
            raise _many_columns(len(names), file)
        taken = {column for named in chosen.values() for column in named}
        known = [n for n in names if n.lower().replace("-", "_") in _KNOWN or n in taken]
        is_complete = all(column_of(known, name, chosen) for name in ("query", "doc"))
        is_complete = is_complete and all(column_of(names, name, chosen) for name in chosen)
        check_room(room, cost("parquet", parquet.metadata.num_rows, len(content)), file)
        batches, rows, size = list[pa.RecordBatch](), 0, len(content)
        for batch in parquet.iter_batches(columns=known if is_complete else names):
            batches.append(batch)
            rows, size = rows + len(batch), size + batch.nbytes
            check_room(room, cost("parquet", rows, size), file)
        table = pa.Table.from_batches(batches, batches[0].schema if batches else None)
        return FileTable(file, as_frame(table), chosen=chosen)
    except (*DAMAGED, ValueError) as error:
        why = {"why": (str(error).splitlines() or [type(error).__name__])[0]}
        fix = "The file is cut short or damaged: write it again."
        raise DataError("cannot be read as Parquet ({why})", file=file, ids=why, fix=fix) from None


def read_json(
    text: str, file: str, kind: Kind, chosen: Columns
) -> dict[str, dict[str, Any]] | FileTable | EngineFile:
    """Return JSON by query, ``{query: {doc: value}}`` or ``{query: [doc]}``, or rows as a table.

    Rows are records, or the columns of a dict of columns. For other forms see `engine_json`.

    Raises
    ------
    DataError
        If the text is not JSON, a key occurs twice, or it holds something else.
    """
    content = parse_json(text, file, 1)
    refuse_json(content, file, kind)
    if (known := engine_file(content)) is not None:
        return known
    shape = f"{WRITE[kind][:-1]}, {{query: [doc, ...]}}, or a list of records."
    if isinstance(content, list):
        records = cast(list[Any], content)
        return _table_of_records(records, None, file, kind, chosen)
    if not isinstance(content, dict):
        raise DataError(f"JSON of a {type(content).__name__}", file=file, line=1, fix=shape)
    by_query = cast(dict[str, Any], content)
    if holds_columns(by_query, chosen):
        return _table_of_records(rows_of_columns(by_query, file), None, file, kind, chosen)
    if has_doc_lists(by_query):
        return by_query
    for query, docs in by_query.items():
        if not isinstance(docs, dict):
            line, problem = line_of_key(text, query), "not a dict of the docs of a query"
            raise DataError(problem, file=file, line=line, value=docs, fix=shape)
        if any(isinstance(value, dict) for value in cast(dict[str, Any], docs).values()):
            fix = f"Write one file per system, each {WRITE['run'][6:]}"
            line, problem = line_of_key(text, query), "several runs in one file"
            if kind == "qrels":
                problem, fix = "dicts in the place of grades", shape
            raise DataError(problem, file=file, line=line, value=query, fix=fix)
    return by_query


def table_of_jsonl(text: str, file: str, kind: Kind, chosen: Columns) -> FileTable | EngineFile:
    """Return the records of a file with one JSON object per line.

    An object is a record with named values, ``{query: {doc: value}}``, or one of `engine_json`.

    Raises
    ------
    DataError
        At the first line that is neither, or has a value of another type.
    """
    records, numbers, known = list[Any](), list[int](), None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        content = parse_json(line, file, number)
        if not records:
            refuse_json(content, file, kind)
            known = engine_file(content)
        values = cast(dict[str, Any], content) if isinstance(content, dict) else {}
        if known is None and values and all(isinstance(docs, dict) for docs in values.values()):
            nested = [
                {"query_id": query, "doc_id": doc, "score": value}
                for query, docs in values.items()
                for doc, value in docs.items()
            ]
        else:
            nested = [content]
        records += nested
        numbers += [number] * len(nested)
    if known is not None:
        return EngineFile(known.form, records)
    return _table_of_records(records, numbers, file, kind, chosen)


def parse_json(text: str, file: str, first: int) -> object:
    """Parse JSON that begins in the line `first` of a file.

    Raises
    ------
    DataError
        If the text is not JSON, or a key occurs twice in an object.
    """
    value, line, fix = None, first, "Mend the file, or write it again."
    try:
        content = json.loads(text, object_pairs_hook=_distinct)
        if (found := _ESCAPED_SURROGATE.search(text)) is None or _is_unicode(content):
            return content
        problem, value, fix = "text that is not Unicode", found[0], "Write ids as Unicode text."
        line += text.count("\n", 0, found.start())
    except json.JSONDecodeError as error:
        line, value = first + error.lineno - 1, text[max(0, error.pos - 20) : error.pos + 20]
        problem = f"not JSON ({error.msg})"
    except _RepeatedKeyError as error:
        line = first + max(0, line_of_key(text, error.key, 2) - 1)
        problem, value, fix = "a key occurs twice", error.key, "Keep one: JSON would keep the last."
    except RecursionError:
        problem = "JSON nested too deeply"
    except ValueError:  # Python converts at most 4,300 digits
        found = _DIGITS.search(text)
        line += text.count("\n", 0, found.start()) if found else 0
        problem = "a whole number of more than 4,300 digits"
    raise DataError(problem, file=file, line=line, value=value, fix=fix)


_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_DIGITS = re.compile(r"\d{4301}")


def _is_unicode(content: object) -> bool:
    """Check whether all text of parsed JSON can be written as UTF-8: has no lone surrogates."""
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


class _RepeatedKeyError(Exception):
    """A key that occurs twice in a JSON object."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key: str = key


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise _RepeatedKeyError(cast(str, first_repeated(name for name, _ in pairs)))
    return content


def line_of_key(text: str, key: str, occurrence: int = 1, after: int = 0) -> int:
    """Return the 1-based line of a key in JSON; the first line if it is written otherwise."""
    return text.count("\n", 0, max(0, place_of_key(text, key, occurrence, after))) + 1


def place_of_key(text: str, key: str, occurrence: int = 1, after: int = 0) -> int:
    """Return the place of a key in JSON, or -1."""
    for written in (json.dumps(key, ensure_ascii=False), json.dumps(key)):
        place = after - 1
        for _ in range(occurrence):
            place = text.find(written, place + 1)
            if place < 0:
                break
        if place >= 0:
            return place
    return -1


def _table_of_records(
    records: Sequence[object], lines: Sequence[int] | None, file: str, kind: Kind, chosen: Columns
) -> FileTable:
    """Return records as columns of text and numbers, with only the columns in `NAMES`.

    `lines` are those of the records, None if records are counted.
    """
    unit, numbers = ("row", range(len(records))) if lines is None else ("line", lines)
    fix = "A record is such as {query_id: ..., doc_id: ..., score: ...}."

    def refuse_first(
        is_wrong: Callable[[object], bool], values: Sequence[object], what: str
    ) -> None:
        row = next((i for i, value in enumerate(values) if is_wrong(value)), None)
        if row is not None:
            value = "null" if values[row] is None else values[row]
            line = numbers[row]
            raise DataError(what, file=file, line=line, unit=unit, value=value, fix=fix)

    refuse_first(lambda one: not isinstance(one, Mapping), records, "not a record")
    rows = cast(Sequence[Mapping[str, Any]], records)
    names = list(rows[0]) if rows else []
    columns: dict[str, pl.Series] = {}
    for name in NAMES:
        if (column := column_of(names, name, chosen)) is None or column in columns:
            continue
        values: list[Any] = [row.get(column) for row in rows]
        if name in _NUMERIC:
            known = [0 if name == "grade" and value is None else value for value in values]
            refuse_first(
                lambda number: isinstance(number, bool) or not isinstance(number, int | float),
                known,
                f"{column} is not a number",
            )
            refuse_first(  # whole numbers beyond those of float64
                lambda number: isinstance(number, int) and abs(number) > sys.float_info.max,
                known,
                f"{column} is too large a number",
            )
            floats = [None if value is None else float(value) for value in values]
            columns[column] = pl.Series(column, floats, pl.Float64)
        else:
            known = [value for value in values if value is not None]
            values = values if name not in ("subtopic", "iteration") or known else []
            refuse_first(
                lambda name: isinstance(name, bool) or not isinstance(name, int | str),
                values,
                f"{column} is neither text nor a whole number",
            )
            texts = [str(value) for value in values] or [None] * len(rows)
            columns[column] = pl.Series(column, texts, pl.String)
    lists = [name for name, value in rows[0].items() if isinstance(value, list)] if rows else []
    if lists and column_of(names, "doc", chosen) is None:
        lists_fix = "Write a JSON file {query: [doc, ...]}, best doc first."
        fix = lists_fix if kind == "run" else WRITE[kind]
        raise DataError("a record with a list of docs", file=file, value=lists[0], fix=fix)
    if not columns:
        raise DataError("has no record", file=file, fix=fix)
    missing = next((k for k in chosen if k in NAMES and not column_of(names, k, chosen)), None)
    if missing is not None and (missing not in _OF_OTHER[kind]):
        raise no_such_column(names, missing, chosen, file)
    frame = pl.DataFrame(columns)
    return FileTable(file, frame, None if lines is None else np.array(lines), chosen=chosen)


_OF_OTHER: dict[Kind, tuple[str, ...]] = {
    "run": ("grade", "subtopic", "iteration"),
    "qrels": ("system", "score", "rank"),
}
"""What columns of the other kind hold."""


SPLIT_AT_TABS = "ids with blanks: fields are split at tabs"
"""Note on such text."""
_HEAD = 1 << 16
_PLACEHOLDERS = (" 0", " Q0", " q0")
_LAYOUTS: dict[Kind, tuple[tuple[str, ...], ...]] = {
    "run": (
        ("query", "q0", "doc", "rank", "score", "tag"),
        ("query", "q0", "doc", "rank", "score"),
        ("query", "doc", "rank", "score"),
        ("query", "doc", "value"),
    ),
    "qrels": (("query", "iteration", "doc", "grade"), ("query", "doc", "grade")),
}


def has_tab_fields(
    file: InputFile, kind: Kind, comments: Comments, room: Room = half_of_memory
) -> bool:
    """Check whether a file is text of `table_of_tabs`; False for one that cannot be read."""
    try:
        with open_stream(file) as stream:
            head = bytearray(_HEAD)
            if head.find(b"\t", 0, stream.readinto(memoryview(head))) < 0:
                return False
        content, _ = read_content(file, "tabs", room)
    except DataError:
        return False
    return table_of_tabs(content, file.name, kind, comments) is not None


def table_of_tabs(content: bytes, file: str, kind: Kind, comments: Comments) -> FileTable | None:
    """Return the fields of lines that are separated by tabs, if a field holds a blank.

    None unless all lines have the same number of fields, of a known layout, and numbers where it
    has numbers; for all such text a split at any white space gives the same fields. Text with a
    blank before column 2 of TREC form (``q1 Q0<tab>doc``) has no such layout either.

    Raises
    ------
    DataError
        If a row may be commented out.
    """
    if b"\t" not in content or b" " not in content or not is_utf8(content):
        return None
    text = content.decode().split("\n")
    first = next((one for one in text if one.strip() and one[:1] != "#"), "")
    names = next((one for one in _LAYOUTS[kind] if len(one) == first.count("\t") + 1), None)
    if names is None or "\tqid:" in first:
        return None
    hashes = HashLines(comments, lambda fields: _fits(fields, names))
    rows, numbers = list[list[str]](), list[int]()
    for number, line in enumerate(text, 1):
        cells = [cell.strip() for cell in line.split("\t")]
        encoded = [cell.encode() for cell in cells]
        if not line.strip() or (line[:1] == "#" and not hashes.is_row(encoded, number)):
            continue
        if not _fits(encoded, names):
            return None
        rows.append(cells)
        numbers.append(number)
    ids = [row[names.index(name)] for row in rows for name in ("query", "doc")]
    if not any(" " in one for one in ids) or all(one.endswith(_PLACEHOLDERS) for one in ids[::2]):
        return None
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    notes = (SPLIT_AT_TABS, *hashes.notes(frame["query"].unique(), file))
    return FileTable(file, frame, np.array(numbers), notes)


def _fits(fields: list[bytes], names: tuple[str, ...]) -> bool:
    """Check whether there is a field for each name, and numbers where they belong."""
    if len(fields) != len(names) or not all(fields):
        return False
    named = dict(zip(names, fields, strict=True))
    if "rank" in named and not WHOLE.match(named["rank"]):
        return False
    return all(is_number(named[name]) for name in ("score", "grade", "value") if name in named)
