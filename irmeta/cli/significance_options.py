"""Options of significance tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from irmeta.errors import UsageError
from irmeta.options import Options, option
from irmeta.policies import Correction

CORRECTION = "Correction of the p-values for the number of pairs."

MISSING = (
    "Queries without a value of a system: an error, compare on those that both systems have, or "
    "count 0."
)


@dataclass(frozen=True)
class Resampling(Options):
    """Options of random tests."""

    resamples: int = option(10_000, "Number of resamples, for randomised tests.", least=1)
    seed: int = option(0, "Random seed.", least=0)


@dataclass(frozen=True)
class Gating(Options):
    """Options of a gate: see `Comparisons.gate`."""

    max_drop: float | None = option(
        None,
        "Exit with status 1 if the mean of a system is worse than the baseline's by more than "
        "this.",
        least=0,
        metavar="AMOUNT",
    )
    lost: str = option(
        "0",
        "With --max-drop, number or share of the baseline's queries that a system may lack.",
        parse="irmeta.api.gates:checked_losses",
        metavar="N|P%",
    )
    non_inferior: bool = option(
        False,
        "With --max-drop, pass only if the one-sided lower limit of the difference at level "
        "1 - alpha is above the drop that is allowed.",
    )

    @property
    def rule(self) -> dict[str, Any]:
        """Keywords of the gate beside the drop."""
        return {"lost": self.lost, "non_inferior": self.non_inferior}

    def check_gate(self) -> None:
        """Raise `UsageError` for an option of a gate without one."""
        given = [name for name, value in self.rule.items() if value not in ("0", False)]
        if self.max_drop is None and given:
            flag = given[0].replace("_", "-")
            raise UsageError(f"--{flag} belongs to a gate: give --max-drop too.")


@dataclass(frozen=True)
class PreferenceTesting(Resampling):
    """Options of `irmeta prefer`."""

    test: Literal["hsd-randomised", "t"] = option(
        "hsd-randomised", "Test of the mean preference of two systems."
    )
    correction: Correction = option("none", f"{CORRECTION} For test t; hsd-randomised needs none.")
    alpha: float = option(0.05, "Significance level.")
