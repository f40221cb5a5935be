"""Registrations of other installed packages, found by entry points."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from irmeta.errors import EntryPointWarning, MeasureError, short, shown, warn
from irmeta.naming.grammar import Registered

Kind = TypeVar("Kind", bound=Registered)


def load_group(
    group: str, kind: type[Kind], known: Mapping[str, Kind]
) -> tuple[dict[str, Kind], list[str]]:
    """Load the registrations of a group of entry points.

    Returns
    -------
    registrations
        By name, without those of `known`.
    problems
        One text for each entry point that could not be loaded.

    Warns
    -----
    EntryPointWarning
        For each entry point that cannot be loaded, or that does not register objects of the kind
        with unused names. All other entry points are loaded.
    """
    registered: dict[str, Kind] = {}
    problems: list[str] = []
    for entry in sorted(entry_points(group=group), key=lambda e: (e.name, e.value)):
        try:
            registered |= _load(entry, kind, {**known, **registered})
        except (Exception, SystemExit) as error:  # another package may raise any exception
            reason = short(" ".join(f"{type(error).__name__}: {error}".split()))
            problem = f"entry point {entry.name!r} ({entry.value}) could not be loaded: {reason}"
            problems.append(problem)
            warn(f"the {problem}. Fix or remove its package.", EntryPointWarning)
    return registered, problems


def _load(entry: EntryPoint, kind: type[Kind], known: Mapping[str, Kind]) -> dict[str, Kind]:
    """Load the registrations of an entry point, all or none."""
    loaded = entry.load()
    registered: dict[str, Kind] = {}
    for one in [loaded] if isinstance(loaded, kind) else loaded:
        if not isinstance(one, kind):
            raise MeasureError(f"it registers {shown(one)}, not a {kind.__name__}")
        if not re.fullmatch(r"\w+", one.name):
            raise MeasureError(f"it registers {one.name!r}, not a word")
        if {**known, **registered}.get(one.name, one) is not one:
            raise MeasureError(f"it registers {one.name!r}, an existing name")
        registered[one.name] = one
    return registered


def missing_packages(problems: list[str]) -> str:
    """Return a hint for an unknown name, if entry points could not be loaded."""
    return "".join(f" Its package may be missing: the {reason}." for reason in problems)
