"""Measure studies and reanalysis of an artificial archive at several scales, for README.md.

    python benchmarks/full_scale.py [--scale 0.01] [--work DIR] [--workers N] [--dask local:N]
    python benchmarks/full_scale.py --complete --scale 0.01 0.1 1

The first prints seconds, CPU seconds, cores in use and peak memory of each study, without figures.
Threads of one process share Python's lock, which bounds the cores in use; with `--dask local:N` the
studies run in N processes. `--complete` measures everything below.

The archive (archive.py) is made and read in pieces: some tracks' text, at most `--piece` GB of it
unless one track alone has more, is written, ingested into the one store, and deleted. The making is
not counted. Then `irmeta reanalyze` analyses the whole store, and once more with no track changed;
and into another folder without figures; and `irmeta study all` runs with and without figures, of
all tracks or of those of `--study-track`. Every figure is of one run, in a process of its own.
Scale 1 needs about 16 GB of disk.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from archive_plan import LINE, Track, plan
from bench_main_job import HERE, inside, spawn, write
from machine import machine

IRMETA = str(Path(sys.executable).with_name("irmeta"))
STUDIES = ("search-length", "depth", "preference", "innovation", "trust")
"""The studies of runs and judgments, as `irmeta study all` has them for an archive."""
CELLS = {"wall": ",.1f", "cpu": ",.1f", "cores": ".2f", "memory": ",.0f", "disk": ",.1f"}
COLLECTIONS = HERE.parent / "data_fixtures" / "collections"
Figures = dict[str, float]


def pieces(tracks: Sequence[Track], limit: float) -> list[list[Track]]:
    """The tracks in their order, in groups of about `limit` bytes of text at most."""
    groups: list[list[Track]] = []
    size = 0.0
    for track in tracks:
        size += track.rows * LINE
        if not groups or size > limit:
            groups.append([])
            size = track.rows * LINE
        groups[-1].append(track)
    return groups


def make(tracks: Sequence[Track], folder: Path, scale: float, seed: int) -> float:
    """Write a piece of the archive; its bytes. In a process of its own: a parent's memory would
    count as its children's."""
    command = [sys.executable, str(HERE / "archive.py"), str(folder)]
    command += ["--scale", str(scale), "--seed", str(seed)]
    for track in tracks:
        command += ["--track", track.name]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return float(done.stdout)


def size_of(folder: Path) -> float:
    return float(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()))


def ingest(scale: float, work: Path, store: Path, chosen: argparse.Namespace) -> Figures:
    """Make and read the archive in pieces: text bytes, wall and CPU seconds, greatest peak."""
    found = {"text": 0.0, "wall": 0.0, "cpu": 0.0, "memory": 0.0}
    for tracks in pieces(plan(scale), chosen.piece * 1e9):
        piece = work / "piece"
        found["text"] += make(tracks, piece, scale, chosen.seed)
        command = (IRMETA, "ingest", str(piece), "--out", str(store), "--strict")
        one = spawn(*command, *threads(chosen))
        shutil.rmtree(piece)
        found["wall"] += one["wall"]
        found["cpu"] += one["cpu"]
        found["memory"] = max(found["memory"], one["memory"])
    return found


def studies(scale_store: Path, work: Path, chosen: argparse.Namespace) -> Figures:
    """All figures of `irmeta study all`, with default options and without figures."""
    found = Figures()
    tracks = [part for track in chosen.study_track for part in ("--track", track)]
    for name, more in (("study", []), ("study tables", ["--no-figures"])):
        out = work / name.replace(" ", "-")
        command = (IRMETA, "study", "all", str(scale_store), "--out", str(out), *threads(chosen))
        with SessionMemory() as memory:
            one = spawn(*command, *more, *tracks, new_session=memory.watch)
        files = [file for file in out.rglob("*") if file.is_file()]
        found |= {f"{name} {what}": value for what, value in one.items()}
        found |= {
            f"{name} all memory": memory.peak,
            f"{name} files": float(len(files)),
            f"{name} results": size_of(out) / 1e6,
        }
        shutil.rmtree(out)
    return found


