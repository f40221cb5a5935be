"""Provenance of values of a track: what they were read from."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from irmeta.policies import EvalPolicy
from irmeta.rankings.needs import Need
from irmeta.rankings.pool import pool_of
from irmeta.rankings.subtopics import has_subtopics, subtopic_set
from irmeta.rankings.track_facts import track_facts
from irmeta.store.scan import StoreReader


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
