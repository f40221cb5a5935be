"""Measure the tests of all pairs of systems, and write the table in README.md.

    python benchmarks/bench_stats_pairs.py [--repeat 5]

Made values, one core: each row is a process of its own, with its BLAS held to one thread. A row's
memory is the process's peak, irmeta and its libraries included. scipy's time is for a sample of the
pairs, one by one, as a loop over pairs takes them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from functools import partial
from itertools import pairwise

from memory import peak

ROWS: tuple[tuple[str, int, int], ...] = (  # test, systems, resamples
    ("t", 2000, 0),
    ("t-unpaired", 2000, 0),
    ("wilcoxon", 2000, 0),
    ("sign", 2000, 0),
    ("permutation", 2000, 10_000),
    ("permutation", 129, 10_000),
    ("bootstrap", 129, 10_000),
)
QUERIES, SAMPLE = 50, 300


def measure(test: str, systems: int, resamples: int, repeat: int) -> dict[str, float]:
    """One row's figures, in this process: seconds (median), the first call's, and MB."""

    import numpy as np

    from irmeta.results.matrix import Matrix
    from irmeta.stats import pairs

    values = np.random.default_rng(0).random((QUERIES, systems))
    names = tuple(map(str, range(max(QUERIES, systems))))
    matrix = Matrix(values, names[:QUERIES], names[:systems])
    tested = partial(pairs.pairwise, resamples=resamples) if resamples else pairs.pairwise
    tested(matrix.only_systems(np.arange(5)), test)  # compiles
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        tested(matrix, test)
        seconds.append(time.perf_counter() - start)
    memory = peak()
    return {"seconds": statistics.median(seconds), "first": seconds[0], "memory": memory}


def scipy_seconds() -> dict[str, float]:
    """Seconds a pair in a loop over scipy.stats, by test."""
    import numpy as np
    from scipy import stats

    values = np.random.default_rng(0).random((SAMPLE + 1, QUERIES))
    loops = {
        "t": stats.ttest_rel,
        "t-unpaired": stats.ttest_ind,
        "wilcoxon": stats.wilcoxon,
        "sign": lambda a, b: stats.binomtest(int((a > b).sum()), int((a != b).sum())).pvalue,
    }
    found = {}
    for test, one in loops.items():
        one(values[0], values[1])
        start = time.perf_counter()
        for a, b in pairwise(values):
            one(a, b)
        found[test] = (time.perf_counter() - start) / SAMPLE
    return found


def apart(*arguments: object) -> dict[str, float]:
    """What this file prints in a process of its own, on one core."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, __file__, *map(str, arguments)]
    done = subprocess.run(command, env=os.environ | one, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--row", type=int, help="measure this row alone, and print JSON")
    parser.add_argument("--scipy", action="store_true", help="the same for scipy's loops")
    chosen = parser.parse_args()
    if chosen.row is not None:
        test, systems, resamples = ROWS[int(chosen.row)]
        print(json.dumps(measure(test, systems, resamples, chosen.repeat)))
        return
    if chosen.scipy:
        print(json.dumps(scipy_seconds()))
        return
    from bench_main_job import write

    loop = apart("--scipy")
    lines = [
        f"{QUERIES} queries, one core; median of {chosen.repeat}. p-values, differences, effect "
        "sizes and, where the test has them, intervals.",
        "",
        "| test | systems | pairs | resamples | s | peak memory, MB | a loop over scipy, s |",
        "|---|---|---|---|---|---|---|",
    ]
    for i, (test, systems, resamples) in enumerate(ROWS):
        found = apart("--row", i, "--repeat", chosen.repeat)
        number = systems * (systems - 1) // 2
        slow = f"{loop[test] * number:,.0f}" if test in loop else ""
        lines.append(
            f"| {test} | {systems:,} | {number:,} | {f'{resamples:,}' if resamples else ''} | "
            f"{found['seconds']:.2f} | {found['memory']:.0f} | {slow} |"
        )
    lines += ["", f"- scipy's loop is estimated from {SAMPLE} pairs."]
    text = "\n".join(lines)
    print(text)
    write("stats-pairs", text)


if __name__ == "__main__":
    main()
