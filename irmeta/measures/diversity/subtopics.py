"""Subtopics that a measure counts, gains by subtopic, subtopic recall and intent-aware measures.

Gains are along each list and along the ideal list. An intent-aware measure is the weighted mean of
a measure over the subtopics of each query.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np

from irmeta.errors import UsageError
from irmeta.kernels.subtopic_gains import greedy_gains, novelty_gains
from irmeta.measures.spec import (
    Cutoff,
    Cutoffs,
    Measure,
    OneList,
    Params,
    Steps,
    Term,
    Trace,
)
from irmeta.measures.sums import Divisor, Sum, discounts, empty_values, positions
from irmeta.naming import REL, Parameter
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.judgments import Subtopics
from irmeta.rankings.view import Need

SUBTOPICS = Parameter(
    "subtopics",
    "found",
    "subtopics of a query: those with a doc of grade >= rel; or all in the collection's "
    "subtopics_file, else in the qrels",
    kind="choice",
    choices=("found", "all"),
)
WEIGHTS = Parameter(
    "weights",
    "uniform",
    "weights of the subtopics, normalised to sum 1: equal, or from the collection's subtopics_file",
    kind="choice",
    choices=("uniform", "given"),
)
UNJUDGED = ("condensed",)
"""Treatments of unjudged docs: an unjudged doc assumed relevant would have no subtopic."""


def needs_subtopics(params: Params) -> tuple[Need, ...]:
    """Return the need for judgments by subtopic."""
    return ("subtopics",)


def counted(view: JudgedRanks, params: Params) -> tuple[Subtopics, np.ndarray]:
    """Return the subtopics of a view, and which a measure counts: bool [names].

    With ``subtopics=found``, the default, these are the subtopics with a doc of grade >= `rel`.
    """
    subtopics = view.require("subtopics")
    if params.get("subtopics") == "all":
        return subtopics, subtopics.is_listed
    is_counted = np.zeros(len(subtopics.names), bool)
    is_relevant = subtopics.grade >= params.get("rel", 1)
    is_counted[subtopics.name_indices(view.offsets)[is_relevant]] = True
    return subtopics, is_counted


def count_subtopics(view: JudgedRanks, params: Params) -> np.ndarray:
    """Return the number of subtopics that a measure counts: float64 [queries]."""
    subtopics, is_counted = counted(view, params)
    return np.bincount(subtopics.queries, is_counted, minlength=len(view.queries))


def subtopic_shares(view: JudgedRanks, params: Params) -> np.ndarray:
    """Return the share p_a of each subtopic: float64 [names], with sum 1 over a query.

    Subtopics that do not count have share 0; all have if no weight of the query is above 0.
    """
    subtopics, is_counted = counted(view, params)
    weights = is_counted.astype(np.float64)
    if params["weights"] == "given":
        weights = np.where(is_counted, subtopics.weights, 0.0)
        missing = np.flatnonzero(np.isnan(weights))
        if len(missing):
            query = view.queries[subtopics.queries[missing[0]]]
            raise UsageError(
                f"track {view.facts.track!r} has no weight for subtopic "
                f"{subtopics.names[missing[0]]!r} of query {query!r}: add it to the subtopics_file "
                f"of the qrels set {view.facts.qrels!r} in collection.toml, or omit weights=given."
            )
    total = np.bincount(subtopics.queries, weights, minlength=len(view.queries))
    return weights / np.where(total > 0, total, 1.0)[subtopics.queries]


def counted_of(ranking: OneList, params: Params) -> list[str]:
    """Return the names of the subtopics that a measure counts, for traces."""
    if params.get("subtopics") == "all":
        return [name for name in ranking.subtopics if name in ranking.subtopic_weights]
    rel = params.get("rel", 1)
    docs = ranking.subtopic_grades.values()
    return [
        name for name in ranking.subtopics if any(of.get(name, -math.inf) >= rel for of in docs)
    ]


def shares_of(ranking: OneList, params: Params) -> dict[str, float]:
    """Return the share of each subtopic that counts, for traces."""
    names = counted_of(ranking, params)
    weights = dict.fromkeys(names, 1.0)
    if params["weights"] == "given":
        weights = {name: ranking.subtopic_weights[name] for name in names}
    total = math.fsum(weights.values())
    return {name: weight / total if total > 0 else 0.0 for name, weight in weights.items()}


@dataclass(frozen=True)
class GainPairs:
    """The pairs of docs and subtopics with a gain, by the docs that have any.

    `rows`: bool [rows of the view]: the docs with a pair. `offsets`: int64 [queries + 1]: the docs
    of each query. `starts`: int64 [docs + 1]: the pairs of each doc. `subtopic`: int32 [pairs],
    numbered within the query, ascending within a doc. `gains`, `keeps`: float64 [pairs]: see
    irmeta.kernels.subtopic_gains.
    """

    rows: np.ndarray
    offsets: np.ndarray
    starts: np.ndarray
    subtopic: np.ndarray
    gains: np.ndarray
    keeps: np.ndarray

    @classmethod
    def of(cls, view: JudgedRanks, gains: np.ndarray, keeps: np.ndarray | float) -> GainPairs:
        """Return the pairs of a view with a gain other than 0, given float64 [pairs]."""
        subtopics = view.require("subtopics")
        is_gain = gains != 0
        pairs = np.bincount(subtopics.rows[is_gain], minlength=len(view.grades))
        rows = pairs > 0
        return cls(
            rows=rows,
            offsets=view.offsets_of(rows),
            starts=np.concatenate([[0], np.cumsum(pairs[rows])]),
            subtopic=subtopics.subtopic[is_gain],
            gains=gains[is_gain],
            keeps=np.broadcast_to(keeps, gains.shape)[is_gain],
        )

    @classmethod
    def relevant(cls, view: JudgedRanks, rel: float, keep: float) -> GainPairs:
        """Return the pairs of grade >= `rel`, each with gain 1."""
        grades = view.require("subtopics").grade
        return cls.of(view, (grades >= rel).astype(np.float64), keep)

    def by_rank(self, view: JudgedRanks) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sort the docs by rank: see `JudgedRanks.sort_by_rank`; labels are numbers of docs."""
        return view.sort_by_rank(self.rows, np.arange(len(self.starts) - 1, dtype=np.uint32))


