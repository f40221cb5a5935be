"""Search lengths to the first relevant doc, to the last, and on average over all of them.

AvgSL is what Diaz and Ferraro (2022) call ASL; ours of that name is atomized search length.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.search_length import mean_of_first
from irmeta.measures.parameters import REL, Parameter
from irmeta.measures.search_length import irrelevant_retrieved
from irmeta.measures.spec import Compute, Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.rankings.judged import JudgedRanks, Need


def corpus_sizes(view: JudgedRanks, params: Params) -> np.ndarray:
    """How many docs the corpus of each query has: int64 [query].

    Unless `corpus` says so, the docs that any system retrieves together with the judged ones: all
    that are known. Were it without the judged ones that are not relevant, a query for which no
    system has a list would have a corpus of relevant docs alone, and no search could be better.

    Raises
    ------
    MeasureError
        If `corpus` cannot hold a list and the relevant docs that the list lacks.
    """
    rel, corpus = params["rel"], params["corpus"]
    if corpus is None:
        alone = view.is_judged & (view.ranks.min(axis=1, initial=view.missing) == view.missing)
        query = view.query_of(np.flatnonzero(alone))
        return view.require("retrieved") + np.bincount(query, minlength=len(view.queries))
    needed = irrelevant_retrieved(view, rel) + view.counts(rel)[:, None]
    if needed.max(initial=0) > corpus:
        q, s = map(int, np.unravel_index(needed.argmax(), needed.shape))
        raise MeasureError(
            f"corpus={corpus} is too small: the list of {view.systems[s]} for query "
            f"{view.queries[q]} and the relevant docs that it lacks are {needed[q, s]} docs."
        )
    return np.full(len(view.queries), corpus, np.int64)


def lengths_at(view: JudgedRanks, params: Params, rows: np.ndarray) -> np.ndarray:
    """The search lengths in some rows of `JudgedRanks.sorted_ranks`: float64 [row, system].

    The relevant docs that are not retrieved stand at the last places of the corpus.
    """
    ranks, offsets = view.sorted_ranks(params["rel"])
    query = np.searchsorted(offsets, rows, side="right") - 1
    nth = rows - offsets[query] + 1
    at_the_end = (corpus_sizes(view, params) - np.diff(offsets))[query] + nth
    found = ranks[rows]
    lengths = np.where(found == view.missing, at_the_end[:, None], found).astype(np.float64)
    return lengths - nth[:, None] if params["count"] == "nonrelevant" else lengths


def _of_one(view: JudgedRanks, params: Params, ks: Cutoffs, rows: np.ndarray) -> np.ndarray:
    """The search length in one row a query; NaN for a query without relevant docs."""
    some = view.counts(params["rel"]) > 0
    out = np.full((len(ks), *view.lengths.shape), np.nan)
    out[:, some] = lengths_at(view, params, rows[some])
    return out


def compute_initial(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """The search length to the first relevant doc."""
    return _of_one(view, params, ks, view.sorted_ranks(params["rel"])[1][:-1])


def compute_total(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """The search length to the last relevant doc."""
    return _of_one(view, params, ks, view.sorted_ranks(params["rel"])[1][1:] - 1)


def compute_average(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """The mean search length over all relevant docs."""
    ranks, offsets = view.sorted_ranks(params["rel"])
    lengths = lengths_at(view, params, np.arange(len(ranks)))
    out = np.zeros((1, *view.lengths.shape))
    mean_of_first(lengths, offsets, np.array([len(lengths)]), out)
    out[:, np.diff(offsets) == 0] = np.nan
    return np.broadcast_to(out, (len(ks), *view.lengths.shape))


def _terms(one: OneList, params: Params) -> list[Term]:
    """The search length to every relevant doc, by rank."""
    relevant = one.relevant(params["rel"])
    corpus = params["corpus"]
    if corpus is None:
        judged = (doc for _, doc, grade in one.judged if one.counts_as_judged(grade))
        corpus = one.retrieved + len(one.unretrieved_by_all.intersection(judged))
    terms = []
    for nth, (rank, doc, grade) in enumerate(relevant, 1):
        place, said = rank, f"rank {rank}"
        if place is None:
            below = len(relevant) - nth
            place = corpus - below
            said = f"not retrieved: {corpus} docs of the corpus - {below} relevant below"
        if params["count"] == "nonrelevant":
            place, said = place - nth, f"{said} - {nth} relevant"
        terms.append(Term(rank, doc, grade, said, float(place)))
    return terms


def _trace(terms: list[Term], divisor_is: str) -> Trace:
    return Trace(tuple(terms), len(terms), divisor_is, None if terms else math.nan)


def trace_initial(one: OneList, params: Params, k: None) -> Trace:
    """ISL as the first search length."""
    return _trace(_terms(one, params)[:1], "(nothing)")


def trace_total(one: OneList, params: Params, k: None) -> Trace:
    """TSL as the last search length."""
    return _trace(_terms(one, params)[-1:], "(nothing)")


def trace_average(one: OneList, params: Params, k: None) -> Trace:
    """AvgSL as one search length a relevant doc."""
    return _trace(_terms(one, params), "relevant docs of the query")


def _needs(params: Params) -> tuple[Need, ...]:
    return ("retrieved",) if params["corpus"] is None else ()


_PARAMETERS = (
    Parameter(
        "count",
        "rank",
        "what is counted; nonrelevant (Cooper): the docs above that are not relevant",
        kind="choice",
        choices=("rank", "nonrelevant"),
    ),
    Parameter("corpus", None, "docs of the corpus; default all retrieved or judged", high=10**12),
    REL,
)


def _measure(
    name: str, to: str, compute: Compute, trace: Callable[[OneList, Params, Any], Trace]
) -> Measure:
    return Measure(
        name=name,
        summary=f"search length {to}; docs that are not retrieved stand at the corpus' end",
        compute=compute,
        trace=trace,
        source="Diaz and Ferraro 2022, doi:10.1145/3477495.3532033, section 3.1; Cooper 1968",
        parameters=_PARAMETERS,
        cutoff="none",
        direction=-1,
        bounds=(0.0, math.inf),
        no_relevant=math.nan,
        empty_list="the relevant docs at the last places of the corpus",
        needs=_needs,
        revision=2,
    )


MEASURES = (
    _measure("ISL", "to the first relevant doc", compute_initial, trace_initial),
    _measure("TSL", "to the last relevant doc", compute_total, trace_total),
    _measure("AvgSL", "to a relevant doc, on average", compute_average, trace_average),
)
