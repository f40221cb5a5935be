"""One system's list for one query as plain Python values, and parts of its explanation."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from irmeta.errors import IrmetaError, UsageError, did_you_mean
from irmeta.policies import EvalPolicy
from irmeta.rankings.holders import groups_of
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import judged_ranks
from irmeta.rankings.pool import NOT_POOLED
from irmeta.rankings.track import Track
from irmeta.rankings.view import Need
from irmeta.store.scan import undisturbed
from irmeta.trec.qrels import plain


@dataclass(frozen=True)
class OneList:
    """One system's list for one query, as plain Python values, for `Trace`.

    Attributes
    ----------
    judged
        (rank or None, doc, grade) of every judged doc, retrieved docs first, by rank. Unjudged docs
        with an assumed gain are included as `UNJUDGED_DOC`.
    length
        Length of the list; 0: no list.
    ties
        Map from rank to the first and last rank of its block of tied docs; only for measures that
        need ties.
    pool_depth
        Map from doc to the least pool depth that includes the doc; only for measures that need the
        pool.
    complete_depth
        Depth to which the pool of the query is complete; only for measures that need the pool.
    retrieved
        Number of distinct docs that any system retrieves; only for measures that need the number.
    unretrieved_by_all
        Judged docs that no system retrieves.
    subtopics
        Names of the subtopics of the query; only for measures that need subtopics.
    subtopic_grades
        Map from doc to its grade for each judged subtopic; only for measures that need subtopics.
    subtopic_weights
        Map from each subtopic that the `subtopics_file` has, or all if it has none of the query, to
        its weight, NaN if missing; only for measures that need subtopics.
    subtopic_types
        Map from each of the `subtopics` to its type, None if missing; only for measures that need
        subtopics.
    alone
        Function that returns the list under the judgments of each of the `subtopics` alone; only
        for measures that need subtopics.
    system
        Number of the system.
    all_ranks
        Function from a doc to its rank in the list of each system (None: not retrieved).
    groups
        Number of the group of each system; a system without a group is a group of its own.
    contributors
        Numbers of the systems that contributed to the pool.
    background
        As `judged`, under the qrels set of the background interest of a preference by subtopic, if
        that is another set.
    sampled
        Map from doc to its stratum, method and inclusion probability, see
        `irmeta.rankings.judgments.Sample`; None if the qrels are no sample, or for measures that do
        not need it.
    costs
        Costs of the docs by rank; empty if all are 1.
    """

    judged: tuple[tuple[int | None, str, float], ...]
    length: int
    deepest_rank: int
    highest_grade: float
    negative: str
    condensed: bool = False
    assumed_gain: str | None = None
    ties: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    pool_depth: Mapping[str, float] = field(default_factory=dict)
    complete_depth: int = 0
    retrieved: int = 0
    unretrieved_by_all: frozenset[str] = frozenset()
    subtopics: tuple[str, ...] = ()
    subtopic_grades: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    subtopic_weights: Mapping[str, float] = field(default_factory=dict)
    subtopic_types: Mapping[str, str | None] = field(default_factory=dict)
    alone: Callable[[], tuple[OneList, ...]] = tuple
    system: int = 0
    all_ranks: Callable[[str], Sequence[int | None]] = lambda doc: ()
    groups: tuple[int, ...] = ()
    contributors: tuple[int, ...] = ()
    background: tuple[tuple[int | None, str, float], ...] = ()
    sampled: Mapping[str, tuple[str, int, float]] | None = None
    costs: tuple[float, ...] = ()

    def relevant(self, rel: float) -> list[tuple[int | None, str, float]]:
        """Return the relevant docs, retrieved docs first, by rank."""
        return [d for d in self.judged if d[2] >= rel]

    def within(self, k: int | None) -> list[tuple[int, str, float]]:
        """Return the judged docs at ranks up to k, by rank."""
        last = self.length if k is None else k
        return [(r, doc, grade) for r, doc, grade in self.judged if r is not None and r <= last]

    def counts_as_judged(self, grade: float) -> bool:
        """Check whether a doc of this grade is judged, under the policy for negative grades."""
        return grade >= 0 or self.negative == "nonrelevant"

    def pooled_at(self, k: int) -> OneList:
        """Return the list under the judgments of the pool of depth k, if the pool is deeper."""
        if k >= self.complete_depth:
            return self
        pooled = tuple(d for d in self.judged if self.pool_depth[d[1]] <= k)
        if not self.condensed:
            return replace(self, judged=pooled)
        listed = [d for d in pooled if d[0] is not None]
        renumbered = [(rank, doc, grade) for rank, (_, doc, grade) in enumerate(listed, 1)]
        unretrieved = [d for d in pooled if d[0] is None]
        return replace(self, judged=(*renumbered, *unretrieved), length=len(renumbered))


def one_list(view: JudgedRanks, q: int, s: int) -> OneList:
    """Return one system's list for one query of a view, as plain Python values."""
    rows = slice(int(view.offsets[q]), int(view.offsets[q + 1]))
    docs = view.docs[rows].to_list()
    ranks = [None if r == view.missing else r for r in view.ranks[rows, s].tolist()]
    judged = list(zip(ranks, docs, map(plain, view.grades[rows].tolist()), strict=True))
    judged.sort(key=lambda d: (d[0] is None, d[0] or 0))
    ties, pool_depth = {}, {}
    if view.ties is not None:
        # Unjudged docs that tie with one another alone stay apart: their weights add up alike.
        blocks = zip(*(ends[rows, s].tolist() for ends in view.ties), ranks, strict=True)
        spans = {(first, last) for first, last, rank in blocks if rank is not None}
        ties = {rank: span for span in spans for rank in range(span[0], span[1] + 1)}
    if view.pool_depth is not None:
        depths = view.pool_depth[rows].tolist()
        finite = (math.inf if d == NOT_POOLED else d for d in depths)
        pool_depth = dict(zip(docs, finite, strict=True))
    by_none = (view.ranks[rows] == view.missing).all(axis=1).tolist()
    unretrieved = frozenset(doc for doc, is_missed in zip(docs, by_none, strict=True) if is_missed)

    def all_ranks(doc: str) -> list[int | None]:
        of_doc = view.ranks[rows.start + docs.index(doc)].tolist()
        return [None if rank == view.missing else rank for rank in of_doc]

    return OneList(
        judged=tuple(judged),
        length=int(view.lengths[q, s]),
        deepest_rank=view.facts.deepest_rank,
        highest_grade=view.facts.highest_grade,
        negative=view.negative,
        condensed=view.condensed,
        assumed_gain=None if view.assumed is None else view.assumed_gain,
        ties=ties,
        pool_depth=pool_depth,
        complete_depth=0 if view.complete_depth is None else int(view.complete_depth[q]),
        retrieved=0 if view.retrieved is None else int(view.retrieved[q]),
        unretrieved_by_all=unretrieved,
        system=s,
        all_ranks=all_ranks,
        groups=tuple(groups_of(view.facts)[0].tolist()),
        contributors=tuple(view.facts.contributors),
        sampled=_sampled(view, rows, docs),
        costs=_costs(view, q, s),
        **_subtopics(view, q, s),
    )


