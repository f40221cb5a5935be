"""Families of systems that the errors of judges favour, with teams as units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import stdtrit

from irmeta.results.averages import PermutedMeans
from irmeta.stats.orders import rank_rows, round_rows

LEAST_TEAMS = 3
"""Fewest teams in a family that is tested, and outside it; others are described alone."""
_ROUNDING = 1e-12
_TIE = 1e-9  # between z of equal labels, whose sums are rounded
_SCHEMA = {
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
    scores it too high. A team with systems in several families counts once on each side.

    Parameters
    ----------
    permuted : sequence of PermutedMeans
        One measure by each judge, of the same pairs of query and doc.
    families : Families
        The systems of each team in each family.

    Returns
    -------
    DataFrame
        judge, family, teams, systems, displacement, contrast with the 95 % interval by Welch's t of
        its teams and the others, the same two of ranks (positive: too high a rank), sd, z and p of
        the contrast under permuted labels, unjudged. p is corrected for all judges and families by
        the greatest z of each draw; p and interval are NaN for fewer than three teams in the
        family, or outside it.
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
    frame = pl.DataFrame(rows, _SCHEMA)
    if not rows:
        return frame
    ordered = np.sort(np.max(greatest, axis=0))
    z = np.abs(frame["z"].to_numpy())
    p = 1.0 - np.searchsorted(ordered, z - _TIE) / len(ordered)
    tested = np.tile(is_tested, len(permuted)) & ~np.isnan(z)
    return frame.with_columns(p=pl.Series(np.where(tested, p, np.nan)))


def _reach(first: np.ndarray, second: np.ndarray) -> float:
    """Return half the width of the 95 % interval by Welch's t of a difference of two means."""
    sizes = np.array([len(first), len(second)])
    squares = np.array([first.var(ddof=1), second.var(ddof=1)]) / sizes
    total = float(squares.sum())
    if total <= _ROUNDING**2:
        return 0.0
    freedom = total**2 / float((squares**2 / (sizes - 1)).sum())
    return float(stdtrit(freedom, 0.975)) * float(np.sqrt(total))