def by_study(scale: float, work: Path, chosen: argparse.Namespace) -> str:
    """Return the table of all studies at one scale, each alone and without figures."""
    store = work / "store"
    ingest(scale, work, store, chosen)
    tracks = [part for track in chosen.study_track for part in ("--track", track)]
    lines = [
        f"Scale {scale:g}; {machine()}, Python {platform.python_version()}; one run each.",
        "",
        "| study | wall s | CPU s | cores in use | peak MB | MB on disk |",
        "|---|---|---|---|---|---|",
    ]
    total = Figures(wall=0.0, cpu=0.0, memory=0.0, disk=0.0)
    for name in (*STUDIES, "all"):
        figures = total
        if name != "all":
            out = work / name
            command = (IRMETA, "study", name, str(store), "--out", str(out), "--no-figures")
            used = ["--dask", chosen.dask] if chosen.dask else threads(chosen)
            with SessionMemory() as memory:
                figures = spawn(*command, *used, *tracks, new_session=memory.watch)
            figures |= {"memory": memory.peak, "disk": size_of(out) / 1e6}
            peak = max(total["memory"], figures["memory"])
            total = {what: total[what] + figures[what] for what in total} | {"memory": peak}
        figures["cores"] = figures["cpu"] / figures["wall"]
        cells = (format(figures[what], form) for what, form in CELLS.items())
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


class SessionMemory:
    """Greatest memory of a process and all that it starts, in MB, looked up ten times a second.

    Memory that processes share is counted once (PSS). The process must lead a session.
    """

    def __init__(self) -> None:
        self.peak = 0.0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> SessionMemory:
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def watch(self, leader: int) -> None:
        """Follow the session of a process until the block ends."""
        self._thread = threading.Thread(target=self._look, args=(leader,))
        self._thread.start()

    def _look(self, leader: int) -> None:
        while not self._stop.wait(0.1):
            self.peak = max(self.peak, sum(map(_pss, _members(leader))))


