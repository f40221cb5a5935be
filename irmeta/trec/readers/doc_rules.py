"""Rules of a policy for the docs of lists and judgments: docs to drop, and docs of chunks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import DataError, printable
from irmeta.locations import is_stream
from irmeta.policies import Columns, Comments, ReadPolicy, columns_by_key
from irmeta.trec.numbered_names import Names
from irmeta.trec.qrels import EMPTY, QrelsText
from irmeta.trec.readers.columns import check_names
from irmeta.trec.readers.file_tables import (
    FileTable,
    read_content,
    table_of_csv,
    table_of_fields,
    table_of_parquet,
)
from irmeta.trec.readers.files import read_qrels
from irmeta.trec.readers.forms import SEPARATORS, header_of
from irmeta.trec.readers.frames import column_of
from irmeta.trec.streams import InputFile
from irmeta.trec.text import first_fields

_SHAPE = "Write a line for each doc: query doc."


class DocRules:
    """What `drop_docs` and `chunks` of a policy do to a track, and to how many docs.

    An object is for one reading of one track: threads that read runs mark what has an effect.

    Attributes
    ----------
    file
        Name of the file of docs to drop, for notes; empty without one.
    separator
        Separator of ids of chunks, or None.
    pairs
        The docs to drop: query, doc, each pair once.
    """

    def __init__(self, policy: ReadPolicy) -> None:
        self.separator: str | None = policy.chunks
        self.file: str = ""
        self.pairs: pl.DataFrame = pl.DataFrame(schema={"query": pl.String, "doc": pl.String})
        if policy.drop_docs is not None:
            self.file = printable(Path(policy.drop_docs).name)
            self.pairs = read_pairs(policy.drop_docs, policy)
        self._path = policy.drop_docs
        self._has_effect = np.zeros(self.pairs.height, bool)
        self._has_chunks = False

    def docs_of_chunks(self, doc: np.ndarray, docs: Names, file: str) -> tuple[np.ndarray, str]:
        """Return the number of the doc of each row's chunk, and a note on what was cut.

        Raises
        ------
        DataError
            If nothing stands before a separator.
        """
        assert self.separator is not None
        numbers, rows = np.unique(doc, return_inverse=True)
        chunks = docs.strings().gather(numbers)
        doc_ids = chunks.str.splitn(self.separator, 2).struct.field("field_0")
        cut = chunks != doc_ids
        if not cut.any():
            return doc, ""
        self._has_chunks = True
        if (is_empty := doc_ids == "").any():
            fix = "An id of a chunk is that of its doc, the separator, and more."
            problem = f"nothing stands before {self.separator!r} in a doc id"
            raise DataError(problem, file=file, value=chunks.filter(is_empty)[0], fix=fix)
        several = int((chunks.str.count_matches(self.separator, literal=True) > 1).sum())
        note = f"docs stand before the first {self.separator!r} of {int(cut.sum()):,} ids of chunks"
        if several:
            note += f" ({several:,} have it more than once)"
        return docs.numbers(doc_ids)[rows], note

    def are_dropped(
        self, queries: pl.Series, starts: np.ndarray, doc: np.ndarray, docs: Names
    ) -> np.ndarray:
        """Return a mask of the rows of lists whose doc is dropped from its query's list."""
        lists = pl.DataFrame({"query": queries, "list": np.arange(len(queries))})
        asked = self.pairs.with_row_index("pair").join(lists, on="query")
        if asked.is_empty():
            return np.zeros(len(doc), bool)
        keys = asked["list"].to_numpy().astype(np.int64) << 32 | docs.numbers(asked["doc"])
        order = np.argsort(keys)
        keys = keys[order]
        row_keys = np.repeat(np.arange(len(queries)), np.diff(starts)) << 32 | doc
        place = np.minimum(np.searchsorted(keys, row_keys), len(keys) - 1)
        is_dropped = keys[place] == row_keys
        self._has_effect[asked["pair"].to_numpy()[order[place[is_dropped]]]] = True
        return is_dropped

    def without_dropped(self, parsed: QrelsText, file: str) -> QrelsText:
        """Return qrels without the judgments of docs that are dropped.

        Raises
        ------
        DataError
            If no judgment is left.
        """
        pairs = self.pairs.with_row_index("pair")
        of_row = parsed.frame.join(pairs, on=["query", "doc"], how="left", maintain_order="left")
        is_left = of_row["pair"].is_null()
        if is_left.all():
            return parsed
        self._has_effect[of_row["pair"].drop_nulls().to_numpy()] = True
        frame = parsed.frame.filter(is_left)
        if frame.is_empty():
            raise DataError(f"no judgment is left: all docs are in {self.file}", file=file)
        notes = [f"{parsed.frame.height - frame.height:,} judgments of docs in {self.file} dropped"]
        if lost := parsed.frame["query"].n_unique() - frame["query"].n_unique():
            notes.append(f"{EMPTY}{lost:,}, whose judged docs are all in {self.file}")
        sample = None if parsed.sample is None else parsed.sample.filter(is_left)
        return replace(parsed, frame=frame, sample=sample, notes=(*parsed.notes, *notes))

    def check_effect(self) -> None:
        """Raise an error if a rule had no effect at all, after everything was read.

        Raises
        ------
        DataError
            If no doc to drop is in any list or judgment, or no doc id has the separator.
        """
        if self.file and not self._has_effect.any():
            query, doc = self.pairs.row(0)
            raise DataError(
                "no line has an effect: none of its docs is in a list or judgment of its query, "
                "such as doc {doc} of query {query}",
                file=self._path,
                ids={"doc": doc, "query": query},
                fix="Are these docs of another track? `drop_docs` in collection.toml names a file "
                "for each track.",
            )
        if self.separator is not None and not self._has_chunks:
            problem = f"no doc id of its runs has the separator {self.separator!r} of chunks"
            raise DataError(problem, fix="Omit `chunks`, or name the separator of the ids.")

    def note(self) -> str | None:
        """Return a note on the lines of the file that had no effect, if there are any."""
        idle = len(self._has_effect) - int(self._has_effect.sum())
        if not idle:
            return None
        query, doc = self.pairs.row(int(self._has_effect.argmin()))
        return (
            f"{idle:,} of {len(self._has_effect):,} docs to drop in {self.file} had no effect: they"
            f" are in no list and no judgment of their query, such as doc {doc!r} of query "
            f"{query!r}"
        )


