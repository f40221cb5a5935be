"""Orders of subsets of systems, where the values of a system depend on the others: Algorithm 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from math import comb

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_whole
from irmeta.stats.orders import kendall_tau_b, round_means
from irmeta.stats.query_sets import draw_query_sets

Means = Callable[[np.ndarray], np.ndarray]
"""Function from bool [draws, systems] to float64 [measures, draws, systems]; NaN: not drawn."""


def system_subsets(
    means_of: Means,
    measures: Sequence[str],
    systems: int,
    sizes: Iterable[int],
    draws: int = 1000,
    *,
    rng: int | np.random.Generator = 0,
) -> pl.DataFrame:
    """Correlate the order of some systems on their own with their order among all systems.

    Parameters
    ----------
    means_of : callable
        Function from the systems of many draws, bool [draws, systems], to the means of each measure
        as if only they had taken part: float64 [measures, draws, systems], where systems that are
        not in a draw have any value. Greater values are better.
    measures : sequence of str
        Names of the measures.
    systems : int
        Number of systems.
    sizes : iterable of int
        Numbers of systems to draw.
    draws : int, default 1000
        Random sets of systems of each size. If there are at most as many sets of a size, each of
        them is taken once instead.
    rng : int or Generator, default 0
        Random seed.

    Returns
    -------
    DataFrame
        size, replicate, measure, systems, tau: as returned by `resample`, by size, then measure.
        tau is tau-b, NaN if all systems of a draw tie in either order. Means that are equal to 12
        significant digits tie.

    Raises
    ------
    UsageError
        If a size is not between 1 and the number of systems, or `draws` is not at least 1.

    References
    ----------
    .. [1] Tuerkmen, Lease and Kutlu (2023), Algorithm 1: a draw of two tied systems has no tau; the
       released code then has none at all. doi:10.1007/978-3-031-28238-6_16

    Examples
    --------
    >>> def rank_all(members):
    ...     return np.broadcast_to(ap.means, (1, *members.shape))
    >>> irmeta.stats.system_subsets(rank_all, ["AP"], 3, [2])["tau"].to_list()
    [1.0, 1.0, 1.0]
    """
    check_whole("draws", draws)
    checked = [check_whole("size", size) for size in sizes]
    if not checked or max(checked) > systems:
        raise UsageError(f"sizes {checked}: give numbers of systems from 1 to all {systems}.")
    whole = round_means(means_of(np.ones((1, systems), bool))[:, 0])
    frames = list[pl.DataFrame]()
    for size, chosen in _subsets(systems, checked, draws, rng):
        rows = np.arange(len(chosen))[:, None]
        members = np.zeros((len(chosen), systems), bool)
        members[rows, chosen] = True
        for measure, all_means, means in zip(measures, whole, means_of(members), strict=True):
            drawn = round_means(means[rows, chosen])
            frames.append(
                pl.DataFrame(
                    {
                        "size": np.full(len(chosen), size, np.int32),
                        "replicate": np.arange(len(chosen), dtype=np.int32),
                        "measure": [measure] * len(chosen),
                        "systems": np.full(len(chosen), size, np.int32),
                        "tau": kendall_tau_b(all_means[chosen], drawn, True),
                    }
                )
            )
    return pl.concat(frames)


def is_enumerated(systems: int, size: int, draws: int) -> bool:
    """Check whether `system_subsets` takes every set of a size once."""
    return comb(systems, size) <= draws


def _subsets(
    systems: int, sizes: Iterable[int], draws: int, rng: int | np.random.Generator
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each size with the indices of the systems of its sets: int64 [draws, size]."""
    seed = int(np.random.default_rng(rng).integers(2**62))
    for size in sizes:
        if is_enumerated(systems, size, draws):
            yield size, np.array([*combinations(range(systems), size)], np.int64)
        else:
            # Neither more draws nor other sizes change the first draws of a size.
            own = np.random.default_rng((seed, size))
            yield size, np.sort(draw_query_sets(systems, size, 1, draws, own)[:, 0])
