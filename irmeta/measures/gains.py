"""Gains of grades, by kind of gain."""

from __future__ import annotations

import numpy as np

from irmeta.errors import MeasureError
from irmeta.measures.spec import OneList, Params
from irmeta.naming.parameters import gain_map
from irmeta.rankings.derive.unjudged import UNJUDGED_DOC
from irmeta.rankings.judged import JudgedRanks

GAINS = ("grade", "binary", "linear", "exp")
GAIN_OF = "gain of a doc of grade g: linear g / highest grade, exp (2^g - 1) / 2^highest"
MOST_EXPONENT = 127
"""Highest grade for which exponential gains are divided as in their formula."""
OF_QUERY = "trec_eval10"
"""The kind of gain that divides grades by the highest grade of the query, as trec_eval 10's rbp."""


def gains(
    grades: np.ndarray, kind: str, rel: float = 1, highest: float = 1, least: float = 0
) -> np.ndarray:
    """Compute the gain of each grade, float64; grades below 0 (`rel` for binary) have gain 0.

    Parameters
    ----------
    kind
        ``binary``: 1 from `rel` on. ``grade``: g. ``linear``: g / highest.
        ``exp``: (2^g - 1) / 2^highest. Other values are gains by grade, such as ``1:3;2:9``; the
        gain of an omitted grade is the grade, and grade 0 may have a gain.
    highest
        The highest grade of the track's qrels set, or a given grade; never the query's.
    least
        Grades below it have gain 0, whatever the kind.
    """
    gain = np.maximum(grades, 0).astype(np.float64)
    if kind == "binary":
        gain = (grades >= rel).astype(np.float64)
    elif kind == "linear":
        gain /= highest
    elif kind == "exp":
        if highest > MOST_EXPONENT:  # powers of 2 would overflow
            gain = 2.0 ** (gain - highest) - 2.0**-highest
        else:
            gain = (2.0**gain - 1.0) / 2.0**highest
    elif kind != "grade":
        for named, given in gain_map(kind).items():
            gain[grades == named] = given
    gain[grades < least] = 0.0
    return gain


def doc_gains(
    view: JudgedRanks, kind: str, rel: float = 1, gmax: float | None = None, least: float = 0
) -> np.ndarray:
    """Compute the gain of each row of a view; for `least` see `gains`.

    Docs that are assumed to be relevant have gain 1, or the gain of the highest grade.

    Raises
    ------
    MeasureError
        If `gmax` is below the track's highest grade, unless the gain is binary.
    """
    highest = highest_grade(view.facts.highest_grade, kind, gmax)
    if kind == OF_QUERY:
        by_row = gains(view.grades, "grade") / _highest_of_queries(view)
    else:
        by_row = gains(view.grades, kind, rel, highest, least)
    if view.assumed is not None:
        by_row[view.assumed] = _assumed(view.assumed_gain, kind, rel, highest, least)
    return by_row


def doc_gain(one: OneList, doc: str, grade: float, params: Params, least: float = 0) -> float:
    """Compute the gain of one doc of a list, for traces, under the measure's `params`."""
    kind, rel, gmax = params["gain"], params.get("rel", 1), params.get("gmax")
    highest = highest_grade(one.highest_grade, kind, gmax)
    if doc == UNJUDGED_DOC and one.assumed_gain is not None:
        return _assumed(one.assumed_gain, kind, rel, highest, least)
    if kind == OF_QUERY:
        return max(grade, 0) / (max(0, *(judged for _, _, judged in one.judged)) or 1)
    return float(gains(np.array([grade]), kind, rel, highest, least)[0])


def highest_grade(track_highest: float, kind: str, gmax: float | None) -> float:
    """Return the grade that gains are divided by: the track's highest, or `gmax`."""
    if gmax is None:
        return track_highest
    if gmax < track_highest and kind != "binary":
        raise MeasureError(
            f"gmax={gmax} is below {track_highest}, the highest grade of the track: gains would "
            "be greater than 1."
        )
    return gmax


def _highest_of_queries(view: JudgedRanks) -> np.ndarray:
    """Return, for each row of a view, the highest grade of its query; 1 if it is not above 0."""
    queries = view.query_of(np.arange(len(view.grades)))
    highest = np.zeros(len(view.queries))
    np.maximum.at(highest, queries, view.grades)
    return np.where(highest > 0, highest, 1)[queries]


def _assumed(gain: str, kind: str, rel: float, highest: float, least: float) -> float:
    if gain == "one" or kind in ("binary", OF_QUERY):
        return 1.0
    # The greatest gain, because gains by grade need not be greatest at the highest grade.
    top, named = int(highest), [] if kind in GAINS else list(gain_map(kind))
    whole = range(max(top - len(named), 0), top + 1)  # named grades may be those of less gain
    grades = np.array([*(grade for grade in named if grade <= highest), *whole, highest])
    return float(gains(grades, kind, rel, highest, least).max())
