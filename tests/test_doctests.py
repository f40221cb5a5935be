"""Examples in docstrings, run as doctests."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import irmeta

PACKAGE = Path(irmeta.__file__).parent
MODULES = [
    ".".join(["irmeta", *path.relative_to(PACKAGE).with_suffix("").parts])
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples__output_is_correct(name: str, made_store: irmeta.Store):
    names = {"irmeta": irmeta, "np": np, "pl": pl, "store": made_store}
    found = doctest.testmod(import_module(name), extraglobs=names)
    assert not found.failed
