"""The tiny tracks of irmeta.testing, and collections on disk, as a naive reader reads them."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

from hypothesis import strategies as st

from irmeta import testing
from irmeta.testing import down
from irmeta.testing.tracks import DOCS, Line, Qrels
from twins import measures as naive

__all__ = [
    "ALIKE",
    "Track",
    "diverse_tracks",
    "down",
    "read_qrels",
    "read_run",
    "read_text",
    "tracks",
]


class Track(testing.Track):
    """One track as plain values, and how a naive reader understands it."""

    def rows(self, system: str, query: str) -> naive.Rows:
        """(doc, score, rank) in file order, as naive.order takes them."""
        lines = self.runs[system].get(query, [])
        return [
            (line[0], line[1], line[2] if len(line) > 2 else place)
            for place, line in enumerate(lines)
        ]

    def ranking(self, system: str, query: str, order: str = "trec_eval") -> naive.Ranking:
        """The list, best first; None where there is none."""
        return naive.order(self.rows(system, query), order) or None


def tracks(systems: int = 4, queries: int = 4) -> st.SearchStrategy[Track]:
    """Small tracks: see `irmeta.testing.tracks`."""
    drawn = testing.tracks(systems=systems, queries=queries)
    return drawn.map(lambda track: Track(track.runs, track.qrels))


@st.composite
def diverse_tracks(draw: st.DrawFn) -> Track:
    """Small tracks with qrels by subtopic, of other docs and queries than the ad hoc ones.

    Some subtopics are relevant to no doc. Some tracks have no ad hoc qrels.
    """
    track = draw(tracks())
    queries = sorted({"q0", *track.qrels, *(q for of in track.runs.values() for q in of)})
    grades = st.dictionaries(st.sampled_from(DOCS), st.integers(-2, 2), min_size=1, max_size=6)
    names = st.sampled_from(("1", "10", "2", "é", "a"))
    of_query = st.dictionaries(names, grades, min_size=1, max_size=3)
    qrels = track.qrels if draw(st.booleans()) else {}
    some = [q for q in queries if q == "q0" or not qrels or draw(st.booleans())]
    diversity = {q: draw(of_query) for q in some}
    return Track(track.runs, qrels, diversity=diversity)


_OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def read_text(path: Path) -> str:
    """A text file, packed or not."""
    with _OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8", newline="") as file:
        return file.read()


def read_run(path: Path) -> dict[str, list[Line]]:
    """A run file, naively: by query, the lines in file order."""
    lists: dict[str, list[Line]] = {}
    for query, doc, rank, score, _ in naive.read_run(read_text(path)):
        lists.setdefault(query, []).append((doc, score, rank))
    return lists


def read_qrels(path: Path) -> Qrels:
    """A qrels file, naively; the greatest grade over subtopics."""
    qrels: Qrels = {}
    for line in read_text(path).splitlines():
        query, _, doc, grade = line.split()
        docs = qrels.setdefault(query, {})
        docs[doc] = max(int(grade), docs.get(doc, -128))
    return qrels


def _alike(*between: int) -> dict[str, list[Line]]:
    """Nine relevant docs, so many others, the tenth: a search length of 0.1 for each of them."""
    others = [[f"n{i}" for i in range(count)] for count in between]
    docs = [f"r{i}" for i in range(10)]
    return {f"q{i}": down(*docs[:9], *some, docs[9]) for i, some in enumerate(others)}


ALIKE = Track(
    {"b": _alike(2, 4, 6), "a": _alike(6, 4, 2), "c": _alike(8, 8, 8)},
    {f"q{i}": {f"r{place}": 1 for place in range(10)} for i in range(3)},
)
"""Two systems with the same values on other queries: their means differ by a rounding."""
