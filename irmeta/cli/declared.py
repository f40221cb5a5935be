"""Command-line options made from the fields of `Options` classes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import Field, fields
from functools import wraps
from typing import Annotated, Any, get_args, get_origin

import typer

from irmeta.options import Options, choices_of, typed_fields, value_type

Group = type[Options] | tuple[type[Options], tuple[str, ...]]
"""Options class of a command, or an options class and the names of the selected options."""


def with_options(**groups: Group) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of some classes, and call the command with their instances.

    The command's parameters of these names are replaced by the options of the class:

        @app.command()
        @with_options(reading=(ReadPolicy, ("names", "duplicates")), policy=EvalPolicy)
        def evaluate(source: SourceArgument, reading: ReadPolicy, policy: EvalPolicy) -> None: ...
    """
    classes = {name: _named(group) for name, group in groups.items()}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(**given: Any) -> None:
            command(**build_options(classes, given))

        declared = inspect.signature(command, eval_str=True).parameters.values()
        remaining = [one.replace(kind=KEYWORD) for one in declared if one.name not in classes]
        added: dict[str, inspect.Parameter] = {}
        for cls, names in classes.values():  # the first class wins where two share a name
            added = {one.name: one for one in parameters(cls) if one.name in names} | added
        # typer reads the signature; type checkers know no such attribute of functions.
        call.__signature__ = inspect.Signature([*remaining, *added.values()])  # type: ignore[attr-defined]
        return call

    return decorate


def _named(group: Group) -> tuple[type[Options], tuple[str, ...]]:
    """Return a class and the names of its options that a command takes."""
    return group if isinstance(group, tuple) else (group, tuple(group.__dataclass_fields__))


def build_options(
    groups: Mapping[str, tuple[type[Options], tuple[str, ...]]], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a command with an instance of each class.

    An option that two classes share is passed to both, unless its value is the first default.
    """
    arguments, made = dict(given), dict[str, Any]()
    shared: dict[str, Any] = {}
    for name, (cls, names) in groups.items():
        again = {n: v for n, v in shared.items() if n in names}
        made[name] = cls.of(again | pop_options(names, arguments))
        plain = {one.name: one.default for one in fields(cls) if one.name in names}
        shared |= {n: given[n] for n, default in plain.items() if given.get(n, default) != default}
    return arguments | made


KEYWORD = inspect.Parameter.KEYWORD_ONLY


def pop_options(names: Collection[str], given: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of these names from a command's arguments, and return them."""
    values = {name: given.pop(name) for name in list(given) if name in names}
    return {n: v for n, v in values.items() if v is not None and v != []}


def parameters(cls: type[Options], without: Collection[str] = ()) -> list[inspect.Parameter]:
    """Return the parameters of a command for the options of a class."""
    return [
        _parameter(one, kind)
        for one, kind in typed_fields(cls)
        if one.metadata["flag"] != "" and one.name not in without
    ]


def completion(choices: Collection[str]) -> Callable[[str], list[str]]:
    """Return a function that completes a value in a shell."""

    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return complete


def _parameter(one: Field[Any], kind: Any) -> inspect.Parameter:
    plain, default, rule = value_type(kind), one.default, one.metadata
    names = rule["flag"] or f"--{one.name.replace('_', '-')}"
    more: dict[str, Any] = {"metavar": rule["metavar"]} if rule["metavar"] else {}
    is_repeatable = get_origin(plain) is tuple
    item = get_args(plain)[0] if is_repeatable else plain
    if choices := choices_of(one, kind):
        # As text, because typer would reject an unknown choice without "did you mean".
        more = {"metavar": f"[{'|'.join(choices)}]"} | more
        more["autocompletion"] = completion(choices)
        item = str
    plain = item
    if is_repeatable:
        plain = list[item]
        # Every option has a default, never dataclasses.MISSING.
        more["show_default"] = ", ".join(map(str, default or ())) or False  # pyright: ignore[reportArgumentType]
        default = None
    shown_kind = plain | None if default is None else plain
    option = typer.Option(*names.split(), help=rule["help"], **more)
    return inspect.Parameter(
        one.name, KEYWORD, default=default, annotation=Annotated[shown_kind, option]
    )
