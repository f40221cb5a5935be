"""What one track's tables hold, row group by row group."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.errors import printable
from irmeta.schema import TABLES
from irmeta.store.assemble import Judgments, SystemLists, TrackRows
from irmeta.store.facts import Facts
from irmeta.store.reading import SetAside
from irmeta.store.writing import GROUP_ROWS, constant, dictionary, nullable, part_writer
from irmeta.trec.rows import NO_RANK


def write_qrels(folder: Path, track: str, pool: Judgments) -> None:
    """Write the qrels table, one row group a set."""
    with part_writer("qrels", folder) as writer:
        for frame in pool.frames:
            columns = {"track": constant(track, frame.height)}
            for name in ("set", "query", "subtopic", "doc"):
                columns[name] = frame[name].to_arrow().cast(pa.string()).dictionary_encode()
            columns["grade"] = frame["grade"].to_arrow()
            columns["doc_id"] = frame["doc_id"].to_arrow()
            writer.write(columns)


def write_docs_and_runs(
    stage: Path, track: str, rows: TrackRows, pool: Judgments, queries: pl.Series, docs: pl.Series
) -> None:
    """Number the docs of each query, judged ones first, and write the docs and runs tables.

    `queries` and `docs` are the track's sorted names, which rows and pool hold by place.
    """
    systems = pl.Series([s.run.system for s in rows.systems], dtype=pl.String)
    doc_ids = np.empty(len(docs), np.int32)
    in_runs = {int(query): index for index, query in enumerate(rows.queries)}
    with (
        part_writer("runs", stage / "runs") as run_writer,
        part_writer("docs", stage / "docs") as doc_writer,
    ):
        run_group = _RunGroup(track, queries, systems, docs)
        doc_group = _DocGroup(track, queries, docs)
        for query in np.union1d(pool.queries(), rows.queries).tolist():
            where = pool.of_query(query)
            judged = (pool.pairs[where] & np.uint64(0xFFFFFFFF)).astype(np.int32)
            columns = rows.of_query(in_runs[query]) if query in in_runs else None
            found = judged if columns is None else _judged_first(judged, columns["doc"])
            doc_group.add(query, found)
            if columns is not None:
                doc_ids[found] = np.arange(len(found), dtype=np.int32)
                columns["doc_id"] = doc_ids[columns["doc"]]
                columns["grade"] = _grades(columns["doc_id"], pool.primary[where])
                run_group.add(query, columns)
            if run_group.rows >= GROUP_ROWS:
                run_writer.write(run_group.take())
            if doc_group.rows >= GROUP_ROWS:
                doc_writer.write(doc_group.take())
        if run_group.rows:
            run_writer.write(run_group.take())
        if doc_group.rows:
            doc_writer.write(doc_group.take())


def _judged_first(judged: np.ndarray, docs: np.ndarray) -> np.ndarray:
    found = np.sort(docs)  # numpy's unique would hash them, at five times the cost
    found = found[np.r_[True, found[1:] != found[:-1]]]
    place = np.minimum(np.searchsorted(judged, found), max(len(judged) - 1, 0))
    return np.r_[judged, found[judged[place] != found]] if len(judged) else found


def _grades(doc_id: np.ndarray, primary: np.ndarray) -> np.ndarray:
    padded = np.r_[primary, np.int16(Judgments.NO_GRADE)]
    return padded[np.minimum(doc_id, len(primary))]


class _RunGroup:
    """Gathers whole queries of the long table until they fill a row group."""

    def __init__(self, track: str, queries: pl.Series, systems: pl.Series, docs: pl.Series) -> None:
        self.track, self.names = track, {"query": queries, "system": systems, "doc": docs}
        self.rows = 0
        self._held: list[dict[str, np.ndarray]] = []

    def add(self, query: int, columns: dict[str, np.ndarray]) -> None:
        length = len(columns["doc"])
        self._held.append(columns | {"query": np.full(length, query, np.int32)})
        self.rows += length

    def take(self) -> dict[str, pa.Array]:
        """The columns gathered so far as Arrow arrays; gathering begins anew."""
        columns = {
            name: np.concatenate([held[name] for held in self._held]) for name in self._held[0]
        }
        grade = columns["grade"]
        group = {
            "track": constant(self.track, self.rows),
            "rank": pa.array(columns["rank"]),
            "grade": pa.array(grade.astype(np.int8), mask=grade == Judgments.NO_GRADE),
            "score": pa.array(columns["score"]),
            "position": pa.array(columns["position"]),
            "rank_given": nullable(columns["rank_given"], NO_RANK),
            "doc_id": pa.array(columns["doc_id"]),
        }
        group |= {name: dictionary(columns[name], names) for name, names in self.names.items()}
        self._held, self.rows = [], 0
        return group


class _DocGroup:
    """Gathers whole queries of the docs table until they fill a row group."""

    def __init__(self, track: str, queries: pl.Series, docs: pl.Series) -> None:
        self.track, self.queries, self.docs = track, queries, docs
        self.rows = 0
        self._held: list[tuple[int, np.ndarray]] = []

    def add(self, query: int, docs: np.ndarray) -> None:
        self._held.append((query, docs))
        self.rows += len(docs)

    def take(self) -> dict[str, pa.Array]:
        """The columns gathered so far as Arrow arrays; gathering begins anew."""
        lengths = [len(docs) for _, docs in self._held]
        query = np.repeat(np.array([q for q, _ in self._held], np.int32), lengths)
        doc_id = np.concatenate([np.arange(n, dtype=np.int32) for n in lengths])
        docs = self.docs.gather(np.concatenate([d for _, d in self._held]))
        group = {
            "track": constant(self.track, self.rows),
            "query": dictionary(query, self.queries),
            "doc_id": pa.array(doc_id),
            "doc": docs.to_arrow().cast(pa.string()),
        }
        self._held, self.rows = [], 0
        return group


def write_systems(
    folder: Path,
    track: str,
    systems: list[SystemLists],
    aside: list[SetAside],
    pool: Judgments,
    facts: dict[str, Facts],
) -> None:
    """Write the systems table: what reading noticed of each run, and why some are set aside."""
    judged = pool.queries()
    records = [_system_record(track, s, judged, facts) for s in systems]
    records += [_aside_record(track, a) for a in aside]
    records.sort(key=lambda r: (str(r["system"] or ""), str(r["file"])))
    schema = TABLES["systems"].arrow(dictionary=True)
    table = pa.Table.from_pylist(records, schema=schema)
    with part_writer("systems", folder) as writer:
        writer.write({name: table[name].combine_chunks() for name in schema.names})


def _system_record(
    track: str, lists: SystemLists, judged: np.ndarray, facts: dict[str, Facts]
) -> dict[str, object]:
    run, own = lists.run, lists.queries
    known = facts.get(run.system, Facts())
    unknown = ["not among the track's system facts"] if facts and run.system not in facts else []
    return {
        "track": track,
        "system": run.system,
        "group": known.group,
        "type": known.type,
        "pooled": known.pooled,
        "file": run.file,
        "sha256": run.sha256,
        "rows": lists.rows,
        "lists": len(own),
        "missing_queries": len(np.setdiff1d(judged, own, assume_unique=True)),
        "unjudged_queries": len(np.setdiff1d(own, judged, assume_unique=True)),
        "deepest_rank": lists.deepest_rank,
        "tied_rows": lists.tied_rows,
        "duplicates": run.duplicates,
        "malformed": run.malformed,
        "notes": "; ".join([*run.notes, *unknown]) or None,
        "set_aside": None,
    }


def _aside_record(track: str, aside: SetAside) -> dict[str, object]:
    schema = TABLES["systems"].columns
    empty = {name: 0 for name, column in schema.items() if not column.null}
    return (
        dict.fromkeys(schema)
        | empty
        | {
            "track": track,
            "system": aside.system,
            "file": printable(aside.file),
            "sha256": aside.sha256,
            "set_aside": aside.reason,
        }
    )
