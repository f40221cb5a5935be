"""Runs read by the kernel and in chunks, compared with a naive reader of ten lines."""

from __future__ import annotations

import io
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from irmeta.errors import DataError
from irmeta.kernels.tokenize import BLOCK, LONGEST, TAGS, tokenize
from irmeta.trec import runs
from irmeta.trec.runs import CHUNK, NO_RANK, RowReader, Rows, list_chunks
from irmeta.trec.streams import open_stream
from support.examples import scaled
from support.parsing import READER, by_line, file_of


def read_rows(content: bytes) -> Rows | None:
    with open_stream(file_of(content)) as stream:
        return READER.read(stream)


def plainly(content: bytes) -> list[tuple]:
    """Return (query, doc, score, rank, tag) for each row, read naively."""
    rows = []
    for line in content.split(b"\n"):
        if line[:1] == b"#" or not line.split():
            continue
        query, _, doc, rank, score, *tag = line.split(None, 5)
        score = float(score.replace(b",", b"."))
        small = len(rank) < 12 and -(2**31) < int(rank) < 2**31
        rows.append((query, doc, score, int(rank) if small else NO_RANK, *tag))
    return [(*row[:4], *(t.rstrip() for t in row[4:])) for row in rows]


def seen(rows: Rows, reader: RowReader = READER) -> list[tuple]:
    """Return (query, doc, score, rank) for each row."""
    numbers = np.repeat(rows.queries, np.diff(rows.starts))
    queries, docs = reader.queries.strings().gather(numbers), reader.docs.strings().gather(rows.doc)
    columns = queries, docs, rows.score.tolist(), rows.rank.tolist()
    return [(q.encode(), d.encode(), *n) for q, d, *n in zip(*columns, strict=True)]


@pytest.mark.parametrize("rows", [1, 2, 300])
def test_row_reader__ascii_text_is_not_decoded(rows: int, monkeypatch):
    """The check ignores bytes beyond the text in the buffer, zeros at first."""
    monkeypatch.delattr("irmeta.trec.text.is_utf8")
    content = "".join(f"1 Q0 d{row} 1 2.5 tag\n" for row in range(rows))
    found = RowReader().read(io.BytesIO(content.encode()))
    assert found is not None
    assert len(found.doc) == rows


NAME = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=40)
PLAIN = NAME.filter(lambda s: not any(c.isspace() for c in s) and s.isprintable())
WHITE = st.text(" \t\v\f", min_size=1, max_size=3)
SCORE = st.one_of(
    st.floats(-1e9, 1e9).map(repr),
    st.integers(-99, 10**18).map(str),
    st.sampled_from(["1e-7", "3,5", "+2", ".5", "7.", "-0", "1E+3", "0.1234567890123456789"]),
)
RANK = st.one_of(
    st.integers(-5, 3000).map(str), st.sampled_from(["+7", "99999999999", "2147483648"])
)
END = st.sampled_from(["\n", "\r\n", " \n", "\t\r\n"])
BETWEEN = st.sampled_from(["", "\n", " \n", "# a comment\n", "#\n", "\r\n"])


@st.composite
def files(draw: st.DrawFn, width: int = 6) -> bytes:
    queries, tags = draw(st.lists(PLAIN, min_size=1, max_size=3)), draw(st.lists(PLAIN, min_size=1))
    parts = []
    for _ in range(draw(st.integers(1, 12))):
        fields = [draw(st.sampled_from(queries)), "Q0", draw(PLAIN), draw(RANK), draw(SCORE)]
        if width == 6:
            fields.append(draw(st.sampled_from(tags)))
        line = draw(st.sampled_from(["", " ", "\t"])) + draw(WHITE).join(fields)
        parts += [draw(BETWEEN), line.lstrip("#") or "x", draw(END)]
    whole = "".join(parts)
    return (whole if draw(st.booleans()) else whole.rstrip()).encode()


@given(files())
@example(b"1 Q0 a 1 2.5 t")
@example(b"1 Q0 a 1 2.5 a tag of words \r\n")
def test_row_reader__six_columns_equal_naive_reader(content: bytes):
    rows = read_rows(content)
    assert rows is not None
    right = plainly(content)
    assert seen(rows) == [row[:4] for row in right]
    assert rows.tags == tuple(dict.fromkeys(row[4].decode() for row in right))
    said = [line.split(None, 5) for line in content.split(b"\n") if line[:1] != b"#"]
    assert rows.commas == sum(b"," in fields[4] for fields in said if fields)
    assert rows.odd_ranks == sum(row[3] == NO_RANK for row in right)


@given(files(5))
def test_row_reader__five_columns_equal_naive_reader(content: bytes):
    rows = read_rows(content)
    assert rows is not None
    assert seen(rows) == [row[:4] for row in plainly(content)]
    assert rows.tags == ()


