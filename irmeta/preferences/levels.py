"""Recall levels: sets of relevant docs per query, their sorted ranks, and the weight of each level.

Sets are stacked: a query has the levels of each of its sets, of grades or of subtopics. The weight
of a level is ``p(set) p(i)`` with ``p(set) = |set| / sum of |set|`` and p(i) normalised within the
set, so that the weights of a query add up to 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.pair_preferences import add_net_wins, add_preferences, add_weighted_preferences
from irmeta.naming import Cutoff, Parameter
from irmeta.preferences.spec import PairTerm
from irmeta.rankings.judged import JudgedRanks
from irmeta.results.verdicts import BlockPreferences

P = Parameter(
    "p",
    "uniform",
    "weights of the recall levels i: 1, 1 / log2(i + 1), 1 / i, or g^(i - 1), normalised",
    kind="choice",
    choices=("uniform", "dcg", "inverse", "geometric"),
)
G = Parameter("g", 0.8, "base of p=geometric", kind="number", low=0, high=1, open=True)
_KEYS = 1 << 22  # ranks sorted at once


def check_p(params: Mapping[str, Any], cutoff: Cutoff) -> None:
    """Raise an error for a base of weights that have none."""
    if params["p"] != "geometric" and params["g"] != G.default:
        raise MeasureError(f"g={params['g']:g} needs p=geometric.")


def printed_p(params: Mapping[str, Any]) -> list[str]:
    """Return the parameters of `P` and `G` that a name prints."""
    if params["p"] == "geometric":
        return ["p", "g"]
    return [] if params["p"] == P.default else ["p"]


def level_weights(size: int, params: Mapping[str, Any]) -> np.ndarray:
    """Return the unnormalised weights of the recall levels 1 to `size`: float64 [size]."""
    i = np.arange(1.0, size + 1.0)
    if params["p"] == "dcg":
        return 1.0 / np.log2(i + 1.0)
    if params["p"] == "inverse":
        return 1.0 / i
    return params["g"] ** (i - 1.0) if params["p"] == "geometric" else np.ones(size)


@dataclass(frozen=True)
class DocSets:
    """Sets of relevant docs: `rows` of the view, set by set, and the ascending `query` of each."""

    view: JudgedRanks
    rows: np.ndarray
    offsets: np.ndarray
    query: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """Number of docs of each set: int64 [sets]."""
        return np.diff(self.offsets)


def graded_sets(view: JudgedRanks, rel: float, grades: str = "graded") -> DocSets:
    """Return the docs of each grade or above, for the grades of each query from `rel` up.

    With ``binary`` there is one set per query, the docs of grade `rel` or above.
    """
    is_relevant = view.grades >= rel
    query = view.query_of(np.arange(len(view.grades)))
    ends = is_relevant.copy()  # the last doc of each set
    follows = (query[1:] == query[:-1]) & is_relevant[1:]
    if grades == "graded":
        follows &= view.grades[1:] == view.grades[:-1]
    ends[:-1] &= ~follows
    last = np.flatnonzero(ends)
    starts = view.offsets[query[last]]
    sizes = last - starts + 1
    return DocSets(view, _ranges(starts, sizes), _offsets(sizes), query[last])


def subtopic_sets(view: JudgedRanks, rel: float) -> DocSets:
    """Return the docs relevant to each subtopic, for the subtopics with any."""
    subtopics = view.require("subtopics")
    relevant = np.flatnonzero(subtopics.grade >= rel)
    rows, number = subtopics.rows[relevant], subtopics.subtopic[relevant]
    query = view.query_of(rows)
    order = np.lexsort((rows, number, query))
    rows, number, query = rows[order], number[order], query[order]
    is_first = np.ones(len(rows), bool)
    is_first[1:] = (query[1:] != query[:-1]) | (number[1:] != number[:-1])
    starts = np.flatnonzero(is_first)
    return DocSets(view, rows, np.append(starts, len(rows)), query[starts])


class LevelOrder:
    """The order of the systems at each recall level; for `ranks` see `Levels`."""

    def __init__(self, ranks: np.ndarray) -> None:
        self._ranks, systems = ranks, ranks.shape[1]
        self.bits: int = max(1, (systems - 1).bit_length())
        is_narrow = ranks.dtype == np.uint16 and self.bits <= 16
        self._wide = np.uint32 if is_narrow else np.uint64
        self._kept: np.ndarray | None = None

    def keys(self, rows: slice) -> np.ndarray:
        """Return rank << bits | index of the system for some levels, each level ascending.

        Those of all levels are kept if they are few.
        """
        if self._ranks.size > _KEYS:
            return self._sorted(rows)
        if self._kept is None:
            self._kept = self._sorted(slice(None))
        return self._kept[rows]

    def _sorted(self, rows: slice) -> np.ndarray:
        wide = self._wide
        systems = np.arange(self._ranks.shape[1], dtype=wide)
        keys = self._ranks[rows].astype(wide) << wide(self.bits) | systems
        keys.sort(axis=1)
        return keys


@dataclass(frozen=True)
class Levels:
    """Stacked recall levels of a block of queries: `offsets` (int64 [queries + 1]) of each query.

    `ranks` [levels, systems] are of each system's i-th doc of the set, the greatest value not
    retrieved; `weights` add up to 1 in a query, where `is_uniform` equal. Levels of other weights
    share the `order` of the systems.
    """

    ranks: np.ndarray
    offsets: np.ndarray
    weights: np.ndarray
    is_uniform: bool
    order: LevelOrder

    @property
    def counts(self) -> np.ndarray:
        """Number of levels of each query: int64 [queries]."""
        return np.diff(self.offsets)


def stack_levels(parts: Sequence[DocSets], params: Mapping[str, Any], k: int | None) -> Levels:
    """Sort the ranks of the sets, and stack the sets of all parts query by query."""
    queries = len(parts[0].view.queries)
    ranks = [part.view.sort_sets(part.rows, part.offsets) for part in parts]
    query = np.concatenate([part.query for part in parts])
    sizes = np.concatenate([part.sizes for part in parts])
    stacked = np.concatenate(ranks) if len(parts) > 1 else ranks[0]
    if len(parts) > 1:
        order = np.argsort(query, kind="stable")
        stacked = stacked[_ranges(_offsets(sizes)[:-1][order], sizes[order])]
        query, sizes = query[order], sizes[order]
    if k is not None:
        missing = np.iinfo(stacked.dtype).max
        stacked = np.where(stacked > min(k, missing - 1), stacked.dtype.type(missing), stacked)
    levels = np.zeros(queries, np.int64)
    np.add.at(levels, query, sizes)
    raw = level_weights(int(sizes.max(initial=0)), params)
    # The sum of a set's weights is sequential, so that it depends on the size of the set alone.
    of_set = sizes / levels[query] / np.cumsum(raw)[sizes - 1]
    weights = raw[_ranges(np.zeros_like(sizes), sizes)] * np.repeat(of_set, sizes)
    is_uniform = params["p"] == "uniform"
    return Levels(stacked, _offsets(levels), weights, is_uniform, _order(parts, stacked, k))


def _order(parts: Sequence[DocSets], ranks: np.ndarray, k: int | None) -> LevelOrder:
    """Return the order at each level; of one part, the view keeps it for other weights."""
    if len(parts) > 1 or k is not None:
        return LevelOrder(ranks)
    (only,) = parts
    key = "order", only.rows.tobytes(), only.offsets.tobytes()
    return only.view.cached(key, lambda: LevelOrder(ranks))


def compare_levels(levels: Levels) -> BlockPreferences:
    """Return the weighted preferences of all pairs of systems."""
    systems = levels.ranks.shape[1]

    def difference(query: int) -> np.ndarray:
        out = np.zeros((systems, systems))
        _add(levels, levels.offsets[query : query + 2], out)
        return out

    return LevelPreferences(levels.counts > 0, systems, difference, levels)


@dataclass(frozen=True)
class LevelPreferences(BlockPreferences):
    """Preferences that are sums over recall levels of the weighted sign of two ranks."""

    levels: Levels

    def add_to(self, total: np.ndarray) -> None:
        """Add the preferences of all queries to float64 [systems, systems]."""
        _add(self.levels, self.levels.offsets, total)

    def win_rates(self, opponents: np.ndarray) -> np.ndarray:
        """Sum the preferences over opponents by sorting each level: float64 [queries, systems]."""
        levels, systems = self.levels, self.systems
        out = np.zeros((len(levels.counts), systems))
        weights = np.ones(len(levels.ranks)) if levels.is_uniform else levels.weights
        step = max(1, _KEYS // max(1, systems))
        first = 0
        while first < len(out):
            last = int(np.searchsorted(levels.offsets, levels.offsets[first] + step)) - 1
            last = max(last, first + 1)
            rows = slice(int(levels.offsets[first]), int(levels.offsets[last]))
            keys, bits = levels.order.keys(rows), levels.order.bits
            offsets = levels.offsets[first : last + 1] - rows.start
            add_net_wins(keys, bits, weights[rows], opponents, offsets, out[first:last])
            first = last
        if levels.is_uniform:  # whole numbers until here, so that ties are exact
            out /= np.maximum(levels.counts, 1)[:, None]
        out[~self.defined] = np.nan
        return out

    def level_counts(self) -> tuple[int, int, int]:
        """Count all recall levels of all pairs, those that either list reaches, and those decided.

        A level is decided if the ranks of the two lists differ.
        """
        ranks = np.sort(self.levels.ranks, axis=1)
        pairs = ranks.shape[0] * (self.systems * (self.systems - 1) // 2)
        starts = np.ones(ranks.shape, bool)
        starts[:, 1:] = ranks[:, 1:] != ranks[:, :-1]
        tied = np.diff(np.flatnonzero(starts), append=starts.size)
        missing = np.count_nonzero(ranks == np.iinfo(ranks.dtype).max, axis=1)
        equal, absent = (int((n * (n - 1) // 2).sum()) for n in (tied, missing))
        return pairs, pairs - absent, pairs - equal


def _add(levels: Levels, offsets: np.ndarray, out: np.ndarray) -> None:
    rows = slice(int(offsets[0]), int(offsets[-1]))
    if levels.is_uniform:
        add_preferences(levels.ranks[rows], offsets - rows.start, out)
    else:
        ranks, weights = levels.ranks[rows], levels.weights[rows]
        add_weighted_preferences(ranks, weights, offsets - rows.start, out)


def _offsets(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _ranges(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Concatenate the ranges from each start: int64."""
    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - sizes), sizes)


Found = tuple[int | None, str | None]
"""Rank and name of a relevant doc; None: not retrieved."""


def found_docs(docs: Iterable[tuple[int | None, str, float]], k: int | None) -> list[Found]:
    """Return rank and name of docs by rank; docs that are not retrieved up to `k` follow."""
    within = [(r, doc) for r, doc, _ in docs if r is not None and (k is None or r <= k)]
    number = sum(1 for _ in docs) - len(within)
    return [*sorted(within), *[(None, None)] * number]


def sign_of(one: Found, other: Found) -> int:
    """Return 1 where the first doc has the smaller rank, -1 where the greater, 0 for a tie."""
    a, b = (float("inf") if rank is None else rank for rank, _ in (one, other))
    return (a < b) - (a > b)


def level_terms(
    part: str, own: Sequence[Found], other: Sequence[Found], weights: Sequence[float]
) -> list[PairTerm]:
    """Return the terms of the recall levels of one set of relevant docs."""
    return [
        PairTerm(part, i, *f, *g, sign_of(f, g), weight)
        for i, (f, g, weight) in enumerate(zip(own, other, weights, strict=True), 1)
    ]
