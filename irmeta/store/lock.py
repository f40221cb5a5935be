"""Lock that admits one writer at a time to a folder."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from irmeta.errors import UsageError
from irmeta.locations import Location, local

NAME = ".lock"


@contextmanager
def only_writer(folder: Location) -> Generator[None]:
    """Hold the lock of a folder; the operating system releases it when the process ends.

    Raises
    ------
    UsageError
        If another process or thread holds the lock, or the folder is on object storage.
    """
    from filelock import FileLock, Timeout  # slow to import, and readers need none

    folder = local(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / NAME)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise UsageError(f"another process is writing {folder}: wait for it to end.") from None
    try:
        yield
    finally:
        lock.release()
