"""The twin of each measure by canonical name, in families that are compared together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from hypothesis.strategies import SearchStrategy

from support.cells import Twins
from support.making import Track, described_tracks, tracks
from twins import binary_families as binary
from twins import diversity_families as diverse
from twins import graded_families as graded
from twins import rare_families as rare


@dataclass(frozen=True)
class Family:
    """Twins of related measures, and how many drawn tracks to compare them on."""

    twins: Twins
    examples: int = 15
    tie_order_examples: int = 5
    in_tie_orders: Callable[[str], bool] = lambda name: True
    """Whether to compare a measure in the tie orders other than trec_eval's."""
    in_explain: Callable[[str], bool] = lambda name: True
    """Whether to compare the arithmetic that `explain` shows."""
    tracks: Callable[..., SearchStrategy[Track]] = tracks
    """Strategy for tracks, by their most systems and queries."""


AD_HOC = {
    "well known": Family(binary.well_known(), tie_order_examples=3),
    "precision": Family(binary.precision()),
    "sets": Family(binary.retrieved_sets(), tie_order_examples=4),
    "review": Family(binary.reviews(), tie_order_examples=2),
    "sampled judgments": Family(binary.estimates(), examples=12, tie_order_examples=2),
    "Cooper": Family(binary.cooper_lengths(), tie_order_examples=4),
    "unjudged docs": Family(binary.unjudged_docs(), tie_order_examples=4),
    "DCG": Family(
        graded.discounted_gain(),
        examples=12,
        tie_order_examples=5,
        in_tie_orders=lambda name: "share" in name or "pool" in name,
        # Each gain and each discount, but not each pair of them.
        in_explain=lambda name: "gain=" not in name or "discount=" not in name,
    ),
    "trec_eval's gains": Family(graded.trec_gain()),
    "ERR": Family(graded.cascade()),
    "Q": Family(graded.q_measure(), tie_order_examples=8),
    "Q of pools": Family(graded.pooled_q_measure(), tie_order_examples=3),
    "RBP": Family(graded.rank_biased(), in_tie_orders=lambda name: "ties" in name),
    "users": Family(
        graded.user_models(),
        examples=5,
        tie_order_examples=2,
        in_tie_orders=lambda name: "ETU" in name,
    ),
    "compatibility": Family(graded.compatibility(), examples=25),
    "rareness": Family(rare.rare_relevance(), tie_order_examples=3),
    "rareness of gains": Family(rare.rare_gain(), examples=10, tie_order_examples=2),
}
_AD_HOC_TWINS: Twins = {name: twin for one in AD_HOC.values() for name, twin in one.twins.items()}
_BY_SUBTOPIC = {
    "novelty": diverse.novelty(),
    "ERR_IA": diverse.err_ia(),
    "subtopic recall": diverse.subtopic_recall(),
    "D-measures": diverse.d_measures(),
    "cube tests": diverse.cube_tests(),
    "intent-aware": diverse.intent_aware(_AD_HOC_TWINS),
}
FAMILIES = AD_HOC | {
    name: Family(twins, tie_order_examples=4, tracks=described_tracks)
    for name, twins in _BY_SUBTOPIC.items()
}
FAMILIES["subtopics with types"] = Family(
    diverse.d_measures(of_types=True),
    examples=20,
    tie_order_examples=3,
    tracks=partial(described_tracks, types=("inf", "nav")),
)
TWINS: Twins = {name: twin for family in FAMILIES.values() for name, twin in family.twins.items()}
