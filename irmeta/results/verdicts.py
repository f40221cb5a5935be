"""Comparisons of all pairs of systems on each query: `Verdicts` and `Preference`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import get_args

import numpy as np
import polars as pl

from irmeta import equality
from irmeta.equality import TIE, of_pairs
from irmeta.errors import UsageError, check_choice
from irmeta.phrases import count
from irmeta.policies import Opponents
from irmeta.results.matrix import Matrix
from irmeta.schema.result_tables import PREFERENCES, PREFERENCES_BY_QUERY
from irmeta.summaries import Result, Summary


@dataclass(frozen=True)
class Verdicts:
    """Per-query comparisons of all pairs of systems.

    Attributes
    ----------
    sign
        Function from the index of a query to int8 [system, system], antisymmetric: 1 where the
        row's system is better than the column's, -1 where worse, 0 where they tie or either has no
        value. One query is computed at a time: 2,000 systems x 50 queries would take 0.2 GB.
    values
        If verdicts compare values, these: float64 [query, system], greater is better.
    tolerances
        Largest difference of these values that is a tie: see `Matrix.tolerances`.
    """

    queries: tuple[str, ...]
    systems: tuple[str, ...]
    sign: Callable[[int], np.ndarray]
    name: str = ""
    track: str = ""
    values: np.ndarray | None = field(default=None, compare=False, repr=False)
    tolerances: np.ndarray | None = field(default=None, compare=False, repr=False)

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self.sign(q) for q in range(len(self.queries)))

    @classmethod
    def of(cls, matrix: Matrix) -> Verdicts:
        """Compare the values of a matrix, in the measure's direction."""
        values, within = matrix.oriented, of_pairs(matrix.tolerances)

        def sign(query: int) -> np.ndarray:
            with np.errstate(invalid="ignore"):  # of two infinities
                return equality.signs(values[query][:, None] - values[query], within)

        labels = (matrix.measure, matrix.track)
        return cls(matrix.queries, matrix.systems, sign, *labels, values, matrix.tolerances)


@dataclass(frozen=True)
class Preference:
    """Differences between all pairs of systems for every query.

    Preferences need not be differences of values: those of RPP are none.

    Parameters
    ----------
    name : str
        The measure.
    queries : tuple of str
        Names of the queries.
    systems : tuple of str
        Names of the systems.
    difference : callable
        Function from the index of a query to a float64 array of shape (systems, systems). The
        array is antisymmetric, positive where the row's system is better, and NaN where a
        preference is undefined. One query at a time is computed, as with `Verdicts.sign`.
    """

    name: str
    queries: tuple[str, ...]
    systems: tuple[str, ...]
    difference: Callable[[int], np.ndarray]

    @classmethod
    def of(cls, source: Source) -> Preference:
        """Return the preferences that a matrix, verdicts or preferences hold.

        Parameters
        ----------
        source : Matrix, Verdicts or Preference
            A matrix gives the differences of its values, in the direction that is better, 0 where
            these are equal by `irmeta.equality`; verdicts
            give their signs; preferences are returned as they are.

        Returns
        -------
        Preference
        """
        if isinstance(source, Preference):
            return source
        if isinstance(source, Verdicts):
            signs = source.sign
            return cls(
                source.name, source.queries, source.systems, lambda q: signs(q).astype(np.float64)
            )
        values, within = source.oriented, of_pairs(source.tolerances)

        def difference(query: int) -> np.ndarray:
            with np.errstate(invalid="ignore"):  # infinity minus infinity is undefined too
                difference = values[query][:, None] - values[query]
            difference[np.abs(difference) <= within] = 0.0
            return difference

        return cls(source.measure, source.queries, source.systems, difference)

    def tie_counts(self) -> tuple[int, int]:
        """Count the points, pairs of systems on a query with a preference, and the tied points."""
        upper = np.triu_indices(len(self.systems), 1)
        points = tied = 0
        for query in range(len(self.queries)):
            values = self.difference(query)[upper]
            points += int(np.count_nonzero(~np.isnan(values)))
            tied += int(np.count_nonzero(np.abs(values) <= TIE))
        return points, tied


Source = Matrix | Verdicts | Preference
"""What preferences can be made of."""


