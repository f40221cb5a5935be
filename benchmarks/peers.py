"""AP and nDCG of every run of a track, from text to values, beside other programs; to README.md.

    python benchmarks/peers.py [--collection DIR] [--repeat 3]

Needs the `test` extra and by default trec-covid-r1 in the shared folder (IRMETA_SHARED); ranx and
trec_eval take part where they are installed, and the others are named. Every program reads the same
plain files in a process of its own: warm, after a tiny track, and as a whole process with its
start-up. polars and DuckDB compute AP and P@10 as a user of dataframes would. Before anything is
timed, the values per query are compared with irmeta's.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import math
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence, Set
from importlib.metadata import version
from pathlib import Path

import numpy as np
from bench_main_job import SHARED, median, write
from bench_main_job import spawn as whole_process
from machine import machine
from peer_programs import COUNTED, PROGRAMS, SORTS_BY_DOUBLE, Values, files

PROGRAM = Path(__file__).with_name("peer_programs.py")
SOME = 72
"""Runs of the second size of whole processes, as many as some papers compare."""
GOALS = {"warm": 9.0, "whole": 3.0}
"""How many times as fast as pytrec_eval irmeta should be on two cores, whole for `SOME` runs."""


def plain(source: Path, target: Path) -> None:
    """Write the track decompressed, single spaces between fields, and runs named by their tags."""

    def content(path: Path) -> bytes:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        return b"".join(b" ".join(line.split()) + b"\n" for line in raw.splitlines())

    (target / "runs").mkdir(parents=True)
    (target / "qrels.txt").write_bytes(content(next(source.glob("qrels*"))))
    for path in sorted((source / "runs").iterdir()):
        raw = content(path)
        (target / "runs" / raw.split(None, 6)[5].decode()).write_bytes(raw)


def part(collection: Path, target: Path, runs: int) -> Path:
    """Make a collection of the first runs of another, by links."""
    qrels, paths = files(collection)
    (target / "track" / "runs").mkdir(parents=True)
    (target / "track" / "qrels.txt").symlink_to(qrels)
    for path in paths[:runs]:
        (target / "track" / "runs" / path.name).symlink_to(path)
    return target


def installed() -> list[str]:
    """The programs that are installed; the others are reported on stderr."""
    found = []
    for program in PROGRAMS:
        is_found = shutil.which if program == "trec_eval" else importlib.util.find_spec
        if is_found(module(program)):
            found.append(program)
        else:
            print(f"{module(program)} is not installed: left out", file=sys.stderr)
    return found


def warm(program: str, collection: Path, cores: int, out: Path | None = None) -> dict[str, float]:
    """Run a program in a process that has read a tiny track before."""
    with tempfile.TemporaryDirectory() as work:
        command = [sys.executable, str(PROGRAM), program, str(collection), work, "--warm"]
        command += ["--cores", str(cores)]
        command += ["--values", str(out)] if out is not None else []
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def whole(program: str, collection: Path, cores: int) -> dict[str, float]:
    """Run a program as a whole process, with its start-up."""
    with tempfile.TemporaryDirectory() as work:
        command = [sys.executable, str(PROGRAM), program, str(collection), work]
        return whole_process(*command, "--cores", str(cores))


def tied_lists(collection: Path) -> set[tuple[str, str]]:
    """The lists, as (system, query), that have two docs of one score as float32."""
    found = set()
    for path in files(collection)[1]:
        seen: dict[str, set[np.float32]] = {}
        for line in path.read_text("utf-8").splitlines():
            query, _, _, _, printed, _ = line.split(None, 5)
            scores, score = seen.setdefault(query, set()), np.float32(printed)
            if score in scores:
                found.add((path.name, query))
            scores.add(score)
    return found


def furthest(ours: Values, theirs: Values, but: Set[tuple[str, str]]) -> float:
    """The greatest difference over the lists that both have, less some."""
    return max(
        abs(a - b)
        for system in theirs
        for query in theirs[system]
        if query in ours[system] and (system, query) not in but
        for a, b in zip(ours[system][query], theirs[system][query], strict=True)
    )


def reference(program: str) -> str:
    """The way of irmeta that a program is compared with."""
    return "irmeta, AP and P@10" if PROGRAMS[program].measures == COUNTED else "irmeta"


def differences(collection: Path, programs: Sequence[str]) -> dict[str, float]:
    """The largest difference of each program's values from irmeta's; exit if it is too large."""
    with tempfile.TemporaryDirectory() as folder:
        dumped = {one: Path(folder) / f"{i}.json" for i, one in enumerate(programs)}
        for one, file in dumped.items():  # compiles what compiles, too
            warm(one, collection, 1, file)
        values = {one: json.loads(file.read_text("utf-8")) for one, file in dumped.items()}
    tied = tied_lists(collection)
    found = {
        one: furthest(
            values[reference(one)], values[one], tied if module(one) in SORTS_BY_DOUBLE else set()
        )
        for one in programs
    }
    for one, off in found.items():
        if off > PROGRAMS[one].tolerance:
            raise SystemExit(f"{one} is off by {off}: nothing to compare.")
    return found


def warm_table(collection: Path, programs: Sequence[str], repeat: int) -> list[str]:
    """The table of warm processes, and how it stands to the goal."""
    off = differences(collection, programs)
    cells = [(one, cores) for one in programs for cores in range(1, PROGRAMS[one].cores + 1)]
    runs: dict[tuple[str, int], list[dict[str, float]]] = {}
    for _ in range(repeat):
        for one, cores in cells:
            runs.setdefault((one, cores), []).append(warm(one, collection, cores))
    found = {cell: median(times) for cell, times in runs.items()}
    size = sum(path.stat().st_size for path in files(collection)[1]) / 1e6
    lines = [
        "| program, warm | cores | wall s | MB/s | irmeta on as many | peak MB | values off by |",
        "|---|---|---|---|---|---|---|",
    ]
    for (one, cores), figures in found.items():
        ratio = figures["wall"] / found[reference(one), cores]["wall"]
        memory = "–" if math.isnan(figures["memory"]) else f"{figures['memory']:.0f}"
        lines.append(
            f"| {named(one)} | {cores} | {figures['wall']:.2f} | {size / figures['wall']:.0f} | "
            f"{ratio:.1f} times as fast | {memory} | {off[one]:.0e} |"
        )
    lines.append("")
    for one in programs:
        if PROGRAMS[one].cores == 1:
            ratio = found[one, 1]["wall"] / found["irmeta", 2]["wall"]
            goal = f" (goal: {GOALS['warm']:.0f})" if one == "pytrec_eval" else ""
            lines.append(
                f"- irmeta on two cores is {ratio:.1f} times as fast as {one} on the one that it "
                f"can use{goal}."
            )
    takes = {one: found[one, 1]["memory"] for one in programs if "," not in one}
    less = [f"{one} {own:.0f}" for one, own in takes.items() if own < takes["irmeta"]]
    if less:
        lines.append(f"- irmeta takes more memory: {takes['irmeta']:.0f} MB; {', '.join(less)}.")
    return lines


def whole_table(collection: Path, programs: Sequence[str], repeat: int) -> list[str]:
    """The table of whole processes of one, some and all runs, on all cores that each can use."""
    every = len(files(collection)[1])
    sizes = sorted({1, min(SOME, every), every})
    found: dict[tuple[str, int], dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            made = part(collection, Path(folder) / str(size), size)
            runs: dict[str, list[dict[str, float]]] = {one: [] for one in programs}
            for _ in range(repeat):
                for one in programs:
                    runs[one].append(whole(one, made, PROGRAMS[one].cores))
            found |= {(one, size): median(times) for one, times in runs.items()}
    lines = [
        "| program, whole process | cores | "
        + " | ".join(f"{size} run{'s' if size > 1 else ''}: wall s | CPU s | times irmeta's wall"
                     for size in sizes)
        + " | peak MB |",
        "|---|---|" + "---|---|---|" * len(sizes) + "---|",
    ]  # fmt: skip
    for one in programs:
        cells = []
        for size in sizes:
            figures, ours = found[one, size], found[reference(one), size]
            cells.append(
                f"{figures['wall']:.2f} | {figures['cpu']:.2f} | "
                f"{figures['wall'] / ours['wall']:.1f}"
            )
        memory = found[one, sizes[-1]]["memory"]
        cells.append("–" if one == "trec_eval" else f"{memory:.0f}")  # a process for each run
        lines.append(f"| {named(one)} | {PROGRAMS[one].cores} | {' | '.join(cells)} |")
    some = sizes[len(sizes) // 2]
    if "pytrec_eval" in programs:
        ratio = found["pytrec_eval", some]["wall"] / found["irmeta", some]["wall"]
        start = found["irmeta", 1]["wall"] / found["irmeta", some]["wall"]
        lines += [
            "",
            f"- Whole processes of {some} runs: irmeta is {ratio:.1f} times as fast as pytrec_eval "
            f"(goal: {GOALS['whole']:.0f}). With one run, which is mostly start-up, irmeta takes "
            f"{start:.0%} of that time.",
        ]
    return lines


def measure(collection: Path, repeat: int) -> str:
    """Both tables."""
    programs = installed()
    _, paths = files(collection)
    size = sum(path.stat().st_size for path in paths) / 1e6
    head = (
        f"{len(paths)} runs, {size:,.0f} MB of plain text; {machine()}, Python "
        f"{platform.python_version()}; median of {repeat}."
    )
    tables = [
        warm_table(collection, programs, repeat),
        whole_table(collection, programs, repeat),
    ]
    return "\n".join([head, *(line for table in tables for line in ("", *table))])


def module(program: str) -> str:
    """The module or command of a program."""
    return program.partition(",")[0]


def named(program: str) -> str:
    """The program with its version."""
    name = module(program)
    if name == "trec_eval":
        return name
    package = {"pytrec_eval": "pytrec_eval-terrier", "ir_measures": "ir-measures"}.get(name, name)
    return program.replace(name, f"{name} {version(package)}", 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collection", type=Path, help="a folder with one track")
    parser.add_argument("--repeat", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = chosen.collection or SHARED / "tracks" / "trec-covid-r1"
        if not source.is_dir():
            raise SystemExit(f"{source} is not there: name a track's folder with --collection.")
        plain(source, Path(folder) / "track")
        text = measure(Path(folder), chosen.repeat)
    print(text)
    if chosen.collection is None:
        write("peers", text)


if __name__ == "__main__":
    main()
