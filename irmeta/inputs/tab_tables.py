"""Tab-separated text without names of columns, whose fields may hold blanks."""

from __future__ import annotations

import numpy as np
import polars as pl

from irmeta.errors import DataError
from irmeta.inputs.file_tables import FileTable, read_content
from irmeta.inputs.other_forms import Kind
from irmeta.policies import Comments
from irmeta.trec.comments import HashLines
from irmeta.trec.room import Room, half_of_memory
from irmeta.trec.streams import InputFile, open_stream
from irmeta.trec.text import WHOLE, is_number, is_utf8

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
    if names is None:
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
