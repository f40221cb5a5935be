"""Runs of all studies, studies of other packages, and load failures."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import irmeta
from irmeta.errors import IrmetaError, NothingToStudyError, UsageError
from irmeta.options import Options
from irmeta.studies import drawing_processes
from irmeta.studies.framework import registry
from irmeta.studies.framework.study import Study
from support import tiny
from support.tiny import collection

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture
def _only_tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in list(registry.OWN.items()):
        if value.startswith("irmeta."):
            monkeypatch.delitem(registry.OWN, name)
    registry.study_modules.cache_clear()


@pytest.mark.exhaustive
@pytest.mark.usefixtures("_only_tiny")
def test_run_all__one_folder_per_study_and_an_index(store: irmeta.Store, tmp_path: Path):
    done = irmeta.studies.run_all(store, tmp_path / "out", track="a", workers=1)
    ran = {one.study.name: one.problem for one in done}
    assert ran == {"alone": "", "optional": "", "tiny": ""}
    for one in done:
        assert one.results is not None
        assert one.results.folder == tmp_path / "out" / one.study.name
        assert one.results.report.is_file()
    index = (tmp_path / "out" / "index.html").read_text()
    links = set(re.findall(r'href="([^"#]+)"', index))
    assert links >= {"alone/report.html", "optional/report.html", "tiny/report.html"}
    assert all((tmp_path / "out" / link).exists() for link in links - {"data:,"})


@pytest.mark.usefixtures("_only_tiny")
def test_run_all__failed_study_does_not_stop_the_others(store: irmeta.Store, tmp_path: Path, run):
    tiny.FAILING |= {"b": IrmetaError("no b today")}
    done = {one.study.name: one for one in irmeta.studies.run_all(store, tmp_path / "out")}
    assert "track b: no b today" in done["tiny"].problem
    assert done["optional"].results is not None
    assert "no b today" in (tmp_path / "out" / "index.html").read_text()
    ran = run("study", "all", store.path, "--out", tmp_path / "out")
    assert ran.status == 1
    assert "irmeta: tiny: track b: no b today" in ran.err


@pytest.mark.usefixtures("_only_tiny")
def test_run_all__a_study_with_nothing_to_study_is_no_failure(
    store: irmeta.Store, tmp_path: Path, run, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_):
        raise NothingToStudyError("no judge here.")

    monkeypatch.setattr("irmeta.studies.framework.run_all.run", refuse)
    ran = run("study", "all", store.path, "--out", tmp_path / "out")
    assert ran.status == 0
    assert "irmeta: tiny left out: no judge here." in ran.err
    assert "no judge here." in (tmp_path / "out" / "index.html").read_text()


@pytest.mark.exhaustive
@pytest.mark.usefixtures("_only_tiny")
def test_run_all__same_processes_draw_for_all_studies(
    store: irmeta.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    begun, make = [], drawing_processes._Drawers
    monkeypatch.setattr(drawing_processes, "_Drawers", lambda: begun.append(make()) or begun[-1])
    done = irmeta.studies.run_all(store, tmp_path / "out", workers=2)
    assert len(done) == 3
    assert len(begun) == 1
    assert drawing_processes._drawers is None


@pytest.mark.parametrize("options", [{"track": "d"}, {"workers": 0}, {"share": 0.5}])
def test_run_all__invalid_argument_creates_no_folder(
    store: irmeta.Store, tmp_path: Path, options: dict[str, object]
):
    with pytest.raises(UsageError):
        irmeta.studies.run_all(store, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_run_all__groups_of_tracks_reach_the_studies_that_have_them(
    store: irmeta.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    reached = dict[str, object]()

    def refuse(study: Study, store: object, root: Path, options: Options, asked: object) -> None:
        reached[study.name] = getattr(options, "track_groups", "none")
        raise NothingToStudyError("no study today")

    monkeypatch.setattr("irmeta.studies.framework.run_all.run", refuse)
    file = tmp_path / "groups.csv"
    file.write_text("track,group\na,web\n")
    irmeta.studies.run_all(store, tmp_path / "out", track="a", track_groups=str(file))
    assert reached["depth"] == reached["innovation"] == str(file)
    assert reached["search-length"] == "none"
    with pytest.raises(UsageError, match="no group of track 'b'"):
        irmeta.studies.run_all(store, tmp_path / "new", track_groups=str(file))
    assert not (tmp_path / "new").exists()


def test_registry__study_of_another_package_runs(
    store: irmeta.Store, tmp_path: Path, run, monkeypatch: pytest.MonkeyPatch
):
    points = [
        SimpleNamespace(name="tiny", value="support.tiny:STUDY"),
        SimpleNamespace(name="other", value="support.tiny:STUDY"),
        SimpleNamespace(name="overview", value="support.tiny:STUDY"),  # an irmeta name is reserved
    ]
    monkeypatch.setattr(registry, "OWN", {n: v for n, v in registry.OWN.items() if n != "tiny"})
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    registry.study_modules.cache_clear()
    monkeypatch.delitem(vars(irmeta.studies), "tiny", raising=False)
    done = irmeta.studies.tiny(store, tmp_path / "out")
    assert irmeta.studies.open(tmp_path / "out").study.name == done.study.name == "tiny"
    assert run("study", "tiny", store.path, "--out", tmp_path / "out").status == 0
    assert registry.find("overview").title != done.study.title
    with pytest.raises(
        UsageError, match=r"entry point other \(support.tiny:STUDY\) is not a study of this"
    ):
        registry.find("other")


@pytest.mark.exhaustive
def test_registry__study_load_failure_does_not_stop_the_others(
    store: irmeta.Store, tmp_path: Path, run, monkeypatch: pytest.MonkeyPatch
):
    broken = SimpleNamespace(name="broken", value="no_such_package.study:STUDY")
    monkeypatch.setattr(registry, "entry_points", lambda group: [broken])
    registry.study_modules.cache_clear()
    reason = "study broken (no_such_package.study:STUDY) cannot be loaded: ModuleNotFoundError"
    with pytest.raises(UsageError, match=re.escape(reason)):
        irmeta.studies.broken(store, tmp_path / "out")
    listed = run("study")
    assert (listed.status, reason in listed.err) == (0, True)
    assert "search-length" in listed.out
    assert run("study", "broken", store.path, "--out", tmp_path / "out").status == 2
    assert run("study", "tiny", "--help").status == 0
    assert run("info", store.path).status == 0


def test_registry__study_that_exits_at_import_is_named(
    store: irmeta.Store, tmp_path: Path, run, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "exits_at_import.py").write_text("import sys\nsys.exit(7)\n")
    monkeypatch.syspath_prepend(tmp_path)
    broken = SimpleNamespace(name="broken", value="exits_at_import:STUDY")
    monkeypatch.setattr(registry, "entry_points", lambda group: [broken])
    registry.study_modules.cache_clear()
    listed = run("study")
    assert (listed.status, "cannot be loaded: SystemExit: 7" in listed.err) == (0, True)
    explained = run("study", "--help")
    assert (explained.status, "cannot be loaded: SystemExit: 7" in explained.err) == (0, True)
    assert "search-length" in explained.out


def test_open__folder_without_results_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="holds no study's results"):
        irmeta.studies.open(collection(tmp_path / "in", "a"))
