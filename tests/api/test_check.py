"""`irmeta check`: damaged, missing and unknown files are named."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import irmeta
from irmeta.checksums import add_checksum, parse_record, to_json
from irmeta.errors import UsageError
from irmeta.results.tidy_files import write_out
from support.undrawn import draw_nothing


@pytest.fixture(scope="module")
def made(worked_examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return results with their store, and results of a study."""
    root = tmp_path_factory.mktemp("made")
    for track in ("ties", "unretrieved"):
        shutil.copytree(worked_examples / track, root / "in" / track)
    with pytest.MonkeyPatch.context() as patch:
        draw_nothing(patch)
        irmeta.reanalyze(root / "in", root / "results", measures="AP")
        irmeta.studies.search_length(root / "results", root / "study", min_systems=1, resamples=9)
    return root


@pytest.fixture
def results(made: Path, tmp_path: Path) -> Path:
    """Return a copy of the results that a test may damage."""
    return shutil.copytree(made / "results", tmp_path / "results")


def damage(file: Path) -> None:
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 1
    file.write_bytes(raw)


@pytest.mark.exhaustive
def test_check__intact_files_give_no_problems(made: Path, run):
    for folder_or_file in ("results", "results/store", "study", "results/means.parquet"):
        assert irmeta.check(made / folder_or_file).rows() == []
        done = run("check", made / folder_or_file)
        assert (done.status, done.err) == (0, "")
        assert done.out.endswith(" read, 0 damaged\n")


def test_check__every_damaged_file_is_named(results: Path, run):
    """Each file is damaged alone, except files that may be lost without harm."""
    files = [f for f in results.rglob("*") if f.is_file()]
    harmless = {".lock", ".cache.json"}
    for file in sorted(f for f in files if f.name not in harmless and f.stat().st_size):
        before = file.read_bytes()
        damage(file)
        assert irmeta.check(results)["file"].to_list() == [str(file)]
        if file.name == "manifest.json":
            done = run("check", results)
            assert done.status == 1
            assert f"{file}: cannot be read (checksum mismatch" in done.out
            assert done.out.splitlines()[-1].endswith("files read, 1 damaged")
        file.write_bytes(before)


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ("scores/ties.parquet", "is missing"),
        ("report.html", "is missing"),
        (".parts/.all/files.json", "is missing"),
        ("store/runs/ties/part-0.parquet", "is missing"),
        ("store/qrels/ties/part-0.parquet", "is missing"),
    ],
)
def test_check__missing_file_is_named(results: Path, file: str, problem: str):
    (results / file).unlink()
    assert irmeta.check(results).rows() == [(str(results / file), problem)]


def test_check__file_missing_from_records_is_named(results: Path):
    folder = results / "store" / "runs" / "ties"
    shutil.copy(folder / "part-0.parquet", folder / "part-1.parquet")
    ((file, problem),) = irmeta.check(results).rows()
    assert (file, problem) == (str(folder / "part-1.parquet"), "is not in the track's record")


def test_check__unfinished_track_is_named(results: Path):
    done = results / ".parts" / "ties" / "files.json"
    done.write_bytes(add_checksum(to_json(parse_record(done.read_bytes()) | {"key": None})))
    ((file, problem),) = irmeta.check(results).rows()
    assert file == str(done)
    assert "unfinished" in problem


@pytest.mark.one_in(2)
@pytest.mark.parametrize("place", ["means2.parquet", "compare/AP.t/pairs.parquet"])
def test_check__files_of_other_commands_in_results_are_checked(
    results: Path, made: Path, place: str
):
    store = irmeta.open_store(made / "results")
    file = results / place
    write_out(store.means("AP"), file, store.provenance("AP"), force=False)
    shutil.copy(made / "in" / "ties" / "qrels.txt", results / "notes.parquet")  # not irmeta's
    assert irmeta.check(results).rows() == []
    damage(file)
    assert irmeta.check(results)["file"].to_list() == [str(file)]


def test_check__foreign_path_is_refused(tmp_path: Path):
    (tmp_path / "a.parquet").write_text("text")
    for path in (tmp_path, tmp_path / "none", tmp_path / "a.parquet"):
        with pytest.raises(UsageError, match="is not a store, a folder of results"):
            irmeta.check(path)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_rehash_option__detects_change_with_equal_size_and_time(two_tracks: Path, run):
    store, out = two_tracks.parent / "store", two_tracks.parent / "out"
    file = two_tracks / "ties" / "qrels.txt"
    asked = [("ingest", two_tracks, "--out", store), ("reanalyze", two_tracks, "--out", out)]
    for command in asked:
        assert run(*command).status == 0
    before = (out / "means.parquet").read_bytes()
    changed, text = file.stat(), file.read_text()
    file.write_text(text.replace(" 1\n", " 0\n", 1))
    assert file.read_text() != text
    os.utime(file, ns=(changed.st_atime_ns, changed.st_mtime_ns))
    assert "ties: unchanged" in run(*asked[0]).out
    assert "ties: written" in run(*asked[0], "--rehash").out
    run(*asked[1])
    assert (out / "means.parquet").read_bytes() == before
    run(*asked[1], "--rehash")
    assert (out / "means.parquet").read_bytes() != before
    refused = run("reanalyze", store, "--out", out, "--rehash")
    assert (refused.status, "rehash is for a collection" in refused.err) == (2, True)


@pytest.mark.exhaustive
def test_check__covers_every_folder_of_all_studies(made: Path, tmp_path: Path, run):
    with pytest.MonkeyPatch.context() as patch:
        draw_nothing(patch)
        run("study", "all", made / "results", "--out", tmp_path / "all")
    assert irmeta.check(tmp_path / "all").rows() == []
    file = tmp_path / "all" / "overview" / "means.parquet"
    damage(file)
    assert irmeta.check(tmp_path / "all")["file"].to_list() == [str(file)]


def test_check__collection_is_referred_to_ingest(worked_examples: Path):
    with pytest.raises(UsageError, match="checks run files, `irmeta ingest` a collection"):
        irmeta.check(worked_examples)
