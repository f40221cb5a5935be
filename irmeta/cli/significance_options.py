"""Options of significance tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from irmeta.options import Options, option
from irmeta.policies import Correction, Test

CORRECTION = "Correction of the p-values for the number of pairs."


@dataclass(frozen=True)
class Resampling(Options):
    """Options of random tests."""

    resamples: int = option(10_000, "Number of resamples, for randomised tests.", least=1)
    seed: int = option(0, "Random seed.", least=0)


@dataclass(frozen=True)
class PairTesting(Resampling):
    """Options of `irmeta compare`."""

    test: str = option(
        "t",
        "Test of the difference of two systems; hsd tests and bootstrap-max-t compare all pairs at "
        "once, max-t all systems with --baseline.",
        choices=(*get_args(Test), "max-t"),
    )
    correction: Correction | None = option(
        None, f"{CORRECTION} Default holm; none for tests of all systems at once, which need none."
    )
    alpha: float | None = option(
        None, "Significance level, default 0.05; with --max-drop, a significant drop fails too."
    )
    baseline: str | None = option(
        None,
        "Compare every other system with this one alone; with --max-drop default the first run.",
        metavar="SYSTEM",
    )


@dataclass(frozen=True)
class PowerTesting(Resampling):
    """Options of `irmeta power`."""

    tests: tuple[str, ...] = option(
        ("t",),
        "Test of the difference of two systems (repeatable).",
        choices=get_args(Test),
        flag="--test",
    )
    correction: Correction = option(
        "none", f"{CORRECTION} Default none, since discriminative power is defined pair by pair."
    )
    alpha: tuple[float, ...] = option((0.05, 0.01), "Significance level (repeatable).")


@dataclass(frozen=True)
class PreferenceTesting(Resampling):
    """Options of `irmeta prefer`."""

    test: Literal["hsd-randomised", "t"] = option(
        "hsd-randomised", "Test of the mean preference of two systems."
    )
    correction: Correction = option("none", f"{CORRECTION} For test t; hsd-randomised needs none.")
    alpha: float = option(0.05, "Significance level.")
