"""Significantly different pairs and stability of the measures: Tables 1 and 2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from irmeta.results.matrix import Matrix
from irmeta.stats.corrections import LEVELS
from irmeta.stats.hsd import Design, is_significant
from irmeta.stats.pairs import pairwise
from irmeta.stats.ranking_stability import Fuzziness, stability
from irmeta.studies.papers.innovation import paper
from irmeta.studies.papers.innovation.options import MEASURES
from irmeta.studies.papers.innovation.options import InnovationOptions as Options
from irmeta.studies.papers.innovation.rare_track import RareTrack

Row = dict[str, Any]
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
        p = None if test in DESIGNS else _p_values(matrix, test, options)
        for level in LEVELS:
            separated = (
                is_significant(matrix.values, level, DESIGNS[test]) if p is None else p <= level
            )
            yield test, level, separated[upper]


def _p_values(matrix: Matrix, test: str, options: Options) -> np.ndarray:
    return pairwise(matrix, test, resamples=options.resamples, rng=options.seed).p


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
        found = stability(
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
            "stability": found.mean,
            "tied": found.tie_rate,
            "size": found.size,
            "trials": found.trials,
            "printed": printed if ties == "absolute" else None,
        }
