"""The study of atomized search length: its paper, options and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from irmeta.options import option
from irmeta.policies import Buckets, Test, TrackOptions, Unretrieved
from irmeta.schema.columns import (
    MEASURE,
    SYSTEM,
    TRACK,
    Column,
    Paper,
    Table,
    difference_columns,
    measured,
    percent,
    spread_columns,
    stored,
)
from irmeta.schema.result_tables import MEANS, SEARCH_LENGTH_HISTOGRAM
from irmeta.studies.framework.study import Study

SOURCE = "Alex, Hall and Metzler 2022, Atomized Search Length: Beyond User Models"

# mean less and plus one standard deviation, by chain and step
_PRINTED = {
    ("AP", 1): ("26\u201360%", "0.7\u20130.9", "0.3\u20130.6x"),
    ("AP", 2): ("37\u201377%", "0.4\u20130.8", "0.03\u20130.4x"),
    ("AP", 3): ("29\u201378%", "0.4\u20130.9", "0.1\u20130.9x"),
    ("AP", 0): ("26\u201360%", "0.6\u20130.9", "0.004\u20130.06x"),
    ("P@20", 0): ("40\u201376%", "0.4\u20130.8", None),
    ("RR", 0): ("49\u201385%", "0.3\u20130.7", None),
}
TABLE_2: Mapping[str, Mapping[tuple[Any, ...], Paper]] = {
    column: {
        (*key, "floor"): Paper(value, "Table 2" if key[0] == "AP" else "Section 4.4")
        for key, values in _PRINTED.items()
        for value in [values[i]]
        if value is not None
    }
    for i, column in enumerate(("delta_sort", "tau", "delta_value"))
}

EFFECTIVE_FRACTION = Paper("57% \u00b1 16", "Appendix A.1")


PERSISTENCE = 0.8  # of RBP
RATIO = 1.1  # least ratio of means for one system to count as better
CONFIDENCE = 0.95  # of intervals


@dataclass(frozen=True)
class SearchLengthOptions(TrackOptions):
    """Options of the study of atomized search length."""

    rel: int = option(  # pyright: ignore[reportIncompatibleVariableOverride]
        1, "Least relevant grade.", least=1, most=127
    )
    unretrieved: Unretrieved = option(
        "irrel",
        "Search length of a relevant doc that is not retrieved (depth: as if at rank D + 1, below "
        "the track's deepest rank D); Table 2 has both floor and depth.",
    )
    min_systems: int = option(
        5, "Exclude tracks with fewer systems from results over tracks (paper: 5).", least=1
    )
    best_by: str | None = option(
        None,
        "Measure that defines the best system; default each measure for itself.",
        parse="irmeta.measures.names:canonical_name",
    )
    baseline: str = option(
        "median",
        "Baseline of Table 1: best, median (by ASL), a system, or COLUMN=VALUE, the best system "
        "of a group, e.g. type=manual.",
        names="side",
    )
    contender: str = option(
        "best", "Contender of Table 1, in the syntax of the baseline.", names="side"
    )

    buckets: Buckets = option(
        "linear",
        "Buckets of search lengths in Figures 5 and 6: linear, of equal width, so that their "
        "counts show the shape of the distribution; or log, of growing width.",
    )
    cut_depth: int = option(
        100, "Rank at which lists are cut to measure the effect of depth.", least=1
    )

    alpha: float = option(
        0.05,
        "Significance level for one system to count as better.",
        least=0,
        most=1,
        exclusive=True,
    )
    test: Test = option("t", "Test of the difference of two systems.")
    resamples: int = option(10_000, "Bootstrap resamples of the queries.", least=1)

    seed: int = option(0, "Random seed of the bootstrap.", least=0)

    def asl(self, first: int | None = None, unretrieved: str | None = None) -> str:
        """Return the canonical name of ASL, or of ASL@gN."""
        choice = self.unretrieved if unretrieved is None else unretrieved
        return _name(f"ASL(rel={self.rel},unretrieved={choice})", first and f"g{first}")

    def named(self, measure: str) -> str:
        """Return the canonical name of a measure at the study's `rel`."""
        return _name(f"{measure}(rel={self.rel})")

    @property
    def ap(self) -> str:
        """Name of AP with the study's options."""
        return self.named("AP")

    @property
    def p20(self) -> str:
        """Name of P@20 with the study's options."""
        return _name(f"P(rel={self.rel})", 20)

    @property
    def rbp(self) -> str:
        """Name of RBP with the study's options."""
        return _name(f"RBP(p={PERSISTENCE},rel={self.rel})")

    @property
    def lengths(self) -> dict[str, str]:
        """The search lengths that replace P@20 and RR in Section 4.4, by their chain."""
        return {"P@20": f"{self.named('ASL')}@g10", "RR": f"{self.named('ASL')}@g1"}

    @property
    def printed(self) -> tuple[str, ...]:
        """The measures of Figures 1 to 4, in that order."""
        return self.p20, self.asl(10), self.ap, self.asl()

    @property
    def deep(self) -> dict[str, str]:
        """Each search length with missed docs below the track's deepest rank, by its plain name."""
        return {self.asl(first): self.asl(first, "depth") for first in (10, None, 1)}

    @property
    def headroom(self) -> tuple[str, ...]:
        """The measures of Figures 1 to 4, and their search lengths under unretrieved=depth."""
        deep = (self.deep.get(name, name) for name in self.printed)
        return tuple(dict.fromkeys([*self.printed, *deep]))

    @property
    def shallow(self) -> tuple[str, ...]:
        """The measures computed again on lists cut at `depth`."""
        return tuple(dict.fromkeys([self.ap, self.asl(), self.asl(10), self.deep[self.asl()]]))

    @property
    def choices(self) -> tuple[str, ...]:
        """AP, P@20, RR, and ASL and each ASL@gN with each choice for docs not retrieved."""
        from irmeta.measures.search_length import UNRETRIEVED

        asl = (self.asl(first, choice) for first in (None, 10, 1) for choice in UNRETRIEVED)
        return (self.ap, self.p20, self.named("RR"), *asl)

    def used(self) -> dict[str, Any]:
        """Return what empty options stand for."""
        return super().used() | {"best_by": "each measure for itself"}

    def scored(self) -> tuple[str, ...]:
        """Return the names of all computed measures."""
        reported = [*self.choices, self.named("Bpref"), self.asl(), self.asl(1), self.asl(10)]
        asked = [self.best_by] if self.best_by is not None else []
        return tuple(dict.fromkeys([*reported, self.rbp, "nDCG", "ERR", *asked]))


