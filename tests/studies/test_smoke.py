"""Every study writes its tables and its page: the only tests of studies in a plain `pytest`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import irmeta
from support.written import WRITTEN


@pytest.mark.parametrize("name", WRITTEN)
def test_study__writes_tables_with_rows_and_a_page(written: Path, name: str):
    results = irmeta.studies.open(written / name)
    assert len(results.tables) > 3
    empty = [table for table in results.tables if results.tables[table].is_empty()]
    assert empty == []
    page = (written / name / "report.html").read_text(encoding="utf-8")
    headings = re.findall(r"<h2[^>]*>(.+?)</h2>", page)
    assert len(headings) == len(set(headings)) >= 2
    assert "Traceback" not in page
