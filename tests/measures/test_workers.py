"""Evaluation of query blocks by several threads, compared with one thread."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from threading import Barrier

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import irmeta
from irmeta.errors import UsageError
from irmeta.measures import evaluate
from irmeta.rankings import load
from irmeta.rankings.load import judged_blocks
from irmeta.store import long_table
from irmeta.store.layout import Layout
from irmeta.store.memory import MemoryStore

pytestmark = pytest.mark.exhaustive

# With shared ties, with the pool, and with unjudged docs assumed relevant.
MEASURES = "AP,nDCG@10,P(ties=share)@10,AP(norm=pool)@10,RBP(p=0.8, unjudged=upper),ASL"


@pytest.fixture(params=["folder", "memory"])
def store(request, collections: Path, tmp_path: Path, monkeypatch) -> irmeta.Store:
    """Return a store of the synthetic collection in blocks of a few queries."""
    monkeypatch.setattr(long_table, "GROUP_ROWS", 1500)
    monkeypatch.setattr(Layout, "block_rows", 1)
    monkeypatch.setattr(MemoryStore, "block_rows", 1)
    if request.param == "folder":
        with pytest.warns(irmeta.SkippedRunWarning):
            return irmeta.ingest(collections, tmp_path / "store")
    with pytest.warns(irmeta.SkippedRunWarning):
        return irmeta.read(collections)


def test_workers__values_do_not_depend_on_thread_count(store: irmeta.Store) -> None:
    alone = store.evaluate(MEASURES, workers=1, per_query=True), store.means(MEASURES, workers=1)
    for workers in (3, None):
        assert_frame_equal(store.evaluate(MEASURES, workers=workers, per_query=True), alone[0])
        assert_frame_equal(store.means(MEASURES, workers=workers), alone[1])


def test_workers__tables_do_not_depend_on_thread_count(store: irmeta.Store) -> None:
    def tables(workers: int | None) -> list[pl.DataFrame]:
        return [
            store.curve("AP,nDCG,ERR(unjudged=upper)", range(1, 30), [1, 20], workers=workers),
            store.per_doc.search_lengths(workers=workers),
            store.per_doc.rarity(workers=workers),
        ]

    alone = tables(1)
    for workers in (3, None):
        for one, other in zip(alone, tables(workers), strict=True):
            assert_frame_equal(other, one, check_exact=True)


def test_workers__curve_is_summed_in_the_same_blocks(store: irmeta.Store, monkeypatch) -> None:
    monkeypatch.setattr(load, "LEAST_ROWS", 1)
    for reader in (Layout, MemoryStore):
        monkeypatch.setattr(reader, "block_rows", 6000)
    one, two = (len(list(judged_blocks(store.track("web"), rows))) for rows in (6000, 3000))
    assert one < two, "two threads would share a block"
    alone, shared = (store.curve("AP,nDCG", range(1, 30), workers=n) for n in (1, 2))
    assert_frame_equal(shared, alone, check_exact=True)


def test_judged_blocks__block_size_does_not_change_tables(
    store: irmeta.Store, made_store: irmeta.Store
) -> None:
    assert len(list(judged_blocks(store.track("web"), 1))) > 2
    assert len(list(judged_blocks(made_store.track("web"), 1))) == 1
    names, ks = "AP,nDCG,ERR(unjudged=upper)", range(1, 30)
    assert_frame_equal(store.curve(names, ks), made_store.curve(names, ks), check_exact=True)
    assert_frame_equal(store.per_doc.search_lengths(), made_store.per_doc.search_lengths())
    assert_frame_equal(store.per_doc.rarity(), made_store.per_doc.rarity())


def test_workers__one_block_per_thread_runs_concurrently(store: irmeta.Store, monkeypatch) -> None:
    real, both = evaluate.evaluate_block, Barrier(2, timeout=20)
    queries: list[int] = []

    def met(view, specs, policy):
        queries.append(len(view.queries))
        if len(queries) <= 2:
            both.wait()
        return real(view, specs, policy)

    monkeypatch.setattr(evaluate, "evaluate_block", met)
    store.scores("AP", track="news", workers=2)
    assert len(queries) > 2


@pytest.mark.parametrize("workers", [0, -1])
def test_workers__fewer_than_one_is_refused(store: irmeta.Store, workers: int) -> None:
    with pytest.raises(
        UsageError, match=f"workers = {workers} is not a whole number of at least 1"
    ):
        store.means("AP", workers=workers)
    for table in (
        store.per_doc.search_lengths,
        store.per_doc.rarity,
        partial(store.curve, "AP", [1]),
    ):
        with pytest.raises(
            UsageError, match=f"workers = {workers} is not a whole number of at least 1"
        ):
            table(workers=workers)
