"""Commands by the module that defines them; a command line loads the module of its command only."""

from __future__ import annotations

from importlib import import_module

import typer

from irmeta.cli.app import app

MODULES = {
    "reanalyze": "collections",
    "evaluate": "values",
    "trec_eval": "values",
    "compare": "results",
    "power": "results",
    "prefer": "preferences",
    "agree": "agreeing",
    "reproduce": "reproducing",
    "truncation": "truncation",
    "explain": "values",
    "pool": "pooling",
    "measures": "values",
    "preferences": "preferences",
    "ingest": "collections",
    "info": "collections",
    "check": "results",
    "diff": "results",
    "catalog": "archive",
    "fetch": "fetching",
    "verify": "verifying",
    "study": "studies",
}
"""Module of each command, in the order of the help text."""


def load_commands(name: str = "") -> typer.Typer:
    """Return the app with the command of this name; for any other text, with all commands."""
    if name in MODULES:
        import_module(f"irmeta.cli.{MODULES[name]}")
        return app
    for module in dict.fromkeys(MODULES.values()):
        import_module(f"irmeta.cli.{module}")
    order = [*MODULES]
    app.registered_commands.sort(key=lambda command: order.index(command.name or ""))
    return app
