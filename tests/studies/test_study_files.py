"""What the study of paper 1 leaves in its folder: Parquet, figures, LaTeX, a page, marks."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from making import Track, down
from studying import MADE, studied
from undrawn import draw_nothing

import irmeta
from irmeta.api import studies
from irmeta.api.studies import StudyResults
from irmeta.errors import IrmetaError
from irmeta.results.tables import provenance
from irmeta.schema import TABLES
from irmeta.studies.atomized import per_track
from irmeta.studies.atomized.settings import NAME, REVISION
from irmeta.studies.atomized.study import SEARCH_LENGTH

OVER_TRACKS = (
    *(f"figure_{n}" for n in (1, 2, 3, 4)),
    *("headroom_asl", "headroom_asl_g10", "table_2", "table_2_tau", "beyond", "beyond_tau"),
    *("effective_fraction", "depth_sensitivity"),
)
OF_TRACKS = ("figure_5", "figure_6")
BY_TRACK = {
    *(
        "studied_tracks",
        "means",
        "headroom",
        "best_by_choice",
        "table_1",
        "asl_differences",
        "reordering",
        "moves",
    ),
    *("search_length_histogram", "length_differences", "effective_fraction", "depth_sensitivity"),
}
OVER = {"distributions", "classes", "table_2", "effective_summary"}
HOSTILE = {
    "tab_le": r"bm25_100%&#",
    "br{a}ce": r"\input{x}$y$^~",
    "<i>": 'é|ü"<b>',
    "[x]": "[a]*",
    "*": "--dash",
}
"""Systems by name, each with a hostile one."""


@pytest.fixture(scope="module")
def whole(made_store: irmeta.Store, tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """With its figures drawn."""
    return irmeta.studies.search_length(made_store, tmp_path_factory.mktemp("whole"), resamples=20)


ESCAPED = r"\\text[a-z]+\{\}|\{[*[]?\}|\\[&%$#_{}]|\\\\$"
"""What LaTeX prints as it stands, an empty group, and the end of a row."""


def content(out: Path, *without: str) -> dict[str, bytes]:
    files = (p for p in out.rglob("*") if p.is_file() and p.suffix not in without)
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in files}


def of_two_tracks(folder: Path) -> Path:
    """A collection of two tiny tracks, `a` and `b`."""
    runs = {f"s{i}": {"q": down(*docs)} for i, docs in enumerate(("axb", "xab", "xyb"))}
    for name in ("a", "b"):
        Track(runs, {"q": {"a": 1, "b": 2, "x": 0}}, name).write(folder)
    return folder


# Parquet


def test_every_table_follows_the_schema_and_says_how_it_was_made(
    whole: StudyResults, made_store: irmeta.Store
):
    assert set(whole.tables) == BY_TRACK | OVER
    for name in whole.tables:
        table, file = TABLES[name], whole.folder / f"{name}.parquet"
        assert pq.read_schema(file).equals(table.arrow()), name
        frame = whole.tables[name]
        for column, said in table.columns.items():
            assert said.null or frame[column].null_count() == 0, (name, column)
        assert frame.select(table.key).is_duplicated().sum() == 0 or frame.height == 1, name
        record = provenance(file)
        assert record is not None
        assert (record["study"], record["revision"]) == (NAME, REVISION)
        assert record["irmeta"] == irmeta.__version__
        assert set(record["tracks"]) == set(MADE)
        assert record["tracks"]["web"]["qrels"] == "adhoc"
        assert record["settings"]["resamples"] == 20
        assert record["settings"]["baseline"] == "median"
        assert record["measures"]["ASL(unretrieved=floor)@g10"]["unretrieved"] == "floor"
        assert record["eval_policy"]["queries"] == "judged"
    for track in MADE:
        record = provenance(whole.folder / ".parts" / track / "means.parquet")
        assert record is not None
        assert set(record["tracks"]) == {track}


@pytest.mark.parametrize("table", sorted(BY_TRACK | OVER))
def test_rows_stand_in_the_order_of_their_key(whole: StudyResults, table: str):
    key = [k for k in TABLES[table].key if k not in ("measure", "comparison", "chain", "low")]
    frame = whole.tables[table]
    if "chain" not in TABLES[table].key and key:
        assert frame.select(key).equals(frame.select(key).sort(key)), key


def test_tables_are_read_by_name(whole: StudyResults):
    assert whole.tables["table_2"].equals(pl.read_parquet(whole.folder / "table_2.parquet"))
    with pytest.raises(irmeta.UsageError, match=r"no table 'table_3'. Did you mean 'table_2'"):
        whole.tables["table_3"]


# Figures and page


def test_every_figure_is_there_in_three_formats(whole: StudyResults):
    names = {*OVER_TRACKS, *(f"tracks/{track}/{name}" for track in MADE for name in OF_TRACKS)}
    folder = whole.folder / "figures"
    files = {f.relative_to(folder).as_posix() for f in folder.rglob("*") if f.is_file()}
    assert files == {f"{name}.{ending}" for name in names for ending in ("svg", "pdf", "png")}
    for name in names:
        assert (folder / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")
        assert (folder / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        picture = (folder / f"{name}.png").read_bytes()
        width, height = struct.unpack(">II", picture[16:24])
        assert picture.startswith(b"\x89PNG")
        assert min(width, height) > 100, name


def test_a_notebook_gets_every_figure_as_a_chart(whole: StudyResults):
    assert set(whole.figures) == {
        *OVER_TRACKS,
        *(f"{track}/{name}" for track in MADE for name in OF_TRACKS),
    }
    for chart in whole.figures.values():
        assert chart.to_dict()["$schema"]


def test_the_page_holds_every_figure_table_and_section(whole: StudyResults):
    page = whole.report.read_text(encoding="utf-8")
    assert page.count("<figure") == len(OVER_TRACKS) + len(MADE) * len(OF_TRACKS)
    for number in range(1, 7):
        assert f"Figure {number}: " in page
    for heading in ("4.1", "4.2", "4.3, Table 1", "4.4", "Appendix A.1", "footnote 6"):
        assert f"({'Section ' if heading[0] == '4' else ''}{heading})" in page, heading
    for track in MADE:
        assert f">{track}</h2>" in page
    assert "3 tracks, 41 runs and 59 queries with a relevant doc" in page
    assert "the paper: 76 tracks, 4,302 runs, 5,043 queries" in page
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org/", "")
    for name in whole.tables:
        assert f"{name}.parquet" in page
    best = whole.tables["headroom"].filter(track="news", measure="AP").row(0, named=True)
    assert f"<td>{best['system']}</td>" in page
    assert f"{best['value']:.4f}" in page


# The same again


def test_two_fresh_runs_leave_the_same_bytes(made_store: irmeta.Store, tmp_path: Path):
    for name in ("one", "two"):
        studied(made_store, tmp_path / name, tracks=["web", "passage"])
    one, two = (content(tmp_path / name, ".pdf") for name in ("one", "two"))
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []
    assert {Path(name).suffix for name in one} >= {".parquet", ".svg", ".png", ".tex", ".html"}


@pytest.mark.usefixtures("undrawn")
def test_a_second_run_analyses_nothing_again(
    made_store: irmeta.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    first = studied(made_store, tmp_path)
    assert first.batch.analysed == ("news", "passage", "web")
    before = content(tmp_path)
    monkeypatch.setattr(per_track, "gather", None)
    second = studied(made_store, tmp_path)
    assert (second.batch.analysed, second.batch.unchanged) == ((), ("news", "passage", "web"))
    assert content(tmp_path) == before


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    "choices",
    [
        {"depth": 2, "min_runs": 1},
        {"rel": 2, "min_runs": 1},  # other measures, so other names of figures
        {"min_runs": 9},  # no track is counted
        {"unretrieved": "depth", "min_runs": 1},
    ],
)
def test_other_settings_leave_nothing_of_the_former(tmp_path: Path, choices: dict[str, object]):
    store = irmeta.ingest(of_two_tracks(tmp_path / "in"), tmp_path / "store")
    studied(store, tmp_path / "again", min_runs=1)
    again = studied(store, tmp_path / "again", **choices)
    assert again.batch.analysed == ("a", "b")
    fresh = studied(store, tmp_path / "fresh", **choices)
    found, expected = content(again.folder), content(fresh.folder)
    assert found.keys() - expected.keys() == set()
    assert found == expected


@pytest.mark.usefixtures("undrawn")
def test_a_track_that_left_the_store_is_in_no_result(tmp_path: Path):
    folder = of_two_tracks(tmp_path / "in")
    studied(irmeta.ingest(folder, tmp_path / "both"), tmp_path / "out", min_runs=1)
    shutil.rmtree(folder / "a")
    store = irmeta.ingest(folder, tmp_path / "one")
    done = studied(store, tmp_path / "out", min_runs=1)
    assert done.batch.unchanged == ("b",)
    for name in BY_TRACK:
        assert set(done.tables[name]["track"]) <= {"b"}, name
    assert not list((tmp_path / "out" / "figures").glob("**/a*"))
    assert not (tmp_path / "out" / ".parts" / "a").exists()
    assert ">a</h2>" not in done.report.read_text(encoding="utf-8")


def fail_on(track: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one track's part fail."""

    def fails(layout, name, settings, folder):
        if name == track:
            raise IrmetaError(f"no {track} today")
        return SEARCH_LENGTH.per_track(layout, name, settings, folder)

    monkeypatch.setattr(studies, "SEARCH_LENGTH", replace(SEARCH_LENGTH, per_track=fails))


