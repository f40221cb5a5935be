"""The app with all its commands, in the order of the help text."""

from typer.models import CommandInfo

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

ORDER = (
    *("reanalyze", "evaluate", "trec_eval", "compare", "power", "prefer", "truncation", "explain"),
    *("pool", "measures", "preferences", "ingest", "info", "check", "diff"),
    *("catalog", "fetch", "verify"),
)
"""Commands as the help text lists them; other commands follow."""


def _place(command: CommandInfo) -> int:
    return ORDER.index(command.name) if command.name in ORDER else len(ORDER)


app.registered_commands.sort(key=_place)
