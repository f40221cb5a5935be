"""Studies: what a paper computes over many tracks, as named tables and figures.

``irmeta.studies.search_length(store, out)`` is the study of paper 1, and
``irmeta.studies.open_study(out)`` opens what it left. The functions live in irmeta.api, above the
batch that runs studies; these are their public names.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PLACES = {"open_study": "irmeta.api.studies", "search_length": "irmeta.api.studies"}


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'irmeta.studies' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
