"""How a study's parts become files: tables, figures for a paper, LaTeX."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from irmeta.errors import DataError
from irmeta.parallel import ordered_map
from irmeta.report.study_page import Shown
from irmeta.results.tables import read_parquet, write_bytes, write_parquet, write_text
from irmeta.schema import TABLES
from irmeta.schema.arrow import DAMAGED
from irmeta.studies import drawing
from irmeta.studies.base import Chart, Folder


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
        parts = [_part(folder.part(table, track)) for track in tracks]
        found[table] = pl.concat(parts, how="vertical")
        write_parquet(found[table], folder.table(table), table, record)
    return found


def _part(file: Path) -> pl.DataFrame:
    try:
        return read_parquet(file)
    except DAMAGED as error:
        fix = "Remove it, and its track is done again."
        raise DataError(f"cannot be read ({error})", file=str(file), fix=fix) from error


def write_tables(
    folder: Folder, frames: Mapping[str, pl.DataFrame], record: dict[str, Any]
) -> None:
    """Combined tables that come from other tables."""
    for table, frame in frames.items():
        write_parquet(frame, folder.table(table), table, record)


def write_latex(folder: Folder, tables: Iterable[Shown]) -> None:
    """Each table that has rows as latex/NAME.tex, and no other."""
    latex = folder.root / "latex"
    files = {latex / f"{table.name}.tex": table for table in tables if table.frame.height}
    for file, table in files.items():
        write_text(file, table.latex())
    remove_others(latex, [".tex"], files)


def write_figure(folder: Folder, name: str, chart: Any, track: str | None = None) -> list[Path]:
    """A chart as NAME.svg, .pdf and .png among the figures; returns the files, the SVG first."""
    from irmeta.report.look import to_print, to_svg  # figures are slow to import

    files = [folder.figure(name, ending, track) for ending in ("svg", "pdf", "png")]
    write_text(files[0], to_svg(chart, drawing.svg))
    for file, data in zip(files[1:], to_print(chart, draw=drawing.pdf_and_png), strict=True):
        write_bytes(file, data)
    return files


def write_figures(folder: Folder, charts: Iterable[Chart]) -> None:
    """The figures of all tracks, and no other of them."""

    def write(one: Chart) -> list[Path]:
        return write_figure(folder, one.name, one.draw())

    written = ordered_map(write, charts, workers=drawing.threads())
    kept = [file for files in written for file in files]
    remove_others(folder.root / "figures", (".svg", ".pdf", ".png"), kept)


def forget_combined(folder: Folder) -> None:
    """Remove what an earlier run combined, where there is nothing now to combine."""
    for table in TABLES:
        folder.table(table).unlink(missing_ok=True)
    for name in ("report.html", "best.tex"):
        (folder.root / name).unlink(missing_ok=True)
    remove_others(folder.root / "latex", [".tex"], ())
    remove_others(folder.root / "figures", (".svg", ".pdf", ".png"), ())


def remove_others(folder: Path, endings: Collection[str], kept: Collection[Path]) -> None:
    """Remove what another run left in a folder of ours: files of these endings but `kept`."""
    for file in folder.iterdir() if folder.is_dir() else ():
        if file.suffix in endings and file not in kept:
            file.unlink()
