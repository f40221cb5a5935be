"""Runs, qrels, files of other forms, archives, collections, dicts and frames with faults."""

from __future__ import annotations

import gzip
import io
import json
import math
import re
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import irmeta
from campaign import plain
from campaign.kinds import Group, refusal
from irmeta.errors import DataError, IrmetaError
from irmeta.trec.qrels import parse_qrels
from irmeta.trec.runs import RowReader, parse_run
from irmeta.trec.streams import InputFile

NUMBERS = (
    *("0", "1", "-1", "+2", "007", "1.5", "-0.0", ".5", "5.", "1e3", "1e-400", "1E+308", "1e309"),
    *(
        "9" * 18,
        "9" * 19,
        "9" * 20,
        "0." + "3" * 25,
        "16777217",
        "16777216",
        "2.2250738585072014e-308",
    ),
    *(
        "nan",
        "inf",
        "-Infinity",
        "0x10",
        "1_0",
        "1,5",
        ",5",
        "1,",
        "--1",
        "+",
        "e5",
        "١",
        "1e",
        "NA",
    ),
)
NAMES = (
    *(
        "1",
        "2",
        "q",
        "d1",
        "d2",
        "d10",
        "Q0",
        "é",
        "日本",
        "\u202e",
        "\x1b[31m",
        "#",
        "\ufeff",
        "\xa0",
    ),
    *('"', "'", "<b>", "=1+1", "\\n", "a,b", "{", "[", "x" * 40, "\u2028", "\x85", "null", "0x1"),
)
BETWEEN = (" ", " ", " ", "\t", "  ", " \t", "\v", "\f", "\r")
ENDS = ("\n", "\n", "\n", "\r\n", "\n\n", " \n", "\r", "\n#c\n", "\n ", "")
BYTES = (0, 9, 10, 11, 12, 13, 28, 32, 34, 35, 43, 45, 46, 48, 69, 92, 127, 133, 160, 194, 239, 255)
QRELS = b"1 0 d1 1\n1 0 d2 0\n2 0 d1 2\n"


def spoil(rng: Random, data: bytes) -> bytes:
    """Change a few bytes: replace, insert, remove, repeat, cut off."""
    raw = bytearray(data)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 5))):
        at = rng.randrange(len(raw) + 1)
        action = rng.randrange(6)
        if action == 0:
            raw[at : at + 1] = bytes([rng.choice(BYTES)])
        elif action == 1:
            raw[at:at] = bytes([rng.choice(BYTES)])
        elif action == 2:
            del raw[at : at + rng.randrange(1, 9)]
        elif action == 3:
            raw[at:at] = raw[at : at + rng.randrange(1, 30)]
        elif action == 4:
            raw[at : at + 1] = bytes([rng.randrange(256)])
        elif rng.random() < 0.3:
            del raw[at:]
    return bytes(raw)


def drawn_lines(rng: Random, columns: str) -> bytes:
    """Draw lines: n stands for a number, w for a whole number, other letters for a name."""
    names = rng.sample(NAMES, 4) if rng.random() < 0.5 else list(NAMES[:6])
    odd, parts = rng.random() < 0.4, list[str]()
    between, ends = (BETWEEN, ENDS) if odd else (" ", "\n")
    for _ in range(rng.randrange(1, 9)):
        of = columns if rng.random() < 0.95 else columns[: rng.randrange(1, 7)] + "n"
        for place, column in enumerate(of):
            if column == "n":
                text = rng.choice(NUMBERS[: 19 if odd else 13])
            else:
                text = str(rng.randrange(9)) if column == "w" else rng.choice(names)
                text = "1" if column == "1" else text
            text = rng.choice(NUMBERS) if column in "nw" and rng.random() < 0.03 else text
            parts += [text, rng.choice(between) if place < len(of) - 1 else rng.choice(ends)]
    return "".join(parts).encode()


def long_run(rng: Random, name: bytes = b"a") -> bytes:
    """Draw a run of one or two long lists with distinct scores, not in their order."""
    lines = list[bytes]()
    for query in b"12"[: rng.randrange(1, 3)].decode():
        docs = [f"d{number}" for number in rng.sample(range(100), rng.randrange(6, 40))]
        scores = rng.sample(range(1, 1000), len(docs))
        # Some differ only in digits that four bytes do not hold.
        tiny = 1 + 2**-40 if rng.random() < 0.3 else 1
        for place, (doc, score) in enumerate(zip(docs, scores, strict=True), 1):
            lines.append(f"{query} Q0 {doc} {place} {score * tiny!r} ".encode() + name + b"\n")
    return b"".join(lines)


