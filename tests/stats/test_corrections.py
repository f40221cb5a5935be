"""Corrections: against statsmodels and the naive twins."""

from __future__ import annotations

import naive_significance as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from irmeta.errors import UsageError
from irmeta.stats.corrections import CORRECTIONS, adjusted

OTHERS = {
    "bonferroni": ("bonferroni", naive.bonferroni),
    "holm": ("holm", naive.holm),
    "benjamini-hochberg": ("fdr_bh", naive.benjamini_hochberg),
}
corrections = pytest.mark.parametrize("correction", OTHERS)


@corrections
@pytest.mark.parametrize("number", [1, 2, 30, 1830])
def test_as_statsmodels(correction, number):
    p = np.random.default_rng(number).random(number) ** 3
    right = multipletests(p, method=OTHERS[correction][0])[1]
    np.testing.assert_allclose(adjusted(p, correction), right, rtol=1e-12)


@corrections
@given(p=st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.02, 0.04, 0.5, 1.0, np.nan]), max_size=9))
def test_as_the_twin(correction, p):
    right = OTHERS[correction][1](p)
    np.testing.assert_allclose(adjusted(np.array(p), correction), right, rtol=1e-12)


def test_none_changes_nothing_and_copies():
    p = np.array([0.2, np.nan])
    out = adjusted(p, "none")
    np.testing.assert_array_equal(out, p)
    assert out is not p


def test_all_are_known():
    assert set(CORRECTIONS) == {"none", *OTHERS}
    with pytest.raises(UsageError, match="Did you mean 'holm'"):
        adjusted(np.ones(2), "Holms")
