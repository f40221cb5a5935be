"""What a command loads: scripts start irmeta once per run, and imports are most of that time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from irmeta.cli import main
from irmeta.cli.entry import MODULES, load_commands
from support.commands import all_commands

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
