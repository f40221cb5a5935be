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


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples__give_their_output(name: str, made_store: irmeta.Store):
    names: dict[str, Any] = {"irmeta": irmeta, "np": np, "pl": pl, "store": made_store}
    exec(doctest.script_from_examples(irmeta.stats.__doc__ or ""), names)  # the matrices ap and rr
    found = doctest.testmod(import_module(name), extraglobs=names)
    assert not found.failed


@pytest.mark.parametrize("name", PUBLIC)
def test_public_docstring__has_returns_and_examples(name: str):
    function: Callable[..., Any] = PUBLIC[name]
    sections = {"Returns", "Examples"}
    if inspect.signature(function).return_annotation in (None, "None"):
        sections.remove("Returns")
    lines = (inspect.getdoc(function) or "").splitlines()
    headings = {a for a, b in pairwise(lines) if b == "-" * len(a)}
    assert sections <= headings, f"{name} lacks {sorted(sections - headings)}"
