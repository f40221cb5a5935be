"""`Store.plot`: figures of a store, one call each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast

import polars as pl

from irmeta.api.differences import differences, differences_chart
from irmeta.api.opened_store import OpenedStore
from irmeta.api.per_doc import SPLITS, SearchLengths, StorePerDoc
from irmeta.api.significance import compare
from irmeta.errors import UsageError, check_choice
from irmeta.measures.curve import curve_table
from irmeta.phrases import count
from irmeta.policies import Buckets, Counted
from irmeta.policy_keywords import (
    EvalChoices,
    GradedChoices,
    PairChoices,
)
from irmeta.progress import Progress, shows_progress
from irmeta.report.charts.curves import Pane, curve_panes
from irmeta.report.charts.histogram import length_panes
from irmeta.report.figure_file import Width, sized
from irmeta.report.figures import rarity_histogram
from irmeta.store.scan import Tracks, only_track, tracks_of

if TYPE_CHECKING:
    import altair as alt


CUTOFFS = range(1, 101)


def _length_histograms(
    every: Iterable[SearchLengths], system: str | None, buckets: Buckets
) -> alt.ConcatChart | alt.LayerChart:
    """Draw the search lengths in a system, or in the best, a small histogram per track."""
    which, frames = system, list[pl.DataFrame]()
    for lengths in every:
        frames.append(lengths.histogram(system, buckets))
        which = system or f"best system by ASL(unretrieved={lengths.unretrieved})"
    return length_panes(
        pl.concat(frames).rename({"track": "pane"}),
        {frame["track"][0]: f"{frame['track'][0]}: {frame['system'][0]}" for frame in frames},
        title=f"Search lengths of relevant docs, {count(len(frames), 'track')}",
        subtitle=f"share of the docs by search length; {which}",
    )


def _length_curves(
    every: Iterable[SearchLengths], systems: Sequence[str | None], by: str | None
) -> alt.ConcatChart | alt.LayerChart:
    """Draw the share of docs within each search length: a curve per system, grade or query."""
    part, frames, tracks = "", list[pl.DataFrame](), list[str]()
    for lengths in every:
        tracks.append(lengths.track)
        for system in systems:
            shares = lengths.shares(system, by)
            pane = f"{lengths.track}: {shares['system'][0]}" if by else lengths.track
            name = pl.format(f"{by} {{}}", by) if by else pl.col("system")
            shares = shares.select(pane=pl.lit(pane), name=name, x="search_length", y="share")
            frames.append(shares.with_columns(dashed=pl.lit(False)))
            which = system or f"the best system by ASL(unretrieved={lengths.unretrieved})"
            part = f" of each {by} in {which}" if by else ""
    frame = pl.concat(frames)
    return curve_panes(
        frame,
        [Pane(name, name, "%") for name in frame["pane"].unique(maintain_order=True)],
        title=f"Search lengths of relevant docs, {count(len(tracks), 'track')}",
        subtitle=f"share of the docs{part} within a search length",
        x_title="search length (non-relevant docs above, plus 1)",
        same_y=True,
    )


class StorePlots:
    r"""Figures of a store, as Altair charts.

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
        system: str | Iterable[str] | None = None,
        *,
        baseline: str | None = None,
        track: Tracks = None,
        by: Literal["grade", "query"] | None = None,
        buckets: Buckets = "linear",
        unretrieved: str = "irrel",
        width: Width | None = None,
        progress: Progress = None,
        **choices: Unpack[PairChoices],
    ) -> alt.ConcatChart | alt.LayerChart:
        """Draw the search lengths of relevant docs, on one track or side by side on several.

        One system has a histogram, as Figure 5 of the paper. Several systems, or the parts of the
        docs of one, have a curve each: the share of the docs within each search length.

        Parameters
        ----------
        system : str or iterable of str, optional
            Name of the system, default the best of each track by ASL; or names of several.
        baseline : str, optional
            A second system, whose search lengths are subtracted, on one track.
        track : str or iterable of str, optional
            Names of tracks, default all.
        by : {'grade', 'query'}, optional
            Draw a curve of the docs of each grade, or of each query, in one system.
        width, progress
            See `curve`.
        buckets : {'linear', 'log'}, default 'linear'
            See `SearchLengths.histogram` and `SearchLengths.differences`.
        rel, unretrieved, **choices
            See `SearchLengths`.

        Returns
        -------
        Chart
            Of more than 12 systems, grades or queries, the median and the quartiles are drawn, and
            the two curves furthest from the median are named.

        Raises
        ------
        UsageError
            If a name or an option is unknown or has no effect, or no doc of a track is relevant.

        Examples
        --------
        >>> store.plot.search_lengths("aldBM25", track="news", width="column").save("lengths.pdf")
        >>> store.plot.search_lengths(buckets="log", unretrieved="depth").save("all_tracks.svg")
        >>> store.plot.search_lengths(["aldBM25", "aldDFR"], track="news").save("systems.svg")
        >>> store.plot.search_lengths(by="grade", track="web").save("grades.svg")
        """
        tracks = tracks_of(self._store.reader, track)
        systems = [system] if system is None or isinstance(system, str) else list(system)
        is_histogram = len(systems) == 1 and by is None
        if by is not None:
            check_choice("by", by, SPLITS)
            if len(systems) != 1:
                raise UsageError(f"by={by!r} splits the docs of one system: name one in `system=`.")
        if not systems:
            raise UsageError("no system was given: omit `system` for the best of each track.")
        if not is_histogram and buckets != "linear":
            raise UsageError(f"buckets={buckets!r} has no effect on curves: omit it.")
        if baseline is not None and not (is_histogram and len(tracks) == 1):
            raise UsageError(
                "`baseline=` compares two systems on one track: name one of "
                f"{', '.join(tracks)} in `track=`, and one system without `by=`."
            )
        read = (
            SearchLengths(self._store, name, unretrieved=unretrieved, **cast("Any", choices))
            for name in tracks
        )
        if not is_histogram:
            return sized(_length_curves(read, systems, by), width)
        if len(tracks) > 1:
            return sized(_length_histograms(read, systems[0], buckets), width)
        (lengths,) = read
        if baseline is None:
            return sized(lengths.show(systems[0], buckets), width)
        return sized(lengths.show_differences(systems[0], baseline, buckets), width)

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
