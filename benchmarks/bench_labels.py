"""Measure the memory of evaluating a search log with many labels, and write the table in README.md.

    python benchmarks/bench_labels.py [--queries 50000]

A run of 40 docs for each query, and labels of half of them, as product search has them: 2 million
rows and 1 million labels, as CSV and as JSON. The same nDCG@10 by hand in polars stands beside
irmeta. Each process is measured alone, with a fresh cache of files but compiled kernels.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from bench_main_job import spawn, write
from machine import machine

DOCS, LISTED, SECTION = 200_000, 40, "labels"
BY_HAND = """
import sys
import polars as pl
labels, run = map(pl.read_csv, sys.argv[1:])
gain = pl.col("relevance") / (pl.col("rank") + 1).log(2)
def first_ten(frame, by):
    rank = pl.col(by).rank("ordinal", descending=True).over("query_id")
    return frame.with_columns(rank=rank).filter(pl.col("rank") <= 10)
top = first_ten(run, "score").join(labels, on=["query_id", "doc_id"])
dcg = top.group_by("query_id").agg(dcg=gain.sum())
ideal = first_ten(labels, "relevance").group_by("query_id").agg(ideal=gain.sum())
both = ideal.join(dcg, on="query_id", how="left").filter(pl.col("ideal") > 0)
print(both.select((pl.col("dcg").fill_null(0) / pl.col("ideal")).mean()).item())
"""


def make(folder: Path, queries: int) -> None:
    """Write labels and a run as CSV and JSON."""
    rng = np.random.default_rng(0)
    names = pl.Series([f"sku-{number:08d}" for number in range(DOCS)])
    query = pl.Series([f"q{number:06d}" for number in range(queries)])
    steps = np.arange(LISTED) * 997
    docs = (rng.integers(0, DOCS, (queries, 1)) + steps) % DOCS
    run = pl.DataFrame(
        {
            "query_id": query.gather(np.repeat(np.arange(queries), LISTED)),
            "doc_id": names.gather(docs.ravel()),
            "score": -np.sort(-rng.random(docs.shape).round(6), axis=1).ravel(),
        }
    )
    labels = run.gather_every(2).select(
        "query_id", "doc_id", relevance=rng.integers(0, 4, run.height // 2)
    )
    for name, frame in {"labels": labels, "run": run}.items():
        frame.write_csv(folder / f"{name}.csv")
        found: dict[str, dict[str, float]] = {}
        for of_query, doc, value in frame.iter_rows():
            found.setdefault(of_query, {})[doc] = value
        (folder / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=50_000)
    parser.add_argument("--make", type=Path, help="only write the files to this folder")
    chosen = parser.parse_args()
    if chosen.make is not None:
        make(chosen.make, chosen.queries)
        return
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    irmeta = (sys.executable, "-c", "from irmeta.cli import main; main()", "evaluate")
    lines = [
        f"{chosen.queries * LISTED:,} rows and {chosen.queries * LISTED // 2:,} labels of "
        f"{chosen.queries:,} queries, nDCG@10; {machine()}.",
        "",
        "| process | peak MB |",
        "|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        # In another process, whose memory would count as that of the processes started from here.
        size = f"--queries={chosen.queries}"
        subprocess.run([sys.executable, __file__, "--make", folder, size], check=True)
        for form in ("csv", "json"):
            files = [str(Path(folder, f"{name}.{form}")) for name in ("labels", "run")]
            command = (*irmeta, *files, "-m", "nDCG@10")
            spawn(*command)  # compiles kernels
            peak = spawn(*command)["memory"]
            lines.append(f"| `irmeta evaluate labels.{form} run.{form}` | {peak:,.0f} |")
        files = [str(Path(folder, f"{name}.csv")) for name in ("labels", "run")]
        peak = spawn(sys.executable, "-c", BY_HAND, *files)["memory"]
        lines.append(f"| polars by hand, CSV | {peak:,.0f} |")
    text = "\n".join(lines)
    print(text)
    write(SECTION, text)


if __name__ == "__main__":
    main()
