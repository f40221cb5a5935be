"""Registration of commands: options from `Options` classes, panels and examples of help texts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import Field, dataclass, fields
from functools import wraps
from typing import Annotated, Any, get_args, get_origin

import typer
from typer.models import OptionInfo

from irmeta.cli.app import Command, app
from irmeta.cli.notes import LEVEL, OPTIONS
from irmeta.errors import UsageError
from irmeta.options import (
    Options,
    choices_of,
    option,
    set_signature,
    typed_fields,
    value_type,
)
from irmeta.policies import SELECTING, EvalPolicy, ReadPolicy

OUTPUT, TESTS, POLICIES = "Output", "Statistical tests", "Evaluation policies"
READING, RUNNING = "Reading of runs", "Running"
PANELS = (None, OUTPUT, TESTS, POLICIES, READING, RUNNING)
"""Panels in the order of the help text; None: typer's first panel, Options."""

_NAMES = {
    OUTPUT: (
        *(
            "format",
            "digits",
            "sort",
            "table",
            "wide",
            "measure_names",
            "per_query",
            "differences_file",
            "csv_safe",
            "figures",
        ),
        *(
            "figure",
            "titles",
            "style",
            "formats",
            "force",
            "unjudged",
            "judged_at_least",
            "draw",
            "draws",
        ),
    ),
    TESTS: (
        *("test", "tests", "correction", "alpha", "interval", "resamples", "seed", "rng"),
        *(
            "rank_resamples",
            "less_is_better",
            "robust",
            "relative",
            "confidence",
            "baseline",
            "alternative",
            "replicates",
            "components",
            "resample_by",
            "missing",
            "nemenyi",
            "snapshots",
            "pivot",
        ),
        *("max_drop", "lost", "non_inferior"),
    ),
    POLICIES: tuple(name for name in EvalPolicy.__dataclass_fields__ if name not in SELECTING),
    READING: (*(one.name for one in fields(ReadPolicy)), "strict", "rehash", "memory"),
    RUNNING: ("workers", "dask", "only", "quiet", "verbose"),
}
_PANEL_OF = {name: panel for panel in reversed(_NAMES) for name in _NAMES[panel]}


def arrange(declared: Iterable[inspect.Parameter]) -> list[inspect.Parameter]:
    """Put the options of a command in their panels, and sort them by panel; arguments come first.

    An option that has a panel keeps it.
    """
    placed = list[tuple[int, inspect.Parameter]]()
    for parameter in declared:
        infos = [
            i
            for i in getattr(parameter.annotation, "__metadata__", ())
            if isinstance(i, OptionInfo)
        ]
        panel = None
        for info in infos:
            info.rich_help_panel = panel = info.rich_help_panel or _PANEL_OF.get(parameter.name)
        placed.append((PANELS.index(panel), parameter))
    return [parameter for _, parameter in sorted(placed, key=lambda pair: pair[0])]


Group = type[Options] | tuple[type[Options], tuple[str, ...]]
"""Options class of a command, or an options class and the names of the selected options."""


