"""Numbers printed in the paper, and where the paper contradicts itself or its code.

Figures 1 and 2 are images; of their numbers, the text states only those listed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

from irmeta.schema.columns import Paper
from irmeta.studies.framework.printed_numbers import read_notes, read_printed, values_of

SOURCE = (
    "Türkmen, Lease and Kutlu 2023, New Metrics to Encourage Innovation and Diversity in "
    "Information Retrieval Approaches, doi:10.1007/978-3-031-28238-6_16"
)
DATA = Paper("4 collections of 29 to 129 runs and 45 or 50 topics", "Section 4.1 and Table 1")

COLLECTIONS: Mapping[str, tuple[int, int]] = {
    "TREC-5": (61, 50),
    "TREC-8": (129, 50),
    "WT14": (29, 50),
    "DLT20": (64, 45),
}
"""Systems and queries of each collection; the number of pairs in Table 1 gives the systems."""
ALPHAS = (0.0, 0.5, 1.0)
LEVELS = (95, 99)
SIZES = (2, 4, 8, 16, 32, 64)
MEASURES = {"RareP": "P@100", "RareAP": "AP"}
"""The measures of rareness, and the paper's name of each at alpha = 0."""


class Cell(NamedTuple):
    """A cell of Table 1 or 2: collection, measure, alpha, and in Table 1 the level."""

    collection: str
    measure: str
    alpha: float
    level: int = 0


def _cells(level: int = 0) -> Iterator[Cell]:
    for measure, alpha, collection in product(MEASURES, ALPHAS, COLLECTIONS):
        yield Cell(collection, measure, alpha, level)


def _row(measure: str, alpha: float) -> str:
    """Return the name of a row of Tables 1 and 2."""
    return f"{measure}, alpha = {alpha:g}" if alpha else MEASURES[measure]


NOTATION = {"RareP": "P{@}_{Rareness}", "RareAP": "AP{@}_{Rareness}"}
"""The paper's names of measures."""
NUMBERS = read_printed("irmeta.studies.papers.innovation")
"""All numbers of the papers, with the digits that they print."""
_VALUES = values_of(NUMBERS)

FIRST_PLACES = {
    alpha: _VALUES[
        "Figure 1", f"topic 1127540 of DLT20, alpha = {alpha:g}", "first place of S_rare"
    ].removeprefix("D = ")
    for alpha in ALPHAS
}
"""Figure 1: the least D of S_rare on rank 1 by alpha, on topic 1127540 of DLT20."""
SEPARATED = {
    cell: int(_VALUES["Table 1", _row(cell.measure, cell.alpha), f"{cell.collection}, {level}%"])
    for level in LEVELS
    for cell in _cells(level)
}
"""Table 1: significantly different pairs."""
STABILITY = {
    cell: _VALUES["Table 2", _row(cell.measure, cell.alpha), cell.collection] for cell in _cells()
}
"""Table 2: stability, as printed."""
FEWER_SYSTEMS = {
    (measure, size): _VALUES["Table 3", f"TREC-8, {measure}", f"N = {size}"]
    for measure in MEASURES
    for size in SIZES
}
"""Table 3: tau of N systems of TREC-8 at alpha = 1 by measure and N, as printed."""
RARITY = {
    tuple(row.replace("topic ", "").split(", ")): value
    for (item, row, _), value in _VALUES.items()
    if item == "Table 4"
}
"""Table 4: rarity by collection, query and doc, as printed."""

SLIPS = read_notes("irmeta.studies.papers.innovation")
"""Contradictions in the paper or with its released code, and the choice made here, by result."""


def collection_of(systems: int, queries: int) -> str | None:
    """Return the paper's collection with the same numbers of systems and queries."""
    return next((name for name, size in COLLECTIONS.items() if size == (systems, queries)), None)
