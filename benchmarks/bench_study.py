"""Measure the study of search length on the six real tracks; table and the README's pictures.

    python benchmarks/bench_study.py [--repeat 3]

Needs the six tracks in the shared folder (IRMETA_SHARED). Each run is a process of its own that
begins with an empty results folder; its store is there. Beside it the limit that was set. The two
pictures of the project's README are drawn from the results.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import polars as pl
from bench_main_job import HERE, SHARED, inside, median, spawn, write
from machine import machine

import irmeta
from irmeta.report.look import to_print

WALL, MEMORY = 20, 1000  # seconds and MB: the limits
PICTURES = {
    "clef-ehealth-2015/figure_6": "study-length-differences",
    "averaged_by_ap": "study-effective-fraction",
}


def linked(folder: Path) -> Path:
    """The six tracks as one collection, read in place."""
    tracks = SHARED / "tracks"
    if not tracks.is_dir():
        raise SystemExit(f"{tracks} is not there: set IRMETA_SHARED.")
    for track in tracks.iterdir():
        (folder / track.name).symlink_to(track.resolve())
    shutil.copy(HERE.parent / "tests" / "tracks.toml", folder / "collection.toml")
    return folder


def draw(results: Path) -> None:
    """The README's two pictures, as they are printed but with fewer pixels."""
    figures = irmeta.studies.open(results).figures
    for name, picture in PICTURES.items():
        _, png = to_print(figures[name], ppi=150)
        (HERE.parent / "notebooks" / f"{picture}.png").write_bytes(png)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    irmeta = str(Path(sys.executable).with_name("irmeta"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "collection").mkdir()
        store = str(folder / "store")
        spawn(irmeta, "ingest", str(linked(folder / "collection")), "--store", store)
        study = (irmeta, "study", "search-length", store, "--out")
        spawn(*study, str(folder / "warm"))  # compiles the kernels, once a machine
        runs = [spawn(*study, str(folder / f"turn-{turn}")) for turn in range(repeat)]
        again = [spawn(*study, str(folder / "warm")) for _ in range(repeat)]
        whole, unchanged, rows = median(runs), median(again), inside("store", store)
        tracks = pl.read_parquet(folder / "warm" / "studied_tracks.parquet")
        draw(folder / "warm")
        drawn = len(list((folder / "warm" / "figures").rglob("*.svg")))
    lines = [
        f"{tracks.height} tracks, {tracks['systems'].sum()} systems, {rows['rows']:,.0f} rows; "
        f"{machine()}; median of {repeat}.",
        "",
        "| what | wall s | CPU s | peak MB |",
        "|---|---|---|---|",
        f"| `irmeta study search-length`: tables, {drawn} figures in three formats, page | "
        f"{whole['wall']:.1f} | {whole['cpu']:.1f} | {whole['memory']:.0f} |",
        f"| the same again, no track changed | {unchanged['wall']:.1f} | {unchanged['cpu']:.1f} | "
        f"{unchanged['memory']:.0f} |",
        f"| the limit set | {WALL} | | {MEMORY} |",
    ]
    text = "\n".join(lines)
    print(text)
    write("study", text)


if __name__ == "__main__":
    main()
