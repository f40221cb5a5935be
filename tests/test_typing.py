"""Types of the public interface, as a type checker sees them in a user's program."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import user_code

pytestmark = pytest.mark.exhaustive


def pyright(*arguments: str | Path, folder: Path) -> dict[str, object]:
    """Return what pyright reports as JSON."""
    command = [sys.executable, "-m", "pyright", "--outputjson", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8")
    return json.loads(done.stdout)


def test_user_code__has_no_unknown_types(tmp_path: Path):
    shutil.copy(user_code.__file__, tmp_path / "program.py")
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}', encoding="utf-8")
    report = pyright("--pythonpath", sys.executable, folder=tmp_path)
    assert not report["generalDiagnostics"]


def test_user_code__runs(collections: Path, tmp_path: Path, undrawn: None):
    user_code.main(collections, tmp_path)


def test_public_names__have_declared_types(tmp_path: Path):
    """Annotate attributes and constants where this fails: other checkers may infer another type."""
    arguments = ("--verifytypes", "irmeta", "--ignoreexternal", "--pythonpath", sys.executable)
    report = pyright(*arguments, folder=tmp_path)["typeCompleteness"]
    assert isinstance(report, dict)
    symbols = report["symbols"]
    assert len(symbols) > 1000
    assert not [one["name"] for one in symbols if one["isExported"] and not one["isTypeKnown"]]
