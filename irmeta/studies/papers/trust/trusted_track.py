"""`TrustedTrack`: blocks, measures and scores of a track, each computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import Spec, parse_measures
from irmeta.preferences.evaluate import compare_block, join_blocks
from irmeta.preferences.registry import PreferenceSpec
from irmeta.rankings.derive.fewer_judgments import drop_relevant_shares
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.needs import Need, needs_of
from irmeta.rankings.pool import comprehensive_depth
from irmeta.results.matrix import Matrix
from irmeta.results.scores import Scores
from irmeta.stats.orders import kendall_tau_b, over_common, round_means
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.trust.options import (
    BY_SUBTOPIC,
    CONCLUDED,
    DROPPED,
    SUBTOPIC_PREFERENCES,
    TrustOptions,
    checked_measures,
    checked_preferences,
)

SAMPLED = ("infAP",)
LEAST_DEPTH = 5
"""Depth of the pool below which contributors cannot be told from their judgments."""


@dataclass(frozen=True)
class TrustedTrack:
    """A track under its evaluation policy.

    Attributes
    ----------
    views
        All blocks of the track, with the pool.
    specs, preferred
        The measures and preferences, with the relevant grade of the qrels set.
    concluded
        Names of the measures whose conclusions are checked.
    checks
        Names of the measures that check them.
    """

    track: TrackView
    options: TrustOptions
    views: Sequence[JudgedRanks]
    specs: Sequence[Spec]
    preferred: Sequence[PreferenceSpec]
    concluded: Sequence[str]
    checks: Sequence[str]

    @classmethod
    def of(cls, track: TrackView, options: TrustOptions) -> TrustedTrack:
        """Read the blocks of a track, with what its measures need."""
        names, compared = list(options.scored()), options.preferred()
        if not options.measures:
            if track.is_sampled:
                names += checked_measures(SAMPLED)
            if any(one["subtopics"] for one in track.record["qrels"]):
                names += checked_measures(BY_SUBTOPIC)
                compared += checked_preferences(SUBTOPIC_PREFERENCES)
        preferred = track.preferences_in_set(compared)
        named = track.named_in_set(parse_measures(names))
        in_set = {name: spec.name for name, spec in zip(names, named, strict=True)}
        specs = list({spec.name: spec for spec in named}.values())
        needs: set[Need] = {"pool", *needs_of([*specs, *preferred])}
        views = list(track.blocks(needs))
        concluded = options.concluded_of(names)
        usual = [name for name in checked_measures(CONCLUDED) if name in in_set]
        own, checks = (
            tuple(dict.fromkeys(in_set[name] for name in some))
            for some in (concluded, (*concluded, *usual))
        )
        return cls(track, options, views, specs, preferred, own, checks)

    def scored(self, views: Sequence[JudgedRanks]) -> Scores:
        """Score all measures and preferences by changed blocks."""
        return Scores.concat([self.scored_block(view) for view in views])

    def scored_block(self, view: JudgedRanks) -> Scores:
        """Score all measures by a block; then the win rates of the preferences."""
        scores = evaluate_block(view, self.specs, self.options.policy)
        return _with_values(scores, self.rates([view], self.preferred))

    def rates(
        self, views: Sequence[JudgedRanks], preferences: Sequence[PreferenceSpec]
    ) -> list[Matrix]:
        """Return the win rates of blocks by each preference, from -1 to 1."""
        blocks = [(view.queries, compare_block(view, preferences)) for view in views]
        return [one.win_rates() for one in join_blocks(views[0].facts, preferences, blocks)]

    def set_scores(self, **policy: Any) -> Scores:
        """Score all measures and preferences of the track under another policy."""
        rates = [self.track.win_rates(spec.name, **policy) for spec in self.preferred]
        names = [spec.name for spec in self.specs]
        return _with_values(self.track.scores(names, **policy), rates)

    @cached_property
    def scores(self) -> Scores:
        """Values of all systems by all measures."""
        return self.scored(self.views)

    @cached_property
    def matrices(self) -> dict[str, Matrix]:
        """Values by query and system, by measure."""
        return {name: self.scores.matrix(name) for name in self.scores.measures}

    @cached_property
    def dropped(self) -> dict[float, Scores]:
        """Values with some of the relevant docs unjudged, by the share that is."""
        rel, seed = self.views[0].facts.rel, self.options.seed
        found = [drop_relevant_shares(view, DROPPED, rel=rel, rng=seed) for view in self.views]
        return {share: self.scored([one[i] for one in found]) for i, share in enumerate(DROPPED)}

    @cached_property
    def other_sets(self) -> dict[str, Scores]:
        """Values by every other qrels set without subtopics, in the order of `scores`."""
        own = self.views[0].facts.qrels
        sets = [one["name"] for one in self.track.record["qrels"] if not one["subtopics"]]
        return {name: self.set_scores(qrels=name) for name in sets if name != own}

    @cached_property
    def complete_depth(self) -> int | None:
        """Depth to which the pool is complete: see `comprehensive_depth`."""
        return comprehensive_depth(self.views)

    @property
    def half_depth(self) -> int:
        """Half the depth of the pool; 0: the pool is too shallow."""
        depth = self.views[0].facts.pool_depth or self.complete_depth
        if depth is None:
            depth = max(int(view.facts.deepest_rank) for view in self.views)
        return depth // 2

    @property
    def knows_contributors(self) -> bool:
        """Whether the pool is so deep that contributors can be told from their judgments."""
        complete = self.complete_depth
        return bool(self.views[0].facts.pool_depth) or complete is None or complete >= LEAST_DEPTH

    @property
    def unchecked(self) -> str:
        """What the pool is too shallow for; empty: nothing."""
        found = [] if self.knows_contributors else ["leave contributors out"]
        found += [] if self.half_depth else ["halve"]
        depth = self.views[0].facts.pool_depth or self.complete_depth
        is_to = f", complete to depth {depth}," if depth is not None else ""
        return f"the pool{is_to} is too shallow to {' or '.join(found)}" if found else ""

    @cached_property
    def shallower(self) -> tuple[int, Scores] | None:
        """Half the depth of the pool, and values by it; None for a pool too shallow to halve."""
        half = self.half_depth
        return (half, self.scored([view.with_pool(half) for view in self.views])) if half else None

    def orders(self, scores: Scores) -> np.ndarray:
        """Return means, rounded, greater is better: float64 [measure, system]."""
        signs = [scores.directions[name] for name in scores.measures]
        means = [
            sign * round_means(row) for sign, row in zip(signs, scores.mean_values(), strict=True)
        ]
        return np.array(means)

    def taus(self, scores: Scores) -> dict[str, float]:
        """Correlate the orders by changed scores with those by all judgments: tau-b by measure."""
        rows = over_common(kendall_tau_b, self.orders(self.scores), self.orders(scores), True)
        return dict(zip(scores.measures, rows.tolist(), strict=True))


def _with_values(scores: Scores, added: Sequence[Matrix]) -> Scores:
    """Return scores with the values of further measures, NaN on queries that they lack."""
    if not added:
        return scores
    values = np.full((len(added), *scores.values.shape[1:]), np.nan)
    for row, matrix in zip(values, added, strict=True):
        of_query = dict(zip(matrix.queries, matrix.values, strict=True))
        for i, query in enumerate(scores.queries):
            row[i] = of_query.get(query, np.nan)
    return replace(
        scores,
        measures=(*scores.measures, *(matrix.measure for matrix in added)),
        values=np.concatenate([scores.values, values]),
        included=np.concatenate([scores.included, ~np.isnan(values)]),
        directions={**scores.directions, **{matrix.measure: 1 for matrix in added}},
    )
