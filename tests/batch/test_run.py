"""The batch: finished parts are kept, failures are reported, a stop at any moment is harmless."""

from __future__ import annotations

import shutil
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.batch import run as batch
from irmeta.errors import IrmetaError
from irmeta.store.layout import Layout
from irmeta.studies import overview
from irmeta.studies.base import Folder, Study

SETTINGS = overview.Settings().record()


def run(
    store: irmeta.Store,
    out: Path,
    study: Study = overview.OVERVIEW,
    workers: int | None = None,
    **changes,
) -> batch.Batch:
    settings = {**SETTINGS, **changes}
    layout, folder = Layout(store.path), Folder(out)
    return batch.run(study, layout, store.tracks, settings, folder, workers=workers)


def content(out: Path) -> dict[str, bytes]:
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()}


def test_same_input_same_bytes(made_store: irmeta.Store, tmp_path: Path) -> None:
    run(made_store, tmp_path / "a")
    run(made_store, tmp_path / "b")
    assert content(tmp_path / "a") == content(tmp_path / "b")


@pytest.mark.usefixtures("undrawn")
def test_finished_tracks_are_not_done_again(made_store: irmeta.Store, tmp_path: Path) -> None:
    assert run(made_store, tmp_path).analysed == ("news", "passage", "web")
    times = {p: p.stat().st_mtime_ns for p in (tmp_path / "scores").iterdir()}
    again = run(made_store, tmp_path)
    assert (again.analysed, again.unchanged) == ((), ("news", "passage", "web"))
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "scores").iterdir()} == times


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("change", ["settings", "file", "revision", "measure"])
def test_what_changed_is_done_again(made_store: irmeta.Store, tmp_path: Path, change: str) -> None:
    run(made_store, tmp_path)
    if change == "settings":
        assert len(run(made_store, tmp_path, rarity_depth=10).analysed) == 3
    elif change == "file":
        (tmp_path / "scores" / "web.parquet").unlink()
        assert run(made_store, tmp_path).analysed == ("web",)
    elif change == "measure":
        newer = {name: n + 1 for name, n in SETTINGS["revisions"].items()}
        assert len(run(made_store, tmp_path, revisions=newer).analysed) == 3
    else:
        own = overview.OVERVIEW
        newer = replace(own, revision=own.revision + 1)
        assert len(run(made_store, tmp_path, newer).analysed) == 3


