"""Which files make a track: `collection.toml`, or folders laid out by convention."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Any, cast

from irmeta.errors import DataError, UsageError, did_you_mean, printable
from irmeta.policies import ReadPolicy
from irmeta.trec.qrels import FORMATS, QrelsFormat
from irmeta.trec.source import FactsSource, QrelsSource, TrackSource, names_problem

CONFIG = "collection.toml"
_TRACK_KEYS = (
    "runs",
    "qrels",
    "names",
    "systems",
    "tie_order",
    "depth",
    "duplicates",
    "pool_depth",
)
_QRELS_KEYS = ("name", "file", "format", "subtopics")
_FACT_KEYS = ("file", "name", "group", "type", "pooled")


def read_collection(folder: str | Path, policy: ReadPolicy | None = None) -> list[TrackSource]:
    """The tracks of a collection, sorted by name.

    `collection.toml` decides where there is one. Otherwise every sub-folder that holds `runs/` is a
    track, with one file named qrels*; a folder that itself holds `runs/` is a single track.

    Raises
    ------
    UsageError
        If `folder` is not a folder.
    DataError
        With the dotted key and the value, when `collection.toml` cannot be followed.
    """
    root = Path(folder)
    if not root.is_dir():
        raise UsageError(
            f"{root} is not a folder: a collection is a folder with one folder a track."
        )
    policy = policy or ReadPolicy()
    config = root / CONFIG
    if config.is_file():
        return _Config(root, config.read_bytes(), policy).tracks()
    if (root / "runs").is_dir():
        return [_by_convention(root, root.resolve().name, "", policy)]
    folders = [f for f in sorted(root.iterdir()) if f.is_dir() and not f.name.startswith(".")]
    stores = [f for f in folders if (f / "manifest.json").is_file()]
    tracks = [f for f in folders if (f / "runs").is_dir() and f not in stores]
    if not tracks:
        fix = f"Put runs in TRACK/runs/ and the judgments in TRACK/qrels*, or write {CONFIG}."
        raise DataError("no sub-folder holds runs/", file=str(root), fix=fix)
    return [_by_convention(root, f.name, f"{f.name}/", policy) for f in tracks]


def left_out(folder: str | Path) -> list[str]:
    """Sub-folders that look like a track and that `collection.toml` does not name."""
    root = Path(folder)
    if not (root / CONFIG).is_file():
        return []
    named = {run.split("/")[0] for source in read_collection(root) for run in source.runs}
    folders = [
        f.name
        for f in sorted(root.iterdir())
        if (f / "runs").is_dir() and not (f / "manifest.json").is_file()
    ]
    return [name for name in folders if name not in named and not name.startswith(".")]


def chosen(
    sources: list[TrackSource], tracks: str | Iterable[str] | None, folder: str
) -> list[TrackSource]:
    """Those of a collection's tracks that are asked for; None: all of them.

    Raises
    ------
    UsageError
        If none is, or one that is not there.
    """
    if tracks is None:
        return sources
    tracks = [tracks] if isinstance(tracks, str) else list(tracks)
    if not tracks:
        raise UsageError("no track was named: leave `tracks` out for all of them.")
    known = {source.name: source for source in sources}
    for name in tracks:
        if name not in known:
            raise UsageError(f"{folder} has no track {name!r}. {did_you_mean(name, known)}")
    return [known[name] for name in dict.fromkeys(tracks)]


def _by_convention(root: Path, name: str, prefix: str, policy: ReadPolicy) -> TrackSource:
    if printable(name) != name:
        raise DataError("a folder's name is not UTF-8", file=printable(name), fix="Rename it.")
    qrels = [f for f in _listed(root, f"{escape(prefix)}qrels*") if (root / f).is_file()]
    if len(qrels) != 1:
        found = ", ".join(qrels) or "none"
        fix = f"Name the track's files in {CONFIG}."
        raise DataError(f"one file named qrels* expected, found {found}", track=name, fix=fix)
    runs = _listed(root, f"{escape(prefix)}runs/*")
    if not runs:
        raise DataError("runs/ is empty", track=name, fix="Put one run a file there.")
    return TrackSource(name, root, runs, (QrelsSource("qrels", qrels[0]),), policy=policy)


def _listed(root: Path, pattern: str) -> tuple[str, ...]:
    found = (p.relative_to(root) for p in root.glob(pattern))
    return tuple(sorted(p.as_posix() for p in found if not p.name.startswith(".")))


def _inside(path: str) -> bool:
    """Whether a path or pattern stays inside the collection, whose records hold no other paths."""
    return not path.startswith("/") and ".." not in path.split("/")


class _Config:
    """`collection.toml`, checked key by key so that an error can name the one at fault."""

    def __init__(self, root: Path, raw: bytes, policy: ReadPolicy) -> None:
        self.root, self.policy = root, policy
        try:
            self.content = tomllib.loads(raw.decode("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise DataError(f"cannot be read as TOML ({error})", file=CONFIG) from None

    def tracks(self) -> list[TrackSource]:
        self._known("", self.content, ("tracks",))
        tracks = self._table("tracks", self.content.get("tracks", {}))
        if not tracks:
            raise self._error("tracks", None, "names no track", "Add a table [tracks.NAME].")
        return [self._track(name, tracks[name]) for name in sorted(tracks)]

    def _track(self, name: str, given: object) -> TrackSource:
        key = f"tracks.{name}"
        if not name:
            raise self._error(key, None, "has no name", "")
        table = self._table(key, given)
        self._known(key, table, _TRACK_KEYS)
        given_policy = {k: table[k] for k in ("tie_order", "depth", "duplicates") if k in table}
        try:
            policy = replace(self.policy, **given_policy)
        except UsageError as error:
            raise DataError(f"{key}.{error}", file=CONFIG) from None
        return TrackSource(
            name=name,
            root=self.root,
            runs=self._runs(key, table),
            qrels=self._qrels(key, table),
            names=self._names(key, table),
            facts=self._facts(key, table),
            policy=policy,
            pool_depth=self._pool_depth(key, table),
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
        found: set[str] = set()
        for pattern in patterns:
            if not isinstance(pattern, str) or not _inside(pattern):
                fix = "Patterns are relative to the collection and stay inside it."
                raise self._error(f"{key}.runs", pattern, "is not a pattern inside it", fix)
            try:
                files = _listed(self.root, pattern)
            except (ValueError, IndexError):
                raise self._error(f"{key}.runs", pattern, "is not a file pattern", "") from None
            if not files:
                raise self._error(f"{key}.runs", pattern, "matches no file", "")
            found.update(files)
        return tuple(sorted(found))

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
        self._known(key, table, _QRELS_KEYS)
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
        return QrelsSource(
            name, self._file(f"{key}.file", table), cast(QrelsFormat, form), subtopics
        )

    def _names(self, key: str, table: Mapping[str, Any]) -> str:
        names = self._text(f"{key}.names", table.get("names", "tag"))
        fix = 'Write names = "tag", or a pattern with one group such as "input\\\\.(.*)\\\\.gz".'
        if problem := names_problem(names):
            raise self._error(f"{key}.names", names, problem, fix)
        return names

    def _facts(self, key: str, table: Mapping[str, Any]) -> FactsSource | None:
        if "systems" not in table:
            return None
        key = f"{key}.systems"
        facts = self._table(key, table["systems"])
        self._known(key, facts, _FACT_KEYS)
        columns = {k: self._text(f"{key}.{k}", facts[k]) for k in _FACT_KEYS[1:] if k in facts}
        if "name" not in columns:
            raise self._error(f"{key}.name", None, "is missing: the column of system names", "")
        return FactsSource(self._file(f"{key}.file", facts), **columns)

    def _file(self, key: str, table: Mapping[str, Any]) -> str:
        file = self._text(key, table.get("file"))
        if not _inside(file):
            raise self._error(key, file, "is not inside the collection", "")
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

    def _known(self, key: str, table: Iterable[str], known: tuple[str, ...]) -> None:
        for name in table:
            if name not in known:
                dotted = f"{key}.{name}" if key else name
                raise self._error(dotted, None, "is not a known key", did_you_mean(name, known))

    def _error(self, key: str, value: object, problem: str, fix: str) -> DataError:
        said = f"{key} = {value!r} {problem}" if value is not None else f"{key} {problem}"
        return DataError(said, file=CONFIG, fix=fix or None)
