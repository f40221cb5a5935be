"""Tables of studies made by hand, and the figures that show them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from irmeta.report.theme import to_spec, to_svg
from irmeta.schema.columns import Table
from irmeta.studies.framework.study import Study, Tables
from irmeta.studies.framework.study_figures import Drawn, charts
from support.charting import texts

Rows = list[dict[str, Any]]
_FILL = {"text": "", "name": "", "grade": 0, "count": 1, "big": 1, "real": 0.5, "yes": True}


def filled_tables(
    study: Study, used: bool = True, tracks: tuple[str, ...] = ("news",), **rows: Rows
) -> Tables:
    """Return all tables with the given rows; columns that a row lacks have some value."""
    studied = {"used": used, "left_out": None if used else "1 system", "notes": None}
    rows = {"studied_tracks": [{"track": track, **studied} for track in tracks], **rows}
    tables = {}
    for name, table in study.by_table.items():
        some = {column: _FILL[c.kind] for column, c in table.columns.items()} | {"track": "news"}
        some = {column: value for column, value in some.items() if column in table.columns}
        given = study.printed if name == "paper_numbers" else [some | r for r in rows.get(name, [])]
        tables[name] = table.frame(given)
    return tables


def rows_as(declared: Mapping[str, Table], name: str, rows: Rows) -> pl.DataFrame:
    """Return rows of a table in its schema; columns that figures do not read are null."""
    return pl.DataFrame(rows, schema=dict(declared[name].empty().schema))


def drawn_figures(
    study: Study, tables: Tables, track: str | None = "t", **choices: Any
) -> dict[str, Drawn]:
    """Return the figures of a track, or of all tracks, by name."""
    return {one.name: one for one in charts(study, tables, study.options(**choices), track)}


def shown(figure: Drawn) -> list[str]:
    """Return the texts of a figure, without those under the pointer."""
    return texts(re.sub("<title>.*?</title>", "", to_svg(figure.draw()))).split("\n")


def headings(figure: Drawn) -> list[str]:
    """Return the titles of the panes of a figure."""
    return [pane["title"]["text"] for pane in to_spec(figure.draw())["concat"]]
