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
    "irmeta.stats.baselines": ("max_t_test", "reduction_in_error", "risk"),
    "irmeta.stats.bias": ("JudgeBias", "judge_bias"),
    "irmeta.stats.contributors": ("cluster_order", "greedy_cover", "jaccard", "leave_out_effects"),
    "irmeta.stats.corrections": ("adjusted",),
    "irmeta.stats.correlation": (
        "Bootstrap", "Correlations", "bootstrap_correlation", "correlate",
        "measure_agreement", "volatility",
    ),
    "irmeta.stats.discriminative_power": (
        "asp", "detectable_difference", "indistinguishable_groups", "power", "separation",
    ),
    "irmeta.stats.generalizability": ("GStudy", "d_study", "g_study", "queries_for"),
    "irmeta.stats.interactions": ("interaction_test",),
    "irmeta.stats.means": ("mean_intervals",),
    "irmeta.stats.mixed_judgments": ("least_labelled", "mixtures"),
    "irmeta.stats.new_measure": ("Reordering", "coverage", "reordering"),
    "irmeta.stats.orders": ("Overlap", "rbo"),
    "irmeta.stats.pairs": ("Pairs", "against_baselines", "pairwise"),
    "irmeta.stats.prediction_powered": (
        "corrected_differences", "corrected_means", "correction_gain",
    ),
    "irmeta.stats.preferences": (
        "intransitive_triples", "preference_order", "preference_pairs",
        "preference_subsets",
    ),
    "irmeta.stats.properties": ("Property", "PropertyCounts", "count_violations", "properties_for"),
    "irmeta.stats.rank_confidence": ("RankSets", "rank_sets"),
    "irmeta.stats.ranking_stability": ("Stability", "half_orders", "stability", "swap_rates"),
    "irmeta.stats.reproducibility": (
        "delta_relative_improvement", "effect_ratio", "tau_union",
    ),
    "irmeta.stats.replicates": ("facet_study",),
    "irmeta.stats.resampling": ("Plan", "Sample", "query_subsets", "resample", "system_subsets"),
    "irmeta.stats.verdict_agreement": ("Agreement", "agreement", "agreements", "unanimity"),
}  # fmt: skip
_PLACES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Agreement", "Bootstrap", "Correlations", "GStudy", "JudgeBias", "Overlap", "Pairs", "Plan",
    "Property", "PropertyCounts", "RankSets", "Reordering", "Sample", "Stability", "Verdicts",
    "adjusted", "against_baselines", "agreement", "agreements", "asp", "bootstrap_correlation",
    "borda", "cluster_order", "corrected_differences", "corrected_means", "correction_gain",
    "correlate", "count_violations", "coverage", "d_study", "delta_relative_improvement",
    "detectable_difference", "effect_ratio", "facet_study", "g_study", "greedy_cover",
    "half_orders",
    "indistinguishable_groups", "interaction_test", "intransitive_triples", "jaccard", "judge_bias",
    "least_labelled", "leave_out_effects", "max_t_test", "mc4", "mean_intervals",
    "measure_agreement", "mixtures", "pairwise", "power", "preference_order",
    "preference_pairs", "preference_subsets", "properties_for", "queries_for", "query_subsets",
    "rank_sets", "rbo", "reduction_in_error", "reordering", "resample", "risk", "separation",
    "stability", "swap_rates", "system_subsets", "tau_union", "unanimity", "volatility",
    "win_rate",
]  # fmt: skip

if TYPE_CHECKING:
    from irmeta.results.verdicts import Verdicts
    from irmeta.stats.aggregation import borda, mc4, win_rate
    from irmeta.stats.baselines import max_t_test, reduction_in_error, risk
    from irmeta.stats.bias import JudgeBias, judge_bias
    from irmeta.stats.contributors import cluster_order, greedy_cover, jaccard, leave_out_effects
    from irmeta.stats.corrections import adjusted
    from irmeta.stats.correlation import (
        Bootstrap,
        Correlations,
        bootstrap_correlation,
        correlate,
        measure_agreement,
        volatility,
    )
    from irmeta.stats.discriminative_power import (
        asp,
        detectable_difference,
        indistinguishable_groups,
        power,
        separation,
    )
    from irmeta.stats.generalizability import GStudy, d_study, g_study, queries_for
    from irmeta.stats.interactions import interaction_test
    from irmeta.stats.means import mean_intervals
    from irmeta.stats.mixed_judgments import least_labelled, mixtures
    from irmeta.stats.new_measure import Reordering, coverage, reordering
    from irmeta.stats.orders import Overlap, rbo
    from irmeta.stats.pairs import Pairs, against_baselines, pairwise
    from irmeta.stats.prediction_powered import (
        corrected_differences,
        corrected_means,
        correction_gain,
    )
    from irmeta.stats.preferences import (
        intransitive_triples,
        preference_order,
        preference_pairs,
        preference_subsets,
    )
    from irmeta.stats.properties import Property, PropertyCounts, count_violations, properties_for
    from irmeta.stats.rank_confidence import RankSets, rank_sets
    from irmeta.stats.ranking_stability import Stability, half_orders, stability, swap_rates
    from irmeta.stats.replicates import facet_study
    from irmeta.stats.reproducibility import (
        delta_relative_improvement,
        effect_ratio,
        tau_union,
    )
    from irmeta.stats.resampling import Plan, Sample, query_subsets, resample, system_subsets
    from irmeta.stats.verdict_agreement import Agreement, agreement, agreements, unanimity


if not TYPE_CHECKING:  # type checkers report misspelled names

    def __getattr__(name: str) -> Any:
        if name in _PLACES:
            return getattr(import_module(_PLACES[name]), name)
        raise AttributeError(f"module 'irmeta.stats' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
