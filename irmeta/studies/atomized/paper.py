"""What the paper prints, of its 76 tracks: beside ours wherever both are shown.

Figures 1 to 6 are pictures whose numbers the text does not give, but for what is here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

SOURCE = "Alex, Hall and Metzler 2022, Atomized Search Length: Beyond User Models"
DATA = "76 tracks, 4,302 runs, 5,043 queries"  # Section 4.1


class Printed(NamedTuple):
    """A row of Table 2: mean less and plus one standard deviation."""

    delta_sort: str
    tau: str
    delta_value: str | None


TABLE_2: Mapping[tuple[str, int], Printed] = {
    ("AP", 1): Printed("26-60%", "0.7-0.9", "0.3-0.6x"),
    ("AP", 2): Printed("37-77%", "0.4-0.8", "0.03-0.4x"),
    ("AP", 3): Printed("29-78%", "0.4-0.9", "0.1-0.9x"),
    ("AP", 0): Printed("26-60%", "0.6-0.9", "0.004-0.06x"),
    # Section 4.4, at its end
    ("P@20", 0): Printed("40-76%", "0.4-0.8", None),
    ("RR", 0): Printed("49-85%", "0.3-0.7", None),
}

P20_CLASSES = (
    (0.0, 0.3, "less than a quarter of the tracks"),
    (0.3, 0.5, "another quarter"),
    (0.5, 1.0, "roughly half"),
)
UNDERSAMPLED = (20.0, "more than half of the tracks")
"""A best ASL@g10 above this: P@20 undersamples (Section 4.2)."""

EFFECTIVE_FRACTION = (0.57, 0.16)
"""Mean and standard deviation over the tracks (Appendix A.1)."""

CLASSES: Mapping[int, tuple[tuple[float, str], ...]] = {
    1: ((0.0, "far from solved"), (0.3, "between"), (0.5, "near-solved")),
    2: ((20.0, "from 20 up: P@20 undersamples"),),
    3: (),
    4: ((100.0, "from 100 up"),),
}
"""What the text makes of Figures 1 to 4, by number: where a class begins, and its name."""


class Techniques(NamedTuple):
    """Table 1, both 2020 Deep Learning tracks: BM25, neural, RRIE in per cent as printed.

    The ASL of BM25 on documents is not in the text of the paper.
    """

    track: str
    measure: str
    baseline: float | None
    contender: float
    rrie: int


TABLE_1 = (
    Techniques("documents", "P@20", 0.456, 0.594, 25),
    Techniques("documents", "ASL@g10", 14, 5, 69),
    Techniques("documents", "AP", 0.401, 0.543, 24),
    Techniques("documents", "ASL", None, 27, 32),
    Techniques("passages", "P@20", 0.517, 0.706, 39),
    Techniques("passages", "ASL@g10", 51, 6, 90),
    Techniques("passages", "AP", 0.400, 0.572, 29),
    Techniques("passages", "ASL", 264, 215, 19),
)
