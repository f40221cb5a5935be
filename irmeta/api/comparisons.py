"""Results of `irmeta.compare`: systems with their tests, and tables of systems by measures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

import numpy as np
import polars as pl

from irmeta._version import __version__
from irmeta.api.gates import Gate, Tested, Unjudged, gate
from irmeta.api.results_or_data import variants_text
from irmeta.errors import UsageError, did_you_mean
from irmeta.phrases import agreeing, count, listed
from irmeta.report.charts.row_charts import rank_places
from irmeta.report.figure_file import offline
from irmeta.report.figures import baseline_differences, pairwise_significance
from irmeta.report.latex import to_latex
from irmeta.report.table_grid import (
    DAGGER,
    DOUBLE_DAGGER,
    Cell,
    Grid,
    Head,
    score_grid,
    to_markdown,
    to_text,
)
from irmeta.results.matrix import Matrix
from irmeta.results.scores import without_zero_counts
from irmeta.stats.baselines import relative_differences
from irmeta.stats.discriminative_power import indistinguishable_groups
from irmeta.stats.orders import round_means
from irmeta.stats.paired import LEAST_CLUSTERS, linearised
from irmeta.stats.pairs import (
    COMPLETE_TESTS,
    CORRECTION_NAMES,
    OF_BOLD,
    Pairs,
    printed_systems,
)
from irmeta.stats.rank_confidence import RankSets, rank_sets
from irmeta.store.scan import Tracks
from irmeta.summaries import Line, Part, Result, Summary, SummaryList
from irmeta.trec.system_names import printed_names

if TYPE_CHECKING:
    import altair as alt

    from irmeta.api.robust import Robust
    from irmeta.stats.interactions import SegmentTables
    from irmeta.stats.replicates import ReplicateTables, VariantTables


MORE_TABLES = (
    *("conclusions", "conditions", "best"),
    *("interactions", "segment_tests"),
    *("methods", "components", "needed", "variants"),
)
"""Tables of robust comparisons, and of those by segment: see `Comparisons`."""


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Comparison of the systems of one track by one measure.

    Attributes
    ----------
    pairs : Pairs
        The test's result for every tested pair.
    systems : DataFrame
        rank (equal means share one), system, mean, queries (number that the mean and, for a test
        of all systems at once, the test used), no_list (of these, queries without a list of the
        system; null: values without lists); best mean first. Then rank_low, rank_high and tier
        (see `irmeta.stats.rank_sets`; not with weights of queries), better_than, worse_than (number
        of systems), top (whether it has a mean and is worse than none; null: no pair of it can be
        tested); or with a baseline
        difference (the system's mean minus the baseline's; where systems lack queries, the column
        baseline_mean comes before it, and means and numbers of queries are of the queries that the
        system shares with the baseline), effect, low, high, interval
        (simultaneous or uncorrected: see `Pairs.interval`), of one-sided tests alternative,
        p_uncorrected and p_adjusted (after the correction, by which the verdict is; see `Pairs`),
        verdict (better, worse, not different, of one-sided tests ``not shown better`` or ``not
        shown worse``, ``cannot be tested: one query`` or another reason of `Pairs.untested`, or
        baseline).
        With ``relative=True`` relative, relative_low, relative_high and relative_interval come
        before difference: the system's mean divided by the baseline's, minus 1, over their shared
        queries, with a two-sided interval of each system alone by Fieller's method; the last names
        the reason where it is undefined.
    alpha : float
        The significance level.
    settings : Mapping
        Other arguments of `compare`: resamples, seed, less_is_better, missing, alternative where it
        is one-sided, and robust where it is true.
    matrix : Matrix
        The values that were tested.
    rank_sets : RankSets or None
        Simultaneous rank sets of the systems, at confidence level 1 - alpha; None with a baseline
        or weights of queries.
    """

    pairs: Pairs
    systems: pl.DataFrame
    alpha: float
    settings: Mapping[str, object]
    matrix: Matrix
    rank_sets: RankSets | None = None

    @property
    def relative_text(self) -> str:
        """What the relative differences are; empty without them."""
        if "relative" not in self.systems.columns:
            return ""
        intervals = f"two-sided {100 * (1 - self.alpha):g}% intervals by Fieller's method"
        return (
            f"relative: mean / mean of {self.pairs.baseline} - 1 over their shared queries; "
            f"{intervals}, each for its system alone"
        )

    @property
    def means_text(self) -> str:
        """What the means are, as a caption names them."""
        return "Weighted means over queries" if self.pairs.weighted else "Means over queries"

    @property
    def own_means(self) -> pl.DataFrame:
        """The columns system and mean: of each system over its own queries."""
        seen = self.matrix.complete() if self.pairs.test in COMPLETE_TESTS else self.matrix
        return pl.DataFrame({"system": list(seen.systems), "mean": seen.means})

    def _summary(self) -> Summary:
        return Summary(self.pairs.subject)

    def frame(self) -> pl.DataFrame:
        """Return `systems`: the columns track, measure and test first.

        Where several qrels sets are compared, qrels follows track, and segment (null: all queries)
        where there are segments; of several baselines, baseline follows measure.
        """
        keys = {**self.pairs.names(), "test": self.pairs.test}
        columns = (pl.lit(text, pl.String).alias(name) for name, text in keys.items())
        return self.systems.select(*columns, pl.all())

    def parts(self, digits: int | None = None, every: bool = False) -> Iterator[Part]:
        """Return the lines and tables to print: see `Summarized.parts`."""
        yield printed_systems(without_zero_counts(self.systems))
        against = self.pairs.baseline is not None
        tested, *lines = self.lines(effect=against)
        yield Line(tested, "bold", "" if against else OF_BOLD)
        yield from map(Line, lines)

    def lines(self, *, effect: bool = True, sets: bool = True) -> list[str]:
        """Return what was tested and found, and what effects, ratios and rank sets are."""
        pairs = self.pairs
        against = "" if pairs.baseline is None else f" against {pairs.baseline}"
        family = f"; {pairs.family_text}" if pairs.family_text else ""
        tested = (
            f"{pairs.subject}, {pairs.test_text}{against}: {pairs.separated_text(self.alpha)}; "
            f"{'greater' if pairs.direction > 0 else 'less'} is better; "
            f"values within {pairs.tolerance:.2g} are equal{family}"
        )
        ranks = f"rank_low, rank_high, tier: {self.rank_sets.text}" if self.rank_sets else ""
        ranks = ranks.replace(" queries", " clusters") if pairs.clusters else ranks
        effects = f"effect: {pairs.effect_text}" if effect else ""
        averaged = variants_text(self.settings)
        more = (pairs.clusters, averaged, effects, self.relative_text, ranks if sets else "")
        return [tested, *filter(None, more)]

    def groups(self) -> pl.DataFrame | None:
        """Return letters for the groups of systems without a significant difference.

        Returns
        -------
        DataFrame or None
            system, groups: two systems differ significantly exactly if they share no letter (no
            number, where there are more than 26 groups). Groups are in the order of `systems`.
            None for a comparison with a baseline, or more than 200 groups.

        Examples
        --------
        >>> (comparison,) = irmeta.compare(store, "AP", track="passage", test="hsd-randomised")
        >>> comparison.groups()["groups"].to_list()
        ['a', 'ab', 'bc', 'bc', 'c', 'c', 'c', 'c', 'c']
        """
        if self.pairs.baseline is not None:
            return None
        order = self.systems["system"].to_list()
        places = [self.pairs.systems.index(system) for system in order]
        groups = indistinguishable_groups(self.pairs.separated(self.alpha)[np.ix_(places, places)])
        if groups is None:
            return None
        labels, between = _labels(len(groups)), "" if len(groups) <= len(ascii_lowercase) else ","
        texts = [
            between.join(label for label, group in zip(labels, groups, strict=True) if i in group)
            for i in range(len(order))
        ]
        return pl.DataFrame(
            {"system": order, "groups": texts}, dict.fromkeys(("system", "groups"), pl.String)
        )

    def show(self) -> alt.LayerChart:
        """Draw the significantly different pairs, or the differences from the baseline."""
        title = f"{self.pairs.subject}: {self.pairs.test}"
        test = correction_text(self.pairs.test, self.pairs.correction)
        if self.pairs.shown is not None:
            test = ", ".join(filter(None, [f"one-sided: {self.pairs.alternative}", test]))
        if self.pairs.baseline is not None:
            chart = baseline_differences(self.systems, self.pairs.baseline, title, self.alpha, test)
            return offline(chart)
        order = self.systems["system"].to_list()
        return offline(pairwise_significance(self.pairs.frame(), order, title, self.alpha, test))

    def show_ranks(self) -> alt.LayerChart | None:
        """Draw the rank set of each system, best first; None without `rank_sets` or pairs."""
        if self.rank_sets is None or not self.rank_sets.pairs:
            return None
        rows = self.rank_sets.systems.rename({"system": "name"})
        return offline(rank_places(rows, f"{self.pairs.subject}: ranks", self.rank_sets.text))


