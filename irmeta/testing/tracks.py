"""Small tracks: given as Python values, or drawn by hypothesis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st

from irmeta.api import Store, ingest, read

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
    """One track as plain values.

    Attributes
    ----------
    qrels
        Ad hoc qrels; may be empty.
    diversity
        Qrels by subtopic, the second set of the track; may be empty.
    described
        Weights and types of subtopics, which the collection has in a file; may be empty.
    """

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
            (runs / system).write_text("".join(_run_lines(system, lists)), encoding="utf-8")
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


def _run_lines(system: str, lists: dict[str, list[Line]]) -> Iterable[str]:
    for query, lines in lists.items():
        for index, (doc, score, *rank) in enumerate(lines):
            yield f"{query} Q0 {doc} {rank[0] if rank else index} {score} {system}\n"


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
    names = [f"q{i}" for i in range(draw(st.integers(1, queries)))]
    grades = st.dictionaries(st.sampled_from(DOCS), st.integers(-2, 4), max_size=8)
    qrels = {query: draw(grades) for query in names}
    qrels[names[0]].setdefault("a", draw(st.integers(-2, 4)))
    runs: Runs = {}
    for index in range(draw(st.integers(2, systems))):
        run = runs[f"s{index}"] = {}
        for query in names:
            relevant = [d for d, g in qrels[query].items() if g >= 1]
            run[query] = draw(st.one_of(lists(DOCS), lists(DOCS), lists(relevant)))
        if not any(run[q] for q in names if qrels[q]):  # a run without a judged query is skipped
            run[names[0]] = [("a", 1, 1)]
    return Track(
        {s: {q: lines for q, lines in run.items() if lines} for s, run in runs.items()},
        {q: docs for q, docs in qrels.items() if docs},
    )
