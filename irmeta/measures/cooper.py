"""Search length to the first relevant doc, to the last, and the mean over all relevant docs.

AvgSL is the ASL of Diaz and Ferraro (2022); irmeta's ASL is atomized search length.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.nonrelevant_above import mean_of_first
from irmeta.measures.search_length import irrelevant_retrieved
from irmeta.measures.spec import Compute, Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.naming.parameters import REL, Parameter
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.needs import Need


def corpus_sizes(view: JudgedRanks, params: Params) -> np.ndarray:
    """Return the size of the corpus of each query: int64 [query].

    The default `corpus` has all known docs: retrieved by any system, or judged. Judged non-relevant
    docs count because otherwise a query without lists would have a corpus of relevant docs only,
    and so the best possible search lengths. ``relevant`` has the docs retrieved by any system, or
    relevant (Diaz and Ferraro 2022, Section 5.5).

    Raises
    ------
    MeasureError
        If `corpus` cannot hold a list and the relevant docs that the list lacks.
    """
    rel, corpus = params["rel"], params["corpus"]
    if corpus in (None, "relevant"):
        unretrieved = view.ranks.min(axis=1, initial=view.missing) == view.missing
        counted = view.is_judged if corpus is None else view.grades >= rel
        query = view.query_of(np.flatnonzero(counted & unretrieved))
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
    """Compute search lengths in selected rows of `JudgedRanks.sorted_ranks`: float64 [row, system].

    Relevant docs that are not retrieved have the last ranks of the corpus.
    """
    ranks, offsets = view.sorted_ranks(params["rel"])
    query = np.searchsorted(offsets, rows, side="right") - 1
    nth = rows - offsets[query] + 1
    last_ranks = (corpus_sizes(view, params) - np.diff(offsets))[query] + nth
    selected = ranks[rows]
    is_missing = selected == view.missing
    lengths = np.where(is_missing, last_ranks[:, None], selected).astype(np.float64)
    return lengths - nth[:, None] if params["count"] == "nonrelevant" else lengths


def _of_one(view: JudgedRanks, params: Params, ks: Cutoffs, rows: np.ndarray) -> np.ndarray:
    """Compute the search length in one row per query; NaN for a query without relevant docs."""
    has_relevant = view.counts(params["rel"]) > 0
    out = np.full((len(ks), *view.lengths.shape), np.nan)
    out[:, has_relevant] = lengths_at(view, params, rows[has_relevant])
    return out


def compute_initial(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute the search length to the first relevant doc."""
    return _of_one(view, params, ks, view.sorted_ranks(params["rel"])[1][:-1])


def compute_total(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute the search length to the last relevant doc."""
    return _of_one(view, params, ks, view.sorted_ranks(params["rel"])[1][1:] - 1)


def compute_average(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute the mean search length over all relevant docs."""
    ranks, offsets = view.sorted_ranks(params["rel"])
    lengths = lengths_at(view, params, np.arange(len(ranks)))
    out = np.zeros((1, *view.lengths.shape))
    mean_of_first(lengths, offsets, np.array([len(lengths)]), out)
    out[:, np.diff(offsets) == 0] = np.nan
    return np.broadcast_to(out, (len(ks), *view.lengths.shape))


def _terms(one: OneList, params: Params) -> list[Term]:
    """List the search length to every relevant doc, by rank."""
    relevant = one.relevant(params["rel"])
    corpus = params["corpus"]
    if corpus in (None, "relevant"):
        judged = {doc for _, doc, grade in one.judged if one.counts_as_judged(grade)}
        counted = judged if corpus is None else {doc for _, doc, _ in relevant}
        corpus = one.retrieved + len(one.unretrieved_by_all & counted)
    terms = []
    for nth, (rank, doc, grade) in enumerate(relevant, 1):
        length, arithmetic = rank, f"rank {rank}"
        if length is None:
            below = len(relevant) - nth
            length = corpus - below
            arithmetic = f"not retrieved: {corpus} docs of the corpus - {below} relevant below"
        if params["count"] == "nonrelevant":
            length, arithmetic = length - nth, f"{arithmetic} - {nth} relevant"
        terms.append(Term(rank, doc, grade, arithmetic, float(length)))
    return terms


def _trace(terms: list[Term], divisor_is: str) -> Trace:
    return Trace(tuple(terms), len(terms), divisor_is, None if terms else math.nan)


def trace_initial(one: OneList, params: Params, k: None) -> Trace:
    """Trace ISL as the first search length."""
    return _trace(_terms(one, params)[:1], "(nothing)")


def trace_total(one: OneList, params: Params, k: None) -> Trace:
    """Trace TSL as the last search length."""
    return _trace(_terms(one, params)[-1:], "(nothing)")


def trace_average(one: OneList, params: Params, k: None) -> Trace:
    """Trace AvgSL as one search length per relevant doc."""
    return _trace(_terms(one, params), "relevant docs of the query")


def _needs(params: Params) -> tuple[Need, ...]:
    return ("retrieved",) if params["corpus"] in (None, "relevant") else ()


_PARAMETERS = (
    Parameter(
        "count",
        "rank",
        "docs to count; nonrelevant (Cooper): only non-relevant docs above",
        kind="choice",
        choices=("rank", "nonrelevant"),
    ),
    Parameter(
        "corpus",
        None,
        "docs of the corpus; default all retrieved or judged; relevant: all retrieved or relevant",
        high=10**12,
        choices=("relevant",),
    ),
    REL,
)


def _measure(
    name: str, to: str, compute: Compute, trace: Callable[[OneList, Params, Any], Trace]
) -> Measure:
    return Measure(
        name=name,
        summary=f"search length {to}; docs not retrieved have the last ranks of the corpus",
        compute=compute,
        trace=trace,
        source="Diaz and Ferraro 2022, doi:10.1145/3477495.3532033, section 3.1; Cooper 1968",
        parameters=_PARAMETERS,
        cutoff="none",
        direction=-1,
        format="length",
        unit="docs",
        bounds=(0.0, math.inf),
        no_relevant=math.nan,
        empty_list="the relevant docs at the last ranks of the corpus",
        needs=_needs,
        revision=2,
    )


MEASURES = (
    _measure("ISL", "to the first relevant doc", compute_initial, trace_initial),
    _measure("TSL", "to the last relevant doc", compute_total, trace_total),
    _measure("AvgSL", "to a relevant doc, on average", compute_average, trace_average),
)
