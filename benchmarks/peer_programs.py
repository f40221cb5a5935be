"""Programs that bring the runs of a track from text to values per query; peers.py measures them.

    python benchmarks/peer_programs.py PROGRAM COLLECTION WORK --cores 1 [--warm] [--values FILE]

One program runs in this process, which imports what the program needs and no more.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import polars as pl

    import irmeta

Values = dict[str, dict[str, list[float]]]
"""Values by system and query, one for each measure of the program."""
RANKED, COUNTED = ("AP", "nDCG"), ("AP", "P@10")


def files(collection: Path) -> tuple[Path, list[Path]]:
    """The qrels and the runs of a collection of one track."""
    (track,) = (t for t in collection.iterdir() if (t / "runs").is_dir())
    return track / "qrels.txt", sorted((track / "runs").iterdir())


def irmeta_values(collection: Path, work: Path) -> Values:
    """Text to memory, as the others do."""
    import irmeta

    return _values(irmeta.read(collection), RANKED)


def counted_values(collection: Path, work: Path) -> Values:
    """The same with the measures of the dataframe programs."""
    import irmeta

    return _values(irmeta.read(collection), COUNTED)


def stored_values(collection: Path, work: Path) -> Values:
    """Text to a store on disk, the store to values."""
    import irmeta

    return _values(irmeta.ingest(collection, work / "store"), RANKED)


def _values(store: irmeta.Store, names: tuple[str, ...]) -> Values:
    (track,) = store.tracks
    scores = store.scores(names, track=track)
    values = scores.values.transpose(2, 1, 0).tolist()
    return {
        system: dict(zip(scores.queries, own, strict=True))
        for system, own in zip(scores.systems, values, strict=True)
    }


def pytrec_eval_values(collection: Path, work: Path) -> Values:
    import pytrec_eval

    qrels, runs = files(collection)
    with qrels.open(encoding="utf-8") as file:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), {"map", "ndcg"})
    found = {}
    for path in runs:
        with path.open(encoding="utf-8") as file:
            own = evaluator.evaluate(pytrec_eval.parse_run(file))
        found[path.name] = {q: [v["map"], v["ndcg"]] for q, v in own.items()}
    return found


def ir_measures_values(collection: Path, work: Path) -> Values:
    import ir_measures

    qrels, runs = files(collection)
    judged = list(ir_measures.read_trec_qrels(str(qrels)))
    evaluator = ir_measures.evaluator([ir_measures.AP, ir_measures.nDCG], judged)
    found: Values = {}
    for path in runs:
        own = found.setdefault(path.name, {})
        for metric in evaluator.iter_calc(ir_measures.read_trec_run(str(path))):
            pair = own.setdefault(metric.query_id, [0.0, 0.0])
            pair[RANKED.index(str(metric.measure))] = metric.value
    return found


def ranx_values(collection: Path, work: Path) -> Values:
    # in no extra: it takes part where it is installed
    from ranx import Qrels, Run, evaluate  # pyright: ignore[reportMissingImports]

    qrels, runs = files(collection)
    judged = Qrels.from_file(str(qrels), kind="trec")
    found: Values = {}
    for path in runs:
        run = Run.from_file(str(path), kind="trec")
        evaluate(judged, run, ["map", "ndcg"], make_comparable=True)
        own = run.scores
        found[path.name] = {q: [own["map"][q], own["ndcg"][q]] for q in own["map"]}
    return found


def trec_eval_values(collection: Path, work: Path) -> Values:
    qrels, runs = files(collection)
    found: Values = {}
    for path in runs:
        command = ["trec_eval", "-q", "-c", "-m", "map", "-m", "ndcg", str(qrels), str(path)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        own = found.setdefault(path.name, {})
        for line in said.splitlines():
            name, query, value = line.split()
            if query != "all":
                own.setdefault(query, [0.0, 0.0])[name == "ndcg"] = float(value)
    return found


def polars_values(collection: Path, work: Path) -> Values:
    """What a user of dataframes would write for AP and P@10."""
    import polars as pl

    def read(path: Path, **columns: Any) -> pl.LazyFrame:
        return pl.scan_csv(path, separator=" ", has_header=False, schema=columns, quote_char=None)

    text, whole, real = pl.String, pl.Int64, pl.Float64
    qrels, runs = files(collection)
    judged = read(qrels, query=text, _=text, doc=text, grade=whole).filter(pl.col("grade") > 0)
    relevant = judged.group_by("query").len("relevant")
    rows = pl.concat(
        read(path, query=text, _=text, doc=text, given=whole, score=real, tag=text).select(
            "query", "doc", "score", system=pl.lit(path.name)
        )
        for path in runs
    )
    number, lists = pl.int_range(1, pl.len() + 1), ("system", "query")
    hits = (
        rows.sort("score", "doc", descending=True)
        .with_columns(rank=number.over(lists))
        .join(judged.select("query", "doc"), on=["query", "doc"])
        .sort("rank")
        .with_columns(found=number.over(lists))
        .group_by(lists)
        .agg(
            total=(pl.col("found") / pl.col("rank")).sum(),
            high=(pl.col("rank") <= 10).sum() / 10,
        )
        .join(relevant, on="query")
    )
    found = rows.select(lists).unique().join(hits, on=lists, how="left").fill_null(0)
    values = found.select(*lists, pl.col("total") / pl.col("relevant").clip(1), "high").collect()
    return _by_system(values.rows())


SQL = """
WITH judged AS (
    SELECT query, doc FROM read_csv(
        $qrels, delim = ' ', header = false,
        columns = {'query': 'VARCHAR', 'iter': 'VARCHAR', 'doc': 'VARCHAR', 'grade': 'INT'}
    ) WHERE grade > 0
), rows AS (
    SELECT parse_filename(filename) AS system, query, doc, score FROM read_csv(
        $runs, delim = ' ', header = false, filename = true, quote = '',
        columns = {
            'query': 'VARCHAR', 'q0': 'VARCHAR', 'doc': 'VARCHAR', 'given': 'INT',
            'score': 'DOUBLE', 'tag': 'VARCHAR'
        }
    )
), ranked AS (
    SELECT *, row_number() OVER (
        PARTITION BY system, query ORDER BY score DESC, doc DESC
    ) AS rank FROM rows
), hits AS (
    SELECT system, query, rank, row_number() OVER (
        PARTITION BY system, query ORDER BY rank
    ) AS found FROM ranked JOIN judged USING (query, doc)
), sums AS (
    SELECT system, query, sum(found / rank) AS total, count_if(rank <= 10) / 10 AS high
    FROM hits GROUP BY system, query
), relevant AS (SELECT query, count(*) AS relevant FROM judged GROUP BY query)
SELECT system, query, coalesce(total / relevant, 0), coalesce(high, 0)
FROM (SELECT DISTINCT system, query FROM rows)
LEFT JOIN sums USING (system, query) LEFT JOIN relevant USING (query)
"""


def duckdb_values(collection: Path, work: Path) -> Values:
    """The same in SQL."""
    import duckdb

    qrels, runs = files(collection)
    connection = duckdb.connect(config={"threads": len(os.sched_getaffinity(0))})
    paths = {"qrels": str(qrels), "runs": [str(path) for path in runs]}
    return _by_system(connection.execute(SQL, paths).fetchall())


def _by_system(rows: list[tuple[Any, ...]]) -> Values:
    found: Values = {}
    for system, query, *values in rows:
        found.setdefault(system, {})[query] = values
    return found


class Program(NamedTuple):
    """A program: its values, measures, usable cores, and the largest difference from irmeta's."""

    values: Callable[[Path, Path], Values]
    measures: tuple[str, ...] = RANKED
    cores: int = 1
    tolerance: float = 1e-9


