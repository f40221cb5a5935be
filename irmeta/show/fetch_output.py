"""Output of fetch."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from irmeta._version import __version__
from irmeta.archive.fetch_plan import FetchReport
from irmeta.errors import first_few
from irmeta.escapes import escape_name, print_line
from irmeta.phrases import count
from irmeta.show.console import open_console, print_table
from irmeta.show.display import Display
from irmeta.show.frame_output import Result
from irmeta.show.notes import note

MOST_TRACKS = 20  # with a line each


def print_fetch(report: FetchReport, asked: Mapping[str, object], display: Display) -> None:
    """Print files by status, and on stderr what is lost, what was left out, and why.

    Formats other than the table have a row per file.
    """
    tables = {"files": report.files, "left_out": report.left_out}
    made = {"irmeta": __version__, "fetch": dict(asked)}

    def show(digits: int) -> None:
        if report.files.height:
            print_table(open_console(), _counts(report))

    display.write(Result("fetch", tables, "Files.", made, show=show))
    _note_reasons(report)
    _note_left_out(report)
    for line in report.notes:
        note(f"irmeta: {line}")
    unknown = report.files.filter(pl.col("bytes").is_null(), pl.col("status") == "to fetch").height
    if unknown:
        note(f"irmeta: the sizes of {count(unknown, 'file')} are not known")
    line = f"collection: {report.folder}"
    print_line(line) if display.form == "table" else note(line)


def _counts(report: FetchReport) -> pl.DataFrame:
    """Count files by status: of few tracks, by track too."""
    counts = report.counts()
    if counts["track"].n_unique() > MOST_TRACKS:
        tracks = pl.col("track").n_unique().cast(pl.Int64).alias("tracks")
        size = pl.when(pl.col("bytes").count() > 0).then(pl.col("bytes").sum())
        grouped = counts.group_by("kind", "status", maintain_order=True)
        counts = grouped.agg(tracks, pl.col("files").sum(), size)
    return counts


def _note_reasons(report: FetchReport) -> None:
    """Report the reasons of lost and of doubtful files, with the files of each."""
    noted = report.files.drop_nulls("reason")
    reasons = noted.group_by("status", "reason", maintain_order=True).agg("path")
    for status, reason, paths in reasons.iter_rows():
        names = first_few([escape_name(path) for path in paths], "all for this reason")
        note(f"irmeta: {count(len(paths), 'file')} {status}, {reason}: {names}")


def _note_left_out(report: FetchReport) -> None:
    states = report.left_out.group_by("state", maintain_order=True).agg("id", "task", "reason")
    for state, ids, tasks, reasons in states.iter_rows():
        names = [f"{key} {task}".strip() for key, task in zip(ids, tasks, strict=True)]
        why = f" ({reasons[0]})" if len(set(reasons)) == 1 else ""
        listed = first_few(names, "irmeta catalog names them with the reasons")
        note(f"irmeta: {len(names)} not fetched, {state}{why}: {listed}")
