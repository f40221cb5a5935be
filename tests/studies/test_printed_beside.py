"""The papers' numbers beside ours, on tracks that are collections of the papers."""

from __future__ import annotations

from typing import Any

import pytest

from irmeta.studies.papers.depth.page import collection_of, printed_beside
from irmeta.studies.papers.search_length.page import table_1_beside

BOTH = {"cw": "ClueWeb2010", "robust": "Robust04", "mine": None}


def test_collection_of__contributors_and_depth_of_table_3():
    assert collection_of(21, 20) == "ClueWeb2010"
    assert collection_of(42, 100) == "Robust04"
    assert collection_of(42, 20) is None
    assert collection_of(17, None) is None


@pytest.mark.parametrize(
    ("item", "column", "row", "text"),
    [
        ("Table 4", "mean", {"track": "cw", "depth": 20, "quantity": "RankUnj"}, "22.7 \u00b1 3.0"),
        ("Table 4", "mean", {"track": "cw", "depth": None, "quantity": "RelInPool"}, None),
        ("Table 5", "delta_percent",
         {"track": "robust", "level": "group", "measure": "RBP(p=0.8,rel=1)", "k": 10, "depth": 10},
         "-3.05"),
        ("Table 5", "delta_rank",
         {"track": "cw", "level": "run", "measure": "nDCG", "k": 20, "depth": 20}, "2.10"),
        ("Table 5", "delta_rank",
         {"track": "cw", "level": "run", "measure": "nDCG", "k": 10, "depth": 20}, None),
        ("Table 6", "tau_b", {"track": "trec-8"}, "0.990"),
        ("Table 6", "median_of_means", {"track": "robust-2004"}, "9"),
        ("Table 6", "median_of_means", {"track": "robust-2003"}, None),
        ("Table 7", "coverage",
         {"track": "robust", "measure": "AP(norm=min)", "k": 4, "depth": 100}, "58.7"),
        ("Table 7", "coverage",
         {"track": "cw", "measure": "RBP(p=0.8,rel=1)", "k": 4, "depth": 10}, "82.8"),
        ("Table 7", "coverage",
         {"track": "mine", "measure": "AP(norm=min)", "k": 4, "depth": 100}, None),
        ("Table 8", "inversion",
         {"track": "cw", "measure": "AP(norm=min)", "k": 1, "depth": 20}, "14.9"),
        ("Table 9", "score", {"track": "cw", "measure": "ERR", "k": 1, "depth": 20},
         "0.088 + 0.385"),
        ("Table 9", "score", {"track": "cw", "measure": "ERR", "k": 2, "depth": 20}, None),
    ],
)  # fmt: skip
def test_printed_beside__of_the_same_row(
    item: str, column: str, row: dict[str, Any], text: str | None
):
    assert printed_beside(item, BOTH)[column](row) == text


def test_table_1_beside__documents_and_passages():
    printed = table_1_beside({"docs": (64, 45), "passages": (59, 54), "mine": (64, 54)})
    rows = [{"track": track, "measure": measure} for track, measure in (
        ("docs", "ASL"), ("docs", "P@20"), ("passages", "AP"), ("mine", "AP"))]  # fmt: skip
    assert [[one(row) for one in printed.values()] for row in rows] == [
        [None, "27", "32%"], ["0.456", "0.594", "25%"], ["0.400", "0.572", "29%"], [None] * 3,
    ]  # fmt: skip
