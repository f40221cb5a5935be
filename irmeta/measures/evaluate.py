"""Evaluation of measures over a store, one block of queries at a time, or over all rankings.

Measures are named as the qrels set of a track states its least relevant grade.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from weakref import ref

import numpy as np
import polars as pl

from irmeta._version import __version__
from irmeta.errors import (
    MeasureError,
    NoMeasureError,
    RelevanceWarning,
    UsageError,
    warn,
)
from irmeta.measures.average_precision import AP
from irmeta.measures.names import Spec, merged, named_spec, parse_call, parse_measures
from irmeta.measures.search_length import irrelevant_retrieved
from irmeta.measures.spec import Cutoffs
from irmeta.measures.sums import GAINS
from irmeta.naming import REL
from irmeta.parallel import check_stopped, ordered_map
from irmeta.phrases import count, listed
from irmeta.policies import Averaged, EvalPolicy
from irmeta.progress import reported
from irmeta.rankings.completeness import complete_depths_of, warn_without_depth
from irmeta.rankings.enumeration import RankingSpace
from irmeta.rankings.holders import totals
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import over_blocks
from irmeta.rankings.track import Track, each, provenance_of_sets
from irmeta.rankings.track_facts import TrackFacts, warn_without_relevant
from irmeta.rankings.view import needs_of
from irmeta.results.scores import Scores
from irmeta.store.scan import StoreReader, Tracks, read_table, tracks_of, undisturbed
from irmeta.trec.qrels import plain


def relevant_in_set(track: Track, specs: Sequence[Spec]) -> list[Spec]:
    """Return measures as they are named on a track: with the `rel` of their qrels set.

    A name that states `rel` keeps it. Graded gains, such as those of nDCG, have no threshold, and
    keep the docs of every grade. Where a set has decimal grades and nobody states a least relevant
    one, binary measures of a preset are left out, with a `RelevanceWarning`, if hardly any query
    has a doc of grade 1 or above.
    """
    chosen, decimals = list[Spec](), dict[str, list[Spec]]()
    for spec in specs:
        is_plain = spec.rel != 1 or not is_thresholded(spec)
        named = [spec] if is_plain else with_rel(spec, track.stated_rel(spec) or 1)
        chosen += named
        if spec in named and (qrels := _decimal_set(track, spec)):
            decimals.setdefault(qrels, []).append(spec)
    for qrels, binary in decimals.items():
        left_out = _Decimals.of(track, qrels).check(track.name, binary)
        chosen = [spec for spec in chosen if spec not in left_out]
    if specs and not chosen:
        raise NoMeasureError(f"track {track.name!r}: no measure remains. Name one, or `rel=GRADE`.")
    return merged(chosen)


@dataclass(frozen=True)
class _Decimals:
    """Decimal grades of a qrels set whose least relevant grade nobody states.

    `grades`: the grades in words. `queries`, `relevant`: number of judged queries, and of those
    with a doc of grade 1 or above.
    """

    qrels: str
    grades: str
    queries: int
    relevant: int

    @classmethod
    def of(cls, track: Track, qrels: str) -> _Decimals:
        rows = read_table(track.stored, "qrels", pl.col("set") == qrels)
        best = rows.group_by("query").agg(pl.col("grade").max())["grade"]
        low, high = rows.select(low=pl.col("grade").min(), high=pl.col("grade").max()).row(0)
        number = count(rows["grade"].n_unique(), "grade")
        grades = f"{number} from {plain(low)} to {plain(high)}"
        return cls(qrels, grades, len(best), int((best >= 1).sum()))

    def check(self, track: str, specs: Sequence[Spec]) -> list[Spec]:
        """Return the measures to leave out; warn, or raise an error if one was named."""
        names = [name for spec in specs for name in spec.names if name not in spec.stated]
        what = (
            f"track {track}: the qrels set {self.qrels!r} has {self.grades}, and a doc of grade 1 "
            f"or above for {self.relevant:,} of {count(self.queries, 'judged query')}, the default "
            "for binary measures"
        )
        fix = "`rel=GRADE` names the least relevant grade."
        names = listed(names, MOST_NAMED)
        if self.relevant >= LEAST_RELEVANT * self.queries:
            warn(f"{what} ({names}). {fix}", RelevanceWarning, stacklevel=4)
            return []
        if not all(spec.preset for spec in specs):
            raise MeasureError(f"{what} such as {names}. {fix}")
        warn(f"{what}: {names} left out. {fix}", RelevanceWarning, stacklevel=4)
        return list(specs)


MOST_NAMED = 5  # measures that a message lists
LEAST_RELEVANT = 0.01
"""Least share of judged queries with a relevant doc, for the default `rel` with decimal grades."""


def _decimal_set(track: Track, spec: Spec) -> str | None:
    """Return the set of decimal grades that a binary measure without a stated `rel` reads."""
    if not track.has_decimals:
        return None
    is_default = spec.rel == 1 and is_thresholded(spec) and set(spec.names) - set(spec.stated)
    if not is_default or track.stated_rel(spec) is not None:
        return None
    facts = track.facts_for(spec)
    return None if facts.levels is None else facts.qrels


def relevant_in_sets(tracks: Iterable[Track], specs: Sequence[Spec]) -> list[Spec]:
    """Return measures as they are named on any of some tracks and of the sets of their policy.

    Raises NoMeasureError if none remains on any track.
    """
    chosen, problem = list[Spec](), None
    for track in tracks:
        for of_set in track.by_set():
            try:
                chosen += relevant_in_set(of_set, specs)
            except NoMeasureError as error:
                problem = error
    if problem is not None and not chosen:
        raise problem
    return merged(chosen)


def measures_of_call(
    store: StoreReader, tracks: Tracks, names: str | Iterable[str], choices: Mapping[str, Any]
) -> list[Spec]:
    """Return the measures of a call as they are named on its tracks."""
    specs, policy = parse_call(names, choices)
    return relevant_in_sets(each(store, tracks, policy), specs)


def with_rel(spec: Spec, rel: float) -> list[Spec]:
    """Return a measure with a least relevant grade, and as it is for names that state theirs."""
    if rel == 1 or spec.rel != 1 or not is_thresholded(spec):
        return [spec]
    keeping = [name for name in spec.names if name in spec.stated]
    others = [name for name in spec.names if name not in spec.stated]
    chosen = list[Spec]()
    if keeping:
        chosen.append(replace(spec, asked=keeping[0], asked_too=tuple(keeping[1:])))
    if others:
        params = tuple((name, rel if name == REL.name else old) for name, old in spec.params)
        name = replace(spec, params=params).name
        chosen.append(named_spec(name, others[0], tuple(others[1:])))
    return chosen if spec.names[0] in spec.stated else chosen[::-1]


def is_thresholded(spec: Spec) -> bool:
    """Check whether no doc counts for a measure if all grades are below its `rel`."""
    binary = spec.settings.get("gain", "binary") == "binary" or "beta" in spec.settings
    return binary and REL in spec.measure.parameters


TRACKS_SENT = 8


def evaluate(
    track: Track,
    specs: Sequence[Spec],
    workers: int | None = 1,
    executor: Executor | None = None,
) -> Scores:
    """Compute the values of `specs` for every judged query and every system of a track.

    For `workers` and `executor` see `over_blocks`.

    Warns
    -----
    PoolDepthWarning
        If a measure uses the pool of depth k, and some pools are complete at no depth.
    RelevanceWarning
        See `warn_above_highest_grade`.
    """
    needs, compute = needs_of(specs), partial(_with_depths, list(specs), track.policy)
    blocks = list(over_blocks(compute, track, needs, workers=workers, executor=executor))
    if "pool" in needs:
        warn_without_depth(track.name, [depths for _, depths in blocks])
    warn_above_highest_grade(track, specs)
    return Scores.concat([scores for scores, _ in blocks])


def warn_above_highest_grade(track: Track, specs: Sequence[Spec]) -> None:
    """Warn once about measures for which no doc of the qrels set is relevant."""
    names = dict[str, list[str]]()
    sets = dict[str, TrackFacts]()
    for spec in specs:
        # The highest grade is at least 1, unless it is decimal.
        if spec.rel > 1 or (track.has_decimals and is_thresholded(spec)):
            by_subtopic = "subtopics" in needs_of([spec])
            used = track.subtopic_facts if by_subtopic else track.facts
            if spec.rel > used.highest_grade:
                sets[used.qrels] = used
                names.setdefault(used.qrels, []).append(spec.name)
    for qrels, measures in names.items():
        warn_without_relevant(sets[qrels], measures)


def _with_depths(
    specs: Sequence[Spec], policy: EvalPolicy, view: JudgedRanks
) -> tuple[Scores, np.ndarray]:
    """Return the values for one block, and the depths to which the pools are complete."""
    return evaluate_block(view, specs, policy), complete_depths_of(view)


def evaluate_tracks(
    store: StoreReader,
    track: Tracks,
    specs: Sequence[Spec],
    policy: EvalPolicy,
    workers: int | None = 1,
    executor: Executor | None = None,
) -> list[Scores]:
    """Run `evaluate` on the tracks, systems and queries that are selected, or on all.

    There is one result per track, or where the policy names several qrels sets, per track and set.
    An executor has blocks of `TRACKS_SENT` tracks at once.
    """

    def evaluated(track: Track) -> list[Scores]:
        with undisturbed(track.stored):
            return [
                evaluate(of_set, relevant_in_set(of_set, specs), workers, executor)
                for of_set in track.by_set()
            ]

    senders = 1 if executor is None else TRACKS_SENT
    number = len(tracks_of(store, track))
    with closing(ordered_map(evaluated, each(store, track, policy), workers=senders)) as results:
        done = reported(results, number, "tracks")
        return [scores for of_track in done for scores in of_track]


def recorded_measures(specs: Sequence[Spec]) -> dict[str, dict[str, Any]]:
    """Return parameters and revision of each measure, as JSON values."""
    return {spec.name: spec.record for spec in specs}


def how_made(tracks: Sequence[Track], specs: Sequence[Spec], policy: EvalPolicy) -> dict[str, Any]:
    """Return the provenance of values of measures on tracks under a policy, as JSON values.

    For measures of rareness, each track records how many systems, groups and pooled systems there
    are to count.
    """
    specs = relevant_in_sets(tracks, specs)
    counted = {spec.settings["counted"] for spec in specs if "counted" in spec.settings}

    def record(track: Track) -> dict[str, Any]:
        provenance = provenance_of_sets(track, needs_of(specs))
        if not counted:
            return provenance
        pool = {"pool": track.pool.note} if "pooled" in counted else {}
        return {**provenance, **pool, "counted": totals(track.by_set()[0].all_systems.facts)}

    return {
        "irmeta": __version__,
        "measures": recorded_measures(specs),
        "eval_policy": policy.record(),
        "tracks": {track.name: record(track) for track in tracks},
    }


def scores_of(
    view: JudgedRanks, measures: str | Sequence[str], queries: Averaged = "judged"
) -> Scores:
    """Compute measures of a view, whatever it was made from.

    Parameters
    ----------
    view : JudgedRanks
        For example from `JudgedRanks.from_arrays`, or derived by ``view.with_pool(10)``.
    measures : str or sequence of str
        Names as in `Store.evaluate`, e.g. ``"AP,nDCG@10"``.
    queries : str
        Queries to average, as in `EvalPolicy`.

    Returns
    -------
    Scores
        Values as float64 [measure, query, system].

    Raises
    ------
    MeasureError
        If a measure is unknown.
    UsageError
        If a measure reads arrays that the view does not have.

    Examples
    --------
    >>> ranks, grades = np.array([[1, 2], [2, 3], [3, 1]]), np.array([1, 1, 0])
    >>> view = irmeta.JudgedRanks.from_arrays(ranks, grades, systems=["best", "worse"])
    >>> irmeta.scores_of(view, "AP").means().select("system", "value").rows()
    [('best', 1.0), ('worse', 0.5833333333333333)]
    """
    policy = EvalPolicy(queries=queries, negative=view.negative)
    return evaluate_block(view, parse_measures(measures), policy)


def evaluate_block(view: JudgedRanks, specs: Sequence[Spec], policy: EvalPolicy) -> Scores:
    """Compute the values of `specs` for one block."""
    values = np.empty((len(specs), *view.lengths.shape))
    views = SeenViews(view)
    for indices in _by_call(specs):
        check_stopped()
        first = specs[indices[0]]
        cutoffs = list(dict.fromkeys(specs[i].cutoff for i in indices))
        by_cutoff = first.compute(views.of(first, cutoffs), cutoffs)
        values[indices] = by_cutoff[[cutoffs.index(specs[i].cutoff) for i in indices]]
    return Scores(
        track=view.facts.track,
        measures=tuple(spec.name for spec in specs),
        queries=view.queries,
        systems=view.systems,
        values=values,
        included=np.stack([included(views.judged_for(spec), spec.rel, policy) for spec in specs]),
        no_list=view.lengths == 0,
        lists_without_nonrelevant={
            s.name: _lists_without_nonrelevant(views.of(s, [s.cutoff]), s)
            for s in specs
            if s.measure.counts_irrelevant
        },
        directions={spec.name: spec.measure.direction for spec in specs},
        averages={s.name: s.average for s in specs if s.average != "arithmetic"},
        difficulty=_difficulty(view) if any(s.average == "difficulty" for s in specs) else None,
        asked={spec.name: spec.names for spec in specs if spec.names != (spec.name,)},
        qrels=view.facts.qrels,
        judgments=np.stack([np.diff(view.offsets), view.counts(view.facts.rel)], axis=1),
    )


class SeenViews:
    """A block under each measure's qrels set and treatment of unjudged docs."""

    def __init__(self, view: JudgedRanks) -> None:
        self._view = view
        # The last view with assumed docs, which measures one after another share. It is large.
        self._assumed: tuple[tuple[bool, int, str], JudgedRanks] | None = None

    def judged_for(self, spec: Spec) -> JudgedRanks:
        """Return the block under the qrels set that a measure reads."""
        return self._view.by_subtopic() if "subtopics" in needs_of([spec]) else self._view

    def of(self, spec: Spec, cutoffs: Cutoffs) -> JudgedRanks:
        """Return the block that a measure is computed on."""
        view = self.judged_for(spec)
        if spec.unjudged == "nonrelevant":
            return view
        if spec.unjudged == "upper-gmax" and spec.rel > view.facts.highest_grade:
            return view  # docs of the highest grade are not relevant to the measure
        if spec.unjudged == "condensed":
            # A copy of the view with other arrays shares what was cached of the view.
            source, condensed = view.cached("condensed", lambda: (ref(view), view.condense()))
            return condensed if source() is view else view.condense()
        deepest = view.facts.deepest_rank
        if spec.measure.cutoff_is == "rank" and None not in cutoffs:
            deepest = min(deepest, max(cutoffs))
        gain = ASSUMED_GAINS[spec.unjudged]
        key = view is self._view, deepest, gain
        if self._assumed is None or self._assumed[0] != key:
            self._assumed = key, view.assume_relevant(deepest, gain)
        return self._assumed[1]


