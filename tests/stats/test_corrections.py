"""Corrections for multiple comparisons: statsmodels and naive implementations."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from irmeta.errors import UsageError
from irmeta.stats.corrections import CORRECTIONS, adjusted
from twins import significance as naive

OTHERS = {
    "bonferroni": ("bonferroni", naive.bonferroni),
    "holm": ("holm", naive.holm),
    "benjamini-hochberg": ("fdr_bh", naive.benjamini_hochberg),
}
corrections = pytest.mark.parametrize("correction", OTHERS)


@pytest.mark.exhaustive
@corrections
@pytest.mark.parametrize("number", [1, 2, 30, 1830])
def test_adjusted__equals_statsmodels(correction, number):
    p = np.random.default_rng(number).random(number) ** 3
    right = multipletests(p, method=OTHERS[correction][0])[1]
    np.testing.assert_allclose(adjusted(p, correction), right, rtol=1e-12)


@corrections
@given(p=st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.02, 0.04, 0.5, 1.0, np.nan]), max_size=9))
def test_adjusted__equals_naive_implementation(correction, p):
    right = OTHERS[correction][1](p)
    np.testing.assert_allclose(adjusted(np.array(p), correction), right, rtol=1e-12)


def test_adjusted__none_returns_an_unchanged_copy():
    p = np.array([0.2, np.nan])
    out = adjusted(p, "none")
    np.testing.assert_array_equal(out, p)
    assert out is not p


def test_corrections__complete_and_unknown_name_rejected():
    assert set(CORRECTIONS) == {"none", *OTHERS}
    with pytest.raises(UsageError, match="Did you mean 'holm'"):
        adjusted(np.ones(2), "Holms")


@corrections
@pytest.mark.parametrize("alpha", ["0.1", "0.05", "0.01"])
def test_adjusted__p_value_at_the_critical_value_is_significant(correction, alpha):
    """p-values of 9,999 samples are multiples of 1 / 10,000, as are many critical values."""
    limits = {
        (k, m): Fraction(alpha) * k / m * 10_000
        for m in range(1, 121)
        for k in (range(1, m + 1) if correction == "benjamini-hochberg" else [1])
    }
    met = {pair: int(limit) / 10_000 for pair, limit in limits.items() if limit.denominator == 1}
    assert len(met) > 5
    for (k, m), p in met.items():
        assert adjusted(np.array([p] * k + [1.0] * (m - k)), correction)[0] <= float(alpha)
        above = np.array([p + 1e-4] * k + [1.0] * (m - k))
        assert adjusted(above, correction)[0] > float(alpha)
