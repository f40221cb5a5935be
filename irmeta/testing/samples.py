"""A measure under many parameters and cutoffs, on a made track: what the checks look at."""

from __future__ import annotations

import random
import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations, pairwise
from typing import get_args

import numpy as np

from irmeta.errors import IrmetaError, MeasureError
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import parse_measure, registry
from irmeta.measures.parameters import Parameter
from irmeta.measures.spec import Cutoff, Measure, Spec
from irmeta.policies import EvalPolicy, Negative
from irmeta.rankings.judged import NEEDED, JudgedRanks, Need
from irmeta.rankings.load import judged_ranks
from irmeta.testing.tracks import DOCS, Diversity, Qrels, Runs, Track, down

CUTOFFS: Mapping[str, tuple[Cutoff, ...]] = {
    "rank": (1, 2, 3, 7, 10**6, None),  # the last is beyond all ranks that the arrays can hold
    "level": (0, 0.3, 1, None),
}
NEGATIVE: tuple[Negative, ...] = ("unjudged", "nonrelevant")
HIGHEST = 4
QUERIES = tuple(f"q{i}" for i in range(150))


def some_values(parameter: Parameter) -> list[str]:
    """Values to try for one parameter, all that it accepts and none the default."""
    tried: dict[str, tuple[object, ...]] = {
        "choice": parameter.choices,
        "gain": (*parameter.choices, "1:3;2:9;3:10;4:20"),
        "levels": ("0;0.5;1", "1;2;10"),
        "whole": (2, 5, 1000),
        "number": (0.3, 2.5, 30, -3),
    }
    found = []
    for value in map(str, tried[parameter.kind]):
        try:
            if parameter.read(value, parameter.name) != parameter.default:
                found.append(value)
        except MeasureError:
            continue
    return found[:1] if parameter.kind in ("number", "levels") else found


def written(measure: Measure, settings: Mapping[str, str], cutoff: Cutoff) -> str:
    """Return a name as a user may write it."""
    inside = ",".join(f"{name}={value}" for name, value in settings.items())
    cut = "" if cutoff is None else f"@{measure.cutoff_prefix}{cutoff}"
    return measure.name + (f"({inside})" if inside else "") + cut


def samples(measure: Measure) -> Iterator[Spec]:
    """Yield the measure with each parameter, each pair of its own, and several cutoffs.

    Those that its name may not say are left out: parameters that do not go together, a cutoff
    where none is taken.
    """
    own = [(p.name, value) for p in measure.parameters for value in some_values(p)]
    unjudged = [p for p in measure.all_parameters if p.name == "unjudged"]
    shared = [(p.name, value) for p in unjudged for value in some_values(p)]
    seen = set()
    for chosen in [(), *((t,) for t in own + shared), *combinations(own, 2)]:
        for cutoff in CUTOFFS[measure.cutoff_is]:
            try:
                spec = parse_measure(written(measure, dict(chosen), cutoff))
            except MeasureError:
                continue
            if spec not in seen:
                seen.add(spec)
                yield spec


@contextmanager
def registered(measure: Measure) -> Generator[None]:
    """Register a measure for a while, in place of another of its name."""
    known = registry()
    before = known.get(measure.name)
    known[measure.name] = measure
    try:
        yield
    finally:
        if before is None:
            del known[measure.name]
        else:
            known[measure.name] = before


