"""Measure the study of judges on a track with 14 judges, and write the table in README.md.

    python benchmarks/bench_judges.py [--repeat 3]

Needs the track trec-dl-2021-passage and its judges in the shared folder (IRMETA_SHARED). All
options are the defaults: six measures, four tests, 1,000 draws. Each run is a process of its own
that begins with an empty results folder; its store is there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench_main_job import SHARED, inside, median, spawn, write
from machine import machine

TRACK = "trec-dl-2021-passage"
LIMIT, MEMORY = 60, 1000  # seconds and MB


def collection(source: Path, folder: Path) -> Path:
    """The track with the labels of NIST, read in place."""
    track = folder / "collection" / TRACK
    track.mkdir(parents=True)
    for name in ("runs", "qrels.txt"):
        (track / name).symlink_to((source / name).resolve())
    return track.parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    source = SHARED / "judges" / TRACK
    if not source.is_dir():
        raise SystemExit(f"{source} is not there: set IRMETA_SHARED.")
    judges = sorted((source / "judges").iterdir())
    command = str(Path(sys.executable).with_name("irmeta"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = str(folder / "store")
        spawn(command, "ingest", str(collection(source, folder)), "--out", store)
        rows = inside("store", store)
        named = [part for file in judges for part in ("--judge", f"{file.stem}={file}")]
        study = (command, "study", "judges", store, *named, "--out")
        spawn(*study, str(folder / "warm"))  # compiles the kernels, once a machine
        runs = median([spawn(*study, str(folder / str(i))) for i in range(repeat)])
        again = median([spawn(*study, str(folder / "warm")) for _ in range(repeat)])
        drawn = len(list((folder / "warm" / "figures").rglob("*.svg")))
    lines = [
        f"{len(judges)} judges, {rows['rows']:,.0f} rows; {machine()}; median of {repeat}.",
        "",
        "| what | wall s | CPU s | peak MB |",
        "|---|---|---|---|",
        *(
            f"| {what} | {found['wall']:.1f} | {found['cpu']:.1f} | {found['memory']:.0f} |"
            for what, found in (
                (f"`irmeta study judges`: tables, {drawn} figures, page", runs),
                ("the same again, no track changed", again),
            )
        ),
        f"| the limit set | {LIMIT} | | {MEMORY} |",
    ]
    text = "\n".join(lines)
    print(text)
    write("judges", text)


if __name__ == "__main__":
    main()
