"""Generalizability theory: how far scores depend on systems, and how far on queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np
import polars as pl
from scipy.special import fdtri, gammaincinv

from irmeta.errors import check_positive, check_share
from irmeta.results.matrix import Matrix
from irmeta.stats.paired import ROUNDING
from irmeta.stats.tables import as_matrix
from irmeta.summaries import Result, Summary


@dataclass(frozen=True, repr=False)
class GStudy(Result):
    """Variance components of the values of systems on queries.

    Attributes
    ----------
    measure, track : str
        Names of the measure and of the track.
    systems, queries : int
        Numbers of systems and of queries.
    system, query, interaction : float
        Variance components, at least 0: of the means of systems, of the means of queries, and of
        the interaction of both, which includes all other error. NaN: see `g_study`.
    mean_square_system, mean_square_query, mean_square_interaction : float
        The mean squares of the analysis of variance.
    """

    measure: str
    track: str
    systems: int
    queries: int
    system: float
    query: float
    interaction: float
    mean_square_system: float
    mean_square_query: float
    mean_square_interaction: float

    def _summary(self) -> Summary:
        total = self.system + self.query + self.interaction
        parts = ("system", "query", "interaction")
        shares = [100 * getattr(self, part) / total if total else np.nan for part in parts]
        facts = [f"{part} {share:.1f} %" for part, share in zip(parts, shares, strict=True)]
        on = f" on {self.track}" if self.track else ""
        return Summary(f"{self.measure}{on}", facts)

    def frame(self) -> pl.DataFrame:
        """Return one row per component: component, variance, share (of the sum), mean_square."""
        parts = ("system", "query", "interaction")
        variances = [getattr(self, part) for part in parts]
        total = sum(variances)
        return pl.DataFrame(
            {
                "component": parts,
                "variance": variances,
                "share": [v / total if total else np.nan for v in variances],
                "mean_square": [getattr(self, f"mean_square_{part}") for part in parts],
            }
        )


def g_study(matrix: Matrix | object) -> GStudy:
    """Estimate how much of the variance of scores is due to systems, queries and both together.

    Parameters
    ----------
    matrix : Matrix or frame
        Values of one measure; a table may have the columns system, query, measure, value. Only
        queries on which every system has a value are used.

    Returns
    -------
    GStudy
        Variance components; NaN for fewer than two systems or queries.

    Raises
    ------
    UsageError
        If a table has several measures or tracks.

    Notes
    -----
    The fully crossed design of [1]_, systems x queries, estimated from the mean squares of the
    two-way analysis of variance without replication: interaction ``MS_e``, system
    ``(MS_s - MS_e) / queries``, query ``(MS_q - MS_e) / systems``. A negative estimate is 0, as in
    gt4ireval. Components depend on which systems took part: much weaker systems raise the share of
    systems and make a collection look more reliable.

    References
    ----------
    .. [1] Urbano, Marrero and Martín (2013). On the measurement of test collection reliability.
       Proceedings of SIGIR, 393-402.

    Examples
    --------
    >>> irmeta.stats.g_study(ap)
    GStudy(AP: system 86.5 %, query 0.0 %, interaction 13.5 %)
    component    variance     share  mean square
    system       0.080000  0.864865     0.332500
    query        0.000000  0.000000     0.007500
    interaction  0.012500  0.135135     0.012500
    """
    source = as_matrix(matrix)
    values = source.values[np.isfinite(source.values).all(axis=1)]
    queries, systems = values.shape
    if queries < 2 or systems < 2:
        nothing = [np.nan] * 6
        return GStudy(source.measure, source.track, systems, queries, *nothing)
    by_axes = mean_squares(values)
    squares = [by_axes[1,], by_axes[0,], by_axes[0, 1]]
    slack = (ROUNDING * np.abs(values).max()) ** 2 * max(queries, systems)
    ms_system, ms_query, ms_rest = (0.0 if square <= slack else float(square) for square in squares)
    return GStudy(
        measure=source.measure,
        track=source.track,
        systems=systems,
        queries=queries,
        system=max((ms_system - ms_rest) / queries, 0.0),
        query=max((ms_query - ms_rest) / systems, 0.0),
        interaction=ms_rest,
        mean_square_system=ms_system,
        mean_square_query=ms_query,
        mean_square_interaction=ms_rest,
    )


def mean_squares(values: np.ndarray) -> dict[tuple[int, ...], float]:
    """Compute the mean squares of a fully crossed design with one value a cell.

    By the axes of `values` of each main effect and interaction; all axes have at least two levels.
    """
    squares = dict[tuple[int, ...], float]()
    for size in range(1, values.ndim + 1):
        for axes in combinations(range(values.ndim), size):
            others = tuple(axis for axis in range(values.ndim) if axis not in axes)
            effect = values.mean(axis=others, keepdims=True)
            for axis in axes:
                effect = effect - effect.mean(axis=axis, keepdims=True)
            cells = prod(values.shape[axis] for axis in others)
            freedom = prod(values.shape[axis] - 1 for axis in axes)
            squares[axes] = cells * float(np.square(effect).sum()) / freedom
    return squares


def crossed_components(values: np.ndarray) -> dict[tuple[int, ...], float]:
    """Estimate the variance components of a fully crossed random design, by axes of `values`.

    From `mean_squares`; that of all axes includes all other error. Negative estimates are kept.
    """
    squares = mean_squares(values)
    return {
        axes: sum(
            (-1) ** (len(more) - len(axes)) * square
            for more, square in squares.items()
            if set(axes) <= set(more)
        )
        / prod(size for axis, size in enumerate(values.shape) if axis not in axes)
        for axes in squares
    }


def d_study(
    study: GStudy, queries: Iterable[int] | None = None, *, confidence: float = 0.95
) -> pl.DataFrame:
    """Estimate how reliable scores are with other numbers of queries.

    Parameters
    ----------
    study : GStudy
        Variance components, from `g_study`.
    queries : iterable of int, optional
        Numbers of queries; default: as many as `study` has.
    confidence : float, default 0.95
        Confidence level of the intervals.

    Returns
    -------
    DataFrame
        One row per number: queries; e_rho2, e_rho2_low, e_rho2_high (generalizability coefficient,
        for differences between systems: the expected squared correlation with the true scores);
        phi, phi_low, phi_high (index of dependability, for the scores themselves). NaN where a
        variance component is, or where nothing varies.

    Raises
    ------
    UsageError
        If a number of queries is not at least 1, or `confidence` is not between 0 and 1.

    Notes
    -----
    ``E rho^2 = s / (s + e / n)`` and ``Phi = s / (s + (q + e) / n)`` for n queries and the variance
    components s, q and e of systems, queries and interaction [1]_. Intervals are those of gt4ireval
    [2]_: Feldt's for E rho^2, and that of Arteaga, Jeyaratnam and Franklin for Phi. Limits below 0
    are 0. They take systems and queries as random samples, and scores as normal.

    References
    ----------
    .. [1] Urbano, Marrero and Martín (2013). On the measurement of test collection reliability.
       Proceedings of SIGIR, 393-402.
    .. [2] Urbano (2017). gt4ireval: Generalizability theory for information retrieval evaluation.
       doi:10.32614/CRAN.package.gt4ireval

    Examples
    --------
    >>> found = irmeta.stats.d_study(irmeta.stats.g_study(ap), [4, 50])
    >>> found.select("queries", pl.col("e_rho2").round(3)).rows()
    [(4, 0.962), (50, 0.997)]
    """
    check_share("confidence", confidence)
    numbers = (
        [study.queries] if queries is None else [check_positive("queries", n) for n in queries]
    )
    n = np.array(numbers, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        e_rho2 = study.system / (study.system + study.interaction / n)
        phi = study.system / (study.system + (study.query + study.interaction) / n)
    columns = {"queries": np.array(numbers, np.int64), "e_rho2": e_rho2}
    of_one = [_limits(study, confidence, name) for name in ("e_rho2", "phi")]
    for side, ratio in zip(("low", "high"), of_one[0], strict=True):
        columns[f"e_rho2_{side}"] = _with_queries(ratio, n)
    columns["phi"] = phi
    for side, ratio in zip(("low", "high"), of_one[1], strict=True):
        columns[f"phi_{side}"] = _with_queries(ratio, n)
    return pl.DataFrame(columns)


def queries_for(
    study: GStudy, reliability: float = 0.95, *, confidence: float = 0.95
) -> pl.DataFrame:
    """Estimate how many queries make scores as reliable as wanted.

    Parameters
    ----------
    study : GStudy
        Variance components, from `g_study`.
    reliability : float, default 0.95
        Wanted E rho^2 and Phi.
    confidence : float, default 0.95
        Confidence level of the intervals.

    Returns
    -------
    DataFrame
        Two rows, E rho^2 and Phi: coefficient, reliability, queries, low, high (least numbers;
        null: no number of queries, because systems do not differ).

    Raises
    ------
    UsageError
        If `reliability` or `confidence` is not between 0 and 1.

    Examples
    --------
    >>> irmeta.stats.queries_for(irmeta.stats.g_study(ap))["queries"].to_list()
    [3, 3]
    """
    check_share("reliability", reliability)
    check_share("confidence", confidence)
    wanted = reliability / (1 - reliability)
    noise = {"e_rho2": study.interaction, "phi": study.query + study.interaction}
    rows = []
    for name, error in noise.items():
        ratios = [study.system / error if error else np.nan, *_limits(study, confidence, name)]
        numbers = [_number(wanted, ratio) for ratio in (ratios[0], ratios[2], ratios[1])]
        rows.append((name, reliability, *numbers))
    schema = {"coefficient": pl.String, "reliability": pl.Float64}
    return pl.DataFrame(rows, schema | dict.fromkeys(_NUMBERS, pl.Int64), orient="row")


_NUMBERS = ("queries", "low", "high")


def _number(wanted: float, ratio: float) -> int | None:
    """Return the least number n with n ratio >= wanted."""
    if not ratio > 0:
        return None
    number = wanted / ratio
    # 0.95 / 0.05 is 18.999999999999982: without slack, rounding could add a query.
    return max(int(np.ceil(number - 1e-9 * number)), 1)


def _with_queries(ratio: float, queries: np.ndarray) -> np.ndarray:
    """Return the reliability of n queries; `ratio`: system variance over error of one query."""
    return queries * ratio / (1 + queries * ratio)


def _limits(study: GStudy, confidence: float, coefficient: str) -> tuple[float, float]:
    """Return the limits of the system variance over the error variance of one query."""
    tails = ((1 + confidence) / 2, (1 - confidence) / 2)
    of_one = _phi_ratio if coefficient == "phi" else _e_rho2_ratio
    squares = study.mean_square_system, study.mean_square_query, study.mean_square_interaction
    if np.isnan(squares).any() or squares[2] == 0 or squares[0] == 0:
        return np.nan, np.nan
    low, high = (max(of_one(study, tail), 0.0) for tail in tails)
    return low, high


def _e_rho2_ratio(study: GStudy, tail: float) -> float:
    systems, queries = study.systems - 1, study.queries - 1
    quantile = fdtri(systems, systems * queries, tail)
    return (
        study.mean_square_system / (study.mean_square_interaction * quantile) - 1
    ) / study.queries


def _phi_ratio(study: GStudy, tail: float) -> float:
    systems, queries = study.systems - 1, study.queries - 1
    f_rest = fdtri(systems, systems * queries, tail)
    f_query = fdtri(systems, queries, tail)
    f_infinite = 2 * gammaincinv(systems / 2, tail) / systems  # of chi squared
    s, q, e = study.mean_square_system, study.mean_square_query, study.mean_square_interaction
    above = s * s - f_infinite * s * e + (f_infinite - f_rest) * f_rest * e * e
    below = systems * f_infinite * s * e + f_query * s * q
    # The paper's ratio is of the system variance to the total; ours is to the error.
    return study.systems * above / below / study.queries
