"""Ingest gives the same store for any threads, processes and memory limit."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import irmeta
from irmeta.policies import ReadPolicy
from irmeta.store import read_track as room
from irmeta.store.ingest import ingest_collection
from irmeta.store.layout import Layout
from irmeta.store.read_run import KINDS, InMemory, Spilled
from irmeta.store.readers import Readers
from support.ingesting import content, outcomes, put

pytestmark = pytest.mark.exhaustive


def stored(collection: Path, store: Path, **means) -> dict[str, bytes]:
    found = ingest_collection(collection, Layout(store), ReadPolicy(), **means)
    assert {o.state for o in found} == {"written"}
    assert not list(store.glob(".staging/*"))
    return content(store)


@pytest.fixture(scope="module")
def alone(collections, tmp_path_factory) -> dict[str, bytes]:
    """Return the content of the store written by one thread."""
    return stored(collections, tmp_path_factory.mktemp("alone") / "store", workers=1)


@pytest.mark.parametrize("workers", [2, 3, 8, None])
def test_ingest__bytes_do_not_depend_on_thread_count(collections, store, alone, workers):
    assert stored(collections, store, workers=workers) == alone


@pytest.mark.parametrize("workers", [2, 5])
def test_ingest__threads_share_the_runs_of_a_track(collections, tmp_path, workers):
    """Threads share the runs of the only track, and each thread numbers names itself."""
    one = tmp_path / "one"
    one.mkdir()
    (one / "news").symlink_to(collections / "news")
    whole = stored(one, tmp_path / "whole", workers=1)
    assert stored(one, tmp_path / "shared", workers=workers) == whole


PROCESSES = partial(ProcessPoolExecutor, mp_context=get_context("spawn"))


@pytest.mark.parametrize("pool", [PROCESSES, ThreadPoolExecutor], ids=["processes", "threads"])
def test_ingest__bytes_do_not_depend_on_executor(collections, store, alone, pool):
    executor: Executor
    with pool(2) as executor:
        assert stored(collections, store, executor=executor) == alone
        states = ingest_collection(collections, Layout(store), ReadPolicy(), executor=executor)
        assert {o.state for o in states} == {"unchanged"}


def enough(collection: Path, store: Path, workers: int = 1) -> int:
    """Return the limit at which the advice of refusals ends: each names a higher one."""
    memory, advised = 0, [0]
    while advised:
        memory = max(memory + 1, *advised)
        each = ingest_collection(
            collection, Layout(store), ReadPolicy(), memory=memory, workers=workers
        )
        errors = [str(outcome.error) for outcome in each if outcome.state == "failed"]
        advised = [int(re.findall(r"`memory=(\d+)`", error)[0]) for error in errors]
        assert not advised or max(advised) > memory
    return memory


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_ingest__following_the_advice_of_refusals_ends(
    collections, store, tmp_path, alone, workers
):
    memory = enough(collections, tmp_path / "refused", workers)
    assert stored(collections, store, memory=memory, workers=workers) == alone
    each = ingest_collection(
        collections, Layout(tmp_path / "less"), ReadPolicy(), memory=memory - (2 << 20)
    )
    assert "failed" in {outcome.state for outcome in each}
    assert "do not fit into the memory limit" in str([outcome.error for outcome in each])


def run_of(docs: Iterable[int]) -> str:
    return "".join(f"1 Q0 doc{doc} 1 {-place} s\n" for place, doc in enumerate(docs))


def test_ingest__threads_share_one_dictionary_of_docs_when_memory_is_short(
    tmp_path, store, monkeypatch
):
    files = {f"t/runs/{s}": run_of(range(s, 6000 + s)) for s in range(6)}
    collection = put(tmp_path / "c", files | {"t/qrels": "1 0 doc0 1\n1 0 other 1\n"})
    united, whole = [], Readers.unite
    monkeypatch.setattr(Readers, "unite", lambda self: united.append(len(self.all)) or whole(self))
    free = stored(collection, tmp_path / "free", workers=2)
    assert len(united) == 1
    memory = enough(collection, tmp_path / "refused")
    united.clear()
    assert stored(collection, store, memory=memory, workers=2) == free
    assert len(united) == 2


def test_ingest__tracks_that_do_not_fit_together_are_read_one_by_one(tmp_path, store):
    files = {f"{t}/runs/s": run_of(range(9000)) for t in "ab"}
    collection = put(tmp_path / "c", files | {f"{t}/qrels": "1 0 doc0 1\n" for t in "ab"})
    memory = enough(collection, tmp_path / "refused", workers=2)
    stored(collection, store, memory=memory, workers=2)


def test_ingest_command__refusal_names_its_option(collections, store, run):
    ran = run("ingest", collections, "--out", store, "--memory", "1M")
    assert ran.status == 1
    assert "do not fit into the memory limit of 1 MiB" in ran.err
    assert re.search(r"The runs read so far need \d+ MiB: use at least `--memory \d+`", ran.err)


@pytest.mark.slow
def test_ingest__peak_memory_is_within_a_fifth_of_the_limit(tmp_path):
    """4.5 million rows with 2 million docs; kernels are compiled before."""
    random = np.random.default_rng(0)
    folder = tmp_path / "c" / "t" / "runs"
    folder.mkdir(parents=True)
    (folder.parent / "qrels").write_text("0 0 clueweb09-en0000000001 1\n")
    for s in range(9):
        with (folder / str(s)).open("w") as file:
            for query in range(500):
                docs = np.unique(random.integers(0, 2_000_000, 1000)).tolist()
                lines = (f"{query} Q0 clueweb09-en{d:010} 1 {-i} s\n" for i, d in enumerate(docs))
                file.writelines(lines)
    limit, named = 0, [0]
    while named:  # the refusal of a single file names what that file needs
        limit = named[0]
        store = Layout(tmp_path / f"store-{limit}")
        (found,) = ingest_collection(tmp_path / "c", store, ReadPolicy(), memory=limit, workers=2)
        named = [int(one) for one in re.findall(r"`memory=(\d+)`", str(found.error))]
    for memory in (limit, limit * 5 // 4):
        code = (
            "import irmeta, re\n"
            f"irmeta.ingest({str(tmp_path / 'c')!r}, {str(tmp_path / str(memory))!r}, "
            f"memory={memory}, workers=2)\n"
            "print(*re.findall(r'VmHWM:\\s*(\\d+) kB', open('/proc/self/status').read()))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert int(done.stdout) * 1024 <= 1.2 * memory


@pytest.mark.parametrize("most", [1, 700])
def test_ingest__rows_beyond_the_row_limit_are_spilled(
    collections, store, alone, most, monkeypatch
):
    monkeypatch.setattr(room, "MOST_ROWS", most)
    assert stored(collections, store) == alone


def test_ingest__truncated_spill_file_fails_the_track(collections, store, monkeypatch):
    """The file is truncated, as when a full disk refuses the last bytes of a buffer."""
    monkeypatch.setattr(room, "MOST_ROWS", 1)
    whole, refused = InMemory.spill, []

    def cut_short(self: InMemory, path: Path) -> Spilled:
        spilled = whole(self, path)
        if not refused and "news" in str(path):
            refused.append(path)
            os.truncate(path, path.stat().st_size - 5)
        return spilled

    monkeypatch.setattr(InMemory, "spill", cut_short)
    found = ingest_collection(collections, Layout(store), ReadPolicy(), workers=1)
    assert {o.track: o.state for o in found}.pop("news") == "failed"
    (error,) = [o.error for o in found if o.error is not None]
    assert "track news: cannot be written to the store" in str(error)
    assert "is shorter than the rows written to it" in str(error)
    assert irmeta.open_store(store).tracks == ["passage", "web"]


def test_spill__full_disk_is_an_error(tmp_path):
    """/dev/full refuses all data on flush."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    arrays = {name: np.zeros(9, kind) for name, kind in KINDS.items()}
    with pytest.raises(OSError, match="No space left"):
        InMemory(arrays).spill(Path("/dev/full"))


