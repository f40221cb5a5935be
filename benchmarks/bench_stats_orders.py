"""Measure correlations of 1,000 orderings and the statistics beside them; write README.md's table.

    python benchmarks/bench_stats_orders.py [--repeat 5]

Each line runs in a process of its own with one thread, and says that process's peak memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from bench_main_job import write
from memory import peak
from timing import seconds

ORDERINGS, SYSTEMS, QUERIES = 1000, 129, 50
METHODS = ("tau-b", "tau-ap", "tau-ap-b", "spearman", "pearson", "rmse", "rbo")
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "NUMBA")}
SCIPY_PAIRS = 300


def orderings(gaps: bool = False) -> np.ndarray:
    """Values with some ties; with `gaps`, every ordering lacks one of ten sets of systems."""
    rng = np.random.default_rng(0)
    x = np.round(rng.random((ORDERINGS, SYSTEMS)), 2)
    if gaps:
        for i in range(ORDERINGS):
            x[i, i % 10 :: 10] = np.nan
    return x


def matrices(systems: int):
    """Two measures that agree in part."""
    from irmeta.results.matrix import Matrix

    rng = np.random.default_rng(0)
    good = rng.random(systems)
    names = tuple(map(str, range(QUERIES))), tuple(map(str, range(systems)))
    return [Matrix(np.round(good + rng.random((QUERIES, systems)), 3), *names, m) for m in "AB"]


def scipy_loop() -> float:
    """Seconds that scipy's kendalltau would take for all pairs, from some of them."""
    from scipy.stats import kendalltau

    x = orderings()
    start = time.perf_counter()
    for i in range(SCIPY_PAIRS):
        kendalltau(x[i], x[i + 1])
    return (time.perf_counter() - start) / SCIPY_PAIRS * ORDERINGS * (ORDERINGS - 1) / 2


def job(name: str) -> Callable[[], object]:
    """What one line of the table measures."""
    from irmeta.stats.correlation import bootstrap_correlation, correlate
    from irmeta.stats.new_measure import reordering
    from irmeta.stats.verdict_agreement import agreement, unanimity

    kind, _, detail = name.partition(" ")
    if kind in METHODS:
        x = orderings(gaps=bool(detail))
        return lambda: correlate(x, kind)
    a, b = matrices(int(detail))
    return {
        "bootstrap": lambda: bootstrap_correlation(a, b, resamples=10_000),
        "agreement": lambda: agreement(a, b),
        "unanimity": lambda: unanimity([a, b, a]),
        "reordering": lambda: reordering(a, b),
    }[kind]


def measured(name: str, repeat: int) -> dict[str, float]:
    """Seconds and MB, from a fresh process."""
    command = [sys.executable, __file__, "--one", name, "--repeat", str(repeat)]
    done = subprocess.run(
        command, env={**os.environ, **ONE_THREAD}, check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps({"seconds": seconds(job(asked.one), asked.repeat), "memory": peak()}))
        return
    lines = [
        f"One thread; median of {asked.repeat}. Correlations of {ORDERINGS:,} orderings of "
        f"{SYSTEMS} systems, all {ORDERINGS * (ORDERINGS - 1) // 2:,} pairs; the others of two "
        f"measures on {QUERIES} queries.",
        "",
        "| statistic | seconds | peak, MB |",
        "|---|---|---|",
    ]
    labels = {m: m for m in METHODS}
    labels["tau-b gaps"] = "tau-b, ten patterns of missing systems"
    labels["bootstrap 129"] = "tau-b, 10,000 bootstrap resamples, 129 systems"
    for kind in ("agreement", "unanimity", "reordering"):
        labels |= {f"{kind} {n}": f"{kind}, {n:,} systems" for n in (129, 2000)}
    for name, label in labels.items():
        found = measured(name, asked.repeat)
        lines.append(f"| {label} | {found['seconds']:.3f} | {found['memory']:.0f} |")
    lines += ["", f"- A loop over scipy's kendalltau would take {scipy_loop():.0f} s."]
    text = "\n".join(lines)
    print(text)
    write("stats-orders", text)


if __name__ == "__main__":
    main()
