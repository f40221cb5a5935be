"""`Store.to_trec`: a store written as files gives the same store again."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from polars.testing import assert_frame_equal

import irmeta
from irmeta import Store
from support.examples import scaled
from support.making import Track, described_tracks

NAMES = "AP,nDCG@10,ASL,RBP"


def same(ours: Store, theirs: Store, *without: str) -> None:
    for kind in ("runs", "qrels", "docs", "subtopics"):
        frames = [getattr(s, kind)().collect().drop(without, strict=False) for s in (ours, theirs)]
        assert_frame_equal(*frames, check_exact=True)


@pytest.mark.exhaustive
def test_to_trec__round_trip_of_a_collection(made_store: Store, tmp_path: Path):
    again = irmeta.read(made_store.to_trec(tmp_path / "out"))
    # A dropped line shifts the positions of later lines, not their order.
    same(again, made_store, "position")
    assert_frame_equal(again.means(NAMES), made_store.means(NAMES), check_exact=True)
    facts = ["track", "system", "group", "type", "pooled", "rows", "lists", "tied_rows"]
    theirs = made_store.systems().filter(pl.col("skip_reason").is_null())
    assert_frame_equal(again.systems().select(facts), theirs.select(facts))
    assert_frame_equal(
        again.info().drop("named_by", "skipped_runs", "notes"),
        made_store.info().drop("named_by", "skipped_runs", "notes"),
    )


@given(described_tracks())
@settings(max_examples=scaled(10))
def test_to_trec__round_trip_of_random_tracks(made: Track):
    theirs = made.read(tie_order="rank")
    with TemporaryDirectory() as folder:
        again = irmeta.read(theirs.to_trec(folder), workers=1)
    same(again, theirs)
    assert again.policy.tie_order == "trec_eval"
    assert again.info()["tie_order"].to_list() == ["rank"]
    assert_frame_equal(again.means(NAMES), theirs.means(NAMES), check_exact=True)


def test_to_trec__data_in_memory_with_odd_names(tmp_path: Path):
    run = {'q"1': {"d/1": 1e-300, "é": 0.1, "d,2": 1e300}}
    store = irmeta.from_data({'q"1': {"é": 1}}, {"a/b *": run, "..": run}, track="x y/z")
    again = irmeta.read(store.to_trec(tmp_path / "out"))
    same(again, store, "rank_given")
    assert again.tracks == ["x y/z"]
    assert again.runs().collect()["rank_given"].to_list() == [1, 2, 3] * 2


def test_to_trec__keeps_the_depth_of_pools(tmp_path: Path):
    given = tmp_path / "given"
    (given / "t" / "runs").mkdir(parents=True)
    (given / "t" / "runs" / "s").write_text("1 Q0 a 1 2 s\n1 Q0 b 2 1 s\n")
    (given / "t" / "qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 c 1\n")
    (given / "depths").write_text("1 2\n")
    (given / "collection.toml").write_text(
        '[tracks.t]\nruns = ["t/runs/*"]\nqrels = "t/qrels"\npool_depth = 1\n'
        'pool_depth_by_query = "depths"\ndepth = 2\n'
    )
    theirs = irmeta.read(given)
    again = irmeta.read(theirs.to_trec(tmp_path / "out", track="t"))
    ours, expected = (s.reader.track("t").record for s in (again, theirs))
    assert ours["pool_depths"] == expected["pool_depths"] == {"1": 2}
    assert ours["config"]["pool_depth"] == expected["config"]["pool_depth"] == 1
    assert ours["config"]["policy"] == {**expected["config"]["policy"], "names": "tag"}


@pytest.mark.parametrize(
    ("qrels", "runs", "said"),
    [
        ({"q 1": {"d": 1}}, {"s": {"q 1": {"d": 1}}}, "name of a query .*'q 1'"),
        ({"#": {"d": 1}}, {"s": {"#": {"d": 1}}}, "name of a query .*'#'"),
        ({"q": {"d\t1": 1}}, {"s": {"q": {"d": 1}}}, "name of a doc .*Rename it"),
        ({"q": {"d": 1}}, {" s": {"q": {"d": 1}}}, "name of a system .*' s'"),
    ],
)
def test_to_trec__names_that_cannot_be_fields_are_refused(qrels, runs, said, tmp_path: Path):
    with pytest.raises(irmeta.DataError, match=said):
        irmeta.from_data(qrels, runs).to_trec(tmp_path / "out")


def test_to_trec__queries_that_begin_with_hash_are_read_again(tmp_path: Path):
    judged, run = {"1": {"d": 1}, "#1": {"e": 1}}, {"1": {"d": 1}, "#1": {"x": 2, "e": 1}}
    irmeta.from_data(judged, {"s": run}, track="t").to_trec(tmp_path / "out")
    with pytest.warns(irmeta.QrelsWarning, match="begin with # read as rows: 1"):
        again = irmeta.read(tmp_path / "out")
    found = again.evaluate("RR", per_query=True).sort("query")
    assert found.select("query", "value").rows() == [("#1", 0.5), ("1", 1.0)]


def test_to_trec__folder_with_files_is_refused(made_store: Store, tmp_path: Path):
    (tmp_path / "file").touch()
    for folder in (tmp_path, tmp_path / "file"):
        with pytest.raises(irmeta.UsageError, match="is not an empty folder: name a new one"):
            made_store.to_trec(folder)
