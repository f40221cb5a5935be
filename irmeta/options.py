"""Options: dataclass fields with default, rule and help.

The field defines the checks with "did you mean", the record in a result's metadata, the documented
keywords of the Python function, and the command-line options.
"""

from __future__ import annotations

import inspect
import textwrap
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from functools import cache, reduce
from importlib import import_module
from numbers import Integral, Real
from os import PathLike, fspath
from typing import (
    Any,
    Literal,
    Self,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from irmeta.errors import UsageError, check_choice, check_share, did_you_mean, shown
from irmeta.naming import text_of

LINE = 92
"""Width of a description in a docstring."""
Named = Literal["system", "systems", "side", "query", "qrels", "judge", "graded"]


def option(
    default: Any,
    text: str,
    *,
    choices: tuple[str, ...] = (),
    least: float | None = None,
    most: float | None = None,
    exclusive: bool = False,
    parse: str | None = None,
    flag: str | None = None,
    metavar: str | None = None,
    file: bool = False,
    joins: bool = False,
    names: Named | None = None,
    doc: str | None = None,
    shown: bool | str = True,
    recorded: str | None = None,
    generator: bool = False,
    frame: bool = False,
    share: bool = False,
) -> Any:
    """Declare a field of `Options`.

    Parameters
    ----------
    default
        A scalar, None, or a tuple of scalars for an option that may be repeated.
    text
        One line for `--help` and for the docstring.
    choices
        The accepted values; a field of type `Literal` takes those of its type.
    least, most
        Bounds of a number, both included; excluded if `exclusive`.
    parse
        "module:function" that checks a value and returns its canonical form. The module is imported
        when a value is checked, not when the field is declared.
    flag
        Names on the command line, separated by spaces, e.g. "-m --measure"; default the field's
        name. The empty string keeps the option off the command line.
    metavar
        Placeholder of the value in `--help`.
    file
        Whether the value is the path of a file whose content changes the results.
    joins
        Whether the value changes results over tracks alone, so that those of tracks stay valid.
    names
        What the value names in a store, checked before a study over tracks starts: a ``system``,
        ``systems`` by name, group or type, a ``side`` of a comparison, a ``query``, a ``qrels``
        set, a ``judge`` (a set, or ``NAME=FILE``), or a ``graded`` judge (``NAME=GRADE``).
    doc
        Text for the docstring, where it says more than the line for `--help`.
    shown
        Whether `--help` shows the default, False where the line says it; or its text.
    recorded
        Name in records; default the field's name.
    generator
        Whether a numpy `Generator` is accepted too, as in place of a random seed.
    frame
        Whether a polars frame is accepted too, as in place of a file.
    share
        Whether a number must be between 0 and 1, both excluded, as a significance level.
    """
    rule = {
        "help": text,
        "choices": choices,
        "least": least,
        "most": most,
        "exclusive": exclusive,
        "parse": parse,
        "flag": flag,
        "metavar": metavar,
        "file": file,
        "joins": joins,
        "names": names,
        "doc": doc,
        "shown": shown,
        "recorded": recorded,
        "generator": generator,
        "frame": frame,
        "share": share,
    }
    return field(default=default, metadata=rule)


def check_names(given: Iterable[str], known: Sequence[str]) -> None:
    """Check that options exist; `UsageError` names the called function and the nearest name."""
    for name in (one for one in given if one not in known):
        called, keywords = _called()
        what = f"{called} has no option" if called else "no option"
        if name == "tracks":
            raise UsageError(f"{what} 'tracks': it is called track, for one track or several.")
        raise UsageError(f"{what} {name!r}. {did_you_mean(name, [*known, *keywords])}")


def _called() -> tuple[str, list[str]]:
    """Return the public function of `irmeta.api` that was called, and its own keywords."""
    called, function = "", None
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("irmeta."):
        code = frame.f_code
        is_public = not code.co_name.startswith("_") and "<locals>" not in code.co_qualname
        if is_public and frame.f_globals["__name__"].startswith("irmeta.api."):
            called = code.co_qualname
            first, *attributes = called.split(".")
            function = reduce(getattr, attributes, frame.f_globals.get(first))
        frame = frame.f_back
    if function is None:
        return "", []
    keywords, declared = list[str](), inspect.signature(function).parameters.values()
    for parameter in declared:
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            keywords.append(parameter.name)
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:  # annotated as Unpack[NAME]
            choices = str(parameter.annotation).removeprefix("Unpack[").removesuffix("]")
            scope = inspect.unwrap(function).__globals__
            keywords += getattr(scope.get(choices), "__annotations__", ())
    return called, keywords


def load(name: str) -> Any:
    """Import the object named "module:object"."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


@dataclass(frozen=True)
class Options:
    """Base of frozen dataclasses whose fields are made by `option`, which checks the values."""

    def __new__(cls, *_: Any, **given: Any) -> Self:
        """Check the names of the options before their values."""
        check_names(given, [one.name for one in fields(cls)])
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for one, kind in typed_fields(type(self)):
            value = _checked(one, kind, getattr(self, one.name))
            object.__setattr__(self, one.name, value)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Return the options with the values given by name; `UsageError` for an unknown name."""
        return cls(**given)

    def record(self) -> dict[str, Any]:
        """Return the options as plain JSON values, for a manifest or a result's metadata."""
        record = dict[str, Any]()
        for one in fields(self):
            value = getattr(self, one.name)
            if one.metadata["generator"] and hasattr(value, "bit_generator"):
                value = "a generator"
            if one.metadata["frame"] and hasattr(value, "write_csv"):
                value = "a frame"
            record[one.metadata["recorded"] or one.name] = (
                list(value) if isinstance(value, tuple) else value
            )
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the options in a record; unknown names are ignored."""
        known = {one.metadata["recorded"] or one.name: one.name for one in fields(cls)}
        return cls(**{known[name]: value for name, value in record.items() if name in known})

    def of_tracks(self) -> Self:
        """Return the options that results of single tracks depend on, the others at defaults."""
        joining = {f.name: f.default for f in fields(self) if f.metadata["joins"]}
        return replace(self, **joining) if joining else self

    def changed(self) -> dict[str, Any]:
        """Return the values that are not the default, by option."""
        values = {one.name: (getattr(self, one.name), one.default) for one in fields(self)}
        frames = [declared.name for declared in fields(self) if declared.metadata["frame"]]
        return {
            name: value
            for name, (value, default) in values.items()
            if (value is not default if name in frames else value != default)
        }

    @property
    def files(self) -> dict[str, str]:
        """Return the paths of files named by options, by option."""
        named = (one.name for one in fields(self) if one.metadata["file"])
        return {name: path for name in named if (path := getattr(self, name)) is not None}

    def used(self) -> dict[str, Any]:
        """Return the values that empty options stand for, by option, for provenance on pages."""
        return {}

    def scored(self) -> tuple[str, ...]:
        """Return the canonical names of the measures whose revision changes the results."""
        return ()

    def check_run(self) -> None:
        """Raise `UsageError` if this machine cannot answer these options in acceptable time."""


@cache
def typed_fields(cls: type[Options]) -> tuple[tuple[Field[Any], Any], ...]:
    """Return the fields of a class with their types, fields declared in the class itself first."""
    hints, declared = get_type_hints(cls), inspect.get_annotations(cls)
    place = {name: i for i, name in enumerate(declared)}
    ordered = sorted(fields(cls), key=lambda one: place.get(one.name, len(place)))
    return tuple((one, hints[one.name]) for one in ordered)


def value_type(kind: Any) -> Any:
    """Return the type of an option's value without None."""
    if get_origin(kind) in (Union, types.UnionType):
        return next(part for part in get_args(kind) if part is not types.NoneType)
    return kind


def choices_of(one: Field[Any], kind: Any) -> tuple[str, ...]:
    """Return the accepted values of an option; empty if they are not listed."""
    plain = value_type(kind)
    return get_args(plain) if get_origin(plain) is Literal else one.metadata["choices"]


def signature(leading: Iterable[inspect.Parameter], *classes: type[Options]) -> inspect.Signature:
    """Return the signature of a function that takes options as keywords after `leading`."""
    keywords = [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=t)
        for cls in classes
        for f, t in typed_fields(cls)
    ]
    return inspect.Signature([*leading, *keywords])


