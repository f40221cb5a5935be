"""Search lengths of docs: their buckets, and means of precisions as means of search lengths.

Lengths and differences of lengths are whole numbers, held as floats. Equations, sections and tables
are those of Alex, Hall and Metzler (2022), Atomized Search Length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count, takewhile

import numpy as np
import polars as pl

from irmeta.errors import UsageError
from irmeta.policies import Buckets
from irmeta.results.averages import mean_over_queries

_SAME = 1e-12  # prefixes whose relative distances differ by less are equally near


def harmonic_mean(lengths: np.ndarray) -> float:
    """Return the search length equivalent to the mean of the precisions 1/SL: Eq. 14, left.

    Lengths are above 0, and infinite for a doc of precision 0.
    """
    total = float((1.0 / _checked(lengths)).sum())
    return len(lengths) / total if total else float("inf")


def weighted_mean(lengths: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted mean of search lengths: Eq. 14, right.

    With ``weights = 1 / lengths`` it is the `harmonic_mean` (Eq. 15): a mean of precisions weights
    each length by its reciprocal, so that short lengths dominate.
    """
    return float((_checked(lengths) * weights).sum() / np.sum(weights))


def equivalent_lengths(lengths: np.ndarray) -> np.ndarray:
    """Return search lengths whose arithmetic mean is the harmonic mean of `lengths`: float64 [doc].

    ``SL'_i = w_i SL_i + (1 - w_i) H`` with w_i = 1 / SL_i and H the harmonic mean. The paper's
    example has 2.9 for 2.8, which contradicts the mean.
    """
    checked = _checked(lengths)
    if (checked < 1).any():
        raise UsageError("a search length is below 1.")
    # w_i SL_i is 1, also in the limit of an infinite length
    return 1.0 + (1.0 - 1.0 / checked) * harmonic_mean(checked)


