"""The loss of a judge's order beside people on other queries, on data of known truth."""

from __future__ import annotations

import numpy as np
import pytest

from irmeta.stats.judged_orders import half_weights
from irmeta.stats.order_loss import OrderLoss, order_loss, resampled_halves, split_taus
from irmeta.stats.orders import kendall_tau_b
from irmeta.stats.resampling import draw_query_sets
from twins.orders import kendall_tau_b as naive_tau

SYSTEMS, SPREAD, NOISE, SHARED = 63, 0.1121, 0.147, 0.7
"""Systems, standard deviations and correlation of errors of TREC 2021 deep learning, nDCG@10."""
MARGIN = 0.05


def draw(means: np.ndarray, judged: np.ndarray, queries: int, rng: np.random.Generator):
    one, other = rng.normal(size=(2, queries, len(means)))
    errors = SHARED * one + np.sqrt(1 - SHARED**2) * other
    return means + NOISE * one, judged + NOISE * errors


def loss_of(values: tuple[np.ndarray, np.ndarray], draws: int, splits: int = 300) -> OrderLoss:
    queries = len(values[0])
    sets = draw_query_sets(queries, queries // 2, 2, splits, np.random.default_rng(0))
    taus = split_taus(*values, half_weights(sets, queries))
    return order_loss(*values, taus, draws, 0)


def at_the_margin(means: np.ndarray, bias: np.ndarray, half: int, rng: np.random.Generator):
    """Return means by a judge that loses the margin in expectation at half of the queries."""
    scale = NOISE / np.sqrt(half)
    one, more, other = scale * rng.normal(size=(3, 2000, len(means)))
    errors = SHARED * one + np.sqrt(1 - SHARED**2) * more
    people = kendall_tau_b(means + one, means + other, True).mean()
    low, high = 0.0, 3.0
    for _ in range(15):
        middle = (low + high) / 2
        tau = kendall_tau_b(means + middle * bias + errors, means + other, True).mean()
        low, high = (middle, high) if tau - people > -MARGIN else (low, middle)
    return means + low * bias


def passed(queries: int, populations: int, tables: int, draws: int) -> float:
    """Return the share of judges at the margin that are said to order as well."""
    rng, found = np.random.default_rng(7), []
    for _ in range(populations):
        means, bias = SPREAD * rng.normal(size=(2, SYSTEMS))
        judged = at_the_margin(means, bias, queries // 2, rng)
        found += [
            loss_of(draw(means, judged, queries, rng), draws).as_people(MARGIN) == "as well"
            for _ in range(tables)
        ]
    return float(np.mean(found))


def test_loss__at_the_margin_passes_rarely():
    assert passed(20, populations=2, tables=20, draws=60) <= 0.15


@pytest.mark.exhaustive
@pytest.mark.parametrize("queries", [20, 53])
def test_loss__at_the_margin_passes_as_often_as_stated(queries: int):
    assert passed(queries, populations=10, tables=40, draws=150) <= 0.07


def test_loss__of_the_reference_itself_is_0_without_error():
    rng = np.random.default_rng(1)
    values, _ = draw(SPREAD * rng.normal(size=10), np.zeros(10), 12, rng)
    assert loss_of((values, values), 20) == (0.0, 0.0, 0.0, 0.0, 0.0)


def test_loss__says_worse_or_nothing_where_the_limits_do_not_decide():
    for low, high, said in ((-0.04, 0.01, "as well"), (-0.06, 0.01, "cannot be said"),
                            (-0.2, -0.06, "worse"), (np.nan, np.nan, None)):  # fmt: skip
        assert OrderLoss(0, 0, low, high, 0).as_people(MARGIN) == said


def test_taus__are_the_mean_of_both_ways():
    rng = np.random.default_rng(2)
    reference, judge = rng.random((2, 6, 5))
    halves = draw_query_sets(6, 3, 2, 4, rng)
    found = split_taus(reference, judge, half_weights(halves, 6))
    for i, (a, b) in enumerate(halves):
        sides = [[v[h].mean(axis=0).tolist() for h in (a, b)] for v in (reference, judge)]
        (ra, rb), (ja, jb) = sides
        assert found.people[i] == pytest.approx(naive_tau(ra, rb))
        assert found.judge[i] == pytest.approx((naive_tau(ja, rb) + naive_tau(jb, ra)) / 2)


def test_resamples__have_no_query_in_both_halves():
    for queries in (2, 3, 9):
        one, other = resampled_halves(queries, 20, np.random.default_rng(0))
        assert not (one * other).any()
        assert np.allclose([one.sum(axis=1), other.sum(axis=1)], 1)
        assert ((one > 0).sum(axis=1) == (other > 0).sum(axis=1)).all()
