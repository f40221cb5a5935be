"""What a table of figures says of the machine that it was measured on."""

from __future__ import annotations

import os
import platform

import llvmlite.binding

_WIDEST = (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("avx", "AVX"), ("neon", "NEON"))


def machine(cores: int | None = None) -> str:
    """Cores and instruction set: "2 cores, x86_64 with AVX-512"."""
    features = llvmlite.binding.get_host_cpu_features()
    vectors = [name for feature, name in _WIDEST if features.get(feature)]
    count = cores or os.cpu_count()
    said = f" with {vectors[0]}" if vectors else ""
    return f"{count} core{'s' if count != 1 else ''}, {platform.machine()}{said}"
