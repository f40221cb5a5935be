"""Numbers printed in the paper on innovation: arithmetic that they must obey."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from irmeta.studies.papers.innovation import study
from irmeta.studies.papers.innovation.study import Cell

NUMBERS = pl.DataFrame(study.NUMBERS)
PAIRS = {"TREC-5": 1830, "TREC-8": 8256, "WT14": 406, "DLT20": 2016}  # caption of Table 1


def relevant(shared: Path, name: str) -> dict[str, set[str]]:
    """Map the queries of a qrels file, in its order, to their relevant docs."""
    found: dict[str, set[str]] = {}
    with gzip.open(shared / "qrels" / f"{name}.txt.gz", "rt") as lines:
        for query, _, doc, grade in map(str.split, lines):
            found.setdefault(query, set()).update({doc} if int(grade) >= 1 else ())
    return found


def test_numbers__unique_keys_and_all_tables():
    assert NUMBERS.select("item", "row", "column").is_unique().all()
    counts = dict(NUMBERS.group_by("item").len().iter_rows())
    tables = {"Table 1": 48, "Table 2": 24, "Table 3": 12, "Table 4": 5}
    assert counts == {"Figure 1": 3, "Figure 2": 2, **tables}


@pytest.mark.parametrize(
    ("cell", "pairs", "stability"),
    [
        (Cell("TREC-5", "RareP", 0, 95), 598, "0.532"),
        (Cell("TREC-8", "RareP", 1, 99), 3079, "0.684"),
        (Cell("WT14", "RareAP", 0.5, 95), 216, "0.517"),
        (Cell("DLT20", "RareAP", 1, 99), 238, "0.466"),
    ],
)
def test_cells__columns_are_collections_and_levels(cell: Cell, pairs: int, stability: str):
    assert study.PAPER_SEPARATED[cell] == pairs
    assert study.PAPER_STABILITY[cell._replace(level=0)] == stability


def test_collection_of__pairs_of_table_1():
    for name, (systems, queries) in study.COLLECTIONS.items():
        assert systems * (systems - 1) // 2 == PAIRS[name]
        assert study.collection_of(systems, queries) == name
    assert study.collection_of(30, 50) is None, "NIST has 30 runs of WT14"
    assert study.collection_of(64, 50) is None


def test_table_1__a_lower_level_separates_no_fewer_of_the_pairs():
    for cell, pairs in study.PAPER_SEPARATED.items():
        assert pairs <= PAIRS[cell.collection]
        if cell.level == 99:
            assert pairs < study.PAPER_SEPARATED[cell._replace(level=95)]


def test_table_1__rareness_separates_fewer_pairs_of_wt14():
    falls = {
        (collection, measure)
        for collection, measure, alpha, level in study.PAPER_SEPARATED
        for a, b in pairwise(study.PAPER_ALPHAS)
        if alpha == a
        and study.PAPER_SEPARATED[Cell(collection, measure, a, level)]
        > study.PAPER_SEPARATED[Cell(collection, measure, b, level)]
    }
    assert falls == {("WT14", "RareP"), ("WT14", "RareAP")}
    of_p = [
        study.PAPER_SEPARATED[Cell("WT14", "RareP", a, n)]
        for n in (95, 99)
        for a in study.PAPER_ALPHAS
    ]
    assert of_p == [218, 213, 213, 174, 168, 168]


def test_table_2__values_below_one_half_need_a_tie_rule():
    """Without ties the better of two systems wins at least half of the trials."""
    low = {
        (c.collection, c.measure)
        for c, value in study.PAPER_STABILITY.items()
        if float(value) < 0.5
    }
    assert low == {("DLT20", "RareP"), ("DLT20", "RareAP"), ("WT14", "RareAP")}


def test_table_3__mean_of_1000_draws_of_two_systems():
    """Two systems have a tau of 1 or -1, so a mean of 1000 draws without ties is even in 1/1000."""
    of_two = {name: value for (name, n), value in study.PAPER_FEWER_SYSTEMS.items() if n == 2}
    assert of_two == {"RareP": "0.970", "RareAP": "0.970"}
    assert sorted({n for _, n in study.PAPER_FEWER_SYSTEMS}) == [2, 4, 8, 16, 32, 64]


def test_table_4__rarity_gives_the_number_of_systems():
    systems, _ = study.COLLECTIONS["TREC-8"]
    held = [
        [n for n in range(1, systems + 1) if f"{1 - n / systems:.2f}" == value]
        for value in study.PAPER_RARITY.values()
    ]
    assert held == [[24, 25], [49], [76], [100, 101], [119]]


@pytest.mark.real
def test_table_4__docs_are_relevant(shared: Path):
    docs = {doc for _, _, doc in study.PAPER_RARITY}
    assert len(docs) == 5
    assert docs <= relevant(shared, "adhoc.401-450")["431"]


@pytest.mark.real
def test_figure_1__query_and_its_relevant_docs(shared: Path):
    queries = relevant(shared, "dl20-doc")
    assert len(queries) == study.COLLECTIONS["DLT20"][1]
    assert list(queries).index("1127540") == 38
    assert len(queries["1127540"]) == 56
