"""All runs and qrels of one track as arrays, in the store's order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from irmeta.errors import DataError, short
from irmeta.policies import ReadPolicy
from irmeta.store.reading import Names, Run, SetAside
from irmeta.trec.collection import QrelsSource
from irmeta.trec.ordering import as_float32, ranks_within, sort_lists
from irmeta.trec.qrels import QrelsText


@dataclass(frozen=True)
class SystemLists:
    """One system's rows in list order, by query, then rank, and what they tell.

    Attributes
    ----------
    columns
        Arrays of equal length by name: query and doc (places among the track's sorted names), rank,
        score, position, rank_given. `TrackRows` takes the first out.
    queries
        The places of the queries that it has a list for, sorted.
    """

    run: Run
    columns: dict[str, np.ndarray]
    rows: int
    queries: np.ndarray
    deepest_rank: int
    tied_rows: int


@dataclass(frozen=True)
class Judgments:
    """The docs of each query that any qrels set judges, as one sorted array of pairs.

    Attributes
    ----------
    pairs
        ``query << 32 | doc`` (places among the sorted names), sorted, each once.
    primary
        int16 grade of each pair in the primary set; `NO_GRADE` where it is not in it.
    frames
        One frame a set: set, query, subtopic, doc, grade (as read) and doc_id.
    """

    NO_GRADE = 999
    pairs: np.ndarray
    primary: np.ndarray
    frames: tuple[pl.DataFrame, ...]

    def of_query(self, query: int) -> slice:
        """Where the pairs of one query lie."""
        bounds = np.array([query, query + 1], np.uint64) << np.uint64(32)
        return slice(*np.searchsorted(self.pairs, bounds).tolist())

    def queries(self) -> np.ndarray:
        """The places of all queries that any set judges, sorted."""
        return np.unique(self.pairs >> np.uint64(32)).astype(np.int32)


def order_run(
    run: Run, query_place: np.ndarray, doc_place: np.ndarray, policy: ReadPolicy
) -> SystemLists | SetAside:
    """Put one system's rows into list order under the policy's tie order and depth."""
    query, doc = query_place[run.query], doc_place[run.doc]
    try:
        order = sort_lists(policy.tie_order, query, run.score, doc, run.position, run.rank)
    except DataError as error:
        error.file = run.file
        return SetAside(run.file, run.sha256, run.system, str(error))
    rank = ranks_within(query[order])
    if policy.depth is not None:
        kept = rank <= policy.depth
        order, rank = order[kept], rank[kept]
    columns = {
        "query": query[order],
        "doc": doc[order],
        "rank": rank,
        "score": run.score[order],
        "position": run.position[order],
        "rank_given": run.rank[order],
    }
    return SystemLists(
        run=run,
        columns=columns,
        rows=len(order),
        queries=np.unique(columns["query"]),
        deepest_rank=int(rank.max()),
        tied_rows=_tied_rows(columns["query"], columns["score"]),
    )


def _tied_rows(query: np.ndarray, score: np.ndarray) -> int:
    """Rows that share their score, as float32, with another row of their list."""
    compared = as_float32(score)
    same_list = query[1:] == query[:-1]
    if (same_list & (compared[1:] > compared[:-1])).any():  # an order that scores do not decide
        order = np.lexsort((compared, query))
        query, compared = query[order], compared[order]
    same = same_list & (compared[1:] == compared[:-1])
    return int((np.r_[same, False] | np.r_[False, same]).sum())


def keep_apart(
    runs: Iterable[Run | SetAside], judged: set[int]
) -> tuple[list[Run], list[SetAside]]:
    """Set aside what cannot be in the track: a name taken before, or no judged query.

    `judged` holds the codes of the judged queries.
    """
    kept: dict[str, Run] = {}
    aside: list[SetAside] = []
    for run in runs:
        if isinstance(run, SetAside):
            aside.append(run)
        elif run.system in kept:
            reason = str(
                DataError(
                    f"system {short(run.system)!r} is already read from {kept[run.system].file}",
                    file=run.file,
                    fix='Name systems by file: names = "(.*)\\\\.gz" in collection.toml.',
                )
            )
            aside.append(SetAside(run.file, run.sha256, run.system, reason))
        elif judged.isdisjoint(np.unique(run.query).tolist()):
            reason = str(
                DataError(
                    "none of its queries is judged",
                    file=run.file,
                    fix="Are these the runs of another track?",
                )
            )
            aside.append(SetAside(run.file, run.sha256, run.system, reason))
        else:
            kept[run.system] = run
    return [kept[name] for name in sorted(kept)], aside


def judgments(
    sets: list[tuple[QrelsSource, QrelsText]],
    queries: Names,
    docs: Names,
    query_place: np.ndarray,
    doc_place: np.ndarray,
) -> Judgments:
    """Number the judged docs of each query, from 0 in byte order, over all sets together."""
    pairs_of = [
        _pairs(query_place[queries.codes(q.frame["query"])], doc_place[docs.codes(q.frame["doc"])])
        for _, q in sets
    ]
    pairs = np.unique(np.concatenate(pairs_of))
    starts = np.searchsorted(pairs, pairs >> np.uint64(32) << np.uint64(32))
    primary = np.full(len(pairs), Judgments.NO_GRADE, np.int16)
    frames = []
    for index, ((source, parsed), own) in enumerate(zip(sets, pairs_of, strict=True)):
        at = np.searchsorted(pairs, own)
        if index == 0:
            primary[at] = np.iinfo(np.int8).min
            np.maximum.at(primary, at, parsed.frame["grade"].to_numpy().astype(np.int16))
        frames.append(
            parsed.frame.select(
                pl.lit(source.name).alias("set"),
                "query",
                "subtopic",
                "doc",
                "grade",
                doc_id=pl.Series((at - starts[at]).astype(np.int32)),
            ).sort("query", "subtopic", "doc")
        )
    return Judgments(pairs, primary, tuple(frames))


def _pairs(query: np.ndarray, doc: np.ndarray) -> np.ndarray:
    return query.astype(np.uint64) << np.uint64(32) | doc.astype(np.uint64)


class TrackRows:
    """The rows of all systems, visited query by query in the store's order."""

    COLUMNS = ("doc", "rank", "score", "position", "rank_given")

    def __init__(self, systems: list[SystemLists]) -> None:
        self.systems = systems
        self.queries = np.unique(np.concatenate([s.queries for s in systems]))
        # Rows of a system lie query by query: where each query begins, and the end of the last.
        self._bounds = [
            [*np.searchsorted(s.columns.pop("query"), self.queries).tolist(), s.rows]
            for s in systems
        ]

    def __len__(self) -> int:
        return sum(s.rows for s in self.systems)

    def of_query(self, index: int) -> dict[str, np.ndarray]:
        """The rows of the `index`-th query as columns, sorted by system and rank."""
        spans = [bounds[index : index + 2] for bounds in self._bounds]
        columns = {
            name: np.concatenate(
                [s.columns[name][a:b] for s, (a, b) in zip(self.systems, spans, strict=True)]
            )
            for name in self.COLUMNS
        }
        lengths = [b - a for a, b in spans]
        return columns | {"system": np.repeat(np.arange(len(spans), dtype=np.int32), lengths)}
