"""Random-effects means over tracks, and exact intervals of shares of votes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.meta_analysis import combine_effects

from irmeta.errors import UsageError
from irmeta.stats.random_effects import FEWEST, random_effects, share_interval
from twins import claims as naive

TREATED = np.array(
    [
        *((4, 119), (6, 300), (3, 228), (62, 13536), (33, 5036), (180, 1361), (8, 2537)),
        *((505, 87886), (29, 7470), (17, 1699), (186, 50448), (5, 2493), (27, 16886)),
    ]
)
OTHERS = np.array(
    [
        *((11, 128), (29, 274), (11, 209), (248, 12619), (47, 5761), (372, 1079), (10, 619)),
        *((499, 87892), (45, 7232), (65, 1600), (141, 27197), (3, 2338), (29, 17825)),
    ]
)
"""Cases and others of 13 trials of a vaccine against tuberculosis (Colditz et al. 1994)."""
NUMBERS = st.lists(
    st.tuples(st.floats(-3, 3).map(lambda x: round(x, 3)), st.floats(0.01, 1)),
    min_size=FEWEST, max_size=15,
)  # fmt: skip


def vaccine() -> tuple[np.ndarray, np.ndarray]:
    """Return the log relative risks of the trials, and their standard errors."""
    (a, b), (c, d) = TREATED.T, OTHERS.T
    risk = np.log(a / (a + b)) - np.log(c / (c + d))
    return risk, np.sqrt(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d))


def test_random_effects__published_trials():
    """As metafor prints for them: Paule-Mandel .3181, mean -.7150, and statsmodels."""
    numbers, errors = vaccine()
    pooled = random_effects(numbers, errors)
    assert round(pooled.variance, 4) == 0.3181
    assert round(pooled.mean, 4) == -0.7150
    other = combine_effects(numbers, errors**2, method_re="iterated", use_t=True)
    assert (pooled.mean, pooled.variance) == pytest.approx((other.mean_effect_re, other.tau2))
    half = 2.178812829667229 * other.sd_eff_w_re_hksj  # t of 12
    assert (pooled.low, pooled.high) == pytest.approx((other.mean_effect_re - half,
                                                       other.mean_effect_re + half))  # fmt: skip


@given(NUMBERS)
def test_random_effects__equals_twin(tracks: list[tuple[float, float]]):
    numbers, errors = np.array(tracks).T
    found, expected = random_effects(numbers, errors), naive.random_effects(tracks)
    assert tuple(found) == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert found.next_low <= found.low <= found.mean <= found.high <= found.next_high


def test_random_effects__numbers_without_errors():
    assert random_effects(np.full(5, 2.0), np.zeros(5)) == (2.0, 2.0, 2.0, 2.0, 2.0, 0.0)
    numbers = np.arange(6.0)
    found = random_effects(numbers, np.zeros(6))
    assert found.mean == pytest.approx(2.5)
    assert found.variance == pytest.approx(numbers.var(ddof=1), rel=1e-6)


@pytest.mark.parametrize(
    ("numbers", "errors"),
    [([1.0] * 4, [1.0] * 4), ([1.0] * 5, [1.0] * 4), ([np.nan] * 5, [1.0] * 5),
     ([1.0] * 5, [-1.0] * 5)],
)  # fmt: skip
def test_random_effects__few_or_undefined_numbers_are_refused(numbers, errors):
    with pytest.raises(UsageError, match="a random-effects mean needs"):
        random_effects(np.array(numbers), np.array(errors))


@given(st.integers(1, 80).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_share_interval__equals_scipy(votes: tuple[int, int]):
    holding, number = votes
    exact = binomtest(holding, number).proportion_ci(method="exact")
    assert share_interval(holding, number) == pytest.approx((exact.low, exact.high), abs=1e-9)


@pytest.mark.parametrize(("holding", "number"), [(0, 0), (3, 2), (-1, 2)])
def test_share_interval__no_votes_are_refused(holding: int, number: int):
    with pytest.raises(UsageError, match="is no number of"):
        share_interval(holding, number)
