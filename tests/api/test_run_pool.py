"""Pools of runs without judgments, against the pools of a store and a plain computation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irmeta
from irmeta.api.arguments import BudgetOptions
from irmeta.api.budgets import simulation_of

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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "name the depth of the pool"),
        (("--pool-depth", "2", "--budget", "3"), "--budget needs qrels"),
        (("--pool-depth", "2", "--negative", "nonrelevant"), "--negative needs qrels"),
        (("--pool-depth", "2", "--names", "tag"), "--names needs qrels"),
    ],
)
def test_options_that_need_judgments__are_refused(folder: Path, run, options, message: str):
    done = run("pool", folder, *options)
    assert done.status == 2
    assert message in done.err


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
