"""Statistics of score tables: how far a measure can be trusted. No function here reads a file.

`pairwise` runs every significance test, `correlate` every correlation. The examples use two
matrices of three systems on four queries:

>>> queries, systems = ("q1", "q2", "q3", "q4"), ("a", "b", "c")
>>> values = [[0.9, 0.5, 0.1], [0.7, 0.6, 0.2], [0.8, 0.7, 0.3], [0.6, 0.7, 0.2]]
>>> ap = irmeta.Matrix(values, queries, systems, "AP")
>>> values = [[1, 1, 0.2], [0.5, 1, 0.5], [1, 0.5, 0.5], [1, 0.5, 1]]
>>> rr = irmeta.Matrix(values, queries, systems, "RR")
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

# Public names by module, loaded at first use, so that an import stays quick.
_NAMES = {
    "irmeta.results.verdicts": ("Verdicts",),
    "irmeta.stats.aggregation": ("borda", "mc4", "win_rate"),
    "irmeta.stats.agreement": ("Agreement", "agreement", "agreements", "unanimity"),
    "irmeta.stats.corrections": ("adjusted",),
    "irmeta.stats.correlation": (
        "Bootstrap", "Correlations", "bootstrap_correlation", "correlate", "measure_agreement",
    ),
    "irmeta.stats.coverage": ("coverage",),
    "irmeta.stats.error_reduction": ("reduction_in_error",),
    "irmeta.stats.pairs": ("Pairs", "pairwise"),
    "irmeta.stats.power": ("asp", "power", "separation"),
    "irmeta.stats.rbo": ("Overlap", "rbo"),
    "irmeta.stats.reordering": ("Reordering", "reordering"),
    "irmeta.stats.resampling": ("Plan", "Sample", "query_subsets", "resample"),
    "irmeta.stats.stability": ("Stability", "stability", "swap_rates"),
}  # fmt: skip
_PLACES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Agreement", "Bootstrap", "Correlations", "Overlap", "Pairs", "Plan", "Reordering", "Sample",
    "Stability", "Verdicts", "adjusted", "agreement", "agreements", "asp", "bootstrap_correlation",
    "borda", "correlate", "coverage", "mc4", "measure_agreement", "pairwise", "power",
    "query_subsets", "rbo", "reduction_in_error", "reordering", "resample", "separation",
    "stability", "swap_rates", "unanimity", "win_rate",
]  # fmt: skip

if TYPE_CHECKING:
    from irmeta.results.verdicts import Verdicts
    from irmeta.stats.aggregation import borda, mc4, win_rate
    from irmeta.stats.agreement import Agreement, agreement, agreements, unanimity
    from irmeta.stats.corrections import adjusted
    from irmeta.stats.correlation import (
        Bootstrap,
        Correlations,
        bootstrap_correlation,
        correlate,
        measure_agreement,
    )
    from irmeta.stats.coverage import coverage
    from irmeta.stats.error_reduction import reduction_in_error
    from irmeta.stats.pairs import Pairs, pairwise
    from irmeta.stats.power import asp, power, separation
    from irmeta.stats.rbo import Overlap, rbo
    from irmeta.stats.reordering import Reordering, reordering
    from irmeta.stats.resampling import Plan, Sample, query_subsets, resample
    from irmeta.stats.stability import Stability, stability, swap_rates


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'irmeta.stats' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Statistics(ModuleType):
    """Package whose functions take precedence over its modules of the same name."""

    def __setattr__(self, name: str, value: object) -> None:
        # Importing irmeta.stats.power would bind the module to the name of its function.
        if not (name in _PLACES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Statistics
