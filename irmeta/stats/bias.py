"""Bias of judges: systems, groups, and families of teams whose means their errors displace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import ndtri, stdtrit

from irmeta.errors import UsageError, check_share, check_whole, did_you_mean
from irmeta.phrases import count
from irmeta.results.averages import PermutedMeans
from irmeta.stats.orders import rank_rows, round_rows
from irmeta.summaries import Result, Summary

ALL = "all systems"
"""Name of the hypothesis on the mean of all systems."""
POWER = 0.8
"""Power with which the detectable contrast would be found."""
_ROUNDING = 1e-12
_TIE = 1e-9  # between z of equal labels, whose sums are rounded
_SCHEMA = {
    "judge": pl.String, "measure": pl.String, "by": pl.String, "name": pl.String,
    "systems": pl.Int32, "queries": pl.Int32, "mean": pl.Float64, "expected": pl.Float64,
    "displacement": pl.Float64, "contrast": pl.Float64, "sd": pl.Float64, "z": pl.Float64,
    "p": pl.Float64, "flagged": pl.Boolean, "detectable": pl.Float64, "unjudged": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class JudgeBias(Result):
    """Displaced means of systems and groups under judges.

    Attributes
    ----------
    track : str
        Name of the track.
    rows : DataFrame
        One row per hypothesis: judge, measure, by (``all``, ``system``, or a key of `groups`),
        name, systems (number), queries (number with labels by both), mean (by the judge), expected
        (by its permuted labels), displacement (mean minus expected, turned where less is better;
        positive: the judge scores too high), contrast (displacement minus that of all other
        systems; of all systems their displacement), sd (of the contrast under permuted labels), z
        (contrast / sd), p (corrected for all rows), flagged (p at most 1 - confidence), detectable
        (contrast that is flagged with probability .8), unjudged (share of the first ten ranks
        without a label by the judge). NaN where permuted labels do not change the contrast.
    critical : float
        The greatest absolute z of all hypotheses that is not significant.
    draws : int
        Permutations of the labels of each judge.
    confidence : float
        1 - confidence is the significance level.
    """

    track: str
    rows: pl.DataFrame
    critical: float
    draws: int
    confidence: float

    def _summary(self) -> Summary:
        tested = self.rows.filter(~pl.col("p").is_nan()).height
        flagged = int(self.rows["flagged"].sum())
        facts = [count(tested, "hypothesis", "hypotheses"), f"{flagged} flagged"]
        return Summary(f"bias on {self.track}", facts)

    def frame(self) -> pl.DataFrame:
        """Return `rows`."""
        return self.rows


def judge_bias(
    permuted: Sequence[PermutedMeans],
    *,
    groups: Mapping[str, Mapping[str, str | None]] | None = None,
    confidence: float = 0.95,
) -> JudgeBias:
    """Test whether the errors of judges depend on more than the query and the reference's grade.

    A judge that cannot see systems errs alike on all docs of a query that have one grade by the
    reference. Its labels can then be permuted among these docs, as `irmeta.permuted_means` does.
    The displacement of a mean is its distance from the means by permuted labels. That of all
    systems together is tested, and for each system and group the contrast with all other systems. A
    judge that favours a system may do so for any reason, for instance that it errs on docs that are
    hard, which some systems retrieve.

    Parameters
    ----------
    permuted : sequence of PermutedMeans
        Means by the labels of all judges and by all measures: see `irmeta.permuted_means`.
    groups : mapping of str to mapping, optional
        Group of each system, by kind: ``{"type": {"run1": "manual", "run2": None}}``. The mean of a
        group is that of its systems.
    confidence : float, default 0.95
        1 - confidence is the significance level, for all hypotheses together.

    Returns
    -------
    JudgeBias
        A row per judge, measure, and system or group.

    Raises
    ------
    UsageError
        If a system of a group is unknown, systems or numbers of draws differ, or there are too few
        draws for the significance level.

    Notes
    -----
    The contrasts of all 1 + draws sets of labels, the judge's own among them, are divided by their
    standard deviation to z, and p is the share of these sets whose greatest absolute z over all
    judges, measures, systems and groups is at least as great [1]_. If no judge sees more than query
    and grade, and judges err independently, any p is at most 0.05 with a probability of at most
    0.05, whatever the number of draws. If their errors are alike the test is conservative.

    References
    ----------
    .. [1] Westfall, P. H. and Young, S. S. (1993). Resampling-based multiple testing: examples and
       methods for p-value adjustment. Wiley.

    Examples
    --------
    >>> view = next(store.views("news"))
    >>> means = irmeta.permuted_means(view, {"noisy": view.alter_labels(0.1)}, "P@10", draws=99)
    >>> irmeta.stats.judge_bias(means).rows["flagged"].any()
    False
    """
    check_share("confidence", confidence)
    if not permuted:
        return JudgeBias("", pl.DataFrame(schema=_SCHEMA), np.nan, 0, confidence)
    first, alpha = permuted[0], round(1 - confidence, 9)
    draws = check_whole("draws", len(first.values) - 1, least_draws(alpha))
    for means in permuted:
        if list(means.systems) != list(first.systems) or means.values.shape != first.values.shape:
            raise UsageError(f"{means.judge} has other systems or draws than {first.judge}.")
    hypotheses = Hypotheses.of(first.systems, groups or {})
    tested = [Contrasts.of(means, hypotheses) for means in permuted]
    greatest = np.max([contrasts.greatest for contrasts in tested], axis=0)
    most_above = int(round(alpha * (1 + draws), 6)) - 1
    critical = float(np.sort(greatest[1:])[-1 - most_above])
    frame = pl.concat(
        [contrasts.rows(hypotheses, greatest, critical, alpha) for contrasts in tested]
    )
    return JudgeBias(first.track, frame, critical, draws, confidence)


def _corrected_p(z: np.ndarray, greatest: np.ndarray) -> np.ndarray:
    """Return the share of sets of labels whose greatest z is at least |z|; NaN for a z of NaN."""
    below = np.searchsorted(np.sort(greatest), np.abs(z) - _TIE)
    return np.where(np.isnan(z), np.nan, 1.0 - below / len(greatest))


def least_draws(alpha: float) -> int:
    """Return the least number of draws of which a p-value can be `alpha`."""
    return int(np.ceil(round(1 / alpha, 6))) - 1


class Hypotheses(NamedTuple):
    """All systems together, each system, and each group of systems.

    `members` and `others` are float64 [hypotheses, systems]: weights of the mean of the systems of
    a hypothesis, and of the mean of all others, with which it is compared.
    """

    by: list[str]
    names: list[str]
    sizes: np.ndarray
    members: np.ndarray
    others: np.ndarray

    @classmethod
    def of(
        cls, systems: Sequence[str], groups: Mapping[str, Mapping[str, str | None]]
    ) -> Hypotheses:
        """Return the hypotheses on all systems, each system, and each group."""
        number = len(systems)
        by, members = ["all", *["system"] * number], [ALL, *systems]
        sets = [np.ones((1, number), bool), np.eye(number, dtype=bool)]
        for kind, group_of in groups.items():
            unknown = sorted(group_of.keys() - set(systems))
            if unknown:
                raise UsageError(f"no system {unknown[0]!r}. {did_you_mean(unknown[0], systems)}")
            of_system = np.array([group_of.get(name) or "" for name in systems], dtype=object)
            for group in sorted({name for name in of_system if name}):
                by.append(kind)
                members.append(group)
                sets.append((of_system == group)[None])
        inside = np.concatenate(sets)
        sizes, outside = inside.sum(axis=1), ~inside
        others = outside / np.maximum(outside.sum(axis=1, keepdims=True), 1)
        return cls(by, members, sizes, inside / sizes[:, None], others)


@dataclass(frozen=True)
class Contrasts:
    """Hypotheses on one judge and measure: `columns` of `JudgeBias.rows`, float64 [hypotheses].

    `greatest` is the greatest absolute z of each set of labels, float64 [1 + draws].
    """

    permuted: PermutedMeans
    columns: dict[str, np.ndarray]
    greatest: np.ndarray

    @classmethod
    def of(cls, permuted: PermutedMeans, tested: Hypotheses) -> Contrasts:
        """Standardise the contrasts of all sets of labels."""
        expected = permuted.values.mean(axis=0)
        moved = permuted.direction * (permuted.values - expected)
        contrasts = moved @ (tested.members - tested.others).T
        sd = contrasts.std(axis=0, ddof=1)
        sd[sd <= _ROUNDING * np.maximum(1.0, np.abs(expected).max())] = np.nan
        z = contrasts / sd
        columns = {
            "mean": tested.members @ permuted.values[0], "expected": tested.members @ expected,
            "displacement": tested.members @ moved[0], "contrast": contrasts[0],
            "sd": sd, "z": z[0], "unjudged": tested.members @ permuted.unjudged,
        }  # fmt: skip
        return cls(permuted, columns, np.abs(np.nan_to_num(z)).max(axis=1))

    def rows(
        self, tested: Hypotheses, greatest: np.ndarray, critical: float, alpha: float
    ) -> pl.DataFrame:
        """Return `JudgeBias.rows`."""
        p = _corrected_p(self.columns["z"], greatest)
        detectable = (critical + ndtri(POWER)) * self.columns["sd"]
        columns = {"p": p, "flagged": p <= alpha + _ROUNDING, "detectable": detectable}
        of_tested = {"by": tested.by, "name": tested.names, "systems": tested.sizes}
        frame = pl.DataFrame({**of_tested, **self.columns, **columns})
        frame = frame.with_columns(
            pl.lit(getattr(self.permuted, name)).alias(name)
            for name in ("judge", "measure", "queries")
        )
        return frame.select(pl.col(name).cast(dtype) for name, dtype in _SCHEMA.items())


LEAST_TEAMS = 3
"""Fewest teams in a family that is tested, and outside it; others are described alone."""
_FAMILY_SCHEMA = {
    "judge": pl.String, "family": pl.String, "teams": pl.Int32, "systems": pl.Int32,
    "displacement": pl.Float64, "contrast": pl.Float64, "contrast_low": pl.Float64,
    "contrast_high": pl.Float64, "rank_displacement": pl.Float64, "rank_contrast": pl.Float64,
    "sd": pl.Float64, "z": pl.Float64, "p": pl.Float64, "unjudged": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True)
class Families:
    """The families of systems, by team.

    `labels`: the names of the families. `family`, `team`: int64 [unit]: those of each unit, which
    is the systems of a team in a family. `units`: float64 [unit, system]: weights of its mean.
    """

    labels: tuple[str, ...]
    family: np.ndarray
    team: np.ndarray
    units: np.ndarray

    @classmethod
    def of(
        cls, systems: Sequence[str], families: Mapping[str, str], teams: Mapping[str, str]
    ) -> Families:
        """Group systems; those without a family are left out."""
        keys = [(families[s], teams[s]) if s in families else None for s in systems]
        pairs = sorted({key for key in keys if key is not None})
        labels = sorted({family for family, _ in pairs})
        inside = np.array([[key == pair for key in keys] for pair in pairs], np.float64)
        family = np.array([labels.index(name) for name, _ in pairs], np.int64)
        team = np.unique([name for _, name in pairs], return_inverse=True)[1]
        units = inside / inside.sum(axis=1, keepdims=True) if len(pairs) else inside
        return cls(tuple(labels), family, team, units)

    def others(self, family: int) -> np.ndarray:
        """Return the weights of the teams outside a family: float64 [team, unit].

        A team in several other families is one team, whose mean is that of its units there.
        """
        is_outside = self.family != family
        weights = (np.unique(self.team[is_outside])[:, None] == self.team) & is_outside
        return weights / weights.sum(axis=1, keepdims=True)

    def contrasts(self, values: np.ndarray) -> np.ndarray:
        """Return the mean of each family's teams minus that of all others: float64 [row, family].

        `values` are float64 [row, unit].
        """
        inside = self.family == np.arange(len(self.labels))[:, None]
        weights = inside / inside.sum(axis=1, keepdims=True)
        for f in range(len(self.labels)):
            others = self.others(f)
            weights[f] -= others.sum(axis=0) / max(len(others), 1)
        return values @ weights.T


def family_bias(permuted: Sequence[PermutedMeans], families: Families) -> pl.DataFrame:
    """Compare families of systems by how a judge displaces their means, with teams as units.

    The displacement of a system is its mean by the judge minus that by the judge's labels permuted
    among docs of one query and reference grade: a blind judge also draws good and bad systems
    together, so that good ones can only fall, and this is not counted. The contrast of a family is
    the mean displacement of its teams minus that of all teams outside it, positive where the judge
    scores it too high, with the 95 % interval by Welch's t of its teams and the others. A team with
    systems in several families counts once on each side. p is corrected for all judges and families
    by the greatest z of each draw. p and interval are NaN for fewer than `LEAST_TEAMS` teams in the
    family, or outside it. `permuted` are of one measure and the same pairs of query and doc.
    """
    rows, greatest = list[dict[str, object]](), list[np.ndarray]()
    sizes = np.bincount(families.family, minlength=len(families.labels))
    others = [families.others(f) for f in range(len(families.labels))]
    outside = np.array([len(teams) for teams in others], np.int64)
    is_tested = np.minimum(sizes, outside) >= LEAST_TEAMS
    for means in permuted:
        moved = means.direction * (means.values - means.values.mean(axis=0))
        ranks = rank_rows(round_rows(means.direction * means.values)).astype(np.float64)
        climbed = ranks.mean(axis=0) - ranks[0]
        by_unit, ranks_by_unit = moved @ families.units.T, climbed @ families.units.T
        contrasts = families.contrasts(by_unit)
        sd = contrasts.std(axis=0, ddof=1)
        sd[sd <= _ROUNDING] = np.nan
        z = contrasts / sd
        greatest.append(np.abs(np.nan_to_num(z[:, is_tested])).max(axis=1, initial=0.0))
        rank_contrasts = families.contrasts(ranks_by_unit[None])[0]
        unjudged = families.units @ means.unjudged
        for f, name in enumerate(families.labels):
            inside = families.family == f
            displaced = by_unit[0, inside]
            reach = _reach(displaced, others[f] @ by_unit[0]) if is_tested[f] else np.nan
            contrast = float(contrasts[0, f])
            rows.append(
                {
                    "judge": means.judge,
                    "family": name,
                    "teams": int(sizes[f]),
                    "systems": int((families.units[inside] > 0).sum()),
                    "displacement": float(displaced.mean()),
                    "contrast": contrast,
                    "contrast_low": contrast - reach,
                    "contrast_high": contrast + reach,
                    "rank_displacement": float(ranks_by_unit[inside].mean()),
                    "rank_contrast": float(rank_contrasts[f]),
                    "sd": float(sd[f]),
                    "z": float(z[0, f]),
                    "p": np.nan,
                    "unjudged": float(unjudged[inside].mean()),
                }
            )
    frame = pl.DataFrame(rows, _FAMILY_SCHEMA)
    if not rows:
        return frame
    p = _corrected_p(frame["z"].to_numpy(), np.max(greatest, axis=0))
    p[~np.tile(is_tested, len(permuted))] = np.nan
    return frame.with_columns(p=pl.Series(p))


def _reach(first: np.ndarray, second: np.ndarray) -> float:
    """Return half the width of the 95 % interval by Welch's t of a difference of two means."""
    sizes = np.array([len(first), len(second)])
    squares = np.array([first.var(ddof=1), second.var(ddof=1)]) / sizes
    total = float(squares.sum())
    if total <= _ROUNDING**2:
        return 0.0
    freedom = total**2 / float((squares**2 / (sizes - 1)).sum())
    return float(stdtrit(freedom, 0.975)) * float(np.sqrt(total))
