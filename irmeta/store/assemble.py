"""All runs of one track in the store's order, a group of queries at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from irmeta.policies import ReadPolicy
from irmeta.store.readers import TrackNames
from irmeta.store.reading import Run
from irmeta.store.sources import Places, Sources
from irmeta.store.spill import InMemory
from irmeta.trec.list_order import order_lists, tied_rows
from irmeta.trec.ordering import ranks_from


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
    columns: dict[str, np.ndarray],
) -> Lists:
    """Put lists as they were read in order, and cut them; `states` as of `Run`."""
    starts = np.r_[0, np.cumsum(lengths)]
    order_lists(policy.tie_order, starts, states, columns)
    if policy.depth is not None:
        within = ranks_from(starts) <= policy.depth
        columns = {name: values[within] for name, values in columns.items()}
        lengths = np.minimum(lengths, policy.depth)
        starts = np.r_[0, np.cumsum(lengths)]
    tied = tied_rows(policy.tie_order, starts, states, columns["score"])
    return Lists(query, system, starts, columns, tied)
