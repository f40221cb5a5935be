"""Meta-evaluation of information retrieval: how far a measure can be trusted.

>>> store = irmeta.ingest("collection/", "new-store/", tracks="news")
>>> store.means(["AP", "P@20", "ASL"]).height
60
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from irmeta._version import __version__

# Public names and where they live; loaded at first use, so that `import irmeta` stays quick.
_PLACES = {
    "DataError": "irmeta.errors",
    "Difference": "irmeta.results.diff",
    "EvalPolicy": "irmeta.policies",
    "IrmetaError": "irmeta.errors",
    "JudgedRanks": "irmeta.rankings.judged",
    "Matrix": "irmeta.results.matrix",
    "MeasureError": "irmeta.errors",
    "NamesWarning": "irmeta.errors",
    "PoolDepthWarning": "irmeta.errors",
    "QrelsWarning": "irmeta.errors",
    "ReadPolicy": "irmeta.policies",
    "SearchLengths": "irmeta.api.explore",
    "SkippedRunWarning": "irmeta.errors",
    "Store": "irmeta.api",
    "UsageError": "irmeta.errors",
    "check": "irmeta.api.check",
    "compare": "irmeta.api.significance",
    "diff": "irmeta.results.diff",
    "ingest": "irmeta.api",
    "list_measures": "irmeta.measures.catalog",
    "matrices": "irmeta.api.matrices",
    "matrix_of": "irmeta.results.matrix",
    "open_store": "irmeta.api",
    "power": "irmeta.api.significance",
    "read": "irmeta.api",
    "read_files": "irmeta.api",
    "reanalyze": "irmeta.api",
    "scores_of": "irmeta.measures.evaluate",
}

__all__ = [
    "DataError",
    "Difference",
    "EvalPolicy",
    "IrmetaError",
    "JudgedRanks",
    "Matrix",
    "MeasureError",
    "NamesWarning",
    "PoolDepthWarning",
    "QrelsWarning",
    "ReadPolicy",
    "SearchLengths",
    "SkippedRunWarning",
    "Store",
    "UsageError",
    "__version__",
    "check",
    "compare",
    "diff",
    "ingest",
    "list_measures",
    "matrices",
    "matrix_of",
    "open_store",
    "power",
    "read",
    "read_files",
    "reanalyze",
    "scores_of",
    "stats",
    "studies",
]

if TYPE_CHECKING:
    from irmeta import stats, studies
    from irmeta.api import Store, ingest, open_store, read, read_files, reanalyze
    from irmeta.api.check import check
    from irmeta.api.explore import SearchLengths
    from irmeta.api.matrices import matrices
    from irmeta.api.significance import compare, power
    from irmeta.errors import (
        DataError,
        IrmetaError,
        MeasureError,
        NamesWarning,
        PoolDepthWarning,
        QrelsWarning,
        SkippedRunWarning,
        UsageError,
    )
    from irmeta.measures.catalog import list_measures
    from irmeta.measures.evaluate import scores_of
    from irmeta.policies import EvalPolicy, ReadPolicy
    from irmeta.rankings.judged import JudgedRanks
    from irmeta.results.diff import Difference, diff
    from irmeta.results.matrix import Matrix, matrix_of


def __getattr__(name: str) -> Any:
    if name in ("stats", "studies"):
        return import_module(f"irmeta.{name}")
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'irmeta' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
