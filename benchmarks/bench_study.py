"""Measure the studies on the six real tracks; table and the README's pictures.

    python benchmarks/bench_study.py [--repeat 3]

Needs the six tracks in the shared folder (IRMETA_SHARED). Each run is a process of its own that
begins with an empty results folder; its store is there. Beside it the limit that was set. The
pictures of the project's README are drawn from the results. The steps
of the study of depth are measured in this process on trec-covid-r1, after one read of the track.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl
from bench_main_job import HERE, SHARED, inside, median, spawn, write
from machine import machine
from timing import seconds

import irmeta
from irmeta.measures.evaluate import evaluate
from irmeta.measures.names import parse_measures
from irmeta.measures.pools import parts_of, reduced_pools
from irmeta.policies import EvalPolicy
from irmeta.report.theme import print_of, to_spec
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.depth.compute import Curves, orders, table_7
from irmeta.studies.papers.depth.pool import StudiedPool
from irmeta.studies.papers.depth.study import DepthOptions, cut

LIMITS = {
    "search-length": 20,
    "depth": 20,
    "preference": 40,
    "innovation": 25,
    "trust": 60,
}  # seconds
MEMORY = 1000  # MB, the limit of each
COVID = "trec-covid-r1"
PICTURES = {
    "search-length": {
        "clef-ehealth-2015/figure_6": "study-length-differences",
        "averaged_by_ap": "study-effective-fraction",
    },
    "depth": {"trec-covid-r1/score_curves_ndcg": "study-score-curves"},
    "preference": {"robust-2003/figure_5": "study-preference-agreement"},
    "innovation": {
        "trec-covid-r1/figure_1": "study-innovation-made-systems",
        "robust-2003/contributions_system": "study-innovation-contributions",
    },
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


def draw(study: str, results: Path) -> None:
    """The README's pictures of a study, as they are printed but with fewer pixels."""
    figures = irmeta.studies.open(results).figures
    for name, picture in PICTURES.get(study, {}).items():
        png = print_of(to_spec(figures[name]), ["png"], ppi=150)["png"]
        (HERE.parent / "notebooks" / f"{picture}.png").write_bytes(png)


def steps(store: str, repeat: int) -> list[str]:
    """The steps of the study of depth with a limit, as rows of a table."""
    track = TrackView(irmeta.Store(store).track(COVID), DepthOptions())
    options = DepthOptions(measures=("AP(norm=min)", "nDCG", "RBP(p=0.8)", "RBP(p=0.95)"))
    pool, every = StudiedPool.of(track, options), StudiedPool.of(track, DepthOptions())
    specs = parse_measures([cut(name, 7) for name in options.compared])
    parts = parts_of(pool.facts, "run")
    policy = EvalPolicy(tie_order="score-file")
    measures = parse_measures([cut(name, 10) for name in options.compared])

    def scored(policy: EvalPolicy) -> None:
        evaluate(irmeta.Store(store).track(COVID, policy), measures)

    policies = (policy, replace(policy, pool_depth=7))
    # Of so short a step, the least processor time tells more than one wall time.
    plain, pooled = (
        seconds(partial(scored, one), max(repeat, 7), clock=time.process_time, of=min)
        for one in policies
    )
    timed = {
        f"leave out {len(parts)} runs, score 143 by 4 measures": (
            lambda: list(reduced_pools(pool.views, specs, policy, parts, 7)),
            2.0,
        ),
        "curves and 12 matrices 50 x 50 of orders": (lambda: list(orders(Curves(every))), 0.5),
        "Tables 7 and 8": (lambda: list(table_7(every)), 1.5),
    }
    rows = [
        f"| {what} | {seconds(step, repeat):.2f} | {limit} |"
        for what, (step, limit) in timed.items()
    ]
    return [
        *rows,
        f"| scores by a pool of depth 7, over scores by all judgments, CPU time | "
        f"{pooled / plain:.2f} x | 1.5 x |",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    command = str(Path(sys.executable).with_name("irmeta"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "collection").mkdir()
        store = str(folder / "store")
        spawn(command, "ingest", str(linked(folder / "collection")), "--out", store)
        rows, measured = inside("store", store), list[str]()
        for study, limit in LIMITS.items():
            study_of = (command, "study", study, store, "--out")
            warm = folder / f"warm-{study}"
            spawn(*study_of, str(warm))  # compiles the kernels, once a machine
            runs = [spawn(*study_of, str(folder / f"{study}-{i}")) for i in range(repeat)]
            again = [spawn(*study_of, str(warm)) for _ in range(repeat)]
            drawn = len(list((warm / "figures").rglob("*.svg")))
            what = f"`irmeta study {study}`: tables, {drawn} figures, page"
            for text, found in (
                (what, median(runs)),
                ("the same again, no track changed", median(again)),
            ):
                numbers = f"{found['wall']:.1f} | {found['cpu']:.1f} | {found['memory']:.0f}"
                measured.append(f"| {text} | {numbers} |")
            measured.append(f"| the limit set | {limit} | | {MEMORY} |")
            draw(study, warm)
        tracks = pl.read_parquet(folder / "warm-depth" / "studied_tracks.parquet")
        parts = steps(store, repeat)
    lines = [
        f"{tracks.height} tracks, {tracks['systems'].sum()} systems, {rows['rows']:,.0f} rows; "
        f"{machine()}; median of {repeat}.",
        "",
        "| what | wall s | CPU s | peak MB |",
        "|---|---|---|---|",
        *measured,
        "",
        f"| step of `study depth` on {COVID} | wall s | limit |",
        "|---|---|---|",
        *parts,
    ]
    text = "\n".join(lines)
    print(text)
    write("study", text)


if __name__ == "__main__":
    main()
