"""Small tracks, given or drawn by hypothesis, and an artificial track with samples of a measure."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import combinations, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st

from irmeta.api import Store, ingest, read
from irmeta.errors import BrokenMeasureError, IrmetaError, MeasureError
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import Spec, parse_measure, registry
from irmeta.measures.spec import Cutoff, Measure
from irmeta.naming import Parameter
from irmeta.policies import EvalPolicy, Negative
from irmeta.preferences.registry import preference_registry
from irmeta.preferences.spec import PreferenceRule
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import judged_ranks
from irmeta.rankings.view import NEEDED, Need

Line = Sequence[Any]
"""(doc, score) or (doc, score, rank): one line of a list, in file order."""
Runs = dict[str, dict[str, list[Line]]]
"""By system, then query."""
Qrels = dict[str, dict[str, int]]
"""By query, then doc."""

SCORES = (3, 2.5, 2, 1, 0, -1.5, 16777216, 16777217)
"""Few scores, so that ties are common; the last two are tied only as float32."""
DOCS: tuple[str, ...] = ("a", "b", "B", "doc1", "doc10", "doc9", "e", "f", "g", "h", "é", "z")


def down(*docs: str) -> list[Line]:
    """Return lines that rank docs in the given order."""
    return [(doc, -index) for index, doc in enumerate(docs)]


Diversity = dict[str, dict[str, dict[str, int]]]
"""By query, subtopic, then doc."""
Described = Mapping[str, Mapping[str, tuple[float | None, str | None]]]
"""Weight and type by query, then subtopic."""


@dataclass(frozen=True)
class Track:
    """One track as plain values: ad hoc qrels, those by subtopic (the second set), subtopics."""

    runs: Runs
    qrels: Qrels
    name: str = "t"
    diversity: Diversity = field(default_factory=dict)
    described: Described = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        """Write a collection with only this track, and return its folder."""
        runs = folder / self.name / "runs"
        runs.mkdir(parents=True)
        for system, lists in self.runs.items():
            rows = (
                f"{query} Q0 {doc} {rank[0] if rank else index} {score} {system}\n"
                for query, ranked in lists.items()
                for index, (doc, score, *rank) in enumerate(ranked)
            )
            (runs / system).write_text("".join(rows), encoding="utf-8")
        sets = {"qrels": [(q, "0", docs) for q, docs in self.qrels.items()]}
        sets["diversity"] = [(q, s, d) for q, of in self.diversity.items() for s, d in of.items()]
        for file, judged in sets.items():
            lines = (f"{q} {s} {d} {g}\n" for q, s, docs in judged for d, g in docs.items())
            if judged:
                (folder / self.name / file).write_text("".join(lines), encoding="utf-8")
        if self.diversity:
            (folder / "collection.toml").write_text(self._config(), encoding="utf-8")
        if self.described:
            text = "".join(self._described_lines())
            (folder / self.name / "subtopics.csv").write_text(text, encoding="utf-8")
        return folder

    def _config(self) -> str:
        """Return a collection.toml that names the qrels by subtopic."""
        sets = [("qrels", "false")] * bool(self.qrels) + [("diversity", "true")]
        lines = [f'[tracks.{self.name}]\nruns = ["{self.name}/runs/*"]\n']
        for file, subtopics in sets:
            lines += [f"[[tracks.{self.name}.qrels]]", f'name = "{file}"']
            lines += [f'file = "{self.name}/{file}"', f"subtopics = {subtopics}"]
        if self.described:
            lines.append(f'subtopics_file = "{self.name}/subtopics.csv"')
        return "\n".join(lines)

    def _described_lines(self) -> Iterable[str]:
        yield "query,subtopic,weight,type\n"
        for query, subtopics in self.described.items():
            for subtopic, (weight, kind) in subtopics.items():
                weighed = "" if weight is None else weight
                yield f"{query},{subtopic},{weighed},{kind or ''}\n"

    def ingest(self, folder: Path, **choices: Any) -> Store:
        """Write and ingest this track, and return the store."""
        target = folder / f"store{len(list(folder.glob('store*')))}"
        source = folder / "collection"
        if not source.exists():
            self.write(source)
        return ingest(source, target, workers=1, **choices)

    def read(self, **choices: Any) -> Store:
        """Read this track into memory, for tests with many examples."""
        with TemporaryDirectory() as folder:
            return read(self.write(Path(folder)), workers=1, **choices)

    @cached_property
    def deepest(self) -> int:
        """The length of the longest list."""
        return max(len(lines) for lists in self.runs.values() for lines in lists.values())

    @cached_property
    def highest(self) -> int:
        """The highest grade, at least 1."""
        return max(1, *(g for docs in self.qrels.values() for g in docs.values()))


@st.composite
def lists(draw: st.DrawFn, docs: Sequence[str]) -> list[Line]:
    """Draw a list of up to ten of `docs` with tied scores and ranks in any order."""
    chosen = draw(st.lists(st.sampled_from(docs), max_size=10, unique=True)) if docs else []
    score, rank = st.sampled_from(SCORES), st.integers(0, 9)
    return [(doc, draw(score), draw(rank)) for doc in chosen]


@st.composite
def tracks(draw: st.DrawFn, systems: int = 4, queries: int = 4) -> Track:
    """Draw a small track: unjudged docs, negative grades, missing queries, relevant docs only.

    Some queries are judged but not in any run, or in runs but not judged.
    """
    queries_drawn = [f"q{i}" for i in range(draw(st.integers(1, queries)))]
    grades = st.dictionaries(st.sampled_from(DOCS), st.integers(-2, 4), max_size=8)
    qrels = {query: draw(grades) for query in queries_drawn}
    qrels[queries_drawn[0]].setdefault("a", draw(st.integers(-2, 4)))
    runs: Runs = {}
    for index in range(draw(st.integers(2, systems))):
        run = runs[f"s{index}"] = {}
        for query in queries_drawn:
            relevant = [d for d, g in qrels[query].items() if g >= 1]
            run[query] = draw(st.one_of(lists(DOCS), lists(DOCS), lists(relevant)))
        if not any(
            run[q] for q in queries_drawn if qrels[q]
        ):  # a run without a judged query is skipped
            run[queries_drawn[0]] = [("a", 1, 1)]
    return Track(
        {s: {q: lines for q, lines in run.items() if lines} for s, run in runs.items()},
        {q: docs for q, docs in qrels.items() if docs},
    )


CUTOFFS: Mapping[str, tuple[Cutoff, ...]] = {
    "rank": (1, 2, 3, 7, 10**6, None),  # 10**6 exceeds all ranks of the arrays
    "level": (0, 0.3, 1, None),
}
NEGATIVE: tuple[Negative, ...] = ("unjudged", "nonrelevant")
HIGHEST = 4
QUERIES = tuple(f"q{i}" for i in range(150))


def some_values(parameter: Parameter) -> list[str]:
    """Return accepted sample values of a parameter, except its default."""
    tried: dict[str, tuple[object, ...]] = {
        "choice": parameter.choices,
        "gain": (*parameter.choices, "1:3;2:9;3:10;4:20"),
        "levels": ("0;0.5;1", "1;2;10"),
        "whole": (*parameter.choices, 2, 5, 1000),
        "number": (*parameter.choices, 0.3, 2.5, 30, -3),
        "grade": (*parameter.choices, 2, 5, 1000),
    }
    accepted = []
    for value in map(str, tried[parameter.kind]):
        try:
            if parameter.read(value, parameter.name) != parameter.default:
                accepted.append(value)
        except MeasureError:
            continue
    few = len(parameter.choices) + 1
    return accepted[:few] if parameter.kind in ("number", "levels") else accepted


def written(measure: Measure, settings: Mapping[str, str], cutoff: Cutoff) -> str:
    """Return a name as a user may write it."""
    inside = ",".join(f"{name}={value}" for name, value in settings.items())
    cut = "" if cutoff is None else f"@{measure.cutoff_prefix}{cutoff}"
    return measure.name + (f"({inside})" if inside else "") + cut


def samples(measure: Measure) -> Iterator[Spec]:
    """Yield the measure with single parameters, pairs of parameters, and several cutoffs.

    Invalid names are skipped, such as conflicting parameters or an unsupported cutoff.
    """
    pairs = [(p.name, value) for p in measure.parameters for value in some_values(p)]
    unjudged = [p for p in measure.all_parameters if p.name == "unjudged"]
    shared = [(p.name, value) for p in unjudged for value in some_values(p)]
    seen = set()
    for chosen in [(), *((t,) for t in pairs + shared), *combinations(pairs, 2)]:
        for cutoff in CUTOFFS[measure.cutoff_is]:
            try:
                spec = parse_measure(written(measure, dict(chosen), cutoff))
            except MeasureError:
                continue
            if spec not in seen:
                seen.add(spec)
                yield spec


def registered(one: Measure | PreferenceRule) -> AbstractContextManager[object]:
    """Register a measure or preference temporarily, replacing another of the same name."""
    known: dict[str, Any] = registry() if isinstance(one, Measure) else preference_registry()
    return patch.dict(known, {one.name: one})


@cache
def crowd() -> Track:
    """Systems to compare on many queries.

    Compared with ``plain``, ``swapped`` ranks a relevant doc one rank higher, ``replaced`` has a
    doc of the highest grade instead of another, ``tied`` has equal scores, and ``longer`` appends
    docs. ``ideal`` has all judged docs, best first; ``unjudged`` retrieves no judged doc;
    ``absent`` has a list only for query `only`. Query `none` has no relevant doc.
    """
    rng = random.Random(7)
    systems = ("plain", "swapped", "replaced", "tied", "longer", "ideal", "unjudged", "absent")
    runs: Runs = {name: {} for name in systems}
    runs["absent"]["only"], runs["unjudged"]["only"] = down("a"), down("x")
    qrels: Qrels = {"only": {"a": 1}, "none": {"a": 0, "b": -2}}
    runs["plain"]["none"] = runs["longer"]["none"] = down("a", "b", "c")
    for query in QUERIES:
        docs = rng.sample(DOCS, 8)
        grades = qrels[query] = {d: rng.randint(-2, HIGHEST) for d in docs}
        grades[docs[0]] = rng.randint(1, HIGHEST)
        ranked = rng.sample(DOCS, rng.randint(1, 10))
        added = rng.sample([d for d in DOCS if d not in ranked], rng.randint(1, 2))
        runs["plain"][query] = down(*ranked)
        runs["tied"][query] = [(doc, -(index // 3)) for index, doc in enumerate(ranked)]
        runs["longer"][query] = down(*ranked, *added)
        runs["swapped"][query] = down(*_swapped(ranked, grades, rng))
        runs["replaced"][query] = down(*_replaced(ranked, grades, rng))
        runs["ideal"][query] = down(*sorted(docs, key=lambda d: grades[d], reverse=True))
        runs["unjudged"][query] = down(*(f"x{i}" for i in range(rng.randint(1, 12))))
    diversity = _diversity(qrels)
    kinds = {"0": (0.5, "inf"), "1": (1.5, "nav"), "2": (1.0, "nav")}
    return Track(runs, qrels, diversity=diversity, described=dict.fromkeys(diversity, kinds))


def _diversity(qrels: Qrels) -> Diversity:
    """Return three nested subtopics per query: docs of a higher grade are relevant to more.

    Ranking a doc of a higher grade higher is therefore never worse by a measure of subtopics.
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
    positions = [i for i, (up, low) in enumerate(pairwise(graded)) if low >= 1 and low > up]
    if not positions:
        return docs
    i = rng.choice(positions)
    return [*docs[:i], docs[i + 1], docs[i], *docs[i + 2 :]]


