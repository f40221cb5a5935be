"""Costs of docs, read from a file and laid out by list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from irmeta.errors import DataError, UsageError
from irmeta.locations import location
from irmeta.store.scan import StoredLists, StoreReader, read_table


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


def costs_of(store: StoreReader, track: str, file: str) -> pl.DataFrame:
    """Return the costs of a track's docs: query, doc_id, cost."""
    costs = read_costs(file)
    by_query = costs["query"].null_count() == 0
    keys = ["query", "doc"] if by_query else ["doc"]
    docs = read_table(store, "docs", track).select("query", "doc_id", "doc")
    costs_of_docs = docs.join(costs.select(*keys, "cost"), on=keys).select(
        "query", "doc_id", "cost"
    )
    if costs_of_docs.is_empty():
        raise UsageError(f"no doc of track {track!r} has a cost in {file}.")
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
