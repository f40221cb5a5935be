"""Records of tracks: input, settings and content; and the check that a record is up to date."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from importlib.util import find_spec
from typing import Any

import numpy as np
import polars as pl

from irmeta.checksums import load_json
from irmeta.errors import IrmetaError, printable, short
from irmeta.locations import local
from irmeta.schema import FORMAT
from irmeta.store.assemble import TrackLists
from irmeta.store.facts import undescribed, without_depth
from irmeta.store.layout import KINDS, Layout, file_checksums, has_same_footers
from irmeta.store.long_table import Noticed
from irmeta.store.readers import Judgments
from irmeta.store.track_systems import Named
from irmeta.trec.qrels import MOST_LISTED, SAMPLED, QrelsText
from irmeta.trec.source import QrelsSource, TrackSource
from irmeta.trec.streams import stored_sha256

Seen = dict[str, list[object]]
"""Maps each source file to its size, modification time and SHA-256."""


class Inputs:
    """Check whether a track's source files match its record; for `rehash`, and those in the store.

    Sizes and times of files, cached in `.cache.json`, serve only to skip hashing: a changed file of
    the same size and modification time counts as unchanged.
    """

    def __init__(self, source: TrackSource, layout: Layout, *, rehash: bool = False) -> None:
        self.source: TrackSource = source
        self.layout: Layout = layout
        self.rehash: bool = rehash
        facts = [source.facts.file] if source.facts else []
        qrels = [file for one in source.qrels for file in one.paths]
        others = (source.pool_depth_by_query, source.queries, source.systems, source.judges)
        beside = [*source.metadata, *(file for file in others if file is not None)]
        self.files: list[str] = sorted({*source.runs, *qrels, *facts, *beside})
        # Read before any file, so that a file changed later is read again next time.
        self.stamps: dict[str, tuple[int, int] | None] = {
            file: self._stamp(file) for file in self.files
        }

    def unchanged(self) -> Mapping[str, Any] | None:
        """Return the track's record if it is up to date, else None."""
        try:
            record = self.layout.track(self.source.name).record
        except IrmetaError:
            return None
        if record.get("config") != config_record(self.source) or not self._is_intact(record):
            return None
        if "yaml" in record["warnings"] and find_spec("yaml"):
            return None
        known = {} if self.rehash else read_cache(self.layout).get(self.source.name, {})
        for file in self.files:
            stamp = self.stamps[file]
            sha256 = record["inputs"].get(file)
            if stamp is not None and sha256 and known.get(file) == [*stamp, sha256]:
                continue
            if stored_sha256(self.source.input_file(file)) != sha256:
                return None
        return record if set(self.files) == set(record["inputs"]) else None

    def _is_intact(self, record: Mapping[str, Any]) -> bool:
        """Check whether the track's files in the store are unchanged."""
        folders = {kind: local(self.layout.folder(kind, self.source.name)) for kind in KINDS}
        if self.rehash:
            return file_checksums(folders) == record["files"]
        return has_same_footers(folders, record["files"])

    def seen(self, record: Mapping[str, Any]) -> Seen:
        """Return the track's entry in the cache."""
        return {
            file: [*stamp, record["inputs"][file]]
            for file, stamp in self.stamps.items()
            if stamp is not None
        }

    def _stamp(self, file: str) -> tuple[int, int] | None:
        try:
            status = os.stat(self.source.root / file)
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns


def read_cache(layout: Layout) -> dict[str, Seen]:
    """Return each track's entry in `.cache.json`."""
    try:
        cache = load_json(layout.cache.read_bytes())
    except (OSError, ValueError):
        return {}
    known = cache.items() if isinstance(cache, dict) else ()
    return {track: seen for track, seen in known if isinstance(seen, dict)}


def config_record(source: TrackSource) -> dict[str, Any]:
    """Return a track's settings in the collection as JSON values without absolute paths."""
    optional = ("pool_depth", "pool_depth_by_query", "queries", "systems", "judges")
    stated = {name: getattr(source, name) for name in optional}
    return {
        "format": FORMAT,
        "runs": list(source.runs),
        "qrels": [_qrels_config(one) for one in source.qrels],
        "facts": asdict(source.facts) if source.facts else None,
        "policy": source.policy.record(),
        **{name: value for name, value in stated.items() if value is not None},
    }


