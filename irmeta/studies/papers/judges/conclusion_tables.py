"""Tables of conclusions: significantly different pairs that other judgments keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from irmeta.results.matrix import Matrix
from irmeta.stats.judged_orders import (
    conclusions_of_halves,
    count_conclusions,
    of_pairs,
    pair_signs,
    survival_limits,
)
from irmeta.stats.pairs import Pairs, pairwise
from irmeta.studies.papers.judges.judged_track import JudgedTrack
from irmeta.studies.papers.judges.options import HALVED, INTERVAL_TEST, Test
from irmeta.studies.papers.judges.order_tables import splits_of

Row = dict[str, Any]
Halves = dict[str, float | None]
NOT_HALVED: Halves = {"survived_halves": None, "false_halves": None}
NO_LIMITS: Halves = {"survived_low": None, "survived_high": None}
INTERVAL_SPLITS = 50
"""Splits whose halves give the standard deviation of a share: its own error is then 7 %."""


def conclusions(judged: JudgedTrack) -> Iterator[Row]:
    """Yield the rows of the table `conclusions`."""
    for scores in judged.scores.measures:
        for reference, judges in scores.by_queries:
            halves = _halves(judged, reference)
            limits = {judge: _limits(judged, reference, values) for judge, values in judges.items()}
            for test in judged.options.run_tests:
                own = _tested(judged, reference, test)
                for judge, values in judges.items():
                    yield {
                        "judge": judge,
                        "measure": scores.measure,
                        "test": test.name,
                        "queries": len(reference.queries),
                        **_counted(judged, own, _tested(judged, values, test)),
                        **(limits[judge] if test.name == INTERVAL_TEST else NO_LIMITS),
                        **halves.get(test.name, NOT_HALVED),
                    }


def _tested(judged: JudgedTrack, values: Matrix, test: Test) -> Pairs:
    """Test all pairs of systems by one set of labels; all sets share the random numbers."""
    return pairwise(
        values,
        test.test,
        correction=test.correction,
        resamples=judged.options.resamples,
        rng=judged.options.seed,
    )


def _counted(judged: JudgedTrack, own: Pairs, other: Pairs) -> Row:
    signs, judge = (pair_signs(one.better(judged.options.alpha)) for one in (own, other))
    found = count_conclusions(signs, judge, of_pairs(own.difference) * own.direction)
    names = ("kept", "reversed", "lost", "new", "new_agree", "neither", "survived", "false")
    return {name: getattr(found, name) for name in names}


def _halves(judged: JudgedTrack, reference: Matrix) -> dict[str, Halves]:
    """Return the shares of conclusions of a half of the queries that the other keeps, by test."""
    options, queries = judged.options, len(reference.queries)
    tests = [test for test in options.run_tests if test.name in HALVED]
    if not tests or queries < 4:
        return {}
    found = conclusions_of_halves(
        reference.oriented,
        splits_of(queries, options.splits, options.seed),
        options.alpha,
        [test.correction == "holm" for test in tests],
    )
    shares = np.array([[(one.survived, one.false) for one in both] for both in found])
    rows = zip(tests, shares.swapaxes(0, 1), strict=True)
    return {test.name: _mean_shares(one[~np.isnan(one[:, 0])]) for test, one in rows}


def _limits(judged: JudgedTrack, reference: Matrix, judge: Matrix) -> Halves:
    """Return the interval of the share of conclusions by t, uncorrected, that the judge keeps."""
    options, queries = judged.options, len(reference.queries)
    if INTERVAL_TEST not in options.tests or queries < 4:
        return NO_LIMITS
    halves = splits_of(queries, min(options.splits, INTERVAL_SPLITS), options.seed)
    low, high = survival_limits(reference.oriented, judge.oriented, halves, options.alpha)
    return {"survived_low": low, "survived_high": high}


def _mean_shares(shares: np.ndarray) -> Halves:
    survived, false = shares.mean(axis=0).tolist() if len(shares) else (None, None)
    return {"survived_halves": survived, "false_halves": false}
