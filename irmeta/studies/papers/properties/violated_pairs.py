"""Violated pairs of rankings, with the arithmetic of their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.explain import trace_value
from irmeta.measures.names import Spec
from irmeta.measures.spec import Trace
from irmeta.policies import EvalPolicy
from irmeta.rankings.enumeration import RankingSpace
from irmeta.stats.properties import CASES, Case, PropertyCounts
from irmeta.studies.papers.properties.property_rows import Row


def violations(
    counts: Sequence[PropertyCounts],
    space: RankingSpace,
    specs: Sequence[Spec],
    values: np.ndarray,
) -> Iterator[Row]:
    """Yield the first, smallest and largest violation of each measure and property."""
    for measure, spec in enumerate(specs):
        for of in counts:
            for case in CASES:
                pair = violated_pair(of, measure, case, space, values)
                if pair is None:
                    continue
                lower, upper = arithmetic(space, spec, of.examples[measure, case])
                yield {
                    "measure": spec.name,
                    "property": of.property.name,
                    "case": case,
                    **pair,
                    "lower_arithmetic": lower,
                    "upper_arithmetic": upper,
                }


def violated_pair(
    of: PropertyCounts, measure: int, case: Case, space: RankingSpace, values: np.ndarray
) -> Row | None:
    """Return the names and scores of a violated pair; None without a violation."""
    if (pair := of.examples.get((measure, case))) is None:
        return None
    lower, upper = pair
    return {
        "lower": space.name(lower),
        "upper": space.name(upper),
        "lower_value": float(values[measure, lower]),
        "upper_value": float(values[measure, upper]),
    }


def arithmetic(space: RankingSpace, spec: Spec, numbers: Sequence[int]) -> Iterator[str]:
    """Yield the arithmetic of the scores of rankings, as `irmeta explain` shows it."""
    view = space.view([*numbers, *space.longest])
    scores = evaluate_block(view, [spec], EvalPolicy()).values[0, 0]
    for system, score in enumerate(scores[: len(numbers)].tolist()):
        _, trace = trace_value(view, spec, 0, system, score)
        yield written(trace)


def written(trace: Trace) -> str:
    """Return an arithmetic as one line."""
    if trace.undefined is not None:
        return f"defined as {trace.undefined:g}"
    terms = " + ".join(term.arithmetic for term in trace.terms) or "0"
    if trace.divisor == 1:
        return terms
    inside = f"({terms})" if len(trace.terms) > 1 else terms
    return f"{inside} / {trace.divisor:.6g} ({trace.divisor_is})"
