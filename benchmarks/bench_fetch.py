"""Measure fetch from a server on the loopback, and write the table in README.md.

    python benchmarks/bench_fetch.py [--repeat 5]

500 runs of 400 KB each come from a process with Python's ThreadingHTTPServer. The limits are those
of the server: curl with 4 connections, and one httpx client with 4 threads, which keep nothing.
Times of fetch include the check of every file (decompression, SHA-256), the lock file and
collection.toml.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import polars as pl
from bench_main_job import write
from machine import machine

from irmeta.archive.catalog import QrelsChoice
from irmeta.archive.fetch import fetch_plan
from irmeta.archive.fetch_options import FetchOptions
from irmeta.archive.fetch_plan import Plan, Wanted, WantedSet, WantedTrack

FILES, BYTES = 500, 400_000
SERVER = """
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
class Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=sys.argv[1]))
print(server.server_port, flush=True)
server.serve_forever()
"""


def make(folder: Path) -> Plan:
    """Write files of one size, and return the plan to fetch them."""
    rng = np.random.default_rng(0)
    lines = b"".join(b"1 Q0 doc-%08d %d %d made\n" % (i, i, -i) for i in range(BYTES // 20))
    names = [f"run{i}" for i in range(FILES)]
    for name in names:
        offset = int(rng.integers(0, 1000))
        (folder / name).write_bytes(lines[offset : offset + BYTES])
    (folder / "qrels").write_text("1 0 doc-00000001 1\n")
    runs = [Wanted("a/b", "t", "run", n, f"t/runs/{n}", f"http://h/{n}") for n in names]
    qrels = Wanted("a/b", "t", "qrels", "qrels", "t/qrels.txt", "http://h/qrels")
    sets = (WantedSet(QrelsChoice("qrels", (qrels.address,)), qrels.path, (qrels,)),)
    systems = pl.DataFrame({"system": names, "group": "g", "type": "made"})
    track = WantedTrack("a/b", "t", tuple(runs), sets, systems, "(.+)")
    return Plan((track,), pl.DataFrame())


def with_curl(address: str, names: list[str]) -> None:
    urls = [part for name in names for part in ("-o", "/dev/null", f"{address}/{name}")]
    command = [
        "curl",
        "--silent",
        "--no-progress-meter",
        "--fail",
        "--parallel",
        "--parallel-max",
        "4",
    ]
    subprocess.run([*command, *urls], check=True)


def with_httpx(address: str, names: list[str]) -> None:
    with httpx.Client() as client, ThreadPoolExecutor(4) as threads:

        def get(name: str) -> int:
            with client.stream("GET", f"{address}/{name}") as response:
                return sum(map(len, response.iter_raw()))

        assert sum(threads.map(get, names)) > 0


def seconds(function: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock, and of processors; the server's are not counted."""
    start, before = time.perf_counter(), os.times()
    function()
    spent = sum(after - earlier for after, earlier in zip(os.times()[:4], before[:4], strict=True))
    return time.perf_counter() - start, spent


def measure(folder: Path, planned: Plan, address: str) -> dict[str, tuple[float, float]]:
    names = [run.name for run in planned.tracks[0].runs]
    to, options = folder / "to", FetchOptions(mirror=address)

    def fetch() -> None:
        report = fetch_plan(planned, to, options)
        assert report.is_complete

    found = {"httpx, 4 threads, content dropped": seconds(lambda: with_httpx(address, names))}
    if shutil.which("curl"):
        found["curl --parallel-max 4, content dropped"] = seconds(lambda: with_curl(address, names))
    found["`irmeta.fetch`"] = seconds(fetch)
    found["`irmeta.fetch` again: all up to date"] = seconds(fetch)
    shutil.rmtree(to)
    options = FetchOptions(mirror=str(folder))
    found["`irmeta.fetch(mirror=FOLDER)`: links"] = seconds(fetch)
    shutil.rmtree(to)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "h" / "t").mkdir(parents=True)
        planned = make(folder / "h")
        command = [sys.executable, "-c", SERVER, str(folder / "h")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            address = f"http://127.0.0.1:{server.stdout.readline().strip()}"
            runs = [measure(folder, planned, address) for _ in range(repeat)]
            server.terminate()
    size = FILES * BYTES / 1e6
    lines = [
        f"{FILES} files, {size:.0f} MB; {machine()}; least of {repeat}.",
        "",
        "| what | wall s | CPU s | MB/s | files/s |",
        "|---|---|---|---|---|",
    ]
    for what in runs[0]:
        wall, cpu = (min(run[what][i] for run in runs) for i in (0, 1))
        rates = f"{size / wall:.0f} | {FILES / wall:.0f}"
        lines.append(f"| {what} | {wall:.2f} | {cpu:.2f} | {rates} |")
    text = "\n".join(lines)
    print(text)
    write("fetch", text)


if __name__ == "__main__":
    main()
