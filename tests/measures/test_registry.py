"""What must hold for every registered measure, whoever registered it."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from making import DOCS, Track, down

from irmeta.errors import MeasureError
from irmeta.measures.names import parse_measure, registry
from irmeta.measures.spec import Measure, Parameter, Spec

CUTOFFS = (None, 1, 2, 3, 7)
TOLERANCE = 1e-12


def some_values(parameter: Parameter) -> list[object]:
    """Values to try for one parameter."""
    if parameter.kind == "choice":
        return [c for c in parameter.choices if c != parameter.default]
    if parameter.name == "gmax":  # no lower than the highest grade of the track
        return [5]
    return [2] if parameter.kind == "whole" else [0.3]


def written(measure: Measure, settings_: dict[str, object], cut: int | None) -> str:
    """A name, as a user may write it."""
    inside = ",".join(f"{name}={value}" for name, value in settings_.items())
    return measure.name + f"({inside})" + ("" if cut is None else f"@{measure.cutoff_prefix}{cut}")


def samples() -> Iterator[Spec]:
    """Every measure with each parameter, each two of them and several cutoffs."""
    seen = set()
    for measure in registry().values():
        tried = [(p.name, value) for p in measure.parameters for value in some_values(p)]
        for chosen in [(), *((t,) for t in tried), *combinations(tried, 2)]:
            for cut in CUTOFFS:
                try:
                    spec = parse_measure(written(measure, dict(chosen), cut))
                except MeasureError:  # parameters that do not go together, a cutoff not allowed
                    continue
                if spec.name not in seen:
                    seen.add(spec.name)
                    yield spec


SAMPLES = {spec.name: spec for spec in samples()}
every_sample = pytest.mark.parametrize("name", SAMPLES)

# Queries of one track, by what a test does with them. "swapped" has a relevant doc one place higher
# than "plain"; "longer" goes on after "plain"; "ideal" has all judged docs, best first; "unjudged"
# retrieves no judged doc; "absent" has no list but for query `only`.
RANDOM = random.Random(7)
QUERIES = [f"q{i}" for i in range(150)]


def crowd() -> Track:
    runs = {name: {} for name in ("plain", "swapped", "longer", "ideal", "unjudged", "absent")}
    runs["absent"]["only"] = down("a")
    qrels = {"only": {"a": 1}, "none": {"a": 0, "b": -2}}
    runs["plain"]["none"] = runs["longer"]["none"] = down("a", "b", "c")
    for query in QUERIES:
        docs = RANDOM.sample(DOCS, 8)
        qrels[query] = {d: RANDOM.randint(-2, 4) for d in docs}
        qrels[query][docs[0]] = RANDOM.randint(1, 4)
        found = RANDOM.sample(DOCS, RANDOM.randint(1, 10))
        rest = RANDOM.sample([d for d in DOCS if d not in found], RANDOM.randint(1, 2))
        runs["plain"][query] = down(*found)
        runs["ideal"][query] = down(*sorted(docs, key=qrels[query].get, reverse=True))
        runs["longer"][query] = down(*found, *rest)
        runs["swapped"][query] = down(*swapped(found, qrels[query]))
        runs["unjudged"][query] = down(*(f"x{i}" for i in range(RANDOM.randint(1, 12))))
    runs["unjudged"]["only"] = down("x")
    return Track(runs, qrels)


def swapped(docs: list[str], grades: dict[str, int]) -> list[str]:
    """The list with one relevant doc moved past a doc of a lower grade, if there is one."""
    graded = [grades.get(d, -3) for d in docs]
    places = [i for i, (up, low) in enumerate(pairwise(graded)) if low >= 1 and low > up]
    if places:
        place = RANDOM.choice(places)
        docs = [*docs[:place], docs[place + 1], docs[place], *docs[place + 2 :]]
    return docs


@pytest.fixture(scope="module")
def track() -> Track:
    return crowd()


@pytest.fixture(scope="module")
def store(track, tmp_path_factory):
    return track.ingest(tmp_path_factory.mktemp("registry"))


@pytest.fixture(scope="module")
def values(store):
    """[query, system] by measure; queries as in QUERIES, then the others by name."""
    scores = store.scores(list(SAMPLES), track="t")

    def of(name: str, system: str, *queries: str) -> np.ndarray:
        places = [scores.queries.index(q) for q in queries or QUERIES]
        return scores.values[scores.measures.index(name), places, scores.systems.index(system)]

    return of


def test_every_measure_is_sampled():
    assert {spec.measure.name for spec in SAMPLES.values()} == registry().keys()
    assert {"P", "R", "AP", "RR", "nDCG", "Bpref", "RBP", "ASL"} <= registry().keys()


@pytest.mark.parametrize("measure", registry().values(), ids=lambda m: m.name)
def test_a_registration_says_what_users_need(measure: Measure):
    assert measure.summary
    assert measure.source
    assert measure.direction in (1, -1)
    assert measure.bounds[0] < measure.bounds[1]
    assert measure.family in ("utility", "recall")
    assert measure.revision >= 1
    names = [p.name for p in measure.parameters]
    assert len(set(names)) == len(names)
    assert all(p.meaning for p in measure.parameters)
    for p in measure.parameters:
        assert p.kind != "choice" or p.default in p.choices


@st.composite
def spellings(draw: st.DrawFn) -> str:
    """A measure with any of its parameters, in any order, and a cutoff."""
    measure = draw(st.sampled_from(list(registry().values())))
    chosen = draw(st.lists(st.sampled_from(measure.parameters), unique=True))
    settings_ = {p.name: draw(any_value(p)) for p in chosen}
    cut = None if measure.cutoff == "none" else draw(st.none() | st.integers(1, 10**6))
    return written(measure, settings_, cut)


def any_value(parameter: Parameter) -> st.SearchStrategy[object]:
    if parameter.kind == "choice":
        return st.sampled_from(parameter.choices)
    if parameter.kind == "whole":
        return st.integers(int(parameter.low), int(min(parameter.high, 10**9)))
    least, most, ends = parameter.low, parameter.high, parameter.open
    return st.floats(least, most, exclude_min=ends, exclude_max=ends)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(spellings())
def test_a_canonical_name_means_the_same_measure(text: str):
    try:
        spec = parse_measure(text)
    except MeasureError:
        assume(False)
    again = parse_measure(spec.name)
    assert again == spec
    assert again.name == spec.name


@every_sample
def test_a_value_does_not_depend_on_what_else_is_asked_for(name, store, values):
    alone = store.scores(name, track="t")
    place = [alone.queries.index(q) for q in QUERIES]
    for index, system in enumerate(alone.systems):
        np.testing.assert_array_equal(alone.values[0, place, index], values(name, system))


@every_sample
def test_values_lie_within_the_registered_bounds(name, values, track):
    low, high = SAMPLES[name].measure.bounds
    for system in track.runs:
        found = values(name, system)
        found = found[~np.isnan(found)]
        assert found.min() >= low - TOLERANCE
        assert found.max() <= high + TOLERANCE


@every_sample
def test_a_relevant_doc_moved_up_is_never_worse(name, values):
    gain = SAMPLES[name].measure.direction * (values(name, "swapped") - values(name, "plain"))
    gain = gain[~np.isnan(gain)]
    assert gain.min() >= -TOLERANCE
    assert gain.max() > 0.01


@pytest.mark.parametrize("name", [n for n, s in SAMPLES.items() if s.measure.monotone])
def test_a_monotone_measure_never_falls_as_a_list_goes_on(name, values):
    gain = SAMPLES[name].measure.direction * (values(name, "longer") - values(name, "plain"))
    assert gain[~np.isnan(gain)].min() >= -TOLERANCE


@pytest.mark.parametrize(
    "measure", [m for m in registry().values() if m.monotone], ids=lambda m: m.name
)
def test_a_monotone_measure_never_falls_with_the_cutoff(measure: Measure, values):
    cuts = [c for c in CUTOFFS if c is not None] + [None] * (measure.cutoff == "optional")
    names = [parse_measure(written(measure, {}, cut)).name for cut in cuts]
    for less, more in pairwise(values(name, "plain") for name in names):
        assert (measure.direction * (more - less)).min() >= -TOLERANCE


@every_sample
def test_a_query_without_relevant_docs_has_the_registered_value(name, values, track):
    expected = SAMPLES[name].measure.no_relevant
    for system in track.runs:
        found = values(name, system, "none")[0]
        assert found == expected or (math.isnan(found) and math.isnan(expected))


# Eq. 3 of paper 1 makes lists that hold relevant docs alone look better than the ideal one.
TRUSTED = [n for n, s in SAMPLES.items() if s.settings.get("unretrieved") != "irrel"]


@pytest.mark.parametrize("name", TRUSTED)
def test_nothing_is_better_than_the_ideal_list(name, values):
    direction = SAMPLES[name].measure.direction
    for system in ("plain", "swapped", "longer"):
        better = direction * (values(name, "ideal") - values(name, system))
        assert better[~np.isnan(better)].min() >= -TOLERANCE


@every_sample
def test_nothing_is_worse_than_no_list(name, values, track):
    direction = SAMPLES[name].measure.direction
    for system in track.runs:
        better = direction * (values(name, system) - values(name, "absent"))
        assert better[~np.isnan(better)].min() >= -TOLERANCE


@every_sample
def test_no_list_scores_what_the_registration_says(name, values, track):
    expected = {"0": 0.0, "deepest rank of the track + 1": track.deepest + 1.0}
    found = values(name, "absent")
    found = found[~np.isnan(found)]
    assert (found == expected[SAMPLES[name].measure.empty_list]).all()


@pytest.mark.parametrize("name", [n for n, s in SAMPLES.items() if s.measure.direction == 1])
def test_a_list_without_relevant_docs_scores_nothing(name, values):
    assert (values(name, "unjudged") == 0).all()
