"""Registries of measures and preferences, and the specs that names stand for."""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar, cast

import polars as pl

from irmeta.errors import (
    BrokenMeasureError,
    EntryPointWarning,
    IrmetaError,
    MeasureError,
    short,
    shown,
    warn,
)
from irmeta.naming.grammar import Cutoff, Registration, format_name

Kind = TypeVar("Kind", bound=Registration)
Function = TypeVar("Function", bound=Callable[..., Any])


class Registry(Generic[Kind]):
    """All measures, or all preferences.

    Parameters
    ----------
    kind
        Class of the registrations.
    noun
        Word for one of them. Other installed packages register theirs by entry points of the group
        ``irmeta.NOUNs``, each for a registration or a sequence of them.
    own
        Registrations of irmeta, in listing order.
    derive
        Function from all registrations to further ones, which come last unless the name is used.
    adopt
        Function that checks a registration of another package, and returns it with functions that
        cannot change the views that irmeta's own read.
    """

    def __init__(
        self,
        kind: type[Kind],
        noun: str,
        own: Iterable[Kind],
        derive: Callable[[Iterable[Kind]], Iterable[Kind]] | None = None,
        *,
        adopt: Callable[[Kind], Kind],
    ) -> None:
        self.kind = kind
        self.noun = noun
        self._own = {one.name: one for one in own}
        self._derive = derive
        self._adopt = adopt
        self._registered: dict[str, Kind] | None = None
        self._problems: list[str] = []

    def __call__(self) -> dict[str, Kind]:
        """Return all registrations by name: irmeta's, then those of other installed packages.

        Warn of each entry point that cannot be loaded, or does not register objects of the kind
        with unused names.
        """
        if self._registered is None:
            known = self._with_entry_points()
            derived = self._derive(known.values()) if self._derive else ()
            further = {one.name: one for one in derived if one.name not in known}
            self._registered = known | further
        return self._registered

    def cache_clear(self) -> None:
        """Forget the registrations, so that the next call loads the entry points again."""
        self._registered = None

    def unknown(self, name: str, hint: str) -> MeasureError:
        """Return the error for an unknown name."""
        missing = "".join(f" Its package may be missing: the {why}." for why in self._problems)
        return MeasureError(
            f"unknown {self.noun} {name!r}. {hint} `irmeta {self.noun}s` lists them.{missing}"
        )

    def _with_entry_points(self) -> dict[str, Kind]:
        registered, problems = dict(self._own), list[str]()
        entries = entry_points(group=f"irmeta.{self.noun}s")
        for entry in sorted(entries, key=lambda e: (e.name, e.value)):
            try:
                registered |= self._load(entry, registered)
            except (Exception, SystemExit) as error:  # another package may raise any exception
                reason = short(" ".join(f"{type(error).__name__}: {error}".split()))
                problem = (
                    f"entry point {entry.name!r} ({entry.value}) could not be loaded: {reason}"
                )
                problems.append(problem)
                warn(f"the {problem}. Fix or remove its package.", EntryPointWarning)
        self._problems = problems
        return registered

    def _load(self, entry: EntryPoint, known: Mapping[str, Kind]) -> dict[str, Kind]:
        """Load the registrations of an entry point, all or none."""
        loaded = entry.load()
        registered: dict[str, Kind] = {}
        for one in [loaded] if isinstance(loaded, self.kind) else loaded:
            if not isinstance(one, self.kind):
                raise MeasureError(f"it registers {shown(one)}, not a {self.kind.__name__}")
            if not re.fullmatch(r"[A-Za-z]\w*[A-Za-z_]|[A-Za-z]", one.name, re.ASCII):
                raise MeasureError(
                    f"it registers {one.name!r}, not a word of letters, digits and underscores "
                    "that begins and ends with a letter"
                )
            if one.name in known or one.name in registered:
                raise MeasureError(f"it registers {one.name!r}, an existing name")
            check_defaults(one)
            registered[one.name] = self._adopt(one)
        return registered


def guarded(what: str, function: Function) -> Function:
    """Wrap a function of another package: its exceptions become errors that name `what`."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except IrmetaError:
            raise
        except (Exception, SystemExit) as error:
            reason = short(" ".join(f"{type(error).__name__}: {error}".split()))
            raise BrokenMeasureError(f"{what} failed: {reason}") from error

    return cast(Function, call)


def check_defaults(of: Registration) -> None:
    """Check that a registration has a name with default parameters, and that it can be listed."""
    for field in ("summary", "source"):
        if not isinstance(getattr(of, field), str):
            raise MeasureError(f"{of.name}.{field} is no text: {shown(getattr(of, field))}")
    cut = {"none": None, "optional": None, "required": 0.5 if of.cutoff_is == "level" else 10}
    parameter_table(of)
    format_name(of, {p.name: p.default for p in of.all_parameters}, cut[of.cutoff])


@dataclass(frozen=True, kw_only=True)
class NamedSpec(ABC):
    """A registration with the values of its parameters and its cutoff: the meaning of a name."""

    params: tuple[tuple[str, Any], ...]
    cutoff: Cutoff

    @property
    @abstractmethod
    def registration(self) -> Registration:
        """The measure or preference."""

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters by name."""
        return dict(self.params)

    @cached_property
    def name(self) -> str:
        """Canonical name, which prints every parameter that changes the value."""
        return format_name(self.registration, self.settings, self.cutoff)

    @property
    def rel(self) -> float:
        """Least grade that counts as relevant."""
        return self.settings.get("rel", 1)

    @property
    def record(self) -> dict[str, Any]:
        """Parameters and revision, as JSON values."""
        return {**self.settings, "revision": self.registration.revision}


def parameter_table(of: Registration) -> pl.DataFrame:
    """Return the meaning, default and range of each parameter; shared parameters come last."""
    return pl.DataFrame(
        [(p.name, p.meaning, p.default_text, p.range) for p in of.all_parameters],
        schema=dict.fromkeys(("parameter", "meaning", "default", "range"), pl.String),
        orient="row",
    )


def definition(function: object) -> str:
    """Return the docstring of a function as plain text, without markup."""
    docstring = inspect.cleandoc(function.__doc__ or "")
    return re.sub(r"\n(\w+)\n-{3,}\n", r"\n\1: ", docstring).replace("`", "")
