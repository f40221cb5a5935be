"""Groups of systems without a significant difference."""

from __future__ import annotations

import numpy as np

MOST_GROUPS = 200


def indistinguishable_groups(
    separated: np.ndarray, most: int = MOST_GROUPS
) -> list[list[int]] | None:
    """Find the largest sets of systems in which no pair differs significantly.

    Two systems differ significantly exactly if no set has both, so that letters for the sets show
    the result of all tests.

    Parameters
    ----------
    separated : ndarray of bool, shape (systems, systems)
        Whether two systems differ significantly: see `Pairs.separated`; symmetric.
    most : int, default 200
        Largest number of sets; there may be exponentially many.

    Returns
    -------
    list of list of int, or None
        Indices of the systems of each set, ascending; sets by their first systems. None for more
        than `most` sets.

    References
    ----------
    .. [1] Piepho (2004). An algorithm for a letter-based representation of all-pairwise
       comparisons. doi:10.1198/1061860043515

    Examples
    --------
    >>> separated = np.zeros((3, 3), bool)
    >>> separated[0, 2] = separated[2, 0] = True
    >>> irmeta.stats.indistinguishable_groups(separated)
    [[0, 1], [1, 2]]
    """
    size = len(separated)
    groups = [(1 << size) - 1] if size else []  # bits of systems
    for a, b in np.argwhere(np.triu(separated, 1)).tolist():
        both = 1 << a | 1 << b
        split = [group for group in groups if group & both == both]
        whole = [group for group in groups if group & both != both]
        parts = {group & ~(1 << one) for group in split for one in (a, b)}
        others = [*whole, *parts]
        kept = [p for p in parts if not any(p | one == one != p for one in others)]
        groups = [*whole, *(p for p in kept if p not in whole)]
        if len(groups) > most:
            return None
    members = [[i for i in range(size) if group >> i & 1] for group in groups]
    return sorted(members)
