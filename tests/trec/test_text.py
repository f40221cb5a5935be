"""Decoding of files: compression, compress(1), encodings, and binary files."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import random
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from isal import igzip

from irmeta.errors import DataError
from irmeta.trec import streams as room
from irmeta.trec.streams import InputFile, ZFile, open_stream
from irmeta.trec.text import Text, first_fields, lines, read_columns
from twins.lzw import compress

DATA = b"".join(b"%d Q0 doc%d %d %d tag\n" % (i % 7, i, i, 900 - i) for i in range(900))
COMPRESSED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
    "lz4": lambda data: pa.compress(data, codec="lz4", asbytes=True),
}
STRINGS = {"a": pa.string(), "b": pa.string()}


@pytest.fixture(params=[igzip, gzip], ids=["isal", "zlib"])
def either_gzip(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "igzip", request.param)


@pytest.fixture
def reading(tmp_path: Path):
    """Return a function that reads bytes as a file of a given name."""

    def read(content: bytes, name: str = "a.run") -> Read:
        (tmp_path / name).write_bytes(content)
        return read_file(tmp_path / name, name)

    return read


class Read(NamedTuple):
    data: bytes
    sha256: str
    notes: tuple[str, ...]


def read_file(path: Path, name: str) -> Read:
    """Read a file's text piece by piece."""
    with open_stream(InputFile.at(path, name)) as stream:
        text = Text(stream, name)
        data = b"".join(piece for _, piece in text.pieces())
        return Read(data, stream.sha256(), text.notes)


def damage(content: bytes, places: range) -> list[bytes]:
    """Return copies with one bit flipped."""
    rng = random.Random(0)
    copies = []
    for place in places:
        copy = bytearray(content)
        copy[place] ^= 1 << rng.randrange(8)
        copies.append(bytes(copy))
    return copies


@pytest.mark.usefixtures("either_gzip")
@pytest.mark.parametrize("name", ["a.gz", "a.txt", "a.bz2", "a"])
@pytest.mark.parametrize("kind", [None, *COMPRESSED])
def test_open_stream__compression_is_detected_by_content(reading, kind, name):
    raw = COMPRESSED[kind](DATA) if kind else DATA
    text = reading(raw, name)
    assert (text.data, text.notes) == (DATA, ())
    assert text.sha256 == hashlib.sha256(raw).hexdigest()


@pytest.mark.parametrize("kind", COMPRESSED)
def test_open_stream__closes_what_it_opened(tmp_path, kind):
    (tmp_path / "a").write_bytes(COMPRESSED[kind](DATA))
    with open_stream(InputFile.at(tmp_path / "a", "a")) as stream:
        pass
    assert (stream._content.closed, stream._stored.closed) == (True, True)


@pytest.mark.usefixtures("either_gzip")
@pytest.mark.parametrize("kind", COMPRESSED)
def test_open_stream__all_compressed_members_are_read(reading, kind):
    members = [COMPRESSED[kind](part) for part in (DATA[:5000], DATA[5000:])]
    assert reading(b"".join(members)).data == DATA


@pytest.mark.usefixtures("either_gzip")
@pytest.mark.parametrize("kind", COMPRESSED)
@pytest.mark.parametrize("kept", [10, 0.5, -9, -1])
def test_open_stream__truncated_file_is_a_short_error(reading, kind, kept):
    raw = COMPRESSED[kind](DATA)
    with pytest.raises(DataError, match="cut short or damaged: fetch it again") as error:
        reading(raw[: int(len(raw) * kept) if isinstance(kept, float) else kept], "a.run")
    assert str(error.value).startswith("a.run: compressed data")
    assert len(str(error.value)) < 300
    assert "\n" not in str(error.value)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("either_gzip")
@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])  # zst frames need not carry a checksum
def test_open_stream__damaged_file_is_a_data_error(reading, kind):
    raw = COMPRESSED[kind](DATA)
    for copy in damage(raw, range(12, len(raw) - 8, 7)):
        with pytest.raises(DataError, match="compressed data cannot be read"):
            reading(copy)


@pytest.mark.parametrize("content", [b"", b"\n", b" \r\n\t\n", gzip.compress(b"", mtime=0)])
def test_text__empty_file_is_refused(reading, content):
    with pytest.raises(DataError, match=r"^a.run: is empty"):
        reading(content)


def test_open_stream__directory_or_missing_file_is_named_in_error(tmp_path):
    with pytest.raises(DataError, match=r"^x: is a directory, not a file$"):
        read_file(tmp_path, "x")
    with pytest.raises(DataError, match=r"^x: cannot be read .No such file"):
        read_file(tmp_path / "none", "x")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"1 Q0 a 1 2 t\n1 Q0 b\0 2 1 t\n", 2),
        (gzip.compress(b"\n\n\0", mtime=0), 3),
        ("1 Q0 a 1 2 t\n".encode("utf-16"), 1),
    ],
)
def test_text__nul_byte_error_names_the_line(reading, content, line):
    with pytest.raises(DataError, match=f"^a.run, line {line}: NUL byte. Is this a text file"):
        reading(content)


def test_text__utf8_is_kept_without_byte_order_mark(reading):
    assert reading("1 é".encode()).data == "1 é".encode()
    assert reading("\ufeff1 é\ufeff".encode()).data == "1 é\ufeff".encode()
    assert reading("\ufeff1 é".encode()).notes == ()


