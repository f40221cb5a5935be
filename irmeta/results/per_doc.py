"""Tidy frames with a row for each relevant doc: search lengths and rarity."""

from __future__ import annotations

import numpy as np
import polars as pl

from irmeta.rankings.judged import JudgedRanks


def search_length_frame(view: JudgedRanks, rel: int, lengths: np.ndarray) -> pl.DataFrame:
    """One row for each query, system and relevant doc, in that order: see irmeta.schema.

    `lengths` is float64 [doc, system], docs as `JudgedRanks.relevant_rows` says.
    """
    rows = view.relevant_rows(rel)
    query, systems = view.query_of(rows), len(view.systems)
    # From [doc, system] to query, system, doc: a stable sort by query over system-major order.
    system = np.repeat(np.arange(systems, dtype=np.uint32), len(rows))
    doc = np.tile(np.arange(len(rows), dtype=np.uint32), systems)
    order = np.argsort(query[doc], kind="stable")
    system, doc = system[order], doc[order]
    rank = view.ranks[rows[doc], system]
    return (
        pl.DataFrame(
            {
                "track": pl.repeat(view.facts.track, len(doc), eager=True, dtype=pl.String),
                "system": pl.Series(view.systems, dtype=pl.String).gather(system),
                "query": pl.Series(view.queries, dtype=pl.String).gather(query[doc]),
                "doc": view.docs.gather(rows[doc]),
                "grade": view.grades[rows[doc]],
                "rank": rank.astype(np.int32),
                "search_length": lengths[doc, system],
                "found": rank != view.missing,
            }
        )
        .with_columns(rank=pl.when("found").then("rank"))
        .drop("found")
    )


def rarity_frame(view: JudgedRanks, rel: int, retrieved_by: np.ndarray) -> pl.DataFrame:
    """One row for each query and relevant doc, in that order: see irmeta.schema.

    `rarity` is 1 - S_d / S (Tuerkmen, Lease and Kutlu 2023, Eq. 2); a doc that no system retrieves,
    which the paper leaves out (S_d >= 1), gets 1.
    """
    rows = view.relevant_rows(rel)
    systems = len(view.systems)
    return pl.DataFrame(
        {
            "track": pl.repeat(view.facts.track, len(rows), eager=True, dtype=pl.String),
            "query": pl.Series(view.queries, dtype=pl.String).gather(view.query_of(rows)),
            "doc": view.docs.gather(rows),
            "grade": view.grades[rows],
            "retrieved_by": retrieved_by,
            "systems": pl.repeat(systems, len(rows), eager=True, dtype=pl.Int32),
            "rarity": 1.0 - retrieved_by / systems,
        }
    )
