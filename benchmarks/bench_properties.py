"""Measure scores of all short rankings, and their violated pairs; write the table in README.md.

    python benchmarks/bench_properties.py [--repeat 3]

The measures are the 19 of the study of properties, and every measure of one list. Steps are
measured in this process, the study as a command in a process of its own that begins with an empty
folder.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from bench_main_job import median, spawn, write
from machine import machine
from timing import seconds

from irmeta.measures.evaluate import score_rankings
from irmeta.stats.properties import INDUCTION, PAPER, Property
from irmeta.studies.papers.properties.compute import count_properties, measures_of_one_list
from irmeta.studies.papers.properties.study import PropertiesOptions

SIZES = {(2, 10): 3, (3, 10): 15}  # limits of scores and pairs, in seconds
MEMORY = 1000  # MB


def steps(options: PropertiesOptions, repeat: int) -> dict[str, float]:
    """Processor time of each step, in seconds."""
    space, specs = options.space, options.specs
    every = measures_of_one_list()
    values = score_rankings(space, specs)
    scored = f"{space.count:,} rankings x"

    def count(*properties: Property) -> int:
        return sum(
            int(of.applicable[0].sum() + of.with_empty[0])
            for of in count_properties(properties, space, specs, values)
        )

    direct = PAPER[:3]
    calls = {
        f"{scored} {len(specs)} measures": lambda: score_rankings(space, specs),
        f"{scored} {len(every)} measures": lambda: score_rankings(space, every),
        f"{count(*direct):,} pairs of three properties": lambda: count(*direct),
        f"{count(INDUCTION):,} pairs of induction": lambda: count(INDUCTION),
    }
    return {what: seconds(call, repeat, clock=time.process_time) for what, call in calls.items()}


def study(subtopics: int, length: int, repeat: int) -> dict[str, float]:
    """The command: wall and processor time, peak memory."""
    irmeta = str(Path(sys.executable).with_name("irmeta"))
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(repeat + 1):
            size = ("--subtopic-count", str(subtopics), "--length", str(length))
            out = str(Path(folder) / f"{turn}")
            runs.append(spawn(irmeta, "study", "properties", "--out", out, *size))
    return median(runs[1:])  # the first may compile kernels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--length", type=int, help="measure 2 subtopics and this length alone")
    chosen = parser.parse_args()
    repeat = chosen.repeat
    sizes = SIZES if chosen.length is None else {(2, chosen.length): 3}
    lines = [f"{machine()}; median of {repeat}.", ""]
    studies = {size: study(*size, repeat) for size in sizes}  # while this process is small
    for (subtopics, length), limit in sizes.items():
        took = steps(PropertiesOptions(subtopic_count=subtopics, length=length), repeat)
        scores, _, *pairs = took.values()
        whole = studies[subtopics, length]
        lines += [
            f"| {subtopics} subtopics, up to {length} docs | CPU s | wall s | peak MB |",
            "|---|---|---|---|",
            *(f"| {what} | {cpu:.2f} | | |" for what, cpu in took.items()),
            f"| scores of 19 measures, and all these pairs | {scores + sum(pairs):.2f} | | |",
            f"| the limit set | {limit} | | {MEMORY:,} |",
            f"| `irmeta study properties`: 11 tables, 7 figures, page | "
            f"{whole['cpu']:.1f} | {whole['wall']:.1f} | {whole['memory']:,.0f} |",
            "",
        ]
    text = "\n".join(lines).rstrip()
    print(text)
    if chosen.length is None:
        write("properties", text)


if __name__ == "__main__":
    main()
