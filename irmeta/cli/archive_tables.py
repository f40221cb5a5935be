"""Output of catalog and fetch."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from irmeta._version import __version__
from irmeta.archive.catalog import SHOWN_OF_TRACKS, STATES, Catalog, choices
from irmeta.archive.fetch_plan import FetchReport
from irmeta.cli.display import Display
from irmeta.cli.notes import note
from irmeta.cli.tables import Result, open_console, print_table_of, print_text
from irmeta.errors import first_few
from irmeta.escapes import escape_name, print_line
from irmeta.phrases import count
from irmeta.summaries import print_table


def print_catalog(found: Catalog, what: str, asked: Mapping[str, object], display: Display) -> None:
    """Print or write a frame of the catalogue; of tracks, as text, also the number by state."""
    frame = getattr(found, what)
    if what == "tracks" and (display.form == "table" or display.is_paper):
        frame = frame.select(SHOWN_OF_TRACKS).with_columns(pl.col("year").cast(pl.String))

    def show(digits: int) -> None:
        print_table_of(frame, digits=digits)
        if what == "tracks":
            states = found.tracks["state"].to_list()
            parts = [f"{states.count(one):,} {one}" for one in STATES if one in states]
            text = f"\n{count(len(states), 'track')}: {', '.join(parts)}" if parts else "no track"
            print_text(open_console(), text)

    made = {"irmeta": __version__, "catalog": {**asked, "list": what}}
    caption = f"TREC: {what.replace('_', ' ')}."
    display.write(Result("catalog", {what: frame}, caption, made, show=show))


def print_one_track(found: Catalog) -> None:
    """Print all that the catalogue has about one track, but for the names of its runs."""
    console = open_console()
    (track,) = found.tracks.iter_rows(named=True)
    choice = choices(track["id"])
    print_text(console, f"{track['id']}: {track['track']}, {track['year']}", "bold")
    print_text(console, f"{choice.state}{f': {choice.reason}' if choice.reason else ''}")
    known = found.runs["md5"].count()
    print_text(
        console,
        f"{count(track['runs'], 'run')} of {count(track['groups'], 'group')}; "
        f"{track['addresses']:,} with an address, {known:,} with an MD5 checksum "
        "(no sizes are known)",
    )
    sections = {
        "Runs by task": _by(found.runs, "task") if track["tasks"] else None,
        "Runs by group and type": _by(found.runs, "group"),
        "Tracks of a collection, and their qrels sets": found.sets.drop("id", "note"),
        "Tasks left out": found.left_out.drop("id"),
        "Qrels as listed by NIST": _named(found.qrels.drop("id")),
        "Topics as listed by NIST": _named(found.topics.drop("id")),
        "Published scores": _measures(found.published),
    }
    for title, frame in sections.items():
        if frame is not None and frame.height:
            without_text = [
                column.name
                for column in frame
                if column.dtype == pl.String and set(column) <= {"", None}
            ]
            print_text(console, f"\n{title}", "bold")
            print_table(console, frame.drop(without_text))
    if found.published.is_empty():
        print_text(console, "\nNo published scores of runs are known.")
    for task in choice.tasks:
        if task.note:
            print_text(console, f"\n{task.folder}: {task.note}")


def _by(runs: pl.DataFrame, column: str) -> pl.DataFrame:
    """Count the runs of each value of a column, in all and by type."""
    kinds = runs.with_columns(pl.col("type").fill_null("no type"), runs=1)
    wide = kinds.pivot(
        "type", index=column, values="runs", aggregate_function="sum", sort_columns=True
    )
    total = runs.group_by(column).agg(pl.len().alias("runs"))
    return total.join(wide, on=column).sort("runs", column, descending=[True, False])


def _measures(published: pl.DataFrame) -> pl.DataFrame:
    """Return the measures of each evaluator, and the number of runs with a score."""
    return published.group_by("evaluator", maintain_order=True).agg(
        pl.col("run").n_unique().alias("runs"),
        pl.len().alias("scores"),
        pl.col("measure").unique(maintain_order=True).alias("measures"),
    )


def _named(qrels: pl.DataFrame) -> pl.DataFrame:
    """Drop names that only repeat the address."""
    return qrels.with_columns(pl.when(pl.col("name") != pl.col("address")).then("name"))


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
