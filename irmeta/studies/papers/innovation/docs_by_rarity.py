"""Relevant docs by rarity: their numbers, and their grades."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from irmeta.studies.papers.innovation.rare_track import RareTrack

Row = dict[str, Any]


def docs_by_holders(track: RareTrack) -> pl.DataFrame:
    """Return the table `docs_by_holders`."""
    number = pl.len().alias("docs")
    return track.docs.group_by("retrieved_by", "counted", "rarity").agg(number).sort("retrieved_by")


def buckets(total: int) -> list[tuple[int, int]]:
    """Return ranges of S_d: 0, 1, and quarters of S above 1."""
    ends = sorted({0, 1, *(total * quarter // 4 for quarter in (1, 2, 3, 4))})
    return [(0, 0), *((low + 1, high) for low, high in pairwise(ends))]


def rare_grades(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `rare_grades`."""
    docs = track.docs
    if docs.is_empty():
        return
    grades = sorted(docs["grade"].unique())
    for low, high in buckets(docs["counted"].item(0)):
        within = docs.filter(pl.col("retrieved_by").is_between(low, high))["grade"]
        for grade in grades:
            of_grade, at_least = (int(of.sum()) for of in (within == grade, within >= grade))
            yield {
                "low": low,
                "high": high,
                "grade": grade,
                "docs": len(within),
                "of_grade": of_grade,
                "share": of_grade / len(within) if len(within) else np.nan,
                "share_at_least": at_least / len(within) if len(within) else np.nan,
            }
