"""How much memory a process has needed."""

from __future__ import annotations

import re
import resource
import sys
from pathlib import Path


def peak() -> float:
    """This process's peak memory in MB (units of 1,024 kB).

    Of VmHWM where there is one: Linux keeps ru_maxrss over exec, so that it would count the peak of
    the process that started this one.
    """
    if sys.platform == "linux":
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        return int(re.findall(r"VmHWM:\s*(\d+) kB", status)[0]) / 1024
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
