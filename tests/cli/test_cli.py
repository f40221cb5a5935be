"""The command line: output, written files, and exit status."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.studies.framework.recorded_files import ALL, RecordedFiles
from support.stderr import without_notes
from support.undrawn import charts_are_built


@pytest.mark.exhaustive
def test_strict_option__skipped_run_gives_status_3(run, collections: Path, tmp_path: Path) -> None:
    assert run("ingest", collections, "--out", tmp_path / "s", "--strict").status == 3


@pytest.mark.usefixtures("undrawn")
def test_reanalyze_command__failed_track_gives_status_1(
    run, two_tracks: Path, tmp_path: Path
) -> None:
    qrels = two_tracks / "ties" / "qrels.txt"
    qrels.write_text(qrels.read_text() + "101 0 d1 2 extra words here\n")
    done = run("reanalyze", two_tracks, "--out", tmp_path / "r")
    assert done.status == 1
    assert f"track ties: {qrels}, line" in done.err
    means = pl.read_parquet(tmp_path / "r" / "means.parquet")
    assert means["track"].unique().to_list() == ["unretrieved"]


def test_reanalyze_command__folder_of_other_files_is_refused(
    run, collections: Path, tmp_path: Path
) -> None:
    (tmp_path / "thesis.tex").write_text("dear diary")
    done = run("reanalyze", collections, "--out", tmp_path)
    assert done.status == 2
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_explain_command__notes_are_of_the_systems_that_are_shown(
    run, made_store: irmeta.Store
) -> None:
    line = ("explain", made_store.path, "-m", "AP", "--query", "901", "--track", "news")
    assert "have no list" not in run(*line, "--system", "aldDFR").err
    of_pair = run(*line, "--system", "aldDFR", "--baseline", "cedarFuse")
    assert "1 of 2 systems" in of_pair.err
    assert "different here" not in of_pair.err


@pytest.mark.exhaustive
def test_evaluate_command__closed_pipe_is_not_an_error(made_store: irmeta.Store) -> None:
    script = "import sys; sys.argv = ['irmeta', 'evaluate', sys.argv[1], '--per-query']; "
    command = [sys.executable, "-c", script + "from irmeta.cli import main; main()"]
    process = subprocess.Popen(
        [*command, str(made_store.path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    assert without_notes(process.stderr.read().decode()) == ""
    process.stderr.close()
    assert process.wait() == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "measure", ["ISL", "AP(norm=pool)@10", "P(ties=share)@10", "RBP(unjudged=upper)"]
)
def test_reanalyze_command__accepts_every_kind_of_measure(
    run, two_tracks: Path, tmp_path: Path, measure: str
) -> None:
    with charts_are_built():
        done = run("reanalyze", two_tracks, "--out", tmp_path / "out", "-m", measure)
    assert done.status == 0


@pytest.mark.usefixtures("undrawn")
def test_compare_and_power_commands__write_only_where_they_are_told(
    run, two_tracks: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    assert run("reanalyze", two_tracks, "--out", results, "-m", "AP,P@5").status == 0
    files = {file: file.stat().st_mtime_ns for file in results.rglob("*")}
    asked = ("-m", "P@5,P(rel=2)@5", "--test", "sign")
    assert run("compare", results / "store", *asked).status == 0
    assert run("compare", results, "-m", "AP").status == 0
    assert run("power", results).status == 0
    assert {file: file.stat().st_mtime_ns for file in results.rglob("*")} == files
    out = tmp_path / "out"
    assert str(out / "pairs.parquet") in run("compare", results / "store", *asked, "--out", out).err
    figures = {file.name for file in out.glob("*.svg")}
    assert {"ties.P@5.svg", "ties.P_rel_2_@5.ranks.svg"} <= figures
    assert not any("%" in name for name in figures)
    done = run("power", results, "--formats", "pdf")
    assert (done.status, "--formats is of figures: name their folder" in done.err) == (2, True)


@pytest.mark.exhaustive
def test_evaluate_command__notes_unknown_pooled_systems(
    run, two_tracks: Path, tmp_path: Path
) -> None:
    run("ingest", two_tracks, "--out", tmp_path / "store")
    done = run("evaluate", tmp_path / "store", "-m", "AP(norm=pool)@5", "--track", "ties")
    assert without_notes(done.err) == (
        "irmeta: ties: the pool is taken from all systems: the store does not say which were "
        "pooled\n"
    )
    assert without_notes(run("evaluate", tmp_path / "store", "-m", "AP@5").err) == ""


def test_diff_command__status_follows_diff(run, made_store: irmeta.Store, tmp_path: Path) -> None:
    one, other, third = (tmp_path / name for name in ("a.parquet", "b.csv", "c.parquet"))
    command = ("evaluate", made_store.path, "-m", "AP,P@5", "--track", "web")
    for file, more in ((one, ()), (other, ()), (third, ("--negative", "nonrelevant"))):
        assert run(*command, "--out", file, *more).status == 0
    same = run("diff", one, other)
    assert same.status == 0
    assert "0 of 24 values differ by more than 1e-09; 0 rows are in A alone" in same.out
    assert run("diff", one, third).status == 0, "neither measure looks at negative grades"
    assert "eval policy  negative  unjudged  nonrelevant" in run("diff", one, third).out
    frame = pl.read_csv(other).with_columns(pl.col("value") + 0.125)
    frame.tail(-1).write_csv(other)
    changed = run("diff", one, other)
    assert changed.status == 1
    assert "23 of 23 values differ by more than 1e-09; 1 rows are in A alone" in changed.out
    assert run("diff", one, other, "--tolerance", 0.2).status == 1, "a row is missing"
    assert run("diff", one, tmp_path / "gone.csv").status == 2


@pytest.mark.exhaustive
def test_compare_and_power_commands__accept_a_csv_table(run, tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("topic,good,bad,same\n1,.9,.1,.9\n2,.8,.2,.8\n3,.7,.2,.7\n4,.9,.3,.9\n")
    done = run("compare", table, "--out", tmp_path / "out")
    assert done.status == 0
    assert pl.read_csv(io.StringIO(done.out))["system"].to_list() == ["good", "same", "bad"]
    assert "mine, t, holm: 2 of 3 pairs (66.7%) differ significantly at 0.05" in done.err
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        *("pairs.parquet", "systems.parquet", "queries.parquet", "measures.parquet"),
        *("mine.svg", "mine.ranks.svg"),
    }
    assert ">mine: t<" in (tmp_path / "out" / "mine.svg").read_text(encoding="utf-8")
    for command in ("compare", "power"):
        assert run(command, table, "--out", tmp_path / command, "--no-titles").status == 0
        for figure in (tmp_path / command).glob("*.svg"):
            text = figure.read_text(encoding="utf-8")
            assert ": t<" not in text
            assert ": ranks<" not in text
    done = run("power", table, "--test", "t", "--test", "sign", "--alpha", "0.01")
    shown = pl.read_csv(io.StringIO(done.out))
    assert shown.select("test", "level", "pairs", "separated").rows() == [
        ("t", 0.01, 3, 2),
        ("sign", 0.01, 3, 0),
    ]
    assert shown["share"].to_list() == [0.666667, 0]
    assert run("compare", table, "--test", "tt").status == 2


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_measure_option__is_repeatable(run, two_tracks: Path, tmp_path: Path) -> None:
    several = run("evaluate", two_tracks, "-m", "AP,P@5", "-m", "nDCG", "--wide").out
    assert several == run("evaluate", two_tracks, "-m", "AP,P@5,nDCG", "--wide").out
    results = tmp_path / "results"
    run("reanalyze", two_tracks, "--out", results, "-m", "AP", "-m", "P@5")
    assert set(pl.read_parquet(results / "means.parquet")["measure"]) == {"AP", "P@5"}
    assert run("compare", results, "-m", "AP", "-m", "P@5").status == 0
    done = run("explain", results, "-m", "AP", "-m", "P@5", "--system", "s", "--query", "1")
    assert (done.status, done.err) == (2, "irmeta: one measure at a time, not AP, P@5.\n")


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_study_command__folder_of_another_study_is_refused(
    run, two_tracks: Path, tmp_path: Path
) -> None:
    results, study = tmp_path / "results", tmp_path / "study"
    assert run("reanalyze", two_tracks, "--out", results, "-m", "AP").status == 0
    before = (results / "means.parquet").read_bytes()
    done = run("study", "search-length", results, "--out", results, "--min-systems", 1)
    assert (done.status, (results / "means.parquet").read_bytes()) == (2, before)
    assert f"{results} holds the results of overview: name a new folder" in done.err
    # a study reads the store inside the results
    assert (
        "no track 'x'" in run("study", "search-length", results, "--out", study, "--track", "x").err
    )
    assert run("study", "search-length", results, "--out", study, "--resamples", 20).status == 0
    assert "holds the results of search-length" in run("reanalyze", two_tracks, "--out", study).err


def test_reanalyze_command__invalid_config_creates_no_folder(run, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "collection.toml").write_text("[tracks.t]\nrun = 1\n")
    assert run("reanalyze", tmp_path / "in", "--out", tmp_path / "out").status == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.exhaustive
def test_evaluate_command__track_replaced_while_read_writes_nothing(
    run, two_tracks: Path, tmp_path: Path, monkeypatch
) -> None:
    """Provenance would otherwise describe the track before its replacement."""
    store, out = tmp_path / "store", tmp_path / "scores.parquet"
    run("ingest", two_tracks, "--out", store)
    evaluate = irmeta.Store.evaluate

    def changed(self, *arguments, **choices):
        (file,) = (two_tracks / "ties").glob("*qrels*")
        file.write_text(file.read_text() + "new 0 doc 1\n")
        irmeta.ingest(two_tracks, store)
        return evaluate(self, *arguments, **choices)

    monkeypatch.setattr(irmeta.Store, "evaluate", changed)
    done = run("evaluate", store, "-m", "AP", "--out", out)
    assert "track ties: was replaced while it was read" in done.err
    assert not out.exists()


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_study_command__folder_of_a_stopped_study_is_refused(
    run, two_tracks: Path, tmp_path: Path
) -> None:
    """The folder has no table yet that names its study."""
    results = tmp_path / "results"
    RecordedFiles(results, ALL).start(study="overview")
    run("ingest", two_tracks, "--out", tmp_path / "store")
    done = run("study", "search-length", tmp_path / "store", "--out", results)
    assert "holds the results of overview" in done.err
    assert run("reanalyze", tmp_path / "store", "--out", results, "-m", "AP").status == 0
    done = run("reanalyze", tmp_path / "store", "--out", tmp_path / "other", "--depth", 5)
    assert "fixed at ingest" in done.err
    assert not (tmp_path / "other").exists()
