"""One writer at a time for a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from irmeta.errors import UsageError

try:
    import fcntl
except ImportError:  # not on Windows, where an open file cannot be removed instead
    fcntl = None

NAME = ".lock"


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; the operating system lets go of it however the process ends.

    Raises
    ------
    UsageError
        If another process holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / NAME
    busy = UsageError(f"another process is writing {folder}: wait for it to end.")
    if fcntl is None:
        try:
            path.unlink(missing_ok=True)
        except OSError:
            raise busy from None
    with path.open("w") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise busy from None
        yield
