"""`Study`: the declaration of a study, and the options of running one.

Importing this module loads neither polars, pyarrow nor numba. A study computes frames; it reads
and writes no files. Functions and figures may be given as "module:name", which is imported when
the study runs.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from irmeta.errors import IrmetaError, UsageError, did_you_mean
from irmeta.options import Options, load, option
from irmeta.policies import TrackOptions
from irmeta.report import notation, parse_formats
from irmeta.report.notation import Notations
from irmeta.schema.columns import TRACK, Column, Table, by_name, stored
from irmeta.schema.result_tables import MEASURES, QUERIES

if TYPE_CHECKING:
    import polars as pl

PAPER_NUMBERS = "paper_numbers"
"""The table of numbers as printed, which sections show by table or figure of the paper."""
STUDIED_TRACKS = Table(
    "studied_tracks",
    ("track",),
    {
        "track": TRACK,
        "systems": Column("count", "systems of the track"),
        "queries": Column("count", "judged queries with a relevant doc"),
        "relevant": Column("big", "relevant (query, doc) pairs", label="relevant docs"),
        "deepest_rank": Column("count", "deepest rank of all lists"),
        "highest_grade": Column("count", "highest grade of the qrels set", of_grades=True),
        "used": Column("yes", "whether results over tracks include the track"),
        "left_out": Column(
            "text", "why the track is excluded; null: it is not", null=True, show="none"
        ),
        "notes": Column("text", "notes on the track", null=True, show="none"),
        "saturated": stored(
            "real", "share of the lists that hold no doc that is not relevant; null: unknown", True
        ),
        "not_compared": stored(
            "text",
            "why claims, means and figures over tracks leave out the orders and pairs of systems "
            "of the track; null: they do not",
            True,
        ),
    },
    caption="The tracks of the store.",
)
"""The table that every study over tracks has."""
HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be said"
UNDECIDED = "undecided"
NO_INTERVAL = "no interval"
EVERY = "all tracks"
"""The group of all tracks, beside those of `--track-groups`."""
NAMED_FACTS = ("group", "year")
"""Facts that names of tracks state: see `irmeta.studies.framework.track_groups`."""
GROUP = Column("name", f"group of tracks, or {EVERY}")
GROUPS = "irmeta.studies.framework.track_groups:groups_of"
CLAIMS = Table(
    "claims",
    ("claim", "track"),
    {
        "claim": Column("name", "short name of the claim"),
        "track": Column("name", "track; null: over tracks, or without a track", null=True),
        "text": Column("text", "the claim", show="none"),
        "where": Column("text", "where the paper states it", label="in the paper", show="none"),
        "kind": Column(
            "name",
            "paper: as the paper computes it; check: by another test, margin, measure or parameter",
        ),
        "statistic": Column("text", "what the number is"),
        "number": stored("real", "the number; NaN: none can be computed"),
        "shown": Column("text", "the number as text; null: none", null=True, label="here"),
        "condition": Column("text", "numbers for which the claim holds", label="holds for"),
        "bound_low": stored("real", "lower bound of the condition; null: none", True),
        "bound_high": stored("real", "upper bound", True),
        "verdict": Column(
            "name", f"{HOLDS}, {FAILS}, {UNDECIDED} (the interval has numbers of both) or {OPEN}"
        ),
        "why": Column(
            "text", "why it cannot be said, or what makes up the number; null: nothing", null=True
        ),
        "printed": Column(
            "text", "the paper's number; null: none", null=True, format="paper", label="the paper"
        ),
        "low": stored("real", "lower bound of the 95 % interval of the number; null: none", True),
        "high": stored("real", "upper bound", True),
        "se": stored("real", "standard error of the number; null: none", True),
        "interval": stored("name", f"method of the interval and standard error, or {NO_INTERVAL}"),
        "bound_by": stored(
            "name", "who states the bound of the condition: paper, or irmeta where it states none"
        ),
        "distance": stored(
            "real",
            "number minus the bound, positive where the claim holds: in standard errors, or in the "
            "unit of the number where se is null or 0; null: no number",
            True,
        ),
        "tracks": stored(
            "count", f"over tracks: tracks on which it {HOLDS} or {FAILS}; null: another row", True
        ),
        "holding": stored("count", "over tracks: of these, tracks on which it holds", True),
        "undecided": stored("count", "over tracks: other tracks, where it is undecided", True),
        "open": stored("count", f"over tracks: other tracks, where it {OPEN}", True),
        "votes": stored(
            "count", "over tracks: groups of tracks with a vote; null: no groups were named", True
        ),
        "votes_holding": stored("count", "over tracks: of these, groups where it holds", True),
        "share_low": stored(
            "real", "over tracks: lower bound of the exact 95 % interval of their share", True
        ),
        "share_high": stored("real", "upper bound", True),
        "mean": stored(
            "real",
            "over 5 or more tracks with standard errors: random-effects mean of the number; null: "
            "fewer",
            True,
        ),
        "mean_low": stored("real", "lower bound of its 95 % interval (Hartung-Knapp)", True),
        "mean_high": stored("real", "upper bound", True),
        "next_low": stored("real", "lower bound of the 95 % interval of another track", True),
        "next_high": stored("real", "upper bound", True),
    },
    caption="The claims of the paper, over the tracks and on each track.",
    by="all",
)
"""The table that every study with claims has."""
CLAIM_DRAWS = Table(
    "claim_draws",
    ("track", "claim", "draw"),
    {
        "track": TRACK,
        "claim": Column("name", "short name of the claim"),
        "draw": Column("count", "number of the draw, from 0"),
        "method": Column("name", "half: half of the queries; jackknife: all but one group of them"),
        "number": Column("real", "the number of the claim; NaN: none"),
        "drawn": Column("count", "queries of the draw"),
        "queries": Column("count", "all queries"),
    },
    caption="The numbers of the claims on parts of the queries, from which their intervals are.",
    folded=True,
    only_filled=True,
)
"""The table of studies with claims on tracks that were run with intervals."""
Row = dict[str, Any]
"""A row of a table: its values by column."""
Tables = Mapping[str, "pl.DataFrame"]
TableRows = Iterable[tuple[str, Any]]
"""Names of tables with some of their rows: a frame, dicts, or an Arrow table of the table's schema.

