"""Options of the study: measures, and the thresholds of its grades."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from irmeta.errors import UsageError
from irmeta.options import option
from irmeta.policies import TrackOptions

MEASURES = (
    "AP", "nDCG", "nDCG@10", "nDCG@100", "P@10", "RR", "Rprec", "Bpref", "RBP(p=0.8)",
    "RBP(p=0.95)", "ERR@20", "Q", "ASL(unretrieved=depth)", "RareAP",
)  # fmt: skip
"""Default measures of judgments by doc; infAP is added where the pool is sampled."""
BY_SUBTOPIC = ("alpha_nDCG@20", "ERR_IA@20", "StRecall@20")
"""Default measures of judgments by subtopic, added where a track has them."""
CONCLUDED = ("AP", "nDCG@10")
"""Default measures whose conclusions are checked."""
PREFERENCES = ("RPP",)
"""Default preferences, whose win rates are values as those of measures."""
SUBTOPIC_PREFERENCES = ("STRPP",)
"""Added where a track has judgments by subtopic."""
DROPPED = (0.5, 0.75, 0.9)
"""Shares of the relevant docs that are dropped."""


@dataclass(frozen=True)
class TrustOptions(TrackOptions):
    """Options of the study of trust."""

    measures: tuple[str, ...] = option(
        (),
        "Measures and preferences, these by win rates (repeatable); default RPP and 14 common "
        "measures, and more where a track is sampled or has judgments by subtopic.",
        parse="irmeta.studies.papers.trust.options:checked_names",
        flag="-m --measures",
    )
    concluded: tuple[str, ...] = option(
        (),
        "Measures whose conclusions are checked (repeatable); default AP and nDCG@10 where they "
        "are among the measures, else the first two.",
        parse="irmeta.studies.papers.trust.options:checked_measures",
    )
    alpha: float = option(0.05, "Significance level.", least=0, most=1, exclusive=True)
    power: float = option(
        0.8, "Power of the least detectable difference.", least=0, most=1, exclusive=True
    )
    reliability: float = option(
        0.95, "Target E rho^2, for the number of queries needed.", least=0, most=1, exclusive=True
    )
    resamples: int = option(1_000, "Permutations of the randomised HSD.", least=1)
    splits: int = option(100, "Random splits of the queries in two halves.", least=2)
    altered: tuple[float, ...] = option(
        (0.2, 0.4, 0.6),
        "Shares of labels that move by one grade (repeatable); the middle one is graded.",
        least=0,
        most=1,
    )
    draws: int = option(5, "Draws of altered labels.", least=1)
    least_tau: float = option(0.9, "Safe: least tau-b with the order by all judgments.", most=1)
    unsafe_tau: float = option(0.8, "Unsafe: tau-b below this value.", most=1)
    least_halves: float = option(0.8, "Safe: least tau-b of two halves of the queries.", most=1)
    unsafe_halves: float = option(0.6, "Unsafe: tau-b of two halves below this value.", most=1)
    most_swaps: float = option(
        0.01,
        "Safe: greatest share of conclusions of one half that the other half reverses.",
        least=0,
    )
    unsafe_swaps: float = option(0.05, "Unsafe: share above this value.", least=0)
    most_changed: float = option(
        0.01,
        "Safe: greatest share of ties, and of means or pairs that ties or ends change.",
        least=0,
    )
    unsafe_changed: float = option(0.1, "Unsafe: share above this value.", least=0)
    least_systems: int = option(5, "Least number of systems for grades.", least=2)
    least_queries: int = option(5, "Least number of queries for grades.", least=2)
    seed: int = option(0, "Random seed.", least=0)

    @property
    def graded_share(self) -> float | None:
        """The share of altered labels that is graded; None without any."""
        return self.altered[len(self.altered) // 2] if self.altered else None

    def scored(self) -> tuple[str, ...]:
        """Return the names of the measures that every track has."""
        named = self._named(False) if self.measures else checked_measures(MEASURES)
        return tuple(dict.fromkeys((*named, *self.concluded)))

    def preferred(self) -> tuple[str, ...]:
        """Return the names of the preferences that every track has."""
        return self._named(True) if self.measures else checked_preferences(PREFERENCES)

    def _named(self, are_preferences: bool) -> tuple[str, ...]:
        from irmeta.preferences.registry import is_preference

        return tuple(name for name in self.measures if is_preference(name) == are_preferences)

    def concluded_of(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the measures, of some, whose conclusions are checked."""
        usual = tuple(name for name in checked_measures(CONCLUDED) if name in names)
        return self.concluded or usual or tuple(names[:2])


def checked_measures(names: Iterable[str]) -> tuple[str, ...]:
    """Return canonical names of measures, each once.

    Raises
    ------
    UsageError
        If a measure is not averaged arithmetically.
    MeasureError
        If one is unknown.
    """
    from irmeta.measures.names import parse_measures

    given = list(names)
    specs = parse_measures(given) if given else []
    for spec in specs:
        if spec.average != "arithmetic":
            raise UsageError(f"{spec.name} has no arithmetic mean, which this study compares.")
    return tuple(dict.fromkeys(spec.name for spec in specs))


def checked_preferences(names: Iterable[str]) -> tuple[str, ...]:
    """Return canonical names of preferences, each once.

    Raises
    ------
    MeasureError
        If one is unknown.
    """
    from irmeta.preferences.registry import parse_preferences

    given = list(names)
    return tuple(spec.name for spec in parse_preferences(given)) if given else ()


def checked_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return canonical names of measures, then of preferences, each once.

    Raises
    ------
    UsageError
        If a measure is not averaged arithmetically, or there are preferences alone.
    MeasureError
        If a name is unknown.
    """
    from irmeta.naming.grammar import split_names
    from irmeta.preferences.registry import is_preference

    given = [name for text in names for name in split_names(text)]
    preferences = checked_preferences(name for name in given if is_preference(name))
    measures = checked_measures(name for name in given if not is_preference(name))
    if preferences and not measures:
        raise UsageError("preferences alone have no conclusions to check: name a measure too.")
    return (*measures, *preferences)
