"""The declaration of the overview: its options, and its tables."""

from __future__ import annotations

from dataclasses import dataclass, replace

from irmeta.options import option
from irmeta.policies import TrackOptions, Unretrieved
from irmeta.schema.columns import MEASURE, SYSTEM, TRACK, Column, Table
from irmeta.schema.result_tables import (
    AGREEMENT,
    MEANS,
    RARITY,
    SCORES,
    SEARCH_LENGTH_HISTOGRAM,
    SEARCH_LENGTHS,
)
from irmeta.schema.store_tables import SYSTEMS
from irmeta.studies.framework.study import Study


@dataclass(frozen=True)
class OverviewOptions(TrackOptions):
    """Options of the overview."""

    measures: tuple[str, ...] = option(
        ("default",),
        "Names or presets of measures (repeatable); with ASL also ASL(unretrieved=depth).",
        parse="irmeta.studies.reanalysis.study:with_deep",
        flag="-m --measures",
    )
    rarity_depth: int = option(
        100, "Deepest rank at which a system retrieves a doc, for rarity.", least=1
    )
    unretrieved: Unretrieved = option(
        "irrel", "Search length of a relevant doc that is not retrieved, in the tables of lengths."
    )

    def __post_init__(self) -> None:
        if self.tie_order is None:  # a preset may set the tie order
            from irmeta.measures.names import parse_call

            _, policy = parse_call(self.measures, {})
            object.__setattr__(self, "tie_order", policy.tie_order)
        super().__post_init__()

    def scored(self) -> tuple[str, ...]:
        """Return the measures of the overview."""
        return self.measures


def with_deep(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return canonical names; each search length follows its ``unretrieved=depth`` variant.

    By Eq. 3 of the paper, short lists have short search lengths: see measure ASL.
    """
    from irmeta.measures.names import parse_measures

    expanded: dict[str, None] = {}
    for spec in parse_measures(names):
        if spec.measure.counts_irrelevant:
            params = tuple((n, "depth" if n == "unretrieved" else v) for n, v in spec.params)
            expanded[replace(spec, params=params).name] = None
        expanded[spec.name] = None
    return tuple(expanded)


SHORT = (
    "The system misses more relevant docs than the median system, and Eq. 3 gives a short length "
    "to docs that a short list misses: compare unretrieved=depth."
)
_FACTS = {
    "systems": Column("count", "systems of the track"),
    "skipped_runs": Column("count", "run files that could not be read", label="skipped runs"),
    "queries": Column("count", "judged queries"),
    "relevant": Column("big", "relevant (query, doc) pairs, grade 1 and above",
                       label="relevant docs"),
    "rows": Column("big", "rows of all runs"),
}  # fmt: skip
TRACKS = Table(
    "tracks",
    ("track",),
    {
        "track": TRACK,
        **_FACTS,
        "deepest_rank": Column("count", "deepest rank"),
        "qrels": Column("text", "qrels set used"),
        "tie_order": Column("text", "tie order of the lists"),
        "queries_without_relevant": Column("count", "judged queries without a relevant doc"),
        "judged": Column("big", "judged (query, doc) pairs"),
        "highest_grade": Column("count", "highest grade", of_grades=True),
        "notes": Column("text", "notes on reading on the qrels", null=True),
    },
    caption="Contents of each track.",
    latex=False,
)
BEST = Table(
    "best",
    ("track", "measure", "system"),
    {
        "track": TRACK,
        "measure": MEASURE,
        "direction": Column("count", "1: greater is better, -1: less is better"),
        "rank": Column("count", "1: the best; systems of equal value share a rank"),
        "rank_low": Column("count", "least rank of the system's simultaneous 95 % rank set over "
                           "queries"),
        "rank_high": Column("count", "greatest rank of the set"),
        "tier": Column("count", "tier of systems whose sets overlap no other tier's"),
        "system": SYSTEM,
        "value": Column("real", "mean over queries", format="measure", best="rank"),
    },
    caption="All systems of each track by each measure, best first.",
    latex=False,
)  # fmt: skip
BEST_SYSTEMS = Table(
    "best_systems",
    ("track", "measure"),
    {
        "track": TRACK,
        **_FACTS,
        "measure": MEASURE,
        "direction": Column("count", "1: greater is better, -1: less is better", show="none"),
        "system": Column("name", "best system, the first by name", label="best system",
                         dagger="short"),
        "value": Column("real", "mean over queries", label="value", format="measure"),
        "second": Column("name", "next system; null: no other", null=True, label="runner-up"),
        "second_value": Column("real", "mean of the next system", null=True, label="its value",
                               format="measure"),
        "median": Column("real", "median of all systems", label="median system", format="measure"),
        "worst": Column("real", "mean of the worst system", label="worst system",
                        format="range", span=("median", "value"), show="page"),
        "missed": Column("real", "share of the relevant docs that the best system misses; null: "
                         "not a search length", null=True, label="missed", format="percent"),
        "short": Column("yes", "whether it misses more than the median system", show="none"),
        "ties": Column("count", "other systems of the same value", label="tied systems"),
        "could_be_first": Column("count", "systems whose simultaneous 95 % rank set over queries "
                                 "has rank 1", label="could be first"),
    },
    caption="The best systems of each track.",
    note=SHORT,
)  # fmt: skip
RARITY_HISTOGRAM = Table(
    "rarity_histogram",
    ("track", "retrieved_by"),
    {
        "track": TRACK,
        "retrieved_by": Column("count", "systems that retrieve a doc within the depth"),
        "docs": Column("big", "relevant (query, doc) pairs"),
    },
    caption="Relevant docs by the number of systems that retrieve them.",
    latex=False,
)
SKIPPED_RUNS = Table(
    "skipped_runs",
    ("track", "file"),
    {
        "track": TRACK,
        "file": Column("text", "run file, relative to the collection"),
        "reason": Column("text", "why it could not be read"),
    },
    caption="Runs that could not be read and are excluded from all results.",
    latex=False,
)

TABLES = (
    TRACKS,
    SYSTEMS,
    SKIPPED_RUNS,
    MEANS,
    BEST,
    BEST_SYSTEMS,
    AGREEMENT,
    SEARCH_LENGTH_HISTOGRAM,
    RARITY_HISTOGRAM,
    SCORES,
    SEARCH_LENGTHS,
    RARITY,
)


HOME = "irmeta.studies.reanalysis"

STUDY = Study(
    name="overview",
    title="Overview of retrieval tracks",
    paper="",
    gives="All systems of all tracks by all measures, and the agreement of the measures.",
    revision=6,
    options=OverviewOptions,
    tables=TABLES,
    statistics={"agreement": ("tau-b",), "best best_systems": ("simultaneous rank sets",)},
    compute=f"{HOME}.compute:compute",
    figures=f"{HOME}.page:FIGURES",
    sections=f"{HOME}.page:sections",
    track_section=f"{HOME}.page:track_section",
    splits_tracks=True,
)
