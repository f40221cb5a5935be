"""Run all benchmarks in one session, and write every table of README.md anew.

    python benchmarks/all.py [--only PART]... [--from PART] [--smallest] [--busy]

A part is a script beside this one that writes its tables, such as bench_start. Parts run one after
another; a part that fails leaves its tables as they were, and the others run. On a machine that
does other work the command refuses to start, unless --busy is given. The table of the session says
when each part was measured, how long it took, and how many cores did other work meanwhile.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import NamedTuple

from bench_main_job import HERE, write
from machine import busy_seconds, machine, versions

README = HERE / "README.md"
SECTION = "session"
MOST_OTHER = 0.2
"""Largest number of cores with other work at which figures compare with those of other sessions."""
WATCHED = 3.0  # seconds


class Part(NamedTuple):
    """Tables of README.md that a script writes, and its arguments in a session and in a test."""

    tables: tuple[str, ...]
    arguments: str
    smallest: str = "--repeat 1"


PARTS = {
    "bench_start": Part(("start",), "--repeat 9"),
    "bench_one_run": Part(("one run",), "--repeat 3", "--queries 20 --docs 30 --repeat 1"),
    "bench_labels": Part(("labels",), "", "--queries 50"),
    "bench_main_job": Part(("main job",), "--repeat 3"),
    "peers": Part(("peers",), "--repeat 3"),
    "bench_read": Part(("read",), "--repeat 3"),
    "bench_in_memory": Part(("in memory",), "--repeat 5"),
    "bench_curve": Part(("curve",), "--repeat 9"),
    "bench_views": Part(("views",), "--repeat 9"),
    "bench_kernels": Part(("kernels",), "--repeat 9"),
    "bench_preferences": Part(("preferences",), "--repeat 3"),
    "bench_properties": Part(("properties",), "--repeat 1", "--repeat 1 --length 4"),
    "bench_rareness": Part(("rareness",), "--repeat 1"),
    "bench_stats_pairs": Part(("stats-pairs",), "--repeat 3"),
    "bench_stats_hsd": Part(("stats-hsd",), "--repeat 2"),
    "bench_stats_orders": Part(("stats-orders",), "--repeat 3"),
    "bench_study": Part(("study",), "--repeat 1"),
    "bench_judges": Part(("judges",), "--repeat 1"),
    "bench_cluster": Part(("cluster", "cluster-large"), "--repeat 1", "--repeat 1 --only small"),
    "bench_fetch": Part(("fetch",), "--repeat 5"),
    "evidence": Part(("evidence",), "--repeat 2"),
    "full_scale": Part(
        ("full-scale",),
        "--complete --scale 0.01 0.1 1",
        "--complete --scale 0.001 --study-track 2020-news",
    ),
}
"""Scripts in the order of a session: the shortest figures first, while the machine is cool."""


HOURS = "full_scale"
"""The part that takes an hour or more, and runs only if it is named by --only."""


class Measured(NamedTuple):
    """When a part ran, its seconds, and the cores that did other work meanwhile."""

    date: str
    seconds: float
    other: float

    def line(self, part: str) -> str:
        """The row of the session's table."""
        return f"| `{part}` | {self.date} | {self.seconds:,.0f} | {self.other:.1f} |"


def run(part: str, arguments: str) -> Measured | None:
    """Run a part; None if it fails."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    start, busy, own = time.monotonic(), busy_seconds(), own_seconds()
    command = [sys.executable, str(HERE / f"{part}.py"), *arguments.split()]
    status = subprocess.run(command, env=environment, check=False).returncode
    wall = time.monotonic() - start
    other = (busy_seconds() - busy - (own_seconds() - own)) / wall
    if status:
        return None
    return Measured(datetime.now(UTC).date().isoformat(), wall, max(0.0, other))


def own_seconds() -> float:
    """Processor seconds of this process and of its children that have ended."""
    used = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def other_work() -> float:
    """The number of cores that other processes use, watched for a few seconds."""
    busy = busy_seconds()
    time.sleep(WATCHED)
    return (busy_seconds() - busy) / WATCHED


def session_table(measured: dict[str, Measured]) -> str:
    """The table of the session; parts that were not measured now keep their rows."""
    text = README.read_text(encoding="utf-8").partition(f"<!-- {SECTION} -->")[2]
    text = text.partition(f"<!-- end {SECTION} -->")[0]
    rows = {m[1]: m[0] for m in re.finditer(r"^\| `(\w+)` \|.*$", text, re.MULTILINE)}
    rows |= {part: one.line(part) for part, one in measured.items()}
    return "\n".join(
        [
            f"{machine()}; {versions()}.",
            "",
            "| part | measured | seconds | cores with other work |",
            "|---|---|---|---|",
            *(rows[part] for part in PARTS if part in rows),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", choices=PARTS, help="run this part (repeatable)")
    parser.add_argument("--from", dest="first", choices=PARTS, help="run this part and later ones")
    parser.add_argument("--smallest", action="store_true", help="smallest sizes, for a test")
    parser.add_argument("--busy", action="store_true", help="run beside other work")
    chosen = parser.parse_args()
    names = chosen.only or [part for part in PARTS if part != HOURS or chosen.smallest]
    if chosen.first:
        names = [part for part in names if [*PARTS].index(part) >= [*PARTS].index(chosen.first)]
    print(f"{machine()}; {versions()}; load {os.getloadavg()[0]:.1f}", flush=True)
    if (other := other_work()) > MOST_OTHER and not chosen.busy:
        parser.exit(1, f"{other:.1f} cores do other work: wait, or measure with --busy.\n")
    measured, failed = dict[str, Measured](), list[str]()
    for part in names:
        print(f"\n# {part}", flush=True)
        done = run(part, PARTS[part].smallest if chosen.smallest else PARTS[part].arguments)
        if done is None:
            failed.append(part)
            continue
        measured[part] = done
        write(SECTION, session_table(measured))
        print(done.line(part), flush=True)
    total = sum(one.seconds for one in measured.values())
    print(f"\n{len(measured)} parts in {total / 60:.1f} minutes")
    if failed:
        parser.exit(1, f"failed, tables as before: {', '.join(failed)} (--only {failed[0]})\n")


if __name__ == "__main__":
    main()
