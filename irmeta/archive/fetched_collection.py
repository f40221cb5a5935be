"""Write `collection.toml` and facts of systems for fetched tracks, beside what a user wrote."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import polars as pl

from irmeta.archive.choices import QrelsChoice
from irmeta.errors import DataError
from irmeta.files import write_text
from irmeta.trec.collection import read_collection
from irmeta.trec.convention import CONFIG, toml_key, toml_text
from irmeta.trec.source import BrokenTrack, TrackSource

SYSTEMS = "systems.csv"


@dataclass(frozen=True)
class FetchedTrack:
    """A track with files in place.

    Attributes
    ----------
    folders
        Folders of its runs.
    names
        Pattern of system names, or None.
    sets
        Qrels sets with their files, the primary first.
    systems
        Facts of systems: system, group, type.
    """

    name: str
    folders: tuple[str, ...]
    names: str | None
    sets: tuple[tuple[QrelsChoice, str], ...]
    systems: pl.DataFrame


def merge_collection(folder: Path, tracks: Iterable[FetchedTrack]) -> list[str]:
    """Add tracks to `collection.toml`, and their facts to a CSV in each track's folder.

    What the file says of a track stays: only missing qrels sets and facts of systems are added, at
    the end. A new file also names the tracks that the folder has by convention, which would be
    ignored otherwise. Return notes for the user, of tracks that could not be added.
    """
    tracks = list(tracks)
    file, notes = folder / CONFIG, list[str]()
    for track in tracks:
        merge_systems(folder / track.name / SYSTEMS, track.systems)
    is_new = not file.exists()
    text = "" if is_new else _text_of(file)
    tables = _tables(text, file)
    written = text
    if is_new and tracks:
        # Folders of tracks that are not complete yet are not read.
        conventional = _by_convention(folder, {track.name for track in tracks})
        written = "\n".join(["only_described = true", "", *conventional])
    for track in tracks:
        lines = _added(track, tables.get(track.name))
        if not lines:
            continue
        earlier = [written.rstrip("\n"), ""] if written.strip() else []
        longer = "\n".join([*earlier, *lines, ""])
        try:
            tomllib.loads(longer)
        except tomllib.TOMLDecodeError:  # such as of `tracks = { ... }`, which is closed
            notes.append(
                f"{track.name}: add to {CONFIG} by hand: {' / '.join(filter(None, lines))}"
            )
        else:
            written = longer
    if written != text:
        write_text(file, written)
    return notes


def merge_systems(file: Path, systems: pl.DataFrame) -> None:
    """Add facts of systems to a CSV; rows that are there stay as they are."""
    columns, rows = ["system", "group", "type"], list[dict[str, str]]()
    if file.exists():
        reader = csv.DictReader(io.StringIO(_text_of(file)), restval="")
        columns, rows = list(reader.fieldnames or ()), list(reader)
        if "system" not in columns:
            fix = "Restore it, or remove it: then it is written anew."
            raise DataError("has no column 'system'", file=str(file), fix=fix)
    known = {row["system"] for row in rows}
    added = [row for row in systems.iter_rows(named=True) if row["system"] not in known]
    if not added:
        return
    output = io.StringIO()
    writer = csv.DictWriter(output, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows([*rows, *({n: v or "" for n, v in row.items()} for row in added)])
    write_text(file, output.getvalue())


def _text_of(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except UnicodeDecodeError:
        raise DataError("is not UTF-8", file=str(file)) from None


def _tables(text: str, file: Path) -> dict[str, Any]:
    try:
        tracks = tomllib.loads(text).get("tracks", {})
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"cannot be read as TOML ({error})", file=str(file)) from None
    return cast(dict[str, Any], tracks) if isinstance(tracks, dict) else {}


def _by_convention(folder: Path, fetched: set[str]) -> list[str]:
    """Return the lines of tracks that a folder has without a collection.toml."""
    try:
        collection = read_collection(folder)
    except DataError:
        return []
    lines: list[str] = []
    for track in collection:
        if isinstance(track, TrackSource) and track.name not in fetched and track.root == folder:
            below = {run.rpartition("/")[0] for run in track.runs}
            lines += [f"[tracks.{toml_key(track.name)}]", f"runs = {_patterns(below)}"]
            lines += [f"qrels = {toml_text(track.qrels[0].file)}", ""]
        elif isinstance(track, BrokenTrack):
            continue
    return lines


def _added(track: FetchedTrack, given: Any) -> list[str]:
    """Return the lines that a track lacks; `given` is its present table, or None."""
    key, lines = f"tracks.{toml_key(track.name)}", list[str]()
    facts = {"file": f"{track.name}/{SYSTEMS}", "name": "system", "group": "group", "type": "type"}
    known: set[object] = set()
    if given is None:
        lines += [f"[{key}]", f"runs = {_patterns(track.folders)}"]
        lines += [f"names = {toml_text(track.names)}"] if track.names else []
        lines.append(
            "systems = { " + ", ".join(f"{n} = {toml_text(v)}" for n, v in facts.items()) + " }"
        )
    elif isinstance(given, dict):
        table = cast(dict[str, Any], given)
        if "systems" not in table:
            lines += [f"[{key}.systems]", *(f"{n} = {toml_text(v)}" for n, v in facts.items())]
        qrels = table.get("qrels", [])
        if not isinstance(qrels, list):  # a single file that the user chose
            return lines
        known = {one.get("name") for one in cast(list[Any], qrels) if isinstance(one, dict)}
    for choice, file in track.sets:
        if choice.name not in known:
            lines += [
                "",
                f"[[{key}.qrels]]",
                f"name = {toml_text(choice.name)}",
                f"file = {toml_text(file)}",
            ]
            lines += _FORMATS[choice.format]
    return lines


_FORMATS = {
    "trec": [],
    "subtopics": ["subtopics = true"],
    "prels": ['format = "prels"'],
    "sample-eval": ['format = "sample-eval"'],
}


def _patterns(folders: Iterable[str]) -> str:
    return "[" + ", ".join(toml_text(f"{folder}/*") for folder in sorted(folders)) + "]"
