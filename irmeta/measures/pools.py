"""Pools: the docs to judge, unjudged docs of lists, and scores by fewer contributors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import polars as pl

from irmeta.equality import TIE
from irmeta.errors import MeasureError, UsageError, check_choice, check_whole
from irmeta.measures.evaluate import evaluate_block, reads_gained_only
from irmeta.measures.names import Spec, canonical_name
from irmeta.measures.rbp import powers
from irmeta.parallel import ordered_map
from irmeta.phrases import count
from irmeta.policies import EvalPolicy, Negative, TieOrder
from irmeta.rankings.completeness import complete_depths_of
from irmeta.rankings.derive.drop import pool_cut
from irmeta.rankings.derive.select import keep_gained, take_queries, take_rows
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.judgments import Judged, read_judged
from irmeta.rankings.load import over_blocks, ranked_lists
from irmeta.rankings.pool import POOL_ARRAYS
from irmeta.rankings.track import Track
from irmeta.rankings.track_facts import TrackFacts
from irmeta.rankings.view import replace_arrays
from irmeta.results.scores import Scores
from irmeta.store.scan import RowBlock, StoredLists, StoredTrack, read_table, undisturbed
from irmeta.summaries import Result, Summary

P = 0.8
"""Persistence of the RBP whose residual weighs unjudged docs."""


@dataclass(frozen=True, repr=False)
class UnjudgedDocs(Result):
    """The unjudged docs of one track's lists, and their effect on the order of systems.

    Attributes
    ----------
    unjudged : DataFrame
        One row per system: track, system, pooled (whether it contributed to the pool; null:
        unknown), and means over queries: judged_at_10 and judged_at_k (Judged@10, Judged@k),
        first_unjudged (FirstUnjudged), rbp and rbp_residual (RBP(p=0.8), RBPResidual(p=0.8)).
        A missing list counts as unjudged: its Judged is 0, its residual 1. NaN: no query.
    undecided : DataFrame
        One row per pair of systems whose means of RBP differ by less than the residual of the worse
        system, so that judging the unjudged docs could reverse their order: track, system_a,
        system_b, difference (RBP of a minus RBP of b), residual (of the worse; of equal means, the
        greater one); in the order of the systems.
    pairs : int
        Number of pairs of systems.
    k : int
        Cutoff of judged_at_k.
    only_relevant : bool
        Whether only relevant docs are judged; then unjudged docs may have been seen, and the
        values say little about the systems.
    """

    unjudged: pl.DataFrame
    undecided: pl.DataFrame
    pairs: int
    k: int
    only_relevant: bool

    def _summary(self) -> Summary:
        (track,) = self.unjudged["track"].unique().to_list() or [""]
        facts = [
            count(self.unjudged.height, "system"),
            f"{self.undecided.height:,} of {count(self.pairs, 'pair')} undecided",
        ]
        return Summary(track, facts)

    def frame(self) -> pl.DataFrame:
        """Return `unjudged`."""
        return self.unjudged


def unjudged_measures(k: int = 20, rel: float | None = None) -> tuple[str, ...]:
    """Return the measures that `unjudged_docs` reads, with the least relevant grade of RBP.

    Without `rel`, RBP states none, and has that of the qrels set.
    """
    check_whole("k", k)
    rbp = f"RBP(p={P})" if rel is None else canonical_name(f"RBP(p={P},rel={rel:g})")
    return "Judged@10", f"Judged@{k}", "FirstUnjudged", rbp, f"RBPResidual(p={P})"


def undecided_pairs(means: np.ndarray, residuals: np.ndarray) -> np.ndarray:
    """Return for each pair of systems whether unjudged docs may order it either way: bool [pair].

    `means` are those if no unjudged doc is relevant, and `residuals` how much higher they could be.
    The pairs are those of ``numpy.triu_indices``.
    """
    a, b = np.triu_indices(len(means), 1)
    return np.abs(means[a] - means[b]) < worse_residuals(means, residuals) - TIE


def worse_residuals(means: np.ndarray, residuals: np.ndarray) -> np.ndarray:
    """Return the residual of the worse system of each pair, by which it could rise: [pair].

    Of systems with equal means, the greater one.
    """
    a, b = np.triu_indices(len(means), 1)
    lead = means[a] - means[b]
    of_worse = np.where(lead > 0, residuals[b], residuals[a])
    return np.where(np.abs(lead) <= TIE, np.maximum(residuals[a], residuals[b]), of_worse)


def unjudged_docs(
    scores: Scores, facts: TrackFacts, k: int = 20, rel: float | None = None
) -> UnjudgedDocs:
    """Summarise the unjudged docs of each system, and list the pairs that they leave undecided.

    Residuals are those of Moffat and Zobel (2008), Rank-biased precision for measurement of
    retrieval effectiveness, doi:10.1145/1416950.1416952.
    """
    rel = facts.rel if rel is None else rel
    names = unjudged_measures(k, rel)
    means = {name: scores.matrix(name).means for name in names}
    at_10, at_k, first, rbp, residual = (means[name] for name in names)
    systems = pl.Series(list(scores.systems), dtype=pl.String)
    pooled = dict(zip(facts.systems, facts.pooled, strict=True)) if facts.pool_known else {}
    unjudged = pl.DataFrame(
        {
            "system": systems,
            "pooled": pl.Series([pooled.get(name) for name in systems], dtype=pl.Boolean),
            "judged_at_10": at_10,
            "judged_at_k": at_k,
            "first_unjudged": first,
            "rbp": rbp,
            "rbp_residual": residual,
        }
    )
    a, b = np.triu_indices(len(systems), 1)
    difference, of_worse = rbp[a] - rbp[b], worse_residuals(rbp, residual)
    is_undecided = undecided_pairs(rbp, residual)
    a, b = a[is_undecided], b[is_undecided]
    undecided = pl.DataFrame(
        {
            "system_a": systems.gather(a),
            "system_b": systems.gather(b),
            "difference": difference[is_undecided],
            "residual": of_worse[is_undecided],
        }
    )
    track = pl.lit(facts.track).alias("track")
    unjudged, undecided = (frame.select(track, pl.all()) for frame in (unjudged, undecided))
    only_relevant = facts.lowest_grade is not None and facts.lowest_grade >= rel
    return UnjudgedDocs(unjudged, undecided, len(is_undecided), k, only_relevant)


NO_GRADE = -np.inf  # below every grade
_BITS = 40.0  # precision of a weight: 12 significant digits


@dataclass(frozen=True)
class Request:
    """Request for docs of a track.

    `facts`: Facts of the track with only the systems whose docs are listed. `order`: Tie order of
    their lists. `negative`: Meaning of grades below 0, as in `EvalPolicy`. `depth`: Deepest rank;
    None: all ranks. `with_judged`: whether judged docs are listed too. `budget`: number of docs,
    greatest weights first; None: all docs.
    """

    facts: TrackFacts
    order: TieOrder
    negative: Negative = "unjudged"
    depth: int | None = None
    with_judged: bool = False
    budget: int | None = None

    def is_judged(self, grades: np.ndarray) -> np.ndarray:
        """Return which grades, or `NO_GRADE`, are judgments."""
        return grades >= 0 if self.negative == "unjudged" else grades > NO_GRADE


def docs_to_judge(track: StoredTrack, request: Request) -> pl.DataFrame:
    """List docs of the judged queries, one row per query and doc, greatest weight first.

    Weights that are equal to 12 significant digits are sorted by query and doc. For the columns
    see `Store.pools.to_judge`.
    """
    with undisturbed(track):
        judged = read_judged(track, request.facts)
        parts = [_Docs.none()]
        for block in ranked_lists(track, judged.queries, request.facts, request.order):
            docs = _docs_of_block(*block, judged, request)
            if not request.with_judged:
                docs = docs.only(~request.is_judged(docs.grade))
            parts.append(docs)
            if request.budget is not None:
                parts = [_Docs.concat(parts).heaviest(request.budget)]
        return _named(track, judged.queries, _Docs.concat(parts), request)


@dataclass(frozen=True)
class _Docs:
    """Docs of some queries.

    `query`: Index among the judged queries. `depth`: the smallest rank in a list. `grade`: float64;
    `NO_GRADE` for docs that are not in the qrels.
    """

    query: np.ndarray
    doc_id: np.ndarray
    depth: np.ndarray
    retrieved_by: np.ndarray
    weight: np.ndarray
    grade: np.ndarray

    @classmethod
    def none(cls) -> _Docs:
        empty = np.empty(0, np.int32)
        return cls(empty, empty, empty, empty, np.empty(0), np.empty(0))

    @classmethod
    def concat(cls, parts: Sequence[_Docs]) -> _Docs:
        arrays = ([getattr(part, name) for part in parts] for name in cls.__dataclass_fields__)
        return cls(*map(np.concatenate, arrays))

    def only(self, rows: np.ndarray) -> _Docs:
        return _Docs(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def heaviest(self, number: int) -> _Docs:
        """Select the docs with the greatest weights, and all docs tied with the last of them."""
        if len(self.weight) <= number:
            return self
        weight = _rounded(self.weight)
        least = np.partition(weight, len(weight) - number)[-number]
        return self.only(weight >= least)


def _docs_of_block(
    block: RowBlock, lists: StoredLists, rank: np.ndarray, judged: Judged, request: Request
) -> _Docs:
    """Return the docs of the systems' lists, judged or not, by query and doc_id."""
    within = rank <= (request.depth or rank.max(initial=1))
    rank, doc_id = rank[within], lists.columns["doc_id"][within]
    query = lists.by_row(lists.query)[within] - block.first_query
    names = judged.queries[block.first_query : block.last_query]
    known = judged.of_queries(names)
    known_query = np.repeat(np.arange(len(names)), np.diff(known.offsets))
    widths = np.zeros(len(names), np.int64)
    np.maximum.at(widths, query, doc_id.astype(np.int64) + 1)
    np.maximum.at(widths, known_query, known.doc_ids.astype(np.int64) + 1)
    first = np.cumsum(widths) - widths  # numbers docs through the block, query after query
    grade = np.full(int(widths.sum()), NO_GRADE)
    grade[first[known_query] + known.doc_ids] = known.grades
    number, depth, retrieved_by, weight = _by_doc(first[query] + doc_id, rank)
    query = np.searchsorted(first, number, "right") - 1
    return _Docs(
        (query + block.first_query).astype(np.int32),
        (number - first[query]).astype(np.int32),
        depth.astype(np.int32),
        retrieved_by.astype(np.int32),
        weight,
        grade[number],
    )


