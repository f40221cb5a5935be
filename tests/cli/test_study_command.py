"""`irmeta study`: output and exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

import irmeta
from irmeta.results.tidy_files import provenance
from support.stderr import without_notes


@pytest.mark.usefixtures("undrawn")
def test_study_command__prints_counts_and_files(
    run, made_store: irmeta.Store, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = run(
        *("study", "search-length", made_store.path, "--out", out, "--resamples", 20),
        *("--min-systems", 10, "--contender", "doumMan1", "--qrels", "binary", "--track", "news"),
    )
    assert (done.status, [line[:20] for line in done.err.splitlines()]) == (
        0,
        ["irmeta: news: 2 of 2", "irmeta: news: 1 of 2"],  # notes on runs
    )
    said = done.out.splitlines()
    assert said[0] == "tracks 1, systems 20, queries 25; tracks left out: 0"
    for line in said[1:]:
        assert list(out.glob(Path(line.split()[0]).name)), line
    record = provenance(out / "table_1.parquet")
    assert record is not None
    assert (record["options"]["contender"], record["options"]["min_systems"]) == ("doumMan1", 10)
    assert record["tracks"]["news"]["qrels"] == "binary"


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_study_command__excluded_and_failed_tracks_are_listed(
    run, made_store: irmeta.Store, tmp_path: Path
) -> None:
    command = ("study", "search-length", made_store.path, "--out", tmp_path, "--resamples", 20)
    done = run(*command, "--track", "web", "--track", "passage", "--min-systems", 10)
    assert done.status == 0
    assert "left out: 1" in done.out.splitlines()[0]
    assert done.out.splitlines()[1].startswith("  passage: 9 systems, ")
    done = run(*command, "--qrels", "adhoc")
    assert done.status == 1
    assert [line.split(": ")[:3] for line in without_notes(done.err).splitlines()] == [
        *(["irmeta", "failed", "track news"], ["irmeta", "failed", "track passage"])
    ]
    assert "tracks 1, systems 12, queries 20; tracks left out: 0" in done.out
    done = run(*command, "--qrels", "none")
    assert (done.status, done.out) == (2, "")
    done = run(*command, "--min-systems", 99)
    assert (done.status, done.out) == (2, "")


def test_study_command__folder_of_other_files_is_refused(
    run, made_store: irmeta.Store, tmp_path: Path
) -> None:
    (tmp_path / "thesis.tex").write_text("dear diary")
    done = run("study", "search-length", made_store.path, "--out", tmp_path)
    assert done.status == 2
    assert "holds other files: name a new folder, or use `--force`." in done.err
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]
