"""What a track is read from: its files, and how its systems are named."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from irmeta.errors import DataError, UsageError, printable
from irmeta.policies import ReadPolicy
from irmeta.trec.qrels import QrelsFormat

BY_FILE = r"(.+?)(?:\.(?:gz|bz2|xz|zst|txt|run|dat))*"
"""A pattern for `TrackSource.names`: the file's name, without endings that say what it holds."""


@dataclass(frozen=True)
class QrelsSource:
    """One named qrels set of a track and how to read its file."""

    name: str
    file: str
    format: QrelsFormat = "trec"
    subtopics: bool = False


@dataclass(frozen=True)
class FactsSource:
    """A CSV of facts about systems, and which of its columns hold what (None: not given)."""

    file: str
    name: str
    group: str | None = None
    type: str | None = None
    pooled: str | None = None


@dataclass(frozen=True)
class TrackSource:
    """The files of one track. Paths are relative to `root` and use / everywhere.

    Attributes
    ----------
    runs
        Every run file, sorted.
    qrels
        The qrels sets; the first is primary.
    names
        ``tag``, or a regular expression whose first group, matched against the whole file name,
        names the system.
    pool_depth
        The depth to which contributing lists were judged, if the collection states it.
    rename
        What to do about two runs of one name.
    """

    name: str
    root: Path
    runs: tuple[str, ...]
    qrels: tuple[QrelsSource, ...]
    names: str = "tag"
    facts: FactsSource | None = None
    policy: ReadPolicy = field(default_factory=ReadPolicy)
    pool_depth: int | None = None
    rename: str = 'Name systems by file: names = "(.*)\\\\.gz" in collection.toml.'

    def system_name(self, file: str, tag: str | None) -> str:
        """The name of the system whose run is `file`.

        Raises
        ------
        DataError
            If the file name does not match the track's pattern.
        """
        base = file.rsplit("/", 1)[-1]
        if self.names != "tag":
            found = re.fullmatch(self.names, base)
            if found is None or not found.group(1):
                fix = f"Change the pattern `names` of track {self.name}."
                raise DataError(
                    f"its name does not match the pattern {self.names!r}", file=file, fix=fix
                )
            return found.group(1)
        return tag if tag is not None else _bare(base)


def track_of_files(
    qrels: str | Path, runs: Iterable[str | Path], names: str, policy: ReadPolicy
) -> TrackSource:
    """A track of files that lie anywhere, named after the file of its qrels.

    Its root is the nearest folder that all are in, so that it does not matter how they are named.

    Raises
    ------
    UsageError
        If one of them is not a file, no run is named, or `names` is no pattern with a group.
    """
    if problem := names_problem(names):
        raise UsageError(f"names = {names!r} {problem}: 'tag', or a pattern such as '(.*)'.")
    files = [Path(qrels), *map(Path, runs)]
    for file in files:
        if not file.is_file():
            what = "is a folder" if file.is_dir() else "is no file"
            raise UsageError(f"{file} {what}: name the file of the qrels, then those of the runs.")
    if len(files) == 1:
        raise UsageError(f"{qrels} alone is no track: name the files of its runs too.")
    name = _bare(files[0].name)
    if printable(name) != name:
        raise DataError("its name is not UTF-8", file=printable(str(qrels)), fix="Rename it.")
    whole = [Path(os.path.abspath(file)) for file in files]  # a link keeps its own name
    root = Path(os.path.commonpath([file.parent for file in whole]))
    first, *others = (file.relative_to(root).as_posix() for file in whole)
    return TrackSource(
        name,
        root,
        tuple(sorted(set(others))),
        (QrelsSource("qrels", first),),
        names,
        policy=policy,
        rename="Name systems by file: --by-file, names= in Python."
        if names == "tag"
        else "Rename one of the files.",
    )


def names_problem(names: str) -> str | None:
    """What keeps `names` from naming systems."""
    if names == "tag":
        return None
    try:
        groups = re.compile(names).groups
    except re.error as error:
        return f"is not a pattern ({error})"
    return None if groups == 1 else f"has {groups} groups, not one"


def _bare(name: str) -> str:
    found = re.fullmatch(BY_FILE, name)
    return found.group(1) if found is not None else name
