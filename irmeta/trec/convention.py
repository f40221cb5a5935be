"""Tracks of folders laid out by convention: `runs/` and a file of qrels."""

from __future__ import annotations

import json
import re
from pathlib import Path

from irmeta.errors import DataError, of_track, printable
from irmeta.policies import ReadPolicy
from irmeta.trec.listing import files_below, is_folder, list_folder
from irmeta.trec.source import AnyTrack, BrokenTrack, QrelsSource, TrackSource
from irmeta.trec.system_names import file_names

CONFIG = "collection.toml"
_NO_RUN = re.compile(r"(.*/)?(readme(\.\w+)?|[^/]*\.(ya?ml|md))", re.IGNORECASE)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_key(name: str) -> str:
    """Return a TOML key, quoted if necessary."""
    return name if _BARE_KEY.fullmatch(name) else toml_text(name)


def toml_text(text: str) -> str:
    """Return a TOML string."""
    return json.dumps(text, ensure_ascii=False)


def track_folders(root: Path) -> list[str]:
    """Return the sub-folders that look like tracks or cannot be opened, sorted."""
    return [name for name in list_folder(root, ".") if _may_be_track(root, name)]


def track_of_folder(root: Path, name: str, prefix: str, policy: ReadPolicy) -> AnyTrack:
    """Return the track in the folder `prefix` of a collection, broken if files are missing."""
    try:
        if printable(name) != name:
            raise DataError("a folder's name is not UTF-8", file=name, fix="Rename it.")
        qrels = (QrelsSource("qrels", qrels_of_folder(root, name, prefix)),)
        return TrackSource(name, root, runs_of_folder(root, prefix), qrels, policy=policy)
    except DataError as error:
        if error.file is not None:
            error.file = printable((root / error.file).as_posix())
        return BrokenTrack(printable(name), of_track(printable(name), error))


def is_beside_runs(file: str) -> bool:
    """Check whether a file beside runs is a text about them: a readme, *.md, *.yml or *.yaml."""
    return _NO_RUN.fullmatch(file) is not None


def runs_of_folder(root: Path, prefix: str) -> tuple[str, ...]:
    """Return all files in `runs/`, including its sub-folders, without texts about the runs.

    Raises
    ------
    DataError
        If a folder cannot be opened, or there are no files.
    """
    files = files_below(root, f"{prefix}runs")
    runs = tuple(sorted(file for file in files if not is_beside_runs(file)))
    if not runs:
        raise DataError("is empty", file=f"{prefix}runs", fix="Put one file per run there.")
    return runs


def qrels_of_folder(root: Path, track: str, prefix: str) -> str:
    """Return the file named qrels*, or else the only file with qrels in its name.

    Raises
    ------
    DataError
        If the folder cannot be opened, or there is not exactly one such file.
    """
    names = [name for name in list_folder(root, prefix or ".") if "qrels" in name.lower()]
    files = [f"{prefix}{name}" for name in names if (root / prefix / name).is_file()]
    first = [file for file in files if file.removeprefix(prefix).startswith("qrels")]
    if len(found := first or files) == 1:
        return found[0]
    listed = ", ".join((root / file).as_posix() for file in found) or "none"
    fix = f"Name the track's files in {CONFIG}."
    if found:
        tables = [
            f"{{ name = {toml_text(name)}, file = {toml_text(file)} }}"
            for file, name in file_names(found).items()
        ]
        fix = (
            f"Put this line at the top of {CONFIG}, the primary set first (and subtopics = true in "
            f"a set whose second column is a subtopic): "
            f"tracks.{toml_key(track)}.qrels = [{', '.join(tables)}]"
        )
    raise DataError(f"one file named qrels* expected, found {listed}", fix=fix)


def _may_be_track(root: Path, name: str) -> bool:
    """Check whether a folder looks like a track, or cannot be opened."""
    try:
        if not is_folder(root, name):
            return False
        entries = list_folder(root, name)
        # A store has a folder `runs` too.
        is_track = "runs" in entries and "manifest.json" not in entries
        return is_track and is_folder(root, f"{name}/runs")
    except DataError:
        return True
