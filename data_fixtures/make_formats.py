"""Write one made run, one qrels set and one table of values in every form that irmeta reads.

    python data_fixtures/make_formats.py [--out DIR]

The seed is fixed, so the files are always the same. In `selves`, queries are docs of the collection
and each is retrieved first for itself, as in BEIR's ArguAna. In `decimals`, grades are means of
five judges, some of whom give one grade less.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable
from pathlib import Path

import polars as pl

SEED, QUERIES, DOCS, DEPTH = 38, 6, 30, 10
OUT = Path(__file__).parent / "formats"
Rows = list[tuple[str, str, float]]


def draw() -> tuple[list[tuple[str, str, int]], Rows]:
    """Return judgments (query, doc, grade), and a run (query, doc, score), best first."""
    rng = random.Random(SEED)
    docs = [f"{1000 + 37 * i}" for i in range(DOCS)]
    qrels, run = [], []
    for query in (f"{701 + i}" for i in range(QUERIES)):
        judged = rng.sample(docs, 12)
        grades = {doc: rng.choice((0, 0, 1, 2)) for doc in judged}
        qrels += [(query, doc, grade) for doc, grade in grades.items()]
        scored = {d: round(rng.random() + grades.get(d, 0) / 3, 4) for d in docs}
        best = sorted(scored, key=lambda doc: (-scored[doc], doc))[:DEPTH]
        run += [(query, doc, scored[doc]) for doc in best]
    return qrels, run


def nested(rows: Iterable[tuple[str, str, float]]) -> dict[str, dict[str, float]]:
    """Return ``{query: {doc: value}}``."""
    found: dict[str, dict[str, float]] = {}
    for query, doc, value in rows:
        found.setdefault(query, {})[doc] = value
    return found


def lines(rows: Iterable[Iterable[object]], separator: str) -> str:
    """Return rows as lines."""
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def records(names: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    """Return rows as JSONL."""
    return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)


def value_files() -> dict[str, str]:
    """Return the values of two systems by two measures per query, as other tools write them."""
    rng, texts = random.Random(SEED), dict[str, str]()
    values = {
        system: {
            m: {f"{701 + i}": round(rng.random(), 4) for i in range(QUERIES)} for m in measures
        }
        for system in ("bm25", "dense")
        for measures in [("AP", "RR")]
    }
    rows = [
        (system, query, measure, value)
        for system, of_system in values.items()
        for measure, of_query in of_system.items()
        for query, value in of_query.items()
    ]
    for system, of_system in values.items():
        own = [row for row in rows if row[0] == system]
        means = {m: sum(of.values()) / len(of) for m, of in of_system.items()}
        names = {"AP": "map", "RR": "recip_rank"}
        texts[f"values/trec_eval/{system}.txt"] = "".join(
            f"{names[m]:<22}\t{query}\t{value:.4f}\n" for _, query, m, value in own
        ) + "".join(
            [f"{'runid':<22}\tall\t{system}\n"]
            + [f"{names[m]:<22}\tall\t{mean:.4f}\n" for m, mean in means.items()]
        )
        texts[f"values/ir_measures/{system}.tsv"] = lines(
            [*((q, m, v) for _, q, m, v in own), *(("all", *one) for one in means.items())], "\t"
        )
    texts["values/ranx.json"] = json.dumps(values)
    texts["values/long.csv"] = lines([("run", "qid", "metric", "score"), *rows], ",")
    wide = [
        (system, query, of["AP"][query], of["RR"][query])
        for system, of in values.items()
        for query in of["AP"]
    ]
    texts["values/measures.tsv"] = lines([("model", "query_id", "AP", "RR"), *wide], "\t")
    return texts


def write(out: Path) -> None:
    """Write all files."""
    qrels, run = draw()
    ranks = {(q, d): rank for q, docs in nested(run).items() for rank, d in enumerate(docs, 1)}
    ranked = [(q, d, ranks[q, d]) for q, d, _ in run]
    beir, frame = ("query-id", "corpus-id", "score"), ("query_id", "doc_id", "score")
    texts = {
        "qrels/trec.txt": lines(((q, 0, d, g) for q, d, g in qrels), " "),
        "qrels/beir.tsv": lines([beir, *qrels], "\t"),
        "qrels/hugging_face.jsonl": records(beir, qrels),
        "qrels/msmarco.tsv": lines(((q, 0, d, g) for q, d, g in qrels), "\t"),
        "qrels/three_columns.tsv": lines(qrels, "\t"),
        "qrels/ranx.json": json.dumps(nested(qrels)),
        "qrels/recommender.csv": lines([("user_id", "item_id", "rating"), *qrels], ","),
        "decimals/means.txt": lines(
            ((q, 0, d, round(g - int(d) % 5 / 5, 1) if g else 0) for q, d, g in qrels), " "
        ),
        "runs/trec.run": lines(((q, "Q0", d, ranks[q, d], s, "made") for q, d, s in run), " "),
        "runs/msmarco.tsv": lines(ranked, "\t"),
        "runs/msmarco_scores.tsv": lines(((q, d, ranks[q, d], s) for q, d, s in run), "\t"),
        "runs/scores.txt": lines(run, " "),
        "runs/beir.json": json.dumps(nested(run), indent=1),
        "runs/lists.json": json.dumps({q: list(docs) for q, docs in nested(run).items()}),
        "runs/records.jsonl": records(frame, run),
        "runs/named.csv": lines([("qid", "docno", "score"), *run], ","),
        "runs/ranks.csv": lines([("qid", "pid", "rank"), *ranked], ","),
        **value_files(),
        "selves/run.json": json.dumps(nested([*((q, q, 9.0) for q in nested(run)), *run])),
    }
    for name, text in texts.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, encoding="utf-8")
    for name, rows in (("qrels", qrels), ("runs", run)):
        pl.DataFrame(rows, schema=frame, orient="row").write_parquet(out / name / "named.parquet")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT)
    write(parser.parse_args().out)