def _name(measure: str, cutoff: object = None) -> str:
    from irmeta.measures.names import canonical_name

    return canonical_name(f"{measure}@{cutoff}" if cutoff is not None else measure)


HOME = "irmeta.studies.papers.search_length"
SHORT = (
    "The system misses more relevant docs than the median system, and Eq. 3 gives a short length "
    "to docs that a short list misses: compare the row of unretrieved=depth, where a missed doc "
    "counts as if at rank D + 1, below the track's deepest rank D."
)
_MISSED = "share of the relevant docs that the system does not retrieve"
_MEDIAN_MISSED = "median of that share over all systems"
_BEST_TRACKS = "tracks whose best system's mean is in the bucket"
_BEST_SHARE = "share of all counted tracks"
_BY_TRACK = {"track": TRACK, "measure": MEASURE}


_IS_SHORT = stored("yes", "whether the system misses more than the median system")
_CHAIN = Column("name", "first measure of the chain")
_STEP = Column("count", "step of the chain, compared with the previous step; 0: last with first")
_CHOICE = Column("name", "search length of a doc that is not retrieved: floor, that of Eq. 3 but "
                 "at least 1; or depth, as if at rank D + 1", label="not retrieved")  # fmt: skip
_BY_STEP = {"track": TRACK, "chain": _CHAIN, "step": _STEP, "unretrieved": _CHOICE}
_OLD, _NEW = "measure before the step", "measure after the step"


