"""Slow, obvious twins of preferences between systems, by Diaz and Ferraro 2022.

Written from the paper; they share no code with irmeta.
"""

from collections.abc import Sequence
from fractions import Fraction

CORPUS = 10**12
"""n: how many items the corpus has, more than any list."""


def positions(ranks: Sequence[int], m: int) -> list[int]:
    """f_1 to f_m of a ranking: Section 3.1.

    `ranks` are those of the relevant items that the system retrieves. The others of the m stand in
    the last places of the corpus: "we treat these items as ranked [...] at the end of the total
    corpus ranking" (Section 3).
    """
    omitted = m - len(ranks)
    return sorted(ranks) + [CORPUS - omitted + j for j in range(1, omitted + 1)]


def sgn(x: int) -> int:
    return 1 if x > 0 else -1 if x < 0 else 0


def wins_less_losses(own: Sequence[int], other: Sequence[int], m: int) -> int:
    """m times Eq. 4 with p(i) = 1/m: by how many i more the first is preferred to the second."""
    f, g = positions(own, m), positions(other, m)
    return sum(sgn(g[i] - f[i]) for i in range(m))


def rpp(own: Sequence[int], other: Sequence[int], m: int) -> Fraction:
    """RPP(own, other) of Eq. 4; positive where `own` is preferred."""
    return Fraction(wins_less_losses(own, other, m), m)


def all_wins_less_losses(systems: Sequence[Sequence[int]], m: int) -> list[list[int]]:
    """For all pairs: [own][other]."""
    return [[wins_less_losses(own, other, m) for other in systems] for own in systems]
