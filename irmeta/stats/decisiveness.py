"""Decisiveness and bias of a judge of systems, from the win rates of pairs of systems.

After Gera et al. 2024 (JuStRank, arXiv:2412.09569, Section 6 and Appendices E and F). A win rate is
the share of queries on which a system has the greater value of two; a tie is half a win. The win
rates by the reference are mapped to the judge's by the distribution function F of Beta(a, a). Its
shape a is the decisiveness: 1 where the judge's win rates are the reference's, above 1 where the
judge exaggerates them, below 1 where it flattens them. The bias of a system is the mean over all
other systems of its win rate by the judge minus F of that by the reference.

It differs from the paper in two ways. The paper's reference is Chatbot Arena, with battles on other
prompts; here both sides have the same queries. The rule of the fit is ours: a minimizes the sum of
squared residuals over all pairs of systems, within `SHAPES`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betainc

from irmeta.equality import TIE, signs
from irmeta.stats.judged_orders import NORMAL, around_estimate, whole

SHAPES = (0.01, 100.0)
"""Least and greatest decisiveness that is fitted."""
_GRID = np.geomspace(*SHAPES, 401)
_BLOCK = 1 << 22  # win rates held at once


@dataclass(frozen=True)
class Decisiveness:
    """Decisiveness of a judge, and its biases to systems, with 95 % intervals over queries.

    Intervals are the estimate plus and minus 1.96 standard deviations over resamples of the
    queries; those of the shape are of its logarithm. NaN: undefined.
    """

    shape: float
    low: float
    high: float
    spread: float  # standard deviation of the biases over systems
    biases: np.ndarray  # bias of each system, its lower and its upper limit: float64 [3, system]


def decisiveness(
    reference: np.ndarray,
    judge: np.ndarray,
    draws: np.ndarray,
    within: tuple[float, float] = (TIE, TIE),
) -> Decisiveness:
    """Fit the win rates of a judge to those of a reference.

    Parameters
    ----------
    reference, judge
        float64 [query, system], greater is better, of the same queries and systems.
    draws
        Weights of resampled queries: float64 [draw, query], multiples of 1 / queries.
    within
        Largest difference of two values that ties, by each.
    """
    queries, systems = reference.shape
    pairs = np.triu_indices(systems, 1)
    wins = [
        signs(values[:, pairs[0]] - values[:, pairs[1]], tie).astype(np.float64)
        for values, tie in zip((reference, judge), within, strict=True)
    ]
    expected = betainc(_GRID[:, None], _GRID[:, None], np.linspace(0.0, 1.0, 2 * queries + 1))
    rates, judged = next(_rates(wins, whole(queries)))
    shape = _fit(rates, judged, expected, exactly=True)
    biases = _biases(rates, judged, shape, pairs, reference.shape)
    fits, drawn = list[float](), list[np.ndarray]()
    for rates, judged in _rates(wins, draws) if queries > 1 else ():
        fits.append(_fit(rates, judged, expected))
        drawn.append(_biases(rates, judged, fits[-1], pairs, reference.shape))
    limits = around_estimate(np.log(shape), np.log(fits), tuple(np.log(SHAPES)))
    margin = NORMAL * np.std(drawn, axis=0, ddof=1) if len(drawn) > 1 else np.nan
    return Decisiveness(
        shape,
        float(np.exp(limits.low)),
        float(np.exp(limits.high)),
        float(biases.std()),
        np.stack([biases, biases - margin, biases + margin]),
    )


def _rates(wins: list[np.ndarray], weights: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the win rates of all pairs by the reference and by the judge, for each draw."""
    step = max(1, _BLOCK // wins[0].shape[1])
    for start in range(0, len(weights), step):
        block = weights[start : start + step]
        yield from zip(*((block @ side + 1.0) / 2.0 for side in wins), strict=True)


def _fit(
    reference: np.ndarray, judge: np.ndarray, expected: np.ndarray, exactly: bool = False
) -> float:
    """Return the shape of least squares; if not `exactly`, the nearest of a grid.

    `expected` are the judge's win rates by shape of the grid and by win rate of the reference, of
    which there are few: pairs of the same win rate are added up.
    """
    places = np.rint(reference * (expected.shape[1] - 1)).astype(np.int64)
    pairs = np.bincount(places, minlength=expected.shape[1])
    sums = np.bincount(places, judge, minlength=expected.shape[1])
    best = int(((expected * pairs - 2.0 * sums) * expected).sum(axis=1).argmin())
    if not exactly:
        return float(_GRID[best])
    rates = np.linspace(0.0, 1.0, expected.shape[1])

    def squares(log_shape: float) -> float:
        shape = np.exp(log_shape)
        values = betainc(shape, shape, rates)
        return float(((values * pairs - 2.0 * sums) * values).sum())

    near = np.log(_GRID[[max(best - 1, 0), min(best + 1, len(_GRID) - 1)]])
    least: Any = minimize_scalar(squares, bounds=near, options={"xatol": 1e-9})
    return float(np.exp(least.x))


def _biases(
    reference: np.ndarray,
    judge: np.ndarray,
    shape: float,
    pairs: tuple[np.ndarray, ...],
    size: tuple[int, int],
) -> np.ndarray:
    """Return the mean residual of each system over all others: float64 [system].

    `size` are the numbers of queries, of which win rates are multiples, and of systems.
    """
    queries, systems = size
    rates = np.linspace(0.0, 1.0, 2 * queries + 1)
    expected = betainc(shape, shape, rates)[np.rint(reference * 2 * queries).astype(np.int64)]
    residuals = judge - expected
    sums = np.bincount(pairs[0], residuals, systems) - np.bincount(pairs[1], residuals, systems)
    return sums / (systems - 1)
