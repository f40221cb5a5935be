"""Measure whole processes that read one run of many queries, and write the table in README.md.

    python benchmarks/bench_one_run.py [--queries 7000] [--docs 1000] [--repeat 3]

The run has the size of one of MS MARCO's development set: docs are drawn from 8.8 million, some
scores are tied, and each query has about ten judged docs. A second run, to compare
it with, has the same lists in reverse order. pytrec_eval reads the same files with its own parser,
in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from bench_main_job import spawn, write
from machine import machine

COLLECTION = 8_841_823
"""Passages of MS MARCO."""
JUDGED = 10
PYTREC_EVAL = """
import sys, pytrec_eval
with open(sys.argv[1]) as qrels, open(sys.argv[2]) as run:
    judged, retrieved = pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(run)
pytrec_eval.RelevanceEvaluator(judged, {"map", "ndcg_cut_10"}).evaluate(retrieved)
"""


def make(folder: Path, queries: int, docs: int) -> tuple[Path, Path]:
    """Write qrels and a run of `docs` docs for each query."""
    rng = np.random.default_rng(0)
    qrels, run = folder / "qrels", folder / "run"
    numbers = rng.choice(1_200_000, queries, replace=False)  # in no order of names, as in most runs
    with qrels.open("wb") as judged, run.open("wb") as retrieved:
        for some in np.array_split(numbers, -(-queries * docs // 1_000_000)):
            steps = rng.integers(1, COLLECTION // docs, (len(some), docs))
            drawn = rng.permuted(np.cumsum(steps, axis=1), axis=1)
            scores = -np.sort(-rng.normal(20, 3, drawn.shape).round(4), axis=1)
            ranks = np.broadcast_to(np.arange(1, docs + 1), drawn.shape)
            pl.DataFrame(
                {
                    "query": np.repeat(some, docs),
                    "q0": pl.repeat("Q0", drawn.size, eager=True),
                    "doc": drawn.ravel(),
                    "rank": ranks.ravel(),
                    "score": scores.ravel(),
                    "tag": pl.repeat("one-run", drawn.size, eager=True),
                }
            ).write_csv(retrieved, separator=" ", include_header=False)
            found = drawn[:, : 2 * JUDGED : 2]
            pl.DataFrame(
                {
                    "query": np.repeat(some, found.shape[1]),
                    "q0": pl.repeat("0", found.size, eager=True),
                    "doc": found.ravel(),
                    "grade": rng.integers(0, 3, found.size),
                }
            ).write_csv(judged, separator=" ", include_header=False)
    return qrels, run


def reversed_lists(run: Path) -> Path:
    """Write a second run: the docs of each list in reverse order."""
    second = run.with_name("second")
    rows = pl.read_csv(run, separator=" ", has_header=False)
    query, _, doc, _, _, tag = map(pl.col, rows.columns)
    rows.with_columns(doc.reverse().over(query), tag + "-reversed").write_csv(
        second, separator=" ", include_header=False
    )
    return second


def processes(qrels: str, run: str, second: str) -> dict[str, tuple[str, ...]]:
    """Command lines by what they measure; that of pytrec_eval comes last."""
    irmeta = (sys.executable, "-c", "from irmeta.cli import main; main()")
    return {
        "`irmeta evaluate QRELS RUN`": (*irmeta, "evaluate", qrels, run),
        "`irmeta evaluate QRELS RUN --depth 100`": (
            *irmeta, "evaluate", qrels, run, "--depth", "100",
        ),
        "`irmeta trec_eval QRELS RUN`": (*irmeta, "trec_eval", qrels, run),
        "`irmeta trec_eval -M 100 QRELS RUN`": (*irmeta, "trec_eval", "-M", "100", qrels, run),
        "`irmeta compare QRELS RUN SECOND -m AP`": (
            *irmeta, "compare", qrels, run, second, "-m", "AP",
        ),
        "pytrec_eval: its parsers, map and ndcg_cut_10": (
            sys.executable, "-c", PYTREC_EVAL, qrels, run,
        ),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=7000)
    parser.add_argument("--docs", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--make", type=Path, help="only write the files to this folder")
    chosen = parser.parse_args()
    if chosen.make is not None:
        _, run = make(chosen.make, chosen.queries, chosen.docs)
        reversed_lists(run)
        return
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        size = (f"--queries={chosen.queries}", f"--docs={chosen.docs}")
        # In another process, whose memory would count as that of the processes started from here.
        subprocess.run([sys.executable, __file__, "--make", folder, *size], check=True)
        run = Path(folder, "run")
        jobs = processes(*(str(Path(folder, name)) for name in ("qrels", "run", "second")))
        megabytes = run.stat().st_size / 1e6
        for command in [*jobs.values()][:-1]:
            spawn(*command)  # compiles kernels
        runs = {
            what: [spawn(*command) for _ in range(chosen.repeat)] for what, command in jobs.items()
        }
    lines = [
        f"{chosen.queries:,} queries x {chosen.docs:,} docs, {megabytes:,.0f} MB of text; "
        f"{machine()}; least of {chosen.repeat}.",
        "",
        "| process | wall s | CPU s | peak MB |",
        "|---|---|---|---|",
    ]
    for what, figures in runs.items():
        wall, cpu, memory = (min(f[name] for f in figures) for name in ("wall", "cpu", "memory"))
        lines.append(f"| {what} | {wall:.2f} | {cpu:.2f} | {memory:,.0f} |")
    text = "\n".join(lines)
    print(text)
    write("one run", text)


if __name__ == "__main__":
    main()
