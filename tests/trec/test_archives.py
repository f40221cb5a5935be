"""Archives of runs: members are read as runs, and their names never used as paths."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.errors import DataError, IrmetaError, SkippedRunWarning
from irmeta.store.ingest import ingest_collection
from irmeta.store.layout import Layout
from irmeta.trec import archives
from irmeta.trec.archives import archive_kind, members
from irmeta.trec.streams import InputFile, open_stream

QRELS = "1 0 a 1\n1 0 b 0\n"
RUNS = {"bm25.txt": b"1 Q0 a 1 2 x\n", "sub/rm3.gz": gzip.compress(b"1 Q0 b 1 2 y\n")}


def tar(files: dict[str, bytes], mode: str = "w") -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


KINDS = {
    "runs.tar": tar,
    "runs.tar.gz": lambda files: tar(files, "w:gz"),
    "runs.tar.bz2": lambda files: tar(files, "w:bz2"),
    "runs.tgz.txt": lambda files: tar(files, "w:gz"),  # the content decides, not the name
    "runs.zip": zipped,
}


def collection(folder: Path, name: str, content: bytes, qrels: bytes = QRELS.encode()) -> Path:
    (folder / "c" / "t" / "runs").mkdir(parents=True)
    (folder / "c" / "t" / "runs" / name).write_bytes(content)
    (folder / "c" / "t" / "qrels").write_bytes(qrels)
    return folder / "c"


def read_all(path: Path) -> dict[str, bytes | str]:
    """Map each member to its content or to its problem."""
    file = InputFile.at(path, path.name)
    kind = archive_kind(file)
    assert kind is not None
    found: dict[str, bytes | str] = {}
    for member in members(file, kind):
        if isinstance(member, DataError):
            found[str(member.file)] = member.problem
            continue
        for _ in range(2):  # a member can be opened again before the next one
            with open_stream(member) as stream:
                parts, buffer = [], memoryview(bytearray(7))
                while count := stream.readinto(buffer):
                    parts.append(bytes(buffer[:count]))
        found[member.name] = b"".join(parts)
    return found


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", KINDS)
def test_members__archived_runs_are_read_like_files(tmp_path, name):
    store = irmeta.read(collection(tmp_path, name, KINDS[name](RUNS)))
    systems = store.systems()
    assert systems["system"].to_list() == ["x", "y"]
    assert systems["file"].to_list() == [f"t/runs/{name}/bm25.txt", f"t/runs/{name}/sub/rm3.gz"]
    assert store.means("AP")["value"].to_list() == [1.0, 0.0]


@pytest.mark.parametrize("name", ["runs.tar.gz", "runs.zip"])
@pytest.mark.parametrize("held", [0, 1 << 20])
def test_members__held_and_streamed_members_are_read_alike(tmp_path, monkeypatch, name, held):
    monkeypatch.setattr(archives, "HELD", held)
    files = {"a": b"one\n" * 99, "b": b"two\n", "d/c.gz": gzip.compress(b"three\n" * 9)}
    (tmp_path / name).write_bytes(KINDS[name](files))
    expected = {"a": b"one\n" * 99, "b": b"two\n", "d/c.gz": b"three\n" * 9}
    assert read_all(tmp_path / name) == {f"{name}/{n}": text for n, text in expected.items()}


def test_members__hostile_paths_write_no_files(tmp_path):
    hostile = {"../../up": b"a\n", "/etc/passwd": b"b\n", ".hidden": b"c\n", "x/./y": b"d\n"}
    for name in ("runs.tar", "runs.zip"):
        (tmp_path / name).write_bytes(KINDS[name](hostile))
        assert read_all(tmp_path / name) == {
            f"{name}/../../up": b"a\n",
            f"{name}/etc/passwd": b"b\n",
            f"{name}/x/y": b"d\n",
        }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs.tar", "runs.zip"]


def test_members__of_long_names_are_read_and_of_longer_ones_refused(tmp_path):
    for length in (500_000, 1_500_000):
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT) as archive:
            archive.addfile(tarfile.TarInfo("n" * length))
        (tmp_path / f"{length}.tar").write_bytes(made.getvalue())
    assert read_all(tmp_path / "500000.tar") == {"500000.tar/" + "n" * 500_000: b""}
    (problem,) = read_all(tmp_path / "1500000.tar").values()
    assert problem == "the archive cannot be read (a header of more than a megabyte)"


def test_members__links_and_devices_are_refused(tmp_path):
    (tmp_path / "secret").write_text("1 Q0 secret 1 2 z\n")
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, kind in (("s", tarfile.SYMTYPE), ("h", tarfile.LNKTYPE), ("f", tarfile.FIFOTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, str(tmp_path / "secret")
            archive.addfile(info)
    (tmp_path / "l.tar").write_bytes(made.getvalue())
    said = "a link or a device in an archive is not read"
    assert read_all(tmp_path / "l.tar") == dict.fromkeys(("l.tar/s", "l.tar/h", "l.tar/f"), said)
    info = zipfile.ZipInfo("s")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "l.zip", "w") as archive:
        archive.writestr(info, str(tmp_path / "secret"))
    assert read_all(tmp_path / "l.zip") == {"l.zip/s": "a link in an archive is not followed"}


def test_members__duplicate_name_is_an_error(tmp_path):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for content in (b"1\n", b"2\n"):
            info = tarfile.TarInfo("r")
            info.size = 2
            archive.addfile(info, io.BytesIO(content))
    (tmp_path / "r.tar").write_bytes(made.getvalue())
    found = list(members(InputFile.at(tmp_path / "r.tar", "r.tar"), "tar"))
    assert [isinstance(one, DataError) for one in found] == [False, True]


@pytest.mark.parametrize("name", ["runs.tar", "runs.tar.gz", "runs.zip"])
def test_members__damaged_archive_raises_data_error_only(tmp_path, name):
    whole = KINDS[name]({f"r{i}": os.urandom(2000) for i in range(4)})
    file = InputFile.at(tmp_path / name, name)
    for size in range(600, len(whole), 531):
        (tmp_path / name).write_bytes(whole[:size])
        kind = archive_kind(file)
        for member in members(file, kind) if kind else ():
            if not isinstance(member, DataError):
                try:
                    with open_stream(member) as stream:
                        while stream.readinto(memoryview(bytearray(512))):
                            pass
                except DataError:
                    pass


def test_members__invalid_members_are_skipped(tmp_path):
    inner = tar({"r": b"1 Q0 a 1 2 z\n"})
    bad = {**RUNS, "bad": b"1 Q0 a\n", "inner.tar": inner}
    with pytest.warns(SkippedRunWarning, match="2 runs skipped") as warned:
        store = irmeta.read(collection(tmp_path, "runs.tar", tar(bad)))
    said = str(warned[0].message)
    assert f"{tmp_path}/c/t/runs/runs.tar/bad, line 1: 3 fields where a run has six" in said
    assert "runs.tar/inner.tar: an archive in an archive. Unpack the outer one." in said
    kept = store.systems().filter(pl.col("skip_reason").is_null())
    assert kept["system"].to_list() == ["x", "y"]


@pytest.mark.parametrize("name", ["runs.tar", "runs.zip"])
def test_members__empty_archive_is_refused(tmp_path, name):
    with pytest.raises(IrmetaError, match=r"the archive holds no file|is empty|cannot be read"):
        irmeta.read(collection(tmp_path, name, KINDS[name]({})))


@pytest.mark.parametrize("name", ["runs.tar.gz", "runs.zip"])
def test_read__archived_qrels_are_refused(tmp_path, name):
    packed = KINDS[name]({"qrels": QRELS.encode()})
    with pytest.raises(IrmetaError, match=r"qrels: a (tar|zip) archive. Unpack the qrels"):
        irmeta.read(collection(tmp_path, "r", b"1 Q0 a 1 2 x\n", packed))


def test_ingest__unchanged_archive_is_not_read_again(tmp_path):
    source = collection(tmp_path, "runs.tar.gz", tar(RUNS, "w:gz"))
    irmeta.ingest(source, tmp_path / "s")
    done = ingest_collection(source, Layout(tmp_path / "s"), irmeta.ReadPolicy())
    assert [outcome.state for outcome in done] == ["unchanged"]
