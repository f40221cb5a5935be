"""Public functions and classes: `Store`, `ingest`, `evaluate`, `compare` and others."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from irmeta.api.in_memory import read, read_files, read_tracks
    from irmeta.api.jobs import Reanalysis, ingest, open_store, reanalyze, reanalyze_tracks
    from irmeta.api.store import Store
    from irmeta.policy_keywords import EvalChoices

# Loaded at first use, so that a command loads only what it needs.
_NAMES = {
    "irmeta.api.in_memory": ("read", "read_files", "read_tracks"),
    "irmeta.api.jobs": ("Reanalysis", "ingest", "open_store", "reanalyze", "reanalyze_tracks"),
    "irmeta.api.store": ("Store",),
    "irmeta.policy_keywords": ("EvalChoices",),
}
_PLACES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "EvalChoices",
    "Reanalysis",
    "Store",
    "ingest",
    "open_store",
    "read",
    "read_files",
    "read_tracks",
    "reanalyze",
    "reanalyze_tracks",
]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'irmeta.api' has no attribute {name!r}")