@dataclass(frozen=True)
class BlockPreferences:
    """Preferences between all pairs of systems on a block of queries.

    Subclasses compute sums and win rates without the matrix of each query.

    Attributes
    ----------
    defined
        bool [queries]: whether the query has a preference, that is, a relevant doc.
    systems
        Number of systems.
    difference
        Function from the index of a defined query to float64 [systems, systems], antisymmetric,
        positive where the row's system is better.
    """

    defined: np.ndarray
    systems: int
    difference: Callable[[int], np.ndarray]

    def add_to(self, total: np.ndarray) -> None:
        """Add the preferences of all defined queries, one by one, to float64 [systems, systems]."""
        for query in np.flatnonzero(self.defined).tolist():
            total += self.difference(query)

    def win_rates(self, opponents: np.ndarray) -> np.ndarray:
        """Sum the preferences over each system's opponents.

        Parameters
        ----------
        opponents
            float64 [systems]: weight of each system as an opponent.

        Returns
        -------
        float64 [queries, systems]; NaN for queries that are not defined.
        """
        out = np.full((len(self.defined), self.systems), np.nan)
        for query in np.flatnonzero(self.defined).tolist():
            # A matrix product would depend on the number of threads of the BLAS library.
            out[query] = (self.difference(query) * opponents).sum(axis=1)
        return out

    def level_counts(self) -> tuple[int, int, int] | None:
        """Count all recall levels of all pairs, those that either list reaches, and those decided.

        None: the preference does not compare recall levels one by one.
        """
        return None


@dataclass(frozen=True)
class SomeQueries(BlockPreferences):
    """Preferences on some of the queries of another block: those that are `defined` here."""

    block: BlockPreferences

    def win_rates(self, opponents: np.ndarray) -> np.ndarray:
        """Sum the preferences over opponents; NaN for all other queries."""
        rates = self.block.win_rates(opponents)
        rates[~self.defined] = np.nan
        return rates


