"""Measure the main job on a real track, beside pytrec_eval, and write the table in README.md.

    python benchmarks/bench_main_job.py [--collection DIR] [--repeat 5]

Needs the `test` extra, and by default trec-covid-r1 in the shared folder (IRMETA_SHARED). Every
figure is the median of `--repeat` runs in processes of their own, irmeta and its peer in turn.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from machine import machine

HERE = Path(__file__).parent
SHARED = Path(os.environ.get("IRMETA_SHARED", HERE.parent.parent / "shared"))
MEASURES = "AP,nDCG@10"


def spawn(*command: str, new_session: Callable[[int], None] | None = None) -> dict[str, float]:
    """Run a command to its end: wall seconds, CPU seconds, peak memory in MB.

    With `new_session`, which is called with its id, the process leads a session of its own.
    The peak is that of this process too, where it is greater (see memory.py): keep this one small.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=new_session is not None,
    )
    if new_session is not None:
        new_session(process.pid)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    return {
        "wall": wall,
        "cpu": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss / 1024,
    }


def inside(part: str, *arguments: str) -> dict[str, float]:
    """Run one of the parts below in a process of its own; it prints its figures as JSON."""
    command = [sys.executable, str(HERE / "parts.py"), part, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def median(runs: list[dict[str, float]]) -> dict[str, float]:
    """The median of each figure over runs."""
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def measure(collection: Path, repeat: int) -> dict[str, dict[str, float]]:
    """All figures, by what was measured."""
    irmeta = str(Path(sys.executable).with_name("irmeta"))
    found: dict[str, list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        spawn(irmeta, "ingest", str(collection), "--out", str(store))
        spawn(irmeta, "evaluate", str(store))  # compiles the kernels, once a machine
        for turn in range(repeat):
            fresh = Path(folder) / f"turn-{turn}"
            jobs = {
                "ingest": (irmeta, "ingest", str(collection), "--out", str(fresh / "store")),
                "evaluate": (irmeta, "evaluate", str(store), "-m", MEASURES),
                "reanalyze": (irmeta, "reanalyze", str(collection), "--out", str(fresh / "out")),
            }
            for name, command in jobs.items():
                found.setdefault(name, []).append(spawn(*command))
            found.setdefault("irmeta", []).append(inside("irmeta", str(store)))
            found.setdefault("pytrec_eval", []).append(inside("pytrec_eval", str(collection)))
            found.setdefault("import", []).append(inside("import"))
        found["store"] = [inside("store", str(store))]
    return {name: median(runs) for name, runs in found.items()}


def table(figures: dict[str, dict[str, float]], repeat: int) -> str:
    """The measured table as Markdown."""
    store, ours, peer = figures["store"], figures["irmeta"], figures["pytrec_eval"]
    rows, memory = store["rows"], ours["memory"]

    def line(what: str, wall: float, memory: float) -> str:
        return f"| {what} | {wall:.2f} | {rows / wall / 1e6:.2f} | {memory:.0f} |"

    def job(what: str, name: str) -> str:
        return line(what, figures[name]["wall"], figures[name]["memory"])

    ratio = peer["evaluation"] / ours["scores"]
    whole = (peer["parsing"] + peer["evaluation"]) / figures["ingest"]["wall"]
    lines = [
        f"{store['systems']:.0f} runs, {rows:,.0f} rows; {machine()}, "
        f"Python {platform.python_version()}, numba {version('numba')}, "
        f"polars {version('polars')}, pyarrow {version('pyarrow')}; median of {repeat}.",
        "",
        "| what | wall s | M rows/s | peak MB |",
        "|---|---|---|---|",
        job("`irmeta ingest`: text to store, sha256 included", "ingest"),
        job(f"`irmeta evaluate -m {MEASURES}`: the whole process", "evaluate"),
        job("`irmeta reanalyze`: text to tables and report", "reanalyze"),
        line(
            f"store to {MEASURES} arrays, in process, one thread, kernels compiled",
            ours["scores"],
            memory,
        ),
        line("store to all of trec_eval's measures, likewise", ours["every"], memory),
        line(
            "store to what the kernels read (query, system and doc of each row), likewise",
            ours["read"],
            memory,
        ),
        line("pytrec_eval: its `parse_run` over all files", peer["parsing"], peer["memory"]),
        line(f"pytrec_eval: {MEASURES} of all runs", peer["evaluation"], peer["memory"]),
        line("pytrec_eval: all its measures of all runs", peer["every"], peer["memory"]),
        "",
        f"- From parsed runs to scores, pytrec_eval takes {ratio:.1f} times as long as irmeta "
        f"takes from the store on disk; for all, {peer['every'] / ours['every']:.1f} times.",
        f"- pytrec_eval's parsing and evaluation takes {whole:.1f} times as long as our ingest.",
        f"- The long table takes {store['bytes'] / rows:.2f} bytes a row, doc strings included.",
        f"- `import irmeta` takes {figures['import']['bare']:.3f} s; `irmeta.api`, with all that a "
        f"store needs, {figures['import']['api']:.2f} s.",
    ]
    return "\n".join(lines)


def write(section: str, text: str) -> None:
    """Replace what stands between a section's marks in README.md."""
    path = HERE / "README.md"
    before, rest = path.read_text(encoding="utf-8").split(f"<!-- {section} -->\n", 1)
    _, after = rest.split(f"<!-- end {section} -->", 1)
    body = f"{before}<!-- {section} -->\n{text}\n<!-- end {section} -->{after}"
    path.write_text(body, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collection", type=Path, help="default: trec-covid-r1")
    parser.add_argument("--repeat", type=int, default=5)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        collection = chosen.collection
        if collection is None:
            track = SHARED / "tracks" / "trec-covid-r1"
            if not track.is_dir():
                raise SystemExit(f"{track} is not there: name a collection with --collection.")
            collection = Path(folder)
            (collection / track.name).symlink_to(track.resolve())
        text = table(measure(collection, chosen.repeat), chosen.repeat)
    print(text)
    if chosen.collection is None:
        write("main job", text)


if __name__ == "__main__":
    main()
