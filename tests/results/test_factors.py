"""`Segments`: files and frames of queries and their segments."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import polars as pl
import pytest

from irmeta.errors import DataError, SegmentWarning, UsageError
from irmeta.results.factors import Segments, usable_segments

TEXT = "query,segment\n1,new\n2,old\n1,mobile\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "segments.csv"
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("text", [TEXT, TEXT.replace(",", "\t"), TEXT.replace(",", " , ")])
def test_segments__a_query_may_be_in_several(tmp_path, text):
    found = Segments.of(written(tmp_path, text))
    assert found.of_track("any") == {"mobile": {"1"}, "new": {"1"}, "old": {"2"}}


def test_segments__tracks_may_share_names_of_queries():
    frame = pl.DataFrame(
        {"track": ["a", "b", None], "query": [1, 1, 2], "segment": ["x", "y", "x"]}
    )
    found = Segments.of(frame)
    assert found.of_track("a") == {"x": {"1", "2"}}
    assert found.of_track("b") == {"x": {"2"}, "y": {"1"}}
    with pytest.warns(SegmentWarning, match="no track judges 1 of its queries: '1'"):
        found.check_queries({"a": {"1"}, "c": {"1", "2"}})


def test_segments__the_checksum_is_of_the_content(tmp_path):
    path = written(tmp_path, TEXT)
    assert Segments.of(path).sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
    assert Segments.of(pl.read_csv(path)).sha256 == Segments.of(path).sha256
    packed = tmp_path / "segments.csv.gz"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    assert Segments.of(packed).rows.equals(Segments.of(path).rows)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,group\n1,x\n", r"segments\.csv: is not a known column: 'group'"),
        ("query\n1\n", r"has no column 'segment'\. It needs the columns"),
        ("query,query\n1,2\n", "two columns have the same name: 'query'"),
        ("query,segment\n1,x\n2,\n", "line 3: a query or segment is missing"),
        ("query,segment\n1,x\n2,x\n1,x\n", "line 4: the query is in the segment already"),
        ("query,segment\n1,x,y\n", "line 2: 3 fields where the first line has 2"),
        ('query,segment\n"1,x\n', "line 2: 1 fields where the first line has 2"),
        ("", "is empty"),
    ],
)
def test_segments__malformed_file_is_an_error(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        Segments.of(written(tmp_path, text))


def test_segments__neither_a_file_nor_a_frame(tmp_path):
    with pytest.raises(UsageError, match="is not a file"):
        Segments.of(tmp_path)
    with pytest.raises(UsageError, match="neither a file nor a polars DataFrame"):
        Segments.of({"1": "x"})
    with pytest.raises(DataError, match="not a known column: 'user'"):
        Segments.of(pl.DataFrame({"user": [1], "segment": ["x"]}))


def test_segments__of_another_track(tmp_path):
    with pytest.raises(DataError, match="none of its queries is judged"):
        Segments.of(written(tmp_path, TEXT)).check_queries({"track": ["7", "8"]})


def test_usable_segments__small_segments_and_other_queries_are_named():
    segments = {"large": {"1", "2", "3"}, "one": {"1"}, "unjudged": {"9", "10"}}
    with pytest.warns(SegmentWarning) as found:
        assert usable_segments(segments, "t", ["1", "2", "3", "4"]) == ["large"]
    texts = sorted(str(one.message) for one in found)
    assert texts == [
        "track t: 1 of 4 queries with a relevant doc are in no segment: 4",
        "track t: segments with fewer than 2 queries with a relevant doc are left out: "
        "'one' (1), 'unjudged' (0)",
    ]
