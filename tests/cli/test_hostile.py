"""Failures outside irmeta give a one-line error and never wrong values."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.files import only_writer
from support.stderr import without_notes

pytestmark = pytest.mark.exhaustive

IRMETA = [sys.executable, "-c", "from irmeta.cli import main; main()"]


def apart(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a new process."""
    command = [*IRMETA, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", env={**os.environ, **environment}
    )


def content(folder: Path) -> dict[str, bytes]:
    kept = (p for p in folder.rglob("*") if p.is_file() and p.name not in (".cache.json", ".lock"))
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in kept}


@pytest.fixture
def store(worked_examples: Path, tmp_path: Path) -> Path:
    """Return a store of two tiny tracks that a test may damage."""
    for track in ("ties", "unretrieved"):
        shutil.copytree(worked_examples / track, tmp_path / "in" / track)
    return irmeta.ingest(tmp_path / "in", tmp_path / "store").path


def test_ingest_command__second_writer_of_a_store_is_refused(
    store: Path, tmp_path: Path, run
) -> None:
    with only_writer(store):
        done = apart("ingest", tmp_path / "in", "--out", store)
    assert done.returncode == 2
    assert done.stderr == f"irmeta: another process is writing {store}: wait for it to end.\n"
    assert run("ingest", tmp_path / "in", "--out", store).status == 0


@pytest.mark.usefixtures("undrawn")
def test_reanalyze_command__second_writer_of_results_is_refused(
    store: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    irmeta.reanalyze(store, out)
    with only_writer(out / ".parts"):
        assert apart("reanalyze", store, "--out", out).returncode == 2


def stop_at_rename(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    """Raise KeyboardInterrupt at the n-th move of a file or folder into place."""
    rename, count = os.replace, itertools.count(1)

    def replace(source: object, target: object) -> None:
        if next(count) == n:
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "replace", replace)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("n", [1, 3, 10, 30, 60])
def test_reanalyze__stopped_run_resumes_to_the_same_bytes(
    made_store: irmeta.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n: int
) -> None:
    irmeta.reanalyze(made_store.path, tmp_path / "whole")
    with monkeypatch.context() as patch:
        stop_at_rename(patch, n)
        with pytest.raises(KeyboardInterrupt):
            irmeta.reanalyze(made_store.path, tmp_path / "stopped")
    irmeta.reanalyze(made_store.path, tmp_path / "stopped")
    assert content(tmp_path / "stopped") == content(tmp_path / "whole")


@pytest.mark.parametrize("n", [1, 2, 4, 6, 9, 14])
def test_ingest__stopped_run_keeps_complete_tracks_and_resumes(
    made_store: irmeta.Store, collections: Path, tmp_path: Path, monkeypatch, run, n: int
) -> None:
    place = tmp_path / "stopped"
    with monkeypatch.context() as patch:
        stop_at_rename(patch, n)
        patch.setattr("irmeta.store.read_track.MOST_ROWS", 700)  # rows move to files
        with pytest.raises(KeyboardInterrupt):
            irmeta.ingest(collections, place)
    goes_on_to_the_same_store(place, made_store, collections, run)


def goes_on_to_the_same_store(place: Path, whole: irmeta.Store, collections: Path, run) -> None:
    """Check that tracks of a stopped ingest are complete and the next ingest finishes."""
    if (place / "manifest.json").is_file():
        stopped = irmeta.open_store(place)
        for track in stopped.tracks:  # every visible track is complete
            assert stopped.runs(track).collect().equals(whole.runs(track).collect())
    assert run("ingest", collections, "--out", place).status == 0
    left = {name: b for name, b in content(place).items() if not name.endswith(".tmp")}
    assert left == content(whole.path)


def kill_after(delay: float, *arguments: object) -> None:
    """Run the command line in a new process and kill it after a delay."""
    command = [*IRMETA, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.3, 0.7, 1.1, 1.5, 1.9, 2.5])
