"""Docs of a pool, unjudged docs by weight, and pools of runs without judgments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.api.arguments import BudgetOptions
from irmeta.api.budgets import simulation_of
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


RANKED = ["query", "doc", "depth", "retrieved_by"]


@pytest.mark.parametrize("order", ["score-file", "trec_eval", "trec_eval10", "rank", "file"])
def test_pool_of_runs__equals_the_pool_of_a_store(
    made_store: irmeta.Store, collections: Path, order: str
):
    systems = made_store.systems("news")["system"].to_list()
    judged = made_store.pools.to_judge("news", pool_depth=10, system=systems, tie_order=order)
    pool = irmeta.pool_of_runs(collections / "news" / "runs", 10, tie_order=order)
    pool = pool.filter(pool["query"].is_in(judged["query"].unique().to_list()))
    assert pool.select(RANKED).equals(judged.select(RANKED))
    assert pool["groups"].is_between(1, pool["retrieved_by"]).all()


DOCS = st.permutations("abcdef").flatmap(lambda docs: st.integers(1, 6).map(lambda n: docs[:n]))
LISTS = st.fixed_dictionaries({"1": DOCS}, optional={"2": DOCS})


@given(st.lists(LISTS, min_size=1, max_size=4), st.integers(1, 4))
def test_pool_of_runs__equals_a_plain_union(
    tmp_path_factory: pytest.TempPathFactory, runs: list[dict[str, list[str]]], depth: int
):
    folder = tmp_path_factory.mktemp("runs")
    expected: dict[tuple[str, str], list[int]] = {}
    for number, lists in enumerate(runs):
        lines = []
        for query, docs in lists.items():
            for rank, doc in enumerate(docs, 1):
                lines.append(f"{query} Q0 {doc} {rank} {-rank} r{number}\n")
                if rank <= depth:
                    expected.setdefault((query, doc), []).append(rank)
        (folder / f"r{number}").write_text("".join(lines))
    pool = irmeta.pool_of_runs(folder, depth)
    rows = [(*key, min(ranks), len(ranks), None) for key, ranks in sorted(expected.items())]
    assert pool.rows() == rows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runs = tmp_path / "runs"
    runs.mkdir()
    for name, docs in (("a1", "xy"), ("a2", "yz"), ("b1", "yw")):
        rows = (f"1 Q0 {doc} {rank} {9 - rank} {name}\n" for rank, doc in enumerate(docs, 1))
        (runs / name).write_text("".join(rows))
    (tmp_path / "systems.csv").write_text("system,team,type\na1,a,auto\na2,a,manual\nb1,b,auto\n")
    return runs


def test_groups__are_counted_and_chosen(folder: Path, run):
    pool = irmeta.pool_of_runs(folder, 2)
    assert dict(pool.select("doc", "groups").iter_rows()) == {"w": 1, "x": 1, "y": 2, "z": 1}
    only = irmeta.pool_of_runs(folder, 2, system=["group=b", "a2"])
    assert only["doc"].to_list() == ["w", "y", "z"]
    assert irmeta.pool_of_runs(folder, 2, system="type=auto")["doc"].to_list() == ["w", "x", "y"]
    assert run("pool", folder, "--pool-depth", "1").out == "1 0 x\n1 0 y\n"
    with pytest.raises(irmeta.UsageError, match=r"no run is 'group=c'"):
        irmeta.pool_of_runs(folder, 2, system="group=c")
    (folder.parent / "systems.csv").rename(folder / "systems.csv")
    assert irmeta.validate(folder).runs["run"].to_list() == ["a1", "a2", "b1"]
    assert irmeta.pool_of_runs(folder, 2).equals(pool)
    (folder / "systems.csv").write_text("system,team\na1,a\n")  # others are teams of their own
    alone = irmeta.pool_of_runs(folder, 2)
    assert dict(alone.select("doc", "groups").iter_rows()) == {"w": 1, "x": 1, "y": 3, "z": 1}
    (folder / "systems.csv").unlink()
    with pytest.raises(irmeta.UsageError, match=r"No group is known: see systems\.csv"):
        irmeta.pool_of_runs(folder, 2, system="group=a")
    (folder.parent / "systems.csv").write_text("name;team\n")
    with pytest.raises(irmeta.DataError, match="is no table of systems"):
        irmeta.pool_of_runs(folder, 2)


def test_a_collection_without_qrels_in_a_name__is_no_folder_of_runs(folder: Path, run):
    (folder.parent / "judged.txt").write_text("1 0 x 1\n1 0 y 0\n")
    (folder.parent / "collection.toml").write_text(
        '[tracks.t]\nruns = ["runs/*"]\nqrels = "judged.txt"\n'
    )
    done = run("pool", folder.parent, "--pool-depth", "1", "--format", "csv")
    assert done.out.splitlines()[0].startswith("track,query,doc")


def test_unreadable_runs__are_errors_that_name_validate(folder: Path, run):
    (folder / "bad").write_text("1 Q0 d 1 x bad\n1 Q0 e 2 1 bad\n")
    with pytest.raises(irmeta.DataError, match="`irmeta validate` lists all errors"):
        irmeta.pool_of_runs(folder, 2)
    assert "e" in irmeta.pool_of_runs(folder, 1, malformed="skip")["doc"].to_list()
    assert run("pool", folder, "--pool-depth", "1", "--malformed", "skip").status == 0


ADAPTIVE = ("movetofront", "bandit", "thompson", "hedge", "depth", "rbp", "random")


@pytest.mark.parametrize("order", ADAPTIVE)
def test_next_docs__one_by_one_are_those_of_a_simulation(order: Any, tmp_path: Path):
    (tmp_path / "runs").mkdir()
    for name, docs in (("a", "vwxyz"), ("b", "xqvrw"), ("c", "rszq")):
        lines = (
            f"{q} Q0 {doc} 0 {-rank} {name}\n" for q in (1, 2) for rank, doc in enumerate(docs)
        )
        (tmp_path / "runs" / name).write_text("".join(lines))
    relevant = {("1", doc) for doc in "xqr"} | {("2", doc) for doc in "vz"}
    labels = {(q, d): int((q, d) in relevant) for q in "12" for d in "vwxyzqrs"}
    (tmp_path / "all").write_text("".join(f"{q} 0 {d} {x}\n" for (q, d), x in labels.items()))
    runs, file = sorted((tmp_path / "runs").iterdir()), tmp_path / "so_far"
    (track,) = irmeta.read_files(tmp_path / "all", runs).each()
    simulation = simulation_of(track, "AP", BudgetOptions())
    pool, rows = simulation.pooled
    places = pool.places("maxmean" if order == "bandit" else order, 3)
    docs = simulation.views[0].docs.gather(rows)
    simulated = [(pool.queries[pool.query[row]], docs[int(row)]) for row in np.argsort(places)]
    judged = list[tuple[str, str]]()
    while len(judged) < len(labels):  # each doc is judged before the next one is asked for
        file.write_text("".join(f"{q} 0 {d} {labels[q, d]}\n" for q, d in judged))
        so_far = file if judged else None
        (doc,) = irmeta.next_docs(runs, 1, order=order, rng=3, qrels=so_far).rows()
        judged.append(doc[1:3])
    assert judged == simulated


def test_next_docs__follow_the_labels_so_far(folder: Path):
    # Lists a1: x y, a2: y z, b1: y w. After a relevant x its list comes first, else another one.
    qrels = folder.parent / "qrels.txt"
    qrels.write_text("1 0 x 1\n")
    assert irmeta.next_docs(folder, 1, qrels=qrels, order="movetofront")["doc"].to_list() == ["y"]
    qrels.write_text("1 0 x 1\n1 0 y 0\n")
    rest = irmeta.next_docs(folder, 9, qrels=qrels, order="movetofront")
    assert {*rest["doc"]} == {"z", "w"}
    assert rest["place"].to_list() == [1, 2]
    qrels.write_text("1 0 x -1\n1 0 y 0\n")  # in the pool, and without a label
    assert "x" in irmeta.next_docs(folder, 9, qrels=qrels)["doc"]
    qrels.write_text("1 0 q 1\n")
    with pytest.raises(irmeta.DataError, match="no judged doc is among the first 100"):
        irmeta.next_docs(folder, 1, qrels=qrels)
    with pytest.raises(irmeta.UsageError, match="for simulations"):
        irmeta.next_docs(folder, 1, order="judge")


def test_next_docs__by_the_command(folder: Path, run):
    assert run("pool", folder, "--next", "1", "--order", "depth", "--seed", "1").out in (
        "1 0 x\n", "1 0 y\n")  # fmt: skip
    qrels = folder.parent / "qrels.txt"
    qrels.write_text("1 0 x 1\n1 0 y 2\n1 0 z 0\n")
    asked = ["pool", qrels, folder, "--next", "3", "--order", "bandit"]
    ran = run(*asked)
    assert ran.out == "1 0 w\n"
    assert "only 1 more" in ran.err
    assert run(*asked, "--rel", "2", "--format", "json").out.count('"doc"')
    assert "one order" in run(*asked, "--order", "depth").err
    assert "--teams is not for --next" in run(*asked, "--teams").err
    assert "--budget is not for --next" in run(*asked, "--budget", "1").err
