"""Conversion of one track's tables to `JudgedRanks`, under any tie order, one block at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NoReturn, TypeVar

import numpy as np
import polars as pl

from irmeta.errors import DataError, IrmetaError, UsageError, of_track
from irmeta.kernels.lists import scatter
from irmeta.locations import location
from irmeta.parallel import ordered_map, thread_count
from irmeta.policies import EvalPolicy, TieOrder
from irmeta.progress import reported
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.judgments import Judged, read_judged
from irmeta.rankings.pool import PooledLists, check_pool_depth, no_contributor
from irmeta.rankings.track import Track
from irmeta.rankings.track_facts import TrackFacts
from irmeta.rankings.view import Need, check_needs, show_systems
from irmeta.store.ranked_track import Evaluation
from irmeta.store.scan import (
    RowBlock,
    StoredLists,
    StoredTrack,
    StoreReader,
    read_table,
    replaced,
    row_blocks,
    undisturbed,
)
from irmeta.trec import tie_orders
from irmeta.trec.tie_orders import TIE_RULES, columns_compared, ranks_from


def other_order(
    facts: TrackFacts, order: TieOrder | None, what: str = "tie order"
) -> TieOrder | None:
    """Return `order` if it differs from the store's tie order, otherwise None."""
    if order is None or order == facts.policy["tie_order"]:
        return None
    if (depth := facts.policy["depth"]) is not None:
        raise UsageError(
            f"track {facts.track!r} was cut at depth {depth} under tie order "
            f"{facts.policy['tie_order']!r}; under {what} {order!r} the cut lists would hold other "
            f"docs. Use {what} {facts.policy['tie_order']!r}, or ingest the track again without a "
            "depth."
        )
    return order


def ranks_under(order: TieOrder, lists: StoredLists, facts: TrackFacts) -> np.ndarray:
    """Return the rank of every row under a tie order: int32."""
    if other_order(facts, order) is None:
        return ranks_from(lists.starts)
    if (row := tie_orders.row_without_rank(order, lists.columns)) is not None:
        system = facts.systems[int(lists.by_row(lists.system)[row])]
        raise tie_orders.missing_rank(order, track=facts.track, system=system)
    return tie_orders.ranks_under(order, lists.starts, lists.columns)


Result = TypeVar("Result")
LEAST_ROWS = 1 << 19  # smallest block of a thread
SENT_ROWS = 1 << 20  # block of an executor: reading of the qrels takes little of its time
MOST_SENT = 64
"""Blocks of one track that an executor has at once, so that finished ones do not fill memory."""


