"""Dask clusters as executors, and workers that die."""

from __future__ import annotations

import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import pytest

import irmeta
from irmeta import clusters, errors, parallel
from irmeta.clusters import dask_executor, worker_memory
from irmeta.errors import DataError, IrmetaError, NamesWarning, UsageError, warn
from irmeta.parallel import ordered_map
from support import ingesting
from support.executors import Killing, cluster_in_process, content
from support.tiny import collection

pytestmark = pytest.mark.exhaustive

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[distributed.Client]:
    """A cluster of two threads in this process."""
    with cluster_in_process() as one:
        yield one


@pytest.mark.usefixtures("undrawn")
def test_reanalyze__cluster_and_threads_give_equal_bytes(client, tmp_path: Path, monkeypatch):
    """Of a collection and results that are named by relative paths."""
    monkeypatch.chdir(tmp_path)
    collection(tmp_path / "in", "a", "b", "c")
    irmeta.reanalyze("in", "threads", measures="AP,ASL")
    told = []
    done = irmeta.reanalyze(
        "in",
        "cluster",
        measures="AP,ASL",
        executor=client.get_executor(),
        progress=lambda *now: told.append(now),
    )
    assert done.batch.analysed == ("a", "b", "c")
    assert content(tmp_path / "cluster") == content(tmp_path / "threads")
    assert [now[0] for now in told] == ["a", "b", "c"] * 2


def test_ordered_map__equal_calls_on_a_cluster_are_all_run(client):
    ran: list[int] = []
    RAN[id(ran)] = ran
    for _ in range(2):
        assert list(ordered_map(record, [id(ran)] * 2, executor=client.get_executor())) == [0, 0]
    assert ran == [1] * 4


RAN: dict[int, list[int]] = {}


def record(number: int) -> int:
    RAN[number].append(1)
    return 0


def test_worker_memory__limit_and_threads_of_the_worker(client):
    assert worker_memory() is None
    limit, threads = client.submit(worker_memory).result()
    assert threads == 2
    assert limit == next(iter(client.cluster.workers.values())).memory_manager.memory_limit


def test_ordered_map__closed_client_is_an_error(client):
    with distributed.Client(client.scheduler.address, set_as_default=False) as closed:
        executor = closed.get_executor()
    with pytest.raises(IrmetaError, match=r"lost its workers \(.*\)\. What is written is complete"):
        list(ordered_map(abs, [1], executor=executor))


def test_ordered_map__broken_process_pool_is_an_error():
    with (
        ProcessPoolExecutor(1, get_context("spawn")) as executor,
        pytest.raises(IrmetaError, match="lost its workers"),
    ):
        list(ordered_map(os._exit, [1, 2], executor=executor))


def test_ordered_map__killed_worker_loses_one_item():
    """An item that shared a worker with it is run again."""
    with Killing(1) as executor:
        found = ordered_map(abs, [1, 2, 3], executor=executor, lost=lambda item, error: -item)
        assert list(found) == [1, -2, 3]
        with pytest.raises(IrmetaError, match="its worker was killed 4 times"):
            list(ordered_map(abs, [1, 2, 3], executor=executor))


def warned(number: int) -> int:
    warn(f"{number}\x1b", NamesWarning)
    time.sleep(0.01 * (3 - number))
    if number == 3:
        raise ValueError("wrong")
    return number


def test_ordered_map__warnings_of_workers_are_issued_in_order_by_the_caller(client):
    """Those of a failing call are issued where it runs."""
    with pytest.warns(NamesWarning) as seen:
        assert list(ordered_map(warned, [0, 1, 2], executor=client.get_executor())) == [0, 1, 2]
    assert [str(one.message) for one in seen] == ["0\\x1b", "1\\x1b", "2\\x1b"]
    with pytest.warns(NamesWarning, match="3"), pytest.raises(ValueError, match="wrong"):
        parallel._call(warned, 3, irmeta.__version__)


def test_ordered_map__workers_with_another_version_are_refused(monkeypatch):
    with ThreadPoolExecutor(1) as executor:
        future = executor.submit(parallel._call, abs, 1, "0.0")
        with pytest.raises(UsageError, match=r"this process irmeta 0\.0: install the same"):
            future.result()


def kinds() -> list[type[Exception]]:
    found = [IrmetaError, *(one for one in vars(errors).values() if isinstance(one, type))]
    return sorted(
        {one for one in found if issubclass(one, Exception)}, key=lambda one: one.__name__
    )


@pytest.mark.parametrize("kind", kinds())
def test_errors__survive_the_way_from_another_process(kind: type[Exception]):
    """Of IrmetaError, every subclass is in irmeta.errors."""
    error = kind("wrong")
    if kind is DataError:
        error = DataError(
            "wrong {x}", file="f", line=3, track="t", value=b"v", ids={"x": 1}, fix="F."
        )
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (kind, str(error), vars(error))


