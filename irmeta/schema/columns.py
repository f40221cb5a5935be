"""Columns and tables: one declaration defines the Parquet schema, the page, LaTeX and the docs.

`irmeta study --help` reads the declarations of a study, so this module imports polars and pyarrow
only in methods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from irmeta.errors import IrmetaError

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

Kind = Literal["text", "name", "grade", "count", "big", "real", "yes", "texts"]
Shown = Literal["all", "page", "none"]
Rows = Any
"""Rows of a table: a polars frame, dicts, tuples, or columns by name; or an Arrow table."""


class Display(NamedTuple):
    """How the values of a measure are shown.

    Attributes
    ----------
    format
        A format of `Column`: ``score``, ``length`` (drawn on a log axis) or ``count``.
    unit
        Unit of the values, e.g. "docs"; empty for a share or a score.
    direction
        1: greater is better; -1: less is better.
    """

    format: str = "score"
    unit: str = ""
    direction: int = 1


PLAIN = Display()
"""A score between 0 and 1, greater is better."""


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    kind
        ``text``; ``name``, repeated text; ``grade``, int8, or float64 if some grades are not whole
        numbers of -128 to 127; ``count``, int32; ``big``, int64;
        ``real``, float64; ``yes``, bool; ``texts``, a list of text.
    null
        Whether the column may be null.
    unit
        Unit of the values. "%" is printed in the heading, "x" behind each value.
    label
        Heading on the page; default: the column's name with spaces for underscores.
    format
        Format of values: ``score`` (4 decimals), ``length`` (1 decimal), ``percent`` (of shares),
        ``ratio`` (2 significant digits), ``measure`` (the format of the measure in the row),
        ``printed`` (scores with 3 decimals, search lengths without, as a paper prints them),
        ``check`` (a check mark or a cross), ``paper`` (text of a paper, in grey), or a format
        specification of Python. Default: the format of the kind.
    span
        Two other columns: the value prints as "value (low to high)".
    joined
        A sign and another column: the value prints as "value + other", "value \u00b1 other".
    absent
        Text of a null; default a dash.
    dagger
        A column of kind ``yes``: where it is true, the value prints with a dagger.
    best
        A column of ranks: where it is 1, the value prints bold.
    show
        ``all``; ``page``: not in LaTeX; ``none``: stored only.
    of_grades
        Whether a value is a grade, so that values may be float64 as those of kind ``grade``.
    """

    kind: Kind
    meaning: str
    null: bool = False
    unit: str = ""
    label: str = ""
    format: str = ""
    span: tuple[str, str] | None = None
    joined: tuple[str, str] | None = None
    absent: str = ""
    dagger: str = ""
    best: str = ""
    show: Shown = "all"
    of_grades: bool = False

    @property
    def may_be_real(self) -> bool:
        """Whether values are grades, which are float64 if some are not whole numbers."""
        return self.kind == "grade" or self.of_grades

    @property
    def is_text(self) -> bool:
        """Whether the values are text."""
        return self.kind in ("text", "name", "yes")

    @property
    def is_percentage(self) -> bool:
        """Whether values print as percentages."""
        return self.unit == "%" or self.format == "percent" or self.format.endswith("%")


class Paper(NamedTuple):
    """A number as printed in a paper, and its location, e.g. ``Paper("26-60%", "Table 2")``."""

    value: str
    where: str

    def __str__(self) -> str:
        return f"{self.value} ({self.where})"


