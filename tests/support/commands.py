"""All commands of the command line, with their options."""

from __future__ import annotations

from functools import cache
from typing import Any

from typer.main import get_command

from irmeta.cli.entry import load_commands
from irmeta.studies.framework.registry import study_modules


@cache
def all_commands() -> dict[str, Any]:
    """Map the words of each command, such as ``study depth``, to typer's command."""
    root: Any = get_command(load_commands())
    studies = root.commands["study"]
    named = ("all", "bundle", "claims", *study_modules())
    return {**root.commands} | {f"study {name}": studies.get_command(None, name) for name in named}


def options_of(command: str) -> set[str]:
    """Return the names of a command's options, such as ``--track`` and ``-m``."""
    parameters = all_commands()[command].params
    named = [p for p in parameters if p.param_type_name == "option"]
    return {"-h", "--help"} | {name for p in named for name in (*p.opts, *p.secondary_opts)}


def takes_runs(command: str) -> bool:
    """Check whether the run files of a track can be named on the line of a command."""
    return any(
        p.metavar in ("SOURCE [RUN]", "[SOURCE [RUN]]") for p in all_commands()[command].params
    )
