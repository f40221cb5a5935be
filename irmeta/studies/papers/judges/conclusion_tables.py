"""Tables of conclusions: significantly different pairs that other judgments keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from irmeta.stats.judged_orders import Conclusions, conclusions_of_halves, count_conclusions
from irmeta.stats.pairs import Pairs, pairwise
from irmeta.studies.papers.judges.judged_track import JudgedTrack, MeasureScores
from irmeta.studies.papers.judges.options import HALVED, Test
from irmeta.studies.papers.judges.order_tables import splits_of

Row = dict[str, Any]
Halves = dict[str, float | None]


def conclusions(judged: JudgedTrack) -> Iterator[Row]:
    """Yield the rows of the table `conclusions`."""
    alpha = judged.options.alpha
    for scores in judged.scores.measures:
        for test in judged.options.run_tests:
            own = _tested(judged, scores, judged.reference, test)
            difference = own.difference * scores.direction
            halves = _halves(judged, scores, test)
            for judge in judged.judges:
                other = _tested(judged, scores, judge, test)
                found = count_conclusions(own.better(alpha), other.better(alpha), difference)
                yield {
                    "judge": judge,
                    "measure": scores.measure,
                    "test": test.name,
                    **_counted(found),
                    **halves,
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


def _halves(judged: JudgedTrack, scores: MeasureScores, test: Test) -> Halves:
    """Return the shares of the conclusions of a half of the queries that the other half keeps."""
    if test.name not in HALVED or len(scores.queries) < 4:
        return {"survived_halves": None, "false_halves": None}
    options = judged.options
    drawn = splits_of(len(scores.queries), options.splits, options.seed)
    found = list(
        conclusions_of_halves(
            scores.values[judged.reference], drawn, options.alpha, test.correction == "holm"
        )
    )
    shares = np.array([(one.survived, one.false) for one in found])
    defined = shares[~np.isnan(shares[:, 0])]
    survived, false = defined.mean(axis=0).tolist() if len(defined) else (None, None)
    return {"survived_halves": survived, "false_halves": false}
