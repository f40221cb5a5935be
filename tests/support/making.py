"""Random small tracks, and naive readers of runs and qrels."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st

from irmeta import testing
from irmeta.testing import down as down  # for tests
from irmeta.testing.samples import DOCS, Line, Qrels
from twins import measures as naive
from twins import pools

Labels = Mapping[str, Mapping[str, float]]


class Track(testing.Track):
    """A small track in plain Python, with its rows and rankings by naive code."""

    def rows(self, system: str, query: str) -> naive.Rows:
        """Return (doc, score, rank) in file order, the input of `order` in twins.measures."""
        lines = self.runs[system].get(query, [])
        return [
            (line[0], line[1], line[2] if len(line) > 2 else place)
            for place, line in enumerate(lines)
        ]

    def write_with(self, folder: Path, facts: str = "", more: str = "", **sets: Labels) -> Path:
        """Write this track with a table of facts of its systems, or with other sets of labels.

        The first column of `facts`, a CSV table, names systems. `more` are lines of the
        configuration of the track. Without `sets`, the labels are those of the track.
        """
        self.write(folder)
        lines = [f"[tracks.{self.name}]", f'runs = ["{self.name}/runs/*"]', more]
        if facts:
            (folder / "facts.csv").write_text(facts)
            name, *others = facts.partition("\n")[0].split(",")
            columns = "".join(f', {one} = "{one}"' for one in others)
            lines.append(f'systems = {{ file = "facts.csv", name = "{name}"{columns} }}')
        lines += [] if sets else [f'qrels = "{self.name}/qrels"']
        for name, labels in sets.items():
            rows = (f"{q} 0 {d} {g:g}\n" for q, docs in labels.items() for d, g in docs.items())
            (folder / f"{name}.txt").write_text("".join(rows))
            lines += [f"[[tracks.{self.name}.qrels]]", f'name = "{name}"', f'file = "{name}.txt"']
        (folder / "collection.toml").write_text("\n".join(lines) + "\n")
        return folder

    def ranking(self, system: str, query: str, order: str = "trec_eval") -> naive.Ranking:
        """Return the docs of a list by rank; None if the system has no list."""
        return naive.order(self.rows(system, query), order) or None


def tracks(systems: int = 4, queries: int = 4) -> st.SearchStrategy[Track]:
    """Draw small tracks, see `irmeta.testing.samples`."""
    drawn = testing.tracks(systems=systems, queries=queries)
    return drawn.map(lambda track: Track(track.runs, track.qrels))


@st.composite
def diverse_tracks(draw: st.DrawFn, systems: int = 4, queries: int = 4) -> Track:
    """Draw small tracks with qrels by subtopic, independent of the ad hoc qrels.

    Some subtopics have no relevant doc. Some tracks have no ad hoc qrels.
    """
    track = draw(tracks(systems=systems, queries=queries))
    queries = sorted({"q0", *track.qrels, *(q for of in track.runs.values() for q in of)})
    grades = st.dictionaries(st.sampled_from(DOCS), st.integers(-2, 2), min_size=1, max_size=6)
    names = st.sampled_from(("1", "10", "2", "é", "a"))
    of_query = st.dictionaries(names, grades, min_size=1, max_size=3)
    qrels = track.qrels if draw(st.booleans()) else {}
    some = [q for q in queries if q == "q0" or not qrels or draw(st.booleans())]
    diversity = {q: draw(of_query) for q in some}
    return Track(track.runs, qrels, diversity=diversity)


@st.composite
def described_tracks(
    draw: st.DrawFn,
    systems: int = 4,
    queries: int = 4,
    types: Sequence[str | None] = ("inf", "nav", None),
) -> Track:
    """Draw tracks by `diverse_tracks` with weights and types of all subtopics, and of another."""
    track = draw(diverse_tracks(systems=systems, queries=queries))
    facts = st.tuples(st.sampled_from((0, 0.25, 1, 3.5)), st.sampled_from(types))
    described = {}
    for query, subtopics in track.diversity.items():
        names = [*subtopics, *draw(st.sampled_from(((), ("unjudged",))))]
        described[query] = {name: draw(facts) for name in names}
    return replace(track, described=described)


_OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def read_text(path: Path) -> str:
    """Read a text file, compressed or not."""
    with _OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8", newline="") as file:
        return file.read()


def read_run(path: Path) -> dict[str, list[Line]]:
    """Read a run file naively: map each query to its lines in file order."""
    lists: dict[str, list[Line]] = {}
    for query, doc, rank, score, _ in naive.read_run(read_text(path)):
        lists.setdefault(query, []).append((doc, score, rank))
    return lists


def read_qrels(path: Path) -> Qrels:
    """Read a qrels file naively, with the highest grade over subtopics."""
    qrels: Qrels = {}
    for line in read_text(path).splitlines():
        query, _, doc, grade = line.split()
        docs = qrels.setdefault(query, {})
        docs[doc] = max(int(grade), docs.get(doc, -128))
    return qrels


def _alike(*between: int) -> dict[str, list[Line]]:
    """Make a list per query: nine relevant docs, some nonrelevant ones, the tenth relevant doc."""
    others = [[f"n{i}" for i in range(count)] for count in between]
    docs = [f"r{i}" for i in range(10)]
    return {f"q{i}": down(*docs[:9], *some, docs[9]) for i, some in enumerate(others)}


ALIKE = Track(
    {"b": _alike(2, 4, 6), "a": _alike(6, 4, 2), "c": _alike(8, 8, 8)},
    {f"q{i}": {f"r{place}": 1 for place in range(10)} for i in range(3)},
)
"""Systems a and b have the same values on different queries; their means differ by rounding."""


def with_smaller_pool(track: Track, depth: int | None, removed: str | None) -> Track:
    """The track with the judgments of a smaller pool, made from lists in order score-file."""
    qrels = {}
    for query, judged in track.qrels.items():
        lists = {s: track.ranking(s, query, "score-file") or [] for s in track.runs}
        qrels[query] = pools.rejudged(lists, judged, depth, removed)
    return replace(track, qrels=qrels)
