"""`ComparedTrack`: the preferences and measures of a track, from one pass over its blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import parse_measures
from irmeta.preferences.evaluate import check_queries, compare_block, join_blocks
from irmeta.preferences.registry import parse_preferences
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.needs import needs_of
from irmeta.rankings.track_facts import TrackFacts
from irmeta.results.matrix import Matrix
from irmeta.results.scores import Scores
from irmeta.results.verdicts import TrackPreferences
from irmeta.studies.framework.saturation import Saturation, total_saturation
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.preference.options import PreferenceOptions as Options


@dataclass(frozen=True)
class ComparedTrack:
    """Preferences and measures of all systems of one track.

    Attributes
    ----------
    views
        The blocks of the track.
    preferences
        Preferences by canonical name; those by subtopic only where the track has subtopics.
    scores
        Values of the measures.
    subtopic_qrels
        The qrels set with subtopics; empty if there is none.
    """

    facts: TrackFacts
    views: list[JudgedRanks]
    preferences: dict[str, TrackPreferences]
    scores: Scores
    subtopic_qrels: str

    @classmethod
    def of(cls, track: TrackView, options: Options) -> ComparedTrack:
        """Read a track once, and compare its systems."""
        check_queries(options.policy)
        by_subtopic = subtopic_sets_of(track)
        names = (*options.preferences, *options.interleavings)
        specs = parse_preferences([*names, *(options.subtopic_preferences if by_subtopic else ())])
        scored = options.scored() if by_subtopic else (*options.measures, options.search_length)
        measures = parse_measures(scored)
        views = list(track.blocks(needs_of([*measures, *specs])))
        compared = [(view.queries, compare_block(view, specs)) for view in views]
        scores = [evaluate_block(view, measures, options.policy) for view in views]
        chosen = track.facts.qrels if track.facts.qrels in by_subtopic else ""
        return cls(
            track.facts,
            views,
            {one.name: one for one in join_blocks(track.facts, specs, compared)},
            Scores.concat(scores),
            chosen or (by_subtopic[0] if by_subtopic else ""),
        )

    @cached_property
    def rates(self) -> dict[str, Matrix]:
        """Win rates by preference, for the queries with a preference."""
        return {name: one.win_rates().complete() for name, one in self.preferences.items()}

    def matrix(self, measure: str) -> Matrix:
        """Return the values of a measure on the queries with a relevant doc."""
        matrix = self.scores.matrix(measure)
        return matrix.only_queries(np.flatnonzero(self.is_relevant))

    @cached_property
    def is_relevant(self) -> np.ndarray:
        """Whether each judged query has a relevant doc: bool [query]."""
        return next(iter(self.preferences.values())).defined

    def saturation(self, rel: int) -> Saturation:
        """Count the lists, and those that hold no doc that is not relevant."""
        return total_saturation(Saturation.of(view, rel) for view in self.views)

    def parts(self, options: Options) -> dict[str, tuple[str, ...]]:
        """Return the methods of Tables 2 to 4 by part: single, and subtopic where there are any."""
        parts = {"single": options.compared}
        if self.subtopic_qrels:
            parts["subtopic"] = options.by_subtopic
        return parts


def subtopic_sets_of(track: TrackView) -> list[str]:
    """Return the names of the qrels sets with subtopics, in their order."""
    return [one["name"] for one in track.record["qrels"] if one["subtopics"]]
