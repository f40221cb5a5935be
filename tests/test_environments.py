"""Values and bytes do not depend on locale, home, hash seed or the terminal of a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = "from irmeta.cli.entry import main; main()"
ENVIRONMENTS = {
    "C locale": {"LC_ALL": "C", "LANG": "C"},
    "unknown locale": {"LC_ALL": "xx_XX.UTF-8"},
    "no home": {"HOME": "/nonexistent"},  # kernels are compiled anew
    "hash seed": {"PYTHONHASHSEED": "12345"},
    "narrow terminal": {"COLUMNS": "1", "TERM": "dumb", "NO_COLOR": "1"},
}
ENVIRONMENTS["three"] = {
    **ENVIRONMENTS["C locale"],
    **ENVIRONMENTS["hash seed"],
    **ENVIRONMENTS["narrow terminal"],
}
"""Three at once see what each alone does, in a third of the time."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Qrels and a run with names beyond ASCII."""
    folder = tmp_path_factory.mktemp("environments")
    (folder / "qrels").write_text("ä 0 ö 1\nb 0 c 1\n", encoding="utf-8")
    (folder / "run").write_text("ä Q0 ö 1 2.0 ß\nb Q0 c 1 1.0 ß\n", encoding="utf-8")
    return [str(folder / "qrels"), str(folder / "run")]


def printed(files: list[str], environment: dict[str, str], folder: Path) -> bytes:
    """Return the values that a process prints."""
    given = [sys.executable, "-c", COMMAND, "evaluate", *files, "-m", "AP", "-q", "--format", "csv"]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    return subprocess.run(given, env=variables, cwd=folder, capture_output=True, check=True).stdout


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name == "three" else pytest.mark.exhaustive)
        for name in ENVIRONMENTS
    ],
)
def test_evaluate__values_do_not_depend_on_the_environment(
    files: list[str], tmp_path: Path, name: str
):
    output = printed(files, ENVIRONMENTS[name], tmp_path).decode()
    assert "ß,ä,AP,1.0" in output or "\\xdf" in output
    assert len(output.splitlines()) == 3
    assert output.startswith("system,query,")