def set_signature(function: Any, signature: inspect.Signature) -> None:
    """Set the signature of a function that inspect, and with it typer, reads."""
    vars(function)["__signature__"] = signature


def numpydoc(*classes: type[Options]) -> str:
    """Return the options as the lines of a numpydoc section "Parameters"."""
    return "\n".join(
        f"{f.name} : {_written(f, t)}, "
        f"{'optional' if f.default is None else f'default {f.default!r}'}\n"
        + textwrap.indent(textwrap.fill(f.metadata["doc"] or f.metadata["help"], LINE), "    ")
        for cls in classes
        for f, t in typed_fields(cls)
    )


def _written(one: Field[Any], kind: Any) -> str:
    if choices := choices_of(one, kind):
        return "{" + ", ".join(map(repr, choices)) + "}"
    plain = value_type(kind)
    if get_origin(plain) is tuple:
        item = get_args(plain)[0].__name__
        return f"{item} or sequence of {item}"
    name = getattr(plain, "__name__", str(plain))
    also = {"generator": "Generator", "frame": "DataFrame"}
    return " or ".join([name, *(text for key, text in also.items() if one.metadata[key])])


def _checked(one: Field[Any], kind: Any, value: Any) -> Any:
    plain = value_type(kind)
    if value is None and plain is not kind:
        return None
    value = text_of(value)
    if get_origin(plain) is tuple:
        if isinstance(value, Mapping):
            value = [f"{key}={item}" for key, item in cast(Mapping[Any, Any], value).items()]
        values = [value] if isinstance(value, str | Real) else value
        if not isinstance(values, Iterable):
            raise UsageError(f"{one.name} = {value!r} is not a sequence.")
        value = tuple(_scalar(one, get_args(plain)[0], text_of(item)) for item in values)
    else:
        value = _scalar(one, plain, value)
    parse = one.metadata["parse"]
    return load(parse)(value) if parse else value


