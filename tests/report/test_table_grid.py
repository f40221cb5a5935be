"""Tables as cells: formatting of values for pages and LaTeX."""

from __future__ import annotations

import math

import polars as pl
import pytest

from irmeta.delimited import in_natural_order
from irmeta.errors import IrmetaError
from irmeta.report.notation import Notations, to_text
from irmeta.report.table_grid import (
    ABSENT,
    DAGGER,
    Grid,
    format_value,
    grid,
    in_notation,
)
from irmeta.schema.columns import MEASURE, TRACK, Column, Display, Paper, Table

TABLE = Table(
    "bests",
    ("track", "measure"),
    {
        "track": TRACK,
        "measure": MEASURE,
        "system": Column("name", "best system", dagger="misses_more"),
        "value": Column("real", "its mean", null=True, format="measure", span=("low", "high")),
        "low": Column("real", "lower end", null=True, show="none"),
        "high": Column("real", "upper end", null=True, show="none"),
        "missed": Column("real", "share missed", unit="%", format=".0f", show="page"),
        "misses_more": Column("yes", "whether it misses more", show="none"),
    },
    "Best systems.",
    note="misses more than the median.",
    paper={"value": {("AP",): Paper("0.45", "Table 1")}},
)
ROWS = [
    {"track": "a", "measure": "AP", "system": "s&t", "value": 0.5, "low": 0.25, "high": 0.75,
     "missed": 80, "misses_more": True},
    {"track": "a", "measure": "ASL", "system": "u", "value": 1234.56, "low": None, "high": None,
     "missed": 0, "misses_more": False},
    {"track": "b", "measure": "AP", "system": "v", "value": None, "low": None, "high": None,
     "missed": 5, "misses_more": False},
]  # fmt: skip
FRAME = TABLE.frame(ROWS)


def display(measure: str) -> Display:
    return Display("length", "docs", -1) if measure == "ASL" else Display()


def texts(made: Grid) -> list[list[str]]:
    return [[cell.text for cell in row] for row in made.rows]


def test_grid__formats_rows_and_published_values():
    made = grid(TABLE, FRAME, display=display)
    assert [head.label for head in made.head] == [
        *("track", "measure", "system", "value", "paper", "missed (%)"),
    ]
    assert texts(made) == [
        ["a", "AP", "s&t" + DAGGER, "0.5000 (0.2500 to 0.7500)", "0.45", "80"],
        ["a", "ASL", "u", "1,234.6", ABSENT, "0"],
        ["b", "AP", "v", ABSENT, "0.45", "5"],
    ]
    assert made.notes == (f"{DAGGER} misses more than the median.",)
    assert [cell.is_paper for cell in made.rows[0]] == [False] * 4 + [True, False]
    assert made.rows[0][4].title == "Table 1"


def test_grid__prints_the_note_only_with_a_dagger():
    assert grid(TABLE, FRAME.filter(track="b"), display=display).notes == ()


def test_grid__pivots_values_into_groups_of_columns():
    made = grid(
        TABLE, FRAME, columns=("track", "measure", "system", "value"), pivot="measure",
        display=display,
    )  # fmt: skip
    assert made.groups == [("", 1), ("AP", 3), ("ASL", 2)]
    assert texts(made) == [
        ["a", "s&t" + DAGGER, "0.5000 (0.2500 to 0.7500)", "0.45", "u", "1,234.6"],
        ["b", "v", ABSENT, "0.45", ABSENT, ABSENT],
    ]


def test_grid__leaves_out_columns_of_dashes_even_of_keys():
    table = Table("t", ("track", "kind"), {
        "track": TRACK,
        "kind": Column("yes", "", null=True),
        "share": Column("real", ""),
        "least": Column("real", ""),
    })  # fmt: skip
    rows = [{"track": one, "kind": None, "share": 0.5, "least": math.nan} for one in "ab"]
    shown = [one.column for one in grid(table, table.frame(rows)).head if not one.on_page_only]
    assert shown == ["track", "share"]
    rows[0]["kind"] = True
    shown = [one.column for one in grid(table, table.frame(rows)).head if not one.on_page_only]
    assert shown == ["track", "kind", "share"]


COUNTS = Table(
    "counts",
    ("track", "measure", "level"),
    {
        "track": TRACK,
        "measure": MEASURE,
        "level": Column("real", "", format="g", label="p \u2264"),
        "share": Column("real", "", format=".1%", joined=("\u00b1", "sd")),
        "sd": Column("real", "", show="none"),
        "holds": Column("yes", "", null=True, format="check"),
        "printed": Column("text", "", null=True, format="paper", label="paper"),
    },
)


