"""Lines of text and their fields, comments, and rows of CSV files with known columns."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence

import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv

from irmeta.delimited import rows_of
from irmeta.errors import DataError, EmptyFileError, UsageError, did_you_mean
from irmeta.locations import AnyLocation, local
from irmeta.phrases import count
from irmeta.policies import Comments
from irmeta.trec.streams import InputFile, TextStream, open_stream

MARK = "lines that begin with # "
"""Prefix of the notes on lines that begin with # but have the fields of a row."""


class HashLines:
    """The lines of one file that begin with #, of which some may be rows.

    Parameters
    ----------
    comments
        See `ReadPolicy`.
    fits
        Function that checks whether fields are those of a row of the file.
    """

    def __init__(self, comments: Comments, fits: Callable[[list[bytes]], bool]) -> None:
        self._comments, self._fits = comments, fits
        self._count = 0
        self._first = dict[str, int]()

    def is_row(self, fields: list[bytes], line: int) -> bool:
        """Check whether a line is read as a row, and count it if it has the fields of one."""
        if self._comments == "none":
            return True
        if len(fields[0]) < 2 or not self._fits(fields):
            return False
        self._count += 1
        self._first.setdefault(fields[0].decode(), line)
        return self._comments != "skip"

    def notes(self, queries: Container[str], file: str) -> tuple[str, ...]:
        """Return the note on lines with the fields of a row, after the last line.

        Raises
        ------
        DataError
            If they may be rows of a query of the file that are commented out.
        """
        if not self._count:
            return ()
        if self._comments == "skip":
            return (f"{MARK}left out as comments, with the fields of a row: {self._count:,}",)
        for query, line in self._first.items():
            if self._comments == "auto" and (name := query.lstrip("#")) in queries:
                raise DataError(
                    "a row of query {query}, or a commented-out row of query {name}, which the "
                    f"file has too? ({count(self._count, 'such line')})",
                    file=file,
                    line=line,
                    ids={"query": query, "name": name},
                    fix="`comments='rows'` reads such lines. `comments='skip'` leaves them out.",
                )
        return (f"{MARK}read as rows: {self._count:,}",)


LONGEST_LINE = 1 << 20  # bytes; the longest line of any known TREC file is under 1 KB
FIRST_ROW_WITHIN = 64 << 20  # bytes of decompressed text
MOST_HELD = 64 << 20  # limit in bytes of a file read at once
_WHITE = bytes.maketrans(b"\t\v\f\r", b"    ")
NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")
COMMA = re.compile(rb"[+-]?\d*,\d+(?:[eE][+-]?\d+)?\Z")
WHOLE = re.compile(rb"[+-]?\d+\Z")
_NO_ROWS = re.compile(rb"(?:^#[^\n]*+|\s++)*+", re.MULTILINE)  # comments, and white space


class Text:
    """The text of a stream as UTF-8, in pieces of complete lines of at most two megabytes.

    Single lines that are not UTF-8 are read as Latin-1, without effect on other lines.

    Attributes
    ----------
    name
        The name of the file, for messages.
    size
        Number of bytes read so far.
    """

    def __init__(self, stream: TextStream, name: str) -> None:
        self.name: str = name
        self.size: int = 0
        self._stream = stream
        self._latin = 0
        self._pieces = self.pieces()
        self._rest = memoryview(b"")

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes on the text read so far."""
        return (f"{self._latin:,} lines not UTF-8: read as Latin-1",) if self._latin else ()

    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """Yield each piece and the 1-based number of its first line.

        Raises
        ------
        DataError
            For an empty file, a NUL byte, a line of over a megabyte, or no row in the first 64 MB.
        """
        buffer, filled, number, has_row = bytearray(2 * LONGEST_LINE), 0, 1, False
        view, is_blank = memoryview(buffer), True
        while True:
            count = self._stream.readinto(view[filled:])
            filled, self.size = filled + count, self.size + count
            end = buffer.rfind(b"\n", 0, filled) + 1 if count else filled
            if end:
                data = bytes(view[:end])
                self._refuse_nul(data, number)
                is_blank = is_blank and data.isspace()
                has_row = has_row or bool(first_fields(data))
                yield number, self._as_utf8(data)
                number += data.count(b"\n")
                buffer[: filled - end] = buffer[end:filled]
                filled -= end
            elif filled == len(buffer):
                self._refuse_nul(bytes(buffer), number)
                raise _long_line(self.name, number, bytes(view[:60]))
            if not count:
                break
            if not has_row:
                self.refuse_no_row()
        if is_blank:
            fix = "Remove it, or restore its content."
            raise EmptyFileError("is empty", file=self.name, fix=fix)

    def readinto(self, buffer: memoryview, /) -> int:
        """Read the pieces as a stream of bytes."""
        while not self._rest:
            _, piece = next(self._pieces, (0, b""))
            if not piece:
                return 0
            self._rest = memoryview(piece)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def refuse_no_row(self) -> None:
        """Raise an error if the first `FIRST_ROW_WITHIN` bytes have no row.

        A small compressed file may have a huge content.

        Raises
        ------
        DataError
            If there is no such row.
        """
        if self.size >= FIRST_ROW_WITHIN:
            problem = f"no row in its first {FIRST_ROW_WITHIN / (1 << 20):g} MB of text"
            raise DataError(problem, file=self.name, fix="Is this a TREC file?")

    def _refuse_nul(self, data: bytes, number: int) -> None:
        if (position := data.find(b"\0")) >= 0:
            line = number + data.count(b"\n", 0, position)
            fix = (
                "Is this a text file in UTF-8 or Latin-1? (UTF-16 and binary files cannot be read.)"
            )
            raise DataError("NUL byte", file=self.name, line=line, fix=fix)

    def _as_utf8(self, data: bytes) -> bytes:
        if data.isascii() or is_utf8(data):
            return data
        lines = data.split(b"\n")
        for index, line in enumerate(lines):
            if not is_utf8(line):
                lines[index] = line.decode("latin-1").encode()
                self._latin += 1
        return b"\n".join(lines)


def is_utf8(data: bytes) -> bool:
    """Return whether bytes are text in UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _long_line(file: str, number: int, start: bytes) -> DataError:
    return DataError(
        "a line of more than a megabyte",
        file=file,
        line=number,
        value=start,
        fix="Is this a TREC file, one result per line?",
    )


