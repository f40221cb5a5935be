"""Options of the study, and the names of its measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from irmeta.options import option
from irmeta.policies import Buckets, Test, TrackOptions, Unretrieved

PERSISTENCE = 0.8  # of RBP


@dataclass(frozen=True)
class SearchLengthOptions(TrackOptions):
    """Options of the study of atomized search length."""

    rel: int = option(  # pyright: ignore[reportIncompatibleVariableOverride]
        1, "Least relevant grade.", least=1, most=127
    )
    unretrieved: Unretrieved = option(
        "irrel",
        "Search length of a relevant doc that is not retrieved (depth: as if at rank D + 1, below "
        "the track's deepest rank D); the chains always use floor, since 1/SL must exist.",
    )
    min_systems: int = option(
        5, "Exclude tracks with fewer systems from results over tracks (paper: 5).", least=1
    )
    best_by: str | None = option(
        None,
        "Measure that defines the best system; default each measure for itself.",
        parse="irmeta.measures.names:canonical_name",
    )
    baseline: str = option(
        "median",
        "Baseline of Table 1: best, median (by ASL), a system, or COLUMN=VALUE, the best system "
        "of a group, e.g. type=manual.",
        names="side",
    )
    contender: str = option(
        "best", "Contender of Table 1, in the syntax of the baseline.", names="side"
    )
    firsts: tuple[int, ...] = option(
        (), "Additional N of ASL@gN, besides 1 and 10 (repeatable).", least=1, flag="--first"
    )
    buckets: Buckets = option(
        "linear",
        "Buckets of search lengths in Figures 5 and 6: linear, of equal width, so that their "
        "counts show the shape of the distribution; or log, of growing width.",
    )
    cut_depth: int = option(
        100, "Rank at which lists are cut to measure the effect of depth.", least=1
    )
    ratio: float = option(
        1.10, "Smallest ratio of means for one system to count as better.", least=1
    )
    alpha: float = option(
        0.05,
        "Significance level for one system to count as better.",
        least=0,
        most=1,
        exclusive=True,
    )
    test: Test = option("t", "Test of the difference of two systems.")
    resamples: int = option(10_000, "Bootstrap resamples of the queries.", least=1)
    confidence: float = option(
        0.95, "Confidence level of intervals.", least=0, most=1, exclusive=True
    )
    seed: int = option(0, "Random seed of the bootstrap.", least=0)

    def asl(self, first: int | None = None, unretrieved: str | None = None) -> str:
        """Return the canonical name of ASL, or of ASL@gN."""
        choice = self.unretrieved if unretrieved is None else unretrieved
        return _name(f"ASL(rel={self.rel},unretrieved={choice})", first and f"g{first}")

    def named(self, measure: str) -> str:
        """Return the canonical name of a measure at the study's `rel`."""
        return _name(f"{measure}(rel={self.rel})")

    @property
    def ap(self) -> str:
        """Name of AP with the study's options."""
        return self.named("AP")

    @property
    def p20(self) -> str:
        """Name of P@20 with the study's options."""
        return _name(f"P(rel={self.rel})", 20)

    @property
    def rbp(self) -> str:
        """Name of RBP with the study's options."""
        return _name(f"RBP(p={PERSISTENCE},rel={self.rel})")

    @property
    def printed(self) -> tuple[str, ...]:
        """The measures of Figures 1 to 4, in that order."""
        return self.p20, self.asl(10), self.ap, self.asl()

    @property
    def deep(self) -> dict[str, str]:
        """Each search length with missed docs below the track's deepest rank, by its plain name."""
        return {self.asl(first): self.asl(first, "depth") for first in (10, None, 1)}

    @property
    def headroom(self) -> tuple[str, ...]:
        """The measures of Figures 1 to 4, and their search lengths under unretrieved=depth."""
        deep = (self.deep.get(name, name) for name in self.printed)
        return tuple(dict.fromkeys([*self.printed, *deep]))

    @property
    def shallow(self) -> tuple[str, ...]:
        """The measures computed again on lists cut at `depth`."""
        return tuple(dict.fromkeys([self.ap, self.asl(), self.asl(10), self.deep[self.asl()]]))

    @property
    def choices(self) -> tuple[str, ...]:
        """AP, P@20, RR, and ASL and each ASL@gN with each choice for docs not retrieved."""
        from irmeta.measures.search_length import UNRETRIEVED

        firsts = dict.fromkeys((None, 10, 1, *self.firsts))
        asl = (self.asl(first, choice) for first in firsts for choice in UNRETRIEVED)
        return (self.ap, self.p20, self.named("RR"), *asl)

    def used(self) -> dict[str, Any]:
        """Return what empty options stand for."""
        best_by = "each measure for itself"
        return super().used() | {"best_by": best_by, "firsts": sorted({1, 10, *self.firsts})}

    def scored(self) -> tuple[str, ...]:
        """Return the names of all computed measures."""
        reported = [*self.choices, self.named("Bpref"), self.asl(), self.asl(1), self.asl(10)]
        asked = [self.best_by] if self.best_by is not None else []
        return tuple(dict.fromkeys([*reported, self.rbp, "nDCG", "ERR", *asked]))


def _name(measure: str, cutoff: object = None) -> str:
    from irmeta.measures.names import canonical_name

    return canonical_name(f"{measure}@{cutoff}" if cutoff is not None else measure)