A table may come several times; rows of a table that is `apart` are written at once. Rows of one
track need no column track.
"""
Later = Callable[..., Any] | str | None


@dataclass(frozen=True)
class RunOptions(Options):
    """Options of running a study."""

    track: tuple[str, ...] | None = option(
        None, "Only these tracks (repeatable); results of other tracks are kept."
    )
    only: bool = option(False, "If tracks are selected, remove the results of all other tracks.")
    force: bool = option(False, "Use a folder that holds other files.")
    figures: bool = option(
        True,
        "Draw figures, in addition to tables and page.",
        flag="--figures/--no-figures",
    )
    titles: bool = option(
        True,
        "Titles in figures; if off, captions end with the subtitle.",
        flag="--titles/--no-titles",
    )
    style: Literal["paper", "irmeta"] = option(
        "paper",
        "Names of measures in figures, LaTeX and on the page: as papers print them (AP_b), with "
        "the canonical names in captions; or canonical (AP(norm=min)).",
    )
    formats: tuple[str, ...] = option(
        ("svg",),
        "Formats of figures, separated by commas; always with svg, which the page contains.",
        parse="irmeta.report:parse_formats",
        metavar="svg,pdf,png",
    )
    workers: int | None = option(None, "Threads; default all cores.", least=1)
    executor: Executor | None = option(
        None,
        "Executor instead of threads: spawned processes, or irmeta.dask_executor.",
        flag="",
    )
    progress: Any = option(
        None,
        "Whether progress is shown; or a function that is called instead.",
        flag="",
        doc="Whether progress is shown; or a function that is called instead: see `irmeta.read`.",
    )

    @property
    def drawn(self) -> dict[str, Any]:
        """The recorded options."""
        formats = list(parse_formats(("svg", *self.formats))) if self.figures else []
        titles = self.titles or not self.figures
        drawn = {"figures": self.figures, "titles": titles, "formats": formats}
        return {**drawn, "style": self.style}


@dataclass(frozen=True)
class MatrixOptions(Options):
    """Options of the matrix of claims and tracks."""

    order: Literal["year", "size", "group", "name"] = option(
        "year",
        "Order of tracks: by year, by systems x queries, by group and year, or by name.",
    )
    track_facts: str | None = option(
        None,
        "CSV or TSV file with the columns track and year, group, or both. Other tracks have the "
        "year that their names state, directly or as an edition of TREC (trec8: 1999), and as "
        "group the name without it.",
        metavar="FILE",
    )


@dataclass(frozen=True)
class ClaimRunOptions(RunOptions):
    """Options of running a study with claims about tracks."""

    compared_systems: int = option(
        10,
        "Smallest number of systems for a track to count in claims, and in results over tracks, "
        "on orders and pairs of systems.",
        least=2,
    )
    interval: Literal["none", "half", "jackknife"] = option(
        "none",
        "Intervals of the numbers of claims, from the study repeated on parts of the queries: "
        "halves drawn without replacement, or all but one group in turn. Each draw takes about as "
        "long as its part of the study.",
    )
    interval_draws: int = option(
        20, "Halves of the queries, or groups of them; only with intervals.", least=10
    )
    independent_by: str | None = option(
        None,
        "Count one vote per group of tracks, with an exact interval of the share of votes: group, "
        "year or both, as the names of the tracks state them; or a CSV file with a column track, "
        "and its column that names the groups, or several.",
        metavar="group|year|FILE:COLUMN[,COLUMN]",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.interval == "none" and "interval_draws" in self.changed():
            raise UsageError(
                f"interval_draws = {self.interval_draws} has no effect without intervals: "
                "choose interval, half or jackknife."
            )
        if self.independent_by is not None and ":" not in self.independent_by:
            for name in map(str.strip, self.independent_by.split(",")):
                if name not in NAMED_FACTS:
                    hint = did_you_mean(name, NAMED_FACTS)
                    raise UsageError(
                        f"independent_by = {self.independent_by!r}: names of tracks state no "
                        f"{name!r}. {hint} Or write FILE:COLUMN."
                    )


@dataclass(frozen=True)
class TrackGroups(Options):
    """The option of tables and figures over groups of tracks."""

    track_groups: str | None = option(
        None,
        "Groups of tracks in tables and figures over tracks, such as newswire and web: a CSV or "
        "TSV file with the columns track and group.",
        metavar="FILE",
        file=True,
        joins=True,
    )


@dataclass(frozen=True)
class GroupedOptions(TrackGroups, TrackOptions):
    """Options of studies with tables over groups of tracks."""

    def check_sets(self, sets: Mapping[str, Sequence[str]]) -> None:
        """Check that the file has a group for each track."""
        super().check_sets(sets)
        load(GROUPS)(self.track_groups, sets)

    def used(self) -> dict[str, Any]:
        """Return what empty options stand for."""
        return super().used() | {"track_groups": EVERY}


def read_printed(package: str) -> tuple[dict[str, str], ...]:
    """Return the rows of ``paper_numbers.csv`` in a study's package.

    The columns are those of the table `paper_numbers`.
    """
    lines = files(package).joinpath("paper_numbers.csv").read_text(encoding="utf-8").splitlines()
    return tuple(csv.DictReader(lines))


def read_notes(package: str, file: str = "paper_notes.toml") -> dict[str, list[str]]:
    """Return the texts of a TOML file in a study's package, by the name of their list."""
    return tomllib.loads(files(package).joinpath(file).read_text(encoding="utf-8"))


