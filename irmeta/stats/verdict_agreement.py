"""Per-query agreement of the preferences of several measures: paper 4, Section 6.1, Figure 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from irmeta.equality import signs
from irmeta.errors import UsageError
from irmeta.phrases import count
from irmeta.results.matrix import Matrix
from irmeta.results.verdicts import Preference, Source, Verdicts
from irmeta.stats.tables import as_matrix
from irmeta.summaries import Result, Summary

__all__ = [
    "OUTCOMES", "Agreement", "Preference", "Source", "agreement", "agreements", "unanimity",
]  # fmt: skip

OUTCOMES = ("same", "opposite", "tied_a", "tied_b", "tied_both")


@dataclass(frozen=True, repr=False)
class Agreement(Result):
    """Agreement of the preferences of two measures; a point is a query and a pair of systems.

    Attributes
    ----------
    counts : ndarray of int64, shape (5, queries)
        Points per outcome, in the order of `OUTCOMES`: both measures prefer the same system, they
        prefer different systems, only a ties, only b ties, both tie.
    pearson : float
        Correlation of the differences of all points; NaN where a measure has only ties.
    """

    measures: tuple[str, str]
    queries: tuple[str, ...]
    systems: int
    counts: np.ndarray
    pearson: float

    def _summary(self) -> Summary:
        facts = [f"sign agreement {self.sign_agreement:.4g}", count(self.points, "point")]
        return Summary(" and ".join(self.measures), facts)

    @property
    def points(self) -> int:
        """Number of points on which both measures are defined."""
        return int(self.counts.sum())

    @property
    def sign_agreement(self) -> float:
        """Share of points whose differences have the same sign, where 0 is a sign too.

        A tie of one measure alone is disagreement, as the paper's account of reciprocal rank
        implies ("the small number of unique RR values results in a number of ties"). A tie of both
        measures is agreement.
        """
        return self._share("same", "tied_both")

    @property
    def unanimity(self) -> float:
        """Share of points on which both measures prefer the same system."""
        return self._share("same")

    def frame(self) -> pl.DataFrame:
        """Return one row: measure_a, measure_b, sign_agreement, unanimity, opposite, tied_a, ...

        opposite, tied_a, tied_b, tied_both are shares of the points; tied_a and tied_b include the
        points on which both measures tie. queries: those with a point.
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
            "queries": int(self.counts.any(axis=0).sum()),
            "systems": self.systems,
        }
        return pl.DataFrame([row])

    def per_query(self) -> pl.DataFrame:
        """Return one row per query: query and its number of points of each outcome."""
        counts = dict(zip(OUTCOMES, self.counts, strict=True))
        return pl.DataFrame({"query": pl.Series(self.queries, dtype=pl.String), **counts})

    def _share(self, *outcomes: str) -> float:
        count = sum(int(self.counts[OUTCOMES.index(name)].sum()) for name in outcomes)
        return count / self.points if self.points else np.nan


def agreement(a: Source | object, b: Source | object) -> Agreement:
    """Compare the preferences of two measures on every query and pair of systems.

    Parameters
    ----------
    a, b : Matrix, Verdicts, Preference or frame
        Differences of values (positive where better), signs, or preferences such as RPP that are
        not differences of values; or tables of one measure, see `irmeta.matrices`. Only queries
        and systems that both have, by name, are used.

    Returns
    -------
    Agreement
        Counts of points on which both measures are defined; shares are NaN without points.

    Notes
    -----
    Differences of at most 1e-12 tie, as in `Verdicts`; an undecided verdict is a tie.

    The order within a pair of systems is arbitrary, but changes Pearson's correlation. The
    correlation is therefore taken over both directions of each pair, so that both means are 0 and
    the correlation is ``sum a b / sqrt(sum a^2 sum b^2)``: the limit of the paper's random pairs.

    One query is in memory at a time: under 0.5 GB for 2,000 systems.

    References
    ----------
    .. [1] Diaz and Ferraro (2022), Section 6.1, Figure 5. doi:10.1145/3477495.3532033

    Examples
    --------
    >>> result = irmeta.stats.agreement(ap, rr)
    >>> result.points, round(result.sign_agreement, 3)
    (12, 0.417)
    """
    first, second = _aligned([_source(a), _source(b)])
    counts = np.zeros((len(OUTCOMES), len(first[1])), np.int64)
    products = np.zeros(3)
    for column, (q, r) in enumerate(zip(first[1], second[1], strict=True)):
        x, y = _upper(first, q), _upper(second, r)
        known = ~(np.isnan(x) | np.isnan(y))
        if not known.all():
            x, y = x[known], y[known]
        counts[:, column] = _outcomes(x, y)
        with np.errstate(invalid="ignore"):
            products += x @ y, x @ x, y @ y
    names = _names((first[0].name, second[0].name), (a, b))
    queries = tuple(first[0].queries[q] for q in first[1])
    same, opposite, tied_a, tied_b, _ = counts.sum(axis=1)
    pearson = np.nan
    # Decided from counts, because differences that tie may be rounding instead of 0.
    if min(same + opposite + tied_a, same + opposite + tied_b) > 0:
        ab, aa, bb = products
        with np.errstate(invalid="ignore"):  # infinite differences
            pearson = float(np.clip(ab / np.sqrt(aa) / np.sqrt(bb), -1.0, 1.0))
    return Agreement(names, queries, len(first[2]), counts, pearson)


