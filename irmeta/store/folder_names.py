"""Names of tracks and systems as names of folders and files, on every platform."""

from __future__ import annotations

import re
from collections.abc import Iterable

from irmeta.errors import UsageError, shown

LONGEST_NAME = 200  # of a folder, in bytes; file systems allow 255, and files add a suffix
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def folder_name(track: str) -> str:
    """Encode a track's name as a folder: percent-encoded, never hidden, never `.` or `..`.

    Only ASCII letters, digits, `-`, `_` and inner dots remain, so that no name can leave the store,
    contain a wildcard or look like a `key=value` partition. Names that Windows reserves (``nul``,
    ``aux.old``) start with an encoded letter.

    Raises
    ------
    UsageError
        If the name is too long.
    """
    name = "".join(chr(b) if b in _PLAIN else f"%{b:02X}" for b in track.encode())
    if len(name) > LONGEST_NAME:
        raise UsageError(f"the track name {shown(track)} is too long for a folder's name.")
    if name.startswith(".") or _RESERVED.fullmatch(name):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    return f"{name[:-1]}%2E" if name.endswith(".") else name  # Windows drops a final dot


def check_case(tracks: Iterable[str]) -> None:
    """Check that the folders of tracks differ on file systems that ignore case.

    Raises
    ------
    UsageError
        If two names differ only in the case of ASCII letters; other letters are encoded.
    """
    names: dict[bytes, str] = {}
    for track in sorted(set(tracks)):
        other = names.setdefault(track.encode().lower(), track)
        if other != track:
            raise UsageError(
                f"the tracks {shown(other)} and {shown(track)} differ only in case, and file "
                "systems of Windows and macOS keep one of them: rename one."
            )


def file_names(systems: Iterable[str]) -> dict[str, str]:
    """Encode the names of systems as files that differ on file systems that ignore case.

    All letters are encoded in a name that differs only in case from an earlier name.

    Examples
    --------
    >>> from irmeta.store.folder_names import file_names
    >>> file_names(["BM25", "bm25", "a/b"])
    {'BM25': 'BM25', 'a/b': 'a%2Fb', 'bm25': '%62%6D25'}
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
