"""Ranks of hypothetical systems that retrieve rare or common relevant docs: Figure 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from irmeta.measures.rare_parts import RareParts
from irmeta.rankings.holders import groups_of, holders_within
from irmeta.rankings.judged import JudgedRanks
from irmeta.studies.papers.innovation.options import MOST_DOCS, PAPER_QUERY
from irmeta.studies.papers.innovation.options import InnovationOptions as Options
from irmeta.studies.papers.innovation.rare_track import RareTrack, ranks

Row = dict[str, Any]


def query_of_figure_1(track: RareTrack) -> str | None:
    """Return the query of Figure 1; None if the track has no such query with a relevant doc."""
    options, found = track.options, dict[str, int]()
    for view in track.views:
        rows = np.flatnonzero(view.grades >= options.rel)
        is_hit, query = view.ranks[rows] <= min(options.k, view.missing - 1), view.query_of(rows)
        for q in np.unique(query):
            found[view.queries[q]] = int(is_hit[query == q].sum(axis=0).max())
    if options.query is not None or PAPER_QUERY in found:
        asked = options.query or PAPER_QUERY
        return asked if asked in found else None
    return max(found, key=lambda query: found[query], default=None)


def figure_1(track: RareTrack, query: str) -> Iterator[Row]:
    """Yield the rows of the table `figure_1`: hypothetical systems join the others in turn."""
    options = track.options
    (view,) = (one.only_queries(query) for one in track.views if query in one.queries)
    for made in (_rare(view, options), _common(view, options)):
        sums = made.parts.rare_sums(made.members, options.rarity, options.counted)[0]
        for alpha in options.weights:
            means = made.parts.plain[0] + alpha * sums
            values = np.diagonal(means[:, made.systems :])
            joined = np.column_stack([means[:, : made.systems], values])
            for docs, (value, rank) in enumerate(zip(values, ranks(joined)[:, -1], strict=True), 1):
                yield {
                    "query": query,
                    "made": made.name,
                    "alpha": alpha,
                    "docs": docs,
                    "value": value,
                    "rank": rank,
                    "systems": made.systems + 1,
                }


@dataclass(frozen=True)
class _Made:
    """Systems of a track, then hypothetical ones with 1, 2, ... relevant docs at their top.

    Attributes
    ----------
    systems
        Number of systems of the track.
    parts
        Parts of RareP of one query.
    members
        bool [hypothetical systems, all systems]: the systems, and one hypothetical system.
    """

    name: str
    systems: int
    parts: RareParts
    members: np.ndarray

    @classmethod
    def of(cls, name: str, view: JudgedRanks, ranks: np.ndarray, options: Options) -> _Made:
        """Add hypothetical systems that retrieve the first 1, 2, ... of the docs in `ranks`.

        Parameters
        ----------
        ranks
            [docs, systems]: ranks of relevant docs in the systems of the track.
        """
        k, depth, systems = options.k, options.held_to, ranks.shape[1]
        number = min(MOST_DOCS, k, len(ranks))
        rank = np.arange(1, len(ranks) + 1)[:, None]
        made = np.where(rank <= np.arange(1, number + 1), rank, view.missing)
        every, missing = np.hstack([ranks, made]), view.missing
        groups, sizes = groups_of(view.facts)
        is_pooled = np.zeros(systems + number, bool)
        is_pooled[[*view.facts.contributors, *range(systems, systems + number)]] = True
        weights = (every <= min(k, missing - 1)) / k
        parts = RareParts(
            systems=[*view.systems, *map(str, range(number))],
            plain=weights.sum(axis=0)[None],
            weights=weights[None],
            hits=every <= min(depth, missing - 1),
            groups=np.append(groups, len(sizes) + np.arange(number)),
            pooled=is_pooled,
        )
        members = np.hstack([np.ones((number, systems), bool), np.eye(number, dtype=bool)])
        return cls(name, systems, parts, members)


def _rare(view: JudgedRanks, options: Options) -> _Made:
    """Add systems with relevant docs that no other system retrieves."""
    ranks = view.ranks[view.grades >= options.rel]
    new = np.full((MOST_DOCS, ranks.shape[1]), view.missing, ranks.dtype)
    return _Made.of("rare", view, np.vstack([new, ranks]), options)


def _common(view: JudgedRanks, options: Options) -> _Made:
    """Add systems with the relevant docs that most systems retrieve, ties by doc."""
    rows = np.flatnonzero(view.grades >= options.rel)
    held = holders_within(view, rows, options.held_to, options.counted_docs).retrieved_by[:, 0]
    keys = list(zip((-held).tolist(), view.docs.gather(rows), strict=True))
    order = sorted(range(len(rows)), key=keys.__getitem__)
    return _Made.of("common", view, view.ranks[rows[order]], options)
