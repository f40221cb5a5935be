"""Rows of the tables that count pairs of rankings by measure and property."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from irmeta.errors import UsageError
from irmeta.measures.evaluate import oriented, rank_cutoff
from irmeta.measures.names import Spec
from irmeta.naming.numbered_rankings import NumberedRankings
from irmeta.parallel import usable_memory
from irmeta.phrases import count
from irmeta.rankings.enumeration import RankingSpace
from irmeta.stats.properties import (
    INDUCTION,
    Property,
    PropertyCounts,
    count_induced,
    count_violations,
)

Row = dict[str, Any]

RANKING_SECONDS, PAIR_SECONDS = 2e-7, 7e-9
"""Time of a measure for a ranking with its neighbours, and for a pair of induction; on one core."""
MOST_SECONDS = 60
SHARE_OF_MEMORY = 0.5
NUMBERS = 10  # arrays of one number per ranking that pairs of rankings take at most


def check_affordable(
    rankings: NumberedRankings, specs: Sequence[Spec], properties: Sequence[Property]
) -> None:
    """Check that measures of all rankings take no more than a minute and half of the memory.

    Raises
    ------
    UsageError
        If they take more, with the number of rankings.
    """
    pairs = count_induced(rankings) if INDUCTION in properties else 0
    seconds = len(specs) * (RANKING_SECONDS * rankings.count + PAIR_SECONDS * pairs)
    is_turned = any(spec.measure.direction < 0 for spec in specs)
    arrays = len(specs) * (2 if is_turned else 1) + NUMBERS
    size, most = 8 * rankings.count * arrays, SHARE_OF_MEMORY * usable_memory()
    if seconds > MOST_SECONDS or size > most:
        raise UsageError(
            f"{rankings.count:,} rankings of up to {rankings.length} docs over "
            f"{count(rankings.subtopics, 'subtopic')} by {count(len(specs), 'measure')} take about "
            f"{seconds:,.0f} seconds and {size / 1e9:.1f} GB, above the limits of {MOST_SECONDS} "
            f"seconds and {most / 1e9:.1f} GB: choose a smaller length, or fewer subtopics or "
            "measures."
        )


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
