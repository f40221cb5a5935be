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
LIMITS = {"`irmeta trec_eval QRELS RUN`": 0.6, "`irmeta evaluate QRELS RUN -m official`": 0.75}
"""Wall seconds that were set as goals."""


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
            "the floor: import numba, polars, pyarrow": (
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
            "`irmeta evaluate QRELS RUN -m official`": (
                *irmeta,
                *("evaluate", *files, "-m", "official"),
            ),
        }
        for command in jobs.values():
            spawn(*command)
        runs = {what: [spawn(*command) for _ in range(repeat)] for what, command in jobs.items()}
    lines = [
        f"{QUERIES} queries x {DOCS:,} docs; {machine()}; least of {repeat}.",
        "",
        "| process | wall s | limit | CPU s | peak MB |",
        "|---|---|---|---|---|",
    ]
    for what, figures in runs.items():
        wall, cpu, memory = (min(f[name] for f in figures) for name in ("wall", "cpu", "memory"))
        cells = f"{wall:.2f} | {LIMITS.get(what, '')} | {cpu:.2f} | {memory:.0f}"
        lines.append(f"| {what} | {cells} |")
    text = "\n".join(lines)
    print(text)
    write("start", text)


if __name__ == "__main__":
    main()