def test_ingest__spilled_lists_of_interleaved_queries_are_merged(tmp_path, store, monkeypatch):
    """Lists adjacent in the store are not adjacent in the run files."""
    queries = [str(q) for q in range(40)]
    files = {"t/qrels": "".join(f"{q} 0 d{q} 1\n" for q in queries)}
    for s in range(5):
        turned = queries[s * 7 :] + queries[: s * 7]
        order = turned if s < 4 else [*turned, *turned]  # the last run has each list in two pieces
        half = 3 if s == 4 else 6
        files[f"t/runs/{s}"] = "".join(
            f"{q} Q0 d{i + half * (place >= 40)} 1 {-i} s{s}\n"
            for place, q in enumerate(order)
            for i in range(half)
        )
    collection = put(tmp_path / "c", files)
    held = stored(collection, tmp_path / "held")
    monkeypatch.setattr(room, "MOST_ROWS", 1)
    assert stored(collection, store) == held


def test_ingest__very_deep_list(tmp_path, store):
    """The deepest list of CLEF TAR has 12,805 docs."""
    run = "".join(f"1 Q0 doc{i:06} {i} {1e6 - i // 3} deep\n" for i in range(12_805))
    collection = put(tmp_path / "c", {"t/runs/r": run, "t/qrels": "1 0 doc012804 1\n"})
    (outcome,) = outcomes(collection, store)
    assert outcome.error is None
    opened = irmeta.open_store(store)
    assert opened.info()["deepest_rank"].item() == 12_805
    ranks = opened.runs().sort("rank").collect()
    # Docs tie in threes, except the last one; the larger doc ID ranks first.
    expected = [i for first in range(0, 12_804, 3) for i in (first + 2, first + 1, first)]
    assert ranks["doc"].to_list() == [f"doc{i:06}" for i in [*expected, 12_804]]
    assert opened.systems()["tied_rows"].item() == 12_804
    assert opened.means("RR").get_column("value").item() == pytest.approx(1 / 12_805)
