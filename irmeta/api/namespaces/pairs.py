"""`Store.pairs`: preferences between all pairs of systems."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import polars as pl

from irmeta.api.differences import differences
from irmeta.api.opened_store import OpenedStore
from irmeta.api.pair_explanation import PairExplanation
from irmeta.measures.evaluate import evaluate, relevant_in_set
from irmeta.measures.names import measure_texts, parse_call
from irmeta.naming import split_names
from irmeta.policies import EvalPolicy
from irmeta.policy_keywords import EvalChoices
from irmeta.preferences.evaluate import (
    evaluate_preferences,
    explain_preference,
    preference_provenance,
    relevant_preferences,
)
from irmeta.preferences.registry import is_preference, parse_preference, parse_preferences
from irmeta.results.verdicts import (
    Opponents,
    Preference,
    TrackPreferences,
    check_opponents,
    rates_of,
)
from irmeta.schema.result_tables import TIES, WIN_RATES
from irmeta.stats.rank_confidence import rank_sets
from irmeta.store.scan import Tracks, only_track, tracks_of
from irmeta.summaries import SummaryList


class StorePairs:
    """Preferences between all pairs of systems."""

    def __init__(self, store: OpenedStore) -> None:
        self._store, self._reader = store, store.reader

    def compare(
        self,
        preferences: str | Iterable[str] = "RPP",
        *,
        track: str,
        workers: int | None = None,
        **choices: Unpack[EvalChoices],
    ) -> list[TrackPreferences]:
        """Compare all pairs of systems of a track; parameters and errors as of `preferences`.

        Returns
        -------
        list of TrackPreferences
            One for each preference: `means` float64 [system, system], `win_rates` as a `Matrix`,
            `preference` for `irmeta.stats`, and others.

        Examples
        --------
        >>> (rpp,) = store.pairs.compare("RPP", track="news")
        >>> verdicts = irmeta.stats.Verdicts.of(rpp.win_rates())
        >>> irmeta.stats.borda(verdicts)["system"][0]
        'doumMan2'
        """
        specs, policy = parse_preferences(preferences), self._compared_by(choices)
        return SummaryList(evaluate_preferences(self._reader, track, specs, policy, workers))

    def preferences(
        self,
        preferences: str | Iterable[str] = "RPP",
        *,
        track: Tracks = None,
        per_query: bool = False,
        workers: int | None = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Compute the mean preference of every system over every other.

        Parameters
        ----------
        preferences : str or iterable of str, default 'RPP'
            Names (`RPP`, ``RPP(p=dcg,grades=binary)@100``, `STRPP`, `LexiRecall`, `LexiPrecision`,
            `RRLexiPrecision`, `OI`), or a comma-separated text.
        track : str or iterable of str, optional
            Only these tracks.
        per_query : bool, default False
            Return one value per query instead of means.
        workers : int, optional
            Number of threads, default the usable cores. No value depends on it.
        **choices
            Fields of `EvalPolicy`, except ``queries="retrieved"``. The `queries` of results by
            which the store was opened concern means of measures, not preferences.

        Returns
        -------
        DataFrame
            track, system, other, preference, value (from -1 to 1; above 0: `system` is better),
            queries (number in the mean); or, per query: track, system, query, other, preference,
            value. Queries without a relevant doc are left out; without any, a mean is NaN.

        Raises
        ------
        MeasureError
            If a preference is unknown.
        UsageError
            If a track or qrels set is unknown, or a track without subtopics is asked for them.

        References
        ----------
        .. [1] Diaz and Ferraro (2022). Offline retrieval evaluation without evaluation metrics.
           doi:10.1145/3477495.3532033

        Examples
        --------
        >>> found = store.pairs.preferences(["RPP", "RPP(p=dcg)"], track="news")
        >>> found.filter(system="aldBM25fb", other="aldBM25")["value"].round(3).to_list()
        [0.575, 0.563]
        """
        frames = [
            one.per_query() if per_query else one.frame()
            for found in self._compared(preferences, track, workers, choices)
            for one in found
        ]
        return pl.concat(frames)

    def win_rates(
        self,
        preferences: str | Iterable[str] = "RPP",
        *,
        track: Tracks = None,
        opponents: Opponents = "systems",
        resamples: int = 1000,
        confidence: float = 0.95,
        rng: int = 0,
        workers: int | None = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Compute the mean preference of every system over the field, and its rank.

        Parameters
        ----------
        preferences, track, workers, **choices
            See `preferences`.
        opponents : {'systems', 'groups'}, default 'systems'
            ``groups``: the systems of a group weigh together as much as one opponent.
        resamples, confidence, rng
            Bootstrap over queries of the rank sets: see `irmeta.stats.rank_sets`.

        Returns
        -------
        DataFrame
            track, system, preference, value (win rate divided by the number of other systems), rank
            (equal values share the smallest), rank_low, rank_high (the simultaneous
            rank set), queries: by track and preference, best system first. value is NaN and rank
            null without a query or without another system.

        Raises
        ------
        MeasureError
            If a preference is unknown.
        UsageError
            As `preferences`; or if `opponents` is unknown, or no group of a track is known.

        References
        ----------
        .. [1] Diaz and Ferraro (2022), Eq. 7. doi:10.1145/3477495.3532033

        Examples
        --------
        >>> found = store.pairs.win_rates("RPP", track="news")
        >>> found.select("system", "rank", "rank_low", "rank_high").row(0)
        ('doumMan2', 1, 1, 1)
        """
        check_opponents(opponents)
        frames: list[pl.DataFrame] = []
        for found in self._compared(preferences, track, workers, choices):
            for one in found:
                rates = rates_of(one, opponents)
                ranked = rank_sets(rates, resamples=resamples, confidence=confidence, rng=rng)
                rows = ranked.systems.rename({"mean": "value"}).drop("tier", "queries_to_next")
                number = pl.lit(int(one.defined.sum()), pl.Int32).alias("queries")
                named = rows.with_columns(number, preference=pl.lit(one.name))
                frames.append(WIN_RATES.frame(named, one.track))
        return pl.concat(frames)

    def ties(
        self,
        names: str | Iterable[str] = ("RPP", "AP", "RR"),
        *,
        track: Tracks = None,
        workers: int | None = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Count the ties of preferences and measures between systems, over pairs and queries.

        A tie tells nothing about two systems: the fewer ties, the more a measure learns from the
        same judgments.

        Parameters
        ----------
        names : str or iterable of str, default ('RPP', 'AP', 'RR')
            Names of preferences and measures, or a comma-separated text.
        track, workers, **choices
            See `preferences`.

        Returns
        -------
        DataFrame
            track, measure, points (pairs of systems on queries with values), tied (share of the
            points), and for `RPP` and `STRPP` levels (recall levels of all points), retrieved
            (share that either list reaches), decided (share with different ranks), else null.

        Raises
        ------
        MeasureError, UsageError
            As `preferences` and `Store.evaluate`.

        References
        ----------
        .. [1] Diaz and Ferraro (2022), Section 4.1, label efficiency. doi:10.1145/3477495.3532033

        Examples
        --------
        >>> store.pairs.ties("RPP,RR", track="news")["tied"].round(3).to_list()
        [0.017, 0.548]
        """
        texts = [name for text in measure_texts(names) for name in split_names(text)]
        rows: list[dict[str, Any]] = []
        for name in tracks_of(self._reader, track):
            for text in texts:
                rows += self._tied(name, text, workers, choices)
        return TIES.frame(rows)

    def _tied(
        self, track: str, text: str, workers: int | None, choices: EvalChoices
    ) -> Iterable[dict[str, Any]]:
        """Yield the rows of `ties` of one preference or measure."""
        sources: list[tuple[Preference, tuple[int, int, int] | None]] = []
        if is_preference(text):
            found = self.compare(text, track=track, workers=workers, **choices)
            sources += [(one.preference(), one.level_counts()) for one in found]
        else:
            specs, policy = parse_call(text, self._store.merged(choices))
            of_set = relevant_in_set(self._reader, track, specs, policy)
            scores = evaluate(self._reader, track, of_set, policy, workers)
            sources += [(Preference.of(scores.matrix(name)), None) for name in scores.measures]
        for source, levels in sources:
            points, tied = source.tie_counts()
            every, retrieved, decided = levels or (None, 0, 0)
            yield {
                "track": track,
                "measure": source.name,
                "points": points,
                "tied": tied / points if points else float("nan"),
                "levels": every,
                "retrieved": retrieved / every if every else None,
                "decided": decided / every if every else None,
            }

    def differences(
        self,
        system: str,
        baseline: str,
        measures: str | Iterable[str],
        *,
        track: Tracks = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Compare two systems query by query.

        Parameters
        ----------
        system, baseline : str
            Names of the systems.
        measures : str or iterable of str
            See `Store.evaluate`.
        track, **choices
            See `Store.evaluate`.

        Returns
        -------
        DataFrame
            track, measure, query, system, baseline, value, baseline_value, difference (value minus
            baseline_value), better (name of the better system; null: neither), relevant (number of
            relevant docs): the queries where the system is better first, by the size of the
            difference; NaN: undefined.

        Raises
        ------
        MeasureError, UsageError
            If a name is unknown.

        Examples
        --------
        >>> found = store.pairs.differences("aldBM25", "aldDFR", "AP", track="news")
        >>> found.select("query", "difference", "relevant").row(0)
        ('918', 0.19029435706532077, 11)
        """
        return differences(self._store, measures, [system], baseline, track, choices)

    def explain(
        self,
        preference: str,
        *,
        system: str,
        baseline: str,
        query: str | int,
        track: str | None = None,
        **choices: Unpack[EvalChoices],
    ) -> PairExplanation:
        """Explain the preference of one system over another on a query, level by level.

        Parameters
        ----------
        preference : str
            Name of the preference.
        system, baseline : str
            Names of the two systems.
        query : str or int
            Name of the query.
        track : str, optional
            Name of the track; optional if the store has only one.
        **choices
            Fields of `EvalPolicy`.

        Returns
        -------
        PairExplanation
            The value, and the terms that it is the sum of: level, both docs and ranks, sign,
            weight; `frame` returns them as a table, `show` draws them.

        Raises
        ------
        MeasureError, UsageError
            If a name is unknown, or the track is missing.

        Examples
        --------
        >>> found = store.pairs.explain(
        ...     "RPP", system="aldBM25", baseline="aldBM25fb", query=901, track="news"
        ... )
        >>> found.value == found.trace.value
        True
        """
        spec, policy = parse_preference(preference), self._compared_by(choices)
        name = only_track(self._reader, track)
        (spec,) = relevant_preferences(self._reader, name, [spec], policy)
        found = explain_preference(self._reader, name, spec, system, baseline, str(query), policy)
        return PairExplanation(**vars(found))

    def provenance(
        self,
        preferences: str | Iterable[str],
        *,
        track: Tracks = None,
        **choices: Unpack[EvalChoices],
    ) -> dict[str, Any]:
        """Return the provenance of preferences of this store: see `Store.provenance`.

        Examples
        --------
        >>> list(store.pairs.provenance("RPP", track="news"))
        ['irmeta', 'preferences', 'eval_policy', 'tracks']
        """
        specs, policy = parse_preferences(preferences), self._compared_by(choices)
        return preference_provenance(self._reader, specs, policy, tracks_of(self._reader, track))

    def _compared_by(self, choices: EvalChoices) -> EvalPolicy:
        """Return the policy of preferences, which compare all systems on the same queries."""
        merged = self._store.merged(choices)
        if "queries" not in choices:
            merged.pop("queries", None)
        return EvalPolicy(**merged)

    def _compared(
        self,
        preferences: str | Iterable[str],
        track: Tracks,
        workers: int | None,
        choices: EvalChoices,
    ) -> Iterable[list[TrackPreferences]]:
        """Yield the preferences of one track at a time."""
        specs, policy = parse_preferences(preferences), self._compared_by(choices)
        for name in tracks_of(self._reader, track):
            yield evaluate_preferences(self._reader, name, specs, policy, workers)
