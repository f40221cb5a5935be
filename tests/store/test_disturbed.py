"""A track that is replaced while it is read, or whose files are damaged: never a mixture."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from making import Track, down

import irmeta
from irmeta.api import reanalyze_tracks
from irmeta.errors import DataError
from irmeta.measures.names import parse_measure
from irmeta.store.layout import Layout
from irmeta.studies.overview import Settings

OLD = Track(
    {s: {q: down("a", "b") for q in ("1", "2")} for s in ("s", "t")},
    {q: {"a": 1, "b": 0} for q in ("1", "2")},
)
NEW = replace(OLD, runs={s: {q: down("b", "a") for q in ("1", "2")} for s in ("s", "u")})
AP = Settings((parse_measure("AP").name,))


@pytest.fixture
def swapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of the old track, in whose place the new one is put at the first look at its runs."""
    store = tmp_path / "store"
    irmeta.ingest(OLD.write(tmp_path / "old"), store, workers=1)
    groups = Layout.groups

    def swap(layout: Layout, track: str):
        monkeypatch.setattr(Layout, "groups", groups)
        irmeta.ingest(NEW.write(tmp_path / "new"), store, workers=1)
        return groups(layout, track)

    monkeypatch.setattr(Layout, "groups", swap)
    return store


@pytest.mark.parametrize(
    "ask",
    [
        lambda store: store.means("AP"),
        lambda store: store.means("AP", system="s"),
        lambda store: store.curve("AP", [1]),
        lambda store: store.search_lengths(),
        lambda store: store.rarity(),
        lambda store: store.explain("AP", system="s", query="1"),
        lambda store: irmeta.SearchLengths(store),
    ],
)
def test_a_track_that_is_replaced_gives_no_mixture(swapped: Path, ask: Callable):
    store = irmeta.open_store(swapped)
    with pytest.raises(DataError, match="track t: was replaced while it was read"):
        ask(store)
    ask(store)


def test_results_of_a_track_that_is_replaced_are_not_kept(swapped: Path, tmp_path: Path):
    done = reanalyze_tracks(swapped, tmp_path / "out", AP, {})
    ((track, said),) = done.batch.failed
    assert (track, "was replaced while it was read" in said) == ("t", True)
    again = reanalyze_tracks(swapped, tmp_path / "out", AP, {})
    assert again.batch.analysed == ("t",)
    assert set(pl.read_parquet(tmp_path / "out" / "means.parquet")["system"]) == {"s", "u"}


@pytest.mark.parametrize("kind", ["runs", "qrels", "systems"])
@pytest.mark.parametrize("damage", [b"", b"PAR1"])
def test_a_damaged_track_is_named_and_the_others_go_on(tmp_path: Path, kind: str, damage: bytes):
    source, place = tmp_path / "in", tmp_path / "store"
    for name in ("a", "b"):
        replace(OLD, name=name).write(source)
    store = irmeta.ingest(source, place)
    (file,) = (place / kind / "a").glob("*.parquet")
    content = file.read_bytes()
    file.write_bytes(damage + os.urandom(len(content) - 2 * len(damage)) + damage)
    done = reanalyze_tracks(place, tmp_path / "out", AP, {})
    ((track, said),) = done.batch.failed
    assert (track, done.batch.analysed) == ("a", ("b",))
    assert "its files in the store cannot be read" in said
    if kind != "systems":
        with pytest.raises(DataError, match="track a: its files in the store cannot be read"):
            store.means("AP")
