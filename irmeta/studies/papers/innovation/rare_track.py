"""`RareTrack`: data of a track for all tables, from one pass over its blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import parse_measures
from irmeta.measures.rare_parts import RareParts, rare_parts
from irmeta.policies import EvalPolicy
from irmeta.rankings.holders import holders_within
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.track_facts import TrackFacts
from irmeta.results.scores import Scores
from irmeta.stats.orders import kendall_tau_b, round_means, tie_groups
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.innovation.options import InnovationOptions as Options
from irmeta.studies.papers.innovation.paper import collection_of


@dataclass(frozen=True)
class RareTrack:
    """A track with the parts of its measures.

    Attributes
    ----------
    views
        The blocks of the track, with the lists that made the pool if any did.
    parts
        Parts of the means of RareP and RareAP.
    collection
        Name of the paper's collection with as many systems and queries; None: there is none, or
        the options change the measures.
    """

    facts: TrackFacts
    views: Sequence[JudgedRanks]
    parts: RareParts
    options: Options
    collection: str | None

    @classmethod
    def of(cls, track: TrackView, options: Options) -> RareTrack:
        """Read a track once."""
        views = list(track.blocks({"pool"} if track.facts.contributors else ()))
        parts = parts_of(views, options)
        queries = sum(len(view.queries) for view in views)
        is_papers, systems = options.is_papers, len(track.facts.systems)
        collection = collection_of(systems, queries) if is_papers else None
        return cls(track.facts, views, parts, options, collection)

    @cached_property
    def scores(self) -> Scores:
        """Values by query of the measures of Tables 1 and 2."""
        specs, policy = parse_measures(self.options.scored()), self.options.policy
        return Scores.concat([evaluate_block(view, specs, policy) for view in self.views])

    @cached_property
    def rare(self) -> np.ndarray:
        """Means of the parts that alpha multiplies: float64 [2, systems]."""
        every = np.ones((1, len(self.facts.systems)), bool)
        return self.parts.rare_sums(every, self.options.rarity, self.options.counted)[:, 0]

    def means(self, alphas: Sequence[float]) -> np.ndarray:
        """Return the means of RareP and RareAP for each alpha: float64 [2, alphas, systems]."""
        weights = np.array(alphas)[:, None]
        return self.parts.plain[:, None] + weights * self.rare[:, None]

    @cached_property
    def docs(self) -> pl.DataFrame:
        """The relevant docs, sorted by query, then doc.

        Columns: query, doc, grade, retrieved_by (S_d), counted (S), rarity; block, row: the doc's
        row in ``views[block]``.
        """
        options, blocks = self.options, list[pl.DataFrame]()
        for block, view in enumerate(self.views):
            rows = view.relevant_rows(options.rel)
            holders = holders_within(view, rows, options.held_to, options.counted_docs)
            query = pl.Series(view.queries, dtype=pl.String)
            columns = {
                "query": query.gather(view.query_of(rows)),
                "doc": view.docs.gather(rows),
                "grade": view.grades[rows],
                "retrieved_by": holders.retrieved_by[:, 0],
                "counted": np.full(len(rows), holders.total[0]),
                "rarity": holders.rarity(options.rarity)[:, 0],
                "block": np.full(len(rows), block),
                "row": rows,
            }
            blocks.append(pl.DataFrame(columns))
        return pl.concat(blocks)

    @property
    def has_groups(self) -> bool:
        """Whether the group of a system is known."""
        return any(self.facts.groups)

    @cached_property
    def groups(self) -> dict[str, list[int]]:
        """The systems of each group, in the order of `RareParts.groups`.

        A system without a group is one of its own, of its name.
        """
        names = [*self.facts.groups] or [None] * len(self.facts.systems)
        groups = dict[str, list[int]]()
        for index, (system, group) in enumerate(zip(self.facts.systems, names, strict=True)):
            alone = f"{system} (system)" if system in names else system
            groups.setdefault(alone if group is None else group, []).append(index)
        return groups


def parts_of(views: Sequence[JudgedRanks], options: Options) -> RareParts:
    """Return the parts of the means over the queries that the options average."""
    policy: EvalPolicy = options.policy
    return rare_parts(views, options.k, options.rel, options.rarity_depth, policy.queries)


def rounded(means: np.ndarray) -> np.ndarray:
    """Round means [rows, systems] to 12 digits, so that equal ones tie."""
    return np.stack([round_means(row) for row in means])


def tau_b(one: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Compute tau-b of an order of systems with each of `others` [orders, systems]."""
    return kendall_tau_b(rounded(one[None]), rounded(others), False)[0]


def ranks(means: np.ndarray) -> np.ndarray:
    """Rank means [rows, systems], the greatest first; ties share the mean rank."""
    above, tied = tie_groups(rounded(means))
    return above + (tied + 1) / 2.0
