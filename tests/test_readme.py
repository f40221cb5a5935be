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
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "notebooks" / "site").glob("*.md")]


def test_readme__example_prints_its_output(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (output,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
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
    contents = (ROOT / "notebooks" / "site" / "contents.md").read_text(encoding="utf-8")
    for page in (ROOT / "notebooks").rglob("*"):
        if page.suffix in (".md", ".ipynb") and page.stem != "contents":
            name = page.relative_to(ROOT).with_suffix("").as_posix()
            assert f"\n{name}\n" in contents
