"""The campaign of faults sees faults that are put into irmeta."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def planted() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(ROOT / "benchmarks"))
        yield importlib.import_module("campaign.planted")


def test_faults__name_code_that_exists_and_every_kind_has_one(planted: ModuleType):
    assert len(planted.FAULTS) >= 30
    for name, fault in planted.FAULTS.items():
        for place, _ in fault.changes:
            module, _, path = place.partition(":")
            holder = importlib.import_module(module)
            for part in path.split("."):
                assert part in vars(holder), f"{name}: {place}"
                holder = getattr(holder, part)
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(ROOT / "benchmarks"))
        kinds = importlib.import_module("faults").KINDS
    assert {fault.kind for fault in planted.FAULTS.values()} == set(kinds)


def test_campaign__sees_a_planted_fault_and_says_which_it_does_not(planted: ModuleType):
    script = [sys.executable, str(ROOT / "benchmarks" / "faults.py"), "--seed", "1", "--planted"]
    done = subprocess.run(
        [*script, "last-row-lost"], capture_output=True, text=True, check=True, timeout=300
    )
    assert "last-row-lost (runs): seen after" in done.stdout
    assert "runs without a fault: no failure in" in done.stdout


@pytest.mark.slow
def test_campaign__sees_every_planted_fault():
    script = [sys.executable, str(ROOT / "benchmarks" / "faults.py"), "--seed", "1", "--planted"]
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=1800)
    assert "NOT SEEN" not in done.stdout
    assert "WITHOUT A FAULT" not in done.stdout
    assert done.returncode == 0, done.stderr
