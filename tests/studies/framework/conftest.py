"""Fixtures: the tiny studies, registered by name, and a small store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import irmeta
from irmeta.studies.framework import registry
from support import tiny

TINY = {
    "alone": "support.tiny:ALONE",
    "optional": "support.tiny:OPTIONAL",
    "tiny": "support.tiny:STUDY",
}


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "OWN", registry.OWN | TINY)
    registry.study_modules.cache_clear()
    tiny.FAILING.clear()
    tiny.COMPUTED.clear()
    yield
    registry.study_modules.cache_clear()


@pytest.fixture
def store(tmp_path: Path) -> irmeta.Store:
    """Return a store of three tiny tracks."""
    return irmeta.ingest(tiny.collection(tmp_path / "in", "a", "b", "c"), tmp_path / "store")
