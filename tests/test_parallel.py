"""The bounded ordered map, thread counts and memory limits."""

import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import irmeta
from irmeta.errors import UsageError, shown
from irmeta.parallel import (
    ObjectPool,
    check_open_files,
    check_stopped,
    group_limits,
    ordered_map,
    thread_count,
    usable_cores,
    usable_memory,
)

WORKERS = pytest.mark.parametrize("workers", [1, 2, 5, None])


class Counting(ThreadPoolExecutor):
    """Executor that counts submitted calls."""

    submitted = 0

    def submit(self, *args, **kwargs) -> Future:
        self.submitted += 1
        return super().submit(*args, **kwargs)


def double(x: int) -> int:
    return 2 * x


@WORKERS
def test_ordered_map__keeps_the_order_of_items(workers):
    def slow_first(x: int) -> int:
        time.sleep(0.02 if x % 4 == 0 else 0)
        return 2 * x

    assert list(ordered_map(slow_first, range(20), workers=workers)) == list(range(0, 40, 2))
    assert list(ordered_map(slow_first, [], workers=workers)) == []


@pytest.mark.parametrize("ahead", [1, 5])
def test_ordered_map__limits_submitted_items(ahead):
    with Counting(8) as executor:
        results = ordered_map(double, iter(range(50)), workers=3, executor=executor, ahead=ahead)
        most = max(executor.submitted - taken for taken, _ in enumerate(results))
        assert most == 3 + ahead
        assert executor.submitted == 50


def test_ordered_map__consumes_items_lazily():
    drawn = []
    items = (drawn.append(i) or i for i in range(100))
    results = ordered_map(double, items, workers=2)
    assert next(results) == 0
    assert len(drawn) <= 4
    results.close()


def test_ordered_map__calls_stop_after_error_or_close():
    """`stop` is called after an error or an early close, not after completion."""
    told = []

    def wrong(item: int) -> int:
        if item == 1:
            raise ValueError(item)
        return item

    with pytest.raises(ValueError, match="1"):
        list(ordered_map(wrong, range(9), workers=2, stop=lambda: told.append("error")))
    results = ordered_map(double, range(9), workers=2, stop=lambda: told.append("gone"))
    next(results)
    results.close()
    assert list(ordered_map(double, range(9), workers=2, stop=lambda: told.append("no")))
    assert told == ["error", "gone"]


def until_stopped(_: object) -> None:
    while True:
        check_stopped()
        time.sleep(0.01)


def inner_map(_: object) -> None:
    list(ordered_map(until_stopped, range(2), workers=2))


@pytest.mark.skipif(os.name != "posix", reason="Windows has no pthread_kill")
@pytest.mark.parametrize("function", [until_stopped, inner_map])
@pytest.mark.parametrize("items", [1, 5])
def test_ordered_map__interrupt_ends_running_calls(function: Callable[..., None], items: int):
    """One signal is enough, although polars makes the system restart waits."""
    main, stopped = threading.main_thread().ident, []
    assert main is not None
    timer = threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        list(ordered_map(function, range(items), workers=2, stop=lambda: stopped.append(1)))
    assert stopped == [1]
    timer.join()


def test_ordered_map__abandoned_calls_are_not_waited_for():
    ended, stopped = threading.Event(), threading.Event()

    def call(item: int) -> None:
        if item == 0:
            raise ValueError
        ended.wait(9)

    with pytest.raises(ValueError):  # noqa: PT011 (it is this test's)
        list(ordered_map(call, range(2), workers=2, abandon=True, stop=stopped.set))
    assert stopped.is_set()
    assert not ended.is_set()
    ended.set()


def test_object_pool__threads_never_share_an_object():
    pool, meeting = ObjectPool(object), threading.Barrier(3, timeout=9)

    def use(_: int) -> object:
        with pool.borrow() as one:
            meeting.wait()
            return one

    first = list(ordered_map(use, range(3), workers=3))
    assert len({id(one) for one in first}) == 3
    with pytest.raises(ValueError, match="lost"), pool.borrow() as one:
        raise ValueError("lost")
    with pool.borrow() as again, pool.borrow() as other:
        assert again is not other
    assert [id(one) for one in pool.all].count(id(one)) == 1
    assert len(pool.all) == 3  # a returned object is borrowed again, even after an error


def test_ordered_map__workers_run_concurrently():
    meeting = threading.Barrier(3, timeout=20)
    assert len(list(ordered_map(lambda _: meeting.wait(), range(3), workers=3))) == 3


def test_ordered_map__single_worker_uses_the_calling_thread():
    threads = list(ordered_map(lambda _: threading.get_ident(), range(3), workers=1))
    assert threads == [threading.get_ident()] * 3


