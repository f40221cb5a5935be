"""Measure the run reader and what comes after it, part by part, and write the table in README.md.

    python benchmarks/bench_read.py [--repeat 7]

The runs of trec-covid-r1 in the shared folder (IRMETA_SHARED). The reader is measured on text in
memory, plain and gz, beside the limits of anything that looks at every byte and the usual ways to
read such text in Python; then the way from files to a store, stage by stage, on one thread.
"""

from __future__ import annotations

import argparse
import gzip
import io
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytrec_eval
from bench_main_job import SHARED, write
from machine import machine
from timing import seconds

from irmeta.kernels import tokenize
from irmeta.policies import ReadPolicy
from irmeta.store import assemble, ingest, long_table, parquet, read_run
from irmeta.store.layout import Layout
from irmeta.trec import streams
from irmeta.trec.runs import RowReader, parse_run
from irmeta.trec.streams import InputFile


def read_all(texts: Sequence[bytes]) -> None:
    reader = RowReader()
    for one in texts:
        assert reader.read(io.BytesIO(one)) is not None


def read_files(paths: Sequence[Path]) -> None:
    reader = RowReader()
    for path in paths:
        parse_run(InputFile.at(path, path.name), reader)


def read_packed(packed: Sequence[bytes]) -> None:
    reader = RowReader()
    for one in packed:
        assert reader.read(streams.decompressed(io.BufferedReader(io.BytesIO(one)))) is not None


def split(texts: Sequence[bytes]) -> None:
    """Plain Python, no number made of anything."""
    for one in texts:
        for line in one.split(b"\n"):
            line.split()


def pytrec_eval_parse(texts: Sequence[bytes]) -> None:
    for one in texts:
        pytrec_eval.parse_run(io.StringIO(one.decode()))


def newlines(texts: Sequence[bytes]) -> None:
    for one in texts:
        np.count_nonzero(np.frombuffer(one, np.uint8) == 10)


def in_two(texts: Sequence[bytes]) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(read_all, (texts[::2], texts[1::2])))


@contextmanager
def timed(room: Any, name: str, into: dict[str, float], stage: str) -> Generator[None]:
    """Add up how long a function takes while the block runs."""
    plain = getattr(room, name)

    def measured(*values: Any, **named: Any) -> Any:
        start = time.perf_counter()
        found = plain(*values, **named)
        into[stage] = into.get(stage, 0.0) + time.perf_counter() - start
        return found

    setattr(room, name, measured)
    yield
    setattr(room, name, plain)


STAGES = (
    (streams.HashedFile, "readinto", "files to memory, sha256 included"),
    (tokenize, "tokenize", "lines to numbers: tokens, ranks, scores, queries, docs"),
    (read_run.Sources, "rows", "lists gathered from the runs"),
    (assemble, "lists_in_order", "lists in order"),
    (long_table, "number", "doc ids and grades, from tables"),
    (long_table, "make_row_group", "row groups, these three included"),
    (parquet.PartWriter, "write", "row groups to Parquet"),
    (ingest, "ingest_track", "all"),
)


def stages(collection: Path, work: Path) -> dict[str, float]:
    """Seconds by stage of one ingest."""
    found: dict[str, float] = {}
    nested = [timed(room, name, found, stage) for room, name, stage in STAGES]
    for one in nested:
        one.__enter__()
    ingest.ingest_collection(collection, Layout(work), ReadPolicy(), workers=1)
    for one in reversed(nested):
        one.__exit__(None, None, None)
    return found


def reading(packed: Path, plain: Path, repeat: int) -> list[str]:
    """The table of the reader."""
    paths = sorted(plain.iterdir())
    texts = [path.read_bytes() for path in paths]
    gz = [path.read_bytes() for path in sorted(packed.iterdir())]
    size, some = sum(map(len, texts)), texts[::10]  # some for the slow way
    times: dict[str, tuple[Callable[[], object], int]] = {
        "limit: counting newlines with numpy": (lambda: newlines(texts), size),
        "limit: copying the bytes": (lambda: [bytearray(one) for one in texts], size),
        "run reader": (lambda: read_all(texts), size),
        "run reader, two threads": (lambda: in_two(texts), size),
        "run reader, out of gz": (lambda: read_packed(gz), size),
        "plain files to rows, sha256 included": (lambda: read_files(paths), size),
        "gz files to rows, sha256 included": (lambda: read_files(sorted(packed.iterdir())), size),
        "plain Python: `split`": (lambda: split(some), sum(map(len, some))),
        "pytrec_eval: `parse_run`": (lambda: pytrec_eval_parse(some), sum(map(len, some))),
    }
    speed = {name: of / seconds(function, repeat) for name, (function, of) in times.items()}
    return [
        "| what, one core | MB/s | times the reader |",
        "|---|---|---|",
        *(
            f"| {name} | {found / 1e6:,.0f} | {found / speed['run reader']:.2f} |"
            for name, found in speed.items()
        ),
    ]


def storing(collection: Path, work: Path, size: int, count: int, repeat: int) -> list[str]:
    """The table of the stages."""
    runs = []
    for _ in range(repeat + 1):  # the first compiles
        shutil.rmtree(work, ignore_errors=True)
        runs.append(stages(collection, work))
    runs = runs[1:]
    found = {stage: statistics.median(run[stage] for run in runs) for *_, stage in STAGES}
    return [
        "| text to store, one thread | s | MB/s of text | ns a row |",
        "|---|---|---|---|",
        *(
            f"| {stage} | {wall:.3f} | {size / wall / 1e6:,.0f} | {wall * 1e9 / count:.1f} |"
            for stage, wall in found.items()
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=7)
    repeat = parser.parse_args().repeat
    track = SHARED / "tracks" / "trec-covid-r1"
    if not track.is_dir():
        raise SystemExit(f"{track} is not there: set IRMETA_SHARED.")
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "in" / "track" / "runs"
        plain.mkdir(parents=True)
        shutil.copy(track / "qrels.txt", plain.parent)
        for path in (track / "runs").iterdir():
            (plain / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
        size = sum(path.stat().st_size for path in plain.iterdir())
        count = sum(path.read_bytes().count(b"\n") for path in plain.iterdir())
        lines = [
            f"{len(list(plain.iterdir()))} runs, {size / 1e6:,.0f} MB, {count:,} lines; "
            f"{machine()}; median of {repeat}.",
            "",
            *reading(track / "runs", plain, repeat),
            "",
            *storing(plain.parents[1], Path(folder) / "store", size, count, repeat),
        ]
    found = "\n".join(lines)
    print(found)
    write("read", found)


if __name__ == "__main__":
    main()
