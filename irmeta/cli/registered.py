"""Registration of commands: options that all commands share, and examples in help texts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any

import typer
from typer.models import OptionInfo

from irmeta.cli.app import app
from irmeta.cli.declared import KEYWORD, parameters
from irmeta.cli.panels import arrange
from irmeta.errors import UsageError
from irmeta.options import Options, option
from irmeta.show.advice import OPTIONS
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
        OPTIONS.clear()
        OPTIONS.update(known)
        LEVEL.set(quiet=detail.quiet, verbose=detail.verbose)
        function(**given)

    declared = inspect.signature(function, eval_str=True).parameters.values()
    arguments = [one.replace(kind=KEYWORD) for one in declared]
    shown = arrange([*arguments, *parameters(Detail)])
    known = dict(named_options(shown))
    # typer reads the signature; type checkers know no such attribute of functions.
    call.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    return call


def named_options(declared: Iterable[inspect.Parameter]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the options of a command by keyword, each with its long name and its negation."""
    for one in declared:
        for info in getattr(one.annotation, "__metadata__", ()):
            if isinstance(info, OptionInfo):
                names = [
                    info.default,
                    *(info.param_decls or ()),
                ]  # in Annotated, the first is there
                long = [name for name in names if isinstance(name, str) and name.startswith("--")]
                plain = f"--{one.name.replace('_', '-')}"
                option, _, negation = (long or [plain])[0].partition("/")
                yield one.name, (option, negation or option.replace("--", "--no-", 1))


def epilog_of(examples: tuple[str, ...]) -> str:
    """Return the end of a help text: the examples, one per line, without markup of rich."""
    return "\n".join(["Examples:", *(f"$ {line}" for line in examples)])
