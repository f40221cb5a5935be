"""Small stores and results, and the commands that make them, in this process or in another."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import irmeta
from campaign import planted, stops
from irmeta import cli

EXAMPLES = Path(__file__).parents[2] / "data_fixtures" / "worked_examples"
READY = f"""
import os, sys
if {{"{planted.VARIABLE}", "{stops.VARIABLE}"}} & os.environ.keys():
    sys.path.insert(0, {str(Path(__file__).parents[1])!r})
    from campaign import planted, stops
    planted.plant_named()
    stops.stop_at_named()
from irmeta.cli import main
print("ready", file=sys.stderr, flush=True)
main()
"""
HARMLESS = {".lock", ".cache.json"}
"""Files that may be lost without harm; they hold no values."""

Argv = tuple[str, ...]

COMMANDS: dict[str, Argv] = {
    "ingest": ("ingest", "IN", "--out", "OUT"),
    "reanalyze": ("reanalyze", "IN", "--out", "OUT", "-m", "AP,ASL", "--no-figures"),
    "study": (
        *("study", "search-length", "STORE", "--out", "OUT", "--no-figures"),
        *("--resamples", "20", "--min-systems", "1"),
    ),
    "parquet": ("evaluate", "STORE", "-m", "AP", "-q", "--out", "OUT/means.parquet", "--force"),
    "csv": ("evaluate", "STORE", "-m", "AP", "-q", "--out", "OUT/means.csv", "--force"),
    "pool": ("pool", "STORE", "--track", "ties", "--out", "OUT/docs.txt", "--force"),
}
"""Commands that write; IN, STORE and OUT stand for folders."""
OTHERS: Argv = ("ingest", "IN2", "--out", "OUT")


def argv_of(name: str, work: Path, out: Path) -> Argv:
    places = {
        "IN": str(work / "in"),
        "IN2": str(work / "in2"),
        "STORE": str(work / "store"),
        "OUT": str(out),
    }
    first = [part.partition("/") for part in COMMANDS.get(name, OTHERS)]
    return tuple("".join((places.get(a, a), slash, rest)) for a, slash, rest in first)


def run_here(argv: Argv) -> tuple[int, str, str]:
    """Run a command in this process; return its status and what it printed."""
    said, failed, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["irmeta", *argv]
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(failed):
            cli.main()
    except SystemExit as end:
        return int(end.code or 0), said.getvalue(), failed.getvalue()
    finally:
        sys.argv = before
    raise AssertionError("a command returned")


def start(argv: Argv, before: Callable[[], None] | None = None, **environment: str) -> Running:
    """Start a command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", READY, *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | environment,
        start_new_session=True,
        preexec_fn=before,
    )


Running = subprocess.Popen[bytes]


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder, also temporary ones, but not those that hold no values."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.name not in HARMLESS)
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def other(mine: dict[str, bytes], clean: dict[str, bytes]) -> str | None:
    """Return what differs from a clean rebuild."""
    names = sorted(n for n in mine.keys() | clean.keys() if mine.get(n) != clean.get(n))
    return f"differs from a clean rebuild: {', '.join(names[:5])}" if names else None


def make_inputs(work: Path) -> None:
    """Write a collection of two tracks, and a store of it."""
    for track in ("ties", "unretrieved"):
        shutil.copytree(EXAMPLES / track, work / "in" / track)
    status, _, failed = run_here(("ingest", str(work / "in"), "--out", str(work / "store")))
    if status:
        raise RuntimeError(failed)


def make(name: str, work: Path, out: Path) -> dict[str, bytes]:
    """Run a command and return what it wrote."""
    out.mkdir(exist_ok=True)
    status, _, failed = run_here(argv_of(name, work, out))
    if status:
        raise RuntimeError(f"{name}: {failed}")
    return contents(out)


def unclear(status: int, failed: str, allowed: tuple[int, ...] = (0, 1, 2, 3)) -> str | None:
    """Return the problem of an end of a command that is not one clear error."""
    failed = failed.removeprefix("ready\n")
    if "Traceback" in failed or "panicked" in failed or status not in allowed:
        return f"status {status}: {failed[-600:]}"
    if status in (1, 2, 3) and "irmeta: " not in failed:
        return f"status {status} without a message: {failed[-600:]}"
    return None


def store_values(folder: Path, track: str | None = None) -> list[Any]:
    """Return the rows of all tables of a store, or of one of its tracks."""
    store = irmeta.open_store(folder)
    tables = (
        *(store.runs(track=track).collect(), store.qrels(track=track).collect()),
        *(store.systems(track=track), store.means("AP", track=track)),
    )
    return [sorted(map(repr, table.rows())) for table in tables]