def _members(leader: int) -> list[Path]:
    """The folders in /proc of a session's processes."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            session = (folder / "stat").read_text().rpartition(")")[2].split()[3]
        except OSError:  # the process has ended
            continue
        if int(session) == leader:
            found.append(folder)
    return found


def _pss(folder: Path) -> float:
    try:
        lines = (folder / "smaps_rollup").read_text().splitlines()
    except OSError:  # the process has ended
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def threads(chosen: argparse.Namespace) -> list[str]:
    return [] if chosen.workers is None else ["--workers", str(chosen.workers)]


def measure(scale: float, work: Path, chosen: argparse.Namespace) -> Figures:
    """All figures at one scale."""
    store, results = work / "store", work / "results"
    tracks = plan(scale)
    read = ingest(scale, work, store, chosen)
    command = (IRMETA, "reanalyze", str(store), "--out", str(results), *threads(chosen))
    whole = spawn(*command)
    written = size_of(results)
    joined = spawn(*command)
    tables = (IRMETA, "reanalyze", str(store), "--out", str(work / "tables"), "--no-figures")
    undrawn = spawn(*tables, *threads(chosen))
    studied = studies(store, work, chosen)
    facts = inside("store", str(store))
    if facts["systems"] != sum(track.runs for track in tracks):
        raise SystemExit(f"The store has {facts['systems']} runs, not all that were made.")
    rows = facts["rows"] / 1e6
    return {
        "tracks": len(tracks),
        "runs": facts["systems"],
        "queries": sum(track.queries for track in tracks),
        "rows": rows,
        "text": read["text"] / 1e6,
        **{f"ingest {name}": value for name, value in read.items()},
        "ingest rows/s": rows / read["wall"],
        "ingest MB/s": read["text"] / 1e6 / read["wall"],
        "store": size_of(store) / 1e6,
        "bytes a row": size_of(store) / facts["rows"],
        **{f"analysis {name}": value for name, value in whole.items()},
        "analysis rows/s": rows / whole["wall"],
        "results": written / 1e6,
        **{f"undrawn {name}": value for name, value in undrawn.items()},
        **{f"joined {name}": value for name, value in joined.items()},
        **studied,
    }


# What a row of the table shows, which figure, how it is printed, and the limit set at scale 1.
ROWS = (
    ("tracks", "tracks", ",.0f", ""),
    ("runs", "runs", ",.0f", ""),
    ("queries", "queries", ",.0f", ""),
    ("M rows", "rows", ",.2f", ""),
    ("text, MB", "text", ",.0f", ""),
    ("`irmeta ingest`, s", "ingest wall", ",.1f", "75"),
    ("ingest: CPU s", "ingest cpu", ",.1f", ""),
    ("ingest: M rows/s", "ingest rows/s", ",.2f", ""),
    ("ingest: MB/s of text", "ingest MB/s", ",.0f", ""),
    ("ingest: peak MB", "ingest memory", ",.0f", "2,000"),
    ("store, MB", "store", ",.1f", ""),
    ("store: bytes a row, docs and qrels included", "bytes a row", ",.2f", ""),
    ("`irmeta reanalyze` of the store, figures included, s", "analysis wall", ",.1f", ""),
    ("analysis: CPU s", "analysis cpu", ",.1f", ""),
    ("analysis: M rows/s", "analysis rows/s", ",.2f", ""),
    ("analysis: peak MB", "analysis memory", ",.0f", "2,000"),
    ("results, MB", "results", ",.1f", ""),
    ("`irmeta reanalyze --no-figures`, s", "undrawn wall", ",.1f", "15"),
    ("without figures: CPU s", "undrawn cpu", ",.1f", ""),
    ("without figures: peak MB", "undrawn memory", ",.0f", ""),
    ("`irmeta reanalyze` again, no track changed, s", "joined wall", ",.1f", ""),
    ("`irmeta study all`, figures included, s", "study wall", ",.1f", "480"),
    ("all studies: CPU s", "study cpu", ",.1f", ""),
    ("all studies: peak MB of the process", "study memory", ",.0f", ""),
    ("all studies: peak MB with the processes that draw", "study all memory", ",.0f", "2,000"),
    ("all studies: files", "study files", ",.0f", ""),
    ("all studies: MB on disk", "study results", ",.1f", "400"),
    ("`irmeta study all --no-figures`, s", "study tables wall", ",.1f", "300"),
    ("without figures: CPU s", "study tables cpu", ",.1f", ""),
    ("without figures: peak MB", "study tables all memory", ",.0f", "2,000"),
    ("without figures: files", "study tables files", ",.0f", ""),
    ("without figures: MB on disk", "study tables results", ",.1f", ""),
)


def table(found: dict[float, Figures]) -> str:
    """The scales side by side, how much each figure grows over the last step, and the limits."""
    scales = sorted(found)
    heads = ["what", *(f"scale {scale:g}" for scale in scales)]
    if len(scales) > 1:
        heads.append(f"times, {scales[-2]:g} to {scales[-1]:g}")
    heads.append("limit at scale 1")
    lines = [
        f"{machine()}, Python {platform.python_version()}; one run each.",
        "",
        f"| {' | '.join(heads)} |",
        "|---" * len(heads) + "|",
    ]
    for what, name, form, limit in ROWS:
        values = [found[scale][name] for scale in scales]
        cells = [what, *(format(v, form) for v in values)]
        if len(scales) > 1:
            cells.append(f"{values[-1] / values[-2]:.2f}")
        lines.append(f"| {' | '.join([*cells, limit])} |")
    return "\n".join(lines)


def warm(work: Path) -> None:
    """Compile the kernels, once a machine."""
    spawn(IRMETA, "reanalyze", str(COLLECTIONS), "--out", str(work / "warm"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, nargs="+", default=[0.01])
    parser.add_argument("--work", type=Path, help="where text, store and results lie meanwhile")
    parser.add_argument("--workers", type=int, help="of irmeta; default the usable cores")
    parser.add_argument("--dask", help="of irmeta's studies instead of threads, such as local:2")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--study-track", action="append", default=[], help="study all of these alone; repeatable"
    )
    parser.add_argument(
        "--complete", action="store_true", help="reanalysis and figures too, into README.md"
    )
    parser.add_argument("--piece", type=float, default=8.0, help="GB of text at a time")
    chosen = parser.parse_args()
    found = {}
    for scale in sorted(chosen.scale):
        if not chosen.complete:
            with tempfile.TemporaryDirectory(dir=chosen.work) as folder:
                print(by_study(scale, Path(folder), chosen), flush=True)
            continue
        with tempfile.TemporaryDirectory(dir=chosen.work) as folder:
            warm(Path(folder))
            found[scale] = measure(scale, Path(folder), chosen)
        print(table({scale: found[scale]}), flush=True)
    if not chosen.complete:
        return
    text = table(found)
    print(text)
    write("full-scale", text)


if __name__ == "__main__":
    main()
