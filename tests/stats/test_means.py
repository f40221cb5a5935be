"""Confidence intervals of means: scipy, a naive bootstrap, coverage, and both commands."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import irmeta
from irmeta.stats import mean_intervals
from support.examples import scaled


@settings(max_examples=scaled(40))
@given(
    st.lists(
        st.tuples(*[st.one_of(st.floats(0, 1), st.just(float("nan")))] * 3), min_size=1, max_size=9
    ),
    st.sampled_from((0.8, 0.95, 0.99)),
)
def test_mean_intervals__t_equals_scipy(rows, confidence: float):
    values = np.array(rows)
    low, high = mean_intervals(values, confidence=confidence)
    for system, column in enumerate(values.T):
        known = column[~np.isnan(column)]
        if len(known) < 2:
            assert np.isnan([low[system], high[system]]).all()
            continue
        mean, error = known.mean(), stats.sem(known)  # 0 also where squares underflow
        with np.errstate(all="ignore"):
            interval = stats.t.interval(confidence, len(known) - 1, mean, error)
        expected = [mean, mean] if error == 0 or np.ptp(known) == 0 else interval
        assert [low[system], high[system]] == pytest.approx(expected, abs=1e-9)


def test_mean_intervals__bootstrap_equals_naive_resampling():
    """The same percentiles as of queries drawn one by one, within Monte Carlo error."""
    rng = np.random.default_rng(1)
    values = rng.beta(1, 3, (30, 2))
    values[:4, 1] = np.nan
    low, high = mean_intervals(values, "bootstrap", resamples=20_000)
    for system, column in enumerate(values.T):
        drawn = [np.nanmean(column[rng.integers(0, 30, 30)]) for _ in range(20_000)]
        assert [low[system], high[system]] == pytest.approx(
            np.quantile(drawn, [0.025, 0.975]), abs=0.004
        )
    again = mean_intervals(values, "bootstrap", resamples=20_000)
    assert (low.tolist(), high.tolist()) == tuple(one.tolist() for one in again)


@pytest.mark.parametrize(("queries", "least"), [(10, 0.93), (50, 0.935)])
def test_mean_intervals__t_covers_the_mean(queries: int, least: float):
    tables = np.random.default_rng(2).normal(0.3, 0.1, (queries, 3000))
    low, high = mean_intervals(tables)
    assert least < ((low <= 0.3) & (high >= 0.3)).mean() < 0.97


@pytest.mark.parametrize("method", ["t", "bootstrap"])
def test_mean_intervals__one_query_has_none(method: str):
    limits = irmeta.stats.mean_intervals(np.array([[0.2, 0.4]]), method)
    assert np.isnan(limits).all()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"method": "z"}, "interval"),
        ({"confidence": 1}, "confidence"),
        ({"resamples": 0}, "resamples"),
    ],
)
def test_mean_intervals__wrong_arguments(wrong, said: str):
    with pytest.raises(irmeta.UsageError, match=said):
        mean_intervals(np.ones((3, 1)), **wrong)


@pytest.mark.parametrize("method", ["t", "bootstrap"])
def test_evaluate__interval_of_each_mean(made_store: irmeta.Store, method: str):
    measures = ["AP", "AP(average=geometric)"]
    found = made_store.evaluate(measures, track="news", interval=method)
    plain = made_store.evaluate(measures, track="news")
    assert found.drop("low", "high").equals(plain, null_equal=True)
    matrix = irmeta.matrices(made_store, "AP", track="news")[0]
    low, high = mean_intervals(matrix.values, method)
    rows = found.filter(measure="AP")
    assert rows["system"].to_list() == list(matrix.systems)
    np.testing.assert_allclose(rows["low"], low)
    np.testing.assert_allclose(rows["high"], high)
    assert found.remove(measure="AP")["low"].is_nan().all()  # of a geometric mean


def test_evaluate__interval_in_memory_and_command(run, tmp_path):
    qrels = {str(q): {"a": 1} for q in range(4)}
    runs = {"s": {str(q): {"a": 1.0, "b": float(q)} for q in range(4)}}
    frame = irmeta.evaluate(qrels, runs, "map,AP", interval="t")
    assert frame.columns[:6] == ["system", "measure", "asked", "value", "low", "high"]
    assert frame["low"].n_unique() == 1
    (tmp_path / "q").write_text("".join(f"{q} 0 a 1\n" for q in range(4)))
    lines = [f"{q} Q0 {d} 1 {s} s\n" for q in range(4) for d, s in (("a", 1.0), ("b", float(q)))]
    (tmp_path / "r").write_text("".join(lines))
    done = run("evaluate", tmp_path / "q", tmp_path / "r", "-m", "map", "--interval", "bootstrap",
               "--seed", 3, "--format", "json")  # fmt: skip
    made = json.loads(done.out)
    (row,) = made["tables"]["scores"]
    assert row["low"] < row["value"] < row["high"]
    assert made["provenance"]["interval"] == {
        "confidence": 0.95, "interval": "bootstrap", "rng": 3
    }  # fmt: skip
    assert "whether two overlap says nothing about their difference" in done.err
    for other in (("--per-query",), ("--wide",), ("--format", "trec_eval")):
        refused = run("evaluate", tmp_path / "q", tmp_path / "r", "--interval", "t", *other)
        assert (refused.status, "--interval prints a row for each mean" in refused.err) == (2, True)
    with pytest.raises(irmeta.UsageError, match="`interval` is of means: omit `per_query`"):
        irmeta.evaluate(qrels, runs, "map", interval="t", per_query=True)
