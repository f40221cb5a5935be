"""Parameters that several measures share."""

from __future__ import annotations

from irmeta.naming.parameters import (
    REL,
    Parameter,
    gain_map,
    numbers,
    printed,
    unjudged_parameter,
)

__all__ = [
    "AVERAGES",
    "BETA",
    "GMAX",
    "REL",
    "TIES",
    "Parameter",
    "average_parameter",
    "gain_map",
    "numbers",
    "printed",
    "unjudged_parameter",
]

GMAX = Parameter("gmax", None, "highest grade; default the track's", low=1, high=127)
TIES = Parameter(
    "ties",
    "order",
    "weights within a block of tied docs: by the tie order, or shared by its docs",
    kind="choice",
    choices=("order", "share"),
)
BETA = Parameter("beta", 1.0, "weight of recall relative to precision", "number", low=0, high=1e6)
AVERAGES = ("arithmetic", "geometric", "harmonic", "median", "sum", "difficulty")


def average_parameter(default: str) -> Parameter:
    """Return the parameter for the kind of mean over queries."""
    return Parameter("average", default, "mean over queries", kind="choice", choices=AVERAGES)
