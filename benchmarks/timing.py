"""How long a call takes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable


def seconds(
    function: Callable[[], object],
    repeat: int,
    *,
    clock: Callable[[], float] = time.perf_counter,
    of: Callable[[Iterable[float]], float] = statistics.median,
) -> float:
    """The median (or what `of` makes) of several calls, after one that is not counted."""
    function()
    found = []
    for _ in range(repeat):
        start = clock()
        function()
        found.append(clock() - start)
    return of(found)
