"""Measure rareness and the study of innovation, and write the tables in README.md.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_rareness.py [--repeat 5]

Processor time of one core, kernels compiled. Needs the six tracks in the shared folder
(IRMETA_SHARED). Values of trec-covid-r1 are read from a store; the steps of the study begin with
its ranks in memory, and Algorithm 1 with made ranks of the shape of TREC-8. Beside rareness stands
the same by plain Python loops over ranked lists, which gives equal values. The study is a process
of its own that begins with an empty results folder; its store is there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import timing
from bench_main_job import median, spawn, write
from bench_study import COVID, LIMITS, MEMORY, linked
from machine import machine
from synthetic import judged_view

import irmeta
from irmeta.measures.rareness import RareParts, rare_parts
from irmeta.stats.resampling import system_subsets
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.innovation.compute import added_runs, pool_bias
from irmeta.studies.papers.innovation.rare_track import RareTrack
from irmeta.studies.papers.innovation.study import InnovationOptions

K, ALPHAS, GRID = 100, (0.25, 0.5, 1.0), 101
MEASURES = [f"Rare{m}(alpha={alpha})@{K}" for m in ("P", "AP") for alpha in ALPHAS]
SYSTEMS, QUERIES, SIZES, DRAWS = 129, 50, (2, 4, 8, 16, 32, 64), 1000
PLAIN = 10
"""Runs that plain Python scores."""

seconds = partial(timing.seconds, clock=time.process_time, of=min)
Lists = dict[str, dict[str, list[str]]]


def lists_of(store: irmeta.Store) -> tuple[Lists, dict[str, set[str]]]:
    """The first docs of each list by system and query, and the relevant docs of each query."""
    rows = store.reader.track(COVID).table("runs").filter(pl.col("rank") <= K)
    ordered = rows.sort("system", "query", "rank").group_by("system", "query", maintain_order=True)
    lists: Lists = {}
    for system, query, docs in ordered.agg("doc").collect().iter_rows():
        lists.setdefault(system, {})[query] = docs
    judged = store.reader.track(COVID).table("qrels").filter(pl.col("grade") >= 1).collect()
    relevant: dict[str, set[str]] = {}
    for query, doc in judged.select("query", "doc").iter_rows():
        relevant.setdefault(query, set()).add(doc)
    return lists, relevant


def by_loops(lists: Lists, relevant: dict[str, set[str]], scored: list[str]) -> dict[str, float]:
    """The mean of RareP at alpha = 1 of some systems, list by list."""
    means = dict.fromkeys(scored, 0.0)
    for query, docs in relevant.items():
        held = {doc: sum(doc in of.get(query, ()) for of in lists.values()) for doc in docs}
        for system in scored:
            found = [doc for doc in lists[system].get(query, ()) if doc in docs]
            gained = sum(2.0 - held[doc] / len(lists) for doc in found)
            means[system] += gained / K / len(relevant)
    return means


def algorithm_1(parts: RareParts) -> None:
    """Algorithm 1 for both measures at every size."""
    names = ["RareP", "RareAP"]
    system_subsets(parts.means, names, len(parts.systems), SIZES, DRAWS)


def by_alpha(parts: RareParts) -> np.ndarray:
    """Means of both measures at 101 alphas."""
    rare = parts.rare_sums(np.ones((1, len(parts.systems)), bool))
    return parts.plain[:, None] + np.linspace(0, 1, GRID)[:, None] * rare


def steps(store: irmeta.Store, repeat: int) -> list[str]:
    """Steps with a limit, as rows of a table."""
    options = InnovationOptions()
    covid = RareTrack.of(TrackView(store.track(COVID), options), options)
    made = rare_parts([judged_view(SYSTEMS, QUERIES, 1000)], K)
    shape = f"{SYSTEMS} x {QUERIES}, {len(SIZES)} sizes x {DRAWS:,} draws"
    timed: dict[str, tuple[Callable[[], object], float]] = {
        "read; RareP and RareAP at three alphas": (
            lambda: store.means(MEASURES, track=COVID),
            0.15,
        ),
        f"RareP and RareAP at {GRID} alphas": (lambda: by_alpha(covid.parts), 0.05),
        f"Algorithm 1, {shape}, both measures": (lambda: algorithm_1(made), 2.0),
        "each group left out of the pool and of S_d, four measures": (
            lambda: list(pool_bias(covid)),
            2.0,
        ),
        "runs added by each group, counted in three ways, both measures": (
            lambda: [list(rows) for _, rows in added_runs(covid)],
            2.0,
        ),
    }
    return [
        f"| {what} | {seconds(step, repeat):.3f} | {limit} |"
        for what, (step, limit) in timed.items()
    ]


def beside(store: irmeta.Store, repeat: int) -> str:
    """Rareness of some runs by plain loops, after a check that the values are equal."""
    lists, relevant = lists_of(store)
    scored = sorted(lists)[:PLAIN]
    ours = store.means(f"RareP(alpha=1)@{K}", track=COVID)
    values = dict(ours.select("system", "value").iter_rows())
    for system, value in by_loops(lists, relevant, scored).items():
        assert abs(value - values[system]) < 1e-9, system
    plain = seconds(lambda: by_loops(lists, relevant, scored), repeat)
    every = seconds(lambda: store.means(f"RareP(alpha=1)@{K}", track=COVID), repeat)
    return (
        f"- RareP of {PLAIN} runs by plain Python loops over lists in memory: {plain:.1f} s; of "
        f"all {len(lists)} runs by irmeta, with reading: {every:.2f} s."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    command = str(Path(sys.executable).with_name("irmeta"))
    with tempfile.TemporaryDirectory() as name:
        folder, path = Path(name), str(Path(name) / "store")
        (folder / "collection").mkdir()
        spawn(command, "ingest", str(linked(folder / "collection")), "--out", path)
        study = (command, "study", "innovation", path, "--out")
        spawn(*study, str(folder / "warm"))  # compiles the kernels, once a machine
        runs = [spawn(*study, str(folder / f"results-{i}")) for i in range(repeat)]
        again = [spawn(*study, str(folder / "warm")) for _ in range(repeat)]
        drawn = len(list((folder / "warm" / "figures").rglob("*.svg")))
        store = irmeta.open_store(path)
        rows, peer = steps(store, repeat), beside(store, repeat)
    what = f"`irmeta study innovation`: tables, {drawn} figures, page"
    lines = [
        f"{COVID} where no shape is given; {machine()}; the least of {repeat}.",
        "",
        "| step | CPU s | limit |",
        "|---|---|---|",
        *rows,
        "",
        peer,
        "",
        f"The six real tracks; median of {repeat}.",
        "",
        "| what | wall s | CPU s | peak MB |",
        "|---|---|---|---|",
    ]
    for text, found in ((what, median(runs)), ("the same again, no track changed", median(again))):
        numbers = f"{found['wall']:.1f} | {found['cpu']:.1f} | {found['memory']:.0f}"
        lines.append(f"| {text} | {numbers} |")
    lines.append(f"| the limit set | {LIMITS['innovation']} | | {MEMORY} |")
    text = "\n".join(lines)
    print(text)
    write("rareness", text)


if __name__ == "__main__":
    main()
