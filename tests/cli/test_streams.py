"""Closed streams, paths that are not UTF-8, and errors that irmeta did not expect."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import irmeta

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
