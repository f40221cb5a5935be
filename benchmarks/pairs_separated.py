"""Count the pairs of systems that each test separates; write the table of the page on statistics.

    python benchmarks/pairs_separated.py

Needs the per-topic AP of TREC-5 and TREC-8 in the shared folder (IRMETA_SHARED).
"""

from __future__ import annotations

from pathlib import Path

from bench_main_job import SHARED

from irmeta.api.significance import power
from irmeta.stats.pairs import TESTS

PAGE = Path(__file__).parent.parent / "notebooks" / "site" / "statistics.md"
MARK, END = "<!-- pairs separated -->", "<!-- end pairs separated -->"
TRACKS = {"TREC-5": "adhoc5_ap.csv", "TREC-8": "adhoc8_ap.csv"}
RESAMPLES, SEED = 100_000, 0


def main() -> None:
    found = {
        name: power(SHARED / "score-matrices" / file, tests=TESTS, resamples=RESAMPLES, rng=SEED)[0]
        for name, file in TRACKS.items()
    }
    pairs = {name: frame["pairs"][0] for name, frame in found.items()}
    heads = [f"{name} at {level}" for name in found for level in ("95 %", "99 %")]
    lines = [
        "Pairs of systems whose AP differs significantly by each test, without a correction, on "
        + " and ".join(f"{name} ({n:,} pairs)" for name, n in pairs.items())
        + f", 50 queries each; {RESAMPLES:,} resamples where a test draws them:",
        "",
        f"| test | {' | '.join(heads)} |",
        "|---" * (len(heads) + 1) + "|",
    ]
    for test in TESTS:
        counts = [n for f in found.values() for n in f.filter(test=test)["separated"]]
        lines.append(f"| `{test}` | {' | '.join(f'{n:,}' for n in counts)} |")
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(MARK, 1)
    after = rest.split(END, 1)[1]
    PAGE.write_text(f"{before}{MARK}\n{chr(10).join(lines)}\n{END}{after}", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
