"""The figures, the page and the printed numbers of the study of desirable properties."""

from __future__ import annotations

from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import irmeta
from irmeta.report.theme import to_spec
from irmeta.schema.columns import by_name
from irmeta.studies.framework.study import Section, Show, Tables
from irmeta.studies.framework.study_figures import Drawn, charts
from irmeta.studies.papers.properties.compute import compute, with_printed
from irmeta.studies.papers.properties.page import induced_path, sections
from irmeta.studies.papers.properties.study import MOST_DRAWN, STUDY, TABLES, WORKED
from irmeta.studies.papers.properties.study import PropertiesOptions as Options

DECLARED = by_name(TABLES)
OPTIONS = Options(length=3)
ACT = "ACT(per=all)@10"


@cache
def tables_of(options: Options) -> Tables:
    """Return the tables of the study."""
    return {name: DECLARED[name].frame(rows) for name, rows in compute(None, options)}


def figures_of(options: Options) -> dict[str, Drawn]:
    return {one.name: one for one in charts(STUDY, tables_of(options), options)}


def rows_of(figure: Drawn) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a graph that have an edge, and those of names."""
    rows = [row for rows in to_spec(figure.draw())["datasets"].values() for row in rows]
    heads = [row for row in rows if "angle" in row]
    return {"heads": heads, "names": [row for row in rows if "name" in row]}


def page_of(options: Options) -> dict[str, Section]:
    return {one.heading: one for one in sections(tables_of(options), options)}


def words_of(page: dict[str, Section]) -> str:
    texts = [[one.text] if isinstance(one.text, str) else one.text for one in page.values()]
    return " ".join(word for words in texts for word in words)


def test_figures__relations_of_the_paper():
    """Figures 2 to 4 have 8, 4 and 2 edges, of which 2, 1 and 0 touch the empty ranking."""
    figures = figures_of(OPTIONS)
    assert [*figures] == [
        *(f"figure_{number}" for number in range(1, 6)),
        *("violations_by_property", "violations_by_length"),
    ]
    found = {}
    for number in range(1, 6):
        rows = rows_of(figures[f"figure_{number}"])
        assert len(rows["names"]) == 13
        pale = sum(row["opacity"] < 1 for row in rows["heads"])
        found[number] = len(rows["heads"]), pale
    assert found == {1: (0, 0), 2: (8, 2), 3: (4, 1), 4: (2, 0), 5: (14, 3)}


def test_figure_5__induced_path_is_bold():
    figure = figures_of(OPTIONS)["figure_5"]
    places = {row["name"]: row["y"] for row in rows_of(figure)["names"]}
    heads = rows_of(figure)["heads"]
    usual = min(row["size"] for row in heads)
    bold = [row for row in heads if row["size"] > usual]
    at = {row["kind"]: row["y"] for row in bold}
    assert at == pytest.approx({"irrelevance": places["b"], "relevance": places["bb"]}, abs=4)
    assert "relates bx to bb, by way of b" in figure.caption


@pytest.mark.parametrize(
    ("subtopics", "length", "path"),
    [(2, 2, ("bx", "b", "bb")), (3, 2, ("cx", "c", "cc")), (2, 1, ("x", "empty", "b"))],
)
def test_induced_path__is_related_step_by_step(subtopics: int, length: int, path):
    options = Options(length=2, drawn_subtopic_count=subtopics, drawn_length=length)
    assert induced_path(options) == path
    edges = tables_of(options)["edges"].select("property", "lower", "upper").rows()
    assert ("irrelevance", *path[:2]) in edges
    assert ("relevance", *path[1:]) in edges


@pytest.mark.parametrize(("subtopics", "length"), [(1, 5), (9, 2), (2, 4)])
def test_figures__names_of_a_level_are_apart(subtopics: int, length: int):
    options = Options(length=1, drawn_subtopic_count=subtopics, drawn_length=length)
    rows = rows_of(figures_of(options)["figure_1"])["names"]
    assert len(rows) == options.drawn.count <= MOST_DRAWN
    frame = pl.DataFrame(rows).sort("x", "y")
    gaps = frame.select(pl.col("y").diff().over(pl.col("x").round(6))).drop_nulls()
    assert gaps["y"].min() >= 13.9


def test_violations_by_property__zero_where_no_pair_is_violated():
    rows = to_spec(figures_of(OPTIONS)["violations_by_property"].draw())["datasets"]
    (cells,) = rows.values()
    drawn = {(row["down"], row["across"]): (row["value"], row["text"]) for row in cells}
    assert drawn["AP_IA", "redundancy"] == (1, "1.00")
    assert drawn["AP", "irrelevance"] == (0, "0")
    assert drawn["P@5", "top-weightedness"] == (1, "1.00")
    assert 0 < drawn[ACT, "irrelevance"][0] < 1


def test_violations_by_length__only_measures_with_a_violation():
    options = Options(measures=("AP", "RR"), length=3)
    assert "violations_by_length" not in figures_of(options)
    assert "No measure violates a property." in words_of(page_of(options))


def test_worked__equal_the_printed_scores():
    rows = tables_of(OPTIONS)["worked"]
    assert rows["printed"].to_list() == [*WORKED.values()]
    compared = rows.drop_nulls("printed")
    printed = compared["printed"].cast(pl.Float64).to_list()
    assert compared["value"].to_list() == pytest.approx(printed, abs=5.1e-5)
    of_equation = rows.filter(pl.col("measure").str.contains("paper"))["value"].to_list()
    assert of_equation == pytest.approx([0.75, 2.5 / 3], rel=1e-12)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (Options(), ["29,496 of 29,523", "none", "some", None]),
        (Options(relevant=12), ["29,496 of 29,523", "none", "some", None]),
        (Options(length=9), [None] * 4),
        (Options(subtopic_count=3, length=5), [None] * 4),
        (Options(relevant=5), [None] * 4),
        (Options(weights=(2, 1)), [None] * 4),
    ],
)
def test_with_printed__only_for_the_rankings_of_the_paper(options: Options, expected):
    rows = [
        {"measure": ACT, "property": "irrelevance"},
        {"measure": "NRBP", "property": "induction"},
        {"measure": "AP_IA", "property": "induction"},
        {"measure": "DnDCG@10", "property": "relevance"},
    ]
    assert [row["printed"] for row in with_printed(rows, options)] == expected


@pytest.mark.parametrize(("length", "has_printed"), [(10, True), (4, False)])
def test_sections__printed_numbers_beside_those_of_the_papers_rankings(length, has_printed):
    page = page_of(Options(measures=("AP_IA",), length=length))
    marks, table = page["Violations (Section 4.2, Table 1)"].show[:2]
    assert isinstance(marks, Show)
    assert isinstance(table, Show)
    assert marks.columns == ("measure", "property", "holds")
    assert ("printed" in table.columns) == has_printed


def test_iterations__page_shows_each_and_says_which_trec_used():
    """The paper's single iteration hides that CT and ACT violate properties with several."""
    options = Options(length=5)
    heading = "Beyond the paper: docs per iteration of the cube tests"
    words = " ".join(page_of(options)[heading].text)
    assert "Dynamic Domain track a system returned five docs per iteration (per=5" in words
    assert "CT(per=1)@10 (138 of 240, 57.50%)" in words
    assert "ACT(per=1)@10 (24 of 120, 20.00%)" in words
    rows = tables_of(options)["iterations"]
    names = {(row["measure"], row["per"]) for row in rows.iter_rows(named=True)}
    assert names >= {("CT(per=1)@10", "1"), ("CT(per=5)@10", "5"), ("CT(per=all)@10", "all")}
    assert heading not in page_of(Options(length=3, measures=("AP",)))


def test_iterations__all_docs_in_one_equal_table_1():
    tables = tables_of(OPTIONS)
    columns = ("measure", "property", "applicable", "violated")
    rows = tables["iterations"].filter(per="all").select(columns)
    assert rows.height == 3 * 4
    assert rows.equals(
        tables["table_1"].filter(pl.col("measure").str.contains("CT")).select(columns)
    )


def test_study__page_shows_every_figure_and_table(tmp_path: Path, undrawn: None):
    results = irmeta.studies.properties(tmp_path, measures=("AP_IA", "ACT(per=all)@10"), length=3)
    page = unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert page.count("<svg") == len(results.figures) == 7
    for name in set(results.tables) - {"nodes", "edges"}:
        assert STUDY.table(name).caption in page