def with_odd_number(rng: Random, text: bytes) -> bytes:
    """Replace one score by a word that is no number, or an unusual one."""
    lines = text.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    fields = lines[at].split(b" ")
    if len(fields) == 6:
        fields[4] = rng.choice(NUMBERS).encode()
    lines[at] = b" ".join(fields)
    return b"".join(lines)


def damaged(rng: Random, data: bytes) -> bytes:
    """Flip a bit, often of the checksum or length at the end, or cut data off, or neither."""
    raw, action = bytearray(data), rng.random()
    at = rng.randrange(len(raw)) if rng.random() < 0.5 else len(raw) - 1 - rng.randrange(8)
    if action < 0.6:
        raw[at] ^= 1 << rng.randrange(8)
    elif action < 0.8:
        del raw[at:]
    return bytes(raw)


def file_of(name: str, data: bytes) -> InputFile:
    return InputFile(name, lambda: io.BytesIO(data))


HASH_ROW = re.compile(rb"(?m)^[ \t]*\xef?\xbb?\xbf?[ \t]*#\S")
"""A row of a query that begins with #, or a comment: the plain reader takes all for comments."""


def compare(read: Callable[[], object], expect: Callable[[], object], name: str) -> str | None:
    """Compare what irmeta reads with what a plain reader reads; both may refuse."""
    try:
        expected = expect()
    except plain.UnreadableError as error:
        expected = error
    try:
        found = read()
    except IrmetaError as error:
        if isinstance(expected, plain.UnreadableError):
            return refusal(error, name)
        return f"refused: {error}, read by plain code: {str(expected)[:200]}"
    if isinstance(expected, plain.UnreadableError):
        return f"accepted: {str(found)[:200]}, refused by plain code: {str(expected)[:200]}"
    if found != expected:
        return f"other values: {str(found)[:300]}, by plain code {str(expected)[:300]}"
    return None


class Runs:
    """Text of runs in TREC form, by the kernel and line by line."""

    group: Group = "inputs"

    def __init__(self, work: Path) -> None:
        self.reader, self.count = RowReader(), 0

    def draw(self, rng: Random) -> bytes:
        if rng.random() < 0.1:
            text = long_run(rng)
            return with_odd_number(rng, text) if rng.random() < 0.5 else text
        return spoil(rng, drawn_lines(rng, rng.choice(("abcwnd", "abcwnd", "abcwn"))))

    def check(self, drawn: bytes) -> str | None:
        if HASH_ROW.search(drawn):
            return None
        self.count += 1
        if self.count % 200 == 0:  # names are kept for all files of a reader
            self.reader = RowReader()
        return compare(lambda: self.read(drawn), lambda: plain.read_run(drawn), "a.run")

    def read(self, drawn: bytes) -> list[plain.Row]:
        rows = parse_run(file_of("a.run", drawn), self.reader).rows
        ends = [*rows.starts[1:].tolist()]
        queries = self.reader.queries.strings().gather(rows.queries).to_list()
        numbers = [
            q for q, a, b in zip(queries, [0, *ends], ends, strict=False) for _ in range(a, b)
        ]
        docs = self.reader.docs.strings().gather(rows.doc).to_list()
        return list(zip(numbers, docs, rows.score.tolist(), rows.rank.tolist(), strict=True))


class Qrels:
    """Text of qrels without subtopics, by columns and line by line."""

    group: Group = "inputs"

    def __init__(self, work: Path) -> None: ...

    def draw(self, rng: Random) -> bytes:
        return spoil(rng, drawn_lines(rng, "a1bw" if rng.random() < 0.7 else "abcn"))

    def check(self, drawn: bytes) -> str | None:
        if HASH_ROW.search(drawn):
            return None

        def read() -> object:
            frame = parse_qrels(file_of("a.qrels", drawn)).frame
            return frame.select("query", "doc", pl.col("grade").cast(pl.Float64)).rows()

        return compare(read, lambda: plain.read_qrels(drawn), "a.qrels")


def lists_of(store: irmeta.Store) -> list[plain.Lists]:
    """Return the lists of each system, ordered by name."""
    rows = store.runs().sort("system", "query", "rank").collect()
    lists: dict[str, plain.Lists] = {}
    for system, query, doc in rows.select("system", "query", "doc").rows():
        lists.setdefault(system, {}).setdefault(query, []).append(doc)
    return list(lists.values())