@dataclass(frozen=True, repr=False)
class TrackPreferences(Result):
    """One preference between all pairs of systems, for the judged queries of a track.

    Attributes
    ----------
    name
        Canonical name of the preference.
    track, systems
        Names.
    groups
        For each system its participant, None if unknown; empty if unknown for all systems.
    blocks
        Names of the queries and preferences of each block, in query order.
    """

    name: str
    track: str
    systems: Sequence[str]
    groups: Sequence[str | None]
    blocks: tuple[tuple[tuple[str, ...], BlockPreferences], ...]

    def _summary(self) -> Summary:
        compared = f"{int(self.defined.sum()):,} of {count(len(self.queries), 'query')}"
        facts = [count(len(self.systems), "system"), compared]
        return Summary(f"{self.name} on {self.track}", facts)

    def _table(self) -> pl.DataFrame:
        rates = self.win_rates()
        frame = pl.DataFrame({"system": rates.systems, "win_rate": rates.means})
        return frame.sort("win_rate", descending=True, nulls_last=True)

    @cached_property
    def queries(self) -> tuple[str, ...]:
        """Names of all judged queries."""
        return tuple(query for queries, _ in self.blocks for query in queries)

    @cached_property
    def defined(self) -> np.ndarray:
        """Whether each query has a preference: bool [queries]."""
        return np.concatenate([np.empty(0, bool), *(block.defined for _, block in self.blocks)])

    @property
    def compared_queries(self) -> tuple[str, ...]:
        """Names of the queries that have a preference."""
        return tuple(q for q, defined in zip(self.queries, self.defined, strict=True) if defined)

    def only_queries(self, queries: Collection[str]) -> TrackPreferences:
        """Return the preferences on some queries by name; all others become undefined."""
        blocks: list[tuple[tuple[str, ...], BlockPreferences]] = []
        for block_queries, block in self.blocks:
            is_selected = block.defined & np.array([q in queries for q in block_queries], bool)
            selected = SomeQueries(is_selected, block.systems, block.difference, block)
            blocks.append((block_queries, selected))
        return replace(self, blocks=tuple(blocks))

    def differences(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield each defined query and its preferences: float64 [systems, systems]."""
        for queries, block in self.blocks:
            for query in np.flatnonzero(block.defined).tolist():
                yield queries[query], block.difference(query)

    def means(self) -> np.ndarray:
        """Compute the mean preference over defined queries: float64 [systems, systems].

        Row's system over column's; NaN without a defined query.
        """
        total = np.zeros((len(self.systems),) * 2)
        for _, block in self.blocks:
            block.add_to(total)
        number = int(self.defined.sum())
        return total / number if number else np.full_like(total, np.nan)

    def opponents(self, by_group: bool = False) -> np.ndarray:
        """Return the weight of each system as an opponent: float64 [systems].

        1, or 1 / the systems of its group. Systems without a group are groups of their own.
        """
        weights = np.ones(len(self.systems))
        if by_group and len(self.groups):
            runs = {group: self.groups.count(group) for group in set(self.groups)}
            weights /= [1 if group is None else runs[group] for group in self.groups]
        return weights

    def win_rates(self, *, by_group: bool = False) -> Matrix:
        """Compute the mean preference over each system's opponents.

        Parameters
        ----------
        by_group
            Whether all systems of a group together weigh as much as one system.

        Returns
        -------
        Matrix
            Values [query, system]: the win rate (Diaz and Ferraro 2022, Eq. 7) over its greatest
            value, S - 1 for S systems. NaN: no relevant doc, or no other system.
        """
        opponents = self.opponents(by_group)
        most = opponents.sum() - opponents
        empty = np.empty((0, len(self.systems)))
        rates = np.concatenate([empty, *(block.win_rates(opponents) for _, block in self.blocks)])
        values = np.divide(rates, most, out=np.full_like(rates, np.nan), where=most > 0)
        return Matrix(values, self.queries, tuple(self.systems), self.name, self.track)

    def level_counts(self) -> tuple[int, int, int] | None:
        """Sum `BlockPreferences.level_counts` over the queries."""
        counts = [block.level_counts() for _, block in self.blocks]
        known = [numbers for numbers in counts if numbers is not None]
        if len(known) < len(counts):
            return None
        every, retrieved, decided = (sum(numbers[i] for numbers in known) for i in range(3))
        return every, retrieved, decided

    def preference(self) -> Preference:
        """Return the differences of all pairs on each query, for statistics."""
        starts = np.cumsum([0, *(len(queries) for queries, _ in self.blocks)])
        systems = tuple(self.systems)

        def difference(query: int) -> np.ndarray:
            block = int(np.searchsorted(starts, query, side="right")) - 1
            verdicts, index = self.blocks[block][1], query - int(starts[block])
            if not verdicts.defined[index]:
                return np.full((len(systems),) * 2, np.nan)
            return verdicts.difference(index)

        return Preference(self.name, self.queries, systems, difference)

    def frame(self) -> pl.DataFrame:
        """Return one row per ordered pair of systems: see irmeta.schema, `preferences`."""
        number = int(self.defined.sum())
        return PREFERENCES.frame(
            self._pairs(self.means()).with_columns(queries=pl.lit(number, pl.Int32))
        )

    def per_query(self) -> pl.DataFrame:
        """Return one row per defined query and ordered pair of systems."""
        frames = [
            self._pairs(values).with_columns(query=pl.lit(query))
            for query, values in self.differences()
        ]
        if not frames:
            return PREFERENCES_BY_QUERY.empty()
        rows = PREFERENCES_BY_QUERY.frame(pl.concat(frames))
        return rows.sort("system", "query", "other", maintain_order=True)

    def _pairs(self, values: np.ndarray) -> pl.DataFrame:
        size = len(values)
        others = ~np.eye(size, dtype=bool)
        index, systems = np.arange(size, dtype=np.uint32), pl.Series(self.systems, dtype=pl.String)
        system = systems.gather(np.repeat(index, max(0, size - 1))) if size > 1 else systems.clear()
        opponents = (
            systems.gather(np.broadcast_to(index, others.shape)[others]) if size > 1 else system
        )
        # Literals last: polars holds them as one value, not as millions.
        return pl.DataFrame(
            {"value": values[others], "system": system, "other": opponents}
        ).with_columns(track=pl.lit(self.track), preference=pl.lit(self.name))


def check_opponents(opponents: str) -> None:
    """Check that `opponents` is a known choice."""
    check_choice("opponents", opponents, get_args(Opponents))


def rates_of(found: TrackPreferences, opponents: Opponents) -> Matrix:
    """Return the win rates [query, system] of a preference as a `Matrix`.

    Raises UsageError if no group of the track is known, and opponents are groups.
    """
    by_group = opponents == "groups"
    if by_group and not any(found.groups):
        raise UsageError(
            f"track {found.track!r} names no groups: declare them in collection.toml, or use "
            "opponents=systems."
        )
    return found.win_rates(by_group=by_group)