def read_pairs(path: str, policy: ReadPolicy) -> pl.DataFrame:
    """Read lines ``query doc``, a table with such columns, or qrels: query, doc, each pair once.

    Raises
    ------
    DataError
        If the file cannot be read.
    """
    if is_stream(Path(path)):
        raise DataError("a pipe, which can be read only once", file=path, fix="Name a file.")
    columns = columns_by_key(policy.columns)
    chosen = {key: columns[key] for key in ("query", "doc") if key in columns}
    file = replace(InputFile.at(Path(path), printable(path)), columns=chosen)
    content, _ = read_content(file, "csv")
    if (table := _table(content, file.name, policy.comments, chosen)) is None:
        is_json = content.lstrip()[:1] in (b"{", b"[")
        judged = read_qrels(file, comments=policy.comments, subtopics=not is_json).frame
        return judged.select("query", "doc").unique(maintain_order=True)
    selected: dict[str, Any] = {
        name: check_names(
            table.frame[str(column_of(table.frame.columns, name, table.chosen))], file.name
        )
        for name in ("query", "doc")
    }
    pairs = pl.DataFrame(selected).unique(maintain_order=True)
    if pairs.is_empty():
        raise DataError("names no doc", file=file.name, fix=_SHAPE)
    return pairs


def _table(content: bytes, file: str, comments: Comments, chosen: Columns) -> FileTable | None:
    """Return the rows of a file with columns of queries and docs alone, or with names."""
    if content.startswith(b"PAR1"):
        return table_of_parquet(content, file, chosen)
    header = header_of(content)
    for separator in SEPARATORS:
        cells = [cell.strip().strip('"') for cell in header.split(separator)]
        if column_of(cells, "query", chosen) and column_of(cells, "doc", chosen):
            return table_of_csv(content, file, chosen)
    if len(first_fields(content)) == 2 and content.lstrip()[:1] not in (b"{", b"["):
        return table_of_fields(content, file, ("query", "doc"), comments)
    return None