def filled(texts: Mapping[str, Sequence[str]], **places: Any) -> dict[str, list[str]]:
    """Return texts with their places filled, which all have a value, e.g. ``{alpha:g}``."""
    return {name: [text.format(**places) for text in of_name] for name, of_name in texts.items()}


def values_of(rows: Sequence[dict[str, str]]) -> dict[tuple[str, ...], str]:
    """Map the other columns of rows, e.g. (item, row, column), to the value as printed."""
    return {tuple(t for n, t in row.items() if n != "value"): row["value"] for row in rows}


def printed_numbers(
    item: str = "table or figure of the paper",
    row: str = "row of the table",
    column: str = "column of the table",
    collection: str = "",
) -> Table:
    """Return the table `paper_numbers`, with a column `collection` if that is described."""
    columns = {
        "item": Column("name", item),
        **({"collection": Column("name", collection)} if collection else {}),
        "row": Column("text", row),
        "column": Column("name", column),
    }
    value = Column("text", "number as printed", label="printed", format="paper")
    caption = "Numbers as printed in the paper."
    return Table(
        PAPER_NUMBERS,
        (*columns,),
        {**columns, "value": value},
        caption=caption,
        by="all",
        folded=True,
    )


def table_over_tracks(
    table: Table, keys: Sequence[str], values: Sequence[str], *, caption: str, rows: str
) -> Table:
    """Declare the table NAME_tracks: means over tracks of some columns of a table by track."""
    columns = {"group": GROUP, **{key: table.columns[key] for key in keys}}
    for value in values:
        column = table.columns[value]
        meaning = f"mean over tracks of: {column.meaning}"
        columns[value] = replace(column, meaning=meaning, joined=("\u00b1", f"{value}_sd"))
        columns[f"{value}_sd"] = stored("real", "sample standard deviation; NaN: one track")
        columns[f"{value}_tracks"] = stored("count", "tracks with a value")
    columns["tracks"] = Column("count", "tracks with such a row")
    name = f"{table.name}_tracks"
    return Table(name, ("group", *keys), columns, caption=caption, by="all", rows=rows)


