"""Naive code of the search-length study, checked by the paper and by hand."""

from __future__ import annotations

import math

import pytest

from support.hand_track import HAND, placed
from twins import atomized as study
from twins import track_means

# The paper's numbers


@pytest.mark.parametrize(
    ("baseline", "contender", "direction", "percent"),
    [
        (0.456, 0.594, 1, 25),
        (14, 5, -1, 69),
        (0.401, 0.543, 1, 24),
        (0.517, 0.706, 1, 39),
        (51, 6, -1, 90),
        (0.400, 0.572, 1, 29),
        (264, 215, -1, 19),
    ],
)
def test_rrie__equals_table_1_of_the_paper(
    baseline: float, contender: float, direction: int, percent: int
):
    assert round(100 * study.rrie(baseline, contender, direction)) == percent


def test_rrie__undefined_for_a_perfect_baseline():
    assert math.isnan(study.rrie(1.0, 0.5, 1))
    assert math.isnan(study.rrie(1.0, 5.0, -1))
    assert math.isnan(study.rrie(0.5, 1.0, -1))  # Eq. 3 of lists without a non-relevant doc
    assert math.isnan(study.rrie(2.0, 0.5, -1))
    assert study.rrie(0.5, 0.25, 1) == -0.5


def test_has_lengths__false_for_lists_of_relevant_docs_only():
    assert track_means.has_lengths(HAND)  # q1 of late and q2 of good of five
    alone = {"good": {"q2": ["c", "d"], "q3": ["x"], "unjudged": ["x"]}}
    assert not track_means.has_lengths({**HAND, "runs": alone})
    assert track_means.has_lengths({**HAND, "runs": alone}, rel=2)
    assert track_means.has_lengths(
        {**HAND, "runs": {**alone, "other": {"q1": ["x"]}}}
    )  # one of two
    assert not track_means.has_lengths(HAND, rel=3)


# By hand


@pytest.mark.parametrize(
    ("choice", "means"),
    [
        ("irrel", {"good": 1.25, "middle": 2.0, "late": 2.75}),
        ("floor", {"good": 1.25, "middle": 2.0, "late": 3.0}),
        ("irrel+1", {"good": 1.25, "middle": 2.5, "late": 3.0}),
        # 5 - retrieved relevant: middle b 4, c 4; late a 4
        ("depth", {"good": 1.25, "middle": 3.25, "late": 3.75}),
    ],
)
def test_asl__unretrieved_choices_by_hand(choice: str, means: dict[str, float]):
    assert track_means.means_of(track_means.per_query(HAND, "ASL", unretrieved=choice)) == means


def test_best_and_median_system__by_hand():
    assert track_means.best_system(HAND, "ASL") == "good"
    assert track_means.median_system(HAND) == "middle"
    # Of late (2.75) and middle (2.0), the better system is the median.
    pair = {s: HAND["runs"][s] for s in ("late", "middle")}
    assert track_means.median_system({**HAND, "runs": pair}) == "middle"
    # middle and its copy tie, so names decide
    copies = {"z": HAND["runs"]["middle"], "k": HAND["runs"]["middle"]}
    assert track_means.best_system({**HAND, "runs": copies}, "ASL") == "k"
    assert track_means.best_system({**HAND, "runs": copies}, "AP") == "k"
    assert track_means.median_system({**HAND, "runs": copies}) == "k"


# Histograms


def test_length_bucket__bounds():
    lengths = [1, 2, 4, 5, 99, 100, 99999, 100000, 10**7]
    assert [study.length_bucket(length) for length in lengths] == [
        (1, 1),
        (2, 4),
        (2, 4),
        (5, 9),
        (50, 99),
        (100, 199),
        (50000, 99999),
        (100000, None),
        (100000, None),
    ]
    assert study.length_bucket(1, retrieved=False) == (None, None)
    assert [study.length_bucket(n, width=50) for n in (1, 50, 51)] == [(1, 50), (1, 50), (51, 100)]
    assert [study.difference_bucket(n, 5) for n in (0, -1, 5, -6)] == [
        *((0, 0), (-5, -1), (1, 5), (-10, -6)),
    ]