def read_text(file: InputFile) -> tuple[bytes, tuple[str, ...]]:
    """Read a small file at once.

    Returns
    -------
    data
        The text, as UTF-8.
    notes
        Notes of reading, as text.

    Raises
    ------
    DataError
        As for `Text.pieces`, and for a file of more than 64 MB.
    """
    with open_stream(file) as stream:
        text, parts = Text(stream, file.name), []
        for _, piece in text.pieces():
            if text.size > MOST_HELD:
                raise DataError(f"more than {MOST_HELD / (1 << 20):g} MB of text", file=file.name)
            parts.append(piece)
    return b"".join(parts), text.notes


def read_columns(data: bytes, types: dict[str, pa.DataType]) -> pa.Table | None:
    """Parse all lines as typed columns, or return None unless every line fits them exactly.

    Only text with the same meaning in `lines` is accepted: each line has exactly as many fields as
    `types`, each field converts, and no line is blank or a comment. After None, a caller reads line
    by line to report the malformed line.
    """
    if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
        return None
    data = data.translate(_WHITE)
    if data.startswith(b"#") or b"\n#" in data:
        return None
    if b"  " in data or b" \n" in data or b"\n " in data or data[:1] == b" " or data[-1:] == b" ":
        data = re.sub(rb" *\n *", b"\n", re.sub(rb"  +", b" ", data)).strip(b" ")
    if data.startswith(b"\n") or b"\n\n" in data:
        return None
    if data.startswith(b"\xef\xbb\xbf"):  # part of a name, and Arrow would drop it
        return None
    try:
        if b" 0x" in data or b" 0X" in data:
            return _without_hex(data, types)
        return _read_csv(data, types)
    except pa.ArrowInvalid:
        return None


def _read_csv(data: bytes, types: dict[str, pa.DataType]) -> pa.Table:
    return pa_csv.read_csv(
        io.BytesIO(data),
        read_options=pa_csv.ReadOptions(
            column_names=list(types), block_size=LONGEST_LINE, use_threads=False
        ),
        parse_options=pa_csv.ParseOptions(
            delimiter=" ", quote_char=False, escape_char=False, ignore_empty_lines=False
        ),
        convert_options=pa_csv.ConvertOptions(
            column_types=types, null_values=[], strings_can_be_null=False
        ),
        memory_pool=pa.system_memory_pool(),  # the default one takes 15 MB for the first table
    )


def _without_hex(data: bytes, types: dict[str, pa.DataType]) -> pa.Table | None:
    """Parse text with fields that begin with 0x: valid for docs, but not for whole numbers.

    Arrow would read 0x10 as 16.
    """
    integers = [name for name, kind in types.items() if pa.types.is_integer(kind)]
    table = _read_csv(data, types | dict.fromkeys(integers, pa.string()))
    for name in integers:
        index = table.schema.get_field_index(name)
        if pl.Series(table[name]).str.contains("(?i)x").any():
            return None
        table = table.set_column(index, name, table[name].cast(types[name]))
    return table


def first_fields(data: bytes | bytearray, end: int | None = None) -> list[bytes]:
    """Return the fields of the first line that is neither blank nor a comment.

    Without such a line, those of the first line that begins with # and has the fields of a row of
    some form; else no fields.
    """
    end = len(data) if end is None else end
    match = _NO_ROWS.match(data, 0, end)
    start = match.end() if match else 0
    stop = data.find(b"\n", start, end)
    fields = bytes(data[start : end if stop < 0 else stop]).split()
    if fields or data.find(b"#", 0, end) < 0:
        return fields
    hashed = (line.split() for line in bytes(data[:end]).split(b"\n"))
    return next((found for found in hashed if found and _may_be_row(found)), [])


