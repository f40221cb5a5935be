"""Every study writes its tables and its page: the only tests of studies in a plain `pytest`."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import pytest

import irmeta
from irmeta.options import load
from irmeta.studies.framework.registry import OWN, find
from irmeta.studies.framework.study_figures import charts
from support.written import WRITTEN


@pytest.mark.parametrize("name", WRITTEN)
def test_study__writes_tables_with_rows_and_a_page(written: Path, name: str):
    results = irmeta.studies.open(written / name)
    assert len(results.tables) > 3
    assert [table for table in results.tables if results.tables[table].is_empty()] == []
    page = (written / name / "report.html").read_text(encoding="utf-8")
    headings = re.findall(r"<h2[^>]*>(.+?)</h2>", page)
    assert len(headings) == len(set(headings)) >= 2
    assert "Traceback" not in page


@pytest.mark.parametrize("name", WRITTEN)
def test_study__tables_name_existing_sections_and_functions(written: Path, name: str):
    study = find({"reanalysis": "overview"}.get(name, name.replace("_", "-")))
    tables = irmeta.studies.open(written / name).tables
    page = (written / name / "report.html").read_text(encoding="utf-8")
    headings = re.findall(r"<h2[^>]*>(.+?)</h2>", page)
    for table in study.tables:
        if table.rows:
            assert callable(load(table.rows))
        if table.section and table.name in tables and tables[table.name].height:
            (heading,) = (one for one in headings if one.startswith(table.section))
            section = page.partition(f"{heading}</h2>")[2].partition("<h2")[0]
            assert escape(table.caption) in section, table.name


@pytest.mark.parametrize("name", [one for one in OWN if one != "properties"])  # always has rows
def test_study__draws_no_figure_without_rows(name: str):
    study = find(name)
    empty = {table.name: table.empty() for table in study.by_table.values()}
    assert [*charts(study, empty, study.options())] == []
    assert [*charts(study, empty, study.options(), "t")] == []