def test_difference_bucket__bounds():
    differences = [0, 1, -1, 2, 4, -4, 5, 9, -10, 19, 49, 99, -100, 1999]
    assert [study.difference_bucket(d) for d in differences] == [
        (0, 0),
        (1, 1),
        (-1, -1),
        (2, 4),
        (2, 4),
        (-4, -2),
        (5, 9),
        (5, 9),
        (-19, -10),
        (10, 19),
        (20, 49),
        (50, 99),
        (-199, -100),
        (1000, 1999),
    ]


def buckets(rows: list[study.Row]) -> list[tuple]:
    return [(row["low"], row["high"], row["docs"]) for row in rows]


def test_histograms__by_hand():
    log = {"buckets": "log"}
    assert buckets(study.length_histogram(HAND, **log)) == [(1, 1, 3), (2, 4, 1)]
    assert buckets(study.length_histogram(HAND, "middle", **log)) == [(2, 4, 2), (None, None, 2)]
    assert buckets(study.length_histogram(HAND, "late", **log)) == [(1, 1, 1), (None, None, 3)]
    assert buckets(study.length_histogram(HAND, "middle")) == [
        (2, 2, 1),
        (3, 3, 1),
        (None, None, 2),
    ]
    rows = study.difference_histogram(HAND, **log)
    assert {(row["best"], row["median"]) for row in rows} == {("good", "middle")}
    # a 1 - 3, b 2 - 2, c 1 - 1, d 1 - 2
    assert buckets(rows) == [(-4, -2, 1), (-1, -1, 1), (0, 0, 2)]


# Over tracks


def test_bucket_counts__bounds_and_shares():
    rows = study.bucket_counts([0.0, 0.1 + 0.2, 0.3, 0.95, 1.0], study.P_LOWS, closed=True)
    assert len(rows) == 10
    assert {row["low"]: row["tracks"] for row in rows if row["tracks"]} == {0.0: 1, 0.3: 2, 0.9: 2}
    assert rows[-1] == {"low": 0.9, "high": 1.0, "tracks": 2, "share": 0.4}
    # A mean below an edge by a rounding error counts as at the edge.
    rows = study.bucket_counts([0.3 - 1e-16], study.P_LOWS, closed=True)
    assert [row["tracks"] for row in rows[:4]] == [0, 0, 0, 1]
    rows = study.bucket_counts([1.0, 29.9, 30.0, 10000.0, 1e6], study.ASL_LOWS, closed=False)
    assert {row["low"]: row["tracks"] for row in rows if row["tracks"]} == {
        1: 1,
        20: 1,
        30: 1,
        10000: 2,
    }
    assert rows[-1]["high"] is None
    below = study.bucket_counts([0.5, 1.0], study.ASL_LOWS, closed=False)
    assert len(below) == len(rows) + 1
    assert below[0] == {"low": None, "high": 1, "tracks": 1, "share": 0.5}


def test_distributions_and_classes__by_hand():
    tracks = [
        placed("top", 10, *range(1, 11)),  # P@20 = .5, AP = 1, lengths 1
        placed("six", 6, *range(1, 7)),  # P@20 = .3
        placed("deep", 21, 21),  # P@20 = 0, AP = 1/21, length 21
        placed("edge", 20, 20),  # P@20 = .05, AP = .05, length 20
        {**HAND, "name": "empty", "qrels": {"q1": {"x": 0}}},
    ]
    found = [
        (row["figure"], row["low"], row["tracks"], row["share"])
        for row in study.distributions(tracks)
        if row["tracks"]
    ]
    assert found == [
        ("Figure 1", 0.0, 2, 0.5),
        ("Figure 1", 0.3, 1, 0.25),
        ("Figure 1", 0.5, 1, 0.25),
        ("Figure 2", 1, 2, 0.5),
        ("Figure 2", 20, 2, 0.5),
        ("Figure 3", 0.0, 2, 0.5),
        ("Figure 3", 0.9, 2, 0.5),
        ("Figure 4", 1, 2, 0.5),
        ("Figure 4", 20, 2, 0.5),
        ("Figure 2, unretrieved=depth", 1, 2, 0.5),
        ("Figure 2, unretrieved=depth", 20, 2, 0.5),
        ("Figure 4, unretrieved=depth", 1, 2, 0.5),
        ("Figure 4, unretrieved=depth", 20, 2, 0.5),
    ]
    # The best lengths are 1, 1, 21 and 20, of the first 10 relevant docs as of all of them.
    beyond = {10: 2, 20: 1, 30: 0, 100: 0}
    lengths = ("ASL@g10", "ASL", "ASL(unretrieved=depth)@g10", "ASL(unretrieved=depth)")
    assert [(row["measure"], row["low"], row["tracks"]) for row in study.classes(tracks)] == [
        *(
            (name, bound, beyond[bound])
            for name in lengths
            for bound in (beyond if name.endswith("@g10") else (10, 100))
        ),
        ("AP", 0, 2),
        ("P@20", 0, 2),
        ("P@20", 0.3, 1),
        ("P@20", 0.5, 1),
    ]


