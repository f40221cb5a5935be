"""TREC text to the store: one track at a time, each put in place whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import DataError, IrmetaError
from irmeta.parallel import ordered_map
from irmeta.policies import ReadPolicy
from irmeta.schema import FORMAT
from irmeta.store.assemble import (
    Judgments,
    SystemLists,
    TrackRows,
    judgments,
    keep_apart,
    order_run,
)
from irmeta.store.facts import read_facts
from irmeta.store.layout import FOLDERS, Layout, to_json, write_atomic
from irmeta.store.lock import only_writer
from irmeta.store.reading import Names, Run, SetAside, read_run
from irmeta.store.tables import write_docs_and_runs, write_qrels, write_systems
from irmeta.trec.collection import QrelsSource, TrackSource, read_collection
from irmeta.trec.qrels import QrelsText, parse_qrels
from irmeta.trec.text import file_sha256, read_text, sha256_of

Progress = Callable[[str, int, int], None]
"""Called with a track, how many of its files are read, and how many it has."""


@dataclass(frozen=True)
class Outcome:
    """What happened to one track: ``written``, ``unchanged`` or ``failed`` with its error."""

    track: str
    state: str
    error: DataError | None = None


def ingest_track(
    source: TrackSource, layout: Layout, *, workers: int | None = None, progress: Progress
) -> Outcome:
    """Bring one track of the store up to date with its source files.

    Unchanged input is not read again. The track is written to a staging folder and put in place
    with its record last, so that a reader sees the old track, no track, or the new one.
    """
    inputs = _Inputs(source, layout)
    try:
        if inputs.unchanged():
            return Outcome(source.name, "unchanged")
        record = _build(source, layout, workers, progress)
    except IrmetaError as error:
        if isinstance(error, DataError):
            error.track = source.name
        else:
            error = DataError(str(error), track=source.name)
        return Outcome(source.name, "failed", error)
    _put_in_place(source.name, layout, record)
    inputs.remember(record)
    return Outcome(source.name, "written")


def ingest_collection(
    folder: str | Path,
    layout: Layout,
    policy: ReadPolicy,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Bring a store up to date with all tracks of a collection, one after another.

    A track that fails does not stop the others; its outcome says why. Tracks of the store that the
    collection does not name are left alone.
    """
    sources = read_collection(folder, policy)
    layout.create(policy)
    report = progress or (lambda track, done, files: None)
    with only_writer(layout.root):
        return [ingest_track(s, layout, workers=workers, progress=report) for s in sources]


class _Inputs:
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

    def unchanged(self) -> bool:
        try:
            record = self.layout.read_record(self.source.name)
        except IrmetaError:
            return False
        if record["config"] != config_record(self.source) or not self._whole(record):
            return False
        known = self._cache().get(self.source.name, {})
        for file in self.files:
            stamp = self.stamps[file]
            sha256 = record["inputs"].get(file)
            if stamp is not None and sha256 and known.get(file) == [*stamp, sha256]:
                continue
            if file_sha256(self.source.root / file) != sha256:
                return False
        return set(self.files) == set(record["inputs"])

    def _whole(self, record: dict[str, Any]) -> bool:
        """Whether the track's own files are all there, as long as they were."""
        folders = {kind: self.layout.folder(kind, self.source.name) for kind in FOLDERS}
        return _sizes(folders) == record["files"]

    def remember(self, record: dict[str, Any]) -> None:
        cache = self._cache()
        cache[self.source.name] = {
            file: [*stamp, record["inputs"][file]]
            for file, stamp in self.stamps.items()
            if stamp is not None
        }
        write_atomic(self.layout.cache, to_json(cache))

    def _stamp(self, file: str) -> tuple[int, int] | None:
        try:
            found = os.stat(self.source.root / file)
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns

    def _cache(self) -> dict[str, dict[str, list[object]]]:
        try:
            return json.loads(self.layout.cache.read_bytes())
        except (OSError, ValueError):
            return {}


def config_record(source: TrackSource) -> dict[str, Any]:
    """All that the collection says of a track, as JSON values without absolute paths."""
    return {
        "format": FORMAT,
        "runs": list(source.runs),
        "qrels": [asdict(q) for q in source.qrels],
        "names": source.names,
        "facts": asdict(source.facts) if source.facts else None,
        "policy": source.policy.record(),
    }


