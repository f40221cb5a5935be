"""Orders of judging against plain computations, and samples of known probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from irmeta.errors import UsageError
from irmeta.kernels.judging_orders import THOMPSON, visit_lists
from irmeta.rankings.derive.sample import hash_of, random_numbers
from irmeta.rankings.judging_orders import (
    NOT_HELD,
    JudgingPool,
    checked_orders,
    deepest_share,
    inclusion_probabilities,
)
from support.examples import scaled
from twins import judging_orders as naive

SEED = 5
DOCS = "abcdefgh"
# A rank of None holds a doc that nobody judged.
LISTS = st.dictionaries(
    st.sampled_from(["s", "t", "u", "v"]),
    st.permutations([*DOCS, None, None]).flatmap(
        lambda docs: st.integers(0, 10).map(lambda number: docs[:number])
    ),
    min_size=1,
)
QUERIES = st.lists(st.tuples(LISTS, st.sets(st.sampled_from(DOCS))), min_size=1, max_size=3)


def pool_of(
    queries: Sequence[tuple[naive.Lists, set[str]]], unlabelled: set[str] = frozenset()
) -> tuple[JudgingPool, list[tuple[int, str]]]:
    """Return the pool of some queries, and query and doc of each row."""
    systems = sorted({system for lists, _ in queries for system in lists})
    rows, ranks, labels, offsets = [], [], [], [0]
    for q, (lists, relevant) in enumerate(queries):
        of_docs = naive.ranks_of(lists)
        for doc in sorted(of_docs):
            rows.append((q, doc))
            ranks.append([of_docs[doc].get(system, NOT_HELD) for system in systems])
            labels.append(-1 if doc in unlabelled else int(doc in relevant))
        offsets.append(len(rows))
    hashes = np.array([hash_of(str(q), doc) for q, doc in rows], np.uint64)
    names = [str(q) for q in range(len(queries))]
    ranked = np.array(ranks, np.int64).reshape(len(rows), len(systems))
    pool = JudgingPool(names, systems, np.array(offsets), hashes, ranked, np.array(labels, np.int8))
    return pool, rows


def expected(
    order: str, queries: Sequence[tuple[naive.Lists, set[str]]]
) -> dict[tuple[int, str], float]:
    """Return what an order sorts docs by: their place within a query, or a value of all."""
    keys: dict[tuple[int, str], float] = {}
    for q, (lists, relevant) in enumerate(queries):
        everywhere = {s: lists.get(s, []) for s in {s for of, _ in queries for s in of}}
        of_lists = {s: int(random_numbers(SEED, np.array([hash_of(str(q), s)], np.uint64))[0])
                    for s in everywhere}  # fmt: skip
        if order in ("depth", "rbp"):
            by_doc = getattr(naive, order)(lists)
        elif order == "hedge":
            docs = naive.ranks_of(lists)
            ties = {d: int(random_numbers(SEED, np.array([hash_of(str(q), d)], np.uint64))[0])
                    for d in docs}  # fmt: skip
            by_doc = {d: i for i, d in enumerate(naive.hedge(everywhere, relevant, ties))}
        elif order == "movetofront":
            by_doc = {
                d: i for i, d in enumerate(naive.move_to_front(everywhere, relevant, of_lists))
            }
        else:
            made = naive.bandit(everywhere, relevant, of_lists, naive.last_mean)
            by_doc = {d: i for i, d in enumerate(made)}
        keys |= {(q, doc): round(value, 12) for doc, value in by_doc.items()}
    return keys


@pytest.mark.parametrize("order", ["depth", "rbp", "movetofront", "maxmean", "hedge"])
@settings(max_examples=scaled(15))
@given(QUERIES)
def test_places__equal_twin(order: str, queries: list[tuple[naive.Lists, set[str]]]):
    pool, rows = pool_of(queries)
    keys = expected(order, queries)
    ties = random_numbers(SEED, pool.hashes)
    by_twin = sorted(range(len(rows)), key=lambda row: (keys[rows[row]], int(ties[row])))
    assert np.argsort(pool.places(order, SEED)).tolist() == by_twin
    for budget in (1, len(rows) // 2):  # fewer docs are the first ones
        places = pool.places(order, SEED, budget)
        assert {*np.flatnonzero(places < budget)} == {*by_twin[:budget]}


@pytest.mark.parametrize("order", ["movetofront", "maxmean", "hedge"])
def test_places__equal_twin_on_longer_lists(order: str):
    rng = np.random.default_rng(1)
    docs = np.array([*"abcdefghijklmnopqrst"])
    for _ in range(12):
        lists = {system: rng.permutation(docs)[:14].tolist() for system in "stuv"}
        queries = [(lists, {*rng.permutation(docs)[:8].tolist()})]
        pool, rows = pool_of(queries)
        keys = expected(order, queries)
        by_twin = sorted(range(len(rows)), key=lambda row: keys[rows[row]])
        assert np.argsort(pool.places(order, SEED)).tolist() == by_twin


@settings(max_examples=scaled(15))
@given(QUERIES)
def test_places__all_orders_are_permutations_that_depend_on_names_alone(
    queries: list[tuple[naive.Lists, set[str]]],
):
    pool, rows = pool_of(queries)
    for order in ("thompson", "random"):
        places = pool.places(order, SEED)
        assert sorted(places) == [*range(len(rows))]
        assert places.tolist() == pool.places(order, SEED).tolist()
    if len(rows) > 6:
        draws = {tuple(pool.places("random", seed)) for seed in range(9)}
        assert len(draws) > 1


def test_judge__greatest_labels_first_and_docs_without_one_last():
    queries = [({"s": ["a", "b", "c"]}, {"a"})]
    pool, _ = pool_of(queries)
    pool = JudgingPool(pool.queries, pool.lists, pool.offsets, pool.hashes, pool.ranks,
                       pool.labels, np.array([np.nan, 2.0, 1.0]))  # fmt: skip
    assert pool.places("judge", 0).tolist() == [2, 0, 1]
    with pytest.raises(UsageError, match="needs the labels of a judge"):
        pool_of(queries)[0].places("judge", 0)


def test_unlabelled_docs__count_as_nonrelevant():
    queries = [({"s": ["a", "b", "c"], "t": ["d", "c", "e"]}, {"a", "b"})]
    awaited, _ = pool_of(queries, unlabelled={"a", "b"})
    never = pool_of([(queries[0][0], set())])[0]
    for order in ("movetofront", "maxmean", "hedge", "thompson"):
        assert awaited.places(order, 1).tolist() == never.places(order, 1).tolist()


def test_without__leaves_docs_of_other_lists():
    pool, rows = pool_of([({"s": ["a", "b"], "t": ["b", "c"]}, set()), ({"s": ["a"]}, set())])
    smaller, held = pool.without([0])
    assert [rows[row] for row in np.flatnonzero(held)] == [(0, "b"), (0, "c")]
    assert smaller.offsets.tolist() == [0, 2, 2]
    assert smaller.places("depth", 0).tolist() == [0, 1]
    assert smaller.places("maxmean", 0).tolist() == [0, 1]


def test_thompson__draws_from_beta_posteriors():
    # Of two lists, the first has yielded one relevant and the second one non-relevant doc: by
    # Beta(2, 1) and Beta(1, 2) the first is drawn next with probability 5/6.
    docs, ends = np.array([0, 2, 1, 3], np.int32), np.array([2, 4])
    labels, first = np.array([1, 0, 0, 0], np.int8), list[int]()
    for seed in range(1000):
        out = np.empty(4, np.int32)
        rng = np.random.default_rng(seed)
        assert visit_lists(THOMPSON, docs, ends, labels, np.zeros(2), rng, out) == 4
        if {*out[:2].tolist()} == {0, 1}:
            first.append(int(out[2]))
    assert stats.binomtest(first.count(2), len(first), 5 / 6).pvalue > 0.001


@settings(max_examples=scaled(25))
@given(QUERIES, st.integers(1, 12))
def test_inclusion_probabilities__sum_to_the_number(
    queries: list[tuple[naive.Lists, set[str]]], number: int
):
    pool, rows = pool_of(queries)
    number = min(number, len(rows))
    chances = inclusion_probabilities(pool, number)
    assert ((chances > 0) & (chances <= 1)).all()
    assert chances.sum() == pytest.approx(number)


def test_inclusion_probabilities__are_proportional_to_weights_in_average_precision():
    pool, rows = pool_of([({"s": ["a", "b", "c"], "t": ["a"]}, set())])
    weights = {"a": 2 * (1 + 1 + 1 / 2 + 1 / 3), "b": 1 + 1 / 2 + 1 / 3, "c": 1 + 1 / 3}
    total = sum(weights.values())
    chances = inclusion_probabilities(pool, 1)
    assert chances.tolist() == pytest.approx([weights[doc] / total for _, doc in rows])
    certain = inclusion_probabilities(pool, 2)  # a would be drawn 1.28 times
    others = weights["b"] + weights["c"]
    assert certain.tolist() == pytest.approx([1, weights["b"] / others, weights["c"] / others])


@given(st.lists(st.integers(0, 9), max_size=5), st.integers(0, 30))
def test_deepest_share__is_the_least_that_spends_the_budget(sizes: list[int], budget: int):
    share = deepest_share(np.array(sizes, np.int64), budget)
    spent = [sum(min(size, most) for size in sizes) for most in range(max(sizes, default=0) + 1)]
    assert share == next((m for m, docs in enumerate(spent) if docs >= budget), len(spent) - 1)


def test_checked_orders__know_the_bandit():
    assert checked_orders(["bandit", "depth"]) == ("maxmean", "depth")
    with pytest.raises(UsageError, match="twice"):
        checked_orders(["bandit", "maxmean"])
