"""The command line: `irmeta reanalyze`, `evaluate`, `explain`, `compare` and the others."""

from irmeta.cli import collections, pooling, preferences, results, studies, truncation, values
from irmeta.cli.entry import main

__all__ = [
    "collections",
    "main",
    "pooling",
    "preferences",
    "results",
    "studies",
    "truncation",
    "values",
]
