"""Risk-sensitive gains over a baseline; measures/test_diversity.py compares them with ndeval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irmeta.errors import UsageError
from irmeta.results.matrix import Matrix
from irmeta.stats import risk

VALUES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1) | st.just(math.nan)), min_size=1)


@given(VALUES, st.floats(0, 20), st.sampled_from([1, -1]))
def test_risk__losses_count_more_than_gains(rows, alpha: float, direction):
    queries = tuple(str(i) for i in range(len(rows)))
    gains = risk(Matrix(rows, queries, ("base", "other"), direction=direction), "base", alpha)
    assert gains.direction == 1
    for (base, other), (zero, gain) in zip(rows, gains.values.tolist(), strict=True):
        difference = (other - base) * direction
        expected = difference if difference >= 0 else (1 + alpha) * difference
        assert zero == 0.0
        np.testing.assert_allclose(gain, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("baseline", "alpha", "problem"),
    [
        ("bsae", 1, r"baseline = 'bsae' is not a system.*Did you mean 'base'"),
        ("base", -1, r"alpha = -1 is not a number from 0"),
        ("base", math.inf, r"alpha = inf is not a number from 0"),
        ("base", "1", r"alpha = '1' is not a number from 0"),
    ],
)
def test_risk__refuses_unknown_baseline_and_negative_alpha(baseline, alpha, problem: str):
    with pytest.raises(UsageError, match=problem):
        risk(Matrix([[1.0, 0.5]], ("q",), ("base", "other")), baseline, alpha)
