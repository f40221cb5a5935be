"""Means of precisions as means of search lengths.

Equations, sections and tables are those of Alex, Hall and Metzler (2022), Atomized Search Length.
"""

from __future__ import annotations

import numpy as np

from irmeta.errors import UsageError
from irmeta.results.averages import mean_over_queries

_SAME = 1e-12  # prefixes whose relative distances differ by less are equally near


def harmonic_mean(lengths: np.ndarray) -> float:
    """Return the search length equivalent to the mean of the precisions 1/SL: Eq. 14, left.

    Parameters
    ----------
    lengths
        float64 [doc], above 0; infinite for a doc of precision 0. The mean is infinite if all are.

    Raises
    ------
    UsageError
        If `lengths` is empty, or has a value not above 0.
    """
    total = float((1.0 / _checked(lengths)).sum())
    return len(lengths) / total if total else float("inf")


def weighted_mean(lengths: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted mean of search lengths: Eq. 14, right.

    With ``weights = 1 / lengths`` the result is the `harmonic_mean` (Eq. 15): an unweighted mean
    of precisions weights each search length by its reciprocal, so that short lengths dominate.

    Raises
    ------
    UsageError
        As `harmonic_mean`.
    """
    return float((_checked(lengths) * weights).sum() / np.sum(weights))


def equivalent_lengths(lengths: np.ndarray) -> np.ndarray:
    """Return search lengths whose arithmetic mean is the harmonic mean of `lengths`: float64 [doc].

    ``SL'_i = w_i SL_i + (1 - w_i) H`` with w_i = 1 / SL_i and H the harmonic mean: each length
    shrinks towards H by 1 minus its precision, as the mean of precisions shrinks long lengths. For
    [1, 1, 1, 2, 4, 5, 10, 10000, 10000] the result is [1, 1, 1, 2.1, 2.7, 2.8, 3.0, 3.2, 3.2]; the
    paper prints 2.9 for the sixth, which contradicts the mean.

    Raises
    ------
    UsageError
        If a length is below 1, whose weight would be above 1.
    """
    checked = _checked(lengths)
    if (checked < 1).any():
        raise UsageError("a search length is below 1.")
    # w_i SL_i is 1, also in the limit of an infinite length
    return 1.0 + (1.0 - 1.0 / checked) * harmonic_mean(checked)


def effective_counts(lengths: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """Count the shortest lengths whose mean is nearest to 1 / precision: float64 [list].

    Parameters
    ----------
    lengths
        float64 [doc, list], each list's 1/P ascending; infinite where a doc is not retrieved.
    precision
        float64 [list]: the mean precision of all docs of the list, 0 for docs not retrieved.

    Returns
    -------
    ndarray
        The greatest of equally near counts, so that all docs of a perfect list count; NaN where the
        precision is 0.
    """
    weights = np.ones(lengths.shape)
    return _nearest(lengths, weights, precision)[0]


def effective_weight(lengths: np.ndarray, weights: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """Sum the weights of the docs counted by `effective_counts`: float64 [list].

    Docs may be in any order; `weights` is float64 [doc], the same for all lists.
    """
    order = np.argsort(lengths, axis=0, kind="stable")
    ascending = np.take_along_axis(lengths, order, axis=0)
    return _nearest(ascending, weights[order], precision)[1]


def effective_fractions(lengths: np.ndarray, offsets: np.ndarray) -> dict[str, np.ndarray]:
    """Compute the share of the relevant docs that average precision averages (Appendix A.1).

    Parameters
    ----------
    lengths
        float64 [doc, system]: 1/P, ascending within a query; infinite where not retrieved.
    offsets
        int64 [query + 1]: the docs of each query.

    Returns
    -------
    dict
        Arrays by system. fraction: mean over queries of n / n_q, with n the number of docs whose
        mean length is nearest to 1/AP. pooled: the share of the total weight over all queries, with
        docs weighted by 1/n_q and compared with 1/MAP; docs of the same P are in query order.
        queries: number of queries with a fraction. undefined: number of queries without, because
        AP is 0.
    """
    relevant, systems = np.diff(offsets), lengths.shape[1]
    known = np.flatnonzero(relevant)
    shares = np.full((len(relevant), systems), np.nan)
    mean_precision = np.zeros((len(relevant), systems))
    for query in known:
        query_lengths = lengths[offsets[query] : offsets[query + 1]]
        mean_precision[query] = mean_over_queries(1.0 / query_lengths)  # here over docs
        shares[query] = effective_counts(query_lengths, mean_precision[query]) / relevant[query]
    weights = np.repeat(1.0 / np.maximum(relevant, 1), relevant)
    overall = mean_over_queries(mean_precision[known]) if len(known) else np.zeros(systems)
    defined = (~np.isnan(shares)).sum(axis=0)
    return {
        "fraction": mean_over_queries(shares),
        "pooled": effective_weight(lengths, weights, overall) / max(len(known), 1),
        "queries": defined,
        "undefined": len(known) - defined,
    }


def _nearest(
    lengths: np.ndarray, weights: np.ndarray, precision: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return count and weight of the prefix whose weighted mean is nearest to 1 / precision."""
    docs, lists = lengths.shape
    known = (precision > 0) & (docs > 0)
    count, weight = np.full((2, lists), np.nan)
    if not known.any():
        return count, weight
    lengths, weights = lengths[:, known], weights[:, known]
    target = 1.0 / precision[known]
    cumulative = np.cumsum(weights, axis=0)
    distance = np.abs(np.cumsum(weights * lengths, axis=0) / cumulative - target)
    is_nearest = distance <= distance.min(axis=0) + _SAME * target
    last = docs - 1 - np.argmax(is_nearest[::-1], axis=0)
    count[known] = last + 1
    weight[known] = cumulative[last, np.arange(len(last))]
    return count, weight


def _checked(lengths: np.ndarray) -> np.ndarray:
    if not len(lengths):
        raise UsageError("no search length was given.")
    if not (np.asarray(lengths) > 0).all():
        raise UsageError("search lengths must be above 0.")
    return np.asarray(lengths, np.float64)
