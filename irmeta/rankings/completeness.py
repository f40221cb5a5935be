"""How complete the pool of a track is: to which depth, and which share of docs at each rank."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from irmeta.errors import PoolDepthWarning, warn
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.pool import NOT_POOLED, complete_depths


def comprehensive_depth(views: Iterable[JudgedRanks]) -> int | None:
    """Return the depth to which the pools of all queries of a track are complete.

    The least of `complete_depths` over the judged queries with a contributing list, never the
    stated depth. None: no doc of the contributing lists is unjudged.
    """
    depth = ComprehensiveDepth()
    for view in views:
        depth.add(view)
    return depth.value


class ComprehensiveDepth:
    """Computation of `comprehensive_depth` block by block."""

    def __init__(self) -> None:
        self._least, self._is_bounded = NOT_POOLED, False

    def add(self, view: JudgedRanks) -> None:
        """Add a block of the track."""
        lists, systems = view.require("pooled_lists"), view.facts.contributors
        judged, lengths = lists.judged[:, systems], lists.lengths[:, systems]
        asked = lengths.any(axis=1)
        if view.in_qrels is not None:
            asked &= view.in_qrels
        self._is_bounded = self._is_bounded or bool((judged[asked] != NOT_POOLED).any())
        least = complete_depths(judged, lengths)[asked].min(initial=NOT_POOLED)
        self._least = min(self._least, int(least))

    @property
    def value(self) -> int | None:
        """The depth; None if it is not bounded."""
        return self._least if self._is_bounded else None


def judged_by_rank(views: Iterable[JudgedRanks]) -> tuple[np.ndarray, np.ndarray]:
    """Count the docs of the contributing lists, and those judged, at each rank: two int64 [ranks].

    Lists of queries that the qrels set does not judge are excluded.
    """
    listed = judged = np.zeros(0, np.int64)
    for view in views:
        lists, systems = view.require("pooled_lists"), view.facts.contributors
        asked = np.ones(len(view.queries), bool) if view.in_qrels is None else view.in_qrels
        lengths = lists.lengths[asked][:, systems].astype(np.int64)
        rows = asked[view.query_of(np.arange(len(view.grades)))] & view.is_judged
        ranks = lists.ranks[rows][:, systems]
        at_rank = np.bincount(ranks[ranks != np.iinfo(ranks.dtype).max])[1:]
        # A list of n docs has one at each rank from 1 to n.
        with_rank = np.bincount(lengths.ravel())[::-1].cumsum()[::-1][1:]
        listed, judged = _added(listed, with_rank), _added(judged, at_rank)
    return listed, _added(judged, np.zeros_like(listed))


def _added(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Add two arrays of counts by rank; the shorter is padded with zeros."""
    total = np.zeros(max(len(a), len(b)), np.int64)
    total[: len(a)] += a
    total[: len(b)] += b
    return total


def evident_depth(listed: np.ndarray, judged: np.ndarray, share: float) -> int:
    """Return the greatest d with at least a share of docs judged at every rank up to d.

    The counts are of `judged_by_rank`.
    """
    # 0.07 x 100 is 7.000000000000001 in floating point.
    too_few = np.flatnonzero(judged < np.round(share * listed, 9))
    return int(too_few[0]) if len(too_few) else len(listed)


def complete_depths_of(view: JudgedRanks) -> np.ndarray:
    """Return `complete_depth` of the judged queries; empty if the view has none."""
    if view.complete_depth is None:
        return np.empty(0, np.int64)
    return view.complete_depth if view.in_qrels is None else view.complete_depth[view.in_qrels]


def warn_without_depth(track: str, complete: Collection[np.ndarray]) -> None:
    """Warn once about queries of a track whose pool is complete at no depth, by all its blocks."""
    depths = np.concatenate([np.empty(0, np.int64), *complete])
    if none := int(np.count_nonzero(depths == 0)):
        warn(
            f"track {track}: on {none} of {len(depths)} queries the pool is complete at no depth, "
            "since a contributing system's first doc is unjudged; norm=pool and ideal=pool are "
            "undefined (NaN) there and excluded from means. If the pool's depth is known, write "
            "pool_depth = N (or pool_depth_by_query = FILE) for the track in collection.toml; if "
            "not all systems contributed, name those that did (`pooled`).",
            PoolDepthWarning,
            stacklevel=3,
        )
