"""Options of the study, and the constants of its method."""

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
"""Shares of the relevant docs that are dropped at random, the first in `DRAWS` draws."""
ALTERED = (0.2, 0.4, 0.6)
"""Shares of the labels that move by one grade."""
GRADED_SHARE = 0.4
"""The share of altered labels that has a grade."""
DRAWS = 20
FEW_DRAWS = 5
"""Draws of altered labels, and of greater shares of dropped docs."""
POWER = 0.8
"""Power of the least detectable difference."""
RELIABILITY = 0.95
"""E rho^2 for which queries are counted."""


@dataclass(frozen=True)
class TrustOptions(TrackOptions):
    """Options of the study of trust."""

    measures: tuple[str, ...] = option(
        (),
        "Measures and preferences, these by win rates (repeatable); default RPP and 14 common "
        "measures, and more where a track is sampled or has judgments by subtopic.",
        parse="irmeta.studies.original.trust.options:checked_names",
        flag="-m --measures",
    )
    concluded: tuple[str, ...] = option(
        (),
        "Measures whose conclusions are checked (repeatable); default AP and nDCG@10 where they "
        "are among the measures, else the first two.",
        parse="irmeta.studies.original.trust.options:checked_measures",
    )
    alpha: float = option(0.05, "Significance level.", least=0, most=1, exclusive=True)
    resamples: int = option(
        1_000, "Permutations of the randomised HSD, and bootstrap samples of the queries.", least=1
    )
    splits: int = option(100, "Random splits of the queries in two halves.", least=2)
    seed: int = option(0, "Random seed.", least=0)

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
    """Return names of measures, each once; without `rel` unless the name states one.

    Each qrels set then has its own least relevant grade.

    Raises
    ------
    UsageError
        If a measure is not averaged arithmetically.
    MeasureError
        If one is unknown.
    """
    from irmeta.measures.names import parse_measures
    from irmeta.naming import split_names

    given = [name for text in names for name in split_names(text)]
    # each alone, since AP and AP(rel=1) differ on a qrels set that states another grade
    specs = [spec for name in given for spec in parse_measures(name)]
    for spec in specs:
        if spec.average != "arithmetic":
            raise UsageError(f"{spec.name} has no arithmetic mean, which this study compares.")
    return tuple(dict.fromkeys(spec.name_without_rel for spec in specs))


def checked_preferences(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of preferences, each once; without `rel` as those of measures.

    Raises
    ------
    MeasureError
        If one is unknown.
    """
    from irmeta.naming import without_rel
    from irmeta.preferences.registry import parse_preference

    specs = {name.strip(): parse_preference(name) for name in names}
    found = (name if spec.states_rel else without_rel(spec.name) for name, spec in specs.items())
    return tuple(dict.fromkeys(found))


def checked_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of measures, then of preferences, each once, as `checked_measures`.

    Raises
    ------
    UsageError
        If a measure is not averaged arithmetically, or there are preferences alone.
    MeasureError
        If a name is unknown.
    """
    from irmeta.naming import split_names
    from irmeta.preferences.registry import is_preference

    given = [name for text in names for name in split_names(text)]
    preferences = checked_preferences(name for name in given if is_preference(name))
    measures = checked_measures(name for name in given if not is_preference(name))
    if preferences and not measures:
        raise UsageError("preferences alone have no conclusions to check: name a measure too.")
    return (*measures, *preferences)
