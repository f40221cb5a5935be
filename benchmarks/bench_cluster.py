"""Measure reanalyze in two threads and in two processes of Dask, and write the table in README.md.

    python benchmarks/bench_cluster.py [--repeat 3]

Needs the `dask` extra. The collection is the made one, alone and four times under other names; its
kernels are compiled.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from bench_main_job import spawn, write
from machine import machine

MADE = Path(__file__).parents[1] / "data_fixtures" / "collections"
TRACKS = ("news", "passage")
COPIES = 4
JOBS = {"2 threads": ("--workers", "2"), "`--dask local:2`": ("--dask", "local:2")}


def copied(folder: Path) -> Path:
    """Return a collection with copies of the tracks that need no collection.toml."""
    for track in TRACKS:
        for copy in range(COPIES):
            shutil.copytree(MADE / track, folder / f"{track}-{copy}")
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    irmeta = (sys.executable, "-c", "from irmeta.cli import main; main()", "reanalyze")
    lines = [
        f"{machine()}; least of {repeat}.",
        "",
        "| tracks | job | wall s | CPU s |",
        "|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = {3: MADE, COPIES * len(TRACKS): copied(folder / "copies")}
        spawn(*irmeta, str(MADE), "--out", str(folder / "compiled"))
        for tracks, source in sources.items():
            for job, options in JOBS.items():
                runs: list[dict[str, float]] = []
                for _ in range(repeat):
                    shutil.rmtree(folder / "out", ignore_errors=True)
                    runs.append(spawn(*irmeta, str(source), "--out", str(folder / "out"), *options))
                wall, cpu = (min(run[figure] for run in runs) for figure in ("wall", "cpu"))
                lines.append(f"| {tracks} | {job} | {wall:.1f} | {cpu:.1f} |")
    text = "\n".join(lines)
    print(text)
    write("cluster", text)


if __name__ == "__main__":
    main()