def effective_counts(lengths: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """Count the shortest lengths whose mean is nearest to 1 / precision: float64 [list].

    The greatest of equally near counts, so that all docs of a perfect list count; NaN where the
    precision is 0. `lengths` are [doc, list], ascending, infinite where not retrieved.
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

    Arrays by system: fraction, the mean of n / n_q over `queries`, n the docs whose mean length is
    nearest to 1/AP; pooled, the same of all docs weighted by 1/n_q against 1/MAP; undefined,
    queries with AP of 0.
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


LENGTH_LOWS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000)
"""Least search length of each logarithmic bucket."""

BARS = 20
"""Largest number of linear buckets of lengths, and of differences of both signs."""

GREATEST = 2**31 - 1
"""Upper end of an open bucket: no rank is greater, so no search length either."""


def length_buckets(
    lengths: np.ndarray, retrieved: np.ndarray, lows: Sequence[int] = LENGTH_LOWS
) -> np.ndarray:
    """Count docs by search-length bucket, last those not retrieved: int64 [system, bucket].

    `lows` are the least lengths of the buckets, of which the last is open.
    """
    bucket = np.searchsorted(np.asarray(lows, np.float64), lengths, side="right") - 1
    bucket[~retrieved] = len(lows)
    if (bucket < 0).any():
        raise UsageError(f"a retrieved doc has a search length below {lows[0]}.")
    systems, width = lengths.shape[1], len(lows) + 1
    bucket += np.arange(systems) * width
    return np.bincount(bucket.ravel(), minlength=systems * width).reshape(systems, width)


def length_lows(buckets: Buckets, longest: int) -> tuple[Sequence[int], int]:
    """Return the least length of each bucket, and the greatest length of the last bucket.

    ``linear``: at most `BARS` buckets of equal width up to the `longest` of a retrieved doc;
    ``log``: `LENGTH_LOWS`, whose last bucket is open.
    """
    if buckets == "log":
        return LENGTH_LOWS, GREATEST
    lows = linear_lows(longest)
    return lows, lows[-1] + _width(longest, BARS) - 1


def linear_lows(longest: float, bars: int = BARS) -> tuple[int, ...]:
    """Return the lows of at most `bars` equally wide buckets from 1 to at least `longest`."""
    return tuple(range(1, max(1, int(longest)) + 1, _width(longest, bars)))


def _width(longest: float, bars: int) -> int:
    """Return the narrowest of 1, 2, 5, 10, 20, ... that needs at most `bars` buckets."""
    return next(width for width in _round() if width * bars >= longest)


def bucket_ends(
    lows: Sequence[int], last: int = GREATEST
) -> tuple[list[int | None], list[int | None]]:
    """Return the least and greatest length of each bucket; (None, None): not retrieved.

    The last bucket ends at `last`, though it also holds all greater lengths; the default is above
    every rank.
    """
    return [*lows, None], [*(low - 1 for low in lows[1:]), last, None]


def length_frame(
    track: str,
    systems: Sequence[str],
    counts: np.ndarray,
    lows: Sequence[int] = LENGTH_LOWS,
    last: int = GREATEST,
) -> pl.DataFrame:
    """Convert counts of `length_buckets` to rows of table search_length_histogram.

    Buckets after the last nonempty one are omitted, except the first and that of docs not
    retrieved.
    """
    filled = np.flatnonzero(counts[:, :-1].sum(axis=0))
    buckets = int(filled.max(initial=0)) + 1
    low, high = (ends[:buckets] + ends[-1:] for ends in bucket_ends(lows, last))
    docs = np.concatenate([counts[:, :buckets], counts[:, -1:]], axis=1)
    names = pl.Series(systems, dtype=pl.String)
    return pl.DataFrame(
        {
            "track": pl.repeat(track, docs.size, eager=True, dtype=pl.String),
            "system": names.gather(np.repeat(np.arange(len(systems)), len(low))),
            "low": pl.Series(low * len(systems), dtype=pl.Int32),
            "high": pl.Series(high * len(systems), dtype=pl.Int32),
            "docs": pl.Series(docs.ravel(), dtype=pl.Int64),
        }
    )


def bucket_names(histogram: pl.DataFrame) -> dict[int | None, str]:
    """Map the least length of each bucket of one system of `length_frame` to its label."""
    names: dict[int | None, str] = {}
    for low, high in histogram.select("low", "high").iter_rows():
        span = f"{low}+" if high == GREATEST else f"{low}\u2013{high}"  # an en dash
        names[low] = "not retrieved" if low is None else str(low) if low == high else span
    return names


ROUNDING = 1e-12  # the sum behind a mean of 0.3 may round it down or up


def value_buckets(
    values: np.ndarray, edges: Sequence[float], has_end: bool
) -> Iterator[tuple[float | None, float | None, np.ndarray]]:
    """Yield each bucket's lower and upper end and a bool mask [value] of its values.

    `edges` are the lower ends; a bucket excludes its upper end. With `has_end`, the last edge ends
    and is in the last bucket, otherwise an open one begins there. Values below the first have no
    low end.
    """
    bucket = np.searchsorted(edges, values + ROUNDING, side="right") - 1
    ends = [*edges[1:], *(() if has_end else (None,))]
    bucket = np.minimum(bucket, len(ends) - 1)
    if (bucket < 0).any():
        yield None, edges[0], bucket < 0
    for index, high in enumerate(ends):
        yield edges[index], high, bucket == index


RETRIEVED = ("both", "first", "second", "neither")
"""The systems of a pair that retrieve a doc."""


def difference_buckets(
    differences: np.ndarray,
    retrieved: tuple[np.ndarray, ...] | None = None,
    buckets: Buckets = "linear",
) -> pl.DataFrame:
    """Count differences of search lengths by bucket (Figure 6 of the ASL paper): low, high, docs.

    ``linear``: at most 10 buckets of equal width on each side of 0; ``log``: ..., -1, 0, 1, 2 to 4,
    5 to 9, ... Both sides reach equally far. `retrieved` adds a row per nonempty kind of
    `RETRIEVED`.
    """
    values = np.asarray(differences, np.float64).ravel()
    size = np.abs(values)
    most = size.max(initial=0)
    starts = _round if buckets == "log" else partial(count, 1, _width(most, BARS // 2))
    lows = [0, *takewhile(lambda low: low <= most, starts())]
    beyond = next(low for low in starts() if low > most)
    highs = [low - 1 for low in [*lows[1:], beyond]]
    sides = len(lows) - 1
    bucket = np.searchsorted(np.array(lows, np.float64), size, side="right") - 1
    bucket = np.where(values < 0, -bucket, bucket) + sides
    ends = pl.DataFrame(
        {
            "low": [*(-high for high in highs[:0:-1]), *lows],
            "high": [*(-low for low in lows[:0:-1]), *highs],
        },
        schema={"low": pl.Int32, "high": pl.Int32},
    )
    if retrieved is None:
        docs = np.bincount(bucket, minlength=ends.height)
        return ends.with_columns(docs=pl.Series(docs, dtype=pl.Int64))
    first, second = retrieved
    kind = np.where(first, np.where(second, 0, 1), np.where(second, 2, 3))
    docs = np.bincount(bucket * 4 + kind, minlength=4 * ends.height)
    rows = ends.select(pl.all().repeat_by(4)).explode("low", "high").with_columns(
        retrieved=pl.Series(RETRIEVED * ends.height), docs=pl.Series(docs, dtype=pl.Int64)
    )  # fmt: skip
    is_empty = pl.col("docs").sum().over("low") == 0
    return rows.filter((pl.col("docs") > 0) | (is_empty & (pl.col("retrieved") == "both")))


def _round() -> Iterator[int]:
    """Yield 1, 2, 5, 10, 20, 50, 100, ..."""
    return (digit * 10**power for power in count() for digit in (1, 2, 5))
