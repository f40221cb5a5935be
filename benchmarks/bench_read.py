"""Measure the run reader and what comes after it, part by part, and write the table in README.md.

    python benchmarks/bench_read.py [--repeat 7]

The runs of trec-covid-r1 in the shared folder (IRMETA_SHARED), as plain text in memory, so that no
disk is measured. Beside the reader: the limits of anything that looks at every byte, and the usual
ways to read such text in Python.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytrec_eval
from bench_main_job import SHARED, write

from irmeta.store.reading import Names
from irmeta.trec.ordering import sort_lists
from irmeta.trec.rows import Rows, read_rows
from irmeta.trec.text import igzip


def seconds(function: Callable[[], object], repeat: int) -> float:
    """The median of several calls, after one that is not counted."""
    function()
    found = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def split(texts: Sequence[bytes]) -> None:
    """Plain Python, no number made of anything."""
    for text in texts:
        for line in text.split(b"\n"):
            line.split()


def pytrec_eval_parse(texts: Sequence[bytes]) -> None:
    for text in texts:
        pytrec_eval.parse_run(io.StringIO(text.decode()))


def interned(rows: Sequence[Rows]) -> None:
    names = Names()
    for one in rows:
        names.codes(one.doc)


def ordered(rows: Sequence[Rows]) -> None:
    names = Names()
    docs = [names.codes(one.doc) for one in rows]
    _, place = names.in_order()
    for one, doc in zip(rows, docs, strict=True):
        position = np.arange(len(doc), dtype=np.int32)
        lists = one.query.indices.to_numpy()
        sort_lists("trec_eval", lists, one.score, place[doc], position, one.rank)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=7)
    repeat = parser.parse_args().repeat
    folder = SHARED / "tracks" / "trec-covid-r1" / "runs"
    if not folder.is_dir():
        raise SystemExit(f"{folder} is not there: set IRMETA_SHARED.")
    packed = [path.read_bytes() for path in sorted(folder.glob("*.gz"))]
    texts = [gzip.decompress(raw) for raw in packed]
    rows = [found for text in texts if (found := read_rows(text, 6)) is not None]
    some = texts[::10]  # of the slow way
    size, total = sum(map(len, texts)), sum(len(one.score) for one in rows)

    def read_all(some: Sequence[bytes] = texts) -> None:
        for text in some:
            assert read_rows(text, 6) is not None

    def in_two() -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(read_all, (texts[::2], texts[1::2])))

    def unpacked() -> None:
        for raw in packed:
            read_rows(igzip.decompress(raw), 6)

    def newlines() -> None:
        for text in texts:
            np.count_nonzero(np.frombuffer(text, np.uint8) == 10)

    times = {
        "limit: counting newlines with numpy": (newlines, size),
        "limit: copying the bytes": (lambda: [bytearray(text) for text in texts], size),
        "run reader": (read_all, size),
        "run reader, two threads": (in_two, size),
        "gz to rows, one core": (unpacked, size),
        "plain Python: `split`": (lambda: split(texts), size),
        "pytrec_eval: `parse_run`": (lambda: pytrec_eval_parse(some), sum(map(len, some))),
    }
    found = {name: (of, seconds(function, repeat)) for name, (function, of) in times.items()}
    doc_ids = seconds(lambda: interned(rows), repeat)
    order = seconds(lambda: ordered(rows), repeat) - doc_ids
    ours = found["run reader"][1] / size
    lines = [
        f"{len(texts)} runs, {size / 1e6:,.0f} MB, {total:,} rows; {os.cpu_count()} cores, "
        f"{platform.machine()}; median of {repeat}.",
        "",
        "| what | MB/s | times the reader |",
        "|---|---|---|",
        *(
            f"| {name} | {of / wall / 1e6:,.0f} | {of / wall * ours:.2f} |"
            for name, (of, wall) in found.items()
        ),
        "",
        f"- Docs to numbers: {total / doc_ids / 1e6:.0f} M rows/s. Order of lists (sort of names "
        f"included): {1e9 * order / total:.0f} us for 1,000 docs.",
        f"- {len(texts) - len(rows)} files are left to the line reader.",
    ]
    text = "\n".join(lines)
    print(text)
    write("read", text)


if __name__ == "__main__":
    main()