def _replaced(docs: list[str], grades: dict[str, int], rng: random.Random) -> list[str]:
    """Return the list with a doc of the highest grade for a non-relevant one, if possible."""
    missing = [d for d, grade in grades.items() if grade == HIGHEST and d not in docs]
    positions = [i for i, d in enumerate(docs) if grades.get(d, -3) < 1]
    if not missing or not positions:
        return docs
    i = rng.choice(positions)
    return [*docs[:i], missing[0], *docs[i + 1 :]]


@cache
def views() -> dict[Negative, JudgedRanks]:
    """Return the views of the crowd, by policy for negative grades."""
    store = crowd().read()
    views_of_crowd: dict[Negative, JudgedRanks] = {}
    for negative in NEGATIVE:
        track = store.track("t", EvalPolicy(negative=negative))
        blocks = judged_ranks(track, needs=get_args(Need))
        (views_of_crowd[negative],) = blocks
    return views_of_crowd


def view_for(spec: Spec, negative: Negative) -> JudgedRanks:
    """Return the view of the crowd with only the arrays that the measure needs."""
    needs = spec.measure.needs(spec.settings)
    unneeded = [name for need, arrays in NEEDED.items() if need not in needs for name in arrays]
    return replace(views()[negative], **dict.fromkeys(unneeded))


