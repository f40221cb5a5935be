"""Models of users by hand, and the measures that they model, from the one declaration of each."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irmeta
from support.examples import scaled

WORKED = {
    # relevant, not relevant: C(1) = (2/3)^2, C(2) = (3/4)^2, so V = 1, 4/9 and L = 5/9, 4/9 x 7/16
    "INSQ(depth=2)": ([1, 0], Fraction(9, 13)),
    "INSQ(depth=2,quantity=ED)": ([1, 0], Fraction(13, 9)),
    "INSQ(depth=2,quantity=ETU)": ([1, 0], Fraction(3, 4)),
    # V = 1, 1 / log2(3)
    "SDCG@2": ([1, 0], 1 / (1 + 1 / math.log2(3))),
    "SDCG(quantity=ED)@2": ([1, 0], 1 + 1 / math.log2(3)),
    # a gain of 1 is had at rank 2, or patience ends at rank 1
    "BPM@3": ([0, 1, 1], Fraction(1, 2)),
    "BPM(quantity=ED)@3": ([0, 1, 1], Fraction(2)),
    "BPM(quantity=ETU)@3": ([0, 1, 1], Fraction(1)),
    "BPM(quantity=ED)@1": ([0, 1, 1], Fraction(1)),
    # each doc of gain 1 above moves both limits by 1/2: 2.5 at rank 2, 3 at rank 3
    "BPM(T=2,limits=moving,quantity=ED)@2": ([1, 1, 1], Fraction(3)),
    "BPM(T=2,quantity=ED)@2": ([1, 1, 1], Fraction(2)),
    # gains 1/2, 1/2, 0: V = 1, 1/2, 1/4
    "NERR8(max_rel=2)@3": ([1, 1, 0], Fraction(3, 7)),
    "NERR8(max_rel=2,quantity=ED)@3": ([1, 1, 0], Fraction(7, 4)),
    # V = 1, 1/2 x 1/2, 1/2 x 2/3 x 1/4
    "NERR9(max_rel=2)@3": ([1, 1, 0], Fraction(15, 32)),
    "NERR9(max_rel=2,quantity=ED)@3": ([1, 1, 0], Fraction(4, 3)),
    # V = 1, 1/4
    "NERR10(p=0.5,max_rel=2,depth=2)": ([1, 1, 0], Fraction(1, 2)),
    "NERR10(p=0.5,max_rel=2,depth=2,quantity=ED)": ([1, 1, 0], Fraction(5, 4)),
    # V = 1, 1/2 x 4/9
    "NERR11(max_rel=2,depth=2)": ([1, 1, 0], Fraction(1, 2)),
    "NERR11(max_rel=2,depth=2,quantity=ED)": ([1, 1, 0], Fraction(11, 9)),
    "CWL(model=P,K=2)": ([1, 0], Fraction(1, 2)),
    "CWL(p=0.5,depth=2)": ([1, 0], Fraction(2, 3)),
    "CWL(model=RR)": ([0, 1, 1], Fraction(1, 2)),
    # C = (1/3) / (1 + 1/3), 1, 0: V = 1, 1/4, 1/4
    "CWL(model=AP)": ([1, 0, 1], Fraction(5, 6)),
    "CWL(model=AP,quantity=ED)": ([1, 0, 1], Fraction(3, 2)),
    # precision 1 at the relevant doc retrieved, of one and of two
    "YAAP": ([1, 0], math.log(2)),
    "YAAP(rel=2)": ([2, 0, 2], math.log((1 + 5 / 3) / (1 + 2 - 5 / 3))),
    # relevant, not, relevant: one of two pairs in order
    "Accuracy": ([1, 0, 1], Fraction(1, 2)),
    "Accuracy@2": ([1, 0, 1], Fraction(1)),
}
"""A list of grades, all judged, and the value."""


def values_of(grades: list[int], names: list[str]) -> list[float]:
    """Return values of a list whose docs are all judged."""
    ranks = np.arange(1, len(grades) + 1)[:, None]
    order = np.argsort(-np.array(grades), kind="stable")
    view = irmeta.JudgedRanks.from_arrays(ranks[order], np.array(grades)[order])
    return irmeta.scores_of(view, names).values[:, 0, 0].tolist()


@pytest.mark.parametrize("name", WORKED)
def test_user_models__worked_by_hand(name: str):
    grades, expected = WORKED[name]
    assert values_of(grades, [name]) == pytest.approx([float(expected)], abs=1e-14)


@settings(max_examples=scaled(50))
@given(st.lists(st.integers(0, 1), min_size=1, max_size=8).filter(any), st.integers(1, 8))
def test_user_models__equal_the_measures_of_their_users(grades: list[int], k: int):
    """AP has the relevant docs of the list alone, and all are in the list here."""
    alike = {
        f"CWL(model=P,K={k})": f"P@{k}",
        "CWL(p=0.7)": "RBP(p=0.7)",
        "CWL(model=RR)": "RR",
        "CWL(model=AP)": "AP",
    }
    found = dict(
        zip([*alike, *alike.values()], values_of(grades, [*alike, *alike.values()]), strict=True)
    )
    for name, other in alike.items():
        assert found[name] == pytest.approx(found[other], abs=1e-9), name


@settings(max_examples=scaled(50))
@given(st.lists(st.integers(0, 4), min_size=1, max_size=8))
def test_nerr8__probabilities_of_reading_give_err(grades: list[int]):
    """ERR sums V(i) times the gain over i, where C(i) = 1 - gain; ED at k sums V(i) for i <= k."""
    if 4 not in grades:
        grades = [*grades, 4]
    ranks = range(1, len(grades) + 1)
    names = [f"NERR8(quantity=ED)@{k}" for k in ranks]
    read, err = values_of(grades, [*names, f"ERR(stop=linear)@{len(grades)}"])[:-1], 0.0
    for i, (above, down) in enumerate(pairwise([0.0, *read]), 1):
        err += (down - above) * grades[i - 1] / 4 / i
    assert err == pytest.approx(values_of(grades, [f"ERR(stop=linear)@{len(grades)}"])[0])
