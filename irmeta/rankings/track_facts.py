"""`TrackFacts`: facts of a track, shared by all blocks of its queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, overload

import polars as pl

from irmeta.errors import RelevanceWarning, UsageError, did_you_mean, first_few, warn
from irmeta.policies import rel_by_set
from irmeta.trec.qrels import SAMPLED, plain

SEVERAL = "evaluate, compare or matrices, which take several"


@dataclass(frozen=True)
class TrackFacts:
    """Facts of a track for measures and derived views.

    Attributes
    ----------
    systems
        Names of the systems; arrays hold systems in this order.
    deepest_rank
        The deepest rank of the track, over all systems and queries.
    qrels
        Name of the qrels set.
    highest_grade
        The highest grade of that set, or 1 if that is not above 0, so that gains can be divided by
        it. Views with fewer judgments keep it as the scale of grades.
    lowest_grade
        The lowest grade of that set; None if unknown.
    policy
        Policy of reading: a record of `ReadPolicy`.
    pool_depth
        Pool depth stated in the collection, or None.
    pool_depth_by_query
        Pool depths stated for single queries, which override `pool_depth`.
    sampled
        Format of the qrels set if it judges a sample of the pool: ``prels`` or ``sample-eval``.
    groups, types, pooled
        For each system its participant, its type of run, and whether it contributed to the pool;
        None if unknown. Empty if unknown for all systems.
    pool_known
        Whether the contributing systems are known. If not, all systems count as contributing.
    deepest_ranks
        The deepest rank of each system; empty if unknown.
    rel
        The least relevant grade that the collection states for that set.
    levels
        The distinct grades of that set, ascending, if they are not all whole numbers of -128 to
        127; empty where there are more than `MOST_LISTED`. None for whole numbers. Grades in
        arrays are float64 instead of int8 unless it is None.
    is_selection
        Whether the systems are those that a policy selects, of more; see `show`.
    """

    track: str
    systems: Sequence[str]
    deepest_rank: int
    qrels: str
    highest_grade: float
    policy: Mapping[str, Any]
    pool_depth: int | None = None
    groups: Sequence[str | None] = ()
    types: Sequence[str | None] = ()
    pooled: Sequence[bool | None] = ()
    pool_known: bool = False
    deepest_ranks: Sequence[int] = ()
    lowest_grade: float | None = None
    pool_depth_by_query: Mapping[str, int] = field(default_factory=dict)
    sampled: str | None = None
    levels: tuple[float, ...] | None = None
    rel: float = 1
    is_selection: bool = False

    @property
    def pool_depth_note(self) -> int | str:
        """The depth of the pool, for provenance."""
        default = self.pool_depth or "as far as it is complete"
        if not self.pool_depth_by_query:
            return default
        return f"stated for {len(self.pool_depth_by_query)} queries, otherwise {default}"

    @property
    def contributors(self) -> list[int]:
        """Indices of the systems whose lists make the pool."""
        if not self.pool_known:
            return list(range(len(self.systems)))
        return [i for i, pooled in enumerate(self.pooled) if pooled]

    def select(self, systems: Sequence[int]) -> TrackFacts:
        """Return the facts of some of the systems, by their indices."""
        deepest = _chosen(self.deepest_ranks, systems)
        return replace(
            self,
            systems=_chosen(self.systems, systems),
            groups=_chosen(self.groups, systems),
            types=_chosen(self.types, systems),
            pooled=_chosen(self.pooled, systems),
            deepest_ranks=deepest,
            deepest_rank=max(deepest, default=self.deepest_rank),
        )

    def show(self, systems: Sequence[int]) -> TrackFacts:
        """Return the facts of selected systems; the deepest rank remains that of all systems."""
        return replace(self.select(systems), deepest_rank=self.deepest_rank, is_selection=True)

    def members(self, name: str) -> list[int]:
        """Return the indices of a system, ``group=NAME`` or ``type=NAME``; none if unknown."""
        if name in self._places:
            return [self._places[name]]
        kind, _, value = name.partition("=")
        known = {"group": self.groups, "type": self.types}.get(kind if value else "", ())
        return [i for i, member in enumerate(known) if member == value]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.systems)}

    def indices(self, named: str | Iterable[str]) -> list[int]:
        """Return the indices of systems given by name, group or type.

        `named`: names of systems, ``group=NAME`` for all systems of a participant, or
        ``type=NAME``.
        """
        chosen = set[int]()
        for name in [named] if isinstance(named, str) else named:
            members = self.members(name)
            if not members:
                raise UsageError(f"track {self.track!r} has no {unknown_member(name, [self])}")
            chosen.update(members)
        return sorted(chosen)


def unknown_member(name: str, facts: Iterable[TrackFacts]) -> str:
    """Return a name of a system, group or type that no track has, with the nearest right one."""
    tracks = list(facts)
    kind, _, value = name.partition("=")
    of_kind = {"group": [t.groups for t in tracks], "type": [t.types for t in tracks]}
    is_kind = bool(value) and kind in of_kind
    kind, value = (kind, value) if is_kind else ("system", name)
    known = of_kind[kind] if is_kind else [t.systems for t in tracks]
    existing = sorted({member for of_track in known for member in of_track if member})
    hint = did_you_mean(value, existing) if existing else f"No {kind} of its systems is known."
    return f"{kind} {value!r}. {hint}"


def track_facts(
    record: Mapping[str, Any],
    table: pl.DataFrame,
    qrels: str | None,
    rel: tuple[str, ...],
) -> TrackFacts:
    """Return the facts of one track under one of its qrels sets (None: the primary one).

    `table` is the track's table `systems`, and `rel` that of an `EvalPolicy`.
    """
    track = record["track"]
    sets = {q["name"]: q for q in record["qrels"]}
    name = record["qrels"][0]["name"] if qrels is None else qrels
    if name not in sets:
        if len(named := set_names(name)) > 1 and all(each in sets for each in named):
            raise UsageError(f"{name} are {len(named)} qrels sets: name one, or use {SEVERAL}.")
        raise UsageError(f"track {track!r} has no qrels set {name!r}. {did_you_mean(name, sets)}")
    configs = {config["name"]: config for config in record["config"]["qrels"]}
    sampled = configs[name]["format"]
    systems = table.filter(pl.col("skip_reason").is_null()).sort("system")
    stated = {None: configs[name].get("rel", 1)} | rel_by_set(rel)
    return TrackFacts(
        track=track,
        systems=tuple(record["systems"]),
        deepest_rank=record["deepest_rank"],
        qrels=name,
        highest_grade=plain(highest) if (highest := sets[name]["highest"]) > 0 else 1,
        policy=record["config"]["policy"],
        pool_depth=record["config"].get("pool_depth"),
        groups=tuple(systems["group"]),
        types=tuple(systems["type"]),
        pooled=tuple(systems["pooled"]),
        pool_known=table["pooled"].null_count() < table.height,
        deepest_ranks=tuple(systems["deepest_rank"]),
        lowest_grade=sets[name].get("lowest"),
        pool_depth_by_query=record.get("pool_depths", {}),
        sampled=sampled if sampled in SAMPLED else None,
        levels=None if (levels := sets[name].get("levels")) is None else tuple(levels),
        rel=plain(stated.get(name, stated[None])),
    )


def set_names(qrels: str | None) -> list[str]:
    """Return the names of qrels sets in a text with commas between them."""
    names = [] if qrels is None else [name.strip() for name in qrels.split(",")]
    if len(names) > 1 and (not all(names) or len(set(names)) < len(names)):
        raise UsageError(f"qrels = {qrels!r} is not a list of different qrels sets.")
    return names


class NumberedNames(Sequence[str]):
    """Names computed on access: a prefix and a number of fixed width, from 0."""

    def __init__(self, prefix: str, count: int) -> None:
        self._prefix, self._numbers = prefix, range(count)
        self._width = len(str(max(count - 1, 0)))

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return tuple(map(self._name, self._numbers[index]))
        return self._name(self._numbers[index])

    def _name(self, number: int) -> str:
        return f"{self._prefix}{number:0{self._width}}"


def _chosen(values: Sequence[Any], indices: Sequence[int]) -> tuple[Any, ...]:
    return tuple(values[i] for i in indices) if len(values) else ()


def warn_without_relevant(facts: TrackFacts, names: Sequence[str]) -> None:
    """Warn about measures or preferences whose `rel` is above every grade of a qrels set."""
    listed = first_few(names, "those of a higher rel")
    warn(
        f"track {facts.track}: no doc is relevant for {listed}: the highest grade of the qrels "
        f"set {facts.qrels!r} is {facts.highest_grade}.",
        RelevanceWarning,
        stacklevel=4,
    )