LARGEST = 2**63 - 1  # of 64-bit integers with a sign
_ACCEPTED: dict[Any, type[Any]] = {int: Integral, float: Real, str: str, bool: bool}
_CALLED = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def _scalar(one: Field[Any], kind: Any, value: Any) -> Any:
    if choices := choices_of(one, kind):
        check_choice(one.name, value, choices)
        return value
    if kind not in _ACCEPTED:  # an executor or a callback: its user checks it
        return value
    if one.metadata["generator"] and hasattr(value, "bit_generator"):
        return value
    if one.metadata["frame"] and hasattr(value, "write_csv"):
        return value
    if one.metadata["share"]:
        check_share(one.name, value)
    if kind is int and isinstance(value, Integral) and abs(int(value)) > LARGEST:
        raise UsageError(f"{one.name} = {shown(value)} does not fit in 64 bits.")
    if kind is str and isinstance(value, PathLike):
        value = fspath(cast(Any, value))
    is_kind = isinstance(value, _ACCEPTED[kind]) and (kind is bool or not isinstance(value, bool))
    # numpy's numbers become Python's, so that the record is JSON
    if not is_kind or not _is_within(plain := kind(value), one.metadata):
        called = "the path of a file" if one.metadata["file"] else _CALLED[kind]
        wanted = " ".join(filter(None, (called, _bounds(one.metadata))))
        raise UsageError(f"{one.name} = {value!r} is not {wanted}.")
    return plain


def _is_within(value: Any, rule: Mapping[str, Any]) -> bool:
    least, most = rule["least"], rule["most"]
    if rule["exclusive"]:
        return (least is None or value > least) and (most is None or value < most)
    return (least is None or value >= least) and (most is None or value <= most)


def _bounds(rule: Mapping[str, Any]) -> str:
    least, most, is_open = rule["least"], rule["most"], rule["exclusive"]
    if least is not None and most is not None:
        return f"between {least:g} and {most:g}" + (", both excluded" if is_open else "")
    if least is not None:
        return f"above {least:g}" if is_open else f"of at least {least:g}"
    if most is not None:
        return f"below {most:g}" if is_open else f"of at most {most:g}"
    return ""
