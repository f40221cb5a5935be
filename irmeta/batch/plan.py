"""Which tracks a study still has to do."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irmeta._version import __version__
from irmeta.errors import IrmetaError, of_track
from irmeta.store.layout import folder_name
from irmeta.store.scan import StoreReader
from irmeta.studies.base import Folder, Study


@dataclass(frozen=True)
class Task:
    """One track's part of a study; `finished`: its files are there, made from the same input.

    `fingerprint` is the input's, and `key` is of all that it is made from. `problem` says why
    nothing can be done.
    """

    track: str
    key: str
    finished: bool
    fingerprint: str
    problem: str | None = None


def plan(
    study: Study,
    store: StoreReader,
    tracks: Sequence[str],
    settings: Mapping[str, Any],
    folder: Folder,
) -> list[Task]:
    """One task a track, in name order."""
    tasks = []
    for track in sorted(tracks):
        try:
            own = store.fingerprint(track)
        except IrmetaError as error:
            tasks.append(Task(track, "", False, "", str(of_track(track, error))))
            continue
        made_from = [__version__, study.name, study.revision, own, dict(settings)]
        key = hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()
        tasks.append(Task(track, key, _is_done(folder, track, key), own))
    return tasks


def _is_done(folder: Folder, track: str, key: str) -> bool:
    try:
        mark = json.loads(folder.done(track).read_bytes())
    except (OSError, ValueError):
        return False
    if not isinstance(mark, dict) or mark.get("key") != key:
        return False
    return all((folder.root / file).is_file() for file in mark["files"])


def forget_others(study: Study, folder: Folder, tracks: Sequence[str]) -> None:
    """Remove the study's results of every track but `tracks`, and no other file."""
    kept = {folder_name(track) for track in tracks}
    if not folder.parts.is_dir():
        return
    others = [p.name for p in folder.parts.iterdir() if p.is_dir() and p.name not in kept]
    for name in others:
        for table in study.tables:
            (folder.root / table / f"{name}.parquet").unlink(missing_ok=True)
        for parts in (folder.parts / name, folder.root / "figures" / "tracks" / name):
            shutil.rmtree(parts, ignore_errors=True)


def mark_done(folder: Folder, task: Task, files: Sequence[Path]) -> bytes:
    """The content of a finished track's mark."""
    names = sorted(file.relative_to(folder.root).as_posix() for file in files)
    return json.dumps({"key": task.key, "files": names}, indent=1).encode() + b"\n"
