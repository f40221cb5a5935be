"""Kills at the moments of writing: between two writes, and within one."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

VARIABLE = "IRMETA_STOP_AT"
"""Number of the moment at which the process is killed; 0: none, they are counted."""


class _Moments:
    """Counter of the moments; `of` is the folder whose files count."""

    def __init__(self, last: int) -> None:
        self.count, self.last = 0, last

    def pass_by(self) -> None:
        """Count a moment; at the last one, end the process as an operating system may."""
        self.count += 1
        if self.count == self.last:
            os.kill(os.getpid(), signal.SIGKILL)


def stop_at_named() -> None:
    """Make this process stop at the moment that the environment names."""
    if (last := os.environ.get(VARIABLE)) is None:
        return
    moments = _Moments(int(last))
    for owner, name in ((os, "replace"), (os, "rename"), (os, "unlink"), (os, "rmdir")):
        setattr(owner, name, _around(getattr(owner, name), moments))
    Path.write_bytes = _in_halves(moments)
    if not moments.last:
        import atexit

        atexit.register(lambda: print(f"moments {moments.count}", file=sys.stderr))

    import pyarrow.parquet as pq

    writer = pq.ParquetWriter
    for name in ("write_table", "write_batch", "close"):
        setattr(writer, name, _around(getattr(writer, name), moments))


def _around(function: Callable[..., Any], moments: _Moments) -> Callable[..., Any]:
    def call(*given: Any, **named: Any) -> Any:
        moments.pass_by()
        found = function(*given, **named)
        moments.pass_by()
        return found

    return call


def _in_halves(moments: _Moments) -> Callable[..., int]:
    def write_bytes(path: Path, data: bytes) -> int:
        with path.open("wb", buffering=0) as file:
            moments.pass_by()
            file.write(data[: len(data) // 2])
            moments.pass_by()
            file.write(data[len(data) // 2 :])
        moments.pass_by()
        return len(data)

    return write_bytes
