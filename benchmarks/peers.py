"""AP and nDCG of every run of a track, from text to values, beside other programs; to README.md.

    python benchmarks/peers.py [--collection DIR] [--repeat 3]

Needs the `test` extra and by default trec-covid-r1 in the shared folder (IRMETA_SHARED); ranx and
trec_eval take part where they are installed. Every program reads the same plain files, in a process
of its own that has read a tiny track before, on one core and, where it can use them, on two. Before
anything is timed, its values per query are compared with irmeta's.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Set
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from bench_main_job import SHARED, median, write
from machine import machine
from memory import peak

if TYPE_CHECKING:
    import irmeta

Values = dict[str, dict[str, list[float]]]
NAMES = ("AP", "nDCG")


def irmeta_values(collection: Path, work: Path) -> Values:
    """Text to memory, as the others do."""
    import irmeta

    return _values(irmeta.read(collection))


def stored_values(collection: Path, work: Path) -> Values:
    """Text to a store on disk, the store to values."""
    import irmeta

    return _values(irmeta.ingest(collection, work / "store"))


def _values(store: irmeta.Store) -> Values:
    (track,) = store.tracks
    scores = store.scores(NAMES, track=track)
    values = scores.values.transpose(2, 1, 0).tolist()
    return {
        system: dict(zip(scores.queries, own, strict=True))
        for system, own in zip(scores.systems, values, strict=True)
    }


def pytrec_eval_values(collection: Path, work: Path) -> Values:
    import pytrec_eval

    qrels, runs = files(collection)
    with qrels.open(encoding="utf-8") as file:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), {"map", "ndcg"})
    found = {}
    for path in runs:
        with path.open(encoding="utf-8") as file:
            own = evaluator.evaluate(pytrec_eval.parse_run(file))
        found[path.name] = {q: [v["map"], v["ndcg"]] for q, v in own.items()}
    return found


def ir_measures_values(collection: Path, work: Path) -> Values:
    import ir_measures

    qrels, runs = files(collection)
    judged = list(ir_measures.read_trec_qrels(str(qrels)))
    evaluator = ir_measures.evaluator([ir_measures.AP, ir_measures.nDCG], judged)
    found: Values = {}
    for path in runs:
        own = found.setdefault(path.name, {})
        for metric in evaluator.iter_calc(ir_measures.read_trec_run(str(path))):
            pair = own.setdefault(metric.query_id, [0.0, 0.0])
            pair[NAMES.index(str(metric.measure))] = metric.value
    return found


def ranx_values(collection: Path, work: Path) -> Values:
    # in no extra: it takes part where it is installed
    from ranx import Qrels, Run, evaluate  # pyright: ignore[reportMissingImports]

    qrels, runs = files(collection)
    judged = Qrels.from_file(str(qrels), kind="trec")
    found: Values = {}
    for path in runs:
        run = Run.from_file(str(path), kind="trec")
        evaluate(judged, run, ["map", "ndcg"], make_comparable=True)
        own = run.scores
        found[path.name] = {q: [own["map"][q], own["ndcg"][q]] for q in own["map"]}
    return found


def trec_eval_values(collection: Path, work: Path) -> Values:
    qrels, runs = files(collection)
    found: Values = {}
    for path in runs:
        command = ["trec_eval", "-q", "-c", "-m", "map", "-m", "ndcg", str(qrels), str(path)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        own = found.setdefault(path.name, {})
        for line in said.splitlines():
            name, query, value = line.split()
            if query != "all":
                own.setdefault(query, [0.0, 0.0])[name == "ndcg"] = float(value)
    return found


PEERS: dict[str, tuple[Callable[[Path, Path], Values], int, float]] = {
    # program: its values, the cores that it can use, how far its values may be from ours
    "irmeta": (irmeta_values, 2, 0.0),
    "irmeta, store written": (stored_values, 2, 0.0),
    "pytrec_eval": (pytrec_eval_values, 1, 1e-9),
    "ir_measures": (ir_measures_values, 1, 1e-9),
    "ranx": (ranx_values, 2, 1e-9),  # of lists without ties: it orders them otherwise
    "trec_eval": (trec_eval_values, 1, 5e-5),  # four printed digits
}


def files(collection: Path) -> tuple[Path, list[Path]]:
    """The qrels and the runs of a collection of one track."""
    (track,) = (t for t in collection.iterdir() if (t / "runs").is_dir())
    return track / "qrels.txt", sorted((track / "runs").iterdir())


def plain(source: Path, target: Path) -> None:
    """The track decompressed and its runs named by their tags, for programs that need that."""

    def content(path: Path) -> bytes:
        return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()

    (target / "runs").mkdir(parents=True)
    (target / "qrels.txt").write_bytes(content(next(source.glob("qrels*"))))
    for path in sorted((source / "runs").iterdir()):
        raw = content(path)
        (target / "runs" / raw.split(None, 6)[5].decode()).write_bytes(raw)


def tiny(collection: Path, target: Path) -> Path:
    """A collection of the first lines of one run, to load what a program loads at its first use."""
    qrels, runs = files(collection)
    (target / "track" / "runs").mkdir(parents=True)
    shutil.copyfile(qrels, target / "track" / "qrels.txt")
    with runs[0].open("rb") as file:
        (target / "track" / "runs" / runs[0].name).write_bytes(b"".join(islice(file, 50)))
    return target


def installed() -> list[str]:
    there = [p for p in PEERS if p != "trec_eval" and importlib.util.find_spec(module(p))]
    return there + (["trec_eval"] if shutil.which("trec_eval") else [])


def spawn(peer: str, collection: Path, cores: int, out: Path | None = None) -> dict[str, float]:
    """One program in a process of its own; a fresh folder to work in."""
    command = [sys.executable, __file__, "--peer", peer, "--collection", str(collection)]
    with tempfile.TemporaryDirectory() as work:
        command += ["--work", work, "--cores", str(cores)]
        command += ["--values", str(out)] if out is not None else []
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def one(peer: str, collection: Path, work: Path, cores: int, out: Path | None) -> None:
    """The body of a process: values and how long they took, after the same for a tiny track."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    values_of = PEERS[peer][0]
    values_of(tiny(collection, work / "tiny"), work / "first")
    start = time.perf_counter()
    values = values_of(collection, work)
    wall = time.perf_counter() - start
    if out is not None:
        out.write_text(json.dumps(values), encoding="utf-8")
    # trec_eval is a process for each run, which Linux counts the peak of this one for
    memory = float("nan") if peer == "trec_eval" else peak()
    print(json.dumps({"wall": wall, "memory": memory}))


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


