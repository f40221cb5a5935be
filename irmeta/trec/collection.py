"""Find the files of each track: by `collection.toml`, or in folders laid out by convention."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar, cast

from irmeta.errors import DataError, UsageError, did_you_mean, of_track, printable
from irmeta.files import is_inside
from irmeta.locations import LOCAL_INPUT, AnyLocation, RemotePath, local, location, not_a
from irmeta.options import Options, option
from irmeta.policies import ReadPolicy
from irmeta.trec.convention import (
    CONFIG,
    is_beside_runs,
    qrels_of_folder,
    runs_of_folder,
    track_folders,
    track_of_folder,
)
from irmeta.trec.datasets import is_dataset
from irmeta.trec.listing import expand, fixed_part
from irmeta.trec.source import AnyTrack, BrokenTrack, FactsSource, QrelsSource, TrackSource

_Parsed = TypeVar("_Parsed", bound=Options)
_Found = TypeVar("_Found")

_DEEP_KEY = re.compile(r"(?<![\w.-])(?:[\w-]++[ \t]*+\.[ \t]*+){1000}")
_POLICY_KEYS = (
    "names", "tie_order", "depth", "duplicates", "run_format", "drop_self", "grade_digits",
    "comments",
)  # fmt: skip


@dataclass(frozen=True)
class _CollectionTable(Options):
    """Keys of `collection.toml`."""

    tracks: Any = option(None, "Table of tracks.")
    only_described: bool = option(False, "Whether folders that no track names are ignored.")
    allow_outside: bool = option(False, "Whether paths may lead out of the collection.")


@dataclass(frozen=True)
class _TrackTable(Options):
    """Keys of one track, beside those of the read policy."""

    runs: tuple[str, ...] = option((), "File patterns.")
    qrels: Any = option(None, "A file, or a list of qrels sets.")
    systems: Any = option(None, "Table of facts about systems.")
    pool_depth: int | None = option(
        None, "Rank to which the lists of contributing systems were judged.", least=1
    )
    pool_depth_by_query: str | None = option(None, "File of such ranks: lines `query depth`.")


def read_collection(folder: AnyLocation, policy: ReadPolicy | None = None) -> list[AnyTrack]:
    """Return the tracks of a collection, sorted by name.

    Every sub-folder with `runs/` is a track with one file of qrels; a folder that itself has
    `runs/` is a single track. `collection.toml`, if present, describes tracks, and with
    `only_described` all of them. A track whose files are missing or ambiguous is a `BrokenTrack`.

    Raises
    ------
    UsageError
        If `folder` is not a folder, or on object storage.
    DataError
        If `folder` cannot be opened or has no track, or its `collection.toml` is malformed.
    """
    root = local(folder, LOCAL_INPUT)
    if not root.is_dir():
        raise UsageError(
            f"{not_a('folder', root)}: a collection is a folder with one folder per track."
        )
    policy = policy or ReadPolicy()
    if (root / CONFIG).is_file():
        return _Config(root, policy).tracks()
    if (root / "runs").is_dir():
        return [track_of_folder(root, root.resolve().name, "", policy)]
    tracks = [track_of_folder(root, name, f"{name}/", policy) for name in track_folders(root)]
    if not tracks:
        fix = f"Put runs in TRACK/runs/ and the judgments in TRACK/qrels*, or write {CONFIG}."
        if judged := sorted((root / "qrels").glob("*.tsv")):  # a data set as BEIR has it
            names = {file.stem: file for file in judged}
            fix += f" Or name files: {names.get('test', judged[0])}, then those of runs."
        raise DataError("no sub-folder holds runs/", file=str(root), fix=fix)
    return tracks


def left_out(folder: AnyLocation) -> list[str]:
    """Return sub-folders that look like tracks but are ignored by `only_described = true`."""
    root = location(folder)
    if isinstance(root, RemotePath) or not (root / CONFIG).is_file():
        return []
    config = _Config(root, ReadPolicy())
    return config.undescribed() if config.content.only_described else []


def chosen(
    sources: Sequence[AnyTrack], tracks: str | Iterable[str] | None, folder: str
) -> list[AnyTrack]:
    """Return the requested tracks of a collection; None requests all.

    Raises
    ------
    UsageError
        If no track is requested, or a requested track is not in the collection.
    DataError
        If all requested tracks are broken.
    """
    selected = list(sources)
    if tracks is not None:
        tracks = [tracks] if isinstance(tracks, str) else list(tracks)
        if not tracks:
            raise UsageError("no track was given: omit `track` for all tracks.")
        known = {source.name: source for source in sources}
        for name in tracks:
            if name not in known:
                raise UsageError(f"{folder} has no track {name!r}. {did_you_mean(name, known)}")
        selected = [known[name] for name in dict.fromkeys(tracks)]
    broken = [source for source in selected if isinstance(source, BrokenTrack)]
    if len(broken) == len(selected):
        others = len(selected) - 1
        more = f" ({others} more tracks cannot be understood)" if others else ""
        error = broken[0].error
        error.fix = f"{error.fix or ''}{more}".strip() or None
        raise error
    return selected


class _Config:
    """`collection.toml`; an error names the key and its value."""

    def __init__(self, root: Path, policy: ReadPolicy) -> None:
        self.root, self.policy = root, policy
        self.file = printable((root / CONFIG).as_posix())
        self.outside = set[str]()
        try:
            text = (root / CONFIG).read_bytes().decode("utf-8")
            if _DEEP_KEY.search(text):  # tomllib takes hours for 100,000 parts
                raise ValueError("a key of more than a thousand parts")
            content = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # numbers of 5,000 digits, deep arrays
            raise DataError(f"cannot be read as TOML ({error})", file=self.file) from None
        self.content = self._parse("", content, _CollectionTable)

    def tracks(self) -> list[AnyTrack]:
        """Return all tracks, sorted by name."""
        described = self._described()
        tracks = [self._any_track(name, given) for name, given in described.items()]
        if not self.content.only_described:
            names = self.undescribed()
            tracks += [track_of_folder(self.root, n, f"{n}/", self.policy) for n in names]
        if not tracks:
            raise self._error("tracks", None, "names no track", "Add a table [tracks.NAME].")
        return sorted(tracks, key=lambda track: track.name)

    def undescribed(self) -> list[str]:
        """Return sub-folders that look like tracks and that no described track uses."""
        described = self._described()
        used = [pattern for given in described.values() for pattern in self._folders(given)]
        return [
            name
            for name in track_folders(self.root)
            if name not in described and not any(fnmatchcase(name, pattern) for pattern in used)
        ]

    def _described(self) -> Mapping[str, Any]:
        given = self.content.tracks
        return {} if given is None else self._table("tracks", given)

    def _folders(self, given: object) -> Iterator[str]:
        """Yield patterns of the folders of the collection in which a track's runs lie."""
        runs = cast(Mapping[str, Any], given).get("runs") if isinstance(given, dict) else None
        for pattern in cast(list[object], runs) if isinstance(runs, list) else [runs]:
            if isinstance(pattern, str):
                yield os.path.relpath(self.root / pattern, self.root).split(os.sep)[0]

    def _any_track(self, name: str, given: object) -> AnyTrack:
        self.outside = set()
        try:
            return self._track(name, given)
        except DataError as error:
            return BrokenTrack(name, of_track(name, error))

    def _track(self, name: str, given: object) -> TrackSource:
        key = f"tracks.{name}"
        if not name:
            raise self._error(key, None, "has no name", "")
        table = self._parse(key, given, _TrackTable, _POLICY_KEYS)
        if table.pool_depth_by_query is not None:
            self._check_file(f"{key}.pool_depth_by_query", table.pool_depth_by_query)
        given = cast(Mapping[str, Any], given)
        try:
            policy = replace(self.policy, **{k: given[k] for k in _POLICY_KEYS if k in given})
        except UsageError as error:
            raise DataError(f"{key}.{error}", file=self.file) from None
        return TrackSource(
            name=name,
            root=self.root,
            runs=self._runs(name, table.runs, "runs" in given),
            qrels=self._qrels(name, table.qrels),
            facts=None if table.systems is None else self._facts(f"{key}.systems", table.systems),
            policy=policy,
            pool_depth=table.pool_depth,
            pool_depth_by_query=table.pool_depth_by_query,
            outside=tuple(sorted(self.outside)),
        )

    def _folder_of(self, track: str) -> str | None:
        """Return the prefix of the folder that holds a track by convention, or None."""
        is_folder = is_inside(track) and os.path.isdir(self.root / track)
        prefix = f"{track}/" if is_folder else ""
        return prefix if prefix or (self.root / "runs").is_dir() else None

    def _runs(self, track: str, patterns: tuple[str, ...], is_given: bool) -> tuple[str, ...]:
        key, folder = f"tracks.{track}.runs", self._folder_of(track)
        if not is_given and folder is not None and (self.root / folder / "runs").is_dir():
            return self._by_convention(key, lambda: runs_of_folder(self.root, folder))
        if not patterns:
            fix = 'Write a list of file patterns, e.g. ["runs/*.gz"].'
            raise self._error(key, None, "names no run", fix)
        matched: set[str] = set()
        for pattern in patterns:
            self._check_inside(key, pattern)
            try:
                files = expand(self.root, pattern)
            except ValueError as error:
                raise self._error(key, pattern, str(error), "") from None
            except DataError as error:
                problem = f"{key} = {pattern!r}: {error.file} {error.problem}"
                raise DataError(problem, file=self.file) from None
            if fixed_part(pattern) != pattern:
                files = {file for file in files if not is_beside_runs(file)}
            if not files:
                raise self._error(key, pattern, "matches no file", "")
            matched.update(files)
        return tuple(sorted(matched))

    def _qrels(self, track: str, given: object) -> tuple[QrelsSource, ...]:
        key, folder = f"tracks.{track}.qrels", self._folder_of(track)
        if given is None and folder is not None:
            given = self._by_convention(key, lambda: qrels_of_folder(self.root, track, folder))
        if isinstance(given, str):
            given = [{"name": "qrels", "file": given}]
        elif isinstance(given, dict):
            given = [
                {"name": name, **({"file": one} if isinstance(one, str) else self._table(k, one))}
                for name, one in cast(dict[str, Any], given).items()
                for k in [f"{key}.{name}"]
            ]
        if not isinstance(given, list) or not given:
            fix = f'Write [[{key}]] with name = "..." and file = "...".'
            raise self._error(key, given, "names no qrels set", fix)
        tables = cast(list[object], given)
        sets = tuple(self._qrels_set(f"{key}[{i}]", table) for i, table in enumerate(tables))
        names = [one.name for one in sets]
        if len(set(names)) < len(names):
            raise self._error(key, names, "has a duplicate set name", "")
        return sets

    def _by_convention(self, key: str, find: Callable[[], _Found]) -> _Found:
        """Return files that the collection does not name; an error names the key."""
        try:
            return find()
        except DataError as error:
            where = f"{error.file} " if error.file is not None else ""
            problem = f"{key} is not given, and by convention {where}{error.problem}"
            raise DataError(problem, file=self.file, fix=error.fix) from None

    def _qrels_set(self, key: str, given: object) -> QrelsSource:
        source = self._parse(key, given, QrelsSource, required=("name", "file"))
        if not is_dataset(source.file):
            self._check_file(f"{key}.file", source.file)
        if source.subtopics and source.format != "trec":
            fix = "Only the trec format has a column for subtopics."
            raise self._error(f"{key}.subtopics", True, f"with format {source.format!r}", fix)
        if source.subtopics_file is not None:
            if not source.subtopics:
                fix = "Write subtopics = true if the second column of the qrels is a subtopic."
                raise self._error(f"{key}.subtopics_file", None, "describes no subtopics", fix)
            self._check_file(f"{key}.subtopics_file", source.subtopics_file)
        return source

    def _facts(self, key: str, given: object) -> FactsSource:
        source = self._parse(key, given, FactsSource, required=("file", "name"))
        self._check_file(f"{key}.file", source.file)
        return source

    def _check_file(self, key: str, file: str) -> None:
        self._check_inside(key, file)
        if not (self.root / file).is_file():
            raise self._error(key, file, "is not a file", f"Paths are relative to {CONFIG}.")

    def _check_inside(self, key: str, path: str) -> None:
        """Reject a path outside of the collection, unless the collection allows such paths."""
        if is_inside(path):
            return
        if not self.content.allow_outside:
            fix = f"Write allow_outside = true at the top of {CONFIG} if it should be read."
            raise self._error(key, path, "is outside of the collection", fix)
        self.outside.add(fixed_part(path))

    def _table(self, key: str, value: object) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self._error(key, value, "is not a table", "")
        return cast(Mapping[str, Any], value)

    def _parse(
        self,
        key: str,
        given: object,
        kind: type[_Parsed],
        also: tuple[str, ...] = (),
        required: tuple[str, ...] = (),
    ) -> _Parsed:
        """Check a table as options; keys in `also` are allowed and left out."""
        table, prefix = self._table(key, given), f"{key}." if key else ""
        known = [*(one.name for one in fields(kind)), *also]
        for name in table:
            if name not in known:
                hint = did_you_mean(name, known)
                raise self._error(f"{prefix}{name}", None, "is not a known key", hint)
        try:
            parsed = kind.of({name: value for name, value in table.items() if name not in also})
        except UsageError as error:
            raise DataError(f"{prefix}{error}", file=self.file) from None
        for one in fields(kind):
            if one.name in required and not table.get(one.name):
                help_text = one.metadata["help"]
                raise self._error(f"{prefix}{one.name}", None, "is missing", help_text)
        return parsed

    def _error(self, key: str, value: object, problem: str, fix: str) -> DataError:
        message = f"{key} = {value!r} {problem}" if value is not None else f"{key} {problem}"
        return DataError(message, file=self.file, fix=fix or None)
