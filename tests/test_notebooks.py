"""Notebooks of the repository."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def test_notebooks__expected_files_exist():
    assert {"first_look", "search_length_explorer"} <= {file.stem for file in NOTEBOOKS}


@pytest.mark.slow
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebook__runs_from_top_to_bottom(file: Path):
    notebook = nbformat.read(file, as_version=4)
    folder = {"metadata": {"path": str(file.parent)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=folder).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    assert sum(len(str(cell.outputs)) for cell in code) < 2_000_000


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebook__small_and_without_absolute_paths(file: Path):
    text = file.read_text(encoding="utf-8")
    assert len(text) < 300_000
    assert not re.search(r"/(home|Users|tmp|work|root)/|[A-Z]:\\\\", text)