@pytest.mark.parametrize("seed", range(6))
def test_row_reader__long_files_equal_naive_reader(seed: int):
    """Lines of all lengths span many blocks, with and without a final newline."""
    draw = random.Random(seed)
    lines = []
    while sum(map(len, lines)) < 5 * BLOCK:
        doc = "d" * draw.choice([1, 7, 8, 9, 30, 63, 64, 65, 300]) + str(len(lines))
        query = str(draw.randrange(4)) if seed % 2 else "7"
        score = draw.choice(
            [f"{draw.random():.6f}", repr(draw.random()), str(draw.randrange(9999))]
        )
        lines.append(
            f"{query} Q0 {doc} {len(lines)} {score} {'t' if draw.random() < 0.9 else 'u'}\n"
        )
        if draw.random() < 0.05:
            lines.append("\n")
    content = "".join(lines).encode()[: -1 if seed % 3 == 0 else None]
    rows = read_rows(content)
    assert rows is not None
    assert seen(rows) == [row[:4] for row in plainly(content)]


@pytest.mark.parametrize("size", [BLOCK, CHUNK])
@pytest.mark.parametrize("near", range(-3, 4))
def test_row_reader__tag_may_change_at_block_boundaries(size: int, near: int):
    line = b"1 Q0 doc 1 2.5 %s\n"
    before = size // len(line % b"t") + near
    content = line % b"t" * before + line % b"u" + line % b"t" * 2 * BLOCK + line % b"v"
    rows = read_rows(content)
    assert rows is not None
    assert rows.tags == ("t", "u", "v")


def test_row_reader__tag_is_noted_once_per_chunk(monkeypatch):
    noted = []

    def counted(*arguments):
        done = tokenize(*arguments)
        noted.append(int(arguments[-1][TAGS]))
        return done

    monkeypatch.setattr("irmeta.kernels.tokenize.tokenize", counted)
    content = b"1 Q0 doc 1 2.5 t\n" * (3 * BLOCK // 17)
    rows = read_rows(content)
    assert rows is not None
    assert (rows.tags, noted) == (("t",), [1])


def test_row_reader__file_may_end_anywhere_in_a_block():
    lines = b"1 Q0 doc 1 2.5 t\n" * 8000
    for size in range(BLOCK - 60, BLOCK + 70):
        whole = lines[: lines.rindex(b"\n", 0, size)]
        rows = read_rows(whole)
        assert rows is not None
        assert len(rows.score) == whole.count(b"\n") + 1, size


WRONG = (
    b"1 Q0 a 1 2.5\n1 Q0 b 1 2.5 t\n",
    b"1 Q0 b 1 2.5 t\n1 Q0 a 1 2.5\n",
    b"1 Q0 a 1 x t\n",
    b"1 Q0 a 1 nan t\n",
    b"1 Q0 a 1 1e999 t\n",
    b"1 Q0 a 1 2 t\r1 Q0 b 2 1 t\n",
    b"# nothing\n",
    b"1 Q0 a\0 1 2 t\n",
    b"1 Q0 \xe9 1 2 t\n",
    b"1 Q0 " + b"d" * LONGEST + b" 1 2.5 t\n",
)


@pytest.mark.parametrize("line", WRONG)
def test_row_reader__malformed_text_is_left_to_the_line_reader(line: bytes):
    assert read_rows(b"# nothing\n" + line) is None


@given(
    st.lists(st.sampled_from([b"1", b"a", b" ", b"\t", b"\r", b"\n", b"#", b"2.5", b"Q0", b","]))
)
@example([b"\r"])
@example([b"#", b"\n"])
def test_row_reader__random_lines_equal_line_reader(parts: list[bytes]):
    agree(b"1 Q0 a 1 2 t\n" + b"".join(parts))
    agree(b"".join(parts))


@given(st.binary(max_size=300).filter(lambda b: b"\0" not in b and b[:3] != b"BZh"))
def test_row_reader__random_bytes_equal_line_reader(content: bytes):
    agree(content.decode("latin-1").encode())


def agree(content: bytes) -> None:
    """Check that the line reader gives the same rows wherever the kernel accepts the text."""
    rows = read_rows(content) if content else None
    if rows is None:
        return
    try:
        run = by_line(content)
    except DataError as error:
        raise AssertionError(f"the line reader refuses it: {error}") from None
    found = run.rows
    assert (seen(rows), rows.tags, rows.commas, rows.odd_ranks, run.malformed) == (
        seen(found),
        found.tags,
        found.commas,
        found.odd_ranks,
        0,
    )


@given(st.lists(st.tuples(st.sampled_from("123"), st.sampled_from("abcdef")), min_size=1))
def test_row_reader__repeated_lists_and_docs_are_counted(pairs: list[tuple[str, str]]):
    rows = read_rows("".join(f"{q} Q0 {d} 1 2 t\n" for q, d in pairs).encode())
    assert rows is not None
    starts = [i for i, (q, _) in enumerate(pairs) if i == 0 or pairs[i - 1][0] != q]
    assert rows.starts.tolist() == [*starts, len(pairs)]
    assert READER.queries.strings().gather(rows.queries).to_list() == [pairs[i][0] for i in starts]
    if len(set(rows.queries.tolist())) == len(starts):
        assert rows.repeats == len(pairs) - len(set(pairs))
    else:
        assert rows.repeats <= len(pairs) - len(set(pairs))


class Dripping:
    """Stream that returns a few bytes per read, as compressed streams may."""

    def __init__(self, content: bytes, seed: int) -> None:
        self.file, self.draw = io.BytesIO(content), random.Random(seed)

    def readinto(self, buffer: memoryview, /) -> int:
        return self.file.readinto(buffer[: self.draw.choice([1, 7, 1000, 1 << 18])])


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(4))
def test_row_reader__buffers_grow_with_rows_and_names(seed: int):
    """The stream has more rows, names and bytes than a new reader has room for."""
    draw, reader = random.Random(seed), RowReader()
    width = draw.choice([3, 40, 200])
    count = 260_000 if width == 3 else 3 * CHUNK // (width + 20)
    right = [
        (f"q{i % 3000 if seed % 2 else i // 900}", f"{draw.randrange(10**width)}", i)
        for i in range(count)
    ]
    content = "".join(f"{q}\tQ0 {d} {i} {-i} tag\n" for q, d, i in right).encode()
    for _ in range(2):  # a second time, when all names are known
        rows = reader.read(Dripping(content, seed))
        assert rows is not None
        assert seen(rows, reader) == [(q.encode(), d.encode(), -i, i) for q, d, i in right]
        changes = sum(a[0] != b[0] for a, b in pairwise(right))
        assert len(rows.queries) == changes + 1  # lists continue across blocks and chunks
    assert len(reader.docs) == len({d for _, d, _ in right})


