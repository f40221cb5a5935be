"""Options of the study, and the names of its preferences and measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from irmeta.options import option
from irmeta.policies import Majority, TrackOptions

GAMMA = 0.5
"""Persistence of RBP in Figures 2 and 4."""
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Default shares of relevant docs that Figure 7 removes."""
SUBTOPIC_MEASURES = ("StRecall@20", "ERR_IA@20", "AP_IA")
"""Measures by subtopic of Tables 2b, 3b and 4b."""
SIZES = 10
"""Default number of sizes in Figure 6."""


@dataclass(frozen=True)
class PreferenceOptions(TrackOptions):
    """Options of the study of recall-paired preference."""

    rel: int = option(  # pyright: ignore[reportIncompatibleVariableOverride]
        1, "Least relevant grade.", least=1, most=127
    )
    grades: Literal["graded", "binary"] = option(
        "graded", "RPP over the grades of each query, or over grade rel and above only."
    )
    majority: Majority = option(
        "queries",
        "Queries that MC4 needs to rank a system above another: more than half of all (ties count "
        "against moving), or more than rank it below (decided: ties aside).",
    )
    on: Literal["preference", "win-rate"] = option(
        "preference", "Values that Tables 3 and 4 test: preferences of pairs, or win rates."
    )
    alpha: float = option(
        0.05, "Significance level of Tables 3 and 4.", least=0, most=1, exclusive=True
    )
    resamples: int = option(
        2_000, "Permutations of the randomised HSD; the paper does not state its number.", least=1
    )
    sizes: tuple[int, ...] = option(
        (),
        "Numbers of queries kept in Figure 6 (repeatable); default ten, evenly spaced.",
        least=1,
        flag="--size",
    )
    shares: tuple[float, ...] = option(
        (),
        "Shares of relevant docs removed in Figure 7 (repeatable); default 0.1 to 0.9.",
        least=0,
        most=1,
        exclusive=True,
        flag="--share",
    )
    replicates: int = option(100, "Random samples of the queries of each size.", least=1)
    label_replicates: int = option(
        20, "Random samples of the relevant docs of each share.", least=1
    )
    points: int = option(5_000, "Points drawn in each panel of Figure 5.", least=1)
    system_a: str | None = option(
        None, "First system of Figure 4; default the best by RPP.", names="system"
    )
    system_b: str | None = option(
        None, "Second system of Figure 4; default the median by RPP.", names="system"
    )
    query: str | None = option(
        None,
        "Query of Figure 4; default the query whose number of relevant docs is nearest to 6.",
        names="query",
    )
    seed: int = option(0, "Random seed.", least=0)

    def preference(self, p: str = "uniform") -> str:
        """Return the canonical name of RPP with weights `p`."""
        return _preference(f"RPP(p={p},grades={self.grades},rel={self.rel})")

    def subtopic_preference(self, p: str = "uniform") -> str:
        """Return the canonical name of STRPP with weights `p`."""
        return _preference(f"STRPP(p={p},rel={self.rel})")

    def interleaving(self, p: str = "uniform") -> str:
        """Return the canonical name of offline interleaving with users `p`."""
        return _preference(f"OI(p={p},rel={self.rel})")

    @property
    def preferences(self) -> tuple[str, ...]:
        """The three RPP of Tables 2 to 4: uniform, dcg, inverse."""
        return tuple(self.preference(p) for p in ("uniform", "dcg", "inverse"))

    @property
    def subtopic_preferences(self) -> tuple[str, ...]:
        """The three STRPP of Table 2b."""
        return tuple(self.subtopic_preference(p) for p in ("uniform", "dcg", "inverse"))

    @property
    def interleavings(self) -> tuple[str, ...]:
        """The two offline interleavings of Figure 5."""
        return self.interleaving(), self.interleaving("dcg")

    @property
    def measures(self) -> tuple[str, ...]:
        """AP, nDCG and RR, without a cutoff."""
        gain = "grade" if self.grades == "graded" else "binary"
        names = (f"AP(rel={self.rel})", f"nDCG(gain={gain},rel={self.rel})", f"RR(rel={self.rel})")
        return tuple(map(_measure, names))

    @property
    def search_length(self) -> str:
        """Name of the average search length, which the paper calls ASL."""
        return _measure(f"AvgSL(rel={self.rel},corpus=relevant)")

    @property
    def compared(self) -> tuple[str, ...]:
        """The six of Tables 2a, 3a and 4a and of Figures 6 and 7."""
        return (*self.preferences, *self.measures)

    @property
    def removed(self) -> tuple[float, ...]:
        """The shares of relevant docs that Figure 7 removes."""
        return self.shares or SHARES

    def kept(self, queries: int) -> tuple[int, ...]:
        """Return the numbers of queries that Figure 6 keeps, of those with a relevant doc."""
        if self.sizes:
            return tuple(sorted({size for size in self.sizes if size <= queries}))
        sizes = {round(queries * (i + 1) / SIZES) for i in range(SIZES)}
        return tuple(sorted(sizes - {0}))

    def used(self) -> dict[str, Any]:
        """Return what empty options stand for."""
        return super().used() | {
            "sizes": f"{SIZES}, evenly spaced up to all queries of a track",
            "shares": self.removed,
            "system_a": "the best by RPP",
            "system_b": "the median by RPP",
            "query": "that whose number of relevant docs is nearest to 6",
        }

    def scored(self) -> tuple[str, ...]:
        """Return the names of all computed measures."""
        return (*self.measures, self.search_length, *map(_measure, SUBTOPIC_MEASURES))

    @property
    def by_subtopic(self) -> tuple[str, ...]:
        """The preferences and measures of Tables 2b, 3b and 4b."""
        return (*self.subtopic_preferences, *map(_measure, SUBTOPIC_MEASURES))


def _preference(name: str) -> str:
    from irmeta.preferences.registry import parse_preference

    return parse_preference(name).name


def _measure(name: str) -> str:
    from irmeta.measures.names import canonical_name

    return canonical_name(name)
