"""Scores by the judgments of a smaller pool: `pool_depth` and `pool_without` of EvalPolicy."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.errors import UsageError
from support.examples import scaled
from support.making import Track, down, tracks, with_smaller_pool

pytestmark = pytest.mark.exhaustive

MEASURES = "AP,AP(norm=min)@2,nDCG,P@2,RBP(p=0.8),ASL,Bpref,Judged@2,P(unjudged=condensed)@2"
CHOICES = {"queries": "judged", "tie_order": "score-file"}


TIED = Track(
    {"s0": {"q0": [("a", 1.0), ("b", 1.0)]}, "s1": {"q0": [("c", 2.0), ("b", 2.0)]}},
    {"q0": {"a": 1, "b": 2, "c": 0}, "q1": {"a": 1}},
)


@settings(max_examples=scaled(25))
@given(tracks(), st.none() | st.integers(1, 4), st.booleans())
@example(TIED, 1, False)
@example(TIED, 1, True)
@example(TIED, None, True)
def test_pool_policy__equals_ingesting_rewritten_qrels(
    track: Track, depth: int | None, removes: bool
):
    removed = "s0" if removes and len(track.runs) > 1 and "s0" in track.runs else None
    without = () if removed is None else (removed,)
    changed = with_smaller_pool(track, depth, removed)
    assume(any(changed.qrels.values()))  # qrels without a doc cannot be ingested
    scores = track.read().evaluate(
        MEASURES, pool_depth=depth, pool_without=without, **CHOICES, per_query=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of runs that have no judged query left
        expected = changed.read().evaluate(MEASURES, **CHOICES, per_query=True)
    rows = scores.join(expected, on=["system", "query", "measure"], suffix="_expected")
    assert rows.height == expected.height
    for row in rows.iter_rows(named=True):
        expected_value = pytest.approx(row["value_expected"], abs=1e-12, nan_ok=True)
        assert row["value"] == expected_value, row


@pytest.fixture
def store() -> irmeta.Store:
    runs = {
        "a": {"1": down("x", "y", "z")},
        "b": {"1": down("z", "x", "w")},
        "c": {"1": down("v", "w", "x")},
    }
    return Track(runs, {"1": {"x": 1, "z": 1, "w": 1, "v": 0}}).read()


def test_pool_depth__query_without_judged_docs_scores_zero(store: irmeta.Store):
    one = store.means("AP", pool_depth=1, pool_without="c")
    assert one["queries"].to_list() == [1, 1, 1]
    assert one["value"].to_list() == pytest.approx([(1 + 2 / 3) / 2, 1.0, 1 / 6])


def test_pool_depth__applies_to_every_question_of_a_store(store: irmeta.Store):
    choices = {"pool_depth": 1}
    curve = store.curve("AP", [3], **choices).rename({"value": "at_k"})
    means = store.means("AP@3", **choices)
    assert curve["at_k"].to_list() == pytest.approx(means["value"].to_list())
    assert store.per_doc.search_lengths(**choices)["doc"].unique().sort().to_list() == ["x", "z"]
    assert store.per_doc.rarity(**choices)["doc"].unique().sort().to_list() == ["x", "z"]
    explained = store.explain("AP", system="c", query="1", **choices)
    assert explained.value == pytest.approx(means.filter(system="c")["value"].item())
    assert explained.policies["pool depth"] == 1


def test_pool_depth__warns_of_incomplete_pools_only_for_measures_that_use_their_depth():
    """The first doc of a list is unjudged, so the pool is complete at no depth."""
    store = Track({"a": {"1": down("u", "x")}}, {"1": {"x": 1}}).read()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store.means("AP", pool_depth=2)["value"].item() == 0.5
    with pytest.warns(irmeta.PoolDepthWarning, match="complete at no depth"):
        store.means("AP(norm=pool)@2", pool_depth=2)


def test_pool_policy__is_in_the_provenance(store: irmeta.Store):
    made = store.provenance("AP", pool_depth=2, pool_without=["c"])
    assert made["eval_policy"]["pool_depth"] == 2
    assert made["eval_policy"]["pool_without"] == ["c"]
    assert made["tracks"]["t"]["pool"].startswith("all systems")
    assert "pool" not in store.provenance("AP")["tracks"]["t"]


@pytest.mark.parametrize(
    ("choices", "error"),
    [
        ({"pool_depth": 0}, "pool_depth = 0 is not a whole number of at least 1"),
        ({"pool_without": "d"}, "no system 'd'"),
        ({"pool_without": ["a", "b", "c"]}, "no system is left to contribute"),
        ({"pool_without": "group=x"}, "no group 'x'|group"),
    ],
)
def test_pool_policy__rejects_bad_values(store: irmeta.Store, choices: dict, error: str):
    with pytest.raises(UsageError, match=error):
        store.means("AP", **choices)


def test_pool_depth__rejected_below_a_cut_at_reading():
    track = Track({"a": {"1": down("x", "y", "z")}}, {"1": {"x": 1}})
    store = track.read(depth=2, tie_order="score-file")
    assert store.means("AP", pool_depth=2)["value"].item() == 1.0
    with pytest.raises(UsageError, match=r"cut at depth 2, so there is no pool of depth 3"):
        store.means("AP", pool_depth=3)


def test_evaluate_command__pool_options(run, made_store: irmeta.Store, tmp_path: Path):
    out = tmp_path / "o.parquet"
    asked = ["evaluate", str(made_store.reader), "-m", "AP", "--track", "news", "--out", str(out)]
    assert run(*asked, "--pool-depth", "5", "--pool-without", "aldBM25").status == 0
    expected = made_store.means("AP", track="news", pool_depth=5, pool_without="aldBM25")
    assert pl.read_parquet(out).equals(expected)
    made = json.loads(pl.read_parquet_metadata(out)["irmeta"])
    assert made["eval_policy"]["pool_without"] == ["aldBM25"]
    assert "Did you mean 'aldBM25" in run(*asked, "--force", "--pool-without", "aldBM52").err
