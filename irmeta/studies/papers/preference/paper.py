"""Numbers printed in the paper.

Figures 1 to 7 are images; of their numbers, the text states only those listed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from irmeta.schema.columns import Paper
from irmeta.studies.framework.printed_numbers import read_notes, read_printed, values_of

SOURCE = (
    "Diaz and Ferraro 2022, Offline Retrieval Evaluation Without Evaluation Metrics, "
    "doi:10.1145/3477495.3532033"
)
DATA = Paper("16 datasets of 21 to 110 runs and 43 to 17,564 requests", "Table 1")

NOTATION = {"AvgSL(corpus=relevant)": "ASL", "AP_IA": "MAP-IA", "StRecall": "ST-R"}
"""The paper's names of measures."""
NUMBERS = read_printed("irmeta.studies.papers.preference")
"""All numbers of the papers, with the digits that they print."""
CHOICES = read_notes("irmeta.studies.papers.preference")["choices"]
"""Choices made here, and errors of the paper and its code."""
_PARTS = {"Table 2(a)": "single", "Table 2(b)": "subtopic"}

TABLE_2: Mapping[tuple[Any, ...], Paper] = {
    (_PARTS[item], "mc4", first, second): Paper(value, item)
    for (item, first, second), value in values_of(NUMBERS).items()
    if item in _PARTS
}
PERCENT: Mapping[str, Mapping[tuple[str, str], str]] = {
    f"table_{n}": {
        (dataset, measure): value
        for (item, dataset, measure), value in values_of(NUMBERS).items()
        if item.startswith(f"Table {n}(")
    }
    for n in (3, 4)
}
"""Percentages of Tables 3 and 4 by dataset and measure."""


def dataset_of(requests: int, runs: int, relevant: float) -> str | None:
    """Return the row of Table 1 with the same requests, runs and relevant docs per request."""
    values = values_of(NUMBERS)
    for name in dict.fromkeys(row["row"] for row in NUMBERS if row["item"] == "Table 1"):
        printed = (float(values["Table 1", name, c]) for c in ("requests", "runs", "rel/request"))
        their_requests, their_runs, their_relevant = printed
        is_equal = (their_requests, their_runs) == (requests, runs)
        if is_equal and abs(their_relevant - relevant) < 0.0051:
            return name
    return None
