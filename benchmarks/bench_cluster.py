"""Measure commands in two threads and in two processes of Dask, and write the tables in README.md.

    python benchmarks/bench_cluster.py [--repeat 3]

Needs the `dask` extra. The small tracks are those of the made collection, and four copies of each
under other names. The large track is one of archive.py. Kernels are compiled.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench_main_job import HERE, spawn, write
from machine import machine

import irmeta

MADE = HERE.parent / "data_fixtures" / "collections"
TRACKS = ("news", "passage")
COPIES = 4
JOBS = {"2 threads": ("--workers", "2"), "`--dask local:2`": ("--dask", "local:2")}
IRMETA = (sys.executable, "-c", "from irmeta.cli import main; main()")
LARGE = "2004-robust"
MEASURES = ("AP,nDCG@10", "trec_eval")


def copied(folder: Path) -> Path:
    """Return a collection with copies of the tracks that need no collection.toml."""
    for track in TRACKS:
        for copy in range(COPIES):
            shutil.copytree(MADE / track, folder / f"{track}-{copy}")
    return folder


def least(out: Path, repeat: int, *command: str) -> str:
    """Return cells of wall and CPU seconds of a command, the least of some runs."""
    runs: list[dict[str, float]] = []
    for _ in range(repeat):
        shutil.rmtree(out, ignore_errors=True)
        runs.append(spawn(*IRMETA, *command))
    wall, cpu = (min(run[figure] for run in runs) for figure in ("wall", "cpu"))
    return f"{wall:.1f} | {cpu:.1f} |"


def small_tracks(folder: Path, repeat: int) -> list[str]:
    lines = ["| tracks | job | wall s | CPU s |", "|---|---|---|---|"]
    out = folder / "out"
    for tracks, source in {3: MADE, COPIES * len(TRACKS): copied(folder / "copies")}.items():
        for job, options in JOBS.items():
            command = ("reanalyze", str(source), "--out", str(out), *options)
            lines.append(f"| {tracks} | {job} | {least(out, repeat, *command)}")
    return lines


def large_track(folder: Path, repeat: int) -> list[str]:
    lines = ["| command | job | wall s | CPU s |", "|---|---|---|---|"]
    source, store, out = (folder / name for name in ("archive", "store", "out"))
    spawn(sys.executable, str(HERE / "archive.py"), str(source), "--track", LARGE)
    spawn(*IRMETA, "ingest", str(source), "--out", str(store))
    shutil.rmtree(source)
    commands = {
        "`evaluate -m AP,nDCG@10`": ("evaluate", str(store), "-m", "AP,nDCG@10"),
        "`reanalyze`": ("reanalyze", str(store), "--out", str(out)),
    }
    for name, command in commands.items():
        for job, options in {"1 thread": ("--workers", "1"), **JOBS}.items():
            lines.append(f"| {name} | {job} | {least(out, repeat, *command, *options)}")
    rows = json.loads((store / "tracks" / f"{LARGE}.json").read_bytes())["rows"]
    return [f"{rows / 1e6:.1f} million rows.", "", *lines, "", *started(store, repeat)]


def started(folder: Path, repeat: int) -> list[str]:
    """Return a table of evaluation by threads and processes that have done it before."""
    store = irmeta.open_store(folder)
    lines = ["| workers, started before | " + " | ".join(f"`{one}` s" for one in MEASURES) + " |"]
    lines.append("|---" * (1 + len(MEASURES)) + "|")
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        for name, choices in {
            "1 thread": {"workers": 1},
            "2 threads": {"workers": 2},
            "2 processes": {"executor": executor},
        }.items():
            cells = []
            for measures in MEASURES:
                job: Callable[[], Any] = partial(store.means, measures, **choices)
                job()
                cells.append(f"{min(timed(job) for _ in range(repeat)):.2f}")
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def timed(job: Callable[[], Any]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", choices=("small", "large"), help="Measure one table.")
    chosen = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    on = f"{machine()}; least of {chosen.repeat}."
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spawn(*IRMETA, "reanalyze", str(MADE), "--out", str(folder / "compiled"))
        if chosen.only != "large":
            lines = [on, "", *small_tracks(folder, chosen.repeat)]
            print(text := "\n".join(lines))
            write("cluster", text)
        if chosen.only != "small":
            lines = [on, "", *large_track(folder, chosen.repeat)]
            print(text := "\n".join(lines))
            write("cluster-large", text)


if __name__ == "__main__":
    main()