def _costs(view: JudgedRanks, q: int, s: int) -> tuple[float, ...]:
    if view.costs is None:
        return ()
    values, starts = view.costs
    first = int(starts[q, s])
    return tuple(values[first : first + int(view.lengths[q, s])].tolist())


def _sampled(
    view: JudgedRanks, rows: slice, docs: list[str]
) -> dict[str, tuple[str, int, float]] | None:
    if (sample := view.sample) is None:
        return None
    strata = [sample.names[i] if i >= 0 else "" for i in sample.stratum[rows].tolist()]
    known = zip(
        strata, sample.method[rows].tolist(), sample.probability[rows].tolist(), strict=True
    )
    return dict(zip(docs, known, strict=True))


def _subtopics(view: JudgedRanks, q: int, s: int) -> dict[str, Any]:
    """Return the fields of `OneList` that measures of subtopics read."""
    if view.subtopics is None:
        return {}
    subtopics, docs = view.subtopics, range(*view.offsets[q : q + 2].tolist())
    labels, pairs = subtopics.of_query(q), subtopics.starts.tolist()
    numbers = range(*subtopics.offsets[q : q + 2].tolist())
    weights, is_listed = subtopics.weights.tolist(), subtopics.is_listed.tolist()
    by_name = [*zip(labels, numbers, strict=True)]

    def alone() -> tuple[OneList, ...]:
        each = replace(view.each_subtopic(), subtopics=None)
        return tuple(one_list(each, i, s) for i in numbers)

    return {
        "subtopics": labels,
        "subtopic_grades": {
            view.docs[row]: {
                labels[subtopics.subtopic[i]]: plain(subtopics.grade[i])
                for i in range(pairs[row], pairs[row + 1])
            }
            for row in docs
        },
        "subtopic_weights": {name: weights[i] for name, i in by_name if is_listed[i]},
        "subtopic_types": {name: subtopics.types[i] for name, i in by_name},
        "alone": alone,
    }


def block_with(
    track: Track,
    query: str,
    needs: Collection[Need],
    queries: Callable[[JudgedRanks], Sequence[str]],
) -> JudgedRanks:
    """Return the block of a track that has a query; `queries` returns those of a block."""
    known: list[str] = []
    with undisturbed(track.stored):
        for view in judged_ranks(track, needs=needs):
            judged = queries(view)
            if query in judged:
                return view
            known += judged
    raise UsageError(
        f"track {track.name!r} has no judged query {query!r}. {did_you_mean(query, known)}"
    )


def system_index(view: JudgedRanks, track: str, system: str) -> int:
    """Return the index of a system."""
    if system not in view.systems:
        hint = did_you_mean(system, view.systems)
        raise UsageError(f"track {track!r} has no system {system!r}. {hint}")
    return view.systems.index(system)


def check_arithmetic(what: str, value: float, computed: float) -> None:
    """Raise `IrmetaError` if the arithmetic of a trace gives another value, up to rounding."""
    if not np.isclose(computed, value, rtol=1e-9, atol=1e-12, equal_nan=True):
        raise IrmetaError(
            f"{what} is {value!r}, but its arithmetic gives {computed!r}: this is a bug in irmeta, "
            "please report it."
        )


def policies_read(view: JudgedRanks, policy: EvalPolicy) -> dict[str, object]:
    """Return the policies that every value of a view depends on."""
    read = view.facts.policy
    record: dict[str, object] = {
        "qrels set": view.facts.qrels,
        "tie order": policy.tie_order or read["tie_order"],
        "depth cut at reading": read["depth"] or "none",
        "negative grades": view.negative,
    }
    if policy.pool_depth is not None:
        record["pool depth"] = policy.pool_depth
    if policy.pool_without:
        record["removed from the pool"] = ", ".join(policy.pool_without)
    return record
