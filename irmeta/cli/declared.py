"""Command-line options made from the fields of `Options` classes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import Field, fields
from functools import wraps
from typing import Annotated, Any, get_args, get_origin

import typer

from irmeta.cli.panels import panel_of
from irmeta.errors import UsageError
from irmeta.options import Options, choices_of, typed_fields, value_type

Group = type[Options] | tuple[type[Options], tuple[str, ...]]
"""Options class of a command, or an options class and the names of the selected options."""


class Given(dict[str, Any]):
    """Options on the command line by name, without options that are left to their default.

    Parameters
    ----------
    values
        The values of the options on the command line.
    accepted
        Names of all options of the class that the command accepts.
    """

    def __init__(self, values: Mapping[str, Any], accepted: Collection[str]) -> None:
        super().__init__(values)
        self.accepted: Collection[str] = accepted


def with_options(**groups: Group) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of some classes, and call the command with their instances.

    The command's parameters of these names are replaced by the options of the class:

        @app.command()
        @with_options(reading=(ReadPolicy, ("names", "duplicates")), choices=EvalPolicy)
        def evaluate(source: SourceArgument, reading: ReadPolicy, choices: Given) -> None: ...

    A parameter of type `Given` gets the options on the command line instead of an instance, and one
    called ``context`` typer's context.
    """
    classes = {name: _named(group) for name, group in groups.items()}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        declared = inspect.signature(command, eval_str=True).parameters.values()
        partial = {one.name for one in declared if one.annotation is Given}
        takes = {one.name for one in declared}

        @wraps(command)
        def call(context: typer.Context, **given: Any) -> None:
            arguments = dict(given)
            if "context" in takes:
                arguments["context"] = context
            for name, (options, line) in build_options(classes, context, arguments).items():
                arguments[name] = Given(line, classes[name][1]) if name in partial else options
            command(**arguments)

        replaced = {"context", *classes}
        remaining = [one.replace(kind=KEYWORD) for one in declared if one.name not in replaced]
        added: dict[str, inspect.Parameter] = {}
        for cls, names in classes.values():  # the first class wins where two share a name
            added = {one.name: one for one in parameters(cls) if one.name in names} | added
        # typer reads the signature; type checkers know no such attribute of functions.
        call.__signature__ = inspect.Signature([CONTEXT, *remaining, *added.values()])  # type: ignore[attr-defined]
        return call

    return decorate


def _named(group: Group) -> tuple[type[Options], tuple[str, ...]]:
    """Return a class and the names of its options that a command takes."""
    return group if isinstance(group, tuple) else (group, tuple(group.__dataclass_fields__))


def build_options(
    groups: Mapping[str, tuple[type[Options], tuple[str, ...]]],
    context: typer.Context,
    given: dict[str, Any],
) -> dict[str, tuple[Options, dict[str, Any]]]:
    """Remove the options of classes from a command's arguments.

    An option that two classes share is passed to both, unless its value is the first default.

    Returns
    -------
    dict
        For each group an instance of its class, and the values on the command line.
    """
    made = dict[str, tuple[Options, dict[str, Any]]]()
    shared: dict[str, Any] = {}
    for name, (cls, names) in groups.items():
        line = {n: v for n, v in shared.items() if n in names}
        line |= pop_options(cls, context, given, names)
        made[name] = cls.of(line), line
        plain = {one.name: one.default for one in fields(cls)}
        shared |= {n: v for n, v in line.items() if v != plain[n]}
    return made


KEYWORD = inspect.Parameter.KEYWORD_ONLY
CONTEXT = inspect.Parameter("context", KEYWORD, annotation=typer.Context)


def pop_options(
    cls: type[Options],
    context: typer.Context,
    given: dict[str, Any],
    names: Collection[str] | None = None,
) -> dict[str, Any]:
    """Remove the options of a class from a command's arguments; return those on the command line.

    Raises
    ------
    UsageError
        If an option with one value is there repeatedly.
    """
    line = dict[str, Any]()
    for one, kind in typed_fields(cls):
        name = one.name
        if name not in given or (names is not None and name not in names):
            continue
        value, source = given.pop(name), context.get_parameter_source(name)
        if source is None or source.name == "DEFAULT":
            continue
        if not _is_list(kind):
            value = _only(flags(one)[-1], value)
        line[name] = value
    return line


def _only(flag: str, values: Any) -> Any:
    """Return the single value of an option."""
    if not isinstance(values, list):
        return values
    first, *more = values
    if more:
        listed = ", ".join(map(str, values))
        raise UsageError(f"{flag} is given {len(values)} times ({listed}): give one value.")
    return first


def flags(one: Field[Any]) -> list[str]:
    """Return the names of an option on the command line."""
    return (one.metadata["flag"] or f"--{one.name.replace('_', '-')}").split()


def parameters(cls: type[Options], without: Collection[str] = ()) -> list[inspect.Parameter]:
    """Return the parameters of a command for the options of a class."""
    return [
        _parameter(one, kind, panel_of(cls, one.name))
        for one, kind in typed_fields(cls)
        if one.metadata["flag"] != "" and one.name not in without
    ]


def completion(choices: Collection[str]) -> Callable[[str], list[str]]:
    """Return a function that completes a value in a shell."""

    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return complete


def _is_list(kind: Any) -> bool:
    """Check whether an option may have several values."""
    return get_origin(value_type(kind)) is tuple


def _parameter(one: Field[Any], kind: Any, panel: str | None) -> inspect.Parameter:
    plain, default, rule = value_type(kind), one.default, one.metadata
    more: dict[str, Any] = {"metavar": rule["metavar"]} if rule["metavar"] else {}
    item = get_args(plain)[0] if _is_list(kind) else plain
    if choices := choices_of(one, kind):
        # As text, because typer would reject an unknown choice without "did you mean".
        more = {"metavar": f"[{'|'.join(choices)}]"} | more
        more["autocompletion"] = completion(choices)
        item = str
    plain = item
    if _is_list(kind):
        # Every option has a default, never dataclasses.MISSING.
        shown = ", ".join(map(str, default or ()))  # pyright: ignore[reportArgumentType]
        more["show_default"] = "preset default" if shown == "default" else shown or False
        default = None
    elif item is not bool:
        more = {"metavar": f"<{item.__name__}>"} | more
        default = None if default is None else [default]
    if item is not bool:  # also with one value, since typer would keep the last of several
        plain = list[item]
    shown_kind = plain | None if default is None else plain
    option = typer.Option(*flags(one), help=rule["help"], rich_help_panel=panel, **more)
    return inspect.Parameter(
        one.name, KEYWORD, default=default, annotation=Annotated[shown_kind, option]
    )
