"""Explanations of preferences as tables and figures."""

from __future__ import annotations

import polars as pl
import pytest

import irmeta
from support.charting import drawn_rows, texts


@pytest.fixture(scope="module")
def x_over_y(worked_examples):
    store = irmeta.read(worked_examples, track="paper4-x-y")
    return store.pairs.explain("RPP(grades=binary)", system="X", baseline="Y", query="1")


def test_frame__terms_add_up_to_the_value(x_over_y):
    frame = x_over_y.frame()
    assert frame["rank"].to_list() == [2, 3, 7, 9, *[None] * 5]
    assert frame["other_rank"].to_list() == [1, 3, 4, 5, 8, 9, *[None] * 3]
    assert frame["sign"].to_list() == [-1, 0, -1, -1, -1, -1, 0, 0, 0]
    assert frame["amount"].sum() == pytest.approx(x_over_y.value, abs=1e-12)
    assert x_over_y.value == pytest.approx(-5 / 9)


PAIR = {"system": "aldDFR", "baseline": "aldBM25", "query": "918"}


@pytest.mark.parametrize("measure", ["AP", "nDCG@5", "ASL", "RBP(p=0.8)", "Bpref"])
def test_lists__ranks_of_both_lists_and_moves_that_add_up_to_the_difference(made_store, measure):
    lists = made_store.pairs.lists(**PAIR, measure=measure, track="news")
    assert lists["doc"].is_unique().all()
    runs = made_store.runs(track="news").filter(query="918").collect()
    values = []
    for name, rank, adds in (
        ("aldDFR", "rank", "adds"),
        ("aldBM25", "baseline_rank", "baseline_adds"),
    ):
        ours = lists.drop_nulls(rank).select("doc", pl.col(rank).alias("rank")).sort("rank")
        assert ours.rows() == runs.filter(system=name).sort("rank").select("doc", "rank").rows()
        explained = made_store.explain(measure, system=name, query="918", track="news")
        assert lists[adds].sum() == pytest.approx(explained.value, rel=1e-12)
        values.append(explained.value)
    assert lists["moves"].sum() == pytest.approx(values[0] - values[1], rel=1e-9)
    qrels = made_store.qrels(track="news").filter(query="918").lazy().collect()
    grades = dict(qrels.select("doc", "grade").iter_rows())
    judged = lists.drop_nulls("grade")
    assert {**dict(judged.select("doc", "grade").iter_rows())} == {
        doc: grade for doc, grade in grades.items() if doc in set(lists["doc"])
    }
    assert {doc for doc, grade in grades.items() if grade >= 1} <= set(lists["doc"])


def test_lists__store_order_alone_and_no_sum_where_a_measure_is_undefined(made_store, run):
    with pytest.raises(irmeta.UsageError, match="omit `tie_order`"):
        made_store.pairs.lists(**PAIR, track="news", tie_order="file")
    lists = made_store.pairs.lists(**PAIR, measure="AP(rel=9)", track="news")
    assert lists["moves"].is_null().all()
    words = ("--track", "news", "--system", "aldDFR", "--baseline", "aldBM25", "--query", "918")
    printed = run("explain", made_store.path, *words).out
    assert "Lists of aldDFR and aldBM25 on query 918, and what moves AP\n" in printed
    assert "AP: 0.103823 - 0.294118 = -0.190294, the sum of moves" in printed
    undefined = run("explain", made_store.path, *words, "-m", "AP(rel=9)").out
    assert "AP(rel=9) is defined without a sum here." in undefined


@pytest.mark.exhaustive
def test_show__an_arc_for_each_recall_level(x_over_y):
    rows = pl.DataFrame([row for row in drawn_rows(x_over_y.show()) if "arc" in row])
    ends = rows.sort("y").group_by("arc", maintain_order=True)
    ends = ends.agg(pl.col("kind").first(), y=pl.col("x").first(), x=pl.col("x").last()).sort("arc")
    assert ends["kind"].to_list() == [
        *("Y better", "tied", "Y better", "Y better", "Y better", "Y better"), *["tied"] * 3
    ]  # fmt: skip
    better = ends.filter(kind="Y better")
    assert (better["y"] < better["x"]).all()
    tied = ends.filter(kind="tied")
    assert tied["y"].to_list() == tied["x"].to_list(), "also at the end, where neither has the doc"
    assert ends["x"].is_sorted()


def test_show__undefined_without_a_relevant_doc(worked_examples):
    store = irmeta.read(worked_examples, track="paper4-x-y")
    asked = {"system": "X", "baseline": "Y", "query": "1"}
    found = store.pairs.explain("RPP(rel=9)", **asked)
    assert found.frame().is_empty()
    assert "nothing to draw" in found.show().to_json()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("ending", "start"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_explain_command__writes_a_figure(worked_examples, run, tmp_path, ending, start):
    path = tmp_path / f"xy.{ending}"
    asked = ("explain", worked_examples, "--track", "paper4-x-y", "--query", "1", "-m", "RPP")
    asked = (*asked, "--system", "X", "--baseline", "Y", "--figure", path)
    assert run(*asked).status == 0
    content = path.read_bytes()
    assert content.startswith(start)
    if ending == "svg":
        shown = texts(content.decode())
        assert "RPP on query 1 of paper4-x-y: -0.5" in shown
        assert "level 1: not retrieved; " in shown
        assert "exists: use `--force`" in run(*asked).err
        assert run(*asked, "--force", "--no-titles").status == 0
        drawn = texts(path.read_text(encoding="utf-8"))
        assert "RPP on query 1 of paper4-x-y: -0.5" not in drawn
        assert "not retrieved" in drawn


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-m", "RPP", "--baseline", "Y", "--figure", "x.gif"), "the ending of a figure"),
        (("-m", "AP", "--figure", "x.svg"), "--figure draws a preference"),
    ],
)
def test_explain_command__figures_are_of_preferences(worked_examples, run, options, message):
    asked = ("explain", worked_examples, "--track", "paper4-x-y", "--query", "1", "--system", "X")
    done = run(*asked, *options)
    assert done.status == 2
    assert message in done.err
