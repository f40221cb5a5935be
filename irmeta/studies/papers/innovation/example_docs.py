"""Relevant docs of a query that differ in rarity, and their texts: Table 4."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import DataError
from irmeta.rankings.derive.other_lists import sample_queries
from irmeta.studies.papers.innovation import paper
from irmeta.studies.papers.innovation.options import DOCS, EXAMPLES
from irmeta.studies.papers.innovation.rare_track import RareTrack

Row = dict[str, Any]


def example_queries(track: RareTrack) -> list[str]:
    """Return the queries of Table 4, of those with a relevant doc that is retrieved.

    They are the named ones, or six at random of those whose relevant docs have five different S_d
    above 0; where no query has five, of those with the most.
    """
    options, held = track.options, track.docs.filter(pl.col("retrieved_by") > 0)
    if options.examples:
        return sorted(set(options.examples) & {*held["query"]})
    numbers = held.group_by("query").agg(pl.col("retrieved_by").n_unique().clip(0, DOCS))
    most = pl.col("retrieved_by") == pl.col("retrieved_by").max()
    enough = numbers.filter(most)["query"].to_list()
    return sorted(sample_queries(enough, min(EXAMPLES, len(enough)), options.seed))


def table_4(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `table_4`."""
    chosen = [row for query in example_queries(track) for row in _chosen(track, query)]
    file = track.options.texts
    texts = {} if file is None else read_texts(file, [row["doc"] for row in chosen])
    for row in chosen:
        view = track.views[row["block"]]
        ranks = {
            s: int(r)
            for s, r in zip(view.systems, view.ranks[row["row"]], strict=True)
            if r != view.missing
        }
        held = sorted((rank, s) for s, rank in ranks.items() if rank <= track.options.held_to)
        yield {
            **{
                name: row[name]
                for name in ("query", "doc", "rarity", "retrieved_by", "grade", "printed")
            },
            "best_rank": min(ranks.values(), default=None),
            "median_rank": float(np.median([rank for rank, _ in held])) if held else np.nan,
            "held_by": ", ".join(f"{system} {rank}" for rank, system in held) or None,
            "text": texts.get(row["doc"]),
        }


def _chosen(track: RareTrack, query: str) -> Iterator[Row]:
    """Yield the docs of a query with the paper's rarity; those of the paper, if it has any."""
    of_query = track.docs.filter(pl.col("retrieved_by") > 0, query=query).rows(named=True)
    for row in of_query:
        row["printed"] = paper.RARITY.get((track.collection or "", query, row["doc"]))
    rows = [row for row in of_query if row["printed"]] or of_query
    for i in spaced([row["rarity"] for row in rows], min(DOCS, len(rows))):
        yield rows[i]


def spaced(rarity: Sequence[float], number: int) -> list[int]:
    """Choose docs of nearly equally spaced rarity.

    Returns
    -------
    list of int
        Indices: for each of `number` points from the greatest to the least rarity, at equal
        distances, the nearest doc not chosen yet; the first of equally near docs.
    """
    chosen = list[int]()
    for point in np.linspace(max(rarity), min(rarity), number) if number else ():
        left = [i for i in range(len(rarity)) if i not in chosen]
        chosen.append(min(left, key=lambda i: round(abs(rarity[i] - point), 12)))
    return chosen


def read_texts(file: str, docs: Collection[str]) -> dict[str, str]:
    """Read the texts of some docs from a file with a doc, a tab and its text in each line.

    Raises
    ------
    DataError
        If the file is not UTF-8, a line has no tab, or one of the docs has two texts.
    """
    texts, wanted = dict[str, str](), set(docs)
    try:
        with open(file, encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                content = line.rstrip("\n")
                doc, tab, text = content.partition("\t")
                if not tab:
                    fix = "Write a doc, a tab and its text in each line."
                    raise DataError("no tab", file=file, line=number, value=content, fix=fix)
                if doc in texts:
                    raise DataError("a second text of a doc", file=file, line=number, value=doc)
                if doc in wanted:
                    texts[doc] = text
    except UnicodeDecodeError as error:
        raise DataError("not UTF-8", file=file, fix="Write the texts in UTF-8.") from error
    return texts
