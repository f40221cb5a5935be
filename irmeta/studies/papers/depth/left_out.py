"""Scores and ranks of contributors that are left out of the pool: Table 5 and reusability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from irmeta.equality import TIE
from irmeta.errors import UsageError
from irmeta.measures.names import parse_measures
from irmeta.measures.reduced_pools import LEVELS, ReducedPool, parts_of, reduced_pools
from irmeta.stats.contributors import left_out_rows
from irmeta.stats.correlation import volatility
from irmeta.stats.new_measure import covered_pairs
from irmeta.stats.orders import round_means
from irmeta.stats.paired_t import PairedT
from irmeta.studies.framework.study import TableRows
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.depth.options import DepthOptions, cut
from irmeta.studies.papers.depth.studied_pool import StudiedPool

Row = dict[str, Any]


def left_out(track: TrackView, pool: StudiedPool) -> TableRows:
    """Yield the tables `leave_out`, `table_5` and `reusability`."""
    depths: tuple[int | None, ...] = (*pool.depths, None) if pool.states_all else pool.depths
    if not pool.states_all:
        track.note(
            "the depth of the pool is unknown, so systems are left out of pools of the given depth "
            "only, not of all judgments"
        )
    for level in LEVELS:
        try:
            parts = parts_of(pool.facts, level)
        except UsageError:
            track.note(f"the {level} of no system is stated, so none is left out by {level}")
            continue
        everyone = set(pool.contributors)
        whole = [n for n, systems in parts.items() if len(systems) == len(everyone)]
        if whole:
            track.note(f"{level} {whole[0]} is the complete pool, so it is not left out")
        parts = {name: systems for name, systems in parts.items() if name not in whole}
        for depth in depths if parts else ():
            yield from _at_depth(pool, level, parts, depth)


def _at_depth(
    pool: StudiedPool, level: str, parts: Mapping[str, tuple[str, ...]], depth: int | None
) -> TableRows:
    """Yield the rows of one level and depth of the pool (None: all judgments)."""
    options, rows = pool.options, list[Row]()
    ks = options.leave_out_ks or (depth or pool.depths[0],)
    specs = parse_measures([cut(name, k) for name in options.compared for k in ks])
    pools = reduced_pools(pool.views, specs, options.policy, parts, depth, rel=options.rel)
    whole = next(pools)
    orders = {name: _Order(whole, name, options) for name in whole.scores.measures}
    for one in pools:
        rows += left_out_rows(whole, one, options.others)
        for order in orders.values():
            order.add(one)
    about = {"level": level, "judgments": "all" if depth is None else "pool", "depth": depth}
    yield "leave_out", ({**row, **about} for row in rows)
    for name, order in orders.items():
        of_measure = [row for row in rows if row["measure"] == name]
        yield "table_5", [{"measure": name, **about, **_means(of_measure)}]
        if depth is None or depth == pool.depths[0]:
            named = {n: about[n] for n in ("level", "judgments")}
            yield "reusability", [{"measure": name, **named, **order.reusability(of_measure)}]


def _means(rows: list[Row]) -> Row:
    """Return the means of `table_5`."""
    delta = np.array([row["delta_percent"] for row in rows])
    moved = [abs(row["rank_left_out"] - row["rank"]) for row in rows if row["rank"] is not None]
    lost = {row["left_out"]: (row["judged_lost"], row["relevant_lost"]) for row in rows}
    judged, relevant = np.mean(list(lost.values()), axis=0)
    return {
        "k": rows[0]["k"],
        "systems": len(rows),
        "delta_percent": _mean(delta),
        "delta_rank": float(np.mean(moved)) if moved else np.nan,
        "undefined": int(np.isnan(delta).sum()),
        "judged_lost": float(judged),
        "relevant_lost": float(relevant),
    }


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


class _Order:
    """Orders of the contributors by one measure, before and after each part is left out."""

    def __init__(self, whole: ReducedPool, measure: str, options: DepthOptions) -> None:
        self._measure, self._options, self._whole = measure, options, whole
        self._means, self._pairs = self._of(whole)
        self._after = list[np.ndarray]()
        self._flipped, self._kept = list[float](), list[float]()

    def _of(self, pool: ReducedPool) -> tuple[np.ndarray, PairedT]:
        matrix = pool.scores.matrix(self._measure)
        return round_means(matrix.means) * matrix.direction, PairedT(matrix)

    def add(self, pool: ReducedPool) -> None:
        """Compare the order by a reduced pool with the order by the whole pool."""
        is_same = pool.scores is self._whole.scores
        means, pairs = (self._means, self._pairs) if is_same else self._of(pool)
        self._after.append(means)
        before, after = (one[:, None] - one[None, :] for one in (self._means, means))
        flipped = ((before > TIE) & (after < -TIE)).sum()
        self._flipped.append(float(flipped / max(self._pairs.upper.sum(), 1)))
        size, _, covered, _ = covered_pairs(self._pairs, pairs, self._options.alpha)
        self._kept.append(covered / size if size else np.nan)

    def reusability(self, rows: list[Row]) -> Row:
        """Return the row of the table `reusability` from the rows of `leave_out`."""
        delta = np.array([row["delta_percent"] for row in rows])
        known = delta[~np.isnan(delta)]
        moves = [abs(row["rank_left_out"] - row["rank"]) for row in rows if row["rank"] is not None]
        taus = volatility(self._means[None], np.stack(self._after))
        least = np.nan if np.isnan(taus).all() else float(np.nanmin(taus))
        row = {
            "mean_delta_percent": _mean(delta),
            "max_delta_percent": float(known[np.abs(known).argmax()]) if len(known) else np.nan,
            "share_moved": float(np.mean(np.array(moves) > self._options.places)) if moves else 0.0,
            "pairs_flipped": float(np.mean(self._flipped)),
            "significant_kept": _mean(np.array(self._kept)),
            "least_tau": least,
        }
        return row | {"verdict": verdict(row, self._options)}


def verdict(row: Row, options: DepthOptions) -> str:
    """Return whether judgments can evaluate systems that did not contribute.

    An undefined change or tau-b is neither small nor large: with care.
    """
    drop, tau = -row["mean_delta_percent"], row["least_tau"]
    if drop > options.unusable_drop or tau < options.unusable_tau:
        return "not for new systems"
    if drop < options.reusable_drop and tau >= options.reusable_tau:
        return "reusable"
    return "with care"
