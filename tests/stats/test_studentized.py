"""Studentized range distribution: scipy, Student's t and published tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtr
from scipy.stats import studentized_range

from irmeta.stats import hsd
from irmeta.stats.hsd import range_sf, studentized_range_isf, studentized_range_sf

pytestmark = pytest.mark.exhaustive

SHAPES = [(2, 7), (3, 2), (3, 10), (6, 35), (10, 5), (60, 2891), (129, 6272), (2000, 97951)]


@pytest.mark.parametrize(("k", "df"), SHAPES)
def test_studentized_range_sf__equals_scipy(k: int, df: int):
    q = np.array([0.0, 0.3, 1.0, 2.5, 4.0, 5.5, 7.0, 9.0, 12.0])
    np.testing.assert_allclose(
        studentized_range_sf(q, k, df), studentized_range.sf(q, k, df), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("df", [1, 2, 5, 98, 2891, 100_000])
def test_studentized_range_sf__equals_students_t_for_two_means(df: int):
    """Q of two means is sqrt(2) |t|, also in the far tail."""
    q = np.array([1e-3, 0.5, 2.0, 5.0, 10.0, 20.0, 30.0])
    np.testing.assert_allclose(
        studentized_range_sf(q, 2, df), 2 * stdtr(df, -q / np.sqrt(2)), rtol=1e-11, atol=0
    )


@pytest.mark.parametrize(("k", "df", "p", "q"), [(3, 10, 0.05, 3.88), (5, 20, 0.01, 5.29)])
def test_studentized_range_isf__equals_published_tables(k: int, df: int, p: float, q: float):
    assert studentized_range_isf(p, k, df) == pytest.approx(q, abs=5e-3)


@pytest.mark.parametrize(("k", "df"), SHAPES)
def test_studentized_range_isf__inverse_of_the_survival_function(k: int, df: int):
    for p in (0.5, 0.05, 1e-6):
        q = np.array([studentized_range_isf(p, k, df)])
        assert studentized_range_sf(q, k, df)[0] == pytest.approx(p, rel=1e-8)


@pytest.mark.parametrize(("k", "df"), [SHAPES[3], *SHAPES[5:]])
def test_studentized_range_sf__many_values_equal_single_values(k: int, df: int):
    rng = np.random.default_rng(5)
    q = rng.permutation(np.concatenate([rng.uniform(0, 25, 3000), [0.0], rng.uniform(25, 40, 50)]))
    found = studentized_range_sf(q, k, df)
    some = np.flatnonzero(q > 24)[:10].tolist() + list(range(30))
    alone = studentized_range_sf(q[some], k, df)
    np.testing.assert_allclose(found[some], alone, rtol=1e-9, atol=0)
    # Other values of the array change the last digits only.
    np.testing.assert_allclose(studentized_range_sf(q[:2000], k, df), found[:2000], rtol=1e-11)


def test_studentized_range_sf__underflows_to_zero_monotonically():
    q = np.linspace(0, 400, 2000)
    p = studentized_range_sf(q, 129, 1e6)
    assert (p[q > 60] == 0).all()
    assert (np.diff(p) <= 1e-11).all()
    assert 1e-300 < p[np.searchsorted(q, 40.0)] < 1e-150


def test_studentized_range_sf__any_shape_and_special_values(monkeypatch: pytest.MonkeyPatch):
    q = np.array([[np.nan, -1.0, np.inf], [0.0, 3.0, 1e6]])
    expected = np.array([[np.nan, np.nan, 0.0], [1.0, studentized_range.sf(3.0, 6, 35), 0.0]])
    np.testing.assert_allclose(studentized_range_sf(q, 6, 35), expected, rtol=0, atol=1e-12)
    monkeypatch.setattr(hsd, "_BATCH", 50)
    many = np.tile(q, (60, 1))
    found = studentized_range_sf(many, 6, 35)
    np.testing.assert_allclose(found, np.tile(expected, (60, 1)), rtol=0, atol=1e-12)
    assert studentized_range_sf(np.zeros(0), 6, 35).shape == (0,)


def test_range_sf__half_normal_for_two_values_and_extremes():
    """For two values W is sqrt(2) times the absolute value of a standard normal."""
    from scipy.special import ndtr

    w = np.array([0.0, 1.0, 6.0])
    np.testing.assert_allclose(range_sf(w, 2), 2 * ndtr(-w / np.sqrt(2)), rtol=1e-13)
    assert range_sf(np.zeros(1), 500)[0] == pytest.approx(1.0, abs=1e-13)
