"""Atomic replacement of files, and temporary files of killed writers."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path, PureWindowsPath

import pytest

from irmeta.files import is_inside, remove_temporaries, replacing, write_bytes

KILLED = """
import os, signal, sys
from pathlib import Path
from irmeta.files import replacing
with replacing(Path(sys.argv[1])) as file:
    file.write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def names(folder: Path) -> set[str]:
    return {p.name for p in folder.iterdir()}


def fill(file: Path) -> None:
    with replacing(file) as temporary:
        temporary.symlink_to("/dev/full")
        temporary.write_bytes(b"text")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_replacing__full_disk_names_the_file(tmp_path: Path):
    with pytest.raises(OSError, match=r"No space left on device: '.*/report\.html'"):
        fill(tmp_path / "report.html")


@pytest.mark.exhaustive
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["measures", "trec_eval --help"])
def test_commands__full_disk_names_standard_output(command: str):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from irmeta.cli import main; main()", *command.split()],
            stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.stderr.rstrip().endswith("No space left on device: 'standard output'")
    assert done.returncode in (1, 2)


def test_replacing__error_keeps_the_old_file(tmp_path: Path):
    write_bytes(tmp_path / "a", b"before")
    with suppress(ZeroDivisionError), replacing(tmp_path / "a") as file:
        file.write_bytes(b"after")
        raise ZeroDivisionError
    assert (tmp_path / "a").read_bytes() == b"before"
    assert names(tmp_path) == {"a"}


@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL here")
def test_remove_temporaries__removes_files_of_a_killed_writer(tmp_path: Path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "a")], check=False)
    (left,) = names(tmp_path)
    assert left.startswith(".a.")
    remove_temporaries(tmp_path, tmp_path / "not there")
    assert names(tmp_path) == set()


def test_remove_temporaries__keeps_files_of_running_writers(tmp_path: Path):
    theirs = {f".a.{os.getppid()}.irmeta.tmp", ".a.1234567.tmp", "a.1234567.irmeta.tmp", ".notes"}
    for name in theirs:
        (tmp_path / name).write_text("theirs")
    with replacing(tmp_path / "mine") as file:
        file.write_bytes(b"")
        remove_temporaries(tmp_path)
        assert names(tmp_path) == theirs | {file.name}


def test_remove_temporaries__removes_old_files_with_the_same_process_id(tmp_path: Path):
    """The first process of every container has ID 1, so an equal ID may be another process."""
    (tmp_path / f".a.{os.getpid()}.irmeta.tmp").write_text("of an earlier process")
    remove_temporaries(tmp_path)
    assert names(tmp_path) == set()


@pytest.mark.parametrize("path", ["/a", "../a", "a/../../b"])
def test_is_inside__rejects_paths_to_elsewhere(path: str):
    assert not is_inside(path)
    assert is_inside("a/b..c/*")


@pytest.mark.parametrize("path", ["C:/a", "C:a", r"\\host\share\a", r"a\..\..\b", r"\a", "../a"])
def test_is_inside__rejects_drives_and_backslashes_on_windows(
    path: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("irmeta.files.PurePath", PureWindowsPath)
    assert not is_inside(path)
    assert is_inside("a/b")