@WORKERS
def test_ordered_map__raises_exception_in_order(workers):
    results = ordered_map(lambda x: 6 // (3 - x), range(9), workers=workers)
    assert [next(results) for _ in range(3)] == [2, 3, 6]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_ordered_map__exception_cancels_pending_items():
    begun = []

    def fail(x: int) -> None:
        begun.append(x)
        time.sleep(0.1 * x)
        raise ValueError(x)

    with ThreadPoolExecutor(1) as executor, pytest.raises(ValueError, match="0"):
        list(ordered_map(fail, range(100), workers=4, executor=executor))
    assert begun in ([0], [0, 1])


def test_ordered_map__given_executor_is_not_shut_down():
    with ThreadPoolExecutor(2, thread_name_prefix="given") as executor:
        names = ordered_map(
            lambda _: threading.current_thread().name, range(5), workers=1, executor=executor
        )
        assert {name.split("_")[0] for name in names} == {"given"}
        assert executor.submit(double, 4).result() == 8


def test_thread_count__default_is_usable_cores(monkeypatch):
    assert usable_cores() == len(os.sched_getaffinity(0))
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores() == 1
    assert thread_count(None) == 1
    assert thread_count(3) == 3


@pytest.mark.parametrize(
    "workers", [0, -1, 1.5, 2.0, math.nan, math.inf, True, "2", Fraction(2), np.float64(2)]
)
def test_thread_count__invalid_number_is_refused(workers):
    said = re.escape(f"workers = {shown(workers)} is not a whole number of at least 1.")
    with pytest.raises(UsageError, match=said):
        thread_count(workers)
    with pytest.raises(UsageError, match=said):
        list(ordered_map(double, range(3), workers=workers))


@pytest.mark.parametrize("workers", [2, np.int64(2), np.uint8(2)])
def test_thread_count__accepts_numpy_integers(workers):
    assert (thread_count(workers), type(thread_count(workers))) == (2, int)


@pytest.mark.parametrize(
    ("groups", "limits", "right"),
    [
        ("0::/", {"memory.max": "5000"}, [5000]),  # as in a container
        ("0::/a/b", {"a/b/memory.max": "max", "a/memory.max": "3000"}, [3000]),
        ("0::/a", {"a/memory.max": "70", "memory.max": "90", "b/memory.max": "1"}, [70, 90]),
        ("0::/../a", {"memory.max": "60"}, [60]),
        (
            "5:cpu,memory:/job\n4:pids:/\n0::/",
            {"memory/job/memory.limit_in_bytes": "40", "job/memory.max": "1"},
            [40],
        ),
        ("3:cpuset:/", {"memory.max": "50"}, []),
        (None, {"memory.max": "50"}, []),
    ],
)
def test_group_limits__reads_control_groups(tmp_path, groups, limits, right):
    """Both versions of Linux control groups are read, with enclosing groups."""
    files = {f"sys/fs/cgroup/{name}": text for name, text in limits.items()}
    if groups is not None:
        files["proc/self/cgroup"] = groups
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    assert sorted(group_limits(tmp_path)) == right


def test_usable_memory__limited_by_machine_and_control_group(monkeypatch):
    whole = usable_memory()
    assert 1 << 28 < whole < 1 << 50
    monkeypatch.setattr("irmeta.parallel.group_limits", lambda root: iter([whole // 2, whole]))
    assert usable_memory() == whole // 2


def test_limits__unknown_on_windows(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delattr(os, "sysconf")
    monkeypatch.setitem(sys.modules, "resource", None)  # an import fails
    monkeypatch.setattr("irmeta.parallel.group_limits", lambda root: iter(()))
    assert usable_memory() == 8 << 30
    check_open_files()


def test_ordered_map__forked_processes_are_refused():
    """Forked processes would wait forever for locks held by threads of this process."""
    with ProcessPoolExecutor(1, get_context("fork")) as executor:
        with pytest.raises(UsageError, match=r"get_context\(.spawn.\)"):
            list(ordered_map(double, range(3), executor=executor))
        assert not executor._processes


@pytest.mark.exhaustive
@pytest.mark.skipif(os.name != "posix", reason="there is no such limit")
@pytest.mark.parametrize("command", ["ingest", "reanalyze", "study"])
def test_check_open_files__low_limit_is_an_error(two_tracks: Path, tmp_path: Path, command: str):
    """Nothing is written."""
    store, out = tmp_path / "store", tmp_path / "out"
    if command == "study":
        irmeta.ingest(two_tracks, store)
    arguments = {
        "ingest": ("ingest", two_tracks, "--out", out),
        "reanalyze": ("reanalyze", two_tracks, "--out", out),
        "study": ("study", "search-length", store, "--out", out),
    }[command]
    script = (
        "import resource; from irmeta.cli import main; "
        "_, hard = resource.getrlimit(resource.RLIMIT_NOFILE); "
        "resource.setrlimit(resource.RLIMIT_NOFILE, (20, hard)); main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr == (
        "irmeta: this process may open 20 files at once, and irmeta needs 64: "
        "raise the limit, such as by `ulimit -n 256`.\n"
    )
    assert not out.exists()


FORKED = """
import os, signal, sys, warnings
import polars, irmeta
warnings.simplefilter("ignore", DeprecationWarning)
qrels, runs = {"q": {"a": 1, "b": 0}}, {"s": {"q": {"a": 1.0, "b": 2.0}}, "t": {"q": {"a": 1.0}}}
store = None

def child(call):
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)  # a child that hangs is killed
        try:
            call()
            said = "ran"
        except irmeta.UsageError as error:
            said = str(error)
        print(said, flush=True)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0, "the child hung"

child(lambda: irmeta.evaluate(qrels, runs, "map"))
store = irmeta.from_data(qrels, runs)
frame = store.evaluate("AP", per_query=True)
child(lambda: irmeta.evaluate(qrels, runs, "map"))
child(lambda: store.means("AP"))
child(lambda: irmeta.compare(frame))
child(lambda: irmeta.prefer(store))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="forking is the default on Linux alone")
def test_fork__child_after_threads_gets_an_error_and_before_runs():
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    first, *others = done.stdout.splitlines()
    assert first == "ran"
    assert len(others) == 4
    assert all("forked after irmeta or polars had started threads" in said for said in others)
