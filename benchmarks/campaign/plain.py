"""Slow, obvious readers of runs, qrels, archives and collections, which import nothing of irmeta.

Each returns the content, or raises `UnreadableError`.
"""

from __future__ import annotations

import fnmatch
import gzip
import io
import json
import math
import re
import struct
import tarfile
import tomllib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?")
WHOLE = re.compile(r"[+-]?[0-9]+")
NO_RANK = -(2**31)
WHITE = "[ \t\r\v\f]+"
GREATEST_GRADE = 2**31 - 1

Row = tuple[str, str, float, int]
Lists = dict[str, list[str]]
"""Docs by query, best first."""


class UnreadableError(Exception):
    """The content has no single meaning."""


def rows_of(data: bytes, splits: int = 0) -> Iterator[list[str]]:
    """Yield the fields of each line that is neither blank nor a comment."""
    if b"\0" in data:
        raise UnreadableError("NUL")
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        try:
            text = line.decode()
        except UnicodeDecodeError:
            text = line.decode("latin-1")
        text = text.strip(" \t\r\v\f") if not text.startswith("#") else ""
        if text:
            yield re.split(WHITE, text, maxsplit=splits)


def number(text: str) -> float:
    """Parse a finite decimal number."""
    if not NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise UnreadableError(text)
    return float(text)


def read_run(data: bytes) -> list[Row]:
    """Read a run of six columns, or of five if no line has a tag, in the order of lines."""
    lines = list(rows_of(data, 5))
    if not lines:
        raise UnreadableError("no row")
    width = max(map(len, lines)) if len(lines[0]) == 5 else len(lines[0])
    rows: list[Row] = []
    for fields in lines:
        if len(fields) != width or width < 5 or "\r" in fields[-1]:
            raise UnreadableError(str(fields))
        query, _, doc, rank, score = fields[:5]
        is_whole = WHOLE.fullmatch(rank) is not None
        if width == 5 and not is_whole:
            raise UnreadableError(rank)
        place = int(rank) if is_whole and len(rank) < 12 else NO_RANK
        is_small = NO_RANK < place < 2**31
        score = score.replace(",", ".") if COMMA.fullmatch(score) else score
        rows.append((query, doc, number(score), place if is_small else NO_RANK))
    return rows


def read_qrels(data: bytes) -> list[tuple[str, str, float]]:
    """Read qrels of four columns without subtopics, each doc once, in the order of lines."""
    found: dict[tuple[str, str], tuple[str, float]] = {}
    for fields in rows_of(data):
        if len(fields) != 4:
            raise UnreadableError(str(fields))
        query, second, doc, grade = fields
        if found.setdefault((query, doc), (second, number(grade))) != (second, number(grade)):
            raise UnreadableError(f"{query} {doc} twice")
    grades = {grade for _, grade in found.values()}
    if not found or any(abs(grade) > GREATEST_GRADE for grade in grades):
        raise UnreadableError("no row, or a grade that no table holds")
    return [(query, doc, grade + 0.0) for (query, doc), (_, grade) in found.items()]


def float32(score: float) -> float:
    """Return the nearest number of four bytes."""
    try:
        return struct.unpack("f", struct.pack("f", score))[0]
    except OverflowError:
        return math.copysign(math.inf, score)


def ordered(rows: list[tuple[str, str, float]]) -> Lists:
    """Order docs as trec_eval does: by score as float32, then by doc, both descending."""
    lists: dict[str, dict[str, float]] = {}
    for query, doc, score in rows:
        docs = lists.setdefault(query, {})
        if doc in docs:
            raise UnreadableError(f"{query} {doc} twice")
        docs[doc] = score
    return {
        query: sorted(docs, key=lambda doc: (float32(docs[doc]), doc.encode()), reverse=True)
        for query, docs in lists.items()
    }


def ranked(data: bytes) -> Lists:
    """Read and order a run in TREC form."""
    return ordered([row[:3] for row in read_run(data)])


def ranked_columns(data: bytes) -> Lists:
    """Read and order a run of three or four columns: query doc rank [score], or query doc score."""
    return ordered_columns(list(rows_of(data)))


def rows_by_tabs(data: bytes) -> list[list[str]]:
    """Return the fields between tabs if all lines have as many and an id holds a blank, or none."""
    try:
        lines = [line for line in data.decode().split("\n") if line.strip() and line[0] != "#"]
    except UnicodeDecodeError:
        return []
    rows = [[field.strip() for field in line.split("\t")] for line in lines]
    width = len(rows[0]) if rows else 0
    if width not in (3, 4, 5, 6) or any(len(row) != width or not all(row) for row in rows):
        return []
    doc, value = (1, width - 1) if width < 5 else (2, 4)
    are_ranks = width == 3 or all(WHOLE.fullmatch(row[doc + 1]) for row in rows)
    if not are_ranks or not all(NUMBER.fullmatch(row[value]) for row in rows):
        return []
    ids = [row[place] for row in rows for place in (0, doc)]
    has_blank = any(" " in one for one in ids)
    is_before_q0 = all(one.endswith((" 0", " Q0", " q0")) for one in ids[::2])
    return rows if has_blank and not is_before_q0 else []