PROGRAMS = {
    "irmeta": Program(irmeta_values, cores=2, tolerance=0.0),
    "irmeta, store written": Program(stored_values, cores=2, tolerance=0.0),
    "pytrec_eval": Program(pytrec_eval_values),
    "ir_measures": Program(ir_measures_values),
    "ranx": Program(ranx_values, cores=2),
    "trec_eval": Program(trec_eval_values, tolerance=5e-5),  # four printed digits
    "irmeta, AP and P@10": Program(counted_values, COUNTED, cores=2, tolerance=0.0),
    "polars, AP and P@10": Program(polars_values, COUNTED, cores=2),
    "duckdb, AP and P@10": Program(duckdb_values, COUNTED, cores=2),
}
SORTS_BY_DOUBLE = ("ranx", "polars", "duckdb")
"""Programs whose lists are compared only where no scores tie as float32, as trec_eval has them."""


def tiny(collection: Path, target: Path) -> Path:
    """A collection of the first lines of one run, to load what a program loads at its first use."""
    qrels, runs = files(collection)
    (target / "track" / "runs").mkdir(parents=True)
    shutil.copyfile(qrels, target / "track" / "qrels.txt")
    with runs[0].open("rb") as file:
        (target / "track" / "runs" / runs[0].name).write_bytes(b"".join(islice(file, 50)))
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("collection", type=Path)
    parser.add_argument("work", type=Path, help="an empty folder")
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--warm", action="store_true", help="read a tiny track before")
    parser.add_argument("--values", type=Path, help="write the values to this file")
    chosen = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: chosen.cores])
    values_of = PROGRAMS[chosen.program].values
    if chosen.warm:
        values_of(tiny(chosen.collection, chosen.work / "tiny"), chosen.work / "first")
    start = time.perf_counter()
    values = values_of(chosen.collection, chosen.work)
    wall = time.perf_counter() - start
    if chosen.values is not None:
        chosen.values.write_text(json.dumps(values), encoding="utf-8")
    if chosen.warm:
        from memory import peak

        # trec_eval is a process for each run, which Linux counts the peak of this one for
        memory = float("nan") if chosen.program == "trec_eval" else peak()
        print(json.dumps({"wall": wall, "memory": memory}))


if __name__ == "__main__":
    main()
