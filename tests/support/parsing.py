"""Helpers for tests of run files: parse text by the kernel or line by line."""

from __future__ import annotations

import io

import numpy as np

from irmeta.trec import runs
from irmeta.trec.runs import RowReader, RunText, parse_run
from irmeta.trec.streams import InputFile, open_stream
from irmeta.trec.text import Text

READER = RowReader()


def file_of(content: str | bytes, name: str = "a.run") -> InputFile:
    raw = content if isinstance(content, bytes) else content.encode()
    return InputFile(name, lambda: io.BytesIO(raw))


def parse(content: str | bytes, **choices) -> RunText:
    """Parse by the kernel, or line by line where the kernel declines."""
    return parse_run(file_of(content), READER, **choices)


def by_line(content: str | bytes) -> RunText:
    """Parse line by line."""
    file = file_of(content)
    with open_stream(file) as stream:
        rows, skipped, notes = runs._by_line(Text(stream, file.name), file, READER, "error")
    return runs._run(rows, "", skipped, notes)


def rows(run: RunText) -> list[tuple[str, str, int, float]]:
    """Return (query, doc, rank, score) for each row."""
    numbers = np.repeat(run.rows.queries, np.diff(run.rows.starts))
    columns = (
        READER.queries.strings().gather(numbers),
        READER.docs.strings().gather(run.rows.doc),
        run.rows.rank.tolist(),
        run.rows.score.tolist(),
    )
    return list(zip(*columns, strict=True))
