"""The runs of a track: their names, and their lists in the store's order by group of queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Generic

import numpy as np

from irmeta.errors import DataError, short
from irmeta.policies import NAMES, ReadPolicy
from irmeta.store.read_run import (
    AnyRun,
    InMemory,
    ListRows,
    Run,
    RunFacts,
    SkippedRun,
    Sources,
)
from irmeta.store.readers import TrackNames
from irmeta.trec.source import TrackSource
from irmeta.trec.system_names import file_names, pattern_name, stem
from irmeta.trec.tie_orders import order_lists, ranks_from, tied_rows

_FIXES = {
    "tag": 'Name systems by file: `names="file"`, also in collection.toml.',
    "pattern": 'Change the pattern `names`, or write names = "file".',
}


@dataclass(frozen=True)
class Named(Generic[AnyRun]):
    """The systems of a track: `runs` sorted by distinct names, and `skipped` runs.

    `by` is the source of names (tag, file or pattern), `note` the reason why ``auto`` used no tags.
    """

    runs: list[AnyRun]
    skipped: list[SkippedRun]
    by: str
    note: str | None = None


def name_runs(
    source: TrackSource, read: Sequence[AnyRun | SkippedRun], judged: int
) -> Named[AnyRun]:
    """Name the systems of a track under its policy; judged queries have numbers below `judged`.

    Names under ``auto`` depend only on the runs that are in the track. Raises `DataError` if no
    run can be used.
    """
    skipped = [run for run in read if isinstance(run, SkippedRun)]
    runs = [run for run in read if not isinstance(run, SkippedRun)]
    foreign = [run for run in runs if run.queries.min() >= judged]
    runs = [run for run in runs if run.queries.min() < judged]
    fix = "Are these the runs of another track?"
    skipped += [_skipped(run, "none of its queries is judged", fix) for run in foreign]
    names = source.policy.names
    runs = [replace(run, system=source.named.get(run.file, "")) for run in runs]
    by_tag = [
        replace(run, system=run.system or (stem(run.file) if run.tag is None else run.tag))
        for run in runs
    ]
    note = _clash([run.system for run in by_tag]) if names == "auto" else None
    if names not in NAMES:
        named = _unique(*_by_pattern(names, runs, skipped), "pattern")
    elif names == "tag" or (names == "auto" and note is None):
        named = _unique(by_tag, [replace(run, system=run.tag) for run in skipped], "tag")
    else:
        of_files = file_names(run.file for run in (*runs, *skipped))
        runs = [replace(run, system=run.system or of_files[run.file]) for run in runs]
        skipped = [replace(run, system=of_files[run.file]) for run in skipped]
        named = Named(sorted(runs, key=attrgetter("system")), skipped, "file", note)
    if not named.runs:
        first = named.skipped[0]
        example = f" The first: {source.located(first.file, first.reason)}"
        raise DataError(f"none of its {len(read)} runs can be used.{example}")
    return named


def _clash(names: list[str]) -> str | None:
    """Return the reason why names do not identify systems; None if all names are distinct."""
    counts = Counter(names)
    alike = sum(count for count in counts.values() if count > 1)
    if not alike:
        return None
    example = short(counts.most_common(1)[0][0])
    return (
        f"{alike} of {len(names)} runs share a tag with another run (such as {example!r}): "
        "all systems are named by file"
    )


def _by_pattern(
    pattern: str, runs: list[AnyRun], skipped: list[SkippedRun]
) -> tuple[list[AnyRun], list[SkippedRun]]:
    named = [
        run if run.system else replace(run, system=pattern_name(pattern, run.file) or "")
        for run in runs
    ]
    problem = f"its name does not match the pattern {pattern!r}"
    unnamed = [_skipped(run, problem, _FIXES["pattern"]) for run in named if not run.system]
    return [run for run in named if run.system], [*skipped, *unnamed]


def _unique(runs: list[AnyRun], skipped: list[SkippedRun], by: str) -> Named[AnyRun]:
    """Skip runs with the name of an earlier run."""
    by_name: dict[str, AnyRun] = {}
    for run in runs:
        if run.system in by_name:
            problem = (
                f"system {short(run.system)!r} is already read from {by_name[run.system].file}"
            )
            skipped = [*skipped, _skipped(run, problem, _FIXES[by])]
        else:
            by_name[run.system] = run
    return Named([by_name[name] for name in sorted(by_name)], skipped, by)


def _skipped(run: RunFacts, problem: str, fix: str) -> SkippedRun:
    reason = str(DataError(problem, file=run.file, fix=fix))
    return SkippedRun(run.file, run.sha256, run.tag, reason, run.system or None)


@dataclass(frozen=True)
class Lists:
    """Ranked lists, sorted by query, then system; the rows of each list are best first.

    By list: `query`, `system` (int32 indices into the track's), `starts`, `tied` and `rounded`
    (int64, see `Noticed`). `columns` are by row: doc (an index), score, position, rank_given.
    """

    query: np.ndarray
    system: np.ndarray
    starts: np.ndarray
    columns: dict[str, np.ndarray]
    tied: np.ndarray
    rounded: np.ndarray


class TrackLists(Generic[AnyRun]):
    """The lists of all systems, without their rows.

    `queries` and `rows` are the sorted indices of all queries with a list, and their numbers of
    rows; `queries_of_run` has the indices by run.
    """

    def __init__(
        self, runs: list[AnyRun], queries_of_run: list[np.ndarray], policy: ReadPolicy
    ) -> None:
        self.runs: list[AnyRun] = runs
        self.queries_of_run: list[np.ndarray] = queries_of_run
        self.policy: ReadPolicy = policy
        query = np.concatenate(queries_of_run)
        system = np.repeat(np.arange(len(runs)), [len(queries) for queries in queries_of_run])
        self._order: np.ndarray = np.lexsort((system, query))
        self._query, self._system = query[self._order], system[self._order]
        self._starts = self._by_list([run.starts[:-1] for run in runs])
        self._lengths = self._by_list([np.diff(run.starts) for run in runs])
        lengths = self._lengths
        if policy.depth is not None:
            lengths = np.minimum(lengths, policy.depth)
        queries, inverse = np.unique(self._query, return_inverse=True)
        self.queries: np.ndarray = queries
        self.rows: np.ndarray = np.bincount(inverse, lengths).astype(np.int64)

    def _by_list(self, values: list[np.ndarray]) -> np.ndarray:
        """Sort a value of each list of each run by query, then system."""
        return np.concatenate(values)[self._order]

    def deepest(self, run: AnyRun) -> int:
        """Return the length of a run's longest list under the policy's depth."""
        longest = int(np.diff(run.starts).max())
        return longest if self.policy.depth is None else min(longest, self.policy.depth)

    def kept(self, run: AnyRun) -> int:
        """Count the rows of a run within the policy's depth."""
        depth = self.policy.depth
        return run.rows if depth is None else int(np.minimum(np.diff(run.starts), depth).sum())

    def rows_of(self, first: int, last: int) -> tuple[np.ndarray, ListRows]:
        """Return the lists of the queries with index `first` up to `last`, and their queries."""
        lists = slice(*np.searchsorted(self._query, [first, last]).tolist())
        rows = ListRows(self._system[lists], self._starts[lists], self._lengths[lists])
        return self._query[lists], rows


class TrackRows(TrackLists[Run]):
    """The rows of all systems, ordered under a policy on request."""

    def __init__(self, runs: list[Run], names: TrackNames, policy: ReadPolicy) -> None:
        queries = [names.query_indices[run.reader][run.queries] for run in runs]
        super().__init__(runs, queries, policy)
        self._tables = [names.doc_indices[run.reader] for run in runs]
        in_memory = [run.columns for run in runs if isinstance(run.columns, InMemory)]
        all_held = len(in_memory) == len(runs)
        self._sources = Sources.of(in_memory, self._tables) if all_held else None
        self._states = self._by_list([run.states for run in runs])

    def lists(self, first: int, last: int) -> Lists:
        """Return the lists of the queries with index `first` up to `last`."""
        query, list_rows = self.rows_of(first, last)
        states = self._states[slice(*np.searchsorted(self._query, [first, last]).tolist())]
        system = list_rows.source.astype(np.int32)
        sources, list_rows = self._load(list_rows)
        rows = sources.rows(list_rows)
        return lists_in_order(self.policy, query, system, list_rows.lengths, states, rows)

    def _load(self, list_rows: ListRows) -> tuple[Sources, ListRows]:
        """Return arrays with some lists, read from files if necessary, and the lists' rows."""
        if self._sources is not None:
            return self._sources, list_rows
        columns, tables = [], []
        source, starts = np.empty_like(list_rows.source), np.empty_like(list_rows.starts)
        for index in np.unique(list_rows.source).tolist():
            which = np.flatnonzero(list_rows.source == index)
            which = which[np.argsort(list_rows.starts[which])]
            ends = list_rows.starts[which] + list_rows.lengths[which]
            cuts = np.flatnonzero(list_rows.starts[which][1:] != ends[:-1]) + 1
            for some in np.split(which, cuts):  # read adjacent lists of a file at once
                begin = int(list_rows.starts[some[0]])
                end = int(list_rows.starts[some[-1]] + list_rows.lengths[some[-1]])
                source[some], starts[some] = len(columns), list_rows.starts[some] - begin
                columns.append(InMemory(self.runs[index].columns.rows(begin, end)))
                tables.append(self._tables[index])
        return Sources.of(columns, tables), ListRows(source, starts, list_rows.lengths)


def lists_in_order(
    policy: ReadPolicy,
    query: np.ndarray,
    system: np.ndarray,
    lengths: np.ndarray,
    states: np.ndarray,
    columns: dict[str, np.ndarray],
) -> Lists:
    """Sort lists from file order and cut them; for `states` see `Run`."""
    starts = np.r_[0, np.cumsum(lengths)]
    order_lists(policy.tie_order, starts, states, columns)
    return cut_lists(policy, query, system, lengths, states, columns)


def cut_lists(
    policy: ReadPolicy,
    query: np.ndarray,
    system: np.ndarray,
    lengths: np.ndarray,
    states: np.ndarray,
    columns: dict[str, np.ndarray],
) -> Lists:
    """Cut sorted lists at the depth of the policy, and count tied rows."""
    starts = np.r_[0, np.cumsum(lengths)]
    if policy.depth is not None:
        within = ranks_from(starts) <= policy.depth
        columns = {name: values[within] for name, values in columns.items()}
        lengths = np.minimum(lengths, policy.depth)
        starts = np.r_[0, np.cumsum(lengths)]
    tied, rounded = tied_rows(policy.tie_order, starts, states, columns["score"])
    return Lists(query, system, starts, columns, tied, rounded)