def seen_by(view: JudgedRanks, spec: Spec) -> JudgedRanks:
    """Return the block that one measure is computed on."""
    return SeenViews(view).of(spec, [spec.cutoff])


def reads_gained_only(spec: Spec) -> bool:
    """Check whether values depend on docs of a grade above 0 alone, of the judged docs."""
    kind = spec.settings.get("gain", "grade")  # gains by grade may give one to grade 0
    is_plain = spec.unjudged == "nonrelevant" and kind in GAINS and not spec.needs
    return spec.measure.gained_only and is_plain


ASSUMED_GAINS = {"upper": "one", "upper-gmax": "gmax"}


def _difficulty(view: JudgedRanks) -> np.ndarray:
    """Compute 1 - the mean AP of all systems, by query (Mizzaro 2008): float64 [query]."""
    return 1.0 - AP.compute(view.of_all_systems, {"rel": 1, "norm": "all"}, [None])[0].mean(axis=1)


def _by_call(specs: Sequence[Spec]) -> list[list[int]]:
    """Group the indices of specs that differ only in cutoff and average, for one call each."""
    calls: dict[tuple[object, ...], list[int]] = {}
    for index, spec in enumerate(specs):
        params = tuple((name, value) for name, value in spec.params if name != "average")
        calls.setdefault((spec.measure.name, params), []).append(index)
    return list(calls.values())


