"""Tables of conclusions: significantly different pairs that other judgments keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from irmeta.stats.judged_orders import (
    Conclusions,
    conclusions_of_halves,
    count_conclusions,
    of_pairs,
    pair_signs,
)
from irmeta.stats.pairs import Pairs, pairwise
from irmeta.studies.papers.judges.judged_track import JudgedTrack, MeasureScores
from irmeta.studies.papers.judges.options import HALVED, Test
from irmeta.studies.papers.judges.order_tables import splits_of

Row = dict[str, Any]
Halves = dict[str, float | None]
NOT_HALVED: Halves = {"survived_halves": None, "false_halves": None}


def conclusions(judged: JudgedTrack) -> Iterator[Row]:
    """Yield the rows of the table `conclusions`."""
    alpha = judged.options.alpha
    for scores in judged.scores.measures:
        halves = _halves(judged, scores)
        for test in judged.options.run_tests:
            own = _tested(judged, scores, judged.reference, test)
            difference = of_pairs(own.difference) * scores.direction
            signs = pair_signs(own.better(alpha))
            for judge in judged.judges:
                other = _tested(judged, scores, judge, test)
                found = count_conclusions(signs, pair_signs(other.better(alpha)), difference)
                yield {
                    "judge": judge,
                    "measure": scores.measure,
                    "test": test.name,
                    **_counted(found),
                    **halves.get(test.name, NOT_HALVED),
                }


def _tested(judged: JudgedTrack, scores: MeasureScores, name: str, test: Test) -> Pairs:
    """Test all pairs of systems by one set of labels; all sets share the random numbers."""
    return pairwise(
        scores.matrices[name],
        test.test,
        correction=test.correction,
        resamples=judged.options.resamples,
        rng=judged.options.seed,
    )


def _counted(found: Conclusions) -> Row:
    names = ("kept", "reversed", "lost", "new", "new_agree", "neither", "survived", "false")
    return {name: getattr(found, name) for name in names}


def _halves(judged: JudgedTrack, scores: MeasureScores) -> dict[str, Halves]:
    """Return the shares of conclusions of a half of the queries that the other keeps, by test."""
    options = judged.options
    tests = [test for test in options.run_tests if test.name in HALVED]
    if not tests or len(scores.queries) < 4:
        return {}
    found = conclusions_of_halves(
        scores.values[judged.reference],
        splits_of(len(scores.queries), options.splits, options.seed),
        options.alpha,
        [test.correction == "holm" for test in tests],
    )
    shares = np.array([[(one.survived, one.false) for one in both] for both in found])
    rows = zip(tests, shares.swapaxes(0, 1), strict=True)
    return {test.name: _mean_shares(one[~np.isnan(one[:, 0])]) for test, one in rows}


def _mean_shares(shares: np.ndarray) -> Halves:
    survived, false = shares.mean(axis=0).tolist() if len(shares) else (None, None)
    return {"survived_halves": survived, "false_halves": false}
