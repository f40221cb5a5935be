"""Tidy tables of relevant docs: search lengths, rarity, and contributions of systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.kernels.cutoff_sums import systems_within_by_group
from irmeta.policies import Counted, Rarity
from irmeta.rankings.holders import groups_of, holders_within
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.track_facts import TrackFacts
from irmeta.schema.arrow import column, constant, dictionary, strings, with_grades
from irmeta.schema.result_tables import SEARCH_LENGTHS


@dataclass(frozen=True)
class Contributions:
    """Numbers of relevant docs of a block of queries; all are int64 [system], but `union`.

    `found`: docs that the system retrieves; of them `unique`, that no other system retrieves, and
    `unique_to_group`, that no system outside its group does. `holders`: sum of S_d, the number of
    systems that retrieve a doc, over the docs in `found`. `union`: docs that any system retrieves.
    `systems`: number of those counted, all of the track.
    """

    found: np.ndarray
    unique: np.ndarray
    unique_to_group: np.ndarray
    holders: np.ndarray
    union: int
    systems: int


def count_contributions(view: JudgedRanks, depth: int, rel: float) -> Contributions:
    """Count the relevant docs that each system retrieves at ranks up to `depth`."""
    every = view.of_all_systems
    shown = slice(None) if every is view else every.facts.indices(view.systems)
    ranks = np.ascontiguousarray(every.ranks[every.relevant_rows(rel)])
    depth, (groups, sizes) = min(depth, view.missing - 1), groups_of(every.facts)
    by_group = np.zeros((len(ranks), len(sizes)), np.int32)
    systems_within_by_group(ranks, depth, groups, by_group)
    is_within, by_all = ranks[:, shown] <= depth, by_group.sum(axis=1, dtype=np.int64)
    alone = (by_group == by_all[:, None])[:, groups[shown]]
    return Contributions(
        found=is_within.sum(axis=0),
        unique=is_within[by_all == 1].sum(axis=0),
        unique_to_group=(is_within & alone).sum(axis=0),
        holders=by_all @ is_within,
        union=int(np.count_nonzero(by_all)),
        systems=len(every.systems),
    )


def contributions_frame(facts: TrackFacts, blocks: Sequence[Contributions]) -> pl.DataFrame:
    """Return one row per system with the numbers of all blocks of a track, sorted by system."""
    retrieved, unique, unique_to_group, holders = (
        sum((getattr(b, name) for b in blocks), np.zeros(len(facts.systems), np.int64))
        for name in ("found", "unique", "unique_to_group", "holders")
    )
    union = sum(block.union for block in blocks)
    # The mean of 1 - S_d / S, from sums of integers: no order of queries changes it.
    mean_holders = np.where(retrieved > 0, holders / np.maximum(retrieved, 1), np.nan)
    groups = pl.Series(unique_to_group, dtype=pl.Int64)
    return pl.DataFrame(
        {
            "track": pl.repeat(facts.track, len(retrieved), eager=True, dtype=pl.String),
            "system": pl.Series(list(facts.systems), dtype=pl.String),
            "found": retrieved,
            "unique": unique,
            "unique_to_group": groups
            if any(facts.groups)
            else pl.repeat(None, len(retrieved), eager=True, dtype=pl.Int64),
            "share": retrieved / union if union else np.full(len(retrieved), np.nan),
            "mean_rarity": 1.0 - mean_holders / blocks[0].systems,
        }
    )


def search_length_table(
    view: JudgedRanks, rel: float, lengths: np.ndarray, averaged: np.ndarray
) -> pa.Table:
    """Return one row per query, system and relevant doc, sorted in this order: see irmeta.schema.

    `lengths` is float64 [doc, system], for the docs of `JudgedRanks.relevant_rows`; `averaged` are
    the values of ASL that a mean has, bool [query, system].
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
        "weight": column(by_list((averaged / np.maximum(np.diff(bounds), 1)[:, None])[query])),
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
