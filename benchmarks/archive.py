"""An artificial archive as large as that of Alex, Hall and Metzler (2022).

It has 76 tracks, 4,302 runs, 5,043 queries and 285 M rows.

    python benchmarks/archive.py OUT [--scale 0.01] [--seed 0] [--track NAME ...] [--workers N]

archive_plan.py says which tracks. At scale s a track keeps sqrt(s) of its runs (at least 5, as in
the paper) and of its queries (at least 3), so that the rows go with s while every track stays and
lists keep their depth.

Where the shared folder (IRMETA_SHARED) has a track's qrels, they are linked when the track uses all
of their queries, and else cut to the first ones in OUT. Other qrels are made. Lists hold judged
docs, relevant ones higher and more of them the better the run, and docs that nobody judged. A run's
text depends on the seed, the scale and its place in the plan alone.
"""

from __future__ import annotations

import argparse
import gzip
import os
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from archive_plan import COMMON, Track, plan
from bench_main_job import SHARED

PRELS = "prels."  # qrels files whose five columns begin with query, doc, grade
# A step that is a prime above every pool visits each of its docs once.
STEPS = (1_000_003, 1_000_033, 15_485_863, 32_452_843, 49_979_687)
GROUPS = (
    "okapi-title-",
    "uni.run",
    "ibmhybrid",
    "Clarit-feedback-",
    "CL-desc-",
    "pircRB",
    "udel_prox_rel",
    "city-bm25-expanded-",
    "anserini.rm3.",
)


def _cut(number: pl.Expr, *digits: int) -> list[pl.Expr]:
    """A number's last digits, those before them, ..., padded with zeros; then what is left."""
    parts = []
    for width in digits:
        parts.append((number % 10**width).cast(pl.String).str.zfill(width))
        number = number // 10**width
    return [*parts, number.cast(pl.String)]


