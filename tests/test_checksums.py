"""Checksums: a changed file is an error or has equal content."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irmeta.checksums import (
    add_checksum,
    check_embedded,
    content_checksum,
    known_content_checksum,
    parse_record,
    to_json,
)
from irmeta.results.tidy_files import provenance, read_parquet, write_parquet

SCALARS = st.none() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=5)
ANY_REASON = "."  # of the JSON parser or of irmeta
RECORDS = st.dictionaries(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=5).filter(lambda k: k != "sha256"),
    SCALARS | st.lists(SCALARS, max_size=3),
    min_size=1,
)


@pytest.mark.exhaustive
@given(RECORDS)
def test_parse_record__round_trips(record: dict):
    assert parse_record(add_checksum(to_json(record))) == record


@given(RECORDS, st.data())
def test_parse_record__flipped_bit_is_an_error(record: dict, data: st.DataObject):
    content = bytearray(add_checksum(to_json(record)))
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(ValueError, match=ANY_REASON):
        parse_record(bytes(content))


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"null", b"{", b'{\n "a": 1\n}\n', b"\xff", b"[" * 10**5]
)
def test_parse_record__invalid_content_is_refused(content: bytes):
    with pytest.raises(ValueError, match=ANY_REASON):
        parse_record(content)


def test_known_content_checksum__cached_until_size_or_time_changes(tmp_path: Path):
    file = tmp_path / "a"
    file.write_bytes(b"abc")
    first = known_content_checksum(file)
    assert first == content_checksum(file) == "3 352441c2"  # the CRC-32 of "abc"
    file.write_bytes(b"abcd")
    assert known_content_checksum(file) == content_checksum(file) != first


ROWS = pl.DataFrame({"system": ["a", "b"], "value": [0.5, 0.25]})
MADE = {"irmeta": "0.1.0", "note": "irmeta.checksum"}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("written") / "a.parquet"
    write_parquet(ROWS, file, None, MADE)
    assert check_embedded(file)
    assert (read_parquet(file).rows(), provenance(file)) == (ROWS.rows(), MADE)
    return file.read_bytes()


@given(st.data())
def test_check_embedded__flipped_bit_is_an_error(written: bytes, tmp_path_factory, data):
    """A flipped bit in the checksum's key removes the checksum."""
    file = tmp_path_factory.mktemp("flipped") / "a.parquet"
    raw = bytearray(written)
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= 1 << data.draw(st.integers(0, 7))
    file.write_bytes(raw)
    start = written.rindex(b"irmeta.checksum")
    if start <= place < start + 17:
        assert not check_embedded(file)
    elif place >= len(raw) - 8:  # the length of the footer, and the format's mark
        with suppress(ValueError):
            assert not check_embedded(file)
    else:
        with pytest.raises(ValueError, match="checksum mismatch"):
            check_embedded(file)


def test_check_embedded__ignores_strings_that_look_like_a_checksum(tmp_path: Path):
    """Parquet statistics put users' strings into the footer, before irmeta's checksum."""
    text = "irmeta.checksum\x18\x080123abcd"
    frame = ROWS.with_columns(system=pl.lit(text))
    write_parquet(frame, tmp_path / "a.parquet", None, {"track": text})
    assert check_embedded(tmp_path / "a.parquet")
    assert read_parquet(tmp_path / "a.parquet").equals(frame)
    assert provenance(tmp_path / "a.parquet") == {"track": text}


def test_check_embedded__other_files_have_no_checksum(tmp_path: Path):
    ROWS.write_parquet(tmp_path / "theirs.parquet")
    (tmp_path / "text").write_text("irmeta.checksum")
    (tmp_path / "empty").write_bytes(b"")
    for name in ("theirs.parquet", "text", "empty"):
        assert not check_embedded(tmp_path / name)
    assert read_parquet(tmp_path / "theirs.parquet").equals(ROWS)
