"""Regression tests `irmeta compare --max-drop` and `irmeta diff --pair`: pairs and exit status."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from irmeta.cli.app import FAILED
from irmeta.errors import UsageError
from irmeta.locations import Location, NamedFile, is_stream, location, named_file
from irmeta.show.notes import error_line, note

if TYPE_CHECKING:
    from irmeta.api import Store
    from irmeta.api.gates import Gate


def parse_pairs(pairs: Sequence[str] | None) -> dict[str, str] | None:
    """Parse pairs of systems written as OLD=NEW; the last = is that between them.

    Raises
    ------
    UsageError
        If a text is no pair, or a system has two pairs.
    """
    if not pairs:
        return None
    parsed = dict[str, str]()
    for text in pairs:
        old, _, new = text.rpartition("=")
        if not (old and new):
            raise UsageError(f"--pair {text!r} is not of the form OLD=NEW.")
        if old in parsed or new in parsed.values():
            raise UsageError(f"--pair {text!r} names a system that has a pair already.")
        parsed[old] = new
    return parsed


def first_system(source: Store | Location | list[NamedFile], named: Sequence[Path]) -> str:
    """Return the system of the first run, or of the first file of values, on the command line.

    Raises
    ------
    UsageError
        If that is no single system: a store, a table of several systems, an archive of runs.
    """
    systems = list[str]()
    if isinstance(source, list):
        from irmeta.results.matrix import first_systems
        from irmeta.stats.tables import is_measure

        names, paths = [one.name for one in source], [one.path for one in source]
        systems = first_systems(paths, is_measure, names)
    elif not isinstance(source, Location) and len(named) > 1 and not is_stream(location(named[1])):
        first = Path(named_file(str(named[1]))[1]).absolute().as_posix()
        files = source.systems().select("system", "file").iter_rows()
        held = {file: system for system, file in files if first.endswith(f"/{file}")}
        systems = [held[max(held, key=len)]] if held else []
    if len(systems) != 1:
        raise UsageError("--max-drop needs a baseline: name it by --baseline.")
    return systems[0]


def finish_gate(gate: Gate) -> None:
    """Report why systems fail, a line each, and exit with status 1; or that all pass."""
    for reason in gate.rows.filter(~gate.rows["passed"])["reason"]:
        error_line(f"irmeta: failed: {reason}")
    if not gate.passed:
        raise typer.Exit(FAILED)
    for reason in gate.rows["reason"]:
        note(f"irmeta: passed: {reason}")
