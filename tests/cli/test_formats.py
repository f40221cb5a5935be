"""Formats of all commands: printed, in a pipe and in files; digits and order of evaluate."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import irmeta
from irmeta.cli.display import ENDINGS, FORMATS, Display
from irmeta.cli.tables import Result, write_result
from irmeta.measures.names import PRESETS
from irmeta.report.table_grid import score_grid
from irmeta.results.scores import COUNTS
from irmeta.results.tidy_files import SCHEMA_VERSION, provenance
from support.commands import all_commands, options_of
from support.examples import rest_in_ci
from support.stderr import without_notes

STORE = "STORE"
ONE = ("--system", "aldDFR", "--query", "901", "--track", "news")
TABLES: dict[str, tuple[str, ...]] = {
    "info": (STORE,),
    "check": (STORE,),
    "validate": ("RUNS", "--max-depth", "100"),
    "evaluate": (STORE, "-m", "AP", "--track", "web"),
    "explain": (STORE, "-m", "AP", *ONE),
    "compare": (STORE, "-m", "AP", "--track", "web"),
    "power": (STORE, "-m", "AP", "--track", "web"),
    "prefer": (STORE, "--track", "web"),
    "agree": ("QRELS", "JUDGE"),
    "reproduce": (
        *(STORE, "-m", "AP", "--track", "web"),
        *("--original", "heronQE", "--rerun", "ibisBase"),
    ),
    "truncation": (STORE, "-m", "AP", "--track", "web"),
    "pool": (STORE, "--track", "web", "--budget", "5"),
    "measures": ("basic",),
    "preferences": ("RPP",),
    "catalog": ("trec8/adhoc",),
    "cite": ("RESULTS",),
    "diff": ("FILE", "FILE"),
    "verify": (STORE, "--track", "web", "--published", "PUBLISHED"),
    "over-tracks": (STORE, "-m", "AP", "--missing", "zero"),
    "study": (),
}
"""A command line of each command that prints a table, apart from `fetch`."""
WITHOUT = {"reanalyze", "ingest", "trec_eval"}
"""Commands that write a folder, or print in the format of another program."""
QUICK = ("evaluate", "agree")
SIX = ("evaluate", "compare", "power", "prefer", "truncation")
"""Commands whose tables have floats with many digits."""


@pytest.fixture
def line(
    made_store: irmeta.Store, collections: Path, tmp_path: Path, request: pytest.FixtureRequest
):
    """Return the words of a command in `TABLES`."""
    file, published = tmp_path / "in.csv", tmp_path / "published.csv"

    def words(command: str) -> list[str]:
        if command == "diff":
            made_store.means("AP", track="web").write_csv(file)
        if command == "cite":
            run = request.getfixturevalue("run")
            run("evaluate", made_store.path, "-m", "AP", "--out", tmp_path / "RESULTS.parquet")
        published.write_text("system,measure,value\nibisBase,map,0.5\n")
        for name, grades in (("QRELS", "0120"), ("JUDGE", "0210")) * (command == "agree"):
            rows = (f"{q} 0 d{d} {g}\n" for q in (1, 2, 3) for d, g in enumerate(grades[q - 1 :]))
            (tmp_path / name).write_text("".join(rows))
        places = {name: str(tmp_path / name) for name in ("QRELS", "JUDGE")}
        places["RESULTS"] = str(tmp_path / "RESULTS.parquet")
        places["RUNS"] = str(collections / "news" / "runs")
        places |= {STORE: str(made_store.path), "FILE": str(file), "PUBLISHED": str(published)}
        return [command, *(places.get(word, word) for word in TABLES[command])]

    return words


def test_formats__are_the_same_in_all_commands() -> None:
    plain = {name for name in all_commands() if not name.startswith("study ")}
    assert plain - WITHOUT == {*TABLES, "fetch"}
    for command in plain - WITHOUT:
        (form,) = (p for p in all_commands()[command].params if "--format" in p.opts)
        more = ["trec_eval"] if command == "evaluate" else []
        assert form.metavar == f"[{'|'.join([*FORMATS, *more])}]"
        assert options_of(command) >= {"--digits", "--csv-safe"}
        assert "--out" in options_of(command)


@pytest.mark.parametrize("command", TABLES)
def test_json__has_version_provenance_and_all_tables(command: str, line, run) -> None:
    done = run(*line(command), "--format", "json")
    made = json.loads(done.out)
    assert list(made) == [*("schema_version", "irmeta", "command", "provenance", "facts", "tables")]
    assert made["schema_version"] == SCHEMA_VERSION
    assert (made["irmeta"], made["command"]) == (irmeta.__version__, command)
    assert made["provenance"]["irmeta"] == irmeta.__version__
    assert all(isinstance(rows, list) for rows in made["tables"].values())
    if command not in ("check", "diff"):
        assert next(iter(made["tables"].values()))
    assert run(*line(command), "--format", "json").out == done.out


@pytest.mark.exhaustive
@pytest.mark.parametrize("command", rest_in_ci(TABLES, QUICK))
def test_files__have_the_rows_of_the_output_and_are_reported(
    command: str, line, run, tmp_path: Path
) -> None:
    for ending in ENDINGS:
        file = tmp_path / f"x{ending}"
        done = run(*line(command), "--out", file)
        assert done.status in (0, 1)
        assert f" rows in {file}\n" in done.err
        first = file.read_bytes()
        assert run(*line(command), "--out", file).status == done.status, "replaced without --force"
        assert file.read_bytes() == first
    heights = {
        pl.read_parquet(tmp_path / "x.parquet").height,
        len(list(csv.reader(io.StringIO((tmp_path / "x.csv").read_text())))) - 1,
        len(next(iter(json.loads((tmp_path / "x.json").read_text())["tables"].values()))),
    }
    assert len(heights) == 1
    assert "irmeta" in (provenance(tmp_path / "x.parquet") or {})
    assert (tmp_path / "x.md").read_text().startswith("| ")
    assert r"\begin{" in (tmp_path / "x.tex").read_text()


@pytest.mark.exhaustive
@pytest.mark.parametrize("command", rest_in_ci(SIX, QUICK))
def test_printed__six_digits_and_all_in_files(command: str, line, run, tmp_path: Path) -> None:
    run(*line(command), "--out", tmp_path / "x.csv")
    exact = pl.read_csv(tmp_path / "x.csv")
    shown = pl.read_csv(io.StringIO(run(*line(command), "--format", "csv").out))
    floats = [name for name, kind in exact.schema.items() if kind.is_float()]
    assert floats
    for name in floats:
        value = pl.col(name)
        is_tiny = (value.abs() < 5e-7) & (value != 0)
        expected = pl.when(is_tiny).then(value.round_sig_figs(2)).otherwise(value.round(6))
        assert shown[name].cast(pl.Float64).equals(exact.select(expected).to_series())
    first = run(*line(command), "--format", "table").out.splitlines()[1]
    first = first.replace(" 0.05 ", " ")  # a level that a user gives is shown as given
    assert {len(digits) for digits in re.findall(r"\.(\d+)(?![\de])", first)} == {6}


def test_parquet__to_a_pipe_but_not_to_a_terminal(
    line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary
) -> None:
    from irmeta import cli

    command = [*line("evaluate"), "--format", "parquet"]
    monkeypatch.setattr("sys.argv", ["irmeta", *command])
    with pytest.raises(SystemExit) as left:
        cli.main()
    file = tmp_path / "x.parquet"
    file.write_bytes(capsysbinary.readouterr().out)
    assert left.value.code == 0
    assert provenance(file) is not None
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    with pytest.raises(SystemExit) as left:
        cli.main()
    refused = capsysbinary.readouterr()
    assert (left.value.code, refused.out) == (2, b"")
    assert b"parquet is not for a terminal: name a file by --out FILE.parquet" in refused.err


@pytest.mark.parametrize("form", ["latex", "siunitx"])
def test_label__of_each_of_several_tables(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    grids = [
        score_grid(pl.DataFrame({"system": ["a"], "AP": [value]}), {"AP": 1}, caption="A.")
        for value in (0.25, 0.5)
    ]
    labels = []
    for label in ("x", ""):
        result = Result("evaluate", {}, "A.", {}, grid=lambda digits, names: grids)
        write_result(result, Display(format=form, label=label))
        labels += re.findall(r"\\label\{(.+?)\}", capsys.readouterr().out)
    assert labels[:2] == ["tab:x", "tab:x-2"]
    assert [label.rstrip("0123456789abcdef") for label in labels[2:]] == ["tab:scores-"] * 2


def test_label__that_begins_with_tab_stays_as_it_is(line, run) -> None:
    for label in ("mine", "tab:mine"):
        done = run(*line("evaluate"), "--format", "latex", "--label", label)
        assert re.findall(r"\\label\{(.+?)\}", done.out) == ["tab:mine"], done.err


@pytest.mark.exhaustive
def test_files__of_others_are_replaced_only_with_force(line, run, tmp_path: Path) -> None:
    for ending in (".csv", ".json", ".md", ".tex"):
        file = tmp_path / f"x{ending}"
        file.write_text("dear diary\n")
        done = run(*line("evaluate"), "--out", file)
        assert (done.status, file.read_text()) == (2, "dear diary\n")
        assert "use `--force` to replace it" in " ".join(done.err.split())
        assert run(*line("evaluate"), "--out", file, "--force").status == 0


@pytest.mark.exhaustive
def test_compare__out_is_a_file_by_its_ending_or_a_folder(line, run, tmp_path: Path) -> None:
    done = run(*line("compare"), "--out", tmp_path / "x.csv", "--format", "csv")
    assert (done.status, done.out) == (0, "")
    assert f" rows in {tmp_path / 'x.csv'}\n" in done.err
    assert {path.name for path in tmp_path.iterdir()} == {"published.csv", "x.csv"}
    done = run(*line("power"), "--out", tmp_path / "v1.0", "--no-titles")
    assert (tmp_path / "v1.0" / "power.parquet").is_file()
    assert str(tmp_path / "v1.0" / "power.parquet") in done.err
    assert done.out.startswith("track,measure,")


WEB = ("-m", "AP,ASL", "--track", "web")


def scores(text: str) -> list[dict[str, Any]]:
    """Return the rows of JSON output."""
    return json.loads(text)["tables"]["scores"]


@pytest.fixture
def files(collections: Path) -> list[Path]:
    """Qrels and two runs."""
    runs = collections / "news" / "runs"
    return [collections / "news" / "qrels.txt", runs / "aldBM25.gz", runs / "aldBM25fb.gz"]


@pytest.mark.exhaustive
def test_sort__systems_by_a_measure_best_first_within_tracks(run, made_store) -> None:
    tracks = ("--track", "web", "--track", "news")
    for measure, direction in (("AP", 1), ("ASL", -1)):
        rows = scores(
            run(
                "evaluate", made_store.path, "-m", "AP,ASL", *tracks,
                "--sort", measure, "--format", "json",
            ).out
        )  # fmt: skip
        assert [r["measure"] for r in rows[:2]] == ["AP", "ASL"], "rows of a system stay together"
        for track in ("news", "web"):
            values = [
                direction * r["value"]
                for r in rows
                if r["track"] == track and r["measure"] == measure
            ]
            assert values == sorted(values, reverse=True)
    by_value = run("evaluate", made_store.path, *WEB, "--sort", "value", "--format", "json")
    values = [row["value"] for row in scores(by_value.out)]
    assert values == sorted(values, reverse=True)
    done = run("evaluate", made_store.path, *WEB, "--sort", "valu")
    assert (done.status, done.out) == (2, "")
    assert "no column or measure 'valu' to sort by. Did you mean 'value'?" in done.err


def test_sort__queries_by_the_mean_of_their_system(run, files: list[Path]) -> None:
    lines = run("evaluate", *files, "-m", "AP", "-q", "--sort", "map").out.splitlines()
    assert lines[1].startswith("aldBM25fb,901,")
    assert lines[-1].startswith("aldBM25,925,")


@pytest.mark.exhaustive
def test_depth__cuts_lists_of_files_but_not_of_a_store(run, files, made_store) -> None:
    cut = run("evaluate", *files, "-m", "AP", "--depth", 10).out
    assert cut == run("evaluate", *files, "-m", "AP@10").out.replace("@10", "")
    done = run("evaluate", made_store.path, "-m", "AP", "--depth", 10)
    assert done.status == 2
    assert "A cutoff such as AP@100 needs no other depth." in done.err


@pytest.mark.exhaustive
def test_strict__skipped_run_gives_status_3(run, made_store, collections: Path) -> None:
    for source in (made_store.path, collections):
        some = ("evaluate", source, "-m", "AP", "--strict", "--track")
        done = run(*some, "passage")
        assert done.status == 3
        assert "nuthFirst.txt" in without_notes(done.err).splitlines()[-1]
        assert done.out.startswith("track,system,")
        assert run(*some, "web").status == 0


@pytest.mark.exhaustive
def test_trec_eval_format__equals_the_trec_eval_command(run, files) -> None:
    asked = ("num_q", "num_rel_ret", "map", "Rprec", "iprec_at_recall.0.1", "P.10", "ndcg_cut.7")
    measures = [word for name in asked for word in ("-m", name)]
    theirs = run("trec_eval", "-q", "-c", *measures, *files[:2])
    ours = run("evaluate", *files[:2], *measures, "-q", "--format", "trec_eval")
    assert (ours.status, ours.out) == (0, theirs.out)
    means = run("evaluate", *files[:2], *measures, "--format", "trec_eval").out
    assert means == "".join(line for line in ours.out.splitlines(True) if "\tall\t" in line)


@pytest.mark.exhaustive
def test_trec_eval_format__own_names_and_one_track(run, files, made_store) -> None:
    done = run("evaluate", *files, "-m", "AP@7,ASL", "--format", "trec_eval", "--digits", 1)
    assert [line.split() for line in done.out.splitlines()] == [
        ["runid", "all", "aldBM25"],
        ["map_cut_7", "all", "0.1"],
        ["ASL", "all", "94.4"],
        ["runid", "all", "aldBM25fb"],
        ["map_cut_7", "all", "0.2"],
        ["ASL", "all", "73.2"],
    ]
    refused = run("evaluate", made_store.path, "-m", "AP", "--format", "trec_eval")
    assert (refused.status, refused.out) == (2, "")
    assert "name it with --track (news, passage, web)" in refused.err


@pytest.mark.exhaustive
def test_measures__five_by_default(run, files: list[Path]) -> None:
    frame = pl.read_csv(io.StringIO(run("evaluate", *files).out))
    assert frame["measure"].unique(maintain_order=True).to_list() == [*PRESETS["basic"]]
    assert run("evaluate", *files, "-m", "basic").out == run("evaluate", *files).out


@pytest.mark.exhaustive
def test_table__counts_of_lists_only_where_not_zero_or_verbose(run, files: list[Path]) -> None:
    def columns(*more: str, form: str = "table") -> set[str]:
        head = run("evaluate", *files, "-m", "AP,ASL", "--format", form, *more).out.splitlines()[0]
        return {
            name
            for name in COUNTS
            if name
            in head.replace("no list", "no_list").replace(
                "lists without nonrelevant", "lists_without_nonrelevant"
            )
        }

    assert columns() == set()
    assert columns("--verbose") == columns(form="csv") == {*COUNTS}


def test_table__counts_of_lists_that_are_not_zero(run, two_tracks: Path) -> None:
    run_file = next((two_tracks / "ties" / "runs").iterdir())
    lines = run_file.read_text().splitlines(keepends=True)
    query = lines[0].split()[0]
    run_file.write_text("".join(line for line in lines if line.split()[0] != query))
    out = run("evaluate", two_tracks, "-m", "AP", "--track", "ties", "--format", "table").out
    assert "no list" in out
    assert "lists without" not in out
