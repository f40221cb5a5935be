"""Files of the search-length study: Parquet, figures, LaTeX, and the report."""

from __future__ import annotations

import struct
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import irmeta
from irmeta.report import figure_file
from irmeta.results.tidy_files import provenance
from irmeta.studies.framework.study_results import StudyResults
from irmeta.studies.papers.search_length.study import STUDY
from support.making import Track, down
from support.studying import MADE, studied
from support.typesetting import faults, structure

OVER_TRACKS = {
    *(f"figure_{n}" for n in (1, 2, 3, 4)),
    *("headroom_asl", "headroom_asl_g10", "delta_sort", "tau_b"),
    *("beyond_delta_sort", "beyond_tau_b", "averaged_by_ap", "cut_lists"),
}
OF_TRACKS = {"figure_5", "figure_6"}
JOINED = sorted(
    table.name
    for table in STUDY.by_table.values()
    if not table.apart and (not table.only_filled or table.name == "measures")
)
HOSTILE = {
    "tab_le": r"bm25_100%&#",
    "br{a}ce": r"\input{x}$y$^~",
    "<i>": 'é|ü"<b>',
    "[x]": "[a]*",
    "*": "--dash",
}
"""Track names and system names with special characters."""


@pytest.fixture(scope="module")
def whole(made_store: irmeta.Store, tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """Run the study with figures at low resolution."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(figure_file, "print_of", partial(figure_file.print_of, ppi=72))
        return studied(made_store, tmp_path_factory.mktemp("whole"), formats="svg,pdf,png")


# Parquet


def test_search_length__tables_match_schema_and_have_provenance(whole: StudyResults):
    assert sorted(whole.tables) == JOINED
    for name in JOINED:
        table, file = STUDY.table(name), whole.folder / f"{name}.parquet"
        assert pq.read_schema(file).equals(table.arrow()), name
        frame = whole.tables[name]
        assert frame.height, name
        for column, declared in table.columns.items():
            assert declared.null or frame[column].null_count() == 0, (name, column)
        record = provenance(file)
        assert record is not None
        assert (record["study"], record["revision"]) == (STUDY.name, STUDY.revision)
        assert set(record["tracks"]) == set(MADE)
        assert record["tracks"]["web"]["qrels"] == "adhoc"
        assert (record["options"]["resamples"], record["options"]["baseline"]) == (20, "median")
        assert record["measures"]["ASL(unretrieved=floor)@g10"]["unretrieved"] == "floor"
        assert record["eval_policy"]["queries"] == "judged"


def test_search_length__latex_states_what_empty_options_stand_for(whole: StudyResults):
    text = (whole.folder / "latex" / "table_1.tex").read_text()
    comment = next(one for one in text.splitlines() if one.startswith("% irmeta"))
    stated = dict(one.rsplit(": ", 1) for one in comment.removeprefix("% ").split("; "))
    assert stated["at reading: depth"] == "whole lists"
    assert stated["pool without"] == "all systems in the pool"
    assert not {"none", "default", "None", ""} & set(stated.values())


@pytest.mark.parametrize("table", JOINED)
def test_search_length__rows_of_a_track_are_contiguous(whole: StudyResults, table: str):
    if "track" in STUDY.table(table).columns:
        tracks = whole.tables[table]["track"]
        assert tracks.rle().struct.field("value").is_duplicated().sum() == 0 or tracks.is_sorted()


# Figures and page


def test_search_length__every_figure_in_three_formats(whole: StudyResults):
    folder, latex = whole.folder / "figures", whole.folder / "latex"
    files = {f.relative_to(folder).as_posix() for f in folder.rglob("*") if f.is_file()}
    names = {file.rpartition(".")[0] for file in files}
    assert files == {f"{name}.{ending}" for name in names for ending in ("svg", "png")}
    assert {f.relative_to(latex).as_posix() for f in latex.rglob("*.pdf")} == {
        f"{name}.pdf" for name in names
    }, "PDFs lie beside the LaTeX tables"
    own = {f"tracks/{track}/{name}" for track in MADE for name in OF_TRACKS}
    assert names >= OVER_TRACKS | own
    assert names - OVER_TRACKS - own <= {f"{n}_depth" for n in OVER_TRACKS | own}
    for name in names:
        assert (folder / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")
        assert (latex / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        picture = (folder / f"{name}.png").read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert min(struct.unpack(">II", picture[16:24])) > 100, name


def test_study_results__every_figure_is_a_chart(whole: StudyResults):
    files = {f.relative_to(whole.folder / "figures") for f in whole.folder.rglob("*.svg")}
    names = {f.with_suffix("").as_posix().removeprefix("tracks/") for f in files}
    assert set(whole.figures) == names
    for chart in whole.figures.values():
        assert chart.to_dict()["$schema"]


def test_search_length__report_has_every_figure(whole: StudyResults):
    page = whole.report.read_text(encoding="utf-8")
    assert page.count("<figure") == len(whole.figures)
    for number in range(1, 7):
        assert f"Figure {number}: " in page
    assert page.count("<script") == 1  # sorts tables
    assert "://" not in page.replace("http://www.w3.org/", "")


@pytest.mark.usefixtures("undrawn")
def test_search_length__changed_options_leave_no_old_files(tmp_path: Path):
    choices = {"rel": 2, "unretrieved": "depth"}  # other measures, so other figure names
    runs = {f"s{i}": {"q": down(*docs)} for i, docs in enumerate(("axb", "xab", "xyb"))}
    for name in ("a", "b"):
        Track(runs, {"q": {"a": 1, "b": 2, "x": 0}}, name).write(tmp_path / "in")
    store = irmeta.ingest(tmp_path / "in", tmp_path / "store")
    studied(store, tmp_path / "again", min_systems=1)
    studied(store, tmp_path / "again", **{"min_systems": 1} | choices)
    studied(store, tmp_path / "fresh", **{"min_systems": 1} | choices)
    again, fresh = (_content(tmp_path / name) for name in ("again", "fresh"))
    assert again.keys() == fresh.keys()
    assert [name for name in again if again[name] != fresh[name]] == []


def _content(out: Path) -> dict[str, bytes]:
    files = (p for p in out.rglob("*") if p.is_file() and p.suffix != ".pdf")
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in files if p.suffix != ".json"}


# LaTeX


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, undrawn_module: None) -> StudyResults:
    """Run the study on tracks and systems with special characters in names."""
    folder = tmp_path_factory.mktemp("hostile")
    qrels = {f"q{i}": {"a": 1, "b": 1, "x": 0} for i in range(4)}
    docs = ("axb", "xab", "xyb", "yxa", "abx")
    for track in HOSTILE:
        runs = {
            system: {q: down(*docs[(i + n) % 5]) for n, q in enumerate(qrels)}
            for i, system in enumerate(HOSTILE.values())
        }
        Track(runs, qrels, track).write(folder / "in")
    store = irmeta.ingest(folder / "in", folder / "store")
    return studied(store, folder / "out", min_systems=5)


@pytest.mark.parametrize("which", ["whole", "hostile"])
def test_search_length__latex_tables_are_well_formed(which: str, request: pytest.FixtureRequest):
    files = sorted((request.getfixturevalue(which).folder / "latex").glob("*.tex"))
    assert len(files) > 9
    for file in files:
        assert [*structure(file.read_text(encoding="utf-8"))] == [], file.name


def test_search_length__latex_tables_with_hostile_names_fit(hostile: StudyResults, tmp_path: Path):
    assert faults(sorted((hostile.folder / "latex").iterdir()), tmp_path) == []
