"""Recognition of the form of a file of runs or qrels by its content."""

from __future__ import annotations

import json
import re
from typing import Any, Literal, cast

from irmeta.errors import DataError
from irmeta.inputs.frames import column_of
from irmeta.inputs.other_forms import Kind, refuse_other_form
from irmeta.trec.streams import InputFile, open_stream
from irmeta.trec.text import NUMBER, WHOLE, first_fields

Form = Literal["trec", "msmarco", "scores", "csv", "json", "jsonl", "parquet", "tabs"]
FORMS: dict[str, str] = {
    "trec": "TREC form",
    "msmarco": "MS MARCO form (query doc rank, without a score)",
    "scores": "lines query doc score",
    "csv": "CSV or TSV with named columns",
    "json": "JSON by query",
    "jsonl": "JSONL, a record per line",
    "parquet": "Parquet with named columns",
    "tabs": "tab-separated columns without names",
}
"""Forms of files, and what notes call them."""
SEPARATORS = ("\t", ",", ";")
"""Separators of files with named columns."""
_HEAD = 1 << 16  # bytes that decide the form
_PLACEHOLDERS = (b"0", b"Q0", b"q0")


def recognize(file: InputFile, kind: Kind) -> Form:
    """Return the form of a file; ``trec`` for a file in no other form, or that cannot be opened.

    Three columns without names are ``msmarco``; whether the third is a rank or a score depends on
    the rest of the file.

    Raises
    ------
    DataError
        If the first line has separators, and neither names of columns nor numbers.
    """
    try:
        head = _read_head(file)
    except DataError:  # the reader of TREC text raises it again
        return "trec"
    if head.startswith(b"PAR1"):
        return "parquet"
    refuse_other_form(head, file.name, kind)
    if head.lstrip()[:1] in (b"{", b"["):
        return "jsonl" if _is_jsonl(head.lstrip()) else "json"
    line = header_of(head)
    if separator_of(line) is not None:
        return "csv"
    fields = first_fields(head)
    has_rank_and_score = (
        kind == "run"
        and len(fields) == 4
        and fields[1] not in _PLACEHOLDERS
        and WHOLE.match(fields[2]) is not None
        and NUMBER.match(fields[3]) is not None
    )
    has_value = len(fields) == 3 and NUMBER.match(fields[2]) is not None
    if has_value or has_rank_and_score:
        return "msmarco"
    separator = next((one for one in SEPARATORS if line.count(one) > 1), None)
    if len(fields) < 3 and separator is not None:
        value = "score" if kind == "run" else "relevance"
        fix = f"Begin a file with separators with a line such as query_id,doc_id,{value}."
        names = _cells(line, separator)
        missing = [kind for kind in ("query", "doc") if column_of(names, kind) is None]
        problem = f"the first line names no column of {' and '.join(missing)}"
        if len(missing) == 1:
            fix = f"Rename the column of the {missing[0]} to {missing[0]}_id."
        raise DataError(problem, file=file.name, line=1, value=line, fix=fix)
    return "trec"


def header_of(content: bytes) -> str:
    """Return the first line that is not blank, as text."""
    match = re.match(rb"\s*([^\r\n]*)", content)
    return match[1].decode("utf-8", "replace").strip("\ufeff") if match else ""


def separator_of(header: str) -> str | None:
    """Return the separator of a line that names columns of queries and docs, or None."""
    for separator in SEPARATORS:
        names = _cells(header, separator)
        if len(names) > 2 and column_of(names, "query") and column_of(names, "doc"):
            return separator
    return None


def _cells(header: str, separator: str) -> list[str]:
    return [cell.strip().strip('"') for cell in header.split(separator)]


def _read_head(file: InputFile) -> bytes:
    buffer, filled = bytearray(_HEAD), 0
    with open_stream(file) as stream:
        while filled < _HEAD and (count := stream.readinto(memoryview(buffer)[filled:])):
            filled += count
    return bytes(buffer[:filled])


def _is_jsonl(head: bytes) -> bool:
    """Check whether the first line is a complete object that is a record, or one of several."""
    first, _, further = head.partition(b"\n")
    try:
        value: object = json.loads(first)
    except RecursionError:
        return further.lstrip()[:1] == b"{"
    except ValueError:  # cut off, or a number of more digits than Python converts
        return False
    if not isinstance(value, dict):
        return False
    values = cast(dict[str, Any], value).values()
    is_record = any(not isinstance(one, dict | list) for one in values)
    return is_record or further.lstrip()[:1] == b"{"
