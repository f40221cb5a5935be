"""What a table of figures says of the machine that it was measured on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

import llvmlite.binding

_WIDEST = (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("avx", "AVX"), ("neon", "NEON"))
_LIBRARIES = ("numpy", "numba", "polars", "pyarrow", "scipy")
_CLOCK = Path("/proc/stat")
_IDLE = (3, 4)  # fields of the first line: idle, and waiting for the disk
_GUEST = 8  # from here on counted in earlier fields too


def machine(cores: int | None = None) -> str:
    """Cores and instruction set: "2 cores, x86_64 with AVX-512"."""
    features = llvmlite.binding.get_host_cpu_features()
    vectors = [name for feature, name in _WIDEST if features.get(feature)]
    count = cores or os.cpu_count()
    said = f" with {vectors[0]}" if vectors else ""
    return f"{count} core{'s' if count != 1 else ''}, {platform.machine()}{said}"


def versions() -> str:
    """Versions of Python, irmeta and the libraries that it computes with."""
    names = ", ".join(f"{name} {version(name)}" for name in ("irmeta", *_LIBRARIES))
    return f"Python {platform.python_version()}, {names}"


def busy_seconds() -> float:
    """Seconds that the machine's cores have worked since it started; NaN where Linux is not."""
    if not _CLOCK.exists():
        return float("nan")
    ticks = [int(text) for text in _CLOCK.read_text(encoding="utf-8").split("\n", 1)[0].split()[1:]]
    worked = sum(n for place, n in enumerate(ticks[:_GUEST]) if place not in _IDLE)
    return worked / os.sysconf("SC_CLK_TCK")
