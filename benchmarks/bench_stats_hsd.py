"""Measure randomised HSD, Tukey's HSD and stability, and write the table in README.md.

    python benchmarks/bench_stats_hsd.py [--repeat 5]

One thread, made values. Beside each the same work by numpy or scipy, timed on a share of it where
the whole would take minutes.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import numpy as np
import timing
from bench_main_job import write
from memory import peak

from irmeta.results.matrix import Matrix
from irmeta.stats.hsd import mean_ranges, tukey_hsd
from irmeta.stats.ranking_stability import stability, swap_rates

QUERIES = 50


# The least processor time: other programs on the machine only ever add to it.
seconds = partial(timing.seconds, clock=time.thread_time, of=min)


def made(systems: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.beta(2, 4, (QUERIES, systems)) + rng.normal(0, 0.05, systems)


def matrix_of(values: np.ndarray) -> Matrix:
    queries, systems = (tuple(map(str, range(n))) for n in values.shape)
    return Matrix(values, queries, systems)


def randomised(systems: int, resamples: int, repeat: int) -> str:
    values = made(systems)
    ours = seconds(lambda: mean_ranges(values, resamples, 0, workers=1), repeat)
    some = max(1, 3_000_000 // values.size)

    def by_numpy() -> None:
        rng = np.random.default_rng(0)
        for _ in range(some):
            np.ptp(rng.permuted(values, axis=1).mean(axis=0))

    theirs = seconds(by_numpy, 1) * resamples / some
    each = ours / (resamples * values.size) * 1e9
    return (
        f"| randomised HSD, {systems} systems, B = {resamples:,} | {ours:.2f} s, {each:.2f} ns a "
        f"value | numpy's `permuted`: {theirs:.1f} s, {theirs / ours:.0f} times |"
    )


def tukey(systems: int, repeat: int) -> str:
    from scipy.stats import studentized_range

    values = made(systems)
    ours = seconds(lambda: tukey_hsd(values, "blocked"), repeat)
    df = (systems - 1) * (QUERIES - 1)
    some = np.linspace(1, 9, 20)
    pairs = systems * (systems - 1) // 2
    theirs = seconds(lambda: studentized_range.sf(some, systems, df), 1) * pairs / len(some)
    return (
        f"| Tukey HSD by query, {systems} systems | {ours:.2f} s | `scipy.stats.studentized_range` "
        f"pair by pair: {theirs:,.0f} s |"
    )


def on_subsets(systems: int, repeat: int) -> list[str]:
    held = matrix_of(made(systems))
    stable = seconds(lambda: stability(held), repeat)
    swaps = seconds(lambda: swap_rates(held), repeat)
    values = held.values

    def by_numpy() -> None:
        rng = np.random.default_rng(0)
        wins = np.zeros((systems, systems), np.int32)
        for _ in range(10):
            means = values[rng.permutation(QUERIES)[: QUERIES // 2]].mean(axis=0)
            wins += means[:, None] - means > 0.05

    theirs = seconds(by_numpy, 1) * 100
    return [
        f"| stability, {systems} systems, R = 1,000 | {1e3 * stable:.1f} ms | numpy a trial at a "
        f"time: {1e3 * theirs:.0f} ms, {theirs / stable:.0f} times |",
        f"| swap rates, {systems} systems, R = 1,000 | {1e3 * swaps:.1f} ms | |",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    lines = [
        f"{QUERIES} queries, one thread; the least processor time of {repeat}.",
        "",
        "| job | irmeta | beside it |",
        "|---|---|---|",
        randomised(60, 100_000, repeat),
        randomised(129, 20_000, repeat),
        randomised(2000, 1_000, repeat),
        tukey(129, repeat),
        tukey(2000, 1),
        *on_subsets(129, repeat),
        *on_subsets(2000, 1),
        "",
        f"Peak memory of all, scipy.stats loaded: {peak():.0f} MB.",
    ]
    text = "\n".join(lines)
    print(text)
    write("stats-hsd", text)


if __name__ == "__main__":
    main()
