"""`prefer`: leaderboards, baselines, cycles, segments, and the commands that print them."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

import irmeta
from irmeta.api.pairs import Leaderboard
from irmeta.errors import SegmentWarning, UsageError
from irmeta.stats.preferences import preference_pairs


def board_of(store: irmeta.Store, name: str = "RPP", **choices: object) -> Leaderboard:
    (board,) = irmeta.prefer(store, name, track="news", resamples=500, **choices)
    return board


def test_prefer__systems_have_win_rates_ranks_and_significant_wins(made_store):
    board = board_of(made_store)
    rates = made_store.pairs.win_rates("RPP", track="news")
    both = board.systems.join(rates, on="system", suffix="_of_rates")
    assert both.height == 20
    for name in ("value", "rank", "rank_low", "rank_high", "queries"):
        assert both[name].to_list() == pytest.approx(both[f"{name}_of_rates"].to_list())
    (found,) = made_store.pairs.compare("RPP", track="news")
    better = preference_pairs(found.preference(), resamples=500).better()
    wins = dict(zip(found.systems, better.sum(axis=1).tolist(), strict=True))
    assert dict(board.systems.select("system", "better_than").iter_rows()) == wins
    assert board.systems.filter(pl.col("top") != (pl.col("worse_than") == 0)).is_empty()
    assert board.rank_sets is not None
    assert board.rank_sets.could_be_first == (board.systems["rank_low"] == 1).sum() >= 1
    assert board.systems["rank"].is_sorted()


@pytest.mark.parametrize("by", ["borda", "mc4"])
def test_prefer__other_orders_keep_the_win_rates(made_store, by):
    board, plain = board_of(made_store, by=by), board_of(made_store)
    assert board.systems["rank"].is_sorted()
    assert board.systems["score"].is_sorted(descending=True)
    values = (one.systems.sort("system")["value"].to_list() for one in (board, plain))
    assert next(values) == next(values)
    assert board.systems["score"].to_list() != board.systems["value"].to_list()


@pytest.mark.exhaustive
def test_prefer__majority_of_mc4_is_that_of_the_command(made_store, run):
    asked = {"track": "web", "by": "mc4", "resamples": 10}  # rel=2: many queries decide nothing
    orders = {}
    for majority in ("queries", "decided"):
        (board,) = irmeta.prefer(made_store, "RPP(rel=2)", majority=majority, **asked)
        orders[majority] = board.systems["system"].to_list()
    assert orders["queries"] != orders["decided"]
    for majority, order in orders.items():
        words = ("-m", "RPP(rel=2)", "--track", "web", "--by", "mc4", "--majority")
        chosen = (*words, majority, "--resamples", "10", "--format", "csv")
        printed = run("prefer", made_store.path, *chosen).out.splitlines()
        column = printed[0].split(",").index("system")
        assert [line.split(",")[column] for line in printed[1:]] == order
    refused = run("prefer", made_store.path, "--track", "news", "--majority", "decided")
    assert refused.status == 2
    assert "majority = 'decided' is for by = 'mc4'" in " ".join(refused.err.split())


@pytest.mark.parametrize("test", ["t", "hsd-randomised"])
def test_prefer__against_a_baseline_counts_queries(made_store, test):
    board = board_of(made_store, baseline="aldBM25", test=test)
    assert board.baseline is not None
    assert board.baseline.height == 19
    assert "aldBM25" not in board.baseline["system"].to_list()
    queries = made_store.pairs.preferences("RPP", track="news", per_query=True).filter(
        other="aldBM25"
    )
    for row in board.baseline.iter_rows(named=True):
        values = queries.filter(system=row["system"])["value"]
        assert row["value"] == pytest.approx(values.mean())
        assert row["won"] == (values > 1e-12).sum()
        assert row["lost"] == (values < -1e-12).sum()
        assert row["won"] + row["tied"] + row["lost"] == row["queries"] == len(values)
        assert row["low"] <= row["value"] <= row["high"]
    assert board.frame().columns[:3] == ["track", "preference", "system"]


def test_prefer__tests_on_win_rates(made_store):
    board = board_of(made_store, on="win-rate", test="t")
    rates = made_store.pairs.compare("RPP", track="news")[0].win_rates()
    expected = irmeta.stats.pairwise(rates, "t")
    np.testing.assert_allclose(board.pairs.p_adjusted, expected.p_adjusted, rtol=1e-9, atol=1e-12)
    assert not np.allclose(board.pairs.p_adjusted, board_of(made_store, test="t").pairs.p_adjusted)


def test_prefer__undefined_without_relevant_docs(made_store):
    board = board_of(made_store, "RPP(rel=9)")
    assert board.beats_all is None
    assert np.isnan([board.cycles, board.cycles_by_query]).all()
    assert board.systems["rank"].is_null().all()
    assert not board.systems["top"].any()


def test_prefer__cycles_and_the_system_that_beats_all(made_store):
    board = board_of(made_store)
    (found,) = made_store.pairs.compare("RPP", track="news")
    means = found.means()
    first = list(found.systems).index(board.beats_all)
    assert (np.delete(means[first], first) > 0).all()
    assert 0 <= board.cycles <= board.cycles_by_query < 0.1
    values = [values for _, values in found.differences()]
    assert board.cycles_by_query == irmeta.stats.intransitive_triples(values)


def test_prefer__a_cycle_of_three_systems(tmp_path):
    """Each system wins two of three recall levels over the next."""
    files = []
    for system, places in {"a": (1, 5, 9), "b": (2, 6, 7), "c": (3, 4, 8)}.items():
        docs = {place: f"r{i}" for i, place in enumerate(places)}
        ranked = [docs.get(rank, f"x{rank}") for rank in range(1, 10)]
        lines = (f"{q} Q0 {d} 0 {-i} {system}\n" for q in "qr" for i, d in enumerate(ranked))
        files.append(tmp_path / system)
        files[-1].write_text("".join(lines))
    qrels = tmp_path / "qrels"
    qrels.write_text("".join(f"{q} 0 r{i} 1\n" for q in "qr" for i in range(3)))
    (board,) = irmeta.prefer(irmeta.read_files(qrels, files), resamples=50)
    assert board.beats_all is None
    assert (board.cycles, board.cycles_by_query) == (1.0, 1.0)
    assert board.systems["rank"].to_list() == [1, 1, 1]


def test_prefer__tracks_without_the_baseline_are_left_out(made_store):
    boards = irmeta.prefer(made_store, baseline="aldBM25", resamples=20, rank_resamples=20)
    assert [board.track for board in boards] == ["news"]
    with pytest.raises(UsageError, match="no system 'aldBM2' in"):
        irmeta.prefer(made_store, baseline="aldBM2")


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
