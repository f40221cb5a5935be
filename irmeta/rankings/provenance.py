"""Provenance of values of a track, and shared parts of explanations: block, policies, check."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from irmeta.errors import IrmetaError, UsageError, did_you_mean
from irmeta.policies import EvalPolicy
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import judged_ranks
from irmeta.rankings.needs import Need
from irmeta.rankings.pool import pool_of
from irmeta.rankings.subtopics import has_subtopics, subtopic_set
from irmeta.rankings.track_facts import track_facts
from irmeta.store.scan import StoreReader, undisturbed


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
        key: {one["qrels"]: one[key] for one in records if key in one}
        for key in ("highest_grade", "sampled_qrels", "qrels_by_subtopic")
    }
    named = {"qrels": ",".join(one["qrels"] for one in records)}
    return records[0] | named | {key: by_set for key, by_set in facts.items() if by_set}


def block_with(
    store: StoreReader,
    track: str,
    query: str,
    policy: EvalPolicy,
    needs: Collection[Need],
    queries: Callable[[JudgedRanks], Sequence[str]],
) -> JudgedRanks:
    """Return the block of a track that has a query; `queries` returns those of a block."""
    known: list[str] = []
    with undisturbed(store, track):
        for view in judged_ranks(store, track, policy, needs=needs):
            judged = queries(view)
            if query in judged:
                return view
            known += judged
    raise UsageError(f"track {track!r} has no judged query {query!r}. {did_you_mean(query, known)}")


def system_index(view: JudgedRanks, track: str, system: str) -> int:
    """Return the index of a system."""
    if system not in view.systems:
        hint = did_you_mean(system, view.systems)
        raise UsageError(f"track {track!r} has no system {system!r}. {hint}")
    return view.systems.index(system)


def check_arithmetic(what: str, value: float, computed: float) -> None:
    """Raise `IrmetaError` if the arithmetic of a trace gives another value, up to rounding."""
    if not np.isclose(computed, value, rtol=1e-9, atol=1e-12, equal_nan=True):
        raise IrmetaError(
            f"{what} is {value!r}, but its arithmetic gives {computed!r}: this is a bug in irmeta, "
            "please report it."
        )


def policies_read(view: JudgedRanks, policy: EvalPolicy) -> dict[str, object]:
    """Return the policies that every value of a view depends on."""
    read = view.facts.policy
    record: dict[str, object] = {
        "qrels set": view.facts.qrels,
        "tie order": policy.tie_order or read["tie_order"],
        "depth cut at reading": read["depth"] or "none",
        "negative grades": view.negative,
    }
    if policy.pool_depth is not None:
        record["pool depth"] = policy.pool_depth
    if policy.pool_without:
        record["removed from the pool"] = ", ".join(policy.pool_without)
    return record
