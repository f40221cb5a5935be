"""Find the files of each track: by `collection.toml`, or in folders laid out by convention."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from irmeta.errors import DataError, UsageError, did_you_mean, of_track, printable
from irmeta.policies import ReadPolicy
from irmeta.trec.listing import expand, fixed_part, is_folder, is_inside, list_folder
from irmeta.trec.qrels import FORMATS, QrelsFormat
from irmeta.trec.source import AnyTrack, BrokenTrack, FactsSource, QrelsSource, TrackSource

CONFIG = "collection.toml"
_KEYS = ("tracks", "allow_outside")
_POLICY_KEYS = ("names", "tie_order", "depth", "duplicates")
_TRACK_KEYS = ("runs", "qrels", "systems", "pool_depth", *_POLICY_KEYS)
_QRELS_KEYS = ("name", "file", "format", "subtopics", "subtopics_file")
_FACT_KEYS = ("file", "name", "group", "type", "pooled")


def read_collection(folder: str | Path, policy: ReadPolicy | None = None) -> list[AnyTrack]:
    """Return the tracks of a collection, sorted by name.

    `collection.toml`, if present, names the tracks. Otherwise every sub-folder with `runs/` is a
    track with one file named qrels*; a folder that itself has `runs/` is a single track. A track
    whose files are missing or ambiguous is a `BrokenTrack`.

    Raises
    ------
    UsageError
        If `folder` is not a folder.
    DataError
        If `folder` cannot be opened or has no track, or its `collection.toml` is malformed.
    """
    root = Path(folder)
    if not root.is_dir():
        raise UsageError(
            f"{root} is not a folder: a collection is a folder with one folder per track."
        )
    policy = policy or ReadPolicy()
    config = root / CONFIG
    if config.is_file():
        return _Config(root, config.read_bytes(), policy).tracks()
    if (root / "runs").is_dir():
        return [_by_convention(root, root.resolve().name, "", policy)]
    names = [name for name in list_folder(root, ".") if _may_be_track(root, name)]
    tracks = [_by_convention(root, name, f"{name}/", policy) for name in names]
    if not tracks:
        fix = f"Put runs in TRACK/runs/ and the judgments in TRACK/qrels*, or write {CONFIG}."
        raise DataError("no sub-folder holds runs/", file=str(root), fix=fix)
    return tracks


def left_out(folder: str | Path) -> list[str]:
    """Return sub-folders that look like tracks but are not named in `collection.toml`."""
    root = Path(folder)
    if not (root / CONFIG).is_file():
        return []
    tracks = read_collection(root)
    named = {file.split("/")[0] for track in tracks for file in (track.name, *track.runs)}
    return [n for n in list_folder(root, ".") if n not in named and _may_be_track(root, n)]


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
            raise UsageError("no track was named: leave `tracks` out for all of them.")
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


def _holds_runs(root: Path, name: str) -> bool:
    """Check whether a folder looks like a track.

    Raises
    ------
    DataError
        If the folder cannot be opened.
    """
    if not is_folder(root, name):
        return False
    entries = list_folder(root, name)
    # A store has a folder `runs` too.
    return "runs" in entries and "manifest.json" not in entries and is_folder(root, f"{name}/runs")


def _may_be_track(root: Path, name: str) -> bool:
    """Check whether a folder looks like a track, or cannot be opened."""
    try:
        return _holds_runs(root, name)
    except DataError:
        return True


def _by_convention(root: Path, name: str, prefix: str, policy: ReadPolicy) -> AnyTrack:
    try:
        return _follow_convention(root, name, prefix, policy)
    except DataError as error:
        if error.file is not None:
            error.file = printable((root / error.file).as_posix())
        return BrokenTrack(printable(name), of_track(printable(name), error))


def _follow_convention(root: Path, name: str, prefix: str, policy: ReadPolicy) -> TrackSource:
    if printable(name) != name:
        raise DataError("a folder's name is not UTF-8", file=name, fix="Rename it.")
    entries = list_folder(root, prefix or ".")
    qrels = [f"{prefix}{entry}" for entry in entries if entry.startswith("qrels")]
    qrels = [file for file in qrels if (root / file).is_file()]
    if len(qrels) != 1:
        listed = ", ".join((root / file).as_posix() for file in qrels) or "none"
        fix = f"Name the track's files in {CONFIG}."
        raise DataError(f"one file named qrels* expected, found {listed}", fix=fix)
    runs = tuple(f"{prefix}runs/{entry}" for entry in list_folder(root, f"{prefix}runs"))
    if not runs:
        fix = "Put one file per run there."
        raise DataError("is empty", file=f"{prefix}runs", fix=fix)
    return TrackSource(name, root, runs, (QrelsSource("qrels", qrels[0]),), policy=policy)


class _Config:
    """`collection.toml`, checked key by key so that an error can name the key."""

    def __init__(self, root: Path, raw: bytes, policy: ReadPolicy) -> None:
        self.root, self.policy = root, policy
        self.file = printable((root / CONFIG).as_posix())
        self.allow_outside, self.outside = False, set[str]()
        try:
            self.content = tomllib.loads(raw.decode("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise DataError(f"cannot be read as TOML ({error})", file=self.file) from None

    def tracks(self) -> list[AnyTrack]:
        """Return all tracks, sorted by name."""
        self._check_keys("", self.content, _KEYS)
        allowed = self.content.get("allow_outside", False)
        if not isinstance(allowed, bool):
            raise self._error("allow_outside", allowed, "is not true or false", "")
        self.allow_outside = allowed
        tracks = self._table("tracks", self.content.get("tracks", {}))
        if not tracks:
            raise self._error("tracks", None, "names no track", "Add a table [tracks.NAME].")
        return [self._any_track(name, tracks[name]) for name in sorted(tracks)]

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
        table = self._table(key, given)
        self._check_keys(key, table, _TRACK_KEYS)
        try:
            policy = replace(self.policy, **{k: table[k] for k in _POLICY_KEYS if k in table})
        except UsageError as error:
            raise DataError(f"{key}.{error}", file=self.file) from None
        return TrackSource(
            name=name,
            root=self.root,
            runs=self._runs(key, table),
            qrels=self._qrels(key, table),
            facts=self._facts(key, table),
            policy=policy,
            pool_depth=self._pool_depth(key, table),
            outside=tuple(sorted(self.outside)),
        )

    def _pool_depth(self, key: str, table: Mapping[str, Any]) -> int | None:
        given = table.get("pool_depth")
        if given is not None and (type(given) is not int or given < 1):
            fix = "It is the rank to which the lists of contributing systems were judged."
            raise self._error(f"{key}.pool_depth", given, "is no whole number from 1", fix)
        return given

    def _runs(self, key: str, table: Mapping[str, Any]) -> tuple[str, ...]:
        given = table.get("runs")
        patterns = [given] if isinstance(given, str) else given
        if not isinstance(patterns, list) or not patterns:
            raise self._error(f"{key}.runs", given, "is not a list of file patterns", "")
        matched: set[str] = set()
        for pattern in patterns:
            if not isinstance(pattern, str):
                raise self._error(f"{key}.runs", pattern, "is not a file pattern", "")
            self._check_inside(f"{key}.runs", pattern)
            try:
                files = expand(self.root, pattern)
            except ValueError:
                raise self._error(f"{key}.runs", pattern, "is not a file pattern", "") from None
            except DataError as error:
                problem = f"{key}.runs = {pattern!r}: {error.file} {error.problem}"
                raise DataError(problem, file=self.file) from None
            if not files:
                raise self._error(f"{key}.runs", pattern, "matches no file", "")
            matched.update(files)
        return tuple(sorted(matched))

    def _check_inside(self, key: str, path: str) -> None:
        """Reject a path outside of the collection, unless the collection allows such paths."""
        if is_inside(path):
            return
        if not self.allow_outside:
            fix = f"Write allow_outside = true at the top of {CONFIG} if it should be read."
            raise self._error(key, path, "is outside of the collection", fix)
        self.outside.add(fixed_part(path))

    def _qrels(self, key: str, table: Mapping[str, Any]) -> tuple[QrelsSource, ...]:
        given = table.get("qrels")
        if isinstance(given, str):
            given = [{"name": "qrels", "file": given}]
        if not isinstance(given, list) or not given:
            fix = f'Write [[{key}.qrels]] with name = "..." and file = "...".'
            raise self._error(f"{key}.qrels", given, "names no qrels set", fix)
        sets = tuple(self._qrels_set(f"{key}.qrels[{i}]", t) for i, t in enumerate(given))
        names = [s.name for s in sets]
        if len(set(names)) < len(names):
            raise self._error(f"{key}.qrels", names, "names two sets alike", "")
        return sets

    def _qrels_set(self, key: str, given: object) -> QrelsSource:
        table = self._table(key, given)
        self._check_keys(key, table, _QRELS_KEYS)
        form = table.get("format", "trec")
        if not isinstance(form, str) or form not in FORMATS:
            hint = did_you_mean(str(form), FORMATS)
            raise self._error(f"{key}.format", form, "is not a format", hint)
        subtopics = table.get("subtopics", False)
        if not isinstance(subtopics, bool):
            raise self._error(f"{key}.subtopics", subtopics, "is not true or false", "")
        if subtopics and form != "trec":
            fix = "Only the trec format has a column for subtopics."
            raise self._error(f"{key}.subtopics", subtopics, f"with format {form!r}", fix)
        name = self._text(f"{key}.name", table.get("name"))
        described = None
        if "subtopics_file" in table:
            if not subtopics:
                fix = "Write subtopics = true if the second column of the qrels is a subtopic."
                raise self._error(f"{key}.subtopics_file", None, "describes no subtopics", fix)
            described = self._file(f"{key}.subtopics_file", table, "subtopics_file")
        return QrelsSource(
            name, self._file(f"{key}.file", table), cast(QrelsFormat, form), subtopics, described
        )

    def _facts(self, key: str, table: Mapping[str, Any]) -> FactsSource | None:
        if "systems" not in table:
            return None
        key = f"{key}.systems"
        facts = self._table(key, table["systems"])
        self._check_keys(key, facts, _FACT_KEYS)
        columns = {k: self._text(f"{key}.{k}", facts[k]) for k in _FACT_KEYS[1:] if k in facts}
        if "name" not in columns:
            raise self._error(f"{key}.name", None, "is missing: the column of system names", "")
        return FactsSource(self._file(f"{key}.file", facts), **columns)

    def _file(self, key: str, table: Mapping[str, Any], name: str = "file") -> str:
        file = self._text(key, table.get(name))
        self._check_inside(key, file)
        if not (self.root / file).is_file():
            fix = f"Paths are relative to {CONFIG}."
            raise self._error(key, file, "is not a file", fix)
        return file

    def _text(self, key: str, value: object) -> str:
        if not isinstance(value, str) or not value:
            raise self._error(key, value, "is missing or not a text", "")
        return value

    def _table(self, key: str, value: object) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self._error(key, value, "is not a table", "")
        return cast(Mapping[str, Any], value)

    def _check_keys(self, key: str, table: Iterable[str], known: tuple[str, ...]) -> None:
        for name in table:
            if name not in known:
                dotted = f"{key}.{name}" if key else name
                raise self._error(dotted, None, "is not a known key", did_you_mean(name, known))

    def _error(self, key: str, value: object, problem: str, fix: str) -> DataError:
        message = f"{key} = {value!r} {problem}" if value is not None else f"{key} {problem}"
        return DataError(message, file=self.file, fix=fix or None)
