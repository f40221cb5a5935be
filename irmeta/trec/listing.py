"""List files in folders; a folder that cannot be opened is an error, not an empty folder."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from irmeta.errors import DataError, printable

_MAGIC = re.compile(r"[*?\[]")
MOST_FOLDERS = 100_000
"""Number of folders in which one pattern may look for files; a whole disk has more."""


def list_folder(root: Path, folder: str) -> list[str]:
    """Return the names of the entries of a folder, sorted, without hidden files.

    Raises
    ------
    DataError
        If the folder cannot be opened.
    """
    try:
        names = os.listdir(root / folder)
    except OSError as error:
        raise _closed(folder, error) from None
    return sorted(name for name in names if not name.startswith("."))


def files_below(root: Path, folder: str) -> Iterator[str]:
    """Yield the files in a folder and its sub-folders, without hidden ones.

    A symbolic link to a folder below is yielded as a file: links may form cycles.

    Raises
    ------
    DataError
        If a folder cannot be opened.
    """
    for name in list_folder(root, folder):
        path = f"{folder}/{name}"
        if is_folder(root, path) and not (root / path).is_symlink():
            yield from files_below(root, path)
        else:
            yield path


def expand(root: Path, pattern: str) -> set[str]:
    """Return the files that a pattern matches, relative to `root` if the pattern is.

    ``*``, ``?`` and ``[...]`` match within a name, ``**`` matches any folders except symbolic
    links, which may form cycles. Hidden files match no pattern.

    Raises
    ------
    DataError
        If a folder in which files may match cannot be opened.
    ValueError
        If `pattern` is malformed, or matches in more than `MOST_FOLDERS` folders.
    """
    given = [part for part in pattern.split("/") if part not in ("", ".")]
    # Adjacent ** match the same folders as one, in exponentially many ways.
    pairs = zip(given, ["", *given], strict=False)
    parts = [part for part, before in pairs if not part == before == "**"]
    if not parts or parts[-1] == "**" or any("**" in part and part != "**" for part in parts):
        raise ValueError("is not a file pattern")
    budget = iter(range(MOST_FOLDERS))
    paths = _matches(root, "/" if pattern.startswith("/") else "", parts, budget)
    return {path for path in paths if not path.rsplit("/", 1)[-1].startswith(".")}


def _matches(root: Path, folder: str, parts: list[str], budget: Iterator[int]) -> Iterator[str]:
    if not parts:
        yield folder.removesuffix("/")
        return
    if next(budget, None) is None:
        raise ValueError(f"matches files in more than {MOST_FOLDERS:,} folders")
    first, *remaining = parts
    if first == "**":
        yield from _matches(root, folder, remaining, budget)
        for name in list_folder(root, folder):
            path = f"{folder}{name}"
            if not (root / path).is_symlink() and is_folder(root, path):
                yield from _matches(root, f"{folder}{name}/", parts, budget)
        return
    if _MAGIC.search(first):
        names = [name for name in list_folder(root, folder) if fnmatchcase(name, first)]
    else:
        names = [first] if _exists(root, folder + first) else []
    for name in names:
        if not remaining or is_folder(root, folder + name):
            yield from _matches(root, f"{folder}{name}/", remaining, budget)


def _exists(root: Path, path: str) -> bool:
    try:
        os.lstat(root / path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _closed(path, error) from None
    return True


def is_folder(root: Path, path: str) -> bool:
    """Check whether a path is a folder.

    Raises
    ------
    DataError
        If the operating system refuses to tell, for example without permission.
    """
    try:
        return stat.S_ISDIR(os.stat(root / path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _closed(path, error) from None


def _closed(path: str, error: OSError) -> DataError:
    return DataError(f"cannot be opened ({error.strerror})", file=printable(path or "."))


def fixed_part(pattern: str) -> str:
    """Return the file or folder that a pattern names before its first wildcard."""
    parts = pattern.split("/")
    plain = next((i for i, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
    return "/".join(parts[:plain]) or ("/" if pattern.startswith("/") else ".")