def declared_rows(
    tables: Iterable[Table], *arguments: Any, by: Literal["track", "all"] = "track"
) -> TableRows:
    """Yield the tables that name the function of their rows, in the order of declaration.

    `by` selects tables of a track or over all tracks. A function returns None for a table without
    rows.
    """
    for table in tables:
        if table.rows and table.by == by:
            rows = load(table.rows)(*arguments)
            if rows is not None:
                yield table.name, rows


def with_limits(name: str, values: Iterable[Any]) -> dict[str, Any]:
    """Return a value and its limits as the columns NAME, NAME_low and NAME_high of a row."""
    return dict(zip((name, f"{name}_low", f"{name}_high"), values, strict=True))


@dataclass(frozen=True)
class Figure:
    """A chart bound to tables.

    Attributes
    ----------
    draw
        ``draw(rows, options)`` returns an Altair chart. It is called once for all formats.
    rows
        ``rows(tables, options)`` returns the rows to draw; or the name of a table. Without rows
        there is no figure.
    caption
        Caption: text, where ``{column}`` is the value in the first of the rows, or
        ``caption(rows, options)``.
    reading
        Explanation of how to read the figure.
    by
        ``all``: one figure; ``track``: one figure per track.
    each
        Column with one figure per value, called NAME_VALUE, or NAME for an empty value.
    of_tracks
        Whether `draw` also takes `tracks`, the names of all studied tracks, so that a track has one
        colour in all figures.
    """

    name: str
    rows: str | Callable[[Tables, Any], pl.DataFrame]
    draw: Callable[[pl.DataFrame, Any], Any] | Callable[[pl.DataFrame, Any, list[str]], Any]
    caption: str | Callable[[pl.DataFrame, Any], str]
    reading: str = ""
    by: Literal["all", "track"] = "all"
    each: str = ""
    of_tracks: bool = False


