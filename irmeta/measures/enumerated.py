"""Values of measures for all rankings over a few subtopics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irmeta.errors import UsageError
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import Spec
from irmeta.policies import EvalPolicy
from irmeta.rankings.enumeration import RankingSpace
from irmeta.rankings.needs import needs_of


def score_rankings(space: RankingSpace, specs: Sequence[Spec]) -> np.ndarray:
    """Compute measures for all rankings.

    Returns
    -------
    float64 [measures, rankings], by the numbers of the rankings.

    Raises
    ------
    UsageError
        For a measure that compares the list with those of other systems.
    """
    check_alone(specs)
    policy, values = EvalPolicy(), np.empty((len(specs), space.count))
    for numbers in space.chunks():
        # AvgSL and TSL count the docs that any system retrieves.
        view = space.view(np.concatenate([numbers, space.longest]))
        values[:, numbers] = evaluate_block(view, specs, policy).values[:, 0, : len(numbers)]
    return values


def check_alone(specs: Sequence[Spec]) -> None:
    """Check that measures have a value for a ranking alone.

    Raises
    ------
    UsageError
        For a measure that compares the list with those of other systems.
    """
    for spec in specs:
        if (why := dependence(spec)) is not None:
            raise UsageError(f"{spec.name} {why}: it has no value for a ranking alone.")


def dependence(spec: Spec) -> str | None:
    """Return how a value depends on the lists of other systems; None for a value of one list."""
    if "pool" in needs_of([spec]):
        return "reads the pool that the systems make"
    if "counted" in spec.settings:
        return "counts the systems that retrieve a doc"
    return None


def oriented(values: np.ndarray, specs: Sequence[Spec]) -> np.ndarray:
    """Return the values with the sign of measures of which less is better turned."""
    signs = np.array([spec.measure.direction for spec in specs])
    return values if (signs == 1).all() else values * signs[:, None]


def rank_cutoff(spec: Spec) -> int | None:
    """Return the rank below which a measure reads no doc; None without one."""
    is_rank = spec.measure.cutoff_is == "rank" and not spec.measure.cutoff_prefix
    return int(spec.cutoff) if is_rank and spec.cutoff is not None else None
