"""Measure derived views and enumerated rankings, and write the table in README.md.

    python benchmarks/bench_views.py [--repeat 15]

Views are derived from a made one of the shape of TREC-COVID round 1: 143 systems, 30 queries, 290
judged docs a query. Beside each stands a copy of its ranks by numpy, the least that a view takes.
AP of 88,573 rankings of 30 docs, in one call, stands beside numpy's sort of the ranks it reads.
"""

from __future__ import annotations

import argparse

import numpy as np
from bench_main_job import write
from synthetic import judged_view
from timing import seconds

import irmeta
from irmeta.rankings.view import replace_arrays

SYSTEMS, QUERIES, JUDGED = 143, 30, 290
POOLS = range(1, 51)
RANKINGS, DOCS, RELEVANT, DEPTH = 88_573, 30, 10, 10


def enumerated(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Ranks uint16 [docs, rankings] of random rankings to depth 10, and the grades of the docs."""
    rng = np.random.default_rng(seed)
    ranks = np.argsort(rng.random((DOCS, RANKINGS)), axis=0).astype(np.uint16) + np.uint16(1)
    ranks[ranks > DEPTH] = np.iinfo(np.uint16).max
    return ranks, np.repeat([1, 0], [RELEVANT, DOCS - RELEVANT])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=15)
    repeat = parser.parse_args().repeat
    view = judged_view(SYSTEMS, QUERIES, 1000, judged=JUDGED)
    name = view.systems[5]
    copy = 1e3 * seconds(view.ranks.copy, repeat)
    derived = {
        "without one system": lambda: view.without_systems(name),
        "50 pool depths": lambda: [view.with_pool(d) for d in POOLS],
        "a pool without one system": lambda: view.with_pool(20, without=name),
        "condensed lists": view.condense,
        "lists cut at 100": lambda: view.cut_to(100),
        "half of the relevant docs": lambda: view.drop_relevant(0.5),
    }
    taken = {what: 1e3 * seconds(derive, repeat) for what, derive in derived.items()}
    ranks, grades = enumerated()
    made = 1e3 * seconds(lambda: irmeta.JudgedRanks.from_arrays(ranks, grades), repeat)
    rankings = irmeta.JudgedRanks.from_arrays(ranks, grades)

    def average_precision() -> None:
        irmeta.scores_of(replace_arrays(rankings), "AP")  # nothing is left from the call before

    ap = 1e3 * seconds(average_precision, repeat)
    one_pass = 1e3 * seconds(lambda: np.sort(ranks[:RELEVANT], axis=0), repeat)
    lines = [
        f"{SYSTEMS} systems x {QUERIES} queries, {JUDGED} judged docs a query; median of {repeat}.",
        "",
        "| view | ms | copies of the ranks |",
        "|---|---|---|",
        *(f"| {what} | {ms:.1f} | {ms / copy:.0f} |" for what, ms in taken.items()),
        "",
        f"- {RANKINGS:,} rankings x {DOCS} docs: made and checked in {made:.0f} ms, AP in "
        f"{ap:.1f} ms; numpy sorts the ranks of their relevant docs in {one_pass:.1f} ms.",
    ]
    text = "\n".join(lines)
    print(text)
    write("views", text)


if __name__ == "__main__":
    main()
