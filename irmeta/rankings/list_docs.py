"""Docs of whole lists by name, judged or not, under any tie order."""

from __future__ import annotations

import polars as pl

from irmeta.policies import TieOrder
from irmeta.rankings.judged_docs import read_judged
from irmeta.rankings.load import other_order, ranks_under
from irmeta.rankings.track_facts import TrackFacts
from irmeta.store.scan import StoreReader, read_table, row_blocks, undisturbed
from irmeta.trec.tie_orders import TIE_RULES


def list_docs(
    store: StoreReader, facts: TrackFacts, order: TieOrder | None = None, depth: int | None = None
) -> pl.DataFrame:
    """Return the docs of the lists of the systems of `facts` on its judged queries.

    The columns are system, query and docs (list of str, best first), in no particular order.
    """
    other = other_order(facts, order)
    columns = sorted({"doc_id", *(TIE_RULES[other].keys if other else ())})
    with undisturbed(store, facts.track):
        queries = pl.Series(read_judged(store, facts).queries, dtype=pl.String)
        parts = []
        for block in row_blocks(store, facts.track, queries.to_list(), facts.systems):
            lists = block.lists(columns)
            lists = lists.only((lists.query >= 0) & (lists.system >= 0))
            rank = ranks_under(order or facts.policy["tie_order"], lists, facts)
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
        names = read_table(store, "docs", facts.track).select("query", "doc_id", "doc")
        docs = pl.concat(parts).join(names, on=["query", "doc_id"], how="left")
    return docs.sort("rank").group_by("system", "query").agg(docs="doc")
