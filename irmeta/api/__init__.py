"""What a user holds: `Store` and its methods, `ingest`, `read`, `open_store` and `reanalyze`."""

from irmeta.api.jobs import (
    Reanalysis,
    ingest,
    ingest_tracks,
    open_store,
    read,
    read_tracks,
    reanalyze,
)
from irmeta.api.store import EvalChoices, Store

__all__ = [
    "EvalChoices",
    "Reanalysis",
    "Store",
    "ingest",
    "ingest_tracks",
    "open_store",
    "read",
    "read_tracks",
    "reanalyze",
]
