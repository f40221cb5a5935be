"""Measure reading and evaluation of data in memory, and write the table in README.md.

    python benchmarks/bench_in_memory.py [--repeat 5]

60 made runs x 50 queries x 1,000 docs, as text, as a polars frame, as a pandas frame and as
dicts of dicts. Reading stands beside reading the same from text, and evaluation of the dicts
beside pytrec_eval's. Calls alternate, and the least of each is reported: CPU time of all threads,
and elapsed time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytrec_eval
from bench_main_job import write
from machine import machine

import irmeta

SYSTEMS, QUERIES, DEPTH, DOCS, JUDGED = 60, 50, 1000, 60_000, 1000
MEASURES = ("map", "ndcg_cut_10")


def made(seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Runs and qrels as frames; rows of a list are best first."""
    rng = np.random.default_rng(seed)
    names = pl.Series([f"clueweb09-en{i % 10:04d}-{i % 97:02d}-{i:05d}" for i in range(DOCS)])
    lists = SYSTEMS * QUERIES
    docs = np.concatenate([rng.choice(DOCS, DEPTH, replace=False) for _ in range(lists)])
    scores = np.sort(rng.random((lists, DEPTH)).round(6), axis=1)[:, ::-1].ravel()
    query = np.tile(np.repeat(np.arange(QUERIES), DEPTH), SYSTEMS)
    runs = pl.DataFrame(
        {
            "system": pl.Series(np.repeat(np.arange(SYSTEMS), QUERIES * DEPTH)).cast(pl.String),
            "query_id": pl.Series(query + 301).cast(pl.String),
            "doc_id": names.gather(docs),
            "score": scores,
            "rank": np.tile(np.arange(DEPTH, dtype=np.int32), lists),
        }
    )
    judged = np.concatenate([rng.choice(DOCS, JUDGED, replace=False) for _ in range(QUERIES)])
    qrels = pl.DataFrame(
        {
            "query_id": pl.Series(np.repeat(np.arange(QUERIES), JUDGED) + 301).cast(pl.String),
            "doc_id": names.gather(judged),
            "relevance": rng.integers(0, 3, len(judged)),
        }
    )
    return runs, qrels


def write_text(runs: pl.DataFrame, qrels: pl.DataFrame, folder: Path) -> tuple[Path, list[Path]]:
    """Write qrels and runs as files in TREC form."""
    store = irmeta.from_data(qrels, runs, track="made")
    track = store.to_trec(folder / "made") / "made"
    return track / "qrels.qrels.txt", sorted((track / "runs").iterdir())


def by_query(frame: pl.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for query, doc, number in frame.select("query_id", "doc_id", value).iter_rows():
        found.setdefault(query, {})[doc] = number
    return found


def least(calls: dict[str, Callable[[], object]], repeat: int) -> dict[str, tuple[float, float]]:
    """The least CPU time and elapsed time of each call, after one that is not counted."""
    taken = {name: [(np.inf, np.inf)] for name in calls}
    for round_ in range(repeat + 1):
        for name, call in calls.items():
            cpu, elapsed = time.process_time(), time.perf_counter()
            call()
            both = time.process_time() - cpu, time.perf_counter() - elapsed
            if round_:
                taken[name].append(both)
    return {name: tuple(np.min(own, axis=0).tolist()) for name, own in taken.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    runs, qrels = made()
    dicts = {run["system"][0]: by_query(run, "score") for run in runs.partition_by("system")}
    judged, pandas = by_query(qrels, "relevance"), runs.to_pandas()

    def by_pytrec_eval() -> None:
        evaluator = pytrec_eval.RelevanceEvaluator(judged, set(MEASURES))
        for run in dicts.values():
            evaluator.evaluate(run)

    with tempfile.TemporaryDirectory() as folder:
        text = write_text(runs, qrels, Path(folder))
        reading = least(
            {
                "text, `read_files`": lambda: irmeta.read_files(*text),
                "a polars frame, `from_data`": lambda: irmeta.from_data(qrels, runs),
                "a pandas frame, `from_data`": lambda: irmeta.from_data(qrels, pandas),
                "dicts, `from_data`": lambda: irmeta.from_data(judged, dicts),
            },
            repeat,
        )
    evaluation = least(
        {
            "dicts, pytrec_eval": by_pytrec_eval,
            "dicts, `irmeta.evaluate`": lambda: irmeta.evaluate(judged, dicts, MEASURES),
        },
        repeat,
    )
    rows = [
        f"| {what} {name} | {cpu:.2f} | {elapsed:.2f} |"
        for what, found in (("read", reading), ("evaluate", evaluation))
        for name, (cpu, elapsed) in found.items()
    ]
    lines = [
        f"{SYSTEMS} runs x {QUERIES} queries x {DEPTH:,} docs, {len(runs):,} rows; "
        f"{', '.join(MEASURES)}; least of {repeat}; {machine()}.",
        "",
        "| | CPU s | elapsed s |",
        "|---|---|---|",
        *rows,
    ]
    print("\n".join(lines))
    write("in memory", "\n".join(lines))


if __name__ == "__main__":
    main()