def test_errors__all_in_one_module():
    def below(kind: type) -> set[type]:
        return {kind}.union(*map(below, kind.__subclasses__()))

    own = {one for one in below(IrmetaError) if one.__module__.startswith("irmeta")}
    # These stay in their process: no worker of a cluster fetches, or parses trec_eval's arguments,
    # and a file beyond the memory limit becomes an error of its track where it is read.
    kept = ("irmeta.archive", "irmeta.measures.trec_eval", "irmeta.trec.room")
    sent = {one for one in own if not one.__module__.startswith(kept)}
    assert sent <= set(kinds())


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("local:", "names no number of workers: write local:4"),
        ("local:two", "names no number of workers"),
        ("local:0", "local:N = 0 is not a whole number of at least 1"),
        ("none.json", "none.json is not a file"),
        ("nonsense://x", "no Dask scheduler answers at 'nonsense://x'"),
        ("tcp://127.0.0.1:9", "no Dask scheduler answers at .* within 0.2 seconds"),
    ],
)
def test_dask_executor__unusable_address_is_an_error(address: str, said: str, monkeypatch):
    monkeypatch.setattr(clusters, "CONNECT_SECONDS", 0.2)
    with pytest.raises(UsageError, match=said), dask_executor(address):
        pass


def test_dask_executor__missing_package_is_an_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install 'irmeta\[dask\]'"), dask_executor("local:2"):
        pass


def test_dask_executor__running_cluster_is_left_running(client, tmp_path: Path):
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": client.scheduler.address}))
    for address in (client.scheduler.address, str(file)):
        with dask_executor(address) as executor:
            assert executor.submit(abs, -1).result() == 1
    assert client.submit(abs, -2).result() == 2


@pytest.mark.usefixtures("undrawn")
def test_command__dask_address_starts_tracks_on_the_cluster(run, client, tmp_path: Path):
    source, address = collection(tmp_path / "in", "a", "b"), client.scheduler.address
    before = client.cluster.scheduler.transition_counter
    for command in (
        ("ingest", source, "--out", tmp_path / "store"),
        ("reanalyze", source, "--out", tmp_path / "out", "-m", "AP"),
        ("study", "properties", "--out", tmp_path / "study", "--length", "3"),
    ):
        done = run(*command, "--dask", address)
        assert (done.status, done.err) == (0, "")
        after = client.cluster.scheduler.transition_counter
        assert after > before, f"no task of {command[0]} was run"
        before = after
        refused = run(*command, "--dask", address, "--workers", 2)
        assert (refused.status, refused.err[:19]) == (2, "irmeta: --workers i")


def test_ingest__killed_worker_is_the_failure_of_its_track(tmp_path: Path):
    source = ingesting.put(tmp_path / "in", ingesting.TWO)
    said = pytest.raises(IrmetaError, match="track b: its worker was killed 4 times")
    with Killing(1) as executor, said:
        irmeta.ingest(source, tmp_path / "store", executor=executor)


DYING = """
import os
from irmeta.studies.framework import runner

def dying(study, store, task, *more, real=runner._compute):  # Dask may run this file twice
    if task.track == "z":
        os._exit(9)
    return real(study, store, task, *more)

runner._compute = dying
"""


@pytest.mark.slow
def test_reanalyze__killed_workers_leave_the_same_bytes(tmp_path: Path):
    """Both workers are killed while tracks remain; the track `z` kills each of its workers."""
    tracks = [f"t{i}" for i in range(6)]
    collection(tmp_path / "in", *tracks, "z")
    store = irmeta.ingest(tmp_path / "in", tmp_path / "store").path
    irmeta.reanalyze(store, tmp_path / "threads", track=tracks, measures="AP,ASL")
    preload = tmp_path / "preload.py"
    preload.write_text(DYING)
    killed: set[int] = set()
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            preload=[str(preload)],
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):

        def kill(track: str, done: int, total: int) -> None:
            if not killed:
                killed.update(worker.pid for worker in cluster.workers.values())
                for process in killed:
                    os.kill(process, signal.SIGKILL)

        executor = client.get_executor()
        said = r"^1 of 7 tracks failed\. track z: its worker was killed 2 times"
        with pytest.raises(IrmetaError, match=said):
            irmeta.reanalyze(
                store, tmp_path / "out", measures="AP,ASL", executor=executor, progress=kill
            )
        assert not killed & {worker.pid for worker in cluster.workers.values()}
    assert content(tmp_path / "out") == content(tmp_path / "threads")


def living(group: int) -> list[str]:
    """Return the processes of a group, except those that ended and wait for their parent."""
    states = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended meanwhile
            state, _, of = file.read_text().rpartition(")")[2].split()[:3]
            states += [state] * (int(of) == group and state not in "ZX")
    return states


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_command__interrupt_ends_local_workers(tmp_path: Path):
    """Ctrl-C reaches all processes of a terminal."""
    collection(tmp_path / "in", *(f"t{i}" for i in range(40)))
    out = tmp_path / "out"
    command = [sys.executable, "-c", "from irmeta.cli import main; main()", "reanalyze"]
    process = subprocess.Popen(
        [*command, str(tmp_path / "in"), "--out", str(out), "--dask", "local:1"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while process.poll() is None and not list(out.glob(".parts/*/files.json")):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate()[1]
    assert process.returncode == 130
    assert said == "irmeta: stopped; written tracks are complete, run again to continue\n"
    end = time.monotonic() + 20  # Python's resource tracker ends a little later
    while (left := living(process.pid)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not left
