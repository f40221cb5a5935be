"""`prefer` by segment of the queries."""

from __future__ import annotations

import hashlib
import json

import polars as pl
import pyarrow.parquet as pq
import pytest

import irmeta
from irmeta.errors import SegmentWarning

SEGMENTS = pl.DataFrame({"query": range(301, 321), "segment": ["new"] * 12 + ["old"] * 8}).vstack(
    pl.DataFrame({"query": range(306, 316), "segment": "mobile"})
)
CHOICES = {"baseline": "heronFus", "resamples": 200, "rank_resamples": 100}


@pytest.fixture(scope="module")
def boards(made_store):
    return irmeta.prefer(made_store, track="web", segments=SEGMENTS, **CHOICES)


@pytest.mark.exhaustive
def test_prefer__a_segment_equals_a_track_of_its_queries(collections, boards, tmp_path):
    folder = collections / "web"
    (every, *parts) = boards
    assert [one.segment for one in parts] == ["mobile", "new", "old"]
    for one in (parts[0], parts[2]):
        queries = SEGMENTS.filter(segment=one.segment)["query"].cast(pl.String).to_list()
        lines = (folder / "adhoc.qrels.txt").read_text().splitlines(keepends=True)
        text = "".join(line for line in lines if line.split()[0] in queries)
        (tmp_path / "qrels").write_text(text)
        store = irmeta.read_files(tmp_path / "qrels", sorted((folder / "runs").iterdir()))
        (alone,) = irmeta.prefer(store, **CHOICES)
        assert one.systems.equals(alone.systems)
        assert one.baseline.drop("turned").equals(alone.baseline)
        assert (one.cycles, one.beats_all) == (alone.cycles, alone.beats_all)
    assert every.systems["queries"][0] == 20


def test_prefer__all_queries_do_not_depend_on_segments(made_store, boards):
    (plain,) = irmeta.prefer(made_store, track="web", **CHOICES)
    assert boards[0].systems.equals(plain.systems)
    assert boards[0].baseline.drop("turned").equals(plain.baseline)
    assert "segment" not in plain.frame().columns


def test_prefer__a_preference_turns_in_a_segment(boards):
    frame = pl.concat(one.frame() for one in boards)
    assert frame.columns[:4] == ["track", "preference", "segment", "system"]
    every = dict(frame.filter(pl.col("segment").is_null()).select("system", "value").iter_rows())
    for row in frame.drop_nulls("segment").iter_rows(named=True):
        assert row["turned"] == (row["value"] * every[row["system"]] < -1e-12)
    assert frame["turned"].sum() > 0
    assert frame.filter(pl.col("segment").is_null())["turned"].null_count() == 11


def test_prefer__queries_in_no_segment_and_small_segments_are_said(made_store):
    few = SEGMENTS.filter(pl.col("query").is_in([301, 302, 320]))
    with pytest.warns(SegmentWarning) as found:
        boards = irmeta.prefer(
            made_store, track="web", segments=few, resamples=20, rank_resamples=20
        )
    assert [one.segment for one in boards] == [None, "new"]
    texts = " ".join(str(one.message) for one in found)
    assert "17 of 20 queries with a relevant doc are in no segment: 303, 304" in texts
    assert "left out: 'old' (1)" in texts


def test_prefer_command__by_segment(made_store, run, tmp_path):
    path, out = tmp_path / "users.tsv", tmp_path / "prefer.parquet"
    SEGMENTS.write_csv(path, separator="\t")
    asked = ("prefer", made_store.path, "--track", "web", "--segment", path, "--resamples", 50)
    done = run(*asked, "--baseline", "heronFus", "--out", out)
    assert done.status == 0
    assert "RPP on web, segment old (8 queries)" in done.err
    assert "turned from all queries against the baseline: finchDiv (better here)" in done.err
    assert pl.read_parquet(out)["segment"].unique().sort().to_list() == [
        None, "mobile", "new", "old",
    ]  # fmt: skip
    made = json.loads(pq.read_schema(out).metadata[b"irmeta"])["prefer"]
    assert made["segments_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert str(path) not in json.dumps(made)
