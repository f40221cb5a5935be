"""Executors for tests: a Dask cluster in this process, and workers that die."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

distributed = pytest.importorskip("distributed")


def content(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder except those that contain the time, or checksums of them."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
        and file.suffix != ".pdf"
        and file.name not in (".cache.json", ".lock", "files.json")
    }


@contextmanager
def cluster_in_process() -> Iterator[distributed.Client]:
    """Start a cluster of two threads in this process."""
    settings = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": "127.0.0.1:0"}
    with (
        distributed.LocalCluster(processes=False, **settings) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


class Killing(ThreadPoolExecutor):
    """Executor whose worker dies of the item 2 or the track b, and once of the item 3."""

    died = False

    def submit(self, function: Callable, *args, **options) -> Future:
        def call():
            item = getattr(args[1], "name", args[1])
            if item in (2, "b") or (item == 3 and not self.died):
                self.died |= item == 3
                raise distributed.KilledWorker("t", SimpleNamespace(address="tcp://w"), 3)
            return function(*args, **options)

        return super().submit(call)
