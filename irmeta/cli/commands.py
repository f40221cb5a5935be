"""The app with all its commands."""

from irmeta.cli import (
    archive,
    collections,
    fetching,
    pooling,
    preferences,
    results,
    studies,
    truncation,
    values,
    verifying,
)
from irmeta.cli.app import app

__all__ = [
    "app",
    "archive",
    "collections",
    "fetching",
    "pooling",
    "preferences",
    "results",
    "studies",
    "truncation",
    "values",
    "verifying",
]