def _may_be_row(fields: list[bytes]) -> bool:
    """Check whether a line that begins with # has the fields of a row of a run or of qrels."""
    if len(fields) < 3 or len(fields[0]) < 2:
        return False
    if len(fields) > 4 and WHOLE.match(fields[3]):
        return is_number(fields[4])
    return len(fields) < 6 and is_number(fields[-1])


def is_number(field: bytes) -> bool:
    """Check whether a field is a number; decimal commas are allowed."""
    return bool(NUMBER.match(field) or COMMA.match(field))


def lines(
    data: bytes,
    file: str,
    fields: int = 0,
    first: int = 1,
    hashes: HashLines | None = None,
) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number and the fields of each line that is neither blank nor a comment.

    Parameters
    ----------
    data
        Complete lines of text.
    file
        The name of the file, for messages.
    fields
        Largest number of fields, the last of which is the rest of the line; 0: no limit.
    first
        The number of the first line.
    hashes
        What lines are that begin with #; None: comments.

    Raises
    ------
    DataError
        For a line of more than a megabyte.
    """
    if data.isspace() or (hashes is None and not first_fields(data)):  # fast for megabytes
        return
    splits = fields - 1 if fields > 0 else -1
    for number, row in enumerate(data.split(b"\n"), first):
        if len(row) > LONGEST_LINE:
            raise _long_line(file, number, row[:60])
        is_comment = row[:1] == b"#"
        if (is_comment and hashes is None) or not (parts := row.split(None, splits)):
            continue
        parts[-1] = parts[-1].rstrip()
        if not is_comment or (hashes is not None and hashes.is_row(parts, number)):
            yield number, parts


def read_csv_rows(file: InputFile, columns: Sequence[str] | None) -> pl.DataFrame:
    """Read all cells of a file as text, and the line number at which each row ends.

    The file is tab-separated if its first line has a tab, else comma-separated. White space around
    a cell is dropped, and so are rows of empty cells.

    Parameters
    ----------
    file
        The file, compressed or not.
    columns
        The columns that it may have; None: any.

    Returns
    -------
    DataFrame
        line, and the columns of the file; null: an empty cell.

    Raises
    ------
    DataError
        If the file cannot be read as CSV, or has an unknown or repeated column or a row of another
        length.
    """
    name = file.name
    text = read_text(file)[0].decode()
    delimiter = "\t" if "\t" in text.lstrip("\r\n ").split("\n", 1)[0] else ","
    cells = rows_of(text, name, delimiter)
    rows = [(line, [cell.strip() or None for cell in row]) for line, row in cells]
    rows = [(line, row) for line, row in rows if any(row)]
    header = [str(cell) for cell in rows[0][1]] if rows else []
    for i, column in enumerate(header):
        if columns is not None and column not in columns:
            hint = did_you_mean(column, columns)
            raise DataError("is not a known column", file=name, value=column, fix=hint)
        if column in header[:i]:
            raise DataError("two columns have the same name", file=name, value=column)
    for line, row in rows[1:]:
        if len(row) != len(header):
            problem = f"{len(row)} fields where the first line has {len(header)}"
            value = delimiter.join(cell or "" for cell in row)
            raise DataError(problem, file=name, line=line, value=value)
    schema = {"line": pl.Int64, **dict.fromkeys(header, pl.String)}
    return pl.DataFrame([(line, *row) for line, row in rows[1:]], schema=schema, orient="row")


def refuse_rows(frame: pl.DataFrame, problems: Mapping[str, pl.Expr], file: str) -> None:
    """Raise an error for the first row that meets one of several conditions.

    Parameters
    ----------
    frame
        Rows of `read_csv_rows`.
    problems
        Conditions, by what is wrong where they are true.

    Raises
    ------
    DataError
        With the line and the cells of the row.
    """
    for problem, condition in problems.items():
        rows = frame.filter(condition)
        if rows.height:
            line, *cells = rows.row(0)
            value = ",".join(cell or "" for cell in cells)
            raise DataError(problem, file=file, line=line, value=value)


def line_ids(path: AnyLocation) -> Iterator[list[str]]:
    """Yield the first fields of the lines of a file, in batches."""
    file = InputFile.at(local(path), str(path))
    with open_stream(file) as stream:
        for _, piece in Text(stream, file.name).pieces():
            lines = pl.Series(piece.decode().splitlines(), dtype=pl.String)
            fields = lines.str.extract(r"^\s*(\S+)", 1)
            yield fields.drop_nulls().to_list()


def query_ids(path: AnyLocation) -> dict[str, None]:
    """Return the query ids of a file, in its order; each line begins with one.

    Raises
    ------
    UsageError
        If it is marked up, or empty.
    """
    queries = {query: None for ids in line_ids(path) for query in ids}
    if first := next((name for name in queries if name.startswith("<")), None):
        raise UsageError(
            f"{path}: {first} is no query: a file of queries has one per line, which begins with "
            "its id."
        )
    if not queries:
        raise UsageError(f"{path} has no query: a file of queries has one per line.")
    return queries
