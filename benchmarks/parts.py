"""What bench_main_job.py measures inside a process of its own; prints figures as JSON."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from pathlib import Path

from memory import peak
from timing import seconds

WARM = 7


def irmeta_scores(store: str) -> dict[str, float]:
    """Store to scores, and to what the kernels read of it, in one thread."""
    import irmeta
    from irmeta.store.layout import Layout
    from irmeta.store.scan import row_blocks

    opened = irmeta.open_store(store)
    (track,) = opened.tracks
    stored = Layout(Path(store)).track(track)
    queries = opened.qrels().collect()["query"].unique().sort().to_list()

    def read() -> None:
        for block in row_blocks(stored, queries, stored.record["systems"]):
            block.lists(["doc_id"])

    scores = seconds(lambda: opened.scores(["AP", "nDCG@10"], track=track, workers=1), WARM)
    memory = peak()
    every = seconds(lambda: opened.scores("trec_eval", track=track, workers=1), WARM)
    return {"scores": scores, "read": seconds(read, WARM), "memory": memory, "every": every}


def pytrec_eval_scores(collection: str) -> dict[str, float]:
    """pytrec_eval's own parsing and evaluation of every run of a track."""
    import pytrec_eval

    (track,) = (t for t in Path(collection).iterdir() if (t / "runs").is_dir())
    (qrels_file,) = track.glob("qrels*")
    with qrels_file.open(encoding="utf-8") as file:
        qrels = pytrec_eval.parse_qrel(file)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut_10"})
    for_all = pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_measures)
    parsing = evaluation = every = 0.0
    for path in sorted((track / "runs").iterdir()):
        start = time.perf_counter()
        with (
            gzip.open(path, "rt", encoding="utf-8")
            if path.suffix == ".gz"
            else path.open(encoding="utf-8") as file
        ):
            run = pytrec_eval.parse_run(file)
        parsed = time.perf_counter()
        evaluator.evaluate(run)
        evaluated = time.perf_counter()
        for_all.evaluate(run)
        parsing += parsed - start
        evaluation += evaluated - parsed
        every += time.perf_counter() - evaluated
    return {"parsing": parsing, "evaluation": evaluation, "every": every, "memory": peak()}


def imports() -> dict[str, float]:
    """Seconds that a fresh interpreter takes for the imports, beyond its own start."""

    def start(code: str) -> float:
        return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True), 5)

    bare = start("pass")
    return {"bare": start("import irmeta") - bare, "api": start("import irmeta.api") - bare}


def store_facts(store: str) -> dict[str, float]:
    """Rows, systems and bytes of the long table."""
    import irmeta

    info = irmeta.open_store(store).info()
    size = sum(file.stat().st_size for file in Path(store, "runs").rglob("*.parquet"))
    rows, systems = (float(info[name].to_numpy().sum()) for name in ("rows", "systems"))
    return {"rows": rows, "systems": systems, "bytes": size}


PARTS = {
    "irmeta": irmeta_scores,
    "pytrec_eval": pytrec_eval_scores,
    "import": imports,
    "store": store_facts,
}

if __name__ == "__main__":
    print(json.dumps(PARTS[sys.argv[1]](*sys.argv[2:])))
