"""Rankings without a store: from arrays, and all short ones."""

from __future__ import annotations

import re
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings

import irmeta
from irmeta.errors import UsageError
from irmeta.measures.evaluate import rank_cutoff, score_rankings
from irmeta.measures.names import parse_measure, parse_measures
from irmeta.numbered_rankings import NumberedRankings
from irmeta.rankings import enumeration
from irmeta.rankings.arrays import count_by_query
from irmeta.rankings.enumeration import RankingSpace
from irmeta.rankings.judged import JudgedRanks
from support.examples import scaled
from support.making import Track, tracks
from support.viewing import NEEDS, SPECS, assert_equal_values, view_of
from twins import diversity, ranking_properties

RANKS = np.array([[1, 3], [0, 1], [2, 2]])
GRADES = np.array([2, 1, 0])


@settings(max_examples=scaled(25))
@given(tracks())
def test_from_arrays__same_values_as_a_store(track: Track):
    view = view_of(track.read(), *NEEDS, pool_order="trec_eval")
    made = JudgedRanks.from_arrays(
        view.ranks,
        view.grades,
        offsets=view.offsets,
        lengths=view.lengths,
        ties=view.ties,
        retrieved=view.retrieved,
        queries=view.queries,
        systems=view.systems,
        docs=view.docs.to_list(),
        highest_grade=view.facts.highest_grade,
        deepest_rank=view.facts.deepest_rank,
    )
    assert made.ranks.dtype == view.ranks.dtype
    for name in ("offsets", "ranks", "grades", "lengths", "pool_depth", "complete_depth"):
        np.testing.assert_array_equal(getattr(made, name), getattr(view, name), err_msg=name)
    by_doc = [np.argsort(v.doc_ids[: v.offsets[1]]).tolist() for v in (view, made)]
    assert by_doc[0] == by_doc[1]
    assert_equal_values(made, view, SPECS)


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(tracks())
def test_from_arrays__rank_zero_means_not_retrieved(track: Track):
    view = view_of(track.read())
    zeros = np.where(view.ranks == view.missing, 0, view.ranks).astype(np.int64)
    for ranks in (zeros, zeros.astype(np.uint16), view.ranks):
        made = JudgedRanks.from_arrays(ranks, view.grades.tolist(), offsets=view.offsets)
        np.testing.assert_array_equal(made.ranks, view.ranks)
        assert made.ranks.dtype == np.uint16


@pytest.mark.exhaustive
def test_from_arrays__defaults_of_optional_arguments():
    view = JudgedRanks.from_arrays(RANKS, GRADES)
    assert view.queries == ("q0",)
    assert list(view.systems) == ["s0", "s1"]
    assert view.docs.to_list() == ["d0", "d1", "d2"]
    assert view.lengths.tolist() == [[2, 3]]
    assert (view.facts.deepest_rank, view.facts.highest_grade) == (3, 2)
    assert view.retrieved.tolist() == [3]
    assert view.complete_depth.tolist() == [3]
    assert view.pool_depth.tolist() == [1, 1, 2]
    pooled = JudgedRanks.from_arrays(RANKS, GRADES, pooled=[True, False])
    assert pooled.complete_depth.tolist() == [2]
    deep = JudgedRanks.from_arrays(np.array([[70_000]]), [1])
    assert deep.ranks.dtype == np.uint32
    empty = JudgedRanks.from_arrays(np.zeros((0, 2), int), [], offsets=[0, 0])
    assert irmeta.scores_of(empty, "AP,AvgSL").values.shape == (2, 1, 2)


def test_from_arrays__requires_retrieved_for_unjudged_docs():
    view = JudgedRanks.from_arrays(RANKS, GRADES, lengths=np.array([[5, 5]]))
    with pytest.raises(UsageError, match=r"no `retrieved`: some lists hold unjudged docs; give"):
        irmeta.scores_of(view, "AvgSL")
    given = JudgedRanks.from_arrays(RANKS, GRADES, lengths=np.array([[5, 5]]), retrieved=[7])
    assert irmeta.scores_of(given, "AvgSL").values.tolist() == [[[4.0, 2.0]]]


