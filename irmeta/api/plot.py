"""`Store.plot`: figures of a store, one call each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from irmeta.api.differences import differences, differences_chart
from irmeta.api.opened_store import OpenedStore
from irmeta.api.per_doc import SearchLengths, StorePerDoc
from irmeta.api.significance import compare
from irmeta.measures.curve import curve_table
from irmeta.phrases import count
from irmeta.policies import Buckets, Counted
from irmeta.policy_keywords import (
    EvalChoices,
    GradedChoices,
    GradedPairChoices,
    PairChoices,
)
from irmeta.progress import Progress, shows_progress
from irmeta.report.charts.curves import Pane, curve_panes
from irmeta.report.figure_file import Width, sized
from irmeta.report.figures import rarity_histogram
from irmeta.store.scan import only_track

if TYPE_CHECKING:
    import altair as alt


CUTOFFS = range(1, 101)


class StorePlots:
    r"""Figures of one track of a store, as Altair charts.

    A chart's method `save` writes .svg, .pdf or .png. All methods take `width`, ``column`` or
    ``text`` of a paper with two columns; in LaTeX, ``\includegraphics[width=\columnwidth]`` or
    ``[width=\textwidth]`` then prints texts of about the same size. By default, charts are as
    wide as on irmeta's pages. The argument `track` is optional if the store has only one track.

    Examples
    --------
    >>> store.plot.rarity("news", width="column").save("rarity.pdf")
    """

    def __init__(self, store: OpenedStore) -> None:
        self._store = store

    @shows_progress("Drawing")
    def curve(
        self,
        measures: str | Iterable[str],
        ks: int | Iterable[int] = CUTOFFS,
        *,
        track: str | None = None,
        width: Width | None = None,
        workers: int | None = None,
        progress: Progress = None,
        **choices: Unpack[EvalChoices],
    ) -> alt.ConcatChart | alt.LayerChart:
        """Draw the mean of each system by cutoff, one pane per measure.

        Parameters
        ----------
        measures, ks, workers, **choices
            See `Store.curve`; default: the cutoffs 1 to 100.
        track : str, optional
            Name of the track.
        width : {'column', 'text'}, optional
            Width of the chart.
        progress : bool or callable, optional
            See `irmeta.read`.

        Returns
        -------
        Chart
            Of a track with up to 12 systems, each has one colour and mark, whichever are drawn. Of
            more than 12 drawn systems, there are the median, the quartiles, and in colour those
            that are furthest from the median.

        Raises
        ------
        MeasureError, UsageError
            As `Store.curve`.

        Examples
        --------
        >>> store.plot.curve("nDCG", range(1, 21), track="news", width="column").save("ndcg.svg")
        """
        name = only_track(self._store.reader, track).name
        policy = self._store.policy_with(choices)
        frame = curve_table(self._store.reader, name, measures, ks, None, policy, workers)
        shown = frame.select(
            pl.col("measure").alias("pane"),
            pl.col("system").alias("name"),
            pl.col("k").alias("x"),
            pl.col("value").alias("y"),
            pl.lit(False).alias("dashed"),
        )
        panes = [Pane(one, one) for one in frame["measure"].unique(maintain_order=True)]
        chart = curve_panes(
            shown,
            panes,
            title=f"{name}: means by cutoff",
            subtitle=count(frame["system"].n_unique(), "system"),
            x_title="cutoff k",
            names=self._store.track(name, policy).all_systems.systems,
        )
        return sized(chart, width)

    @shows_progress("Drawing")
    def search_lengths(
        self,
        system: str | None = None,
        *,
        baseline: str | None = None,
        track: str | None = None,
        buckets: Buckets = "linear",
        rel: float = 1,
        unretrieved: str = "irrel",
        width: Width | None = None,
        progress: Progress = None,
        **choices: Unpack[GradedPairChoices],
    ) -> alt.LayerChart:
        """Draw the search lengths of relevant docs in a system, or their differences in two.

        Parameters
        ----------
        system : str, optional
            Name of the system, default the best by ASL.
        baseline : str, optional
            A second system, whose search lengths are subtracted.
        track, width, progress
            See `curve`.
        buckets : {'linear', 'log'}, default 'linear'
            See `SearchLengths.histogram` and `SearchLengths.differences`.
        rel, unretrieved, **choices
            See `SearchLengths`.

        Returns
        -------
        LayerChart

        Raises
        ------
        UsageError
            If a name or an option is unknown, or no doc of the track is relevant.

        Examples
        --------
        >>> store.plot.search_lengths("aldBM25", track="news", width="column").save("lengths.pdf")
        """
        name = only_track(self._store.reader, track).name
        found = SearchLengths(self._store, name, rel=rel, unretrieved=unretrieved, **choices)
        if baseline is None:
            return sized(found.show(system, buckets), width)
        return sized(found.show_differences(system, baseline, buckets), width)

    @shows_progress("Drawing")
    def rarity(
        self,
        track: str | None = None,
        *,
        rarity_depth: int = 100,
        rel: float = 1,
        counted: Counted = "systems",
        width: Width | None = None,
        workers: int | None = None,
        progress: Progress = None,
        **choices: Unpack[GradedChoices],
    ) -> alt.LayerChart:
        """Draw how many systems, or groups, retrieve each relevant doc.

        Parameters
        ----------
        track, width, progress
            See `curve`.
        rarity_depth, rel, counted, workers, **choices
            See `Store.per_doc.rarity`.

        Returns
        -------
        LayerChart

        Raises
        ------
        UsageError
            If a name or an option is unknown.

        Examples
        --------
        >>> store.plot.rarity("news", rarity_depth=10).save("rarity.svg")
        """
        docs = StorePerDoc(self._store).rarity(
            only_track(self._store.reader, track).name,
            rarity_depth=rarity_depth,
            rel=rel,
            counted=counted,
            workers=workers,
            **choices,
        )
        counts = docs.group_by("retrieved_by").agg(docs=pl.len()).sort("retrieved_by")
        return sized(rarity_histogram(counts, counted), width)

    @shows_progress("Drawing")
    def compare(
        self,
        measure: str | None = None,
        *,
        track: str | None = None,
        width: Width | None = None,
        progress: Progress = None,
        **options: Any,
    ) -> alt.LayerChart:
        """Draw the pairs of systems that differ significantly, ordered by their means.

        Parameters
        ----------
        measure, **options
            See `irmeta.compare`.
        track, width, progress
            See `curve`.

        Returns
        -------
        LayerChart

        Raises
        ------
        MeasureError, UsageError
            As `irmeta.compare`.

        Examples
        --------
        >>> store.plot.compare("AP", track="news", test="wilcoxon").save("pairs.png")
        """
        name = only_track(self._store.reader, track).name
        (comparison,) = compare(self._store, measure, track=name, **options)
        return sized(comparison.show(), width)

    @shows_progress("Drawing")
    def differences(
        self,
        system: str,
        baseline: str,
        measure: str,
        *,
        track: str | None = None,
        width: Width | None = None,
        progress: Progress = None,
        **choices: Unpack[PairChoices],
    ) -> alt.LayerChart:
        """Draw the difference of two systems on each query, a bar for each.

        Parameters
        ----------
        system, baseline, measure, **choices
            See `Store.pairs.differences`.
        track, width, progress
            See `curve`.

        Returns
        -------
        LayerChart
            Queries in the order of the difference, labelled with their numbers of relevant docs.

        Raises
        ------
        MeasureError, UsageError
            As `Store.pairs.differences`.

        Examples
        --------
        >>> store.plot.differences("aldBM25", "aldDFR", "AP", track="news").save("queries.svg")
        """
        name = only_track(self._store.reader, track).name
        frame = differences(self._store, measure, [system], baseline, name, choices)
        return sized(differences_chart(frame), width)