def gains_by_rank(view: JudgedRanks, pairs: GainPairs, shares: np.ndarray) -> Steps:
    """Compute the gain of each doc of each list, given what the list has above it: [docs, systems].

    Ranks and offsets, of the docs with a pair, are as those of `JudgedRanks.sort_by_rank`; the gain
    of docs that are not retrieved is 0. `shares` is the weight of each subtopic at rank 1.
    """
    subtopics = view.require("subtopics")
    ranks, docs, offsets = pairs.by_rank(view)
    gains = np.zeros(ranks.shape)
    weights = np.empty((int(subtopics.counts.max(initial=0)), ranks.shape[1]))
    novelty_gains(
        *(ranks, docs, offsets, view.missing),
        *(pairs.starts, pairs.subtopic, pairs.gains, pairs.keeps),
        *(shares, subtopics.offsets, weights, gains),
    )
    return ranks, offsets, gains


def greedy_ideal(view: JudgedRanks, rel: float, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute the gain at each rank of the greedy ideal list of each query, and offsets.

    The list has the docs of any subtopic: at each rank the doc of greatest gain, of equal ones the
    greatest name. The result is cached, so that measures share it.
    """

    def compute() -> np.ndarray:
        pairs = GainPairs.relevant(view, rel, 1.0 - alpha)
        gains, bounds = np.zeros((2, len(pairs.starts) - 1))
        weights = np.empty(int(view.require("subtopics").counts.max(initial=0)))
        names = view.doc_ids[pairs.rows]
        greedy_gains(
            pairs.offsets, names, pairs.starts, pairs.subtopic, 1.0 - alpha, weights, bounds, gains
        )
        return gains

    rows = np.zeros(len(view.grades), bool)
    subtopics = view.require("subtopics")
    rows[subtopics.rows[subtopics.grade >= rel]] = True
    return view.cached(("greedy", rel, alpha), compute), view.offsets_of(rows)


def by_rank(weights: np.ndarray, ranks: np.ndarray, missing: int) -> np.ndarray:
    """Return the weight of each rank, given float64 [rank] with 0 at rank 0; 0 if not retrieved."""
    return weights[np.where(ranks == missing, 0, ranks)]


def longest_list(view: JudgedRanks) -> int:
    """Return the deepest rank that a list or an ideal list has."""
    return max(view.facts.deepest_rank, int(np.diff(view.offsets).max(initial=0)))


@dataclass(frozen=True)
class RankWeight:
    """Weight of a gain by its rank.

    `of_view`: function that returns the weight of each rank: float64 [rank], 0 at rank 0. `at`:
    function that returns the weight of one rank, and the text that applies it to a gain.
    """

    of_view: Callable[[JudgedRanks, Params], np.ndarray]
    at: Callable[[int, Params], tuple[float, str]]


LOGARITHMIC = RankWeight(
    lambda view, params: 1.0 / discounts(longest_list(view), "log2"),
    lambda rank, params: (1.0 / math.log2(rank + 1), f" / log2({rank} + 1)"),
)
RECIPROCAL = RankWeight(
    lambda view, params: 1.0 / discounts(longest_list(view), "zipf"),
    lambda rank, params: (1.0 / rank, f" / {rank}"),
)
GEOMETRIC = RankWeight(
    lambda view, params: np.append(0.0, params["beta"] ** np.arange(float(longest_list(view)))),
    lambda rank, params: (params["beta"] ** (rank - 1), f" x {params['beta']:g}^{rank - 1}"),
)
"""``beta ** (rank - 1)``."""


def weighted_steps(weight: RankWeight, view: JudgedRanks, params: Params, steps: Steps) -> Steps:
    """Return steps of gains with each gain times the weight of its rank."""
    ranks, offsets, gains = steps
    return ranks, offsets, gains * by_rank(weight.of_view(view, params), ranks, view.missing)


def weights_at_positions(weights: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the weight of the rank of each doc of the ideal lists."""
    return weights[positions(offsets)]


def _new_subtopics(view: JudgedRanks, params: Params) -> Steps:
    """Return ranks, offsets, and the number of new subtopics of each doc."""
    _, is_counted = counted(view, params)
    pairs = GainPairs.relevant(view, params["rel"], 0.0)
    return gains_by_rank(view, pairs, is_counted.astype(np.float64))


SUBTOPIC_COUNT = Divisor(
    lambda view, params, ks: count_subtopics(view, params)[None],
    lambda ranking, params, k: (len(counted_of(ranking, params)), "subtopics"),
)


def _new_terms(ranking: OneList, params: Params, k: int | None) -> Iterator[Term]:
    """Yield the number of new subtopics of each doc down to k that has any."""
    uncovered = set(counted_of(ranking, params))
    for rank, doc, grade in ranking.within(k):
        of_doc = ranking.subtopic_grades.get(doc, {})
        new = {name for name, g in of_doc.items() if g >= params["rel"]} & uncovered
        uncovered -= new
        if new:
            yield Term(rank, doc, grade, f"{len(new)} new", float(len(new)))


STRECALL = Sum(
    """Count the subtopics with a relevant doc down to k, over the number of subtopics.

    Notes
    -----
    ``found`` is ndeval's number of subtopics. In the qrels of the TREC 2009 Web track the docs that
    are relevant to no subtopic have a subtopic 0 of their own: ``all`` counts it, unless the
    collection has a subtopics_file without it.
    """,
    *(_new_subtopics, _new_terms, SUBTOPIC_COUNT),
)


Gain = Callable[[str, float], tuple[float, float]]
"""Function from a subtopic and a grade to the gain, and the factor of the next gain."""


def relevant_gain(rel: float, keep: float) -> Gain:
    """Return gain 1 for grades from `rel` on."""
    return lambda subtopic, grade: (float(grade >= rel), keep)


def novelty_terms(
    ranking: OneList,
    params: Params,
    k: int | None,
    gain: Gain,
    shares: Mapping[str, float],
    weight: RankWeight,
    scale: float = 1.0,
) -> Iterator[Term]:
    """Yield the gain of each doc down to k, by the subtopics in `shares`, times its rank's weight.

    Every amount is multiplied by `scale`.
    """
    left = dict(shares)
    for rank, doc, grade in ranking.within(k):
        parts = []
        for name, of_doc in ranking.subtopic_grades.get(doc, {}).items():
            amount, keep = gain(name, of_doc)
            if name in left and amount > 0:
                parts.append((left[name], amount))
                left[name] *= keep
        if parts:
            of_rank, applied = weight.at(rank, params)
            total = sum(of_subtopic * amount for of_subtopic, amount in parts)
            texts = [f"{w:g}" if amount == 1 else f"{w:g} x {amount:g}" for w, amount in parts]
            text = f"({' + '.join(texts)})" if len(texts) > 1 else texts[0]
            scaled = "" if scale == 1 else f"{scale:g} x "
            yield Term(rank, doc, grade, f"{scaled}{text}{applied}", scale * total * of_rank)


def greedy_gains_of(ranking: OneList, rel: float, keep: float) -> list[float]:
    """Return the gain at each rank of the greedy ideal list."""
    relevant = {
        doc: [name for name, grade in of_doc.items() if grade >= rel]
        for doc, of_doc in ranking.subtopic_grades.items()
    }
    left = {doc: names for doc, names in relevant.items() if names}
    weights = dict.fromkeys(ranking.subtopics, 1.0)
    gains = []
    while left:
        total = {doc: sum(weights[name] for name in names) for doc, names in left.items()}
        best = max(left, key=lambda doc: (total[doc], doc.encode()))
        gains.append(total[best])
        for name in left.pop(best):
            weights[name] *= keep
    return gains


@lru_cache(maxsize=64)
def perfect_sum(keep: float, weight: RankWeight, k: int | None) -> float:
    """Return the divisor of ``norm=perfect`` for one subtopic, for traces."""
    assert k is not None
    total, left = 0.0, 1.0
    for rank in range(1, k + 1):
        if left == 0.0:
            break
        total += left * weight.at(rank, {})[0]
        left *= keep
    return total


MEASURES = (
    Measure(
        name="StRecall",
        summary="subtopic recall: share of the subtopics with a relevant doc",
        **STRECALL.functions,
        source="Zhai, Cohen and Lafferty 2003, doi:10.1145/860435.860440; ndeval 4.5, strec",
        parameters=(REL, SUBTOPICS),
        unjudged=UNJUDGED,
        needs=needs_subtopics,
    ),
)


SUFFIX = "_IA"
NOT_DERIVED = ("ERR", "nERR")
"""Measures whose intent-aware form is ndeval's, with a definition of its own."""


def intent_aware(measures: Iterable[Measure]) -> Iterator[Measure]:
    """Yield the intent-aware form of each measure that has one.

    Counts have none, nor measures that do not depend on relevant docs.
    """
    for measure in measures:
        is_of_docs = measure.family != "count" and measure.no_relevant is not None
        defaults = {p.name: p.default for p in measure.all_parameters}
        is_ad_hoc = "subtopics" not in measure.needs(defaults)
        # The rarity of a doc has no definition by subtopic; such measures name what they count.
        is_of_rarity = "counted" in defaults
        # A user of C/W/L reads one list with one aim, and its costs are not those of a subtopic.
        is_of_users = "quantity" in defaults
        # Samples of a pool have no subtopics.
        is_excluded = is_of_rarity or is_of_users or "sample" in measure.needs(defaults)
        if is_of_docs and is_ad_hoc and not is_excluded and measure.name not in NOT_DERIVED:
            yield _intent_aware(measure)


@cache
def _intent_aware(measure: Measure) -> Measure:
    of = _IntentAware(measure)
    choices = {c for p in measure.all_parameters if p.name == "unjudged" for c in p.choices}
    return replace(
        measure,
        name=measure.name + SUFFIX,
        summary=f"intent-aware {measure.name}: its weighted mean over the subtopics of the query",
        compute=of.compute,
        trace=of.trace,
        source=f"Agrawal et al. 2009, doi:10.1145/1498759.1498766; {measure.source}",
        parameters=(*measure.parameters, *of.parameters),
        unjudged=tuple({*UNJUDGED} & choices),
        counts_irrelevant=False,
        gained_only=False,
        needs=of.needs,
        events=None,  # a step of k would need the divisors of all subtopics
        printed=measure.printed and of.printed,
    )


@dataclass(frozen=True)
class _IntentAware:
    """The intent-aware form of a measure."""

    measure: Measure

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters beside those of the measure.

        A measure that is undefined without relevant docs is so for a subtopic without any.
        """
        is_defined = not math.isnan(self.measure.no_relevant or 0.0)
        return (SUBTOPICS, WEIGHTS) if is_defined else (WEIGHTS,)

    def compute(self, view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
        """Sum, over the subtopics, the share of the subtopic times the measure for it alone.

        For the measure alone the docs have their grades for that subtopic; docs not judged for it
        are unjudged. Everything else, such as the scale of grades, is the track's.
        """
        each, shares = view.each_subtopic(), subtopic_shares(view, params)
        values = self.measure.compute(replace(each, subtopics=None), params, ks)
        sums = empty_values(view, ks)
        first = view.require("subtopics").offsets.tolist()
        for query, names in enumerate(map(np.arange, first, first[1:])):
            names = names[shares[names] > 0]  # others may be undefined
            weighted = values[:, names] * shares[names, None]
            sums[:, query] = weighted.sum(axis=1) if len(names) else self.measure.no_relevant
        return sums

    def trace(self, ranking: OneList, params: Params, k: Cutoff) -> Trace:
        """Trace the measure by subtopic, each term times the share of its subtopic."""
        shares = shares_of(ranking, params)
        if not any(shares.values()):
            return Trace((), 0.0, "subtopics", self.measure.no_relevant)
        terms = []
        for name, alone in zip(ranking.subtopics, ranking.alone(), strict=True):
            share = shares.get(name, 0.0)
            if share > 0:
                terms += _scaled(self.measure.trace(alone, params, k), share, name)
        return Trace(tuple(terms), 1.0, "(nothing)")

    def needs(self, params: Params) -> Collection[Need]:
        """Return the needs of the measure, and subtopics."""
        return (*self.measure.needs(params), "subtopics")

    def printed(self, params: Params, cutoff: Cutoff) -> Sequence[str]:
        """Return the parameters that a canonical name prints."""
        assert self.measure.printed is not None
        changed = [p.name for p in self.parameters if params[p.name] != p.default]
        return [*self.measure.printed(params, cutoff), *changed]


def _scaled(trace: Trace, share: float, name: str) -> Iterator[Term]:
    """Yield the terms of one subtopic's trace, times its share, over its divisor."""
    if trace.undefined is not None:
        if trace.undefined:
            text = f"subtopic {name}: {share:g} x {trace.undefined:g}"
            yield Term(None, "(all docs)", 0, text, share * trace.undefined)
        return
    for term in trace.terms:
        by = "" if trace.divisor == 1 else f" / {trace.divisor:g}"
        text = f"subtopic {name}: {share:g} x ({term.arithmetic}){by}"
        yield replace(term, arithmetic=text, amount=share * term.amount / trace.divisor)
