"""Arithmetic behind one preference, recomputed in plain Python."""

from __future__ import annotations

from dataclasses import dataclass, replace

from irmeta.policies import EvalPolicy
from irmeta.preferences.evaluate import compare_block, qrels_of, view_for
from irmeta.preferences.registry import PreferenceSpec
from irmeta.preferences.spec import PairTrace
from irmeta.rankings.explained import block_with, check_arithmetic, policies_read, system_index
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.one_list import OneList, one_list
from irmeta.store.scan import StoreReader
from irmeta.summaries import Summarized, Summary


@dataclass(frozen=True, repr=False)
class PreferenceExplanation(Summarized):
    """Explanation of one preference.

    Attributes
    ----------
    value
        The preference of `system` over `against`, NaN if undefined; the trace agrees to 1e-9.
    facts
        Relevant docs of the query, and how many each list has.
    policies
        Policies that the value depends on.
    """

    preference: str
    summary: str
    source: str
    track: str
    query: str
    system: str
    against: str
    value: float
    trace: PairTrace
    facts: dict[str, object]
    policies: dict[str, object]

    def _summary(self) -> Summary:
        pair = f"{self.system} over {self.against} on query {self.query} of {self.track}"
        return Summary(self.preference, [pair, f"value {self.value:.6g}"])


def explain_preference(
    store: StoreReader,
    track: str,
    spec: PreferenceSpec,
    system: str,
    against: str,
    query: str,
    policy: EvalPolicy,
) -> PreferenceExplanation:
    """Explain the preference of one system over another for one query.

    Raises
    ------
    UsageError
        If the track has no such system, or no such judged query.
    """
    of_set = replace(policy, qrels=qrels_of(store, track, spec, policy))
    view = block_with(store, track, query, of_set, spec.needs, lambda view: view.queries)
    s, other = (system_index(view, track, name) for name in (system, against))
    q = view.queries.index(query)
    block = compare_block(view, [spec])[0]
    value = float(block.difference(q)[s, other]) if block.defined[q] else float("nan")
    lists = list_for(view, spec, q, s), list_for(view, spec, q, other)
    trace = spec.rule.trace(*lists, spec.settings, spec.cutoff)
    computed = float("nan") if trace.value is None else trace.value
    check_arithmetic(f"{spec.name} of {system} over {against} on query {query}", value, computed)
    return PreferenceExplanation(
        preference=spec.name,
        summary=spec.rule.summary,
        source=spec.rule.source,
        track=view.facts.track,
        query=query,
        system=system,
        against=against,
        value=value,
        trace=trace,
        facts=_facts(lists, spec),
        policies=_policies(view, spec, policy),
    )


def list_for(view: JudgedRanks, spec: PreferenceSpec, q: int, s: int) -> OneList:
    """Return one system's list as the trace of a preference reads it."""
    view = view_for(view, spec)
    if "subtopics" not in spec.needs:
        return one_list(view, q, s)
    one = one_list(view.by_subtopic(), q, s)
    return one if spec.background is None else replace(one, background=one_list(view, q, s).judged)


def _facts(lists: tuple[OneList, OneList], spec: PreferenceSpec) -> dict[str, object]:
    relevant = lists[0].relevant(spec.rel)
    found = [sum(r is not None for r, *_ in one.relevant(spec.rel)) for one in lists]
    return {
        f"relevant docs (grade >= {spec.rel})": len(relevant),
        "relevant docs retrieved": f"{found[0]} and {found[1]}",
        "list lengths": f"{lists[0].length} and {lists[1].length}",
    }


def _policies(view: JudgedRanks, spec: PreferenceSpec, policy: EvalPolicy) -> dict[str, object]:
    record = policies_read(view, policy)
    if "subtopics" in spec.needs:
        record["qrels by subtopic"] = view.by_subtopic().facts.qrels
    return record