def _misses(label: str) -> dict[str, Column]:
    """Return columns on the docs that the best system by a search length misses."""
    no_length = "; null: not a search length"
    return {
        "missed": percent(_MISSED + no_length, label, null=True, show="page"),
        "median_missed": stored("real", _MEDIAN_MISSED + no_length, null=True),
        "short": _IS_SHORT,
    }


TABLES = (
    MEANS,
    Table("headroom", ("track", "measure"), {
        **_BY_TRACK,
        "system": Column("name", "best system", label="best system", dagger="short"),
        "value": measured("mean over queries of the best system", "best"),
        "median": measured("mean of the median system by `chosen_by`"),
        "chosen_by": stored("name", "measure by which a system is best"),
        **_misses("missed"),
        "missed_counted": stored("real", "the same of the docs that the measure counts, which by "
                                 "ASL@g10 are the first ten of a query", null=True),
    }, caption="The best and the median system of each track (Figures 1 to 4).", note=SHORT,
       rows=f"{HOME}.compute:headroom"),
    Table("best_by_choice", ("track", "measure"), {
        **_BY_TRACK,
        "system": Column("name", "best system by the measure", label="best system", dagger="short"),
        "value": measured("mean over queries of the system", "value"),
        "missed": percent(_MISSED, "missed"),
        "median_missed": percent(_MEDIAN_MISSED, "median missed"),
        "short": _IS_SHORT,
        "rows": Column("real", "mean length of the system's lists over the track's queries",
                       label="rows per list", format=",.0f"),
    }, caption="The best system under each choice for docs not retrieved (Section 3.1).",
       folded=True, note=SHORT, rows=f"{HOME}.compute:best_by_choice"),
    Table("distributions", ("figure", "low"), {
        "figure": Column("text", "figure of the paper, or its name under unretrieved=depth"),
        "measure": MEASURE,
        "low": Column("real", "lower bound of the bucket, included; null: none", null=True),
        "high": Column("real", "upper bound, excluded; null: none", null=True),
        "tracks": Column("count", _BEST_TRACKS),
        "short": Column("count", "of these, tracks whose best system misses more than the median"),
        "share": percent(_BEST_SHARE),
    }, caption="Tracks by the mean of their best system (Figures 1 to 4).", by="all",
       rows=f"{HOME}.compute:distributions"),
    Table("classes", ("measure", "low"), {
        "measure": MEASURE,
        "best_system": Column("text", "values of the class"),
        "low": stored("real", "lower bound of the class"),
        "high": stored("real", "upper bound, excluded; null: none", null=True),
        "tracks": Column("count", _BEST_TRACKS),
        "share": percent(_BEST_SHARE),
        "paper": Column("text", "claim of the paper on 76 tracks", label="the paper"),
    }, caption="Tracks by their best system (Section 4.2).", by="all",
       rows=f"{HOME}.compute:classes"),
    Table("table_1", ("track", "measure"), {
        **_BY_TRACK,
        "baseline": Column("name", "system of the first side"),
        "baseline_value": measured("mean over queries of the system", "baseline value"),
        "contender": Column("name", "system of the second side", dagger="short"),
        "contender_value": measured("mean over queries of the system", "contender value"),
        "rrie": percent("relative reduction in error, Eqs. 11 and 12; NaN: the baseline is perfect",
                         "RRIE"),
        **difference_columns("mean over queries of contender minus baseline",
                             format="measure", show="page"),
        **_misses("contender missed"),
        "missed_counted": stored("real", "the greater share of both systems, of the docs that the "
                                 "measure counts", null=True),
    }, caption="Two systems of each track and the relative reduction in error (Table 1).",
       note=SHORT),
    Table("paper_table_1", ("collection", "measure"), {
        "collection": Column("name", "2020 Deep Learning track", label="2020 Deep Learning"),
        "measure": MEASURE,
        "baseline": Column("real", "BM25; null: not in the text", True, label="BM25",
                           format="printed"),
        "contender": Column("real", "neural", label="neural", format="printed"),
        "rrie": percent("relative reduction in error", "RRIE"),
    }, caption="Table 1 as printed in the paper.", by="all", folded=True, section="Two techniques",
       rows=f"{HOME}.compute:paper_table_1"),
    Table("asl_differences", ("track", "measure", "comparison"), {
        **_BY_TRACK,
        "comparison": Column("name", "roles of the two systems"),
        "a": Column("name", "system", dagger="a_short", show="page"),
        "b": Column("name", "system", show="page"),
        "a_short": _IS_SHORT,
        **difference_columns("mean over queries of a minus b", format="length"),
        "queries": Column("count", "queries with a value of both systems"),
    }, caption="Differences of search lengths with their bootstrap intervals.", note=SHORT,
       section="Differences of ASL"),
    Table("table_2", ("chain", "step", "unretrieved"), {
        "change": Column("text", "the step in words", label="step"),
        "chain": stored("name", _CHAIN.meaning),
        "step": stored("count", _STEP.meaning),
        "unretrieved": _CHOICE,
        "old": stored("text", _OLD),
        "new": stored("text", _NEW),
        **spread_columns("delta_sort", "mean over tracks of the largest move", unit="%",
                         label="Delta-sort", format=".0f"),
        **spread_columns("tau", "mean over tracks of tau-b", label="tau-b", format=".2f"),
        **spread_columns("delta_value", "mean over all systems of all tracks of new / old",
                         unit="x", label="Delta-value", format="ratio"),
        "delta_value_median": Column("real", "median of new / old, robust to outliers",
                                     unit="x", label="median", format="ratio"),
        "tracks": Column("count", "tracks averaged", show="page"),
        "systems": stored("count", "systems of all tracks"),
        "left_out": stored("count", "systems without new / old"),
    }, caption="Reordering of systems, step by step (Table 2 and Section 4.4).", by="all",
       rows=f"{HOME}.compute:table_2", paper=TABLE_2),
    Table("reordering", ("track", "chain", "step", "unretrieved"), {
        **_BY_STEP,
        "old": Column("text", _OLD),
        "new": Column("text", _NEW),
        "delta_sort": Column("real", "largest move of a system, share of the systems", unit="%"),
        "tau": Column("real", "Kendall's tau-b of the orders by mean; NaN: undefined"),
        "delta_value": Column("real", "mean over systems of new / old; NaN: undefined"),
        "left_out": Column("count", "systems without new / old"),
        "systems": Column("count", "systems compared"),
        "queries": Column("count", "queries compared"),
        "furthest": Column("name", "system with the largest move; null: none moves", True),
        "better_old": Column("count", "systems better by the old measure", null=True),
        "better_new": Column("count", "systems better by the new measure", null=True),
    }, caption="Each step of each chain on each track."),
    Table("moves", ("track", "chain", "step", "unretrieved", "system"), {
        **_BY_STEP,
        "system": SYSTEM,
        "better_old": Column("count", "systems better by the old measure"),
        "better_new": Column("count", "systems better by the new measure"),
        "moved": Column("real", "100 |better_old - better_new| / systems", unit="%"),
        "value": Column("real", "new / old of the system's means; NaN: undefined"),
    }, caption="Each step of each chain for each system."),
    Table("furthest", ("track", "chain", "unretrieved"), {
        "track": TRACK,
        "chain": stored("name", _CHAIN.meaning),
        "unretrieved": _CHOICE,
        "change": Column("text", "first and last measure"),
        "furthest": Column("name", "system with the largest move", label="system"),
        "missed": percent(_MISSED, "missed", null=True, show="page"),
        "better_old": Column("count", "systems better than this system by the first measure", True,
                             label="better before", show="page"),
        "better_new": Column("count", "systems better than this system by the last measure", True,
                             label="better after", show="page"),
        "systems": Column("count", "systems compared", show="page"),
        "delta_sort": Column("real", "move of the system, share of the systems", unit="%",
                             label="Delta-sort", format=".0f"),
        "tau": Column("real", "Kendall's tau-b of both orders; NaN: undefined", label="tau-b"),
    }, caption="The system of each track with the largest move, and the numbers of better systems.",
       folded=True),
    SEARCH_LENGTH_HISTOGRAM,
    Table("length_differences", ("track", "measure", "low", "retrieved"), {
        "track": TRACK,
        "measure": Column("name", "measure by which the two systems are best and median"),
        "best": Column("name", "best system"),
        "median": Column("name", "median system"),
        "low": Column("count", "smallest difference of lengths, best minus median, in the bucket"),
        "high": Column("count", "largest difference in the bucket"),
        "docs": Column("big", "relevant (query, doc) pairs in the bucket"),
        "retrieved": Column("name", "systems that retrieve them: both, best, median or neither"),
    }, caption="Search lengths in the best minus those in the median system (Figure 6)."),
    Table("effective_fraction", ("track", "system"), {
        "track": TRACK,
        "system": SYSTEM,
        "fraction": Column("real", "mean over queries of n / n_q; NaN: every AP is 0"),
        "pooled": Column("real", "the fraction of the pooled queries, with docs weighted by 1 / "
                         "n_q; NaN: MAP is 0"),
        "queries": Column("count", "queries with a fraction"),
        "undefined": Column("count", "queries with a relevant doc whose AP is 0"),
    }, caption="The share of the relevant docs that AP averages, by system (Appendix A.1)."),
    Table("effective_by_track", ("track",), {
        "track": TRACK,
        "systems": Column("count", "systems"),
        "fraction": percent("mean over systems; NaN: all undefined", "share by query"),
        "pooled": percent("mean over systems of the pooled fraction, which weights a doc by 1 / "
                          "relevant docs of its query, as MAP does", "share by run"),
        "undefined": Column("count", "lists with AP 0", label="lists with AP 0"),
        "trivial": Column("yes", "whether no query has two relevant docs",
                          label="one relevant doc per query"),
    }, caption="The share of the relevant docs that AP averages, by track (Appendix A.1)."),
    Table("effective_summary", (), {
        "tracks": Column("count", "tracks averaged: those with a query that has two relevant docs"),
        "fraction": Column("real", "mean over tracks of their systems' mean fraction"),
        "fraction_sd": Column("real", "standard deviation over tracks; NaN: one track"),
        "pooled": Column("real", "mean over tracks of their systems' mean pooled fraction"),
        "pooled_sd": Column("real", "standard deviation over tracks; NaN: one track"),
    }, caption="The share of relevant docs that AP averages (Appendix A.1).", by="all",
       rows=f"{HOME}.compute:effective_summary",
       paper={"fraction": {(): EFFECTIVE_FRACTION}}),
    Table("depth_sensitivity", ("track", "measure"), {
        **_BY_TRACK,
        "depth": stored("count", "rank at which lists are cut"),
        "best": Column("name", "best system by full lists", dagger="short"),
        "value": measured("mean of the best system", "value"),
        "best_cut": Column("name", "best system by cut lists", label="best by cut lists",
                           dagger="short_cut"),
        "value_cut": measured("mean of the best system by cut lists", "value by cut lists"),
        "queries": Column("count", "queries of both orders: those where both values are defined"),
        "tau": Column("real", "Kendall's tau-b of the two orders; NaN: undefined", label="tau-b"),
        "short": _IS_SHORT,
        "short_cut": stored("yes", "whether the best by cut lists misses more than the median"),
    }, caption="Full lists compared with cut lists (footnote 6).", note=SHORT,
       rows=f"{HOME}.compute:depth_sensitivity"),
)  # fmt: skip


STUDY = Study(
    name="search-length",
    title="Atomized search length",
    paper=SOURCE,
    gives="Headroom of the best systems, and reordering of systems by measures.",
    revision=7,
    options=SearchLengthOptions,
    tables=TABLES,
    statistics={
        "table_1 asl_differences": ("bootstrap intervals",),
        "reordering table_2 moves furthest": ("{test}",),
        "reordering table_2 furthest depth_sensitivity": ("tau-b",),
    },
    compute=f"{HOME}.compute:compute",
    claims=f"{HOME}.claims:claims",
    figures=f"{HOME}.page:FIGURES",
    sections=f"{HOME}.page:sections",
    track_section=f"{HOME}.page:track_section",
    of_orders=(
        *("table_1", "asl_differences", "reordering", "moves", "furthest", "depth_sensitivity"),
    ),
    splits_tracks=True,
)
