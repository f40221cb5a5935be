"""Relevant docs by rarity: their numbers, and their grades."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from irmeta.rankings.holders import holders_within
from irmeta.studies.papers.innovation.rare_track import RareTrack

Row = dict[str, Any]


def relevant_docs(track: RareTrack) -> pl.DataFrame:
    """Return the relevant docs of a track, sorted by query, then doc.

    Returns
    -------
    DataFrame
        query, doc, grade, retrieved_by (S_d), counted (S), rarity; block, row: the doc's row in
        ``track.views[block]``.
    """
    options, blocks = track.options, list[pl.DataFrame]()
    for block, view in enumerate(track.views):
        rows = view.relevant_rows(options.rel)
        holders = holders_within(view, rows, options.held_to, options.counted_docs)
        query = pl.Series(view.queries, dtype=pl.String)
        blocks.append(
            pl.DataFrame(
                {
                    "query": query.gather(view.query_of(rows)),
                    "doc": view.docs.gather(rows),
                    "grade": view.grades[rows],
                    "retrieved_by": holders.retrieved_by[:, 0],
                    "counted": np.full(len(rows), holders.total[0]),
                    "rarity": holders.rarity(options.rarity)[:, 0],
                    "block": np.full(len(rows), block),
                    "row": rows,
                }
            )
        )
    return pl.concat(blocks)


def docs_by_holders(docs: pl.DataFrame) -> pl.DataFrame:
    """Return the table `docs_by_holders`."""
    number = pl.len().alias("docs")
    return docs.group_by("retrieved_by", "counted", "rarity").agg(number).sort("retrieved_by")


def buckets(total: int) -> list[tuple[int, int]]:
    """Return ranges of S_d: 0, 1, and quarters of S above 1."""
    ends = sorted({0, 1, *(total * quarter // 4 for quarter in (1, 2, 3, 4))})
    return [(0, 0), *((low + 1, high) for low, high in pairwise(ends))]


def rare_grades(docs: pl.DataFrame) -> Iterator[Row]:
    """Yield the rows of the table `rare_grades`."""
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
