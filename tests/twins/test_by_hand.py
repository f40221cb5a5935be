"""Naive code for which no other program prints values, by hand."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

from support.hand_track import HAND, placed
from twins import atomized, chain, significance, track_means
from twins import cooper as naive_cooper
from twins import gain as naive_gain
from twins import incomplete as naive_incomplete


def test_naive_dcg__jk_discount_starts_after_rank_b():
    # With b = 2 ranks 1 and 2 count in full, with b = 3 so does rank 3, where log_3(3) is 1.
    assert naive_gain.dcg_of([3, 2, 0, 1], "jk") == pytest.approx(3 + 2 / 1 + 1 / 2)
    assert naive_gain.dcg_of([3, 2, 1], "jk", b=3) == pytest.approx(3 + 2 + 1)
    assert naive_gain.dcg_of([0, 0, 1, 1], "zipf") == pytest.approx(1 / 3 + 1 / 4)


def test_naive_tied_measures__ties_share_weights_up_to_the_cutoff():
    blocks, qrels = [["a"], ["b", "c", "d"]], {"b": 1, "d": 2}
    assert naive_gain.precision_tied(blocks, qrels, 2) == pytest.approx(2 * (1 / 2) / 3)
    assert naive_gain.recall_tied(blocks, qrels, 3) == pytest.approx(2 * (2 / 3) / 2)
    assert naive_gain.dcg_tied(blocks, qrels, 2) == pytest.approx(3 * (1 / math.log2(3)) / 3)
    # Half, a quarter, an eighth, a sixteenth; rank 2 is one of the three ranks of b, c and d.
    assert naive_gain.rbp_tied(blocks, qrels, 0.5, 2) == pytest.approx(2 * (1 / 4) / 3)
    # Unjudged are a, alone at rank 1, and c; what is below rank 2 weighs a quarter.
    residual = naive_incomplete.rbp_residual_tied
    assert residual(blocks, qrels, 0.5, 2) == pytest.approx(1 / 2 + (1 / 4) / 3 + 1 / 4)
    assert naive_incomplete.condensed_blocks(blocks, qrels) == [["b", "d"]]


def test_naive_gains__custom_gains_may_be_negative_or_partial():
    # As the help texts of trec_eval's m_ndcg.c have it.
    own = {0: -1.0, 1: 0.5}
    ranking, qrels = ["n", "u", "a", "b"], {"n": 0, "a": 1, "b": 2, "c": -1}
    assert naive_gain.gains_of(ranking, qrels, own) == [-1, 0, 0.5, 2]
    assert naive_gain.ideal_gains(qrels, own) == [2, 0.5]
    assert naive_gain.ndcg_rel(["n"], qrels, own) == 0


def test_naive_upper_gains__by_hand():
    ranking, qrels = ["u", "a", "n"], {"a": 1, "n": -1, "b": 3}
    upper = naive_incomplete.upper_gains
    assert upper(ranking, qrels, "binary") == [1, 1, 1]
    assert upper(ranking, qrels, "binary", negative="nonrelevant") == [1, 1, 0]
    assert upper(ranking, qrels, "grade", 3, unjudged="upper-gmax") == [3, 1, 3]
    assert upper(ranking, qrels, "exp", 3) == [1, 1 / 8, 1]
    assert upper(ranking, qrels, "exp", 3, unjudged="upper-gmax") == [7 / 8, 1 / 8, 7 / 8]


def test_naive_err_residual__equals_gain_of_a_perfect_next_doc():
    ranking, qrels = ["a", "b"], {"a": 1, "b": 2}
    assert naive_incomplete.err_residual(ranking, qrels, form="bound", gmax=2) == 1 / 3
    assert naive_incomplete.err_residual(ranking, qrels, gmax=2) == 3 / 4 * 1 / 4 / 3
    assert naive_incomplete.err_residual(ranking, qrels, 9, gmax=2) == 3 / 4 * 1 / 4 / 10
    perfect = naive_gain.err_of([1 / 4, 3 / 4, 1]) - naive_gain.err_of([1 / 4, 3 / 4])
    assert naive_incomplete.err_residual(ranking, qrels, gmax=2) == pytest.approx(perfect)


def test_naive_pool_measures__use_only_docs_of_the_depth_k_pool():
    qrels = {"a": 1, "b": 2, "c": 1, "d": 0, "e": 1}
    depths = naive_incomplete.pool_depths([["a", "d", "b", "x"], ["d", "c"], None], qrels)
    assert depths == {"a": 1, "b": 3, "c": 2, "d": 1, "e": math.inf}
    assert depths.complete == 3
    ranking = ["b", "a"]
    # To depth 2: a, c and d; b is unjudged.
    assert naive_incomplete.ap_pool(ranking, qrels, depths, 2) == (1 / 2) / 2
    assert naive_incomplete.ap_min(ranking, qrels, 2) == (1 + 1) / 2
    ideal = 1 + 1 / math.log2(3)
    ndcg = naive_incomplete.ndcg_pool(ranking, qrels, depths, 2)
    assert ndcg == pytest.approx(1 / math.log2(3) / ideal)
    assert naive_incomplete.q_pool(ranking, qrels, depths, 2) == pytest.approx(2 / 4 / 2)
    mixed = naive_incomplete.q_pool(ranking, qrels, depths, 2, ideal="all")
    assert mixed == pytest.approx(2 / (2 + 3) / 2)
    # To depth 3, that of the pool itself: also e, which no system retrieves.
    assert naive_incomplete.ap_pool(ranking, qrels, depths, 3) == (1 + 1) / 4
    # Nothing relevant to depth 1.
    none = naive_incomplete.pool_depths([["d", "a"]], qrels)
    assert math.isnan(naive_incomplete.ap_pool(ranking, qrels, none, 1))
    assert math.isnan(naive_incomplete.ndcg_pool(ranking, qrels, none, 1))
    assert math.isnan(naive_incomplete.q_pool(ranking, qrels, none, 1))


def test_naive_cooper__search_lengths_by_hand():
    ranking, qrels = ["x", "a", "b", "y"], {"a": 1, "b": 1, "c": 2, "d": 1, "z": 0}
    corpus = naive_cooper.corpus_size([ranking, ["x", "c", "w"], None], qrels)
    assert corpus == len("xabycwdz")
    assert naive_cooper.positions(ranking, qrels, corpus) == [2, 3, 7, 8]
    assert naive_cooper.isl(ranking, qrels, corpus) == 2
    assert naive_cooper.tsl(ranking, qrels, corpus) == 8
    assert naive_cooper.average_search_length(ranking, qrels, corpus) == 20 / 4
    fewer = naive_cooper.average_search_length(ranking, qrels, corpus, count="nonrelevant")
    assert fewer == (1 + 1 + 4 + 4) / 4
    assert naive_cooper.isl(None, qrels, 10) == 7
    assert math.isnan(naive_cooper.tsl(ranking, {"a": 0}, 10))
    with pytest.raises(ValueError, match="too few"):
        naive_cooper.isl(ranking, qrels, 5)


def test_has_lengths__false_for_lists_of_relevant_docs_only():
    assert track_means.has_lengths(HAND)  # q1 of late and q2 of good of five
    alone = {"good": {"q2": ["c", "d"], "q3": ["x"], "unjudged": ["x"]}}
    assert not track_means.has_lengths({**HAND, "runs": alone})
    assert track_means.has_lengths({**HAND, "runs": alone}, rel=2)
    assert track_means.has_lengths(
        {**HAND, "runs": {**alone, "other": {"q1": ["x"]}}}
    )  # one of two
    assert not track_means.has_lengths(HAND, rel=3)


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


def buckets(rows: list[atomized.Row]) -> list[tuple]:
    return [(row["low"], row["high"], row["docs"]) for row in rows]


def test_histograms__by_hand():
    log = {"buckets": "log"}
    assert buckets(atomized.length_histogram(HAND, **log)) == [(1, 1, 3), (2, 4, 1)]
    assert buckets(atomized.length_histogram(HAND, "middle", **log)) == [(2, 4, 2), (None, None, 2)]
    assert buckets(atomized.length_histogram(HAND, "late", **log)) == [(1, 1, 1), (None, None, 3)]
    assert buckets(atomized.length_histogram(HAND, "middle")) == [
        (2, 2, 1),
        (3, 3, 1),
        (None, None, 2),
    ]
    rows = atomized.difference_histogram(HAND, **log)
    assert {(row["best"], row["median"]) for row in rows} == {("good", "middle")}
    # a 1 - 3, b 2 - 2, c 1 - 1, d 1 - 2
    assert buckets(rows) == [(-4, -2, 1), (-1, -1, 1), (0, 0, 2)]


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
        for row in atomized.distributions(tracks)
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
    assert [(row["measure"], row["low"], row["tracks"]) for row in atomized.classes(tracks)] == [
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


def test_headroom__best_by_fixes_the_system_for_all_measures():
    late, middle = HAND["runs"]["late"], HAND["runs"]["middle"]
    track = {**HAND, "runs": {"late": late, "middle": middle}}
    chosen = {row["measure"]: row["system"] for row in atomized.headroom(track)}
    assert (chosen["AP"], chosen["ASL"]) == ("late", "middle")
    rows = {row["measure"]: row for row in atomized.headroom(track, best_by="ASL")}
    assert (rows["AP"]["system"], rows["AP"]["value"]) == ("middle", pytest.approx(5 / 36))


def test_depth_sensitivity__cut_may_change_the_best_system():
    # split: ranks 1 and 601, lengths 1 and 600; even: ranks 60 and 61, lengths 60 and 60.
    split, even = placed("", 601, 1, 601), placed("", 70, 60, 61)
    names = {"r1": "a", "r601": "b", "r60": "a", "r61": "b"}
    runs = {
        name: {"q": [names.get(doc, doc) for doc in track["runs"]["s"]["q"]]}
        for name, track in (("split", split), ("even", even))
    }
    track = {"name": "long", "qrels": {"q": {"a": 1, "b": 1}}, "runs": runs}
    assert atomized.depth_sensitivity(track, "ASL") == {
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
    chosen = atomized.depth_sensitivity(track, "ASL", unretrieved="depth")
    assert chosen["value_cut"] == (1 + 100) / 2


def test_chain__shorter_lengths_are_better():
    # Ranks 1, 2 and 11, 13. Of AP t = 2.7; of lengths, which differ by 10 and 11, t = 21: p = .03.
    track = {"name": "two", "qrels": {"q": {"r": 1}, "p": {"r": 1}}, "runs": {}}
    for system, ranks in (("far", (11, 13)), ("near", (1, 2))):
        lists = [["r" if i == rank else f"n{i}" for i in range(1, 14)] for rank in ranks]
        track["runs"][system] = dict(zip(("q", "p"), lists, strict=True))
    found = chain.chain(track, "AP")[0]
    assert found["better_old"] == {"far": 0, "near": 0}
    assert found["better_new"] == {"far": 1, "near": 0}
    assert (found["furthest"], found["delta_sort"], found["tau"]) == ("far", 50.0, 1.0)


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
    found = chain.chain(track, name)
    q = {0: found[0]["old"]} | {i: found[i]["new"] for i in (1, 2, 3)}
    assert [q[i]["s"]["q"] for i in range(4)] == pytest.approx([old, *steps])
    # e is not retrieved after two docs that are not relevant
    length = 2
    worth = {"nDCG": 1 / math.log2(3), "RBP": 0.8, "ERR": 0.5}[name]
    assert [q[i]["s"]["other"] for i in range(4)] == pytest.approx([0, worth, worth, length])


def test_best_by_choice__by_hand():
    short = {"short": {"q1": ["a", "b"], "q2": ["y"]}, "middle": HAND["runs"]["middle"]}
    rows = {row["measure"]: row for row in chain.best_by_choice({**HAND, "runs": short})}
    assert len(rows) == 3 + 3 * 4
    # short: a 1, b 1, and c, d 1 or 4 each; middle: 2, 2 or 3.25, 3.25
    assert [rows["ASL", how]["system"] for how in ("irrel", "depth")] == ["short", "short"]
    assert [rows["ASL", how]["value"] for how in ("irrel", "floor", "irrel+1", "depth")] == [
        *(1.0, 1.0, 1.5, 2.5)
    ]
    assert (rows["AP", None]["missed"], rows["AP", None]["rows"]) == (0.5, 1.0)
    assert {row["median_missed"] for row in rows.values()} == {0.5}
    assert chain.best_by_choice({**HAND, "qrels": {"q1": {"x": 0}}}) == []


def test_effective_fraction__by_hand():
    # 1/P of good: 1, 1.5 against 1.2; 1, 1 against 1. Of the others one of two docs counts.
    rows = chain.effective_fraction(HAND)
    assert [(row["system"], row["fraction"], row["undefined"]) for row in rows] == [
        ("good", 1.0, 0),
        ("late", 0.5, 1),
        ("middle", 0.5, 0),
    ]
    assert [row["pooled"] for row in rows] == [1.0, 0.25, 0.5]
    perfect = {**HAND, "runs": {"good": HAND["runs"]["good"]}}
    summary = chain.effective_summary([HAND, perfect])
    assert summary["fraction"] == pytest.approx(5 / 6)
    assert summary["fraction_sd"] == pytest.approx(1 / 3 / math.sqrt(2))
    assert summary["tracks"] == 2


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
    assert chain.pooled_fraction(track, "s") == share


def draw(seed: int, queries: int, systems: int, decimals: int | None = None) -> significance.Rows:
    """Return random values; few decimals make ties."""
    values = np.random.default_rng(seed).beta(2, 4, (queries, systems))
    return (values if decimals is None else values.round(decimals)).tolist()


@pytest.mark.exhaustive
def test_naive_randomised_hsd__equals_sign_flip_for_two_systems():
    """With two systems the range of the means is |mean d|, and permuting within a query flips d."""
    for seed, decimals in product(range(3), (None, 1)):
        values = draw(seed, 6, 2, decimals)
        p = significance.randomised_hsd(values)
        assert p[0][1] == p[1][0] == significance.sign_flip(*map(list, zip(*values, strict=True)))
        assert p[0][0] == p[1][1] == 1.0


@pytest.mark.exhaustive
def test_naive_randomised_hsd__worked_examples():
    """With one query every range is 3; with two, 6 of 36 tables have a range of 6."""
    assert significance.randomised_hsd([[0.0, 1.0, 3.0]])[0] == [1.0, 1.0, 1.0]
    assert significance.randomised_hsd([[0.0, 1.0, 3.0]] * 2)[0][2] == pytest.approx(6 / 36)


@pytest.mark.exhaustive
def test_naive_randomised_hsd__close_to_sampled_permutations():
    values = np.array(draw(5, 3, 3))
    rng = np.random.default_rng(1)
    means = rng.permuted(np.tile(values, (20_000, 1, 1)), axis=2).mean(axis=1)
    spans = np.ptp(means, axis=1)
    p = significance.randomised_hsd(values.tolist())
    for a, b in combinations(range(3), 2):
        sampled = (spans >= abs(values[:, a].mean() - values[:, b].mean()) - 1e-12).mean()
        assert p[a][b] == pytest.approx(sampled, abs=0.015)
