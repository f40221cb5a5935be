"""From grades to gains, by name."""

from __future__ import annotations

import numpy as np

from irmeta.errors import MeasureError
from irmeta.measures.parameters import gain_map
from irmeta.measures.spec import OneList, Params
from irmeta.rankings.derive.unjudged import UNJUDGED_DOC
from irmeta.rankings.judged import JudgedRanks

GAINS = ("grade", "binary", "linear", "exp")
GAIN_OF = "gain of a doc of grade g: linear g / highest grade, exp (2^g - 1) / 2^highest"


def gains(grades: np.ndarray, kind: str, rel: int = 1, highest: int = 1) -> np.ndarray:
    """The gain of each grade, float64; grades below 1 (`rel` for binary) gain nothing.

    Parameters
    ----------
    kind
        ``binary``: 1 from `rel` on. ``grade``: g. ``linear``: g / highest.
        ``exp``: (2^g - 1) / 2^highest. Else gains by grade, such as ``1:3;2:9``: grades that are
        not named gain their grade, and grade 0 may be named.
    highest
        The highest grade of the track's qrels set, or a given one; never the query's.
    """
    grade = np.maximum(grades, 0).astype(np.float64)
    if kind == "binary":
        return (grades >= rel).astype(np.float64)
    if kind == "linear":
        return grade / highest
    if kind == "exp":
        return (2.0**grade - 1.0) / 2.0**highest
    if kind != "grade":
        for named, gain in gain_map(kind).items():
            grade[grades == named] = gain
    return grade


def doc_gains(view: JudgedRanks, kind: str, rel: int = 1, gmax: int | None = None) -> np.ndarray:
    """The gain of each row of a view.

    Docs that are assumed to be relevant gain 1, or what the highest grade does.

    Raises
    ------
    MeasureError
        If `gmax` is below the track's highest grade, for gains that are divided by it.
    """
    highest = highest_grade(view.facts.highest_grade, kind, gmax)
    found = gains(view.grades, kind, rel, highest)
    if view.assumed is not None:
        found[view.assumed] = _assumed(view.assumed_gain, kind, rel, highest)
    return found


def doc_gain(one: OneList, doc: str, grade: int, params: Params) -> float:
    """The gain of one doc of a list, for traces; `params` as the measure's."""
    kind, rel, gmax = params["gain"], params.get("rel", 1), params.get("gmax")
    highest = highest_grade(one.highest_grade, kind, gmax)
    if doc == UNJUDGED_DOC and one.assumed_gain is not None:
        return _assumed(one.assumed_gain, kind, rel, highest)
    return float(gains(np.array([grade]), kind, rel, highest)[0])


def highest_grade(track_highest: int, kind: str, gmax: int | None) -> int:
    """The grade that gains are divided by: the track's highest, or the one given."""
    if gmax is None:
        return track_highest
    if gmax < track_highest and kind != "binary":
        raise MeasureError(
            f"gmax={gmax} is below {track_highest}, the highest grade of the track: gains would "
            "be greater than 1."
        )
    return gmax


def _assumed(gain: str, kind: str, rel: int, highest: int) -> float:
    if gain == "one" or kind == "binary":
        return 1.0
    # The gain of the highest grade; own gains need not be greatest there.
    return float(gains(np.arange(highest + 1), kind, rel, highest).max())
