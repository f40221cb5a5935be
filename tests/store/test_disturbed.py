"""Tracks replaced while they are read, and tracks with damaged files."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import polars as pl
import pytest

import irmeta
from irmeta.api.jobs import Reanalysis, reanalyze_tracks
from irmeta.errors import DataError
from irmeta.store.layout import FolderTrack
from irmeta.store.scan import StoredTrack, undisturbed
from irmeta.studies.framework import recorded_files as files
from irmeta.studies.framework import runner
from irmeta.studies.framework.study import RunOptions
from support.making import Track, down

OLD = Track(
    {s: {q: down("a", "b") for q in ("1", "2")} for s in ("s", "t")},
    {q: {"a": 1, "b": 0} for q in ("1", "2")},
)
NEW = replace(OLD, runs={s: {q: down("b", "a") for q in ("1", "2")} for s in ("s", "u")})


def reanalyzed(store: Path, out: Path) -> Reanalysis:
    return reanalyze_tracks(store, out, {"measures": ("AP",)}, {}, RunOptions())


pytestmark = [pytest.mark.exhaustive, pytest.mark.usefixtures("undrawn")]


@pytest.fixture
def swapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a store whose track is replaced when its runs are first read."""
    store = tmp_path / "store"
    irmeta.ingest(OLD.write(tmp_path / "old"), store, workers=1)
    groups = FolderTrack.groups

    def swap(track: FolderTrack):
        monkeypatch.setattr(FolderTrack, "groups", groups)
        irmeta.ingest(NEW.write(tmp_path / "new"), store, workers=1)
        return groups(track)

    monkeypatch.setattr(FolderTrack, "groups", swap)
    return store


@pytest.mark.parametrize(
    "ask",
    [
        lambda store: store.means("AP"),
        lambda store: store.means("AP", system="s"),
        lambda store: store.curve("AP", [1]),
        lambda store: store.per_doc.search_lengths(),
        lambda store: store.per_doc.rarity(),
        lambda store: store.explain("AP", system="s", query="1"),
        lambda store: irmeta.SearchLengths(store),
    ],
)
def test_store__track_replaced_while_read_is_an_error(swapped: Path, ask: Callable):
    store = irmeta.open_store(swapped)
    with pytest.raises(DataError, match="track t: was replaced while it was read"):
        ask(store)
    ask(store)


def test_reanalyze__results_of_replaced_track_are_not_kept(swapped: Path, tmp_path: Path):
    done = reanalyzed(swapped, tmp_path / "out")
    ((track, said),) = done.batch.failed
    assert (track, "was replaced while it was read" in said) == ("t", True)
    again = reanalyzed(swapped, tmp_path / "out")
    assert again.batch.analysed == ("t",)
    assert set(pl.read_parquet(tmp_path / "out" / "means.parquet")["system"]) == {"s", "u"}


def test_undisturbed__reports_replacement_instead_of_missing_files(tmp_path: Path, monkeypatch):
    """Files of the old track are missing while an ingest moves those of the new into place."""
    place = tmp_path / "store"
    store = irmeta.ingest(OLD.write(tmp_path / "old"), place, workers=1)

    def gap(track: FolderTrack):
        track.store.mark_replaced(track.name)
        raise DataError("its Parquet files are missing")

    monkeypatch.setattr(FolderTrack, "groups", gap)
    with pytest.raises(DataError, match="track t: was replaced while it was read"):
        store.means("AP")


@pytest.mark.parametrize("current", [True, False])
def test_undisturbed__reraises_errors(current: bool):
    """The error is raised whether or not the track was replaced."""

    class Stored:
        name = "t"

        def is_current(self) -> bool:
            return current

    with pytest.raises((DataError, OSError)), undisturbed(cast(StoredTrack, Stored())):
        raise OSError("gone")


def test_reanalyze__write_error_is_not_blamed_on_the_store(tmp_path: Path, monkeypatch):
    """The message for damaged files would advise the user to remove them."""
    place = tmp_path / "store"
    irmeta.ingest(OLD.write(tmp_path / "old"), place, workers=1)

    real = files.write_bytes

    def full(*arguments):
        raise OSError(28, "No space left on device")

    def full_of_figures(path: Path, data: bytes):
        return real(path, data) if path.suffix == ".json" else full()

    monkeypatch.setattr(files, "write_bytes", full_of_figures)
    done = reanalyzed(place, tmp_path / "out")
    ((_, said),) = done.batch.failed
    assert said.startswith("track t: a file cannot be read or written ([Errno 28]")
    monkeypatch.setattr(files, "write_bytes", real)
    monkeypatch.setattr(runner, "write_page", full)
    with pytest.raises(OSError, match="No space left"):
        reanalyzed(place, tmp_path / "out")


def test_reanalyze__track_replaced_before_combining_is_an_error(tmp_path: Path, monkeypatch):
    """An ingest runs between the last track and the combined tables."""
    place = tmp_path / "store"
    irmeta.ingest(OLD.write(tmp_path / "old"), place, workers=1)
    join = runner._join

    def swap(*arguments):
        irmeta.ingest(NEW.write(tmp_path / "new"), place, workers=1)
        join(*arguments)

    monkeypatch.setattr(runner, "_join", swap)
    with pytest.raises(DataError, match="track t: was replaced during the run"):
        reanalyzed(place, tmp_path / "out")
    assert not (tmp_path / "out" / "means.parquet").exists()


def test_reanalyze__damaged_record_fails_its_track_only(tmp_path: Path):
    place = tmp_path / "store"
    for name in ("a", "b"):
        replace(OLD, name=name).write(tmp_path / "in")
    irmeta.ingest(tmp_path / "in", place)
    (place / "tracks" / "a.json").write_text("{")
    done = reanalyzed(place, tmp_path / "out")
    ((track, said),) = done.batch.failed
    assert (track, done.batch.analysed) == ("a", ("b",))
    assert said.startswith("track a: ")


@pytest.mark.parametrize("kind", ["runs", "qrels", "systems"])
@pytest.mark.parametrize("damage", [b"", b"PAR1"])
def test_reanalyze__damaged_table_fails_its_track_only(tmp_path: Path, kind: str, damage: bytes):
    source, place = tmp_path / "in", tmp_path / "store"
    for name in ("a", "b"):
        replace(OLD, name=name).write(source)
    store = irmeta.ingest(source, place)
    (file,) = (place / kind / "a").glob("*.parquet")
    content = file.read_bytes()
    file.write_bytes(damage + os.urandom(len(content) - 2 * len(damage)) + damage)
    done = reanalyzed(place, tmp_path / "out")
    ((track, said),) = done.batch.failed
    assert (track, done.batch.analysed) == ("a", ("b",))
    assert "its files in the store cannot be read" in said
    if kind != "systems":
        with pytest.raises(DataError, match="track a: its files in the store cannot be read"):
            store.means("AP")
