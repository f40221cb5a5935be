"""Published values that irmeta reproduces, and how fast; to README.md.

    python benchmarks/evidence.py [--repeat 5]

Needs the real tracks in the shared folder (IRMETA_SHARED). The values are those of
`tests/support/evidence.py`, which `tests/archive/test_verification.py` checks too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_main_job import SHARED, write
from machine import machine
from timing import seconds

import irmeta

TESTS = Path(__file__).parents[1] / "tests"
sys.path.insert(0, str(TESTS))

# The evidence test uses the same files; its folder is on the path only from here on.
from support.evidence import NTCIR_CONFIG, PUBLISHED  # noqa: E402  # pyright: ignore[reportMissingImports]


def made_store(folder: Path) -> irmeta.Store:
    """Make a store of the real tracks and of NTCIR-13."""
    for track in (SHARED / "tracks").iterdir():
        (folder / track.name).symlink_to(track.resolve())
    (folder / "ntcir").symlink_to((SHARED / "oracles" / "ntcir13_www").resolve())
    tracks = (TESTS / "tracks.toml").read_text(encoding="utf-8")
    text = f"{tracks}\n{NTCIR_CONFIG.format(folder='ntcir')}"
    (folder / "collection.toml").write_text(text, encoding="utf-8")
    return irmeta.ingest(folder, folder / "store")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    if not (SHARED / "tracks").is_dir():
        raise SystemExit(f"{SHARED / 'tracks'} is not there: set IRMETA_SHARED.")
    rows, totals = list[str](), [0, 0, 0, 0]
    with tempfile.TemporaryDirectory() as name:
        store = made_store(Path(name))
        for one in PUBLISHED:
            table = one.table(SHARED)
            found = irmeta.verify(store, table, track=one.track, **one.choices)
            counts = found.tracks.select("published", "reproduced", "differ", "explained").row(0)
            totals = [a + b for a, b in zip(totals, counts, strict=True)]
            values, reproduced, differ, explained = counts
            measures = found.values["canonical"].n_unique()
            rows.append(
                f"| {one.by} | {one.track} | {measures} | {values:,} | {reproduced:,} | "
                f"{explained:,} | {differ - explained:,} |"
            )
        values, reproduced, differ, explained = totals
        covid = seconds(lambda: irmeta.verify(store, track="trec-covid-r1"), repeat, of=min)
        program = shutil.which("irmeta")
        assert program is not None
        command = [program, "verify", f"{name}/store", "--track", "trec-covid-r1"]

        def process() -> object:
            return subprocess.run(command, check=True, capture_output=True)

        wall = seconds(process, repeat, of=min)
        cpu = seconds(process, repeat, clock=lambda: sum(os.times()[2:4]), of=min)
    text = "\n".join(
        [
            "| published by | track | measures | values | reproduced | explained | unexplained |",
            "|---|---|---|---|---|---|---|",
            *rows,
            f"| all | | | {values:,} | {reproduced:,} | {explained:,} | {differ - explained:,} |",
            "",
            f"`irmeta verify` of trec-covid-r1 from its store, 572 values: the whole process takes "
            f"{cpu:.2f} s of CPU, {wall:.2f} s elapsed; in Python {covid:.2f} s "
            f"({machine()}; least of {repeat}).",
        ]
    )
    print(text)
    write("evidence", text)


if __name__ == "__main__":
    main()
