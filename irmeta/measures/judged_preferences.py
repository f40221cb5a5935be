"""trec_eval's measures of preference judgments: how many a list fulfils.

A group, such as a person, prefers the docs of a higher level within each of its subgroups. A list
fulfils a preference if the preferred doc is above the other, or is retrieved alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from irmeta.errors import DataError
from irmeta.trec.qrels import JudgedDoc

COUNTS = ("prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret")
"""Measures that are whole numbers, added up over queries."""
MEASURES = (
    *COUNTS,
    *("prefs_simp", "prefs_pair", "prefs_avgjg", "prefs_avgjg_Rnonrel"),
    *("prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret", "prefs_avgjg_Rnonrel_ret"),
    *("prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp"),
)
"""trec_eval's measures of preferences, in its order."""


def preference_values(
    judged: Sequence[JudgedDoc], level_of: Callable[[str], float], ranking: Sequence[str]
) -> dict[str, float]:
    """Compute the values of `MEASURES` for one query; `level_of` maps a doc's text to its level."""
    docs = {row.doc for row in judged}
    place = {doc: i for i, doc in enumerate(doc for doc in ranking if doc in docs)}
    retrieved = len(place)
    for doc in sorted(docs - place.keys()):
        place[doc] = len(place)
    by_group = groupby(sorted(judged, key=lambda row: row.group), key=lambda row: row.group)
    groups = [
        _group([(row.subgroup, level_of(row.level), place[row.doc]) for row in rows], len(place))
        for _, rows in by_group
    ]
    return _values(groups, retrieved)


class Areas(NamedTuple):
    """Numbers of preferences by what is retrieved: both docs, one, or none."""

    fulfilled: int
    possible: int
    fulfilled_by_one: int
    possible_by_one: int
    not_retrieved: int

    @property
    def all_fulfilled(self) -> int:
        """Fulfilled preferences with at least one doc retrieved."""
        return self.fulfilled + self.fulfilled_by_one

    @property
    def with_one(self) -> int:
        """Preferences with at least one doc retrieved."""
        return self.possible + self.possible_by_one

    @property
    def all_possible(self) -> int:
        """All preferences."""
        return self.with_one + self.not_retrieved

    @classmethod
    def of(cls, preferred: np.ndarray, retrieved: int) -> Areas:
        """Count preferences [preferred doc, other doc], docs in the order of the list."""
        both = preferred[:retrieved, :retrieved]
        by_one = int(preferred[:retrieved, retrieved:].sum())
        return cls(
            int(np.triu(both, 1).sum()),
            int(both.sum()),
            by_one,
            by_one + int(preferred[retrieved:, :retrieved].sum()),
            int(preferred[retrieved:, retrieved:].sum()),
        )


@dataclass(frozen=True)
class _Group:
    """Judgments of one group over all judged docs of a query, in the order of the list.

    Attributes
    ----------
    preferred
        bool or int64 [doc, doc]: how often the row is preferred to the column.
    level
        float64 [doc]: NaN without a judgment.
    times
        int64 [doc]: how often the doc is judged.
    is_partial
        Whether there are several subgroups, whose docs are comparable in part.
    """

    preferred: np.ndarray
    level: np.ndarray
    times: np.ndarray
    is_partial: bool

    def nonrelevant(self) -> np.ndarray:
        """Return which docs are judged and not relevant."""
        return self.level == 0 if self.is_partial else self.level <= 0

    def counts(self, retrieved: int) -> tuple[int, int, int, int]:
        """Return the relevant docs, those retrieved, the non-relevant docs, those retrieved."""
        relevant, others = self.level > 0, self.nonrelevant()
        return (
            *(
                int(self.times[relevant].sum()),
                int(self.times[:retrieved][relevant[:retrieved]].sum()),
            ),
            *(int(self.times[others].sum()), int(self.times[:retrieved][others[:retrieved]].sum())),
        )


def _group(judged: list[tuple[str, float, int]], size: int) -> _Group:
    """Return a group from its judgments: subgroup, level, place of the doc."""
    # Of a doc in several subgroups, trec_eval keeps the last level in this order.
    judged = sorted(judged, key=lambda one: (one[0], -one[1], one[2]))
    is_partial = len({subgroup for subgroup, _, _ in judged}) > 1
    level, times = np.full(size, np.nan), np.zeros(size, np.int64)
    for _, value, place in judged:
        before = level[place]
        if before != value and not np.isnan(before):
            if not is_partial:
                raise DataError("a doc has two levels in a subgroup")
            if 0 in (before, value) and max(before, value) > 0:
                raise DataError("a doc is relevant in a subgroup and not relevant in another")
        level[place] = value
        times[place] += 1
    if is_partial:
        return _Group(_transitive(judged, size), level, np.minimum(times, 1), True)
    preferred = level[:, None] > level
    if times.max() > 1:
        preferred = preferred * (times[:, None] * times)
    return _Group(preferred, level, times, False)


def _transitive(judged: list[tuple[str, float, int]], size: int) -> np.ndarray:
    """Return the preferences of all subgroups, and those that follow from them."""
    reached = np.eye(size, dtype=bool)
    for _, rows in groupby(judged, key=lambda one: one[0]):
        _, levels, places = zip(*rows, strict=True)
        value, place = np.array(levels), np.array(places)
        first, second = np.nonzero(value[:, None] > value)
        reached[place[first], place[second]] = True
    while True:
        further = (reached.astype(np.float32) @ reached.astype(np.float32)) > 0
        if np.array_equal(further, reached):
            break
        reached = further
    np.fill_diagonal(reached, False)
    if (reached & reached.T).any():
        raise DataError("two docs of a group are each preferred to the other")
    return reached