@dataclass(frozen=True)
class Table:
    """One table: its columns in order, and the handling of its rows.

    Attributes
    ----------
    key
        The columns that identify a row and are the sort order.
    caption
        One sentence for the page, LaTeX and the list of files.
    by
        ``track``: the rows of each track are computed separately; ``all``: the rows are computed
        from all tracks together.
    apart
        Whether each track keeps a separate file: for tables that grow with the data.
    latex
        Whether the table is also written as LaTeX.
    folded
        Whether the page shows the table folded.
    note
        A sentence below the table where a dagger is printed.
    paper
        The paper's numbers: by column, then by the values of `key` (without the track). Each such
        column gets a text column ``paper_NAME`` beside it.
    rows
        The function of a study that computes the rows, as "module:name"; see
        `irmeta.studies.framework.study.declared_rows`. Empty: the study yields them itself.
    section
        Beginning of the heading of the section of a study's page that shows the table last.
    only_filled
        Whether a study writes the table only if a track has rows of it.
    """

    name: str
    key: tuple[str, ...]
    columns: Mapping[str, Column]
    caption: str = ""
    by: Literal["track", "all"] = "track"
    apart: bool = False
    latex: bool = True
    folded: bool = False
    note: str = ""
    paper: Mapping[str, Mapping[tuple[Any, ...], Paper]] = field(default_factory=dict)
    rows: str = ""
    section: str = ""
    only_filled: bool = False

    def __post_init__(self) -> None:
        beside = {
            paper_column(name): Column("text", "the paper's value", null=True, show="none")
            for name in self.paper
        }
        object.__setattr__(self, "columns", {**self.columns, **beside})

    def arrow(self, *, dictionary: bool = False) -> pa.Schema:
        """Return the Arrow schema; with `dictionary`, repeated strings are dictionary-encoded."""
        import pyarrow as pa

        types = {
            "text": pa.string(),
            "name": pa.dictionary(pa.int32(), pa.string()) if dictionary else pa.string(),
            "grade": pa.int8(),
            "count": pa.int32(),
            "big": pa.int64(),
            "real": pa.float64(),
            "yes": pa.bool_(),
            "texts": pa.list_(pa.string()),
        }
        columns = self.columns.items()
        return pa.schema([pa.field(n, types[c.kind], nullable=c.null) for n, c in columns])

    def wide(self) -> Table:
        """Return the table as functions return it: int64 for int32, and any column may be null."""
        columns = {
            name: replace(column, kind="big" if column.kind == "count" else column.kind, null=True)
            for name, column in self.columns.items()
        }
        return replace(self, columns=columns)

    def empty(self) -> pl.DataFrame:
        """Return the table without rows."""
        import polars as pl
        import pyarrow as pa

        # `empty_table` would load pandas, if installed: see `irmeta.schema.arrow.column`.
        frame = pl.from_arrow(pa.Table.from_batches([], self.arrow()))
        assert isinstance(frame, pl.DataFrame)
        return frame

    def frame(self, rows: Rows, track: str | None = None) -> pl.DataFrame:
        """Return rows as a frame of the declared columns, with the paper's numbers.

        Rows without a column track get `track` as its value.

        Raises
        ------
        IrmetaError
            For a column that is missing or not declared, or a null in a column without nulls: an
            error in the study.
        """
        import polars as pl

        if isinstance(rows, pl.DataFrame):
            frame = rows
        else:
            rows = rows if isinstance(rows, Mapping) else list(rows)
            if not rows:
                frame = self.empty()
            elif isinstance(rows, Mapping) or type(rows[0]) is tuple:
                frame = pl.DataFrame(rows, self._types, orient="row")
            else:
                frame = pl.DataFrame(rows, infer_schema_length=None)
        if track is not None and "track" in self.columns and "track" not in frame.columns:
            frame = frame.with_columns(track=pl.lit(track))
        frame = self._with_paper(frame)
        if odd := sorted(set(frame.columns) ^ set(self.columns)):
            raise IrmetaError(f"table {self.name}: columns missing or not declared: {odd}")
        frame = frame.select(*self.columns)
        kinds = frame.schema
        real = [n for n, c in self.columns.items() if c.may_be_real and kinds[n] == pl.Float64]
        types = self._types | dict.fromkeys(real, pl.Float64())
        if any(kinds[name] != kind for name, kind in types.items()):
            frame = frame.cast({n: kind for n, kind in types.items() if kinds[n] != kind})
        nulls = frame.null_count().row(0)  # of all columns, because a single one would be copied
        for (name, column), number in zip(self.columns.items(), nulls, strict=True):
            if not column.null and number:
                raise IrmetaError(f"table {self.name}: null in column {name}")
        return frame

    @cached_property
    def _types(self) -> dict[str, pl.DataType]:
        """Types of the columns of `frame`."""
        return dict(self.empty().schema)

    def _with_paper(self, frame: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        key = [name for name in self.key if name != "track"]
        for name, numbers in self.paper.items():
            printed = [numbers.get(row) for row in frame.select(key).iter_rows()]
            if not key:
                printed = [numbers.get(())] * frame.height
            values = [number and number.value for number in printed]
            frame = frame.with_columns(pl.Series(paper_column(name), values, dtype=pl.String))
        return frame

    def docs(self) -> str:
        """Return the columns and their meanings, one per line."""
        lines = []
        for name, column in self.columns.items():
            unit = f" [{column.unit}]" if column.unit else ""
            lines.append(f"{name} ({column.kind}): {column.meaning}{unit}")
        return "\n".join([f"{self.name}: {self.caption}", *(f"    {line}" for line in lines)])


def paper_column(name: str) -> str:
    """Return the name of the column with the paper's numbers for a column."""
    return f"paper_{name}"


def by_name(tables: Iterable[Table]) -> dict[str, Table]:
    """Return tables by their names."""
    return {table.name: table for table in tables}


TRACK = Column("name", "track")
SYSTEM = Column("name", "system")
QUERY = Column("name", "query")
DOC = Column("name", "doc")
GRADE = Column("grade", "grade in the chosen qrels set")
MEASURE = Column("name", "canonical name of the measure")
DOC_ID = Column("count", "dense id within (track, query), from 0, docs judged in any set first")


def measured(meaning: str, label: str = "", **more: Any) -> Column:
    """Return a column of values in the format of the measure in the row."""
    return Column("real", meaning, label=label, format="measure", **more)


def percent(meaning: str, label: str = "", **more: Any) -> Column:
    """Return a column of shares that print as percentages."""
    return Column("real", meaning, label=label, format="percent", **more)


def stored(kind: Kind, meaning: str, null: bool = False) -> Column:
    """Return a column that is stored but not shown."""
    return Column(kind, meaning, null, show="none")


def difference_columns(meaning: str, **more: Any) -> dict[str, Column]:
    """Return the columns of a mean difference, printed with its bootstrap interval."""
    return {
        "difference": Column("real", meaning, span=("low", "high"), **more),
        "low": stored("real", "lower bound of its bootstrap interval; NaN: one query"),
        "high": stored("real", "upper bound"),
    }


def spread_columns(name: str, meaning: str, **more: Any) -> dict[str, Column]:
    """Return the columns of a mean, printed with the mean minus and plus one standard deviation.

    See `irmeta.stats.means.spread`.
    """
    low, high, nan = f"{name}_low", f"{name}_high", "NaN: one value"
    return {
        name: Column("real", meaning, span=(low, high), **more),
        f"{name}_sd": stored("real", f"its standard deviation; {nan}"),
        low: stored("real", f"mean minus sd, not below the measure's range; {nan}"),
        high: stored("real", f"mean plus sd, not above the measure's range; {nan}"),
    }
