"""Divisors of measures that are cut at k, and their use of the pool of depth k.

Lu, Moffat and Culpepper (2016), Table 2: options a, b and c of AP and Q are ``norm=`` all, min and
pool; a and b of NDCG, i and ii of Q are ``ideal=`` all and pool. Options c, b and ii are for k < d,
where d is the depth to which a query's pool is complete; from k = d on they equal a, a and i. If
the pool is complete at no depth, d is unknown and the value is NaN, because option a would be a
different measure. `pool_depth` or `pool_depth_by_query` in collection.toml states d.
"""

from __future__ import annotations

import math

import numpy as np

from irmeta.errors import MeasureError
from irmeta.measures.cutoffs import divide
from irmeta.measures.spec import Cutoff, Cutoffs, OneList, Params, Trace
from irmeta.naming.parameters import Parameter
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.needs import Need

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