def correction_text(test: str, correction: str) -> str:
    """Return the correction in words; nothing for a test of all systems, which needs none."""
    if correction != "none":
        return f"corrected by {correction}"
    return "" if test in COMPLETE_TESTS else "uncorrected"


class TableChoices(TypedDict, total=False):
    """Keywords of `Comparisons.table`."""

    system_names: Mapping[str, str] | str | Path | None
    caption: str
    track: Tracks


class Comparisons(SummaryList[Comparison]):
    """List of comparisons, by track and measure, that is also a table of systems by measures.

    Attributes
    ----------
    robust : Robust or None
        What `compare` found with ``robust=True``: the frames `conclusions` (significantly different
        pairs, and the conditions that undo or reverse them), `conditions` (how many conclusions
        each condition keeps) and `best` (the systems that no other beats safely).
    by_segment : SegmentTables or None
        What `compare` found with ``segments=``: the frames `interactions` (for each pair, whether
        its difference depends on the segment, and whether it is reversed) and `segment_tests`
        (each pair in each segment, corrected over all segments and pairs).
    replicates : ReplicateTables or None
        What `compare` found with ``replicates=``: the frames `methods` (spread of the runs of each
        method), `components` (variance of methods, replicates and queries) and `needed` (queries
        for reliable means, by the number of replicates).
    variants : VariantTables or None
        What `compare` found of queries with variants, which it averages: the frame `variants`.
    """

    robust: Robust | None = None
    by_segment: SegmentTables | None = None
    replicates: ReplicateTables | None = None
    variants: VariantTables | None = None
    unjudged: Callable[[], Unjudged] | None = None

    def more_tables(self) -> dict[str, pl.DataFrame]:
        """Return the frames of `robust`, `by_segment`, `replicates` and `variants` by name."""
        tables = (self.robust, self.by_segment, self.replicates, self.variants)
        return {n: frame for of in tables if of is not None for n, frame in of._asdict().items()}

    def table(
        self,
        digits: int = 4,
        *,
        system_names: Mapping[str, str] | str | Path | None = None,
        caption: str = "",
        track: Tracks = None,
    ) -> Grid:
        """Return the means of all systems by all measures as the cells of a table.

        The best mean of a measure is bold. Without a baseline each system has a letter (a number
        where there are more than 26), and a superscript names the systems that a system is
        significantly better than. With a baseline, a dagger marks systems that are significantly
        better, a double dagger those that are worse; of several, with the baseline's number.
        Systems are in the order of the first measure.

        Parameters
        ----------
        digits : int, default 4
            Decimal places.
        system_names : Mapping of str to str, str or Path, optional
            Names that the table prints, by system; or a CSV or TSV file of them with the columns
            system and name. Other systems keep their names.
        caption : str, optional
            Text in place of "Means over queries."; what the marks mean, and the test in full, still
            follow.
        track : str or iterable of str, optional
            Only these tracks.

        Raises
        ------
        UsageError
            If a system or track is not in the comparisons, or two systems have one name.
        """
        compared = self._of_tracks(track)
        printed = printed_names(system_names, (s for c in compared for s in c.pairs.systems))
        by_track = groupby(compared, key=lambda one: one.pairs.track)
        parts = [_track_table(list(of_track)) for _, of_track in by_track]
        frame = pl.concat([part.frame for part in parts], how="diagonal")
        if len(parts) == 1:
            frame = frame.drop("track")
        marks = {
            (*key, measure) if len(parts) > 1 else (key[1], measure): mark
            for part in parts
            for (*key, measure), mark in part.marks.items()
        }
        grid = score_grid(
            frame,
            {c.pairs.label: c.pairs.direction for c in compared},
            name="comparison",
            caption=caption or f"{compared[0].means_text}.",
            digits=digits,
            marks=marks,
            system_names=printed,
        )
        grid = replace(grid, notes=(compared._legend(printed),))
        if compared[0].pairs.baseline is not None:
            return grid
        labels = [label for part in parts for label in part.labels]
        rows = tuple((Cell(one), *row) for one, row in zip(labels, grid.rows, strict=True))
        number = Head("", "", is_text=True, is_key=True)
        return replace(grid, head=(number, *grid.head), rows=rows)

    def _of_tracks(self, track: Tracks) -> Comparisons:
        """Return the comparisons of some tracks, or raise `UsageError` for an unknown one."""
        if track is None:
            return self
        known = list(dict.fromkeys(compared.pairs.track for compared in self))
        asked = [track] if isinstance(track, str) else list(track)
        for name in asked:
            if name not in known:
                raise UsageError(f"no track {name!r} is compared. {did_you_mean(name, known)}")
        return Comparisons(compared for compared in self if compared.pairs.track in asked)

    def pair_frame(self) -> pl.DataFrame:
        """Return one row per tested pair of all comparisons, with its p-value: see `Pairs.frame`.

        Examples
        --------
        >>> compared = irmeta.compare(store, ["AP", "RR"], track="news")
        >>> compared.pair_frame().select("measure", "system_a", "system_b").row(-1)
        ('RR', 'doumMan2', 'elmBase')
        """
        return pl.concat(compared.pairs.frame() for compared in self)

    def to_latex(
        self,
        digits: int = 4,
        *,
        siunitx: bool = False,
        label: str = "",
        **choices: Unpack[TableChoices],
    ) -> str:
        """Return `table` as LaTeX with booktabs, as wide as a column of a paper if it fits.

        Parameters
        ----------
        digits : int, default 4
            Decimal places.
        label : str, optional
            Label, with or without ``tab:``; default a name of the table's content, so that no two
            tables of a paper share it.
        siunitx : bool, default False
            Whether numbers are in columns ``S`` of the package siunitx, aligned at the decimal
            point.
        **choices
            system_names, caption and track: see `table`.

        Examples
        --------
        >>> compared = irmeta.compare(store, ["AP", "RR"], track="news")
        >>> latex = compared.to_latex(system_names={"aldBM25": "BM25"}, label="news")
        >>> " BM25 &" in latex, "{tab:news}" in latex
        (True, True)
        """
        made = self._of_tracks(choices.get("track")).made_text()
        return to_latex(self.table(digits, **choices), label=label, made=[made], siunitx=siunitx)

    def made_text(self) -> str:
        """Return what the table is made from, for a comment in LaTeX."""
        tracks = dict.fromkeys(compared.pairs.track for compared in self)
        of_tracks = f"; tracks: {', '.join(tracks)}" if any(tracks) else ""
        return f"irmeta {__version__}{of_tracks}; {self._legend({})}"

    def to_markdown(self, digits: int = 4, **choices: Unpack[TableChoices]) -> str:
        """Return `table` as Markdown, by the same arguments."""
        return to_markdown(self.table(digits, **choices))

    def to_text(self, digits: int = 4, **choices: Unpack[TableChoices]) -> str:
        """Return `table` as aligned text, by the same arguments."""
        return to_text(self.table(digits, **choices))

    def gate(
        self,
        max_drop: float | Mapping[str, float],
        *,
        significant: bool = False,
        lost: int | str = 0,
        non_inferior: bool = False,
    ) -> Gate:
        """Check whether systems are worse than the baseline by more than allowed.

        Parameters
        ----------
        max_drop : float or mapping of str to float
            Largest fall of the mean that passes, in units of the measure; of a measure whose
            smaller values are better, the largest rise. One for all measures, or one for each,
            ``{"nDCG@10": 0.01, "RR": 0.02}``. Systems are compared over the queries on
            which both have a value; without such a query a system fails.
        significant : bool, default False
            Whether a significantly worse system fails too, however small its drop.
        lost : int or str, default 0
            Number of queries, or share of the baseline's queries (``'5%'``), that a system may
            lack: in values, queries without a value; in runs, queries without a list, which also
            count as the worst value where the policy averages them. A system that lacks more fails.
        non_inferior : bool, default False
            Whether a system passes only if it is shown to be no worse: if the one-sided lower limit
            of its gain over the baseline, by Student's paired t at confidence level 1 - alpha, is
            above ``-max_drop``. The level needs no correction, since all systems must pass.

        Raises
        ------
        UsageError
            If there is no baseline or no other system, `max_drop` is below 0 or does not name the
            measures that are compared, `lost` is neither a number nor a share, or for both
            `significant` and `non_inferior`.

        References
        ----------
        .. [1] Berger, R. L. and Hsu, J. C. (1996). Bioequivalence trials, intersection-union tests
           and equivalence confidence sets. doi:10.1214/ss/1032280304

        Examples
        --------
        >>> compared = irmeta.compare(store, "AP", track="news", baseline="aldBM25")
        >>> checked = compared.gate(0.01)
        >>> checked.passed, checked.rows.filter(system="aldDFR")["drop"].round(4).item()
        (False, 0.0271)
        """
        tested = (Tested(compared.pairs, compared.matrix, compared.alpha) for compared in self)
        unjudged = {} if self.unjudged is None else self.unjudged()
        rule: dict[str, Any] = {"lost": lost, "non_inferior": non_inferior}
        return gate(tested, max_drop, unjudged, significant=significant, **rule)

    def test_in_full(self) -> str:
        """Return the test, its correction, its level and the queries, as a caption states them.

        Numbers that differ between measures are ranges.

        Examples
        --------
        >>> irmeta.compare(store, "AP", track="news", baseline="aldBM25").test_in_full()
        'paired t-test, Holm-corrected over 19 pairs, p \u2264 .05, 25 queries of news'
        """
        pairs = self[0].pairs
        several = len({compared.pairs.label for compared in self}) > 1
        measures = " of each measure" if several else ""
        sizes = [compared.pairs.family for compared in self]
        beside = f" with {count(len(pairs.beside) + 1, 'baseline')}" if pairs.beside else ""
        over = f" over {_span(sizes)} {agreeing(max(sizes), 'pair', 'pairs')}{beside}{measures}"
        correction = CORRECTION_NAMES.get(pairs.correction, "family-wise error controlled")
        if pairs.correction == "none" and pairs.test not in COMPLETE_TESTS:
            correction, over = "uncorrected", ""
        level = f"p \u2264 {f'{self[0].alpha:g}'.removeprefix('0')}"
        by_track = defaultdict[str, list[int]](list)
        for compared in self:
            used = compared.pairs.queries[compared.pairs.upper]
            by_track[compared.pairs.track] += used.tolist()
        nouns = ("cluster", "clusters") if pairs.clusters else ("query", "queries")
        queries = [
            f"{_span(numbers)} {agreeing(max(numbers), *nouns)}{f' of {track}' if track else ''}"
            for track, numbers in by_track.items()
            if numbers
        ]
        parts = [pairs.test_name, f"{correction}{over}", level]
        return ", ".join([*parts, *([listed(queries)] if queries else [])])

    def _legend(self, names: Mapping[str, str]) -> str:
        """Return what the marks of `table` mean, with systems by the names that it prints."""
        pairs = self[0].pairs
        test = f"({self.test_in_full()})"
        if pairs.baseline is None:
            text = f"Superscripts: systems that the system is significantly better than {test}."
        else:
            both = f"{DAGGER} significantly better and {DOUBLE_DAGGER} worse than"
            marks = {None: both, "better": f"{DAGGER} significantly better than"}
            better = marks.get(pairs.shown, f"{DOUBLE_DAGGER} significantly worse than")
            baselines = list(dict.fromkeys(str(compared.pairs.baseline) for compared in self))
            printed = [names.get(name, name) for name in baselines]
            several = ", ".join(f"{name} ({i})" for i, name in enumerate(printed, 1))
            text = f"{better} {several if pairs.beside else printed[0]} {test}."
        untested = [(compared.pairs.label, compared.pairs.untested_text) for compared in self]
        return " ".join([text, *(f"{name}: {why}." for name, why in untested if why)])


