"""`TrackView`: the interface of a study to one track of a store; its best and median systems."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import polars as pl

from irmeta.equality import TIE
from irmeta.errors import SegmentWarning, warn
from irmeta.measures.evaluate import LEAST_RELEVANT, evaluate, evaluate_block, relevant_in_set
from irmeta.measures.names import Spec, parse_measures
from irmeta.measures.search_length import irrelevant_retrieved
from irmeta.policies import EvalPolicy, TieOrder, TrackOptions
from irmeta.preferences.evaluate import evaluate_preferences, relevant_preferences
from irmeta.preferences.registry import PreferenceSpec, parse_preferences
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.judgments import read_judged
from irmeta.rankings.load import judged_ranks, judged_under, over_blocks
from irmeta.rankings.track import Track
from irmeta.rankings.track_facts import TrackFacts
from irmeta.rankings.view import Need, needs_of
from irmeta.results.averages import mean_over_queries
from irmeta.results.factors import Variants, beside_runs
from irmeta.results.matrix import Matrix
from irmeta.results.scores import Scores
from irmeta.stats.orders import round_means
from irmeta.stats.permutation_bootstrap import bootstrap
from irmeta.store.derived_tracks import AddedSets
from irmeta.store.scan import track_notes

Result = TypeVar("Result")
SIDE_FACTS = ("group", "type", "pooled")
"""Facts of systems by which a side of a comparison is named: see `systems_of`."""
SIDE_ROLES = ("best", "median")


class Saturation(NamedTuple):
    """Numbers of lists for queries with a relevant doc."""

    saturated: int  # lists without a doc that is not relevant
    lists: int  # all lists

    @classmethod
    def of(cls, view: JudgedRanks, rel: int) -> Saturation:
        """Count the lists of one block."""
        has_list = (view.lengths > 0) & (view.counts(rel) > 0)[:, None]
        is_saturated = has_list & (irrelevant_retrieved(view, rel) == 0)
        return cls(int(np.count_nonzero(is_saturated)), int(np.count_nonzero(has_list)))

    @property
    def share(self) -> float:
        """Share of the lists that are saturated; NaN: there is no list."""
        return self.saturated / self.lists if self.lists else math.nan

    @property
    def is_most(self) -> bool:
        """Whether most lists are saturated, so that the ranks of relevant docs say nothing."""
        return self.share > 0.5

    def reason(self, consequence: str) -> str:
        """Return why a track is excluded."""
        return (
            f"{self.saturated:,} of {self.lists:,} lists hold no doc that is not relevant, so "
            f"{consequence}"
        )


def total_saturation(blocks: Iterable[Saturation]) -> Saturation:
    """Add the counts of the blocks of a track."""
    counts = list(blocks)
    return Saturation(sum(c.saturated for c in counts), sum(c.lists for c in counts))


class TrackView:
    """One track of a store, under the evaluation policy of a study's options.

    Parameters
    ----------
    workers, executor
        Workers of `map_blocks`: see `irmeta.rankings.load.over_blocks`.

    Attributes
    ----------
    name
        The track's name.
    rel
        The least relevant grade by which `studied` counts; None: that of the options, or 1.
    saturation
        Numbers of lists, and of those without a doc that is not relevant; None: not counted.
    scored
        Scores of all systems by the measures of the study, if it has them; see `values`.
    """

    def __init__(
        self,
        track: Track,
        options: TrackOptions,
        workers: int | None = 1,
        executor: Executor | None = None,
    ) -> None:
        self.name: str = track.name
        self.rel: float | None = None
        self._track, self._options = track.under(options.policy), options
        self._workers, self._executor = workers, executor
        self.saturation: Saturation | None = None
        self.scored: Scores | None = None
        self._reason: str | None = None
        self._notes: list[str] = []

    @property
    def policy(self) -> EvalPolicy:
        """The evaluation policy."""
        return self._options.policy

    @property
    def facts(self) -> TrackFacts:
        """Names of the systems, deepest rank, highest grade, and how the runs were read."""
        return self._track.facts

    @property
    def record(self) -> Mapping[str, Any]:
        """The track's record in the store."""
        return self._track.stored.record

    @property
    def other_sets(self) -> list[str]:
        """The names of the qrels sets beside the chosen one."""
        sets = (qrels["name"] for qrels in self.record["qrels"])
        return [name for name in sets if name != self.facts.qrels]

    @property
    def judges(self) -> pl.DataFrame:
        """The columns of the track's ``judges.csv``: name, column and value; empty without one."""
        return beside_runs(self._track.stored.store, self.name, "judge")

    @property
    def systems(self) -> pl.DataFrame:
        """The table `systems` of the selected systems, skipped runs included."""
        is_selected = pl.col("system").is_in(list(self._track.systems))
        is_skipped = pl.col("skip_reason").is_not_null()
        return self._track.systems_table.filter(is_selected | is_skipped)

    def _under(self, policy: Mapping[str, Any]) -> Track:
        """Return the track with some fields of its policy changed."""
        changed = {"overlay": (), **policy} if "qrels" in policy else policy
        return self._track.under(replace(self.policy, **changed))

    def blocks(
        self, needs: Collection[Need] = (), max_rows: int | None = None, **policy: Any
    ) -> Iterator[JudgedRanks]:
        """Yield the arrays of the track, one block of queries at a time.

        Parameters
        ----------
        needs
            Arrays that only some measures read: see `JudgedRanks`.
        max_rows
            Rows of a block; default as many as the store prefers.
        **policy
            Fields of `EvalPolicy` to change, e.g. ``qrels="diversity"`` for another qrels set.
        """
        return judged_ranks(self._under(policy), max_rows, needs)

    def blocks_under(
        self, needs: Mapping[TieOrder, Collection[Need]], max_rows: int | None = None
    ) -> Iterator[dict[TieOrder, JudgedRanks]]:
        """Yield each block of queries under several tie orders, of the lists and of the pool.

        Parameters
        ----------
        needs
            The needs of each order: see `blocks`.
        max_rows
            Rows of a block; default as many as the store prefers.

        Raises
        ------
        UsageError
            If the lists were cut at reading under another order.
        """
        policies = [replace(self.policy, tie_order=order, pool_order=order) for order in needs]
        asked = list(zip(policies, needs.values(), strict=True))
        for views in judged_under(self._track, asked, max_rows):
            yield dict(zip(needs, views, strict=True))

    def map_blocks(
        self, function: Callable[[JudgedRanks], Result], specs: Sequence[Spec]
    ) -> Iterator[Result]:
        """Yield the result of a function for each block, in order.

        The blocks, which have all arrays that the measures read, are the same for any workers.

        Parameters
        ----------
        function
            Picklable function, such as a partial of a function of a module; its results are
            picklable too. Other processes call it if `Study.splits_tracks`.
        """
        return over_blocks(
            function,
            self._track,
            needs_of(specs),
            workers=self._workers,
            executor=self._executor,
            max_rows=self._track.stored.store.block_rows,
        )

    def scores(self, measures: str | Sequence[str], **policy: Any) -> Scores:
        """Compute measures of the whole track."""
        return evaluate(self._under(policy), parse_measures(measures))

    def win_rates(self, preference: str, **policy: Any) -> Matrix:
        """Compute the win rates [query, system] of a preference; NaN: no relevant doc."""
        (preferences,) = evaluate_preferences(self._under(policy), parse_preferences(preference))
        return preferences.win_rates()

    def labels(self, qrels: str) -> pl.DataFrame:
        """Return the judgments of a qrels set without subtopics: query, doc, grade (Float64)."""
        docs = read_judged(self._track.stored, self._track.facts_of(qrels)).docs
        return docs.select("query", "doc", pl.col("grade").cast(pl.Float64))

    def stated_rel(self, qrels: str) -> float:
        """Return the least relevant grade that the collection states for a qrels set, or 1."""
        return self._track.under(EvalPolicy(qrels=(qrels,))).facts.rel

    def with_sets(self, sets: Mapping[str, pl.DataFrame], rels: Mapping[str, float]) -> TrackView:
        """Return the track with further qrels sets: see `irmeta.store.derived_tracks.AddedSets`."""
        view = TrackView(Track(AddedSets(self._track.stored, sets, rels)), self._options)
        view._notes = self._notes  # those of the same track
        return view

    def named_in_set(self, specs: Sequence[Spec], **policy: Any) -> list[Spec]:
        """Return measures with the `rel` of the qrels set, where their names state none."""
        return relevant_in_set(self._under(policy), specs)

    def preferences_in_set(self, preferences: Sequence[str], **policy: Any) -> list[PreferenceSpec]:
        """Return preferences with the `rel` of the qrels set, where their names state none."""
        specs = parse_preferences(preferences) if preferences else []
        return relevant_preferences(self._under(policy), specs)

    @property
    def is_sampled(self) -> bool:
        """Whether the judgments are a sample of the pool: prels, or input of sample_eval."""
        return self.facts.sampled is not None

    def rows(self, columns: Sequence[str]) -> pl.LazyFrame:
        """Return columns of the long table, for the queries that the qrels set judges."""
        queries = read_judged(self._track.stored, self.facts).queries
        rows = self._track.stored.table("runs", pl.col("query").is_in(queries))
        return rows.select(columns)

    def leave_out(self, reason: str) -> None:
        """Exclude the track from results over tracks; only the first reason is recorded."""
        self._reason = self._reason or reason

    def note(self, text: str) -> None:
        """Add a note on the track: a sentence without a full stop."""
        self._notes.append(text)

    def note_variants(self) -> None:
        """Add a note, and warn, where queries are variants that the study counts as queries."""
        if (text := Variants.note(self._track)) is not None:
            self.note(text)
            warn(f"track {self.name}: {text}.", SegmentWarning)

    @property
    def _stated_rel(self) -> float | None:
        """The least relevant grade that the study or its options state."""
        declared: Any = self._options.rel  # a number in studies that declare their own
        return declared if self.rel is None and not isinstance(declared, tuple) else self.rel

    def values(self) -> list[Matrix]:
        """Return the values of all systems by each measure of the study; a study may have none."""
        if self.scored is None:
            if not self._options.scored():
                return []
            view = self
            if self._stated_rel is not None:
                view = copy(self)
                view._track = self._under({"rel": (f"{self._stated_rel:g}",)})
            specs = [
                replace(spec, preset=True)
                for spec in parse_measures(self._options.scored())
                if self._track.has_subtopics or "subtopics" not in needs_of([spec])
            ]
            specs = relevant_in_set(view._track, specs)
            evaluated = partial(evaluate_block, specs=specs, policy=view._track.policy)
            self.scored = Scores.concat(list(view.map_blocks(evaluated, specs)))
        return list(map(self.scored.matrix, self.scored.measures))

    def studied(self) -> dict[str, Any]:
        """Return the track's row of the table `studied_tracks`."""
        judged = read_judged(self._track.stored, self.facts).docs
        rel = self._stated_rel
        if rel is None:
            rel = self.facts.rel if self._options.rel else 1
        relevant = judged.filter(pl.col("grade") >= rel)
        systems, least = len(self.facts.systems), self._options.min_systems
        with_relevant, queries = relevant["query"].n_unique(), judged["query"].n_unique()
        if self.facts.levels is not None and with_relevant < LEAST_RELEVANT * queries:
            self._reason = (  # a study may have seen no relevant docs, which this explains
                f"{with_relevant:,} of {queries:,} judged queries have a doc of grade {rel:g} or "
                "above among decimal grades: name the least relevant grade by `rel=`"
            )
        if systems < least:
            available = "1 system" if systems == 1 else f"{systems} systems"
            self.leave_out(f"{available}, fewer than the minimum of {least}")
        notes = [n for n in (track_notes(self.record), *self._notes) if n]
        return {
            "track": self.name,
            "systems": systems,
            "queries": with_relevant,
            "relevant": relevant.height,
            "deepest_rank": self.facts.deepest_rank,
            "highest_grade": self.facts.highest_grade,
            "used": self._reason is None,
            "left_out": self._reason,
            "notes": "; ".join(notes) or None,
            "saturated": self.saturation and self.saturation.share,
            "not_compared": None,  # options of running the study say how many systems are few
        }


