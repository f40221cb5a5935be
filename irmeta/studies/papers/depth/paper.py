"""Numbers printed in the paper, and where the paper contradicts itself.

Figures 1 to 7 are images; of their numbers, the text states only those listed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

from irmeta.schema.columns import Paper

SOURCE = (
    "Lu, Moffat and Culpepper 2016, The Effect of Pooling and Evaluation Depth on IR Metrics, "
    "doi:10.1007/s10791-016-9282-6"
)
DATA = Paper("4 collections of 21 to 42 contributing runs and 50 topics each", "Table 3")


class Printed(NamedTuple):
    """Rows of one printed table for one collection.

    Attributes
    ----------
    columns
        The columns, in the order of the numbers.
    rows
        One line per row: the name of the row, a colon, and the numbers.
    """

    item: str
    collection: str
    columns: tuple[str, ...]
    rows: str

    def numbers(self) -> Iterator[dict[str, str]]:
        """Yield the rows of the table `paper_numbers`."""
        for line in self.rows.strip().splitlines():
            row, _, values = line.rpartition(":")
            for column, value in zip(self.columns, values.split(), strict=True):
                key = {"item": self.item, "collection": self.collection, "row": row.strip()}
                yield {**key, "column": column, "value": value}


def _each(measures: str, values: str) -> tuple[str, ...]:
    return tuple(map(" ".join, product(measures.split(), values.split())))


_COLLECTION = ("pooling depth", "contributing runs", "topics")
_POOLING = ("RelInPool", "RankUnj", "NumRelPast")
_LEFT_OUT = ("change %", "ranks moved")
_TIES = ("median of ties %", "tau")
_RATIOS = "Disc. Covr. Invr."
_RECALL = _each("AP(norm=min) Q(gain=linear) RBP(p=0.95)", _RATIOS)
_UTILITY = _each("RR ERR RBP(p=0.8)", _RATIOS)
_EIGHT = _each("AP(norm=min) Q(gain=linear) RBP(p=0.95) RBP(p=0.8)", _RATIOS)
_NINE = _each("RBP(p=0.95) RBP(p=0.8) ERR", "score residual")

PRINTED = (
    Printed("Table 3", "Robust04", _COLLECTION, ": 100 42 651-700"),
    Printed("Table 3", "TREC 9 Web", _COLLECTION, ": 100 25 451-500"),
    Printed("Table 3", "ClueWeb2009", _COLLECTION, ": 12 32 1-50"),
    Printed("Table 3", "ClueWeb2010", _COLLECTION, ": 20 21 51-100"),
    Printed("Table 4", "ClueWeb2009", _POOLING, """
        d = 10: 2.4±3.0 12.9±2.6 13.6±12.7
        d = 12: 3.0±3.5 15.1±2.9 15.5±14.5
        all: n/a 16.8±5.2 n/a
    """),
    Printed("Table 4", "ClueWeb2010", _POOLING, """
        d = 10: 3.3±3.2 12.3±2.1 17.2±13.2
        d = 20: 6.3±6.0 22.7±3.0 29.1±22.0
        all: n/a 24.4±5.0 n/a
    """),
    Printed("Table 5", "TREC 8, k = d = 10", _LEFT_OUT, """
        run, AP(norm=min): -1.31 0.67
        run, nDCG: -1.06 0.60
        run, RBP(p=0.8): -0.90 0.38
        run, RBP(p=0.95): -1.25 0.76
        group, AP(norm=min): -4.41 1.81
        group, nDCG: -3.30 1.80
        group, RBP(p=0.8): -3.05 1.31
        group, RBP(p=0.95): -4.10 1.85
    """),
    Printed("Table 5", "ClueWeb2009, k = d = 12", _LEFT_OUT, """
        run, AP(norm=min): -23.30 4.13
        run, nDCG: -18.54 4.03
        run, RBP(p=0.8): -17.12 3.66
        run, RBP(p=0.95): -20.51 4.56
        group, AP(norm=min): -48.78 9.57
        group, nDCG: -41.79 8.69
        group, RBP(p=0.8): -40.51 7.75
        group, RBP(p=0.95): -44.07 9.07
    """),
    Printed("Table 5", "ClueWeb2010, k = d = 20", _LEFT_OUT, """
        run, AP(norm=min): -17.50 2.43
        run, nDCG: -13.98 2.10
        run, RBP(p=0.8): -12.75 1.61
        run, RBP(p=0.95): -15.33 2.19
        group, AP(norm=min): -42.71 5.43
        group, nDCG: -35.02 5.19
        group, RBP(p=0.8): -30.94 4.39
        group, RBP(p=0.95): -37.38 5.89
    """),
    *(
        Printed("Table 6", name, _TIES, f": {values}")
        for name, values in {
            "TREC2": "12 0.742", "TREC3": "6 0.856", "TREC4": "14 0.838", "TREC5": "8 0.981",
            "TREC6": "8 0.997", "TREC7": "12 0.996", "TREC8": "10 0.990", "TREC9": "34 0.994",
            "TREC10": "42 0.995", "Robust04": "9 0.997", "Robust05": "64 0.990",
            "TREC2004": "44 0.999", "TREC2005": "30 0.990", "TREC2006": "42 0.987",
            "CW09A-2009": "22 0.898", "CW09A-2010": "35 0.959", "CW09A-2011": "14 0.984",
            "CW09A-2012": "14 1.000",
        }.items()
    ),
    Printed("Table 7", "TREC 8 Robust, d = 100", _RECALL, """
        k = 1: 21.1 31.1 5.2  20.8 30.3 7.4  21.1 33.7 5.3
        k = 4: 40.9 58.7 2.1  39.5 56.0 1.6  43.0 67.2 0.4
        k = 10: 51.9 75.3 0.0  51.7 74.7 0.7  53.4 84.0 0.0
        k = 40: 63.2 93.2 0.0  63.4 92.8 0.0  61.3 98.8 0.0
        k = 100: 66.9 100.0 0.0  67.4 100.0 0.0  61.0 100.0 0.0
        k = 400: 67.9 99.3 0.0  68.5 99.8 0.0  61.0 100.0 0.0
        k = 1000: 68.4 99.7 0.0  70.0 99.8 0.0  61.0 100.0 0.0
    """),
    Printed("Table 7", "TREC 8 Robust, d = 100", _UTILITY, """
        k = 1: 23.5 100.0 0.0  13.4 56.8 0.0  21.1 40.3 3.6
        k = 4: 23.5 100.0 0.0  20.0 86.5 0.0  41.5 81.1 0.0
        k = 10: 23.5 100.0 0.0  22.8 96.9 0.0  49.0 95.4 0.0
        k = 40: 23.5 100.0 0.0  22.3 100.0 0.0  51.0 100.0 0.0
        k = 100: 23.5 100.0 0.0  22.3 100.0 0.0  51.0 100.0 0.0
        k = 400: 23.5 100.0 0.0  22.3 100.0 0.0  51.0 100.0 0.0
        k = 1000: 23.5 100.0 0.0  22.3 100.0 0.0  51.0 100.0 0.0
    """),
    Printed("Table 7", "ClueWeb10, d = 10", _RECALL, """
        k = 1: 30.0 53.2 8.1  36.7 54.3 6.7  30.0 55.3 1.0
        k = 4: 46.2 82.9 0.0  48.6 81.9 0.0  41.4 74.8 0.0
        k = 10: 52.9 100.0 0.0  50.0 100.0 0.0  49.0 100.0 0.0
        k = 40: 48.6 82.9 0.0  47.1 81.9 0.0  49.0 80.6 0.0
        k = 100: 49.5 79.3 0.0  48.6 74.3 1.9  47.6 79.6 1.0
        k = 400: 51.0 78.4 1.8  50.5 73.3 4.8  48.6 79.6 1.0
        k = 1000: 50.5 77.5 1.8  50.0 72.4 6.7  48.6 79.6 1.0
    """),
    Printed("Table 7", "ClueWeb10, d = 10", _UTILITY, """
        k = 1: 41.4 100.0 0.0  33.8 66.7 0.0  30.0 63.4 0.0
        k = 4: 41.4 100.0 0.0  48.6 87.6 0.0  40.5 82.8 0.0
        k = 10: 41.4 100.0 0.0  50.0 100.0 0.0  44.3 100.0 0.0
        k = 40: 41.4 100.0 0.0  48.1 96.2 0.0  45.7 97.8 0.0
        k = 100: 41.4 100.0 0.0  48.1 96.2 0.0  45.7 97.8 0.0
        k = 400: 41.4 100.0 0.0  48.6 96.2 0.0  45.7 97.8 0.0
        k = 1000: 41.4 100.0 0.0  48.6 96.2 0.0  45.7 97.8 0.0
    """),
    Printed("Table 8", "ClueWeb10", _EIGHT, """
        k = 1: 30.0 47.4 14.9  35.7 45.5 17.4  30.0 54.7 4.7  30.0 61.4 0.0
        k = 4: 45.7 75.4 0.0  48.1 71.1 0.0  41.4 72.6 0.0  40.5 80.2 0.0
        k = 10: 52.4 92.1 0.0  51.9 87.6 0.0  49.0 72.6 0.0  44.3 96.9 0.0
        k = 40: 53.3 95.6 0.0  57.6 96.7 0.0  48.1 91.5 0.0  46.2 100.0 0.0
        k = 100: 53.3 82.4 0.0  53.3 81.0 0.0  48.6 90.6 0.0  46.2 100.0 0.0
        k = 400: 41.4 44.7 15.8  47.6 43.0 28.9  48.6 90.6 0.0  46.2 100.0 0.0
    """),
    Printed("Table 9", "TREC 8 Robust04, d = 100", _NINE, """
        k = 1: 0.031 0.950  0.123 0.800  0.290 0.291
        k = 4: 0.097 0.815  0.315 0.410  0.404 0.060
        k = 10: 0.183 0.599  0.439 0.107  0.430 0.019
        k = 40: 0.300 0.129  0.470 0.000  0.437 0.003
        k = 100: 0.317 0.006  0.469 0.000  0.437 0.001
        k = 400: 0.317 0.002  0.470 0.000  0.439 0.001
        k = 1000: 0.317 0.002  0.470 0.000  0.439 0.001
    """),
    Printed("Table 9", "ClueWeb10, d = 20", _NINE, """
        k = 1: 0.019 0.950  0.074 0.800  0.088 0.385
        k = 4: 0.063 0.815  0.203 0.410  0.146 0.088
        k = 10: 0.133 0.599  0.301 0.107  0.170 0.044
        k = 40: 0.249 0.234  0.332 0.005  0.183 0.020
        k = 100: 0.265 0.190  0.332 0.005  0.185 0.020
        k = 400: 0.266 0.189  0.332 0.005  0.185 0.020
        k = 1000: 0.266 0.189  0.332 0.005  0.185 0.020
    """),
    Printed("Section 3", "10 systems", ("Disc.", "Covr.", "Invr."), """
        35 pairs by the reference, 28 covered, 6 inverted: 0.78 0.80 0.17
    """),
    Printed("Section 4 (condensed lists)", "ClueWeb10", ("mean length", "longest"), ": 244.9 391"),
    Printed("Section 4 (weights)", "nDCG", ("weight of the first doc",), """
        k = 5: 0.34
        k = 10: 0.22
        k = 20: 0.14
    """),
)  # fmt: skip
"""All printed numbers, as printed."""

SLIPS: Mapping[str, tuple[str, ...]] = {
    "Table 4": (
        "In Table 4, NumRelPast is said to count the relevant docs that appear beyond depth d. Its "
        "sum with RelInPool is the number of relevant docs per query only if NumRelPast also "
        "counts the relevant docs that the list does not have. Here it does; NumRelListed counts "
        "those that the list has.",
    ),
    "Table 7": (
        "In the paper, Robust04, TREC 8 and TREC 8 Robust name one collection: every percentage of "
        "Table 7(a) is a number of the 861 pairs of 42 runs, and every one of Table 7(b) of the "
        "210 pairs of 21 runs. So pairs are unordered.",
        "In the paper's Table 7, RR is equal at every k, also at k = 1, where it is P@1 by "
        "definition: it was not cut. Here RR is cut at k, and the row without k has the uncut RR.",
        "At k = 1 in Table 7, AP and RBP agree, ERR and Q differ from them: AP and RBP are binary, "
        "ERR and Q graded. The gain of Q is linear (Q(gain=linear)); that of nDCG is not stated "
        "(--gain).",
        "Table 1 prints the exponential gain as 2^(g-1) / max 2^g, which gives a non-relevant doc "
        "a gain. Here it is (2^g - 1) / 2^gmax.",
    ),
    "Table 8": (
        "Table 8 is said to have the settings of Table 7(b), d = 10 and the reference at k = 10. "
        "But its coverage at k = 10 is not 100%, and its percentages are shares of 114, 121 and "
        "106 pairs instead of 111, 105 and 103. All numbers fit d = 20 with the reference at "
        "k = 20. Here the cutoff of the reference is the depth of the pool, if --reference-k does "
        "not change it.",
    ),
    "Table 9": (
        "The residual of ERR is the bound after Eq. 4: where unjudged docs have the highest grade, "
        "ERR@k plus its largest increase from the docs below rank k, minus ERR@k. At k = 1 and "
        "k = 4 every doc is judged, and the paper's values are below that bound: the scores of "
        "Table 9 imply 0.355 and at least 0.061 on TREC 8, 0.456 and at least 0.135 on ClueWeb10, "
        "where it prints 0.291, 0.060, 0.385 and 0.088. From k = 10 on, they are possible, and "
        "those from k = 400 (ClueWeb10: k = 40) on need unjudged docs.",
        "In the paper's Table 9(a), RBP(0.8) decreases from 0.470 to 0.469 and increases again: a "
        "rounding error.",
    ),
    "Section 2": (
        "Section 2 calls the gain G(i) known for i up to k in extended evaluation; it is known for "
        "i up to d. It calls every truncated Q-measure non-monotonic; option (a,i), with R_d, is "
        "monotonic.",
    ),
}
"""Contradictions in the paper, and the choice made here, by table."""


def numbers() -> Iterator[dict[str, str]]:
    """Yield all printed numbers as rows of the table `paper_numbers`."""
    for printed in PRINTED:
        yield from printed.numbers()
