"""Registration of commands: options that all commands share, and examples in help texts."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import typer

from irmeta.cli.app import app
from irmeta.cli.declared import KEYWORD, parameters
from irmeta.errors import UsageError
from irmeta.options import Options, option
from irmeta.show.notes import LEVEL

EXAMPLES = dict[str, tuple[str, ...]]()
"""Examples in the help text of each command, by the command's name."""


@dataclass(frozen=True)
class Detail(Options):
    """Detail of what a command prints on stderr."""

    quiet: bool = option(False, "Print results and errors, but no notes, warnings or progress.")
    verbose: bool = option(False, "Print steps with their times, and tracebacks of errors.")


def command(
    *examples: str, name: str | None = None, group: typer.Typer = app, parent: str = "irmeta"
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command with the options of `Detail`, and with examples in its help text.

    Parameters
    ----------
    examples
        Complete command lines.
    name
        Name of the command; default: the function's name.
    group
        The app, or a group of subcommands.
    parent
        The words before the command's name.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        called = name or function.__name__
        EXAMPLES[f"{parent} {called}"] = examples
        with_detail = detailed(function)
        group.command(name=called, epilog=epilog_of(examples))(with_detail)
        return with_detail

    return decorate


def detailed(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `Detail` to a command, and set the level of its notes."""

    @wraps(function)
    def call(**given: Any) -> None:
        detail = Detail.of({name: given.pop(name) for name in Detail.__dataclass_fields__})
        if detail.quiet and detail.verbose:
            raise UsageError("--quiet and --verbose exclude each other.")
        LEVEL.set(quiet=detail.quiet, verbose=detail.verbose)
        function(**given)

    declared = inspect.signature(function, eval_str=True).parameters.values()
    arguments = [one.replace(kind=KEYWORD) for one in declared]
    # typer reads the signature; type checkers know no such attribute of functions.
    call.__signature__ = inspect.Signature([*arguments, *parameters(Detail)])  # type: ignore[attr-defined]
    return call


def epilog_of(examples: tuple[str, ...]) -> str:
    """Return the end of a help text: the examples, one per line."""
    from rich.markup import escape

    return "\n".join(["Examples:", *(f"$ {escape(line)}" for line in examples)])
