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

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Public names by module, loaded at first use, so that an import stays quick.
_NAMES = {
    "irmeta.results.verdicts": ("Verdicts",),
    "irmeta.stats.aggregation": ("borda", "mc4", "win_rate"),
    "irmeta.stats.bootstrap_ranks": ("rank_intervals",),
    "irmeta.stats.verdict_agreement": ("Agreement", "agreement", "agreements", "unanimity"),
    "irmeta.stats.corrections": ("adjusted",),
    "irmeta.stats.correlation": (
        "Bootstrap", "Correlations", "bootstrap_correlation", "correlate", "measure_agreement",
    ),
    "irmeta.stats.coverage_ratios": ("coverage",),
    "irmeta.stats.error_reduction": ("reduction_in_error",),
    "irmeta.stats.indistinguishable": ("indistinguishable_groups",),
    "irmeta.stats.leave_out": ("leave_out_effects",),
    "irmeta.stats.max_t": ("max_t_test",),
    "irmeta.stats.pairs": ("Pairs", "pairwise"),
    "irmeta.stats.doc_overlap": ("cluster_order", "greedy_cover", "jaccard"),
    "irmeta.stats.discriminative_power": ("asp", "power", "separation"),
    "irmeta.stats.preference_orders": (
        "intransitive_triples", "preference_order", "preference_subsets",
    ),
    "irmeta.stats.preference_tests": ("preference_pairs",),
    "irmeta.stats.properties": ("Property", "properties_for"),
    "irmeta.stats.property_counts": ("PropertyCounts", "count_violations"),
    "irmeta.stats.rank_biased_overlap": ("Overlap", "rbo"),
    "irmeta.stats.system_reordering": ("Reordering", "reordering"),
    "irmeta.stats.drawn_systems": ("system_subsets",),
    "irmeta.stats.resampling": ("Plan", "Sample", "query_subsets", "resample"),
    "irmeta.stats.risk_sensitive": ("risk",),
    "irmeta.stats.ranking_stability": ("Stability", "stability", "swap_rates"),
    "irmeta.stats.volatility_matrix": ("volatility",),
}  # fmt: skip
_PLACES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Agreement", "Bootstrap", "Correlations", "Overlap", "Pairs", "Plan", "Property",
    "PropertyCounts", "Reordering", "Sample", "Stability", "Verdicts", "adjusted", "agreement",
    "agreements", "asp", "bootstrap_correlation", "borda", "cluster_order", "correlate",
    "count_violations", "coverage", "greedy_cover", "indistinguishable_groups",
    "intransitive_triples", "jaccard",
    "leave_out_effects", "max_t_test", "mc4", "measure_agreement", "pairwise", "power",
    "preference_order", "preference_pairs", "preference_subsets", "properties_for",
    "query_subsets", "rank_intervals",
    "rbo", "reduction_in_error", "reordering", "resample", "risk", "separation", "stability",
    "swap_rates", "system_subsets", "unanimity", "volatility", "win_rate",
]  # fmt: skip

if TYPE_CHECKING:
    from irmeta.results.verdicts import Verdicts
    from irmeta.stats.aggregation import borda, mc4, win_rate
    from irmeta.stats.bootstrap_ranks import rank_intervals
    from irmeta.stats.corrections import adjusted
    from irmeta.stats.correlation import (
        Bootstrap,
        Correlations,
        bootstrap_correlation,
        correlate,
        measure_agreement,
    )
    from irmeta.stats.coverage_ratios import coverage
    from irmeta.stats.discriminative_power import asp, power, separation
    from irmeta.stats.doc_overlap import cluster_order, greedy_cover, jaccard
    from irmeta.stats.drawn_systems import system_subsets
    from irmeta.stats.error_reduction import reduction_in_error
    from irmeta.stats.indistinguishable import indistinguishable_groups
    from irmeta.stats.leave_out import leave_out_effects
    from irmeta.stats.max_t import max_t_test
    from irmeta.stats.pairs import Pairs, pairwise
    from irmeta.stats.preference_orders import (
        intransitive_triples,
        preference_order,
        preference_subsets,
    )
    from irmeta.stats.preference_tests import preference_pairs
    from irmeta.stats.properties import Property, properties_for
    from irmeta.stats.property_counts import PropertyCounts, count_violations
    from irmeta.stats.rank_biased_overlap import Overlap, rbo
    from irmeta.stats.ranking_stability import Stability, stability, swap_rates
    from irmeta.stats.resampling import Plan, Sample, query_subsets, resample
    from irmeta.stats.risk_sensitive import risk
    from irmeta.stats.system_reordering import Reordering, reordering
    from irmeta.stats.verdict_agreement import Agreement, agreement, agreements, unanimity
    from irmeta.stats.volatility_matrix import volatility


if not TYPE_CHECKING:  # type checkers report misspelled names

    def __getattr__(name: str) -> Any:
        if name in _PLACES:
            return getattr(import_module(_PLACES[name]), name)
        raise AttributeError(f"module 'irmeta.stats' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
