"""Output of evaluate and compare about unjudged docs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import polars as pl

from irmeta.escapes import print_line

if TYPE_CHECKING:
    from irmeta.measures.pools import UnjudgedDocs

WORST = 5  # systems named on a line


def print_unjudged(found: Iterable[UnjudgedDocs], at_least: float) -> None:
    """Print a line per track on stderr: systems with few judged docs, and undecided pairs."""
    for one in found:
        print_line(f"irmeta: {one.unjudged['track'][0]}: {_summary(one, at_least)}", sys.stderr)


def _summary(one: UnjudgedDocs, at_least: float) -> str:
    if one.only_relevant:
        return "only relevant docs are judged, so unjudged docs say nothing about the systems"
    systems = one.unjudged.drop_nans("judged_at_10").sort("judged_at_10", "system")
    few = systems.filter(pl.col("judged_at_10") < at_least).height
    worst = systems.select("system", "judged_at_10").head(WORST).rows()
    listed = ", ".join(f"{name} {value:.3f}" for name, value in worst)
    return (
        f"{few:,} of {one.unjudged.height:,} systems have a mean Judged@10 below {at_least:g}; "
        f"{one.undecided.height:,} of {one.pairs:,} pairs are undecided: their RBP(p=0.8) differs "
        f"by less than the RBPResidual(p=0.8) of the worse system; fewest judged (Judged@10): "
        f"{listed}"
    )
