"""Bias of a judge: systems and groups of systems that it favours, beyond its scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_share, did_you_mean
from irmeta.phrases import count
from irmeta.results.averages import mean_over_queries
from irmeta.results.matrix import Matrix
from irmeta.stats.aggregation import rank_rows
from irmeta.stats.common_values import common_values
from irmeta.stats.corrections import adjusted
from irmeta.stats.orders import round_means
from irmeta.stats.paired import column_means
from irmeta.summaries import Summarized, Summary

LEAST_SYSTEMS = 3
"""Fewer systems always lie on a line, so that no residual is left."""


@dataclass(frozen=True, repr=False)
class JudgeBias(Summarized):
    """Residuals of systems under a judge, after the shift and slope of its scale.

    Attributes
    ----------
    measure, track : str
        Names of the measure and of the track.
    names : tuple of str
        The systems.
    means_reference, means_judge : ndarray of float64, shape (systems,)
        Means over the queries on which all values are defined.
    direction : {1, -1}
        1: greater is better; -1: less is better.
    residuals : ndarray of float64, shape (queries, systems)
        What each query contributes to the residual of each system, its mean over queries; positive
        where the judge favours the system. NaN: see `judge_bias`.
    shift, shift_low, shift_high : float
        Mean of all values under the judge minus that under the reference, with its interval.
    slope, slope_low, slope_high : float
        Slope of the line of the judge's means over the reference's, with its interval.
    confidence : float
        Confidence level of the intervals; 1 - confidence is the level of flags.
    """

    measure: str
    track: str
    names: tuple[str, ...]
    means_reference: np.ndarray
    means_judge: np.ndarray
    direction: int
    residuals: np.ndarray
    shift: float
    shift_low: float
    shift_high: float
    slope: float
    slope_low: float
    slope_high: float
    confidence: float

    def _summary(self) -> Summary:
        found = self.systems()
        flagged = count(int(found["flagged"].sum()), "flagged system")
        facts = [f"shift {self.shift:.4f}", f"slope {self.slope:.4f}", flagged]
        on = f" on {self.track}" if self.track else ""
        return Summary(f"{self.measure}{on}", facts, lambda: found)

    def systems(self) -> pl.DataFrame:
        """Test whether each residual is 0.

        Returns
        -------
        DataFrame
            One row per system, best under the reference first: system, mean_reference, mean_judge,
            rank_reference, rank_judge (1: best; equal means share the smallest rank), residual,
            low, high (Student's interval over queries), p, p_adjusted (Holm over systems), flagged.
        """
        frame = pl.DataFrame(
            {
                "system": pl.Series(self.names, dtype=pl.String),
                "mean_reference": self.means_reference,
                "mean_judge": self.means_judge,
                "rank_reference": _ranks(self.means_reference * self.direction),
                "rank_judge": _ranks(self.means_judge * self.direction),
            }
        )
        tested = self._tested("residual", self.residuals)
        return frame.hstack(tested).sort("rank_reference", "system")

    def groups(self, groups: Mapping[str, str | None]) -> pl.DataFrame:
        """Compare the residuals of each group of systems with those of all other systems.

        The contrast of a query is the mean residual of the group minus that of the others, and
        Student's test is over queries. Systems of a group are no independent draws: what they have
        in common, such as one retriever, moves all of them, so that a permutation of systems would
        reject too often.

        Parameters
        ----------
        groups : mapping of str to str or None
            Group of each system, or its type of run; systems without one are others.

        Returns
        -------
        DataFrame
            One row per group, by name: group, systems (number), contrast (positive: the judge
            favours the group), low, high, p, p_adjusted (Holm over groups), flagged. NaN for a
            group of all systems.

        Raises
        ------
        UsageError
            If a system is unknown.
        """
        unknown = sorted(groups.keys() - set(self.names))
        if unknown:
            raise UsageError(f"no system {unknown[0]!r}. {did_you_mean(unknown[0], self.names)}")
        group_of = np.array([groups.get(name) or "" for name in self.names], dtype=object)
        labels = sorted({str(name) for name in group_of if name})
        members = np.array([group_of == name for name in labels]).reshape(len(labels), -1)
        sizes = members.sum(axis=1)
        contrasts = np.full((len(self.residuals), len(labels)), np.nan)
        for i in np.flatnonzero(sizes < len(self.names)):
            inside, outside = self.residuals[:, members[i]], self.residuals[:, ~members[i]]
            contrasts[:, i] = inside.mean(axis=1) - outside.mean(axis=1)
        named = {"group": pl.Series(labels, dtype=pl.String), "systems": sizes.astype(np.int32)}
        return pl.DataFrame(named).hstack(self._tested("contrast", contrasts))

    def _tested(self, name: str, values: np.ndarray) -> pl.DataFrame:
        scale = max(
            np.abs(one).max(initial=0.0) for one in (self.means_reference, self.means_judge)
        )
        tested = column_means(values, scale)
        low, high = tested.limits(self.confidence)
        p = tested.p_each()
        p_adjusted = adjusted(p, "holm")
        flagged = p_adjusted <= round(1 - self.confidence, 12)
        columns = {name: tested.mean, "low": low, "high": high, "p": p}
        return pl.DataFrame({**columns, "p_adjusted": p_adjusted, "flagged": flagged})


def judge_bias(
    reference: Matrix, judge: Matrix, *, slope: bool = True, confidence: float = 0.95
) -> JudgeBias:
    """Find the systems that a judge favours, beyond the shift and slope of its scale.

    A lenient judge raises all means, and a judge with a narrow scale draws them together. Neither
    changes the order of systems, so both are removed: the residual of a system is its distance
    from the least-squares line of the judge's means over the reference's means.

    Parameters
    ----------
    reference, judge : Matrix
        Values of one measure by the labels of the reference and of the judge. The judge has every
        query and system of the reference. A query on which a value is undefined in either is
        excluded.
    slope : bool, default True
        False: take out the shift alone, that is, the slope is 1. A judge with a narrow scale then
        seems to favour all bad systems.
    confidence : float, default 0.95
        Confidence level of intervals; 1 - confidence is the level of flags.

    Returns
    -------
    JudgeBias
        Scale of the judge, and tests of systems and of groups of systems. Residuals are NaN for
        fewer than three systems or equal means under the reference, intervals for fewer than two
        queries.

    Raises
    ------
    UsageError
        If the judge lacks a query or system, or `confidence` is not between 0 and 1.

    Notes
    -----
    With values centred within each query, H_qs under the reference and J_qs under the judge, and
    their means h_s and j_s, the slope is ``b = sum j_s h_s / sum h_s^2`` and the residual
    ``e_s = j_s - b h_s``. Let ``d_qs = J_qs - b H_qs``. Since each query also moves the line, its
    contribution to e_s is ``d_qs - h_s g_q`` with
    ``g_q = sum_t (h_t d_qt + e_t H_qt) / sum h_t^2``: the influence function [1]_, whose mean over
    queries is e_s, so that Student's t applies. b + g_q is the contribution to the slope. Residuals
    within rounding of 0 are 0.

    References
    ----------
    .. [1] Hampel, F. R. (1974). The influence curve and its role in robust estimation.
       Journal of the American Statistical Association 69, 383-397.

    Examples
    --------
    >>> bias = irmeta.stats.judge_bias(ap, rr)
    >>> round(bias.shift, 3), round(bias.slope, 3)
    (0.2, 0.56)
    >>> bias.systems().select("system", pl.col("residual").round(3)).rows()
    [('a', 0.024), ('b', -0.031), ('c', 0.007)]
    """
    check_share("confidence", confidence)
    values = common_values(reference, {judge.measure: judge})
    human, judged = values.reference, values.judges[judge.measure]
    scale = max(np.abs(human).max(initial=0.0), np.abs(judged).max(initial=0.0))
    shifts = column_means((judged - human).mean(axis=1, keepdims=True) * reference.direction, scale)
    residuals, slopes = _residuals(human, judged, slope)
    lines = column_means(slopes[:, None], 1.0)
    (shift_low, shift_high), (slope_low, slope_high) = (
        [float(one[0]) for one in found.limits(confidence)] for found in (shifts, lines)
    )
    return JudgeBias(
        measure=reference.measure,
        track=reference.track,
        names=values.systems,
        means_reference=mean_over_queries(human) * reference.direction,
        means_judge=mean_over_queries(judged) * reference.direction,
        direction=reference.direction,
        residuals=residuals,
        shift=float(shifts.mean[0]),
        shift_low=shift_low,
        shift_high=shift_high,
        slope=float(lines.mean[0]),
        slope_low=slope_low,
        slope_high=slope_high,
        confidence=confidence,
    )


def _residuals(
    human: np.ndarray, judged: np.ndarray, with_slope: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the contributions of queries to the residuals, and to the slope."""
    queries, systems = human.shape
    undefined = np.full((queries, systems), np.nan), np.full(queries, np.nan)
    if systems < LEAST_SYSTEMS or queries == 0:
        return undefined
    by_query = [values - values.mean(axis=1, keepdims=True) for values in (human, judged)]
    h, j = (values.mean(axis=0) for values in by_query)
    if np.ptp(round_means(mean_over_queries(human))) == 0:
        return undefined
    spread = (h * h).sum()
    slope = (j * h).sum() / spread
    from_line = by_query[1] - slope * by_query[0]
    moved = (from_line * h + by_query[0] * (j - slope * h)).sum(axis=1) / spread
    if not with_slope:
        return by_query[1] - by_query[0], slope + moved
    return from_line - moved[:, None] * h, slope + moved


def _ranks(means: np.ndarray) -> np.ndarray:
    return rank_rows(round_means(means)[None])[0]