@pytest.mark.usefixtures("undrawn")
def test_a_track_that_fails_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    store = irmeta.ingest(of_two_tracks(tmp_path / "in"), tmp_path / "store")
    studied(store, tmp_path / "out", min_runs=1)
    (tmp_path / "out" / ".parts" / "a" / "done.json").unlink()
    fail_on("a", monkeypatch)
    with pytest.raises(IrmetaError, match="a: no a today"):
        studied(store, tmp_path / "out", min_runs=1)
    found = pl.read_parquet(tmp_path / "out" / "studied_tracks.parquet")
    assert found["track"].to_list() == ["b"]
    monkeypatch.undo()
    draw_nothing(monkeypatch)
    again = studied(store, tmp_path / "out", min_runs=1)
    assert (again.batch.analysed, again.batch.unchanged) == (("a",), ("b",))
    fresh = studied(store, tmp_path / "fresh", min_runs=1)
    assert content(again.folder) == content(fresh.folder)


@pytest.mark.usefixtures("undrawn")
def test_a_folder_of_other_files_is_refused(tmp_path: Path):
    store = irmeta.ingest(of_two_tracks(tmp_path / "in"), tmp_path / "store")
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("dear diary")
    with pytest.raises(irmeta.UsageError, match="holds other files"):
        studied(store, out)
    assert list(content(out)) == ["thesis.tex"]
    studied(store, out, force=True)
    assert (out / "thesis.tex").read_text() == "dear diary"


