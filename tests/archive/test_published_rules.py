"""Measures behind published values of the catalogue, and the tracks that they are of."""

from __future__ import annotations

import polars as pl
import pytest

import irmeta
from irmeta.archive import catalog
from irmeta.archive.catalog import all_choices
from irmeta.archive.published_values import (
    FIRST_SET,
    REPEATED,
    CatalogTrack,
    Rule,
    catalog_rule,
    catalog_tracks,
    catalog_values,
    given_rule,
)
from irmeta.measures.names import parse_measure
from support.making import Track, down


@pytest.mark.parametrize(
    ("track", "evaluator", "measure", "rule"),
    [
        ("trec8/adhoc", "trec_eval", "map", Rule("map")),
        ("trec13/terabyte", "trec_eval", "bpref", Rule("Bpref(form=trec_eval7)")),
        ("trec14/terabyte", "trec_eval", "bpref", Rule("bpref")),
        ("trec19/web", "gdeval", "ndcg", Rule("nDCG(gain=exp)@20")),
        ("trec19/web", "ndeval", "MAP-IA", Rule("AP_IA")),
        ("trec15/blog", "opinion", "map", Rule("map", rel=2)),
        ("trec29/pm", "evidence-eval", "ndcg_cut_10",
         Rule("ndcg_cut_10", ("evidence-eval", "evidence"))),
        ("trec10/web", "trec_eval", "mrr", Rule("RR")),
        ("trec21/microblog", "trec_eval", "map", Rule("map", rel=2)),
        ("trec28/deep", "passages-eval", "map", Rule("map", rel=2)),
        ("trec28/deep", "passages-eval", "ndcg", Rule("ndcg")),
        ("trec28/deep", "trec_eval", "map", Rule("map")),
        ("trec-covid/round3", "trec_eval", "ndcg",
         Rule("nDCG@10", reason="the column holds nDCG@10")),
    ],
)  # fmt: skip
def test_catalog_rule__names_measure_set_and_grade(track, evaluator, measure, rule):
    assert catalog_rule(track, evaluator, measure) == rule


def test_catalog_rule__passages_of_deep_learning_are_relevant_from_grade_2():
    """The documents of the same track are relevant from grade 1, with the same evaluator."""
    column = ("trec29/deep", "trec_eval", "map")
    assert catalog_rule(*column, run_tasks=("passages",)) == Rule("map", rel=2)
    assert catalog_rule(*column, run_tasks=("docs",)) == Rule("map")
    for track in ("trec29/deep", "trec30/deep"):
        graded = catalog_rule(track, "trec_eval", "ndcg_cut_10", run_tasks=("passages",))
        assert graded == Rule("ndcg_cut_10", rel=2)
    later = catalog_rule("trec31/deep", "trec_eval", "ndcg_cut_10", run_tasks=("passages",))
    assert (later.measure, later.reason[:24]) == (None, "the gains of grades in t")
    full = catalog_rule("trec29/deep", "passages-eval", "ndcg_cut_10", run_tasks=("passages",))
    assert full == Rule("ndcg_cut_10")


@pytest.mark.parametrize(
    ("track", "evaluator", "measure", "reason"),
    [
        ("trec22/web", "risk-a1-gd", "err", "baseline"),
        ("trec14/genomics", "trec_eval", "F-score", "no rule for F-score"),
        ("trec19/web", "gdeval", "map", "no rule for map of gdeval"),
        ("trec16/million-query", "trec_eval", "map", "topics of the terabyte tracks"),
    ],
)
def test_catalog_rule__no_rule_has_a_reason(track, evaluator, measure, reason):
    rule = catalog_rule(track, evaluator, measure)
    assert rule.measure is None
    assert reason in rule.reason


def test_catalog_rule__p_10_is_p_15_beside_rprec():
    scores = catalog.published()
    columns = scores.filter(measure="P_10").select("id", "evaluator").unique()
    of_rule = [one for one, by in columns.rows() if catalog_rule(one, by, "P_10").measure == "P@15"]
    assert set(of_rule) == set(scores.filter(measure="Rprec")["id"])
    for track, topics, runs in (("trec8/adhoc", 50, 129), ("trec3/adhoc", 50, 20)):
        values = scores.filter(id=track, measure="P_10")["value"].cast(float)
        sums = values * 15 * topics  # whole but for the rounding of values to four digits
        assert values.len() == runs
        assert ((sums - sums.round()).abs() <= 0.5e-4 * 15 * topics).all()


def test_catalog_rule__every_measure_is_known():
    """Rules have names of irmeta; and nearly all published values have a rule."""
    scores = catalog.published()
    columns = scores.group_by("id", "evaluator", "measure").len().rows()
    rules = {column[:3]: catalog_rule(*column[:3]) for column in columns}
    for rule in rules.values():
        if rule.measure is None:
            assert rule.reason
        else:
            parse_measure(rule.measure)
    covered = sum(row[3] for row in columns if rules[row[:3]].measure is not None)
    assert (scores.height, covered) == (74_764, 71_186)


def test_catalog_rule__sets_of_evaluators_are_those_of_the_track():
    assert set(FIRST_SET) <= set(catalog.published()["evaluator"])
    (task,) = all_choices()["trec29/pm"].tasks
    names = {one.name for one in task.sets}
    assert set(catalog_rule("trec29/pm", "sample-eval", "infNDCG").sets) <= names
    assert names & set(catalog_rule("trec29/pm", "evidence-eval", "ndcg_cut_10").sets)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("P10", "P_10"),
        ("recall1000", "recall_1000"),
        ("ircl_prn.1.00", "iprec_at_recall_1.00"),
        ("R-prec", "Rprec"),
        ("gm_ap", "gm_map"),
        ("old_bpref", "Bpref(form=trec_eval7)"),
        ("nDCG@10", "nDCG@10"),
    ],
)
def test_given_rule__older_names(given: str, name: str):
    assert given_rule(given) == Rule(name)
    parse_measure(name)