@pytest.mark.parametrize("name", [b"\xff\xe9", b"\xc3", b"a\0"])
def test_row_reader__invalid_utf8_adds_no_names(name: bytes):
    reader = RowReader()
    assert reader.read(io.BytesIO(b"1 Q0 a 1 2 t\n1 Q0 %s 1 2 t\n" % name)) is None
    assert reader.docs.strings().to_list() == reader.queries.strings().to_list() == []
    mixed = b"1 Q0 b%s 1 2 t\n" % "é文".encode()
    assert reader.read(io.BytesIO(b"1 Q0 c 1 2 t\n" * 900 + mixed)) is not None
    assert reader.docs.strings().to_list() == ["c", "bé文"]


def test_row_reader__finished_reader_holds_names_only():
    reader = RowReader()
    reader.read(io.BytesIO(b"1 Q0 a 1 2 t\n"))
    before = reader.held
    reader.finish()
    assert reader.held == reader.docs.nbytes + reader.queries.nbytes < before
    assert reader.docs.strings().to_list() == ["a"]


def test_row_reader__memory_does_not_grow_with_text_read():
    assert CHUNK <= 1 << 20
    content = b"".join(b"1 Q0 d%d %d %d t\n" % (i % 50, i, -i) for i in range(200_000))
    reader = RowReader()
    assert reader.read(io.BytesIO(content)) is not None
    assert reader.docs.nbytes < 1 << 20


queries = st.sampled_from(["1", "2", "3", "33", "q"])
lists = st.lists(st.tuples(queries, st.integers(1, 6)), max_size=12)


def chunks(text: bytes, size: int, longest: int = 1 << 20) -> list[bytes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "CHUNK_BYTES", size)
        patch.setattr(runs, "LONGEST_LIST", longest)
        return list(list_chunks(io.BytesIO(text)))


def lines(several: list[tuple[str, int]]) -> bytes:
    rows = ((query, rank) for query, count in several for rank in range(count))
    return "".join(f"{query} Q0 d{rank} {rank} 1.0 s\n" for query, rank in rows).encode()


@settings(max_examples=scaled(200))
@given(lists, st.integers(8, 200), st.sampled_from([b"", b"1 Q0 end 1 1 s", b"\n\n# none\n"]))
def test_list_chunks__end_where_the_query_changes(several, size, end):
    text = lines(several) + end
    found = chunks(text, size)
    assert b"".join(found) == text
    for one, following in pairwise(found):
        assert one.endswith(b"\n")
        assert one.splitlines()[-1].split()[:1] != following.splitlines()[0].split()[:1]


def test_list_chunks__hold_one_list_longer_than_a_chunk():
    text = lines([("1", 1), ("2", 50), ("3", 1)])
    assert chunks(text, 64) == [text[:16], text[16:]]


def test_list_chunks__cut_lists_that_memory_does_not_hold():
    found = chunks(lines([("1", 100)]), 64, longest=256)
    assert len(found) > 4
    assert max(map(len, found)) <= 256


def test_list_chunks__cut_a_line_longer_than_any_of_a_run():
    """JSON in one line is not held to its end."""
    found = chunks(b"x" * (5 << 20), 1 << 19, longest=64 << 20)
    assert (sum(map(len, found)), max(map(len, found))) == (5 << 20, 1 << 21)
