"""Measure whole processes that read one run or list tracks, and write the table in README.md.

    python benchmarks/bench_start.py [--repeat 9]

The run has 45 queries and 1,000 docs for each; kernels and Python's bytecode are compiled. The
floor is the import of numba, polars and pyarrow, without which irmeta computes nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from bench_main_job import spawn, write
from machine import machine

QUERIES, DOCS, JUDGED = 45, 1000, 300
FLOOR = "the floor: import numba, polars, pyarrow"
EVALUATE = "`irmeta evaluate QRELS RUN -m official`"
ABOVE = {"wall": 0.15, "memory": 50.0}
"""Seconds and megabytes above the floor that were set as goals for `irmeta evaluate`."""


def make(folder: Path) -> tuple[Path, Path]:
    """Write qrels and a run."""
    rng = np.random.default_rng(0)
    qrels, run = folder / "qrels", folder / "run"
    drawn = [rng.choice(20_000, DOCS, replace=False) for _ in range(QUERIES)]
    with qrels.open("w", encoding="utf-8") as file:
        for query, docs in enumerate(drawn):
            grades = rng.integers(0, 2, JUDGED)
            for doc, grade in zip(docs[::2], grades, strict=False):
                file.write(f"{query} 0 doc-{doc:05} {grade}\n")
    with run.open("w", encoding="utf-8") as file:
        for query, docs in enumerate(drawn):
            for rank, doc in enumerate(docs):
                file.write(f"{query} Q0 doc-{doc:05} {rank} {20 - rank / 100:.4f} made\n")
    return qrels, run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=9)
    repeat = parser.parse_args().repeat
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    irmeta = (sys.executable, "-c", "from irmeta.cli import main; main()")
    with tempfile.TemporaryDirectory() as folder:
        files = [str(path) for path in make(Path(folder))]
        jobs = {
            FLOOR: (
                sys.executable,
                "-c",
                "import numba, polars, pyarrow",
            ),
            "`irmeta catalog`": (*irmeta, "catalog"),
            "`irmeta trec_eval QRELS RUN`": (*irmeta, "trec_eval", *files),
            "`irmeta trec_eval -q -m all_trec QRELS RUN`": (
                *irmeta,
                *("trec_eval", "-q", "-m", "all_trec", *files),
            ),
            EVALUATE: (
                *irmeta,
                *("evaluate", *files, "-m", "official"),
            ),
        }
        for command in jobs.values():
            spawn(*command)
        runs = {what: [spawn(*command) for _ in range(repeat)] for what, command in jobs.items()}
    least = {
        what: {name: min(figures[name] for figures in of_job) for name in of_job[0]}
        for what, of_job in runs.items()
    }
    lines = [
        f"{QUERIES} queries x {DOCS:,} docs; {machine()}; least of {repeat}.",
        "",
        "| process | wall s | CPU s | peak MB |",
        "|---|---|---|---|",
    ]
    for what, figures in least.items():
        lines.append(
            f"| {what} | {figures['wall']:.2f} | {figures['cpu']:.2f} | {figures['memory']:.0f} |"
        )
    wall, cpu, memory = (
        least[EVALUATE][name] - least[FLOOR][name] for name in ("wall", "cpu", "memory")
    )
    lines += [
        "",
        f"- Above the floor, `irmeta evaluate` takes {wall:.2f} s (goal: {ABOVE['wall']:g}), "
        f"{cpu:.2f} CPU s and {memory:.0f} MB (goal: {ABOVE['memory']:g}).",
    ]
    text = "\n".join(lines)
    print(text)
    write("start", text)


if __name__ == "__main__":
    main()