def ordered_columns(lines: list[list[str]]) -> Lists:
    """Order rows of three or four fields."""
    width = len(lines[0]) if lines else 0
    if width not in (3, 4) or any(len(fields) != width for fields in lines):
        raise UnreadableError("another number of fields")
    scores = [number(fields[-1]) for fields in lines]
    if all(WHOLE.fullmatch(fields[2]) for fields in lines):
        ranks: dict[str, list[int]] = {}
        for fields in lines:
            ranks.setdefault(fields[0], []).append(int(fields[2]))
        for one in ranks.values():
            first = min(one)
            if first not in (0, 1) or sorted(one) != list(range(first, first + len(one))):
                raise UnreadableError("ranks that do not count up")
        if width == 3:
            scores = [-score for score in scores]
    elif width == 4:
        raise UnreadableError("a rank that is no whole number")
    return ordered([(*fields[:2], score) for fields, score in zip(lines, scores, strict=True)])


def ranked_file(data: bytes) -> Lists:
    """Read and order a run in TREC form, else in JSON, else of fewer columns."""
    if tabbed := rows_by_tabs(data):
        if len(tabbed[0]) < 5:
            return ordered_columns(tabbed)
        return ordered([(row[0], row[2], number(row[4])) for row in tabbed])
    try:
        return ranked(data)
    except UnreadableError:
        is_json = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"
        return ranked_json(data) if is_json else ranked_columns(data)


def decompressed(data: bytes) -> bytes:
    """Return the content of a gzip file whose checksum and length are right; other data as such."""
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableError(repr(error)) from None


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON whose names are distinct."""
    if len(dict(pairs)) < len(pairs):
        raise UnreadableError("a name twice")
    return dict(pairs)


def ranked_json(data: bytes) -> Lists:
    """Read and order a run ``{query: {doc: score}}``."""
    try:
        content = json.loads(data.removeprefix(b"\xef\xbb\xbf"), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(str(error)) from None
    return ranked_dict(content)


def ranked_dict(content: Any) -> Lists:
    """Order a run ``{query: {doc: score}}``; true and false are 1 and 0, as in Python."""
    if not isinstance(content, dict):
        raise UnreadableError("not an object")
    rows: list[tuple[str, str, float]] = []
    for query, docs in content.items():
        for doc, score in docs.items() if isinstance(docs, dict) else [("", math.nan)]:
            if not isinstance(score, int | float) or not abs(score) < 2**1023 or "" in (query, doc):
                raise UnreadableError(f"{query!r} {doc!r}: {score!r}")
            try:
                f"{query}{doc}".encode()
            except UnicodeEncodeError as error:
                raise UnreadableError(str(error)) from None
            rows.append((query, doc, float(score)))
    if not rows:
        raise UnreadableError("no row")
    return ordered(rows)


def members(data: bytes) -> dict[str, bytes]:
    """Return the visible files of a zip or tar archive by name."""
    try:
        if data[:2] == b"PK":
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                names = [one.filename for one in archive.infolist() if not one.is_dir()]
                return {name: archive.read(name) for name in names}
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            files = [one for one in archive.getmembers() if one.isreg()]
            return {one.name: archive.extractfile(one).read() for one in files}
    except Exception as error:  # what damaged archives raise is not documented
        raise UnreadableError(repr(error)) from None


def read_collection(folder: Path) -> dict[str, tuple[list[tuple[str, str, float]], list[Lists]]]:
    """Read the tracks of a collection: those of collection.toml, others by their layout."""
    try:
        described = tomllib.loads((folder / "collection.toml").read_bytes().decode())
        tracks = described.get("tracks", {})
        for name in sorted(one.parent.name for one in folder.glob("*/qrels")):
            if name in tracks or not described.get("only_described"):
                layout = {"qrels": f"{name}/qrels", "runs": f"{name}/runs/*"}
                tracks[name] = layout | tracks.get(name, {})
    except (ValueError, TypeError, AttributeError) as error:
        raise UnreadableError(str(error)) from None
    read = {}
    for name, table in tracks.items():
        try:
            files = sorted(one.relative_to(folder).as_posix() for one in folder.rglob("*"))
            patterns = [table["runs"]] if isinstance(table["runs"], str) else table["runs"]
            runs = [f for f in files if any(fnmatch.fnmatchcase(f, p) for p in patterns)]
            qrels = read_qrels((folder / table["qrels"]).read_bytes())
            lists = [ranked((folder / run).read_bytes()) for run in runs]
            depth = table.get("depth")
            read[name] = (qrels, [{q: docs[:depth] for q, docs in one.items()} for one in lists])
        except (TypeError, KeyError, ValueError, OSError) as error:
            raise UnreadableError(str(error)) from None
    return read
