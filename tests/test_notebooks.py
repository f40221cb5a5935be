"""Notebooks of the repository: they run, and ship with small outputs."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TUTORIALS = {"first_look", "from_other_tools", "trust", "archive", "search_length_explorer"}
TUTORIALS |= {"claims", "judges_in_trec"}
STUDIES = {"study_depth", "study_innovation", "study_judges", "study_preference"}
STUDIES |= {"study_properties"}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script that executes notebooks and cleans their outputs."""
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / ".ci" / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=NOTEBOOKS, ids=lambda file: file.stem)
def file(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_notebooks__expected_files_exist_and_are_on_the_site():
    names = {file.stem for file in NOTEBOOKS}
    assert TUTORIALS | STUDIES | {"study_search_length"} <= names
    contents = (ROOT / "notebooks" / "site" / "contents.md").read_text(encoding="utf-8")
    assert names == set(re.findall(r"^notebooks/(\w+)$", contents, re.MULTILINE))


@pytest.mark.slow
def test_notebook__runs_from_top_to_bottom(file: Path, script: ModuleType):
    stored, executed = nbformat.read(file, as_version=4), script.execute(file)
    assert script.problems_of(script.written(executed)) == []
    for before, after in zip(stored.cells, executed.cells, strict=True):
        assert before.source == after.source
        if after.cell_type == "code":
            # Digits may depend on versions of libraries; what a cell shows does not.
            assert kinds(before.outputs) == kinds(after.outputs), before.id


def kinds(outputs: list[nbformat.NotebookNode]) -> list[str]:
    """Return the form of each output."""
    return [form for one in outputs for form in one.get("data", {"stream": 0})]


def test_notebook__has_outputs_without_traces_of_the_machine(file: Path, script: ModuleType):
    text = file.read_text(encoding="utf-8")
    assert script.problems_of(text) == []
    notebook = nbformat.read(file, as_version=4)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert not any(cell.metadata for cell in notebook.cells)
    assert sum(bool(cell.outputs) for cell in code) >= len(code) / 2
    for output in (one for cell in code for one in cell.outputs):
        assert output.output_type in ("execute_result", "stream")
        assert output.get("name") != "stderr"
        forms = list(output.get("data", {}))
        assert len(forms) == (output.output_type == "execute_result")
        assert "application/javascript" not in forms
        assert "<script" not in str(output)  # nothing that loads from a network


def test_cleaned__one_small_form_of_a_result(script: ModuleType):
    svg = (
        '<svg xmlns="x" width="9"><title>t</title><g class="c" font-family="F">'
        '<path d="M1.004,2.96h-3.04" opacity="1"/></g></svg>'
    )
    smaller = "<svg font-family='F' xmlns='x' width='9'><g><path d='M1,3h-3'/></g></svg>"
    assert script.smaller(svg) == smaller
    data = {"text/plain": "f", "image/svg+xml": svg, "image/png": "A", "text/html": "<p>"}
    output = script.cleaned(nbformat.v4.new_output("display_data", data), "name")
    assert output.data == {"image/svg+xml": smaller}
    table = "<style>x</style>\n<table><td>&quot;a &amp; b&quot;</td></table>"
    output = script.cleaned(nbformat.v4.new_output("display_data", {"text/html": table}), "name")
    assert output.data == {"text/html": "<table><td>a &amp; b</td></table>"}
    with pytest.raises(SystemExit, match="prints to stderr"):
        script.cleaned(nbformat.v4.new_output("stream", name="stderr", text="warning"), "name")


def test_problems__absolute_paths_addresses_and_size(script: ModuleType):
    assert script.problems_of("<f at 0x7f1e2d3c>") == ["a memory address"]
    assert script.problems_of("/tmp/x") == ["an absolute path"]
    assert script.problems_of("1" * 400_001) == ["more than 400,000 bytes"]
