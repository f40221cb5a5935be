"""A file that takes more memory than the limit leaves is refused before it is read."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.store import ingest
from irmeta.store.ingest import Share
from irmeta.trec import room
from irmeta.trec.room import START

LIMIT = START + (2 << 20)


def table(count: int) -> pl.DataFrame:
    rows = range(count)
    return pl.DataFrame(
        {
            "query_id": [str(row // 1000) for row in rows],
            "doc_id": [f"clueweb09-en{row:010}" for row in rows],
            "score": [float(-row % 1000) for row in rows],
        }
    )


def trec(frame: pl.DataFrame) -> str:
    return "".join(f"{q} Q0 {d} 1 {s} s\n" for q, d, s in frame.iter_rows())


def tags(frame: pl.DataFrame) -> str:
    return "".join(f"1 Q0 {d} 1 {s} {d}\n" for _, d, s in frame.iter_rows())


def by_query(frame: pl.DataFrame) -> str:
    found: dict[str, dict[str, float]] = {}
    for query, doc, score in frame.iter_rows():
        found.setdefault(query, {})[doc] = score
    return json.dumps(found)


def quoted(frame: pl.DataFrame) -> str:
    return frame.write_csv(separator="\t", quote_style="always")


FORMS: dict[str, Callable[[pl.DataFrame], str]] = {
    "trec": trec,
    "tags": tags,
    "msmarco": lambda frame: "".join(f"{q}\t{d}\t{-s + 1:g}\n" for q, d, s in frame.iter_rows()),
    "blanks": lambda frame: "".join(
        f"{q}\tQ0\t{d} b\t1\t{s}\tt\n" for q, d, s in frame.iter_rows()
    ),
    "csv": lambda frame: frame.write_csv(),
    "quoted": quoted,
    "json": by_query,
    "lists": lambda frame: json.dumps({"q": frame["doc_id"].to_list()}),
    "jsonl": lambda frame: frame.write_ndjson(),
}
RUNS = [*FORMS, "gz", "parquet", "equal"]
QRELS = ["trec", "csv", "json", "jsonl", "parquet"]


def write(path: Path, form: str, count: int, kind: str = "run") -> None:
    """Write a file of `count` rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = table(count)
    if kind == "qrels" and form == "trec":
        path.write_text(
            "".join(f"{q} 0 {d} 1\n" for q, d, _ in frame.iter_rows()), encoding="utf-8"
        )
    elif form == "equal":  # a small file with many rows
        one = frame.head(1).select(pl.all().repeat_by(count).explode())
        one.write_parquet(path)
    elif form == "parquet":
        frame.write_parquet(path)
    elif form == "gz":
        path.write_bytes(gzip.compress(trec(frame).encode()))
    else:
        path.write_text(FORMS[form](frame), encoding="utf-8")


def made(folder: Path, form: str, count: int, kind: str) -> Path:
    """Write a collection of one track whose run or qrels have `count` rows."""
    for one, plain in (("run", "1 Q0 d 1 1.0 s\n"), ("qrels", "1 0 d 1\n")):
        path = folder / "t" / ("runs/r" if one == "run" else "qrels")
        path.parent.mkdir(parents=True, exist_ok=True)
        if one == kind:
            write(path, form, count, kind)
        else:
            path.write_text(plain)
    return folder


CASES = [*(("run", form) for form in RUNS), *(("qrels", form) for form in QRELS)]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("kind", "form"), CASES)
def test_ingest__file_beyond_the_limit_is_refused_by_name(
    tmp_path: Path, kind: str, form: str, workers: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(room, "FLOOR", 0)
    collection = made(tmp_path / "c", form, 20_000, kind)
    with pytest.raises(irmeta.IrmetaError, match="MiB of memory are left for it") as error:
        irmeta.ingest(collection, tmp_path / "store", memory=LIMIT, workers=workers)
    assert f"t/{'runs/r' if kind == 'run' else 'qrels'}: reading it" in str(error.value)


@pytest.mark.parametrize("form", ["csv", "json", "equal"])
def test_read__file_beyond_the_limit_is_refused_by_name(
    tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(room, "FLOOR", 0)
    collection = made(tmp_path / "c", form, 60_000, "run")
    with pytest.raises(irmeta.IrmetaError, match="r: reading it takes about"):
        irmeta.read(collection, memory=20 << 20)
    with pytest.raises(irmeta.IrmetaError, match="r: reading it takes about"):
        irmeta.read_files(*files(collection), memory=20 << 20)


def files(collection: Path) -> tuple[Path, Path]:
    return collection / "t" / "qrels", collection / "t" / "runs" / "r"


def test_ingest__files_too_large_for_two_threads_are_read_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """One thread may take all of the memory, and rows that were read move to a file."""
    monkeypatch.setattr(room, "FLOOR", 0)
    collection = made(tmp_path / "c", "csv", 5000, "run")
    for name in "abc":
        write(collection / "t" / "runs" / name, "csv", 5000)
    irmeta.ingest(collection, tmp_path / "free")
    irmeta.ingest(collection, tmp_path / "store", memory=START + (10 << 20), workers=4)
    stores = [irmeta.open_store(tmp_path / name) for name in ("free", "store")]
    assert stores[0].fingerprint == stores[1].fingerprint


def test_share__default_limit_is_strict(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ingest, "usable_memory", lambda: 8 << 30)
    limits = Share(2, None, at_once=2, processes=1).limits()
    assert limits.is_strict
    assert limits.memory == ((2 << 30) - START) // 2
    monkeypatch.setattr(ingest, "usable_memory", lambda: 1 << 30)
    assert Share(2, None, at_once=1, processes=1).limits().memory == START


PEAK = """
import re, sys, irmeta
try:
    irmeta.ingest(sys.argv[1], sys.argv[2], memory=int(sys.argv[3]), workers=2)
except irmeta.IrmetaError as error:
    print(error)
print(*re.findall(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read()))
"""


@pytest.mark.slow
@pytest.mark.parametrize("memory", [400 << 20, 700 << 20])
@pytest.mark.parametrize(("kind", "form"), CASES)
def test_ingest__peak_memory_of_every_form_is_within_a_fifth_of_the_limit(
    tmp_path: Path, kind: str, form: str, memory: int
):
    """The process reads the file, or refuses it; kernels are compiled before."""
    collection = made(tmp_path / "c", form, 700_000, kind)
    given = [sys.executable, "-c", PEAK, str(collection), str(tmp_path / "store"), str(memory)]
    done = subprocess.run(given, capture_output=True, check=True, text=True)
    peak = int(re.findall(r"(\d+)\n\Z", done.stdout)[0]) * 1024
    assert peak <= 1.2 * memory
