"""What a track's record says: what it was made from and how, and what it holds."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import Any

import polars as pl

from irmeta.errors import IrmetaError
from irmeta.schema import FORMAT
from irmeta.store.assemble import TrackRows
from irmeta.store.judgments import Judgments
from irmeta.store.layout import FOLDERS, Layout
from irmeta.store.reading import SetAside
from irmeta.store.seal import written
from irmeta.trec.qrels import QrelsText
from irmeta.trec.source import QrelsSource, TrackSource
from irmeta.trec.text import file_sha256

Seen = dict[str, list[object]]
"""For each source file its size, its time of change and its SHA-256."""


class Inputs:
    """Tells whether a track's source files are those that its record was made from.

    Sizes and times of files serve only to skip hashing; they live in `.cache.json`, which may be
    lost without harm.
    """

    def __init__(self, source: TrackSource, layout: Layout) -> None:
        self.source, self.layout = source, layout
        facts = [source.facts.file] if source.facts else []
        self.files = sorted({*source.runs, *(q.file for q in source.qrels), *facts})
        # Taken before anything is read: a file that changes meanwhile is read again next time.
        self.stamps = {file: self._stamp(file) for file in self.files}

    def unchanged(self) -> dict[str, Any] | None:
        """The track's record, if it is still of these files."""
        try:
            record = self.layout.read_record(self.source.name)
        except IrmetaError:
            return None
        if record.get("config") != config_record(self.source) or not self._whole(record):
            return None
        known = read_cache(self.layout).get(self.source.name, {})
        for file in self.files:
            stamp = self.stamps[file]
            sha256 = record["inputs"].get(file)
            if stamp is not None and sha256 and known.get(file) == [*stamp, sha256]:
                continue
            if file_sha256(self.source.root / file) != sha256:
                return None
        return record if set(self.files) == set(record["inputs"]) else None

    def _whole(self, record: dict[str, Any]) -> bool:
        """Whether the track's own files are all there, and end as they did."""
        folders = {kind: self.layout.folder(kind, self.source.name) for kind in FOLDERS}
        return written(folders) == record["files"]

    def seen(self, record: dict[str, Any]) -> Seen:
        """What the cache should say of the track."""
        return {
            file: [*stamp, record["inputs"][file]]
            for file, stamp in self.stamps.items()
            if stamp is not None
        }

    def _stamp(self, file: str) -> tuple[int, int] | None:
        try:
            found = os.stat(self.source.root / file)
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns


def read_cache(layout: Layout) -> dict[str, Seen]:
    """What `.cache.json` says of each track."""
    try:
        cache = json.loads(layout.cache.read_bytes())
    except (OSError, ValueError):
        return {}
    known = cache.items() if isinstance(cache, dict) else ()
    return {track: seen for track, seen in known if isinstance(seen, dict)}


def config_record(source: TrackSource) -> dict[str, Any]:
    """All that the collection says of a track, as JSON values without absolute paths."""
    return {
        "format": FORMAT,
        "runs": list(source.runs),
        "qrels": [asdict(q) for q in source.qrels],
        "names": source.names,
        "facts": asdict(source.facts) if source.facts else None,
        "policy": source.policy.record(),
        **({} if source.pool_depth is None else {"pool_depth": source.pool_depth}),
    }


def track_record(
    source: TrackSource,
    sets: list[tuple[QrelsSource, QrelsText]],
    rows: TrackRows,
    aside: list[SetAside],
    pool: Judgments,
    inputs: dict[str, str | None],
) -> dict[str, Any]:
    """The record, but for the track's files."""
    return {
        "track": source.name,
        "config": config_record(source),
        "inputs": inputs,
        "systems": [run.system for run in rows.runs],
        "set_aside": len(aside),
        "rows": int(rows.rows.sum()),
        "deepest_rank": max(rows.deepest(run) for run in rows.runs),
        "queries_in_runs": len(rows.queries),
        "judged_pairs": len(pool.pairs),
        "qrels": [_set_record(given, parsed) for given, parsed in sets],
    }


def _set_record(given: QrelsSource, parsed: QrelsText) -> dict[str, Any]:
    grade = pl.col("grade")
    facts = parsed.frame.select(
        judgments=pl.len(),
        queries=pl.col("query").n_unique(),
        subtopics=pl.col("subtopic").n_unique(),
        lowest=grade.min(),
        highest=grade.max(),
    ).row(0, named=True)
    facts["subtopics"] = facts["subtopics"] if given.subtopics else 0
    return {"name": given.name, "notes": list(parsed.notes), **facts}
