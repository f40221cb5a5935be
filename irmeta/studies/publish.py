"""How a study's parts become files: tables, figures for a paper, LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from irmeta.report.study_page import Shown
from irmeta.results.tables import write_bytes, write_parquet, write_text
from irmeta.schema import TABLES
from irmeta.studies.base import Folder


def empty(table: str) -> pl.DataFrame:
    """A table of irmeta.schema without rows."""
    frame = pl.from_arrow(TABLES[table].arrow().empty_table())
    assert isinstance(frame, pl.DataFrame)
    return frame


def write_parts(
    folder: Folder, track: str, frames: Mapping[str, pl.DataFrame], record: dict[str, Any]
) -> list[Path]:
    """One track's parts of the combined tables, by the table's name; returns their files."""
    files = []
    for table, frame in frames.items():
        files.append(folder.part(table, track))
        write_parquet(frame, files[-1], table, record)
    return files


def join_parts(
    folder: Folder, tables: Iterable[str], tracks: Sequence[str], record: dict[str, Any]
) -> dict[str, pl.DataFrame]:
    """The parts of all tracks as one file a table; returns the tables."""
    found = {}
    for table in tables:
        parts = [pl.read_parquet(folder.part(table, track)) for track in tracks]
        found[table] = pl.concat(parts, how="vertical")
        write_parquet(found[table], folder.table(table), table, record)
    return found


def write_tables(
    folder: Folder, frames: Mapping[str, pl.DataFrame], record: dict[str, Any]
) -> None:
    """Combined tables that come from other tables."""
    for table, frame in frames.items():
        write_parquet(frame, folder.table(table), table, record)


def write_latex(folder: Folder, tables: Iterable[Shown]) -> None:
    """Each table that has rows as latex/NAME.tex."""
    for table in tables:
        if table.frame.height:
            write_text(folder.root / "latex" / f"{table.name}.tex", table.latex())


def write_figure(folder: Folder, name: str, chart: Any) -> list[Path]:
    """A chart as figures/NAME.svg, .pdf and .png; returns the files, the SVG first."""
    from irmeta.report.look import to_pdf, to_png, to_svg  # figures are slow to import

    files = [folder.figure(name, ending) for ending in ("svg", "pdf", "png")]
    write_text(files[0], to_svg(chart))
    write_bytes(files[1], to_pdf(chart))
    write_bytes(files[2], to_png(chart))
    return files