def test_text__invalid_utf8_is_read_as_latin_1_and_noted(reading):
    text = reading("1 Q0 café\xa0x".encode("latin-1"))
    assert text.data.decode() == "1 Q0 café\xa0x"
    assert text.notes == ("1 lines not UTF-8: read as Latin-1",)


def test_text__stray_byte_affects_its_line_only(reading):
    text = reading("1 Q0 é1\n".encode() + b"1 Q0 c\xff\r\n" + "1 Q0 文\n".encode())
    assert text.data.decode() == "1 Q0 é1\n1 Q0 cÿ\r\n1 Q0 文\n"
    assert text.notes == ("1 lines not UTF-8: read as Latin-1",)


def test_lines__numbered_from_one_with_blank_lines_and_comments():
    text = b"#c\n\n one\ttwo  \r\n \n # x\nthree four five six \r\nend"
    assert list(lines(text, "a")) == [
        (3, [b"one", b"two"]),
        (5, [b"#", b"x"]),  # only a line that begins with # is a comment
        (6, [b"three", b"four", b"five", b"six"]),
        (7, [b"end"]),
    ]
    assert list(lines(text, "a", 2))[2] == (6, [b"three", b"four five six"])
    assert first_fields(text) == [b"one", b"two"]


PIECES = st.sampled_from(
    [
        " ",
        " ",
        "\n",
        "\n",
        "\t",
        "\r\n",
        "\r",
        "\x0c",
        "\x0b",
        "#",
        "a",
        "b",
        "é",
        '"',
        "\\",
        ",",
        "\x1c",
        "\x85",
        "\xa0",
        "\u2028",
        "NA",
        "null",
        "-",
        "''",
    ]
)


@given(st.lists(PIECES, max_size=14).map("".join), st.booleans())
def test_read_columns__equals_lines_or_declines(content, prepared):
    if prepared:  # so that many texts have two columns
        content = "a " + content + " b\nc d"
    text = content.encode()
    table = read_columns(text, STRINGS)
    if table is not None:
        found = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
        by_line = [(n, tuple(f.decode() for f in fields)) for n, fields in lines(text, "a")]
        assert list(enumerate(found, 1)) == by_line


@pytest.mark.parametrize("content", ["a b\nc d", "a\tb\r\nc  d \r\n", ' "a" \\\nNA null\n'])
def test_read_columns__accepts_clean_text(content):
    assert read_columns(content.encode(), STRINGS).num_rows == 2


LINES = b"".join(b"%d Q0 doc%d %d %d tag\n" % (i // 99, i * i, i, 9900 - i) for i in range(9900))
NOISE = random.Random(0).randbytes(30_000)
KINDS = [{}, {"widest": 10}, {"widest": 12}, {"clear_after": 7000}]


def decoded(content: bytes) -> bytes:
    return io.BufferedReader(ZFile(io.BufferedReader(io.BytesIO(content)))).read()


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("data", [LINES, NOISE, b"a" * 200_000, b"x"], ids=len)
def test_z_file__reverses_compress(data: bytes, kind: dict[str, int]) -> None:
    content = compress(data, **kind)
    assert decoded(content) == data
    if shutil.which("gzip") is not None:
        done = subprocess.run(["gzip", "-dc"], input=content, capture_output=True, check=True)
        assert done.stdout == data


@pytest.mark.exhaustive
def test_z_file__nine_bits_at_most_are_ten() -> None:
    """Programs that read such files disagree; compress(1) itself writes none."""
    content = bytearray(compress(LINES, widest=10))
    content[2] = 0x89
    assert decoded(bytes(content)) == LINES


@pytest.mark.exhaustive
@given(st.text("ab", max_size=600), st.sampled_from([0, 1, 50]))
def test_z_file__reverses_compress_of_short_texts(text: str, clear_after: int) -> None:
    assert decoded(compress(text.encode(), clear_after=clear_after)) == text.encode()


def test_open_stream__z_file_is_detected_by_content(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_bytes(compress(LINES))
    with open_stream(InputFile.at(tmp_path / "a.run", "a.run")) as stream:
        assert b"".join(piece for _, piece in Text(stream, "a.run").pieces()) == LINES


@pytest.mark.parametrize(
    "content",
    [
        b"\x1f\x9d",
        b"\x1f\x9d\x88a",
        b"\x1f\x9d\x91a",
        b"\x1f\x9d\x90\xff\xff",
        b"\x1f\x9d\x90\x00\x01",
        b"\x1f\x9d\x90a\xff\xff",
    ],
)
def test_open_stream__damaged_z_file_is_a_data_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.run").write_bytes(content)
    file = InputFile.at(tmp_path / "a.run", "a.run")
    with (
        pytest.raises(DataError, match="compressed data cannot be read"),
        open_stream(file, is_text=False) as stream,
    ):
        stream.readinto(memoryview(bytearray(9)))


@given(st.binary(max_size=300))
def test_z_file__any_bytes_are_decoded_or_refused(content: bytes) -> None:
    with suppress(ValueError):
        assert len(decoded(b"\x1f\x9d\x90" + content)) <= 300**2
