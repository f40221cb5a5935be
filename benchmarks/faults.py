"""A campaign of faults: fuzzed inputs, killed commands, flipped bits, full disks, hostile names.

    python benchmarks/faults.py --minutes 2 --seed 1             # all kinds for two minutes
    python benchmarks/faults.py --only runs --inputs 1000000     # numbers instead of minutes
    python benchmarks/faults.py --only kills --seed 7 --first 41 --kills 1  # one failure again
    python benchmarks/faults.py --planted                       # does it see faults of irmeta?

Each outcome is compared with a plain reader or a clean rebuild. Without --seed, one is drawn and
printed. A failure prints its input, made small, and the command that repeats it; the status is 1.
"""

from __future__ import annotations

import argparse
import datetime
import logging
import re
import secrets
import shlex
import sys
import tempfile
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from campaign import flips, inputs, kills, others, planted
from campaign.kinds import Kind, problem_of, smallest
from machine import machine

KINDS: dict[str, tuple[type[Kind], str]] = {
    "runs": (inputs.Runs, "Text of runs, against a plain reader"),
    "qrels": (inputs.Qrels, "Text of qrels, against a plain reader"),
    "files": (inputs.Files, "Run files in TREC form and JSON, up to the ranked lists"),
    "archives": (inputs.Archives, "zip and tar archives of runs"),
    "collections": (inputs.Collections, "collection.toml"),
    "dicts": (inputs.Dicts, "Dicts and frames"),
    "fetches": (others.Fetches, "Answers of a hostile server on the loopback"),
    "kills": (kills.Kills, "SIGKILL and SIGINT during commands that write"),
    "flips": (flips.Flips, "Flipped bits in stores, results and studies, read and checked"),
    "repairs": (flips.Repairs, "Flipped bits in results and studies, which are made again"),
    "kernels": (flips.Kernels, "Flipped bits in cached kernels"),
    "limits": (kills.Limits, "Full disks, limits of file size, open files and memory"),
    "writers": (others.Writers, "Several writers of a store, and a reader meanwhile"),
    "environments": (others.Environments, "Odd environments"),
    "names": (others.Names, "Hostile names through all outputs, pages in Chromium"),
}
GOALS = {"inputs": 1_000_000, "kills": 1_000, "flips": 10_000}
LISTED = 5  # failures of a kind that are printed
MARK, END = "<!-- faults -->", "<!-- end faults -->"
ROW = re.compile(rf".*\(`({'|'.join(KINDS)})`\).*")


@dataclass
class Result:
    """What became of the faults of one kind."""

    name: str
    count: int = 0
    failures: list[str] = field(default_factory=list[str])
    seconds: float = 0.0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, help="time for all kinds together")
    parser.add_argument("--seed", type=int, help="default: drawn and printed")
    parser.add_argument("--only", type=names, help=f"kinds, with commas: {', '.join(KINDS)}")
    parser.add_argument("--first", type=int, default=0, help="number of the first fault")
    parser.add_argument("--table", type=Path, help="page whose rows of these kinds are replaced")
    parser.add_argument(
        "--planted",
        nargs="*",
        choices=[[], *planted.FAULTS],
        metavar="FAULT",
        help="put each fault into irmeta, all or these, and check that its kind finds it",
    )
    parser.add_argument("--stop-at-failure", action="store_true", help="end a kind at a failure")
    for group in ("inputs", "kills", "flips", "others"):
        parser.add_argument(f"--{group}", type=int, help=f"faults of each kind of {group}")
    given = parser.parse_args()
    if all(getattr(given, one) is None for one in ("minutes", *GOALS, "others")):
        given.minutes = 2.0
    return given


def names(text: str) -> list[str]:
    for name in (given := text.split(",")):
        if name not in KINDS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(KINDS)}")
    return given


