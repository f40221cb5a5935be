"""The study runner: resuming, failures, and interruption."""

from __future__ import annotations

import json
import re
import shutil
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import irmeta
from irmeta.errors import IrmetaError, UsageError
from irmeta.report.notation import to_text
from irmeta.results.tidy_files import provenance
from irmeta.studies.framework import recorded_files as files
from irmeta.studies.framework import registry, study_page
from support import tiny
from support.tiny import collection, content, run
from support.undrawn import charts_are_built

ALL = ("a", "b", "c")


@pytest.mark.exhaustive
def test_run__bytes_are_reproducible(store: irmeta.Store, tmp_path: Path):
    one, two = (
        run(store, tmp_path / str(workers), workers=workers, formats="svg,png")
        for workers in (1, 3)
    )
    assert one.batch is not None
    assert one.batch.analysed == ALL
    found = content(one.folder)
    assert found == content(two.folder)
    assert {Path(name).suffix for name in found} >= {".parquet", ".svg", ".png", ".tex", ".html"}


@pytest.mark.exhaustive
def test_run__threads_and_processes_give_equal_bytes(store: irmeta.Store, tmp_path: Path):
    irmeta.reanalyze(store.path, tmp_path / "threads", measures="AP,ASL")
    # spawned, since a fork would copy locks held by threads
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        out = tmp_path / "processes"
        irmeta.reanalyze(store.path, out, measures="AP,ASL", executor=executor)
    assert content(tmp_path / "processes") == content(tmp_path / "threads")


@pytest.mark.exhaustive
def test_run__style_names_measures_in_figures_latex_and_page_alone(
    store: irmeta.Store, tmp_path: Path
):
    def recorded(style: str) -> tuple[str, str, str, bytes]:
        out = run(store, tmp_path / "out", names=("AP(norm=min)@10",), style=style).folder
        caption = files.RecordedFiles(out, files.ALL).recorded()["figures/all_ap_norm_min_10.svg"]
        latex, page = (out / "latex" / "values.tex").read_text(), (out / "report.html").read_text()
        return caption["caption"], latex, page, (out / "values.parquet").read_bytes()

    with charts_are_built():
        caption, latex, page, parquet = recorded("paper")
        tiny.FAILING |= dict.fromkeys(ALL, IrmetaError("computed again"))
        canonical = recorded("irmeta")
    assert to_text(caption) == "By AP_b@10. AP_b: AP(norm=min)."
    assert r"AP$_{\mathrm{b}}$@10" in latex
    assert r"AP$_{\mathrm{b}}$: AP(norm=min)." in latex
    assert '<th scope="colgroup" colspan="2">AP<sub>b</sub>@10</th>' in page
    assert canonical[0] == "By AP(norm=min)@10."
    assert all("mathrm" not in text and "<sub>" not in text for text in canonical[1:3])
    assert canonical[3] == parquet