def test_distributions_and_classes__zero_without_tracks():
    rows = study.distributions([]) + study.classes([])
    assert {row["tracks"] for row in rows} == {0}
    assert {row["share"] for row in rows} == {0.0}


def test_headroom__by_hand():
    rows = {row["measure"]: row for row in study.headroom(HAND)}
    assert list(rows) == sorted([*study.FIGURES.values(), *study.DEEP.values()])
    # one of three judged queries has no relevant doc: AP is 0 there; late is second by AP
    assert (rows["AP"]["value"], rows["AP"]["median"]) == pytest.approx((11 / 18, 1 / 6))
    assert (rows["ASL"]["value"], rows["ASL"]["median"]) == (1.25, 2.0)
    fixed = {row["measure"]: row for row in study.headroom(HAND, best_by="ASL")}
    assert {row["chosen_by"] for row in fixed.values()} == {"ASL"}
    # good is the best system by every measure
    assert {row["system"] for row in fixed.values()} == {"good"}


def test_headroom__best_by_fixes_the_system_for_all_measures():
    late, middle = HAND["runs"]["late"], HAND["runs"]["middle"]
    track = {**HAND, "runs": {"late": late, "middle": middle}}
    chosen = {row["measure"]: row["system"] for row in study.headroom(track)}
    assert (chosen["AP"], chosen["ASL"]) == ("late", "middle")
    rows = {row["measure"]: row for row in study.headroom(track, best_by="ASL")}
    assert (rows["AP"]["system"], rows["AP"]["value"]) == ("middle", pytest.approx(5 / 36))


def test_groups__by_hand():
    rows = {row["measure"]: row["rrie"] for row in study.groups(HAND, "middle", "good")}
    assert rows["ASL"] == pytest.approx(0.75)
    assert rows["AP"] == pytest.approx(17 / 31)
    assert rows["P@20"] == pytest.approx(1 / 29)


def test_depth_sensitivity__cut_may_change_the_best_system():
    # split: ranks 1 and 601, lengths 1 and 600; even: ranks 60 and 61, lengths 60 and 60.
    split, even = placed("", 601, 1, 601), placed("", 70, 60, 61)
    names = {"r1": "a", "r601": "b", "r60": "a", "r61": "b"}
    runs = {
        name: {"q": [names.get(doc, doc) for doc in track["runs"]["s"]["q"]]}
        for name, track in (("split", split), ("even", even))
    }
    track = {"name": "long", "qrels": {"q": {"a": 1, "b": 1}}, "runs": runs}
    assert study.depth_sensitivity(track, "ASL") == {
        "track": "long",
        "measure": "ASL",
        "depth": 100,
        "short": False,
        "short_cut": True,  # split retrieves one of two docs, even both
        "best": "even",
        "value": 60.0,
        "best_cut": "split",
        "value_cut": (1 + 99) / 2,  # 99 of the first 100 are not relevant
        "queries": 1,
        "tau": -1.0,
    }
    # The deepest rank is cut too: 100 - 1 + 1 for a doc out of the first 100.
    chosen = study.depth_sensitivity(track, "ASL", unretrieved="depth")
    assert chosen["value_cut"] == (1 + 100) / 2


def test_in_order__means_equal_up_to_rounding_tie():
    means = {"a": 0.1 + 0.2, "b": 0.3, "c": 0.2}
    assert track_means.in_order(means, less=False) == ["a", "b", "c"]
    assert track_means.in_order({"b": 0.1 + 0.2, "a": 0.3}, less=False) == ["a", "b"]
    assert track_means.tau_b(means, {"a": 1, "b": 1, "c": 2}, (False, True)) == pytest.approx(1.0)
