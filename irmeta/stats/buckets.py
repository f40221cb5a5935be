"""Buckets of search lengths, and of the differences between the lengths of two systems.

Lengths and differences are whole numbers, held as floats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, takewhile

import numpy as np
import polars as pl

from irmeta.errors import UsageError

LENGTH_LOWS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000)
"""Where the buckets of search lengths begin (Figure 5 of the ASL paper)."""

GREATEST = 2**31 - 1
"""The end of a bucket that has none: no rank is greater, so no search length either."""


def length_buckets(
    lengths: np.ndarray, retrieved: np.ndarray, lows: Sequence[int] = LENGTH_LOWS
) -> np.ndarray:
    """How many relevant docs of each system have their search length in which bucket.

    Parameters
    ----------
    lengths
        float64 [doc, system]; read only where `retrieved`.
    retrieved
        bool [doc, system].
    lows
        The least length of each bucket, ascending. The last bucket has no end.

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


def linear_lows(deepest: float, bars: int = 20) -> tuple[int, ...]:
    """The lows of buckets of one round width (1, 2, 5, 10, 20, 50, ...) from 1 up.

    Parameters
    ----------
    deepest
        The greatest length; the last bucket holds it.
    bars
        At most so many buckets, and the narrowest that suffice.
    """
    width = next(n for n in _round() if n * bars >= deepest)
    return tuple(range(1, max(1, int(deepest)) + 1, width))


def bucket_ends(
    lows: Sequence[int], last: int = GREATEST
) -> tuple[list[int | None], list[int | None]]:
    """Least and greatest length of each bucket, both inside it; (None, None): not retrieved.

    Parameters
    ----------
    lows
        See `length_buckets`.
    last
        The greatest length said of the bucket of the last low. It holds all greater ones too, so
        the default claims no end that it does not have.
    """
    return [*lows, None], [*(low - 1 for low in lows[1:]), last, None]


def length_frame(
    track: str,
    systems: Sequence[str],
    counts: np.ndarray,
    lows: Sequence[int] = LENGTH_LOWS,
    last: int = GREATEST,
) -> pl.DataFrame:
    """Counts of `length_buckets` as rows of table search_length_histogram.

    Parameters
    ----------
    systems
        A name for each row of `counts`.
    counts
        int64 [system, bucket].
    lows, last
        See `bucket_ends`.

    Returns
    -------
    DataFrame
        track, system, low, high, docs, by system as given and low. Buckets beyond the last that
        any of the systems fills are left out, the first and that of docs not retrieved never are.
    """
    filled = np.flatnonzero(counts[:, :-1].sum(axis=0))
    kept = int(filled.max(initial=0)) + 1
    low, high = (ends[:kept] + ends[-1:] for ends in bucket_ends(lows, last))
    docs = np.concatenate([counts[:, :kept], counts[:, -1:]], axis=1)
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
    """What to call the buckets of one system of `length_frame`, by their least length."""
    names: dict[int | None, str] = {}
    for low, high in histogram.select("low", "high").iter_rows():
        span = f"{low}+" if high == GREATEST else f"{low}\u2013{high}"  # an en dash
        names[low] = "not retrieved" if low is None else str(low) if low == high else span
    return names


ROUNDING = 1e-12  # a mean of 0.3 may be a bit less or more, as its sum came out


def value_buckets(
    values: np.ndarray, edges: Sequence[float], has_end: bool
) -> Iterator[tuple[float | None, float | None, np.ndarray]]:
    """Yield the ends of each bucket and which values are in it, bool [value].

    Parameters
    ----------
    edges
        Where buckets begin, ascending. A bucket holds its lower end and not its upper one.
    has_end
        Whether the last edge ends the last bucket, which then holds it; otherwise a bucket without
        an end (None) begins there. Values below the first edge make a bucket without a beginning.
    """
    place = np.searchsorted(edges, values + ROUNDING, side="right") - 1
    ends = [*edges[1:], *(() if has_end else (None,))]
    place = np.minimum(place, len(ends) - 1)
    if (place < 0).any():
        yield None, edges[0], place < 0
    for index, high in enumerate(ends):
        yield edges[index], high, place == index


RETRIEVED = ("both", "first", "second", "neither")
"""Which of two systems retrieve a doc."""


def difference_buckets(
    differences: np.ndarray, retrieved: tuple[np.ndarray, ...] | None = None
) -> pl.DataFrame:
    """Count differences of search lengths by bucket (Figure 6 of the ASL paper).

    Parameters
    ----------
    differences
        float64 [doc]: the length in the first system less that in the second.
    retrieved
        Two bool arrays [doc]: whether the first and the second system retrieve the doc.

    Returns
    -------
    DataFrame
        low, high (both ends inside the bucket), docs; by low: ..., -4 to -2, -1, 0, 1, 2 to 4, 5 to
        9, 10 to 19, 20 to 49, ... Both sides reach as far as the fuller one, and every bucket
        between is there, empty or not. No differences: the bucket of 0, empty. With `retrieved`,
        column retrieved as well, and each bucket once for each of `RETRIEVED` that it holds; an
        empty bucket stands under ``both``.
    """
    values = np.asarray(differences, np.float64).ravel()
    size = np.abs(values)
    most = size.max(initial=0)
    lows = [0, *takewhile(lambda low: low <= most, _round())]
    beyond = next(low for low in _round() if low > most)
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
    """1, 2, 5, 10, 20, 50, 100, ..."""
    return (digit * 10**power for power in count() for digit in (1, 2, 5))
