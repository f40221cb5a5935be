"""`Store.pairs` and `prefer`: preferences between all pairs of systems, and leaderboards."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from irmeta.api.arguments import PreferOptions, operation
from irmeta.api.differences import differences
from irmeta.api.opened_store import OpenedStore
from irmeta.api.results_or_data import factor_of, results_or_data
from irmeta.errors import SegmentWarning, UsageError, did_you_mean, warn
from irmeta.locations import AnyLocation
from irmeta.measures.evaluate import evaluate, relevant_in_set
from irmeta.measures.explain import Explanation, explain
from irmeta.measures.names import measure_texts, parse_call, parse_measure
from irmeta.naming import split_names
from irmeta.policies import EvalPolicy
from irmeta.policy_keywords import (
    EvalChoices,
    ExplainChoices,
    PairChoices,
    PreferDataChoices,
)
from irmeta.preferences.evaluate import (
    PreferenceExplanation,
    evaluate_preferences,
    explain_preference,
    preference_provenance,
    relevant_preferences,
)
from irmeta.preferences.registry import is_preference, parse_preference, parse_preferences
from irmeta.progress import Progress, reported, shows_progress
from irmeta.rankings.track import Track
from irmeta.report.charts.graph import arcs
from irmeta.report.figure_file import offline
from irmeta.results.factors import Segments, Variants
from irmeta.results.verdicts import (
    Opponents,
    Preference,
    TrackPreferences,
    check_opponents,
    rates_of,
)
from irmeta.schema.result_tables import TIES, WIN_RATES
from irmeta.stats.preferences import Leaderboard, Rules, order_and_sets, preference_pairs
from irmeta.stats.rank_confidence import rank_sets
from irmeta.store.scan import Tracks, read_table
from irmeta.summaries import Framed, SummaryList

if TYPE_CHECKING:
    import altair as alt


_SCHEMA = {
    "part": pl.String,
    "level": pl.Int32,
    "rank": pl.Int32,
    "doc": pl.String,
    "other_rank": pl.Int32,
    "other_doc": pl.String,
    "sign": pl.Int8,
    "weight": pl.Float64,
}


@dataclass(frozen=True, repr=False)
class PairExplanation(PreferenceExplanation, Framed):
    """Explanation of one preference, as a table and as a figure."""

    def frame(self) -> pl.DataFrame:
        """Return the terms that the value is the sum of.

        Returns
        -------
        DataFrame
            part (grade, subtopic or list of the level; empty if there is one), level, rank, doc,
            other_rank, other_doc (i-th relevant doc of both lists; null: not retrieved), sign (1:
            `system` is better), weight, amount (sign x weight).
        """
        rows = [[getattr(term, name) for name in _SCHEMA] for term in self.trace.terms]
        frame = pl.DataFrame(rows, _SCHEMA, orient="row")
        return frame.with_columns(amount=pl.col("sign") * pl.col("weight"))

    def show(self) -> alt.ConcatChart | alt.LayerChart:
        """Draw both lists, with an arc between their i-th relevant docs (Figure 3 of the paper)."""
        frame = self.frame().select(
            pl.col("part").alias("pane"),
            pl.col("rank").alias("above"),
            pl.col("other_rank").alias("below"),
            "sign",
            "weight",
            pl.Series("said", list(self._said()), dtype=pl.String),
        )
        won, lost = (frame.filter(sign=sign).height for sign in (1, -1))
        value = "undefined" if math.isnan(self.value) else f"{self.value:.4g}"
        more = "; width: weight" if frame["weight"].n_unique() > 1 else ""
        chart = arcs(
            frame,
            (self.system, self.baseline),
            title=f"{self.preference} on query {self.query} of {self.track}: {value}",
            subtitle=f"levels better in {self.system}: {won}, in {self.baseline}: {lost}, "
            f"tied: {frame.height - won - lost}{more}",
            kinds=(f"{self.system} better", f"{self.baseline} better", "tied"),
        )
        return offline(chart)

    def _said(self) -> Iterator[str]:
        for term in self.trace.terms:
            own = _place(term.doc, term.rank)
            yield f"level {term.level}: {own}; {_place(term.other_doc, term.other_rank)}"


def _place(doc: str | None, rank: int | None) -> str:
    return "not retrieved" if rank is None else f"{doc} at rank {rank}"


class StorePairs:
    """Preferences between all pairs of systems."""

    def __init__(self, store: OpenedStore) -> None:
        self._store, self._reader = store, store.reader

    @shows_progress("Comparing")
    def compare(
        self,
        preferences: str | Iterable[str] = "RPP",
        *,
        track: str,
        workers: int | None = None,
        progress: Progress = None,
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
        opened = self._store.track(track, self._compared_by(choices))
        specs = parse_preferences(preferences)
        return SummaryList(evaluate_preferences(opened, specs, workers))

    @shows_progress("Comparing")
    def preferences(
        self,
        preferences: str | Iterable[str] = "RPP",
        *,
        track: Tracks = None,
        per_query: bool = False,
        workers: int | None = None,
        progress: Progress = None,
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
        progress : bool or callable, optional
            See `irmeta.read`.
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
            preferred.per_query() if per_query else preferred.frame()
            for of_track in self._compared(preferences, track, workers, choices)
            for preferred in of_track
        ]
        return pl.concat(frames)

    @shows_progress("Comparing")
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
        progress: Progress = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Compute the mean preference of every system over the field, and its rank.

        Parameters
        ----------
        preferences, track, workers, progress, **choices
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
        for of_track in self._compared(preferences, track, workers, choices):
            for preferred in of_track:
                rates = rates_of(preferred, opponents)
                ranked = rank_sets(rates, resamples=resamples, confidence=confidence, rng=rng)
                rows = ranked.systems.rename({"mean": "value"}).drop("tier", "queries_to_next")
                number = pl.lit(int(preferred.defined.sum()), pl.Int32).alias("queries")
                named = rows.with_columns(number, preference=pl.lit(preferred.name))
                frames.append(WIN_RATES.frame(named, preferred.track))
        return pl.concat(frames)

    @shows_progress("Comparing")
    def ties(
        self,
        names: str | Iterable[str] = ("RPP", "AP", "RR"),
        *,
        track: Tracks = None,
        workers: int | None = None,
        progress: Progress = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Count the ties of preferences and measures between systems, over pairs and queries.

        A tie tells nothing about two systems: the fewer ties, the more a measure learns from the
        same judgments.

        Parameters
        ----------
        names : str or iterable of str, default ('RPP', 'AP', 'RR')
            Names of preferences and measures, or a comma-separated text.
        track, workers, progress, **choices
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
        tracks = list(self._store.each(track, self._store.policy_with(choices)))
        for opened in reported(tracks, len(tracks), "tracks"):
            for text in texts:
                rows += self._tied(opened.name, text, workers, choices)
        return TIES.frame(rows)

    def _tied(
        self, track: str, text: str, workers: int | None, choices: EvalChoices
    ) -> Iterable[dict[str, Any]]:
        """Yield the rows of `ties` of one preference or measure."""
        sources: list[tuple[Preference, tuple[int, int, int] | None]] = []
        if is_preference(text):
            preferences = self.compare(text, track=track, workers=workers, **choices)
            sources += [
                (preference.preference(), preference.level_counts()) for preference in preferences
            ]
        else:
            specs, policy = parse_call(text, self._store.merged(choices))
            opened = self._store.track(track, policy)
            scores = evaluate(opened, relevant_in_set(opened, specs), workers)
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
        **choices: Unpack[PairChoices],
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
        **choices: Unpack[ExplainChoices],
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
        opened = self._store.track(track, policy.everything)
        (spec,) = relevant_preferences(opened, [spec])
        explained = explain_preference(opened, spec, system, baseline, str(query))
        return PairExplanation(**vars(explained))

    def lists(
        self,
        *,
        system: str,
        baseline: str,
        query: str | int,
        measure: str = "AP",
        track: str | None = None,
        **choices: Unpack[ExplainChoices],
    ) -> pl.DataFrame:
        """Return the lists of two systems for a query side by side, and what moves a measure.

        Parameters
        ----------
        system, baseline : str
            Names of the two systems.
        query : str or int
            Name of the query.
        measure : str, default 'AP'
            Name of a measure.
        track : str, optional
            Name of the track; optional if the store has only one.
        **choices
            Fields of `EvalPolicy`, except `tie_order`: lists are in the store's tie order.

        Returns
        -------
        DataFrame
            One row per doc of either list, and per relevant doc that neither has: doc, grade (null:
            unjudged), rank, baseline_rank (null: not retrieved), adds, baseline_adds (what the doc
            adds to the value of each system), moves (adds minus baseline_adds; their sum is the
            difference of the values). The best of both ranks first. The last three are null where
            the value is defined without a sum.

        Raises
        ------
        MeasureError, UsageError
            If a name is unknown, the track is missing, or `tie_order` is given.

        Examples
        --------
        >>> found = store.pairs.lists(
        ...     system="aldDFR", baseline="aldBM25", query=918, track="news", measure="P@5"
        ... )
        >>> found.select("doc", "grade", "rank", "baseline_rank", "moves").row(0)
        ('NW19991209-0015', 0, 1, 5, 0.0)
        """
        if choices.get("tie_order") is not None:
            raise UsageError("lists are in the store's tie order: omit `tie_order`.")
        opened = self._store.track(track, self._store.policy_with(choices).everything)
        (spec,) = relevant_in_set(opened, [parse_measure(measure)])
        sides = [
            _list_and_amounts(opened, explain(opened, spec, name, str(query)))
            for name in (system, baseline)
        ]
        joined = sides[0].join(sides[1], on="doc", how="full", coalesce=True, suffix="_2")
        rows = joined.select(
            "doc",
            grade=pl.coalesce("grade", "grade_2"),
            rank="rank",
            baseline_rank="rank_2",
            adds=pl.col("adds").fill_null(0.0),
            baseline_adds=pl.col("adds_2").fill_null(0.0),
        ).with_columns(moves=pl.col("adds") - pl.col("baseline_adds"))
        best = pl.min_horizontal("rank", "baseline_rank")
        return rows.sort(best, "rank", "doc", nulls_last=True).with_columns(
            pl.col("adds", "baseline_adds", "moves").fill_nan(None)
        )

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
        return preference_provenance(list(self._store.each(track, policy)), specs, policy)

    def _compared_by(self, choices: EvalChoices | ExplainChoices) -> EvalPolicy:
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
        for opened in self._store.each(track, policy):
            yield evaluate_preferences(opened, specs, workers)


@operation(PreferOptions)
@shows_progress("Comparing")
def prefer(
    options: PreferOptions,
    store: OpenedStore | str | Path | object,
    runs: object = None,
    preferences: str | Iterable[str] | None = None,
    *,
    segments: Segments | pl.DataFrame | str | Path | None = None,
    track: Tracks = None,
    workers: int | None = None,
    progress: Progress = None,
    **choices: Unpack[PreferDataChoices],
) -> list[Leaderboard]:
    """Order the systems of every track by preferences, and test all pairs.

    Parameters
    ----------
    store : Store, str or Path; or qrels
        A store, or its folder; or qrels in memory, followed by runs.
    runs : object, optional
        Runs, where `store` are qrels in memory: see `irmeta.from_data`. After a store, the second
        argument is `preferences`.
    preferences, track, workers, progress, **choices
        See `Store.pairs.preferences`, default ``RPP``; and, for qrels and runs in memory,
        `irmeta.evaluate`.
    {options}
    segments : DataFrame, str or Path, optional
        Segments of the queries, such as groups of users, to compare the systems on: a frame with
        the columns query, segment and optionally track, a CSV or TSV file of them, or, of a store,
        the name of a column of the tracks' ``queries.csv``. A query may be in several segments.
        Segments with fewer than two queries with a relevant doc are left out, with a warning;
        queries in no segment, and queries that no track judges, are named in one.

    Returns
    -------
    list of Leaderboard
        One for each track and preference; with segments, followed by one for each segment, sorted
        by name.

    Raises
    ------
    MeasureError
        If a preference is unknown.
    UsageError
        If a name, rule or level is unknown, or the baseline is in none of the tracks; tracks
        without the baseline are left out.
    DataError
        If `segments` cannot be read, or none of its queries is judged.

    References
    ----------
    .. [1] Diaz and Ferraro (2022). Offline retrieval evaluation without evaluation metrics.
       doi:10.1145/3477495.3532033

    Examples
    --------
    >>> (board,) = irmeta.prefer(store, "RPP", track="news", by="mc4")
    >>> board.systems.select("rank", "system", "better_than", "top").row(0)
    (1, 'doumMan2', 17, True)
    >>> board.beats_all
    'doumMan2'
    """
    source, names, policies = results_or_data(store, runs, preferences, workers, choices)
    if not isinstance(source, OpenedStore | AnyLocation):
        raise UsageError("no store: pass a store or its folder; or qrels, runs and preferences.")
    opened = source if isinstance(source, OpenedStore) else OpenedStore(source)
    asked = "RPP" if names is None else names
    ranked = partial(
        rank_sets,
        resamples=options.rank_resamples,
        confidence=1 - options.alpha,
        rng=options.rng,
    )
    order = partial(order_and_sets, by=options.by, majority=options.majority, ranked=ranked)
    tested = partial(
        preference_pairs,
        test=options.test,
        correction=options.correction,
        confidence=1 - options.alpha,
        resamples=options.resamples,
        rng=options.rng,
        workers=workers,
    )
    policy, baseline = opened.policy_with(policies), options.baseline
    tracks, known = list(opened.each(track, policy)), set[str]()
    chosen = None if segments is None else factor_of(Segments, segments, opened, track)
    if chosen is not None:
        chosen.check_queries({track.name: track.judged_queries for track in tracks})
    boards: list[Leaderboard] = []
    for compared in reported(tracks, len(tracks), "tracks"):
        known.update(compared.systems)
        if baseline is None or baseline in compared.systems:
            if (text := Variants.note(compared)) is not None:
                warn(f"track {compared.name}: {text}.", SegmentWarning, stacklevel=3)
            test = partial(tested, track=compared.name)
            rules = Rules(order, test, options.opponents, options.on, baseline, options.alpha)
            compare = StorePairs(opened).compare
            for preferred in compare(asked, track=compared.name, workers=workers, **policies):
                boards += rules.boards(preferred, chosen)
    if not boards:
        raise UsageError(
            f"no system {baseline!r} in {opened.reader}. {did_you_mean(baseline, known)}"
        )
    return SummaryList(boards)


def _list_and_amounts(track: Track, explained: Explanation) -> pl.DataFrame:
    """Return the docs of a list and those not retrieved that count: doc, rank, grade, adds."""
    is_here = (pl.col("query") == explained.query) & (pl.col("system") == explained.system)
    retrieved = read_table(track.stored, "runs", is_here).select("doc", "rank")
    trace = explained.trace
    divisor = trace.divisor if trace.undefined is None else math.nan
    amounts = explained.frame().group_by("doc").agg(adds=pl.col("amount").sum() / divisor)
    return (
        retrieved.join(amounts, on="doc", how="full", coalesce=True)
        .join(explained.docs.select("doc", "grade"), on="doc", how="full", coalesce=True)
        .with_columns(adds=pl.lit(math.nan) if math.isnan(divisor) else pl.col("adds"))
    )