@dataclass(frozen=True)
class StudiedTrack:
    """A track that a study has read, under the evaluation policy of its options."""

    facts: TrackFacts
    # all blocks of the track: reading them takes longer than computing
    views: Sequence[JudgedRanks]
    options: TrackOptions

    def saturation(self, rel: int) -> Saturation:
        """Count the lists, and those that hold no doc that is not relevant."""
        return total_saturation(Saturation.of(view, rel) for view in self.views)

    def evaluate(self, specs: Sequence[Spec], views: Iterable[JudgedRanks] | None = None) -> Scores:
        """Score all systems by the blocks of the track, or by changed blocks."""
        policy, blocks = self.options.policy, self.views if views is None else views
        return Scores.concat([evaluate_block(view, specs, policy) for view in blocks])


def systems_of(side: str, systems: pl.DataFrame, median: str | None) -> Collection[str]:
    """Return the candidate systems of a side on one track, from the table `systems`.

    `side` is ``best``, ``median``, ``COLUMN=VALUE`` of the system facts, or a system.
    """
    known = systems.filter(pl.col("skip_reason").is_null())
    candidates = known["system"].drop_nulls().to_list()
    column, is_group, value = side.partition("=")
    if side == "best":
        return candidates
    if side == "median":
        return [median] if median is not None else []
    if side in candidates:
        return [side]
    if not is_group:
        return []
    return known.filter(pl.col(column).cast(pl.String) == value)["system"].to_list()


