"""Find the files of each track: by `collection.toml`, or in folders laid out by convention."""

from __future__ import annotations

import json
import os
import posixpath
import re
import stat
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
from irmeta.trec.source import (
    AnyTrack,
    BrokenTrack,
    FactsSource,
    QrelsSource,
    TrackSource,
    is_dataset,
)
from irmeta.trec.system_names import file_names

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


CONFIG = "collection.toml"
_NO_RUN = re.compile(r"(.*/)?(readme(\.\w+)?|[^/]*\.(ya?ml|md))", re.IGNORECASE)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_key(name: str) -> str:
    """Return a TOML key, quoted if necessary."""
    return name if _BARE_KEY.fullmatch(name) else toml_text(name)


def toml_text(text: str) -> str:
    """Return a TOML string."""
    return json.dumps(text, ensure_ascii=False)


def track_folders(root: Path) -> list[str]:
    """Return the sub-folders that look like tracks or cannot be opened, sorted."""
    return [name for name in list_folder(root, ".") if _may_be_track(root, name)]


def track_of_folder(root: Path, name: str, prefix: str, policy: ReadPolicy) -> AnyTrack:
    """Return the track in the folder `prefix` of a collection, broken if files are missing."""
    try:
        if printable(name) != name:
            raise DataError("a folder's name is not UTF-8", file=name, fix="Rename it.")
        qrels = (QrelsSource("qrels", qrels_of_folder(root, name, prefix)),)
        source = TrackSource(name, root, runs_of_folder(root, prefix), qrels, policy=policy)
        metadata = metadata_beside(root, source.runs)
        return replace(source, **tables_of_folder(root, prefix), metadata=metadata)
    except DataError as error:
        if error.file is not None:
            error.file = printable((root / error.file).as_posix())
        return BrokenTrack(printable(name), of_track(printable(name), error))


def is_beside_runs(file: str) -> bool:
    """Check whether a file beside runs is a text about them: a readme, *.md, *.yml or *.yaml."""
    return _NO_RUN.fullmatch(file) is not None


def runs_of_folder(root: Path, prefix: str) -> tuple[str, ...]:
    """Return all files in `runs/`, including its sub-folders, without texts about the runs.

    Raises
    ------
    DataError
        If a folder cannot be opened, or there are no files.
    """
    files = files_below(root, f"{prefix}runs")
    runs = tuple(sorted(file for file in files if not is_beside_runs(file)))
    if not runs:
        raise DataError("is empty", file=f"{prefix}runs", fix="Put one file per run there.")
    return runs


BESIDE = ("queries", "systems", "judges")
"""Names, without .csv, of the files of facts about a track's queries, systems and judges."""


def tables_of_folder(root: Path, prefix: str) -> dict[str, str]:
    """Return the files of facts in a track's folder, beside its `runs/`, by name."""
    files = {name: f"{prefix}{name}.csv" for name in BESIDE}
    return {name: file for name, file in files.items() if (root / file).is_file()}


METADATA_FILE = re.compile(r"(?:.*/)?(?:([^/]+)\.|retrieval-)?ir[-_]metadata\.ya?ml")
"""File of ir_metadata; the first group is the run's name, if it describes one run."""


def metadata_beside(root: Path, runs: Iterable[str]) -> tuple[str, ...]:
    """Return the files of ir_metadata in the folders of runs, sorted."""
    folders = {posixpath.dirname(run) for run in runs}
    files = {posixpath.join(f, name) for f in folders for name in list_folder(root, f or ".")}
    return tuple(sorted(filter(METADATA_FILE.fullmatch, files.difference(runs))))


