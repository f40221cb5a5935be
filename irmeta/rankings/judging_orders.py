"""Orders in which the docs of a pool are judged, by the lists that made it and labels so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from irmeta.errors import UsageError
from irmeta.kernels.judging_orders import MAX_MEAN, MOVE_TO_FRONT, THOMPSON, hedge, visit_lists
from irmeta.rankings.derive.sample import hash_of, random_numbers

LIST_RULES = {"movetofront": MOVE_TO_FRONT, "maxmean": MAX_MEAN, "thompson": THOMPSON}
"""Orders that take the next doc of a list that they pick."""
BY_LABELS = (*LIST_RULES, "hedge")
"""Orders in which a doc depends on the labels of those before it."""
SAMPLED = "sample"
"""The random sample beside the orders, whose inclusion probabilities are known."""
WITHOUT_CHANCE = ("hedge", "rbp")
"""Orders in which chance decides nothing but exact ties."""
P, BETA = 0.8, 0.1
"""Persistence of ``rbp``, as in `Store.pools.to_judge`, and the factor of ``hedge``."""
NOT_HELD = int(np.iinfo(np.int64).max)
BANDIT = "maxmean"
"""The order that is also called bandit."""


def checked_orders(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of orders without their aliases; `UsageError` for a repeated one."""
    orders = tuple(BANDIT if name == "bandit" else name for name in names)
    if len(set(orders)) < len(orders):
        raise UsageError(f"order names one twice (bandit is {BANDIT}): {', '.join(names)}.")
    return orders


@dataclass(frozen=True)
class JudgingPool:
    """The docs of a pool, query after query, that may be judged.

    Attributes
    ----------
    queries, lists
        Names of the queries, and of the systems whose lists made the pool.
    offsets
        int64 [queries + 1]: the rows of each query.
    hashes
        uint64 [rows], of the names of query and doc, for random order.
    ranks
        int64 [rows, lists], `NOT_HELD` where the doc is not in the list.
    labels
        int8 [rows]: 1 for a relevant doc, 0 for another judged one, -1 for one without a label.
    judge
        float64 [rows], labels of the judge whose labels ``judge`` sorts by; NaN: none.
    """

    queries: Sequence[str]
    lists: Sequence[str]
    offsets: np.ndarray
    hashes: np.ndarray
    ranks: np.ndarray
    labels: np.ndarray
    judge: np.ndarray | None = None

    def without(self, columns: Sequence[int]) -> tuple[JudgingPool, np.ndarray]:
        """Return the pool of the other lists, and which rows it has: bool [rows]."""
        chosen = [i for i in range(len(self.lists)) if i not in columns]
        ranks = self.ranks[:, chosen]
        rows: np.ndarray = np.any(ranks < NOT_HELD, axis=1)
        offsets = np.concatenate([[0], np.cumsum(rows)])[self.offsets]
        judge = None if self.judge is None else self.judge[rows]
        lists = [self.lists[i] for i in chosen]
        arrays = self.hashes[rows], ranks[rows], self.labels[rows]
        return JudgingPool(self.queries, lists, offsets, *arrays, judge), rows

    @cached_property
    def query(self) -> np.ndarray:
        """The query of each row: int64 [rows]."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.offsets))

    @cached_property
    def by_rank(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each query the arguments `docs` and `ends` of `visit_lists`."""
        out = list[tuple[np.ndarray, np.ndarray]]()
        for first, last in zip(self.offsets[:-1], self.offsets[1:], strict=True):
            ranks = np.ascontiguousarray(self.ranks[first:last].T)
            held = ranks < NOT_HELD
            sorted_docs = np.argsort(ranks, axis=1, kind="stable").astype(np.int32)
            lengths = held.sum(axis=1)
            docs = sorted_docs[np.arange(ranks.shape[1]) < lengths[:, None]]
            out.append((docs, np.cumsum(lengths)))
        return out

    @cached_property
    def weights(self) -> np.ndarray:
        """Sum over the lists of (1 - p) p^(rank - 1), to 12 digits: float64 [rows]."""
        exponents = np.where(self.ranks < NOT_HELD, self.ranks - 1, np.inf)
        return np.round((1 - P) * P**exponents, 15).sum(axis=1).round(12)

    def places(self, order: str, seed: int, budget: int | None = None) -> np.ndarray:
        """Return the place of each doc in an order of judging over all queries: int64 [rows].

        The orders `BY_LABELS` judge equally many docs of each query as far as it has so many; the
        others sort the docs of all queries together. Equal docs are in random order, by the names
        of query and doc. Only the first `budget` places need be right.
        """
        ties = random_numbers(seed, self.hashes)
        if order == "depth":
            key: np.ndarray = self.ranks.min(axis=1, initial=NOT_HELD)
        elif order == "rbp":
            key = -self.weights
        elif order == "judge":
            if self.judge is None:
                raise UsageError("the order judge needs the labels of a judge: `judge`.")
            key = -np.where(np.isnan(self.judge), -np.inf, self.judge)
        elif order == "random":
            key = np.zeros(len(ties))
        else:
            key = self._by_labels(order, seed, budget)
        places = np.empty(len(ties), np.int64)
        places[np.lexsort((ties, key))] = np.arange(len(ties))
        return places

    def _by_labels(self, order: str, seed: int, budget: int | None) -> np.ndarray:
        """Return the place of each doc among those of its query: int64 [rows]."""
        out = np.full(len(self.labels), NOT_HELD)
        most = deepest_share(np.diff(self.offsets), budget)
        labels = np.maximum(self.labels, 0)
        for q, (first, last) in enumerate(zip(self.offsets[:-1], self.offsets[1:], strict=True)):
            if first == last:
                continue
            chosen, name = np.empty(min(last - first, most), np.int32), self.queries[q]
            if order == "hedge":
                ties = random_numbers(seed, self.hashes[first:last]).astype(np.float64)
                loss = losses(self.ranks[first:last])
                number = hedge(loss, labels[first:last], ties, BETA, chosen)
            else:
                of_lists = np.array([hash_of(name, system) for system in self.lists], np.uint64)
                ties = random_numbers(seed, of_lists).astype(np.float64)
                rng = np.random.default_rng([seed, hash_of(name)])
                rule = LIST_RULES[order]
                number = visit_lists(rule, *self.by_rank[q], labels[first:last], ties, rng, chosen)
            out[first + chosen[:number]] = np.arange(number)
        return out


