"""A program of a user in strict types: tests/test_typing.py checks and runs it."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import numpy as np
import polars as pl

import irmeta
from irmeta.api.comparisons import Comparison
from irmeta.results.scores import Scores
from irmeta.stats import Pairs
from irmeta.studies.framework.study_results import StudyResults


def read(collection: Path, folder: Path) -> irmeta.Store:
    store = irmeta.ingest(collection, folder, track="news")
    assert_type(store, irmeta.Store)
    assert_type(irmeta.read(collection, track="news", tie_order="file"), irmeta.Store)
    assert_type(store.tracks, list[str])
    assert_type(store.runs("news"), pl.LazyFrame)
    assert_type(store.systems(), pl.DataFrame)
    return store


def evaluate(store: irmeta.Store) -> None:
    assert_type(store.evaluate(["AP", "P@5"], negative="nonrelevant", per_query=True), pl.DataFrame)
    assert_type(store.means("AP"), pl.DataFrame)
    scores = store.scores([irmeta.nDCG @ 10, irmeta.AP(rel=2)], track="news")
    assert_type(scores, Scores)
    assert_type(scores.values, np.ndarray)
    for view in store.views("news", needs=["pool"]):
        cut = view.cut_to(depth=5).with_pool(depth=3)
        assert_type(cut, irmeta.JudgedRanks)
        assert_type(irmeta.scores_of(cut.condense(), "AP"), Scores)


def data_in_memory() -> None:
    qrels = {"q1": {"d1": 1, "d2": 0}}
    runs = {"one": {"q1": {"d1": 2.0, "d2": 1.0}}}
    assert_type(irmeta.evaluate(qrels, runs, "nDCG@10", per_query=True), pl.DataFrame)
    assert_type(irmeta.from_data(qrels, runs).means(["AP"]), pl.DataFrame)


def compare(store: irmeta.Store) -> None:
    for comparison in irmeta.compare(store, "AP", test="t", correction="holm"):
        assert_type(comparison, Comparison)
        assert_type(comparison.systems, pl.DataFrame)
        assert_type(comparison.pairs.p_adjusted, np.ndarray)
    matrix = irmeta.matrices(store, "AP")[0]
    assert_type(matrix, irmeta.Matrix)
    assert_type(matrix.values, np.ndarray)
    assert_type(irmeta.stats.pairwise(matrix, "sign"), Pairs)


def study(store: irmeta.Store, folder: Path) -> None:
    results = irmeta.studies.search_length(store, folder, track="news", workers=1)
    assert_type(results, StudyResults)
    for name, table in results.tables.items():
        assert_type(name, str)
        assert_type(table, pl.DataFrame)


def errors(store: irmeta.Store) -> None:
    try:
        store.means("map@")
    except irmeta.MeasureError as error:
        assert_type(str(error), str)
    except irmeta.DataError as error:
        assert_type(error.line, int | None)


def main(collection: Path, folder: Path) -> None:
    store = read(collection, folder / "store")
    evaluate(store)
    data_in_memory()
    compare(store)
    study(store, folder / "study")
    errors(store)