def judged(lists: plain.Lists, queries: str) -> plain.Lists:
    """Return the lists of a run, which needs one for a judged query."""
    if not lists.keys() & set(queries):
        raise plain.UnreadableError("no query is judged")
    return lists


class Files:
    """Run files in JSON and TREC form, plain or compressed, from the file to the ranked lists."""

    group: Group = "inputs"

    def __init__(self, work: Path) -> None:
        self.run, self.qrels = work / "a.run", work / "qrels"
        self.qrels.write_bytes(QRELS)

    def draw(self, rng: Random) -> bytes:
        if rng.random() < 0.3:
            run = long_run(rng)
            return damaged(rng, gzip.compress(run, mtime=0)) if rng.random() < 0.5 else run
        if rng.random() < 0.4:
            return drawn_lines(rng, "abcwnd" if rng.random() < 0.3 else "1bcwnd")
        names = rng.sample(NAMES, 4)
        scores = (1, 2, 0.5, -1, 1e300, 16777216, 16777217, True, None, "1", math.nan, 10**30)
        most = len(scores) if rng.random() < 0.1 else 7
        lists = {
            q: {d: rng.choice(scores[:most]) for d in names[: rng.randrange(1, 5)]} for q in "12"
        }
        data = json.dumps(lists, ensure_ascii=rng.random() < 0.5).encode()
        data = spoil(rng, data) if rng.random() < 0.5 else data
        return gzip.compress(data, mtime=0) if rng.random() < 0.1 else data

    def check(self, drawn: bytes) -> str | None:
        self.run.write_bytes(drawn)

        def expect() -> object:
            return [judged(plain.ranked_file(plain.decompressed(drawn)), "12")]

        return compare(lambda: lists_of(irmeta.read_files(self.qrels, self.run)), expect, "a.run")


class Archives:
    """Archives of two runs with changed bytes."""

    group: Group = "inputs"
    RUNS = (b"1 Q0 d1 1 2.5 a\n1 Q0 d2 2 1.5 a\n", b"1 Q0 d2 1 2.5 b\n2 Q0 d1 1 1.5 b\n")

    def __init__(self, work: Path) -> None:
        self.run, self.qrels = work / "runs.archive", work / "qrels"
        self.qrels.write_bytes(QRELS)

    def draw(self, rng: Random) -> tuple[tuple[bytes, ...], bytes, bool]:
        file = io.BytesIO()
        runs = self.RUNS if rng.random() < 0.6 else (long_run(rng, b"a"), long_run(rng, b"b"))
        if rng.random() < 0.4:
            with zipfile.ZipFile(file, "w", rng.choice((0, 8))) as archive:
                for name, run in zip("ab", runs, strict=True):
                    archive.writestr(zipfile.ZipInfo(f"r/{name}"), run)
        else:
            with tarfile.open(fileobj=file, mode=rng.choice(("w", "w:gz", "w:xz"))) as archive:
                for name, run in zip("ab", runs, strict=True):
                    info = tarfile.TarInfo(f"r/{name}")
                    info.size = len(run)
                    archive.addfile(info, io.BytesIO(run))
        whole = spoilt = file.getvalue()
        for _ in range(rng.randrange(3)):
            spoilt = damaged(rng, spoilt or whole)
        return runs, spoilt, spoilt != whole

    def check(self, drawn: tuple[tuple[bytes, ...], bytes, bool]) -> str | None:
        written, data, is_damaged = drawn
        self.run.write_bytes(data)
        whole = [plain.ranked(run) for run in written]
        try:
            found = lists_of(irmeta.read_files(self.qrels, self.run))
        except IrmetaError as error:  # some readers of archives go on where others stop
            return refusal(error, "runs.archive") if is_damaged else f"refused: {error}"
        if not is_damaged:
            return None if found == whole else f"other values: {found}"
        try:
            plain.decompressed(data)
        except plain.UnreadableError as error:
            return f"accepted: {found}, refused by plain code: {error}"
        if found == whole:
            return None
        try:
            runs = plain.members(data).values()
        except plain.UnreadableError:
            runs = ()
        lists = list[plain.Lists]()
        for run in runs:
            try:
                lists.append(plain.ranked(run))
            except plain.UnreadableError:  # skipped, and named in a warning
                continue
        if all(one in lists or one in whole for one in found):
            return None
        return f"other values: {found}"


