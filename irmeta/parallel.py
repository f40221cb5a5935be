"""A bounded, ordered map over an Executor."""

from __future__ import annotations

import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from irmeta._version import __version__
from irmeta.clusters import executor_failure, submit_options, worker_failure
from irmeta.errors import (
    IrmetaError,
    UsageError,
    Warned,
    check_whole,
    collected_warnings,
    warn,
)

Item = TypeVar("Item")
Result = TypeVar("Result")
Done = tuple[Result, list[Warned]]
"""A result, and the warnings of its call."""


def usable_cores() -> int:
    """Return the number of processors that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(workers: int | None) -> int:
    """Return `workers`, or the number of usable cores for None.

    Raises UsageError if `workers` is not a whole number, or below 1.
    """
    return usable_cores() if workers is None else check_whole("workers", workers)


@dataclass
class _Fork:
    """Whether this process is a child whose parent had threads when it forked."""

    may_hang: bool = False
    is_unsafe: bool = False

    def before(self) -> None:
        """Note in the parent whether polars has started its threads."""
        tasks = Path("/proc/self/task")  # of Linux; elsewhere processes are spawned by default
        try:
            threads = [(task / "comm").read_text() for task in tasks.iterdir()]
        except OSError:
            threads = []
        self.may_hang = any(name.startswith("polars-") for name in threads)

    def in_child(self) -> None:
        """Remember in the child that the threads of the parent are gone."""
        self.is_unsafe = self.is_unsafe or self.may_hang


_fork = _Fork()
if hasattr(os, "register_at_fork"):  # Windows cannot fork
    os.register_at_fork(before=_fork.before, after_in_child=_fork.in_child)


def check_not_forked() -> None:
    """Raise `UsageError` in a process forked after irmeta or polars ran threads.

    A fork does not copy the threads; locks that they held stay closed, and polars waits forever.
    """
    if _fork.is_unsafe:
        raise UsageError(
            "this process was forked after irmeta or polars had started threads, and would hang: "
            "start processes by multiprocessing.get_context('spawn'), fork before the first "
            "call, or use threads."
        )


LEAST_OPEN_FILES = 64
"""The limit of open files below which threads and drawing fail unpredictably."""


def check_open_files() -> None:
    """Check that this process may open enough files.

    Raises UsageError if the operating system's limit is below `LEAST_OPEN_FILES`.
    """
    if sys.platform == "win32":  # has no such limit
        return
    from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit

    limit, _ = getrlimit(RLIMIT_NOFILE)
    if limit != RLIM_INFINITY and limit < LEAST_OPEN_FILES:
        raise UsageError(
            f"this process may open {limit} files at once, and irmeta needs {LEAST_OPEN_FILES}: "
            f"raise the limit, such as by `ulimit -n {4 * LEAST_OPEN_FILES}`."
        )


class ObjectPool(Generic[Item]):
    """A pool of objects that one thread uses at a time; it grows if none of `all` is idle."""

    def __init__(self, make: Callable[[], Item]) -> None:
        self._make = make
        self._idle: SimpleQueue[Item] = SimpleQueue()
        self.all: list[Item] = []

    @contextmanager
    def borrow(self) -> Generator[Item]:
        """Borrow an object until the block ends."""
        try:
            item = self._idle.get_nowait()
        except Empty:
            item = self._make()
            self.all.append(item)
        try:
            yield item
        finally:
            self._idle.put(item)

    def keep(self, item: Item) -> None:
        """Lend only one object from now on. No object may be borrowed; `all` remains."""
        self._idle = SimpleQueue()
        self._idle.put(item)


def usable_memory() -> int:
    """Return the bytes of memory of this process: the machine's, or a control group's limit."""
    memory = 8 << 30  # default for Windows, which has no `sysconf`
    if sys.platform != "win32":
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([memory, *group_limits(Path("/"))])


def release_freed() -> None:
    """Return freed memory of this process to the system, where the C library keeps it (glibc)."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim is not None:
            trim(0)