def _span(numbers: Sequence[int]) -> str:
    """Return equal numbers as one, others as a range: ``98 to 100``."""
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


class _TrackTable(NamedTuple):
    """Means of one track with one column per measure, and marks by track, system and measure."""

    frame: pl.DataFrame
    labels: list[str]
    marks: dict[tuple[str, str, str], str]


def _track_table(comparisons: list[Comparison]) -> _TrackTable:
    track = comparisons[0].pairs.track
    order = comparisons[0].systems["system"]
    frame = pl.DataFrame(
        {"track": pl.Series([track] * len(order), dtype=pl.String), "system": order}
    )
    labels = _labels(len(order))
    label_of = dict(zip(order, range(len(order)), strict=True))
    marks: dict[tuple[str, str, str], str] = {}
    baselines = list(dict.fromkeys(compared.pairs.baseline for compared in comparisons))
    for compared in comparisons:
        pairs = compared.pairs
        if pairs.label not in frame.columns:
            means = (
                compared.own_means if pairs.beside else compared.systems.select("system", "mean")
            )
            means = means.rename({"mean": pairs.label})
            frame = frame.join(means, on="system", how="left", maintain_order="left")
        better = pairs.better(compared.alpha)
        for place, system in enumerate(pairs.systems):
            key = (track, system, pairs.label)
            if pairs.baseline is None:
                below = sorted(label_of[pairs.systems[j]] for j in np.flatnonzero(better[place]))
                marks[key] = _ranges(below, labels)
                continue
            base = pairs.systems.index(pairs.baseline)
            is_worse = DOUBLE_DAGGER if better[base, place] else ""
            mark = DAGGER if better[place, base] else is_worse
            number = str(1 + baselines.index(pairs.baseline)) if pairs.beside and mark else ""
            marks[key] = marks.get(key, "") + mark + number
    return _TrackTable(frame, labels, marks)


