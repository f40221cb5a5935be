"""`Store.pairs`: tables, win rates, ties, and explanations as tables and figures."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.errors import IrmetaError, MeasureError, UsageError
from irmeta.preferences.registry import preference_registry
from irmeta.schema.result_tables import PREFERENCES, PREFERENCES_BY_QUERY, WIN_RATES
from support.charting import drawn_rows, texts

EVERY = ["RPP", "RPP(p=dcg)", "LexiRecall", "LexiPrecision", "RRLexiPrecision", "OI"]


@pytest.mark.exhaustive
def test_preferences__is_the_mean_of_preferences_by_query(made_store):
    means = made_store.pairs.preferences(EVERY, track="news")
    assert means.columns == list(PREFERENCES.columns)
    assert means.height == len(EVERY) * 20 * 19
    queries = made_store.pairs.preferences(EVERY, track="news", per_query=True)
    assert queries.columns == list(PREFERENCES_BY_QUERY.columns)
    again = queries.group_by("system", "other", "preference").agg(
        pl.col("value").mean().alias("mean"), pl.len().alias("number")
    )
    both = means.join(again, on=["system", "other", "preference"])
    assert both.height == means.height
    assert (both["value"] - both["mean"]).abs().max() < 1e-12
    assert both.filter(pl.col("queries") != pl.col("number")).is_empty()


def test_preferences__all_tracks_in_order(made_store):
    found = made_store.pairs.preferences("LexiRecall")
    assert found["track"].unique(maintain_order=True).to_list() == made_store.tracks


@pytest.mark.one_in(3)
@pytest.mark.parametrize("names", ["RPP(p=inverse)", "OI", "LexiRecall", "STRPP(p=dcg)"])
def test_preferences__same_bits_for_any_number_of_workers_and_other_systems(made_store, names):
    one, two = (made_store.pairs.preferences(names, track="web", workers=w) for w in (1, 3))
    assert one.equals(two)
    (view,) = made_store.views("web", needs=["subtopics"])
    some = sorted(view.systems)[:3]
    (fewer,) = irmeta.preferences_of(view.only_systems(some), names)
    kept = one.filter(pl.col("system").is_in(some) & pl.col("other").is_in(some))
    assert fewer.frame()["value"].to_list() == kept["value"].to_list()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", EVERY)
def test_win_rates__is_the_mean_preference_over_other_systems(made_store, name):
    found = made_store.pairs.win_rates(name, track="news")
    assert found.columns == list(WIN_RATES.columns)
    pairs = (
        made_store.pairs.preferences(name, track="news").group_by("system").agg(pl.mean("value"))
    )
    both = found.join(pairs, on="system", suffix="_of_pairs")
    assert both.height == 20
    assert (both["value"] - both["value_of_pairs"]).abs().max() < 1e-12
    assert found["rank"].is_sorted()
    assert found.filter(~pl.col("rank").is_between("rank_low", "rank_high")).height <= 3


def test_win_rates__groups_weigh_as_one_opponent(made_store):
    (found,) = made_store.pairs.compare("RPP", track="news")
    means, groups = found.means(), list(found.groups)
    rates = made_store.pairs.win_rates("RPP", track="news", opponents="groups")
    values = dict(rates.select("system", "value").iter_rows())
    for i, system in enumerate(found.systems):
        weights = [(j != i) / groups.count(groups[j]) for j in range(len(groups))]
        assert values[system] == pytest.approx(means[i] @ weights / sum(weights))
    plain = made_store.pairs.win_rates("RPP", track="news")
    assert plain.sort("system")["value"].to_list() != rates.sort("system")["value"].to_list()


def test_win_rates__groups_need_names(worked_examples):
    store = irmeta.read(worked_examples, track="paper4-x-y")
    with pytest.raises(UsageError, match="names no groups"):
        store.pairs.win_rates("RPP", opponents="groups")


@pytest.mark.parametrize(
    ("names", "choices", "error", "message"),
    [
        ("APP", {}, MeasureError, "unknown preference 'APP'. Did you mean 'RPP'?"),
        ("RPP(p=log)", {}, MeasureError, "p=log is not a choice"),
        ("RPP(g=0.5)", {}, MeasureError, "g=0.5 needs p=geometric"),
        ("OI(p=inverse)", {}, MeasureError, "p=inverse is not a choice"),
        ("STRPP(background=a b)", {}, MeasureError, "not the name of a qrels set"),
        ([], {}, MeasureError, "no preference was given"),
        (3, {}, MeasureError, "name preferences as a text"),
        ("RPP", {"queries": "retrieved"}, UsageError, "differs between systems"),
        ("STRPP", {}, UsageError, "has no qrels by subtopic"),
    ],
)
def test_preferences__invalid_argument_is_an_error(made_store, names, choices, error, message):
    with pytest.raises(error) as raised:
        made_store.pairs.preferences(names, track="news", **choices)
    assert message in str(raised.value)


@pytest.mark.exhaustive
def test_strpp__background_of_another_set(made_store):
    other = made_store.pairs.preferences("STRPP(background=adhoc)", track="web")
    own, without = (
        made_store.pairs.preferences(f"STRPP{x}", track="web") for x in ("", "(background=no)")
    )
    assert other.equals(own.with_columns(preference=other["preference"]))  # the same relevant docs
    assert own["value"].to_list() != without["value"].to_list()
    same = made_store.pairs.preferences("STRPP(background=adhoc)", track="web", qrels="diversity")
    assert same.equals(other)
    with pytest.raises(UsageError, match="write background=yes"):
        made_store.pairs.preferences("STRPP(background=diversity)", track="web")
    with pytest.raises(UsageError, match="needs a view of that qrels set"):
        irmeta.preferences_of(
            next(made_store.views("web", needs=["subtopics"], qrels="diversity")),
            "STRPP(background=adhoc)",
        )


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name",
    [*EVERY, "RPP(p=geometric)@20", "STRPP", "STRPP(background=adhoc)", "OI(unjudged=condensed)@9"],
)
def test_explain_preference__terms_add_up_to_the_value(made_store, name):
    (found,) = made_store.pairs.compare(name, track="web")
    a, b = found.systems[:2]
    compared = 0
    for query, values in found.differences():
        explained = made_store.pairs.explain(name, system=a, baseline=b, query=query, track="web")
        assert explained.value == values[0, 1]
        assert explained.preference == found.name
        total = math.fsum(term.sign * term.weight for term in explained.trace.terms)
        assert total == pytest.approx(explained.value, abs=1e-12)
        compared += 1
    assert compared >= 10


def test_explain_preference__names_the_policies(made_store):
    system, against = made_store.systems("news")["system"][:2]
    (found,) = made_store.pairs.compare("RPP", track="news", pool_depth=3, pool_without=(system,))
    query, values = next(found.differences())
    explained = made_store.pairs.explain(
        "RPP",
        system=system,
        baseline=against,
        query=query,
        track="news",
        pool_depth=3,
        pool_without=(system,),
    )
    names = list(found.systems)
    assert explained.value == values[names.index(system), names.index(against)]
    assert explained.policies["pool depth"] == 3
    assert explained.policies["removed from the pool"] == system


def test_explain_preference__undefined_without_relevant_docs(worked_examples):
    store = irmeta.read_files(
        worked_examples / "ties" / "qrels.txt",
        sorted((worked_examples / "ties" / "runs").iterdir()),
    )
    (view,) = store.views("ties")
    a, b = view.systems[:2]
    explained = store.pairs.explain("RPP(rel=9)", system=a, baseline=b, query=view.queries[0])
    assert math.isnan(explained.value)
    assert explained.trace.terms == ()


def test_explain_preference__unknown_names_are_errors(made_store):
    system, against = made_store.systems("news")["system"][:2]
    ask = made_store.pairs.explain
    with pytest.raises(UsageError, match="has no system 'x'"):
        ask("RPP", system=system, baseline="x", query=901, track="news")
    with pytest.raises(UsageError, match="no judged query '1'"):
        ask("RPP", system=system, baseline=against, query=1, track="news")
    with pytest.raises(UsageError, match="specify a track"):
        ask("RPP", system=system, baseline=against, query=901)


def test_explain_preference__wrong_arithmetic_is_reported_as_a_bug(made_store, monkeypatch):
    system, against = made_store.systems("news")["system"][:2]
    rule = preference_registry()["RPP"]
    lexi = preference_registry()["RRLexiPrecision"]
    broken = replace(rule, trace=lexi.trace)
    monkeypatch.setitem(preference_registry(), "RPP", broken)
    with pytest.raises(IrmetaError, match="this is a bug in irmeta"):
        made_store.pairs.explain("RPP", system=system, baseline=against, query=901, track="news")


def test_preference_provenance__names_the_qrels_by_subtopic(made_store):
    record = made_store.pairs.provenance(["STRPP", "RPP(p=dcg)"], track="web")
    assert record["tracks"]["web"]["qrels"] == "adhoc"
    assert record["tracks"]["web"]["qrels_by_subtopic"] == "diversity"
    assert record["preferences"]["RPP(p=dcg)"]["revision"] == 1


def test_compare_pairs__preferences_agree_with_measures_in_statistics(made_store):
    (rpp,) = made_store.pairs.compare("RPP", track="news")
    ap = made_store.scores("AP", track="news").matrix("AP")
    found = irmeta.stats.agreement(rpp.preference(), ap)
    assert found.sign_agreement > 0.8
    assert np.isfinite(rpp.means()).all()


def test_ties__equal_naive_counts(made_store):
    found = made_store.pairs.ties(["RPP@3", "LexiRecall", "R@3"], track="web")
    rows = {row["measure"]: row for row in found.iter_rows(named=True)}
    assert list(rows) == ["RPP@3", "LexiRecall", "R@3"]
    values = made_store.pairs.preferences("RPP@3", track="web", per_query=True)
    tied = values.select((pl.col("value").abs() <= 1e-12).mean()).item()
    assert rows["RPP@3"]["tied"] == pytest.approx(tied)
    assert rows["RPP@3"]["points"] == values.height / 2
    assert 0 < rows["RPP@3"]["decided"] <= rows["RPP@3"]["retrieved"] < 1
    assert rows["LexiRecall"]["levels"] is rows["R@3"]["levels"] is None
    assert rows["R@3"]["tied"] > tied


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