class Given(dict[str, Any]):
    """Options on the command line by name, without options that are left to their default.

    `accepted` are the names of all options of the class that the command accepts.
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
    classes = {
        name: group if isinstance(group, tuple) else (group, tuple(group.__dataclass_fields__))
        for name, group in groups.items()
    }

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        declared = inspect.signature(command, eval_str=True).parameters.values()
        partial = {parameter.name for parameter in declared if parameter.annotation is Given}
        takes = {parameter.name for parameter in declared}

        @wraps(command)
        def call(context: typer.Context, **given: Any) -> None:
            arguments = dict(given)
            if "context" in takes:
                arguments["context"] = context
            for name, (options, line) in build_options(classes, context, arguments).items():
                arguments[name] = Given(line, classes[name][1]) if name in partial else options
            command(**arguments)

        replaced = {"context", *classes}
        remaining = [
            parameter.replace(kind=KEYWORD)
            for parameter in declared
            if parameter.name not in replaced
        ]
        added: dict[str, inspect.Parameter] = {}
        for cls, selected in classes.values():  # the first class wins where two share a name
            added = {
                parameter.name: parameter
                for parameter in parameters(cls)
                if parameter.name in selected
            } | added
        set_signature(call, inspect.Signature([CONTEXT, *remaining, *added.values()]))
        return call

    return decorate


def build_options(
    groups: Mapping[str, tuple[type[Options], tuple[str, ...]]],
    context: typer.Context,
    given: dict[str, Any],
) -> dict[str, tuple[Options, dict[str, Any]]]:
    """Remove the options of classes from a command's arguments.

    An option that two classes share is passed to both, unless its value is the first default.
    Return for each group an instance of its class, and the values on the command line.
    """
    built = dict[str, tuple[Options, dict[str, Any]]]()
    shared: dict[str, Any] = {}
    for name, (cls, selected) in groups.items():
        line = {n: v for n, v in shared.items() if n in selected}
        line |= pop_options(cls, context, given, selected)
        built[name] = cls.of(line), line
        plain = {field.name: field.default for field in fields(cls)}
        shared |= {n: v for n, v in line.items() if v != plain[n]}
    return built


KEYWORD = inspect.Parameter.KEYWORD_ONLY
CONTEXT = inspect.Parameter("context", KEYWORD, annotation=typer.Context)


def pop_options(
    cls: type[Options],
    context: typer.Context,
    given: dict[str, Any],
    names: Collection[str] | None = None,
) -> dict[str, Any]:
    """Remove the options of a class from a command's arguments; return those on the command line.

    An option with one value that is there repeatedly is a `UsageError`.
    """
    line = dict[str, Any]()
    for field, kind in typed_fields(cls):
        name = field.name
        if name not in given or (names is not None and name not in names):
            continue
        value, source = given.pop(name), context.get_parameter_source(name)
        if source is None or source.name == "DEFAULT":
            continue
        if isinstance(value, list) and not _is_list(kind):
            if len(value) > 1:
                number, listed = f"{len(value)} times", ", ".join(map(str, value))
                flag = flags(field)[-1]
                raise UsageError(f"{flag} is given {number} ({listed}): give one value.")
            (value,) = value
        line[name] = value
    return line


def flags(one: Field[Any]) -> list[str]:
    """Return the names of an option on the command line."""
    return (one.metadata["flag"] or f"--{one.name.replace('_', '-')}").split()


def parameters(cls: type[Options], without: Collection[str] = ()) -> list[inspect.Parameter]:
    """Return the parameters of a command for the options of a class."""
    return [
        _parameter(field, kind, READING if cls is ReadPolicy else _PANEL_OF.get(field.name))
        for field, kind in typed_fields(cls)
        if field.metadata["flag"] != "" and field.name not in without
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
        default = [default] if default is not None and rule["shown"] else None
    if isinstance(rule["shown"], str):
        more["show_default"] = rule["shown"]
    if item is not bool:  # also with one value, since typer would keep the last of several
        plain = list[item]
    shown_kind = plain | None if default is None else plain
    option = typer.Option(*flags(one), help=rule["help"], rich_help_panel=panel, **more)
    return inspect.Parameter(
        one.name, KEYWORD, default=default, annotation=Annotated[shown_kind, option]
    )


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

    Examples are complete command lines, and `parent` the words before the command's name, which is
    that of the function by default.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        called = name or function.__name__
        EXAMPLES[f"{parent} {called}"] = examples
        with_detail = detailed(function)
        group.command(name=called, cls=Command, epilog=epilog_of(examples))(with_detail)
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
    arguments = [parameter.replace(kind=KEYWORD) for parameter in declared]
    shown = arrange([*arguments, *parameters(Detail)])
    known = dict(named_options(shown))
    set_signature(call, inspect.Signature(shown))
    return call


def named_options(declared: Iterable[inspect.Parameter]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the options of a command by keyword, each with its long name and its negation."""
    for parameter in declared:
        for info in getattr(parameter.annotation, "__metadata__", ()):
            if isinstance(info, OptionInfo):
                flags_of_option = [
                    info.default,
                    *(info.param_decls or ()),
                ]  # in Annotated, the first is there
                long = [
                    name
                    for name in flags_of_option
                    if isinstance(name, str) and name.startswith("--")
                ]
                plain = f"--{parameter.name.replace('_', '-')}"
                option, _, negation = (long or [plain])[0].partition("/")
                yield parameter.name, (option, negation or option.replace("--", "--no-", 1))


def epilog_of(examples: tuple[str, ...]) -> str:
    """Return the end of a help text: the examples, one per line, without markup of rich."""
    return "\n".join(["Examples:", *(f"$ {line}" for line in examples)])
