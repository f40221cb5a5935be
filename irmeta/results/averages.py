"""One value of many queries' values: the averages over queries."""

from __future__ import annotations

import numpy as np

from irmeta.errors import UsageError, check_choice

GEOMETRIC_FLOOR = 1e-5  # trec_eval's MIN_GEO_MEAN


def average(
    how: str, values: np.ndarray, counted: np.ndarray, difficulty: np.ndarray | None = None
) -> np.ndarray:
    """Average over the last axis but one, queries.

    Parameters
    ----------
    how
        ``arithmetic``; ``geometric``: the exponential of the mean logarithm, values below 1e-5
        counted as 1e-5, as trec_eval's gm_map; ``harmonic``: 0 where a value is 0 (both mean
        something only for values of at least 0); ``median``; ``sum``; ``difficulty``: weighted by
        `difficulty`, 1 - the mean AP (rel=1) of all systems for a query, as NMAP (Mizzaro 2008,
        The Good, the Bad, the Difficult, and the Easy, ECIR).
    values
        float64 [..., query, system].
    counted
        bool, of the same shape: which values it averages. Where that is none it is NaN, and 0 for
        ``sum``.
    difficulty
        float64 [query]. The weights are normalised to the sum 1 over the queries averaged; where
        all of them are 0, it is NaN.

    Raises
    ------
    UsageError
        If `how` is none of these.
    """
    check_choice("average", how, _BY_NAME)
    if how == "sum":
        return np.where(counted, values, 0.0).sum(axis=-2)
    if how == "difficulty":
        if difficulty is None:
            raise UsageError("average = 'difficulty' needs the difficulty of each query.")
        weights = np.where(counted, difficulty[:, None], 0.0)
        return _over((np.where(counted, values, 0.0) * weights).sum(axis=-2), weights.sum(axis=-2))
    return _BY_NAME[how](values, counted)


def _over(total: np.ndarray, number: np.ndarray) -> np.ndarray:
    out = np.full(np.shape(total), np.nan)
    return np.divide(total, number, out=out, where=number > 0)


def _arithmetic(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    return _over(np.where(counted, values, 0.0).sum(axis=-2), counted.sum(axis=-2))


def _geometric(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    return np.exp(_arithmetic(np.log(np.fmax(values, GEOMETRIC_FLOOR)), counted))


def _harmonic(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        slowness = _arithmetic(1.0 / np.where(counted, values, 1.0), counted)
        return 1.0 / slowness


def _median(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    ordered = np.sort(np.where(counted, values, np.nan), axis=-2)  # NaN last
    number = counted.sum(axis=-2, keepdims=True)
    low = np.take_along_axis(ordered, np.maximum(number - 1, 0) // 2, axis=-2)
    high = np.take_along_axis(ordered, np.minimum(number // 2, ordered.shape[-2] - 1), axis=-2)
    return np.where(number > 0, (low + high) / 2.0, np.nan).squeeze(axis=-2)


_BY_NAME = {
    "arithmetic": _arithmetic,
    "geometric": _geometric,
    "harmonic": _harmonic,
    "median": _median,
    "sum": None,
    "difficulty": None,
}