def run_kind(name: str, given: argparse.Namespace, end: float, most: int | None) -> Result:
    """Make faults of a kind until the time or the number is reached, and at least one."""
    result, started = Result(name), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as folder:
        kind = KINDS[name][0](Path(folder))
        with closing(kind):
            while result.count < 1 or (
                (most is None or result.count < most) and time.monotonic() < end
            ):
                number = given.first + result.count
                drawn = kind.draw(Random(f"{given.seed} {name} {number}"))
                problem, result.count = problem_of(kind, drawn), result.count + 1
                if problem is not None:
                    result.failures.append(problem)
                    if len(result.failures) <= LISTED:
                        report(kind, name, given.seed, number, problem, drawn)
                    if given.stop_at_failure:
                        break
    result.seconds = time.monotonic() - started
    return result


@contextmanager
def closing(kind: Kind) -> Generator[None]:
    try:
        yield
    finally:
        getattr(kind, "close", lambda: None)()  # only kinds with a server have one


def report(kind: Kind, name: str, seed: int, number: int, problem: str, drawn: object) -> None:
    small = smallest(kind, drawn, problem)
    again = ["python", "benchmarks/faults.py", "--only", name, "--seed", str(seed)]
    again += ["--first", str(number), f"--{KINDS[name][0].group}", "1"]
    print(
        f"FAILURE {name}: {problem}\n  input: {small!r}\n  again: {shlex.join(again)}", flush=True
    )


def run_all(given: argparse.Namespace) -> list[Result]:
    chosen, results = given.only or list(KINDS), list[Result]()
    start = time.monotonic()
    for place, name in enumerate(chosen):
        most = getattr(given, KINDS[name][0].group)
        now, end = time.monotonic(), float("inf")
        if given.minutes is not None:  # what other kinds leave is shared by those that follow
            end = now + max(0.0, start + 60 * given.minutes - now) / (len(chosen) - place)
        elif most is None:
            continue
        result = run_kind(name, given, end, most)
        results.append(result)
        rate = f"{result.count:,} in {result.seconds:.1f} s, {len(result.failures):,} failures"
        print(f"{name}: {rate}", flush=True)
    return results


def table(results: list[Result], seed: int, before: str) -> str:
    """Return the table of the site: rows of kinds that were not run now stay as they were."""
    today = datetime.datetime.now(datetime.UTC).date()
    rows = {found[1]: found[0] for line in before.splitlines() if (found := ROW.match(line))}
    for one in results:
        counts = f"{one.count:,} | {len(one.failures):,} | {one.seconds:,.0f}"
        rows[one.name] = f"| {KINDS[one.name][1]} (`{one.name}`) | {counts} | {seed} | {today} |"
    lines = [
        f"{machine()}, beside other work.\n",
        "| kind | faults | failures | seconds | seed | date |",
        "|---|--:|--:|--:|--:|---|",
        *(rows[name] for name in KINDS if name in rows),
        *("", "| together | faults | goal | failures |", "|---|--:|--:|--:|"),
    ]
    for group, goal in GOALS.items():
        of = [rows[name] for name in rows if KINDS[name][0].group == group]
        counts = [[int(n.replace(",", "")) for n in row.split(" | ")[1:3]] for row in of]
        made, failures = (sum(column) for column in zip(*counts, strict=True)) if of else (0, 0)
        lines.append(f"| {group} | {made:,} | {goal:,} | {failures:,} |")
    return "\n".join(lines)


def main() -> int:
    given = arguments()
    if given.seed is None:
        given.seed = secrets.randbelow(1_000_000)
    print(f"seed {given.seed}", flush=True)
    warnings.simplefilter("ignore")
    logging.disable()
    if given.planted is not None:
        return int(planted.find_all(given.planted or list(planted.FAULTS), given.seed) > 0)
    planted.plant_named()
    results = run_all(given)
    if given.table is not None:
        before, _, rest = given.table.read_text(encoding="utf-8").partition(MARK)
        rows, _, after = rest.partition(END)
        text = f"{before}{MARK}\n{table(results, given.seed, rows)}\n{END}{after}"
        given.table.write_text(text, encoding="utf-8")
    return int(any(one.failures for one in results))


if __name__ == "__main__":
    sys.exit(main())
