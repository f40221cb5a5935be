"""Public names keep their parameters, options and columns: see notebooks/site/stability.md."""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import irmeta
from irmeta.api.pairs import StorePairs
from irmeta.api.per_doc import StorePerDoc
from irmeta.api.plot import StorePlots
from irmeta.api.pools import StorePools
from irmeta.api.stability import StoreStability
from irmeta.schema import pool_tables, result_tables, store_tables
from irmeta.schema.columns import Table
from support.commands import all_commands, options_of

SPACES: dict[str, type] = {
    "pairs": StorePairs,
    "per_doc": StorePerDoc,
    "plot": StorePlots,
    "pools": StorePools,
    "stability": StoreStability,
}
PROMISED = Path(__file__).with_name("public_names.txt")
NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
FOR_USERS = ("irmeta", "irmeta.stats", "irmeta.studies")
FOR_PACKAGES = {
    "irmeta.testing": ("check_measure", "check_preference"),
    "irmeta.measures.spec": ("Measure", "Term", "Trace"),
    "irmeta.naming": ("REL",),
    "irmeta.studies.framework.claims": ("Claim", "cell", "minus"),
}
"""What the pages for authors of other packages import."""


def promises_of(name: str, function: Any) -> Iterator[str]:
    """Yield the name of a function or class, and each of its parameters with its default."""
    yield name
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    for one in parameters:
        if one.name not in ("self", "choices"):
            default = "" if one.default is one.empty else f"={one.default!r}"
            yield f"{name} {one.name}{default}"


def methods_of(name: str, cls: type) -> Iterator[str]:
    for method, function in inspect.getmembers(cls, inspect.isfunction):
        if not method.startswith("_"):
            yield from promises_of(f"{name}.{method}", function)


def public() -> Iterator[str]:
    """Yield every public name of the package, option of a command, and column of a table."""
    for name in irmeta.__all__:
        found = getattr(irmeta, name)
        yield from promises_of(f"irmeta.{name}", found)
    for name in irmeta.stats.__all__:
        yield from promises_of(f"irmeta.stats.{name}", getattr(irmeta.stats, name))
    yield from methods_of("store", irmeta.Store)
    for space, cls in SPACES.items():
        yield from methods_of(f"store.{space}", cls)
    for command in all_commands():
        yield f"irmeta {command}"
        yield from (f"irmeta {command} {option}" for option in sorted(options_of(command)))
    for module in (result_tables, pool_tables, store_tables):
        for table in vars(module).values():
            if isinstance(table, Table):
                yield from (
                    f"table {table.name} {key} {one.kind}" for key, one in table.columns.items()
                )


def test_public_names__keep_what_a_release_promised():
    present = {*public()}
    lacking = [line for line in PROMISED.read_text().splitlines() if line not in present]
    assert not lacking, "deprecate these for two minor versions instead of removing them"


def code_of(file: Path) -> Iterator[str]:
    """Yield the code of a notebook's cells, or of a page's indented and fenced examples."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        yield from ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    else:
        lines = re.findall(r"^[ >]*((?:from|import) irmeta.*)", text, re.MULTILINE)
        yield from map(textwrap.dedent, lines)


def imports_of(code: str) -> Iterator[tuple[str, str]]:
    """Yield the module and the name of each import of irmeta."""
    lines = re.findall(r"^ *((?:from|import) irmeta[^(\n]*(?:\([^)]*\))?)", code, re.MULTILINE)
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def is_public(module: str, name: str) -> bool:
    """Check whether users, or authors of other packages, may import a name of a module."""
    if name in FOR_PACKAGES.get(module, ()):
        return True
    return module in FOR_USERS and (not name or name in import_module(module).__all__)


def test_imports__of_notebooks_and_pages_are_public():
    pages = [
        *NOTEBOOKS.glob("*.ipynb"),
        *NOTEBOOKS.glob("site/*.md"),
        NOTEBOOKS.parent / "README.md",
    ]
    imported = {
        (file.name, module, name)
        for file in pages
        for code in code_of(file)
        for module, name in imports_of(code)
    }
    assert len({file for file, *_ in imported}) > 10
    private = [place for place in sorted(imported) if not is_public(*place[1:])]
    assert private == []


if __name__ == "__main__":  # before a release: PYTHONPATH=tests python tests/test_public_names.py
    PROMISED.write_text("".join(f"{line}\n" for line in dict.fromkeys(public())))
