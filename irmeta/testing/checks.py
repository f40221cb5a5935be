"""Checks of properties that every registered measure must have, and comparison with a slow twin."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import pairwise

import numpy as np
from hypothesis import HealthCheck, given, settings

from irmeta.api import Store
from irmeta.errors import MeasureError
from irmeta.measures.evaluate import evaluate, evaluate_block, seen_by
from irmeta.measures.names import Spec, parse_measure
from irmeta.measures.spec import Measure
from irmeta.naming import AVERAGES, Parameter
from irmeta.policies import EvalPolicy
from irmeta.rankings.one_list import OneList, one_list
from irmeta.testing.samples import (
    CUTOFFS,
    HIGHEST,
    NEGATIVE,
    QUERIES,
    Case,
    Subject,
    Track,
    crowd,
    registered,
    some_values,
    tracks,
    view_for,
    views,
    written,
)

TOLERANCE = 1e-12
TRACED = 40  # queries whose values are traced


def equal(a: float, b: float, within: float = TOLERANCE) -> bool:
    """Check whether two values are equal, relative or absolute; NaN equals NaN."""
    both = math.isnan(a) and math.isnan(b)
    return both or math.isclose(a, b, rel_tol=within, abs_tol=TOLERANCE)


def require(holds: object, of: str, message: str) -> None:
    """Raise an AssertionError unless a condition holds, also under ``python -O``."""
    if not holds:
        raise AssertionError(f"{of}: {message}")


def check_registration(subject: Subject) -> None:
    """Check that the registration is complete and consistent."""
    m, parameters = subject.measure, [p.name for p in subject.measure.parameters]
    facts = {
        "its name is one word": re.fullmatch(r"\w+", m.name),
        "it has a summary and a source": m.summary.strip() and m.source.strip(),
        "compute has a docstring, its definition": (m.compute.__doc__ or "").strip(),
        "its direction is 1 or -1": m.direction in (1, -1),
        "its bounds are the least and the greatest value": m.bounds[0] < m.bounds[1],
        "its family is utility, recall or count": m.family in ("utility", "recall", "count"),
        "cutoff is none, optional or required": m.cutoff in ("none", "optional", "required"),
        "cutoff_is is rank or level": m.cutoff_is in CUTOFFS,
        "empty_list is not empty": m.empty_list.strip(),
        "its average is a known one": m.average in AVERAGES,
        "its revision is a whole number from 1": type(m.revision) is int and m.revision >= 1,
        "its parameters have different names": len(set(parameters)) == len(parameters),
        "unjudged and average are not among its parameters": not {"unjudged", "average"}
        & {*parameters},
    }
    for fact, holds in facts.items():
        require(holds, m.name, f"it does not hold that {fact}")
    for p in m.parameters:
        require(p.meaning.strip(), m.name, f"the parameter {p.name} has no meaning")
        fact = f"the default {p.name}={p.default!r} is not read as itself"
        require(p.default is None or _is_read(p), m.name, fact)


def _is_read(parameter: Parameter) -> bool:
    try:
        return parameter.read(str(parameter.default), parameter.name) == parameter.default
    except MeasureError:
        return False


def check_names(subject: Subject) -> None:
    """Check that parsing a canonical name returns the same measure."""
    with registered(subject.measure):
        for case in subject.cases:
            again = parse_measure(case.spec.name)
            message = f"read again, the name means {again.name} with {again.settings}"
            require(again == case.spec, f"{case.spec.name} with {case.spec.settings}", message)


def check_parameters(subject: Subject) -> None:
    """Check that every parameter and every choice can be used, with some cutoff."""
    require(subject.cases, subject.measure.name, "no sample name can be computed")
    used = {pair for case in subject.cases for pair in case.spec.params}
    for p in subject.measure.parameters:
        tried = [p.read(value, p.name) for value in some_values(p)]
        accepted = [value for value in tried if (p.name, value) in used]
        enough = len(accepted) == len(tried) if p.kind == "choice" else accepted
        message = (
            f"{p.name} can be none of {tried}" if not accepted else f"{p.name} can be {accepted}"
        )
        require(enough, subject.measure.name, f"{message} alone, out of {tried}")


def check_cutoffs(subject: Subject) -> None:
    """Check that values do not depend on other cutoffs, and that `compute` keeps the view."""
    together: dict[tuple[object, ...], list[Case]] = {}
    for case in subject.cases:
        together.setdefault(case.spec.params, []).append(case)
    for cases in together.values():
        view = view_for(cases[0].spec, "unjudged")
        before = view.ranks.copy(), view.grades.copy(), view.lengths.copy()
        specs = [case.spec for case in reversed(cases)]
        computed = evaluate_block(view, specs, EvalPolicy()).values[::-1]
        for case, values in zip(cases, computed, strict=True):
            alike = np.array_equal(values, case.values["unjudged"], equal_nan=True)
            require(alike, case.spec.name, "its values change when other cutoffs are asked for too")
        after = view.ranks, view.grades, view.lengths
        same = all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
        require(same, cases[0].spec.name, "compute changes the arrays of the view")


def check_undefined(subject: Subject) -> None:
    """Check that values are finite, or NaN without relevant docs or for an empty pool."""
    for case in subject.cases:
        relevant = view_for(case.spec, "unjudged").counts(case.spec.rel) > 0
        for negative in NEGATIVE:
            values = case.values[negative]
            require(not np.isinf(values).any(), case.spec.name, "a value is infinite")
            has_nan = np.isnan(values[relevant]).any() and not case.pooled
            require(not has_nan, case.spec.name, "a value is NaN although there are relevant docs")


def check_bounds(subject: Subject) -> None:
    """Check that values lie within the bounds."""
    low, high = subject.measure.bounds
    for case in subject.cases:
        for negative in NEGATIVE:
            values = case.values[negative]
            outside = values[(values < low - TOLERANCE) | (values > high + TOLERANCE)]
            message = f"the value {outside[:1]} is not between {low:g} and {high:g}"
            require(not len(outside), case.spec.name, message)


def check_direction(subject: Subject) -> None:
    """Check that moving a relevant doc up, or substituting one, is never worse."""
    for case in subject.cases:
        if case.spec.unjudged.startswith("upper") or case.spec.rel > HIGHEST:
            continue
        pairs = [("plain", "swapped")]
        if case.spec.unjudged == "nonrelevant":
            pairs.append(("plain", "replaced"))
        gains = [_better(case, *pair) for pair in pairs]
        for gain, what in zip(gains, ("moved up", "put in place of another doc"), strict=False):
            least = gain.min(initial=0.0)
            message = f"a relevant doc {what} makes the value worse, by {-least:g}"
            require(least >= -TOLERANCE, case.spec.name, message)
        some = max(gain.max(initial=0.0) for gain in gains) > TOLERANCE
        wanted = subject.measure.family != "count" and case in subject.usual
        message = "no relevant doc that is moved up or put in makes the value better"
        require(some or not wanted, case.spec.name, message)


def _better(case: Case, system: str, rival: str) -> np.ndarray:
    """Return how much better another system is, by query with both values defined."""
    gain = case.spec.measure.direction * (case.of(rival) - case.of(system))
    return gain[~np.isnan(gain)]


def check_monotone(subject: Subject) -> None:
    """Check that exactly monotone measures never get worse with the cutoff or a longer list."""
    direction, usual = subject.measure.direction, subject.usual
    for less, more in pairwise(usual if subject.measure.monotone else ()):
        fall = (direction * (more.of("plain") - less.of("plain"))).min()
        message = f"monotone=True, but it is worse than {less.spec.name}, by {-fall:g}"
        require(fall >= -TOLERANCE, more.spec.name, message)
    for case in subject.cases if subject.measure.monotone else ():
        fall = _better(case, "plain", "longer").min(initial=0.0)
        message = f"monotone=True, but it gets worse by {-fall:g} as a list goes on"
        require(fall >= -TOLERANCE, case.spec.name, message)
    if not subject.measure.monotone and len(usual) > 1:
        steps = (direction * (b.of("plain") - a.of("plain")) for a, b in pairwise(usual))
        message = "monotone=False, but no value gets worse as the cutoff grows"
        require(min(step.min() for step in steps) < 0, subject.measure.name, message)


def check_no_relevant(subject: Subject) -> None:
    """Check that queries without relevant docs have the registered value, or NaN by the pool."""
    expected = subject.measure.no_relevant
    for case in subject.cases:
        if expected is None or case.spec.unjudged.startswith("upper"):
            continue
        for system in crowd().runs:
            (value,) = case.of(system, "none")
            same = equal(value, expected) or (case.pooled and math.isnan(value))
            message = f"without relevant docs the value is {value:g}, not no_relevant={expected:g}"
            require(same, case.spec.name, message)


def check_no_list(subject: Subject) -> None:
    """Check that a system without a list scores `empty_list`, if that is a number."""
    try:
        expected = float(subject.measure.empty_list)
    except ValueError:
        return
    for case in subject.cases:
        values = case.of("absent")
        values = values[~np.isnan(values)]
        wrong = values[values != expected]
        message = f"a system without a list scores {wrong[:1]}, not empty_list={expected:g}"
        require(not len(wrong), case.spec.name, message)


def check_no_list_is_worst(subject: Subject) -> None:
    """Check that a missing list is never better than a list."""
    if subject.measure.family == "count":
        return
    for case in subject.cases:
        for system in crowd().runs:
            gain = _better(case, "absent", system)
            message = f"a system without a list scores better than {system!r} with one"
            require(gain.min(initial=0.0) >= -TOLERANCE, case.spec.name, message)


def check_no_judged_retrieved(subject: Subject) -> None:
    """Check that lists of unjudged docs score the lower bound, if greater is better."""
    low, measure = subject.measure.bounds[0], subject.measure
    if measure.direction != 1 or measure.family == "count" or math.isinf(low):
        return
    for case in subject.cases:
        if not case.spec.unjudged.startswith("upper"):
            values = case.of("unjudged")
            most = values[~np.isnan(values)].max(initial=low)
            message = f"a list of unjudged docs scores {most:g}, not {low:g}"
            require(most <= low + TOLERANCE, case.spec.name, message)


def check_ideal_is_best(subject: Subject) -> None:
    """Check that no list is better than all judged docs in the order of their grades."""
    if subject.measure.family == "count":
        return
    for case in subject.cases:
        if case.spec.unjudged == "nonrelevant":
            for system in ("plain", "swapped", "replaced", "longer"):
                gain = _better(case, system, "ideal")
                message = f"{system!r} scores better than all judged docs in the order of grades"
                require(gain.min(initial=0.0) >= -TOLERANCE, case.spec.name, message)


def check_trace(subject: Subject) -> None:
    """Check that the trace of `irmeta explain` adds up to the value."""
    known: dict[tuple[object, ...], Callable[[int, int], OneList]] = {}
    for number, case in enumerate(subject.cases):
        spec, first = case.spec, 4 * number % TRACED
        for turn, negative in enumerate(NEGATIVE):
            # Most cases of a measure see the same lists.
            seen = negative, spec.unjudged, frozenset(spec.measure.needs(spec.settings))
            if spec.unjudged.startswith("upper"):
                seen = *seen, spec.rel, spec.cutoff
            if seen not in known:
                view = seen_by(view_for(spec, negative), spec)
                known[seen] = cache(partial(one_list, view))
            queries = views()[negative].queries
            for query in (*QUERIES[first : first + 2], "only", "none"):
                q = queries.index(query)
                # Each list by one of the policies, for a trace is slow
                for s in range((q + turn) % 2, case.values[negative].shape[1], 2):
                    trace = spec.measure.trace(known[seen](q, s), spec.settings, spec.cutoff)
                    value = case.values[negative][q, s]
                    message = f"the trace adds up to {trace.value!r}, but compute returns {value!r}"
                    require(equal(trace.value, value, 1e-9), spec.name, message)


def check_events(subject: Subject) -> None:
    """Check that the step function of k, if there is one, has the same values."""
    for case in subject.cases:
        measure, params = case.spec.measure, case.spec.settings
        view = seen_by(view_for(case.spec, "unjudged"), case.spec)
        if case.spec.cutoff != 1 or case.spec.unjudged != "nonrelevant" or not measure.events:
            continue
        events = measure.events(view, params)
        if events is None:
            continue
        ks = [k for k in CUTOFFS["rank"] if isinstance(k, int)]
        query = np.repeat(np.arange(len(view.queries)), np.diff(events.offsets))
        ascend = events.ranks[1:] >= events.ranks[:-1]
        ascends = bool(ascend[query[1:] == query[:-1]].all())
        require(ascends, case.spec.name, "the ranks of its events do not ascend within a query")
        divisors = np.broadcast_to(events.divisors(np.array(ks)), (len(ks), len(view.queries)))
        for k, divisor, values in zip(ks, divisors, measure.compute(view, params, ks), strict=True):
            total = np.zeros(values.shape)
            held = (events.ranks <= k) & (events.ranks < view.missing)
            np.add.at(total, query, np.where(held, events.amounts, 0.0))
            by = np.where(divisor > 0, divisor, 1.0)[:, None]
            value = total * events.scale / by
            expected = np.where(divisor[:, None] > 0, value, events.undefined)
            same = np.allclose(expected, values, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
            require(same, case.spec.name, f"its events and compute disagree at k = {k}")


CHECKS: Mapping[str, Callable[[Subject], None]] = {
    "registration": check_registration,
    "parameters": check_parameters,
    "names": check_names,
    "cutoffs": check_cutoffs,
    "undefined": check_undefined,
    "bounds": check_bounds,
    "direction": check_direction,
    "monotone": check_monotone,
    "no relevant docs": check_no_relevant,
    "no list": check_no_list,
    "no list is worst": check_no_list_is_worst,
    "nothing found": check_no_judged_retrieved,
    "ideal is best": check_ideal_is_best,
    "trace": check_trace,
    "events": check_events,
}
"""The checks of `check_measure` by name, in order."""


Twin = Callable[[list[str], dict[str, int], int | float | None], float]
"""Function from ranking (best first), grades by doc and cutoff to the value."""


def check_twin(measure: Measure, twin: Twin) -> None:
    """Check that a measure agrees with a slow twin, under its default parameters."""
    specs = []
    for cutoff in CUTOFFS[measure.cutoff_is]:
        if cutoff is None and measure.cutoff == "required":
            continue
        if cutoff is None or measure.cutoff != "none":
            specs.append(parse_measure(written(measure, {}, cutoff)))

    def agrees(track: Track) -> None:
        _agrees(track, specs, twin)

    on_tracks(agrees)


def on_tracks(check: Callable[[Track], None]) -> None:
    """Check `crowd`, and tracks that hypothesis draws: the same everywhere, without a deadline."""

    @settings(
        max_examples=30,
        deadline=None,
        derandomize=True,
        report_multiple_bugs=False,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(tracks(systems=3, queries=3))
    def check_drawn(track: Track) -> None:
        check(track)

    check(crowd())
    check_drawn()


def rankings_of(store: Store) -> dict[tuple[str, str], list[str]]:
    """Return the docs of each system and query, best first."""
    ranked = store.runs().sort("rank").group_by("system", "query").agg("doc").collect()
    return {(system, query): docs for system, query, docs in ranked.iter_rows()}


def _agrees(track: Track, specs: list[Spec], twin: Twin) -> None:
    store = track.read()
    rankings = rankings_of(store)
    scores = evaluate(store.track(track.name), specs)
    for spec, values in zip(specs, scores.values, strict=True):
        for q, query in enumerate(scores.queries):
            for s, system in enumerate(scores.systems):
                docs, grades = rankings.get((system, query), []), track.qrels[query]
                expected, value = twin(list(docs), dict(grades), spec.cutoff), values[q, s]
                message = (
                    f"{value!r}, but the twin says {expected!r}, of {docs} with grades {grades}"
                )
                require(equal(expected, value, 1e-9), spec.name, message)
