"""Small compressed files with much text: errors and memory use."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest

from irmeta.errors import DataError
from irmeta.policies import ReadPolicy
from irmeta.store.read_run import SkippedRun, read_run
from irmeta.trec import text as room
from irmeta.trec.qrels import parse_qrels
from irmeta.trec.runs import RowReader
from irmeta.trec.source import TrackSource
from irmeta.trec.streams import InputFile, TextStream

SIZE, LIMIT = 32 << 20, 4 << 20
TEXTS = {
    "zeros": (b"\0" * 64, "line 1: NUL byte"),
    "newlines": (b"\n", "no row in its first 4 MB of text. Is this a TREC file?"),
    "blanks": (b" " * 63 + b"\r\n", "no row in its first 4 MB of text"),
    "comments": (b"# " + b"c" * 61 + b"\n", "no row in its first 4 MB of text"),
    "one line": (b"x" * 64, "line 1: a line of more than a megabyte"),
    "one line of words": (b"1 Q0 a 1 2 t ", "line 1: a line of more than a megabyte"),
}


@pytest.fixture
def read_sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record the bytes of text of each read, with a lower limit."""
    sizes: list[int] = []
    plain = TextStream.readinto

    def counted(self: TextStream, buffer: memoryview, /) -> int:
        sizes.append(plain(self, buffer))
        return sizes[-1]

    monkeypatch.setattr(room, "FIRST_ROW_WITHIN", LIMIT)
    monkeypatch.setattr(TextStream, "readinto", counted)
    return sizes


def packed(path: Path, piece: bytes) -> Path:
    block = piece * ((1 << 20) // len(piece))
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(SIZE >> 20):
            file.write(block)
    return path


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("read", ["run", "skipping", "qrels"])
def test_text__highly_compressed_file_needs_little_memory(tmp_path, read_sizes, kind, read):
    piece, said = TEXTS[kind]
    path = packed(tmp_path / "r", piece)
    reader = RowReader()
    malformed = "skip" if read == "skipping" else "error"
    source = TrackSource("t", tmp_path, ("r",), (), policy=ReadPolicy(malformed=malformed))
    tracemalloc.start()
    try:
        if read == "qrels":
            with pytest.raises(DataError) as error:
                parse_qrels(InputFile.at(path, "r"))
            reason = str(error.value)
        else:
            found = read_run(source, source.input_file("r"), reader)
            assert isinstance(found, SkippedRun)
            reason = found.reason
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert reason.startswith("r")
    assert said in reason
    assert peak < 16 << 20  # much less than the text
    assert sum(read_sizes) < 5 * (LIMIT + (2 << 20))  # each pass reads at most the limit


@pytest.mark.one_in(2)
@pytest.mark.parametrize("malformed", ["error", "skip"])
def test_read_run__first_row_before_the_limit_is_read(tmp_path, read_sizes, malformed):
    path = tmp_path / "r"
    row = b"1 Q0 a 1 2.5 t\n"
    source = TrackSource("t", tmp_path, ("r",), (), policy=ReadPolicy(malformed=malformed))
    path.write_bytes(gzip.compress(b"\n" * (LIMIT - 4096) + row + b"\n" * (LIMIT * 2)))
    assert read_run(source, source.input_file("r"), RowReader()).rows == 1
    path.write_bytes(gzip.compress(b"\n" * (LIMIT + (4 << 20)) + row))
    assert isinstance(read_run(source, source.input_file("r"), RowReader()), SkippedRun)


@pytest.mark.exhaustive
def test_read_run__malformed_lines_do_not_count_as_first_row(tmp_path, read_sizes):
    packed(tmp_path / "r", b"no result\n")
    source = TrackSource("t", tmp_path, ("r",), (), policy=ReadPolicy(malformed="skip"))
    found = read_run(source, source.input_file("r"), RowReader())
    assert isinstance(found, SkippedRun)
    assert "no row in its first 4 MB of text" in found.reason
