"""Calls over several qrels sets, each with its own least relevant grade."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import irmeta
from measures.test_set_rel import write

SETS = "human,umbrela"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> irmeta.Store:
    folder = tmp_path_factory.mktemp("several")
    return irmeta.ingest(write(folder / "in"), folder / "store")


def by_set(store: irmeta.Store, names: str, **given: bool) -> pl.DataFrame:
    """Return the values of each set from calls of one set."""
    return pl.concat(
        store.evaluate(names, qrels=name, **given).insert_column(
            1, pl.lit(name, pl.String).alias("qrels")
        )
        for name in SETS.split(",")
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("per_query", [False, True])
def test_evaluate__several_sets_have_the_rows_of_each(store: irmeta.Store, per_query: bool):
    found = store.evaluate("AP,nDCG@10", qrels=SETS, per_query=per_query)
    assert found.equals(by_set(store, "AP,nDCG@10", per_query=per_query))
    names = found.select("qrels", "measure").unique(maintain_order=True).rows()
    assert names[0] == ("human", "AP")
    assert ("umbrela", "AP(rel=2)") in names


def test_evaluate__provenance_names_all_sets_and_their_facts(store: irmeta.Store):
    made = store.provenance("AP", qrels=SETS)
    assert list(made["measures"]) == ["AP", "AP(rel=2)"]
    (track,) = made["tracks"].values()
    assert (track["qrels"], track["highest_grade"]) == (SETS, {"human": 1, "umbrela": 3})


@pytest.mark.exhaustive
def test_compare__several_sets_are_compared_by_their_own_rel(store: irmeta.Store):
    found = store.compare("AP,nDCG@10", qrels=SETS)
    alone = [store.compare("AP,nDCG@10", qrels=name) for name in SETS.split(",")]
    for one, expected in zip(found, (one for part in alone for one in part), strict=True):
        np.testing.assert_array_equal(one.pairs.p_adjusted, expected.pairs.p_adjusted)
    assert [one.pairs.subject for one in found] == [
        "AP (human) on t",
        "nDCG@10 (human) on t",
        "AP(rel=2) (umbrela) on t",
        "nDCG@10 (umbrela) on t",
    ]
    assert found.frame().columns[:3] == ["track", "qrels", "measure"]
    assert "nDCG@10 (umbrela)" in found.to_text()
    assert alone[0].frame().columns[:2] == ["track", "measure"]


@pytest.mark.exhaustive
def test_compare_command__gate_and_differences_name_the_set(run, store: irmeta.Store, tmp_path):
    file = tmp_path / "queries.csv"
    given = ("-m", "AP", "--qrels", SETS, "--baseline", "r", "--max-drop", "0.1")
    done = run("compare", store.path, *given, "--differences", file, "--format", "json")
    assert done.status == 1
    assert "(umbrela) on t: s 0.5000, r 1.0000 over 2 queries: worse by " in done.err
    rows = pl.read_csv(file).select("qrels", "measure", "query", "relevant").rows()
    assert rows[-1] == ("umbrela", "AP(rel=2)", 2, 1)
    assert '"qrels":"umbrela"' in done.out


@pytest.mark.exhaustive
def test_evaluate_command__wide_columns_of_different_rel_keep_their_names(run, store: irmeta.Store):
    done = run("evaluate", store.path, "-m", "AP", "--qrels", SETS, "--wide", "--sort", "AP")
    assert [line.split(",")[1:] for line in done.out.splitlines()] == [
        ["qrels", "system", "AP", "AP(rel=2)", "no_list"],
        ["human", "s", "0.75", "", "0"],
        ["human", "r", "0.5", "", "0"],
        ["umbrela", "r", "", "1.0", "0"],
        ["umbrela", "s", "", "0.5", "0"],
    ]
    both = ("--qrels", SETS, "--format", "trec_eval")
    assert "name one with --qrels" in run("evaluate", store.path, "-m", "AP", *both).err


@pytest.mark.exhaustive
def test_compare__reads_values_of_several_sets_from_a_file(
    run, store: irmeta.Store, tmp_path: Path
):
    file = tmp_path / "values.csv"
    run("evaluate", store.path, "-m", "AP,nDCG@10", "-q", "--qrels", SETS, "--out", file)
    found = irmeta.compare(file, "AP,AP(rel=2),nDCG@10").frame()
    expected = store.compare("AP,nDCG@10", qrels=SETS).frame()
    keys = ["qrels", "measure", "system"]
    facts = ("track", "no_list")  # files of values have no lists
    assert_frame_equal(
        found.sort(keys).drop(facts), expected.sort(keys).drop(facts), check_dtypes=False
    )
    assert irmeta.diff(file, file).same
    one = tmp_path / "one.csv"
    run("evaluate", store.path, "-m", "AP,nDCG@10", "-q", "--out", one)
    with pytest.raises(irmeta.UsageError, match="has values by several qrels sets"):
        irmeta.diff(one, file)


@pytest.mark.parametrize(
    ("qrels", "said"),
    [
        ("human,umbrala", "no qrels set 'umbrala'. Did you mean 'umbrela'"),
        ("human,human", "not a list of different qrels sets"),
        ("human,", "not a list of different qrels sets"),
    ],
)
def test_several_sets__names_are_checked(store: irmeta.Store, qrels: str, said: str):
    for call in (store.evaluate, store.compare):
        with pytest.raises(irmeta.UsageError, match=said):
            call("AP", qrels=qrels)


def test_several_sets__calls_of_one_set_say_which_take_several(store: irmeta.Store):
    with pytest.raises(irmeta.UsageError, match="are 2 qrels sets: name one, or use evaluate"):
        store.explain("AP", system="s", query="1", qrels=SETS)
    with pytest.raises(irmeta.UsageError, match="power is computed for one qrels set"):
        store.power("AP", qrels=SETS)


@pytest.mark.exhaustive
def test_evaluate__sets_in_memory_have_their_own_rel():
    qrels = {"human": {"1": {"a": 1, "b": 0}}, "judge": {"1": {"a": 1, "b": 3}}}
    runs = {"x": {"1": {"a": 2.0, "b": 1.0}}, "y": {"1": {"a": 1.0, "b": 2.0}}}
    found = irmeta.evaluate(qrels, runs, "AP", rel={"judge": 2})
    assert found.select("qrels", "system", "measure", "asked", "value").rows() == [
        ("human", "x", "AP", "AP", 1.0),
        ("human", "y", "AP", "AP", 0.5),
        ("judge", "x", "AP(rel=2)", "AP", 0.5),
        ("judge", "y", "AP(rel=2)", "AP", 1.0),
    ]
    compared = irmeta.compare(qrels, runs, "AP", qrels="human,judge", rel={"judge": 2})
    assert [one.pairs.label for one in compared] == ["AP (human)", "AP(rel=2) (judge)"]
    assert irmeta.from_data(qrels, runs, rel=2).qrels_sets()["rel"].to_list() == [2, 2]
    with pytest.raises(irmeta.UsageError, match=r"no qrels set 'jud'\. Did you mean 'judge'"):
        irmeta.from_data(qrels, runs, rel={"jud": 2})