def test_from_arrays__ties_include_unjudged_docs_between():
    """Ranks 1 to 3 are tied, so the unjudged doc at rank 2 is in the tie."""
    ranks, first, last = np.array([[1], [3], [4]]), np.array([[1], [1], [4]]), [[3], [3], [4]]
    view = JudgedRanks.from_arrays(ranks, [1, 0, 0], ties=(first, np.array(last)))
    assert irmeta.scores_of(view, "P(ties=share)@1").values.item() == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"grades": [1, 2, 0]}, "grades must descend within a query: row 1 has grade 2"),
        ({"grades": [1, 0]}, "2 grades do not fit 3 rows"),
        ({"grades": ["2", "1", "0"]}, "grades must be a list of whole numbers, not <U1"),
        ({"grades": [1.5, float("nan"), 0]}, "grades must be a list of finite numbers"),
        ({"ranks": RANKS.astype(float)}, "ranks must be an array [rows, systems] of whole"),
        ({"ranks": RANKS[:, 0]}, "ranks must be an array [rows, systems]"),
        ({"ranks": -RANKS}, "ranks[0, 0] = -1 is below 0"),
        ({"ranks": RANKS * 0 + 2}, "two docs have rank 2 (query 0, system 0, from 0)"),
        ({"ranks": RANKS + 2**32}, "more than the largest rank of a list"),
        ({"offsets": [0, 2]}, "offsets must ascend from 0 to 3"),
        ({"offsets": [0, 2, 1, 3]}, "offsets must ascend from 0 to 3"),
        (
            {"lengths": np.array([[2, 2]])},
            "cannot hold a doc at rank 3 (query 0, system 1",
        ),
        ({"lengths": np.array([[2, 2**20]])}, "needs ranks of type uint32"),
        ({"lengths": np.array([2, 3])}, "lengths must be an array"),
        ({"lengths": np.array([[2, 3, 1]])}, "are not [queries, systems], (1, 2)"),
        ({"ties": (RANKS + 1, RANKS)}, "rank 1 is not in the block of ranks 2 to 1"),
        ({"ties": (RANKS, RANKS + 1)}, "or the block is not in the list"),
        ({"ties": (RANKS * 0 + 1, RANKS)}, "ties overlap"),
        ({"ties": (RANKS[:2], RANKS)}, "ties[0] of shape (2, 2) do not fit"),
        ({"retrieved": [2]}, "retrieved must be 1 numbers"),
        ({"systems": ["a", "a"]}, "systems must be 2 different names"),
        ({"queries": ["a", "b"]}, "queries must be 1 different names"),
        ({"docs": ["a", "b", "a"]}, "doc 'a' occurs twice in a query"),
        ({"docs": ["a"]}, "1 docs do not fit 3 rows"),
        ({"pooled": [False, False]}, "pooled must be 2 bools, at least one of them true"),
        ({"pooled": ["no", "no"]}, "pooled must be 2 bools"),
        ({"ties": (RANKS + 65536, RANKS + 65536)}, "rank 1 is not in the block of ranks 65537"),
        ({"systems": [1, 2]}, "systems must be texts, not 1"),
        ({"docs": ["a", None, "b"]}, "docs must be texts, not None"),
        ({"highest_grade": "3"}, "highest_grade = '3' is not a number"),
        ({"deepest_rank": "9"}, "deepest_rank = '9' is not a whole number"),
        ({"negative": "typo"}, "negative = 'typo' is not a choice"),
        ({"highest_grade": 1}, "highest_grade = 1 is less than 2"),
        ({"deepest_rank": 2}, "deepest_rank = 2 is less than 3"),
    ],
)
def test_from_arrays__rejects_invalid_arguments(changes: dict, problem: str):
    arguments = {"ranks": RANKS, "grades": GRADES, **changes}
    with pytest.raises(UsageError, match=re.escape(problem)):
        JudgedRanks.from_arrays(**arguments)


def test_from_arrays__accepts_other_byte_orders():
    ranks = np.array([[1, 65535], [2, 1]], ">u2")
    view = JudgedRanks.from_arrays(ranks, [1, 0])
    assert view.ranks.tolist() == [[1, 65535], [2, 1]]
    assert view.ranks.dtype.isnative
    assert view.lengths.tolist() == [[2, 1]]


