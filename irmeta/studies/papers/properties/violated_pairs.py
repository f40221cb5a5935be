"""Violated pairs of rankings, with the arithmetic of their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from irmeta.measures.explain import trace_value
from irmeta.measures.spec import Spec, Trace
from irmeta.rankings.enumeration import RankingSpace
from irmeta.stats.property_counts import CASES, PropertyCounts
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
                if (pair := of.examples.get((measure, case))) is None:
                    continue
                scores = [float(values[measure, number]) for number in pair]
                yield {
                    "measure": spec.name,
                    "property": of.property.name,
                    "case": case,
                    **dict(zip(("lower", "upper"), space.names(pair), strict=True)),
                    **dict(zip(("lower_value", "upper_value"), scores, strict=True)),
                    **dict(zip(
                        ("lower_arithmetic", "upper_arithmetic"),
                        arithmetic(space, spec, pair, scores),
                        strict=True,
                    )),
                }  # fmt: skip


def arithmetic(
    space: RankingSpace, spec: Spec, numbers: Sequence[int], scores: Sequence[float]
) -> Iterator[str]:
    """Yield the arithmetic of the scores of rankings, as `irmeta explain` shows it."""
    view = space.view(numbers)
    for system, score in enumerate(scores):
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
