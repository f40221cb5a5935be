"""One run file to numbers: names interned, duplicates dealt with, the list order still open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.errors import DataError, IrmetaError, printable, short
from irmeta.policies import Duplicates
from irmeta.trec.collection import TrackSource
from irmeta.trec.ordering import contradicting_lists
from irmeta.trec.runs import RunText, parse_run
from irmeta.trec.text import file_sha256, read_text


class Names:
    """Strings of one track as small integers, shared by all its files and safe across threads."""

    def __init__(self) -> None:
        self._categories = pl.Categories.random("irmeta")
        # polars forgets the names when no column that uses them is left.
        self._anchor = pl.Series([], dtype=pl.Categorical(self._categories))

    def codes(self, strings: pa.Array | pl.Series) -> np.ndarray:
        """A uint32 code per string. Which one depends on who asks first; see `in_order`."""
        if isinstance(strings, pa.DictionaryArray):
            values: pa.DictionaryArray = strings
            return self.codes(pl.Series(values.dictionary))[values.indices.to_numpy()]
        column = pl.Series(strings, dtype=pl.String)
        return column.cast(pl.Categorical(self._categories)).to_physical().to_numpy()

    def in_order(self) -> tuple[pl.Series, np.ndarray]:
        """All names sorted by their bytes, and for each code its name's place among them."""
        names = self._categories.to_series()
        order = names.arg_sort().to_numpy()
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return names.gather(order), place


@dataclass
class Run:
    """The rows of one system, in file order.

    `query` and `doc` are codes of the track's `Names`; `position` is 1-based in the file.
    """

    file: str
    sha256: str
    system: str
    query: np.ndarray
    doc: np.ndarray
    score: np.ndarray
    rank: np.ndarray
    position: np.ndarray
    malformed: int
    duplicates: int
    notes: list[str]


@dataclass(frozen=True)
class SetAside:
    """A run file that is not in the track, and why."""

    file: str
    sha256: str | None
    system: str | None
    reason: str


def read_run(source: TrackSource, file: str, queries: Names, docs: Names) -> Run | SetAside:
    """Read one run file of a track; what is wrong with it makes a `SetAside`, not an exception."""
    sha256 = system = None
    try:
        if printable(file) != file:
            raise DataError("its name is not UTF-8", file=printable(file), fix="Rename it.")
        text = read_text(source.root / file, file)
        sha256 = text.sha256
        parsed = parse_run(text, source.policy.malformed)
        system = source.system_name(file, parsed.tag)
        return _intern(file, sha256, system, parsed, queries, docs, source.policy.duplicates)
    except IrmetaError as error:
        return SetAside(file, sha256 or file_sha256(source.root / file), system, str(error))


def _intern(
    file: str,
    sha256: str,
    system: str,
    parsed: RunText,
    queries: Names,
    docs: Names,
    duplicates: Duplicates,
) -> Run:
    query, doc = queries.codes(parsed.query), docs.codes(parsed.doc)
    score, rank, notes = parsed.score, parsed.rank, parsed.notes
    kept = _first_lines(query, doc)
    dropped = len(query) - len(kept)
    if dropped:
        if duplicates == "error":
            raise _duplicate(file, parsed, query, doc, kept)
        query, doc, score, rank = query[kept], doc[kept], score[kept], rank[kept]
        notes.append(f"{dropped:,} rows dropped: their doc came before in the same list")
    if lists := contradicting_lists(query, score, rank):
        notes.append(f"the rank column disagrees with the scores in {lists:,} lists")
    position = (kept + 1).astype(np.int32)
    counts = (parsed.malformed, dropped)
    return Run(file, sha256, system, query, doc, score, rank, position, *counts, notes)


def _first_lines(query: np.ndarray, doc: np.ndarray) -> np.ndarray:
    """The rows whose (query, doc) has not come before, in file order."""
    pairs = query.astype(np.uint64) << np.uint64(32) | doc
    ascending = np.sort(pairs)
    if (ascending[1:] != ascending[:-1]).all():
        return np.arange(len(pairs))
    return np.sort(np.unique(pairs, return_index=True)[1])


def _duplicate(
    file: str, parsed: RunText, query: np.ndarray, doc: np.ndarray, kept: np.ndarray
) -> DataError:
    again = int(np.setdiff1d(np.arange(len(query)), kept)[0])
    first = int(np.flatnonzero((query == query[again]) & (doc == doc[again]))[0])
    return DataError(
        f"query {short(parsed.query[again])} has doc {short(parsed.doc[again])} a second time, "
        f"first in line {parsed.line[first]}",
        file=file,
        line=int(parsed.line[again]),
        fix='duplicates = "first" keeps the first line of each.',
    )
