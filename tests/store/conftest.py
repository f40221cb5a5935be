"""A collection of two tracks, and a place for its store."""

from pathlib import Path

import pytest

from support.ingesting import TWO, put


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A collection of the tracks a and b."""
    return put(tmp_path / "two", TWO)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"