def test_from_arrays__deepest_rank_follows_the_remaining_systems():
    ranks = np.array([[1, 0], [0, 9]])
    alone = JudgedRanks.from_arrays(ranks, [1, 1]).without_systems("s1")
    fresh = JudgedRanks.from_arrays(ranks[:, :1], [1, 1])
    stated = JudgedRanks.from_arrays(ranks, [1, 1], deepest_rank=20).without_systems("s1")
    deep = [irmeta.scores_of(v, "ASL(unretrieved=depth)").values.item() for v in (alone, fresh)]
    assert deep[0] == deep[1] == 1.0
    assert stated.facts.deepest_rank == 20


def test_drop_relevant__keeps_ties_with_dropped_docs():
    """Docs at ranks 1 and 2 stay tied after the first of them is dropped."""
    ranks, ties = np.array([[1], [2], [3]]), (np.array([[1], [1], [3]]), np.array([[2], [2], [3]]))
    view = JudgedRanks.from_arrays(ranks, [1, 1, 0], ties=ties).drop_relevant(0.5)
    assert [ends.ravel().tolist() for ends in view.ties] == [[1, 3], [2, 3]]


@pytest.mark.exhaustive
def test_only_systems__selects_from_200_000_systems():
    view = JudgedRanks.from_arrays(np.ones((1, 200_000), np.uint16), [1])
    names = [f"s{i:06}" for i in range(0, 200_000, 1000)]
    assert list(view.only_systems(names).systems) == names


def test_one_subtopic__rejects_views_from_arrays():
    with pytest.raises(UsageError, match=r"no `diversity`: from_arrays takes no subtopics"):
        JudgedRanks.from_arrays(RANKS, GRADES).one_subtopic("1")


def test_scores_of__average_precision_of_all_permutations():
    """AP of every order of 5 docs, 2 of them relevant, equals its definition."""
    orders = np.array(list(permutations(range(1, 6)))).T
    view = JudgedRanks.from_arrays(orders.astype(np.uint16), [1, 1, 0, 0, 0])
    found = irmeta.scores_of(view, ["AP", "P@2"])
    best, worst = np.sort(orders[:2], axis=0)
    np.testing.assert_allclose(found.values[0, 0], (1 / best + 2 / worst) / 2, rtol=1e-15)
    np.testing.assert_array_equal(found.values[1, 0], (orders[:2] <= 2).sum(axis=0) / 2)
    assert found.means().height == 2 * 120
    assert found.systems[119] == "s119"
    assert found.matrix("AP").means.shape == (120,)


def test_scores_of__includes_relevant_queries_only():
    view = JudgedRanks.from_arrays(RANKS, [1, 0, 0], offsets=[0, 1, 3])
    included = irmeta.scores_of(view, "AP", queries="relevant").included
    assert included.tolist() == [[[True, True], [False, False]]]


def test_count_by_query__of_queries_without_rows():
    marked = np.array([[True, False], [True, True], [False, True]])
    counts = count_by_query(marked, np.array([0, 0, 2, 2, 3, 3]))
    assert counts.tolist() == [[0, 0], [2, 1], [0, 0], [0, 1], [0, 0]]


@pytest.mark.parametrize(("subtopics", "length"), [(1, 3), (2, 3), (3, 2)])
def test_ranking_numbers__order_of_length_then_letters(subtopics: int, length: int):
    rankings = NumberedRankings(subtopics, length)
    expected = ranking_properties.all_rankings(subtopics, length)
    numbers = np.arange(rankings.count)
    names = rankings.names(numbers)
    assert [name.replace("empty", "") for name in names] == expected
    assert [rankings.number(name) for name in names] == numbers.tolist()
    assert rankings.lengths(numbers).tolist() == [len(name) for name in expected]
    letters = np.array([*rankings.letters, ""])
    assert ["".join(letters[column]) for column in rankings.labels(numbers).T] == expected


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((0, 2), "subtopics = 0 is not a whole number of at least 1"),
        ((24, 2), "subtopics = 24 is more than 23"),
        ((2, 0), "length = 0 is not a whole number of at least 1"),
        ((2, 16), "there are 64,570,081 rankings of up to 16 docs over 2 subtopics"),
        ((1, 10**9), "more than 16,777,216 rankings"),
        ((2, 2, -1), "relevant = -1"),
        ((2, 2, 2, (1.0,)), "weights = .* are not 2 numbers above 0"),
        ((2, 2, 2, (1.0, 0.0)), "weights = .* are not 2 numbers above 0"),
    ],
)
def test_ranking_space__invalid_argument(arguments: tuple[int, ...], problem: str):
    with pytest.raises(UsageError, match=problem):
        RankingSpace(*arguments)


