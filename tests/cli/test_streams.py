"""Closed streams, odd paths, unexpected errors, and what the start of a command loads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import irmeta
from irmeta.cli import main
from irmeta.cli.entry import MODULES, load_commands
from support.commands import all_commands

EXHAUSTIVE = pytest.mark.exhaustive
IRMETA = [sys.executable, "-c", "from irmeta.cli import main; main()"]


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are closed by preexec_fn")
@pytest.mark.parametrize(
    ("closed", "status"),
    [
        ((1,), 2),
        ((0, 2), 0),
        *(pytest.param(*case, marks=EXHAUSTIVE) for case in (((0, 1, 2), 2), ((2,), 0), ((0,), 0))),
    ],
)
def test_commands__closed_streams(
    made_store: irmeta.Store, tmp_path: Path, closed: tuple[int, ...], status: int
):
    """No file takes the number of a closed stream; without standard output a command fails."""

    def close() -> None:
        for number in closed:
            os.close(number)

    arguments = [
        "evaluate",
        made_store.path,
        "-m",
        "AP",
        "--track",
        "web",
        "--out",
        tmp_path / "v.csv",
    ]
    done = subprocess.run(
        [*IRMETA, *map(str, arguments)], capture_output=True, text=True, preexec_fn=close
    )
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    if closed == (1,):
        assert done.stderr == (
            "irmeta: standard output is closed: redirect it, as by > /dev/null.\n"
        )
    assert (tmp_path / "v.csv").exists() == (status == 0)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
@pytest.mark.parametrize("command", ["evaluate", "ingest", "study"])
def test_commands__output_path_that_is_not_utf8(
    made_store: irmeta.Store, two_tracks: Path, tmp_path: Path, run, command: str
):
    out = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv")
    given = {
        "evaluate": (made_store.path, "-m", "AP"),
        "ingest": (two_tracks,),
        "study": ("search-length", made_store.path),
    }[command]
    first, *others = given
    done = run(command, first, *others, "--out", out)
    assert done.status == 2
    assert r"\udcff.csv is not UTF-8: rename it." in done.err
    assert {file.name for file in tmp_path.iterdir()} <= {"collection"}


@pytest.mark.parametrize("level", [(), ("--verbose",)])
def test_commands__unexpected_error_is_one_line_without_verbose(
    made_store: irmeta.Store, run, monkeypatch: pytest.MonkeyPatch, level: tuple[str, ...]
):
    def fail(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError("a\nbug")

    monkeypatch.setattr("irmeta.measures.evaluate.evaluate", fail)
    done = run("evaluate", made_store.path, "-m", "AP", *level)
    assert done.status == 1
    *before, last = done.err.splitlines()
    assert last == (
        "irmeta: internal error (ZeroDivisionError: a bug): this is a bug. "
        "Run again with --verbose and report what it prints."
    )
    assert any("Traceback" in line for line in before) == bool(level)


LIBRARIES = ("polars", "numba", "pyarrow", "scipy.special", "numpy")
UNUSED = (
    *("scipy.special", "scipy.stats", "numpy.f2py", "pandas", "altair", "narwhals", "rich"),
    *(
        "pyarrow.parquet",
        "pyarrow.compute",
        "irmeta.preferences",
        "irmeta.stats.pairs",
        "irmeta.report.latex",
    ),
    *("irmeta.studies.framework.runner", "irmeta.archive"),
)
"""Modules that evaluation of one run does not need."""
EXAMPLE = ("QRELS", "RUN")
LOADED: dict[tuple[str, ...], tuple[str, ...]] = {
    ("--version",): (*LIBRARIES, "rich"),
    ("--help",): LIBRARIES,
    ("trec_eval", *EXAMPLE): (*UNUSED, "typer", "pydantic", "irmeta.cli.entry"),
    ("evaluate", *EXAMPLE): (*UNUSED, "pydantic", "irmeta.cli.studies", "irmeta.cli.results"),
}
"""Command lines, and modules that they must not load."""
COMPILER = "numba.np.arrayobj"
SCRIPT = """
import json, sys
sys.argv = ["irmeta", *sys.argv[1:]]
from irmeta.cli import main
try:
    main()
finally:
    print(json.dumps([*sys.modules]), file=sys.stderr)
"""


def modules_after(line: list[str]) -> set[str]:
    """Return the modules that a command line has loaded in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *line], capture_output=True, text=True, check=True
    )
    assert done.stdout
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("arguments", LOADED, ids=" ".join)
def test_command__loads_only_what_it_uses(arguments: tuple[str, ...], worked_examples: Path):
    track = worked_examples / "ties"
    files = {"QRELS": track / "qrels.txt", "RUN": next((track / "runs").iterdir())}
    line = [str(files.get(argument, argument)) for argument in arguments]
    loaded = modules_after(line)
    if COMPILER in loaded:  # the first run of these kernels, which are now cached
        loaded = modules_after(line)
    assert loaded & {*LOADED[arguments], COMPILER} == set()


def test_load_commands__finds_every_command_in_its_module():
    declared = {command.name for command in load_commands().registered_commands}
    assert {*declared, "study"} == MODULES.keys()
    assert [name for name in all_commands() if not name.startswith("study ")] == [*MODULES]


def test_start__lets_polars_return_freed_memory(monkeypatch: pytest.MonkeyPatch):
    for before, after in (("", "dirty_decay_ms:0,muzzy_decay_ms:0"), ("mine", "mine")):
        monkeypatch.setenv("_RJEM_MALLOC_CONF", before)
        if not before:
            monkeypatch.delenv("_RJEM_MALLOC_CONF")
        monkeypatch.setattr("sys.argv", ["irmeta", "--version"])
        with pytest.raises(SystemExit):
            main()
        assert os.environ["_RJEM_MALLOC_CONF"] == after
