"""Paths of a store's files; read and write its small JSON files.

manifest.json         written once: format, irmeta version, ReadPolicy
tracks/T.json         a track's record, written last: readers see only tracks that have one;
                      while the track's files are replaced, a record that says so
runs/T/part-N.parquet, qrels/T/, docs/T/, systems/T/
queries/T/, factors/T/, subtopics/T/, samples/T/ for tracks that describe queries, systems or
                      judges, or subtopics, or judge a sample of the pool
.failed.json          tracks that the last ingest could not read, and the reasons
.cache.json           sizes and times of source files, to skip unchanged input
.staging/             tracks being written
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

from irmeta._version import __version__
from irmeta.checksums import (
    add_checksum,
    content_checksum,
    footer_checksum,
    known_content_checksum,
    load_json,
    parse_record,
    to_json,
)
from irmeta.errors import DataError, IrmetaError, UsageError, did_you_mean
from irmeta.files import folder_name, is_free, write_bytes
from irmeta.locations import (
    AnyLocation,
    Location,
    RemotePath,
    check_utf8,
    local,
    location,
    read_recent,
    version_of,
)
from irmeta.parallel import check_not_forked
from irmeta.policies import ReadPolicy
from irmeta.schema import FORMAT, TABLES
from irmeta.schema.arrow import DAMAGED
from irmeta.store.parquet import RowGroup, read_frame, read_lists, row_groups, scan
from irmeta.store.scan import StoredLists, fix_of


def file_checksums(folders: Mapping[str, Path]) -> dict[str, str]:
    """Map each Parquet file of kinds of tables to its size and checksums of footer and content."""
    return {
        f"{kind}/{file.name}": f"{footer_checksum(file)} {content_checksum(file).split()[1]}"
        for kind, folder in folders.items()
        for file in sorted(folder.glob("part-*.parquet"))
    }


def has_same_footers(folders: Mapping[str, Path], written: Mapping[str, object]) -> bool:
    """Check whether the sizes and footers of a track's files match its record."""
    present = {
        f"{kind}/{file.name}": footer_checksum(file)
        for kind, folder in folders.items()
        for file in folder.glob("part-*.parquet")
    }
    parts = {name: str(checksums).rpartition(" ") for name, checksums in written.items()}
    return present == {name: footer for name, (footer, _, _) in parts.items()}


def problems(
    kind: str,
    files: Sequence[Location],
    written: Mapping[str, object],
    content: Callable[[Location], str] | None,
) -> Iterator[tuple[str, str]]:
    """Yield the name and problem of each file of one kind that does not match the record's `files`.

    `content` returns a file's content checksum; None: only sizes and footers are compared.
    """
    present = {f"{kind}/{file.name}": file for file in files}
    for name, checksums in written.items():
        if name.startswith(f"{kind}/") and name not in present:
            yield name, "is missing"
        elif name in present:
            try:
                size_footer_content = str(checksums).split()
                if content is None:
                    is_same = footer_checksum(present[name]).split() == size_footer_content[:2]
                else:
                    is_same = content(present[name]).split() == size_footer_content[::2]
            except FileNotFoundError:  # a remote file that was not looked for before
                yield name, "is missing"
                continue
            if not is_same:
                yield name, "was changed after it was written"
    yield from ((name, "is not in the track's record") for name in present if name not in written)


FOLDERS = ("runs", "qrels", "docs", "systems")
"""Kinds of tables that every track has."""
OPTIONAL = ("queries", "factors", "subtopics", "samples")
"""Kinds of tables that only some tracks have."""
KINDS = (*FOLDERS, *OPTIONAL)
IS_REPLACED = "is_being_replaced"
"""The field of the record of a track whose files an ingest is replacing."""


def is_store(folder: AnyLocation) -> bool:
    """Check whether a folder is a store."""
    return Layout(location(folder)).manifest.is_file()


def manifest(policy: ReadPolicy) -> dict[str, Any]:
    """Return the manifest of a new store."""
    return {"format": FORMAT, "irmeta": __version__, "read_policy": policy.record()}


def store_folder(path: AnyLocation) -> Location:
    """Return the folder of a store, given itself or the results of `reanalyze` around it."""
    folder = location(path)
    check_utf8(folder)
    if is_store(folder) or not (folder / ".parts").is_dir():
        return folder
    return folder / "store" if is_store(folder / "store") else folder


