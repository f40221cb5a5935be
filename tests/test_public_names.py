"""Public names keep their parameters, options and columns: see notebooks/site/stability.md."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import irmeta
from irmeta.api.pairs import StorePairs
from irmeta.api.per_doc import StorePerDoc
from irmeta.api.plot import StorePlots
from irmeta.api.pools import StorePools
from irmeta.api.stability import StoreStability
from irmeta.schema import result_tables, store_tables
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
    for module in (result_tables, store_tables):
        for table in vars(module).values():
            if isinstance(table, Table):
                yield from (
                    f"table {table.name} {key} {one.kind}" for key, one in table.columns.items()
                )


def test_public_names__keep_what_a_release_promised():
    present = {*public()}
    lacking = [line for line in PROMISED.read_text().splitlines() if line not in present]
    assert not lacking, "deprecate these for two minor versions instead of removing them"


if __name__ == "__main__":  # before a release: PYTHONPATH=tests python tests/test_public_names.py
    PROMISED.write_text("".join(f"{line}\n" for line in dict.fromkeys(public())))
