"""The loss of a judge's order beside people on other queries, on data of known truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from irmeta.stats.judged_orders import (
    ANGLES,
    TAILS,
    OrderLoss,
    drawn_queries,
    half_weights,
    many_query_tau,
    order_loss,
    resampled_halves,
    split_taus,
)
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


def biased(tau: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return true means by the reference, and by a judge whose bias gives about this tau-b."""
    means, bias = SPREAD * rng.normal(size=(2, SYSTEMS))
    sizes = np.linspace(0, 3, 600)[:, None] * (tau < 1)
    taus = kendall_tau_b(np.repeat(means[None], 600, axis=0), means + sizes * bias, True)
    return means, means + sizes[np.abs(taus - tau).argmin()] * bias


def covers(tau: float, queries: int, judges: int) -> tuple[float, float]:
    """Return the share of simulated judges whose interval covers, and its mean width."""
    rng = np.random.default_rng((queries, int(1000 * tau)))
    weights = drawn_queries(queries, 200, np.random.SeedSequence(5))
    covered, widths = 0, []
    for _ in range(judges):
        means, judged = biased(tau, rng)
        truth = kendall_tau_b(means[None], judged[None], True)[0]
        found = many_query_tau(*draw(means, judged, queries, rng), weights)
        covered += found.low - 1e-9 <= truth <= found.high + 1e-9
        widths.append(found.high - found.low)
        assert found.low <= found.value <= found.high
    return covered / judges, float(np.mean(widths))


@pytest.mark.exhaustive
@pytest.mark.parametrize("queries", [25, 53])
@pytest.mark.parametrize(("tau", "width"), [(1.0, 0.13), (0.835, 0.17), (0.6, 0.13)])
def test_many_query_tau__covers_true_judges(tau: float, queries: int, width: float):
    share, mean_width = covers(tau, queries, 300)
    assert share >= 0.9
    assert mean_width < width


def test_many_query_tau__covers_an_unbiased_judge_that_the_plain_interval_misses():
    rng = np.random.default_rng(4)
    weights = drawn_queries(25, 100, np.random.SeedSequence(5))
    above = 0
    for _ in range(10):
        means = SPREAD * rng.normal(size=SYSTEMS)
        values = draw(means, means, 25, rng)
        found = many_query_tau(*values, weights)
        above += found.high > 0.99
        plain = kendall_tau_b(*(one.mean(axis=0)[None] for one in values), True)[0]
        assert plain < 0.95
        assert found.value > plain
    assert above >= 9


@pytest.mark.parametrize("seed", range(3))
def test_many_query_tau__equals_its_definition_step_by_step(seed: int):
    rng = np.random.default_rng(seed)
    means = rng.random(7)
    values = means + 0.4 * rng.random((6, 7)), means + rng.random((6, 7))
    weights = drawn_queries(6, 20, np.random.SeedSequence(seed))
    found = many_query_tau(*values, weights)
    expected = naive_many_query_tau(*(one.tolist() for one in values), weights.tolist())
    assert found == pytest.approx(expected, abs=1e-9)


def naive_many_query_tau(
    reference: list[list[float]], judge: list[list[float]], draws: list[list[float]]
) -> tuple[float, float, float]:
    """Follow the definition with plain lists."""
    queries, systems = len(reference), len(reference[0])
    centred, length, errors = [], [], []
    for values in (reference, judge):
        of_system = [sum(row[s] for row in values) / queries for s in range(systems)]
        middle = sum(of_system) / systems
        one = [mean - middle for mean in of_system]
        noise = sum(
            (values[q][s] - sum(values[q]) / systems - of_system[s] + middle) ** 2
            for q in range(queries)
            for s in range(systems)
        ) / ((queries - 1) * (systems - 1) * queries)
        variance = sum(x * x for x in one) / (systems - 1)
        length.append(math.sqrt(max(0.0, variance - noise) * (systems - 1)))
        centred.append(one)
        errors.append(
            [
                [
                    math.sqrt(queries / (queries - 1))
                    * sum(w * (values[q][s] - of_system[s]) for q, w in enumerate(draw))
                    for s in range(systems)
                ]
                for draw in draws
            ]
        )
    norm = math.sqrt(sum(x * x for x in centred[0]))
    along = [x / norm for x in centred[0]]
    share = sum(x * y for x, y in zip(centred[1], along, strict=True))
    across = [y - share * x for x, y in zip(along, centred[1], strict=True)]
    norm = math.sqrt(sum(x * x for x in across))
    across = [x / norm for x in across]
    path, curves = [], []
    for step in range(ANGLES):
        angle = math.pi * step / (ANGLES - 1)
        true = [length[0] * x for x in along]
        judged = [
            length[1] * (math.cos(angle) * x + math.sin(angle) * y)
            for x, y in zip(along, across, strict=True)
        ]
        path.append(naive_tau(true, judged))
        taus = sorted(
            naive_tau(
                [x + e for x, e in zip(true, mine, strict=True)],
                [x + e for x, e in zip(judged, other, strict=True)],
            )
            for mine, other in zip(*errors, strict=True)
        )
        curves.append([quantile(taus, at) for at in (1 - TAILS, 0.5, TAILS)])
    for step in range(1, ANGLES):
        path[step] = min(path[step], path[step - 1])
        curves[step] = [min(a, b) for a, b in zip(curves[step], curves[step - 1], strict=True)]
    observed = naive_tau(centred[0], centred[1])
    low, value, high = (at_value(observed, [row[i] for row in curves], path) for i in range(3))
    return value, low, high


def quantile(ordered: list[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def at_value(value: float, curve: list[float], path: list[float]) -> float:
    """Return the path where a falling curve passes a value."""
    return float(np.interp(-value, [-one for one in curve], path))


def test_many_query_tau__undefined_or_certain():
    rng = np.random.default_rng(0)
    weights = drawn_queries(6, 50, np.random.SeedSequence(0))
    values = rng.random(8) + 0.1 * rng.random((6, 8))
    assert many_query_tau(values, values, weights) == (1.0, 1.0, 1.0)
    assert many_query_tau(values, 1 - values, weights) == pytest.approx((-1.0, -1.0, -1.0))
    for one, draws in (
        (values[:4], drawn_queries(4, 50, np.random.SeedSequence(0))),
        (values[:, :4], weights),
        (np.zeros((6, 8)), weights),
    ):
        assert np.isnan(many_query_tau(one, one, draws)).all()
