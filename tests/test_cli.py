"""The command line: what it prints, what it writes, and its exit status."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta import cli
from irmeta.results.tables import provenance


class Ran:
    """What one command left behind."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Run a command in this process."""

    def command(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["irmeta", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            cli.main()
        said = capsys.readouterr()
        return Ran(left.value.code or 0, said.out, said.err)

    return command


@pytest.fixture
def two_tracks(worked_examples: Path, tmp_path: Path) -> Path:
    """A collection of two tiny tracks that a test may spoil."""
    folder = tmp_path / "collection"
    for track in ("ties", "unretrieved"):
        shutil.copytree(worked_examples / track, folder / track)
    return folder


def test_the_main_job_says_where_everything_is_and_names_the_run_set_aside(
    run, collections: Path, tmp_path: Path
) -> None:
    out = tmp_path / "results"
    done = run("reanalyze", collections, "--out", out)
    assert done.status == 0
    assert done.out.startswith(
        "3 tracks, 41 systems, 60 queries, 139,381 rows; runs set aside: 1\n"
    )
    for line in done.out.splitlines()[1:]:
        assert Path(line.split()[0]).exists(), line
    reason, last = done.err.splitlines()
    assert "passage/runs/nuthFirst.txt, line 611: 4 fields where a run has six" in reason
    assert last == "irmeta: 1 run set aside: passage: passage/runs/nuthFirst.txt"
    page = (out / "report.html").read_text()
    assert "nuthFirst" in page
    assert "http" not in page.replace("http://www.w3.org/", "")


def test_strict_turns_a_run_set_aside_into_status_3(run, collections: Path, tmp_path: Path) -> None:
    assert run("ingest", collections, "--store", tmp_path / "s", "--strict").status == 3


def test_a_track_that_fails_gives_status_1_after_the_others_are_done(
    run, two_tracks: Path, tmp_path: Path
) -> None:
    qrels = two_tracks / "ties" / "qrels.txt"
    qrels.write_text(qrels.read_text() + "101 0 d1 2 extra words here\n")
    done = run("reanalyze", two_tracks, "--out", tmp_path / "r")
    assert done.status == 1
    assert "track ties: ties/qrels.txt, line" in done.err
    means = pl.read_parquet(tmp_path / "r" / "means.parquet")
    assert means["track"].unique().to_list() == ["unretrieved"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-m", "APP"], "unknown measure 'APP'. Did you mean 'AP'?"),
        (["--track", "newss"], "has no track 'newss'. Did you mean 'news'?"),
        (["--system", "aldBM52"], "no system 'aldBM52'"),
        (["--track", "web", "--qrels", "diverse"], "no qrels set 'diverse'"),
        (["--tie-order", "coin"], "Invalid value for '--tie-order'"),
    ],
)
def test_a_bad_argument_is_one_line_and_status_2(
    run, made_store: irmeta.Store, arguments: list[str], said: str
) -> None:
    done = run("evaluate", made_store.path, *arguments)
    assert done.status == 2
    assert said in done.err
    assert done.out == ""


def test_no_store_is_a_usage_error(run, tmp_path: Path) -> None:
    done = run("info", tmp_path)
    assert (done.status, done.err) == (
        2,
        f"irmeta: {tmp_path} is not an irmeta store (no manifest.json).\n",
    )


def test_means_go_to_a_pipe_as_csv_with_full_precision(run, made_store: irmeta.Store) -> None:
    done = run("evaluate", made_store.path, "-m", "AP,ASL@g10", "--track", "web")
    frame = pl.read_csv(io.StringIO(done.out), schema_overrides={"system": pl.String})
    expected = made_store.means(["AP", "ASL@g10"], track="web")
    assert frame["value"].to_list() == expected["value"].to_list()
    assert frame.columns == expected.columns


def test_wide_and_per_query_have_a_column_for_each_measure(run, made_store: irmeta.Store) -> None:
    done = run("evaluate", made_store.path, "-m", "AP,P@20", "--per-query", "--wide")
    assert done.out.splitlines()[0] == "track,system,query,AP,P@20"


def test_out_writes_by_ending_with_provenance(
    run, made_store: irmeta.Store, tmp_path: Path
) -> None:
    file = tmp_path / "scores.parquet"
    command = ("evaluate", made_store.path, "-m", "RBP(p=0.5,gain=linear)", "--out", file)
    assert run(*command).status == 0
    record = provenance(file)
    assert record is not None
    highest = {track: made["highest_grade"] for track, made in record["tracks"].items()}
    assert highest == {"news": 1, "passage": 3, "web": 4}
    assert record["tracks"]["web"]["qrels"] == "adhoc"
    assert record["tracks"]["web"]["read_policy"]["tie_order"] == "trec_eval"
    assert record["measures"]["RBP(p=0.5,gain=linear)"]["gain"] == "linear"
    assert run(*command).status == 0, "our own file is replaced"


def test_a_file_that_is_not_ours_is_kept_without_force(
    run, made_store: irmeta.Store, tmp_path: Path
) -> None:
    file = tmp_path / "notes.csv"
    file.write_text("my,own,notes\n")
    command = ("evaluate", made_store.path, "-m", "AP", "--out", file)
    done = run(*command)
    assert done.status == 2
    assert "--force" in done.err
    assert file.read_text() == "my,own,notes\n"
    assert run(*command, "--force").status == 0
    assert file.read_text().startswith("track,system,measure,value")


def test_results_do_not_go_into_a_folder_of_other_files(
    run, collections: Path, tmp_path: Path
) -> None:
    (tmp_path / "thesis.tex").write_text("dear diary")
    done = run("reanalyze", collections, "--out", tmp_path)
    assert done.status == 2
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_info_lists_tracks_what_was_noticed_and_what_was_set_aside(
    run, made_store: irmeta.Store
) -> None:
    said = run("info", made_store.path).out
    assert "lists for queries that no one judged: 1" in said
    assert "the rank column disagrees with the scores in 25 lists" in said
    assert "nuthFirst.txt, line 611" in said


def test_info_as_json_holds_the_same(run, made_store: irmeta.Store) -> None:
    said = json.loads(run("info", made_store.path, "--json").out)
    assert [t["track"] for t in said["tracks"]] == ["news", "passage", "web"]
    aside = [s["file"] for s in said["systems"] if s["set_aside"]]
    assert aside == ["passage/runs/nuthFirst.txt"]


def test_explain_shows_ranks_ties_and_the_sum(run, made_store: irmeta.Store) -> None:
    done = run(
        "explain", made_store.path, "-m", "AP", "--system", "aldDFR", "--query", "901",
        "--track", "news",
    )  # fmt: skip
    value = made_store.evaluate("AP", track="news", system="aldDFR").row(0, named=True)["value"]
    assert f"= {value:.6g}" in done.out.splitlines()[0]
    assert f"/ 53 (relevant docs of the query) = {value:.6g}" in done.out.splitlines()[-1]
    assert "with 1" in done.out, "a tied doc"


def test_malformed_lines_that_are_dropped_are_named(run, collections: Path, tmp_path: Path) -> None:
    done = run("ingest", collections, "--store", tmp_path / "s", "--malformed", "skip")
    assert done.status == 0
    assert done.err == "irmeta: passage: passage/runs/nuthFirst.txt: 1 malformed lines dropped\n"


def test_a_closed_pipe_is_no_error(made_store: irmeta.Store) -> None:
    script = "import sys; sys.argv = ['irmeta', 'evaluate', sys.argv[1], '--per-query']; "
    command = [sys.executable, "-c", script + "from irmeta.cli import main; main()"]
    process = subprocess.Popen(
        [*command, str(made_store.path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0
