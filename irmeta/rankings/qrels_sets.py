"""Qrels sets that a call names: their policies, least relevant grades and provenance."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from irmeta.errors import UsageError
from irmeta.policies import EvalPolicy, rel_by_set
from irmeta.rankings.pool import pool_of
from irmeta.rankings.track_facts import TrackFacts, set_names, track_facts
from irmeta.rankings.view import Need, Reader, needs_of
from irmeta.store.scan import StoreReader


def has_subtopics(store: StoreReader, track: str) -> bool:
    """Check whether a qrels set of a track has subtopics."""
    return any(record["subtopics"] for record in store.read_record(track)["qrels"])


def subtopic_set(store: StoreReader, facts: TrackFacts) -> str:
    """Return the name of the chosen qrels set, or of the first with subtopics."""
    sets = store.read_record(facts.track)["qrels"]
    with_subtopics = [qrels["name"] for qrels in sets if qrels["subtopics"]]
    if not with_subtopics:
        raise UsageError(
            f"track {facts.track!r} has no qrels by subtopic. If the second column of its qrels "
            "names subtopics, write subtopics = true for the file in collection.toml."
        )
    return facts.qrels if facts.qrels in with_subtopics else with_subtopics[0]


def policies_of_sets(store: StoreReader, track: str, policy: EvalPolicy) -> list[EvalPolicy]:
    """Return a policy for each qrels set that a policy names, such as ``human,umbrela``."""
    chosen = set_names(policy.qrels)
    sets = {record["name"] for record in store.read_record(track)["qrels"]}
    if len(chosen) < 2 or policy.qrels in sets:
        return [policy]
    return [replace(policy, qrels=name) for name in chosen]


def stated_rel(store: StoreReader, track: str, spec: Reader, policy: EvalPolicy) -> float | None:
    """Return the least relevant grade of the qrels set that a measure or preference reads.

    None if neither the policy nor the collection states one.
    """
    # Few collections state a grade: without one, the systems of the track are not read.
    states = any("rel" in config for config in store.read_record(track)["config"]["qrels"])
    if not (states or policy.rel):
        return None
    facts = set_facts(store, track, spec, policy)
    configs = {config["name"]: config for config in store.read_record(track)["config"]["qrels"]}
    stated = rel_by_set(policy.rel)
    is_stated = {facts.qrels, None} & stated.keys() or "rel" in configs[facts.qrels]
    return facts.rel if is_stated else None


def set_facts(store: StoreReader, track: str, spec: Reader, policy: EvalPolicy) -> TrackFacts:
    """Return the facts of a track under the qrels set that a measure or preference reads."""
    facts = track_facts(store, track, policy.qrels, policy.rel)
    if "subtopics" in needs_of([spec]) and has_subtopics(store, facts.track):
        return track_facts(store, track, subtopic_set(store, facts), policy.rel)
    return facts


def track_provenance(
    store: StoreReader, track: str, policy: EvalPolicy, needs: Collection[Need]
) -> dict[str, Any]:
    """Return the provenance of one track, as JSON values.

    A track records its qrels set, its ReadPolicy, its tie order, and the highest grade, by which
    graded gains are divided; where they are read, also its pool and the qrels set with subtopics.
    """
    facts = track_facts(store, track, policy.qrels)
    record = {
        "fingerprint": store.fingerprint(facts.track),
        "qrels": facts.qrels,
        "read_policy": dict(facts.policy),
        "tie_order": policy.tie_order or facts.policy["tie_order"],
        "highest_grade": facts.highest_grade,
    }
    if "pool" in needs or policy.has_smaller_pool:
        record["pool"] = pool_of(store, facts.track).note
        record["pool_depth"] = facts.pool_depth_note
    if "sample" in needs and facts.sampled is not None:
        record["sampled_qrels"] = facts.sampled
    # A study computes measures by subtopic only on the tracks that have subtopics.
    if "subtopics" in needs and has_subtopics(store, facts.track):
        record["qrels_by_subtopic"] = subtopic_set(store, facts)
    return record


def provenance_of_sets(
    store: StoreReader, track: str, policies: Sequence[EvalPolicy], needs: Collection[Need]
) -> dict[str, Any]:
    """Return the provenance of one track under several qrels sets; their facts are dicts by set."""
    records = [track_provenance(store, track, policy, needs) for policy in policies]
    if len(records) == 1:
        return records[0]
    facts = {
        key: {record["qrels"]: record[key] for record in records if key in record}
        for key in ("highest_grade", "sampled_qrels", "qrels_by_subtopic")
    }
    named = {"qrels": ",".join(record["qrels"] for record in records)}
    return records[0] | named | {key: by_set for key, by_set in facts.items() if by_set}