def _labels(number: int) -> list[str]:
    """Return letters for systems, or numbers where there are too many."""
    if number <= len(ascii_lowercase):
        return list(ascii_lowercase[:number])
    return [str(i + 1) for i in range(number)]


def _ranges(places: list[int], labels: list[str]) -> str:
    """Return labels with three or more neighbours as a range: ``a,c-f``; ``ab`` without ranges."""
    runs = [
        [place for _, place in run]
        for _, run in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0])
    ]
    is_compact = labels[0] == "a" and all(len(run) < 3 for run in runs)
    parts = [
        f"{labels[run[0]]}-{labels[run[-1]]}" if len(run) > 2 else label
        for run in runs
        for label in (labels[place] for place in (run[:1] if len(run) > 2 else run))
    ]
    return ("" if is_compact else ",").join(parts)


def comparison(
    matrix: Matrix,
    pairs: Pairs,
    alpha: float,
    settings: Mapping[str, object],
    rng: int | np.random.Generator,
    *,
    relative: bool = False,
) -> Comparison:
    """Return the systems of a matrix, best first, with the results of a test and rank sets."""
    seen = matrix.complete() if pairs.test in COMPLETE_TESTS else matrix
    means, used = seen.means, (~np.isnan(seen.values)).sum(axis=0)
    ranked, shared = means, dict[str, np.ndarray]()
    if pairs.baseline is not None and seen.missing.any():
        base = pairs.systems.index(pairs.baseline)
        means, used, shared = _shared_means(seen, base)
        # By the differences: means are of other queries for each system.
        ranked = seen.means[base] + pairs.difference[:, base]
    worst_last = np.where(np.isnan(ranked), np.inf, -matrix.direction * round_means(ranked))
    order = np.lexsort((np.array(matrix.systems), worst_last))
    place = np.searchsorted(np.sort(worst_last), worst_last) + 1
    is_every = pairs.baseline is None
    has_sets = is_every and not pairs.weighted
    if pairs.clusters:
        has_sets &= len(seen.queries) >= LEAST_CLUSTERS
    ranked_by = linearised(seen) if pairs.clusters else seen
    sets = rank_sets(ranked_by, confidence=1 - alpha, rng=rng) if has_sets else None
    facts = _counts(pairs, means, alpha, sets) if is_every else _against(pairs, alpha)
    if relative:
        base = pairs.systems.index(str(pairs.baseline))
        facts = {**relative_differences(seen.values, base, 1 - alpha).to_dict(), **facts}
    frame = pl.DataFrame(
        {
            "rank": pl.Series(place, dtype=pl.Int32),
            "system": pl.Series(list(matrix.systems), dtype=pl.String),
            "mean": means,
            "queries": used.astype(np.int32),
            "no_list": _without_list(seen),
            **shared,
            **facts,
        }
    )
    return Comparison(pairs, frame[order.tolist()], alpha, settings, matrix, sets)


