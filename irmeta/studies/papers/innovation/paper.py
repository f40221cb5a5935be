"""Numbers printed in the paper, and where the paper contradicts itself or its code.

Figures 1 and 2 are images; of their numbers, the text states only those listed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from irmeta.schema.columns import Paper

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
MEASURES = {"RareP": "P@100", "RareAP": "AP"}
"""The measures of rareness, and the paper's name of each at alpha = 0."""

_TABLE_1 = {
    "RareP": """
        598 406  3666 2973  218 174   61  15
        680 457  3778 3050  213 168  173  24
        728 476  3825 3079  213 168  237  82
    """,
    "RareAP": """
        541 334  3731 2976  211 169  320 169
        632 404  3915 3209  216 168  352 209
        701 467  4048 3363  214 170  376 238
    """,
}
_TABLE_2 = {
    "RareP": """
        0.532 0.545 0.635 0.071
        0.642 0.628 0.716 0.128
        0.709 0.684 0.768 0.179
    """,
    "RareAP": """
        0.513 0.580 0.433 0.425
        0.578 0.623 0.517 0.444
        0.633 0.656 0.585 0.466
    """,
}
_TABLE_3 = {
    "RareP": "0.970 0.976 0.983 0.987 0.992 0.995",
    "RareAP": "0.970 0.984 0.985 0.989 0.993 0.996",
}
_TABLE_4 = {
    "FBIS3-38782": "0.81",
    "LA020889-0003": "0.62",
    "LA102589-0109": "0.41",
    "LA092189-0061": "0.22",
    "FBIS4-44815": "0.08",
}
FIRST_PLACES = {0.0: "44", 0.5: "33", 1.0: "28"}
"""Figure 1: the least D of S_rare on rank 1 by alpha, on topic 1127540 of DLT20."""
_STATED = (
    *(
        (
            "Figure 1",
            f"topic 1127540 of DLT20, alpha = {alpha:g}",
            "first place of S_rare",
            f"D = {docs}",
        )
        for alpha, docs in FIRST_PLACES.items()
    ),
    ("Figure 2", "DLT20, RareP, alpha > 0", "tau", "below 0.9"),
    ("Figure 2", "DLT20, RareAP, alpha > 0", "tau", "not below 0.9"),
)


class Cell(NamedTuple):
    """A cell of Table 1 or 2: collection, measure, alpha, and in Table 1 the level."""

    collection: str
    measure: str
    alpha: float
    level: int = 0


def _cells(text: str, measure: str, levels: tuple[int, ...]) -> Iterator[tuple[Cell, str]]:
    """Yield the cells of a printed table: a line per alpha, columns by collection and level."""
    columns = [(collection, level) for collection in COLLECTIONS for level in levels]
    for alpha, line in zip(ALPHAS, text.strip().splitlines(), strict=True):
        for (collection, level), value in zip(columns, line.split(), strict=True):
            yield Cell(collection, measure, alpha, level), value


SEPARATED = {
    cell: int(value)
    for measure, text in _TABLE_1.items()
    for cell, value in _cells(text, measure, LEVELS)
}
"""Table 1: significantly different pairs."""
STABILITY = {
    cell: value for measure, text in _TABLE_2.items() for cell, value in _cells(text, measure, (0,))
}
"""Table 2: stability, as printed."""
FEWER_SYSTEMS = {
    (measure, 2 ** (j + 1)): value
    for measure, text in _TABLE_3.items()
    for j, value in enumerate(text.split())
}
"""Table 3: tau of N systems of TREC-8 at alpha = 1 by measure and N, as printed."""
RARITY = {("TREC-8", "431", doc): value for doc, value in _TABLE_4.items()}
"""Table 4: rarity by collection, query and doc, as printed."""

SLIPS: Mapping[str, tuple[str, ...]] = {
    "Section 2": (
        "The paper's upper bound of RareP and RareAP at alpha = 1, 2(S - 1)/S, is too high for a "
        "rarity of (S - 1)/S: the bound is 1 + (S - 1)/S.",
        "Section 5.2 calls the revised rarity 1 - (S_d - 1)/(S - 1) maximized when S_d = S; it is "
        "0 there, and 1 when S_d = 1.",
        "For alpha < 1, Eq. 4 orders systems as Eq. 1 does at alpha / (1 - alpha) x S / (S - 1): "
        "it rescales the same measure.",
        "The paper does not state how deep a list is searched for S_d; here, as in the released "
        "code, down to the cutoff of the measure (--depth).",
    ),
    "Figure 1": (
        "The released code divides by S for S_rare and by S + 1 for S_common; here both joined the "
        "systems, so both divide by S + 1.",
        "The paper's axis of D ends at 45; the 60 of the figure is the end of the axis of ranks.",
    ),
    "Figure 2": (
        "In the released code, baselines are means over the queries of each run (trec_eval "
        "without -c) and its own measures means over all queries; here both follow one policy.",
    ),
    "Table 1": (
        "The paper's Tukey HSD is an unpaired t-test: the released code calls it with two systems "
        "at a time, so that it neither pairs queries nor corrects for the number of pairs.",
        "In the released code, the loop over AP tests the scores of P, so Table 1 was made by "
        "other code.",
        "The claim that rareness separates more pairs fails on WT14 in the paper's own table: P "
        "separates 218 and 174 pairs, RareP 213 and 168.",
        "WT14 has 29 runs in the paper (406 pairs); NIST has 30.",
    ),
    "Table 2": (
        "In the released code, a difference up to 0.05 is a tie, and a tie is unstable. The paper "
        "does not say so, but its values below 0.5 have no other explanation.",
        "With a fixed margin, stability measures the scale: values multiplied by 1 + alpha tie "
        "less often. Eq. 4 at alpha = 0.5 has nearly the order of Eq. 1 at alpha = 1 and half its "
        "values.",
    ),
    "Table 3": (
        "A draw of two systems that tie has no tau and makes the mean of the released code "
        "undefined; here it is left out and counted.",
        "Where all subsets of N systems are at most the draws, each of them is taken once.",
    ),
}
"""Contradictions in the paper or with its released code, and the choice made here, by result."""


def collection_of(systems: int, queries: int) -> str | None:
    """Return the paper's collection with the same numbers of systems and queries."""
    return next((name for name, size in COLLECTIONS.items() if size == (systems, queries)), None)


def _row(measure: str, alpha: float) -> str:
    """Return the name of a row of Tables 1 and 2."""
    return f"{measure}, alpha = {alpha:g}" if alpha else MEASURES[measure]


def numbers() -> Iterator[dict[str, str]]:
    """Yield the rows of the table `paper_numbers`."""
    for item, row, column, value in _STATED:
        yield {"item": item, "row": row, "column": column, "value": value}
    for (collection, measure, alpha, level), pairs in SEPARATED.items():
        column = f"{collection}, {level}%"
        yield {"item": "Table 1", "row": _row(measure, alpha), "column": column,
               "value": str(pairs)}  # fmt: skip
    for (collection, measure, alpha, _), value in STABILITY.items():
        yield {"item": "Table 2", "row": _row(measure, alpha), "column": collection,
               "value": value}  # fmt: skip
    for (measure, systems), value in FEWER_SYSTEMS.items():
        yield {"item": "Table 3", "row": f"TREC-8, {measure}", "column": f"N = {systems}",
               "value": value}  # fmt: skip
    for (collection, query, doc), value in RARITY.items():
        yield {"item": "Table 4", "row": f"{collection}, topic {query}, {doc}",
               "column": "rareness", "value": value}  # fmt: skip
