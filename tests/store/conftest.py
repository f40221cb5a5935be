"""Fixtures: a collection of two tracks and the path of its store."""

from pathlib import Path

import pytest

from support.ingesting import TWO, put


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Return a collection of the tracks a and b."""
    return put(tmp_path / "two", TWO)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"