def over_blocks(
    function: Callable[[JudgedRanks], Result],
    track: Track,
    needs: Collection[Need] = (),
    *,
    workers: int | None = 1,
    executor: Executor | None = None,
    max_rows: int | None = None,
) -> Iterator[Result]:
    """Yield the result of a function for each block of a track, in query order.

    Threads share the rows of one block of the store, down to `LEAST_ROWS` each. Workers of an
    executor (None: `MOST_SENT` at most) read blocks of `SENT_ROWS` by the store's path, so the
    function is picklable. With `max_rows` blocks do not depend on the workers.
    """
    store = track.stored.store
    if executor is None:
        threads, least = thread_count(workers), min(store.block_rows, LEAST_ROWS)
        rows = max_rows or max(store.block_rows // threads, least)
        blocks = judged_blocks(track, rows, needs)
        by_block = ordered_map(lambda read: function(read()), blocks, workers=threads)
    else:
        rows = max_rows or min(store.block_rows, SENT_ROWS)
        by_block = _on_executor(function, track, needs, workers, executor, rows)
    number = -(-track.stored.record["rows"] // rows)  # about: blocks end with a query
    with undisturbed(track.stored), closing(by_block) as results:
        yield from reported(results, number, "blocks of queries")


def _on_executor(
    function: Callable[[JudgedRanks], Result],
    track: Track,
    needs: Collection[Need],
    workers: int | None,
    executor: Executor,
    rows: int,
) -> Generator[Result]:
    """Yield the result of a function for each block, computed by an executor."""
    store = track.stored.store
    if not track.stored.is_shared:
        fix = "ingest it into a folder, or use threads."
        raise UsageError(f"{store} is in memory, where no other process reads it: {fix}")
    smallest, needed = store.only(track.name), frozenset(needs)
    sent = _Sent(smallest, track.stored.fingerprint(), track.name, track.policy, needed, rows)

    def lost(index: int, error: IrmetaError) -> NoReturn:
        raise of_track(track.name, error)  # the worker of a block was killed

    yield from ordered_map(
        partial(_on_block, function, sent),
        range(len(_blocks(sent))),
        workers=MOST_SENT if workers is None else workers,
        executor=executor,
        lost=lost,
    )


@dataclass(frozen=True)
class _Sent:
    """Arguments of `judged_blocks` for another process, and the track's `fingerprint`; hashable."""

    store: StoreReader
    fingerprint: str
    track: str
    policy: EvalPolicy
    needs: frozenset[Need]
    rows: int


@lru_cache(maxsize=1)  # a worker reads the qrels once for all blocks of a track
def _blocks(sent: _Sent) -> list[Callable[[], JudgedRanks]]:
    """Return one function per block that reads it."""
    track = Track.of(sent.store, sent.track, sent.policy)
    return list(judged_blocks(track, sent.rows, sent.needs))


def _on_block(function: Callable[[JudgedRanks], Result], sent: _Sent, index: int) -> Result:
    """Read one block of a track in a worker, and call a function."""
    if sent.store.track(sent.track).fingerprint() != sent.fingerprint:
        raise replaced(sent.track)
    return function(_blocks(sent)[index]())


def judged_ranks(
    track: Track, max_rows: int | None = None, needs: Collection[Need] = ()
) -> Iterator[JudgedRanks]:
    """Yield the blocks of a track in query order; each judged query is in exactly one."""
    with undisturbed(track.stored):
        for read in judged_blocks(track, max_rows, needs):
            yield read()


def judged_blocks(
    track: Track, max_rows: int | None = None, needs: Collection[Need] = ()
) -> Iterator[Callable[[], JudgedRanks]]:
    """Yield one function per block that reads the block in any thread: see `judged_ranks`."""
    asked = _Asked.of(track, needs)
    sets = _qrels_sets(asked.track, asked.needs)

    def read(queries: list[str], block: RowBlock) -> JudgedRanks:
        return _arranged(sets, *_lists_of(block, queries, asked.columns), asked)

    for queries, block in _blocks_of(asked.track, sets, max_rows):
        yield partial(read, queries, block)


def judged_under(
    track: Track,
    asked: Sequence[tuple[EvalPolicy, Collection[Need]]],
    max_rows: int | None = None,
) -> Iterator[list[JudgedRanks]]:
    """Yield each block of a track under several policies, read once: see `judged_ranks`.

    The policies have the same qrels set; only the first may need subtopics or samples.
    """
    with undisturbed(track.stored):
        track = track.under(asked[0][0])
        every = [_Asked.of(track.under(policy), needs) for policy, needs in asked]
        columns = sorted({column for request in every for column in request.columns})
        sets = _qrels_sets(every[0].track, every[0].needs)
        for queries, block in _blocks_of(every[0].track, sets, max_rows):
            lists = _lists_of(block, queries, columns)
            yield [_arranged(sets, *lists, request) for request in every]


@dataclass(frozen=True)
class _Asked:
    """A policy with the needs of what reads the views, and the columns to read for them.

    The track has all systems; `systems` are those that the views show, if not all.
    """

    track: Track
    policy: EvalPolicy
    needs: Collection[Need]
    columns: Sequence[str]
    costs: pl.DataFrame | None
    systems: frozenset[str] | None

    @classmethod
    def of(cls, track: Track, needs: Collection[Need]) -> _Asked:
        check_needs(needs)
        systems, policy = None, track.policy
        if policy.system is not None:
            systems, track = frozenset(track.systems), track.all_systems
        facts = track.facts
        if policy.has_smaller_pool:
            needs = {*needs, "pool"}
            check_pool_depth(policy.pool_depth, facts)
        order = other_order(facts, policy.tie_order)
        pool_order = (
            other_order(facts, policy.pool_order, "pool order") if "pool" in needs else None
        )
        if "pool" in needs and not facts.contributors:
            raise no_contributor(facts.track)
        store_order = facts.policy["tie_order"]
        compared = columns_compared(store_order, (order, pool_order), "ties" in needs)
        costs = None
        if policy.costs is not None and "costs" in needs:
            costs = costs_of(track.stored, policy.costs)
        return cls(track, policy, needs, sorted({"doc_id", *compared}), costs, systems)


def _blocks_of(
    track: Track, sets: Sequence[Judged], max_rows: int | None
) -> Iterator[tuple[list[str], RowBlock]]:
    """Yield the queries of a track, and each block of its long table."""
    queries = sorted(set().union(*(judged.queries for judged in sets)))
    if not queries and track.policy.selects_queries:
        name = sets[0].facts.qrels
        raise UsageError(
            f"the qrels set {name!r} of track {track.name!r} judges none of the selected queries."
        )
    systems: list[str] = track.stored.record["systems"]
    for block in row_blocks(track.stored, queries, systems, max_rows):
        yield queries, block


def evaluation_of(policy: EvalPolicy, needs: Collection[Need]) -> Evaluation | None:
    """Return what views under a policy read of ranked lists, see `judged_blocks`.

    None for complete lists, whose unjudged docs have names.
    """
    if policy.costs is not None:
        return None
    reads_pool = "pool" in needs or policy.has_smaller_pool
    pool_order = policy.pool_order if reads_pool else None
    return Evaluation((policy.tie_order, pool_order), "ties" in needs, "retrieved" in needs)


def _qrels_sets(track: Track, needs: Collection[Need]) -> list[Judged]:
    """Return the judgments of the chosen qrels set, and of the one with subtopics if needed."""
    stored, facts, sample = track.stored, track.facts, "sample" in needs
    if "subtopics" not in needs:
        return [read_judged(stored, facts, sample=sample)]
    with_subtopics = read_judged(stored, track.subtopic_facts, subtopics=True)
    if with_subtopics.facts.qrels == facts.qrels:
        return [with_subtopics]
    return [read_judged(stored, facts, sample=sample), with_subtopics]


@dataclass(frozen=True)
class _Rows:
    """A block's rows of the long table for judged queries, and `shape` and `dtype` of its arrays.

    Queries of `lists` are indices in the block; the arrays are [judged docs, systems].
    """

    lists: StoredLists
    row_of: np.ndarray
    first_row: np.ndarray
    shape: tuple[int, int]
    dtype: type[np.unsignedinteger]

    def laid_out(self, values: np.ndarray) -> np.ndarray:
        """Arrange an int32 value of each row as an array [judged docs, systems]."""
        out = np.full(self.shape, np.iinfo(self.dtype).max, self.dtype)
        lists, doc_id = self.lists, self.lists.columns["doc_id"]
        keys = (lists.query, lists.system, lists.starts)
        scatter(*keys, doc_id, self.row_of, self.first_row, values, out)
        return out


def _lists_of(
    block: RowBlock, queries: list[str], columns: Sequence[str]
) -> tuple[list[str], StoredLists]:
    """Return the queries of a block, and its lists; their query is an index in the block."""
    lists = block.lists(columns)
    if not (is_judged := lists.query >= 0).all():
        lists = lists.only(is_judged)
    lists = replace(lists, query=lists.query - np.int32(block.first_query))
    return queries[block.first_query : block.last_query], lists


def _arranged(
    sets: Sequence[Judged], queries: list[str], lists: StoredLists, asked: _Asked
) -> JudgedRanks:
    """Arrange the lists of a block under each qrels set."""
    policy = asked.policy
    views = [_view(judged, queries, lists, asked) for judged in sets]
    view = replace(views[0], diversity=views[1]) if len(views) > 1 else views[0]
    if policy.has_smaller_pool:
        view = view.with_pool(policy.pool_depth, policy.pool_without)
    return view if asked.systems is None else show_systems(view, asked.systems)


def _view(judged: Judged, queries: list[str], lists: StoredLists, asked: _Asked) -> JudgedRanks:
    policy, needs = asked.policy, asked.needs
    facts, docs = judged.facts, judged.of_queries(queries)
    rows = _Rows(
        lists,
        *_row_of(docs.doc_ids, docs.offsets),
        (len(docs.doc_ids), len(facts.systems)),
        np.uint16 if facts.deepest_rank < np.iinfo(np.uint16).max else np.uint32,
    )
    order: TieOrder = policy.tie_order or facts.policy["tie_order"]
    rank = ranks_under(order, lists, facts)
    ranks = rows.laid_out(rank)
    lengths = np.zeros((len(queries), len(facts.systems)), np.uint32)
    lengths[lists.query, lists.system] = np.diff(lists.starts)
    arrays: dict[str, Any] = {}
    if "ties" in needs:
        permutation = np.empty(len(rank), np.int64)  # sorts the rows into list order
        permutation[lists.by_row(lists.starts[:-1]) + rank - 1] = np.arange(len(rank))
        ends = tie_orders.tie_blocks(order, lists.starts, lists.columns, permutation)
        arrays["ties"] = rows.laid_out(ends[0]), rows.laid_out(ends[1])
    if "pool" in needs:
        pool_ranks = ranks
        if policy.pool_order != order:
            pool_ranks = rows.laid_out(ranks_under(policy.pool_order, lists, facts))
        pooled = PooledLists.of(facts, pool_ranks, docs.offsets, lengths)
        arrays |= {"pooled_lists": pooled, **pooled.depths(facts, queries)}
    if "retrieved" in needs:
        arrays["retrieved"] = _distinct_docs(lists, len(queries))
    if asked.costs is not None:
        arrays["costs"] = lay_out_costs(asked.costs, queries, lists, rank, len(facts.systems))
    return JudgedRanks(
        facts=facts,
        negative=policy.negative,
        queries=tuple(queries),
        offsets=docs.offsets,
        ranks=ranks,
        grades=docs.grades,
        docs=docs.names,
        doc_ids=docs.doc_ids,
        lengths=lengths,
        subtopics=docs.subtopics,
        in_qrels=docs.in_qrels,
        sample=docs.sample,
        **arrays,
    )


def _distinct_docs(lists: StoredLists, queries: int) -> np.ndarray:
    """Count the docs that the lists of each query retrieve together: int64 [queries]."""
    doc_id, widths = lists.columns["doc_id"], np.zeros(queries, np.int64)
    has_rows = np.diff(lists.starts) > 0
    if has_rows.any():
        greatest = np.maximum.reduceat(doc_id, lists.starts[:-1][has_rows])
        np.maximum.at(widths, lists.query[has_rows], greatest.astype(np.int64) + 1)
    ends = np.cumsum(widths)
    first = ends - widths
    is_seen = np.zeros(int(widths.sum()), bool)
    is_seen[lists.by_row(first[lists.query]) + doc_id] = True
    seen = np.concatenate([[0], np.cumsum(is_seen)])
    return seen[ends] - seen[first]


def _row_of(doc_ids: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return concatenated tables from doc_id to row, one per query; -1 for no row."""
    widths = np.zeros(len(offsets) - 1, np.int64)
    query = np.repeat(np.arange(len(widths)), np.diff(offsets))
    np.maximum.at(widths, query, doc_ids.astype(np.int64) + 1)
    first_row = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    row_of = np.full(first_row[-1], -1, np.int32)
    row_of[first_row[query] + doc_ids] = np.arange(len(doc_ids), dtype=np.int32)
    return row_of, first_row


def ranked_lists(
    track: StoredTrack, queries: Sequence[str], facts: TrackFacts, order: TieOrder
) -> Iterator[tuple[RowBlock, StoredLists, np.ndarray]]:
    """Yield the lists of the systems of `facts` on some queries, by block, and each row's rank."""
    changed_order = other_order(facts, order)
    columns = sorted({"doc_id", *(TIE_RULES[changed_order].keys if changed_order else ())})
    for block in row_blocks(track, queries, facts.systems):
        lists = block.lists(columns)
        lists = lists.only((lists.query >= 0) & (lists.system >= 0))
        yield block, lists, ranks_under(order, lists, facts)


def list_docs(
    track: StoredTrack, facts: TrackFacts, order: TieOrder | None = None, depth: int | None = None
) -> pl.DataFrame:
    """Return the docs of the lists of the systems of `facts` on its judged queries.

    The columns are system, query and docs (list of str, best first), in no particular order.
    """
    tie_order: TieOrder = order or facts.policy["tie_order"]
    with undisturbed(track):
        queries = pl.Series(read_judged(track, facts).queries, dtype=pl.String)
        parts = []
        for _, lists, rank in ranked_lists(track, queries.to_list(), facts, tie_order):
            part = {
                "system": pl.Series(facts.systems, dtype=pl.String).gather(
                    lists.by_row(lists.system)
                ),
                "query": queries.gather(lists.by_row(lists.query)),
                "doc_id": lists.columns["doc_id"],
                "rank": rank,
            }
            rows = pl.DataFrame(part)
            parts.append(rows if depth is None else rows.filter(pl.col("rank") <= depth))
        names = read_table(track, "docs").select("query", "doc_id", "doc")
        docs = pl.concat(parts).join(names, on=["query", "doc_id"], how="left")
    return docs.sort("rank").group_by("system", "query").agg(docs="doc")


def read_costs(file: str) -> pl.DataFrame:
    """Read lines ``query doc cost`` or ``doc cost``: query (null: any query), doc, cost."""
    schema = {"query": pl.String, "doc": pl.String, "cost": pl.Float64}
    costs = pl.DataFrame(list(_lines(file)), schema, orient="row")
    if costs.is_empty():
        raise DataError("it has no costs", file=file, fix="Write lines: query doc cost.")
    if (again := costs.select("query", "doc").is_duplicated()).any():
        doc = costs.filter(again)["doc"][0]
        raise DataError(f"doc {doc!r} has two costs", file=file, fix="Keep one.")
    return costs


def _text(file: str) -> str:
    try:
        return location(file).read_bytes().decode()
    except OSError as error:
        raise DataError(error.strerror or "it cannot be read", file=file) from None
    except UnicodeDecodeError:
        raise DataError("not UTF-8 text", file=file) from None


def _lines(file: str) -> Iterator[tuple[str | None, str, float]]:
    width = 0
    for number, line in enumerate(_text(file).splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        width = width or len(fields)
        if width not in (2, 3) or len(fields) != width:
            raise DataError(
                f"{len(fields)} fields", file=file, line=number, fix="Write query doc cost."
            )
        try:
            cost = float(fields[-1])
        except ValueError:
            cost = 0.0
        if not 0 < cost < np.inf:
            raise DataError(
                "not a cost above 0",
                file=file,
                line=number,
                value=fields[-1],
                fix="Write query doc cost.",
            )
        yield (fields[0] if width == 3 else None), fields[-2], cost


def costs_of(track: StoredTrack, file: str) -> pl.DataFrame:
    """Return the costs of a track's docs: query, doc_id, cost."""
    costs = read_costs(file)
    by_query = costs["query"].null_count() == 0
    keys = ["query", "doc"] if by_query else ["doc"]
    docs = read_table(track, "docs").select("query", "doc_id", "doc")
    costs_of_docs = docs.join(costs.select(*keys, "cost"), on=keys).select(
        "query", "doc_id", "cost"
    )
    if costs_of_docs.is_empty():
        raise UsageError(f"no doc of track {track.name!r} has a cost in {file}.")
    return costs_of_docs


def lay_out_costs(
    costs: pl.DataFrame, queries: Sequence[str], lists: StoredLists, rank: np.ndarray, systems: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return `costs` of `JudgedRanks` for the lists of a block, whose rows have these ranks."""
    index = pl.DataFrame({"query": queries, "number": np.arange(len(queries))})
    known = costs.join(index, on="query").select(
        key=pl.col("number").cast(pl.Int64) * 2**32 + pl.col("doc_id").cast(pl.Int64), cost="cost"
    )
    known = known.sort("key")
    keys, values = known["key"].to_numpy(), known["cost"].to_numpy()
    rows = lists.by_row(lists.query.astype(np.int64)) << 32 | lists.columns["doc_id"]
    place = np.minimum(np.searchsorted(keys, rows), max(len(keys) - 1, 0))
    laid_out = np.ones(len(rows))
    if len(keys):
        order = lists.by_row(lists.starts[:-1]) + rank - 1
        laid_out[order] = np.where(keys[place] == rows, values[place], 1.0)
    starts = np.zeros((len(queries), systems), np.int64)
    starts[lists.query, lists.system] = lists.starts[:-1]
    return laid_out, starts