def deepest_share(sizes: np.ndarray, budget: int | None) -> int:
    """Return the most docs of a query if a budget is shared equally, of these numbers of docs."""
    low, high = 0, int(sizes.max(initial=0))
    while budget is not None and low < high:
        middle = (low + high) // 2
        if np.minimum(sizes, middle).sum() >= budget:
            high = middle
        else:
            low = middle + 1
    return high


def losses(ranks: np.ndarray) -> np.ndarray:
    """Return half of ln(Z / rank) for each doc and list: float64 [docs, lists].

    Z is the number of docs, at least the deepest rank. Docs that a list lacks have the mean over
    the ranks below its last doc.
    """
    held = ranks < NOT_HELD
    deepest = np.where(held, ranks, 0).max(axis=0, initial=0)
    last = max(len(ranks), int(deepest.max(initial=1)))
    each = 0.5 * np.log(last / np.arange(1, last + 1))
    below = np.concatenate([np.cumsum(each[::-1])[::-1], [0.0]])[deepest]
    absent = below / np.maximum(last - deepest, 1)
    return np.ascontiguousarray(np.where(held, each[np.where(held, ranks, 1) - 1], absent))


def inclusion_probabilities(pool: JudgingPool, number: int) -> np.ndarray:
    """Return the probabilities of a sample of `number` docs expected: float64 [rows].

    They are proportional to the sum over lists of the weight of a rank r in average precision,
    (1 + 1/r + ... + 1/Z) / (2 Z) with Z the deepest rank (Aslam and Pavlu 2007), with the same sum
    for each query, and at most 1.
    """
    held = pool.ranks < NOT_HELD
    last = int(np.where(held, pool.ranks, 1).max(initial=1))
    tails = np.cumsum(1.0 / np.arange(last, 0, -1))[::-1]
    weights = np.where(held, 1.0 + tails[np.where(held, pool.ranks, 1) - 1], 0.0).sum(axis=1)
    weights /= np.bincount(pool.query, weights, len(pool.queries))[pool.query]
    probabilities = np.zeros(len(weights))
    is_certain = np.zeros(len(weights), bool)
    while not is_certain.all():  # those above 1 are certain, and the others share the remainder
        free = ~is_certain
        share = weights[free] * ((number - is_certain.sum()) / weights[free].sum())
        probabilities[free] = np.minimum(share, 1.0)
        if not (share >= 1).any():
            break
        is_certain = probabilities >= 1
    return probabilities