def test_killed_processes__next_run_resumes_to_the_same_bytes(
    made_store: irmeta.Store, collections: Path, tmp_path: Path, delay: float, run
) -> None:
    place, out = tmp_path / "store", tmp_path / "out"
    kill_after(delay, "ingest", collections, "--out", place, "--memory", "1M")
    goes_on_to_the_same_store(place, made_store, collections, run)
    kill_after(delay, "reanalyze", made_store.path, "--out", out)
    irmeta.reanalyze(made_store.path, out)
    irmeta.reanalyze(made_store.path, tmp_path / "whole")
    left = {name: b for name, b in content(out).items() if not name.endswith(".tmp")}
    assert left == content(tmp_path / "whole")


@pytest.mark.usefixtures("undrawn")
def test_reanalyze__stopped_run_with_other_measures_leaves_no_mixture(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from irmeta.studies.framework.recorded_files import RecordedFiles

    out = tmp_path / "out"
    irmeta.reanalyze(store, out, measures="AP")
    real = RecordedFiles.parquet

    def stops(files: RecordedFiles, table, made):
        if table.name == "rarity":
            raise KeyboardInterrupt
        return real(files, table, made)

    monkeypatch.setattr(RecordedFiles, "parquet", stops)
    with pytest.raises(KeyboardInterrupt):
        irmeta.reanalyze(store, out, measures="P@5")
    monkeypatch.undo()
    irmeta.reanalyze(store, out, measures="AP")
    for file in [out / "means.parquet", *(out / "scores").iterdir()]:
        assert pl.read_parquet(file)["measure"].unique().to_list() == ["AP"]


@pytest.mark.usefixtures("undrawn")
def test_reanalyze__results_of_a_removed_track_are_deleted(
    store: Path, tmp_path: Path, run
) -> None:
    shutil.rmtree(tmp_path / "in" / "ties" / "runs")
    out = tmp_path / "out"
    irmeta.reanalyze(store, out)
    assert (out / "scores" / "ties.parquet").exists()
    own = out / "mine" / "ties.parquet"
    own.parent.mkdir()
    own.write_text("not irmeta's")
    assert run("reanalyze", tmp_path / "in", "--out", out).status == 0
    assert list(out.rglob("ties*")) == [own], "other people's files stay"
    assert [p.name for p in (out / "scores").iterdir()] == ["unretrieved.parquet"]


def test_ingest_command__tracks_missing_from_collection_are_reported(
    store: Path, tmp_path: Path, run
) -> None:
    shutil.rmtree(tmp_path / "in" / "ties")
    done = run("ingest", tmp_path / "in", "--out", store)
    assert without_notes(done.err) == "irmeta: not in the collection, kept in the store: ties\n"


@pytest.mark.parametrize("damage", ["cut short", "gone", "record"])
def test_ingest_command__repairs_a_damaged_store(
    store: Path, tmp_path: Path, damage: str, run
) -> None:
    part = store / "runs" / "ties" / "part-0.parquet"
    if damage == "cut short":
        part.write_bytes(part.read_bytes()[:200])
    elif damage == "gone":
        shutil.rmtree(part.parent)
    else:
        (store / "tracks" / "ties.json").write_text("{")
    done = apart("evaluate", store, "-m", "AP", "--track", "ties")  # captures library output too
    assert done.returncode in (1, 2)
    assert done.stderr.startswith("irmeta: ")
    assert done.stderr.count("\n") == 1
    assert "ties: written" in run("ingest", tmp_path / "in", "--out", store).out
    assert run("evaluate", store, "-m", "AP", "--track", "ties").status == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["info", "FILE"],
        ["ingest", "COLLECTION", "--out", "FILE/store"],
        ["reanalyze", "COLLECTION", "--out", "FILE"],
        ["reanalyze", "COLLECTION", "--out", "FILE/out"],
        ["evaluate", "STORE", "--out", "FILE/x.csv"],
        ["evaluate", "STORE", "--out", "x.txt"],
        ["reanalyze", "COLLECTION", "--out", "OUT", "-m", "FOO"],
        ["explain", "STORE", "-m", "default", "--system", "s", "--query", "q", "--track", "ties"],
    ],
    ids=" ".join,
)
def test_commands__invalid_arguments_give_a_one_line_error(
    store: Path, tmp_path: Path, arguments: list[str], run
) -> None:
    file = tmp_path / "file"
    file.write_text("text\n")
    places = {"FILE": file, "COLLECTION": tmp_path / "in", "STORE": store, "OUT": tmp_path / "out"}
    for name, place in places.items():
        arguments = [a.replace(name, str(place)) for a in arguments]
    done = run(*arguments)
    assert done.status in (1, 2)
    assert done.err.startswith("irmeta: ")
    assert done.err.count("\n") == 1
    assert not (tmp_path / "out" / "store").exists(), "refused before anything is read"
    assert file.read_text() == "text\n"


