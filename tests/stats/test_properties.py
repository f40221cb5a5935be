"""Properties of measures: pairs of rankings against naive relations, and counts of violations."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irmeta.errors import UsageError
from irmeta.numbered_rankings import EMPTY, NumberedRankings
from irmeta.stats import properties
from irmeta.stats.properties import Pairs, Property, count_violations, properties_for, strictly
from support.examples import scaled
from twins import ranking_properties as naive

RELATIONS: dict[str, Callable[[str, str], bool]] = {
    "relevance": naive.relevance,
    "irrelevance": naive.irrelevance,
    "redundancy": naive.redundancy,
    "swap": naive.swap,
    "replacement": naive.replacement,
    "convergence": naive.replacement,
    "top-weightedness": naive.swap,
    "monotonicity": naive.extension,
    "strict relevance": naive.relevance,
    "strict irrelevance": naive.irrelevance,
    "strict redundancy": naive.redundancy,
}
EVERY = (*properties.PAPER, *properties.FURTHER)
SIZES = ((1, 4), (2, 3), (3, 3), (4, 2))
ACT = {"": 0.0, "a": 1 / 20, "x": 0.0, "aa": 1 / 16, "ax": 1 / 20, "aax": 1 / 15}


def written(rankings: NumberedRankings, pairs: Pairs) -> list[tuple[str, str]]:
    """The pairs as text; fails if a piece names another length than that of its longer ranking."""
    out: list[tuple[str, str]] = []
    for length, lower, upper in pairs:
        for start, row in zip(lower.tolist(), upper.tolist(), strict=True):
            for end in row:
                names = [rankings.name(i).replace(EMPTY, "") for i in (start, end)]
                assert max(map(len, names)) == length
                out.append((names[0], names[1]))
    return out


def naive_pairs(one: Property, rankings: NumberedRankings) -> set[tuple[str, str]]:
    names = naive.all_rankings(rankings.subtopics, rankings.length)
    if one is properties.INDUCTION:
        return naive.induced(names)
    return naive.related(names, RELATIONS[one.name])


@pytest.mark.parametrize("size", SIZES)
def test_pairs__equal_naive_relations(size: tuple[int, int]):
    rankings = NumberedRankings(*size)
    for one in EVERY:
        pairs = written(rankings, one.pairs(rankings, ()))
        assert len(pairs) == len(set(pairs)), f"{one.name} has a pair twice"
        assert set(pairs) == naive_pairs(one, rankings), one.name


@pytest.mark.parametrize("size", [*SIZES, (1, 1), (5, 1), (2, 6)])
def test_count_induced__equals_the_number_of_pairs(size: tuple[int, int]):
    rankings = NumberedRankings(*size)
    pieces = properties.induced_pairs(rankings)
    assert properties.count_induced(rankings) == sum(upper.size for _, _, upper in pieces)


@pytest.mark.parametrize("weights", [(0.5, 0.3, 0.2), (0.3, 0.3, 0.4)])
def test_pairs__weights_restrict_redundancy(weights: tuple[float, ...]):
    rankings, names = NumberedRankings(3, 3), naive.all_rankings(3, 3)
    expected = {
        properties.REDUNDANCY: naive.related(names, partial(naive.redundancy, weights=weights)),
        properties.WEIGHT: naive.related(names, partial(naive.heavier, weights=weights)),
        properties.INDUCTION: naive.induced(names, weights),
    }
    for one, pairs in expected.items():
        assert set(written(rankings, one.pairs(rankings, weights))) == pairs, one.name
    assert not list(properties.weight_pairs(rankings))


SCORE = st.sampled_from([0.0, 0.5, 0.5 + 1e-13, 1.0, math.inf, math.nan])


@settings(max_examples=scaled(15))
@given(st.data(), st.sampled_from(EVERY))
def test_count_violations__equal_naive_counts(data: st.DataObject, one: Property):
    rankings, names = NumberedRankings(2, 3), naive.all_rankings(2, 3)
    scores = data.draw(st.lists(SCORE, min_size=len(names), max_size=len(names)))
    cutoff = data.draw(st.sampled_from([None, 1, 2, 9]))
    flat = np.zeros(len(names))  # a measure beside it, without a cutoff
    found = count_violations(one, rankings, np.array([flat, scores]), cutoffs=[None, cutoff])
    deepest = cutoff if one.strict and cutoff else 3
    by_name = dict(zip(names, scores, strict=True))
    expected = naive.counts(naive_pairs(one, rankings), by_name, one.strict, deepest)
    for name in ("applicable", "violated", "tied", "undefined"):
        assert getattr(found, name)[1].sum() == expected[name], name
    assert found.with_empty[1] == expected["with_empty"]
    assert found.with_empty_violated[1] == expected["with_empty_violated"]
    first = found.examples.get((1, "first"))
    assert (first and tuple(rankings.names(first))) == expected["first"]


def test_count_violations__smallest_and_largest_violation():
    rankings = NumberedRankings(1, 3)
    scores = np.array([[ACT.get(name, 0.0) for name in naive.all_rankings(1, 3)]])
    scores[0, rankings.number("axx")] = 0.5
    found = count_violations(properties.IRRELEVANCE, rankings, scores)
    names = {case: rankings.names(pair) for (_, case), pair in found.examples.items()}
    assert names == {"first": ["aax", "aa"], "smallest": ["aax", "aa"], "largest": ["axx", "ax"]}
    by_length = found.violated[0].tolist()
    assert by_length == [0, 0, 0, 2]


def test_properties_for__properties_about_these_kinds_alone():
    def names(*kinds: str) -> list[str]:
        return [one.name for one in properties_for(kinds)]

    assert names("truncated") == ["relevance", "irrelevance"]
    assert names("diverse") == ["redundancy"]
    assert names("diverse", "truncated") == [one.name for one in properties.PAPER]
    assert names("ordered") == ["swap", "replacement", "convergence", "top-weightedness"]
    with pytest.raises(UsageError, match=r"kind of rankings = 'diverce' is not a choice. Did you"):
        names("diverce")
    with pytest.raises(UsageError, match="no kind of rankings was given"):
        names()


def test_strictly__tied_pairs_fail():
    rankings, scores = NumberedRankings(1, 2), np.zeros((1, 7))
    strict = count_violations(strictly(properties.RELEVANCE, ""), rankings, scores)
    assert strict.violated.sum() == strict.tied.sum() == strict.applicable.sum() == 2
    assert strict.property.formula == "m(S) < m(S·r)"
