"""Files of results: damaged files are rewritten, foreign files never removed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.checksums import add_checksum, parse_record, to_json
from irmeta.errors import IrmetaError
from irmeta.studies.framework.recorded_files import ALL, RecordedFiles
from support import tiny
from support.undrawn import draw_nothing

pytestmark = pytest.mark.exhaustive


@pytest.fixture
def out(store: irmeta.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder with results of the tiny study."""
    draw_nothing(monkeypatch)
    irmeta.studies.tiny(store, tmp_path / "out")
    return tmp_path / "out"


def content(out: Path) -> dict[str, bytes]:
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    "file",
    [
        ".parts/b/values.parquet",
        ".parts/b/files.json",
        "docs/b.parquet",
        "figures/tracks/b/own.svg",
    ],
)
@pytest.mark.parametrize("damage", ["cut short", "a bit", "gone"])
def test_run__damaged_file_is_rewritten(store: irmeta.Store, out: Path, file: str, damage: str):
    before = content(out)
    raw = bytearray(before[file])
    raw[len(raw) // 2] ^= 1
    if damage == "gone":
        (out / file).unlink()
    else:
        (out / file).write_bytes(raw if damage == "a bit" else raw[: len(raw) // 2])
    again = irmeta.studies.tiny(store, out)
    assert again.batch is not None
    assert again.batch.analysed == ("b",)
    assert content(out) == before


def test_recorded_files__are_recorded_together_before_the_first_is_written(tmp_path: Path):
    files = RecordedFiles(tmp_path, ALL)
    files.start()
    (tmp_path / "b").mkdir()  # no file can replace it
    with pytest.raises(IsADirectoryError):
        files.write_all({"a": b"1", "b": b"2", "c": b"3"})
    assert (tmp_path / "a").read_bytes() == b"1"
    assert {*RecordedFiles(tmp_path, ALL).recorded()} == {"a", "b", "c"}


def test_recorded_files__pdf_is_recorded_by_its_size(tmp_path: Path):
    """The order of objects in a PDF differs each time it is drawn."""
    records = set[bytes]()
    for data in (b"%PDF 1 2", b"%PDF 2 1"):
        files = RecordedFiles(tmp_path, ALL)
        files.start()
        files.write("figures/a.pdf", data)
        files.finish("key")
        records.add(files.mark.read_bytes())
        assert RecordedFiles(tmp_path, ALL).is_done("key")
    assert len(records) == 1
    (tmp_path / "figures" / "a.pdf").write_bytes(b"%PDF")
    assert not RecordedFiles(tmp_path, ALL).is_done("key")


@pytest.mark.parametrize("file", ["values.parquet", "report.html", "figures/all_ap.svg"])
def test_run__damaged_combined_file_is_rewritten(store: irmeta.Store, out: Path, file: str):
    before = content(out)
    (out / file).write_bytes(before[file][:-1])
    again = irmeta.studies.tiny(store, out)
    assert again.batch is not None
    assert again.batch.analysed == ()
    assert content(out) == before


MINE = (
    *("runs.parquet", "qrels.parquet", "thesis.tex", "figures/mine.svg", "latex/mine.tex"),
    *("docs/mine.parquet", "figures/tracks/b/mine.svg", ".parts/.mine"),
)


@pytest.mark.parametrize("record", ["there", "damaged"])
def test_run__foreign_files_are_never_removed(store: irmeta.Store, out: Path, record: str):
    for name in MINE:
        pl.DataFrame({"mine": [1]}).write_parquet(out / name)
    if record == "damaged":
        for part in (".all", "b"):
            (out / ".parts" / part / "files.json").write_text("{")
    tiny.FAILING |= dict.fromkeys("abc", IrmetaError("nothing works"))
    with pytest.raises(IrmetaError, match="nothing works"):
        irmeta.studies.tiny(store, out, share=0.25)
    left = set(content(out))
    assert set(MINE) <= left
    if record == "there":
        assert {name for name in left if not name.endswith((".lock", "files.json"))} == set(MINE)


@pytest.mark.parametrize("is_absolute", [True, False])
def test_run__record_cannot_name_files_outside_the_folder(
    store: irmeta.Store, out: Path, tmp_path: Path, is_absolute: bool
):
    outside, record = tmp_path / "outside", out / ".parts" / ".all" / "files.json"
    outside.write_text("mine")
    name = str(outside) if is_absolute else "../outside"
    listed = parse_record(record.read_bytes())
    listed["files"][name] = {"checksums": ["4 69a8d393"]}
    record.write_bytes(add_checksum(to_json(listed)))
    irmeta.studies.tiny(store, out)
    assert outside.read_text() == "mine"


def test_run__temporary_files_of_killed_writers_are_removed(store: irmeta.Store, out: Path):
    before = content(out)
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    for file in ("values", "docs/b", ".parts/b/values", "figures/tracks/b/own", "compare/x/a"):
        path = out / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_name(f".{path.name}.{killed.pid}.irmeta.tmp").write_text("half")
    (out / "docs" / ".mine.tmp").write_text("mine")
    irmeta.studies.tiny(store, out)
    assert content(out) == before | {"docs/.mine.tmp": b"mine"}
