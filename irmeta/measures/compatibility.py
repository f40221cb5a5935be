"""Compatibility: rank-biased overlap of a list with the ideal list nearest to it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from irmeta.kernels.cutoff_sums import deeper_places
from irmeta.measures.rbp import powers
from irmeta.measures.spec import Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.measures.sums import add_up, divide, label_type
from irmeta.naming import Parameter
from irmeta.rankings.judged import JudgedRanks

LISTS = "lists"
_PARAMETERS = (
    Parameter("p", 0.95, "persistence", kind="number", low=0, high=1, open=True),
    Parameter(
        "depth",
        1000,
        "depth of the overlap; lists: of the longer of both lists, as in ir_measures",
        high=100_000,
        choices=(LISTS,),
    ),
    Parameter(
        "normalize",
        "True",
        "whether values are divided by that of the ideal list, which may be short",
        kind="choice",
        choices=("True", "False"),
    ),
)


@lru_cache(maxsize=16)
def _running(p: float, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute the sums of p^(i - 1) / i and of p^(i - 1) for i up to 0, 1, ... depth."""
    weights = powers(p, depth - 1)
    shares = weights / np.arange(1, depth + 1)
    return np.cumsum([0.0, *shares]), np.cumsum([0.0, *weights])


def compute_compatibility(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum p^(i - 1) times the overlap with the ideal list at each depth i, over its greatest value.

    The overlap is the share of the first i docs of the list that are among the first i docs of the
    ideal list: docs with a grade above 0 by grade, those of equal grade in the order of the list.

    Notes
    -----
    Equals the authors' program, whose depth is 1,000 and which orders tied docs by ascending name
    (here by `tie_order`). ir_measures stops at the length of the longer list, gives 0 for a query
    without relevant docs, which the program leaves out, and treats a doc that is not retrieved like
    one of score 0: with negative scores its ideal list is not the nearest.
    """
    in_list = _places(view)
    if in_list is None:  # no doc is relevant
        return np.full((len(ks), *view.lengths.shape), np.nan)
    ranks, places, offsets = in_list
    relevant = np.diff(offsets)
    depths = np.full(view.lengths.shape, params["depth"])
    if params["depth"] == LISTS:
        depths = np.maximum(view.lengths.astype(np.int64), relevant[:, None])
    by_rank, weights = _running(params["p"], int(depths.max()))
    of_doc = depths.repeat(relevant, axis=0)
    amounts = by_rank[of_doc] - by_rank[np.clip(places - 1, 0, of_doc)]
    best = weights[depths]
    if params["normalize"] == "True":
        both = np.minimum(relevant[:, None], depths)
        best = both * by_rank[depths] - np.concatenate([[0.0], np.cumsum(by_rank)])[both]
    best = np.where(relevant[:, None] > 0, best, 0.0)
    return divide(add_up(view, ranks, offsets, amounts, ks), best, np.nan)


def _places(view: JudgedRanks) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return ranks of the docs with a grade above 0, the depths from which they overlap, offsets.

    None without such a doc.
    """
    rows = view.grades > 0
    if not rows.any():
        return None
    labels, better = _levels(view.grades[rows], view.offsets_of(rows))
    levels = better.shape[1]
    ranks, labels, offsets = view.sort_by_rank(rows, labels.astype(label_type(levels)))
    places = np.zeros(ranks.shape, np.int64)
    working = np.empty(levels, np.int64)
    deeper_places(ranks, labels, better, offsets, view.missing, working, places)
    return ranks, places, offsets


def _levels(grades: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Label the docs of each query by grade, from 0 for the highest of the query.

    Also return the number of docs of the query with a smaller label: int64 [queries, labels].
    """
    first, query = offsets[:-1], np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    falls = np.append(0, np.cumsum(grades[1:] != grades[:-1]))
    labels = falls - falls[np.minimum(first, len(grades) - 1)][query]
    starts = np.r_[True, (labels[1:] != labels[:-1]) | (query[1:] != query[:-1])]
    better = np.zeros((len(offsets) - 1, int(labels.max()) + 1), np.int64)
    rows = np.flatnonzero(starts)
    better[query[rows], labels[rows]] = rows - first[query[rows]]
    return labels, better


def trace_compatibility(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace compatibility as one sum of weights per relevant doc of the list."""
    relevant = ranking.relevant(np.nextafter(0, 1))
    length = max(ranking.length, len(relevant))
    depth = length if params["depth"] == LISTS else params["depth"]
    p, terms = params["p"], list[Term]()

    def weight_from(place: int) -> float:
        return sum(p ** (i - 1) / i for i in range(place, depth + 1))

    # Stable: docs of equal grade keep the order of the list, and unretrieved docs come last.
    ideal = sorted(relevant, key=lambda doc: -doc[2])
    for place, (rank, doc, grade) in enumerate(ideal, 1):
        if rank is not None:
            first = max(rank, place)
            arithmetic = f"ideal place {place}: sum of {p:g}^(i - 1) / i for i = {first} to {depth}"
            terms.append(Term(rank, doc, grade, arithmetic, weight_from(first)))
    terms.sort(key=lambda term: term.rank or 0)
    if params["normalize"] == "True":
        divisor = sum(weight_from(place) for place in range(1, len(ideal) + 1))
        return Trace(tuple(terms), divisor, "the ideal list's", None if ideal else np.nan)
    divisor = sum(p**i for i in range(depth))
    return Trace(tuple(terms), divisor, "all weights", None if ideal else np.nan)


MEASURES = (
    Measure(
        name="Compat",
        summary="compatibility: overlap of the list with the nearest ideal list, weighted by rank",
        compute=compute_compatibility,
        trace=trace_compatibility,
        source="doi:10.1145/3451161, Section 3; github.com/claclark/Compatibility",
        parameters=_PARAMETERS,
        cutoff="none",
        monotone=False,  # with depth=lists, longer lists have more weights
        no_relevant=np.nan,
    ),
)
