"""Files that the first worker of a test run makes for all workers."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def made_once(
    tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]
) -> Path:
    """Return a folder that the first worker of a test run makes for all workers."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    with FileLock(root / f"{name}.lock"):
        if not (root / f"{name}.made").exists():
            make(root / name)
            (root / f"{name}.made").touch()
    return root / name