def qrels_of_folder(root: Path, track: str, prefix: str) -> str:
    """Return the file named qrels*, or else the only file with qrels in its name.

    Raises
    ------
    DataError
        If the folder cannot be opened, or there is not exactly one such file.
    """
    names = [name for name in list_folder(root, prefix or ".") if "qrels" in name.lower()]
    files = [f"{prefix}{name}" for name in names if (root / prefix / name).is_file()]
    first = [file for file in files if file.removeprefix(prefix).startswith("qrels")]
    if len(found := first or files) == 1:
        return found[0]
    listed = ", ".join((root / file).as_posix() for file in found) or "none"
    fix = f"Name the track's files in {CONFIG}."
    if found:
        tables = [
            f"{{ name = {toml_text(name)}, file = {toml_text(file)} }}"
            for file, name in file_names(found).items()
        ]
        fix = (
            f"Put this line at the top of {CONFIG}, the primary set first (and subtopics = true in "
            f"a set whose second column is a subtopic): "
            f"tracks.{toml_key(track)}.qrels = [{', '.join(tables)}]"
        )
    raise DataError(f"one file named qrels* expected, found {listed}", fix=fix)


def _may_be_track(root: Path, name: str) -> bool:
    """Check whether a folder looks like a track, or cannot be opened."""
    try:
        if not is_folder(root, name):
            return False
        entries = list_folder(root, name)
        # A store has a folder `runs` too.
        is_track = "runs" in entries and "manifest.json" not in entries
        return is_track and is_folder(root, f"{name}/runs")
    except DataError:
        return True


_Parsed = TypeVar("_Parsed", bound=Options)
_Found = TypeVar("_Found")

_DEEP_KEY = re.compile(r"(?<![\w.-])(?:[\w-]++[ \t]*+\.[ \t]*+){1000}")
_POLICY_KEYS = (
    "names", "tie_order", "depth", "duplicates", "run_format", "drop_self", "grade_digits",
    "comments", "drop_docs", "chunks", "columns",
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
    systems: Any = option(None, "CSV of facts about systems, or a table that names its columns.")
    pool_depth: int | None = option(
        None, "Rank to which the lists of contributing systems were judged.", least=1
    )
    pool_depth_by_query: str | None = option(None, "File of such ranks: lines `query depth`.")
    queries: str | None = option(None, "CSV of facts about queries: query, and other columns.")
    judges: str | None = option(None, "CSV of facts about judges: judge, and other columns.")


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
        folder = self._folder_of(name)
        beside = {} if folder is None else tables_of_folder(self.root, folder)
        for kind in BESIDE:
            if isinstance(file := getattr(table, kind), str):
                self._check_file(f"{key}.{kind}", file)
                beside[kind] = file
        facts = None
        if table.systems is not None and not isinstance(table.systems, str):
            facts = self._facts(f"{key}.systems", table.systems)
            beside.pop("systems", None)
        given = cast(Mapping[str, Any], given)
        policies = {k: given[k] for k in _POLICY_KEYS if k in given}
        if isinstance(dropped := policies.get("drop_docs"), str):
            self._check_file(f"{key}.drop_docs", dropped)
            real, root = map(os.path.realpath, (self.root / dropped, self.root))
            if is_inside(dropped) and not real.startswith(root + os.sep):
                problem = "is a link to a file outside of the collection"
                raise self._error(f"{key}.drop_docs", dropped, problem, "Copy the file.")
            policies["drop_docs"] = str(self.root / dropped)
        try:
            policy = replace(self.policy, **policies)
        except UsageError as error:
            raise DataError(f"{key}.{error}", file=self.file) from None
        runs = self._runs(name, table.runs, "runs" in given)
        return TrackSource(
            name=name,
            root=self.root,
            runs=runs,
            qrels=self._qrels(name, table.qrels),
            facts=facts,
            policy=policy,
            pool_depth=table.pool_depth,
            pool_depth_by_query=table.pool_depth_by_query,
            outside=tuple(sorted(self.outside)),
            queries=beside.get("queries"),
            systems=beside.get("systems"),
            judges=beside.get("judges"),
            metadata=metadata_beside(self.root, runs),
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