def measure(collection: Path, repeat: int) -> str:
    peers = installed()
    with tempfile.TemporaryDirectory() as folder:
        dumped = {peer: Path(folder) / f"{peer}.json" for peer in peers}
        for peer in peers:  # compiles what compiles, too
            spawn(peer, collection, 1, dumped[peer])
        values = {peer: json.loads(file.read_text("utf-8")) for peer, file in dumped.items()}
    left_out = {"ranx": tied_lists(collection)} if "ranx" in peers else {}
    off = {
        peer: furthest(values["irmeta"], values[peer], left_out.get(peer, set())) for peer in peers
    }
    for peer in peers:
        if off[peer] > PEERS[peer][2]:
            raise SystemExit(f"{peer} is off by {off[peer]}: nothing to compare.")
    cells = [(p, cores) for p in peers for cores in range(1, PEERS[p][1] + 1)]
    runs: dict[tuple[str, int], list[dict[str, float]]] = {}
    for _ in range(repeat):
        for peer, cores in cells:
            runs.setdefault((peer, cores), []).append(spawn(peer, collection, cores))
    found = {cell: median(times) for cell, times in runs.items()}
    _, paths = files(collection)
    size = sum(path.stat().st_size for path in paths) / 1e6
    lines = [
        f"{len(paths)} runs, {size:,.0f} MB of plain text; {machine()}, Python "
        f"{platform.python_version()}; median of {repeat}.",
        "",
        "| program | cores | wall s | MB/s | irmeta on as many | peak MB | values differ by |",
        "|---|---|---|---|---|---|---|",
    ]
    for (peer, cores), figures in found.items():
        ratio = figures["wall"] / found["irmeta", cores]["wall"]
        memory = "–" if math.isnan(figures["memory"]) else f"{figures['memory']:.0f}"
        name = peer if peer == "trec_eval" else peer.replace(module(peer), released(peer))
        lines.append(
            f"| {name} | {cores} | {figures['wall']:.2f} | {size / figures['wall']:.0f} | "
            f"{ratio:.1f} times as fast | {memory} | {off[peer]:.0e} |"
        )
    both = found["irmeta", 2]["wall"]
    lines.append("")
    lines += [
        f"- irmeta on two cores is {found[peer, 1]['wall'] / both:.1f} times as fast as {peer} on "
        "the one that it can use."
        for peer in peers
        if PEERS[peer][1] == 1
    ]
    takes = {peer: found[peer, 1]["memory"] for peer in peers if "," not in peer}
    less = [f"{peer} {own:.0f}" for peer, own in takes.items() if own < takes["irmeta"]]
    if less:
        lines.append(f"- irmeta takes more memory: {takes['irmeta']:.0f} MB; {', '.join(less)}.")
    return "\n".join(lines)


def module(peer: str) -> str:
    return peer.partition(",")[0]


def released(peer: str) -> str:
    """The program and its version."""
    name = module(peer)
    package = {"pytrec_eval": "pytrec_eval-terrier", "ir_measures": "ir-measures"}.get(name, name)
    return f"{name} {version(package)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collection", type=Path, help="a folder with one track")
    parser.add_argument("--repeat", type=int, default=3)
    for name, kind in (("--peer", str), ("--work", Path), ("--cores", int), ("--values", Path)):
        parser.add_argument(name, type=kind, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.peer:
        one(chosen.peer, chosen.collection, chosen.work, chosen.cores, chosen.values)
        return
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
