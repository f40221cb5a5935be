"""Search lengths: ASL, atomized search length, and those to relevant docs, ISL, TSL and AvgSL.

Atomized measures have the worth of each relevant doc alone, at its search length. The average
search length of Diaz and Ferraro (2022) is another measure than ASL, AvgSL.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, get_args

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.cutoff_sums import mean_of_first, search_lengths
from irmeta.measures.spec import Compute, Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.measures.sums import empty_values, gains, retrieved
from irmeta.naming import REL, Parameter
from irmeta.policies import Unretrieved
from irmeta.rankings.judged import JudgedRanks

Discount = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Chain:
    """A measure that discounts ranks, and its discount.

    `discount`: c: function from search lengths to the worth of a doc at that length, 1 at length 1.
    `gain`: Kind of gain (see irmeta.measures.sums) that weights the relevant docs. Unless
    ``binary``, every doc of grade 1 and above has a gain.
    """

    name: str
    discount: Discount
    gain: str = "binary"

    @property
    def graded(self) -> bool:
        """Whether docs of different grades have different weights."""
        return self.gain != "binary"


class Atomized(NamedTuple):
    """Means over the relevant docs of each query, float64 [query, system].

    `worth`: Weighted mean worth of the relevant docs, each alone; NaN without relevant docs.
    `length`: Mean search length of the relevant docs, with the same weights.
    """

    worth: np.ndarray
    length: np.ndarray

    @classmethod
    def concat(cls, blocks: Sequence[Atomized]) -> Atomized:
        """Concatenate the blocks of a track."""
        return cls(*(np.concatenate(values) for values in zip(*blocks, strict=True)))


def atomized(view: JudgedRanks, chain: Chain, rel: float, lengths: np.ndarray) -> Atomized:
    """Return a block's values; `lengths` are at least 1, from `lengths_by_doc` for `rel`."""
    rows = view.relevant_rows(rel)
    bounds = np.searchsorted(view.query_of(rows), np.arange(len(view.queries) + 1))
    weights = gains(view.grades[rows], chain.gain, rel, view.facts.highest_grade)
    worth = chain.discount(lengths)
    means = np.full((2, len(view.queries), len(view.systems)), np.nan)
    for query, (start, stop) in enumerate(pairwise(bounds)):
        if start < stop:
            shares = weights[start:stop] / weights[start:stop].sum()
            means[0, query] = shares @ worth[start:stop]
            means[1, query] = shares @ lengths[start:stop]
    return Atomized(*means)


UNRETRIEVED = get_args(Unretrieved)


def irrelevant_retrieved(view: JudgedRanks, rel: float) -> np.ndarray:
    """Count the docs of the list that are not relevant, irrel_q of Eq. 3: int64 [query, system]."""
    return view.lengths.astype(np.int64) - retrieved(view, rel).astype(np.int64)


def unretrieved_length(view: JudgedRanks, rel: float, choice: str) -> np.ndarray:
    """Compute the search length of a relevant doc not retrieved: float64 [query, system].

    ``irrel``: irrel_q, Eq. 3 as printed. ``floor``: max(1, irrel_q). ``irrel+1``: irrel_q + 1, so
    that a doc at the last rank is never worse than one not retrieved. ``depth``: D + 1 - relevant
    docs retrieved, with D the track's deepest rank, as if every list were padded with non-relevant
    docs down to D. A system without a list has ``depth`` always, because Eq. 3 would make it
    perfect.
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


def trace_asl(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace ASL as one search length per relevant doc."""
    relevant = ranking.relevant(params["rel"])
    retrieved = sum(rank is not None for rank, *_ in relevant)
    ending, missing = _unretrieved(ranking, retrieved, params["unretrieved"])
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


def _unretrieved(ranking: OneList, retrieved: int, choice: str) -> tuple[str, float]:
    irrelevant = ranking.length - retrieved
    if ranking.length == 0 or choice == "depth":
        ending = f"rank {ranking.deepest_rank} + 1 - {retrieved} relevant retrieved"
        reason = "no list" if ranking.length == 0 else "not retrieved"
        return f"{reason}: {ending}", float(ranking.deepest_rank - retrieved + 1)
    value = {"irrel": irrelevant, "floor": max(1, irrelevant), "irrel+1": irrelevant + 1}[choice]
    ending = {"irrel": "", "floor": ", at least 1", "irrel+1": " + 1"}[choice]
    return f"not retrieved: {irrelevant} non-relevant in the list{ending}", float(value)


