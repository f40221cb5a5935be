"""Records of the files that a study writes, so that later runs remove only those files."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from irmeta.checksums import (
    add_checksum,
    checksum_of_bytes,
    content_checksum,
    parse_record,
    to_json,
)
from irmeta.errors import DataError
from irmeta.files import folder_name, is_inside, remove_temporaries, replacing, write_bytes
from irmeta.locations import Location, local
from irmeta.policies import EvalPolicy
from irmeta.results.tidy_files import ParquetFile
from irmeta.schema.columns import Table

PARTS = ".parts"
# No track's folder begins with a dot.
ALL = ".all"
ALONE = ".alone"


class RecordedFiles:
    """The files of one part of a study: of a track, or of all tracks together.

    A file's name and checksum are recorded before the file is moved to its path, so that the next
    run knows all files of an interrupted run. `folder` has the records: `folder_of` a track,
    `ALONE` for the part that reads no store, `ALL` for the joined results.
    """

    def __init__(self, root: Location, folder: str) -> None:
        self.root: Location = root
        self._folder = folder
        self._written: set[str] = set()
        self._record = _read_record(self.mark)
        self._known: dict[str, dict[str, Any]] = self._record.setdefault("files", {})

    @property
    def mark(self) -> Location:
        """The record of the files."""
        return self.root / PARTS / self._folder / "files.json"

    def table_file(self, table: Table) -> str:
        """Return the name of the file with a table's rows."""
        if table.apart:
            return f"{table.name}/{self._folder}.parquet"
        if self._folder == ALL:
            return f"{table.name}.parquet"
        return f"{PARTS}/{self._folder}/{table.name}.parquet"

    def figure(self, name: str, ending: str) -> str:
        """Return the name of a figure's file."""
        kind = "latex" if ending == "pdf" else "figures"  # PDFs lie beside the LaTeX tables
        folder = kind if self._folder == ALL else f"{kind}/tracks/{self._folder}"
        return f"{folder}/{name}.{ending}"

    def is_done(self, key: str) -> bool:
        """Check whether all files exist, made from the same inputs, and undamaged."""
        return self.is_finished(key) and not any(map(self._problem, self._known))

    def is_finished(self, key: str) -> bool:
        """Check whether the record says that all files were made from these inputs."""
        return self._record.get("key") == key

    @property
    def facts(self) -> Mapping[str, Any]:
        """The facts given to `start`; empty without a record."""
        return self._record.get("facts", {})

    def problems(self) -> Iterator[tuple[Location, str | None]]:
        """Yield the record and each file that it lists, with its problem or None."""
        if not self._record.get("facts"):
            is_there = self.mark.exists()
            yield self.mark, "is damaged" if is_there else "is missing"
        elif self._record.get("key") is None:
            yield self.mark, "the results are unfinished: run it again"
        else:
            yield self.mark, None
            for name in self._known:
                yield self.root / name, self._problem(name)

    def _problem(self, name: str) -> str | None:
        """Return the problem of a file; None for an unchanged file."""
        try:
            checksum = _recordable(name, content_checksum(self.root / name))
        except FileNotFoundError:
            return "is missing"
        except OSError as error:
            return f"cannot be read ({error.strerror})"
        known = (_recordable(name, recorded) for recorded in self._known[name]["checksums"])
        return None if checksum in known else "was changed after it was written"

    def start(self, **facts: Any) -> None:
        """Record that the files are being replaced; an interrupted run leaves no valid results."""
        self._record |= {"key": None, "facts": facts}
        self._save()

    def write(self, name: str, data: bytes, **facts: Any) -> None:
        """Write a file, and record `facts` beside its checksum."""
        self.write_all({name: data}, **facts)

    def write_all(self, contents: Mapping[str, bytes], **facts: Any) -> None:
        """Write files, given their contents by name, and record all of them at once."""
        for name, data in contents.items():
            self._expect(name, _recordable(name, checksum_of_bytes(data)), facts)
        self._save()
        for name, data in contents.items():
            write_bytes(self.root / name, data)

    @contextmanager
    def parquet(self, table: Table, provenance: Mapping[str, Any]) -> Generator[ParquetFile]:
        """Write a table in pieces; its file appears when the last piece is written."""
        name = self.table_file(table)
        with replacing(self.root / name) as temporary:
            with ParquetFile(temporary, table, provenance) as file:
                yield file
            self._expect(name, content_checksum(temporary), {})
            self._save()

    def has(self, name: str, **facts: Any) -> bool:
        """Check whether a file exists, undamaged, and was recorded with these facts."""
        known = self._known.get(name)
        is_same = known is not None and all(known.get(n) == v for n, v in facts.items())
        return is_same and self._problem(name) is None

    def keep(self, name: str, **facts: Any) -> None:
        """Keep a file of an earlier run, and record `facts`."""
        self._known[name] |= facts
        self._written.add(name)

    def recorded(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the facts of each file by name: of the files of this run, or else of all."""
        written = self._written or self._known
        return {name: facts for name, facts in self._known.items() if name in written}

    def record_of(self, names: Collection[str]) -> bytes:
        """Return the record of some of the files, for a copy of the folder.

        The record of a track has another key, so that a study computes the track again.
        """
        listed = {name: known for name, known in self._known.items() if name in names}
        key = "" if self._folder == ALL else "copied"
        return add_checksum(to_json(self._record | {"key": key, "files": listed}))

    def finish(self, key: str) -> None:
        """Remove files of earlier runs that this run did not write, and record the key."""
        for name in sorted(self._known.keys() - self._written):
            self._remove(name)
        for known in self._known.values():
            del known["checksums"][:-1]
        self._record["key"] = key
        self._save()

    def remove(self) -> None:
        """Remove all files and their record."""
        for name in sorted(self._known):
            self._remove(name)
        mark, root = local(self.mark), local(self.root)
        mark.unlink(missing_ok=True)
        _remove_empty(mark.parent, root)

    def _remove(self, name: str) -> None:
        path, root = local(self.root / name), local(self.root)
        if self._problem(name) is None:
            path.unlink()
            _remove_empty(path.parent, root)
        del self._known[name]

    def _expect(self, name: str, checksum: str, facts: Mapping[str, Any]) -> None:
        earlier = self._known.get(name, {}).get("checksums", [])
        checksums = [
            *(recorded for recorded in earlier if recorded != checksum),
            checksum,
        ]
        self._known[name] = {**facts, "checksums": checksums}
        self._written.add(name)

    def _save(self) -> None:
        write_bytes(self.mark, add_checksum(to_json(self._record)))


def _recordable(name: str, checksum: str) -> str:
    """Return the checksum to record of a file: of a PDF its size only.

    The order of objects in a PDF differs each time it is drawn, and records promise equal bytes.
    """
    return checksum.partition(" ")[0] if name.endswith(".pdf") else checksum


def recorded_policy(root: Location) -> EvalPolicy:
    """Return the policy that results were made with; raise DataError if their record is damaged."""
    files = RecordedFiles(root, ALL)
    if not files.facts and files.mark.exists():
        fix = "Run reanalyze again, or name the store in the folder, whose policies are plain."
        raise DataError("is damaged", file=str(files.mark), fix=fix)
    return EvalPolicy.from_record(files.facts.get("options", {}))


def folder_of(track: str) -> str:
    """Return the name of the folder with a track's records."""
    return folder_name(track)


def recorded_tracks(root: Location) -> list[str]:
    """Return the sorted tracks with files in a study's folder."""
    marks = (root / PARTS).glob("*/files.json")
    tracks = (_read_record(mark).get("facts", {}).get("track") for mark in marks)
    return sorted(track for track in tracks if track is not None)


def recorded_folders(root: Location) -> list[str]:
    """Return the folders with a record in a study's folder, `ALL` first."""
    folders = sorted(path.name for path in (root / PARTS).iterdir() if path.is_dir())
    return [ALL, *(name for name in folders if name != ALL)]


def remove_leftovers(root: Path) -> None:
    """Remove the temporary files of killed writers."""
    tables = [path for path in root.iterdir() if path.is_dir()] if root.is_dir() else []
    nested = [root / name for name in (PARTS, "figures", "latex", "compare", "power")]
    below = [path for folder in nested for path in folder.glob("**/") if path != folder]
    remove_temporaries(root, *tables, *below)


def _read_record(path: Location) -> dict[str, Any]:
    """Return a record of files; empty if none can be read."""
    try:
        record = parse_record(path.read_bytes())
        listed = record["files"]
        return record if isinstance(listed, dict) and all(map(is_inside, listed)) else {}
    except (OSError, ValueError, KeyError):
        return {}


def _remove_empty(folder: Path, root: Path) -> None:
    """Remove a folder and its parents below `root` if they are empty; other threads may too."""
    while folder != root:
        try:
            folder.rmdir()
        except FileNotFoundError:
            pass
        except OSError:
            return
        folder = folder.parent
