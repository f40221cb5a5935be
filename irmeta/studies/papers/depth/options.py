"""Options of the study, and the names of its measures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from irmeta.options import option
from irmeta.policies import TieOrder, TrackOptions

CUTOFFS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 100, 400, 1000)
PRINTED_CUTOFFS = (1, 4, 10, 40, 100, 400, 1000)
"""The cutoffs of Tables 7 to 9."""
SQUARE = tuple(range(1, 51))
"""The cutoffs of Figures 5 to 7."""
PLOTTED_DEPTHS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 40, 70, 100, 200, 500, 1000)
"""The depths of the pool in Figure 1."""
LEAST_JUDGED = 0.95
"""Default share of judged docs at every rank down to an estimated depth of the pool."""
DEEPEST = 1000
"""The deepest cutoff of Figures 2 and 3."""


@dataclass(frozen=True)
class DepthOptions(TrackOptions):
    """Options of the study of pooling and evaluation depth."""

    rel: int = option(  # pyright: ignore[reportIncompatibleVariableOverride]
        1,
        "Least relevant grade, and least grade with a gain in nDCG, for measures whose names state "
        "none. ERR has gains of all grades.",
        least=1,
        most=127,
    )
    tie_order: TieOrder | None = option(
        "score-file", "Tie order; the paper keeps tied docs in line order."
    )
    measures: tuple[str, ...] = option(
        (),
        "Measures without a cutoff (repeatable); default those of the paper.",
        parse="irmeta.studies.papers.depth.options:without_cutoff",
        flag="-m --measures",
    )
    gain: Literal["grade", "exp"] = option("grade", "Gain of nDCG, which the paper does not state.")
    pool_depths: tuple[int, ...] = option(
        (),
        "Depths of the pool (repeatable); default the depth to which it is complete, or estimated.",
        least=1,
        flag="--pool-depths",
    )
    least_judged: float = option(
        LEAST_JUDGED,
        "Least share of judged docs at every rank down to the estimated depth of the pool.",
        least=0,
        most=1,
    )
    ks: tuple[int, ...] = option(
        (),
        "Cutoffs of Tables 7 to 9 and of the guidance (repeatable); default 15 from 1 to 1000.",
        least=1,
        flag="--k",
    )
    reference_k: int | None = option(
        None, "Cutoff of the reference measure; default the depth of the pool.", least=1
    )
    leave_out_ks: tuple[int, ...] = option(
        (),
        "Cutoffs at which left-out runs are scored (repeatable); default the depth of the pool.",
        least=1,
        flag="--leave-out-k",
    )
    others: Literal["rescored", "original"] = option(
        "rescored", "Means of the other systems when the rank of a left-out run is determined."
    )
    systems: Literal["contributors", "all"] = option(
        "contributors", "Systems that are compared: those that contributed to the pool, or all."
    )
    figure_measure: str | None = option(
        None,
        "Measure of Figure 4; default nDCG.",
        parse="irmeta.studies.papers.depth.options:one_without_cutoff",
    )
    method: Literal["tau-b", "tau-ap", "rbo"] = option(
        "tau-b", "Correlation of two orders of systems in Figures 5 to 7."
    )
    scores_compared: Literal["float64", "float32"] = option(
        "float64", "Precision in which the scores of a run are compared for ties."
    )
    alpha: float = option(
        0.05, "Significance level of the paired t-test.", least=0, most=1, exclusive=True
    )
    least_tau: float = option(0.9, "Guidance: least tau-b with the reference.", least=-1, most=1)
    least_coverage: float = option(
        0.9, "Guidance: least coverage of the reference.", least=0, most=1
    )
    places: int = option(
        3, "Reusability: ranks that a left-out run may move without counting as moved.", least=0
    )
    reusable_drop: float = option(
        5.0, "Reusable: largest drop of the mean score of left-out runs, in percent.", least=0
    )
    reusable_tau: float = option(
        0.9, "Reusable: least tau-b of the orders before and after.", least=-1, most=1
    )
    unusable_drop: float = option(
        20.0, "Not for new systems: a larger drop of that mean, in percent.", least=0
    )
    unusable_tau: float = option(
        0.8, "Not for new systems: a lower tau-b of these orders.", least=-1, most=1
    )
    judged_at_least: float = option(
        0.9, "Mean Judged@10 below which a run counts as hardly judged.", least=0, most=1
    )

    @property
    def ndcg(self) -> str:
        """Name of nDCG with the study's gain."""
        return "nDCG" if self.gain == "grade" else f"nDCG(gain={self.gain})"

    @property
    def compared(self) -> tuple[str, ...]:
        """Canonical names of the study's measures, without cutoffs."""
        further = ("Q(gain=linear)", "ERR", "RR", "RBP(p=0.8)", "RBP(p=0.95)")
        names = self.measures or without_cutoff(("AP(norm=min)", self.ndcg, *further))
        return tuple(dict.fromkeys(map(self.at, names)))

    def at(self, measure: str) -> str:
        """Return the name of a measure without a cutoff at the study's `rel`."""
        return measure if self.rel == 1 else at_rel(measure, self.rel)

    @property
    def drawn(self) -> str:
        """The measure of Figure 4."""
        return self.at(self.figure_measure or one_without_cutoff(self.ndcg))

    @property
    def matrices(self) -> dict[tuple[str, str], str]:
        """The pairs of measures of Figures 5 to 7, with the figure of each."""
        ap, ndcg, deep = "AP(norm=min)", self.ndcg, "RBP(p=0.95)"
        zipf, ideal = (f"nDCG(gain={self.gain},{more})" for more in ("discount=zipf", "ideal=pool"))
        pairs = {
            (ap, ap): "5",
            (ndcg, ndcg): "5",
            ("ERR", "ERR"): "6",
            (deep, deep): "6",
            ("RBP(p=0.8)", "RBP(p=0.8)"): "6",
            (ap, "AP"): "7",
            (ap, "AP(norm=pool)"): "7",
            (ndcg, zipf): "7",
            (ndcg, ap): "7",
            (deep, ndcg): "7",
            (deep, ap): "7",
            (ndcg, ideal): "beyond",
        }
        return {
            (self.at(one_without_cutoff(a)), self.at(one_without_cutoff(b))): figure
            for (a, b), figure in pairs.items()
        }

    @property
    def curved(self) -> tuple[str, ...]:
        """The measures that are computed at many cutoffs, without cutoffs."""
        of_matrices = (name for pair in self.matrices for name in pair)
        return tuple(dict.fromkeys([*self.compared, self.drawn, *of_matrices]))

    def used(self) -> dict[str, Any]:
        """Return what empty options stand for."""
        return super().used() | {
            "measures": self.compared,
            "pool_depths": "by track, see the table collections",
            "ks": CUTOFFS,
            "reference_k": "the depth of the pool",
            "leave_out_ks": "the depth of the pool",
            "figure_measure": self.drawn,
        }

    def scored(self) -> tuple[str, ...]:
        """Return the names of all computed measures."""
        more = ("FirstUnjudged", "Judged@10", "RBP", "RBPResidual", "ERRResidual")
        return (*(cut(measure, 1) for measure in self.curved), *more)


