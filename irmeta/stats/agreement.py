"""Whether measures prefer the same systems, query by query: paper 4, Section 6.1 and Figure 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from irmeta.errors import UsageError
from irmeta.results.preference import Preference, Source
from irmeta.results.verdicts import TIE

__all__ = [
    "OUTCOMES",
    "Agreement",
    "Preference",
    "Source",
    "agreement",
    "agreements",
    "unanimity",
]

OUTCOMES = ("same", "opposite", "tied_a", "tied_b", "tied_both")


@dataclass(frozen=True)
class Agreement:
    """How the preferences of two measures compare: a point is a query and two systems.

    Attributes
    ----------
    counts
        int64 [5, query]: points on which both prefer the same system; on which they prefer
        different ones; on which only a ties; only b ties; both do: `OUTCOMES`.
    pearson
        Correlation of the differences of all points; NaN where either has none but ties.
    """

    measures: tuple[str, str]
    queries: tuple[str, ...]
    systems: int
    counts: np.ndarray
    pearson: float

    @property
    def points(self) -> int:
        """On how many points both are defined."""
        return int(self.counts.sum())

    @property
    def sign_agreement(self) -> float:
        """The share of points whose differences have the same sign, 0 being a sign as well.

        So a tie of one measure alone is disagreement, which is what the paper's account of
        reciprocal rank implies ("the small number of unique RR values results in a number of
        ties"), and a tie of both is agreement.
        """
        return self._share("same", "tied_both")

    @property
    def unanimity(self) -> float:
        """The share of points on which both prefer the same system."""
        return self._share("same")

    def frame(self) -> pl.DataFrame:
        """One row: measure_a, measure_b, sign_agreement, unanimity, opposite, tied_a, ...

        opposite, tied_a, tied_b, tied_both are shares of the points, tied_a and tied_b with those
        that both tie.
        """
        row = {
            "measure_a": self.measures[0],
            "measure_b": self.measures[1],
            "sign_agreement": self.sign_agreement,
            "unanimity": self.unanimity,
            "opposite": self._share("opposite"),
            "tied_a": self._share("tied_a", "tied_both"),
            "tied_b": self._share("tied_b", "tied_both"),
            "tied_both": self._share("tied_both"),
            "pearson": self.pearson,
            "points": self.points,
            "queries": len(self.queries),
            "systems": self.systems,
        }
        return pl.DataFrame([row])

    def per_query(self) -> pl.DataFrame:
        """A row for each query: query and its number of points of each outcome."""
        counts = dict(zip(OUTCOMES, self.counts, strict=True))
        return pl.DataFrame({"query": pl.Series(self.queries, dtype=pl.String), **counts})

    def _share(self, *outcomes: str) -> float:
        found = sum(int(self.counts[OUTCOMES.index(name)].sum()) for name in outcomes)
        return found / self.points if self.points else np.nan


def agreement(a: Source, b: Source) -> Agreement:
    """Compare the preferences of two measures on every query and pair of systems.

    Parameters
    ----------
    a, b
        A `Matrix` (differences of its values, in the direction that is better), `Verdicts` (signs),
        or a `Preference`, for preferences that are not differences of values, as RPP's. The queries
        and systems that both have, by name, are used.

    Notes
    -----
    Differences of no more than 1e-12 tie, as in `Verdicts`; what verdicts do not decide is a tie.
    Points on which either measure is undefined are left out.

    A pair of systems has no natural first, and the choice would change Pearson's correlation: it is
    taken over both directions of each pair, so that both means are 0 and it is
    ``sum a b / sqrt(sum a^2 sum b^2)``. The paper draws random pairs, of which this is the limit.

    A query at a time is in memory: under 0.5 GB for 2,000 systems.
    """
    first, second = _aligned([a, b])
    counts = np.zeros((len(OUTCOMES), len(first[1])), np.int64)
    products = np.zeros(3)
    for place, (q, r) in enumerate(zip(first[1], second[1], strict=True)):
        x, y = _upper(first, q), _upper(second, r)
        known = ~(np.isnan(x) | np.isnan(y))
        if not known.all():
            x, y = x[known], y[known]
        counts[:, place] = _outcomes(x, y)
        with np.errstate(invalid="ignore"):
            products += x @ y, x @ x, y @ y
    names = (first[0].name, second[0].name)
    queries = tuple(first[0].queries[q] for q in first[1])
    same, opposite, tied_a, tied_b, _ = counts.sum(axis=1)
    # Counts decide, for differences that tie may be rounding and not 0.
    varied = min(same + opposite + tied_a, same + opposite + tied_b) > 0
    return Agreement(names, queries, len(first[2]), counts, _cosine(products) if varied else np.nan)


def agreements(sources: Sequence[Source]) -> pl.DataFrame:
    """`agreement` of every two of several measures: a row for each pair, in their order."""
    frames = [agreement(a, b).frame() for a, b in combinations(sources, 2)]
    if not frames:
        empty = np.zeros((len(OUTCOMES), 0), np.int64)
        return Agreement(("", ""), (), 0, empty, np.nan).frame().clear()
    return pl.concat(frames)


def unanimity(sources: Sequence[Source]) -> pl.DataFrame:
    """How often several measures all prefer the same system.

    Returns
    -------
    DataFrame
        One row: measures (how many), unanimous (the share of points on which all prefer the same
        system), tied (on which all tie), mixed (the rest), points, queries, systems. A point is a
        query and two systems on which all are defined; shares are NaN where there is none.

    Raises
    ------
    UsageError
        Without a measure.
    """
    if not sources:
        raise UsageError("unanimity needs a measure.")
    sides = _aligned(sources)
    unanimous = tied = points = 0
    for places in zip(*(side[1] for side in sides), strict=True):
        signs = np.stack([_marked(_upper(side, q)) for side, q in zip(sides, places, strict=True)])
        known = (signs != _UNDEFINED).all(axis=0)
        points += int(known.sum())
        unanimous += int((signs == 1).all(axis=0).sum() + (signs == -1).all(axis=0).sum())
        tied += int((signs == 0).all(axis=0).sum())
    shares = [n / points if points else np.nan for n in (unanimous, tied)]
    row = {
        "measures": len(sides),
        "unanimous": shares[0],
        "tied": shares[1],
        "mixed": 1 - sum(shares),
        "points": points,
        "queries": len(sides[0][1]),
        "systems": len(sides[0][2]),
    }
    return pl.DataFrame([row])


_UNDEFINED = 2  # in place of a sign
_Side = tuple[Preference, list[int], np.ndarray]
"""A measure, and the places of the queries and systems that all have."""


def _aligned(sources: Sequence[Source]) -> list[_Side]:
    """Every measure with the places of what all have, in the order of the first."""
    all_of = [Preference.of(source) for source in sources]
    queries = _shared([p.queries for p in all_of])
    systems = _shared([p.systems for p in all_of])
    return [(p, q, np.array(s, np.int64)) for p, q, s in zip(all_of, queries, systems, strict=True)]


def _shared(names: list[tuple[str, ...]]) -> list[list[int]]:
    places = [{name: i for i, name in enumerate(own)} for own in names]
    kept = [name for name in names[0] if all(name in own for own in places)]
    return [[own[name] for name in kept] for own in places]


def _upper(side: _Side, query: int) -> np.ndarray:
    """The differences of one query, each pair of systems once."""
    preference, _, systems = side
    difference = preference.difference(query)
    if not np.array_equal(systems, np.arange(len(preference.systems))):
        difference = difference[np.ix_(systems, systems)]
    return np.concatenate([row[i + 1 :] for i, row in enumerate(difference)] or [np.empty(0)])


def _cosine(products: np.ndarray) -> float:
    ab, aa, bb = products
    with np.errstate(invalid="ignore"):  # infinite differences
        return float(np.clip(ab / np.sqrt(aa) / np.sqrt(bb), -1.0, 1.0))


def _sign(difference: np.ndarray) -> np.ndarray:
    """int8: -1, 0 or 1; 0 within `TIE`, and where it is NaN."""
    return (difference > TIE).astype(np.int8) - (difference < -TIE).astype(np.int8)


def _marked(difference: np.ndarray) -> np.ndarray:
    sign = _sign(difference)
    sign[np.isnan(difference)] = _UNDEFINED
    return sign


def _outcomes(x: np.ndarray, y: np.ndarray) -> list[int]:
    """How many points have each of `OUTCOMES`."""
    a, b = _sign(x), _sign(y)
    product = a * b
    same, opposite = int((product > 0).sum()), int((product < 0).sum())
    untied = same + opposite
    tied_a = int(np.count_nonzero(b)) - untied
    tied_b = int(np.count_nonzero(a)) - untied
    return [same, opposite, tied_a, tied_b, len(x) - untied - tied_a - tied_b]