def test_catalog_tracks__by_name_and_by_systems():
    listed = catalog.published().filter(id="trec12/robust")["run"].unique().sort().to_list()
    systems = {
        "mine": [*listed[:3], "other"],
        "trec15-terabyte-adhoc": ["x"],
        "trec8-adhoc": ["x"],
        "news": ["x"],
        "empty": [],
        "named": ["x"],
    }
    found = catalog_tracks(systems, {"named": "trec10-web-homepage"})
    assert found == {
        "mine": CatalogTrack("trec12/robust"),
        "trec15-terabyte-adhoc": CatalogTrack("trec15/terabyte", ("adhoc",)),
        "trec8-adhoc": CatalogTrack("trec8/adhoc", ("",)),
        "named": CatalogTrack("trec10/web", ("homepage",)),
    }


def test_catalog_tracks__name_in_several_tracks_tells_nothing():
    runs = catalog.published().select("id", "run").unique()
    shared = runs.filter(runs["run"].is_duplicated()).sort("run")["run"][0]
    assert catalog_tracks({"mine": [shared]}, {}) == {}


def test_catalog_tracks__task_that_all_systems_are_of():
    runs = catalog.runs().filter(id="trec29/deep")
    of_task = {name: runs.filter(task=name)["run"].to_list() for name in ("docs", "passages")}
    both = [*of_task["docs"], *of_task["passages"]]
    found = catalog_tracks(
        {"by systems": of_task["passages"], "by name": of_task["docs"], "both": both},
        {"by name": "trec29/deep"},
    )
    assert found == {
        "by systems": CatalogTrack("trec29/deep", ("passages",)),
        "by name": CatalogTrack("trec29/deep", ("docs",)),
        "both": CatalogTrack("trec29/deep"),
    }


def test_catalog_values__repeated_names_and_runs_of_other_tasks():
    rows = catalog_values({"t": CatalogTrack("trec15/terabyte")})
    assert set(rows["problem"]) == {REPEATED, None}
    assert rows["problem"].count() == 2 * 6 * 86
    adhoc = catalog_values({"t": CatalogTrack("trec15/terabyte", ("adhoc",))})
    problems = {None: 6 * 80, "a mean over the 149 topics of 2004 to 2006": 6 * 61}
    assert dict(adhoc.group_by("problem").len().iter_rows()) == problems
    assert adhoc.filter(pl.col("problem").is_null())["system"].n_unique() == 80
    both = catalog_values({"t": CatalogTrack("trec10/web")})
    one = catalog_values({"t": CatalogTrack("trec10/web", ("homepage",))})
    assert both["problem"].null_count() == both.height
    assert set(one["measure"]) < set(both["measure"])
    assert catalog_values({}).is_empty()


def test_catalog_values__names_of_session_runs_end_in_the_evaluator():
    rows = catalog_values({"t": CatalogTrack("trec23/session")})
    names = set(catalog.runs().filter(id="trec23/session")["run"])
    assert set(rows["system"]) <= names


@pytest.mark.exhaustive
def test_verify__catalogue_of_a_track():
    scores = catalog.published().filter(id="trec19/web", evaluator="ndeval")
    systems = scores["run"].unique().sort().to_list()
    lists = {name: {"51": down("a", "b")} for name in systems}
    store = Track(lists, {"51": {"a": 1, "b": 2}}, name="web-2010").read()
    found = irmeta.verify(store)
    assert found.tracks["catalog"].to_list() == ["trec19/web"]
    by_column = {
        (row["evaluator"], row["measure"]): row["reason"]
        for row in found.values.filter(verdict="not ours").iter_rows(named=True)
    }
    assert {measure for evaluator, measure in by_column if evaluator == "ndeval"} == {
        "ERR-IA@10", "alpha-nDCG@10", "P-IA@10", "MAP-IA"
    }  # fmt: skip
    assert all("no qrels by subtopic" in one for one in by_column.values())
    canonical = found.values.filter(evaluator="gdeval")["canonical"].unique().sort().to_list()
    assert canonical == ["ERR(gmax=4)@20", "nDCG(gain=exp)@20"]
    assert found.provenance["published"] == {"name": "catalogue"}


@pytest.mark.exhaustive
def test_verify__reads_the_qrels_set_of_the_evaluator():
    runs = catalog.published().filter(id="trec29/pm", evaluator="evidence-eval")["run"].to_list()
    lists = {name: {"1": {"a": 2.0, "b": 1.0}} for name in runs}
    first = pl.DataFrame({"query": ["1"], "doc": ["a"], "grade": [1]})
    second = first.with_columns(doc=pl.lit("b"))
    store = irmeta.from_data({"qrels": first, "evidence": second}, lists)
    found = irmeta.verify(store, catalog={store.tracks[0]: "trec29/pm"}).values
    values = found.filter(measure="ndcg_cut_10").select("qrels", "value").unique().rows()
    assert values == [("evidence", pytest.approx(0.6309297535714575))]
    others = found.filter(verdict="not ours")
    assert set(others["reason"]) == {"the track has no qrels set sample"}
    assert set(others["evaluator"]) == {"sample-eval"}
