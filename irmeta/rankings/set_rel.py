"""Qrels sets that a call names, and the least relevant grade that a set states."""

from __future__ import annotations

from dataclasses import replace

from irmeta.policies import EvalPolicy
from irmeta.rankings.needs import Reader, needs_of
from irmeta.rankings.subtopics import has_subtopics, subtopic_set
from irmeta.rankings.track_facts import set_names, track_facts
from irmeta.store.scan import StoreReader


def policies_of_sets(store: StoreReader, track: str, policy: EvalPolicy) -> list[EvalPolicy]:
    """Return a policy for each qrels set that a policy names, such as ``human,umbrela``.

    Raises
    ------
    UsageError
        If a name is empty, or a set is named twice.
    """
    names = set_names(policy.qrels)
    sets = {one["name"] for one in store.read_record(track)["qrels"]}
    if len(names) < 2 or policy.qrels in sets:
        return [policy]
    return [replace(policy, qrels=name) for name in names]


def stated_rel(store: StoreReader, track: str, spec: Reader, qrels: str | None) -> float:
    """Return the least relevant grade of the qrels set that a measure or preference reads."""
    # Few collections state a grade: without one, the systems of the track are not read.
    if not any("rel" in one for one in store.read_record(track)["config"]["qrels"]):
        return 1
    facts = track_facts(store, track, qrels)
    if "subtopics" in needs_of([spec]) and has_subtopics(store, facts.track):
        facts = track_facts(store, track, subtopic_set(store, facts))
    return facts.rel
