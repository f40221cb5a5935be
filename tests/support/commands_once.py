"""Commands that are built once for all command lines of a test process."""

from __future__ import annotations

from typing import Any

import pytest
import typer

BUILD = typer.main.get_command


def build_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build the commands anew only where others are registered: it takes a tenth of a second.

    A process of its own builds the one command that it runs.
    """
    built: dict[tuple[int, ...], tuple[typer.Typer, Any]] = {}  # an app kept has its identity alone

    def get_command(app: typer.Typer) -> Any:
        key = tuple(registered(app))
        if key not in built:
            built[key] = app, BUILD(app)
        return built[key][1]

    monkeypatch.setattr(typer.main, "get_command", get_command)


def registered(app: typer.Typer) -> list[int]:
    """Return identities of the commands of an app and its groups, which live as long as it."""
    groups = [group.typer_instance for group in app.registered_groups]
    nested = [key for group in groups if group is not None for key in registered(group)]
    return [id(app), *map(id, app.registered_commands), *nested]
