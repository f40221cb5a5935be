"""Bundles of results: the same bytes twice, checksums that other tools verify, and refusals."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

import irmeta
from irmeta.errors import DataError, IrmetaError, UsageError
from irmeta.studies.framework import registry
from irmeta.studies.framework.recorded_files import ALL, RecordedFiles
from irmeta.studies.framework.study_results import CHECKSUMS_FILE, OPTIONS_FILE
from support import tiny


@pytest.fixture
def folder(store: irmeta.Store, tmp_path: Path, undrawn: None) -> Path:
    irmeta.studies.tiny(store, tmp_path / "tiny", track=["a", "b"], formats="svg,pdf")
    return tmp_path / "tiny"


def test_bundle__is_the_same_twice_and_its_checksums_are_right(folder: Path, tmp_path: Path, run):
    files = irmeta.studies.bundle(folder, tmp_path / "one.zip")
    copy = tmp_path / "elsewhere"
    shutil.copytree(folder, copy)
    run("study", "bundle", copy, tmp_path / "two.zip")
    one, two = ((tmp_path / name).read_bytes() for name in ("one.zip", "two.zip"))
    assert one == two
    place = tmp_path / "unpacked"
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        archive.extractall(place)
    names = files["file"].to_list()
    assert sorted(p.relative_to(place).as_posix() for p in place.rglob("*") if p.is_file()) == (
        sorted(names)
    )
    expected = {"report.html", "values.parquet", "docs/a.parquet", OPTIONS_FILE, CHECKSUMS_FILE}
    assert expected <= {*names}
    assert not [name for name in names if name.endswith((".svg", ".pdf"))]
    for line in (place / CHECKSUMS_FILE).read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((place / name).read_bytes()).hexdigest() == digest
    assert (place / CHECKSUMS_FILE).read_text().count("\n") == len(names) - 1
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "--check", "--quiet", CHECKSUMS_FILE], cwd=place, check=True)


def test_bundle__opens_unpacked_with_its_options(store, folder: Path, tmp_path: Path, undrawn):
    irmeta.studies.bundle(folder, tmp_path / "tiny.zip", figures=True)
    place = tmp_path / "unpacked"
    with zipfile.ZipFile(tmp_path / "tiny.zip") as archive:
        assert any(name.endswith(".svg") for name in archive.namelist())
        archive.extractall(place)
    before, after = (irmeta.studies.open(where) for where in (folder, place))
    assert after.tables["values"].equals(before.tables["values"])
    assert after.scan("docs").collect().equals(before.scan("docs").collect())
    assert irmeta.check(place).is_empty()
    facts = json.loads((place / OPTIONS_FILE).read_bytes())["studies"]["tiny"]
    assert facts["options"] == before.options.record()
    assert facts["tracks"] == before.provenance["tracks"]
    tiny.FAILING["a"] = IrmetaError("computed again")  # the copy lacks the tables of each track
    with pytest.raises(IrmetaError, match="computed again"):
        irmeta.studies.tiny(store, place, track=["a", "b"])


def test_bundle__of_all_studies_has_the_index(store, tmp_path: Path, undrawn, monkeypatch):
    for name in registry.OWN.keys() - {"tiny"}:
        monkeypatch.delitem(registry.OWN, name)
    registry.study_modules.cache_clear()
    irmeta.studies.run_all(store, tmp_path / "all", track="a")
    files = irmeta.studies.bundle(tmp_path / "all", tmp_path / "all.zip")
    assert {"index.html", "tiny/report.html", "tiny/values.parquet"} <= {*files["file"]}
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        archive.extractall(tmp_path / "unpacked")
    assert irmeta.check(tmp_path / "unpacked").is_empty()


def test_bundle__refuses_unfinished_and_changed_results(folder: Path, tmp_path: Path):
    out = tmp_path / "out.zip"
    with pytest.raises(UsageError, match="holds no study's results"):
        irmeta.studies.bundle(tmp_path, out)
    with pytest.raises(UsageError, match=r"the ending of a bundle is"):
        irmeta.studies.bundle(folder, tmp_path / "out.tar")
    out.write_bytes(b"mine")
    with pytest.raises(UsageError, match="irmeta did not write it"):
        irmeta.studies.bundle(folder, out)
    irmeta.studies.bundle(folder, out, force=True)
    irmeta.studies.bundle(folder, out)
    before = out.read_bytes()
    page = folder / "report.html"
    page.write_text(page.read_text() + "<!-- mine -->")
    with pytest.raises(DataError, match=r"report.html.* was changed after it was written"):
        irmeta.studies.bundle(folder, out)
    files = RecordedFiles(folder, ALL)
    files.start(**files.facts)
    with pytest.raises(DataError, match="unfinished"):
        irmeta.studies.bundle(folder, out)
    assert out.read_bytes() == before
