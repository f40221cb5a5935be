"""Checks of properties that every registered preference must have."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from itertools import combinations, product

import numpy as np

from irmeta.errors import MeasureError
from irmeta.preferences.evaluate import compare_block, evaluate_preferences, list_for
from irmeta.preferences.registry import PreferenceSpec, parse_preference
from irmeta.preferences.spec import PreferenceRule
from irmeta.rankings.judged import JudgedRanks
from irmeta.results.verdicts import BlockPreferences
from irmeta.testing.checks import TOLERANCE, equal, on_tracks, rankings_of, require
from irmeta.testing.samples import CUTOFFS, QUERIES, Track, registered, some_values, views

PairTwin = Callable[[list[str], list[str], dict[str, int], int | None], float]
"""Function from two rankings (best first), grades by doc and cutoff to the preference; NaN without
relevant docs.
"""


def specs_of(rule: PreferenceRule) -> Iterator[PreferenceSpec]:
    """Yield the preference with single parameters, pairs of parameters, and several cutoffs.

    Invalid names are skipped. A qrels set beside that of the subtopics is "qrels", see `crowd`.
    """
    pairs = [
        (p.name, value)
        for p in rule.all_parameters
        for value in (("no", "qrels") if p.kind == "set" else some_values(p))
    ]
    seen = set[PreferenceSpec]()
    for chosen in [(), *((pair,) for pair in pairs), *combinations(pairs, 2)]:
        inside = ",".join(f"{name}={value}" for name, value in chosen)
        for cutoff in CUTOFFS["rank"]:
            cut = "" if cutoff is None else f"@{cutoff}"
            try:
                spec = parse_preference(rule.name + (f"({inside})" if inside else "") + cut)
            except MeasureError:
                continue
            if spec not in seen:
                seen.add(spec)
                yield spec


class PreferenceSubject:
    """A preference that is being checked, on the systems of `crowd`."""

    def __init__(self, rule: PreferenceRule) -> None:
        self.rule = rule

    @property
    def view(self) -> JudgedRanks:
        """The view of all systems of the crowd."""
        return views()["unjudged"]

    @cached_property
    def cases(self) -> list[tuple[PreferenceSpec, BlockPreferences]]:
        """The sampled names and their preferences on the crowd."""
        with registered(self.rule):
            return [(spec, self.compare(spec, self.view)) for spec in specs_of(self.rule)]

    def compare(self, spec: PreferenceSpec, view: JudgedRanks) -> BlockPreferences:
        """Return the preferences of one view."""
        return compare_block(view, [spec])[0]


def check_rule(subject: PreferenceSubject) -> None:
    """Check that the registration is complete, and that canonical names are read as themselves."""
    rule, parameters = subject.rule, [p.name for p in subject.rule.parameters]
    facts = {
        "its name is one word": re.fullmatch(r"\w+", rule.name),
        "it has a summary and a source": rule.summary.strip() and rule.source.strip(),
        "its revision is a whole number from 1": type(rule.revision) is int and rule.revision >= 1,
        "its parameters have different names": len(set(parameters)) == len(parameters),
        "unjudged is not among its parameters": "unjudged" not in parameters,
        "some name can be computed": subject.cases,
    }
    for fact, holds in facts.items():
        require(holds, rule.name, f"it does not hold that {fact}")
    with registered(rule):
        for spec, _ in subject.cases:
            again = parse_preference(spec.name)
            require(again == spec, spec.name, f"read again, the name means {again.settings}")


def check_defined(subject: PreferenceSubject) -> None:
    """Check that a preference is defined exactly where a query has a relevant doc."""
    for spec, preferences in subject.cases:
        view = subject.view.by_subtopic() if "subtopics" in spec.needs else subject.view
        relevant = view.counts(spec.rel) > 0
        if spec.background is not None:
            relevant |= subject.view.counts(spec.rel) > 0
        same = np.array_equal(preferences.defined, relevant)
        require(same, spec.name, "`defined` differs from the queries with a relevant doc")


def check_antisymmetry(subject: PreferenceSubject) -> None:
    """Check that preferences are antisymmetric, between -1 and 1, and 0 for equal lists."""
    ranks, offsets = subject.view.ranks, subject.view.offsets
    for spec, preferences in subject.cases:
        for q in np.flatnonzero(preferences.defined).tolist():
            value, of_query = preferences.difference(q), ranks[offsets[q] : offsets[q + 1]]
            reverse = np.array_equal(value, -value.T)
            require(
                reverse, spec.name, "the preference of b over a is not that of a over b, negated"
            )
            within = (np.abs(value) <= 1 + TOLERANCE).all()
            require(within, spec.name, "a preference is not between -1 and 1")
            alike = (of_query[:, :, None] == of_query[:, None, :]).all(axis=0)
            if spec.settings["unjudged"] == "nonrelevant":
                require(not value[alike].any(), spec.name, "equal lists do not tie")


def check_dominance(subject: PreferenceSubject) -> None:
    """Check that a list with every relevant doc as high, at every grade, never loses."""
    view = subject.view
    for spec, preferences in subject.cases:
        if spec.settings["unjudged"] != "nonrelevant":
            continue
        for q in np.flatnonzero(preferences.defined).tolist():
            rows = slice(int(view.offsets[q]), int(view.offsets[q + 1]))
            ranks, grades = view.ranks[rows], view.grades[rows]
            levels = [np.sort(ranks[grades >= g], axis=0) for g in range(1, int(grades.max()) + 1)]
            stacked = np.concatenate(levels)
            if spec.cutoff is not None:
                stacked = np.where(stacked > spec.cutoff, view.missing, stacked)
            no_worse = (stacked[:, :, None] <= stacked[:, None, :]).all(axis=0)
            loses = preferences.difference(q)[no_worse].min() < 0
            require(not loses, spec.name, "a list loses that is no worse at any recall level")


def check_sums(subject: PreferenceSubject) -> None:
    """Check that sums over queries and over opponents equal those of the single preferences."""
    weights = np.array([1.0, 0.5, 0.25, 2.0, 0.0, 1.0, 1 / 3, 1.0])
    for spec, preferences in subject.cases:
        matrices = {
            q: preferences.difference(q) for q in np.flatnonzero(preferences.defined).tolist()
        }
        total = np.zeros((preferences.systems, preferences.systems))
        preferences.add_to(total)
        expected = np.sum(list(matrices.values()), axis=0)
        near = np.allclose(total, expected, rtol=0, atol=1e-9)
        require(near, spec.name, "`add_to` differs from the sum over queries")
        for opponents in (np.ones(preferences.systems), weights):
            rates = preferences.win_rates(opponents)
            undefined = np.array_equal(np.isnan(rates).any(axis=1), ~preferences.defined)
            require(undefined, spec.name, "`win_rates` is not NaN where no preference is defined")
            for q, matrix in matrices.items():
                near = np.allclose(rates[q], matrix @ opponents, rtol=0, atol=1e-12)
                require(near, spec.name, "`win_rates` differs from the sums over opponents")


def check_independence(subject: PreferenceSubject) -> None:
    """Check that a preference depends on two lists and one query alone."""
    view = subject.view
    systems = list(view.systems)
    some, queries = ["plain", "swapped", "longer"], ("q3", "q7", "only")
    places = [systems.index(name) for name in some]
    fewer = view.only_systems(sorted(some)).only_queries(sorted(queries))
    order = [list(fewer.systems).index(name) for name in some]
    for spec, preferences in subject.cases:
        again = subject.compare(spec, fewer)
        for q in queries:
            i, j = view.queries.index(q), fewer.queries.index(q)
            if preferences.defined[i]:
                expected = preferences.difference(i)[np.ix_(places, places)]
                same = np.array_equal(again.difference(j)[np.ix_(order, order)], expected)
                require(same, spec.name, "a preference changes with other systems or queries")


def check_pair_trace(subject: PreferenceSubject) -> None:
    """Check that the trace of `irmeta explain` adds up to the preference."""
    view = subject.view
    for number, (spec, preferences) in enumerate(subject.cases):
        for query in (QUERIES[number % len(QUERIES)], "only", "none"):
            q = view.queries.index(query)
            lists = [list_for(view, spec, q, s) for s in range(len(view.systems))]
            value = preferences.difference(q) if preferences.defined[q] else None
            for a, first in enumerate(lists):
                for b, second in enumerate(lists):
                    traced = spec.rule.trace(first, second, spec.settings, spec.cutoff).value
                    expected = None if value is None else float(value[a, b])
                    message = f"the trace adds up to {traced!r}, not to {expected!r}"
                    same = traced == expected if None in (traced, expected) else None
                    if traced is not None and expected is not None:
                        same = equal(traced, expected, 1e-9)
                    require(same, spec.name, message)


PREFERENCE_CHECKS: dict[str, Callable[[PreferenceSubject], None]] = {
    "registration": check_rule,
    "defined": check_defined,
    "antisymmetry": check_antisymmetry,
    "dominance": check_dominance,
    "sums": check_sums,
    "independence": check_independence,
    "trace": check_pair_trace,
}
"""Checks of `check_preference` by name."""


def check_preference(
    rules: PreferenceRule | Iterable[PreferenceRule],
    *,
    twin: PairTwin | None = None,
    skip: Collection[str] = (),
) -> None:
    """Check preferences by the checks of built-in ones; registration is not required.

    Parameters
    ----------
    rules
        One or several preferences.
    twin
        Slow and simple reference implementation with default parameters:
        ``twin(ranking, other, qrels, k)``. Rankings are lists of docs, best first; qrels are grades
        by doc. Values must agree to 1e-9 on tracks drawn by hypothesis.
    skip
        Names of checks to leave out, see `PREFERENCE_CHECKS`.

    Raises
    ------
    AssertionError
        At the first failed check, with the canonical name and the values.
    """
    given_rules = [rules] if isinstance(rules, PreferenceRule) else list(rules)
    if unknown := sorted(set(skip) - PREFERENCE_CHECKS.keys()):
        known = ", ".join(PREFERENCE_CHECKS)
        raise ValueError(f"no check is named {unknown[0]!r}; there are: {known}")
    if twin is not None and len(given_rules) != 1:
        raise ValueError("a twin goes with one preference")
    for rule in given_rules:
        subject = PreferenceSubject(rule)
        for name, check in PREFERENCE_CHECKS.items():
            if name not in skip:
                check(subject)
        if twin is not None:
            _check_twin(rule, twin)


def _check_twin(rule: PreferenceRule, twin: PairTwin) -> None:
    """Check that a preference agrees with a slow twin, under its default parameters."""
    defaults = {p.name: p.default for p in rule.all_parameters}
    with registered(rule):
        specs = [spec for spec in specs_of(rule) if spec.settings == defaults]

    def agrees(track: Track) -> None:
        _agrees(track, specs, twin)

    on_tracks(agrees)


def _agrees(track: Track, specs: list[PreferenceSpec], twin: PairTwin) -> None:
    store = track.read()
    rankings = rankings_of(store)
    compared = evaluate_preferences(store.track(track.name), specs)
    for spec, preferences in zip(specs, compared, strict=True):
        preference = preferences.preference()
        for q, query in enumerate(preferences.queries):
            lists = [list(rankings.get((system, query), [])) for system in preferences.systems]
            values, grades = preference.difference(q), dict(track.qrels[query])
            for (a, first), (b, second) in product(enumerate(lists), repeat=2):
                expected = twin(first, second, grades, spec.cutoff)
                message = f"{values[a, b]!r}, but the twin says {expected!r}"
                where = f"of {first} over {second} with grades {grades}"
                require(equal(expected, values[a, b], 1e-9), spec.name, f"{message}, {where}")