@cache
def crowd() -> Track:
    """Systems to compare on many queries.

    ``swapped`` has a relevant doc one place higher than ``plain``, ``replaced`` a doc of the
    highest grade in place of another, ``tied`` the same docs with equal scores; ``longer`` goes on
    where it ends. ``ideal`` has all judged docs, best first; ``unjudged`` retrieves no judged doc;
    ``absent`` has no list but for query `only`. Query `none` has no relevant doc.
    """
    rng = random.Random(7)
    names = ("plain", "swapped", "replaced", "tied", "longer", "ideal", "unjudged", "absent")
    runs: Runs = {name: {} for name in names}
    runs["absent"]["only"], runs["unjudged"]["only"] = down("a"), down("x")
    qrels: Qrels = {"only": {"a": 1}, "none": {"a": 0, "b": -2}}
    runs["plain"]["none"] = runs["longer"]["none"] = down("a", "b", "c")
    for query in QUERIES:
        docs = rng.sample(DOCS, 8)
        grades = qrels[query] = {d: rng.randint(-2, HIGHEST) for d in docs}
        grades[docs[0]] = rng.randint(1, HIGHEST)
        found = rng.sample(DOCS, rng.randint(1, 10))
        rest = rng.sample([d for d in DOCS if d not in found], rng.randint(1, 2))
        runs["plain"][query] = down(*found)
        runs["tied"][query] = [(doc, -(place // 3)) for place, doc in enumerate(found)]
        runs["longer"][query] = down(*found, *rest)
        runs["swapped"][query] = down(*_swapped(found, grades, rng))
        runs["replaced"][query] = down(*_replaced(found, grades, rng))
        runs["ideal"][query] = down(*sorted(docs, key=lambda d: grades[d], reverse=True))
        runs["unjudged"][query] = down(*(f"x{i}" for i in range(rng.randint(1, 12))))
    return Track(runs, qrels, diversity=_diversity(qrels))


def _diversity(qrels: Qrels) -> Diversity:
    """Three subtopics a query, nested: a doc of a higher grade is relevant to more of them.

    Thus a measure of subtopics, too, is no worse where a doc of a higher grade stands higher.
    """
    return {
        query: {
            str(least): {doc: min(grade, max(grade - least, 0)) for doc, grade in grades.items()}
            for least in range(3)
        }
        for query, grades in qrels.items()
    }


def _swapped(docs: list[str], grades: dict[str, int], rng: random.Random) -> list[str]:
    """Return the list with a relevant doc moved above one of a lower grade, if there is one."""
    graded = [grades.get(d, -3) for d in docs]
    places = [i for i, (up, low) in enumerate(pairwise(graded)) if low >= 1 and low > up]
    if not places:
        return docs
    i = rng.choice(places)
    return [*docs[:i], docs[i + 1], docs[i], *docs[i + 2 :]]


def _replaced(docs: list[str], grades: dict[str, int], rng: random.Random) -> list[str]:
    """Return the list with a doc of the highest grade for a non-relevant one, if possible."""
    missing = [d for d, grade in grades.items() if grade == HIGHEST and d not in docs]
    places = [i for i, d in enumerate(docs) if grades.get(d, -3) < 1]
    if not missing or not places:
        return docs
    i = rng.choice(places)
    return [*docs[:i], missing[0], *docs[i + 1 :]]


@cache
def views() -> dict[Negative, JudgedRanks]:
    """Return the views of the crowd, by policy for negative grades."""
    store = crowd().read()
    found: dict[Negative, JudgedRanks] = {}
    for negative in NEGATIVE:
        blocks = judged_ranks(
            store.reader, "t", EvalPolicy(negative=negative), needs=get_args(Need)
        )
        (found[negative],) = blocks
    return found


def view_for(spec: Spec, negative: Negative) -> JudgedRanks:
    """Return the view of the crowd with only the arrays that the measure needs."""
    needs = spec.measure.needs(spec.settings)
    others = [name for need, names in NEEDED.items() if need not in needs for name in names]
    return replace(views()[negative], **dict.fromkeys(others))


@dataclass(frozen=True)
class Case:
    """One spec and its values on the crowd: float64 [query, system], by policy."""

    spec: Spec
    values: Mapping[Negative, np.ndarray]

    @property
    def pooled(self) -> bool:
        """Whether a parameter takes something from the pool of depth k, which may hold nothing."""
        return "pool" in (self.spec.settings.get("norm"), self.spec.settings.get("ideal"))

    def of(self, system: str, *queries: str, negative: Negative = "unjudged") -> np.ndarray:
        """Return the values of one system, by default for `QUERIES`."""
        view = views()[negative]
        places = [view.queries.index(q) for q in queries or QUERIES]
        return self.values[negative][places, view.systems.index(system)]


@dataclass(frozen=True)
class Subject:
    """A measure that is being checked."""

    measure: Measure

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """Its samples, without those that the made track's data do not allow."""
        with registered(self.measure):
            found = ((spec, _values(spec)) for spec in samples(self.measure))
            return tuple(Case(spec, values) for spec, values in found if values is not None)

    @property
    def usual(self) -> tuple[Case, ...]:
        """The samples with default parameters alone, by cutoff."""
        defaults = {p.name: p.default for p in self.measure.all_parameters}
        return tuple(case for case in self.cases if case.spec.settings == defaults)

    def without(self, names: str) -> Subject:
        """Return the subject without samples whose canonical name matches a regular expression."""
        other = Subject(self.measure)
        kept = tuple(case for case in self.cases if not re.fullmatch(names, case.spec.name))
        other.__dict__["cases"] = kept
        return other


def _values(spec: Spec) -> dict[Negative, np.ndarray] | None:
    found = {}
    for negative in NEGATIVE:
        view, policy = view_for(spec, negative), EvalPolicy(negative=negative)
        try:
            found[negative] = evaluate_block(view, [spec], policy).values[0]
        except IrmetaError:
            return None
        except Exception as error:
            raise AssertionError(f"{spec.name}: compute fails: {error!r}") from error
    return found
