"""Orders of systems and pairs that differ, by alpha: Figure 2, Tables 1 to 3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from irmeta.equality import TIE
from irmeta.results.matrix import Matrix
from irmeta.stats.corrections import LEVELS
from irmeta.stats.hsd import Design, is_significant
from irmeta.stats.orders import kendall_tau_b, round_means, tau_ap_b
from irmeta.stats.pairs import pairwise
from irmeta.stats.ranking_stability import Fuzziness, stability
from irmeta.stats.resampling import is_enumerated, spread, system_subsets
from irmeta.studies.papers.innovation import paper
from irmeta.studies.papers.innovation.options import GRID, MEASURES
from irmeta.studies.papers.innovation.options import InnovationOptions as Options
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

    For each row that is better than the column at alpha = 0, return the alpha above which it is
    worse; infinite for all other pairs.
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
        challenger = int(np.argmin(over_best))
        least = over_best[challenger]
        is_dethroned = bool(np.isfinite(least))
        yield {
            "measure": measure,
            "pairs": len(names) * (len(names) - 1) // 2,
            "swapped": int((alphas < 1.0).sum()),
            "best": names[best],
            "alpha": least if is_dethroned else None,
            "next": names[challenger] if is_dethroned else None,
        }


def _by_measure(track: RareTrack) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the measures with their `swap_alphas`."""
    parts = zip(track.options.families(), track.parts.plain, track.rare, strict=True)
    return ((measure, swap_alphas(plain, rare)) for measure, plain, rare in parts)


PAPER_TEST = "t-unpaired"
"""What the paper calls Tukey's HSD: the released code calls it with two systems at a time."""
TESTS = (PAPER_TEST, "t", "hsd", "hsd-blocked", "hsd-randomised")
DESIGNS: Mapping[str, Design] = {"hsd": "one-way", "hsd-blocked": "blocked"}
"""Designs of the tests whose p-values Table 1 does without, since they are slow."""
TIES: Mapping[str, tuple[Fuzziness, bool]] = {
    "absolute": ("absolute", True),
    "relative": ("relative", True),
    "none": ("absolute", False),
}
"""Kind of the margin within which means tie in Table 2, and whether there is one."""


def table_1(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `table_1`."""
    options = track.options
    for measure in MEASURES:
        for alpha in options.weights:
            matrix = track.scores.matrix(options.name(measure, alpha)).complete()
            is_defined = len(matrix.queries) > 1 and len(matrix.systems) > 1
            for test, level, is_separated in _separated(matrix, options):
                confidence = round(100 * (1 - level))
                cell = paper.Cell(track.collection or "", measure, alpha, confidence)
                printed = paper.SEPARATED.get(cell) if test == PAPER_TEST else None
                yield {
                    "measure": options.family(measure),
                    "alpha": alpha,
                    "test": test,
                    "level": level,
                    "separated": int(is_separated.sum()),
                    "pairs": len(is_separated),
                    "percent": 100.0 * is_separated.mean() if is_defined else np.nan,
                    "printed": None if printed is None else str(printed),
                }


def _separated(matrix: Matrix, options: Options) -> Iterator[tuple[str, float, np.ndarray]]:
    """Yield test, level, and whether each pair is significantly different: bool [pairs]."""
    upper = np.triu_indices(len(matrix.systems), 1)
    for test in TESTS:
        p = None
        if test not in DESIGNS:
            p = pairwise(matrix, test, resamples=options.resamples, rng=options.seed).p
        for level in LEVELS:
            separated = (
                is_significant(matrix.values, level, DESIGNS[test]) if p is None else p <= level
            )
            yield test, level, separated[upper]


def table_2(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `table_2`: Eq. 1, and Eq. 4 above alpha = 0."""
    options = track.options
    for measure in MEASURES:
        for alpha in options.weights:
            cell = paper.Cell(track.collection or "", measure, alpha)
            printed = paper.STABILITY.get(cell)
            name, family = options.name(measure, alpha), options.family(measure)
            yield from _stabilities(track, name, family, alpha, printed)
        for alpha in options.convex_weights:
            name, family = options.name(measure, alpha, "convex"), options.family(measure, "convex")
            yield from _stabilities(track, name, family, alpha)


def _stabilities(
    track: RareTrack, name: str, family: str, alpha: float, printed: str | None = None
) -> Iterator[Row]:
    options, matrix = track.options, track.scores.matrix(name)
    for ties, (kind, has_margin) in TIES.items():
        stabilities = stability(
            matrix,
            trials=options.trials,
            fuzziness=options.fuzziness if has_margin else 0.0,
            kind=kind,
            rng=options.seed,
        )
        yield {
            "measure": family,
            "alpha": alpha,
            "ties": ties,
            "stability": stabilities.mean,
            "tied": stabilities.tie_rate,
            "size": stabilities.size,
            "trials": stabilities.trials,
            "printed": printed if ties == "absolute" else None,
        }


DRAWN = "TREC-8"
"""The collection of the paper's Table 3."""


def table_3(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `table_3`."""
    options, systems = track.options, len(track.facts.systems)
    sizes, alphas = options.sizes_of(systems), options.drawn_weights
    cases = {f"{m} {alpha!r}": (m, alpha) for m, alpha in product(MEASURES, alphas)}

    def means_of(members: np.ndarray) -> np.ndarray:
        sums = track.parts.rare_sums(members, options.rarity, options.counted)
        plain = track.parts.plain[:, None]
        means = [p + alpha * rare for p, rare in zip(plain, sums, strict=True) for alpha in alphas]
        return np.stack(means)

    if not sizes:
        return
    subsets = system_subsets(means_of, list(cases), systems, sizes, options.draws, rng=options.seed)
    for row in spread(subsets).iter_rows(named=True):
        (measure, alpha), size = cases[row["measure"]], row["size"]
        is_printed = track.collection == DRAWN and alpha == 1
        yield {
            "measure": options.family(measure),
            "alpha": alpha,
            "systems": size,
            "draws": row["replicates"],
            "undefined": row["undefined"],
            "enumerated": is_enumerated(systems, size, options.draws),
            "tau_b": row["mean"],
            "sd": row["sd"],
            "printed": paper.FEWER_SYSTEMS.get((measure, size)) if is_printed else None,
        }
