"""The marker of tests of studies."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
UNMARKED = ("test_smoke.py", "test_measure_properties.py", "framework")


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests below this folder, but for those that every pytest runs."""
    for item in items:
        if HERE in item.path.parents and item.path.relative_to(HERE).parts[0] not in UNMARKED:
            item.add_marker("study")
