"""Atomic writes of files, which files may be replaced, locks of folders, and names of files."""

from __future__ import annotations

import errno
import itertools
import os
import re
import secrets
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath

from irmeta.errors import UsageError, shown
from irmeta.locations import Location, local

FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a full disk, of a quota, and of a limit of the size of files."""
_OUTPUT = "standard output"
_TEMPORARY = re.compile(r"\..+\.(\d+)(?:-[0-9a-f]+)?\.irmeta\.tmp")  # the writer's process
_TOKEN = secrets.token_hex(4)  # processes of other machines may have the same number
_in_use: set[str] = set()  # temporary files that this process is writing


@contextmanager
def replacing(path: Location) -> Generator[Path]:
    """Yield the path of a temporary file that one rename puts at `path` when the block ends.

    After an error, `path` is unchanged. Raises UsageError if `path` is a URL.
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


MARKS = (b'"irmeta": ', b"% irmeta ", b"<!-- irmeta ", b"Software\0irmeta ")
"""How irmeta marks its files: JSON, LaTeX and PDF, Markdown and SVG, PNG."""


def has_mark(path: Path) -> bool:
    """Check whether a file of text or an image has a mark near its beginning or its end."""
    with path.open("rb") as file:
        ends = file.read(500)
        file.seek(max(0, path.stat().st_size - 200))
        ends += file.read()
    return any(mark in ends for mark in MARKS)


def check_target(path: Path, endings: Sequence[str] = (), what: str = "an output file") -> None:
    """Reject a folder, and an ending that is not among `endings`, unless these are empty."""
    if endings and path.suffix not in endings:
        listed = f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise UsageError(f"{path}: the ending of {what} is {listed}.")
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name a file.")


def check_ours(
    path: Path,
    is_ours: Callable[[Path], bool] = has_mark,
    *,
    force: bool,
    problem: str = " and irmeta did not write it",
) -> None:
    """Reject an existing file that irmeta did not write, unless `force`."""
    if path.exists() and not force and not is_ours(path):
        raise UsageError(f"{path} exists{problem}: use `force=True` to replace it.")


def is_free(folder: Path) -> bool:
    """Check whether a new folder may be there: a path without a file, or without visible files."""
    if not folder.exists():
        return True
    return folder.is_dir() and all(path.name.startswith(".") for path in folder.iterdir())


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


NAME = ".lock"


@contextmanager
def only_writer(folder: Location) -> Generator[None]:
    """Hold the lock of a folder; the operating system releases it when the process ends.

    Raises UsageError if another process or thread holds it, or the folder is on object storage.
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


LONGEST_NAME = 200  # of a folder, in bytes; file systems allow 255, and files add a suffix
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def folder_name(track: str) -> str:
    """Encode a track's name as a folder: percent-encoded, never hidden, never `.` or `..`.

    Only ASCII letters, digits, `-`, `_` and inner dots remain, so that no name leaves the store,
    has a wildcard or looks like a `key=value` partition; names that Windows reserves start with an
    encoded letter. Raises UsageError if the name is too long.
    """
    name = "".join(chr(b) if b in _PLAIN else f"%{b:02X}" for b in track.encode())
    if len(name) > LONGEST_NAME:
        raise UsageError(f"the track name {shown(track)} is too long for a folder's name.")
    if name.startswith(".") or _RESERVED.fullmatch(name):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    return f"{name[:-1]}%2E" if name.endswith(".") else name  # Windows drops a final dot


_UNUSUAL = re.compile(r"[^\w@.-]+")
"""Characters that names of files for people do not have."""


def plain_file_names(texts: Iterable[str]) -> dict[str, str]:
    """Return a name of a file, without its ending, for each text: readable and without codes.

    Names differ on file systems that ignore case, and are no longer than 120 bytes.

    Examples
    --------
    >>> from irmeta.files import plain_file_names
    >>> plain_file_names(["nDCG@10.bm25", "AP(rel=2)", "AP rel 2", "a/b"]).values()
    dict_values(['nDCG@10.bm25', 'AP_rel_2', 'AP_rel_2_2', 'a_b'])
    """
    files: dict[str, str] = {}
    used: set[str] = set()
    for text in dict.fromkeys(texts):
        short = _UNUSUAL.sub("_", text).encode()[:120].decode(errors="ignore")
        stem = short.strip("_.") or "unnamed"
        stem = f"_{stem}" if _RESERVED.fullmatch(stem) else stem
        numbered = (f"{stem}_{number}" for number in itertools.count(2))
        free = (name for name in itertools.chain([stem], numbered) if name.lower() not in used)
        files[text] = next(free)
        used.add(files[text].lower())
    return files


def check_case(tracks: Iterable[str]) -> None:
    """Raise UsageError if two names of tracks differ only in the case of ASCII letters."""
    folders: dict[bytes, str] = {}
    for track in sorted(set(tracks)):
        first = folders.setdefault(track.encode().lower(), track)
        if first != track:
            raise UsageError(
                f"the tracks {shown(first)} and {shown(track)} differ only in case, and file "
                "systems of Windows and macOS keep one of them: rename one."
            )


def file_names(systems: Iterable[str]) -> dict[str, str]:
    """Encode the names of systems as files that differ on file systems that ignore case.

    All letters are encoded in a name that differs only in case from an earlier one: BM25, bm25 are
    'BM25', '%62%6D25'.
    """
    files: dict[str, str] = {}
    used: set[str] = set()
    for system in sorted(set(systems)):
        name = folder_name(system)
        if name.lower() in used:
            name = re.sub("(?<!%)(?<!%.)[A-Za-z]", lambda letter: f"%{ord(letter[0]):02X}", name)
        used.add(name.lower())
        files[system] = name
    return files