def test_evaluate_command__names_outside_terminal_encoding_are_printed(tmp_path: Path) -> None:
    runs = tmp_path / "in" / "t" / "runs"
    runs.mkdir(parents=True)
    (runs / "r").write_text("q Q0 dü 1 1.0 sü\n", encoding="utf-8")
    (tmp_path / "in" / "t" / "qrels").write_text("q 0 dü 1\n", encoding="utf-8")
    store = irmeta.ingest(tmp_path / "in", tmp_path / "store").path
    done = apart("evaluate", store, "-m", "AP", PYTHONIOENCODING="ascii")
    assert "t,sü,AP,1.0" in done.stdout


def test_ingest__very_long_names_are_abbreviated_in_messages(tmp_path: Path) -> None:
    runs = tmp_path / "in" / "t" / "runs"
    runs.mkdir(parents=True)
    line = f"{'q' * 5000} Q0 {'d' * 5000} 1 1.0 {'s' * 5000}\n"
    (runs / "double").write_text(line * 2)
    (runs / "one").write_text(line)
    (runs / "two").write_text(line)
    (tmp_path / "in" / "t" / "qrels").write_text(f"{'q' * 5000} 0 {'d' * 5000} 1\n")
    with pytest.warns((irmeta.SkippedRunWarning, irmeta.NamesWarning)) as warned:
        store = irmeta.ingest(tmp_path / "in", tmp_path / "store")
    assert {one.category for one in warned} == {irmeta.SkippedRunWarning, irmeta.NamesWarning}
    assert all(len(str(one.message)) < 1200 for one in warned)
    assert store.means("AP").select("system", "value").rows() == [("one", 1.0), ("two", 1.0)]


def test_reanalyze__track_without_relevant_docs_has_a_report(tmp_path: Path) -> None:
    runs = tmp_path / "in" / "t" / "runs"
    runs.mkdir(parents=True)
    (runs / "r").write_text("q Q0 d 1 1.0 s\n")
    (tmp_path / "in" / "t" / "qrels").write_text("q 0 d 0\n")
    irmeta.reanalyze(tmp_path / "in", tmp_path / "out", measures="ASL")
    assert "have no relevant doc" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.usefixtures("undrawn")
def test_qrels_notes__shown_by_info_command_and_report(store: Path, tmp_path: Path, run) -> None:
    qrels = tmp_path / "in" / "ties" / "qrels.txt"
    qrels.write_text(qrels.read_text() + qrels.read_text().splitlines()[0] + "\n")
    irmeta.ingest(tmp_path / "in", store)
    said = "1 judgments given twice with equal grades"
    assert said in run("info", store).out
    irmeta.reanalyze(store, tmp_path / "out")
    assert said in (tmp_path / "out" / "report.html").read_text()


def test_explain__ideal_list_may_exceed_uint16_ranks(tmp_path: Path) -> None:
    """65,534 is the deepest rank of a uint16 array; the ideal list has 70,000 docs."""
    runs = tmp_path / "in" / "t" / "runs"
    runs.mkdir(parents=True)
    (runs / "r").write_text("q Q0 d1 1 1.0 s\n")
    (tmp_path / "in" / "t" / "qrels").write_text("".join(f"q 0 d{i} 1\n" for i in range(70_000)))
    store = irmeta.ingest(tmp_path / "in", tmp_path / "store")
    explained = store.explain("nDCG", system="s", query="q")
    assert explained.value == pytest.approx(explained.trace.value, rel=1e-12)
    assert store.explain("nDCG@69999", system="s", query="q").value > explained.value
