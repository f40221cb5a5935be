"""`TrustedTrack`: blocks, measures and scores of a track, each computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import Spec, parse_measures
from irmeta.preferences.evaluate import compare_block, join_blocks
from irmeta.preferences.registry import PreferenceSpec
from irmeta.progress import reported
from irmeta.rankings.completeness import comprehensive_depth, evident_depth, judged_by_rank
from irmeta.rankings.derive.drop import drop_relevant_shares
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.view import Need, needs_of
from irmeta.results.matrix import Matrix
from irmeta.results.scores import Scores
from irmeta.stats.orders import kendall_tau_b, over_common, round_means
from irmeta.studies.framework.track_view import StudiedTrack, TrackView
from irmeta.studies.original.trust.study import (
    BY_SUBTOPIC,
    CONCLUDED,
    DRAWS,
    DROPPED,
    FEW_DRAWS,
    SUBTOPIC_PREFERENCES,
    TrustOptions,
    checked_measures,
    checked_preferences,
)
from irmeta.studies.papers.depth.pool import LEAST_USEFUL, complete_to
from irmeta.studies.papers.depth.study import LEAST_JUDGED

SAMPLED = ("infAP",)


class Draws(NamedTuple):
    """Draws of changed judgments."""

    taus: list[dict[str, float]]  # tau-b with the order by all judgments, by measure, of each draw
    matrices: list[dict[str, Matrix]]  # values by concluded measure, of each draw


@dataclass(frozen=True)
class TrustedTrack(StudiedTrack):
    """A track under its evaluation policy."""

    options: TrustOptions
    track: TrackView
    # measure by name as in the options: with the relevant grade of the qrels set
    in_set: dict[str, Spec]
    preferred: dict[str, PreferenceSpec]  # preferences, by name as in the options
    concluded: Sequence[str]  # names of the measures whose conclusions are checked
    checks: Sequence[str]  # names of the measures that check them
    # depth of the pool: stated, to which it is complete, or estimated as in `study depth`. None:
    # no doc of the contributing lists is unjudged.
    complete_depth: int | None

    @classmethod
    def of(cls, track: TrackView, options: TrustOptions) -> TrustedTrack:
        """Read the blocks of a track, with what its measures need."""
        measures, preferences = list(options.scored()), options.preferred()
        if not options.measures:
            if track.is_sampled:
                measures += checked_measures(SAMPLED)
            if any(qrels["subtopics"] for qrels in track.record["qrels"]):
                measures += checked_measures(BY_SUBTOPIC)
                preferences += checked_preferences(SUBTOPIC_PREFERENCES)
        if not options.measures and track.facts.levels is not None:
            specs = [replace(spec, stated=(), preset=True) for spec in parse_measures(measures)]
            defined = {name for spec in track.named_in_set(specs) for name in spec.names}
            measures = [name for name in measures if defined & set(parse_measures(name)[0].names)]
        in_set = _named(track, measures)
        preferred = {name: track.preferences_in_set([name])[0] for name in preferences}
        needs: set[Need] = {"pool", *needs_of([*in_set.values(), *preferred.values()])}
        views, depth = _with_depth(track, list(track.blocks(needs)))
        concluded = options.concluded_of(measures)
        usual = [name for name in checked_measures(CONCLUDED) if name in in_set]
        named, checks = (
            tuple(dict.fromkeys(in_set[name].name for name in chosen))
            for chosen in (concluded, (*concluded, *usual))
        )
        facts = views[0].facts
        return cls(facts, views, options, track, in_set, preferred, named, checks, depth)

    @cached_property
    def specs(self) -> list[Spec]:
        """The measures, each once: AP and AP(rel=2) may be one by the qrels set."""
        return list({spec.name: spec for spec in self.in_set.values()}.values())

    @cached_property
    def preferences(self) -> list[PreferenceSpec]:
        """The preferences, each once."""
        return list({spec.name: spec for spec in self.preferred.values()}.values())

    def scored(self, views: Sequence[JudgedRanks]) -> Scores:
        """Score all measures and preferences by changed blocks."""
        return Scores.concat([self.scored_block(view) for view in views])

    def scored_block(self, view: JudgedRanks) -> Scores:
        """Score all measures by a block; then the win rates of the preferences."""
        scores = evaluate_block(view, self.specs, self.options.policy)
        return _with_values(scores, self.rates([view], self.preferences))

    def rates(
        self, views: Sequence[JudgedRanks], preferences: Sequence[PreferenceSpec]
    ) -> list[Matrix]:
        """Return the win rates of blocks by each preference, from -1 to 1."""
        blocks = [(view.queries, compare_block(view, preferences)) for view in views]
        return [
            preferred.win_rates() for preferred in join_blocks(views[0].facts, preferences, blocks)
        ]

    def set_scores(self, qrels: str) -> Scores:
        """Score by another qrels set with its own relevant grades, under the names of `scores`."""
        named = _named(self.track, list(self.in_set), qrels=qrels)
        by_set = self.track.scores([spec.name for spec in named.values()], qrels=qrels)
        as_named = {spec.name: named[name].name for name, spec in reversed(self.in_set.items())}
        rates = {
            spec.name: self.track.win_rates(name, qrels=qrels)
            for name, spec in reversed(self.preferred.items())
        }
        at = [by_set.measures.index(as_named[spec.name]) for spec in self.specs]
        renamed = replace(
            by_set,
            measures=tuple(spec.name for spec in self.specs),
            values=by_set.values[at],
            included=by_set.included[at],
            directions={spec.name: spec.measure.direction for spec in self.specs},
        )
        preferences = [replace(rates[s.name], measure=s.name) for s in self.preferences]
        return _with_values(renamed, preferences)

    @cached_property
    def scores(self) -> Scores:
        """Values of all systems by all measures."""
        return self.scored(self.views)

    @cached_property
    def matrices(self) -> dict[str, Matrix]:
        """Values by query and system, by measure."""
        return {name: self.scores.matrix(name) for name in self.scores.measures}

    @cached_property
    def dropped(self) -> dict[float, Draws]:
        """Orders and values with some of the relevant docs unjudged, by the share that is."""
        rel, seed = self.facts.rel, self.options.seed
        draws = {share: Draws([], []) for share in DROPPED}
        for i in reported(range(DRAWS), DRAWS, "draws"):
            shares = DROPPED if i < FEW_DRAWS else DROPPED[:1]
            by_view = [
                drop_relevant_shares(view, shares, rel=rel, rng=seed + i) for view in self.views
            ]
            for share, views in zip(shares, zip(*by_view, strict=True), strict=True):
                scores = self.scored(views)
                draws[share].taus.append(self.taus(scores))
                draws[share].matrices.append({m: scores.matrix(m) for m in self.concluded})
        return draws

    def altered(self, share: float, draw: int) -> Scores:
        """Return values with a share of the labels moved by one grade."""
        seed = self.options.seed + draw
        return self.scored([view.alter_labels(share, True, rng=seed) for view in self.views])

    @cached_property
    def other_sets(self) -> dict[str, Scores]:
        """Values by every other qrels set without subtopics, under the names of `scores`."""
        reference = self.facts.qrels
        sets = [qrels["name"] for qrels in self.track.record["qrels"] if not qrels["subtopics"]]
        return {name: self.set_scores(name) for name in sets if name != reference}

    @property
    def half_depth(self) -> int:
        """Half the depth of the pool; 0: the pool is too shallow."""
        depth = self.complete_depth
        if depth is None:
            depth = max(int(view.facts.deepest_rank) for view in self.views)
        return depth // 2

    @property
    def knows_contributors(self) -> bool:
        """Whether the pool is so deep that contributors can be told from their judgments."""
        facts, complete = self.facts, self.complete_depth
        return bool(facts.pool_depth) or complete is None or complete >= LEAST_USEFUL

    @property
    def unchecked(self) -> str:
        """What the pool is too shallow for; empty: nothing."""
        impossible = [] if self.knows_contributors else ["leave contributors out"]
        impossible += [] if self.half_depth else ["halve"]
        is_to = f"the pool, complete to depth {self.complete_depth}, is too shallow"
        return f"{is_to} to {' or '.join(impossible)}" if impossible else ""

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


def _named(track: TrackView, names: Sequence[str], **policy: Any) -> dict[str, Spec]:
    """Return each measure as it is named in a qrels set."""
    return {name: track.named_in_set(parse_measures(name), **policy)[0] for name in names}


def _with_depth(track: TrackView, views: list[JudgedRanks]) -> tuple[list[JudgedRanks], int | None]:
    """Return the blocks with the depth of their pool, which is estimated where it is too small."""
    complete, stated = comprehensive_depth(views), views[0].facts.pool_depth
    if stated or complete is None or complete >= LEAST_USEFUL:
        return views, stated or complete
    estimated = evident_depth(*judged_by_rank(views), LEAST_JUDGED)
    if estimated < LEAST_USEFUL:
        return views, complete
    track.note(
        f"the depth of the pool is estimated as {estimated}: at each rank up to it, at least "
        f"{LEAST_JUDGED:.0%} of the docs of contributing lists are judged"
    )
    return [complete_to(view, estimated, complete) for view in views], estimated


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