def _by_doc(number: np.ndarray, rank: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the numbers of docs, each once, with smallest rank, number of ranks, and weight."""
    deepest = int(rank.max(initial=0))
    bits = deepest.bit_length()
    both = np.sort(number << bits | rank)  # one number sorts much faster than two
    number, rank = both >> bits, both & (1 << bits) - 1
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    count = np.diff(starts, append=len(number))
    # The weights of a doc are added by rank, so that docs of the same ranks have the same sum.
    weights = (1.0 - P) * powers(P, deepest)[rank - 1]
    weight = np.bincount(np.repeat(np.arange(len(starts)), count), weights, len(starts))
    return number[starts], rank[starts], count, weight


def _rounded(weights: np.ndarray) -> np.ndarray:
    """Round to 12 significant digits, because sums of different ranks may be equal."""
    mantissa, exponent = np.frexp(weights)
    return np.ldexp(np.round(mantissa * 2.0**_BITS) / 2.0**_BITS, exponent)


def _named(
    track: StoredTrack, queries: Sequence[str], docs: _Docs, request: Request
) -> pl.DataFrame:
    """Return docs as a sorted frame, with names of queries and docs."""
    frame = pl.DataFrame(
        {
            "query": pl.Series(queries, dtype=pl.String).gather(docs.query),
            "doc_id": docs.doc_id,
            "depth": docs.depth,
            "retrieved_by": docs.retrieved_by,
            "weight": docs.weight,
            "rounded": _rounded(docs.weight),
            "judged": request.is_judged(docs.grade),
            "grade": docs.grade,
        }
    )
    names = read_table(track, "docs").select("query", "doc_id", "doc")
    kind = pl.Int8 if request.facts.levels is None else pl.Float64
    grade = pl.when(pl.col("grade") > NO_GRADE).then("grade").cast(kind).alias("grade")
    return (
        frame.join(names, on=["query", "doc_id"], how="left")
        .sort("rounded", "query", "doc", descending=[True, False, False])
        .head(request.budget or len(frame))
        .select(
            pl.lit(track.name).alias("track"),
            *("query", "doc", "depth", "retrieved_by", "weight", "judged"),
            grade,
        )
    )


LEVELS = ("run", "group", "type")


@dataclass(frozen=True)
class ReducedPool:
    """Scores by the judgments of a pool without some of its contributors.

    `part`: name of the part that is left out; empty: none is. `left_out`: Systems of that part.
    `scores`: Scores of the contributing systems, those of the part included. Where no value can
    differ, they are those of the whole pool. `judged`, `relevant`: Judged and relevant (`rel` and
    above) docs of all queries.
    """

    part: str
    left_out: tuple[str, ...]
    scores: Scores
    judged: int
    relevant: int

    @cached_property
    def means(self) -> np.ndarray:
        """Means of the scores: float64 [measure, system]."""
        return self.scores.mean_values()


def parts_of(facts: TrackFacts, unit: str) -> dict[str, tuple[str, ...]]:
    """Return the contributing systems by run, group or type."""
    check_choice("unit", unit, LEVELS)
    systems = [facts.systems[i] for i in facts.contributors]
    if unit == "run":
        return {system: (system,) for system in systems}
    names = facts.groups if unit == "group" else facts.types
    parts: dict[str, tuple[str, ...]] = {}
    for i, system in zip(facts.contributors, systems, strict=True):
        if (name := names[i]) is not None:
            parts[name] = (*parts.get(name, ()), system)
    if not parts:
        fix = f"name the column {unit!r} of its systems in collection.toml"
        raise UsageError(f"track {facts.track!r} does not state the {unit} of any system: {fix}.")
    return dict(sorted(parts.items()))


def complete_depth(track: Track) -> int:
    """Return the depth to which the pools of all queries are complete: the least over queries."""
    blocks = over_blocks(complete_depths_of, track, {"pool"})
    depths = np.concatenate([np.empty(0, np.int64), *blocks])
    return int(depths.min(initial=np.iinfo(np.int64).max)) if len(depths) else 0


Part = tuple[str, tuple[str, ...]]
"""Name and systems of a part of the contributors."""
Evaluate = Callable[[JudgedRanks], Scores]


def reduced_pools(
    views: Sequence[JudgedRanks],
    specs: Sequence[Spec],
    policy: EvalPolicy,
    parts: Mapping[str, tuple[str, ...]],
    depth: int | None,
    workers: int | None = 1,
    rel: int = 1,
    evaluate: Evaluate | None = None,
    gained_only: bool = True,
) -> Iterator[ReducedPool]:
    """Yield the scores by the whole pool, then by the pool without each part of it.

    All blocks are kept, since every part needs all of them. `depth` None means all judgments, less
    the docs that a part alone ranks within the depth to which the pool is complete. No value
    depends on the number of workers. With `gained_only`, `evaluate` reads only docs with a gain,
    which is faster.
    """
    for spec in specs:
        if spec.average != "arithmetic":
            raise MeasureError(f"{spec.name}: leaving out systems needs arithmetic means.")
    facts = views[0].facts
    contributors = [facts.systems[i] for i in facts.contributors]
    asked: list[Part] = [("", ()), *parts.items()]
    scored = evaluate or partial(evaluate_block, specs=specs, policy=policy)
    are_plain = all(v.diversity is None and not v.condensed and v.assumed is None for v in views)
    if gained_only and are_plain and all(map(reads_gained_only, specs)):
        reduced = _of_gained(views, scored, contributors, depth, rel)
    else:
        reduced = _of_judged(views, scored, contributors, depth, rel)
    with closing(ordered_map(reduced, asked, workers=workers)) as pools:
        yield from pools


def _of_judged(
    views: Sequence[JudgedRanks],
    evaluate: Evaluate,
    contributors: Sequence[str],
    depth: int | None,
    rel: int,
) -> Callable[[Part], ReducedPool]:
    """Return a function of a part that evaluates the views of the reduced pool."""

    def reduced(part: Part) -> ReducedPool:
        name, systems = part
        pools = [view.with_pool(depth, systems) for view in views]
        blocks = [evaluate(pool) for pool in pools]
        judged = sum(int(pool.is_judged.sum()) for pool in pools)
        relevant = sum(int(pool.counts(rel).sum()) for pool in pools)
        scores = Scores.concat(blocks).only(contributors)
        return ReducedPool(name, systems, scores, judged, relevant)

    return reduced


def _of_gained(
    views: Sequence[JudgedRanks],
    evaluate: Evaluate,
    contributors: Sequence[str],
    depth: int | None,
    rel: int,
) -> Callable[[Part], ReducedPool]:
    """Return a function of a part that evaluates only queries that lose a relevant doc.

    A part ranks few docs that no other does. Only relevant docs are copied.
    """
    is_gained = [view.grades > 0 for view in views]
    gained = [keep_gained(replace_arrays(view, **dict.fromkeys(POOL_ARRAYS))) for view in views]
    kept_rows = [_kept(view, depth, ()) for view in views]
    all_blocks = [
        take_rows(view, np.flatnonzero(rows[gain]))
        for view, rows, gain in zip(gained, kept_rows, is_gained, strict=True)
    ]
    scores = [evaluate(block) for block in all_blocks]
    all_scores = Scores.concat(scores).only(contributors)

    def reduced(part: Part) -> ReducedPool:
        name, systems = part
        judged = relevant = 0
        changes = list[Scores]()
        is_changed = False
        for i, view in enumerate(views):
            rows = _kept(view, depth, systems)
            judged += int((rows & view.is_judged).sum())
            relevant += int((rows & (view.grades >= rel)).sum())
            lost = np.flatnonzero((kept_rows[i] & ~rows)[is_gained[i]])
            queries = np.unique(gained[i].query_of(lost))
            changes.append(_updated(scores[i], gained[i], rows[is_gained[i]], queries, evaluate))
            is_changed = is_changed or len(queries) > 0
        reduced_scores = Scores.concat(changes).only(contributors) if is_changed else all_scores
        return ReducedPool(name, systems, reduced_scores, judged, relevant)

    return reduced


def _kept(view: JudgedRanks, depth: int | None, without: Sequence[str]) -> np.ndarray:
    """Return the rows that `JudgedRanks.with_pool` keeps."""
    cut = pool_cut(view, depth, without)
    return np.ones(len(view.grades), bool) if cut is None else cut.is_kept


def _updated(
    scores: Scores,
    view: JudgedRanks,
    rows: np.ndarray,
    queries: np.ndarray,
    evaluate: Evaluate,
) -> Scores:
    """Return the scores of a block with those of some queries by fewer docs of the view."""
    if not len(queries):
        return scores
    is_asked = np.zeros(len(view.queries), bool)
    is_asked[queries] = True
    asked_rows = rows & is_asked[view.query_of(np.arange(len(rows)))]
    rescored = evaluate(take_queries(take_rows(view, np.flatnonzero(asked_rows)), queries))
    values, included = scores.values.copy(), scores.included.copy()
    values[:, queries], included[:, queries] = rescored.values, rescored.included
    return replace(scores, values=values, included=included)
