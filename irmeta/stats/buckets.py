"""Buckets of search lengths, and of the differences between the lengths of two systems.

Lengths and differences are whole numbers, held as floats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count, takewhile

import numpy as np
import polars as pl

from irmeta.errors import UsageError
from irmeta.policies import Buckets

LENGTH_LOWS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000)
"""Least search length of each logarithmic bucket."""

BARS = 20
"""Largest number of linear buckets of lengths, and of differences of both signs."""

GREATEST = 2**31 - 1
"""Upper end of an open bucket: no rank is greater, so no search length either."""


def length_buckets(
    lengths: np.ndarray, retrieved: np.ndarray, lows: Sequence[int] = LENGTH_LOWS
) -> np.ndarray:
    """Count the relevant docs of each system by search-length bucket.

    Parameters
    ----------
    lengths, retrieved
        float64 and bool [doc, system]; lengths are ignored where not `retrieved`.
    lows
        The least length of each bucket, ascending. The last bucket is open.

    Returns
    -------
    ndarray
        int64 [system, ``len(lows) + 1``]; the last column counts the docs not retrieved.

    Raises
    ------
    UsageError
        If a doc is retrieved with a length below the first bucket.
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

    Parameters
    ----------
    buckets
        ``linear``: `BARS` buckets of equal width at most, so that the shape of a distribution can
        be read from their counts; ``log``: `LENGTH_LOWS`, whose last bucket is open.
    longest
        The greatest length of a retrieved doc.
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

    Parameters
    ----------
    counts
        int64 [system, bucket], in the order of `systems`.
    lows, last
        See `bucket_ends`.

    Returns
    -------
    DataFrame
        track, system, low, high, docs, sorted by system as given and low. Buckets after the last
        nonempty one are omitted, except the first and the bucket of docs not retrieved.
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

    `edges` are the lower ends, ascending; a bucket excludes its upper end. With `has_end`, the last
    edge ends the last bucket, which includes the edge; otherwise an open bucket (upper end None)
    begins there. Values below the first edge form a bucket with the lower end None.
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
    """Count differences of search lengths by bucket (Figure 6 of the ASL paper).

    Parameters
    ----------
    differences
        float64 [doc]: the length in the first system minus the length in the second.
    retrieved
        Two bool arrays [doc]: whether the first and the second system retrieve the doc.
    buckets
        ``linear``: at most 10 buckets of equal width on each side of 0; ``log``: ..., -4 to -2, -1,
        0, 1, 2 to 4, 5 to 9, 10 to 19, 20 to 49, ...

    Returns
    -------
    DataFrame
        low, high (both inclusive), docs; sorted by low. Differences of 0 have their own bucket.
        Both sides reach as far as the longer one; without differences there is one empty bucket of
        0. `retrieved` adds the column retrieved, with one row per bucket and
        nonempty kind of `RETRIEVED`; an empty bucket has one row, ``both``.
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
