"""Check before a study that the names in its options exist in the store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import polars as pl

from irmeta.errors import DataError, UsageError, did_you_mean, first_few
from irmeta.options import Options, typed_fields
from irmeta.phrases import count
from irmeta.policies import TrackOptions
from irmeta.store.scan import StoreReader, read_table
from irmeta.studies.framework.sides import FACTS, ROLES


def check_named(options: Options, store: StoreReader, tracks: Sequence[str]) -> None:
    """Check that a track has each system, query and qrels set that options name.

    Raises
    ------
    UsageError
        For a name that no readable track has, with the nearest known name; if options exclude
        every track, with the reasons.
    """
    added = tuple(getattr(options, "judge_files", ()))
    known = _Known.of(store, tracks, getattr(options, "qrels", None), added)
    if not known.records:  # each track fails later, by itself
        return
    for one, _ in typed_fields(type(options)):
        value = getattr(options, one.name)
        if one.metadata["names"] and value is not None:
            names = [value] if isinstance(value, str) else value
            for name in names:
                CHECKS[one.metadata["names"]](known, one.name, name)
    if isinstance(options, TrackOptions):
        _check_included(known, options)


@dataclass(frozen=True)
class _Known:
    """The names of the readable tracks.

    Attributes
    ----------
    records
        The records of the tracks, by track.
    qrels
        The qrels set of the study; None for the first set of each track.
    added
        Qrels sets in files that the options name.
    """

    store: StoreReader
    records: dict[str, dict[str, Any]]
    systems: pl.DataFrame
    qrels: str | None
    added: tuple[str, ...]

    @classmethod
    def of(
        cls, store: StoreReader, tracks: Sequence[str], qrels: str | None, added: tuple[str, ...]
    ) -> _Known:
        records, frames = {}, []
        for track in tracks:
            try:
                record, systems = store.read_record(track), read_table(store, "systems", track)
            except DataError:
                continue
            records[track] = record
            frames.append(systems.filter(pl.col("skip_reason").is_null()))
        return cls(store, records, pl.concat(frames) if frames else pl.DataFrame(), qrels, added)

    def chosen_set(self, track: str) -> dict[str, Any] | None:
        """Return the record of the qrels set of the study; None if the track lacks it."""
        sets = self.records[track]["qrels"]
        named = [one for one in sets if self.qrels in (None, one["name"])]
        return named[0] if named else None

    @cached_property
    def queries(self) -> set[str]:
        """The queries that the qrels sets of the study judge."""
        found = set[str]()
        for track in self.records:
            if (chosen := self.chosen_set(track)) is not None:
                is_chosen = pl.col("set") == chosen["name"]
                found.update(read_table(self.store, "qrels", track, is_chosen)["query"].unique())
        return found

    def check_query(self, option: str, name: str) -> None:
        if name not in self.queries:
            hint = did_you_mean(name, self.queries)
            raise UsageError(f"{option} = {name!r}: no such query. {hint}")

    def check_set(self, option: str, name: str, added: Collection[str] = ()) -> None:
        sets = {one["name"] for record in self.records.values() for one in record["qrels"]}
        sets.update(added)
        if name not in sets:
            hint = did_you_mean(name, sets)
            raise UsageError(f"{option} = {name!r}: no such qrels set. {hint}")

    def check_system(
        self, option: str, name: str, facts: Collection[str] = (), roles: Collection[str] = ()
    ) -> None:
        """Check a system, or one of `roles`, or ``FACT=VALUE`` of the facts of systems."""
        systems = self.systems["system"].drop_nulls().unique().to_list()
        column, is_group, value = name.partition("=")
        if name in roles or name in systems:
            return
        if not (is_group and facts):
            hint = did_you_mean(name, [*systems, *roles])
            raise UsageError(f"{option} = {name!r}: no such system. {hint}")
        if column not in facts:
            hint = did_you_mean(column, facts)
            raise UsageError(f"{option} = {name!r}: systems have no fact {column!r}. {hint}")
        values = self.systems[column].drop_nulls().cast(pl.String).unique().to_list()
        if value not in values:
            none = f"No track has the {column} of systems."
            hint = did_you_mean(value, values) if values else none
            raise UsageError(f"{option} = {name!r}: no system has this {column}. {hint}")


def _check_side(known: _Known, option: str, name: str) -> None:
    known.check_system(option, name, FACTS, ROLES)


def _check_members(known: _Known, option: str, name: str) -> None:
    known.check_system(option, name, ("group", "type"))


def _check_judge(known: _Known, option: str, name: str) -> None:
    if "=" not in name:  # NAME=FILE is a judge in a file
        known.check_set(option, name)


def _check_graded(known: _Known, option: str, name: str) -> None:
    judge, equals, _ = name.rpartition("=")
    if equals:  # a grade alone is that of all sets
        known.check_set(option, judge, known.added)


CHECKS: dict[str, Callable[[_Known, str, str], None]] = {
    "system": _Known.check_system,
    "systems": _check_members,
    "side": _check_side,
    "query": _Known.check_query,
    "qrels": _Known.check_set,
    "judge": _check_judge,
    "graded": _check_graded,
}
"""Checks by what an option names: ``system``; ``systems``, also by group or type; ``side`` of a
comparison, see `irmeta.studies.framework.sides`; ``query``; ``qrels``, a qrels set; ``judge``, a
set or ``NAME=FILE``; ``graded``, ``NAME=GRADE`` of such a judge."""


def _check_included(known: _Known, options: TrackOptions) -> None:
    """Check that the options which the user has changed do not exclude every track."""
    changed = {f.name for f in fields(options) if getattr(options, f.name) != f.default}
    reasons = [_reason(known, options, changed, track) for track in known.records]
    excluded = [reason for reason in reasons if reason is not None]
    if len(excluded) == len(reasons):
        listed = first_few(excluded, "choose lower values", "; ")
        raise UsageError(f"the options exclude every track: {listed}.")


def _reason(
    known: _Known, options: TrackOptions, changed: Collection[str], track: str
) -> str | None:
    """Return why options exclude a track from the results, or None."""
    systems, least = len(known.records[track]["systems"]), options.min_systems
    if "min_systems" in changed and systems < least:
        return f"{track} has {count(systems, 'system')}, fewer than min_systems = {least}"
    chosen, rel = known.chosen_set(track), getattr(options, "rel", 1)
    is_own = isinstance(rel, int | float)  # otherwise grades of qrels sets
    if "rel" in changed and is_own and chosen is not None and chosen["highest"] < rel:
        return f"{track} has the highest grade {chosen['highest']}, below rel = {rel}"
    return None
