"""Docs of a pool, and unjudged docs by weight: `Store.pools.to_judge`, `Store.pools.unjudged`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.errors import DataError, UsageError
from support.examples import scaled
from support.making import Track, down, tracks
from twins import unjudged as naive

ORDERS = ("trec_eval", "score-file", "file", None)


def rankings(track: Track, systems: list[str], order: str) -> dict[str, dict[str, Any]]:
    return {s: {q: track.ranking(s, q, order) for q in track.qrels} for s in systems}


@pytest.mark.exhaustive
@settings(max_examples=scaled(40))
@given(
    tracks(),
    st.data(),
    st.sampled_from(ORDERS),
    st.sampled_from(["unjudged", "nonrelevant"]),
    st.none() | st.integers(1, 6),
)
def test_pool__unjudged_docs_equal_twin(
    track: Track, data: st.DataObject, order: Any, negative: Any, budget: int | None
):
    some = st.lists(st.sampled_from(sorted(track.runs)), min_size=1, unique=True)
    systems = data.draw(st.none() | some)
    made = track.read().pools.to_judge(
        system=systems, budget=budget, negative=negative, tie_order=order
    )
    lists = rankings(track, systems or list(track.runs), order or "trec_eval")
    expected = naive.to_judge(lists, track.qrels, negative)[:budget]
    assert made.select("query", "doc").rows() == expected
    docs = naive.docs_of(lists, track.qrels)
    assert made.select("depth", "retrieved_by").rows() == [docs[at][:2] for at in expected]
    assert made["weight"].to_list() == pytest.approx([float(docs[at][2]) for at in expected])
    grades = [track.qrels[query].get(doc) for query, doc in expected]
    assert made["grade"].to_list() == grades
    assert not made["judged"].any()


@settings(max_examples=scaled(40))
@given(tracks(), st.integers(1, 12), st.sampled_from(ORDERS), st.booleans())
def test_pool__of_a_depth_equals_twin(track: Track, depth: int, order: Any, is_one: bool):
    systems = sorted(track.runs)[:1] if is_one else sorted(track.runs)
    made = track.read().pools.to_judge(
        pool_depth=depth, system=systems[0] if is_one else None, tie_order=order
    )
    lists = rankings(track, systems, order or "score-file")
    docs = naive.docs_of(lists, track.qrels, depth)
    expected = sorted(docs, key=lambda at: (at[0].encode(), at[1].encode()))
    assert made.select("query", "doc").rows() == expected
    assert made.select("depth", "retrieved_by").rows() == [docs[at][:2] for at in expected]
    grades = [track.qrels[query].get(doc) for query, doc in expected]
    assert made["grade"].to_list() == grades
    assert made["judged"].to_list() == [grade is not None and grade >= 0 for grade in grades]


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(tracks(), st.sampled_from(["unjudged", "nonrelevant"]))
def test_pool__weights_and_tails_add_up_to_the_residual(track: Track, negative: Any):
    store = track.read()
    residual = store.evaluate("RBPResidual(p=0.8)", negative=negative, per_query=True)
    for system in track.runs:
        weights = store.pools.to_judge(system=system, negative=negative)["weight"].sum()
        tails = [0.8 ** len(track.runs[system].get(query, [])) for query in track.qrels]
        expected = residual.filter(system=system)["value"].sum()
        assert weights + sum(tails) == pytest.approx(expected)


def test_pool__equal_weights_of_different_ranks_are_ordered_by_doc():
    """Four systems at rank 2 weigh as much as five at rank 3: 4 x 0.16 = 5 x 0.128."""
    runs = {f"a{i}": {"1": down("x", "first")} for i in range(4)}
    runs |= {f"b{i}": {"1": down("x", "y", "second")} for i in range(5)}
    made = Track(runs, {"1": {"x": 1, "y": 1}}).read().pools.to_judge(budget=2)
    assert made.select("doc", "retrieved_by").rows() == [("first", 4), ("second", 5)]
    assert made["weight"].to_list() == pytest.approx([0.64, 0.64])
    assert made["weight"][0] < made["weight"][1], "by rounding alone"


@pytest.mark.exhaustive
def test_pool__budget_does_not_depend_on_blocks(made_store: irmeta.Store, monkeypatch):
    asked: list[dict[str, Any]] = [
        {"budget": 7}, {"budget": 1}, {"system": "grebeQL"}, {"pool_depth": 5}, {},
    ]  # fmt: skip
    whole = [made_store.pools.to_judge("web", **one) for one in asked]
    assert [len(frame) for frame in whole][:2] == [7, 1]
    assert whole[0].equals(whole[-1].head(7))
    monkeypatch.setattr(type(made_store.reader), "block_rows", 1 << 10)
    for one, expected in zip(asked, whole, strict=True):
        assert made_store.pools.to_judge("web", **one).equals(expected)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("is_read", [True, False])
def test_pool__contributors_make_it_and_groups_select(tmp_path: Path, is_read: bool):
    runs = {
        "a1": {"1": down("x", "y"), "2": down("p")},
        "a2": {"1": down("z", "x")},
        "b": {"1": down("only-b"), "3": down("no-qrels")},
    }
    Track(runs, {"1": {"x": 1, "only-b": -1}, "2": {"p": 0}, "none": {"q": 1}}).write(tmp_path)
    (tmp_path / "f.csv").write_text("run,team,judged\na1,alpha,yes\na2,alpha,yes\nb,beta,no\n")
    (tmp_path / "collection.toml").write_text(
        '[tracks.t]\nruns = "t/runs/*"\nqrels = "t/qrels"\n'
        'systems = { file = "f.csv", name = "run", group = "team", pooled = "judged" }\n'
    )
    store = irmeta.read(tmp_path) if is_read else irmeta.ingest(tmp_path, tmp_path / "store")
    assert store.pools.to_judge(pool_depth=1).drop("weight").rows() == [
        ("t", "1", "x", 1, 1, True, 1),
        ("t", "1", "z", 1, 1, False, None),
        ("t", "2", "p", 1, 1, True, 0),
    ]
    assert store.pools.to_judge(pool_depth=1, system="group=beta")["doc"].to_list() == ["only-b"]
    assert store.pools.to_judge(system="group=alpha")["doc"].to_list() == ["z", "y"]
    assert store.pools.to_judge().select("doc", "weight", "grade").rows() == [
        ("only-b", pytest.approx(0.2), -1),
        ("z", pytest.approx(0.2), None),
        ("y", pytest.approx(0.16), None),
    ]
    assert store.pools.to_judge(negative="nonrelevant")["doc"].to_list() == ["z", "y"]


def test_pool__several_tracks_have_a_budget_each(made_store: irmeta.Store):
    made = made_store.pools.to_judge(["web", "news"], budget=3)
    assert made["track"].to_list() == ["news"] * 3 + ["web"] * 3
    assert made.filter(track="web").equals(made_store.pools.to_judge("web", budget=3))


def test_pool__fully_judged_lists_leave_nothing_to_judge():
    made = Track({"a": {"1": down("x")}}, {"1": {"x": 0}}).read().pools.to_judge(budget=5)
    assert made.height == 0
    assert made.schema == made.schema | {"doc": pl.String, "weight": pl.Float64, "grade": pl.Int8}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("choices", "error"),
    [
        ({"budget": 1.5}, "budget = 1.5 is not a whole number"),
        ({"pool_depth": 3, "budget": 2}, "`budget=` is for unjudged docs by weight"),
        ({"system": "sytem"}, "has no system 'sytem'. Did you mean 'system'"),
        ({"system": []}, "no system was given"),
        ({"system": "group=x"}, "No group of its systems is known"),
    ],
)
def test_pool__rejects_bad_arguments(choices: dict[str, Any], error: str):
    store = Track({"system": {"1": down("x")}}, {"1": {"x": 1}}).read()
    with pytest.raises(UsageError, match=error):
        store.pools.to_judge(**choices)


def test_pool__rejects_lists_cut_at_reading():
    runs = {"a": {"1": [("x", 1), ("y", 1), ("z", 1)]}}
    store = Track(runs, {"1": {"x": 1}}).read(depth=2)
    assert store.pools.to_judge()["doc"].to_list() == ["z", "y"]
    assert store.pools.to_judge(pool_depth=2, tie_order="trec_eval")["doc"].to_list() == ["y", "z"]
    with pytest.raises(UsageError, match="cut at depth 2, so there is no pool of depth 3"):
        store.pools.to_judge(pool_depth=3, tie_order="trec_eval")
    with pytest.raises(UsageError, match="was cut at depth 2 under tie order 'trec_eval'"):
        store.pools.to_judge(pool_depth=2)


def test_pool__needs_a_contributor(tmp_path: Path):
    Track({"a": {"1": down("x")}}, {"1": {"x": 1}}).write(tmp_path)
    (tmp_path / "f.csv").write_text("run,judged\na,no\n")
    (tmp_path / "collection.toml").write_text(
        '[tracks.t]\nruns = "t/runs/*"\nqrels = "t/qrels"\n'
        'systems = { file = "f.csv", name = "run", pooled = "judged" }\n'
    )
    store = irmeta.read(tmp_path)
    with pytest.raises(DataError, match="none of the pooled systems is in the store"):
        store.pools.to_judge(pool_depth=1)


@pytest.mark.real
def test_pool__sizes_by_depth_equal_the_oracle(shared: Path, real_store: irmeta.Store):
    oracle = pl.read_csv(shared / "oracles" / "depth_study" / "pool_by_depth.csv")
    deepest = oracle["d"].max()
    made = real_store.pools.to_judge("trec-covid-r1", pool_depth=deepest)
    relevant = (pl.col("grade") >= 1).fill_null(False)
    for depth, docs, judged, of_relevant in oracle.select(
        "d", "docs_in_pool", "judged_in_pool", "relevant_in_pool"
    ).rows():
        within = made.filter(pl.col("depth") <= depth)
        counts = within.select(pl.len(), pl.col("judged").sum(), relevant.sum().alias("relevant"))
        assert counts.row(0) == (docs, judged, of_relevant)
    assert real_store.pools.to_judge("trec-covid-r1", pool_depth=7)["judged"].all()


@pytest.mark.real
def test_pool__weights_of_a_real_track_add_up_to_residuals(real_store: irmeta.Store):
    asked = {"track": "trec-covid-r1", "system": "BBGhelani1"}
    residual = real_store.evaluate("RBPResidual(p=0.8),NumRet", **asked, per_query=True)
    values = {measure: rows["value"] for (measure,), rows in residual.group_by("measure")}
    tails = (0.8 ** values["NumRet"]).sum()
    weights = real_store.pools.to_judge(**asked)["weight"].sum()
    assert weights + tails == pytest.approx(values["RBPResidual(p=0.8)"].sum(), rel=1e-12)


@pytest.mark.exhaustive
def test_unjudged__has_one_result_per_track(made_store: irmeta.Store):
    every = made_store.pools.unjudged()
    assert [one.unjudged["track"][0] for one in every] == made_store.tracks
    (some,) = made_store.pools.unjudged("web", system=["grebeQL", "finchDiv"], k=5)
    whole = every[-1].unjudged.sort("system")
    assert some.unjudged["judged_at_10"].to_list() == [
        whole.filter(system=name)["judged_at_10"].item() for name in ("finchDiv", "grebeQL")
    ]
    assert (some.k, some.pairs) == (5, 1)
    with pytest.raises(UsageError, match="no system 'grebe'"):
        made_store.pools.unjudged("web", system="grebe")
