"""Rules that end judging, by hand, and the choice of a rule on other tracks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irmeta
from irmeta.api.stop_rules import (
    Stop,
    after_nonrelevant,
    at_knee,
    at_target,
    chosen_rule,
    run_name,
    stop_rows,
)

LABELS = st.lists(st.integers(0, 1), max_size=40).map(lambda labels: np.array(labels, np.int64))


@given(LABELS, st.integers(1, 6))
def test_after_nonrelevant__equals_a_walk(labels: np.ndarray, number: int):
    streak = judged = relevant = 0
    for label in labels.tolist():
        streak = 0 if label else streak + 1
        judged, relevant = judged + 1, relevant + label
        if streak == number:
            break
    assert after_nonrelevant(labels, number) == Stop(judged, relevant)


def test_at_knee__by_hand():
    labels = np.array([1] * 10 + [0] * 4000, np.int64)
    # R = 10: the ratio (10/10) / (1 / (s - 10)) is 146 from 156 docs on, and from 1,000 docs on.
    sizes, batch = [1], 1
    while sizes[-1] < 2000:
        batch += -(-batch // 10)
        sizes.append(sizes[-1] + batch)
    assert at_knee(labels, least=1).judged == next(size for size in sizes if size >= 156)
    assert at_knee(labels).judged == next(size for size in sizes if size >= 1000)
    assert at_knee(labels[:900]) == Stop(900, 10)  # too few docs
    assert at_knee(np.zeros(1500, np.int64)) == Stop(1500, 0)


def test_at_target__judges_the_sample_and_all_docs_before_its_last_relevant_one():
    labels = np.array([1, 0, 1, 0, 0, 1, 0, 1], np.int64)
    random_order = np.array([6, 5, 2, 0, 1, 3, 4, 7])
    # The sample 6, 5, 2 holds two relevant docs, 5 and 2: docs 0 to 5 are judged, and 6.
    assert at_target(labels, random_order, 2) == Stop(7, 3)
    assert at_target(labels, random_order, 5) == Stop(8, 4)


def test_chosen_rule__is_chosen_without_the_track_that_it_is_judged_on():
    def track(*least: int) -> dict[str, np.ndarray]:
        """Queries that need so many non-relevant docs."""
        rules = ["knee", "target 10", *map(run_name, (10, 20, 30, 40, 50, 75, 100, 150, 200, 300))]
        numbers = [0, 0, 10, 20, 30, 40, 50, 75, 100, 150, 200, 300]
        rules, numbers = [*rules, run_name(500)], [*numbers, 500]
        return {
            rule: np.array([[(1.0 if number >= need else 0.5, 0.3) for need in least]])
            for rule, number in zip(rules, numbers, strict=True)
        }

    easy, hard = track(10, 10, 10), track(100, 100, 10)
    assert chosen_rule([easy], 0.8) == "10 non-relevant"
    assert chosen_rule([hard], 0.8) == "100 non-relevant"
    rows = [row for row in stop_rows({"easy": easy, "hard": hard}, 0.8) if "chosen_on" in row]
    assert [(row["track"], row["rule"], row["chosen_on"]) for row in rows] == [
        ("easy", "chosen: 100 non-relevant", "hard"),
        ("hard", "chosen: 10 non-relevant", "easy"),
    ]
    assert [row["erred"] for row in rows] == pytest.approx([0, 2 / 3])
    low, high = rows[1]["low"], rows[1]["high"]  # of 2 of 3, by statsmodels
    assert (low, high) == pytest.approx((0.20765, 0.93851), abs=1e-5)


def test_budget__has_stop_rules_of_several_tracks(made_store: irmeta.Store):
    asked = {"order": ["rbp"], "budget": 100, "stops": 0.8}
    budgets = made_store.pools.budget(track=["news", "web"], **asked)
    assert budgets.stops["rule"].str.starts_with("chosen").sum() == 2
    assert budgets.stops.select("erred", "recall", "judged").to_numpy().min() >= 0
    assert "Rules that end judging, for 80 % of the relevant docs" in str(budgets)
    single = made_store.pools.budget(track="news", **asked).stops
    assert single["rule"].to_list() == ["50 non-relevant", "knee", "target 10"]