def _build(
    source: TrackSource, layout: Layout, workers: int | None, progress: Progress
) -> dict[str, Any]:
    """Read, order and stage one track; returns its record."""
    sets, inputs = _read_qrels(source)
    facts = read_facts(source)
    if source.facts is not None:
        inputs[source.facts.file] = sha256_of((source.root / source.facts.file).read_bytes())
    queries, docs = Names(), Names()
    judged: set[int] = set()
    for _, parsed in sets:
        judged.update(np.unique(queries.codes(parsed.frame["query"])).tolist())
        docs.codes(parsed.frame["doc"])
    runs, aside = keep_apart(_read_runs(source, queries, docs, workers, progress), judged)
    names, query_place = queries.in_order()
    doc_names, doc_place = docs.in_order()

    def order(index: int) -> SystemLists | SetAside:
        ordered = order_run(runs[index], query_place, doc_place, source.policy)
        runs[index] = _without_rows(runs[index])  # so that no row is held twice
        return ordered

    systems: list[SystemLists] = []
    for ordered in ordered_map(order, range(len(runs)), workers=workers):
        if isinstance(ordered, SetAside):
            aside.append(ordered)
        else:
            systems.append(replace(ordered, run=_without_rows(ordered.run)))
    if not systems:
        first = f" The first: {aside[0].reason}" if aside else ""
        raise DataError(f"none of its {len(source.runs)} runs can be used.{first}")
    pool = judgments(sets, queries, docs, query_place, doc_place)
    stage = _fresh_stage(layout)
    rows = TrackRows(systems)
    write_qrels(stage / "qrels", source.name, pool)
    write_docs_and_runs(stage, source.name, rows, pool, names, doc_names)
    write_systems(stage / "systems", source.name, systems, aside, pool, facts)
    inputs |= {run.file: run.sha256 for run in runs} | {a.file: a.sha256 for a in aside}
    record = _record(source, sets, systems, aside, pool, rows, inputs)
    return record | {"files": _sizes({kind: stage / kind for kind in FOLDERS})}


def _read_qrels(
    source: TrackSource,
) -> tuple[list[tuple[QrelsSource, QrelsText]], dict[str, str | None]]:
    sets, inputs = [], {}
    for given in source.qrels:
        text = read_text(source.root / given.file, given.file)
        inputs[given.file] = text.sha256
        sets.append((given, parse_qrels(text, given.format, subtopics=given.subtopics)))
    return sets, inputs


def _read_runs(
    source: TrackSource, queries: Names, docs: Names, workers: int | None, progress: Progress
) -> list[Run | SetAside]:
    def read(file: str) -> Run | SetAside:
        return read_run(source, file, queries, docs)

    found: list[Run | SetAside] = []
    progress(source.name, 0, len(source.runs))
    for run in ordered_map(read, source.runs, workers=workers):
        found.append(run)
        progress(source.name, len(found), len(source.runs))
    return found


def _sizes(folders: dict[str, Path]) -> dict[str, int]:
    """The size of every Parquet file of a track, by kind and name."""
    return {
        f"{kind}/{file.name}": file.stat().st_size
        for kind, folder in folders.items()
        for file in sorted(folder.glob("part-*.parquet"))
    }


def _without_rows(run: Run) -> Run:
    """The run's facts alone."""
    none = np.empty(0, np.int32)
    return replace(run, query=none, doc=none, score=none, rank=none, position=none)


def _fresh_stage(layout: Layout) -> Path:
    stage = layout.staging
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    return stage


def _put_in_place(track: str, layout: Layout, record: dict[str, Any]) -> None:
    layout.record(track).unlink(missing_ok=True)
    for kind in FOLDERS:
        folder = layout.folder(kind, track)
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        os.replace(layout.staging / kind, folder)
    write_atomic(layout.record(track), to_json(record))
    shutil.rmtree(layout.staging, ignore_errors=True)


def _record(
    source: TrackSource,
    sets: list[tuple[QrelsSource, QrelsText]],
    systems: list[SystemLists],
    aside: list[SetAside],
    pool: Judgments,
    rows: TrackRows,
    inputs: dict[str, str | None],
) -> dict[str, Any]:
    return {
        "track": source.name,
        "config": config_record(source),
        "inputs": inputs,
        "systems": [s.run.system for s in systems],
        "set_aside": len(aside),
        "rows": len(rows),
        "deepest_rank": max(s.deepest_rank for s in systems),
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
