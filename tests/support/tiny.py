"""A tiny study that uses every feature of the framework."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

import irmeta
from irmeta.measures.names import canonical
from irmeta.options import option
from irmeta.policies import TrackOptions
from irmeta.report.charts.row_charts import ranked
from irmeta.schema.columns import MEASURE, SYSTEM, TRACK, Column, Paper, Table
from irmeta.studies.framework.sections import data_section
from irmeta.studies.framework.study import Figure, Section, Show, Study, TableRows, Tables
from irmeta.studies.framework.study_results import StudyResults
from irmeta.studies.framework.track_view import TrackView
from support.making import Track, down

FAILING: dict[str, Exception] = {}
"""Exceptions raised by `compute`, by track."""


def checked_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the canonical names of measures and presets."""
    return tuple(canonical(names))


@dataclass(frozen=True)
class TinyOptions(TrackOptions):
    """Options of the tiny study."""

    names: tuple[str, ...] = option(
        ("AP",), "Measures (repeatable).", parse="support.tiny:checked_names",
        flag="-m --measure",
    )  # fmt: skip
    rel: int = option(1, "Least relevant grade.", least=1, most=127)
    share: float = option(0.5, "A share.", least=0, most=1, exclusive=True)
    wanted: str | None = option(None, "A system that must be there.", names="system")
    words: str | None = option(None, "A file of words.", file=True)

    def scored(self) -> tuple[str, ...]:
        return self.names


VALUES = Table(
    "values",
    ("track", "system", "measure"),
    {
        "track": TRACK,
        "system": SYSTEM,
        "measure": MEASURE,
        "value": Column("real", "its mean", format="measure", dagger="low"),
        "low": Column("yes", "whether it is below a half", show="none"),
        "text": Column("text", "what the file says", null=True, show="page"),
    },
    caption="The mean of each system.",
    note="Below a half.",
)
DOCS = Table(
    "docs",
    ("track", "query"),
    {"track": TRACK, "query": Column("name", "query"), "docs": Column("count", "judged docs")},
    caption="Judged docs of each query.",
    apart=True,
)
TOTAL = Table(
    "total",
    ("measure",),
    {
        "measure": MEASURE,
        "best": Column("real", "best value of all tracks", unit="x", format="ratio"),
        "systems": Column("count", "systems of all tracks"),
    },
    caption="All tracks.",
    by="all",
    rows="support.tiny:best_of_tracks",
    paper={"best": {("AP",): Paper("0.9", "Table 9")}},
)


def compute(track: TrackView, options: TinyOptions) -> TableRows:
    if track.name in FAILING:
        raise FAILING[track.name]
    for view in track.blocks():
        counts = [int(n) for n in view.offsets[1:] - view.offsets[:-1]]
        rows = zip(view.queries, counts, strict=True)
        yield "docs", [{"track": track.name, "query": q, "docs": n} for q, n in rows]
    text = Path(options.words).read_text(encoding="utf-8") if options.words else None
    means = track.scores(options.names).means()
    low = pl.col("value") < options.share
    for (system,), rows in means.group_by("system", maintain_order=True):  # in pieces
        own = rows.select("track", "system", "measure", "value")
        yield "values", own.with_columns(low=low, text=pl.lit(text, pl.String))
        assert system
    track.note(f"{len(track.facts.systems)} systems were scored")


def best_of_tracks(tables: Tables, options: TinyOptions) -> pl.DataFrame:
    values = tables["values"].group_by("measure", maintain_order=True)
    return values.agg(pl.col("value").max().alias("best"), pl.len().alias("systems"))


def sections(tables: Tables, options: TinyOptions) -> Iterator[Section]:
    yield data_section(tables, options, "Data", Paper("many tracks", "Section 1"))
    yield Section("Values", ["All of them."], ["total", Show("values", pivot="measure"), "all*"])


def draw(rows: pl.DataFrame, options: TinyOptions) -> Any:
    return ranked(rows.select("value", name="system"), rows["measure"][0])


FIGURES = (
    Figure("all", "values", draw, lambda rows, _: f"By {rows['measure'][0]}.", "Dots.",
           each="measure"),
    Figure("own", "values", draw, "One track.", by="track"),
)  # fmt: skip
STUDY = Study(
    name="tiny",
    title="A tiny study",
    paper="Nobody 2026",
    gives="Means.",
    revision=1,
    options=TinyOptions,
    tables=(VALUES, DOCS, TOTAL),
    compute=compute,
    figures=FIGURES,
    sections=sections,
)

COUNTS = Table(
    "counts",
    ("length",),
    {"length": Column("count", "length"), "rankings": Column("big", "rankings of it")},
    caption="Rankings by length.",
    by="all",
)
COMPUTED: list[int] = []
"""Value of `longest` for each computation of the study without a store."""


@dataclass(frozen=True)
class AloneOptions(TrackOptions):
    """Options of the study without a store."""

    longest: int = option(3, "Longest ranking.", least=1)


def enumerate_rankings(track: TrackView | None, options: AloneOptions) -> TableRows:
    if track is None:
        COMPUTED.append(options.longest)
        for length in range(1, options.longest + 1):
            yield "counts", [{"length": length, "rankings": 2**length}]
    else:
        yield "values", []


def describe(tables: Tables, options: AloneOptions) -> Iterator[Section]:
    yield Section("Rankings", show=["counts"])


ALONE = Study(
    name="alone",
    title="Rankings",
    paper="",
    gives="Counts.",
    revision=1,
    options=AloneOptions,
    tables=(COUNTS,),
    compute=enumerate_rankings,
    sections=describe,
    inputs="none",
)
OPTIONAL = Study(
    name="optional",
    title="Rankings, and tracks",
    paper="",
    gives="Counts.",
    revision=1,
    options=AloneOptions,
    tables=(COUNTS, VALUES),
    compute=enumerate_rankings,
    sections=describe,
    inputs="optional",
)


def collection(folder: Path, *names: str) -> Path:
    """Write tiny tracks of three systems and two queries."""
    docs = ("axb", "xab", "xyb")
    runs = {f"s{i}": {"q": down(*d), "r": down(*d[::-1])} for i, d in enumerate(docs)}
    for name in names:
        Track(runs, {"q": {"a": 1, "b": 2, "x": 0}, "r": {"x": 1}}, name).write(folder)
    return folder


def run(store: irmeta.Store, out: Path, **options: Any) -> StudyResults:
    """Run the tiny study."""
    return irmeta.studies.tiny(store, out, **options)


def content(out: Path, *without: str) -> dict[str, bytes]:
    """Return the files of a folder except PDFs, which contain the time."""
    kept = (p for p in out.rglob("*") if p.is_file() and p.suffix not in (".pdf", *without))
    return {
        p.relative_to(out).as_posix(): p.read_bytes()
        for p in kept
        if p.name != "files.json"  # has checksums of the PDFs
    }