# LaTeX


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """Of tracks and systems with hostile names; one track is left out."""
    folder = tmp_path_factory.mktemp("hostile")
    qrels = {f"q{i}": {"a": 1, "b": 1, "x": 0} for i in range(4)}
    docs = ("axb", "xab", "xyb", "yxa", "abx")
    for track in HOSTILE:
        runs = {
            system: {q: down(*docs[(i + n) % 5]) for n, q in enumerate(qrels)}
            for i, system in enumerate(HOSTILE.values())
        }
        Track(runs, qrels, track).write(folder / "in")
    with pytest.MonkeyPatch.context() as patched:
        draw_nothing(patched)
        store = irmeta.ingest(folder / "in", folder / "store")
        return studied(store, folder / "out", min_runs=5)


def columns_of(line: str) -> int:
    return len(re.findall(r"(?<!\\)&", line)) + 1


@pytest.mark.parametrize("which", ["whole", "hostile"])
def test_latex_tables_are_whole(which: str, request: pytest.FixtureRequest):
    files = sorted((request.getfixturevalue(which).folder / "latex").iterdir())
    assert {f.stem for f in files} == {
        *(
            "studied_tracks",
            "classes",
            "headroom",
            "table_1",
            "paper_table_1",
            "table_2",
            "furthest",
        ),
        *("beyond", "best_by_choice", "asl_differences", "effective_fraction", "depth_sensitivity"),
    }
    for file in files:
        text = file.read_text(encoding="utf-8")
        opened, closed = (re.findall(rf"\\{what}\{{(\w+)\}}", text) for what in ("begin", "end"))
        assert opened == closed[::-1]
        assert opened in (["table", "tabular"], ["longtable"])
        body = text[text.index(r"\toprule") :]
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        columns = re.search(r"\\begin\{(?:tabular|longtable)\}\{([lr]+)\}", text)
        assert columns is not None
        assert {columns_of(row) for row in rows} == {len(columns[1])}, file
        for row in rows:
            plain = re.sub(ESCAPED, "", row)
            assert not re.search(r"[%$#_{}\\~^<>|]", plain), row
            assert not row.startswith(("[", "*")), "it would be an argument of the row before"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no TeX here")
@pytest.mark.parametrize("which", ["whole", "hostile"])
def test_latex_tables_compile(which: str, request: pytest.FixtureRequest, tmp_path: Path):
    files = sorted((request.getfixturevalue(which).folder / "latex").iterdir())
    tables = "\n".join(rf"\input{{{file}}}\clearpage" for file in files)
    (tmp_path / "all.tex").write_text(
        "\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{booktabs,longtable}\n"
        f"\\begin{{document}}\n{tables}\n\\end{{document}}\n"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, errors="replace")
    assert done.returncode == 0, done.stdout[-1500:]
    assert (tmp_path / "all.pdf").stat().st_size > 10_000
