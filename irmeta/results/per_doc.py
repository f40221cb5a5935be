"""Tidy tables with one row per relevant doc: search lengths and rarity."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.policies import Counted, Rarity
from irmeta.rankings.holders import holders_within
from irmeta.rankings.judged import JudgedRanks
from irmeta.schema.arrow import column, constant, dictionary, strings, with_grades
from irmeta.schema.result_tables import SEARCH_LENGTHS


def search_length_table(view: JudgedRanks, rel: float, lengths: np.ndarray) -> pa.Table:
    """Return one row per query, system and relevant doc, sorted in this order: see irmeta.schema.

    `lengths` is float64 [doc, system], for the docs of `JudgedRanks.relevant_rows`.
    """
    rows = view.relevant_rows(rel)
    systems, query = len(view.systems), view.query_of(rows)
    bounds = np.searchsorted(query, np.arange(len(view.queries) + 1))

    def by_list(values: np.ndarray) -> np.ndarray:
        """Flatten [doc, system] in the order query, system, doc."""
        values = np.broadcast_to(values, (len(rows), systems))
        lists = [values[start:stop].T.ravel() for start, stop in pairwise(bounds.tolist())]
        return np.concatenate([values[:0].ravel(), *lists])

    rank = by_list(view.ranks[rows])
    system = by_list(np.arange(systems, dtype=np.int32))
    index = by_list(np.arange(len(rows), dtype=np.int32)[:, None])
    queries = pl.Series(view.queries, dtype=pl.String)
    docs = strings(view.docs, rows).dictionary_encode()
    columns = {
        "track": constant(view.facts.track, len(rank)),
        "system": pa.DictionaryArray.from_arrays(
            column(system),
            strings(pl.Series(list(view.systems), dtype=pl.String), np.arange(systems)),
        ),
        "query": dictionary(query, queries, np.full(len(rows), systems)),
        "doc": pa.DictionaryArray.from_arrays(docs.indices.take(column(index)), docs.dictionary),
        "grade": column(view.grades[rows][index]),
        "rank": column(rank.astype(np.int32), rank != view.missing),
        "search_length": column(by_list(lengths)),
    }
    schema = with_grades(SEARCH_LENGTHS.arrow(dictionary=True), columns["grade"].type)
    return pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)


def rarity_frame(
    view: JudgedRanks,
    depth: int,
    rel: float = 1,
    counted: Counted = "systems",
    rarity: Rarity = "linear",
) -> pl.DataFrame:
    """Return one row per query and relevant doc, sorted in this order: see irmeta.schema.

    `counted` and `rarity` are as in `irmeta.rankings.holders`, but not ``others``, by which a doc
    has several rarities. A doc that none of those counted retrieves, which the paper excludes
    (S_d >= 1), has rarity 1.
    """
    rows = view.relevant_rows(rel)
    holders = holders_within(view, rows, depth, counted)
    (systems,) = holders.total.tolist()
    return pl.DataFrame(
        {
            "track": pl.repeat(view.facts.track, len(rows), eager=True, dtype=pl.String),
            "query": pl.Series(view.queries, dtype=pl.String).gather(view.query_of(rows)),
            "doc": view.docs.gather(rows),
            "grade": view.grades[rows],
            "retrieved_by": holders.retrieved_by[:, 0].astype(np.int32),
            "systems": pl.repeat(systems, len(rows), eager=True, dtype=pl.Int32),
            "rarity": holders.rarity(rarity)[:, 0],
        }
    )
