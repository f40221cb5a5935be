"""Cutoffs, divisors and sums along lists and ideal lists, shared by the measures.

Divisors of measures that are cut at k may use the pool of depth k. Lu, Moffat and Culpepper (2016),
Table 2: options a, b and c of AP and Q are ``norm=`` all, min and pool; a and b of NDCG, i and ii
of Q are ``ideal=`` all and pool. Options c, b and ii are for k < d, where d is the depth to which a
query's pool is complete; from k = d on they equal a, a and i. If the pool is complete at no depth,
d is unknown and the value is NaN, because option a would be a different measure. `pool_depth` or
`pool_depth_by_query` in collection.toml states d.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.cutoff_sums import amounts_within, count_within
from irmeta.measures.spec import Cutoff, Cutoffs, OneList, Params, Trace
from irmeta.naming.parameters import Parameter
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.view import Need


def rank_cuts(view: JudgedRanks, ks: Cutoffs) -> np.ndarray:
    """Convert cutoffs to int64 ranks, at most the largest rank of the arrays (also for None)."""
    last = view.missing - 1
    return np.array([last if k is None else min(k, last) for k in ks], np.int64)


def empty_values(view: JudgedRanks, ks: Cutoffs) -> np.ndarray:
    """Return zeros of a measure's shape: [cutoff, query, system]."""
    return np.zeros((len(ks), *view.lengths.shape))


def divide(values: np.ndarray, by: np.ndarray, undefined: float | np.ndarray) -> np.ndarray:
    """Divide `values`; return `undefined` where the divisor is not above 0."""
    return np.where(by > 0, values / np.where(by > 0, by, 1), undefined)


def per_query(values: np.ndarray, by: np.ndarray, undefined: float) -> np.ndarray:
    """Divide `values` [cutoff, query, system] by a divisor per query, or per cutoff and query."""
    return divide(values, by[..., None], undefined)


def retrieved(view: JudgedRanks, low: float, below: float | None = None) -> np.ndarray:
    """Count the docs with a grade from `low`, and less than `below`: float64 [query, system]."""
    ranks, offsets = view.sorted_ranks(low, below)
    counts = empty_values(view, [None])
    count_within(ranks, offsets, rank_cuts(view, [None]), counts)
    return counts[0]


def valued_by_rank(
    view: JudgedRanks, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sort the docs of positive value, float64 by row, by rank, for each query and system.

    Return ranks, labels and offsets as `JudgedRanks.sort_by_rank` does, and the value of each
    label.
    """
    rows = values > 0
    by_label, labels = np.unique(values[rows], return_inverse=True)
    is_uniform = len(by_label) < 2
    narrow = None if is_uniform else labels.astype(label_type(len(by_label)))
    return *view.sort_by_rank(rows, narrow), by_label


def label_type(labels: int) -> type[np.unsignedinteger]:
    """Return the narrowest type of a number of labels; ranks are sorted with them."""
    return np.uint8 if labels <= 1 << 8 else np.uint16 if labels <= 1 << 16 else np.uint32


def running_sums(offsets: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the sums of the first 0, 1, 2, ... values of each query, and their starts.

    The sum of the first i values of query q is ``sums[starts[q] + i]``.
    """
    starts = offsets + np.arange(len(offsets))
    sums = np.zeros(starts[-1])
    for q, (start, stop) in enumerate(pairwise(offsets)):
        np.cumsum(values[start:stop], out=sums[starts[q] + 1 : starts[q + 1]])
    return sums, starts


def sums_at(sums: np.ndarray, starts: np.ndarray, ks: np.ndarray) -> np.ndarray:
    """Return the running sums at each k, and the total beyond the last: float64 [k, query]."""
    last = np.diff(starts) - 1
    return sums[starts[:-1] + np.minimum(ks[:, None], last)]


def positions(offsets: np.ndarray) -> np.ndarray:
    """Compute the number of each row within its query, from 1: int64."""
    sizes = np.diff(offsets)
    return np.arange(1, offsets[-1] + 1) - np.repeat(offsets[:-1], sizes)


def add_up(
    view: JudgedRanks, ranks: np.ndarray, offsets: np.ndarray, amounts: np.ndarray, ks: Cutoffs
) -> np.ndarray:
    """Add up the amounts at ranks up to each cutoff: float64 [cutoff, query, system]."""
    out = empty_values(view, ks)
    amounts_within(ranks, offsets, amounts, rank_cuts(view, ks), out)
    return out


NORM = Parameter(
    "norm",
    "all",
    "divisor of the sum: all relevant docs R, min(R, k), or relevant docs in the depth-k pool",
    kind="choice",
    choices=("all", "min", "pool"),
)
IDEAL = Parameter(
    "ideal",
    "all",
    "docs of the ideal list: all judged docs, or judged docs in the depth-k pool",
    kind="choice",
    choices=("all", "pool"),
)


def needs_pool(params: Params) -> tuple[Need, ...]:
    """Return the need for pool depths, if a parameter refers to the pool."""
    return ("pool",) if "pool" in (params.get("norm"), params.get("ideal")) else ()


def refuse_without_cutoff(measure: str, params: Params, cutoff: Cutoff) -> None:
    """Raise an error if the norm or the ideal depends on a missing cutoff."""
    for parameter in (NORM, IDEAL):
        chosen = params.get(parameter.name, parameter.default)
        if cutoff is None and chosen != parameter.default:
            name = f"{measure}({parameter.name}={chosen})"
            raise MeasureError(f"{name} needs a cutoff, such as {name}@10.")


def divisors(view: JudgedRanks, params: Params, ks: Cutoffs | np.ndarray) -> np.ndarray:
    """Return R or min(R, k): float64 [cutoff or 1, query]."""
    relevant = view.counts(params["rel"]).astype(np.float64)[None]
    if params["norm"] == "min":
        return np.minimum(relevant, np.asarray(ks, np.float64)[:, None])
    return relevant


def over_pool(
    view: JudgedRanks, pool: JudgedRanks, sums: np.ndarray, rel: float, k: int
) -> np.ndarray:
    """Divide sums [query, system] by R_k; NaN where R_k = 0, but 0 where all judgments count."""
    return divide(sums, pool.counts(rel)[:, None], undefined_at(view, k)[:, None])


def undefined_at(view: JudgedRanks, k: int) -> np.ndarray:
    """Return the value where the pool of depth k has no relevant doc: float64 [query]."""
    return np.where(k < view.require("complete_depth"), np.nan, 0.0)


def without_depth(view: JudgedRanks, values: np.ndarray) -> np.ndarray:
    """Return values [..., query, system] with NaN where the pool is complete at no depth."""
    return np.where((view.require("complete_depth") == 0)[:, None], np.nan, values)


def trace_without_depth(one: OneList) -> Trace | None:
    """Trace the undefined value of a query whose pool is complete at no depth."""
    if one.complete_depth > 0:
        return None
    return Trace((), 0.0, "nothing: the pool of the query is complete at no depth", math.nan)


def divisor_of(
    full: OneList, pool: OneList, params: Params, k: int | None
) -> tuple[int, str, float]:
    """Return a trace's divisor, its description, and the value for divisor 0.

    `pool` is the list under the judgments of the pool of depth k, or `full` itself.
    """
    rel = params["rel"]
    if params["norm"] == "pool" and pool is not full:
        return len(pool.relevant(rel)), f"relevant docs in the pool of depth {k}", math.nan
    relevant = len(full.relevant(rel))
    if params["norm"] == "min":
        assert k is not None
        return min(k, relevant), "min(k, relevant docs of the query)", 0.0
    return relevant, "relevant docs of the query", 0.0
