"""Rows of the tables that count pairs of rankings by measure and property."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from irmeta.measures.enumerated import oriented, rank_cutoff
from irmeta.measures.spec import Spec
from irmeta.rankings.enumeration import RankingSpace
from irmeta.stats.properties import INDUCTION, Property
from irmeta.stats.property_counts import PropertyCounts, count_violations

Row = dict[str, Any]


def described(one: Property) -> Row:
    """Return the row of a property in the table `properties`."""
    return {
        "property": one.name,
        "formula": one.formula,
        "meaning": one.meaning,
        "strict": one.strict,
        "source": one.source,
    }


def count_properties(
    properties: Sequence[Property], space: RankingSpace, specs: Sequence[Spec], values: np.ndarray
) -> list[PropertyCounts]:
    """Count the pairs of each property that each measure violates.

    `values` are those of `score_rankings`.
    """
    scores, cutoffs = oriented(values, specs), [rank_cutoff(spec) for spec in specs]
    return [count_violations(one, space, scores, space.weights, cutoffs) for one in properties]


def count_rows(counts: Sequence[PropertyCounts], specs: Sequence[Spec]) -> Iterator[Row]:
    """Yield a row for each measure and property.

    Of induction, the pairs that no single property relates are those beyond the properties before
    it.
    """
    for measure, spec in enumerate(specs):
        direct = direct_violated = 0
        for of in counts:
            applicable = int(of.applicable[measure].sum())
            violated = int(of.violated[measure].sum())
            is_induction = of.property is INDUCTION
            yield {
                "measure": spec.name,
                "property": of.property.name,
                "applicable": applicable,
                "violated": violated,
                "share": violated / applicable if applicable else np.nan,
                "holds": violated == 0 if applicable else None,
                "tied": int(of.tied[measure].sum()),
                "undefined": int(of.undefined[measure].sum()),
                "indirect": applicable - direct if is_induction else None,
                "indirect_violated": violated - direct_violated if is_induction else None,
                "with_empty": int(of.with_empty[measure]),
                "with_empty_violated": int(of.with_empty_violated[measure]),
            }
            direct += applicable
            direct_violated += violated


def by_length(counts: Sequence[PropertyCounts], specs: Sequence[Spec]) -> Iterator[Row]:
    """Yield the counts on all rankings up to each length, of measures that violate a property.

    The judgments are those of the longest rankings.
    """
    for measure, spec in enumerate(specs):
        for of in counts:
            applicable, violated = of.applicable[measure].cumsum(), of.violated[measure].cumsum()
            if violated[-1] == 0:
                continue
            for length in range(1, len(applicable)):
                pairs, failed = int(applicable[length]), int(violated[length])
                yield {
                    "measure": spec.name,
                    "property": of.property.name,
                    "length": length,
                    "applicable": pairs,
                    "violated": failed,
                    "share": failed / pairs if pairs else np.nan,
                }