def counts(*rows: tuple[str, str, float, float, str | None]) -> pl.DataFrame:
    names = ("track", "measure", "level", "share", "printed")
    return COUNTS.frame([dict(zip(names, row, strict=True), sd=0.01, holds=row[3] > 0.2)
                         for row in rows])  # fmt: skip


ROWS_OF_COUNTS = counts(
    ("a", "AP", 0.05, 0.4, None), ("a", "AP", 0.01, 0.3, None), ("a", "RR", 0.05, 0.1, None),
    ("a", "RR", 0.01, 0.1, None), ("b", "AP", 0.05, 0.2, "21"), ("b", "RR", 0.05, 0.5, None),
)  # fmt: skip


def test_grid__pivots_two_columns_and_marks_the_greatest_of_each_column():
    columns = ("measure", "track", "level", "share", "printed")
    made = grid(COUNTS, ROWS_OF_COUNTS, columns=columns, pivot=("track", "level"), best="column")
    assert made.groups == [("", 1), ("a", 2), ("b", 2)]
    assert [head.label for head in made.head] == [
        *("measure", "p \u2264 0.05", "p \u2264 0.01", "p \u2264 0.05", "paper"),
    ]
    assert texts(made) == [
        ["AP", "40.0 \u00b1 1.0", "30.0 \u00b1 1.0", "20.0 \u00b1 1.0", "21"],
        ["RR", "10.0 \u00b1 1.0", "10.0 \u00b1 1.0", "50.0 \u00b1 1.0", ABSENT],
    ]
    best = [[cell.is_best for cell in row] for row in made.rows]
    assert best == [[False, True, True, False, False], [False, False, False, True, False]]
    assert "Values in %." in made.notes


def test_grid__marks_the_greatest_of_each_row_unless_all_are_equal():
    rows = ROWS_OF_COUNTS.filter(level=0.01, track="a")
    equal = rows.with_columns(share=pl.lit(0.5))
    for frame, expected in ((rows, [True, False]), (equal, [False, False])):
        made = grid(COUNTS, frame, columns=("track", "measure", "share"), pivot="measure",
                    best="row")  # fmt: skip
        assert [head.label for head in made.head] == ["track", "AP", "RR"]
        assert [cell.is_best for cell in made.rows[0][1:]] == expected


def test_grid__prints_check_marks_and_leaves_columns_without_a_value_out_of_latex():
    frame = ROWS_OF_COUNTS.filter(track="a", level=0.05)
    shown = ("track", "measure", "share", "holds", "printed")
    made = grid(COUNTS, frame.with_columns(share=pl.lit(math.nan)), columns=shown)
    assert [(h.column, h.on_page_only) for h in made.head[2:]] == [("share", True),
                                                                    ("holds", False)]  # fmt: skip
    assert [row[3].text for row in made.rows] == ["\u2713", "\u00d7"]


def test_grid__a_pivot_that_would_hide_rows_is_an_error():
    with pytest.raises(IrmetaError, match="table counts: rows of AP differ in no column of"):
        grid(COUNTS, ROWS_OF_COUNTS, columns=("track", "measure", "share"), pivot="measure")


def test_in_notation__names_the_measures_in_a_note():
    frame = FRAME.with_columns(measure=pl.lit("AP(norm=min)@10"))
    made = in_notation(grid(TABLE, frame[:1]), Notations.of(frame["measure"], {}))
    assert (to_text(made.rows[0][1].text), made.rows[0][1].title) == ("AP_b@10", "AP(norm=min)@10")
    assert to_text(made.notes[-1]) == "AP_b: AP(norm=min)."


def test_grid__paper_format_marks_the_papers_numbers():
    columns = {"row": Column("text", ""), "value": Column("text", "", format="paper")}
    (cells,) = grid(Table("t", ("row",), columns), pl.DataFrame({"row": "a", "value": "1.5"})).rows
    assert [(cell.text, cell.is_paper) for cell in cells] == [("a", False), ("1.5", True)]


