"""Recognition of the form of a file by its content; forms that are not read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, cast

from irmeta.errors import DataError
from irmeta.policies import Columns
from irmeta.trec.readers.engine_json import engine_file
from irmeta.trec.readers.frames import NOT_CHOSEN, column_of, no_such_column
from irmeta.trec.streams import InputFile, open_stream
from irmeta.trec.text import NUMBER, WHOLE, first_fields

Kind = Literal["run", "qrels"]
WRITE: dict[Kind, str] = {
    "run": "Write {query: {doc: score}}.",
    "qrels": "Write {query: {doc: grade}}.",
}
"""The JSON that is read."""
_UTF8 = "Convert it to UTF-8."
_EXPORT = "Export it as CSV, Parquet or text."
_MAGIC = {
    b"\xff\xfe": ("text in UTF-16", _UTF8),
    b"\xfe\xff": ("text in UTF-16", _UTF8),
    b"\x02\x21\x4c\x18": ("compressed by lz4 in its legacy form", "Unpack it."),
    b"\xff\x06\x00\x00sNaPpY": ("compressed by snappy", "Unpack it."),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", "Unpack it."),
    b"Rar!": ("a rar archive", "Unpack it."),
    b"ARROW1": ("Arrow IPC (Feather)", _EXPORT),
    b"\xd0\xcf\x11\xe0": ("an Excel file", _EXPORT),
    b"SQLite format 3": ("a database of SQLite", _EXPORT),
    b"\x93NUMPY": ("an array of NumPy", _EXPORT),
    b"\x89HDF": ("HDF5", _EXPORT),
    b"\x80\x03": ("a pickle of Python", _EXPORT),
    b"\x80\x04": ("a pickle of Python", _EXPORT),
    b"\x80\x05": ("a pickle of Python", _EXPORT),
}
_TREC_EVAL = re.compile(
    rb"\s*(runid|num_(q|ret|rel|rel_ret)|(gm_)?(map|bpref)|(map_cut|P|recall|ndcg_cut|success)_\d+"
    rb"|Rprec|ndcg|recip_rank|iprec_at_recall_[\d.]+|infAP|set_\w+) *\t\S+\s+\S+[ \t]*\r?(\n|\Z)"
)
_OLD_TREC_EVAL = re.compile(rb"\s*Queryid \(Num\):")


def refuse_other_form(head: bytes, file: str, kind: Kind) -> None:
    """Raise the error of a file in a known form that is not read, by its first bytes."""
    for magic, (name, fix) in _MAGIC.items():
        if head.startswith(magic):
            raise DataError(f"{name}, which is not read", file=file, fix=fix)
    has_zeros = [not half.strip(b"\0") for half in (head[:64:2], head[1:64:2])]
    if len(head) > 3 and has_zeros[0] != has_zeros[1]:
        raise DataError("text in UTF-16, which is not read", file=file, fix=_UTF8)
    if head.lstrip().startswith((b"ir_metadata.start", b"---")):
        raise DataError("YAML, such as metadata of a run", file=file, fix=f"This is no {kind}.")
    refuse_trec_eval(head, file)


def refuse_trec_eval(head: bytes, file: str, *, values: bool = False) -> None:
    """Raise the error of values that trec_eval printed, where a run or qrels are expected.

    With `values`, those per query are expected.
    """
    fix = "`irmeta compare` and `irmeta power` read what trec_eval -q prints."
    if _OLD_TREC_EVAL.match(head):
        problem = "output of an old trec_eval, which has no values per query"
        raise DataError(problem, file=file, fix="Evaluate the run again.")
    if values or not _TREC_EVAL.match(head):
        return
    complete = head[: head.rfind(b"\n") + 1] or head
    queries = {fields[1] for line in complete.split(b"\n") if len(fields := line.split()) > 2}
    if queries == {b"all"}:
        raise DataError("output of trec_eval without values per query (-q)", file=file, fix=fix)
    raise DataError("output of trec_eval, which is neither a run nor qrels", file=file, fix=fix)


def refuse_json(content: object, file: str, kind: Kind) -> None:
    """Raise the error of JSON in a known form that is not read, or not as this kind."""
    if (known := engine_file(content)) is not None:
        if known.form.kind == kind:
            return
        where = "where qrels are expected" if kind == "qrels" else "where a run is expected"
        raise DataError(f"{known.form.name}, {where}", file=file, line=1, fix=WRITE[kind])
    if (name := _json_form(content)) is not None:
        raise DataError(f"this looks like {name}", file=file, line=1, fix=WRITE[kind])


def _json_form(content: object) -> str | None:
    """Return the name of a known form of JSON that is not read."""
    first = cast(list[object], content)[0] if isinstance(content, list) and content else content
    if not isinstance(first, dict):
        return None
    record = cast(dict[str, Any], first)
    keys = {*record}
    for needed, name in _KEYS.items():
        if keys.issuperset(needed):
            return name
    values = next((one for one in record.values() if isinstance(one, list) and one), None)
    inner = cast(list[object], values)[0] if values is not None else None
    if isinstance(inner, Mapping):
        return "lists of records by query"
    if isinstance(inner, list):
        return "lists of pairs of a doc and a score by query"
    return None


_KEYS: dict[tuple[str, ...], str] = {
    ("task_name", "scores"): "results of MTEB, which holds means",
    ("model_names", "metrics"): "a report of ranx, which holds means",
}


Form = Literal[
    "trec", "msmarco", "scores", "csv", "json", "jsonl", "parquet", "tabs", "letor", "predictions"
]
FORMS: dict[str, str] = {
    "trec": "TREC form",
    "msmarco": "MS MARCO form (query doc rank, without a score)",
    "scores": "lines query doc score",
    "csv": "CSV or TSV with named columns",
    "json": "JSON by query",
    "jsonl": "JSONL, a record per line",
    "parquet": "Parquet with named columns",
    "tabs": "tab-separated columns without names",
    "letor": "lines for learning to rank (grade qid:QUERY features), without their features",
    "predictions": "a score for each line of the qrels",
}
"""Forms of files, and what notes call them."""
TABLES: tuple[Form, ...] = ("csv", "json", "jsonl", "parquet")
"""Forms that may have named columns."""
SEPARATORS = ("\t", ",", ";")
"""Separators of files with named columns."""
_HEAD = 1 << 16  # bytes that decide the form
_RECORD = 1 << 24  # and of one long line of JSON, which may hold the texts of a query's docs
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
        head = _read_head(file, _HEAD)
    except DataError:  # the reader of TREC text raises it again
        return "trec"
    if head.startswith(b"PAR1"):
        return "parquet"
    refuse_other_form(head, file.name, kind)
    if head.lstrip()[:1] == b"{" and len(head) == _HEAD and b"\n" not in head.strip():
        head = _read_head(file, _RECORD)
    if head.lstrip()[:1] in (b"{", b"["):
        return "jsonl" if _is_jsonl(head.lstrip()) else "json"
    fields = first_fields(head)
    if len(fields) > 1 and fields[1].startswith(b"qid:"):
        if kind == "qrels":
            return "letor"
        problem = "features for learning to rank (LETOR, SVMlight), where a run is expected"
        fix = "Name the file as qrels, and as runs files with a score for each of its lines."
        value = b" ".join(fields[:4])
        raise DataError(problem, file=file.name, line=1, value=value, fix=fix)
    if kind == "run" and len(fields) == 1 and NUMBER.match(fields[0]):
        return "predictions"
    line = header_of(head)
    if separator_of(line, file.columns) is not None:
        return "csv"
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
    has_number = any(NUMBER.match(cell.encode()) for cell in _cells(line, separator or "\t"))
    if separator is not None and (len(fields) < 3 or (file.columns and not has_number)):
        value = "score" if kind == "run" else "relevance"
        fix = f"Begin a file with separators with a line such as query_id,doc_id,{value}."
        names = _cells(line, separator)
        missing = [k for k in ("query", "doc") if column_of(names, k, file.columns) is None]
        if (key := next((key for key in missing if key in file.columns), None)) is not None:
            raise no_such_column(names, key, file.columns, file.name, 1)
        problem = f"the first line names no column of {' and '.join(missing)}"
        if len(missing) == 1:
            fix = f"Rename the column of the {missing[0]} to {missing[0]}_id."
        named = ",".join(f"{key}=COLUMN" for key in missing)
        fix += f" `columns='{named}'` names {'it' if len(missing) == 1 else 'them'}."
        raise DataError(problem, file=file.name, line=1, value=line, fix=fix)
    return "trec"


def header_of(content: bytes) -> str:
    """Return the first line that is not blank, as text."""
    match = re.match(rb"\s*([^\r\n]*)", content)
    return match[1].decode("utf-8", "replace").strip("\ufeff") if match else ""


def separator_of(header: str, chosen: Columns = NOT_CHOSEN) -> str | None:
    """Return the separator of a line that names columns of queries and docs, or None.

    `chosen` are the columns that the user names.
    """
    for separator in SEPARATORS:
        names = _cells(header, separator)
        is_named = all(column_of(names, key, chosen) for key in ("query", "doc"))
        if len(names) > 2 and is_named:
            return separator
    return None


def _cells(header: str, separator: str) -> list[str]:
    return [cell.strip().strip('"') for cell in header.split(separator)]


def read_metadata(file: InputFile) -> bytes:
    """Return the comments at the start of a run if they hold ir_metadata, else nothing."""
    head = _read_head(file, _HEAD)
    head = _read_head(file, _RECORD) if head.startswith(b"#") else b""
    comments = re.split(rb"(?m)^(?=[^#\s])", head, maxsplit=1)[0]
    return comments if b"ir_metadata.start" in comments else b""


def _read_head(file: InputFile, size: int) -> bytes:
    buffer, filled = bytearray(size), 0
    with open_stream(file) as stream:
        while filled < size and (count := stream.readinto(memoryview(buffer)[filled:])):
            filled += count
    return bytes(buffer[:filled])


def _is_jsonl(head: bytes) -> bool:
    """Check whether the first line is a complete object that is a record, or one of several.

    Judgments of a search engine on one line are no record.
    """
    first, _, further = head.partition(b"\n")
    try:
        value: object = json.loads(first)
    except RecursionError:
        return further.lstrip()[:1] == b"{"
    except ValueError:  # cut off, or a number of more digits than Python converts
        return False
    known = engine_file(value)
    if not isinstance(value, dict) or (known is not None and known.form.kind == "qrels"):
        return False
    values = cast(dict[str, Any], value).values()
    is_record = any(not isinstance(one, dict | list) for one in values)
    return is_record or further.lstrip()[:1] == b"{"
