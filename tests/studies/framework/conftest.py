"""Fixtures: the tiny studies and the study of a module, registered by name, and a small store."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import irmeta
from irmeta.studies.framework import registry
from irmeta.studies.framework.study_results import StudyResults
from support import tiny

TINY = {
    "alone": "support.tiny:ALONE",
    "optional": "support.tiny:OPTIONAL",
    "tiny": "support.tiny:STUDY",
}


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    """Register the tiny studies, and as ``claimed`` the study `CLAIMED` of the module."""
    module = request.module
    own = {"claimed": f"{module.__name__}:CLAIMED"} if hasattr(module, "CLAIMED") else {}
    monkeypatch.setattr(registry, "OWN", registry.OWN | TINY | own)
    registry.study_modules.cache_clear()
    tiny.FAILING.clear()
    tiny.COMPUTED.clear()
    yield
    registry.study_modules.cache_clear()
    vars(irmeta.studies).pop("claimed", None)


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a collection of three tiny tracks and its store."""
    folder = tmp_path_factory.mktemp("tiny")
    irmeta.ingest(tiny.collection(folder / "in", "a", "b", "c"), folder / "store")
    return folder


@pytest.fixture
def store(tiny_folder: Path, tmp_path: Path) -> irmeta.Store:
    """Return a store of three tiny tracks, which a test may change."""
    return irmeta.open_store(shutil.copytree(tiny_folder, tmp_path, dirs_exist_ok=True) / "store")


@pytest.fixture
def results(store: irmeta.Store, tmp_path: Path, undrawn: None) -> StudyResults:
    """Return the results of the study ``claimed``."""
    return irmeta.studies.claimed(store, tmp_path / "claimed", track=["a", "b"])
