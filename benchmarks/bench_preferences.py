"""Measure preferences between all pairs of systems, and write the table in README.md.

    python benchmarks/bench_preferences.py [--repeat 7]

Processor time of one thread, kernels compiled. trec-covid-r1 and the made recommender data
(recommender.py) are read from a store, so that their rows include reading; the other rows begin
with the ranks of judged docs in memory. The shapes with many queries are those of recommender data
in Diaz and Ferraro (2022). A peak of memory is that of a process of its own, with irmeta and the
made ranks.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import timing
from bench_main_job import SHARED, write
from machine import machine
from memory import peak
from recommender import make
from synthetic import judged_view

import irmeta
from irmeta.kernels.pair_preferences import add_preferences, add_weighted_preferences
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.view import replace_arrays
from irmeta.stats.preferences import preference_pairs

VARIANTS = ",".join(
    f"RPP(p={p},grades={grades})"
    for p in ("uniform", "dcg", "inverse")
    for grades in ("graded", "binary")
)
FAMILIES = "RPP,RPP(p=dcg),LexiRecall,LexiPrecision,RRLexiPrecision,OI"
RATED = "RPP(grades=binary,rel=4)"
"""RPP of ratings, as in the paper."""
LARGE = {
    "means and win rates": lambda found: (found.means(), found.win_rates()),
    "frame of the means": lambda found: found.frame(),
    "t test": lambda found: preference_pairs(found.preference(), "t"),
}
"""What is done with the preferences of 2,000 systems."""
seconds = partial(timing.seconds, clock=time.thread_time, of=min)
Row = tuple[str, Callable[[], object]]


def sparse_view(systems: int, queries: int, relevant: int) -> JudgedRanks:
    """A view of relevant docs alone, all of grade 1, as of a recommender's test items."""
    rng = np.random.default_rng(0)
    ranks = rng.permuted(
        np.arange(1, 101, dtype=np.uint16) * np.ones((queries, systems, 1), np.uint16), axis=2
    )
    ranks = np.moveaxis(ranks[:, :, :relevant], 2, 1).reshape(queries * relevant, systems)
    ranks[rng.random(ranks.shape) < 0.5] = 0
    offsets = np.arange(0, queries * relevant + 1, relevant)
    return JudgedRanks.from_arrays(ranks, np.ones(len(ranks), np.int8), offsets=offsets)


def both(store: irmeta.Store, names: str) -> None:
    """Mean preferences of all pairs, and win rates, of the only track."""
    for found in store.pairs.compare(names, track=store.tracks[0], workers=1):
        found.means()
        found.win_rates()


def of_view(view: JudgedRanks, names: str) -> None:
    for found in irmeta.preferences_of(replace_arrays(view), names):
        found.means()
        found.win_rates()


def from_store(folder: Path) -> Iterator[Row]:
    track = SHARED / "tracks" / "trec-covid-r1"
    if track.is_dir():
        (folder / "collection").mkdir()
        (folder / "collection" / track.name).symlink_to(track.resolve())
        store = irmeta.ingest(folder / "collection", folder / "store")
        of = "trec-covid-r1 from a store, means and win rates"
        yield f"{of}: RPP", lambda: both(store, "RPP")
        yield f"{of}: six variants of RPP", lambda: both(store, VARIANTS)
        yield f"{of}: RPP, dcg, three lexicographic, OI", lambda: both(store, FAMILIES)
    make(folder / "recommender", 6000, 21, 100)
    movies = irmeta.ingest(folder / "recommender", folder / "movies")
    of = "recommender, 21 systems x 6,000 users, 100 docs a list, from a store"
    yield f"{of}: {RATED}", lambda: both(movies, RATED)


def in_memory() -> Iterator[Row]:
    for systems, queries, relevant in ((21, 17_564, 14), (54, 5_193, 1)):
        view = sparse_view(systems, queries, relevant)
        shape = f"{systems} systems x {queries:,} queries x {relevant} relevant docs"
        ranks, offsets = view.sorted_ranks(1)
        out = np.zeros((systems, systems))
        yield f"{shape}: RPP, sorted ranks", partial(add_preferences, ranks, offsets, out)
        yield f"{shape}: RPP, means and win rates", partial(of_view, view, "RPP")
    large = judged_view(2000, 20, 1000)
    yield "2,000 systems x 20 queries: RPP", partial(of_view, large, "RPP")
    yield "2,000 systems x 20 queries: RPP(p=dcg)", partial(of_view, large, "RPP(p=dcg)")
    view = judged_view(129, 50, 1000)
    (found,) = irmeta.preferences_of(view, "RPP")
    yield (
        "randomised HSD, 129 systems x 50 queries, B = 10,000",
        lambda: preference_pairs(found.preference(), resamples=10_000, workers=1),
    )


def memory_of(what: str) -> float:
    """Peak memory in MB of one use of the preferences of 2,000 systems, in another process."""
    command = [sys.executable, __file__, "--memory", what]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def print_peak(what: str) -> None:
    """Compare 2,000 systems on 20 queries of 300 judged docs, and print the peak in MB."""
    (found,) = irmeta.preferences_of(judged_view(2000, 20, 1000, judged=300), "RPP")
    LARGE[what](found)
    print(peak())


def weighted_speed(repeat: int) -> str:
    """Comparisons of two systems at a level, a second."""
    rng = np.random.default_rng(0)
    lines = []
    for systems in (129, 2000):
        levels = 4000 if systems < 1000 else 400
        ranks = np.sort(rng.integers(1, 1000, (levels, systems)).astype(np.uint16), axis=0)
        offsets, out = np.arange(0, levels + 1, 100), np.zeros((systems, systems))
        work = levels * systems * (systems - 1) / 2
        spent = seconds(
            partial(add_weighted_preferences, ranks, rng.random(levels), offsets, out), repeat
        )
        lines.append(f"{work / spent / 1e9:.1f} ({systems:,} systems)")
    return f"Weighted recall levels, G comparisons/s: {', '.join(lines)}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--memory", choices=LARGE, help="print the peak of this alone, in MB")
    chosen = parser.parse_args()
    if chosen.memory:
        print_peak(chosen.memory)
        return
    repeat = chosen.repeat
    lines = [f"{machine()}; least of {repeat}.", "", "| what | s |", "|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for make in (from_store(Path(folder)), in_memory()):
            lines += [f"| {what} | {seconds(call, repeat):.4f} |" for what, call in make]
    lines += ["", "| 2,000 systems x 20 queries | peak memory, MB |", "|---|---|"]
    lines += [f"| {what} | {memory_of(what):.0f} |" for what in LARGE]
    text = "\n".join([*lines, "", weighted_speed(repeat)])
    print(text)
    write("preferences", text)


if __name__ == "__main__":
    main()
