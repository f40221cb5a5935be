"""Qrels sets that a call names, and the least relevant grade that a set states."""

from __future__ import annotations

from dataclasses import replace

from irmeta.policies import EvalPolicy, rel_by_set
from irmeta.rankings.needs import Reader, needs_of
from irmeta.rankings.subtopics import has_subtopics, subtopic_set
from irmeta.rankings.track_facts import TrackFacts, set_names, track_facts
from irmeta.store.scan import StoreReader


def policies_of_sets(store: StoreReader, track: str, policy: EvalPolicy) -> list[EvalPolicy]:
    """Return a policy for each qrels set that a policy names, such as ``human,umbrela``."""
    names = set_names(policy.qrels)
    sets = {one["name"] for one in store.read_record(track)["qrels"]}
    if len(names) < 2 or policy.qrels in sets:
        return [policy]
    return [replace(policy, qrels=name) for name in names]


def stated_rel(store: StoreReader, track: str, spec: Reader, policy: EvalPolicy) -> float | None:
    """Return the least relevant grade of the qrels set that a measure or preference reads.

    None if neither the policy nor the collection states one.
    """
    # Few collections state a grade: without one, the systems of the track are not read.
    states = any("rel" in one for one in store.read_record(track)["config"]["qrels"])
    if not (states or policy.rel):
        return None
    facts = set_facts(store, track, spec, policy)
    configs = {one["name"]: one for one in store.read_record(track)["config"]["qrels"]}
    stated = rel_by_set(policy.rel)
    is_stated = {facts.qrels, None} & stated.keys() or "rel" in configs[facts.qrels]
    return facts.rel if is_stated else None


def set_facts(store: StoreReader, track: str, spec: Reader, policy: EvalPolicy) -> TrackFacts:
    """Return the facts of a track under the qrels set that a measure or preference reads."""
    facts = track_facts(store, track, policy.qrels, policy.rel)
    if "subtopics" in needs_of([spec]) and has_subtopics(store, facts.track):
        return track_facts(store, track, subtopic_set(store, facts), policy.rel)
    return facts
