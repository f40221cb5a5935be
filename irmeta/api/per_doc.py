"""`Store.per_doc`: search lengths and rarity of docs, and their exploration."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, get_args

import numpy as np
import polars as pl

from irmeta.api.opened_store import OpenedStore
from irmeta.errors import UsageError, check_choice, check_positive, check_whole, did_you_mean, warn
from irmeta.measures.evaluate import evaluate_block, included
from irmeta.measures.names import parse_measure
from irmeta.measures.search_length import UNRETRIEVED, irrelevant_retrieved, lengths_by_doc
from irmeta.phrases import count
from irmeta.policies import Buckets, Counted, Rarity
from irmeta.policy_keywords import GradedChoices
from irmeta.progress import Progress, shows_progress
from irmeta.rankings.holders import RARITIES
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import judged_ranks, over_blocks
from irmeta.rankings.track import Track
from irmeta.report.figure_file import offline
from irmeta.report.figures import (
    DOC_CELLS,
    MOST_DOCS,
    browser,
    fitting_bars,
    length_differences,
    length_histogram,
)
from irmeta.results.per_doc import (
    Contributions,
    contributions_frame,
    count_contributions,
    rarity_frame,
    search_length_table,
)
from irmeta.results.scores import Scores
from irmeta.schema.arrow import as_frame
from irmeta.stats import search_lengths as cut
from irmeta.stats.orders import round_means
from irmeta.store.scan import Tracks
from irmeta.summaries import Result, Summary

if TYPE_CHECKING:
    import altair as alt


BUCKETS = get_args(Buckets)
SPLITS = ("grade", "query")
MOST_SHARES = 100  # search lengths of `SearchLengths.shares`
BROWSED_SYSTEMS = 200  # the best of a track, in the interactive chart


class SearchLengths(Result):
    """Search length of every relevant doc of a track in every system.

    Parameters
    ----------
    store : Store, str or Path
        A store, or its folder.
    track : str, optional
        Name of the track; optional if the store has only one.
    rel : float, default 1
        Smallest relevant grade.
    unretrieved : {'irrel', 'floor', 'irrel+1', 'depth'}, default 'irrel'
        Search length of a doc that is not retrieved: see measure ASL.
    **policy
        Fields of `EvalPolicy`; `queries` selects the queries of ASL, docs are of all queries.

    Warns
    -----
    UserWarning
        If most lists have no non-relevant doc, so that search lengths are meaningless.

    Raises
    ------
    UsageError
        If the track or an option is unknown, or no doc of the track is relevant.

    Notes
    -----
    The track is read once. A doc takes four bytes per system (eight where lists are deeper than
    65,534). In all methods, the default system is the best by ASL, and the second the median.

    Examples
    --------
    >>> lengths = irmeta.SearchLengths(store, "news")
    >>> lengths.best, lengths.median
    ('doumMan1', 'aldBM25')
    >>> lengths.histogram(buckets="log")["docs"].to_list()  # the last bucket: not retrieved
    [324, 118, 43, 33, 34, 4, 0, 456]
    >>> lengths.docs_between(-1, 1).height  # docs at nearly the same length in best and median
    105
    """

    def __init__(
        self,
        store: OpenedStore | str | Path,
        track: str | None = None,
        *,
        rel: float = 1,
        unretrieved: str = "irrel",
        **policy: Unpack[GradedChoices],
    ) -> None:
        check_choice("unretrieved", unretrieved, UNRETRIEVED)
        rel = check_positive("rel", rel)
        opened = store if isinstance(store, OpenedStore) else OpenedStore(store)
        if track is None and len(opened.tracks) != 1:
            raise UsageError(f"specify a track of {opened.reader}: {', '.join(opened.tracks)}.")
        self.track: str = opened.tracks[0] if track is None else track
        self.rel: float = rel
        self.unretrieved: str = unretrieved
        self._read(opened.track(self.track, opened.policy_with(policy)))
        if 2 * self._without > self._lists:
            warn(
                f"{self._without:,} of {self._lists:,} lists of {self.track} hold only relevant "
                "docs, so search lengths are meaningless there.",
                stacklevel=2,
            )
        self._place = {name: i for i, name in enumerate(self._names)}
        self._counted: dict[str, pl.DataFrame] = {}

    def _read(self, track: Track) -> None:
        spec = parse_measure(f"ASL(rel={self.rel},unretrieved={self.unretrieved})")
        docs, ranks, lengths, scores = [], [], [], []
        self._without = self._lists = 0
        for view in judged_ranks(track):
            rows = view.relevant_rows(self.rel)
            ranks.append(view.ranks[rows])
            # whole numbers up to the track's deepest rank + 1, so they fit where ranks do
            block = lengths_by_doc(view, self.rel, self.unretrieved)
            lengths.append(block.astype(view.ranks.dtype))
            scores.append(evaluate_block(view, [spec], track.policy))
            there = (view.lengths > 0) & (view.counts(self.rel) > 0)[:, None]
            self._lists += int(there.sum())
            self._without += int((there & (irrelevant_retrieved(view, self.rel) == 0)).sum())
            query = pl.Series(view.queries, dtype=pl.String).gather(view.query_of(rows))
            columns = {"query": query, "doc": view.docs.gather(rows), "grade": view.grades[rows]}
            docs.append(pl.DataFrame(columns))
            self._missing, self._names = view.missing, view.systems
        self._docs, self._ranks = pl.concat(docs), np.concatenate(ranks)
        self._lengths = np.concatenate(lengths)
        self._asl = Scores.concat(scores).mean_values()[0]
        if self._docs.is_empty():
            raise UsageError(f"track {self.track!r} has no doc of grade {self.rel} or more.")

    def _summary(self) -> Summary:
        sizes = {"system": len(self._names), "relevant doc": self._docs.height}
        facts = [count(number, noun) for noun, number in sizes.items()]
        facts.append(f"unretrieved={self.unretrieved}")
        return Summary(self.track, facts)

    def frame(self) -> pl.DataFrame:
        """Return `systems`."""
        return self.systems

    @cached_property
    def systems(self) -> pl.DataFrame:
        """Table of systems by ASL: rank, system, ASL, not_retrieved (share of relevant docs).

        Systems whose values differ only by the order of summation share a rank, by name. A system
        without a value (NaN) is last and has no rank.
        """
        missed = [(self._ranks[:, i] == self._missing).mean() for i in range(len(self._names))]
        order = pl.Series("order", round_means(self._asl))
        place = order.fill_nan(None).rank("min").cast(pl.Int32).alias("rank")
        frame = pl.DataFrame({"system": self._names, "ASL": self._asl, "not_retrieved": missed})
        return frame.select(place, pl.all(), order).sort("order", "system").drop("order")

    @property
    def best(self) -> str:
        """System with the smallest ASL; of equal systems the first by name."""
        return self.systems["system"][0]

    @property
    def median(self) -> str:
        """System in the middle by ASL; of an even number the better of the middle two."""
        order = self.systems.drop_nulls("rank")["system"]
        return order[max(0, len(order) - 1) // 2] if len(order) else self.best

    def histogram(self, system: str | None = None, buckets: Buckets = "linear") -> pl.DataFrame:
        """Count relevant docs by search length.

        Parameters
        ----------
        system : str, optional
            Name of the system.
        buckets : {'linear', 'log'}, default 'linear'
            ``linear``: at most 20 of one round width, so that their counts show the shape of the
            distribution. ``log``: 1, 2 to 4, 5 to 9, 10 to 19, ...

        Returns
        -------
        DataFrame
            track, system, low, high, docs: one row per bucket, the docs not retrieved last (low and
            high null). All systems have the same buckets.
        """
        return self._histograms(buckets).filter(pl.col("system") == self._named(system))

    def _histograms(self, buckets: Buckets) -> pl.DataFrame:
        check_choice("buckets", buckets, BUCKETS)
        if buckets not in self._counted:
            is_retrieved = self._ranks != self._missing
            longest = int(self._lengths.max(initial=0, where=is_retrieved))
            lows, last = cut.length_lows(buckets, longest)
            counts = [  # one system at a time, so that floats stay few
                cut.length_buckets(self._lengths[:, [i]].astype(float), is_retrieved[:, [i]], lows)
                for i in range(len(self._names))
            ]
            frame = cut.length_frame(self.track, self._names, np.concatenate(counts), lows, last)
            self._counted[buckets] = frame
        return self._counted[buckets]

    def show(self, system: str | None = None, buckets: Buckets = "linear") -> alt.LayerChart:
        """Draw `histogram`."""
        frame = self.histogram(system, buckets)
        return offline(length_histogram(frame, f"{self.track}: {self._named(system)}"))

    def shares(self, system: str | None = None, by: str | None = None) -> pl.DataFrame:
        """Compute the share of the relevant docs that a reader meets within each search length.

        Parameters
        ----------
        system : str, optional
            Name of the system.
        by : {'grade', 'query'}, optional
            Split the docs by their grade or query; each share is then of these docs.

        Returns
        -------
        DataFrame
            system, grade or query (with `by`), docs, search_length, share: up to 100 search lengths
            of equal ratios. The last share of a system is below 1 by the docs not retrieved.

        Examples
        --------
        >>> lengths = irmeta.SearchLengths(store, "news")
        >>> lengths.shares("aldBM25").filter(search_length=10)["share"].round(3)[0]
        0.256
        """
        if by is not None:
            check_choice("by", by, SPLITS)
        name = self._named(system)
        longest = int(self._lengths.max(initial=1, where=self._ranks != self._missing))
        grid = np.unique(np.geomspace(1, longest, MOST_SHARES).round()).astype(np.int32)
        docs, frames = self._of(name), list[pl.DataFrame]()
        for part in docs.sort(by, maintain_order=True).partition_by(by) if by else [docs]:
            within = part.drop_nulls("rank")["search_length"].to_numpy()
            share = np.searchsorted(within, grid, side="right") / part.height
            facts = {"system": [name], **({by: part[by].head(1)} if by else {})}
            facts = pl.DataFrame(facts | {"docs": [part.height]})
            shares = pl.DataFrame({"search_length": grid, "share": share})
            frames.append(facts.join(shares, how="cross"))
        return pl.concat(frames)

    def docs(
        self, system: str | None = None, low: int | None = None, high: int | None = None
    ) -> pl.DataFrame:
        """Return the relevant docs in a bucket of the histogram.

        Parameters
        ----------
        system : str, optional
            Name of the system.
        low, high : int, optional
            Both ends of the bucket. Without low: the docs not retrieved; without high: no limit.

        Returns
        -------
        DataFrame
            query, doc, grade, rank (null: not retrieved), search_length; by search length, query
            and doc.
        """
        frame, rank, length = self._of(self._named(system)), pl.col("rank"), pl.col("search_length")
        if low is None and high is None:
            return frame.filter(rank.is_null())
        least, most = _ends(low, cut.GREATEST if high is None else high)
        return frame.filter(rank.is_not_null() & length.is_between(least, most))

    def differences(
        self, a: str | None = None, b: str | None = None, buckets: Buckets = "linear"
    ) -> pl.DataFrame:
        """Count docs by the difference of their search lengths, `a` minus `b`.

        Parameters
        ----------
        a, b : str, optional
            Names of the systems.
        buckets : {'linear', 'log'}, default 'linear'
            ``linear``: at most 10 of one round width on each side of 0. ``log``: 1, 2 to 4, 5 to 9,
            10 to 19, ... on each side.

        Returns
        -------
        DataFrame
            low, high, retrieved (both, first, second, neither), docs: see
            `irmeta.stats.search_lengths.difference_buckets`. `a` is better below zero.
        """
        check_choice("buckets", buckets, BUCKETS)
        compared = self.compared(a, b)
        ranks = (compared[name].is_not_null().to_numpy() for name in ("rank_a", "rank_b"))
        return cut.difference_buckets(compared["difference"].to_numpy(), tuple(ranks), buckets)

    def show_differences(
        self, a: str | None = None, b: str | None = None, buckets: Buckets = "linear"
    ) -> alt.LayerChart:
        """Draw `differences`."""
        pair = self._pair(a, b)
        usual = pair == (self.best, self.median)
        roles = ("best", "median") if usual else ("first", "second")
        named = pl.col("retrieved").replace(dict(zip(("first", "second"), roles, strict=True)))
        frame = self.differences(a, b, buckets).with_columns(named)
        return offline(length_differences(frame, self.track, pair, roles))

    def compared(self, a: str | None = None, b: str | None = None) -> pl.DataFrame:
        """Compare every relevant doc in two systems.

        Returns
        -------
        DataFrame
            query, doc, grade, rank_a, rank_b (null: not retrieved), length_a, length_b, difference
            (a minus b; `a` is better below zero); by query and doc.
        """
        first, second = self._pair(a, b)
        length_a, length_b = self._length(first), self._length(second)
        return self._docs.with_columns(
            rank_a=self._rank(first),
            rank_b=self._rank(second),
            length_a=length_a,
            length_b=length_b,
            difference=length_a - length_b,
        )

    def docs_between(
        self, low: int, high: int, a: str | None = None, b: str | None = None
    ) -> pl.DataFrame:
        """Return the rows of `compared` with a difference from `low` to `high`, sorted by it."""
        inside = pl.col("difference").is_between(*_ends(low, high))
        return self.compared(a, b).filter(inside).sort("difference", maintain_order=True)

    def ranks(self, query: str, doc: str) -> pl.DataFrame:
        """Return the ranks of a doc: system, rank (null: not retrieved), search_length.

        Rows are sorted by rank, then name; systems that do not retrieve the doc are last.
        """
        _check(f"no query {query!r} has a relevant doc in {self.track}", query, self._docs["query"])
        docs = self._docs.with_row_index("row").filter(pl.col("query") == query)
        _check(f"{doc!r} is no relevant doc of query {query}", doc, docs["doc"])
        row = docs.filter(pl.col("doc") == doc)["row"][0]
        columns = {"rank": self._ranks[row], "search_length": self._lengths[row].astype(float)}
        rank = pl.col("rank").replace(self._missing, None).cast(pl.Int32)
        frame = pl.DataFrame({"system": self._names} | columns).with_columns(rank)
        return frame.sort("rank", "system", nulls_last=True)

    def browse(self, system: str | None = None) -> alt.VConcatChart:
        """Draw an interactive histogram: choose a system, click a bar, see its docs.

        The chart needs no widgets, only a notebook that draws Vega-Lite. Each bar has up to 20
        docs, fewer where all docs take over 1.5 MB; the chart says where it omits docs. Above 200
        systems the chart has the best by ASL and `system`. Bars are those of ``buckets="log"``.
        """
        import altair as alt

        name, order = self._named(system), self.systems.select("rank", "system", "ASL").rows()
        browsed = [row for i, row in enumerate(order) if i < BROWSED_SYSTEMS or row[1] == name]
        menu = {s: f"{at}. {s} (ASL {asl:,.1f})" if at else s for at, s, asl in browsed}
        buckets = cut.bucket_names(self.histogram(name, "log"))
        bars, most = fitting_bars([bar for s in menu for bar in self._bars(s, buckets)])
        said = ["Choose a system below, and click a bar for the docs behind it."]
        if any(bar["docs"] > most for bar in bars):
            said.append(f"A bar lists its first {most} docs by search length; docs() has them all.")
        if len(menu) < len(order):
            said.append(f"{len(menu)} of {len(order):,} systems: the best by ASL.")
        title = alt.TitleParams(f"{self.track}: search lengths of relevant docs", subtitle=said)
        options = alt.binding_select(options=[*menu], labels=[*menu.values()], name="system ")
        chosen = alt.param("system", value=name, bind=options)
        chart = browser(bars, [*buckets.values()]).properties(title=title)
        return offline(chart.add_params(chosen))

    def _bars(self, system: str, names: Mapping[int | None, str]) -> list[dict[str, Any]]:
        """Return the non-empty bars of one system, each with the table cells of its first docs."""
        lows, frame = [low for low in names if low is not None], self._of(system)
        bucket = np.searchsorted(lows, frame["search_length"].to_numpy(), side="right") - 1
        bucket[frame["rank"].is_null().to_numpy()] = len(lows)
        # a line has no room for 120 characters of an id: what is cut off is not seen either way
        cells = pl.col(DOC_CELLS).cast(pl.String).str.slice(0, 120).fill_null("\u2013")
        return (
            frame.group_by(bucket=pl.Series([*names.values()]).gather(bucket), maintain_order=True)
            .agg(docs=pl.len(), shown=pl.concat_list(cells).head(MOST_DOCS))
            .select(pl.lit(system).alias("system"), pl.all())
            .to_dicts()
        )

    def _of(self, system: str) -> pl.DataFrame:
        """All relevant docs, with their rank and search length in one system, by that length."""
        columns = {"rank": self._rank(system), "search_length": self._length(system)}
        return self._docs.with_columns(**columns).sort("search_length", maintain_order=True)

    def _rank(self, system: str) -> pl.Series:
        rank = pl.Series(self._ranks[:, self._place[system]])
        return rank.replace(self._missing, None).cast(pl.Int32)

    def _length(self, system: str) -> pl.Series:
        return pl.Series(self._lengths[:, self._place[system]]).cast(pl.Float64)

    def _named(self, system: str | None) -> str:
        if system is not None:
            _check(f"no system {system!r} in {self.track}", system, self._names)
        return self.best if system is None else system

    def _pair(self, a: str | None, b: str | None) -> tuple[str, str]:
        return self._named(a), self._named(self.median if b is None else b)


def _check(otherwise: str, name: object, known: Collection[str]) -> None:
    if name not in list(known):  # a Series refuses what is no text
        raise UsageError(f"{otherwise}. {did_you_mean(str(name), known)}")


def _ends(low: int | None, high: int) -> tuple[int, int]:
    if low is None or low > high:
        raise UsageError(f"low = {low}, high = {high} are not the bounds of a bucket.")
    return low, high


class StorePerDoc:
    """Tables of the relevant docs of a store.

    The store is read a block of queries at a time.
    """

    def __init__(self, store: OpenedStore) -> None:
        self._store, self._reader = store, store.reader

    @shows_progress("Reading lists")
    def search_lengths(
        self,
        track: Tracks = None,
        *,
        rel: float = 1,
        unretrieved: str = "irrel",
        workers: int | None = None,
        progress: Progress = None,
        **choices: Unpack[GradedChoices],
    ) -> pl.DataFrame:
        """Compute the search length of each relevant doc in each system.

        Parameters
        ----------
        track, workers, progress, **choices
            See `Store.evaluate`, which also describes errors.
        rel : float, default 1
            Smallest relevant grade.
        unretrieved : {'irrel', 'floor', 'irrel+1', 'depth'}, default 'irrel'
            Search length of a doc that is not retrieved: see measure ASL.

        Returns
        -------
        DataFrame
            track, system, query, doc, grade, rank (null: not retrieved), search_length, weight;
            sorted by track, query, system, doc. A weight is 1 / relevant docs of the query, or 0
            where the policy leaves the query out of means: the weighted mean of the search lengths
            of a system is its ASL.

        References
        ----------
        .. [1] Alex, Hall and Metzler (2022). Atomized search length, Eqs. 2 and 3.

        Examples
        --------
        >>> lengths = store.per_doc.search_lengths("news", system="aldBM25", query=[901, 918])
        >>> lengths.select("doc", "rank", "search_length").row(2)
        ('NW19990114-0039', 21, 9.0)
        >>> weighted = lengths["search_length"] * lengths["weight"]
        >>> round(weighted.sum() / lengths["weight"].sum(), 3)
        99.533
        >>> means = store.means("ASL", track="news", system="aldBM25", query=[901, 918])
        >>> round(means["value"][0], 3)
        99.533
        """
        policy = self._store.policy_with(choices)
        check_choice("unretrieved", unretrieved, UNRETRIEVED)
        rel = check_positive("rel", rel)

        def rows(view: JudgedRanks) -> pl.DataFrame:
            lengths = lengths_by_doc(view, rel, unretrieved)
            return as_frame(search_length_table(view, rel, lengths, included(view, rel, policy)))

        return _joined(rows, self._store.each(track, policy), workers)

    @shows_progress("Reading lists")
    def rarity(
        self,
        track: Tracks = None,
        *,
        rarity_depth: int = 100,
        rel: float = 1,
        counted: Counted = "systems",
        rarity: Rarity = "linear",
        workers: int | None = None,
        progress: Progress = None,
        **choices: Unpack[GradedChoices],
    ) -> pl.DataFrame:
        """Count the systems that retrieve each relevant doc at a rank up to `rarity_depth`.

        Parameters
        ----------
        track, workers, progress, **choices
            See `Store.evaluate`, which also describes errors.
        rarity_depth : int, default 100
            Deepest rank at which a system retrieves a doc.
        rel : float, default 1
            Smallest relevant grade.
        counted : {'systems', 'groups', 'pooled'}, default 'systems'
            What is counted: all systems; groups, which retrieve what one of their systems does (a
            system without a group is a group of its own); systems that contributed to the pool
            (all systems, where this is unknown).
        rarity : {'linear', 'revised', 'idf', 'unique'}, default 'linear'
            Rarity of a doc that S_d of the S counted retrieve: 1 - S_d / S (Eq. 2);
            1 - (S_d - 1) / (S - 1) (Section 5.2); log(S / S_d) / log(S); 1 if S_d = 1, else 0. It
            is 1 for S_d = 0; else 0 for S = 1.

        Returns
        -------
        DataFrame
            track, query, doc, grade, retrieved_by (S_d), systems (S), rarity; sorted by track,
            query, doc.

        References
        ----------
        .. [1] Tuerkmen, Lease and Kutlu (2023). doi:10.1007/978-3-031-28238-6_16

        Examples
        --------
        >>> store.per_doc.rarity("news").select("retrieved_by", "systems", "rarity").row(0)
        (10, 20, 0.5)
        >>> store.per_doc.rarity("news", rarity="revised")["rarity"].round(3)[0]
        0.526
        """
        policy = self._store.policy_with(choices)
        check_whole("rarity_depth", rarity_depth)
        rel = check_positive("rel", rel)
        check_choice("rarity", rarity, RARITIES)
        if counted == "others":
            raise UsageError(
                "counted = 'others' gives a doc a rarity for each group: the measures have it, as "
                "RareP(counted=others)@100. Choose systems, groups or pooled."
            )
        check_choice("counted", counted, ("systems", "groups", "pooled"))

        def rows(view: JudgedRanks) -> pl.DataFrame:
            return rarity_frame(view, rarity_depth, rel, counted, rarity)

        return _joined(rows, self._store.each(track, policy), workers)

    @shows_progress("Reading lists")
    def contributions(
        self,
        track: Tracks = None,
        rarity_depth: int = 100,
        *,
        rel: float = 1,
        workers: int | None = None,
        progress: Progress = None,
        **choices: Unpack[GradedChoices],
    ) -> pl.DataFrame:
        """Count the relevant docs that each system retrieves, and those that only it retrieves.

        Parameters
        ----------
        track, workers, progress, **choices
            See `Store.evaluate`, which also describes errors.
        rarity_depth : int, default 100
            Deepest rank at which a system retrieves a doc.
        rel : float, default 1
            Smallest relevant grade.

        Returns
        -------
        DataFrame
            One row per track and system: track, system, found (relevant docs that the system
            retrieves, over all queries), unique (of them, docs that no other system retrieves),
            unique_to_group (docs that no system outside its group retrieves; null: the track states
            no groups), share (`found` over the docs that any system retrieves; NaN without such
            docs), mean_rarity (mean of 1 - S_d / S over the docs in `found`, where S_d of S systems
            retrieve a doc; NaN without such docs).

        References
        ----------
        .. [1] Tuerkmen, Lease and Kutlu (2023), Section 4.6. doi:10.1007/978-3-031-28238-6_16

        Examples
        --------
        >>> best = store.per_doc.contributions("news", rarity_depth=20).sort("found")[-1]
        >>> best.select("system", "found", "unique").row(0)
        ('doumMan1', 322, 11)
        """
        policy = self._store.policy_with(choices)
        check_whole("rarity_depth", rarity_depth)
        rel = check_positive("rel", rel)

        def counts(view: JudgedRanks) -> Contributions:
            return count_contributions(view, rarity_depth, rel)

        return pl.concat(
            contributions_frame(opened.facts, list(over_blocks(counts, opened, workers=workers)))
            for opened in self._store.each(track, policy)
        )


def _joined(
    rows: Callable[[JudgedRanks], pl.DataFrame], tracks: Iterable[Track], workers: int | None
) -> pl.DataFrame:
    """Concatenate the rows of all blocks."""
    frames = (frame for track in tracks for frame in over_blocks(rows, track, workers=workers))
    return pl.concat(frames, how="vertical_relaxed")  # grades of a track may be decimal
