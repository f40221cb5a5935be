"""All runs of one track in the store's order, a group of queries at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from irmeta.kernels.lists import (
    FALLS,
    NEVER_RISES,
    RISES,
    count_tied,
    order_ties,
    ranks_fall,
)
from irmeta.policies import ReadPolicy, TieOrder
from irmeta.store.readers import TrackNames
from irmeta.store.reading import Run, rows_of
from irmeta.store.sources import Places, Sources
from irmeta.store.spill import InMemory
from irmeta.trec.ordering import ranks_from, sort_lists

LONGEST_TIE = 64  # rows that insertion sorts as fast as a general sort


@dataclass(frozen=True)
class Lists:
    """Ranked lists, by query, then system, each best first.

    Attributes
    ----------
    query, system
        int32: places among the track's names and its systems.
    starts
        int64 [lists + 1]: where the rows of each list begin.
    columns
        By row: doc (its place), score, position, rank_given.
    tied
        int64: how many rows of each list share their score, as float32, with another of it.
    """

    query: np.ndarray
    system: np.ndarray
    starts: np.ndarray
    columns: dict[str, np.ndarray]
    tied: np.ndarray


class TrackRows:
    """The rows of all systems, ordered under a policy when they are asked for.

    Attributes
    ----------
    queries, rows
        The places of all queries that some system has a list for, sorted; how many rows they have.
    own
        For each run the places of the queries of its lists.
    """

    def __init__(self, runs: list[Run], names: TrackNames, policy: ReadPolicy) -> None:
        self.runs, self.policy = runs, policy
        self._tables = [names.doc_places[run.reader] for run in runs]
        held = [run.columns for run in runs if isinstance(run.columns, InMemory)]
        self._whole = Sources.of(held, self._tables) if len(held) == len(runs) else None
        self.own = [names.query_places[run.reader][run.queries] for run in runs]
        query = np.concatenate(self.own)
        system = np.repeat(np.arange(len(runs)), [len(own) for own in self.own])
        order = np.lexsort((system, query))
        self._query, self._system = query[order], system[order]
        self._starts = np.concatenate([run.starts[:-1] for run in runs])[order]
        self._states = np.concatenate([run.states for run in runs])[order]
        self._lengths = np.concatenate([np.diff(run.starts) for run in runs])[order]
        kept = self._lengths if policy.depth is None else np.minimum(self._lengths, policy.depth)
        self.queries, which = np.unique(self._query, return_inverse=True)
        self.rows = np.bincount(which, kept).astype(np.int64)

    def deepest(self, run: Run) -> int:
        """The length of a run's longest list."""
        longest = int(np.diff(run.starts).max())
        return longest if self.policy.depth is None else min(longest, self.policy.depth)

    def kept(self, run: Run) -> int:
        """How many rows of a run are within the policy's depth."""
        depth = self.policy.depth
        return run.rows if depth is None else int(np.minimum(np.diff(run.starts), depth).sum())

    def lists(self, first: int, last: int) -> Lists:
        """The lists of the queries from place `first` up to `last`."""
        own = slice(*np.searchsorted(self._query, [first, last]).tolist())
        query, system = self._query[own], self._system[own]
        places = Places(system, self._starts[own], self._lengths[own])
        sources, places = self._found(places)
        read = sources.rows(places)
        whole = query, system.astype(np.int32), places.lengths, self._states[own]
        return _in_order(self.policy, *whole, read)

    def _found(self, places: Places) -> tuple[Sources, Places]:
        """Arrays that hold some lists, and where; those that wait in files are read."""
        if self._whole is not None:
            return self._whole, places
        columns, tables = [], []
        source, starts = np.empty_like(places.source), np.empty_like(places.starts)
        for index in np.unique(places.source).tolist():
            which = np.flatnonzero(places.source == index)
            which = which[np.argsort(places.starts[which])]
            ends = places.starts[which] + places.lengths[which]
            cuts = np.flatnonzero(places.starts[which][1:] != ends[:-1]) + 1
            for some in np.split(which, cuts):  # neighbours in the file are read at once
                begin = int(places.starts[some[0]])
                end = int(places.starts[some[-1]] + places.lengths[some[-1]])
                source[some], starts[some] = len(columns), places.starts[some] - begin
                columns.append(InMemory(self.runs[index].columns.rows(begin, end)))
                tables.append(self._tables[index])
        return Sources.of(columns, tables), Places(source, starts, places.lengths)


def _in_order(
    policy: ReadPolicy,
    query: np.ndarray,
    system: np.ndarray,
    lengths: np.ndarray,
    states: np.ndarray,
    read: dict[str, np.ndarray],
) -> Lists:
    """Lists as they were read, put in order; `states` as of `Run`."""
    starts = np.r_[0, np.cumsum(lengths)]
    for some in _unordered(policy.tie_order, starts, states, read):
        rows = rows_of(starts[some], lengths[some])
        lists = np.repeat(np.arange(len(some)), lengths[some])
        keys = (read[name][rows] for name in ("score", "doc", "position", "rank_given"))
        whence = rows[sort_lists(policy.tie_order, lists, *keys)]
        moved = rows != whence
        _move(read, rows[moved], whence[moved])
    columns = read
    if policy.depth is not None:
        kept = ranks_from(starts) <= policy.depth
        columns = {name: values[kept] for name, values in read.items()}
        lengths = np.minimum(lengths, policy.depth)
        starts = np.r_[0, np.cumsum(lengths)]
    tied = _tied_rows(policy.tie_order, starts, columns["score"], np.flatnonzero(states != FALLS))
    return Lists(query, system, starts, columns, tied)


def _move(columns: dict[str, np.ndarray], rows: np.ndarray, whence: np.ndarray) -> None:
    """Put other rows in the place of some, in every column."""
    for values in columns.values():
        values[rows] = values[whence]


def _unordered(
    order: TieOrder, starts: np.ndarray, states: np.ndarray, read: dict[str, np.ndarray]
) -> list[np.ndarray]:
    """The lists that must be sorted, in portions that are best sorted together.

    Scores that strictly fall as float32 are in order under every order by score, float64 too.
    Under ``trec_eval`` ties are ordered here, in place, but for very long ones.
    """
    if order == "file":
        return []
    if order == "rank":
        fall = np.empty(len(states), bool)
        ranks_fall(starts, read["rank_given"], fall)
        found = [np.flatnonzero(fall)]
    else:
        with_ties = np.flatnonzero(states == NEVER_RISES)
        if order == "trec_eval":
            (rows, whence), left = np.empty((2, starts[-1]), np.int64), np.empty(len(states), bool)
            keys = read["score"], read["doc"]
            count = order_ties(starts, with_ties, *keys, LONGEST_TIE, rows, whence, left)
            _move(read, rows[:count], whence[:count])
            with_ties = with_ties[left[: len(with_ties)]]
        found = [with_ties, np.flatnonzero(states == RISES)]
    return [some for some in found if len(some)]


def _tied_rows(
    order: TieOrder, starts: np.ndarray, score: np.ndarray, which: np.ndarray
) -> np.ndarray:
    """For each list how many rows share their score, as float32, with another of it.

    Lists that are not in `which` have none.
    """
    tied = np.zeros(len(starts) - 1, np.int64)
    if order in ("file", "rank"):  # tied docs may lie apart
        score = score.copy()
        for one in which:
            score[starts[one] : starts[one + 1]].sort()
    count_tied(starts, which, score, tied)
    return tied
