"""Options of the study, and the names of its measures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from irmeta.options import option
from irmeta.policies import Counted, Rarity, TrackOptions

MEASURES = ("RareP", "RareAP")
"""The measures of the paper; at alpha = 0 they are P and AP."""
ALPHAS = (0.5, 1.0)
"""The paper's weights of rarity in Tables 1 and 2 and in Figure 1, beside 0."""
MARKED = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The paper's weights of rarity in Figure 2."""
GRID = tuple(i / 100 for i in range(101))
"""The weights of rarity at which Figure 2 is computed."""
PAPER_QUERY = "1127540"
"""The query of the paper's Figure 1."""
EXAMPLES, DOCS = 6, 5
"""Number of queries in Table 4, and of docs of each."""
Mix = Literal["add", "convex"]
Settings = tuple[tuple[str, object], ...]


@dataclass(frozen=True)
class InnovationOptions(TrackOptions):
    """Options of the study of innovation."""

    k: int = option(100, "Cutoff of all measures.", least=1)
    rel: int = option(  # pyright: ignore[reportIncompatibleVariableOverride]
        1, "Least relevant grade.", least=1, most=127
    )
    rarity_depth: int | None = option(
        None, "Deepest rank at which S_d counts a doc; default the cutoff.", least=1
    )
    counted: Counted = option(
        "systems",
        "What S and S_d count: systems; groups; for each group the systems of others, and itself "
        "once; systems that contributed to the pool.",
    )
    rarity: Rarity = option(
        "linear",
        "Rarity of a doc under Eq. 1: 1 - S_d/S; 1 - (S_d - 1)/(S - 1); log(S/S_d)/log(S); 1 if "
        "S_d = 1, else 0.",
    )
    rarity_weights: tuple[float, ...] = option(
        (),
        "Weights of rarity in Tables 1 and 2 and in Figure 1, beside 0 (repeatable); default 0.5 "
        "and 1.",
        least=0,
        flag="--rarity-weight",
    )
    resamples: int = option(2_000, "Permutations of the randomised HSD in Table 1.", least=1)
    trials: int = option(1_000, "Random sets of queries in Table 2.", least=1)
    fuzziness: float = option(
        0.05, "Difference, or share of the greater mean, up to which means tie in Table 2.", least=0
    )
    sizes: tuple[int, ...] = option(
        (),
        "Numbers of systems in Table 3 (repeatable); default 2, 4, 8, ... up to all.",
        least=2,
        flag="--size",
    )
    draws: int = option(1_000, "Random sets of systems of each size in Table 3.", least=1)
    draw_rarity_weights: tuple[float, ...] = option(
        (),
        "Weights of rarity in Table 3 (repeatable); default 1.",
        least=0,
        flag="--draw-rarity-weight",
    )
    query: str | None = option(
        None,
        f"Query of Figure 1; default {PAPER_QUERY}, else the first query with the median number of "
        "relevant docs.",
        names="query",
    )
    examples: tuple[str, ...] = option(
        (),
        "Queries of Table 4 (repeatable); default six at random.",
        flag="--example",
        names="query",
    )
    texts: str | None = option(
        None,
        "Texts of the docs in Table 4: a line per doc, its name, a tab and its text.",
        file=True,
        metavar="FILE",
    )
    seed: int = option(0, "Random seed.", least=0)

    def used(self) -> dict[str, Any]:
        """Return what empty options stand for."""
        return super().used() | {
            "rarity_depth": self.held_to,
            "rarity_weights": self.weights,
            "sizes": "2, 4, 8, ... up to all systems of a track",
            "draw_rarity_weights": self.drawn_weights,
            "query": f"{PAPER_QUERY}, or the first of the median number of relevant docs",
            "examples": f"{EXAMPLES} at random",
            "texts": "not given",
        }

    @property
    def weights(self) -> tuple[float, ...]:
        """The weights of rarity in Tables 1 and 2 and in Figure 1, 0 included."""
        return tuple(sorted({0.0, *(self.rarity_weights or ALPHAS)}))

    @property
    def drawn_weights(self) -> tuple[float, ...]:
        """The weights of rarity in Table 3."""
        return tuple(sorted(set(self.draw_rarity_weights or (1.0,))))

    @property
    def is_papers(self) -> bool:
        """Whether the measures are the paper's, so that its numbers are comparable."""
        return (self.k, self.rel, self.held_to, self.counted, self.rarity) == (
            100, 1, 100, "systems", "linear",
        )  # fmt: skip

    @property
    def held_to(self) -> int:
        """The deepest rank at which S_d counts a doc."""
        return self.rarity_depth or self.k

    @property
    def counted_docs(self) -> Counted:
        """Value of `counted` in tables of docs, where each doc has one S_d: never ``others``."""
        return "systems" if self.counted == "others" else self.counted

    def name(self, measure: str, alpha: float, mix: Mix = "add") -> str:
        """Return the canonical name of a measure, P and AP for ``alpha = 0``."""
        if alpha == 0:
            return _canonical(measure.removeprefix("Rare"), (("rel", self.rel),), self.k)
        return _canonical(measure, (("alpha", alpha), *self._settings(mix)), self.k)

    def family(self, measure: str, mix: Mix = "add") -> str:
        """Return the canonical name of a measure of rareness without its alpha."""
        name = _canonical(measure, (("alpha", 1), *self._settings(mix)), self.k)
        return re.sub(r"alpha=1,?", "", name).replace("()", "")

    def families(self, mix: Mix = "add") -> tuple[str, ...]:
        """Return the canonical names of RareP and RareAP without their alpha."""
        return tuple(self.family(measure, mix) for measure in MEASURES)

    def scored(self) -> tuple[str, ...]:
        """Return the names of all computed measures."""
        added = [self.name(m, a) for m in MEASURES for a in self.weights]
        convex = [self.name(m, a, "convex") for m in MEASURES for a in self.convex_weights]
        return tuple(dict.fromkeys([*added, *convex]))

    @property
    def convex_weights(self) -> tuple[float, ...]:
        """The weights of rarity of Eq. 4 in Table 2: above 0, and at most 1."""
        return tuple(alpha for alpha in self.weights if 0 < alpha <= 1)

    def sizes_of(self, systems: int) -> Sequence[int]:
        """Return the numbers of systems in Table 3, of those in the track."""
        doubled = (2**j for j in range(1, systems.bit_length()))
        return [n for n in sorted(set(self.sizes or doubled)) if n <= systems]

    def _settings(self, mix: Mix) -> Settings:
        settings = (
            ("mix", mix),
            ("counted", self.counted),
            ("depth", self.rarity_depth),
            ("rel", self.rel),
        )
        return settings if mix == "convex" else (*settings, ("rarity", self.rarity))


@cache  # the study asks hundreds of times for each track
def _canonical(measure: str, settings: Settings, k: int) -> str:
    from irmeta.measures.names import canonical_name

    written = ",".join(f"{name}={value}" for name, value in settings if value is not None)
    return canonical_name(f"{measure}({written})@{k}")
