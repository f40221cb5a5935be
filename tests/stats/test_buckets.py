"""Buckets of search lengths and of their differences: examples and counting doc by doc."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from irmeta.errors import UsageError
from irmeta.policies import Buckets
from irmeta.stats.search_lengths import (
    GREATEST,
    LENGTH_LOWS,
    bucket_ends,
    difference_buckets,
    length_buckets,
    length_frame,
    length_lows,
    linear_lows,
)

LENGTHS = np.array([[1, 4], [2, 0], [5, 200000], [0, 100000]], np.float64)
RETRIEVED = np.array([[1, 1], [1, 0], [1, 1], [0, 1]], bool)


def counted_one_by_one(lengths: np.ndarray, retrieved: np.ndarray, lows: tuple) -> np.ndarray:
    out = np.zeros((lengths.shape[1], len(lows) + 1), np.int64)
    for doc, system in np.ndindex(*lengths.shape):
        holds = [i for i, low in enumerate(lows) if lengths[doc, system] >= low]
        out[system, holds[-1] if retrieved[doc, system] else -1] += 1
    return out


def test_length_buckets__worked_example():
    counts = length_buckets(LENGTHS, RETRIEVED)
    assert counts.shape == (2, len(LENGTH_LOWS) + 1)
    assert counts[0].nonzero()[0].tolist() == [0, 1, 2, 16]
    assert counts[1].nonzero()[0].tolist() == [1, 15, 16]
    assert counts[1, 15] == 2  # the last bucket of lengths is unbounded


@pytest.mark.parametrize("lows", [LENGTH_LOWS, linear_lows(3000), (1,)])
def test_length_buckets__equal_counting_doc_by_doc(lows: tuple[int, ...]):
    rng = np.random.default_rng(1)
    retrieved = rng.random((80, 5)) < 0.7
    lengths = np.where(retrieved, np.floor(10 ** rng.uniform(0, 3.4, (80, 5))), 0.0)
    found = length_buckets(lengths, retrieved, lows)
    np.testing.assert_array_equal(found, counted_one_by_one(lengths, retrieved, lows))
    assert (found.sum(axis=1) == 80).all()


def test_length_buckets__zero_without_docs_or_systems():
    assert not length_buckets(np.empty((0, 3)), np.empty((0, 3), bool)).any()
    assert length_buckets(np.empty((4, 0)), np.empty((4, 0), bool)).shape == (0, 17)


def test_length_buckets__reject_retrieved_doc_with_length_below_1():
    with pytest.raises(UsageError, match="below 1"):
        length_buckets(np.array([[0.0]]), np.array([[True]]))


@pytest.mark.parametrize(
    ("deepest", "bars", "lows"),
    [
        (0, 20, (1,)),
        (1, 20, (1,)),
        (4, 20, (1, 2, 3, 4)),
        (21, 20, tuple(range(1, 22, 2))),
        (1000, 20, tuple(range(1, 1000, 50))),
        (1001, 20, tuple(range(1, 1002, 100))),
        (30, 3, (1, 11, 21)),
    ],
)
def test_linear_lows__equal_round_width(deepest: float, bars: int, lows: tuple[int, ...]):
    assert linear_lows(deepest, bars) == lows
    assert len(lows) <= bars


def test_bucket_ends__buckets_are_contiguous():
    low, high = bucket_ends(LENGTH_LOWS)
    assert (low[-1], high[-1]) == (None, None)
    assert high[:3] == [1, 4, 9]
    assert high[-2] == GREATEST
    assert [h + 1 for h in high[:-2] if h is not None] == low[1:-1]
    assert bucket_ends((1, 11), last=20) == ([1, 11, None], [10, 20, None])


def test_length_frame__omits_empty_buckets_at_the_end():
    lows = (1, 2, 4, 9)
    counts = length_buckets(LENGTHS[:3], RETRIEVED[:3], lows)
    frame = length_frame("t", ["b", "a"], counts, lows)
    assert frame.columns == ["track", "system", "low", "high", "docs"]
    assert frame.rows() == [
        *(("t", "b", 1, 1, 1), ("t", "b", 2, 3, 1), ("t", "b", 4, 8, 1)),
        *(("t", "b", 9, GREATEST, 0), ("t", "b", None, None, 0)),
        *(("t", "a", 1, 1, 0), ("t", "a", 2, 3, 0), ("t", "a", 4, 8, 1)),
        *(("t", "a", 9, GREATEST, 1), ("t", "a", None, None, 1)),
    ]
    shallow = length_frame("t", ["b"], length_buckets(LENGTHS[:3, :1], RETRIEVED[:3, :1]))
    assert shallow["low"].to_list() == [1, 2, 5, None]
    none = length_frame("t", ["b"], length_buckets(LENGTHS[:1], ~RETRIEVED[:1])[:1])
    assert none.rows() == [("t", "b", 1, 1, 0), ("t", "b", None, None, 1)]


def test_difference_buckets__symmetric_around_zero():
    frame = difference_buckets(np.array([[0, -1, 1], [3, -7, -7]], np.float64), buckets="log")
    assert frame.schema == {"low": pl.Int32, "high": pl.Int32, "docs": pl.Int64}
    assert frame.rows() == [
        *((-9, -5, 2), (-4, -2, 0), (-1, -1, 1), (0, 0, 1)),
        *((1, 1, 1), (2, 4, 1), (5, 9, 0)),
    ]
    assert difference_buckets(np.zeros(4)).rows() == [(0, 0, 4)]
    assert difference_buckets(np.empty(0)).rows() == [(0, 0, 0)]
    split = difference_buckets(
        np.array([0, 0, 1, 3, -2.0]),
        (np.array([1, 0, 0, 0, 1]) > 0, np.array([1, 0, 1, 1, 0]) > 0),
        "log",
    )
    assert split.filter(pl.col("docs") > 0).rows() == [
        *((-4, -2, "first", 1), (0, 0, "both", 1), (0, 0, "neither", 1)),
        *((1, 1, "second", 1), (2, 4, "second", 1)),
    ]
    assert split.filter(docs=0).rows() == [(-1, -1, "both", 0)]


def test_length_lows__counts_of_uniform_lengths_are_equal():
    """Buckets of growing width would make a flat distribution look like a rise."""
    lengths = np.arange(1.0, 1001)[:, None]
    lows, last = length_lows("linear", 1000)
    frame = length_frame("t", ["s"], length_buckets(lengths, lengths > 0, lows), lows, last)
    assert set(frame.drop_nulls()["docs"]) == {50}
    assert frame.drop_nulls()["high"][-1] == last == 1000
    assert length_lows("log", 1000) == (LENGTH_LOWS, GREATEST)


def test_difference_buckets__linear_have_equal_width_beside_zero():
    frame = difference_buckets(np.arange(-1000.0, 1001))
    assert frame.filter(low=0).rows() == [(0, 0, 1)]
    sides = frame.filter(pl.col("low") != 0)
    assert sides.height == 20
    assert set(sides["docs"]) == set(sides["high"] - sides["low"] + 1) == {100}


@pytest.mark.parametrize("buckets", ["linear", "log"])
@pytest.mark.parametrize("edge", [1, 2, 4, 5, 9, 10, 19, 20, 49, 50, 99, 100, 12345, 200000])
def test_difference_buckets__difference_lies_within_its_bucket(edge: int, buckets: Buckets):
    for value in (edge, -edge):
        frame = difference_buckets(np.array([float(value)]), buckets=buckets)
        ((low, high, docs),) = frame.filter(pl.col("docs") > 0).rows()
        assert (low <= value <= high, docs) == (True, 1)
        assert frame.height <= 21 or buckets == "log"
        assert frame["low"].to_list() == [-high for high in frame["high"].reverse()]
        assert (frame["low"][1:] == frame["high"][:-1] + 1).all()
        outer = frame[-1] if value > 0 else frame[0]
        assert outer["docs"].item() == 1
