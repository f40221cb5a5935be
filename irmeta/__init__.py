"""Meta-evaluation of information retrieval: how far a measure can be trusted.

Measures are attributes too: ``irmeta.nDCG @ 10`` and ``irmeta.AP(rel=2)`` are names of measures.

>>> store = irmeta.ingest("collection/", "new-store/", track="news")
>>> store.means(["AP", "P@20", "ASL"]).height
60
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from irmeta._version import __version__

# Public names by module, loaded at first use, so that `import irmeta` stays quick.
_NAMES = {
    "irmeta.api": ("Store", "ingest", "open_store", "read", "read_files", "reanalyze"),
    "irmeta.api.agree": ("JudgeAgreement", "agree"),
    "irmeta.api.checks": ("check", "diff"),
    "irmeta.api.cite": ("Citation", "cite"),
    "irmeta.api.per_doc": ("SearchLengths",),
    "irmeta.api.in_memory": ("evaluate", "from_data"),
    "irmeta.api.matrices": ("matrices",),
    "irmeta.studies.papers.properties.compute": ("measure_properties",),
    "irmeta.api.over_tracks": ("OverTracks", "over_tracks"),
    "irmeta.api.pairs": ("prefer",),
    "irmeta.api.reproduce": ("Reproduction", "reproduce"),
    "irmeta.api.run_pool": ("next_docs", "pool_of_runs"),
    "irmeta.api.significance": ("compare", "power"),
    "irmeta.api.validate": ("Validation", "validate"),
    "irmeta.api.verify": ("verify",),
    "irmeta.archive.fetch": ("fetch",),
    "irmeta.archive.fetch_plan": ("FetchReport",),
    "irmeta.archive.catalog": ("Catalog", "catalog"),
    "irmeta.clusters": ("dask_executor",),
    "irmeta.errors": (
        "DataError", "IrmetaError", "MeasureError", "NamesWarning", "PoolDepthWarning",
        "QrelsWarning", "RelevanceWarning", "SegmentWarning", "SelfRetrievalWarning",
        "SkippedRunWarning", "UsageError",
    ),
    "irmeta.measures.catalog": ("list_measures",),
    "irmeta.measures.evaluate": ("scores_of",),
    "irmeta.measures.drawn_labels": ("permuted_means",),
    "irmeta.policies": ("EvalPolicy", "ReadPolicy"),
    "irmeta.preferences.registry": ("list_preferences",),
    "irmeta.preferences.evaluate": ("preferences_of",),
    "irmeta.rankings.judged": ("JudgedRanks",),
    "irmeta.report.figure_file": ("offline",),
    "irmeta.results.diff": ("Difference",),
    "irmeta.results.matrix": ("Matrix", "matrix_of"),
    "irmeta.archive.verification": ("Verification",),
}  # fmt: skip
_PLACES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Catalog", "Citation", "DataError", "Difference", "EvalPolicy", "FetchReport", "IrmetaError",
    "JudgeAgreement", "JudgedRanks", "Matrix", "MeasureError", "NamesWarning", "OverTracks",
    "PoolDepthWarning", "QrelsWarning", "ReadPolicy", "RelevanceWarning", "Reproduction",
    "SearchLengths", "SegmentWarning", "SelfRetrievalWarning", "SkippedRunWarning", "Store",
    "UsageError", "Validation", "Verification",
    "__version__", "agree", "catalog", "check", "cite", "compare", "dask_executor", "diff",
    "evaluate", "fetch", "from_data", "ingest", "list_measures", "list_preferences", "matrices",
    "matrix_of", "measure_properties", "next_docs", "offline", "open_store", "over_tracks",
    "permuted_means", "pool_of_runs", "power", "prefer", "preferences_of", "read", "read_files",
    "reanalyze", "reproduce", "scores_of", "stats", "studies", "validate", "verify",
]  # fmt: skip

if TYPE_CHECKING:
    from irmeta import stats, studies
    from irmeta.api import Store, ingest, open_store, read, read_files, reanalyze
    from irmeta.api.agree import JudgeAgreement, agree
    from irmeta.api.checks import check, diff
    from irmeta.api.cite import Citation, cite
    from irmeta.api.in_memory import evaluate, from_data
    from irmeta.api.matrices import matrices
    from irmeta.api.over_tracks import OverTracks, over_tracks
    from irmeta.api.pairs import prefer
    from irmeta.api.per_doc import SearchLengths
    from irmeta.api.reproduce import Reproduction, reproduce
    from irmeta.api.run_pool import next_docs, pool_of_runs
    from irmeta.api.significance import compare, power
    from irmeta.api.validate import Validation, validate
    from irmeta.api.verify import verify
    from irmeta.archive.catalog import Catalog, catalog
    from irmeta.archive.fetch import fetch
    from irmeta.archive.fetch_plan import FetchReport
    from irmeta.archive.verification import Verification
    from irmeta.clusters import dask_executor
    from irmeta.errors import (
        DataError,
        IrmetaError,
        MeasureError,
        NamesWarning,
        PoolDepthWarning,
        QrelsWarning,
        RelevanceWarning,
        SegmentWarning,
        SelfRetrievalWarning,
        SkippedRunWarning,
        UsageError,
    )
    from irmeta.measures.catalog import list_measures
    from irmeta.measures.drawn_labels import permuted_means
    from irmeta.measures.evaluate import scores_of
    from irmeta.measures.names import MeasureName
    from irmeta.policies import EvalPolicy, ReadPolicy
    from irmeta.preferences.evaluate import preferences_of
    from irmeta.preferences.registry import list_preferences
    from irmeta.rankings.judged import JudgedRanks
    from irmeta.report.figure_file import offline
    from irmeta.results.diff import Difference
    from irmeta.results.matrix import Matrix, matrix_of
    from irmeta.studies.papers.properties.compute import measure_properties


def __getattr__(name: str) -> MeasureName:  # type checkers know all other names
    if name in ("pyterrier", "stats", "studies"):
        module: Any = import_module(f"irmeta.{name}")
        return module
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    if not name.startswith("_"):
        from importlib.util import find_spec

        if find_spec(f"{__name__}.{name}") is None:  # else import itself loads the module
            from irmeta.measures.names import measure_named

            if (measure := measure_named(name)) is not None:
                return measure
    raise AttributeError(f"module 'irmeta' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "pyterrier"])
