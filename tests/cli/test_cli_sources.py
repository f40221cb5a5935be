"""Input of commands: a store, results, a collection, or files with names of their own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import irmeta
from irmeta.errors import DataError, IrmetaError, UsageError
from support.commands import all_commands, options_of, takes_runs
from support.stderr import without_notes


def test_commands__folder_that_is_not_a_store_is_refused(run, tmp_path: Path) -> None:
    for command in (
        ("study", "search-length", tmp_path, "--out", tmp_path / "o"),
        ("info", tmp_path),
    ):
        done = run(*command)
        assert done.status == 1
        assert done.err.startswith(f"irmeta: {tmp_path}: no sub-folder holds runs/.")


@pytest.mark.exhaustive
def test_commands__collection_gives_the_output_of_its_store(
    run, made_store: irmeta.Store, collections: Path, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in (
        ("evaluate", "-m", "AP,ASL@g10", "--per-query"),
        ("info",),
        ("info", "--format", "json"),
        ("explain", "-m", "AP", "--system", "aldDFR", "--query", "901", "--track", "news"),
    ):
        ours, theirs = (
            run(command[0], source, *command[1:]) for source in (collections, made_store.path)
        )
        assert (ours.status, ours.out) == (theirs.status, theirs.out) == (0, theirs.out)
        asked_for_all = "--track" not in command
        last = f"1 run skipped: {collections}/passage/runs/nuthFirst.txt\n"
        assert without_notes(ours.err).endswith(last) == asked_for_all
    assert list(tmp_path.iterdir()) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "options",
    [("compare", "-m", "AP"), ("power", "-m", "infAP,AvgSL"),
     pytest.param(("compare", "-m", "AvgSL,P(ties=share)@5"), marks=pytest.mark.exhaustive),
     pytest.param(("compare", "-m", "AP(norm=pool)@5", "--unjudged"),
                  marks=pytest.mark.exhaustive)],
)  # fmt: skip
def test_compare_and_power__read_of_runs_what_measures_need(
    run, made_store: irmeta.Store, collections: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    """Names of unjudged docs, for example, are read for AvgSL alone."""
    made = list[bytes]()
    for number, source in enumerate((collections, made_store.path)):
        file = tmp_path / f"{number}.csv"
        command, *rest = options
        done = run(command, source, *rest, "--track", "web", "--out", file)
        assert done.status == 0
        made.append(file.read_bytes())
    assert made[0] == made[1]


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_evaluate_command__reads_the_store_in_results(
    run, two_tracks: Path, tmp_path: Path
) -> None:
    run("reanalyze", two_tracks, "--out", tmp_path / "out")
    found = run("evaluate", tmp_path / "out", "-m", "AP")
    assert found.out == run("evaluate", tmp_path / "out" / "store", "-m", "AP").out != ""
    run("reanalyze", tmp_path / "out" / "store", "--out", tmp_path / "other")
    found = run("evaluate", tmp_path / "other", "-m", "AP")
    assert (found.status, found.out) == (2, "")
    assert "results of a store in another folder: name the store" in found.err
    with pytest.raises(irmeta.UsageError, match="results of a store in another folder"):
        irmeta.evaluate(tmp_path / "other", "AP")


@pytest.mark.exhaustive
def test_evaluate_command__store_inside_a_collection_is_not_read(run, two_tracks: Path) -> None:
    run("ingest", two_tracks, "--out", two_tracks / "store")
    shutil.rmtree(two_tracks / "ties")
    found = run("evaluate", two_tracks, "-m", "AP")
    assert {line.split(",")[0] for line in found.out.splitlines()} == {"track", "unretrieved"}


def test_evaluate_command__selected_skipped_run_is_explained(run, two_tracks: Path) -> None:
    (two_tracks / "ties" / "runs" / "torn").write_text("1 Q0 a 1\n")
    done = run("evaluate", two_tracks, "-m", "AP", "--system", "torn")
    assert done.status == 2
    assert "ties/runs/torn, line 1" in done.err
    assert "no system 'torn'" in done.err.splitlines()[-1]


def test_evaluate_command__unreadable_track_gives_status_1(run, two_tracks: Path) -> None:
    (two_tracks / "ties" / "qrels.txt").write_text("no judgment\n")
    done = run("evaluate", two_tracks, "-m", "AP")
    assert done.status == 1
    assert f"irmeta: failed: track ties: {two_tracks}/ties/qrels.txt, line 1" in done.err
    assert {line.split(",")[0] for line in done.out.splitlines()} == {"track", "unretrieved"}
    done = run("evaluate", two_tracks, "-m", "AP", "--track", "ties")
    assert (done.status, done.out) == (1, "")


def test_commands__measure_is_checked_before_reading(run, collections: Path, monkeypatch):
    monkeypatch.delattr("irmeta.api.in_memory.read_into_memory")
    for command in (("evaluate",), ("explain", "--system", "s", "--query", "q")):
        done = run(command[0], collections, "-m", "NoSuch", *command[1:])
        assert done.status == 2
        assert "NoSuch" in done.err


@pytest.fixture
def torn(tmp_path: Path) -> list[Path]:
    """A qrels file, a run, and a run that cannot be read."""
    texts = {"qrels": "1 0 a 1\n", "good": "1 Q0 a 1 2 s\n", "torn": "1 Q0 a 1\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in texts]


TORN_RUN = {
    "evaluate": ("-m", "AP"),
    "explain": ("-m", "AP", "--system", "s", "--query", "1"),
    "info": (),
    "pool": ("--pool-depth", 1),
    "truncation": ("-m", "AP"),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("command", TORN_RUN)
def test_run_named_on_the_line__unreadable_gives_status_3_even_if_quiet(
    run, command: str, torn: list[Path]
) -> None:
    more = (*torn, *TORN_RUN[command])
    strict = run(command, *more, "--quiet")
    assert strict.status == 3
    reason, last = strict.err.splitlines()
    assert f"{torn[2]}, line 1: 4 fields" in reason
    assert last == f"irmeta: 1 run skipped: {torn[2]}"
    lenient = run(command, *more, "--no-strict")
    assert (lenient.status, lenient.out) == (0, strict.out)
    assert lenient.err.endswith(strict.err)
    quiet = run(command, *more, "--no-strict", "--quiet")
    assert (quiet.status, quiet.out, quiet.err) == (0, strict.out, "")


def test_run_named_on_the_line__every_command_that_reads_it_has_no_strict() -> None:
    reading = list(filter(takes_runs, all_commands()))
    assert {*TORN_RUN, "compare", "prefer", "study all", "study depth"} <= {*reading}
    assert [name for name in reading if "--no-strict" not in options_of(name)] == []


@pytest.mark.exhaustive
def test_ingest_command__dropped_malformed_lines_are_reported(
    run, collections: Path, tmp_path: Path
) -> None:
    done = run("ingest", collections, "--out", tmp_path / "s", "--malformed", "skip")
    assert done.status == 0
    file = collections / "passage" / "runs" / "nuthFirst.txt"
    assert without_notes(done.err) == f"irmeta: passage: {file}: 1 malformed lines dropped\n"


@pytest.mark.exhaustive
def test_commands__read_options_apply_to_files_but_not_to_a_store(run, tmp_path: Path) -> None:
    qrels, odd = tmp_path / "qrels", tmp_path / "odd"
    qrels.write_text("1 0 a 1\n")
    odd.write_text("1 Q0 a 1 2 s\n1 Q0 a 2 1 s\n1 Q0 b 3 x s\n")
    assert "`--malformed skip`" in run("evaluate", qrels, odd, "-m", "AP").err
    said = ("--malformed", "skip")
    assert "`--duplicates first`" in run("evaluate", qrels, odd, "-m", "AP", *said).err
    said = (*said, "--duplicates", "first")
    assert run("evaluate", qrels, odd, "-m", "AP", *said).status == 0
    assert run("info", qrels, odd, *said).status == 0
    one = ("-m", "AP", "--system", "s", "--query", "1")
    assert run("explain", qrels, odd, *one, *said).status == 0
    store = tmp_path / "store"
    (tmp_path / "in" / "t" / "runs").mkdir(parents=True)
    qrels.rename(tmp_path / "in" / "t" / "qrels")
    (tmp_path / "in" / "t" / "runs" / "s").write_text("1 Q0 a 1 2 s\n")
    run("ingest", tmp_path / "in", "--out", store)
    assert "reading options were fixed at ingest" in run("evaluate", store, "-m", "AP", *said).err


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_commands__tracks_missing_from_config_are_reported(
    run, two_tracks: Path, tmp_path: Path
) -> None:
    first, *others = sorted(f.name for f in two_tracks.iterdir() if (f / "runs").is_dir())
    (qrels,) = (f.name for f in (two_tracks / first).iterdir() if "qrels" in f.name)
    (two_tracks / "collection.toml").write_text(
        "only_described = true\n"
        f'[tracks.{first}]\nruns = ["{first}/runs/*"]\nqrels = "{first}/{qrels}"\n'
    )
    irmeta.ingest(two_tracks, two_tracks / "store")  # looks like a track, but is a store
    reason = "ignored, since collection.toml has only_described and does not describe them"
    said = f"irmeta: {reason}: {', '.join(others)}\n"
    assert said in run("ingest", two_tracks, "--out", tmp_path / "store").err
    assert said in run("evaluate", two_tracks, "-m", "AP").err
    assert said in run("reanalyze", two_tracks, "--out", tmp_path / "out", "-m", "AP").err


@pytest.mark.exhaustive
def test_track_option__is_repeatable(run, made_store: irmeta.Store) -> None:
    some = ("--track", "web", "--track", "news")
    for command in (("evaluate",), ("power", "--resamples", "1"), ("compare", "--test", "sign")):
        done = run(command[0], made_store.path, "-m", "AP", *command[1:], *some)
        assert done.status == 0
        assert "passage" not in done.out
        assert all(track in done.out for track in ("news", "web"))


@pytest.mark.exhaustive
def test_ingest_command__track_option_updates_selected_tracks(
    run, collections: Path, tmp_path: Path
) -> None:
    store = tmp_path / "s"
    done = run("ingest", collections, "--out", store, "--track", "web", "--track", "news")
    assert (done.status, without_notes(done.err)) == (0, "")
    assert irmeta.open_store(store).tracks == ["news", "web"]
    done = run("ingest", collections, "--out", store, "--track", "passage")
    assert [line.split(":")[0] for line in done.out.splitlines()] == ["passage", "store"]
    assert "kept in the store" not in done.err  # the collection has the others too
    assert irmeta.open_store(store).tracks == ["news", "passage", "web"]
    done = run("ingest", collections, "--out", tmp_path / "none", "--track", "wed")
    assert (done.status, (tmp_path / "none").exists()) == (2, False)
    assert "has no track 'wed'. Did you mean 'web'?" in done.err


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_reanalyze_command__track_option_analyses_selected_tracks(
    run, collections: Path, tmp_path: Path
) -> None:
    out, of_store = tmp_path / "out", tmp_path / "of_store"
    done = run("reanalyze", collections, "--out", out, "-m", "AP", "--track", "web")
    assert (done.status, without_notes(done.err)) == (0, "")
    done = run("reanalyze", collections, "--out", out, "-m", "AP", "--track", "passage")
    assert (done.status, "kept in the store" in done.err) == (0, False)
    assert done.out.startswith("2 tracks")
    kept = sorted(f.name for f in (out / "scores").iterdir())
    assert kept == ["passage.parquet", "web.parquet"]
    done = run("reanalyze", collections, "--out", out, "-m", "AP", "--track", "passage", "--only")
    assert done.out.startswith("1 track, ")
    assert [f.name for f in (out / "scores").iterdir()] == ["passage.parquet"]
    assert irmeta.open_store(out).tracks == ["passage", "web"]
    done = run("reanalyze", out / "store", "--out", of_store, "-m", "AP", "--track", "web")
    assert (done.status, without_notes(done.err)) == (
        0,
        "",
    )  # no message about the skipped run of passage
    assert [f.name for f in (of_store / "scores").iterdir()] == ["web.parquet"]
    for source in (collections, out / "store"):
        done = run("reanalyze", source, "--out", tmp_path / "none", "--track", "wed")
        assert (done.status, (tmp_path / "none").exists()) == (2, False)
        assert "has no track 'wed'. Did you mean 'web'?" in done.err


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_reanalyze_command__damaged_track_fails_alone(
    run, two_tracks: Path, tmp_path: Path
) -> None:
    store = irmeta.ingest(two_tracks, tmp_path / "store")
    (store.path / "tracks" / "ties.json").write_text("{")
    done = run("reanalyze", store.path, "--out", tmp_path / "out", "-m", "AP")
    assert done.status == 1
    assert done.out.startswith("1 track, ")
    assert done.err.startswith("irmeta: failed: track ties: ")
    assert store.info("unretrieved")["track"].to_list() == ["unretrieved"]
    done = run("ingest", two_tracks, "--out", store.path, "--track", "unretrieved")
    assert (done.status, without_notes(done.err)) == (0, "")
    done = run("study", "search-length", store.path, "--out", tmp_path / "s", "--min-systems", 1)
    assert done.status == 1
    assert done.err.startswith("irmeta: failed: track ties: ")
    irmeta.ingest(two_tracks, store.path)
    (store.path / "systems" / "ties" / "part-0.parquet").write_bytes(b"PAR1")
    done = run("study", "search-length", store.path, "--out", tmp_path / "s", "--min-systems", 1)
    assert done.err.startswith("irmeta: failed: track ties: ")


@pytest.mark.exhaustive
def test_evaluate_command__measures_are_shown_as_written(made_store: irmeta.Store, run):
    asked = (made_store.path, "--track", "news", "--system", "aldBM25", "-m", "map,P@5")
    head, *rows = run("evaluate", *asked).out.splitlines()
    assert head.startswith("track,system,measure,asked,value")
    assert [row.split(",")[2:4] for row in rows] == [["AP", "map"], ["P@5", "P@5"]]
    assert "asked" not in run("evaluate", *asked, "--measure-names", "canonical").out
    assert "asked" not in run("evaluate", *asked[:-1], "AP,P@5").out
    assert run("evaluate", *asked, "--wide").out.startswith("track,system,map,P@5,no_list\n")
    wide = run("evaluate", *asked, "--wide", "--measure-names", "canonical").out
    assert wide.startswith("track,system,AP,P@5,no_list\n")
    twice = (*asked[:-1], "map,AP")
    _, *rows = run("evaluate", *twice).out.splitlines()
    assert [row.split(",")[2:4] for row in rows] == [["AP", "map"], ["AP", "AP"]]
    assert run("evaluate", *twice, "--wide").out.startswith("track,system,map,AP,no_list\n")


@pytest.fixture
def files(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for folder, first in (("a", "d1"), ("b", "d2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "run.txt").write_text(f"q Q0 {first} 1 2 t\nq Q0 d3 2 1 t\n")
        (tmp_path / folder / "qrels.txt").write_text("q 0 d1 1\nq 0 d2 0\np 0 d1 1\n")
        value = 0.5 if folder == "a" else 0.2
        (tmp_path / folder / "scores.csv").write_text(f"query_id,map\nq,{value}\np,0.1\n")
    return tmp_path


def systems(text: str) -> list[str]:
    header, *rows = [line.split(",") for line in text.splitlines()]
    return [row[header.index("system")] for row in rows]


def test_named_files__runs(files: Path, run):
    done = run("evaluate", "t=a/qrels.txt", "one=a/run.txt", "b/run.txt", "-m", "RR")
    assert systems(done.out) == ["one", "t"]
    assert "irmeta: t: " in done.err  # the track
    done = run("evaluate", "a/qrels.txt", "one=a/run.txt", "two=b/run.txt", "-m", "RR")
    assert systems(done.out) == ["one", "two"]
    done = run("compare", "a/qrels.txt", "one=a/run.txt", "two=b/run.txt", "-m", "RR")
    assert sorted(systems(done.out)) == ["one", "two"]
    done = run("evaluate", "a/qrels.txt", "x=a/run.txt", "x=b/run.txt", "-m", "RR")
    assert (done.status, "two runs have the same name" in done.err) == (2, True)
    store = irmeta.read_files("a/qrels.txt", {"one": "a/run.txt", "two": Path("b/run.txt")})
    assert store.systems()["system"].to_list() == ["one", "two"]


def test_named_files__a_path_that_exists_wins(files: Path, run):
    (files / "run=1").mkdir()
    (files / "run=1" / "x.run").write_text("q Q0 d1 1 2 own\n")
    (files / "x=b").write_text("q Q0 d2 1 2 other\n")
    done = run("evaluate", "a/qrels.txt", "run=1/x.run", "x=b", "-m", "RR")
    assert systems(done.out) == ["other", "own"]
    done = run("evaluate", "a/qrels.txt", "y=run=1/x.run", "-m", "RR")
    assert systems(done.out) == ["y"]


def test_named_files__tables_of_values(files: Path, run):
    done = run("compare", "x=a/scores.csv", "b/scores.csv", "-m", "map")
    assert sorted(systems(done.out)) == ["b/scores", "x"]
    (matrix,) = irmeta.matrices({"x": "a/scores.csv", "y": "b/scores.csv"})
    assert matrix.systems == ("x", "y")
    (found,) = irmeta.compare({"x": "a/scores.csv", "y": "b/scores.csv"}, "map")
    assert sorted(found.systems["system"]) == ["x", "y"]
    (files / "several.csv").write_text("system,query,map\na,q,0.1\nb,q,0.2\n")
    with pytest.raises(DataError, match="2 systems, which cannot all be called 'x'"):
        irmeta.matrices({"x": "several.csv", "y": "b/scores.csv"})


def test_named_files__judges(files: Path, run):
    done = run("agree", "a/qrels.txt", "b/qrels.txt")
    assert done.out.splitlines()[1].startswith("b/qrels,a/qrels,")
    done = run("agree", "human=a/qrels.txt", "llm=b/qrels.txt")
    assert done.out.splitlines()[1].startswith("llm,human,")
    done = run("agree", "a/qrels.txt", "b/qrels.txt", "--reference", "r")
    assert done.out.splitlines()[1].startswith("qrels,r,")
    assert irmeta.agree("a/qrels.txt", ["b/qrels.txt"]).judges["judge"].to_list() == ["b/qrels"]
    with pytest.raises(UsageError, match="is given twice"):
        irmeta.agree("a/qrels.txt", ["a/qrels.txt"])


def test_named_files__folders_have_no_names(files: Path, run):
    done = run("evaluate", "x=a", "-m", "RR")
    assert (done.status, "only files of runs, qrels and values have names" in done.err) == (2, True)
    with pytest.raises(IrmetaError):
        irmeta.matrices({"x": "a"})