def group_limits(root: Path) -> Iterator[int]:
    """Yield the memory limits in bytes of this process's control groups and their parents.

    Containers and batch systems (SLURM) use control groups of Linux, version 1 or 2.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text("utf-8").splitlines()
    except OSError:
        return
    for _, controllers, path in (line.split(":", 2) for line in lines):
        if controllers == "":
            folder, name = root / "sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            folder, name = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        for group in (PurePosixPath(path), *PurePosixPath(path).parents):
            try:
                limit = (folder / group.relative_to("/") / name).read_text("utf-8").strip()
            except (OSError, ValueError):  # not visible from within a container
                continue
            if limit.isdigit():  # or "max"
                yield int(limit)


_TICK = 0.1
"""Seconds between looks for an interrupt: polars makes the system restart longer waits."""


class _Flag:
    """Whether the results of this or an enclosing map are no longer needed."""

    def __init__(self) -> None:
        self._outer, self._is_set = _flag.get(), False

    def set(self) -> None:
        self._is_set = True

    def is_set(self) -> bool:
        return self._is_set or (self._outer is not None and self._outer.is_set())


_flag: ContextVar[_Flag | None] = ContextVar("_flag", default=None)  # of the call in this thread


def check_stopped() -> None:
    """End a call of `ordered_map` whose result is no longer needed; long calls check it often.

    Raises KeyboardInterrupt if the map that made the call has failed, or was interrupted or closed.
    """
    if (flag := _flag.get()) is not None and flag.is_set():
        raise KeyboardInterrupt


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    ahead: int = 1,
    stop: Callable[[], None] | None = None,
    abandon: bool = False,
    lost: Callable[[Item, IrmetaError], Result] | None = None,
) -> Generator[Result, None, None]:
    """Yield ``function(item)`` in the order of `items`, independent of completion order.

    At most `workers` + `ahead` results are in flight, so that memory stays bounded; 1 worker
    without `executor` is the calling thread, where all warnings are issued. `executor` (not shut
    down) takes the place of a new pool of threads. After an error or interrupt, `stop` is called,
    and `check_stopped` raises in `function`; `abandon` leaves threads that may wait for a network.
    `lost` returns the result of an item whose worker was killed. Raises the exceptions of
    `function` in order, `ExecutorError` without workers, and `UsageError` for workers of another
    irmeta or forked processes. Close the generator to end its threads.
    """
    check_not_forked()
    if isinstance(executor, ProcessPoolExecutor):
        _check_start(executor)
    is_unlimited = executor is not None and workers is None
    workers = thread_count(workers)
    if executor is None and workers == 1:
        for item in items:
            check_stopped()
            yield function(item)
        return
    most = sys.maxsize if is_unlimited else workers + ahead
    threads = ThreadPoolExecutor(workers) if executor is None else None
    pool = executor or threads
    assert pool is not None
    options = submit_options(pool)
    flag = _Flag()
    waiting: deque[tuple[Item, Future[Done[Result]]]] = deque()

    def send(item: Item) -> Future[Done[Result]]:
        sent = flag if threads is not None else None  # other processes do not share it
        return pool.submit(_call, function, item, __version__, sent, **options)

    def received() -> Result:
        item, future = waiting[0]
        _wait([future])
        waiting.popleft()
        try:
            return _issued(*future.result())
        except Exception as error:
            if worker_failure(error) is None:
                raise
        # Other items of the worker may be the cause: when they are done, try this one alone.
        _wait([future for _, future in waiting])
        again = send(item)
        try:
            _wait([again])
            return _issued(*again.result())
        except Exception as error:
            if (failure := worker_failure(error)) is None:
                raise
            if lost is None:
                raise failure from error
            return lost(item, failure)

    try:
        for item in items:
            waiting.append((item, send(item)))
            if len(waiting) >= most:
                yield received()
        while waiting:
            yield received()
    except Exception as error:
        if (failure := executor_failure(error)) is not None:
            raise failure from error
        raise
    finally:
        flag.set()
        if waiting and stop is not None:
            stop()
        running = [future for _, future in waiting if not future.cancel()]
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)
            if not abandon:
                _wait(running)
                threads.shutdown()


def _wait(futures: Collection[Future[Any]]) -> None:
    """Wait until some calls are done, or for an interrupt."""
    while wait(futures, timeout=_TICK).not_done:
        pass


def _call(
    function: Callable[[Item], Result], item: Item, version: str, flag: _Flag | None = None
) -> Done[Result]:
    """Call a function in a worker, and return its result and warnings."""
    if version != __version__:
        raise UsageError(
            f"a worker runs irmeta {__version__}, and this process irmeta {version}: install the "
            "same version everywhere."
        )
    before = _flag.set(flag)
    try:
        check_stopped()
        with collected_warnings() as warned:
            return function(item), warned
    finally:
        _flag.reset(before)


def _issued(result: Result, warned: list[Warned]) -> Result:
    """Return a result, and issue the warnings of its call."""
    for text, category in warned:
        warn(text, category)
    return result


def _check_start(executor: ProcessPoolExecutor) -> None:
    """Reject forked processes, which wait forever for locks held by threads of polars.

    Forking is the default on Linux before Python 3.14.
    """
    context = getattr(executor, "_mp_context", None)
    if context is not None and context.get_start_method() == "fork":
        raise UsageError(
            "forked processes may hang: give ProcessPoolExecutor a "
            "mp_context=multiprocessing.get_context('spawn')."
        )
