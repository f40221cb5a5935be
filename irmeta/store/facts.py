"""CSV of facts about systems: group, type, and whether a system contributed to the pool."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from irmeta.errors import DataError, did_you_mean
from irmeta.trec.source import FactsSource, TrackSource
from irmeta.trec.text import read_text

_YES = {"yes": True, "true": True, "1": True, "y": True, "t": True}
_NO = {"no": False, "false": False, "0": False, "n": False, "f": False}


@dataclass(frozen=True)
class Facts:
    """Facts of one system from the track's CSV, or None."""

    group: str | None = None
    type: str | None = None
    pooled: bool | None = None


def read_facts(source: TrackSource) -> dict[str, Facts]:
    """Read the facts of each system in the CSV; empty if the track has no CSV.

    Raises
    ------
    DataError
        If the CSV is unreadable, lacks a column, names a system twice, or has a `pooled` value
        that is neither yes nor no.
    """
    given = source.facts
    if given is None:
        return {}
    try:
        data, _ = read_text(source.input_file(given.file))
        return _parse_facts(given, data)
    except DataError as error:
        if not source.may_quote(given.file):
            error.conceal()
            error.fix = None  # the fix may list the columns
        raise


def _parse_facts(given: FactsSource, data: bytes) -> dict[str, Facts]:
    try:
        frame = pl.read_csv(data, infer_schema=False).rename(str.strip)
    except pl.exceptions.PolarsError as error:
        reason = {"why": str(error).splitlines()[0]}
        raise DataError("cannot be read as CSV ({why})", file=given.file, ids=reason) from None
    for column in (given.name, given.group, given.type, given.pooled):
        if column is not None and column not in frame.columns:
            hint = did_you_mean(column, frame.columns)
            raise DataError("no such column", file=given.file, value=column, fix=hint)
    facts: dict[str, Facts] = {}
    for line, row in enumerate(frame.iter_rows(named=True), 2):
        name = row[given.name]
        if name in facts:
            raise DataError("system named twice", file=given.file, line=line, value=name)
        facts[name] = _facts(given, row, line)
    return facts


def _facts(given: FactsSource, row: dict[str, str | None], line: int) -> Facts:
    text = row[given.pooled] if given.pooled else None
    pooled = None
    if text:
        pooled = (_YES | _NO).get(text.strip().lower())
        if pooled is None:
            raise DataError(
                f"column {given.pooled!r} is neither yes nor no",
                file=given.file,
                line=line,
                value=text,
            )
    return Facts(
        group=row[given.group] or None if given.group else None,
        type=row[given.type] or None if given.type else None,
        pooled=pooled,
    )
