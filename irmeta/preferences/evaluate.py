"""Evaluation of preferences over a store, and the arithmetic behind one preference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from irmeta._version import __version__
from irmeta.errors import UsageError
from irmeta.naming import REL
from irmeta.parallel import check_not_forked
from irmeta.policies import EvalPolicy
from irmeta.preferences.registry import PreferenceSpec, parse_preferences
from irmeta.preferences.spec import PairTerm, PairTrace
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import over_blocks
from irmeta.rankings.one_list import (
    OneList,
    block_with,
    check_arithmetic,
    one_list,
    policies_read,
    system_index,
)
from irmeta.rankings.track import Track, track_provenance
from irmeta.rankings.track_facts import TrackFacts, warn_without_relevant
from irmeta.rankings.view import needs_of
from irmeta.results.verdicts import BlockPreferences, TrackPreferences
from irmeta.summaries import MOST_TERMS, Line, Part, Rows, Summarized, Summary, hidden_text

_Block = tuple[tuple[str, ...], list[BlockPreferences]]


def evaluate_preferences(
    track: Track, specs: Sequence[PreferenceSpec], workers: int | None = 1
) -> list[TrackPreferences]:
    """Compare all pairs of systems of a track by each preference.

    Warn where the `rel` of a preference is above every grade of its qrels set.
    """
    check_queries(track.policy)
    specs = relevant_preferences(track, specs)
    by_name: dict[str, TrackPreferences] = {}
    for qrels in dict.fromkeys(qrels_of(track, spec) for spec in specs):
        chosen = [s for s in specs if qrels_of(track, s) == qrels]
        needs = needs_of(chosen)

        def compared(view: JudgedRanks, specs: Sequence[PreferenceSpec] = chosen) -> _Block:
            return view.queries, compare_block(view, specs)

        of_set = track.under(replace(track.policy, qrels=qrels))
        blocks = list(over_blocks(compared, of_set, needs, workers=workers))
        facts = of_set.facts
        if names := [spec.name for spec in chosen if spec.rel > facts.highest_grade]:
            warn_without_relevant(facts, names)
        by_name |= {verdicts.name: verdicts for verdicts in join_blocks(facts, chosen, blocks)}
    return [by_name[spec.name] for spec in specs]


def relevant_preferences(track: Track, specs: Sequence[PreferenceSpec]) -> list[PreferenceSpec]:
    """Return preferences as they are named on a track: with the `rel` of their qrels set.

    A name that states `rel` keeps it.
    """
    by_name = dict[str, PreferenceSpec]()
    for spec in specs:
        chosen, params = spec, spec.settings
        if not spec.states_rel and params.get(REL.name) == 1:
            of_set = track.under(replace(track.policy, qrels=qrels_of(track, spec)))
            params[REL.name] = of_set.stated_rel(spec) or 1
            chosen = replace(spec, params=tuple(params.items()))
        by_name.setdefault(chosen.name, chosen)
    return list(by_name.values())


def preferences_of(
    view: JudgedRanks, preferences: str | Sequence[str] = "RPP"
) -> list[TrackPreferences]:
    """Compare all pairs of systems of a view, whatever it was made from.

    Parameters
    ----------
    view : JudgedRanks
        For example from `JudgedRanks.from_arrays`, or derived by ``view.drop_relevant(0.5)``.
    preferences : str or sequence of str, default 'RPP'
        Names as in `Store.pairs.preferences`, e.g. ``"RPP,LexiRecall"``.

    Returns
    -------
    list of TrackPreferences
        One for each preference: `means` float64 [system, system], `win_rates`, `frame` and others.

    Raises
    ------
    MeasureError
        If a preference is unknown.
    UsageError
        If a preference reads arrays that the view does not have.

    Examples
    --------
    The first list has its relevant docs at ranks 1 and 3, the second at rank 2:

    >>> ranks, grades = np.array([[1, 2], [3, 0]]), np.array([1, 1])
    >>> view = irmeta.JudgedRanks.from_arrays(ranks, grades, lengths=np.array([[3, 3]]))
    >>> (rpp,) = irmeta.preferences_of(view, "RPP")
    >>> rpp.means().tolist()
    [[0.0, 1.0], [-1.0, 0.0]]
    """
    check_not_forked()
    specs = parse_preferences(preferences)
    return join_blocks(view.facts, specs, [(view.queries, compare_block(view, specs))])


def compare_block(view: JudgedRanks, specs: Sequence[PreferenceSpec]) -> list[BlockPreferences]:
    """Compare all pairs of systems of one block by each preference."""
    condensed = view.condense() if any(_is_condensed(spec) for spec in specs) else view
    return [
        spec.rule.compare(condensed if _is_condensed(spec) else view, spec.settings, spec.cutoff)
        for spec in specs
    ]


def _is_condensed(spec: PreferenceSpec) -> bool:
    return spec.settings["unjudged"] == "condensed"


def join_blocks(
    facts: TrackFacts, specs: Sequence[PreferenceSpec], blocks: Sequence[_Block]
) -> list[TrackPreferences]:
    """Join the queries and preferences of the blocks of a track, for each preference."""
    return [
        TrackPreferences(
            spec.name,
            facts.track,
            facts.systems,
            tuple(facts.groups),
            tuple((queries, preferences[i]) for queries, preferences in blocks),
        )
        for i, spec in enumerate(specs)
    ]


def check_queries(policy: EvalPolicy) -> None:
    """Check that the policy covers the same queries for all systems."""
    if policy.queries == "retrieved":
        raise UsageError(
            "queries=retrieved differs between systems, but a preference compares all systems on "
            "the same queries: those with a relevant doc. Use queries=judged."
        )


def qrels_of(track: Track, spec: PreferenceSpec) -> str | None:
    """Return the qrels set to read for a preference: its background's, or the policy's."""
    if spec.background is None:
        return track.qrels
    background = track.under(replace(track.policy, qrels=spec.background))
    wanted, read = track.subtopic_facts.qrels, background.subtopic_facts.qrels
    if spec.background == read:
        raise UsageError(
            f"{spec.name}: {read!r} has the subtopics of track {track.name!r}: write "
            "background=yes."
        )
    if wanted != read:
        raise UsageError(
            f"{spec.name}: with a background of {spec.background!r}, the subtopics of track "
            f"{track.name!r} come from {read!r}, not from {wanted!r}."
        )
    return spec.background


def preference_provenance(
    tracks: Sequence[Track], specs: Sequence[PreferenceSpec], policy: EvalPolicy
) -> dict[str, Any]:
    """Return the provenance of preferences, as JSON values: see `Store.provenance`."""
    named = [spec for track in tracks for spec in relevant_preferences(track, specs)]
    return {
        "irmeta": __version__,
        "preferences": {spec.name: spec.record for spec in named},
        "eval_policy": policy.record(),
        "tracks": {track.name: track_provenance(track, needs_of(specs)) for track in tracks},
    }


@dataclass(frozen=True, repr=False)
class PreferenceExplanation(Summarized):
    """Explanation of one preference, of `system` over `baseline`; NaN if undefined.

    `facts` are numbers of relevant docs; the value depends on `policies`. The trace agrees to 1e-9.
    """

    preference: str
    summary: str
    source: str
    track: str
    query: str
    system: str
    baseline: str
    value: float
    trace: PairTrace
    facts: dict[str, object]
    policies: dict[str, object]

    def _summary(self) -> Summary:
        pair = f"{self.system} over {self.baseline} on query {self.query} of {self.track}"
        return Summary(self.preference, [pair])

    def parts(self, digits: int | None = None, every: bool = False) -> Iterator[Part]:
        """Return the lines and tables to print: see `Summarized.parts`."""
        pair = f"{self.system} over {self.baseline}"
        subject = f"{pair} on query {self.query} (track {self.track})"
        yield Line(f"{self.preference} of {subject} = {self.value:.6g}", "bold")
        yield Line(f"{self.summary}\nsource: {self.source}", "dim")
        for facts in (self.facts, self.policies):
            yield Line("; ".join(f"{name}: {value}" for name, value in facts.items()))
        terms = self.trace.terms
        shown = terms if every else terms[:MOST_TERMS]
        yield Line("")
        yield self._printed(shown)
        if hidden := terms[len(shown) :]:
            yield Line(hidden_text(len(hidden), sum(t.sign * t.weight for t in hidden)))
        is_defined = not math.isnan(self.value)
        total = f"sum = {self.value:.6g}" if is_defined else "no relevant doc: undefined"
        yield Line(total, "bold")

    def _printed(self, terms: Sequence[PairTerm]) -> Rows:
        """Return a printed table of terms, which names the list that is better."""
        first, second = (f"rank in {name}" for name in (self.system, self.baseline))
        better = {1: self.system, -1: self.baseline, 0: "tie"}
        columns = {
            "set": [term.part for term in terms],
            "level": [str(term.level) for term in terms],
            first: [term.rank and str(term.rank) for term in terms],
            f"doc of {self.system}": [term.doc for term in terms],
            second: [term.other_rank and str(term.other_rank) for term in terms],
            f"doc of {self.baseline}": [term.other_doc for term in terms],
            "better": [better[term.sign] for term in terms],
            "weight": [f"{term.weight:.6g}" for term in terms],
            "adds": [f"{term.sign * term.weight:.6g}" for term in terms],
        }
        frame = pl.DataFrame(columns, dict.fromkeys(columns, pl.String))
        frame = frame if any(term.part for term in terms) else frame.drop("set")
        return Rows(frame, ("level", first, second, "weight", "adds"))


def explain_preference(
    track: Track, spec: PreferenceSpec, system: str, baseline: str, query: str
) -> PreferenceExplanation:
    """Explain the preference of one system over another for one query."""
    of_set = track.under(replace(track.policy, qrels=qrels_of(track, spec)))
    view = block_with(of_set, query, spec.needs, lambda view: view.queries)
    s, base = (system_index(view, track.name, name) for name in (system, baseline))
    q = view.queries.index(query)
    block = compare_block(view, [spec])[0]
    value = float(block.difference(q)[s, base]) if block.defined[q] else float("nan")
    lists = list_for(view, spec, q, s), list_for(view, spec, q, base)
    trace = spec.rule.trace(*lists, spec.settings, spec.cutoff)
    computed = float("nan") if trace.value is None else trace.value
    check_arithmetic(f"{spec.name} of {system} over {baseline} on query {query}", value, computed)
    policies = policies_read(view, track.policy)
    if "subtopics" in spec.needs:
        policies["qrels by subtopic"] = view.by_subtopic().facts.qrels
    return PreferenceExplanation(
        preference=spec.name,
        summary=spec.rule.summary,
        source=spec.rule.source,
        track=view.facts.track,
        query=query,
        system=system,
        baseline=baseline,
        value=value,
        trace=trace,
        facts=_facts(lists, spec),
        policies=policies,
    )


def list_for(view: JudgedRanks, spec: PreferenceSpec, q: int, s: int) -> OneList:
    """Return one system's list as the trace of a preference reads it."""
    view = view.condense() if _is_condensed(spec) else view
    if "subtopics" not in spec.needs:
        return one_list(view, q, s)
    one = one_list(view.by_subtopic(), q, s)
    return one if spec.background is None else replace(one, background=one_list(view, q, s).judged)


def _facts(lists: tuple[OneList, OneList], spec: PreferenceSpec) -> dict[str, object]:
    relevant = lists[0].relevant(spec.rel)
    retrieved = [sum(r is not None for r, *_ in docs.relevant(spec.rel)) for docs in lists]
    return {
        f"relevant docs (grade >= {spec.rel})": len(relevant),
        "relevant docs retrieved": f"{retrieved[0]} and {retrieved[1]}",
        "list lengths": f"{lists[0].length} and {lists[1].length}",
    }