def _news(number: pl.Expr) -> pl.Expr:
    day, page, _ = _cut(number, 6, 4)
    return (
        pl.when(number % 4 == 0)
        .then(pl.format("FBIS3-{}", number))
        .when(number % 4 == 1)
        .then(pl.format("FT{}-{}", 911 + number % 34, number // 34))
        .when(number % 4 == 2)
        .then(pl.format("LA{}-{}", day, page))
        .otherwise(pl.format("FR94{}-0-{}", *_cut(number, 4, 5)[:2]))
    )


# Every shape but the random ones is one to one in the number.
SHAPES: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "news": _news,
    "wt": lambda n: pl.format("WTX{}-B{}-{}", *_cut(n, 3, 2)),
    "gov": lambda n: pl.format("G{}-{}-{}", *_cut(n, 2, 2)),
    "gov2": lambda n: pl.format("GX{}-{}-{}", *_cut(n, 3, 2)),
    "mail": lambda n: pl.format("lists-{}-{}", *_cut(n, 3)),
    "blog": lambda n: pl.format("BLOG06-2005{}-{}-{}", *_cut(n, 4, 3)),
    "clueweb": lambda n: pl.format("clueweb09-en{}-{}-{}", *_cut(n, 4, 2)),
    "tweet": lambda n: (n * 2_147_483_647 + 28_000_000_000_000_000).cast(pl.String),
    "number": lambda n: n.cast(pl.String),
    "marco": lambda n: pl.format("MARCO_{}", n),
    "marcodoc": lambda n: pl.format("D{}", n),
}
HEX = {"cord": 8, "hex": 32, "uuid": 32}


def doc_names(shape: str, count: int, rng: np.random.Generator) -> pl.Series:
    """Different names of docs; a few fewer than `count` where random ones are alike."""
    if shape in HEX:
        width = HEX[shape]
        text = rng.bytes(count * width // 2).hex()
        names = pl.Series([text[i : i + width] for i in range(0, len(text), width)])
        if shape == "uuid":
            groups = [
                names.str.slice(a, n) for a, n in ((0, 8), (8, 4), (12, 4), (16, 4), (20, 12))
            ]
            names = pl.select(pl.concat_str(groups, separator="-")).to_series()
        return names.unique(maintain_order=True)
    numbers = np.arange(count, dtype=np.int64) * 5_700_357 % 2**27
    return pl.DataFrame({"n": numbers}).select(SHAPES[shape](pl.col("n"))).to_series()


@dataclass(frozen=True)
class Material:
    """What the runs of a track are made of.

    Attributes
    ----------
    query, grade
        Of every judged doc; the docs of a query stand together.
    ease
        Of each query: how large a part of its relevant docs is found.
    docs
        Names: the judged docs, then the corpus.
    starts
        Where in the corpus the docs of each query begin.
    """

    queries: list[str]
    query: np.ndarray
    grade: np.ndarray
    ease: np.ndarray
    docs: pl.Series
    starts: np.ndarray

    @property
    def corpus(self) -> int:
        return len(self.docs) - len(self.query)


def judged_rows(track: Track) -> list[list[str]] | None:
    """The lines of the track's real qrels, split, if they are there."""
    path = SHARED / "qrels" / f"{track.qrels}.txt.gz"
    if track.qrels is None or not path.is_file():
        return None
    return [line.split() for line in gzip.decompress(path.read_bytes()).decode().splitlines()]


def made_rows(track: Track, rng: np.random.Generator) -> list[list[str]]:
    """Judgments as qrels have them: each query some hundreds of docs, some of them relevant."""
    per_query = np.clip(rng.lognormal(np.log(track.depth**0.9), 0.4, track.queries), 10, 3000)
    names = doc_names(track.docs, int(3 * per_query.sum()) + 3000, rng)
    rows: list[list[str]] = []
    for number, judged in enumerate(per_query.astype(int)):
        share = rng.beta(1, 14)
        drawn = rng.choice(len(names), judged, replace=False)
        grades = (rng.random(judged) < share).astype(int) + (rng.random(judged) < share / 3)
        grades[0] = 1
        rows += [
            [str(number + 1), "0", doc, str(grade)]
            for doc, grade in zip(names[np.sort(drawn)], grades, strict=True)
        ]
    return rows


def material(track: Track, folder: Path, seed: int) -> tuple[Material, dict[str, str]]:
    """What runs are made of, and the qrels, put in the track's folder: their file and format."""
    rng = np.random.default_rng([seed, zlib.crc32(track.name.encode())])
    real = judged_rows(track)
    rows = real or made_rows(track, rng)
    ids = list(dict.fromkeys(row[0] for row in rows))
    queries = {name: number for number, name in enumerate(ids[: track.queries])}
    rows = sorted((r for r in rows if r[0] in queries), key=lambda r: queries[r[0]])
    if real and len(ids) == len(queries):
        file = folder / "qrels.gz"
        file.symlink_to((SHARED / "qrels" / f"{track.qrels}.txt.gz").resolve())
    else:
        file = folder / "qrels"
        file.write_text("".join(" ".join(row) + "\n" for row in rows), encoding="utf-8")
    prels = real and track.qrels.startswith(PRELS)
    doc, grade = (1, 2) if prels else (2, 3)
    judged = pl.Series([row[doc] for row in rows])
    wanted = max(200_000, int(track.depth * (3 + track.runs / 8)))
    corpus = doc_names(track.docs, wanted + len(rows), rng)
    corpus = corpus.filter(~corpus.is_in(judged.implode()))  # else a list could hold a doc twice
    of = Material(
        queries=list(queries),
        query=np.array([queries[row[0]] for row in rows]),
        grade=np.array([int(row[grade]) for row in rows]),
        ease=rng.beta(3, 2, len(queries)),
        docs=pl.concat([judged, corpus]),
        starts=rng.integers(0, len(corpus), len(queries)),
    )
    return of, {"file": f"{track.name}/{file.name}", "format": "prels" if prels else "trec"}


def list_lengths(track: Track, run: int, rng: np.random.Generator) -> np.ndarray:
    """How long the run's list for each query is: mostly as deep as the track allows."""
    depth = min(track.depth, COMMON) if run % 2 else track.depth
    kind = rng.random()
    if kind < 0.05:
        depth = min(depth, 10 if kind < 0.02 else 100)
    lengths = np.full(track.queries, depth)
    if rng.random() < 0.12:
        lengths = np.maximum(1, (depth * rng.random(track.queries)).astype(int))
    if rng.random() < 0.03:
        lengths[rng.integers(track.queries)] = 0
    return lengths


def ranked(
    of: Material, track: Track, lengths: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A run's rows in the order of its file: query, doc (a place in `docs`), rank from 0."""
    quality = rng.uniform(0.15, 0.95)
    relevant = of.grade > 0
    judged = np.bincount(of.query, minlength=track.queries)
    other = np.minimum(0.6, 0.45 * lengths / judged)
    chance = np.where(relevant, 0.05 + quality * of.ease[of.query], other[of.query])
    own = np.flatnonzero(rng.random(len(chance)) < chance)
    missing = np.maximum(lengths - np.bincount(of.query[own], minlength=track.queries), 0)
    filled = np.repeat(np.arange(track.queries), missing)
    turn = np.arange(len(filled)) - np.repeat(np.cumsum(missing) - missing, missing)
    # Runs draw from pools of different sizes that begin alike: some docs are found by nearly all.
    most = min(of.corpus, int(track.depth * (2 + track.runs / 8)))
    pool = int(np.exp(rng.uniform(np.log(1.1 * track.depth + 1), np.log(most))))
    drawn = (rng.integers(pool) + rng.choice(STEPS) * turn) % pool
    filler = len(of.query) + (of.starts[filled] + drawn) % of.corpus
    # Relevant docs stand higher, the better the run is; unjudged ones lower.
    towards = np.where(relevant[own], 1 + 4 * quality, 1.2)
    place = np.concatenate([rng.random(len(own)) ** towards, rng.random(len(filled)) ** 0.8])
    query = np.concatenate([of.query[own], filled])
    order = np.argsort(query + 0.999 * place)
    query, doc = query[order], np.concatenate([own, filler])[order]
    sizes = np.bincount(query, minlength=track.queries)
    rank = np.arange(len(query)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = rank < lengths[query]
    return query[kept], doc[kept], rank[kept]


def scored(
    rank: np.ndarray, length: np.ndarray, rng: np.random.Generator
) -> tuple[pl.Series, dict[str, Any]]:
    """Falling scores, printed in one of the ways that runs print them."""
    kind = rng.choice(6, p=(0.1, 0.5, 0.15, 0.1, 0.1, 0.05))
    if kind == 0:
        return pl.Series(length - rank), {}
    top = rng.choice((1.0, 12.0, 40.0))
    score = top * (1 - (rank + rng.random(len(rank))) / (length + 1))
    if kind == 1:
        return pl.Series(score), {}
    if kind == 2:
        return pl.Series(score.astype(np.float32)), {}
    if kind == 3:  # ties
        return pl.Series(score), {"float_precision": 2}
    if kind == 4:
        return pl.Series(score - top - 3), {"float_precision": 6}
    return pl.Series(score / 1e5), {"float_precision": 6, "float_scientific": True}


def write_run(track: Track, of: Material, folder: Path, seed: int, run: int) -> int:
    """Write a run's file; the bytes written."""
    rng = np.random.default_rng([seed, zlib.crc32(track.name.encode()), run])
    lengths = list_lengths(track, run, rng)
    query, doc, rank = ranked(of, track, lengths, rng)
    score, printed = scored(rank, lengths[query], rng)
    tag = f"{GROUPS[run % len(GROUPS)]}{run:03}"
    frame = pl.DataFrame(
        {
            "query": pl.Series(of.queries).gather(query),
            "Q0": pl.repeat("Q0", len(query), eager=True),
            "doc": of.docs.gather(doc),
            "rank": rank + (run % 10 > 0),
            "score": score,
            "tag": pl.repeat(tag, len(query), eager=True),
        }
    )
    path = folder / "runs" / f"{tag}.txt"
    separator = "\t" if run % 7 == 3 else " "
    frame.write_csv(path, separator=separator, include_header=False, quote_style="never", **printed)
    return path.stat().st_size


def make(tracks: Sequence[Track], out: Path, seed: int = 0, workers: int | None = None) -> int:
    """Write the tracks as one collection; the bytes of run text."""
    size, said = 0, []
    for track in tracks:
        folder = out / track.name
        (folder / "runs").mkdir(parents=True)
        of, qrels = material(track, folder, seed)
        with ThreadPoolExecutor(workers or len(os.sched_getaffinity(0))) as pool:
            write = partial(write_run, track, of, folder, seed)
            size += sum(pool.map(write, range(track.runs)))
        said += [
            f'[tracks."{track.name}"]\nruns = ["{track.name}/runs/*"]',
            f'[[tracks."{track.name}".qrels]]\nname = "qrels"',
            *(f'{key} = "{value}"' for key, value in qrels.items()),
        ]
    (out / "collection.toml").write_text("\n".join(said) + "\n", encoding="utf-8")
    return size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="a folder that is not there yet, or empty")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--track", action="append", help="only this; may be repeated")
    parser.add_argument("--workers", type=int)
    chosen = parser.parse_args()
    tracks = [t for t in plan(chosen.scale) if not chosen.track or t.name in chosen.track]
    print(make(tracks, chosen.out, chosen.seed, chosen.workers))


if __name__ == "__main__":
    main()