@pytest.mark.parametrize(
    ("name", "problem"), [("abz", "ranking 'abz'"), ("aaa", "has more than 2 docs")]
)
def test_number__unknown_ranking(name: str, problem: str):
    with pytest.raises(UsageError, match=problem):
        NumberedRankings(2, 2).number(name)


def test_view__ranks_grades_and_lengths_of_rankings():
    space = RankingSpace(2, 3, relevant=2)
    view = space.view([space.number(name) for name in ("empty", "aaa", "xb")])
    ranks = np.where(view.ranks == view.missing, 0, view.ranks)
    rows = {doc: row.tolist() for doc, row in zip(view.docs, ranks, strict=True)}
    assert {doc: row for doc, row in rows.items() if any(row)} == {
        "a1": [0, 1, 0], "a2": [0, 2, 0], "a3": [0, 3, 0], "b1": [0, 0, 2], "x1": [0, 0, 1],
    }  # fmt: skip
    assert dict(zip(view.docs, view.grades.tolist(), strict=True)) == {
        **dict.fromkeys(("a1", "a2", "b1", "b2"), 1),
        **dict.fromkeys(("a3", "b3", "x1", "x2", "x3"), 0),
    }
    assert view.lengths.tolist() == [[0, 3, 2]]
    assert list(view.systems) == ["empty", *view.systems[1:]] == ["empty", "aaa", "xb"]


@pytest.mark.parametrize("relevant", [2, 3, 5])
def test_score_rankings__equal_naive_measures(relevant: int):
    """With fewer relevant docs than ranks, further docs of a subtopic are not relevant."""
    space = RankingSpace(2, 3, relevant)
    docs = {label: {f"{label}{i + 1}": 1 for i in range(relevant)} for label in "ab"}
    specs = parse_measures(["StRecall@2", "alpha_DCG(norm=none)@3"])
    found = score_rankings(space, specs)
    for number, name in enumerate(ranking_properties.all_rankings(2, 3)):
        listed = [f"{letter}{name[: i + 1].count(letter)}" for i, letter in enumerate(name)]
        total = diversity.novelty_sum(listed, 3, ["a", "b"], docs, 1, 0.5, diversity.log_discount)
        assert found[1, number] == pytest.approx(total, abs=1e-12), name
        reached = sum(bool(set(listed[:2]) & set(of)) for of in docs.values())
        assert found[0, number] == reached / 2, name


@pytest.mark.exhaustive
def test_score_rankings__value_does_not_depend_on_the_chunk(monkeypatch: pytest.MonkeyPatch):
    space = RankingSpace(2, 3, relevant=11)
    names = "AP,Bpref,ASL(unretrieved=depth),AvgSL,AvgSL(corpus=relevant),TSL,alpha_nDCG@3,AP_IA"
    specs = parse_measures(names)
    whole = score_rankings(space, specs)
    monkeypatch.setattr(enumeration, "CELLS", 1)
    assert len(list(space.chunks())) == space.count == 40
    np.testing.assert_array_equal(score_rankings(space, specs), whole)


@pytest.mark.parametrize(
    ("name", "why"), [("RareP@5", "counts the systems"), ("AP(norm=pool)@5", "reads the pool")]
)
def test_score_rankings__measure_of_several_lists_is_refused(name: str, why: str):
    with pytest.raises(UsageError, match=f"{why}.*no value for a ranking alone"):
        score_rankings(RankingSpace(2, 2), [parse_measure(name)])


def test_view__weights_of_subtopics():
    space = RankingSpace(2, 1, weights=(3.0, 1.0))
    values = irmeta.scores_of(space.view([1, 2, 3]), "StRecall@1,P_IA(weights=given)@1").values
    assert values[1, 0].tolist() == [0.75, 0.25, 0.0]


@pytest.mark.parametrize(
    ("name", "cutoff"), [("P@5", 5), ("AP", None), ("ASL@g2", None), ("IPrec@0.5", None)]
)
def test_rank_cutoff__only_a_rank(name: str, cutoff: int | None):
    assert rank_cutoff(parse_measure(name)) == cutoff
