"""Situations of public bug reports of other tools, with values computed by hand."""

from __future__ import annotations

import math

import pytest

import irmeta
from irmeta.errors import DataError, MeasureError

ABC = {"q": {"a": 1, "b": 1, "c": 1}}
LISTED = {"q": ["a", "x", "b"]}


@pytest.mark.parametrize(
    ("qrels", "run", "measure", "choices", "value"),
    [
        # pytrec_eval, ranx, recommenders: AP@k over min(k, number of relevant docs)
        (ABC, LISTED, "AP(norm=min)@2", {}, 1 / 2),
        (ABC, LISTED, "AP(norm=min)@3", {}, (1 + 2 / 3) / 3),
        # ir_measures: ERR with a fixed highest grade, and with the highest of the set
        ({"q": {"a": 1}}, {"q": ["x", "a"]}, "ERR(gmax=4)", {}, 1 / 16 / 2),
        ({"q": {"a": 1}}, {"q": ["x", "a"]}, "ERR", {}, 1 / 2 / 2),
        # trec_eval: grades below 0 are in the pool but unjudged
        (
            {"q": {"junk": -2, "good": 1}},
            {"q": ["junk", "good", "new"]},
            "P(unjudged=condensed)@1",
            {},
            1.0,
        ),
        (
            {"q": {"junk": -2, "good": 1}},
            {"q": ["junk", "good", "new"]},
            "P(unjudged=condensed)@1",
            {"negative": "nonrelevant"},
            0.0,
        ),
        # torchmetrics, LightGBM: one doc per query
        ({"q": {"a": 1}}, {"q": ["a"]}, "nDCG", {}, 1.0),
        ({"q": {"a": 0}}, {"q": ["a"]}, "nDCG", {}, 0.0),
        # beir: a doc with the id of its query
        ({"0": {"a": 1}}, {"0": ["0", "a"]}, "RR", {"drop_self": True}, 1.0),
        # esci: gains from 0 to 1
        (
            {"q": {"e": 1.0, "s": 0.1, "c": 0.01, "i": 0.0}},
            {"q": ["s", "e", "i", "c"]},
            "nDCG",
            {},
            (0.1 + 1 / math.log2(3) + 0.01 / math.log2(5))
            / (1 + 0.1 / math.log2(3) + 0.01 / math.log2(4)),
        ),
        # scikit-learn: a grade below 0 has no gain
        ({"q": {"a": -1.5, "b": 0.5}}, {"q": ["a", "b"]}, "nDCG", {}, 1 / math.log2(3)),
        # mteb: recall without relevant docs
        ({"q": {"a": 0}}, {"q": ["a"]}, "R@10", {}, 0.0),
        # torchmetrics: cutoff below the list
        (ABC, LISTED, "R@2", {}, 1 / 3),
    ],
)
def test_value__of_a_reported_situation(qrels, run, measure, choices, value):
    found = irmeta.evaluate(qrels, run, measure, **choices)
    assert found["value"].item() == pytest.approx(value, abs=1e-12)


def test_evaluate__a_cutoff_of_0_is_refused():
    with pytest.raises(MeasureError):
        irmeta.evaluate(ABC, LISTED, "R@0")


@pytest.mark.parametrize("second", [1, 2])
def test_evaluate__a_doc_judged_twice(tmp_path, second):
    (tmp_path / "q").write_text(f"q 0 a 1\nq 0 a {second}\n")
    if second == 1:
        store = irmeta.from_data(tmp_path / "q", LISTED)
        assert store.means("AP")["value"].item() == 1
        return
    with pytest.raises(DataError, match=r"q, line 2: query q, doc a has grades 1 and 2"):
        irmeta.from_data(tmp_path / "q", LISTED)


def test_compare__a_run_equal_to_the_baseline():
    qrels = {f"q{i}": {"a": 1} for i in range(6)}
    base = {q: ["a", "x"] if i % 2 else ["x", "a"] for i, q in enumerate(qrels)}
    other = {q: ["x", "y", "a"] for q in qrels}
    runs = {"base": base, "copy": base, "other": other}
    (alone,) = irmeta.compare(qrels, {"base": base, "other": other}, "RR", baseline="base")
    (found,) = irmeta.compare(qrels, runs, "RR", baseline="base", correction="none")
    rows = {row["system"]: row for row in found.systems.to_dicts()}
    assert (rows["copy"]["p"], rows["copy"]["verdict"]) == (1.0, "not different")
    p = {row["system"]: row["p"] for row in alone.systems.to_dicts()}
    assert rows["other"]["p"] == pytest.approx(p["other"], rel=1e-12)


def test_agree__labels_of_one_grade_have_no_kappa():
    labels = {f"q{i}": {"a": 0, "b": 0} for i in range(3)}
    with pytest.warns(irmeta.RelevanceWarning):
        (row,) = irmeta.agree(labels, {"judge": labels}, resamples=5).judges.to_dicts()
    assert (row["exact"], math.isnan(row["kappa"])) == (1.0, True)
