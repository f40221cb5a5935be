"""Write values that ir_measures computes by ndeval and cwl_eval on the made tracks.

    pip install ir-measures==0.4.3 pyndeval==0.0.8 cwl-eval==1.0.12
    python data_fixtures/make_oracles.py [--out DIR]

The tests need none of these packages: they read `oracles/ir_measures.csv.gz`. Its rows are every
third system of web (measures by subtopic) and of passage (RBP, and models of users). Lists are
ranked here, by score as float32 and then by doc, both descending, since the packages break ties
differently.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import ir_measures
import numpy as np

HERE = Path(__file__).parent
CUTS = (5, 10, 20)
BY_SUBTOPIC = (
    *(f"{name}@{k}" for name in ("ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG") for k in CUTS),
    *(f"{name}@{k}" for name in ("P_IA", "StRecall") for k in CUTS),
    *("AP_IA", "NRBP", "nNRBP", "alpha_DCG(alpha=0.3)@10", "alpha_nDCG(alpha=0.3)@10"),
    *("NRBP(alpha=0.3,beta=0.8)", "nNRBP(alpha=0.3,beta=0.8)"),
)
RBP = tuple(f"RBP(p={p},rel={rel})" for p in (0.5, 0.8, 0.95) for rel in (1, 2))
USERS = (
    *("INST(max_rel=3)", "INST(T=2.5,min_rel=1,max_rel=3)", "INSQ(T=2.0,max_rel=3)"),
    *("SDCG(max_rel=3)@10", "SDCG(min_rel=1,max_rel=2)@5", "BPM(T=2.0,max_rel=3)@10"),
    *("NERR8(max_rel=3)@10", "NERR9(max_rel=3)@5", "NERR10(p=0.8,max_rel=3)"),
    *("NERR11(T=2.0,max_rel=3)",),
)
TRACKS = {"web": ("diversity.qrels.txt", BY_SUBTOPIC), "passage": ("qrels.txt", (*RBP, *USERS))}
CUT_OFF = "nuthFirst"
"""A run with a malformed line."""


def qrels_of(path: Path) -> list[ir_measures.Qrel]:
    """Read qrels with their second column, the subtopic."""
    lines = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return [ir_measures.Qrel(query, doc, int(grade), topic) for query, topic, doc, grade in lines]


def run_of(path: Path) -> list[ir_measures.ScoredDoc]:
    """Read a run; the scores count down from the first rank."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    lists: dict[str, list[tuple[np.float32, bytes]]] = defaultdict(list)
    for query, _, doc, _, score, _ in map(str.split, text.splitlines()):
        lists[query].append((np.float32(score), doc.encode()))
    return [
        ir_measures.ScoredDoc(query, doc.decode(), -float(rank))
        for query, docs in lists.items()
        for rank, (_, doc) in enumerate(sorted(docs, reverse=True))
    ]


def rows_of(track: str) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield (track, system, query, measure, value) of some systems."""
    file, names = TRACKS[track]
    folder = HERE / "collections" / track
    qrels = qrels_of(folder / file)
    runs = {path.name.partition(".")[0]: path for path in (folder / "runs").iterdir()}
    for system in sorted(runs.keys() - {CUT_OFF})[::3]:
        run = run_of(runs[system])
        # One by one: of several alpha, ir_measures 0.4.3 computes only the first.
        for name in names:
            found = ir_measures.parse_measure(name).iter_calc(qrels, run)
            for query, value in sorted((one.query_id, one.value) for one in found):
                yield track, system, query, name, f"{value:.12g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE / "oracles")
    out: Path = parser.parse_args().out
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("track", "system", "query", "measure", "value"))
    for track in TRACKS:
        table.writerows(rows_of(track))
    out.mkdir(exist_ok=True)
    (out / "ir_measures.csv.gz").write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


if __name__ == "__main__":
    main()
