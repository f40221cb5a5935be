"""Executors of Dask clusters, and failures of the workers of any executor."""

from __future__ import annotations

import logging
import re
import signal
import sys
import time
from collections.abc import Callable, Generator
from concurrent.futures import CancelledError, Executor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from irmeta.errors import ExecutorError, IrmetaError, UsageError, check_whole

CONNECT_SECONDS = 10
"""Seconds in which a scheduler must answer."""
VISIBLE_SECONDS = 60
"""Seconds in which a file of a worker must appear here: network file systems cache folders."""


@contextmanager
def dask_executor(address: str) -> Generator[Executor]:
    """Start or connect to a Dask cluster, and yield it as an executor until the block ends.

    Parameters
    ----------
    address : str
        ``local:N`` starts N processes on this machine, which end with the block. Otherwise the
        address of a scheduler (``tcp://node7:8786``), or the path of its scheduler file
        (``scheduler.json``); that cluster continues to run.

    Yields
    ------
    Executor
        For the argument `executor` of `ingest`, `reanalyze`, studies and `Store.evaluate`. A
        `Client` of your own gives one too: ``client.get_executor()``.

    Raises
    ------
    UsageError
        If Dask is not installed (``pip install 'irmeta[dask]'``), the address is malformed, or no
        scheduler answers within 10 seconds.

    Examples
    --------
    >>> with irmeta.dask_executor("local:2") as executor:  # doctest: +SKIP
    ...     irmeta.reanalyze("collection/", "results/", executor=executor)
    """
    try:
        from distributed import Client
    except ImportError as error:
        fix = "pip install 'irmeta[dask]'"
        raise UsageError(f"Dask cannot be imported ({error}): {fix}.") from None
    with ExitStack() as stack:
        if (workers := _local_workers(address)) is not None:
            client = Client(stack.enter_context(_started(workers)), set_as_default=False)
        else:
            client = _connected(address)
        stack.enter_context(client)
        yield client.get_executor(pure=False)


def _started(workers: int) -> Any:
    """Return a cluster of processes on this machine."""
    from distributed import LocalCluster

    _start_silent_tracker()
    try:
        # A dashboard without an address would be open to other machines.
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.ERROR,
            preload=[__name__],
        )
    except RuntimeError as error:
        fix = "Call it below `if __name__ == '__main__':`, since each process imports the script."
        raise UsageError(f"the processes of Dask do not start ({error}). {fix}") from error


def _start_silent_tracker() -> None:
    """Start the process with which Python removes the semaphores of processes that end.

    It warns of semaphores on stderr if Ctrl-C ends this process before the cluster is closed.
    """
    if sys.platform == "win32":  # has no such process
        return
    from multiprocessing import resource_tracker

    sys.warnoptions.append("ignore:resource_tracker")  # only a new process reads them
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.remove("ignore:resource_tracker")


def dask_setup(worker: Any) -> None:
    """Let a process of a local cluster ignore Ctrl-C, after which this process ends it in silence.

    Dask calls the function of this name when a worker starts.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.getLogger("distributed.worker").setLevel(logging.CRITICAL)
    logging.getLogger("distributed.worker.memory").setLevel(logging.WARNING)


def _local_workers(address: str) -> int | None:
    """Return the number N of ``local:N``, None for another address."""
    name, _, number = address.partition(":")
    if name != "local":
        return None
    if not re.fullmatch("[0-9]+", number):
        raise UsageError(f"{address!r} names no number of workers: write local:4.")
    return check_whole("local:N", int(number))


def _connected(address: str) -> Any:
    """Return a client of a running scheduler."""
    from distributed import Client

    place: dict[str, Any] = {"address": address}
    if address.endswith(".json"):
        if not Path(address).is_file():
            raise UsageError(f"{address} is not a file: name the scheduler file, or an address.")
        place = {"scheduler_file": address}
    try:
        return Client(**place, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"no Dask scheduler answers at {address!r} within {CONNECT_SECONDS} seconds "
            f"({' '.join(str(error).split())}): name a running one, such as tcp://node7:8786, or "
            "start processes on this machine by local:4."
        ) from error


def submit_options(executor: Executor) -> dict[str, Any]:
    """Return keywords of `submit` by which equal calls are not merged into one.

    Dask would return the result of an earlier equal call, although its files may be gone.
    """
    return {"pure": False} if type(executor).__module__ == "distributed.cfexecutor" else {}


def worker_failure(error: BaseException) -> IrmetaError | None:
    """Return the error of one task whose worker died; None for another error."""
    if "KilledWorker" not in _class_names(error):
        return None
    times = getattr(error, "allowed_failures", 0) + 1
    return IrmetaError(
        f"its worker was killed {times} times while it ran alone, most likely for lack of memory. "
        "Give workers more memory, or fewer threads each."
    )


def executor_failure(error: BaseException) -> IrmetaError | None:
    """Return the error of an executor that has lost all of its workers; None for another error."""
    broken = {"BrokenExecutor", "CommClosedError", "ClosedClientError", "CancelledError"}
    if isinstance(error, ModuleNotFoundError) and error.name == "irmeta":
        return UsageError("irmeta is not installed where the workers run: install it there.")
    if not isinstance(error, CancelledError) and not broken & _class_names(error):
        return None
    reason = " ".join(str(error).split()) or type(error).__name__
    return ExecutorError(
        f"the executor has lost its workers ({reason}). What is written is complete: run it again "
        "to continue."
    )


def _class_names(error: BaseException) -> set[str]:
    """Return the names of an error's classes: Dask's own need no import."""
    return {kind.__name__ for kind in type(error).__mro__}


def worker_memory() -> tuple[int, int] | None:
    """Return the memory limit in bytes and the threads of the Dask worker that runs this thread.

    None outside of a worker, and for a worker without a limit.
    """
    if (distributed := sys.modules.get("distributed")) is None:
        return None
    try:
        worker = distributed.get_worker()
    except ValueError:
        return None
    limit = worker.memory_manager.memory_limit
    return None if limit is None else (int(limit), int(worker.state.nthreads))


def appears(is_visible: Callable[[], bool]) -> bool:
    """Wait until a file that a worker has written is visible here.

    Network file systems remember for up to a minute that a file is missing.
    """
    end = time.monotonic() + VISIBLE_SECONDS
    while not is_visible():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True
