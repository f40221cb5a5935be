"""Pools of runs without judgments, against the pools of a store and a plain computation."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import irmeta

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
