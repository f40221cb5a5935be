"""Offline interleaving: balanced interleaving of two lists, read by simulated users."""

from __future__ import annotations

import numpy as np

from irmeta.kernels.pair_preferences import interleaved_preferences
from irmeta.naming import REL, Parameter, Params
from irmeta.preferences.levels import graded_sets, level_weights
from irmeta.preferences.spec import PairTerm, PairTrace, PreferenceRule
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.one_list import OneList
from irmeta.results.verdicts import BlockPreferences


def compare_interleaved(view: JudgedRanks, params: Params, k: int | None) -> BlockPreferences:
    """Compute the mean gain of users of an interleaved list, over both lists that may start.

    A user of level i reads to the i-th relevant doc of the interleaved list, at rank k of the list
    that it comes from, and prefers the list with more relevant docs up to k (Eq. 2). A user for
    whom the list has too few relevant docs has no preference.
    """
    sets = graded_sets(view, params["rel"], "binary")
    sizes = np.bincount(sets.query, sets.sizes, len(view.queries)).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    ranks, missing = view.ranks[sets.rows], view.missing
    if k is not None:
        ranks[ranks > min(k, missing - 1)] = missing
    systems = ranks.shape[1]

    def difference(query: int) -> np.ndarray:
        rows = ranks[offsets[query] : offsets[query + 1]].T.copy()
        raw = level_weights(rows.shape[1], params)
        out = np.empty((systems, systems))
        interleaved_preferences(rows, np.argsort(rows, axis=1), missing, raw, out)
        return out / np.cumsum(raw)[-1]

    return BlockPreferences(sizes > 0, systems, difference)


def trace_interleaved(one: OneList, other: OneList, params: Params, k: int | None) -> PairTrace:
    """Trace the relevant docs of both interleaved lists in the order in which they are read."""
    first_ranks, others = (_ranks(o, params["rel"], k) for o in (one, other))
    raw = level_weights(len(first_ranks), params)
    weights = (raw / raw.sum() / 2.0).tolist()
    terms: list[PairTerm] = []
    for part, first in (("first list starts", True), ("second list starts", False)):
        steps = sorted(
            (min(2 * first_ranks[doc] - first, 2 * others[doc] - (not first)), doc)
            for doc in first_ranks
            if min(first_ranks[doc], others[doc]) < float("inf")
        )
        for i, (_, doc) in enumerate(steps):
            cut = min(first_ranks[doc], others[doc])
            gain = sum(r <= cut for r in first_ranks.values()) - sum(
                r <= cut for r in others.values()
            )
            a, b = (None if r == float("inf") else int(r) for r in (first_ranks[doc], others[doc]))
            sign = (gain > 0) - (gain < 0)
            terms.append(PairTerm(part, i + 1, a, doc, b, doc, sign, weights[i]))
        if first_ranks and not steps:
            terms.append(PairTerm(part, 1, None, None, None, None, 0, weights[0]))
    return PairTrace(tuple(terms))


def _ranks(one: OneList, rel: float, k: int | None) -> dict[str, float]:
    """Return the rank of each relevant doc; infinity where it is not retrieved up to `k`."""
    most = float("inf") if k is None else k
    ranks = ((doc, float("inf") if r is None else r) for r, doc, _ in one.relevant(rel))
    return {doc: r if r <= most else float("inf") for doc, r in ranks}


RULES = (
    PreferenceRule(
        name="OI",
        summary="offline interleaving: balanced, read to the i-th relevant doc by simulated users",
        compare=compare_interleaved,
        trace=trace_interleaved,
        source="Diaz and Ferraro 2022, doi:10.1145/3477495.3532033, section 5.5; Joachims 2003",
        parameters=(
            Parameter(
                "p",
                "uniform",
                "weights of the users of level i: 1 or 1 / log2(i + 1), normalised",
                kind="choice",
                choices=("uniform", "dcg"),
            ),
            REL,
        ),
    ),
)
