"""Volatility of an ordering of systems as the evaluation depth changes."""

from __future__ import annotations

import numpy as np

from irmeta.errors import UsageError
from irmeta.stats.correlation import Method, Ties, correlate_arrays
from irmeta.stats.orders import round_means


def volatility(
    means: np.ndarray,
    others: np.ndarray | None = None,
    method: Method = "tau-b",
    *,
    p: float = 0.9,
    ties: Ties = "a",
) -> np.ndarray:
    """Correlate the orderings of systems at all pairs of evaluation depths.

    Parameters
    ----------
    means : ndarray of float64, shape (cutoffs, systems)
        Mean of each system at each cutoff; greater is better, NaN undefined. Where the queries
        differ by the pair of cutoffs, both arrays are (cutoffs, other cutoffs, systems).
    others : ndarray of float64, shape (other cutoffs, systems), optional
        Means of another measure; default the same.
    method, p, ties
        As for `correlate`.

    Returns
    -------
    ndarray of float64, shape (cutoffs, other cutoffs)
        T[i, j], the correlation of the ordering at cutoff i with that at cutoff j. NaN where an
        ordering ties all systems.

    Raises
    ------
    UsageError
        If the arrays are not matrices of the same systems, or the method is unknown.

    Notes
    -----
    Means that agree in 12 significant digits of the greatest mean are equal.

    References
    ----------
    .. [1] Lu, Moffat and Culpepper (2016), Section 3 and Figures 5 to 7.
       doi:10.1007/s10791-016-9282-6

    Examples
    --------
    >>> means = np.array([[0.9, 0.5, 0.1], [0.8, 0.6, 0.2], [0.5, 0.6, 0.2]])
    >>> irmeta.stats.volatility(means).round(2).tolist()
    [[1.0, 1.0, 0.33], [1.0, 1.0, 0.33], [0.33, 0.33, 1.0]]
    """
    x = np.asarray(means, np.float64)
    y = x if others is None else np.asarray(others, np.float64)
    is_paired = x.ndim == 3 and x.shape == y.shape
    if not is_paired and (x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]):
        raise UsageError(
            f"means of shapes {x.shape} and {y.shape} are not [cutoff, system] of the same systems."
        )
    first = _rounded(x)
    second = first if others is None else _rounded(y)
    values = correlate_arrays(first, second, is_paired, method, p, ties)
    return values.reshape(x.shape[:2]) if is_paired else values


def _rounded(means: np.ndarray) -> np.ndarray:
    """Return means [ordering, system], rounded."""
    rows = means.reshape(-1, means.shape[-1])
    return np.array([round_means(row) for row in rows]).reshape(rows.shape)
