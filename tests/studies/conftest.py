"""The marker of tests of studies, and studies without figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.undrawn import draw_nothing

HERE = Path(__file__).parent
UNMARKED = ("test_smoke.py", "test_measure_properties.py", "framework")


def is_unmarked(path: Path) -> bool:
    return path.relative_to(HERE).parts[0] in UNMARKED


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no files whose tests -m leaves out all the same, unless they are named."""
    is_test = collection_path.name.startswith("test_") and not is_unmarked(collection_path)
    return True if is_test and "not study" in config.option.markexpr else None


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests below this folder, but for those that every pytest runs."""
    for item in items:
        if HERE in item.path.parents and not is_unmarked(item.path):
            item.add_marker("study")


@pytest.fixture(scope="module")
def undrawn_module() -> Iterator[None]:
    """Draw no figures in the tests and fixtures of a module, as `undrawn` does in one test."""
    with pytest.MonkeyPatch.context() as patched:
        draw_nothing(patched)
        yield
