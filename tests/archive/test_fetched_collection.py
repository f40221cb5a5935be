"""`collection.toml` and facts of systems, merged with what a user wrote."""

from __future__ import annotations

import tomllib
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.archive.catalog import QrelsChoice
from irmeta.archive.fetch_records import FetchedTrack, merge_collection, merge_systems
from irmeta.trec.collection import read_collection
from irmeta.trec.source import TrackSource

SYSTEMS = pl.DataFrame({"system": ["a", "b"], "group": ["g", None], "type": ["auto, x", "manual"]})
ADHOC = (QrelsChoice("adhoc", ("x",), format="prels"), "t/qrels.adhoc.txt")
DIVERSE = (QrelsChoice("diversity", ("y",), format="subtopics"), "t/qrels.diversity.txt")


def track(*sets: tuple[QrelsChoice, str], name: str = "t") -> FetchedTrack:
    return FetchedTrack(name, (f"{name}/runs",), r"(.+)(?:\.gz)", sets or (ADHOC,), SYSTEMS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files of the track."""
    (tmp_path / "t" / "runs").mkdir(parents=True)
    (tmp_path / "t" / "runs" / "a.gz").touch()
    for _, file in (ADHOC, DIVERSE):
        (tmp_path / file).touch()
    return tmp_path


def table(folder: Path) -> dict:
    return tomllib.loads((folder / "collection.toml").read_text(encoding="utf-8"))["tracks"]


def test_merge_collection__new_file(folder: Path):
    assert merge_collection(folder, [track(ADHOC, DIVERSE)]) == []
    (source,) = read_collection(folder)
    assert isinstance(source, TrackSource)
    assert [(one.name, one.format, one.subtopics) for one in source.qrels] == [
        ("adhoc", "prels", False),
        ("diversity", "trec", True),
    ]
    assert source.policy.names == r"(.+)(?:\.gz)"
    assert source.facts is not None
    facts = (folder / source.facts.file).read_text(encoding="utf-8")
    assert facts == 'system,group,type\na,g,"auto, x"\nb,,manual\n'


def test_merge_collection__again_changes_nothing(folder: Path):
    merge_collection(folder, [track()])
    files = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    merge_collection(folder, [track()])
    assert files == {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_merge_collection__keeps_comments_and_values_of_a_user(folder: Path):
    merge_collection(folder, [track()])
    file = folder / "collection.toml"
    text = "# mine\n" + file.read_text().replace('"(.+)', '"(a.*)') + "pool_depth_by_query = 1 # x"
    file.write_text(text)
    merge_collection(folder, [track(ADHOC, DIVERSE), track(name="u")])
    merged = file.read_text()
    assert merged.startswith(text)
    assert [one["name"] for one in table(folder)["t"]["qrels"]] == ["adhoc", "diversity"]
    assert table(folder)["t"]["names"] == r"(a.*)(?:\.gz)"
    assert set(table(folder)) == {"t", "u"}


def test_merge_collection__adds_facts_to_a_track_of_a_user(folder: Path):
    given = '[tracks.t]\nruns = ["t/runs/*"]\nqrels = "t/qrels.adhoc.txt"\n'
    (folder / "collection.toml").write_text(given)
    assert merge_collection(folder, [track(ADHOC, DIVERSE)]) == []
    assert table(folder)["t"]["qrels"] == "t/qrels.adhoc.txt"
    assert table(folder)["t"]["systems"]["file"] == "t/systems.csv"


def test_merge_collection__table_that_cannot_be_extended(folder: Path):
    given = 'tracks = { t = { runs = ["t/runs/*"], qrels = [{ name = "a", file = "b" }] } }\n'
    (folder / "collection.toml").write_text(given)
    (note,) = merge_collection(folder, [track()])
    assert note.startswith("t: add to collection.toml by hand: [tracks.t.systems] / file = ")
    assert (folder / "collection.toml").read_text() == given


def test_merge_collection__new_file_names_tracks_found_by_convention(folder: Path):
    (folder / "own" / "runs").mkdir(parents=True)
    (folder / "own" / "runs" / "x").touch()
    (folder / "own" / "qrels.txt").touch()
    merge_collection(folder, [track()])
    assert [source.name for source in read_collection(folder)] == ["own", "t"]
    assert table(folder)["own"] == {"runs": ["own/runs/*"], "qrels": "own/qrels.txt"}


def test_merge_collection__malformed_file(folder: Path):
    (folder / "collection.toml").write_text("tracks = [")
    with pytest.raises(irmeta.DataError, match="cannot be read as TOML"):
        merge_collection(folder, [track()])


def test_merge_systems__keeps_rows_and_columns_of_a_user(tmp_path: Path):
    file = tmp_path / "systems.csv"
    file.write_text("system,group,mine\nb,other,1\n")
    merge_systems(file, SYSTEMS)
    assert file.read_text() == "system,group,mine\nb,other,1\na,g,\n"
    file.write_text("name,group\n")
    with pytest.raises(irmeta.DataError, match="has no column 'system'"):
        merge_systems(file, SYSTEMS)
