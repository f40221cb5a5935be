"""What commands and calls print, write and return is what the manifest says.

After an intended change: ``PYTHONPATH=tests python tests/manifest/recording.py``, and review what
changed in manifest.json.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from manifest.recording import (
    MANIFEST,
    differences,
    digest_text,
    environment,
    without_bytes,
)

TESTS = Path(__file__).parents[1]
EXPECTED = json.loads(MANIFEST.read_text(encoding="utf-8"))


def start(out: Path, *options: str) -> subprocess.Popen[bytes]:
    """Start to record a manifest, in a process where no test has changed anything."""
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    script = TESTS / "manifest" / "recording.py"
    command = [sys.executable, str(script), "--out", str(out), *options]
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)})


@pytest.mark.exhaustive
def test_manifest__equals_what_commands_and_calls_make_now(tmp_path: Path):
    files = tmp_path / "one.json", tmp_path / "two.json"
    processes = [start(files[0]), start(files[1], "--two")]
    assert [process.wait() for process in processes] == [0, 0]
    one, two = (json.loads(file.read_text(encoding="utf-8")) for file in files)
    of_two = {"lines": {line: EXPECTED["lines"][line] for line in two["lines"]}}
    reports = [f"by two workers{report}" for report in compared(of_two, two)]
    changed = [*compared(EXPECTED, one), *reports]
    assert not changed, "\n".join(["what changed:", *changed])


def compared(expected: dict[str, object], present: dict[str, object]) -> list[str]:
    """Return the differences of two manifests, in bytes only where environments are equal."""
    if environment() != EXPECTED["environment"]:
        expected, present = without_bytes(expected), without_bytes(present)
    places = expected.keys() - {"environment"}
    return list(
        differences({key: expected[key] for key in places}, {key: present[key] for key in places})
    )


def test_differences__name_the_first_changed_line_column_and_bytes():
    long = [f"line {number}" for number in range(100)]
    other = [*long[:50], "another", *long[51:]]
    reports = differences(
        {"stdout": ["a", "b"], "file": {"columns": ["x 1"]}, "text": digest_text("\n".join(long))},
        {"stdout": ["a", "c"], "file": {"columns": ["x 2"]}, "text": digest_text("\n".join(other))},
    )
    assert [*reports] == [
        " > stdout:\n    -b\n    +c",
        " > file > columns:\n    -x 1\n    +x 2",
        " > text: lines 49 to 51 are the first to differ, of 100",
    ]
    digest = digest_text("one\n")
    assert [*differences(digest | {"bytes": "a"}, digest | {"bytes": "b"}, "file")] == [
        "file: equal content, other bytes"
    ]
