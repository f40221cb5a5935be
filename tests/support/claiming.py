"""Verdicts on the claims of a study from tables made by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import polars as pl

from irmeta.options import Options
from irmeta.studies.framework.claims import claim_rows
from irmeta.studies.framework.study import CLAIMS, Study

Rows = Mapping[str, list[dict[str, Any]]]
_FILL = {"text": "", "name": "", "grade": 0, "count": 1, "big": 1, "real": 0.5, "yes": False}
TRACK = "news"


class Case(NamedTuple):
    """Rows of tables with which a claim holds, does not hold, and cannot be said, by table."""

    holds: Rows
    fails: Rows
    open: Rows = MappingProxyType({})


def by_number(rows: Callable[..., Rows], good: Any, bad: Any, unknown: Rows | None = None) -> Case:
    """Return a case whose rows are a function of a number, or of several."""
    made = [rows(*(one if isinstance(one, tuple) else (one,))) for one in (good, bad)]
    return Case(*made, unknown or {})


def verdicts(study: Study, options: Options, rows: Rows) -> pl.DataFrame:
    """Return the table `claims` of one track of nine systems; absent columns have some value."""
    used = {"track": TRACK, "used": True, "systems": 9, "left_out": None, "notes": None}
    used["not_compared"] = None
    given = {"studied_tracks": [used], **rows}
    tables = {}
    for name, table in study.by_table.items():
        filled = {column: _FILL[c.kind] for column, c in table.columns.items()}
        filled |= {"track": TRACK} if "track" in filled else {}
        tables[name] = table.frame(
            [
                filled | {column: v for column, v in row.items() if column in filled}
                for row in given.get(name, [])
            ]
        )
    return CLAIMS.frame(claim_rows(study, tables, options))


def wrong(
    study: Study, options: Options, cases: Mapping[str, Case], without: Iterable[str] = ()
) -> list[tuple[str, str, str]]:
    """Return the claims whose verdict is not that of their case: name, expected and found.

    A claim of the study that has no case is wrong too, except `without`.
    """
    claims = {one.name: one for one in study.call("claims", options)}
    names = claims.keys()
    found = [(name, "a case", "none") for name in sorted(names ^ {*cases, *without})]
    for name, case in cases.items():
        for expected, rows in zip(("holds", "does not hold", "cannot be said"), case, strict=True):
            frame = verdicts(study, options, rows).filter(claim=name)
            if claims[name].over == "about half":  # of one track, either none or all
                frame = frame.filter(track=TRACK)
            found += [(name, expected, one) for one in frame["verdict"] if one != expected]
    return found
