"""Sets, counts, precision and Q: worked by hand."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import irmeta
from irmeta.measures.average_precision import docs_needed
from support.cells import assert_twins, named
from support.examples import scaled
from support.making import Track, down, read_qrels, read_run, tracks
from twins import sets as twin
from twins.binary_families import COUNTS
from twins.registry import FAMILIES


def relevant_at(ranks: set[int], length: int) -> list[str]:
    return [f"r{i}" if i in ranks else f"x{i}" for i in range(1, length + 1)]


def test_set_measures__long_list_equals_naive_implementation(tmp_path):
    ranks = {1, 2, 5, 9, 14, 30, 31, 32, 70, 199}
    runs = {
        "long": {"q": down(*relevant_at(ranks, 200)), "none": down("a")},
        "cut": {"q": down(*relevant_at(ranks, 40))},
    }
    qrels = {"q": {f"r{i}": 1 + i % 3 for i in (*ranks, 500, 501, 502)}, "none": {"a": 0}}
    track = Track(runs, qrels)
    assert_twins(track.ingest(tmp_path), track, FAMILIES["sets"].twins)


@pytest.mark.parametrize(
    ("level", "relevant", "nine", "ten"),
    [
        (0.0, 5, 0, 0),
        (0.1, 1, 1, 0),
        (0.5, 1, 1, 1),
        (0.5, 3, 2, 2),
        (0.1, 25, 3, 3),  # half a doc rounds away from zero
        (0.1, 24, 3, 2),
        (0.1, 11, 2, 1),  # 1.1 + 0.9 is 2.0 in float64
        (0.7, 3, 2, 2),  # 2.0999... + 0.9 is 2.9999...
        (1.0, 7, 7, 7),
    ],
)
def test_docs_needed__recall_levels_round_as_in_trec_eval(
    level: float, relevant: int, nine: int, ten: int
):
    for version, expected in (("9", nine), ("10", ten)):
        found = docs_needed(np.array([level]), np.array([relevant]), version)[0, 0]
        assert found == expected == twin.recall_target(level, relevant, int(version))


def test_counts__sum_includes_queries_without_a_list(tmp_path):
    qrels = {"q": {"a": 1, "b": 1, "c": 0}, "r": {"a": 1, "d": 2}, "s": {"e": 0}}
    track = Track(
        {"one": {"q": down("a", "c", "x")}, "two": {"q": down("b"), "r": down("d")}}, qrels
    )
    means = track.ingest(tmp_path).means(COUNTS, system="one")
    assert dict(means.select("measure", "value").rows()) == {
        "NumQ": 3.0,
        "NumRet": 3.0,
        "NumRel": 4.0,
        "NumRelRet": 1.0,
        "NumNonrelJudgedRet": 1.0,
    }


def test_set_measures__unjudged_docs_condensed_or_assumed_relevant(tmp_path):
    track = Track({"s": {"q": down("x", "a", "y", "b")}}, {"q": {"a": 1, "b": 0, "c": 1}})
    names = {
        "SetP": 0.25,
        "SetP(unjudged=condensed)": 0.5,
        "SetP(unjudged=upper)": 0.75,
        "SetRelP(unjudged=condensed)": 0.5,
        "NumRet(unjudged=condensed)": 2.0,
        "IPrec(unjudged=condensed)@0.5": 1.0,
        "Rprec(unjudged=condensed,mult=0.5)": 1.0,
        "Utility(unjudged=condensed)": 0.0,
    }
    means = track.ingest(tmp_path).means(list(names))
    assert means["value"].to_list() == list(names.values())


def test_precision_and_recall__tie_at_cutoff_is_shared(tmp_path):
    """Two of the three tied docs are relevant, and one tied rank is within 2: 1 + 2/3."""
    lists = {"q": [("a", 9), ("b", 5), ("x", 5), ("c", 5)]}
    store = Track({"s": lists}, {"q": {"a": 1, "b": 1, "c": 1}}).ingest(tmp_path)
    means = dict(store.means("P(ties=share)@2,R(ties=share)@2")["measure", "value"].iter_rows())
    assert means == pytest.approx({"P(ties=share)@2": (5 / 3) / 2, "R(ties=share)@2": (5 / 3) / 3})
    assert store.means("P(ties=share)@2", tie_order="file")["value"].to_list() == [1.0]


def test_ap__undefined_without_relevant_docs_in_pool(tmp_path):
    """At k = 1 the pool is the first doc, which is not relevant: R_1 = 0."""
    store = Track({"s": {"q": down("x", "a")}}, {"q": {"x": 0, "a": 1}}).ingest(tmp_path)
    means = store.means("AP(norm=pool)@1,AP(norm=pool)@2,AP@1")
    assert means["value"].is_nan().to_list() == [True, False, False]
    assert means["queries"].to_list() == [0, 1, 1]


def test_accuracy__pairs_in_order():
    """Of a b x c, with b and c relevant: b is above x, neither b nor c above a, c not above x."""
    found = irmeta.evaluate(
        {"q": {"b": 1, "c": 2}}, {"s": {"q": list("abxc")}}, "Accuracy@3,Accuracy"
    )
    assert found["value"].to_list() == [1 / 2, 1 / 4]


def test_yaap__log_of_smoothed_precisions():
    """Precisions 1/2 and 2/4 of R = 3: log((1 + 1) / (1 + 3 - 1))."""
    judged = {"q": {"b": 1, "c": 1, "d": 1}, "none": {"a": 0}}
    runs = {"s": {"q": list("abxc"), "none": ["a"]}}
    found = irmeta.evaluate(judged, runs, "yaap", per_query=True)
    assert found["value"].to_list() == pytest.approx([0.0, math.log(2 / 3)])


@pytest.mark.exhaustive
def test_q__beta_zero_equals_ap(made_store: irmeta.Store):
    cut = [(f"Q(beta=0,norm={n})@10", f"AP(norm={n})@10") for n in ("min", "pool")]
    for q, ap in [("Q(beta=0)", "AP"), ("Q(beta=0,rel=2)@7", "AP(rel=2)@7"), *cut]:
        found = [made_store.scores(name, track="web").values for name in (q, ap)]
        np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-15)


@pytest.mark.exhaustive
@settings(max_examples=scaled(20))
@given(tracks())
def test_q__norm_all_never_decreases_with_cutoff(track: Track):
    """Lu et al. (2016) say that every form of Q may decrease."""
    store = track.read()
    values = store.scores([named("Q", k, beta=2) for k in range(1, 13)], track="t").values
    assert np.diff(values, axis=0).min() >= 0


def test_q__norm_min_may_decrease_with_cutoff(tmp_path: Path):
    track = Track({"s": {"q": down("a", "x")}}, {"q": {"a": 1, "b": 1}})
    values = track.ingest(tmp_path).scores(["Q(norm=min)@1", "Q(norm=min)@2"], track="t").values
    assert values.ravel().tolist() == [1.0, 0.5]


def test_q__undefined_without_relevant_docs_in_pool(tmp_path: Path):
    track = Track({"s": {"q": down("x", "a")}}, {"q": {"x": 0, "a": 1}})
    values = (
        track.ingest(tmp_path)
        .scores(["Q(norm=pool)@1", "Q(norm=pool)@2"], track="t")
        .values.ravel()
    )
    assert math.isnan(values[0])
    assert values[1] == (1 + 1) / (2 + 1)


@pytest.mark.exhaustive
def test_q__equals_ntcir_13(shared: Path, tmp_path: Path):
    folder = shared / "oracles" / "ntcir13_www"
    names = [f"RMIT-E-NU-Own-{number}" for number in range(1, 5)]
    runs = {name: read_run(folder / f"{name}.run.gz") for name in names}
    track = Track(runs, read_qrels(folder / "wwwE.trec.qrels"))
    frame = track.ingest(tmp_path).evaluate("Q(norm=min)@10", tie_order="file", per_query=True)
    found = {(s, q): v for _, s, q, _, v in frame.iter_rows()}
    printed = (folder / "wwwE.official.Q@0010.topic-by-run.csv").read_text().splitlines()
    expected = {(n, row[""]): float(row[n]) for row in csv.DictReader(printed) for n in names}
    assert len(expected) == 400
    assert found == pytest.approx(expected, abs=0.5e-4 + 1e-9)


def test_q__docs_below_rel_have_no_gain():
    """Sakai's gain of a non-relevant doc is 0, in the list and in the ideal list."""
    grades = {"high": 3, "low": 1, "none": 0}
    store = Track({"s": {"q": down("low", "high", "none")}}, {"q": grades}).read()
    # (1 + 3) / (2 + 3), and with the gain of grade 1 (1 + 4) / (2 + 4)
    assert store.scores("Q(rel=2)", track="t").values.item() == pytest.approx(4 / 5)
    # (1 + 1) / (1 + 3) at rank 1, (2 + 4) / (2 + 4) at rank 2
    assert store.scores("Q", track="t").values.item() == pytest.approx((1 / 2 + 1) / 2)
