"""Peak memory of reading each form of runs and qrels, per row and per byte of text.

    python benchmarks/memory_forms.py

Each form is read by a process of its own, with short ids and with long ones. `COSTS` of
irmeta/trec/room.py are bounds of the two.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

ROWS = 300_000
FORMS = ("msmarco", "tabs", "csv", "tsv", "json", "lists", "rank_llm", "jsonl", "parquet")
OF_QRELS = ("qrels", "letor", "csv", "json", "rank_eval", "rre", "jsonl")
READ = """
import re, sys
from pathlib import Path
import pyarrow.csv, pyarrow.parquet
from irmeta.trec.readers.files import read_qrels
from irmeta.policies import ReadPolicy
from irmeta.store.read_run import Run, read_run
from irmeta.trec.runs import RowReader
from irmeta.trec.source import QrelsSource, TrackSource
from irmeta.trec.streams import InputFile

def peak():
    return int(re.findall(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[0])

folder, kind = Path(sys.argv[1]), sys.argv[2]
source = TrackSource("t", folder, ("f",), (QrelsSource(),), policy=ReadPolicy(), given={"f": "f"})
reader = RowReader()
(folder / "small").write_text("1 Q0 a 1 1.0 s\\n")
read_run(source, InputFile.at(folder / "small", "f"), reader)  # loads what reading needs
before, file = peak(), InputFile.at(folder / "f", "f")
found = read_run(source, file, reader) if kind == "run" else read_qrels(file)
assert kind == "qrels" or isinstance(found, Run), found
print(peak() - before)
"""


def text(form: str, frame: pl.DataFrame) -> str:
    """Return rows in a form."""
    rows = list(frame.iter_rows())
    if form == "qrels":
        return "".join(f"{q} 0 {d} {int(s)}\n" for q, d, s in rows)
    if form == "letor":
        return "".join(f"{int(s)} qid:{q} 1:0.5 # {d}\n" for q, d, s in rows)
    if form == "msmarco":
        return "".join(f"{q}\t{d}\t{i % 1000 + 1}\n" for i, (q, d, _) in enumerate(rows))
    if form == "tabs":
        return "".join(f"{q}\tQ0\t{d} b\t1\t{s}\tt\n" for q, d, s in rows)
    if form == "tsv":
        return frame.write_csv(separator="\t", quote_style="always")
    if form in ("csv", "jsonl"):
        return frame.write_csv() if form == "csv" else frame.write_ndjson()
    found: dict[str, dict[str, float]] = {}
    for query, doc, score in rows:
        found.setdefault(query, {})[doc] = int(score)
    if form == "rank_eval":
        ratings = {q: [{"_id": d, "rating": g} for d, g in of.items()] for q, of in found.items()}
        requests = [{"id": query, "ratings": rated} for query, rated in ratings.items()]
        return json.dumps({"requests": requests})
    if form == "rre":
        judged = [{"name": q, "relevant_documents": {"1": list(of)}} for q, of in found.items()]
        return json.dumps({"query_groups": judged})
    if form == "rank_llm":
        docs = {q: [{"docid": d, "score": s} for d, s in of.items()] for q, of in found.items()}
        return json.dumps([{"query": {"qid": q}, "candidates": of} for q, of in docs.items()])
    return json.dumps(found if form == "json" else {q: list(docs) for q, docs in found.items()})


def measure(form: str, kind: str, length: int) -> tuple[float, float]:
    """Return the bytes of text, and of memory, per row; docs have ids of some length."""
    docs = [f"{i % 1000}".rjust(length, "x") for i in range(ROWS)]
    frame = pl.DataFrame(
        {
            "query_id": [f"{i // 1000}" for i in range(ROWS)],
            "doc_id": docs,
            "score": [float(i % 3) for i in range(ROWS)],
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "f"
        if form == "parquet":
            frame.write_parquet(file)
        else:
            file.write_text(text(form, frame), encoding="utf-8")
        given = [sys.executable, "-c", READ, folder, kind]
        done = subprocess.run(given, capture_output=True, check=True, text=True)
        peak = int(re.findall(r"\d+", done.stdout)[-1]) * 1024
        return file.stat().st_size / ROWS, peak / ROWS


def main() -> None:
    """Print one line per form."""
    for kind, forms in (("run", FORMS), ("qrels", OF_QRELS)):
        for form in forms:
            (short, low), (long, high) = (measure(form, kind, length) for length in (3, 60))
            per_byte = (high - low) / (long - short) if form != "parquet" else (high - low) / 57
            print(
                f"{kind} {form}: {low:.0f} bytes per row of {short:.0f} bytes, {high:.0f} per row "
                f"of {long:.0f}: {per_byte:.1f} per further byte",
                flush=True,
            )


if __name__ == "__main__":
    main()
