"""A batch that is killed leaves nothing broken, and goes on to the same bytes."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest


def start(collections: Path, out: Path) -> subprocess.Popen:
    irmeta = Path(sys.executable).with_name("irmeta")
    command = [str(irmeta), "reanalyze", str(collections), "--out", str(out)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def content(out: Path) -> dict[str, bytes]:
    """All that is a result; what a killed process was writing has a name of its own."""
    kept = (p for p in out.rglob("*") if p.is_file() and p.name != ".cache.json")
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in kept}


@pytest.fixture(scope="module")
def whole(collections: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, float]:
    """What an undisturbed run leaves, and how long it takes once kernels are compiled."""
    out = tmp_path_factory.mktemp("whole")
    assert start(collections, out / "first").wait() == 0
    began = time.monotonic()
    assert start(collections, out / "second").wait() == 0
    return content(out / "second"), time.monotonic() - began


@pytest.mark.parametrize("seed", range(2))
def test_killed_at_any_moment(collections: Path, tmp_path: Path, whole, seed: int) -> None:
    right, seconds = whole
    draw = random.Random(seed)
    for _ in range(2):
        process = start(collections, tmp_path)
        time.sleep(seconds * draw.uniform(0.2, 1.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        for file in tmp_path.rglob("*.parquet"):
            pl.read_parquet(file)  # whole, or not there
        assert process.returncode in (0, -signal.SIGKILL)
    assert start(collections, tmp_path).wait() == 0
    left = content(tmp_path)
    half = {name for name in left if name.endswith(".tmp") or "staging" in name}
    assert {name for name in left if name not in half} == right.keys()
    assert all(left[name] == data for name, data in right.items())
