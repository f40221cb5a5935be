"""Orders of systems by the weight of rarity: Figure 2, and the alphas at which systems swap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from irmeta.results.verdicts import TIE
from irmeta.stats.orders import kendall_tau_b, round_means, tau_ap_b
from irmeta.studies.papers.innovation.options import GRID
from irmeta.studies.papers.innovation.rare_track import RareTrack, rounded

Row = dict[str, Any]
METHODS = {"tau-b": kendall_tau_b, "tau-ap-b": tau_ap_b}
"""The correlations of Figure 2; both are 1 for an order with itself, also where systems tie."""


def figure_2(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `figure_2`."""
    alphas = sorted({*GRID, *track.options.weights})
    by_alpha = track.means(alphas)
    for measure, plain, means in zip(
        track.options.families(), track.parts.plain, by_alpha, strict=True
    ):
        for method, correlation in METHODS.items():
            values = correlation(rounded(plain[None]), rounded(means), False)[0]
            for alpha, value in zip(alphas, values, strict=True):
                yield {"measure": measure, "alpha": alpha, "method": method, "value": value}


def swap_alphas(plain: np.ndarray, rare: np.ndarray) -> np.ndarray:
    """Compute the alpha at which two systems with values plain + alpha rare are equal.

    Parameters
    ----------
    plain, rare
        float64 [systems].

    Returns
    -------
    ndarray of float64, shape (systems, systems)
        For each row that is better than the column at alpha = 0: the alpha above which it is worse.
        Infinite for all other pairs.
    """
    lead, gain = plain[:, None] - plain, rare - rare[:, None]
    swaps = (lead > TIE) & (gain > TIE)
    return np.divide(lead, gain, out=np.full(lead.shape, np.inf), where=swaps)


def swaps(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `swaps`."""
    names = track.facts.systems
    for measure, alphas in _by_measure(track):
        for a, b in np.argwhere(alphas < 1.0):
            yield {
                "measure": measure,
                "system_a": names[a],
                "system_b": names[b],
                "alpha": alphas[a, b],
            }


def dethroned(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `dethroned`."""
    names = track.facts.systems
    parts = zip(_by_measure(track), track.parts.plain, track.rare, strict=True)
    for (measure, alphas), plain, rare in parts:
        best = int(np.argmax(round_means(plain)))
        is_equal = plain[best] - plain <= TIE
        over_best = np.where(is_equal & (rare - rare[best] > TIE), 0.0, alphas[best])
        other = int(np.argmin(over_best))
        least = over_best[other]
        is_dethroned = bool(np.isfinite(least))
        yield {
            "measure": measure,
            "pairs": len(names) * (len(names) - 1) // 2,
            "swapped": int((alphas < 1.0).sum()),
            "best": names[best],
            "alpha": least if is_dethroned else None,
            "next": names[other] if is_dethroned else None,
        }


def _by_measure(track: RareTrack) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the measures with their `swap_alphas`."""
    parts = zip(track.options.families(), track.parts.plain, track.rare, strict=True)
    return ((measure, swap_alphas(plain, rare)) for measure, plain, rare in parts)
