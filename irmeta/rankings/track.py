"""`Track`: a track of a store under a policy, of which the record and each table are read once."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from irmeta.errors import UsageError
from irmeta.policies import EvalPolicy, rel_by_set
from irmeta.rankings.pool import Pool, pool_of
from irmeta.rankings.track_facts import TrackFacts, set_names, track_facts
from irmeta.rankings.view import Need, Reader, needs_of
from irmeta.store.scan import StoredTrack, StoreReader, Tracks, each_track, read_table


class Track:
    """A track of a store under an evaluation policy.

    Its record is read once, when the track is opened, and so are the facts of its systems; tracks
    made from it (`under`, `by_set`) share them. Judgments and lists are not kept.

    Attributes
    ----------
    name
        Name of the track.
    systems
        Names of its systems.
    has_decimals
        Whether the grades of a qrels set are not all whole numbers of -128 to 127.
    """

    def __init__(self, stored: StoredTrack, policy: EvalPolicy | None = None) -> None:
        self.stored: StoredTrack = stored
        self.policy: EvalPolicy = policy or EvalPolicy()
        self.name: str = stored.name
        self.systems: list[str] = stored.record["systems"]
        sets = stored.record["qrels"]
        self.has_decimals: bool = any("levels" in qrels for qrels in sets)
        self._tables: dict[str, pl.DataFrame] = {}
        self._facts: dict[tuple[str | None, tuple[str, ...]], TrackFacts] = {}

    @classmethod
    def of(cls, store: StoreReader, name: str, policy: EvalPolicy | None = None) -> Track:
        """Open a track of a store."""
        return cls(store.track(name), policy)

    @property
    def systems_table(self) -> pl.DataFrame:
        """The table `systems`, skipped runs included."""
        if "systems" not in self._tables:
            self._tables["systems"] = read_table(self.stored, "systems")
        return self._tables["systems"]

    @property
    def facts(self) -> TrackFacts:
        """The facts of the track under the qrels set of the policy."""
        key = self.policy.qrels, self.policy.rel
        if key not in self._facts:
            self._facts[key] = track_facts(self.stored.record, self.systems_table, *key)
        return self._facts[key]

    def facts_of(self, qrels: str | None) -> TrackFacts:
        """Return the facts of the track under one of its qrels sets (None: the primary one)."""
        return self.under(replace(self.policy, qrels=qrels)).facts

    @property
    def pool(self) -> Pool:
        """The systems whose lists make the pool."""
        return pool_of(self.name, self.systems_table)

    def under(self, policy: EvalPolicy) -> Track:
        """Return the track under another policy."""
        track = copy(self)
        track.policy = policy
        return track

    def by_set(self) -> list[Track]:
        """Return the track under each qrels set that its policy names, as ``human,umbrela``."""
        names = set_names(self.policy.qrels)
        if len(names) < 2 or self.policy.qrels in self.set_names:
            return [self]
        return [self.under(replace(self.policy, qrels=name)) for name in names]

    @property
    def set_names(self) -> list[str]:
        """Names of all qrels sets, the primary one first."""
        return [qrels["name"] for qrels in self.stored.record["qrels"]]

    @property
    def has_subtopics(self) -> bool:
        """Whether a qrels set has subtopics."""
        return any(qrels["subtopics"] for qrels in self.stored.record["qrels"])

    @property
    def subtopic_facts(self) -> TrackFacts:
        """The facts under the qrels set of the policy, or else the first set with subtopics."""
        names = [qrels["name"] for qrels in self.stored.record["qrels"] if qrels["subtopics"]]
        if not names:
            raise UsageError(
                f"track {self.name!r} has no qrels by subtopic: a column subtopic names them, or "
                "the second column of qrels in TREC form, with subtopics = true in "
                "collection.toml. When qrels are read, `subtopics=True` says so."
            )
        return self.facts if self.facts.qrels in names else self.facts_of(names[0])

    def facts_for(self, spec: Reader) -> TrackFacts:
        """Return the facts under the qrels set that a measure or preference reads."""
        by_subtopic = "subtopics" in needs_of([spec]) and self.has_subtopics
        return self.subtopic_facts if by_subtopic else self.facts

    def stated_rel(self, spec: Reader) -> float | None:
        """Return the least relevant grade of the qrels set that a measure or preference reads.

        None if neither the policy nor the collection states one.
        """
        sets = self.stored.record["config"]["qrels"]
        # Few collections state a grade: without one, the systems of the track are not read.
        if not (self.policy.rel or any("rel" in qrels for qrels in sets)):
            return None
        settings = {qrels["name"]: qrels for qrels in sets}
        facts, stated = self.facts_for(spec), rel_by_set(self.policy.rel)
        is_stated = {facts.qrels, None} & stated.keys() or "rel" in settings[facts.qrels]
        return facts.rel if is_stated else None


def each(store: StoreReader, tracks: Tracks, policy: EvalPolicy | None = None) -> Iterator[Track]:
    """Yield the requested tracks of a store, sorted, under a policy; None requests all.

    Raises
    ------
    UsageError
        If a track is not in the store, no track is requested, or the store is empty.
    """
    return map(partial(Track, policy=policy), each_track(store, tracks))


def track_provenance(track: Track, needs: Collection[Need]) -> dict[str, Any]:
    """Return the provenance of one track, as JSON values.

    A track records its qrels set, its ReadPolicy, its tie order, and the highest grade, by which
    graded gains are divided; where they are read, also its pool and the qrels set with subtopics.
    """
    facts, policy = track.facts, track.policy
    record = {
        "fingerprint": track.stored.fingerprint(),
        "qrels": facts.qrels,
        "read_policy": dict(facts.policy),
        "tie_order": policy.tie_order or facts.policy["tie_order"],
        "highest_grade": facts.highest_grade,
    }
    if "pool" in needs or policy.has_smaller_pool:
        record["pool"] = track.pool.note
        record["pool_depth"] = facts.pool_depth_note
    if "sample" in needs and facts.sampled is not None:
        record["sampled_qrels"] = facts.sampled
    # A study computes measures by subtopic only on the tracks that have subtopics.
    if "subtopics" in needs and track.has_subtopics:
        record["qrels_by_subtopic"] = track.subtopic_facts.qrels
    return record


def provenance_of_sets(track: Track, needs: Collection[Need]) -> dict[str, Any]:
    """Return the provenance of one track under each of its qrels sets; facts are dicts by set."""
    records = [track_provenance(of_set, needs) for of_set in track.by_set()]
    if len(records) == 1:
        return records[0]
    facts = {
        key: {one["qrels"]: one[key] for one in records if key in one}
        for key in ("highest_grade", "sampled_qrels", "qrels_by_subtopic")
    }
    named = {"qrels": ",".join(one["qrels"] for one in records)}
    return records[0] | named | {key: by_set for key, by_set in facts.items() if by_set}