def _source(source: Source | object) -> Source:
    if isinstance(source, Matrix | Verdicts | Preference):
        return source
    return as_matrix(source)


def agreements(sources: Sequence[Source]) -> pl.DataFrame:
    """Compute `agreement` for all pairs of measures.

    Parameters
    ----------
    sources : sequence of Matrix, Verdicts or Preference
        The measures.

    Returns
    -------
    DataFrame
        `Agreement.frame`, one row per pair of measures, in the order given.

    Examples
    --------
    >>> irmeta.stats.agreements([ap, rr]).select("measure_a", "measure_b", "opposite").rows()
    [('AP', 'RR', 0.25)]
    """
    frames = [agreement(a, b).frame() for a, b in combinations(sources, 2)]
    if not frames:
        empty = np.zeros((len(OUTCOMES), 0), np.int64)
        return Agreement(("", ""), (), 0, empty, np.nan).frame().clear()
    return pl.concat(frames)


def unanimity(sources: Sequence[Source]) -> pl.DataFrame:
    """Compute how often several measures all prefer the same system.

    Parameters
    ----------
    sources : sequence of Matrix, Verdicts or Preference
        The measures: see `agreement`.

    Returns
    -------
    DataFrame
        One row: measures (their number), unanimous (share of points on which all prefer the same
        system), tied (share on which all tie), mixed (share of all other points), points, queries,
        systems. A point is a query and a pair of systems on which all measures are defined;
        queries are those with a point; shares are NaN without points.

    Raises
    ------
    UsageError
        If `sources` is empty.

    Examples
    --------
    >>> irmeta.stats.unanimity([ap, rr]).select("tied", "points").rows()
    [(0.0, 12)]
    """
    if not sources:
        raise UsageError("unanimity needs at least one measure.")
    sides = _aligned(sources)
    unanimous = tied = points = queries = 0
    for indices in zip(*(side[1] for side in sides), strict=True):
        signs = np.stack([_marked(_upper(side, q)) for side, q in zip(sides, indices, strict=True)])
        known = (signs != _UNDEFINED).all(axis=0)
        points += int(known.sum())
        queries += int(known.any())
        unanimous += int((signs == 1).all(axis=0).sum() + (signs == -1).all(axis=0).sum())
        tied += int((signs == 0).all(axis=0).sum())
    shares = [n / points if points else np.nan for n in (unanimous, tied)]
    row = {
        "measures": len(sides),
        "unanimous": shares[0],
        "tied": shares[1],
        "mixed": 1 - sum(shares),
        "points": points,
        "queries": queries,
        "systems": len(sides[0][2]),
    }
    return pl.DataFrame([row])


_UNDEFINED = 2  # stands for the sign of an undefined difference
_Side = tuple[Preference, list[int], np.ndarray]
"""A measure, and the indices of the queries and systems that all measures have."""


def _aligned(sources: Sequence[Source]) -> list[_Side]:
    """Align measures on the queries and systems that all have, in the order of the first."""
    all_of = [Preference.of(source) for source in sources]
    queries = _shared([p.queries for p in all_of])
    systems = _shared([p.systems for p in all_of])
    return [(p, q, np.array(s, np.int64)) for p, q, s in zip(all_of, queries, systems, strict=True)]


def _names(measures: tuple[str, str], sources: tuple[object, object]) -> tuple[str, str]:
    """Return the names of two measures; of one measure, with the qrels sets where these differ."""
    sets = [source.qrels for source in sources if isinstance(source, Matrix)]
    if measures[0] != measures[1] or len(sets) < 2 or "" in sets or sets[0] == sets[1]:
        return measures
    return f"{measures[0]} ({sets[0]})", f"{measures[1]} ({sets[1]})"


def _shared(names: list[tuple[str, ...]]) -> list[list[int]]:
    index_of = [{name: i for i, name in enumerate(side)} for side in names]
    common = [name for name in names[0] if all(name in indices for indices in index_of)]
    return [[indices[name] for name in common] for indices in index_of]


def _upper(side: _Side, query: int) -> np.ndarray:
    """Compute the differences of one query, each pair of systems once."""
    preference, _, systems = side
    difference = preference.difference(query)
    if not np.array_equal(systems, np.arange(len(preference.systems))):
        difference = difference[np.ix_(systems, systems)]
    return np.concatenate([row[i + 1 :] for i, row in enumerate(difference)] or [np.empty(0)])


def _marked(difference: np.ndarray) -> np.ndarray:
    sign = signs(difference)
    sign[np.isnan(difference)] = _UNDEFINED
    return sign


def _outcomes(x: np.ndarray, y: np.ndarray) -> list[int]:
    """Count the points of each of `OUTCOMES`."""
    a, b = signs(x), signs(y)
    product = a * b
    same, opposite = int((product > 0).sum()), int((product < 0).sum())
    untied = same + opposite
    tied_a = int(np.count_nonzero(b)) - untied
    tied_b = int(np.count_nonzero(a)) - untied
    return [same, opposite, tied_a, tied_b, len(x) - untied - tied_a - tied_b]
