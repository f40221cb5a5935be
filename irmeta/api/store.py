"""`Store`: values, tests, tables and figures of the tracks of a store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import Executor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from irmeta.api.arguments import CompareOptions, PowerOptions, PreferOptions, documented
from irmeta.api.opened_store import OpenedStore
from irmeta.errors import UsageError
from irmeta.measures.evaluate import evaluate, evaluate_tracks, how_made, relevant_in_set
from irmeta.measures.names import parse_call, parse_measure
from irmeta.policies import MeanInterval
from irmeta.policy_keywords import (
    CompareChoices,
    EvalChoices,
    ExplainChoices,
    PowerChoices,
    PreferChoices,
)
from irmeta.progress import Progress, shows_progress
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import judged_ranks
from irmeta.rankings.view import Need, check_needs
from irmeta.results.scores import Scores, check_summary, concat_scores
from irmeta.store.scan import Tracks

if TYPE_CHECKING:
    from irmeta.api.comparisons import Comparisons
    from irmeta.api.pairs import StorePairs
    from irmeta.api.per_doc import StorePerDoc
    from irmeta.api.plot import StorePlots
    from irmeta.api.pools import StorePools
    from irmeta.api.significance import Power
    from irmeta.api.stability import StoreStability
    from irmeta.measures.explain import Explanation
    from irmeta.results.factors import Factor, QueryWeights, Segments
    from irmeta.stats.preferences import Leaderboard

Measures = str | Iterable[str]


class Store(OpenedStore):
    """Open store; data are read when a method needs them.

    The argument `track` of a method is the name of one track, names of several, or None for all.

    Parameters
    ----------
    path : str, Path or StoreReader
        The store's folder, or the folder of `reanalyze`'s results, which contains one; either may
        be a URL such as ``s3://bucket/store``.

    Attributes
    ----------
    policy : ReadPolicy
        Policy of reading.
    eval_policy : EvalPolicy
        Policy of methods without keywords: that of the results that opened the store, or default.
    results : Path or None
        The folder of these results.

    Raises
    ------
    UsageError
        If there is no store, or one that a newer irmeta made.
    DataError
        If the manifest is damaged, or object storage cannot be read.
    """

    @cached_property
    def per_doc(self) -> StorePerDoc:
        """Tables of the relevant docs: search lengths, rarity, contributions."""
        from irmeta.api.per_doc import StorePerDoc

        return StorePerDoc(self)

    @cached_property
    def pools(self) -> StorePools:
        """Docs to judge, unjudged docs, and scores by the pools of fewer contributors."""
        from irmeta.api.pools import StorePools

        return StorePools(self)

    @cached_property
    def pairs(self) -> StorePairs:
        """Preferences between all pairs of systems."""
        from irmeta.api.pairs import StorePairs

        return StorePairs(self)

    @cached_property
    def stability(self) -> StoreStability:
        """How orderings depend on cutoffs, and scores on the ends of lists."""
        from irmeta.api.stability import StoreStability

        return StoreStability(self)

    @cached_property
    def plot(self) -> StorePlots:
        """Figures of one track."""
        from irmeta.api.plot import StorePlots

        return StorePlots(self)

    def views(
        self, track: str, *, needs: Collection[Need] = (), **choices: Unpack[EvalChoices]
    ) -> Iterator[JudgedRanks]:
        """Yield the ranks of the judged docs of a track as arrays, a block of queries at a time.

        `scores_of` computes measures of a view; its methods (`with_pool`, `without_systems`,
        `cut_to`, ...) derive other views.

        Parameters
        ----------
        track : str
            Name of the track.
        needs : collection of str
            Arrays that only some measures read: ``ties``, ``pool``, ``retrieved``, ``subtopics``.
        **choices
            Fields of `EvalPolicy`.

        Yields
        ------
        JudgedRanks
            View of some queries; queries are in order.

        Raises
        ------
        UsageError
            If the track or qrels set is unknown, or a track without subtopics is asked for them.

        Examples
        --------
        >>> (view,) = store.views("news", needs=["pool"])  # a larger track has several
        >>> irmeta.scores_of(view.with_pool(5), "AP").means()["value"].max()
        0.5709927743319316
        """
        check_needs(needs)
        opened = self.track(track, self.policy_with(choices))
        return judged_ranks(opened, needs=frozenset(needs))

    @shows_progress("Evaluating")
    def scores(
        self,
        measures: Measures = "default",
        *,
        track: str,
        workers: int | None = None,
        executor: Executor | None = None,
        progress: Progress = None,
        **choices: Unpack[EvalChoices],
    ) -> Scores:
        """Compute the values of one track as arrays; parameters and errors as of `evaluate`.

        Returns
        -------
        Scores
            Values as float64 [measure, query, system]; NaN: undefined.

        Examples
        --------
        >>> store.scores("AP", track="news").values.shape
        (1, 25, 20)
        """
        specs, policy = parse_call(measures, self.merged(choices))
        opened = self.track(track, policy)
        return evaluate(opened, relevant_in_set(opened, specs), workers, executor)

    @shows_progress("Evaluating")
    def evaluate(
        self,
        measures: Measures = "default",
        *,
        track: Tracks = None,
        segments: Segments | pl.DataFrame | str | Path | None = None,
        query_weights: QueryWeights | pl.DataFrame | str | Path | None = None,
        per_query: bool = False,
        summary: str | Iterable[str] | None = None,
        interval: MeanInterval | None = None,
        resample_by: Factor | pl.DataFrame | str | Path | None = None,
        rng: int | np.random.Generator = 0,
        workers: int | None = None,
        executor: Executor | None = None,
        progress: Progress = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Compute the mean of each system by each measure, or the values of queries.

        Parameters
        ----------
        measures : str or iterable of str, default 'default'
            Names (`AP`, `P@20`, `ASL@g10`), a comma-separated text, or a preset (`default`).
        track : str or iterable of str, optional
            Only these tracks.
        segments : DataFrame, str or Path, optional
            Segments of the queries, see `irmeta.prefer`: means of each follow those of all queries,
            in a column segment (null: all queries).
        query_weights : DataFrame, str or Path, optional
            Weights of the queries in means and intervals ``t``: see `irmeta.compare`.
        per_query : bool, default False
            Whether rows are values of queries instead of means.
        summary : str or iterable of str, optional
            With `per_query`, the ``best``, ``median`` or ``worst`` value of all systems on each
            query in place of the values of systems: see `Scores.query_summary`.
        interval : {'t', 'bootstrap'}, optional
            Add the 95 % confidence interval of each mean, as columns low and high: see
            `irmeta.stats.mean_intervals`. Overlap of two intervals says nothing about the
            difference of the systems, which `compare` tests.
        resample_by : DataFrame, str or Path, optional
            With `interval`, clusters of queries, see `irmeta.compare`; by default the variants of
            each query, where the column variant_of of the tracks' ``queries.csv`` names them.
            Whole clusters are drawn; with fewer than 20, and for ``t``, the interval is of their
            means, weighted by their numbers of queries.
        rng : int or Generator, default 0
            Random seed of bootstrap intervals.
        workers, executor : int and Executor, optional
            Threads, default the usable cores; or an executor, such as of `dask_executor`, whose
            workers read blocks of queries of a store in a folder. No value depends on them.
        progress : bool or callable, optional
            See `irmeta.read`.
        **choices
            Fields of `EvalPolicy`; `system`, `query` and `query_file` select systems and queries.

        Returns
        -------
        DataFrame
            track, system, measure, value, queries (number in the mean), no_list (of them, queries
            without a list of the system), lists_without_nonrelevant (null: not a search length).
            With `per_query`: track, system, query, measure, value; with `summary`: track, query,
            measure, systems (number with a defined value), and its columns. Sorted so; NaN:
            undefined. Of several qrels sets (``qrels="human,judge"``), qrels follows track.

        Warns
        -----
        RelevanceWarning
            If a measure counts docs from a grade above the highest of the qrels set, such as
            ``AP(rel=2)`` of binary judgments: no doc is relevant.

        Raises
        ------
        MeasureError
            If a measure is unknown.
        UsageError
            If a track, system, query, qrels set or statistic is unknown; for `summary` without
            `per_query`.

        Examples
        --------
        >>> store.evaluate("AP", track="news", system="aldBM25").select("value", "queries").row(0)
        (0.2844052544141275, 25)
        >>> store.evaluate("AP", track="news", per_query=True).height
        500
        >>> best = store.evaluate("AP", track="news", per_query=True, summary="best,worst")
        >>> best.columns
        ['track', 'query', 'measure', 'systems', 'best', 'worst']
        """
        specs, policy = parse_call(measures, self.merged(choices))
        if interval is not None and per_query:
            raise UsageError("`interval` is of means: omit `per_query`.")
        if resample_by is not None and interval is None:
            raise UsageError("`resample_by` is of intervals: name one by `interval`.")
        if summary is not None:
            check_summary(summary, per_query=per_query)
        all_scores = evaluate_tracks(self.reader, track, specs, policy, workers, executor)
        labels = list[str | None]()
        if segments is not None or query_weights is not None:
            from irmeta.results.factors import parts_by_query

            if segments is not None:
                from irmeta.results.factors import Segments

                segments = Segments.within(segments, self.reader, track)
            by_query: Any = {"per_query": per_query, "selected": policy.selects_queries}
            all_scores, labels = parts_by_query(all_scores, segments, query_weights, **by_query)
        if summary is not None:
            frames = [scores.query_summary(summary) for scores in all_scores]
            return concat_scores(all_scores, frames)
        frames = [s.per_query() if per_query else s.means() for s in all_scores]
        for frame, segment in zip(frames, labels, strict=False):
            column = pl.Series("segment", [segment], pl.String).new_from_index(0, frame.height)
            frame.insert_column(1, column)
        if interval is not None:
            from irmeta.api.results_or_data import variants_in
            from irmeta.results.factors import Factor, Variants
            from irmeta.stats.means import with_intervals  # only intervals need scipy

            clusters = variants_in(self, track)
            if resample_by is not None:
                clusters = Factor.within(resample_by, self.reader, track)
            groups = [clusters and clusters.by_name(scores.track) for scores in all_scores]
            if isinstance(clusters, Variants):  # without variants among them, queries are drawn
                sizes = [clusters.sizes(scores.track, scores.queries) for scores in all_scores]
                groups = [of if number else None for of, number in zip(groups, sizes, strict=True)]
            parts = zip(frames, all_scores, groups, strict=True)
            frames = [with_intervals(f, s, interval, rng, group) for f, s, group in parts]
        return concat_scores(all_scores, frames)

    def means(
        self,
        measures: Measures = "default",
        *,
        track: Tracks = None,
        workers: int | None = None,
        executor: Executor | None = None,
        progress: Progress = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Compute means over queries: `evaluate` without `per_query`.

        Examples
        --------
        >>> store.means("AP", track="news", system="aldBM25")["value"].round(3).to_list()
        [0.284]
        """
        return self.evaluate(
            measures,
            track=track,
            workers=workers,
            executor=executor,
            progress=progress,
            **choices,
        )

    @shows_progress("Evaluating")
    def curve(
        self,
        measures: Measures,
        ks: int | Iterable[int],
        ds: int | Iterable[int] | None = None,
        *,
        track: Tracks = None,
        workers: int | None = None,
        progress: Progress = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Compute means at every cutoff, and under pools of several depths, in one pass.

        Parameters
        ----------
        measures : str or iterable of str
            Names without a cutoff (`AP`, `nDCG(gain=exp)`).
        ks : int or iterable of int
            Cutoffs, ascending: ``range(1, 1001)``.
        ds : int or iterable of int, optional
            Pool depths, ascending; default: all judgments. At each depth, a judged doc that no
            contributing system ranks so high is unjudged. `provenance` of a measure that reads the
            pool, such as ``AP(norm=pool)@10``, names the contributing systems.
        track, workers, progress, **choices
            See `evaluate`; `pool_order` is how contributing systems' lists are ordered.

        Returns
        -------
        DataFrame
            track, system, measure, d (null: all judgments), k, value, queries.

        Raises
        ------
        MeasureError
            If a measure is unknown, has no cutoff, or is not averaged arithmetically.
        UsageError
            If cutoffs or depths do not ascend, or a track or qrels set is unknown.

        Examples
        --------
        >>> store.curve("AP", [5, 10], track="news", qrels="binary")["value"].round(3)[:2].to_list()
        [0.086, 0.123]
        """
        from irmeta.measures.curve import curve_table

        policy = self.policy_with(choices)
        return curve_table(self.reader, track, measures, ks, ds, policy, workers)

    @documented(CompareOptions)
    def compare(
        self,
        measures: str | Iterable[str] | None = None,
        *,
        segments: Segments | pl.DataFrame | str | Path | None = None,
        query_weights: QueryWeights | pl.DataFrame | str | Path | None = None,
        track: Tracks = None,
        workers: int | None = None,
        progress: Progress = None,
        **choices: Unpack[CompareChoices],
    ) -> Comparisons:
        """Test every pair of systems, or every system against a baseline: see `irmeta.compare`.

        Examples
        --------
        >>> (comparison,) = store.compare("AP", track="news")
        >>> comparison.systems.select("system", "better_than", "top").row(0)
        ('doumMan2', 18, True)
        """
        from irmeta.api.significance import compare  # charts are slow to import

        return compare(
            self,
            measures=measures,
            segments=segments,
            query_weights=query_weights,
            track=track,
            workers=workers,
            progress=progress,
            **choices,
        )

    @documented(PowerOptions)
    def power(
        self,
        measures: str | Iterable[str] | None = None,
        *,
        track: Tracks = None,
        workers: int | None = None,
        progress: Progress = None,
        **choices: Unpack[PowerChoices],
    ) -> Power:
        """Count the pairs of systems that differ significantly by measure: see `irmeta.power`.

        Examples
        --------
        >>> store.power(["AP", "P@10"], track="news", alpha=0.05).counts["separated"].to_list()
        [161, 145]
        """
        from irmeta.api.significance import power  # charts are slow to import

        return power(
            self, measures=measures, track=track, workers=workers, progress=progress, **choices
        )

    @documented(PreferOptions)
    def prefer(
        self,
        preferences: str | Iterable[str] | None = None,
        *,
        segments: Segments | pl.DataFrame | str | Path | None = None,
        track: Tracks = None,
        workers: int | None = None,
        progress: Progress = None,
        **choices: Unpack[PreferChoices],
    ) -> list[Leaderboard]:
        """Order the systems of every track by preferences, and test all pairs: see `irmeta.prefer`.

        Examples
        --------
        >>> store.prefer("RPP", track="news", by="mc4")[0].systems["system"][0]
        'doumMan2'
        """
        from irmeta.api.pairs import prefer  # tests are slow to import

        return prefer(
            self,
            preferences=preferences,
            segments=segments,
            track=track,
            workers=workers,
            progress=progress,
            **choices,
        )

    def explain(
        self,
        measure: str,
        *,
        system: str,
        query: str | int,
        track: str | None = None,
        **choices: Unpack[ExplainChoices],
    ) -> Explanation:
        """Explain one value: ranks, ties, grades, policies and the arithmetic.

        Parameters
        ----------
        measure : str
            Name of the measure.
        system : str
            Name of the system.
        query : str or int
            Name of the query.
        track : str, optional
            Name of the track; optional if the store has only one.
        **choices
            Fields of `EvalPolicy`.

        Returns
        -------
        Explanation
            The value and its terms.

        Raises
        ------
        MeasureError, UsageError
            If a name is unknown, or the track is missing.

        Examples
        --------
        >>> found = store.explain("AP@5", system="aldBM25", query=901, track="news")
        >>> found.value == sum(term.amount for term in found.trace.terms) / found.trace.divisor
        True
        """
        from irmeta.measures.explain import explain

        opened = self.track(track, self.policy_with(choices).everything)
        (spec,) = relevant_in_set(opened, [parse_measure(measure)])
        return explain(opened, spec, system, str(query))

    def provenance(
        self, measures: Measures, *, track: Tracks = None, **choices: Unpack[EvalChoices]
    ) -> dict[str, Any]:
        """Return the provenance of values of this store.

        Parameters
        ----------
        measures, track, **choices
            See `evaluate`.

        Returns
        -------
        dict
            JSON values: irmeta (version), measures (parameters and revision), eval_policy, tracks
            (fingerprint, qrels set, read policy).

        Examples
        --------
        >>> list(store.provenance("AP", track="news"))
        ['irmeta', 'measures', 'eval_policy', 'tracks']
        """
        specs, policy = parse_call(measures, self.merged(choices))
        return how_made(list(self.each(track, policy)), specs, policy)

    if not TYPE_CHECKING:  # type checkers would accept any name

        def __getattr__(self, name: str) -> Any:
            """Raise an AttributeError that names the namespace of a public method."""
            public = () if name[:1] == "_" else ("pairs", "per_doc", "pools", "stability")
            spaces = [space for space in public if hasattr(getattr(self, space), name)]
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            text += f": see store.{spaces[0]}.{name}" if spaces else ""
            if name[:1] != "_" and not spaces and hasattr(JudgedRanks, name):
                text += f": the views of a track have it, as in [view.{name}(...) for view in "
                text += "store.views(track)]"
            if name == "only_queries":
                text += "; methods select queries by query=, as in store.evaluate(query=['601'])"
            raise AttributeError(text, name=name, obj=self)
