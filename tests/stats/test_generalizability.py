"""Variance components of systems, queries and interaction, and what they say of more queries."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import irmeta
from irmeta.results.matrix import read_matrices
from irmeta.stats import GStudy, d_study, g_study, queries_for
from support.judged import numbered_matrix
from twins import generalizability as twin

# Brennan (2001), Generalizability Theory, Table 3.2: synthetic data set 4, as p x i design, which
# the tests of gt4ireval take; persons are systems, items are queries.
BRENNAN = np.array(
    [
        [5, 6, 5, 5, 5, 3, 4, 5, 6, 7, 3, 3],
        [9, 3, 7, 7, 7, 5, 5, 5, 7, 7, 5, 2],
        [3, 4, 3, 3, 5, 3, 3, 5, 6, 5, 1, 6],
        [7, 5, 5, 3, 3, 1, 4, 3, 5, 3, 3, 5],
        [9, 2, 9, 7, 7, 7, 3, 7, 2, 7, 5, 3],
        [3, 4, 3, 5, 3, 3, 6, 3, 4, 5, 1, 2],
        [7, 3, 7, 7, 7, 5, 5, 7, 5, 5, 5, 4],
        [5, 8, 5, 7, 7, 5, 5, 4, 3, 2, 1, 1],
        [9, 9, 8, 8, 6, 6, 6, 5, 5, 8, 1, 1],
        [4, 4, 4, 3, 3, 5, 6, 5, 5, 7, 1, 1],
    ],
    float,
).T


def test_g_study__worked_example_of_brennan():
    """Tables 6.2 and 6.5: components, mean squares, and coefficients with 80 % intervals."""
    found = g_study(numbered_matrix(BRENNAN))
    assert (found.systems, found.queries) == (10, 12)
    components = found.system, found.query, found.interaction
    assert components == pytest.approx((0.6258, 0.8840, 2.7872), abs=5e-5)
    assert found.frame()["mean_square"].to_list() == pytest.approx(
        [10.2963, 11.6273, 2.7872], abs=5e-5
    )
    assert found.frame()["share"].sum() == pytest.approx(1)
    row = d_study(found, confidence=0.8).row(0, named=True)
    expected = {"e_rho2": 0.729, "e_rho2_low": 0.541, "e_rho2_high": 0.876}
    expected |= {"phi": 0.672, "phi_low": 0.457, "phi_high": 0.845, "queries": 12}
    assert row == pytest.approx(expected, abs=1e-3)


# Summary that gt4ireval prints of the 30 best systems of TREC-3 ad hoc.
TREC_3 = GStudy("AP", "trec-3", 30, 50, 0.0028117, 0.028093, 0.010152, 0.15074, 0.85296, 0.010152)


def test_d_study__printed_example_of_gt4ireval():
    found = d_study(TREC_3, [50, 100, 150]).drop("queries").rows()
    expected = [
        (0.93265, 0.89311, 0.96287, 0.78613, 0.66141, 0.88039),
        (0.96515, 0.94354, 0.98109, 0.88026, 0.79621, 0.93639),
        (0.97649, 0.96164, 0.98731, 0.91686, 0.85423, 0.95668),
    ]
    assert found == [pytest.approx(row, abs=3e-5) for row in expected]
    numbers = queries_for(TREC_3).select("queries", "low", "high").rows()
    assert numbers == [(69, 37, 114), (259, 130, 487)]


@given(
    arrays.arrays(
        float,
        st.tuples(st.integers(2, 6), st.integers(2, 5)),
        elements=st.sampled_from([0.0, 0.25, 0.5, 0.625, 1.0]),
    ),
    st.integers(1, 60),
)
def test_g_study__equals_twin(values: np.ndarray, number: int):
    found, rows = g_study(numbered_matrix(values)), values.tolist()
    components = found.system, found.query, found.interaction
    assert components == pytest.approx(twin.components(rows), abs=1e-12)
    row = d_study(found, [number], confidence=0.9).row(0, named=True)
    if found.interaction > 0 and found.mean_square_system > 0:
        sides = ((0.95, "low"), (0.05, "high"))
        expected = dict(zip(("e_rho2", "phi"), twin.coefficients(rows, number), strict=True))
        expected |= {f"e_rho2_{side}": twin.e_rho2_limit(rows, number, q) for q, side in sides}
        expected |= {f"phi_{side}": twin.phi_limit(rows, number, q) for q, side in sides}
        assert row == pytest.approx(expected | {"queries": number}, abs=1e-9)
        if expected["phi"] > 1e-9:
            needed = queries_for(found, expected["phi"] * 0.999)["queries"].to_list()
            assert needed[0] <= needed[1] <= number


def test_g_study__nothing_varies_or_too_little():
    constant = g_study(numbered_matrix(np.full((4, 3), 0.1)))
    assert (constant.system, constant.query, constant.interaction) == (0, 0, 0)
    assert math.isnan(d_study(constant)["e_rho2"][0])
    assert queries_for(constant)["queries"].to_list() == [None, None]
    for shape in ((1, 3), (4, 1)):
        few = g_study(numbered_matrix(np.ones(shape)))
        assert math.isnan(few.system)
        assert math.isnan(d_study(few, [3])["phi"][0])
        assert queries_for(few)["low"].to_list() == [None, None]
    alike = np.linspace(0, 1, 5)[:, None] + np.array([0.1, 0.3])  # no interaction
    exact = g_study(numbered_matrix(alike))
    assert exact.interaction == 0
    assert d_study(exact)["e_rho2"][0] == 1
    assert math.isnan(d_study(exact)["e_rho2_low"][0])


def test_g_study__queries_with_undefined_values_are_excluded():
    values = BRENNAN.copy()
    values[2, 3] = math.nan
    rest = np.delete(BRENNAN, 2, axis=0)
    assert g_study(numbered_matrix(values)) == g_study(numbered_matrix(rest))


def test_d_study__wrong_arguments():
    with pytest.raises(irmeta.UsageError, match="queries"):
        d_study(TREC_3, [0])
    with pytest.raises(irmeta.UsageError, match="confidence"):
        d_study(TREC_3, confidence=95)
    with pytest.raises(irmeta.UsageError, match="reliability"):
        queries_for(TREC_3, 1)


@pytest.mark.real
def test_g_study__of_real_tracks(shared: Path):
    """AP of TREC-8 and TREC-5, each with 50 queries: queries vary more than systems."""
    for name in ("adhoc8_ap", "adhoc5_ap"):
        (matrix,) = read_matrices(shared / "score-matrices" / f"{name}.csv")
        found = g_study(matrix)
        rows = matrix.complete().values.tolist()
        assert (found.system, found.query, found.interaction) == pytest.approx(
            twin.components(rows)
        )
        row = d_study(found).row(0, named=True)
        assert row["e_rho2_low"] < row["e_rho2"] < row["e_rho2_high"]
        assert row["phi_low"] < row["phi"] < row["phi_high"] < row["e_rho2_high"]
        assert found.query > found.system
