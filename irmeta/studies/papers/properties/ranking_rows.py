"""Rows of single rankings: drawn relations, worked examples, and those shorter than a cutoff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from irmeta.measures.evaluate import evaluate_block, oriented, rank_cutoff, score_rankings
from irmeta.measures.names import Spec, parse_measure
from irmeta.naming.numbered_rankings import NumberedRankings
from irmeta.policies import EvalPolicy
from irmeta.rankings.enumeration import RankingSpace
from irmeta.results.verdicts import TIE
from irmeta.stats.properties import PAPER
from irmeta.studies.papers.properties.paper import RELEVANT, WORKED
from irmeta.studies.papers.properties.property_rows import Row


def nodes(rankings: NumberedRankings) -> Iterator[Row]:
    """Yield all rankings."""
    numbers = np.arange(rankings.count)
    lengths = rankings.lengths(numbers)
    for number, length in zip(numbers.tolist(), lengths.tolist(), strict=True):
        yield {"number": number, "ranking": rankings.name(number), "length": length}


def edges(rankings: NumberedRankings) -> Iterator[Row]:
    """Yield the pairs that each property relates; of induction, those that no other does."""
    seen = set[tuple[int, int]]()
    for one in PAPER:
        for _, lower, upper in one.pairs(rankings, ()):
            ends = (end.ravel().tolist() for end in np.broadcast_arrays(lower[:, None], upper))
            for pair in zip(*ends, strict=True):
                if pair in seen:
                    continue
                seen.add(pair)
                lower_name, upper_name = rankings.names(pair)
                yield {
                    "property": one.name,
                    "lower": lower_name,
                    "upper": upper_name,
                    "with_empty": 0 in pair,
                }


def worked() -> Iterator[Row]:
    """Score the rankings of Section 4.3, over two subtopics with five relevant docs each."""
    space = RankingSpace(2, 4, RELEVANT)
    for (measure, ranking), printed in WORKED.items():
        view, spec = space.view([space.number(ranking)]), parse_measure(measure)
        value = evaluate_block(view, [spec], EvalPolicy()).values.item()
        yield {"measure": spec.name, "ranking": ranking, "value": value, "printed": printed}


DIVIDED = "SetP"
"""The precision of trec_eval that divides by the length of the list, compared in Section 5."""


def truncation(space: RankingSpace, specs: Sequence[Spec], values: np.ndarray) -> Iterator[Row]:
    """Compare the score of each ranking shorter than the cutoff with its score when padded.

    Rankings are padded with non-relevant docs down to the cutoff, or to the length of the longest
    where the cutoff is deeper, or where there is none.
    """
    yield from _compared(space, specs, values)
    divided = parse_measure(DIVIDED)
    if divided not in specs:
        yield from _compared(space, [divided], score_rankings(space, [divided]))


def _compared(space: RankingSpace, specs: Sequence[Spec], values: np.ndarray) -> Iterator[Row]:
    for spec, given, scores in zip(specs, values, oriented(values, specs), strict=True):
        depth = min(rank_cutoff(spec) or space.length, space.length)
        short, padded = padded_rankings(space, depth)
        with np.errstate(invalid="ignore"):  # of two infinities
            rise = scores[padded] - scores[short]
        is_equal = (scores[padded] == scores[short]) | (np.abs(rise) <= TIE)
        totals = given[short] * space.lengths(short), given[padded] * depth
        yield {
            "measure": spec.name,
            "depth": depth,
            "rankings": len(short),
            "equal": int(is_equal.sum()),
            "better": int((~is_equal & (rise > 0)).sum()),
            "worse": int((~is_equal & (rise < 0)).sum()),
            "treatment": _treatment(is_equal, *totals),
        }


def padded_rankings(space: RankingSpace, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rankings of 1 to `depth` - 1 docs, and each padded with non-relevant docs."""
    short = np.arange(space.starts[1], space.starts[max(depth, 1)])
    padded, missing = short.copy(), depth - space.lengths(short)
    for added in range(depth):
        is_short = missing > added
        padded[is_short] = space.branching * (padded[is_short] + 1)
    return short, padded


def _treatment(is_equal: np.ndarray, total: np.ndarray, padded_total: np.ndarray) -> str | None:
    if not is_equal.size:
        return None
    if is_equal.all():
        return "pads"
    with np.errstate(invalid="ignore"):
        is_divided = np.isclose(total, padded_total, rtol=1e-9, atol=1e-12)
    return "divides by length" if is_divided.all() else "other"