def corpus_sizes(view: JudgedRanks, params: Params) -> np.ndarray:
    """Return the size of the corpus of each query: int64 [query].

    The default `corpus` has all known docs: retrieved by any system, or judged. Judged non-relevant
    docs count because otherwise a query without lists would have a corpus of relevant docs only,
    and so the best possible search lengths. ``relevant`` has the docs retrieved by any system, or
    relevant (Diaz and Ferraro 2022, Section 5.5).
    """
    rel, corpus = params["rel"], params["corpus"]
    if corpus in (None, "relevant"):
        unretrieved = view.of_all_systems.ranks.min(axis=1, initial=view.missing) == view.missing
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


def _to_one(definition: str, row_of: Callable[[np.ndarray], np.ndarray]) -> Compute:
    """Return the function that computes the search length to one relevant doc of each query.

    `row_of` returns its row of `JudgedRanks.sorted_ranks` for the offsets of the queries.
    """

    def compute(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
        has_relevant = view.counts(params["rel"]) > 0
        rows = row_of(view.sorted_ranks(params["rel"])[1])
        out = np.full((len(ks), *view.lengths.shape), np.nan)
        out[:, has_relevant] = lengths_at(view, params, rows[has_relevant])
        return out

    compute.__doc__ = definition
    return compute


def compute_average(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute the mean search length over all relevant docs."""
    ranks, offsets = view.sorted_ranks(params["rel"])
    lengths = lengths_at(view, params, np.arange(len(ranks)))
    out = np.zeros((1, *view.lengths.shape))
    mean_of_first(lengths, offsets, np.array([len(lengths)]), out)
    out[:, np.diff(offsets) == 0] = np.nan
    return np.broadcast_to(out, (len(ks), *view.lengths.shape))


def _length_terms(ranking: OneList, params: Params) -> list[Term]:
    """List the search length to every relevant doc, by rank."""
    relevant = ranking.relevant(params["rel"])
    corpus = params["corpus"]
    if corpus in (None, "relevant"):
        judged = {doc for _, doc, grade in ranking.judged if ranking.counts_as_judged(grade)}
        counted = judged if corpus is None else {doc for _, doc, _ in relevant}
        corpus = ranking.retrieved + len(ranking.unretrieved_by_all & counted)
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


_COOPER = (
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


def _cooper(
    name: str, to: str, compute: Compute, counted: slice, divisor_is: str = "(nothing)"
) -> Measure:
    """Return the measure of the mean of the search lengths to some of the relevant docs."""

    def trace(ranking: OneList, params: Params, k: None) -> Trace:
        terms = tuple(_length_terms(ranking, params)[counted])
        return Trace(terms, len(terms), divisor_is, None if terms else math.nan)

    return Measure(
        name=name,
        summary=f"search length {to}; docs not retrieved have the last ranks of the corpus",
        compute=compute,
        trace=trace,
        source="Diaz and Ferraro 2022, doi:10.1145/3477495.3532033, section 3.1; Cooper 1968",
        parameters=_COOPER,
        cutoff="none",
        direction=-1,
        format="length",
        unit="docs",
        bounds=(0.0, math.inf),
        no_relevant=math.nan,
        empty_list="the relevant docs at the last ranks of the corpus",
        needs=lambda params: ("retrieved",) if params["corpus"] in (None, "relevant") else (),
        revision=2,
    )


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
    _cooper(
        *("ISL", "to the first relevant doc"),
        _to_one("Compute the search length to the first relevant doc.", lambda starts: starts[:-1]),
        slice(1),
    ),
    _cooper(
        *("TSL", "to the last relevant doc"),
        _to_one("Compute the search length to the last relevant doc.", lambda ends: ends[1:] - 1),
        slice(-1, None),
    ),
    _cooper(
        "AvgSL",
        "to a relevant doc, on average",
        compute_average,
        slice(None),
        "relevant docs of the query",
    ),
)
