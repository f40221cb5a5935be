"""Files of compress(1)."""

from __future__ import annotations

import io
import random
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irmeta.errors import DataError
from irmeta.trec.streams import InputFile, ZFile, open_stream
from irmeta.trec.text import Text
from twins.lzw import compress

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
