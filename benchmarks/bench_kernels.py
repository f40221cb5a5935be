"""Measure kernels alone, on made arrays, and write the tables in README.md.

    python benchmarks/bench_kernels.py [--repeat 9]

Search lengths, rarity, doc ids and grades, and recall-paired preference; one thread, processor
time. Beside the preferences numpy's broadcast, and two limits: their inner loop on ranks that stay
in the first cache, and numpy's sum of arrays in the second.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import timing
from bench_main_job import write
from machine import machine
from synthetic import JUDGED, judged_view

from irmeta.kernels.cutoff_sums import search_lengths, systems_within
from irmeta.kernels.jit import jit
from irmeta.kernels.lanes import BITS, STEPS, add_signs
from irmeta.kernels.lists import look_up, number
from irmeta.kernels.pair_preferences import add_preferences, preference_counts
from irmeta.measures.search_length import unretrieved_length

LEVELS = 95  # about as many relevant docs as a query of TREC-8 has
SIZES = {60: 50, 129: 50, 2000: 20}  # systems: queries
DEPTH, RARE = 1000, 100
SOME = 5  # levels, of numpy's way


seconds = partial(timing.seconds, clock=time.thread_time)  # of the processor


@jit
def looked_up(table, places, out):
    look_up(table, places, out)


def over_views(repeat: int) -> list[str]:
    """Search lengths of relevant docs; rarity of relevant docs, and of all that are judged."""
    lines = []
    for systems in (60, 129):
        view = judged_view(systems, SIZES[systems], DEPTH)
        ranks, offsets = view.sorted_ranks(1)
        filler, out = unretrieved_length(view, 1, "irrel"), np.empty(ranks.shape)
        relevant = np.ascontiguousarray(view.ranks[view.relevant_rows(1)])

        def lengths(view=view, ranks=ranks, offsets=offsets, filler=filler, out=out) -> None:
            search_lengths(ranks, offsets, view.missing, filler, out)

        def rarity(ranks: np.ndarray) -> Callable[[], None]:
            out = np.zeros(len(ranks), np.int32)
            return lambda: systems_within(ranks, RARE, out)

        rows = systems * SIZES[systems] * DEPTH
        for name, function, cells in (
            ("search lengths", lengths, ranks.size),
            ("rarity of relevant docs", rarity(relevant), relevant.size),
            ("rarity of judged docs", rarity(view.ranks), view.ranks.size),
        ):
            took = seconds(function, repeat)
            lines.append(
                f"| {name}, {systems} systems | {1e3 * took:.2f} | {rows / took / 1e9:.1f} | "
                f"{cells / took / 1e9:.2f} |"
            )
    return lines


def by_table(systems: int, repeat: int) -> list[str]:
    """The number and the grade of each row's doc: one of a query's docs, a fifth of them judged."""
    rng = np.random.default_rng(0)
    queries, track, pool = 4, 50_000, 5 * JUDGED
    docs, found, judged = [], [], []
    for _ in range(queries):
        own = rng.permutation(track)[:pool].astype(np.int32)
        judged.append(np.sort(own[:JUDGED]))
        found.append(np.sort(own[JUDGED:]))
        docs += [rng.choice(own, DEPTH, replace=False) for _ in range(systems)]
    rows = queries * systems * DEPTH
    starts = np.arange(queries + 1) * systems * DEPTH
    known = np.concatenate(judged), np.arange(queries + 1) * JUDGED
    grades = rng.integers(0, 3, queries * JUDGED).astype(np.int16)
    ends = np.arange(1, queries + 1) * (pool - JUDGED)
    spaces = np.empty(track, np.int32), np.empty(track, np.int16)
    out = np.empty(rows, np.int32), np.empty(rows, np.int16)
    lists, others = np.concatenate(docs), np.concatenate(found)
    first = slice(0, starts[1])
    parts = {
        "doc ids and grades by table, the tables made": lambda: number(
            lists, starts, *known, grades, others, ends, *spaces, 999, *out
        ),
        "grades alone, from the table of a query": lambda: looked_up(
            spaces[1], out[0][first], out[1][first]
        ),
    }
    counts = (rows, starts[1])
    took = [seconds(function, repeat) for function in parts.values()]
    return [
        f"| {name}, {systems} systems | {1e3 * s:.2f} | {count / s / 1e9:.2f} | |"
        for name, count, s in zip(parts, counts, took, strict=True)
    ]


def made_ranks(systems: int, queries: int, dtype: type) -> np.ndarray:
    """[queries, levels, systems], ascending; some two in five are not retrieved."""
    ranks = np.random.default_rng(0).integers(1, DEPTH * 8 // 5, (queries, LEVELS, systems))
    ranks[ranks > DEPTH] = np.iinfo(dtype).max
    return np.sort(ranks.astype(dtype), axis=1)


@jit
def _compare_again(blocks, times, counts):
    for _ in range(times):
        add_signs(blocks, 0, 1, 0, blocks.shape[1], 1, counts, 0)


def inner_loop(dtype: type, repeat: int) -> float:
    """Comparisons a second of `add_signs`, on the ranks of one query in two blocks."""
    lanes = BITS // (8 * np.dtype(dtype).itemsize)
    blocks = made_ranks(2 * lanes, 2, dtype)
    counts, times = np.zeros((STEPS, lanes), np.int32), 2000
    took = seconds(lambda: _compare_again(blocks, times, counts), repeat)
    return STEPS * lanes * LEVELS * times / took


def sums_in_cache(repeat: int) -> float:
    """Numbers of 16 bits that numpy adds a second, three arrays of 64 kB."""
    a, b, out = np.ones((3, 2**15), np.uint16)

    def add() -> None:
        for _ in range(200):
            np.add(a, b, out=out)

    return 200 * len(a) / seconds(add, repeat)


def by_numpy(levels: np.ndarray) -> np.ndarray:
    total = np.zeros((levels.shape[1],) * 2, np.int32)
    for ranks in levels:
        total += ranks > ranks[:, None]
        total -= ranks < ranks[:, None]
    return total


def preferences(systems: int, dtype: type, repeat: int) -> str:
    queries = SIZES[systems]
    ranks = made_ranks(systems, queries, dtype)
    pairs = systems * (systems - 1) // 2
    flat, offsets = ranks.reshape(-1, systems), np.arange(queries + 1) * LEVELS
    sums, counts = np.zeros((systems, systems)), np.zeros((systems, systems), np.int32)

    def each() -> None:
        for q in range(queries):
            preference_counts(flat, offsets[q], offsets[q + 1], counts)

    work = pairs * queries * LEVELS
    together = work / seconds(lambda: add_preferences(flat, offsets, sums), repeat)
    apart = work / seconds(each, repeat)
    peer = pairs * SOME / seconds(lambda: by_numpy(ranks[0, :SOME]), repeat)
    return (
        f"| {systems:,} | {np.dtype(dtype).itemsize * 8} | {together / 1e9:.1f} | "
        f"{apart / 1e9:.1f} | {peer / 1e9:.2f} | {together / peer:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=9)
    repeat = parser.parse_args().repeat
    limits = [inner_loop(dtype, repeat) / 1e9 for dtype in (np.uint16, np.uint32)]
    lines = [
        f"{machine(1)}; the median processor time of {repeat}. Lists of "
        f"{DEPTH:,} docs for 50 queries; rarity to depth {RARE}.",
        "",
        "| kernel | ms | G rows/s | G cells/s |",
        "|---|---|---|---|",
        *over_views(repeat),
        *by_table(60, repeat),
        *by_table(129, repeat),
        "",
        f"Recall-paired preference of all pairs, {LEVELS} relevant docs a query, 50 queries or, of "
        f"2,000 systems, {SIZES[2000]}; G comparisons/s:",
        "",
        "| systems | bits | sums over queries | a matrix for each query | numpy's broadcast | "
        "times numpy |",
        "|---|---|---|---|---|---|",
        *(preferences(s, dtype, repeat) for s in SIZES for dtype in (np.uint16, np.uint32)),
        "",
        f"- The limit of this processor: the inner loop alone, on ranks in the first cache, makes "
        f"{limits[0]:.1f} G comparisons/s in 16 bits, {limits[1]:.1f} in 32.",
        f"- numpy adds {sums_in_cache(repeat) / 1e9:.1f} G numbers of 16 bits a second in the "
        "second cache.",
    ]
    text = "\n".join(lines)
    print(text)
    write("kernels", text)


if __name__ == "__main__":
    main()