@dataclass(frozen=True)
class Show:
    """Selection of a table for a page: columns, rows, or the values of one column side by side.

    Attributes
    ----------
    columns
        Columns to show, in order; default the shown columns of the table.
    rows
        Rows to show: accepted values by column.
    pivot
        A column whose values become groups of columns, or two: see `irmeta.report.table_grid.grid`.
    name, caption
        Name and caption of the LaTeX file; default the table's.
    printed
        By column, a function from a row to the paper's text for it, None where it prints none: a
        column beside it where there is any.
    texts
        By column, a function from a row to its text there, instead of its value.
    without_cutoff
        Whether measures are shown without their cutoffs, which differ by track.
    best
        Where the greatest value is bold: in its row, or in its column.
    by_track
        Whether LaTeX has a table for each track; a table too long for a page always has.
    about
        A sentence at the end of the caption; in the table of one track, the words for it, such as
        "d = 10": by track, and under "" the sentence.
    join
        Selection of another table whose `columns` are added, by the columns that both tables have;
        `columns` of this selection gives the order of all.
    page_only
        Whether the page shows the table on request only, and LaTeX has none.
    """

    table: str
    columns: Sequence[str] = ()
    rows: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    pivot: str | Sequence[str] = ""
    name: str = ""
    caption: str = ""
    best: Literal["", "row", "column"] = ""
    by_track: bool = False
    about: Mapping[str, str] = field(default_factory=dict)
    printed: Mapping[str, Callable[[Mapping[str, Any]], str | None]] = field(default_factory=dict)
    texts: Mapping[str, Callable[[Mapping[str, Any]], str]] = field(default_factory=dict)
    without_cutoff: bool = False
    join: Show | None = None
    page_only: bool = False


@dataclass(frozen=True)
class Section:
    """A section of the page: text, then tables and figures in the order of `show`.

    Tables that name the section in their declaration follow.

    Attributes
    ----------
    text
        One or several paragraphs.
    show
        Names of tables and figures, or `Show`. A name may be a pattern such as "figure_*"; "*" is
        all figures: those over tracks, or in the section of a track its own.
    facts
        Label to value, printed large.
    notes
        Warnings about the numbers, one sentence each.
    below
        Paragraphs below the first tables or figures.
    is_first
        Whether the section is before the table of contents: one over all tracks, or the only track.
    """

    heading: str
    text: str | Sequence[str] = ()
    show: Sequence[str | Show] = ()
    facts: Mapping[str, str | int | float | None] = field(default_factory=dict)
    notes: Sequence[str] = ()
    below: Sequence[str] = ()
    is_first: bool = False


