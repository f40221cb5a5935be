"""Qrels and runs in memory as arguments of functions that take a store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import irmeta

QRELS = {"q1": {"x": 1, "y": 0}, "q2": {"x": 1, "y": 1}, "q3": {"z": 1}}
RUNS = {
    "a": {"q1": {"x": 2.0, "y": 1.0}, "q2": {"y": 1.0}, "q3": {"z": 1.0}},
    "b": {"q1": {"x": 1.0, "y": 2.0}, "q2": {"x": 1.0}, "q3": {"y": 1.0}},
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("call", [irmeta.compare, irmeta.power, irmeta.prefer])
@pytest.mark.parametrize("choices", [{}, {"negative": "nonrelevant", "depth": 1}])
def test_compare_power_prefer__data_give_the_results_of_their_store(call: Any, choices: Any):
    name = "RPP" if call is irmeta.prefer else "AP"
    for qrels in (QRELS, pl.DataFrame(_rows(QRELS), ["qid", "docno", "label"], orient="row")):
        ours = call(qrels, RUNS, name, duplicates="first", **choices)
        theirs = call(irmeta.from_data(qrels, RUNS, depth=choices.get("depth")), name)
        for one, other in zip(ours, theirs, strict=True):
            frames = (f if isinstance(f, pl.DataFrame) else f.systems for f in (one, other))
            assert_frame_equal(*frames)


def _rows(qrels: dict[str, dict[str, int]]) -> list[tuple[str, str, int]]:
    return [(query, doc, grade) for query, docs in qrels.items() for doc, grade in docs.items()]


def test_compare__data_are_read_from_files_and_in_a_tie_order(
    collections: Path,
):
    qrels = collections / "passage" / "qrels.txt"
    runs = [collections / "passage" / "runs" / f"kest{name}.gz" for name in ("BM25", "RM3")]
    ours = irmeta.compare(str(qrels), runs, "AP", depth=10, tie_order="file", test="sign")
    store = irmeta.read_files(qrels, runs, depth=10, tie_order="file")
    (found,) = irmeta.compare(store, "AP", test="sign")
    assert_frame_equal(ours[0].systems, found.systems)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((QRELS,), "no results: pass a store, a folder, files, matrices or a table of values; or"),
        ((QRELS, RUNS), "specify measures"),
        ((irmeta.from_data(QRELS, RUNS), RUNS, "AP"), "results hold their runs"),
    ],
)
def test_compare__incomplete_data_are_refused(arguments: tuple[Any, ...], said: str):
    with pytest.raises(irmeta.UsageError, match=said):
        irmeta.compare(*arguments)


@pytest.mark.exhaustive
def test_studies__data_are_refused_and_their_store_is_read(tmp_path: Path, undrawn: None):
    for wrong in ((QRELS, RUNS, tmp_path), (QRELS, tmp_path), (QRELS, RUNS)):
        with pytest.raises(irmeta.UsageError, match=r"irmeta\.from_data\(qrels, runs\) makes one"):
            irmeta.studies.search_length(*wrong)
    with pytest.raises(irmeta.UsageError, match=r"dict is no store\. Studies read stores"):
        irmeta.studies.run_all(QRELS, RUNS)
    done = irmeta.studies.search_length(irmeta.from_data(QRELS, RUNS), tmp_path / "out")
    assert done.tables["studied_tracks"]["track"].to_list() == ["data"]


def test_prefer__qrels_without_runs_are_refused():
    with pytest.raises(irmeta.UsageError, match="no store: pass a store or its folder; or qrels"):
        irmeta.prefer(QRELS)