def systems_in_order(scores: Scores, measure: str) -> list[str]:
    """Return the systems with a mean, best first; means equal to 12 digits tie, sorted by name."""
    values = scores.mean_values()[scores.measures.index(measure)] * scores.directions[measure]
    pairs = zip((-round_means(values)).tolist(), scores.systems, strict=True)
    return [system for _, system in sorted(p for p in pairs if not np.isnan(p[0]))]


def best_system(scores: Scores, measure: str, among: Collection[str] | None = None) -> str | None:
    """Return the system with the best mean, the first by name among ties; None without means."""
    chosen = [s for s in systems_in_order(scores, measure) if among is None or s in among]
    return chosen[0] if chosen else None


def median_system(scores: Scores, measure: str) -> str | None:
    """Return the middle system, or the better of the two middle systems."""
    order = systems_in_order(scores, measure)
    return order[(len(order) - 1) // 2] if order else None


class Missed(Mapping[str, float]):
    """The share of the relevant docs that each system does not retrieve, and the median share.

    A search length that counts missed docs as cheap (Eq. 3 of Alex, Hall and Metzler 2022) may
    favour short lists. A best system is therefore marked if it misses more than the median system.
    """

    def __init__(self, systems: Collection[str], shares: np.ndarray) -> None:
        self._shares = dict(zip(systems, shares.tolist(), strict=True))
        self.median: float = float(np.median(shares))

    def __getitem__(self, system: str) -> float:
        return self._shares[system]

    def __iter__(self) -> Iterator[str]:
        return iter(self._shares)

    def __len__(self) -> int:
        return len(self._shares)

    def is_short(self, system: str) -> bool:
        """Check whether a system misses more relevant docs than the median system."""
        return self[system] > self.median + TIE

    def row(self, system: str) -> dict[str, float | bool]:
        """Return the columns missed, median_missed and short of a system."""
        short = self.is_short(system)
        return {"missed": self[system], "median_missed": self.median, "short": short}


def mean_difference(
    values: np.ndarray, resamples: int, seed: int, confidence: float
) -> dict[str, float | int]:
    """Return difference, low, high (NaN for one query) and queries of values [query, 2].

    The bootstrap interval is over queries without a NaN. All pairs of one track share their
    resampled queries, so that equal pairs have equal intervals.
    """
    _, low, high = bootstrap(values, resamples, seed, confidence)
    difference = values[:, 0] - values[:, 1]
    return {
        "difference": float(mean_over_queries(difference[:, None])[0]),
        "low": float(low[0, 1]),
        "high": float(high[0, 1]),
        "queries": int((~np.isnan(difference)).sum()),
    }
