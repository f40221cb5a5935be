"""What a user holds: `Store` and its methods, and what makes or opens one."""

from irmeta.api.in_memory import read, read_files, read_tracks
from irmeta.api.jobs import (
    Reanalysis,
    ingest,
    open_store,
    reanalyze,
    reanalyze_tracks,
)
from irmeta.api.store import EvalChoices, Store

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
