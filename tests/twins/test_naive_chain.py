"""Naive code of Table 2 and Appendix A.1, checked by the paper and by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.hand_track import HAND, placed
from twins import chain as study
from twins import track_means

APPENDIX = [1, 1, 1, 2, 4, 5, 10, 10000, 10000]

lengths_lists = st.lists(st.integers(1, 10**6).map(float), min_size=1, max_size=30)


# The paper's numbers


def test_weight_identity__equations_9_and_10_of_the_paper():
    precision = (1 / 1 + 1 / 1000) / 2
    assert study.weight_identity([1.0, 1000.0])[0] == pytest.approx(1 / precision)
    assert round(1 / precision) == 2  # Eq. 9: "approximately at rank 2"
    # Eq. 10, "approximately 500", as the lengths of two docs of one list.
    track = placed("t", 1001, 1, 1001)
    assert track_means.means_of(track_means.per_query(track, "ASL"))["s"] == (1 + 1000) / 2


@pytest.mark.parametrize("first", [1.0, 7.0, 300.0])
def test_weight_identity__long_length_at_most_doubles_a_short_length(first: float):
    after = [study.weight_identity([first, other])[0] for other in (1e3, 1e6, 1e12)]
    assert after == sorted(after)
    assert after[-1] < 2 * first
    assert after[-1] == pytest.approx(2 * first, rel=1e-9)  # Eq. 13


@given(lengths_lists)
def test_weight_identity__mean_precision_is_a_weighted_mean_length(lengths: list[float]):
    left, right = study.weight_identity(lengths)
    assert left == pytest.approx(right, rel=1e-12)
    exact = len(lengths) / sum(1 / Fraction(length) for length in lengths)
    assert left == pytest.approx(float(exact), rel=1e-12)


def test_weight_identity__by_hand():
    assert study.weight_identity([2.0, 4.0, 4.0]) == pytest.approx((3.0, 3.0))


@given(lengths_lists)
def test_equivalent_lengths__unweighted_mean_is_equal(lengths: list[float]):
    found = study.equivalent_lengths(lengths)
    assert track_means.mean(found) == pytest.approx(study.weight_identity(lengths)[1], rel=1e-12)
    assert [a for _, a in sorted(zip(lengths, found, strict=True))] == sorted(found)


def test_equivalent_lengths__example_of_the_appendix():
    found = [round(length, 1) for length in study.equivalent_lengths(APPENDIX)]
    # The paper prints 2.9 for the sixth; 1 + 0.8 H is 2.778, which gives the mean H.
    assert found == [1.0, 1.0, 1.0, 2.1, 2.7, 2.8, 3.0, 3.2, 3.2]


def test_effective_count__example_of_the_appendix():
    assert study.effective_count(APPENDIX, len(APPENDIX)) == 6
    assert round(100 * 6 / len(APPENDIX)) == 67


# The chain by hand


def means_of(found: study.Row, side: str) -> dict[str, float]:
    return track_means.means_of(found[side])


def test_chain__ap_by_hand():
    found = study.chain(HAND, "AP")
    means = [means_of(found[1], "old")] + [means_of(found[i], "new") for i in (1, 2, 3)]
    assert means[0] == pytest.approx({"good": 11 / 12, "middle": 5 / 24, "late": 1 / 4})
    assert means[1] == pytest.approx({"good": 7 / 8, "middle": 7 / 12, "late": 3 / 5})
    assert means[2] == pytest.approx({"good": 5 / 6, "middle": 8 / 15, "late": 3 / 5})
    assert means[3] == pytest.approx({"good": 1.25, "middle": 2, "late": 3})
    assert found[1]["new"]["middle"] == pytest.approx({"q1": 5 / 12, "q2": 3 / 4})
    assert found[2]["old"] == found[1]["new"]
    assert found[0]["old"] == found[1]["old"]
    assert found[0]["new"] == found[3]["new"]


def test_chain__reordering_from_ap_by_hand():
    found = study.chain(HAND, "AP")
    # One degree of freedom: p = 1 - 2/pi atan |t|. Of AP, good - middle is 2/3 and 3/4, t = 17,
    # p = .037; after step 1 it is 1/3 and 1/4, t = 7, p = .09, and later p is greater.
    assert found[1]["better_old"] == {"good": 0, "late": 0, "middle": 1}
    assert found[1]["better_new"] == found[3]["better_new"] == dict.fromkeys(HAND["runs"], 0)
    assert found[1]["moved"] == pytest.approx({"good": 0, "late": 0, "middle": 100 / 3})
    assert [found[i]["delta_sort"] for i in (0, 1, 2, 3)] == pytest.approx([100 / 3] * 2 + [0, 0])
    assert found[0]["furthest"] == "middle"
    assert found[2]["furthest"] is None
    # late is before middle except in step 3
    assert [found[i]["tau"] for i in (0, 1, 2, 3)] == pytest.approx([1 / 3, 1, 1, 1 / 3])
    assert found[0]["value"] == pytest.approx({"good": 48 / 55, "middle": 2.4, "late": 4 / 3})
    assert found[1]["value"] == pytest.approx({"good": 21 / 22, "middle": 2.8, "late": 2.4})
    assert found[3]["value"] == pytest.approx({"good": 0.96, "middle": 15 / 16, "late": 5 / 9})
    assert found[0]["delta_value"] == pytest.approx((48 / 55 + 2.4 + 4 / 3) / 3)


def test_chain__shorter_lengths_are_better():
    # Ranks 1, 2 and 11, 13. Of AP t = 2.7; of lengths, which differ by 10 and 11, t = 21: p = .03.
    track = {"name": "two", "qrels": {"q": {"r": 1}, "p": {"r": 1}}, "runs": {}}
    for system, ranks in (("far", (11, 13)), ("near", (1, 2))):
        lists = [["r" if i == rank else f"n{i}" for i in range(1, 14)] for rank in ranks]
        track["runs"][system] = dict(zip(("q", "p"), lists, strict=True))
    found = study.chain(track, "AP")[0]
    assert found["better_old"] == {"far": 0, "near": 0}
    assert found["better_new"] == {"far": 1, "near": 0}
    assert (found["furthest"], found["delta_sort"], found["tau"]) == ("far", 50.0, 1.0)


def test_a_doc_with_any_gain_is_relevant_to_ndcg_and_err():
    queries = {m: set(track_means.per_query(HAND, m, rel=2)["good"]) for m in ("AP", "nDCG", "ERR")}
    assert queries == {"AP": {"q2"}, "nDCG": {"q1", "q2"}, "ERR": {"q1", "q2"}}
    assert study.chain(HAND, "nDCG", rel=2)[3]["new"] == study.chain(HAND, "nDCG")[3]["new"]


def test_chain__system_with_old_value_zero_is_excluded():
    runs = {**HAND["runs"], "none": {"q1": ["x"], "q2": ["y"]}}
    found = study.chain({**HAND, "runs": runs}, "AP")[0]
    assert (found["left_out"], found["systems"], found["queries"]) == (1, 4, 2)
    assert math.isnan(found["value"]["none"])
    assert found["delta_value"] == pytest.approx((48 / 55 + 2.4 + 4 / 3) / 3)


def test_chain__rr_by_hand():
    found = study.chain(HAND, "RR")
    assert list(found) == [0]
    assert means_of(found[0], "old") == pytest.approx({"good": 1, "middle": 5 / 12, "late": 0.5})
    assert means_of(found[0], "new") == pytest.approx({"good": 1, "middle": 2.5, "late": 3})
    assert found[0]["value"] == pytest.approx({"good": 1, "middle": 0.96, "late": 2 / 3})


def test_chain__p20_by_hand():
    found = study.chain(HAND, "P@20")[0]
    assert means_of(found, "old") == pytest.approx({"good": 0.1, "middle": 0.05, "late": 0.025})
    assert means_of(found, "new") == {"good": 1.25, "middle": 2.0, "late": 3.0}


@pytest.mark.parametrize(
    ("name", "old", "steps"),
    [
        # One list d (grade 1), x, c (grade 2): lengths 1 and 2, and grade 3 elsewhere.
        (
            "nDCG",
            (1 + 2 / 2) / (2 + 1 / math.log2(3)),
            [(1 + 2 / math.log2(3)) / 3, 1 / math.log2(1 + 5 / 3), 5 / 3],
        ),
        ("RBP", 0.2 * (1 + 0.64), [0.9, 0.8**0.5, 1.5]),
        ("ERR", 1 / 8 + 7 / 8 * 3 / 8 / 3, [(1 + 3 / 2) / 4, 4 / 7, 7 / 4]),
    ],
)
def test_chain__ndcg_rbp_and_err_by_hand(name: str, old: float, steps: list[float]):
    track = {
        "name": "graded",
        "qrels": {"q": {"c": 2, "d": 1, "x": 0, "y": -2}, "other": {"e": 3}},
        "runs": {"s": {"q": ["d", "x", "c"], "other": ["y", "x"]}},
    }
    found = study.chain(track, name)
    q = {0: found[0]["old"]} | {i: found[i]["new"] for i in (1, 2, 3)}
    assert [q[i]["s"]["q"] for i in range(4)] == pytest.approx([old, *steps])
    # e is not retrieved after two docs that are not relevant
    length = 2
    worth = {"nDCG": 1 / math.log2(3), "RBP": 0.8, "ERR": 0.5}[name]
    assert [q[i]["s"]["other"] for i in range(4)] == pytest.approx([0, worth, worth, length])


def test_reordering_and_moves__rows_by_hand():
    assert [row["step"] for row in study.reordering(HAND, "AP")] == [0, 1, 2, 3]
    first = study.reordering(HAND, "AP")[0]
    assert (first["furthest"], first["better_old"], first["better_new"]) == ("middle", 1, 0)
    rows = study.moves(HAND, "AP")
    assert [row["system"] for row in rows] == ["good", "late", "middle"] * 4
    assert rows[2]["moved"] == pytest.approx(100 / 3)


def test_table_2__means_over_two_tracks_by_hand():
    one = {**HAND, "name": "one", "runs": {"good": HAND["runs"]["good"]}}
    empty = {**HAND, "name": "empty", "qrels": {"q1": {"x": 0}}}
    row = study.table_2([HAND, one, empty], "AP")[0]
    assert (row["tracks"], row["systems"], row["left_out"]) == (2, 4, 0)
    assert row["delta_sort"] == pytest.approx(100 / 6)
    assert row["delta_sort_sd"] == pytest.approx(100 / 3 / math.sqrt(2))
    assert row["tau"] == pytest.approx(1 / 3)  # one system has no tau
    assert math.isnan(row["tau_sd"])
    assert row["delta_value"] == pytest.approx((2 * 48 / 55 + 2.4 + 4 / 3) / 4)


# Docs that are not retrieved


def test_best_by_choice__by_hand():
    short = {"short": {"q1": ["a", "b"], "q2": ["y"]}, "middle": HAND["runs"]["middle"]}
    rows = {row["measure"]: row for row in study.best_by_choice({**HAND, "runs": short})}
    assert len(rows) == 3 + 3 * 4
    # short: a 1, b 1, and c, d 1 or 4 each; middle: 2, 2 or 3.25, 3.25
    assert [rows["ASL", how]["system"] for how in ("irrel", "depth")] == ["short", "short"]
    assert [rows["ASL", how]["value"] for how in ("irrel", "floor", "irrel+1", "depth")] == [
        *(1.0, 1.0, 1.5, 2.5)
    ]
    assert (rows["AP", None]["missed"], rows["AP", None]["rows"]) == (0.5, 1.0)
    assert {row["median_missed"] for row in rows.values()} == {0.5}
    assert study.best_by_choice({**HAND, "qrels": {"q1": {"x": 0}}}) == []


# The effective fraction


def test_effective_fraction__by_hand():
    # 1/P of good: 1, 1.5 against 1.2; 1, 1 against 1. Of the others one of two docs counts.
    rows = study.effective_fraction(HAND)
    assert [(row["system"], row["fraction"], row["undefined"]) for row in rows] == [
        ("good", 1.0, 0),
        ("late", 0.5, 1),
        ("middle", 0.5, 0),
    ]
    assert [row["pooled"] for row in rows] == [1.0, 0.25, 0.5]
    perfect = {**HAND, "runs": {"good": HAND["runs"]["good"]}}
    summary = study.effective_summary([HAND, perfect])
    assert summary["fraction"] == pytest.approx(5 / 6)
    assert summary["fraction_sd"] == pytest.approx(1 / 3 / math.sqrt(2))
    assert summary["tracks"] == 2


def test_effective_count__unretrieved_docs_count_in_ap_only():
    # 1/P is 1 and 5; of 2 relevant docs 1/AP is 1.67, of 6 it is 5: means 1 and 3.
    assert study.effective_count([5, 1], 2) == 1
    assert study.effective_count([5, 1], 6) == 2
    assert study.effective_count([], 6) is None
    # 1, 3: means 1 and 2, and 1/AP is 1.5, as near to both: the greater.
    assert study.effective_count([1, 3], 2) == 2


@pytest.mark.parametrize(("rank", "share"), [(4, 0.75), (40, 0.25)])
def test_pooled_fraction__docs_are_weighted_by_query(rank: int, share: float):
    # q1 has one relevant doc, q2 four, of them two at ranks 1 and 2. Rank 4: 1/MAP = 8/3, the
    # prefixes have means 1, 1, 3. Rank 40: 1/MAP = 3.81, means 1, 1, 27.
    first, second = placed("", 40, rank), placed("", 2, 1, 2, relevant=4)
    track = {
        "name": "pooled",
        "qrels": {"q1": first["qrels"]["q"], "q2": second["qrels"]["q"]},
        "runs": {"s": {"q1": first["runs"]["s"]["q"], "q2": second["runs"]["s"]["q"]}},
    }
    assert study.pooled_fraction(track, "s") == share