@cache
def _rows(queries: tuple[str, ...]) -> list[int]:
    """Return the rows of queries in the views, whose queries do not depend on the policy."""
    known = views()[NEGATIVE[0]].queries
    return [known.index(query) for query in queries]


@dataclass(frozen=True)
class Case:
    """One spec and its values on the crowd: float64 [query, system], by policy."""

    spec: Spec
    values: Mapping[Negative, np.ndarray]

    @property
    def pooled(self) -> bool:
        """Whether a parameter uses the pool of depth k, which may be empty."""
        return "pool" in (self.spec.settings.get("norm"), self.spec.settings.get("ideal"))

    def of(self, system: str, *queries: str, negative: Negative = "unjudged") -> np.ndarray:
        """Return the values of one system, by default for `QUERIES`."""
        rows = _rows(queries or QUERIES)
        return self.values[negative][rows, views()[negative].systems.index(system)]


@dataclass(frozen=True)
class Subject:
    """A measure that is being checked."""

    measure: Measure

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The samples that can be computed on the artificial track."""
        with registered(self.measure):
            values_of = ((spec, _values(spec)) for spec in samples(self.measure))
            return tuple(Case(spec, values) for spec, values in values_of if values is not None)

    @property
    def usual(self) -> tuple[Case, ...]:
        """The samples with only default parameters, by cutoff."""
        defaults = {p.name: p.default for p in self.measure.all_parameters}
        return tuple(case for case in self.cases if case.spec.settings == defaults)

    def without(self, names: str) -> Subject:
        """Return the subject without samples whose canonical name matches a regular expression."""
        subject = Subject(self.measure)
        cases = tuple(case for case in self.cases if not re.fullmatch(names, case.spec.name))
        subject.__dict__["cases"] = cases
        return subject


def _values(spec: Spec) -> dict[Negative, np.ndarray] | None:
    values = {}
    for negative in NEGATIVE:
        view, policy = view_for(spec, negative), EvalPolicy(negative=negative)
        try:
            values[negative] = evaluate_block(view, [spec], policy).values[0]
        except BrokenMeasureError as error:
            raise AssertionError(f"{spec.name}: compute fails: {error}") from error
        except IrmetaError:  # refused for these parameters, or on this track
            return None
    return values
