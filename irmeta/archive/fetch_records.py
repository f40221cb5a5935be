"""What a fetch records: the lock file, `collection.toml` and facts of systems."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, cast

import polars as pl

from irmeta.archive.catalog import QrelsChoice
from irmeta.archive.content import CHECKS
from irmeta.checksums import load_json, to_json
from irmeta.errors import DataError
from irmeta.files import write_bytes, write_text
from irmeta.trec.collection import CONFIG, read_collection, toml_key, toml_text
from irmeta.trec.source import BrokenTrack, TrackSource
from irmeta.trec.streams import file_sha256

NAME = "fetch.lock.json"
_FORMAT = 1


@dataclass(frozen=True)
class Fetched:
    """One file of an archive: its `source`, size and SHA-256 as stored, and the catalogue's `md5`.

    A file made of others has the SHA-256 of these `parts`; `checks` is the version of the rules by
    which the content was checked.
    """

    source: str
    at: str
    bytes: int
    sha256: str
    md5: str | None = None
    parts: tuple[str, ...] = ()
    checks: int = 0


class FetchLock:
    """Records of the files of an archive, by path; several threads may add records."""

    def __init__(self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)):
        self._folder, self._now, self._lock = folder, now, Lock()
        self._file = folder / NAME
        self._files = _read(self._file)

    def current(self, path: str) -> Fetched | None:
        """Return the record of a file that is there and unchanged, else None."""
        with self._lock:
            known = self._files.get(path)
        file = self._folder / path
        if known is None or not file.is_file() or file.stat().st_size != known.bytes:
            return None
        return known if file_sha256(file) == known.sha256 else None

    def sha256(self, path: str) -> str:
        """Return the recorded SHA-256 of a file."""
        with self._lock:
            return self._files[path].sha256

    def add(
        self,
        path: str,
        source: str,
        size: int,
        sha256: str,
        *,
        md5: str | None = None,
        parts: tuple[str, ...] = (),
    ) -> None:
        """Record a file that is in place."""
        at = self._now().strftime("%Y-%m-%dT%H:%M:%SZ")
        with self._lock:
            self._files[path] = Fetched(source, at, size, sha256, md5, parts, CHECKS)

    def checked(self, path: str) -> Fetched:
        """Record that a file of an earlier fetch has passed the checks of today."""
        with self._lock:
            self._files[path] = replace(self._files[path], checks=CHECKS)
            return self._files[path]

    def write(self) -> None:
        """Write the lock file, sorted by path, if there is any record."""
        with self._lock:
            files = {
                path: {n: v for n, v in asdict(record).items() if v not in (None, (), 0)}
                for path, record in self._files.items()
            }
        if files:
            write_bytes(self._file, to_json({"format": _FORMAT, "files": files}))


def _read(file: Path) -> dict[str, Fetched]:
    if not file.exists():
        return {}
    try:
        record = load_json(file.read_bytes())
        if record["format"] != _FORMAT:
            raise ValueError(f"format {record['format']}")
        return {
            path: Fetched(**(fields | {"parts": tuple(fields.get("parts", ()))}))
            for path, fields in record["files"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        fix = "Restore it, or remove it: then files are fetched again."
        why = error if isinstance(error, OSError | ValueError) else "its fields are others"
        problem = f"cannot be read as a lock file of fetch ({why})"
        raise DataError(problem, file=str(file), fix=fix) from None


SYSTEMS = "systems.csv"


@dataclass(frozen=True)
class FetchedTrack:
    """A track with files in place: folders of runs, pattern of system `names`, qrels `sets`.

    The primary set is first; `systems` has system, group, type.
    """

    name: str
    folders: tuple[str, ...]
    names: str | None
    sets: tuple[tuple[QrelsChoice, str], ...]
    systems: pl.DataFrame


def merge_collection(folder: Path, tracks: Iterable[FetchedTrack]) -> list[str]:
    """Add tracks to `collection.toml`, and their facts to a CSV in each track's folder.

    What the file says stays: missing qrels sets and facts are added at the end. A new file also
    names tracks that the folder has by convention. Return notes on tracks that could not be added.
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
        known = {
            qrels_set.get("name")
            for qrels_set in cast(list[Any], qrels)
            if isinstance(qrels_set, dict)
        }
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
