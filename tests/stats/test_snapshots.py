"""Snapshots of a collection: changes against Welch's and paired tests, drift, effects."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import irmeta
from irmeta.errors import UsageError
from irmeta.stats.datasets import _exchanged as exchanged
from irmeta.stats.datasets import change_of_mean

SYSTEMS = tuple("abcde")


def named(values: np.ndarray, first: int = 0) -> dict[str, float]:
    return {f"q{first + i}": v for i, v in enumerate(values.tolist())}


def snapshots(drift: float, shared: int = 10, seed: int = 1) -> list[irmeta.Matrix]:
    """Return two snapshots of 30 queries; the order of systems turns by a share."""
    rng = np.random.default_rng(seed)
    gains = np.linspace(0, 0.3, len(SYSTEMS))
    gains = [gains, (1 - drift) * gains + drift * gains[::-1]]
    of_query = rng.normal(0.4, 0.1, (60 - shared, 1))
    return [
        irmeta.Matrix(
            of_query[place * (30 - shared) :][:30] + gain + rng.normal(0, 0.1, (30, len(SYSTEMS))),
            tuple(f"q{place * (30 - shared) + i}" for i in range(30)),
            SYSTEMS,
            "AP",
            f"t{place}",
        )
        for place, gain in enumerate(gains)
    ]


def test_change_of_mean__of_other_queries_is_welchs_test():
    rng = np.random.default_rng(0)
    before, after = rng.normal(size=12), rng.normal(size=17) * 2 + 0.5
    found = change_of_mean(named(before), named(after, first=50))
    expected = stats.ttest_ind(after, before, equal_var=False)
    assert (found.p, found.freedom) == pytest.approx((expected.pvalue, expected.df))
    interval = expected.confidence_interval(0.9)
    assert found.limits(0.9) == pytest.approx((interval.low, interval.high))


def test_change_of_mean__of_the_same_queries_is_the_paired_test():
    rng = np.random.default_rng(0)
    before = rng.normal(size=12)
    after = before + rng.normal(size=12) * 0.3
    found = change_of_mean(named(before), named(after))
    assert found.p == pytest.approx(stats.ttest_rel(after, before).pvalue)
    assert found.freedom == pytest.approx(11)


def test_change_of_mean__keeps_its_level_with_some_shared_queries():
    rng, rejected = np.random.default_rng(5), 0
    for _ in range(1500):
        of_query = rng.normal(size=48)
        before = of_query[:30] + rng.normal(size=30) * 0.5
        after = of_query[18:] + rng.normal(size=30) * 0.5
        rejected += change_of_mean(named(before), named(after, first=18)).p <= 0.05
    assert rejected / 1500 == pytest.approx(0.05, abs=0.015)


def test_change_of_mean__is_undefined_for_one_query_and_without_spread():
    assert math.isnan(change_of_mean({"q": 0.5}, {"q": 0.7}).p)
    flat = change_of_mean({"q1": 0.5, "q2": 0.5}, {"q3": 0.5, "q4": 0.5})
    assert (flat.change, flat.p) == (0.0, 1.0)
    assert math.isnan(change_of_mean({"q1": 0.5, "q2": 0.5}, {"q3": 0.6, "q4": 0.6}).p)


def test_change_of_mean__of_shared_queries_that_change_alike_has_no_error():
    before = named(np.random.default_rng(0).random(20))
    same = change_of_mean(before, dict(before))
    assert (same.error, same.p) == (0.0, 1.0)
    moved = change_of_mean(before, {query: value + 0.1 for query, value in before.items()})
    assert moved.error == 0.0
    assert math.isnan(moved.p)


def test_drift__is_undefined_where_no_query_has_a_value_of_each_system():
    first, second = snapshots(0.0)
    second.values[::2, 0] = second.values[1::2, 1] = np.nan
    compared = irmeta.over_tracks([first, second], snapshots=True, resamples=50)
    assert compared.drift.select("tau_b", "p").row(0) == pytest.approx((np.nan,) * 2, nan_ok=True)
    assert "the order cannot be compared" in str(compared)


def test_exchanged__queries_are_all_of_both_snapshots():
    """Whichever snapshot a query is drawn to, values of all queries add up to the same sums."""
    rng = np.random.default_rng(3)
    before, after = (
        {f"q{q}": rng.normal(size=4) for q in range(first, first + 7)} for first in (0, 5)
    )
    x, y = exchanged(before, after, 40, rng)
    total = sum(before.values()) + sum(after.values())
    assert 7 * x + 7 * y == pytest.approx(np.broadcast_to(total, (40, 4)))
    assert len(np.unique(x.round(9), axis=0)) > 20


def test_drift__is_seen_where_the_order_turns_and_not_where_it_stays():
    turned = irmeta.over_tracks(snapshots(1.0), snapshots=True, resamples=300)
    assert turned.drift["p"].item() < 0.05
    assert "has drifted since t0" in str(turned)
    stays = [
        irmeta.over_tracks(snapshots(0.0, seed=s), snapshots=True, resamples=99).drift["p"].item()
        for s in range(40)
    ]
    assert np.mean(np.array(stays) <= 0.05) <= 0.1


def test_effects__equal_those_of_reruns():
    before, after = snapshots(0.3, shared=0)
    compared = irmeta.over_tracks([before, after], snapshots=True, pivot="a", resamples=200)
    rows = {row["system"]: row for row in compared.changes.iter_rows(named=True)}
    for system in SYSTEMS[1:]:
        pairs = [m.only_systems(["a", system]).values for m in (before, after)]
        expected = (
            irmeta.stats.effect_ratio(*pairs),
            irmeta.stats.delta_relative_improvement(*pairs),
        )
        assert (rows[system]["effect_ratio"], rows[system]["delta_ri"]) == pytest.approx(expected)
        low, high = rows[system]["effect_ratio_low"], rows[system]["effect_ratio_high"]
        assert low < rows[system]["effect_ratio"] < high
    assert rows["a"]["effect_ratio"] is None
    assert rows["b"]["shared"] == 0


def test_changes__need_queries_and_a_known_pivot():
    with pytest.raises(UsageError, match="no system 'z' to pivot on"):
        irmeta.over_tracks(snapshots(0), snapshots=True, pivot="z")
    with pytest.raises(UsageError, match="use `snapshots`, too"):
        irmeta.over_tracks(snapshots(0), pivot="a")
    means = [m.only_queries(np.array([0])) for m in snapshots(0)]
    with pytest.raises(UsageError, match="need values per query"):
        irmeta.over_tracks(means, snapshots=True)


def test_command__prints_changes(made_store: irmeta.Store, run):
    tracks = ("--track", "news", "--track", "web", "--missing", "zero", "--resamples", "50")
    ran = run(
        "over-tracks", made_store.path, "-m", "AP", *tracks, "--snapshots", "--format", "json"
    )
    assert ran.status == 0, ran.err
    assert '"drift"' in ran.out
