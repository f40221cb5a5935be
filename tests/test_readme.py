"""The README and the pages of the site: their example, their length, their links."""

from __future__ import annotations

import contextlib
import io
import re
import tomllib
from pathlib import Path

import pytest

import irmeta

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SITE = ROOT / "notebooks" / "site"
EXECUTED = [ROOT / "README.md", SITE / "ties.md", SITE / "qrels_sets.md"]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *SITE.glob("*.md")]


@pytest.mark.parametrize("page", EXECUTED, ids=lambda page: page.stem)
def test_page__examples_print_their_output(page: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    assert len(examples) == text.count("```python")
    for code, output in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue() == output


def test_readme__is_short():
    assert len(README.split()) <= 900


def test_metadata__readme_has_no_relative_links():
    """A package index shows it without the files of the repository."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    text = README
    for change in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"][
        "substitutions"
    ]:
        text = re.sub(change["pattern"], change["replacement"], text)
    assert not re.findall(r"\]\((?!https?:)", text)
    assert "and [more](" in README
    assert "and more." in text


def test_citation__names_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {irmeta.__version__}\n" in citation


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page__links_to_existing_files(page: Path):
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing


def test_contents__name_every_page_and_notebook():
    contents = (SITE / "contents.md").read_text(encoding="utf-8")
    for page in (ROOT / "notebooks").rglob("*"):
        if page.suffix in (".md", ".ipynb") and page.stem != "contents":
            name = page.relative_to(ROOT).with_suffix("").as_posix()
            assert f"\n{name}\n" in contents
