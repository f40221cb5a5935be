"""Numbers printed in the paper.

Figures 1 to 7 are images; of their numbers, the text states only those listed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from irmeta.schema.columns import Paper

SOURCE = (
    "Diaz and Ferraro 2022, Offline Retrieval Evaluation Without Evaluation Metrics, "
    "doi:10.1145/3477495.3532033"
)
DATA = Paper("16 datasets of 21 to 110 runs and 43 to 17,564 requests", "Table 1")

DATASETS = """
core (2017): 50 75 180.04 0
core (2018): 50 72 78.96 0
deep-docs (2019): 43 38 153.42 0
deep-docs (2020): 45 64 39.27 0
deep-pass (2019): 43 37 95.40 0
deep-pass (2020): 54 59 66.78 0
web (2009): 50 48 129.98 4.98
web (2010): 48 32 187.63 4.17
web (2011): 50 62 167.56 3.36
web (2012): 50 48 187.36 3.90
web (2013): 50 61 182.42 3.18
web (2014): 50 30 212.58 3.12
robust: 249 110 69.93 0
ml-1M: 6005 21 18.87 0
libraryThing: 7227 21 13.15 0
beerAdvocate: 17564 21 13.66 0
"""
TABLE_3A = """
core (2017): 49.91 49.44 40.76 36.54 39.21 14.67
core (2018): 52.35 49.22 42.33 35.29 34.66 27.97
deep-docs (2019): 42.53 40.83 30.01 33.57 41.11 6.97
deep-docs (2020): 18.85 19.35 17.31 17.71 18.06 2.88
deep-pass (2019): 42.34 42.19 36.34 30.03 26.73 6.76
deep-pass (2020): 45.70 47.34 45.82 30.10 20.87 22.21
web (2009): 32.00 33.69 35.02 18.35 31.56 23.23
web (2010): 43.75 39.31 28.43 27.82 37.50 18.15
web (2011): 45.16 43.36 34.06 31.62 40.61 14.17
web (2012): 41.05 36.44 23.49 26.06 32.09 12.77
web (2013): 48.42 44.10 22.30 29.02 41.53 5.96
web (2014): 48.74 48.28 36.55 44.14 49.89 18.85
robust: 63.47 60.52 51.08 52.89 54.53 22.84
ml-1M: 94.29 94.29 92.38 88.57 88.57 83.81
libraryThing: 96.67 97.14 97.62 95.24 95.71 93.33
beerAdvocate: 94.76 94.76 95.71 93.33 94.29 91.90
"""
TABLE_3B = """
web (2009): 29.43 28.99 24.20 17.11
web (2010): 40.12 28.02 22.18 20.77
web (2011): 46.11 17.93 16.45 26.12
web (2012): 44.15 12.15 16.58 25.09
web (2013): 49.89 4.48 5.52 24.04
web (2014): 50.11 12.87 17.93 40.46
"""
TABLE_4A = """
core (2017): 54.13 53.66 45.26 34.13 36.54 9.55
core (2018): 55.59 53.99 48.63 35.84 40.18 21.91
deep-docs (2019): 49.64 44.81 37.27 28.45 36.13 4.84
deep-docs (2020): 18.01 19.15 17.36 14.34 15.58 0.50
deep-pass (2019): 43.99 45.05 42.34 24.17 23.72 1.65
deep-pass (2020): 51.49 54.59 55.93 34.83 33.31 18.35
web (2009): 34.22 37.06 36.70 15.25 34.04 19.50
web (2010): 52.22 45.16 30.04 22.58 31.25 13.71
web (2011): 54.42 49.60 35.64 32.36 40.93 6.98
web (2012): 44.59 39.98 24.47 22.25 32.45 10.64
web (2013): 59.24 51.26 23.01 25.52 40.82 2.51
web (2014): 59.31 56.09 38.16 51.49 62.30 13.10
robust: 65.00 62.29 54.21 44.82 49.34 16.21
ml-1M: 96.19 95.71 96.19 91.43 94.29 85.71
libraryThing: 98.57 98.10 98.57 94.29 96.67 92.38
beerAdvocate: 95.24 95.24 95.71 91.43 95.71 91.90
"""
TABLE_4B = """
web (2009): 33.24 25.62 19.06 14.36
web (2010): 49.40 16.94 14.72 11.69
web (2011): 56.32 8.99 9.52 23.64
web (2012): 43.71 7.98 12.06 14.45
web (2013): 60.77 2.35 2.90 19.45
web (2014): 63.68 9.89 12.18 46.44
"""
SINGLE = ("RPP", "RPP(p=dcg)", "RPP(p=inverse)", "AP", "nDCG", "RR")
SUBTOPIC = ("STRPP", "StRecall@20", "ERR_IA@20", "AP_IA")
_FACTS = ("requests", "runs", "rel/request", "subtopics/request")
_TAU_2A = {
    "RR": "0.61 0.45 0.49 0.49 0.50",
    "RPP(p=inverse)": "- 0.79 0.85 0.82 0.80",
    "RPP": "- - 0.93 0.86 0.87",
    "RPP(p=dcg)": "- - - 0.88 0.88",
    "AP": "- - - - 0.89",
}
_COLUMNS_2A = ("RPP(p=inverse)", "RPP", "RPP(p=dcg)", "AP", "nDCG")
_TAU_2B = {
    "STRPP": "0.88 0.73 0.70 0.26 0.30",
    "STRPP(p=dcg)": "- 0.77 0.79 0.34 0.36",
    "AP_IA": "- - 0.74 0.39 0.36",
    "STRPP(p=inverse)": "- - - 0.52 0.49",
    "ERR_IA@20": "- - - - 0.66",
}
_COLUMNS_2B = ("STRPP(p=dcg)", "AP_IA", "STRPP(p=inverse)", "ERR_IA@20", "StRecall@20")
_STATED = (
    ("Figure 2", "DL 2019 docs", "f_i != f'_i", "roughly 93%"),
    ("Figure 5", "RPP with AP, nDCG, ASL", "sign agreement", "close to 0.90"),
    ("Figure 5", "RPP with RR", "sign agreement", "0.50"),
    ("Figure 5", "RR with AP", "sign agreement", "0.56"),
    ("Figure 5", "RR with nDCG", "sign agreement", "0.58"),
    ("Figure 5", "RR with ASL", "sign agreement", "0.47"),
    ("Figure 5", "RPP with OI", "r", "0.98"),
    ("Figure 5", "RPP with OI(p=dcg)", "r", "0.94"),
)


def _rows(text: str) -> Iterator[tuple[str, list[str]]]:
    for line in text.strip().splitlines():
        name, _, values = line.rpartition(":")
        yield name, values.split()


def _cells() -> dict[tuple[str, str, str], Paper]:
    """Return Table 2 by part and measures, in the order of the study's table."""
    cells: dict[tuple[str, str, str], Paper] = {}
    for part, table, columns, where in (
        ("single", _TAU_2A, _COLUMNS_2A, "Table 2(a)"),
        ("subtopic", _TAU_2B, _COLUMNS_2B, "Table 2(b)"),
    ):
        for row, values in table.items():
            for column, value in zip(columns, values.split(), strict=True):
                if value != "-":
                    first, second = sorted((row, column))
                    cells[part, first, second] = Paper(value, where)
    return cells


