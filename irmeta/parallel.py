"""A bounded, ordered map over an Executor. It knows nothing of tracks."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from irmeta.errors import UsageError, check_whole

Item = TypeVar("Item")
Result = TypeVar("Result")


def usable_cores() -> int:
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(workers: int | None) -> int:
    """How many threads `workers` asks for: None, as many as there are usable cores.

    Raises
    ------
    UsageError
        If it is no whole number, or below 1.
    """
    return usable_cores() if workers is None else check_whole("workers", workers)


LEAST_OPEN_FILES = 64
"""The limit of open files under which threads and drawing fail at random places."""


def check_open_files() -> None:
    """Check that the operating system lets this process open files enough.

    Raises
    ------
    UsageError
        With the limit, if it is below `LEAST_OPEN_FILES`.
    """
    try:
        from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
    except ImportError:  # Windows has no such limit
        return
    limit, _ = getrlimit(RLIMIT_NOFILE)
    if limit != RLIM_INFINITY and limit < LEAST_OPEN_FILES:
        raise UsageError(
            f"this process may open {limit} files at once, and irmeta needs {LEAST_OPEN_FILES}: "
            f"raise the limit, such as by `ulimit -n {4 * LEAST_OPEN_FILES}`."
        )


class Lent(Generic[Item]):
    """Things that only one thread may use at a time: another is made when none is idle.

    Attributes
    ----------
    all
        Every one that was made.
    """

    def __init__(self, make: Callable[[], Item]) -> None:
        self._make = make
        self._idle: SimpleQueue[Item] = SimpleQueue()
        self.all: list[Item] = []

    @contextmanager
    def lend(self) -> Iterator[Item]:
        """One of them, for this thread alone."""
        try:
            one = self._idle.get_nowait()
        except Empty:
            one = self._make()
            self.all.append(one)
        try:
            yield one
        finally:
            self._idle.put(one)


def usable_memory() -> int:
    """How many bytes of memory this process may take: the machine's, or what a group is allowed."""
    found = 8 << 30  # where nothing tells
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([found, *group_limits(Path("/"))])


def group_limits(root: Path) -> Iterator[int]:
    """The bytes that this process's control groups, and those around them, are allowed.

    Containers and batch systems (SLURM) make such groups, of Linux's version 1 or 2.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for _, controllers, own in (line.split(":", 2) for line in lines):
        if controllers == "":
            folder, name = root / "sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            folder, name = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        for group in (PurePosixPath(own), *PurePosixPath(own).parents):
            try:
                limit = (folder / group.relative_to("/") / name).read_text().strip()
            except (OSError, ValueError):  # not to be seen from within a container
                continue
            if limit.isdigit():  # or "max"
                yield int(limit)


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    ahead: int = 1,
    stop: Callable[[], None] | None = None,
) -> Generator[Result, None, None]:
    """Yield ``function(item)`` in the order of `items`, whatever finishes first.

    At most `workers` + `ahead` results are in flight, so that memory stays bounded when the
    consumer is slower than the workers.

    Parameters
    ----------
    workers
        Default the usable cores. With 1 and no `executor`, everything runs in the calling thread.
    executor
        Any concurrent.futures.Executor; threads of our own when None. It is left running.
    ahead
        More lets the others go on for longer beside an item that takes long.
    stop
        Called when no one wants the results that are under way, after an error or an interrupt:
        own threads are waited for, and `function` may end early.

    Raises
    ------
    Exception
        Whatever `function` raises, at that item's turn; what has not begun is cancelled.
    UsageError
        If `executor` forks its processes.

    Close it to be sure that own threads have ended, where it may be left early.
    """
    workers = thread_count(workers)
    if isinstance(executor, ProcessPoolExecutor):
        _check_start(executor)
    if executor is None and workers == 1:
        yield from map(function, items)
        return
    own = ThreadPoolExecutor(workers) if executor is None else None
    pool = executor or own
    assert pool is not None
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= workers + ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        if waiting and stop is not None:
            stop()
        for future in waiting:
            future.cancel()
        if own is not None:
            own.shutdown()


def _check_start(executor: ProcessPoolExecutor) -> None:
    """Refuse a fork, which waits forever for locks that threads of polars held at that moment.

    It is what Python before 3.14 does on Linux unless it is told another way.
    """
    context = getattr(executor, "_mp_context", None)
    if context is not None and context.get_start_method() == "fork":
        raise UsageError(
            "forked processes may hang: give ProcessPoolExecutor a "
            "mp_context=multiprocessing.get_context('spawn')."
        )