def without_cutoff(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the canonical names of measures without a cutoff, each once."""
    return tuple(dict.fromkeys(map(one_without_cutoff, names)))


@cache  # the study asks thousands of times for each track
def one_without_cutoff(name: str) -> str:
    """Return the canonical name of one measure without a cutoff: see `without_cutoff`."""
    from irmeta.measures.curve import spec_without_cutoff

    return spec_without_cutoff(name).name.rpartition("@")[0]


@cache
def at_rel(name: str, rel: int) -> str:
    """Return the name of a measure without a cutoff at `rel`, if it has a `rel` and states none."""
    from irmeta.measures.curve import spec_without_cutoff

    spec = spec_without_cutoff(name)
    if spec.settings.get("rel") != 1:
        return name
    params = tuple((one, rel if one == "rel" else old) for one, old in spec.params)
    return replace(spec, params=params).name.rpartition("@")[0]


@cache
def cut(measure: str, k: int | None, condensed: bool = False) -> str:
    """Return the canonical name of a measure at a cutoff, for full or condensed lists."""
    from irmeta.measures.names import canonical_name

    if condensed:
        name, _, parameters = measure.removesuffix(")").partition("(")
        measure = f"{name}({parameters},unjudged=condensed)".replace("(,", "(")
    return canonical_name(measure if k is None else f"{measure}@{k}")