def _values(groups: Sequence[_Group], retrieved: int) -> dict[str, float]:
    areas = [Areas.of(group.preferred, retrieved) for group in groups]
    fulfilled = sum(one.all_fulfilled for one in areas)
    both_fulfilled = sum(one.fulfilled for one in areas)
    possible = sum(one.all_possible for one in areas)
    pairs = _pairs(groups, retrieved)
    values = {
        "prefs_num_prefs_poss": float(possible),
        "prefs_num_prefs_ful": float(fulfilled),
        "prefs_num_prefs_ful_ret": float(both_fulfilled),
        "prefs_simp": _ratio(fulfilled, possible),
        "prefs_simp_ret": _ratio(both_fulfilled, sum(one.possible for one in areas)),
        "prefs_simp_imp": _ratio(fulfilled, sum(one.with_one for one in areas)),
        "prefs_avgjg": _mean([_ratio(a.all_fulfilled, a.all_possible) for a in areas]),
        "prefs_avgjg_ret": _mean([_ratio(a.fulfilled, a.possible) for a in areas]),
        "prefs_avgjg_imp": _mean([_ratio(a.all_fulfilled, a.with_one) for a in areas]),
        **pairs,
    }
    for name, is_alone in (("prefs_avgjg_Rnonrel", False), ("prefs_avgjg_Rnonrel_ret", True)):
        ratios = [
            _with_as_many_nonrelevant(group, area, retrieved, retrieved_alone=is_alone)
            for group, area in zip(groups, areas, strict=True)
        ]
        values[name] = _mean(ratios)
    return values


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _mean(ratios: list[float]) -> float:
    """Average over groups; 0 where a ratio is undefined, as trec_eval."""
    total = 0.0
    for ratio in ratios:
        total += ratio
    return total / len(ratios) if total > 0 else 0.0


def _pairs(groups: Sequence[_Group], retrieved: int) -> dict[str, float]:
    """Average over pairs of docs the share of groups whose preference is fulfilled."""
    count = sum((group.preferred.astype(np.int64) for group in groups[1:]), 1 * groups[0].preferred)
    upper = np.triu(np.ones(count.shape, bool), 1)
    is_pair = upper & ((count + count.T) > 0)
    both, by_one, none = is_pair.copy(), is_pair.copy(), is_pair.copy()
    both[:, retrieved:] = False
    by_one[:, :retrieved] = by_one[retrieved:] = False
    none[:retrieved] = False

    def total(where: np.ndarray, start: float) -> float:
        shares = count[where] / (count + count.T)[where]
        return float(np.cumsum(np.append(start, shares))[-1])  # in trec_eval's order

    sum_both = total(both, 0.0)
    sum_all, n_both, n_one = total(by_one, sum_both), int(both.sum()), int(by_one.sum())
    return {
        "prefs_pair": _ratio(sum_all, n_both + n_one + int(none.sum())),
        "prefs_pair_ret": _ratio(sum_both, n_both),
        "prefs_pair_imp": _ratio(sum_all, n_both + n_one),
    }


def _with_as_many_nonrelevant(
    group: _Group, areas: Areas, retrieved: int, *, retrieved_alone: bool
) -> float:
    """Return the share of preferences fulfilled with as many non-relevant as relevant docs.

    Missing non-relevant docs count as not retrieved, further ones are left out. NaN without a
    preference. As in trec_eval, the docs that are kept of the last class are also compared with one
    another, and among retrieved docs alone (`retrieved_alone`) missing docs are possible for each
    relevant doc.
    """
    relevant, relevant_retrieved, others, others_retrieved = group.counts(retrieved)
    most, held = (relevant_retrieved, others_retrieved) if retrieved_alone else (relevant, others)
    if most >= held:
        fulfilled = areas.fulfilled if retrieved_alone else areas.all_fulfilled
        possible = areas.possible if retrieved_alone else areas.all_possible
        fulfilled += relevant_retrieved * (most - held)
        possible += relevant * (most - held)
    elif group.is_partial:
        fulfilled, possible = _kept_of_partial(group, relevant, retrieved, retrieved_alone)
    else:
        fulfilled, possible = _kept_of_classes(group, most, retrieved, retrieved_alone)
    return fulfilled / possible if possible else np.nan


def _kept_of_partial(
    group: _Group, relevant: int, retrieved: int, retrieved_alone: bool
) -> tuple[int, int]:
    """Count the preferences among docs without the non-relevant ones after the first R."""
    left_out = np.flatnonzero(group.nonrelevant())[relevant:]
    preferred = group.preferred.copy()
    preferred[left_out] = False
    preferred[:, left_out] = False
    areas = Areas.of(preferred, retrieved)
    if retrieved_alone:
        return areas.fulfilled, areas.possible
    return areas.all_fulfilled, areas.all_possible


def _kept_of_classes(
    group: _Group, most: int, retrieved: int, retrieved_alone: bool
) -> tuple[int, int]:
    """Count the preferences among better docs, and of all docs over the first of the last class."""
    judged = np.repeat(np.arange(len(group.level)), group.times)
    is_last = group.level == np.nanmin(group.level)
    last_docs = judged[is_last[judged]][:most]
    better = np.flatnonzero(~is_last & (group.times > 0))
    if retrieved_alone:
        judged, last_docs, better = (
            places[places < retrieved] for places in (judged, last_docs, better)
        )
    among = group.preferred[np.ix_(better, better)]
    is_fulfilled = (better[:, None] < better) & (better[:, None] < retrieved)
    fulfilled, possible = int((among * is_fulfilled).sum()), int(among.sum())
    over_kept = (judged[:, None] < last_docs) & (judged[:, None] < retrieved)
    return fulfilled + int(over_kept.sum()), possible + over_kept.size