@dataclass(frozen=True)
class Study:
    """Declaration of a study of a paper.

    Attributes
    ----------
    name
        Name in commands, e.g. "search-length".
    title, paper, gives
        Title of the page; citation; one line on its results.
    revision
        Number to raise when a change of the code changes results; finished parts are recomputed.
    inputs
        ``tracks``: the study needs a store; ``none``: it reads no store; ``optional``.
    compute
        ``compute(track, options)`` yields rows of the tables by track; without a store it is
        called once with None. Tables over tracks declare the function of their rows, which takes
        the joined tables, of included tracks only, and the options. See
        `irmeta.studies.framework.track_view.TrackView`.
    claims
        ``claims(options)`` yields the claims of the paper, whose verdicts are the table
        `claims`: see `irmeta.studies.framework.claims.Claim`.
    printed
        The rows of the table `paper_numbers`: see `irmeta.studies.framework.study`.
    notation
        Notations of the paper for measures and preferences, by canonical name without a cutoff:
        see `irmeta.report.notation.notation_of`.
    statistics
        By tables, separated by blanks, names of their statistics in the bibliography of
        `irmeta.cite`: ``t+holm`` is a corrected test, ``{tests}`` what the option `tests` names.
    figures
        The figures, in the order of the page.
    sections, track_section
        ``sections(tables, options)`` yields `Section`; ``track_section(tables, options, track)``
        returns the section of one track from the tables of that track.
    file_tracks
        ``file_tracks(options)`` returns, by name, the tracks of a run without a store, in files
        that options name. Each has `note`, `leave_out` and `studied` of a `TrackView`, and
        `compute` takes it as one. Tables without rows are not written.
    splits_tracks
        Whether `compute` reads blocks by `TrackView.map_blocks`: all workers then share the blocks
        of a large track.
    on_parts
        ``on_parts(options, tables)`` returns the options on parts of the queries of a track, from
        the tables of all its queries: with facts of the track that `compute` estimates.
    of_orders
        Tables by track about orders or pairs of systems, whose rows count over tracks only on
        tracks with enough systems that are not saturated.
    """

    name: str
    title: str
    paper: str
    gives: str
    revision: int
    options: type[Options]
    tables: Sequence[Table]
    compute: Later
    sections: Later
    claims: Later = None
    printed: Sequence[Mapping[str, str]] = ()
    notation: Mapping[str, str] = field(default_factory=dict)
    statistics: Mapping[str, Sequence[str]] = field(default_factory=dict)
    figures: Sequence[Figure] | str = ()
    track_section: Later = None
    file_tracks: Later = None
    inputs: Literal["tracks", "none", "optional"] = "tracks"
    splits_tracks: bool = False
    on_parts: Later = None
    of_orders: Sequence[str] = ()

    @property
    def run_options(self) -> type[RunOptions]:
        """The class of the options of running it."""
        has_tracks = self.claims is not None and self.inputs == "tracks"
        return ClaimRunOptions if has_tracks else RunOptions

    @property
    def needs_store(self) -> bool:
        """Whether the study cannot run without a store."""
        return self.inputs == "tracks" and self.file_tracks is None

    @cached_property
    def by_table(self) -> dict[str, Table]:
        """The tables by name, with those that studies share."""
        shared = (MEASURES,) if self.inputs == "none" else (STUDIED_TRACKS, QUERIES, MEASURES)
        claims = () if self.claims is None else (CLAIMS,)
        drawn = (CLAIM_DRAWS,) if self.run_options is ClaimRunOptions else ()
        return by_name((*shared, *self.tables, *claims, *drawn))

    def table(self, name: str) -> Table:
        """Return a table by name.

        Raises
        ------
        IrmetaError
            If the study declares no such table.
        """
        if name not in self.by_table:
            hint = did_you_mean(name, self.by_table)
            raise IrmetaError(f"study {self.name} declares no table {name!r}. {hint}")
        return self.by_table[name]

    def schema(self, by: Literal["track", "all"]) -> list[Any]:
        """Return the schemas of tables as JSON values; results of other schemas are stale."""
        return [
            [t.name, t.apart, t.key, [[n, c.kind, c.null] for n, c in t.columns.items()]]
            for t in self.by_table.values()
            if t.by == by and t not in (CLAIMS, CLAIM_DRAWS)  # made anew, and by options of running
        ]

    def notations(self, rows: pl.DataFrame) -> Notations:
        """Return the notations of the measures and preferences that some rows name."""
        columns = [name for name in rows.columns if name.startswith(notation.MEASURES)]
        texts = (text for column in columns for text in rows[column].unique(maintain_order=True))
        named = (name for text in texts if text for name in re.split("[,:]? ", str(text)))
        return Notations.of(named, self.notation)

    def in_prose(self, tables: Tables) -> Notations:
        """Return the notations of the names in tables that have a cutoff or parameters.

        Others are words of prose, such as AP for any of its normalisations.
        """
        frames = (tables[t.name] for t in self.tables if t.name in tables)
        in_rows = (
            name
            for frame in frames
            if "item" not in frame.columns  # of the paper's numbers, with its own names
            for name in self.notations(frame).canonical
        )
        return Notations.of([name for name in in_rows if re.search("[(@]", name)], self.notation)

    def call(self, name: str, *arguments: Any) -> Any:
        """Call one of the study's functions; None where the study has none."""
        function = getattr(self, name)
        function = load(function) if isinstance(function, str) else function
        return None if function is None else function(*arguments)

    @cached_property
    def drawn(self) -> tuple[Figure, ...]:
        """The figures."""
        return tuple(load(self.figures) if isinstance(self.figures, str) else self.figures)
