"""Decisiveness and biases of judges: worked examples, and naive twins."""

from __future__ import annotations

import math

import numpy as np
import pytest

from irmeta.stats import judged_orders as orders
from irmeta.stats.judged_orders import SHAPES, decisiveness
from twins import judges as twin

SEED = np.random.SeedSequence(0)


def won(wins: list[int], queries: int) -> np.ndarray:
    """Return values of two systems, of which the first wins some queries and ties none."""
    first = np.arange(queries) < wins[0]
    return np.column_stack([first, ~first]).astype(float)


def fitted(reference: np.ndarray, judge: np.ndarray, draws: int = 20):
    return decisiveness(reference, judge, orders.drawn_queries(len(reference), draws, SEED))


def test_decisiveness__worked_examples():
    same = fitted(won([3], 4), won([3], 4))
    assert same.shape == pytest.approx(1, abs=1e-6)
    assert same.biases[0] == pytest.approx([0, 0], abs=1e-9)
    # the distribution function of Beta(2, 2) is 3 w^2 - 2 w^3: 27/32 at 3/4
    twice = fitted(won([24], 32), won([27], 32))
    assert twice.shape == pytest.approx(2, abs=1e-6)
    # and that of Beta(1/2, 1/2) is 2/pi asin(sqrt(w)): 2/3 at 3/4
    half = fitted(won([9], 12), won([8], 12))
    assert half.shape == pytest.approx(0.5, abs=1e-6)
    always = fitted(won([3], 4), won([4], 4))
    assert 50 < always.shape <= SHAPES[1]


def test_decisiveness__of_equal_systems_and_few_queries():
    flat = fitted(np.ones((3, 2)), np.ones((3, 2)))
    assert flat.biases[0] == pytest.approx([0, 0])
    one = fitted(won([1], 1), won([1], 1))
    assert math.isnan(one.low)
    assert np.isnan(one.biases[1:]).all()


def test_decisiveness__equals_twin_and_values_within_a_unit_tie():
    rng = np.random.default_rng(3)
    quality = np.linspace(0, 1, 5)
    reference, judge = (
        (quality * scale + rng.normal(size=(15, 5)).round(2)) for scale in (1.0, 2.0)
    )
    fit = fitted(reference, judge)
    shape, biases = twin.decisiveness(reference.tolist(), judge.tolist())
    assert fit.shape == pytest.approx(shape, rel=1e-3)
    assert fit.biases[0] == pytest.approx(biases, abs=1e-3)
    assert fit.spread == pytest.approx(np.std(biases), abs=1e-3)
    assert fit.low < fit.shape < fit.high
    assert (fit.biases[1] <= fit.biases[0]).all()
    near = decisiveness(won([3], 4), won([3], 4) * 1e-4, orders.whole(4), (1e-12, 1e-4))
    assert near.biases[0] == pytest.approx([0, 0], abs=0.3)
    assert near.shape == pytest.approx(SHAPES[0], rel=1e-2)  # all win rates are 1/2


def test_decisiveness__finds_the_system_that_a_judge_raises():
    rng = np.random.default_rng(0)
    reference = rng.normal(size=(40, 6)) + np.linspace(0, 1, 6)
    raised = reference + 0.2 * rng.normal(size=(40, 6))
    raised[:, 2] += 1.5
    fit = fitted(reference, raised, draws=100)
    assert fit.biases[0].argmax() == 2
    assert fit.biases[1, 2] > 0.1  # the lower limit
    assert fit.spread > 3 * fitted(reference, reference, draws=2).spread
