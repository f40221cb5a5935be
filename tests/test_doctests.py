"""Examples in docstrings give the output that they print, and public docstrings are complete."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import irmeta

PACKAGE = Path(irmeta.__file__).parent
MODULES = [
    ".".join(["irmeta", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8")
]
PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (irmeta, irmeta.stats, irmeta.studies)
    for name in (getattr(module, "__all__", None) or dir(module))
    if inspect.isfunction(getattr(module, name)) and not name.startswith("_")
}
# Their docstrings are generated, so no module has them.
# The made track of the examples has no judge, without whom there is nothing to study.
STUDIES = [
    name
    for name in PUBLIC
    if name.startswith("irmeta.studies.") and not name.endswith(("run_all", "judges"))
]


@pytest.fixture
def names(
    made_store: irmeta.Store,
    collections: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    undrawn: None,
) -> dict[str, Any]:
    """Names that examples may use, in a working folder with a collection and its store."""
    monkeypatch.chdir(tmp_path)
    Path("collection").symlink_to(collections)
    Path("store").symlink_to(made_store.path)
    names: dict[str, Any] = {"irmeta": irmeta, "np": np, "pl": pl, "store": made_store}
    exec(doctest.script_from_examples(irmeta.stats.__doc__ or ""), names)  # the matrices ap and rr
    return names


SLOW_EXAMPLES = {
    "irmeta.studies.framework.run_all": pytest.mark.study,
    "irmeta.stats.prediction_powered": pytest.mark.exhaustive,
    "irmeta.api.plot": pytest.mark.exhaustive,
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=SLOW_EXAMPLES.get(name, ())) for name in MODULES],
)
def test_docstring_examples__output_is_correct(name: str, names: dict[str, Any]):
    assert not doctest.testmod(import_module(name), extraglobs=names).failed


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.study
def test_study_examples__output_is_correct(name: str, names: dict[str, Any]):
    (example,) = doctest.DocTestFinder().find(PUBLIC[name], name, globs=names)
    assert not doctest.DocTestRunner().run(example).failed


@pytest.mark.parametrize("name", PUBLIC)
def test_public_docstring__has_returns_and_examples(name: str):
    function: Callable[..., Any] = PUBLIC[name]
    sections = {"Returns", "Examples"}
    if inspect.signature(function).return_annotation in (None, "None"):
        sections.remove("Returns")
    lines = (inspect.getdoc(function) or "").splitlines()
    headings = {a for a, b in pairwise(lines) if b == "-" * len(a)}
    if "Yields" in headings:  # of a context manager
        sections.remove("Returns")
    assert sections <= headings, f"{name} lacks {sorted(sections - headings)}"
