"""Rank-biased overlap: vectors of the authors, naive implementation and worked examples."""

from __future__ import annotations

import csv
import gzip
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irmeta.errors import UsageError
from irmeta.stats.correlation import correlate
from irmeta.stats.orders import rbo, rbo_of_scores
from support.examples import scaled
from twins import orders as naive

ITEMS = list("abcdefgh")


@pytest.mark.exhaustive
def test_rbo__equals_all_published_vectors(shared):
    """10,000 pairs of rankings, three variants, four scores.

    The file has p to 15 digits, which limits the precision to about 1e-14.
    """
    with gzip.open(shared / "oracles/rbo/rbo_vectors.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10_000
    found, expected = [], []
    for row in rows:
        x, y = naive.parse_ranking(row["x"]), naive.parse_ranking(row["y"])
        for ties in ("w", "a", "b"):
            one = rbo(x, y, float(row["p"]), ties)
            found.append((one.ext, one.min, one.max, one.res))
            expected.append([float(row[f"{ties}.{s}"]) for s in ("ext", "min", "max", "res")])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1.2e-14)


@st.composite
def rankings(draw):
    items = draw(st.permutations(ITEMS))[: draw(st.integers(1, 8))]
    groups: list[list[str]] = [[]]
    for item in items:
        if groups[-1] and draw(st.booleans()):
            groups.append([])
        groups[-1].append(item)
    return groups


@given(rankings(), rankings(), st.sampled_from([0.1, 0.5, 0.9, 0.99]), st.sampled_from("wab"))
def test_rbo__equals_naive_implementation_and_respects_bounds(x, y, p, ties):
    found, expected = rbo(x, y, p, ties), naive.rbo(x, y, p, ties)
    for score in ("ext", "min", "max", "res"):
        assert getattr(found, score) == pytest.approx(expected[score], abs=1e-12)
    # Swapping the rankings changes rounding errors only.
    swapped = rbo(y, x, p, ties)
    assert swapped.ext == pytest.approx(found.ext, abs=1e-14)
    assert 0 <= found.min <= found.max + 1e-12


def test_rbo__worked_examples():
    """A_1 = 0 and A_2 = 1, so ext is the weight of all ranks after the first."""
    found = rbo(["a", "b"], ["b", "a"], 0.5)
    assert found.ext == pytest.approx(0.5)
    assert found.max == pytest.approx(0.5)
    # min: no further item is shared, (1 - p) sum over d >= 2 of p^(d-1) 2 / d.
    assert found.min == pytest.approx(2 * (-math.log(0.5) - 0.5))
    assert rbo("abc", "abc", 0.9).ext == pytest.approx(1)
    assert rbo("ab", "cd", 0.9).ext == 0


def test_rbo__variants_for_identical_tied_rankings():
    tied = [("a", "b")]
    assert rbo(tied, tied, 0.5, "w").ext == pytest.approx(1)
    assert rbo(tied, tied, 0.5, "b").ext == pytest.approx(1)
    assert rbo(tied, tied, 0.5, "a").ext == pytest.approx(0.75)  # A_1 is 0 in half of the cases


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(st.data())
def test_rbo__variant_a_is_the_mean_over_all_tie_breaks(data):
    """This holds where both rankings have the same items, without extrapolation."""
    scores = st.lists(st.integers(1, 3), min_size=5, max_size=5)
    x, y = (naive.ranking_of(dict(zip("abcde", data.draw(scores), strict=True))) for _ in "xy")
    ways = [rbo(first, second, 0.8).ext for first in broken(x) for second in broken(y)]
    assert rbo(x, y, 0.8, "a").ext == pytest.approx(np.mean(ways), abs=1e-12)


def broken(ranking: list[list[str]]) -> list[list[str]]:
    items = [i for group in ranking for i in group]
    scores = [-float(n) for n, group in enumerate(ranking) for _ in group]
    return [[items[i] for i in order] for order in naive.orders(scores)]


@given(
    st.lists(
        st.lists(st.sampled_from([math.nan, -math.inf, 0.0, 0.5, 1.0]), min_size=6, max_size=6),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from("wab"),
)
def test_rbo_of_scores__ranks_systems_with_a_defined_score(values, ties):
    x = np.array(values)
    out = rbo_of_scores(x, x, False, 0.7, ties)
    paired = rbo_of_scores(x, x[::-1].copy(), True, 0.7, ties)
    assert paired.shape == (len(x), 1, 3)
    for a, first in enumerate(values):
        for b, second in enumerate(values):
            one = [
                naive.ranking_of({n: v for n, v in zip(ITEMS, row, strict=False) if v == v})
                for row in (first, second)
            ]
            direct = rbo(*one, 0.7, ties)
            expected = [direct.ext, direct.min, direct.max]
            np.testing.assert_allclose(out[a, b], expected, atol=1e-13)
            if b == len(values) - 1 - a:
                np.testing.assert_allclose(paired[a, 0], expected, atol=1e-13)


def test_correlate__all_rbo_methods():
    x = np.array([[3, 2, 1, math.nan], [1, 2, 2, 4]])
    scores = {m: correlate(x, m, p=0.6, ties="b") for m in ("rbo", "rbo-min", "rbo-max", "rbo-res")}
    one = rbo("abc", ["d", ("b", "c"), "a"], 0.6, "b")
    for method, value in zip(scores, (one.ext, one.min, one.max, one.res), strict=True):
        assert scores[method].values[0, 1] == pytest.approx(value, abs=1e-14)
    assert scores["rbo"].systems[0, 1] == 3


def test_rbo__accepts_any_items_and_collections():
    pairs = ([1, {2, 3}], [1, [2, 3]], [1, (3, 2)], [1, frozenset({2, 3})])
    assert len({rbo(x, [3, 1, 2]).ext for x in pairs}) == 1


@pytest.mark.parametrize("x", [[], [()]])
def test_rbo__undefined_for_an_empty_ranking(x):
    assert math.isnan(rbo(x, ["a"]).ext)
    assert math.isnan(rbo(["a"], x).res)
    assert math.isnan(rbo(x, x).max)


def test_rbo__rejects_invalid_arguments():
    for p in (0, 1, -1, math.nan):
        with pytest.raises(UsageError, match="p of RBO"):
            rbo("ab", "ba", p)
    with pytest.raises(UsageError, match="one of w, a, b"):
        rbo("ab", "ba", 0.5, "c")
    with pytest.raises(UsageError, match="'a' is a duplicate item"):
        rbo(["a", ("b", "a")], "ab")
