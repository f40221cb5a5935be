"""ASL: atomized search length, with choices for docs that are not retrieved.

The average search length of Diaz and Ferraro (2022) is another measure, AvgSL.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import get_args

import numpy as np

from irmeta.kernels.nonrelevant_above import mean_of_first, search_lengths
from irmeta.measures.cutoffs import empty_values, retrieved
from irmeta.measures.spec import Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.naming.parameters import REL, Parameter
from irmeta.policies import Unretrieved
from irmeta.rankings.judged import JudgedRanks

UNRETRIEVED = get_args(Unretrieved)


def irrelevant_retrieved(view: JudgedRanks, rel: float) -> np.ndarray:
    """Count the docs of the list that are not relevant, irrel_q of Eq. 3: int64 [query, system]."""
    return view.lengths.astype(np.int64) - retrieved(view, rel).astype(np.int64)


def unretrieved_length(view: JudgedRanks, rel: float, choice: str) -> np.ndarray:
    """Compute the search length of a relevant doc not retrieved: float64 [query, system].

    Parameters
    ----------
    choice
        ``irrel``: irrel_q, Eq. 3 as printed. ``floor``: max(1, irrel_q). ``irrel+1``: irrel_q + 1,
        so that a doc at the last rank is never worse than a doc not retrieved. ``depth``: D + 1 -
        relevant docs retrieved, with D the track's deepest rank, as if every list were padded
        with non-relevant docs down to D and the doc came next, at rank D + 1.

    Notes
    -----
    A system without a list for the query has ``depth`` under every choice, because Eq. 3 would make
    the system perfect.
    """
    irrelevant = irrelevant_retrieved(view, rel)
    retrieved = view.lengths.astype(np.int64) - irrelevant
    depth = view.facts.deepest_rank - retrieved + 1
    chosen = {
        "irrel": irrelevant,
        "floor": np.maximum(1, irrelevant),
        "irrel+1": irrelevant + 1,
        "depth": depth,
    }[choice]
    return np.where(view.lengths == 0, depth, chosen).astype(np.float64)


def relevant_lengths(
    view: JudgedRanks, rel: float, unretrieved: str
) -> tuple[np.ndarray, np.ndarray]:
    """Compute all search lengths of a block, by rank within (query, system), and the offsets."""
    ranks, offsets = view.sorted_ranks(rel)
    out = np.empty(ranks.shape)
    filler = unretrieved_length(view, rel, unretrieved)
    search_lengths(ranks, offsets, view.missing, filler, out)
    return out, offsets


def lengths_by_doc(view: JudgedRanks, rel: float, unretrieved: str) -> np.ndarray:
    """Compute the search length of each of `relevant_rows`: float64 [doc, system]."""
    rows = view.relevant_rows(rel)
    ranks, query = view.ranks[rows], view.query_of(rows)
    lengths = ranks.astype(np.float64)
    bounds = np.searchsorted(query, np.arange(len(view.queries) + 1))
    for start, stop in pairwise(bounds):
        order = np.argsort(ranks[start:stop], axis=0)
        above = np.empty_like(order)
        np.put_along_axis(above, order, np.arange(stop - start)[:, None], axis=0)
        lengths[start:stop] -= above
    filler = unretrieved_length(view, rel, unretrieved)[query]
    return np.where(ranks == view.missing, filler, lengths)


def precision_lengths(view: JudgedRanks, rel: float) -> np.ndarray:
    """Compute 1/P of Eq. 6, rank / (relevant docs above + 1): float64 [relevant doc, system].

    Values ascend within a query and system, so rows do not match particular docs; values are
    infinite for docs that are not retrieved.
    """
    ranks, offsets = view.sorted_ranks(rel)
    above = np.arange(len(ranks)) - np.repeat(offsets[:-1], np.diff(offsets))
    lengths = np.where(ranks == view.missing, np.inf, ranks / (above + 1)[:, None])
    for start, stop in pairwise(offsets):
        lengths[start:stop].sort(axis=0)
    return lengths


def compute_asl(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Average search length over relevant docs; @gN over the first min(N, R), unretrieved last."""
    lengths, offsets = relevant_lengths(view, params["rel"], params["unretrieved"])
    most = len(lengths)
    firsts = np.array([most if k is None else min(k, most) for k in ks], np.int64)
    out = empty_values(view, ks)
    mean_of_first(lengths, offsets, firsts, out)
    out[:, np.diff(offsets) == 0, :] = np.nan
    return out


def trace_asl(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace ASL as one search length per relevant doc."""
    relevant = one.relevant(params["rel"])
    retrieved = sum(rank is not None for rank, *_ in relevant)
    ending, missing = _unretrieved(one, retrieved, params["unretrieved"])
    terms = []
    for above, (rank, doc, grade) in enumerate(relevant[:k]):
        if rank is None:
            terms.append(Term(None, doc, grade, ending, missing))
        else:
            arithmetic = f"rank {rank} - {above} relevant above"
            terms.append(Term(rank, doc, grade, arithmetic, float(rank - above)))
    divisor_is = "relevant docs of the query" if k is None else f"min({k}, relevant docs)"
    undefined = None if terms else math.nan
    return Trace(tuple(terms), len(terms), divisor_is, undefined)


def _unretrieved(one: OneList, retrieved: int, choice: str) -> tuple[str, float]:
    irrelevant = one.length - retrieved
    if one.length == 0 or choice == "depth":
        ending = f"rank {one.deepest_rank} + 1 - {retrieved} relevant retrieved"
        reason = "no list" if one.length == 0 else "not retrieved"
        return f"{reason}: {ending}", float(one.deepest_rank - retrieved + 1)
    value = {"irrel": irrelevant, "floor": max(1, irrelevant), "irrel+1": irrelevant + 1}[choice]
    ending = {"irrel": "", "floor": ", at least 1", "irrel+1": " + 1"}[choice]
    return f"not retrieved: {irrelevant} non-relevant in the list{ending}", float(value)


MEASURES = (
    Measure(
        name="ASL",
        summary="atomized search length: non-relevant docs above a relevant one, plus 1; @gN: the "
        "first N relevant docs",
        compute=compute_asl,
        trace=trace_asl,
        source="Alex, Hall and Metzler 2022, Atomized Search Length, Eqs. 2 to 5",
        parameters=(
            REL,
            Parameter(
                "unretrieved",
                "irrel",
                "search length of a relevant doc that is not retrieved",
                kind="choice",
                choices=UNRETRIEVED,
            ),
        ),
        cutoff_prefix="g",
        direction=-1,
        format="length",
        unit="docs",
        bounds=(0.0, float("inf")),
        no_relevant=math.nan,
        empty_list="deepest rank of the track + 1",
        monotone=False,
        counts_irrelevant=True,
    ),
)
