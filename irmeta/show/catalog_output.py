"""Output of catalog."""

from __future__ import annotations

import sys

import polars as pl

from irmeta.archive.choices import STATES, choices
from irmeta.archive.selection import Catalog
from irmeta.phrases import count
from irmeta.show.console import open_console, print_table, print_text
from irmeta.show.frame_output import print_frame_as

_OF_TRACKS = ("id", "year", "track", "runs", "addresses", "groups", "qrels", "published", "state")


def print_catalog(found: Catalog, what: str, form: str | None, *, csv_safe: bool = False) -> None:
    """Print a frame of the catalogue; of tracks, on a terminal, then the number in each state."""
    frame = getattr(found, what)
    if form != "json":
        frame = _joined_lists(frame)
    is_table = (form or ("table" if sys.stdout.isatty() else "csv")) == "table"
    if what == "tracks" and (is_table or form in ("markdown", "latex")):
        frame = frame.select(_OF_TRACKS).with_columns(pl.col("year").cast(pl.String))
    print_frame_as(frame, form, caption=f"TREC: {what.replace('_', ' ')}.", csv_safe=csv_safe)
    if is_table and what == "tracks":
        states = found.tracks["state"].to_list()
        parts = [f"{states.count(one):,} {one}" for one in STATES if one in states]
        print_text(
            open_console(),
            f"\n{count(len(states), 'track')}: {', '.join(parts)}" if parts else "no track",
        )


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
        "Published scores": _measures(found.published),
    }
    for title, frame in sections.items():
        if frame is not None and frame.height:
            print_text(console, f"\n{title}", "bold")
            print_table(console, _without_empty(_joined_lists(frame)))
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


def _without_empty(frame: pl.DataFrame) -> pl.DataFrame:
    """Drop columns without any text."""
    empty = [one.name for one in frame if one.dtype == pl.String and set(one) <= {"", None}]
    return frame.drop(empty)


def _joined_lists(frame: pl.DataFrame) -> pl.DataFrame:
    """Join the texts of a list by commas."""
    return frame.with_columns(pl.selectors.list().list.join(", "))
