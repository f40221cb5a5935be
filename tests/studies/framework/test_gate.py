"""The gate of claims: tracks whose orders and pairs of systems count nowhere over tracks."""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl
import pytest

import irmeta
from irmeta.errors import UsageError
from irmeta.report.table_grid import grid, in_grey
from irmeta.schema.columns import Column, Table
from irmeta.studies.framework import registry
from irmeta.studies.framework.part_tables import gated, not_compared, used_only
from irmeta.studies.framework.sections import absent
from irmeta.studies.framework.track_view import Saturation
from support import tiny

TRACKS = pl.DataFrame(
    [
        ("large", 10, True, 0.5),
        ("few", 9, True, None),
        ("lonely", 1, True, math.nan),
        ("full", 50, True, 0.51),
        ("out", 2, False, 0.9),
    ],
    schema=["track", "systems", "used", "saturated"],
    orient="row",
)
ROWS = pl.DataFrame({"track": TRACKS["track"], "value": range(5)})


def test_gate__reasons_by_track():
    reasons = gated(TRACKS, 10)["not_compared"].to_list()
    full = "51% of the lists hold no doc that is not relevant"
    assert reasons == [None, "9 systems, fewer than 10", "1 system, fewer than 10", full, None]
    assert gated(TRACKS, 1)["not_compared"].to_list() == [None, None, None, full, None]


def test_gate__rows_of_orders_leave_results_over_tracks():
    tables = {"studied_tracks": gated(TRACKS, 10), "orders": ROWS, "docs": ROWS}
    used = used_only(tables, ["orders"])
    assert used["orders"]["track"].to_list() == ["large"]
    assert used["docs"]["track"].to_list() == ["large", "few", "lonely", "full"]
    assert list(not_compared(tables)) == ["few", "lonely", "full"]


def test_gate__without_a_compared_track_all_rows_stay():
    tables = {"studied_tracks": gated(TRACKS, 100), "orders": ROWS}
    assert used_only(tables, ["orders"])["orders"].height == 4
    assert not_compared(tables) == {}


def test_gate__tracks_that_are_grey_are_not_absent():
    study = replace(tiny.STUDY, of_orders=("values",))
    tables = {"studied_tracks": gated(TRACKS, 10), "values": ROWS.clear(), "texts": ROWS.clear()}
    assert absent(study, tables, "values") == [
        f"{study.table('values').caption.removesuffix('.')}: absent on large: see the notes on the "
        "track."
    ]
    assert "full" in absent(tiny.STUDY, tables, "values")[0]


def test_studies__tables_with_correlations_of_orders_are_of_orders():
    orders = ("tau", "tau_b", "rank_before", "least_tau", "turned", "swapped")
    for name in ("depth", "innovation", "preference", "search-length"):
        study = registry.find(name)
        tables = [t for t in study.tables if t.by == "track" and {*t.columns} & {*orders}]
        assert {t.name for t in tables} <= {*study.of_orders}, name


def test_grid__rows_of_excluded_tracks_are_grey_with_the_reason():
    table = Table("t", ("track",), {"track": Column("name", "t"), "value": Column("count", "v")},
                  caption="C.")  # fmt: skip
    cells = in_grey(grid(table, ROWS), "track", {"few": "9 systems", "absent": "none"})
    assert [row[0].text for row in cells.rows if row[0].is_paper] == ["few"]
    assert cells.rows[1][1].title == "9 systems"
    assert cells.notes[-1] == "Not counted over tracks: few (9 systems)."
    assert in_grey(cells, "track", {}) is cells
    columns = {"all": Column("name", "a"), **table.columns}
    keyed = replace(table, columns=columns, key=("all", "track"))
    wide = grid(keyed, ROWS.with_columns(all=pl.lit("x")), pivot="track")
    cells = in_grey(wide, "track", {"few": "9 systems"})
    (row,) = cells.rows
    assert [cell.is_paper for cell in row] == [False, False, True, False, False, False]
    assert cells.notes[-1] == "Not counted over tracks: few (9 systems)."


def test_saturation__share_of_lists():
    assert Saturation(1, 4).share == 0.25
    assert math.isnan(Saturation(0, 0).share)
    assert [Saturation(2, 4).is_most, Saturation(3, 4).is_most] == [False, True]


def test_option__unknown_to_studies_without_claims_on_tracks():
    with pytest.raises(UsageError, match="no option 'compared_systems'"):
        irmeta.studies.overview("x", "y", compared_systems=3)
    with pytest.raises(UsageError, match="no option 'compared_systems'"):
        irmeta.studies.properties("x", compared_systems=3)
