"""irmeta: how far can a retrieval measure be trusted?

store = irmeta.ingest("collection/", "store/")
store.means(["AP", "P@20", "ASL"])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from irmeta._version import __version__

# Public names and where they live; loaded at first use, so that `import irmeta` stays quick.
_PLACES = {
    "DataError": "irmeta.errors",
    "EvalPolicy": "irmeta.policies",
    "IrmetaError": "irmeta.errors",
    "MeasureError": "irmeta.errors",
    "ReadPolicy": "irmeta.policies",
    "SetAsideWarning": "irmeta.errors",
    "Store": "irmeta.api",
    "UsageError": "irmeta.errors",
    "ingest": "irmeta.api",
    "open_store": "irmeta.api",
    "reanalyze": "irmeta.api",
}

__all__ = [
    "DataError",
    "EvalPolicy",
    "IrmetaError",
    "MeasureError",
    "ReadPolicy",
    "SetAsideWarning",
    "Store",
    "UsageError",
    "__version__",
    "ingest",
    "open_store",
    "reanalyze",
]

if TYPE_CHECKING:
    from irmeta.api import Store, ingest, open_store, reanalyze
    from irmeta.errors import (
        DataError,
        IrmetaError,
        MeasureError,
        SetAsideWarning,
        UsageError,
    )
    from irmeta.policies import EvalPolicy, ReadPolicy


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'irmeta' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
