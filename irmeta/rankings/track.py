"""`Track`: a track of a store under a policy, of which the record and each table are read once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from irmeta.errors import RelevanceWarning, UsageError, did_you_mean, first_few, shown, warn
from irmeta.policies import EvalPolicy, rel_by_set, sets_of_track
from irmeta.rankings.pool import Pool, pool_of
from irmeta.rankings.track_facts import TrackFacts, set_names, track_facts, unknown_member
from irmeta.rankings.view import Need, Reader, needs_of
from irmeta.store.derived_tracks import OverlaidSets, SelectedQueries
from irmeta.store.scan import StoredTrack, StoreReader, Tracks, each_track, read_table
from irmeta.trec.streams import file_sha256
from irmeta.trec.text import query_ids


class Track:
    """A track of a store under an evaluation policy, with its record and facts, read once.

    Tracks made from it (`under`, `by_set`) share them; judgments and lists are not kept. `stored`
    has the queries alone that the policy selects; `qrels` is the set that the policy names, or
    several; None: the primary one. `has_decimals`: not all grades are whole numbers of int8.
    """

    def __init__(self, stored: StoredTrack, policy: EvalPolicy | None = None) -> None:
        self._complete: StoredTrack = stored
        self._overlays = dict[tuple[object, ...], StoredTrack]()
        self.name: str = stored.name
        self._apply(policy or EvalPolicy())
        sets = stored.record["qrels"]
        self.has_decimals: bool = any("levels" in qrels for qrels in sets)
        self._tables: dict[str, pl.DataFrame] = {}
        self._facts: dict[tuple[object, ...], TrackFacts] = {}

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
    def systems(self) -> Sequence[str]:
        """Names of the systems that the policy selects, or of all."""
        if self.policy.system is None:
            return self.stored.record["systems"]
        return self.under(EvalPolicy(system=self.policy.system)).facts.systems

    @property
    def all_systems(self) -> Track:
        """The track under its policy, with all systems."""
        return self if self.policy.system is None else self.under(self.policy.all_systems)

    @property
    def facts(self) -> TrackFacts:
        """The facts of the selected systems under the qrels set of the policy."""
        key = self.qrels, self.policy.rel, self.policy.system
        if key not in self._facts:
            qrels, rel, selected = key
            if selected is None:
                facts = track_facts(self.stored.record, self.systems_table, qrels, rel)
            else:
                every = self.all_systems.facts
                shown = sorted({i for name in selected for i in every.members(name)})
                facts = every.show(shown or every.indices(selected))  # unknown names are an error
            self._facts[key] = facts
        return self._facts[key]

    def facts_of(self, qrels: str | None) -> TrackFacts:
        """Return the facts of the track under one of its qrels sets (None: the primary one)."""
        sets = None if qrels is None else (qrels,)
        if self.policy.overlay and qrels == self.qrels:
            return self.facts
        return self.under(replace(self.policy, qrels=sets, overlay=())).facts

    @property
    def pool(self) -> Pool:
        """The systems whose lists make the pool."""
        return pool_of(self.name, self.systems_table)

    def under(self, policy: EvalPolicy) -> Track:
        """Return the track under another policy."""
        track = copy(self)
        track._apply(policy)
        return track

    def _apply(self, policy: EvalPolicy) -> None:
        self.policy: EvalPolicy = policy
        self.qrels: str | None = None
        if policy.qrels is not None:
            sets = [qrels["name"] for qrels in self._complete.record["qrels"]]
            self.qrels = sets_of_track(policy.qrels, self.name, sets)
        self.stored: StoredTrack = self._complete
        if policy.overlay:
            self.stored = self._overlaid(policy)
            self.qrels = self.stored.record["qrels"][-1]["name"]
        if policy.query is not None or policy.query_file is not None:
            self.stored = SelectedQueries(self.stored, selected_queries(policy))

    def _overlaid(self, policy: EvalPolicy) -> StoredTrack:
        """Return the track with the overlay of qrels sets that a policy names, made once."""
        key = policy.overlay, policy.negative, policy.rel
        if key in self._overlays:
            return self._overlays[key]
        record = self._complete.record
        sets = {qrels["name"]: qrels for qrels in record["qrels"]}
        stated = {q["name"]: q["rel"] for q in record["config"]["qrels"] if "rel" in q}
        by_policy = rel_by_set(policy.rel)
        rels = dict[str, float | None]()
        for name in policy.overlay:
            if name not in sets:
                hint = did_you_mean(name, sets)
                raise UsageError(f"track {self.name!r} has no qrels set {name!r}. {hint}")
            if sets[name]["subtopics"]:
                raise UsageError(f"overlay: the qrels set {name} judges by subtopic.")
            rels[name] = by_policy.get(name, by_policy.get(None, stated.get(name)))
        if (joined := "+".join(policy.overlay)) in sets:
            raise UsageError(f"overlay: there is a qrels set {joined!r}.")
        if len({rel or 1 for rel in rels.values()}) > 1:
            stated_rels = ", ".join(f"{name} {rel or 1:g}" for name, rel in rels.items())
            raise UsageError(
                f"overlay: the least relevant grades of the qrels sets differ ({stated_rels}): "
                "state the grade of all (rel), if they have one scale."
            )
        highest = {name: sets[name]["highest"] for name in rels}
        if len(set(highest.values())) > 1:
            grades = ", ".join(f"{name} {grade:g}" for name, grade in highest.items())
            warn(
                f"track {self.name!r}: the highest grades of the overlaid qrels sets differ "
                f"({grades}): are they on one scale?",
                RelevanceWarning,
            )
        least = 0.0 if policy.negative == "unjudged" else -float("inf")
        rel = next((rel for rel in rels.values() if rel is not None), None)
        self._overlays[key] = OverlaidSets(self._complete, policy.overlay, least, rel)
        return self._overlays[key]

    def by_set(self) -> list[Track]:
        """Return the track under each qrels set that its policy names, as ``human,umbrela``."""
        names = set_names(self.qrels)
        if len(names) < 2 or self.qrels in self.set_names:
            return [self]
        return [self.under(replace(self.policy, qrels=(name,))) for name in names]

    @property
    def set_names(self) -> list[str]:
        """Names of all qrels sets, the primary one first."""
        return [qrels["name"] for qrels in self.stored.record["qrels"]]

    @property
    def judged_queries(self) -> list[str]:
        """Queries that the qrels sets of the policy, or those with subtopics, judge."""
        sets = {track.facts.qrels for track in self.under(self.policy.everything).by_set()}
        sets |= {qrels["name"] for qrels in self.stored.record["qrels"] if qrels["subtopics"]}
        stored = self.under(self.policy.everything).stored
        rows = read_table(stored, "qrels", pl.col("set").is_in(sets))
        return rows["query"].cast(pl.String).unique().to_list()

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


def check_tracks(policy: EvalPolicy, store: StoreReader) -> None:
    """Raise `UsageError` if a policy names the qrels set of a track that is not in a store."""
    tracks = store.tracks()
    for text in policy.qrels or ():
        name, equals, _ = text.partition("=")
        if equals and name not in tracks:
            if any(text in Track(store.track(track)).set_names for track in tracks):
                continue
            raise UsageError(f"qrels = {text!r}: no track {name!r}. {did_you_mean(name, tracks)}")


def selected_queries(policy: EvalPolicy) -> list[str]:
    """Return the queries that a policy names, or names in a file."""
    in_file = [] if policy.query_file is None else query_ids(policy.query_file)
    return list(dict.fromkeys([*(policy.query or ()), *in_file]))


def known_queries(policy: EvalPolicy, known: set[str], without: str) -> list[str]:
    """Return the queries that a policy selects.

    Raises
    ------
    UsageError
        If one of them is not in `known`; the message begins with `without`, such as "no track has".
    """
    asked = selected_queries(policy)
    if unknown := [name for name in asked if name not in known]:
        listed = first_few([shown(name) for name in unknown], "compare them with the qrels")
        number = "the query" if len(asked) == 1 else f"{len(unknown):,} of {len(asked):,} queries:"
        raise UsageError(f"{without} {number} {listed}. {did_you_mean(unknown[0], known)}")
    return asked


def with_selected(tracks: Iterable[Track], policy: EvalPolicy) -> list[Track]:
    """Return the tracks that have a system and a judged query of those that a policy selects.

    Raises
    ------
    UsageError
        If no track has one of the systems, groups, types or judged queries, with the nearest name;
        if no track has both.
    """
    opened = list(tracks)
    facts = [track.under(EvalPolicy()).facts for track in opened]
    for name in policy.system or ():
        if not any(of_track.members(name) for of_track in facts):
            where = f"track {opened[0].name!r} has" if len(opened) == 1 else "the tracks have"
            raise UsageError(f"{where} no {unknown_member(name, facts)}")
    has_query = [True] * len(opened)
    if policy.selects_queries:
        judged = [set(track.judged_queries) for track in opened]
        asked = known_queries(policy, set[str]().union(*judged), "no track judges")
        has_query = [not queries.isdisjoint(asked) for queries in judged]
    chosen = [
        track
        for track, of_track, is_judged in zip(opened, facts, has_query, strict=True)
        if is_judged
        and (policy.system is None or any(of_track.members(name) for name in policy.system))
    ]
    if not chosen:
        raise UsageError("no track has both a selected system and a selected query.")
    return chosen


def each(store: StoreReader, tracks: Tracks, policy: EvalPolicy | None = None) -> Iterator[Track]:
    """Yield the requested tracks of a store, sorted, under a policy; None requests all.

    Tracks without any of the systems or queries that the policy selects are left out.

    Raises
    ------
    UsageError
        If a track is not in the store, no track is requested, or the store is empty; for systems
        and queries see `with_selected`.
    """
    opened = map(partial(Track, policy=policy), each_track(store, tracks))
    if policy is None:
        return opened
    if any("=" in text for text in policy.qrels or ()):
        check_tracks(policy, store)
    if policy.system or policy.query or policy.query_file:
        return iter(with_selected(opened, policy))
    return opened


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
    if policy.overlay:
        record["overlay"] = dict(track.stored.record["overlay"])
    if policy.query_file is not None:
        record["query_file_sha256"] = file_sha256(Path(policy.query_file))
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
