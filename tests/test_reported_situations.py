"""Situations of public bug reports of other tools, with values computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

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
        # LongMemEval, gfm-rag: all relevant docs within k
        (
            {"h1": {"a": 1, "b": 1}, "h2": {"c": 1, "d": 1}},
            {"h1": ["a", "x", "b"], "h2": ["c", "x", "y"]},
            "AllRel@3",
            {},
            0.5,
        ),
        ({"q": {"a": 0}}, {"q": ["a"]}, "AllRel@3", {}, 0.0),
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
    assert (rows["copy"]["p_adjusted"], rows["copy"]["verdict"]) == (1.0, "not different")
    p = {row["system"]: row["p_adjusted"] for row in alone.systems.to_dicts()}
    assert rows["other"]["p_adjusted"] == pytest.approx(p["other"], rel=1e-12)


def test_agree__labels_of_one_grade_have_no_kappa():
    labels = {f"q{i}": {"a": 0, "b": 0} for i in range(3)}
    with pytest.warns(irmeta.RelevanceWarning):
        (row,) = irmeta.agree(labels, {"judge": labels}, resamples=5).judges.to_dicts()
    assert (row["exact"], math.isnan(row["kappa"])) == (1.0, True)


def test_compare__hsd_of_repeated_measures():
    """statsmodels: hsd takes groups as independent, hsd-blocked removes the queries."""
    values = np.array(
        [[0.1, 0.14, 0.2], [0.5, 0.55, 0.62], [0.9, 0.92, 0.99], [0.3, 0.36, 0.4],
         [0.7, 0.75, 0.78], [0.2, 0.22, 0.33]]
    )  # fmt: skip
    pairs = irmeta.stats.pairwise(matrix(values), "hsd-blocked").p_adjusted[np.triu_indices(3, 1)]
    assert pairs == pytest.approx([0.002912, 1.04e-6, 8.4e-5], rel=5e-3)
    groups = scipy_stats.tukey_hsd(*values.T).pvalue[np.triu_indices(3, 1)]
    found = irmeta.stats.pairwise(matrix(values), "hsd").p_adjusted[np.triu_indices(3, 1)]
    assert found == pytest.approx(groups, abs=1e-9)
    two = values[:, :2]
    paired = scipy_stats.ttest_rel(*two.T).pvalue
    assert irmeta.stats.pairwise(matrix(two), "hsd-blocked").p_adjusted[0, 1] == pytest.approx(
        paired
    )


def test_compare__a_tiny_p_is_not_cut():
    """statsmodels: p of Tukey's test was never below .001."""
    three = np.array([[0.1, 0.501, 0.9], [0.101, 0.502, 0.902], [0.102, 0.5, 0.901]])
    pairs = irmeta.stats.pairwise(matrix(np.tile(three, (10, 1))), "hsd-blocked")
    assert 0 < pairs.p_adjusted[0, 2] < 1e-100


@pytest.mark.parametrize("resamples", [9, 10_000])
@pytest.mark.parametrize("test", ["permutation", "bootstrap", "max-t", "hsd-randomised"])
def test_compare__no_p_of_a_resampling_test_is_0(test: str, resamples: int):
    """permute, scipy: the observed order is one of the resamples."""
    values = np.random.default_rng(0).random((40, 2)) + np.array([0, 5])
    baseline = "a" if test == "max-t" else None
    pairs = irmeta.stats.pairwise(matrix(values), test, resamples=resamples, baseline=baseline)
    assert pairs.p_adjusted[1, 0] == pytest.approx(1 / (resamples + 1))


def test_rbo__of_uneven_and_equal_lists():
    """rbo: extrapolation of lists of different lengths, Eq. 32 of Webber et al. (2010)."""
    same = list(map(str, range(100)))
    assert irmeta.stats.rbo(same, same, 0.9).ext == pytest.approx(1.0, abs=1e-12)
    p, short, long = 0.9, ["a", "b"], ["b", "c", "a", "d"]
    agreed = [len(set(short[:d]) & set(long[:d])) for d in range(1, 5)]
    total = sum(agreed[d - 1] / d * p**d for d in range(1, 5))
    total += sum(agreed[1] * (d - 2) / (2 * d) * p**d for d in (3, 4))
    expected = (1 - p) / p * total + ((agreed[3] - agreed[1]) / 4 + agreed[1] / 2) * p**4
    assert irmeta.stats.rbo(short, long, p).ext == pytest.approx(expected)


def test_ndcg__of_ratings_and_a_cutoff_below_the_list():
    """LensKit: ratings are gains, and a short list is compared with the whole ideal list."""
    ratings = {"u": {"1": 3, "2": 5, "3": 4}}
    ideal = 5 + 4 / math.log2(3) + 3 / 2
    gained = 3 + 5 / math.log2(3)
    for run, measure, value in (
        (["1", "2"], "nDCG", gained / ideal),
        (["1", "2"], "nDCG@2", gained / (5 + 4 / math.log2(3))),
        (["2", "3", "1"], "nDCG", 1.0),
    ):
        found = irmeta.evaluate(ratings, {"u": run}, measure)
        assert found["value"].item() == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(("first", "value"), [(True, 42 / 49 - 0.05), (False, -0.05)])
def test_wss__of_relevant_docs_first_and_last(first: bool, value: float):
    """asreview: work saved over sampling at recall .95 may be negative."""
    relevant, others = [f"r{i}" for i in range(7)], [f"n{i}" for i in range(42)]
    qrels = {"rev": dict.fromkeys(relevant, 1) | dict.fromkeys(others, 0)}
    run = {"rev": relevant + others if first else others + relevant}
    assert irmeta.evaluate(qrels, run, "WSS@0.95")["value"].item() == pytest.approx(value)


def matrix(values: np.ndarray) -> irmeta.Matrix:
    queries = tuple(map(str, range(len(values))))
    return irmeta.Matrix(values, queries, tuple("abc"[: values.shape[1]]), "AP")