@pytest.mark.exhaustive
def test_reanalyze__without_figures_has_a_page(store: irmeta.Store, tmp_path: Path):
    done = irmeta.reanalyze(store.path, tmp_path / "out", measures="AP", figures=False)
    assert "were not drawn" in done.results.report.read_text()
    assert not (tmp_path / "out" / "figures").exists()


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_run__stopped_run_resumes_to_the_same_bytes(
    store: irmeta.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The run may stop anywhere, even with first files made under other options."""
    run(store, tmp_path / "whole")
    real, out = files.write_bytes, tmp_path / "stopped"
    stops = 0
    for writes in range(1, 200, 4):
        left = iter(range(writes))

        def stopping(path: Path, data: bytes, left=left) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt
            real(path, data)

        monkeypatch.setattr(files, "write_bytes", stopping)
        try:
            run(store, out, rel=2, names="P@5", workers=1)
            break
        except KeyboardInterrupt:
            stops += 1
    assert stops > 4
    monkeypatch.setattr(files, "write_bytes", real)
    run(store, out)
    assert content(out) == content(tmp_path / "whole")


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_run__changed_options_leave_no_old_files(store: irmeta.Store, tmp_path: Path):
    run(store, tmp_path / "again", names="AP,P@5")
    run(store, tmp_path / "again", names="nDCG", queries="retrieved")
    run(store, tmp_path / "fresh", names="nDCG", queries="retrieved")
    assert content(tmp_path / "again") == content(tmp_path / "fresh")


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_run__removes_only_recorded_and_unchanged_files(store: irmeta.Store, tmp_path: Path):
    out = tmp_path / "out"
    run(store, out, names="AP,P@5", formats="svg,png")
    for name in ("qrels.parquet", "figures/mine.svg", "latex/notes.tex", "docs/a.txt"):
        (out / name).write_text("mine")
    touched = out / "figures" / "all_p_5.svg"
    touched.write_text("touched up by hand")
    run(store, out, names="AP", formats="svg,png")
    for name in ("qrels.parquet", "figures/mine.svg", "latex/notes.tex", "docs/a.txt"):
        assert (out / name).read_text() == "mine"
    assert touched.read_text() == "touched up by hand"
    assert not (out / "figures" / "all_p_5.png").exists()
    tiny.FAILING |= dict.fromkeys(ALL, IrmetaError("nothing works"))
    with pytest.raises(IrmetaError, match="nothing works"):
        run(store, out, names="nDCG")
    left = {n for n in content(out) if not n.startswith(".parts")}
    assert left == {
        *("qrels.parquet", "figures/mine.svg", "latex/notes.tex", "docs/a.txt"),
        "figures/all_p_5.svg",
    }


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_write_page__refers_to_the_files_of_many_figures(
    store: irmeta.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run(store, tmp_path / "embedded")
    monkeypatch.setattr(study_page, "MOST_EMBEDDED", 10)
    run(store, tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    sources = re.findall(r'<img src="([^"]+)"', page)
    drawn = (tmp_path / "out" / "figures" / "tracks").rglob("*.svg")
    assert sorted(sources) == sorted(f.relative_to(tmp_path / "out").as_posix() for f in drawn)
    assert sources
    assert "keep that folder beside the page" in page
    assert "<img" not in (tmp_path / "embedded" / "report.html").read_text()


@pytest.mark.usefixtures("undrawn")
def test_run__failed_track_does_not_stop_the_others(store: irmeta.Store, tmp_path: Path):
    out = tmp_path / "out"
    run(store, out)
    for error in (IrmetaError("no b today"), OSError(28, "No space left")):
        tiny.FAILING["b"] = error
        with pytest.raises(IrmetaError, match=r"^track b: .*(no b today|No space left)"):
            run(store, out, share=0.25)
        assert pl.read_parquet(out / "studied_tracks.parquet")["track"].to_list() == ["a", "c"]
        assert ">b</h2>" not in (out / "report.html").read_text()
        assert not (out / "docs" / "b.parquet").exists()
    tiny.FAILING.clear()
    again = run(store, out, share=0.25)
    assert again.batch is not None
    assert (again.batch.analysed, again.batch.unchanged) == (("b",), ("a", "c"))
    run(store, tmp_path / "fresh", share=0.25)
    assert content(out) == content(tmp_path / "fresh")


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_run__track_replaced_during_computation_fails(
    store: irmeta.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    real = tiny.compute

    def replaces(track, options):
        yield from real(track, options)
        if track.name == "b":
            (tmp_path / "in" / "b" / "qrels").write_text("q 0 a 1\n")
            irmeta.ingest(tmp_path / "in", store.path)

    monkeypatch.setattr(tiny, "STUDY", replace(tiny.STUDY, compute=replaces))
    monkeypatch.delitem(vars(irmeta.studies), "tiny", raising=False)
    with pytest.raises(IrmetaError, match=r"track b: was replaced while it was read"):
        run(store, tmp_path / "out", workers=1)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("only", [False, True])
def test_run__tracks_and_only_options_select_results(
    store: irmeta.Store, tmp_path: Path, only: bool
):
    out = tmp_path / "out"
    run(store, out)
    one = run(store, out, track="a", only=only)
    assert one.tables["values"]["track"].unique().sort().to_list() == (["a"] if only else [*ALL])
    assert (out / "docs" / "b.parquet").exists() != only


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_run__remaining_tracks_need_equal_options_and_input(store: irmeta.Store, tmp_path: Path):
    out = tmp_path / "out"
    run(store, out)
    with pytest.raises(
        UsageError, match=r"2 other tracks, made with other options \(rel\): .*`only=True`"
    ):
        run(store, out, track=["a"], rel=2)
    (tmp_path / "in" / "b" / "qrels").write_text("q 0 a 1\n")
    irmeta.ingest(tmp_path / "in", store.path)
    again = run(irmeta.open_store(store.path), out, track="a")
    assert again.batch is not None
    assert (again.batch.analysed, again.batch.unchanged) == (("b",), ("a", "c"))


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_run__track_removed_from_store_leaves_the_results(tmp_path: Path):
    folder = collection(tmp_path / "in", "a", "b")
    run(irmeta.ingest(folder, tmp_path / "both"), tmp_path / "out")
    shutil.rmtree(folder / "a")
    done = run(irmeta.ingest(folder, tmp_path / "one"), tmp_path / "out")
    assert done.batch is not None
    assert done.batch.unchanged == ("b",)
    assert set(done.tables["values"]["track"]) == {"b"}
    assert not list(done.folder.rglob("a*.parquet"))
    assert not (done.folder / "figures" / "tracks" / "a").exists()


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"track": "d"}, "has no track 'd'"),
        ({"track": []}, "no track was given"),
        ({"wanted": "s9"}, "wanted = 's9': no such system"),
        ({"nmaes": "AP"}, "no option 'nmaes'. Did you mean 'names'"),
        ({"names": "APP"}, "unknown measure 'APP'. Did you mean 'AP'"),
        ({"share": 1}, "share = 1 is not a number between 0 and 1, both excluded"),
        ({"queries": "judge"}, "queries = 'judge' is not a choice. Did you mean 'judged'"),
        ({"workers": 1.5}, "workers = 1.5 is not a whole number of at least 1"),
    ],
)
def test_run__invalid_argument_creates_no_folder(
    store: irmeta.Store, tmp_path: Path, options: dict[str, Any], error: str
):
    with pytest.raises(IrmetaError, match=error):
        run(store, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_run__folder_of_other_files_or_another_study_is_refused(
    store: irmeta.Store, tmp_path: Path
):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("dear diary")
    with pytest.raises(UsageError, match=r"holds other files: .*, or use `force=True`"):
        run(store, out)
    assert [p.name for p in out.iterdir()] == ["thesis.tex"]
    run(store, out, force=True)
    assert (out / "thesis.tex").read_text() == "dear diary"
    with pytest.raises(UsageError, match="holds the results of tiny: name a new folder"):
        irmeta.studies.alone(out)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("damage", ["", "{}", "[]", "null", '{"files": 3}', "{"])
def test_run__damaged_record_is_rewritten(store: irmeta.Store, tmp_path: Path, damage: str):
    out = tmp_path / "out"
    run(store, out)
    before = content(out)
    for part in ("b", ".all"):
        (out / ".parts" / part / "files.json").write_text(damage)
    again = run(store, out)
    assert again.batch is not None
    assert again.batch.analysed == ("b",)
    assert content(out) == before


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_run__tables_have_provenance(store: irmeta.Store, tmp_path: Path):
    done = run(store, tmp_path / "out", names="AP", rel=2)
    parts = {"values.parquet": ALL, "docs/a.parquet": ("a",), ".parts/b/values.parquet": ("b",)}
    for name, tracks in parts.items():
        record = provenance(done.folder / name)
        assert record is not None
        assert (record["irmeta"], record["study"]) == (irmeta.__version__, "tiny")
        assert (record["revision"], record["options"]["rel"]) == (1, 2)
        assert set(record["tracks"]) == set(tracks)
        assert record["measures"]["AP"]["revision"] >= 1
        assert record["eval_policy"]["queries"] == "judged"
    assert json.loads(json.dumps(done.provenance)) == done.provenance


@pytest.mark.usefixtures("undrawn")
def test_run__study_without_a_store_resumes(tmp_path: Path):
    done = irmeta.studies.alone(tmp_path / "out")
    assert done.tables["counts"].rows() == [(1, 2), (2, 4), (3, 8)]
    assert tiny.COMPUTED == [3]
    irmeta.studies.alone(tmp_path / "out")
    assert tiny.COMPUTED == [3]
    irmeta.studies.alone(tmp_path / "out", longest=2)
    assert tiny.COMPUTED == [3, 2]
    assert "studied_tracks" not in done.tables
    assert "<h2" in done.report.read_text()


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_run__store_may_be_optional(store: irmeta.Store, tmp_path: Path):
    alone = irmeta.studies.optional(None, tmp_path / "alone")
    assert "studied_tracks" not in alone.tables
    assert all(frame.height for frame in alone.tables.values())
    both = irmeta.studies.optional(store, tmp_path / "both")
    assert alone.tables["counts"].equals(both.tables["counts"])
    assert both.batch is not None
    assert both.batch.analysed == ALL
    with pytest.raises(UsageError, match="study tiny needs a store"):
        irmeta.studies.tiny(None, tmp_path / "out")


def test_places__entry_point_cannot_replace_an_irmeta_study(monkeypatch: pytest.MonkeyPatch):
    class Point:
        name, value = "search-length", "elsewhere:STUDY"

    monkeypatch.setattr(registry, "entry_points", lambda group: [Point])
    registry.study_modules.cache_clear()
    assert registry.study_modules()["search-length"].startswith("irmeta.")