class Collections:
    """Changed texts of collection.toml."""

    group: Group = "inputs"
    TEXT = b'only_described = true\n[tracks.a]\nqrels = "a/qrels"\nruns = ["a/runs/*"]\n'
    WORDS = (b'"a/qrels"', b'"../x"', b'"a/runs/[ab]"', b"[]", b"{}", b"1", b"true", b'"\\u0000"')

    def __init__(self, work: Path) -> None:
        self.root = work
        (work / "a" / "runs").mkdir(parents=True)
        (work / "a" / "qrels").write_bytes(QRELS)
        for name, run in zip("ab", Archives.RUNS, strict=True):
            (work / "a" / "runs" / name).write_bytes(run)
        (work / "b" / "runs").mkdir(parents=True)
        (work / "b" / "qrels").write_bytes(QRELS)
        (work / "b" / "runs" / "a").write_bytes(Archives.RUNS[0])

    def draw(self, rng: Random) -> bytes:
        text = self.TEXT
        if rng.random() < 0.5:
            text = text.replace(
                rng.choice((b'"a/qrels"', b'["a/runs/*"]', b"true")), rng.choice(self.WORDS)
            )
        if rng.random() < 0.3:
            keys = (b"names", b"tie_order", b"depth", b"pool_depth", b"systems", b"runs", b"x")
            text += rng.choice(keys) + b" = " + rng.choice(self.WORDS) + b"\n"
        return spoil(rng, text)

    def check(self, drawn: bytes) -> str | None:
        (self.root / "collection.toml").write_bytes(drawn)
        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                store = irmeta.read(self.root)
                found = {t: lists_of(irmeta.read(self.root, track=t)) for t in store.tracks}
        except IrmetaError as error:
            return refusal(error, "collection.toml", str(self.root))
        try:
            expected = {
                name: lists for name, (_, lists) in plain.read_collection(self.root).items()
            }
        except plain.UnreadableError as error:
            return f"accepted: {found}, refused by plain code: {error}"
        is_same = all(one in expected.get(t, []) for t, lists in found.items() for one in lists)
        if not warned:  # of a skipped run, or a track that cannot be understood
            is_same = found == expected
        return None if is_same else f"other values: {found}, by plain code {expected}"


class Dicts:
    """Dicts and frames of runs with values that are no scores."""

    group: Group = "inputs"
    VALUES: tuple[Any, ...] = (
        1,
        2.5,
        -1,
        0.0,
        2**24 + 1,
        10**400,
        math.nan,
        math.inf,
        None,
        "1",
        b"1",
    )

    def __init__(self, work: Path) -> None: ...

    def draw(self, rng: Random) -> tuple[str, dict[str, dict[str, Any]]]:
        if rng.random() < 0.3:
            docs = rng.sample(range(100), rng.randrange(6, 30))
            scores = rng.sample(range(1000), len(docs))
            long = {f"d{doc}": float(score) for doc, score in zip(docs, scores, strict=True)}
            return rng.choice(("dict", "frame")), {"1": long}
        most = len(self.VALUES) if rng.random() < 0.3 else 5
        names = [*rng.sample(NAMES, 3), *(("", "\ud800") if rng.random() < 0.05 else ())]
        lists = {
            query: {doc: rng.choice(self.VALUES[:most]) for doc in rng.sample(names, 2)}
            for query in ("1", *rng.sample(("2", *names), rng.randrange(3)))
        }
        return rng.choice(("dict", "frame")), lists

    def check(self, drawn: tuple[str, dict[str, dict[str, Any]]]) -> str | None:
        form, lists = drawn
        given: object = lists
        if form == "frame":
            rows = [(q, d, s) for q, docs in lists.items() for d, s in docs.items()]
            try:
                columns = {"qid": [r[0] for r in rows], "docno": [r[1] for r in rows]}
                given = pl.DataFrame(columns | {"score": [r[2] for r in rows]})
            except (TypeError, OverflowError, UnicodeEncodeError, pl.exceptions.PolarsError):
                return None  # polars refuses such a column

        def read() -> object:
            return lists_of(irmeta.from_data({"1": {"d1": 1}}, given))

        try:
            expected = [judged(plain.ranked_dict(lists), "1")]
        except plain.UnreadableError as error:
            expected = error
        try:
            found = read()
        except IrmetaError as error:
            if isinstance(error, DataError | irmeta.UsageError) and isinstance(expected, Exception):
                return None
            return f"refused: {error}"
        return None if found == expected else f"other values: {found}, by plain code {expected}"
