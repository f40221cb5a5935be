"""Numbers printed in the paper, for its 76 tracks.

Figures 1 to 6 are images; of their numbers, the text states only those listed here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from irmeta.schema.columns import Paper

SOURCE = "Alex, Hall and Metzler 2022, Atomized Search Length: Beyond User Models"
DATA = Paper("76 tracks, 4,302 runs, 5,043 queries", "Section 4.1")

# mean less and plus one standard deviation, by chain and step
_PRINTED = {
    ("AP", 1): ("26-60%", "0.7-0.9", "0.3-0.6x"),
    ("AP", 2): ("37-77%", "0.4-0.8", "0.03-0.4x"),
    ("AP", 3): ("29-78%", "0.4-0.9", "0.1-0.9x"),
    ("AP", 0): ("26-60%", "0.6-0.9", "0.004-0.06x"),
    ("P@20", 0): ("40-76%", "0.4-0.8", None),
    ("RR", 0): ("49-85%", "0.3-0.7", None),
}
TABLE_2: Mapping[str, Mapping[tuple[Any, ...], Paper]] = {
    column: {
        key: Paper(value, "Table 2" if key[0] == "AP" else "Section 4.4")
        for key, values in _PRINTED.items()
        for value in [values[i]]
        if value is not None
    }
    for i, column in enumerate(("delta_sort", "tau", "delta_value"))
}

P20_CLASSES = (
    (0.0, 0.3, "less than a quarter of the tracks"),
    (0.3, 0.5, "another quarter"),
    (0.5, 1.0, "roughly half"),
)
BEYOND: tuple[tuple[tuple[float, Any, str], ...], ...] = (
    ((10, "nearly all", "nearly all"), (20, "most", "more than half of the tracks"),
     (30, "most", "often")),
    ((10, "nearly all", "nearly all"), (100, "most", "the majority")),
)  # fmt: skip
"""Ranks beyond which the best ASL@g10 and ASL lie, and on how many tracks (Figures 2 and 4)."""
MANY_RANKS = (100.0, "sometimes even well into the hundreds")
LOW_MAP = (0.0, 0.1, "expected of nearly all, but nearly all are much higher")
"""Best MAP that the search lengths would lead to expect (Section 4.2)."""

EFFECTIVE_MEAN = 0.57
EFFECTIVE_FRACTION = Paper("57% \u00b1 16", "Appendix A.1")

CLASSES: Mapping[int, tuple[tuple[float, str], ...]] = {
    1: ((0.0, "far from solved"), (0.3, "between"), (0.5, "near-solved")),
    2: ((20.0, "from 20 up: P@20 undersamples"),),
    3: (),
    4: ((100.0, "from 100 up"),),
}
"""Classes that the text names in Figures 1 to 4, by figure: lower bound and name."""

TABLE_1 = (
    ("documents", "P@20", 0.456, 0.594, 0.25),
    ("documents", "ASL@g10", 14.0, 5.0, 0.69),
    ("documents", "AP", 0.401, 0.543, 0.24),
    ("documents", "ASL", None, 27.0, 0.32),  # BM25's is not in the text
    ("passages", "P@20", 0.517, 0.706, 0.39),
    ("passages", "ASL@g10", 51.0, 6.0, 0.90),
    ("passages", "AP", 0.400, 0.572, 0.29),
    ("passages", "ASL", 264.0, 215.0, 0.19),
)
"""Table 1: 2020 Deep Learning track, measure, BM25, neural, RRIE."""

COLLECTIONS = {(64, 45): "documents", (59, 54): "passages"}
"""Collections of Table 1 by the runs and judged queries of the 2020 Deep Learning track."""


def table_1_beside(
    sizes: Mapping[str, tuple[int, int]],
) -> Mapping[str, Callable[[Mapping[str, Any]], str | None]]:
    """Return the paper's numbers of Table 1, by column, as functions of the rows of ours."""
    known = {(collection, measure): values for collection, measure, *values in TABLE_1}

    def printed(row: Mapping[str, Any], at: int) -> str | None:
        collection = COLLECTIONS.get(sizes[row["track"]], "")
        value = known.get((collection, row["measure"]), (None,) * 3)[at]
        if value is None:
            return None
        return f"{value:.0%}" if at == 2 else f"{value:.0f}" if value >= 1 else f"{value:.3f}"

    columns = ("baseline_value", "contender_value", "rrie")
    return {name: partial(printed, at=i) for i, name in enumerate(columns)}