def test_grid__percent_signs_of_texts_stay_and_long_texts_of_a_paper_are_no_numbers():
    columns = {
        "row": Column("text", ""),
        "text": Column("text", ""),
        "value": Column("text", "", format="paper"),
    }
    rows = {"row": "a", "text": "above 50%", "value": "69% against 25%, 90% against 39%"}
    made = grid(Table("t", ("row",), columns), pl.DataFrame(rows))
    assert texts(made) == [[*rows.values()]]
    assert [head.is_text for head in made.head] == [True] * 3


def test_grid__best_values_are_bold_in_a_table_of_ranks():
    columns = {
        "system": Column("name", ""),
        "value": Column("real", "", best="rank"),
        "rank": Column("count", "", show="none"),
    }
    rows = pl.DataFrame({"system": ["a", "b", "c"], "value": [0.2, 0.3, 0.3], "rank": [3, 1, 1]})
    made = grid(Table("t", ("system",), columns), rows)
    assert [cell.is_best for _, cell in made.rows] == [False, True, True]
    assert made.hints == ("Best values in bold.",)
    none = grid(Table("t", ("system",), columns), rows.filter(system="a"))
    assert none.hints == ()


def test_grid__keeps_the_head_without_rows():
    made = grid(TABLE, TABLE.empty())
    assert made.rows == ()
    assert made.head


@pytest.mark.parametrize(
    ("value", "column", "expected"),
    [
        (0.52604, Column("real", ""), "0.5260"),
        (1234.56, Column("real", "", format="length"), "1,234.6"),
        (1234567, Column("count", ""), "1,234,567"),
        (-0.25, Column("real", "", format=".2f"), "\u22120.25"),
        (-0.001, Column("real", "", format=".2f"), "0.00"),
        (0.0004, Column("real", "", format="ratio"), "<0.001"),
        (0.345, Column("real", "", format="percent"), "34%"),
        (0.4, Column("real", "", format="printed"), "0.400"),
        (1264.0, Column("real", "", format="printed"), "1,264"),
        (2.5, Column("real", "", unit="x", format=".1f"), "2.5x"),
        (2.5, Column("real", "", unit="docs", format=".1f"), "2.5"),
        (math.inf, Column("real", ""), "\u221e"),
        (None, Column("count", "", null=True), ABSENT),
        (math.nan, Column("real", "", format="length"), ABSENT),
        (True, Column("yes", ""), "yes"),
        ("100", Column("text", ""), "100"),
    ],
)
def test_format_value__follows_the_format_of_the_column(
    value: object, column: Column, expected: str
):
    assert format_value(value, column) == expected


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([{**ROWS[0], "valeu": 1}], "columns missing or not declared: .'valeu'."),
        ([{k: v for k, v in ROWS[0].items() if k != "low"}], "not declared: .'low'."),
        ([{**ROWS[0], "system": None}], "null in column system"),
    ],
)
def test_frame__rejects_rows_violating_the_declaration(rows, error: str):
    with pytest.raises(Exception, match=error):
        TABLE.frame(rows)


def test_in_natural_order__of_names_that_continue_others_with_a_number():
    frame = pl.DataFrame({"query": ["a", "a-10", "a-2", "a10", "a2"], "n": [1, 2, 3, 4, 5]})
    assert in_natural_order(frame)["query"].to_list() == ["a", "a2", "a10", "a-2", "a-10"]


def test_in_natural_order__sorts_queries_by_number_within_the_keys_before_them():
    frame = pl.DataFrame({"system": list("aaabbb"), "query": ["1", "10", "2"] * 2, "n": range(6)})
    shown = in_natural_order(frame)
    assert shown["query"].to_list() == ["1", "2", "10"] * 2
    assert shown["n"].to_list() == [0, 2, 1, 3, 5, 4]
    assert in_natural_order(shown).equals(shown)
    by_value = frame.sort("n", descending=True)
    assert in_natural_order(by_value).equals(by_value)  # this order has a meaning


def test_in_natural_order__keeps_the_rows_of_a_query_and_other_tables():
    frame = pl.DataFrame({"query": ["q1", "q1", "q10", "q2"], "measure": list("xyxx")})
    rows = [("q1", "x"), ("q1", "y"), ("q2", "x"), ("q10", "x")]
    assert in_natural_order(frame).rows() == rows
    for other in (frame.drop("query"), frame.clear(), pl.DataFrame({"query": [2, 10]})):
        assert in_natural_order(other).equals(other)
    gap = pl.DataFrame({"query": [None, "1", "10", "2"]})
    assert in_natural_order(gap)["query"].to_list() == [None, "1", "2", "10"]