@pytest.mark.usefixtures("undrawn")
def test_a_batch_stopped_in_the_middle_goes_on_to_the_same_bytes(
    made_store: irmeta.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(made_store, tmp_path / "whole")
    real = overview.write_parquet

    def stops(frames, path: Path, *rest):
        if path.name == "passage.parquet" and path.parent.name == "scores":
            raise KeyboardInterrupt
        return real(frames, path, *rest)

    with monkeypatch.context() as stopping:
        stopping.setattr(overview, "write_parquet", stops)
        with pytest.raises(KeyboardInterrupt):
            run(made_store, tmp_path / "stopped")
    done = run(made_store, tmp_path / "stopped")
    assert set(done.unchanged) <= {"news", "web"}  # another thread may have done the last meanwhile
    assert {*done.unchanged, *done.analysed} == {"news", "passage", "web"}
    assert "passage" in done.analysed
    assert content(tmp_path / "stopped") == content(tmp_path / "whole")


@pytest.mark.parametrize("workers", [3])
def test_results_do_not_depend_on_how_many_work(
    made_store: irmeta.Store, tmp_path: Path, workers: int
) -> None:
    run(made_store, tmp_path / "one", workers=1)
    done = run(made_store, tmp_path / "more", workers=workers)
    assert done.analysed == ("news", "passage", "web")
    assert content(tmp_path / "more") == content(tmp_path / "one")


def test_results_do_not_depend_on_threads_or_processes(
    made_store: irmeta.Store, tmp_path: Path
) -> None:
    irmeta.reanalyze(made_store.path, tmp_path / "threads")
    # spawned, since a fork would take threads' locks along
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        irmeta.reanalyze(made_store.path, tmp_path / "processes", executor=executor)
    assert content(tmp_path / "processes") == content(tmp_path / "threads")


@pytest.mark.usefixtures("undrawn")
def test_a_track_that_fails_does_not_stop_the_others(
    made_store: irmeta.Store, tmp_path: Path
) -> None:
    own = overview.OVERVIEW

    def fails(layout, track, settings, folder):
        if track == "passage":
            raise IrmetaError("no passage")
        return own.per_track(layout, track, settings, folder)

    done = run(made_store, tmp_path, replace(own, per_track=fails))
    assert done.failed == (("passage", "track passage: no passage"),)
    tracks = pl.read_parquet(tmp_path / "tracks.parquet")["track"].to_list()
    assert tracks == ["news", "web"]


@pytest.mark.usefixtures("undrawn")
def test_where_every_track_fails_nothing_old_is_left_to_read(
    made_store: irmeta.Store, tmp_path: Path
) -> None:
    run(made_store, tmp_path)
    assert (tmp_path / "report.html").is_file()

    def fails(layout, track, settings, folder):
        raise IrmetaError("nothing works")

    (tmp_path / "notes.txt").write_text("mine")
    newer = replace(overview.OVERVIEW, revision=99, per_track=fails)
    assert len(run(made_store, tmp_path, newer).failed) == 3
    left = [p.name for p in tmp_path.rglob("*") if p.is_file() and ".parts" not in p.parts]
    assert left == ["notes.txt"]


@pytest.mark.usefixtures("undrawn")
def test_a_track_that_left_the_collection_is_in_no_table(collections: Path, tmp_path: Path) -> None:
    shutil.copytree(collections, tmp_path / "in")
    config = tmp_path / "in" / "collection.toml"
    with pytest.warns(irmeta.SetAsideWarning):
        irmeta.reanalyze(tmp_path / "in", tmp_path / "out")
    text = config.read_text()
    start, stop = text.index("[tracks.web]"), text.rindex("[[tracks.web.qrels]]")
    following = text.find("[tracks.", stop + len("[[tracks.web.qrels]]"))
    config.write_text(text[:start] + (text[following:] if following > 0 else ""))
    with pytest.warns(irmeta.SetAsideWarning):
        done = irmeta.reanalyze(tmp_path / "in", tmp_path / "out")
    assert done.batch.unchanged == ("news", "passage")
    assert "web" not in pl.read_parquet(tmp_path / "out" / "means.parquet")["track"].to_list()


@pytest.mark.usefixtures("undrawn")
def test_a_track_may_be_called_as_files_of_ours_are(worked_examples: Path, tmp_path: Path) -> None:
    for name in ("study", "store", "figures"):
        shutil.copytree(worked_examples / "ties", tmp_path / "in" / name)
    done = irmeta.reanalyze(
        tmp_path / "in", tmp_path / "out", measures="AP", tracks=iter(["study"])
    )
    assert done.batch.analysed == ("study",)
    done = irmeta.reanalyze(tmp_path / "in", tmp_path / "out", measures="AP")
    assert (done.batch.analysed, done.batch.unchanged) == (("figures", "store"), ("study",))
    for said in ("{}", "[]", "null"):
        (tmp_path / "out" / ".parts" / "study" / "done.json").write_text(said)
        done = irmeta.reanalyze(tmp_path / "in", tmp_path / "out", measures="AP")
        assert done.batch.analysed == ("study",)


@pytest.mark.usefixtures("undrawn")
def test_a_damaged_part_is_named_and_done_again_when_it_is_gone(
    made_store: irmeta.Store, tmp_path: Path
) -> None:
    run(made_store, tmp_path)
    before = content(tmp_path)
    part = tmp_path / ".parts" / "web" / "means.parquet"
    part.write_bytes(part.read_bytes()[:50])
    with pytest.raises(IrmetaError, match=r"web/means\.parquet: cannot be read .* Remove it"):
        run(made_store, tmp_path)
    part.unlink()
    assert run(made_store, tmp_path).analysed == ("web",)
    assert content(tmp_path) == before
