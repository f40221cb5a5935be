"""Atomic writes of files, and removal of temporary files of killed writers."""

from __future__ import annotations

import errno
import os
import re
import secrets
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath

from irmeta.locations import Location, local

FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a full disk, of a quota, and of a limit of the size of files."""
_OUTPUT = "standard output"
_TEMPORARY = re.compile(r"\..+\.(\d+)(?:-[0-9a-f]+)?\.irmeta\.tmp")  # the writer's process
_TOKEN = secrets.token_hex(4)  # processes of other machines may have the same number
_in_use: set[str] = set()  # temporary files that this process is writing


@contextmanager
def replacing(path: Location) -> Generator[Path]:
    """Yield the path of a temporary file that replaces `path` when the block ends.

    The temporary file is in the same folder, so that one rename replaces `path`. After an error,
    `path` is unchanged.

    Raises
    ------
    UsageError
        If `path` is a URL.
    """
    path = local(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{_TOKEN}.irmeta.tmp")
    name = os.path.abspath(temporary)
    _in_use.add(name)
    try:
        with naming(path):
            yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
        _in_use.discard(name)


@contextmanager
def naming(path: object) -> Generator[None]:
    """Add the name of a file to errors of a full disk, which libraries leave out."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL_DISK and error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def writing_output() -> Generator[None]:
    """Name standard output in errors of a full disk, and discard what it still holds."""
    try:
        with naming(_OUTPUT):
            yield
    except OSError as error:
        if error.filename == _OUTPUT:
            discard_output()
        raise


def discard_output() -> None:
    """Write what standard output still holds to the null device.

    After a full disk or a closed pipe, the interpreter would report the same error again at exit.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_bytes(path: Location, data: bytes) -> None:
    """Write a file atomically."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def write_text(path: Location, text: str) -> None:
    """Write a text file atomically, in UTF-8 and with unchanged line ends."""
    write_bytes(path, text.encode())


def is_inside(path: str) -> bool:
    """Check whether a path or pattern stays inside the folder that it is relative to.

    Drives and backslashes have their meaning on Windows, and are plain characters elsewhere.
    """
    native = PurePath(path)
    return not native.anchor and ".." not in native.parts


def remove_temporaries(*folders: Path) -> None:
    """Remove the temporary files of writers that were killed from some folders.

    Temporary files of writers that still run on this machine, and all other files, are kept.
    """
    for folder in folders:
        for file in folder.iterdir() if folder.is_dir() else ():
            name = _TEMPORARY.fullmatch(file.name)
            if name is not None and not _is_in_use(file, int(name[1])):
                with suppress(OSError):
                    file.unlink()


def _is_in_use(temporary: Path, process: int) -> bool:
    if process == os.getpid():  # processes of a container may reuse a number
        return os.path.abspath(temporary) in _in_use
    if os.name != "posix":  # Windows does not remove open files
        return False
    try:
        os.kill(process, 0)  # sends no signal
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # of another user
        return True
    return True