def included(view: JudgedRanks, rel: float, policy: EvalPolicy) -> np.ndarray:
    """Return which values of a measure with this `rel` a policy averages: bool [query, system].

    `view` is the block under the qrels set that the measure reads.
    """
    if policy.queries == "retrieved":
        is_asked = view.lengths > 0
    elif policy.queries == "relevant":
        is_asked = view.counts(rel)[:, None] > 0
    else:
        is_asked = np.ones((1, 1), bool)
    in_qrels = True if view.in_qrels is None else view.in_qrels[:, None]
    return np.broadcast_to(is_asked & in_qrels, view.lengths.shape)


def _lists_without_nonrelevant(view: JudgedRanks, spec: Spec) -> np.ndarray:
    return (view.lengths > 0) & (irrelevant_retrieved(view, spec.rel) == 0)


def score_rankings(space: RankingSpace, specs: Sequence[Spec]) -> np.ndarray:
    """Compute measures for all rankings: float64 [measures, rankings]."""
    check_alone(specs)
    policy, values = EvalPolicy(), np.empty((len(specs), space.count))
    for numbers in reported(space.chunks(), space.chunk_count, "parts of all rankings"):
        # AvgSL and TSL count the docs that any system retrieves.
        view = space.view(np.concatenate([numbers, space.longest]))
        values[:, numbers] = evaluate_block(view, specs, policy).values[:, 0, : len(numbers)]
    return values


def check_alone(specs: Sequence[Spec]) -> None:
    """Check that measures have a value for a ranking alone."""
    for spec in specs:
        if (why := dependence(spec)) is not None:
            raise UsageError(f"{spec.name} {why}: it has no value for a ranking alone.")


def dependence(spec: Spec) -> str | None:
    """Return how a value depends on the lists of other systems; None for a value of one list."""
    if "pool" in needs_of([spec]):
        return "reads the pool that the systems make"
    if "counted" in spec.settings:
        return "counts the systems that retrieve a doc"
    return None


def oriented(values: np.ndarray, specs: Sequence[Spec]) -> np.ndarray:
    """Return the values with the sign of measures of which less is better turned."""
    signs = np.array([spec.measure.direction for spec in specs])
    return values if (signs == 1).all() else values * signs[:, None]


def rank_cutoff(spec: Spec) -> int | None:
    """Return the rank below which a measure reads no doc; None without one."""
    is_rank = spec.measure.cutoff_is == "rank" and not spec.measure.cutoff_prefix
    return int(spec.cutoff) if is_rank and spec.cutoff is not None else None
