"""Measures that irmeta and ir_measures share, compared on graded qrels."""

from __future__ import annotations

import ctypes
import math
import shutil
from pathlib import Path

import ir_measures
import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.measures.names import parse_measure, registry
from support.making import Track

ALIKE = (
    *("P@5", "P(rel=2)@10", "R@20", "AP", "AP(rel=2)", "AP@10", "RR", "RR(rel=2)", "RR@3", "Rprec"),
    *("Rprec(rel=2)", "nDCG", "nDCG@10", "Bpref", "Bpref(rel=2)", "infAP", "infAP(rel=2)"),
    *("SetP", "SetP(rel=2)", "SetR", "SetF", "SetAP", "SetAP(rel=2)", "SetRelP", "Success@3"),
    *("Success(rel=2)@3", "IPrec@0.0", "IPrec@0.3", "IPrec(rel=2)@1.0", "NumQ", "NumRet"),
    *("Accuracy", "Accuracy@100", "Accuracy(rel=2)@50"),
    *("NumRel", "Judged@10"),  # ir_measures counts a doc with a negative grade as judged
)
OTHERWISE = {
    "SetF(beta=2.0)": f"SetF(beta={math.sqrt(2)!r})",  # passed to trec_eval as beta squared
    "NumRet(rel=1)": "NumRelRet",
    "NumRet(rel=2)": "NumRelRet(rel=2)",
    "AP(judged_only=True)": "AP(unjudged=condensed)",
    "P(judged_only=True)@5": "P(unjudged=condensed)@5",
    "nDCG(judged_only=True)@10": "nDCG(unjudged=condensed)@10",
    "nDCG(gains={1:3,2:9})": "nDCG(gain=1:3;2:9)",
    "nDCG(dcg='exp-log2')@10": "nDCG(gain=exp)@10",
    "ERR@10": "ERR(gmax=4)@10",  # gdeval's highest grade is always 4
    # Without positive scores, the ideal list of ir_measures starts with docs not retrieved.
    "Compat": "Compat(depth=lists)",
    "Compat(p=0.5,normalize=False)": "Compat(p=0.5,depth=lists,normalize=False)",
}
PERL = ("ERR@10", "nDCG(dcg='exp-log2')@10")
RECORDED = Path(__file__).parents[2] / "data_fixtures" / "oracles" / "ir_measures.csv.gz"
"""Values of measures for which ir_measures needs cwl_eval or pyndeval, which are not installed."""


@pytest.fixture(scope="module", params=["web", "passage"])
def track(request: pytest.FixtureRequest, made_store: irmeta.Store):
    """Return a synthetic track for ir_measures, without ties, which its tools break differently."""
    name = request.param
    systems = made_store.runs(name).select(pl.col("system").unique().sort()).collect()
    some = systems["system"].to_list()[::5]
    runs = made_store.runs(name).filter(pl.col("system").is_in(some)).collect()
    runs = runs.select(
        "system", query_id="query", doc_id="doc", score=1e4 - pl.col("rank")
    )  # see Compat
    primary = made_store.info().filter(track=name)["qrels"].item().split(",")[0]
    qrels = made_store.qrels(name).filter(set=primary).collect()
    qrels = qrels.select(query_id="query", doc_id="doc", relevance="grade").to_pandas()
    return name, {s: own.to_pandas() for (s,), own in runs.group_by("system")}, qrels


def theirs(measure: str, runs: dict, qrels) -> dict[tuple[str, str], float]:
    asked = [ir_measures.parse_measure(measure)]
    return {
        (system, found.query_id): found.value
        for system, run in runs.items()
        for found in ir_measures.iter_calc(asked, qrels, run)
    }


@pytest.mark.exhaustive
@pytest.mark.parametrize("measure", [*ALIKE, *OTHERWISE])
def test_evaluate__equals_ir_measures(measure: str, track, made_store: irmeta.Store):
    if measure in PERL and shutil.which("perl") is None:
        pytest.skip("gdeval is a Perl program")
    name, runs, qrels = track
    expected = theirs(measure, runs, qrels)
    ours = OTHERWISE.get(measure, measure)
    negative = "nonrelevant" if ours.startswith("Judged") else "unjudged"
    chosen = {"queries": "retrieved", "negative": negative}
    values = made_store.evaluate(ours, track=name, system=list(runs), **chosen, per_query=True)
    found = {(s, q): v for s, q, v in values.select("system", "query", "value").iter_rows()}
    digits = 5.1e-6 if measure in PERL else 1e-9  # gdeval prints five digits
    assert len(found) > 20
    for cell, value in found.items():
        if measure.startswith("Accuracy") and cell not in expected:
            assert math.isnan(value) or value == 0  # without relevant docs; without one retrieved
        elif math.isnan(value):
            assert (measure[:6], expected[cell]) == ("Compat", 0)  # no relevant doc
        else:
            assert value == pytest.approx(expected[cell], abs=digits)


@pytest.fixture(scope="module")
def recorded() -> pl.DataFrame:
    """The values of data_fixtures/make_oracles.py."""
    return pl.read_csv(RECORDED, schema_overrides={"query": pl.String})


@pytest.mark.parametrize("name", ["web", "passage"])
def test_evaluate__equals_recorded_ndeval_and_cwl_eval(name: str, recorded, made_store):
    expected = recorded.filter(track=name)
    asked = {parse_measure(m).name: m for m in expected["measure"].unique()}
    chosen = {"track": name, "system": expected["system"].unique().to_list(), "queries": "judged"}
    values = made_store.evaluate(list(asked), per_query=True, **chosen)
    values = values.with_columns(pl.col("measure").replace_strict(asked))
    both = expected.join(values, ["track", "system", "query", "measure"], suffix="_ours")
    assert both.height == expected.height > 200
    np.testing.assert_allclose(both["value_ours"], both["value"], rtol=0, atol=1e-9)


def test_registry__every_measure_of_ir_measures_is_compared(recorded: pl.DataFrame):
    shared = set(ir_measures.measures.registry) & registry().keys()
    names = [*recorded["measure"].unique(), *(OTHERWISE.get(m, m) for m in (*ALIKE, *OTHERWISE))]
    assert shared == {parse_measure(name).measure.name for name in names} & shared


@pytest.mark.exhaustive
def test_reciprocal_rank__ir_measures_breaks_ties_differently_at_cutoff():
    """With a cutoff, ir_measures ranks the smaller doc ID first, unlike trec_eval and irmeta."""
    docs = [ir_measures.ScoredDoc("q", doc, 1.0) for doc in ("a", "b")]
    for relevant, expected in (("a", 1.0), ("b", 0.5)):
        grades = {doc: 2 * (doc == relevant) for doc in ("a", "b")}
        qrels = [ir_measures.Qrel("q", doc, grade) for doc, grade in grades.items()]
        store = Track({"s": {"q": [("a", 1, 1), ("b", 1, 2)]}}, {"q": grades}).read()
        for name, theirs in (("RR(rel=2)@10", expected), ("RR(rel=2)", 1.5 - expected)):
            (found,) = ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, docs)
            assert found.value == theirs
            assert store.means(name)["value"].to_list() == [1.5 - expected]


def test_atof__decimal_comma_reads_as_zero():
    atof = ctypes.CDLL(None).atof
    atof.restype = ctypes.c_double
    assert atof(b"0,9") == 0.0
