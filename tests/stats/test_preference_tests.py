"""Tests of preferences: equal to tests of values for differences, and naive permutations."""

from __future__ import annotations

import json
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

import irmeta
from irmeta.errors import UsageError
from irmeta.preferences.evaluate import evaluate_preferences
from irmeta.preferences.registry import parse_preferences
from irmeta.results.verdicts import Preference
from irmeta.stats.pairs import pairwise
from irmeta.stats.preferences import preference_pairs


def matrix(seed: int, queries: int, systems: int, ties: bool = False) -> irmeta.Matrix:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (queries, systems)) / 2 if ties else rng.random((queries, systems))
    names = tuple(f"s{i}" for i in range(systems))
    return irmeta.Matrix(values, tuple(f"q{i}" for i in range(queries)), names, "AP")


def preference(matrices: np.ndarray) -> Preference:
    names = tuple(f"s{i}" for i in range(matrices.shape[1]))
    queries = tuple(f"q{i}" for i in range(len(matrices)))
    return Preference("RPP", queries, names, lambda q: matrices[q])


def antisymmetric(seed: int, queries: int, systems: int) -> np.ndarray:
    values = np.random.default_rng(seed).integers(-2, 3, (queries, systems, systems)) / 2.0
    return np.triu(values, 1) - np.triu(values, 1).transpose(0, 2, 1)


@given(st.integers(0, 999), st.integers(2, 9), st.integers(2, 40), st.booleans())
def test_preference_pairs__equal_tests_of_values_for_differences(seed, queries, systems, ties):
    values = matrix(seed, queries, systems, ties)
    for test in ("t", "hsd-randomised"):
        ours = preference_pairs(values, test, resamples=200, rng=seed)
        theirs = pairwise(values, test, resamples=200, rng=seed)
        for name in ("p_adjusted", "difference", "queries", "low", "high"):
            np.testing.assert_allclose(
                getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-12, err_msg=name
            )
        np.testing.assert_array_equal(ours.better(), theirs.better())


@given(st.integers(0, 999), st.integers(2, 12), st.integers(2, 6))
def test_preference_pairs__t_equals_scipy(seed, queries, systems):
    matrices = antisymmetric(seed, queries, systems)
    pairs = preference_pairs(preference(matrices), "t")
    for a, b in product(range(systems), repeat=2):
        values = matrices[:, a, b]
        if a != b and np.ptp(values) > 0:
            expected = reference.ttest_1samp(values, 0.0)
            assert pairs.p_adjusted[a, b] == pytest.approx(expected.pvalue, abs=1e-12)
            interval = expected.confidence_interval()
            assert (pairs.low[a, b], pairs.high[a, b]) == pytest.approx(tuple(interval), abs=1e-9)
        elif a != b:
            expected = 1.0 if values[0] == 0 else np.nan  # without spread there is no t
            np.testing.assert_equal(pairs.p_adjusted[a, b], expected)


def test_preference_pairs__randomised_p_is_near_the_exact_p():
    """All 6^3 permutations of three systems on three queries, applied to rows and columns."""
    matrices = antisymmetric(3, 3, 3) + 0.0
    orders = list(permutations(range(3)))
    extremes = []
    for chosen in product(orders, repeat=3):
        total = sum(m[np.ix_(order, order)] for m, order in zip(matrices, chosen, strict=True))
        extremes.append(np.abs(total).max() / 3)
    observed = np.abs(matrices.mean(axis=0))
    exact = (np.array(extremes)[:, None, None] >= observed - 1e-12).mean(axis=0)
    pairs = preference_pairs(preference(matrices), resamples=20_000)
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(pairs.p_adjusted[off], exact[off], rtol=0, atol=0.015)
    assert len({round(p, 2) for p in pairs.p_adjusted[off].tolist()}) > 1


def test_preference_pairs__same_for_any_number_of_workers():
    found = preference(antisymmetric(5, 30, 12))
    one, two = (preference_pairs(found, resamples=3000, workers=w) for w in (1, 2))
    np.testing.assert_array_equal(one.p_adjusted, two.p_adjusted)


def test_preference_pairs__undefined_queries_are_left_out():
    matrices = antisymmetric(1, 8, 4)
    gaps = np.concatenate([matrices[:3], np.full((2, 4, 4), np.nan), matrices[3:]])
    for test in ("t", "hsd-randomised"):
        left, right = (
            preference_pairs(preference(m), test, resamples=99) for m in (matrices, gaps)
        )
        np.testing.assert_array_equal(left.p_adjusted, right.p_adjusted)
        assert set(right.queries.ravel().tolist()) == {8}


@pytest.mark.parametrize("test", ["t", "hsd-randomised"])
@pytest.mark.parametrize("queries", [0, 1])
def test_preference_pairs__too_few_queries(test, queries):
    pairs = preference_pairs(preference(antisymmetric(1, queries, 3)), test, resamples=9)
    undefined = np.isnan(pairs.p_adjusted[np.triu_indices(3, 1)])
    assert undefined.all() if test == "t" or queries == 0 else not undefined.any()
    assert np.diagonal(pairs.p_adjusted).tolist() == [1.0] * 3


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"test": "wilcoxon"}, "test = 'wilcoxon' is not a choice"),
        ({"correction": "holm"}, "already controls the family-wise error"),
        ({"resamples": 0}, "resamples = 0"),
        ({"confidence": 1.5}, "confidence = 1.5"),
    ],
)
def test_preference_pairs__invalid_argument_is_an_error(choices, message):
    with pytest.raises(UsageError, match=message):
        preference_pairs(matrix(0, 3, 3), **choices)


NAMES = {
    "RPP": "RPP",
    "dcgRPP": "RPP(p=dcg)",
    "invRPP": "RPP(p=inverse)",
    "RPP(binary)": "RPP(grades=binary)",
}


@pytest.mark.real
def test_preference_pairs__separated_pairs_equal_oracle_on_robust_2003(shared, real_store):
    file = shared / "oracles" / "preference" / "preference_robust2003_power.json"
    separated = json.loads(file.read_text())["separated"]
    specs = parse_preferences(list(NAMES.values()))
    found = evaluate_preferences(real_store.track("robust-2003"), specs)
    for name, one in zip(NAMES, found, strict=True):
        expected, upper = separated[name], np.triu_indices(17, 1)

        def count(source, test, correction="none", upper=upper):
            pairs = preference_pairs(source, test, correction=correction, resamples=1500)
            return int(pairs.separated()[upper].sum())

        preference_of, rates = one.preference(), one.win_rates()
        assert count(preference_of, "t") == expected["t_05"]
        assert count(preference_of, "t", "bonferroni") == expected["t_bonferroni_05"]
        assert count(rates, "t", "bonferroni") == expected["winrate_t_bonferroni_05"]
        randomised = count(preference_of, "hsd-randomised")
        assert abs(randomised - expected["randomised_hsd_05 (B=1500)"]) <= 3
        on_rates = count(rates, "hsd-randomised")
        assert abs(on_rates - expected["winrate_randomised_hsd_05"]) <= 3