def _shared_means(
    matrix: Matrix, base: int
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return means and numbers over the queries that each system shares with the baseline."""
    is_shared = ~np.isnan(matrix.values) & ~np.isnan(matrix.values[:, [base]])
    values = np.where(is_shared, matrix.values, np.nan)
    of_baseline = np.where(is_shared, matrix.values[:, [base]], np.nan)
    means = replace(matrix, values=of_baseline).means
    return replace(matrix, values=values).means, is_shared.sum(axis=0), {"baseline_mean": means}


def _without_list(matrix: Matrix) -> pl.Series:
    """Count for each system the queries of its mean without a list; null where unknown."""
    if matrix.no_list is None:
        return pl.Series([None] * len(matrix.systems), dtype=pl.Int32)
    return pl.Series((matrix.no_list & ~np.isnan(matrix.values)).sum(axis=0), dtype=pl.Int32)


def _counts(
    pairs: Pairs, means: np.ndarray, alpha: float, sets: RankSets | None
) -> dict[str, np.ndarray | pl.Series | list[bool | None]]:
    better = pairs.better(alpha)
    worse_than = better.sum(axis=0)
    top = (worse_than == 0) & ~np.isnan(means)
    is_open = top & (np.isnan(pairs.p_adjusted).sum(axis=1) == max(len(means) - 1, 1))
    ranks = dict[str, pl.Series]()
    if sets is not None:
        systems = pl.DataFrame({"system": pairs.systems}, {"system": pl.String})
        joined = systems.join(sets.systems, on="system", how="left", maintain_order="left")
        ranks = {name: joined[name] for name in ("rank_low", "rank_high", "tier")}
    return {
        **ranks,
        "better_than": better.sum(axis=1).astype(np.int32),
        "worse_than": worse_than.astype(np.int32),
        "top": [None if no_test else one for one, no_test in zip(top, is_open, strict=True)],
    }


def _against(pairs: Pairs, alpha: float) -> dict[str, np.ndarray | pl.Series]:
    """Return the tests against the baseline, one row per system."""
    base = pairs.systems.index(str(pairs.baseline))
    better, undefined = pairs.better(alpha), np.full(pairs.p_adjusted.shape, np.nan)
    low, high = (undefined if one is None else one for one in (pairs.low, pairs.high))
    neither = "not different" if pairs.shown is None else f"not shown {pairs.shown}"
    verdict = np.select(
        [better[:, base], better[base], np.arange(len(better)) == base],
        ["better", "worse", "baseline"],
        [f"cannot be tested: {one}" if one else neither for one in pairs.untested[:, base]],
    )
    columns = {"difference": pairs.difference, "effect": pairs.effect, "low": low, "high": high}
    p_values = {"p_uncorrected": pairs.p_uncorrected, "p_adjusted": pairs.p_adjusted}
    is_baseline = verdict == "baseline"
    columns, p_values = (
        {name: np.where(is_baseline, np.nan, array[:, base]) for name, array in arrays.items()}
        for arrays in (columns, p_values)
    )
    kinds = [None if one == "baseline" else pairs.interval for one in verdict]
    side = pl.Series([pairs.alternative] * len(kinds), dtype=pl.String)
    sides = {} if pairs.shown is None else {"alternative": side}
    return {
        **columns,
        "interval": pl.Series(kinds, dtype=pl.String),
        **sides,
        **p_values,
        "verdict": pl.Series(verdict.tolist(), dtype=pl.String),
    }
