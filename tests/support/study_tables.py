"""Tables of studies made by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from irmeta.studies.framework.study import Study, Tables

Rows = list[dict[str, Any]]
_FILL = {"text": "", "name": "", "grade": 0, "count": 1, "big": 1, "real": 0.5, "yes": True}


def filled_tables(
    study: Study,
    printed: Iterable[Mapping[str, Any]],
    used: bool = True,
    tracks: tuple[str, ...] = ("news",),
    **rows: Rows,
) -> Tables:
    """Return all tables with the given rows; columns that a row lacks have some value."""
    studied = {"used": used, "left_out": None if used else "1 system", "notes": None}
    rows = {"studied_tracks": [{"track": track, **studied} for track in tracks], **rows}
    tables = {}
    for name, table in study.by_table.items():
        some = {column: _FILL[c.kind] for column, c in table.columns.items()} | {"track": "news"}
        some = {column: value for column, value in some.items() if column in table.columns}
        tables[name] = table.frame([some | row for row in rows.get(name, [])])
    return tables | {"paper_numbers": study.table("paper_numbers").frame(printed)}