def _qrels_config(source: QrelsSource) -> dict[str, Any]:
    """Return a qrels set's settings in the collection, without unset files and the usual `rel`.

    Sets of a sampled pool that an earlier version read, without their samples, are read again.
    """
    config = asdict(source)
    if source.format in SAMPLED:
        config["keeps_sample"] = True
    if source.subtopics_file is None:
        del config["subtopics_file"]
    if source.rel == 1:
        del config["rel"]
    return config


def track_record(
    source: TrackSource,
    sets: list[tuple[QrelsSource, QrelsText]],
    rows: TrackLists[Any],
    named: Named[Any],
    pool: Judgments,
    described: pl.DataFrame,
    pool_depths: dict[str, int],
    left_out: str | None,
    inputs: dict[str, str | None],
    noticed: Noticed,
) -> dict[str, Any]:
    """Return the record without `files`.

    `left_out` names the qrels sets that cannot be read.
    """
    judged_rows = int(noticed.judged.sum())
    notes = [f"{printable(given.file)}: {note}" for given, parsed in sets for note in parsed.shown]
    warnings = {
        "names": named.note,
        "qrels_sets": left_out,
        "rows": "; ".join(notes) or None,
        "qrels": _qrels_warning(rows, pool, judged_rows),
        "pool_depth": without_depth(source, pool_depths, set(sets[0][1].frame["query"].unique())),
        "self_retrieval": _self_warning(rows, noticed.selves.tolist()),
        "drop_docs": None if source.doc_rules is None else source.doc_rules.note(),
    }
    return {
        "track": source.name,
        "config": config_record(source),
        "inputs": inputs,
        "systems": [run.system for run in rows.runs],
        "named_by": named.by,
        "skipped_runs": len(named.skipped),
        "rows": int(rows.rows.sum()),
        "judged_rows": judged_rows,
        "deepest_rank": max(rows.deepest(run) for run in rows.runs),
        "queries_in_runs": len(rows.queries),
        "judged_pairs": len(pool.pairs),
        **({"pool_depths": pool_depths} if pool_depths else {}),
        "qrels": [_set_record(given, parsed, described) for given, parsed in sets],
        "warnings": {kind: text for kind, text in warnings.items() if text is not None},
    }


def _qrels_warning(rows: TrackLists[Any], pool: Judgments, judged_rows: int) -> str | None:
    """Return a warning if the qrels look like those of another track, else None."""
    queries = pool.queries()
    missed = len(queries) - len(np.intersect1d(queries, rows.queries))
    problems = []
    if 2 * missed > len(queries):
        problems.append(f"{missed:,} of {len(queries):,} judged queries have no list in any run")
    if not judged_rows:
        problems.append(f"none of {len(pool.pairs):,} judged docs is retrieved by any run")
    signs = " and ".join(problems)
    return f"{signs}: are these the qrels of another track?" if problems else None


def _self_warning(rows: TrackLists[Any], selves: list[int]) -> str | None:
    """Return a warning of systems that rank docs with the id of the query first, else None."""
    counts = [
        (run.system, count, len(run.queries))
        for run, count in zip(rows.runs, selves, strict=True)
        if 2 * count > len(run.queries)
    ]
    if not counts:
        return None
    system, count, queries = counts[0]
    return (
        f"{len(counts)} of {len(rows.runs)} systems rank the doc with the id of the query first "
        f"for most of their queries (such as {short(system)!r}: {count:,} of {queries:,}). "
        "`drop_self=True` removes such docs."
    )


def _set_record(given: QrelsSource, parsed: QrelsText, described: pl.DataFrame) -> dict[str, Any]:
    grade = pl.col("grade")
    facts = parsed.frame.select(
        judgments=pl.len(),
        queries=pl.col("query").n_unique(),
        subtopics=pl.col("subtopic").n_unique(),
        lowest=grade.min(),
        highest=grade.max(),
    ).row(0, named=True)
    facts["subtopics"] = facts["subtopics"] if given.subtopics else 0
    if parsed.frame["grade"].dtype == pl.Float64:
        levels = parsed.frame["grade"].unique().sort()
        facts["levels"] = levels.to_list() if len(levels) <= MOST_LISTED else []
    note = undescribed(given, parsed, described)
    return {"name": given.name, "notes": [*parsed.notes, *([note] if note else [])], **facts}