def fingerprint(manifest: Mapping[str, Any], records: Iterable[Mapping[str, Any]]) -> str:
    """Return a hash of the input and policy of tracks, from their records without `files`."""
    digest = hashlib.sha256(to_json(manifest))
    for record in records:
        digest.update(to_json({name: v for name, v in record.items() if name != "files"}))
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Layout:
    """Paths of a store in a folder, and its `StoreReader`."""

    root: Location
    block_rows = 1 << 22  # larger Parquet reads take less time per row
    is_shared = True

    def __str__(self) -> str:
        return str(self.root)

    @property
    def manifest(self) -> Location:
        """Path of the manifest."""
        return self.root / "manifest.json"

    @property
    def cache(self) -> Location:
        """Path of the cache of checked files."""
        return self.root / ".cache.json"

    @property
    def failed(self) -> Location:
        """Path of the list of tracks that could not be read."""
        return self.root / ".failed.json"

    @property
    def staging(self) -> Path:
        """Folder of unfinished tracks."""
        return local(self.root) / ".staging"

    def record(self, track: str) -> Location:
        """Return the path of a track's record."""
        return self.root / "tracks" / f"{folder_name(track)}.json"

    def folder(self, kind: str, track: str) -> Location:
        """Return the folder of one kind of a track's files."""
        return self.root / kind / folder_name(track)

    def files(self, kind: str, track: str) -> list[Location]:
        """Return the Parquet files of one kind of a track, in order."""
        paths = self.folder(kind, track).glob("part-*.parquet")
        return sorted(paths, key=_part)

    def create(self, policy: ReadPolicy) -> None:
        """Write the manifest, or check that the store's manifest agrees with `policy`."""
        root = local(self.root)
        if self.manifest.is_file():
            asked = ReadPolicy.from_record(policy.record())  # files by their content
            if (current := self.read_policy()) != asked:
                raise UsageError(
                    f"{self.root} was made with {current}, not {asked}: use another folder."
                )
            return
        if not is_free(root):
            raise UsageError(f"{self.root} exists and is not an irmeta store: use another folder.")
        write_bytes(self.manifest, add_checksum(to_json(manifest(policy))))

    def read_policy(self) -> ReadPolicy:
        """Return the ReadPolicy in the manifest; `UsageError` without one that irmeta reads."""
        manifest = self.read_manifest()
        try:
            if manifest["format"] > FORMAT:
                raise UsageError(f"{self.root} was made by a newer irmeta ({manifest['irmeta']}).")
            return ReadPolicy.from_record(manifest["read_policy"])
        except (KeyError, TypeError):
            raise UsageError(
                f"{self.root} is not an irmeta store (another manifest.json)."
            ) from None

    def read_manifest(self) -> dict[str, Any]:
        """Return the manifest; `UsageError` without one, `DataError` if it was changed."""
        try:
            return parse_record(self.manifest.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            raise UsageError(f"{self.root} is not an irmeta store (no manifest.json).") from None
        except ValueError as error:
            fix = "Restore it from a copy, or ingest into a new folder."
            problem = f"cannot be read ({error})"
            raise DataError(problem, file=str(self.manifest), fix=fix) from None

    def tracks(self) -> list[str]:
        """Return the names of the complete tracks, sorted."""
        paths = (p for p in (self.root / "tracks").glob("*.json") if not p.name.startswith("."))
        return sorted(unquote(p.name.removesuffix(".json")) for p in paths)

    def describes_queries(self) -> bool:
        """Check whether a track has a table of queries, without reading a record."""
        return (self.root / "queries").is_dir()

    def failures(self) -> dict[str, str]:
        """Return the tracks that the last ingest could not read, and the reasons."""
        try:
            content = load_json(self.failed.read_bytes())
        except (OSError, ValueError):
            return {}
        errors = content.items() if isinstance(content, dict) else ()
        return {track: error for track, error in errors if isinstance(error, str)}

    def write_failures(self, failures: Mapping[str, str]) -> None:
        """Replace the list of tracks that could not be read."""
        if failures == self.failures():
            return
        if failures:
            write_bytes(self.failed, to_json(failures))
        else:
            local(self.failed).unlink(missing_ok=True)

    def track(self, name: str) -> FolderTrack:
        """Read the record of a track.

        Raises `UsageError` without such a track, `DataError` if it is being replaced or was
        changed.
        """
        check_not_forked()
        path = self.record(name)
        try:
            content = version = read_recent(path)
            if isinstance(path, RemotePath):  # before the content, which may be a second old
                version = version_of(path)
            record = parse_record(content)
            if record.get(IS_REPLACED):
                problem = "is being replaced by an ingest, or that ingest was interrupted"
                raise DataError(problem, track=name, fix=self._after_replacing())
            if not isinstance(record.get("files"), dict):
                raise ValueError("not a track record: it lists no files")
        except FileNotFoundError:
            hint = did_you_mean(name, self.tracks())
            raise UsageError(f"{self.root} has no track {name!r}. {hint}") from None
        except ValueError as error:
            file = str(path)
            raise DataError(f"cannot be read ({error})", file=file, fix=fix_of(self)) from None
        return FolderTrack(self, record, version)

    def mark_replaced(self, track: str) -> None:
        """Let readers of a track raise an error until its next record is written.

        Otherwise they would leave the track out, or mix new files with the old record.
        """
        if self.record(track).is_file():
            mark = {"track": track, IS_REPLACED: True}
            write_bytes(self.record(track), add_checksum(to_json(mark)))

    def _after_replacing(self) -> str:
        if isinstance(self.root, Path):
            return "Try again after the ingest, or run an interrupted ingest again."
        return "Try again after the track and its record were copied."

    def fingerprint(self) -> str:
        """Return a hash of the input and policy of all tracks."""
        records = (self.track(name).record for name in self.tracks())
        return fingerprint(self.read_manifest(), records)

    def only(self, track: str) -> Layout:
        """Return this layout with an absolute path."""
        return Layout(self.root.absolute()) if isinstance(self.root, Path) else self


@dataclass(frozen=True, eq=False)
class FolderTrack:
    """A track of a store in a folder; `version` changes when the track is replaced."""

    store: Layout
    record: Mapping[str, Any]
    version: bytes
    is_shared = True

    @property
    def name(self) -> str:
        """Name of the track."""
        return self.record["track"]

    def is_current(self) -> bool:
        """Check that the track was not replaced since its record was read."""
        try:
            return version_of(self.store.record(self.name)) == self.version
        except FileNotFoundError:
            return False

    def fingerprint(self) -> str:
        """Return a hash of the input and policy of the track."""
        return fingerprint(self.store.read_manifest(), [self.record])

    def table(self, kind: str, where: pl.Expr | None = None) -> pl.LazyFrame:
        """Scan a table; files that the record does not list are an error.

        polars does not verify page checksums, so each local file is compared at its first use in a
        process; pyarrow, which reads remote files, does.
        """
        if kind in OPTIONAL and not self._listed(kind):
            return TABLES[kind].empty().lazy()
        content = known_content_checksum if isinstance(self.store.root, Path) else None
        frame = scan(self._checked(kind, content))
        return frame if where is None else frame.filter(where)

    def read(self, kind: str, where: pl.Expr | None = None) -> pl.DataFrame:
        """Return `table` as a collected frame."""
        if kind == "runs":
            return self.table(kind, where).collect()
        if kind in OPTIONAL and not self._listed(kind):
            return TABLES[kind].empty()
        try:
            frame = read_frame(self._checked(kind))
        except DAMAGED:  # name the file, which the libraries beneath may not
            self._checked(kind, content_checksum)
            raise
        return frame if where is None else frame.filter(where)

    def groups(self) -> list[RowGroup]:
        """Return the row groups of the long table."""
        return list(row_groups(self._checked("runs")))

    def lists(
        self,
        groups: Sequence[RowGroup],
        columns: Sequence[str],
        codes: Mapping[str, Mapping[str, int]],
    ) -> StoredLists:
        """Return the lists of row groups, see `StoredTrack`."""
        return read_lists(groups, columns, codes)

    def _listed(self, kind: str) -> list[Location]:
        """Return the files of one kind that the record lists."""
        folder, files = self.store.folder(kind, self.name), self.record["files"]
        listed = (file.removeprefix(f"{kind}/") for file in files if file.startswith(f"{kind}/"))
        return sorted((folder / name for name in listed), key=_part)

    def _checked(
        self, kind: str, content: Callable[[Location], str] | None = None
    ) -> list[Location]:
        """Return the files of one kind after comparing sizes and footers, or `content`.

        Readers that verify page checksums pass no `content`.
        """
        is_local = isinstance(self.store.root, Path)  # to list a remote folder takes time
        files = self.store.files(kind, self.name) if is_local else self._listed(kind)
        if not files:
            problem = "its Parquet files are missing from the store"
            raise DataError(problem, track=self.name, fix=fix_of(self.store))
        for name, problem in problems(kind, files, self.record["files"], content):
            file = self.store.folder(kind, self.name) / name.rpartition("/")[2]
            message = f"its files in the store cannot be read ({file} {problem})"
            raise DataError(message, track=self.name, fix=fix_of(self.store))
        return files


def _part(file: Location) -> int:
    return int(file.stem.removeprefix("part-"))


Found = tuple[Location, str | None]
"""A file and its problem, or None if the file is intact."""


def check_manifest(layout: Layout) -> Found:
    """Read the manifest of a store."""
    try:
        layout.read_policy()
    except IrmetaError as error:
        return layout.manifest, _reason(error)
    return layout.manifest, None


def check_track(layout: Layout, track: str) -> list[Found]:
    """Read the record of a track and all files that it lists."""
    try:
        written = layout.track(track).record["files"]
    except IrmetaError as error:
        return [(layout.record(track), _reason(error))]
    results: list[Found] = [(layout.record(track), None)]
    for kind in KINDS:
        results += _check_kind(layout, track, kind, written)
    return results


def _check_kind(
    layout: Layout, track: str, kind: str, written: dict[str, object]
) -> Iterator[Found]:
    files, folder = layout.files(kind, track), layout.folder(kind, track)
    wrong = dict(problems(kind, files, written, content_checksum))
    names = sorted({name for name in written if name.startswith(f"{kind}/")} | wrong.keys())
    if not names and kind not in OPTIONAL:
        yield folder, "its Parquet files are missing"
    for name in names:
        file = folder / name.rpartition("/")[2]
        yield file, wrong.get(name)


def _reason(error: IrmetaError) -> str:
    return error.problem if isinstance(error, DataError) else str(error)
