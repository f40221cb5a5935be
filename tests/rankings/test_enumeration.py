"""Enumerated rankings: numbers and names, and views that every measure runs on."""

from __future__ import annotations

import numpy as np
import pytest

import irmeta
from irmeta.errors import UsageError
from irmeta.measures.evaluate import rank_cutoff, score_rankings
from irmeta.measures.names import parse_measure, parse_measures
from irmeta.numbered_rankings import NumberedRankings
from irmeta.rankings import enumeration
from irmeta.rankings.enumeration import RankingSpace
from twins import diversity, ranking_properties


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