TABLE_2: Mapping[tuple[Any, ...], Paper] = {
    (part, "mc4", a, b): number for (part, a, b), number in _cells().items()
}
PERCENT: Mapping[str, Mapping[tuple[str, str], str]] = {
    table: {
        (dataset, measure): value
        for text, measures in parts
        for dataset, values in _rows(text)
        for measure, value in zip(measures, values, strict=True)
    }
    for table, parts in {
        "table_3": ((TABLE_3A, SINGLE), (TABLE_3B, SUBTOPIC)),
        "table_4": ((TABLE_4A, SINGLE), (TABLE_4B, SUBTOPIC)),
    }.items()
}
"""Percentages of Tables 3 and 4 by dataset and measure."""


def dataset_of(requests: int, runs: int, relevant: float) -> str | None:
    """Return the row of Table 1 with the same requests, runs and relevant docs per request."""
    for name, values in _rows(DATASETS):
        found = (int(values[0]), int(values[1]), float(values[2]))
        if found[:2] == (requests, runs) and abs(found[2] - relevant) < 0.0051:
            return name
    return None


def numbers() -> Iterator[dict[str, str]]:
    """Yield the rows of the table `paper_numbers`."""
    for name, values in _rows(DATASETS):
        for column, value in zip(_FACTS, values, strict=True):
            yield {"item": "Table 1", "row": name, "column": column, "value": value}
    for (_, _, a, b), number in TABLE_2.items():
        yield {"item": number.where, "row": a, "column": b, "value": number.value}
    for table, cells in PERCENT.items():
        for (dataset, measure), value in cells.items():
            part = "a" if measure in SINGLE else "b"
            item = f"Table {table[-1]}({part})"
            yield {"item": item, "row": dataset, "column": measure, "value": value}
    for item, row, column, value in _STATED:
        yield {"item": item, "row": row, "column": column, "value": value}
