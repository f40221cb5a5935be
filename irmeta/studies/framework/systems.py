"""Sides of a comparison, systems in order of their means, and facts about the best systems."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np
import polars as pl

from irmeta.equality import TIE
from irmeta.results.averages import mean_over_queries
from irmeta.results.scores import Scores
from irmeta.stats.orders import round_means
from irmeta.stats.permutation_bootstrap import bootstrap

FACTS = ("group", "type", "pooled")
ROLES = ("best", "median")


def systems_of(side: str, systems: pl.DataFrame, median: str | None) -> Collection[str]:
    """Return the candidate systems of a side on one track, from the table `systems`.

    `side` is ``best``, ``median``, ``COLUMN=VALUE`` of the system facts, or a system.
    """
    known = systems.filter(pl.col("skip_reason").is_null())
    candidates = known["system"].drop_nulls().to_list()
    column, is_group, value = side.partition("=")
    if side == "best":
        return candidates
    if side == "median":
        return [median] if median is not None else []
    if side in candidates:
        return [side]
    if not is_group:
        return []
    return known.filter(pl.col(column).cast(pl.String) == value)["system"].to_list()


def systems_in_order(scores: Scores, measure: str) -> list[str]:
    """Return the systems with a mean, best first; means equal to 12 digits tie, sorted by name."""
    values = scores.mean_values()[scores.measures.index(measure)] * scores.directions[measure]
    pairs = zip((-round_means(values)).tolist(), scores.systems, strict=True)
    return [system for _, system in sorted(p for p in pairs if not np.isnan(p[0]))]


def best_system(scores: Scores, measure: str, among: Collection[str] | None = None) -> str | None:
    """Return the system with the best mean, the first by name among ties; None without means."""
    chosen = [s for s in systems_in_order(scores, measure) if among is None or s in among]
    return chosen[0] if chosen else None


def median_system(scores: Scores, measure: str) -> str | None:
    """Return the middle system, or the better of the two middle systems."""
    order = systems_in_order(scores, measure)
    return order[(len(order) - 1) // 2] if order else None


class Missed(Mapping[str, float]):
    """The share of the relevant docs that each system does not retrieve, and the median share.

    A search length that counts missed docs as cheap (Eq. 3 of Alex, Hall and Metzler 2022) may
    favour short lists. A best system is therefore marked if it misses more than the median system.
    """

    def __init__(self, systems: Collection[str], shares: np.ndarray) -> None:
        self._shares = dict(zip(systems, shares.tolist(), strict=True))
        self.median: float = float(np.median(shares))

    def __getitem__(self, system: str) -> float:
        return self._shares[system]

    def __iter__(self) -> Iterator[str]:
        return iter(self._shares)

    def __len__(self) -> int:
        return len(self._shares)

    def is_short(self, system: str) -> bool:
        """Check whether a system misses more relevant docs than the median system."""
        return self[system] > self.median + TIE

    def row(self, system: str) -> dict[str, float | bool]:
        """Return the columns missed, median_missed and short of a system."""
        short = self.is_short(system)
        return {"missed": self[system], "median_missed": self.median, "short": short}


def mean_difference(
    values: np.ndarray, resamples: int, seed: int, confidence: float
) -> dict[str, float | int]:
    """Return difference, low, high (NaN for one query) and queries of values [query, 2].

    The bootstrap interval is over queries without a NaN. All pairs of one track share their
    resampled queries, so that equal pairs have equal intervals.
    """
    _, low, high = bootstrap(values, resamples, seed, confidence)
    difference = values[:, 0] - values[:, 1]
    return {
        "difference": float(mean_over_queries(difference[:, None])[0]),
        "low": float(low[0, 1]),
        "high": float(high[0, 1]),
        "queries": int((~np.isnan(difference)).sum()),
    }
