"""Measures of irmeta in ir_measures, called as `pt.Experiment` calls it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import ir_measures
import pandas as pd
import polars as pl
import pytest

import irmeta
from irmeta import pyterrier
from irmeta.errors import MeasureError
from support.making import Track, down

TRACK = Track(
    {"s": {"1": down("a", "b", "c"), "2": down("d", "b")}},
    {"1": {"b": 2, "c": 0}, "2": {"a": 1}, "3": {"a": 1}},
)
RUN = pd.DataFrame(
    [(q, doc, float(score)) for q, rows in TRACK.runs["s"].items() for doc, score in rows],
    columns=["query_id", "doc_id", "score"],
)
QRELS = pd.DataFrame(
    [(q, doc, grade) for q, docs in TRACK.qrels.items() for doc, grade in docs.items()],
    columns=["query_id", "doc_id", "relevance"],
)


@pytest.fixture(autouse=True)
def pipeline() -> Iterator[list[Any]]:
    """Restore the providers of ir_measures after each test."""
    providers: list[Any] = ir_measures.DefaultPipeline.providers
    before = list(providers)
    yield providers
    providers[:] = before


@pytest.mark.exhaustive
def test_measures__have_the_values_of_irmeta():
    names = "map, ASL@g10, nDCG(gain=exp)@2, AP(average=geometric)"
    asked = pyterrier.measures(names)
    assert [str(measure) for measure in asked] == [name.strip() for name in names.split(",")]
    means = ir_measures.calc_aggregate(asked, QRELS, RUN)
    store = TRACK.read()
    expected = store.means(names)["value"].to_list()
    assert [means[measure] for measure in asked] == pytest.approx(expected, abs=1e-15)
    values = {
        (m.query_id, str(m.measure)): m.value for m in ir_measures.iter_calc(asked, QRELS, RUN)
    }
    theirs = store.scores(names, track="t").frame(per_query=True).select("query", "asked", "value")
    assert values == {(q, m): v for q, m, v in theirs.iter_rows()}


def test_measures__can_be_mixed_with_those_of_ir_measures():
    ours, theirs = pyterrier.measures("Q"), [ir_measures.nDCG @ 10, ir_measures.AP(rel=2)]
    means = ir_measures.calc_aggregate([*ours, *theirs], QRELS, RUN)
    own = ir_measures.pytrec_eval.calc_aggregate(theirs, QRELS, RUN)
    assert [means[m] for m in theirs] == [own[m] for m in theirs]
    assert means[ours[0]] == TRACK.read().means("Q")["value"][0]


def test_measures__undefined_values_are_left_out_of_means():
    (measure,) = pyterrier.measures("nNRBP")
    qrels = [ir_measures.Qrel("1", "a", 1, "x"), ir_measures.Qrel("2", "a", 0, "x")]
    values = {m.query_id: m.value for m in ir_measures.iter_calc([measure], qrels, RUN)}
    assert values["1"] == 1.0
    assert math.isnan(values["2"])
    assert ir_measures.calc_aggregate([measure], qrels, RUN) == {measure: 1.0}


def test_measures__run_without_rows_has_no_value():
    (measure,) = pyterrier.measures("AP")
    (value,) = {m.value for m in ir_measures.iter_calc([measure], QRELS, RUN[:0])}
    assert math.isnan(value)


def test_measures__average_over_systems_is_refused():
    with pytest.raises(MeasureError, match="ir_measures averages each system by itself"):
        pyterrier.measures("AP(average=difficulty)")


def test_register__irmeta_computes_what_no_other_provider_does(pipeline: list[Any]):
    provider = pyterrier.register()
    assert pipeline[-1] is provider
    assert pyterrier.register() is ir_measures.providers.registry["irmeta"]
    assert pipeline.count(provider) == 1
    measure = ir_measures.RBP(p=0.5, rel=1) @ 2
    expected = irmeta.evaluate(QRELS, RUN, "RBP(p=0.5)@2")["value"][0]
    assert ir_measures.calc_aggregate([measure], QRELS, RUN) == {measure: expected}


def test_provider__iterations_are_subtopics():
    qrels = [("1", "b", 1, "x"), ("1", "c", 1, "y")]
    frame = pl.DataFrame(
        qrels, schema=["query_id", "doc_id", "relevance", "iteration"], orient="row"
    )
    expected = irmeta.evaluate(frame, RUN, "alpha_nDCG@10", subtopics=True, per_query=True)[
        "value"
    ].to_list()
    rows = [ir_measures.Qrel(*row) for row in qrels]
    found = pyterrier.register().iter_calc([ir_measures.alpha_nDCG @ 10], rows, RUN)
    assert [metric.value for metric in found] == expected


def test_register__first_computes_all_that_irmeta_has(pipeline: list[Any]):
    provider = pyterrier.register(first=True)
    assert pipeline[0] is provider
    some = [ir_measures.nDCG @ 10, ir_measures.P(judged_only=True) @ 2, ir_measures.Bpref]
    some += [ir_measures.RR(rel=2), ir_measures.SetF(beta=4.0), ir_measures.NumRet(rel=1)]
    assert all(map(provider.supports, some))
    ours = provider.calc_aggregate(some, QRELS, RUN)
    theirs = ir_measures.pytrec_eval.calc_aggregate(some, QRELS, RUN)
    assert ours == {measure: pytest.approx(value) for measure, value in theirs.items()}
    assert not provider.supports(ir_measures.RBP(p=0.5))
    dicts = provider.calc_aggregate(
        some, TRACK.qrels, {q: dict(r) for q, r in TRACK.runs["s"].items()}
    )
    assert dicts == ours
