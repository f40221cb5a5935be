"""Names of the systems of a track: by tag, by file or by pattern, and warnings."""

from __future__ import annotations

import warnings

import polars as pl
import pytest

import irmeta
from irmeta.errors import DataError, IrmetaError, NamesWarning, SkippedRunWarning
from irmeta.store import read_track as reading
from support.ingesting import CONFIG, QRELS, RUN, content, put, states


def tagged(tag: str, doc: str = "a") -> str:
    return f"1 Q0 {doc} 1 1.0 {tag}\n"


ALIKE = {
    "t/runs/input.bm25.gz": tagged("Anserini"),
    "t/runs/input.rm3.gz": tagged("Anserini", "b"),
    "t/runs/input.ql.gz": tagged("other", "c"),
    "t/qrels": QRELS,
}
BY_FILE = ["bm25", "ql", "rm3"]


def names_of(store: irmeta.Store) -> list[str]:
    return store.systems().filter(pl.col("skip_reason").is_null())["system"].to_list()


def test_name_runs__shared_tag_names_all_systems_by_file(tmp_path):
    collection = put(tmp_path / "c", ALIKE)
    with pytest.warns(NamesWarning) as warned:
        store = irmeta.read(collection)
    assert [str(one.message) for one in warned] == [
        "track t: 2 of 3 runs share a tag with another run (such as 'Anserini'): "
        "all systems are named by file"
    ]
    assert names_of(store) == BY_FILE
    assert store.systems()["tag"].to_list() == ["Anserini", "other", "Anserini"]
    assert store.info()["named_by"].item() == "file"
    assert "named by file" in store.info()["notes"].item()


@pytest.mark.parametrize(
    ("names", "systems", "named_by"),
    [
        ("file", BY_FILE, "file"),
        (r"input\.(.*)\.gz", BY_FILE, "pattern"),
        (r"input\.(.*)", ["bm25.gz", "ql.gz", "rm3.gz"], "pattern"),
    ],
)
def test_name_runs__explicit_choice_does_not_warn(tmp_path, names, systems, named_by):
    store = irmeta.read(put(tmp_path / "c", ALIKE), names=names)
    assert names_of(store) == systems
    assert store.info()["named_by"].item() == named_by


def test_name_runs__second_run_of_a_tag_is_skipped(tmp_path):
    with pytest.warns(SkippedRunWarning, match="Name systems by file: `names="):
        store = irmeta.read(put(tmp_path / "c", ALIKE), names="tag")
    assert names_of(store) == ["Anserini", "other"]


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        (r"input\.(b.*)\.gz", "its name does not match the pattern"),
        (r"(input)\..*", "system 'input' is already read from t/runs/input.bm25.gz"),
    ],
)
def test_name_runs__runs_without_a_pattern_match_are_skipped(tmp_path, pattern, problem):
    with pytest.warns(SkippedRunWarning, match="2 runs skipped") as warned:
        store = irmeta.read(put(tmp_path / "c", ALIKE), names=pattern)
    assert problem in str(warned[0].message)
    assert "Change the pattern `names`" in str(warned[0].message)
    assert len(names_of(store)) == 1


@pytest.mark.exhaustive
def test_name_runs__config_sets_names_per_track(tmp_path):
    config = "".join(
        f'[tracks.{n}]\nruns = ["t/runs/*"]\nqrels = "t/qrels"\nnames = "{n}"\n'
        for n in ("auto", "file", "tag")
    )
    collection = put(tmp_path / "c", {**ALIKE, "collection.toml": config})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        store = irmeta.read(collection)
    assert {one.category for one in caught} == {NamesWarning, SkippedRunWarning}
    systems = store.systems().drop_nulls("system").filter(pl.col("skip_reason").is_null())
    assert systems.group_by("track", maintain_order=True).len().rows() == [
        ("auto", 3),
        ("file", 3),
        ("tag", 2),
    ]


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::irmeta.NamesWarning")
def test_name_runs__added_or_removed_run_equals_fresh_ingest(tmp_path, store):
    late = ALIKE.pop("t/runs/input.rm3.gz")
    try:
        collection = put(tmp_path / "c", ALIKE)
    finally:
        ALIKE["t/runs/input.rm3.gz"] = late
    irmeta.ingest(collection, store)
    assert names_of(irmeta.open_store(store)) == ["Anserini", "other"]
    before = content(store)
    put(collection, {"t/runs/input.rm3.gz": late})
    irmeta.ingest(collection, store)
    assert names_of(irmeta.open_store(store)) == BY_FILE
    irmeta.ingest(collection, tmp_path / "fresh")
    assert content(store) == content(tmp_path / "fresh")
    (collection / "t/runs/input.rm3.gz").unlink()
    irmeta.ingest(collection, store)
    assert content(store) == before


@pytest.mark.exhaustive
def test_name_runs__changed_option_reads_track_again(tmp_path, store):
    collection = put(tmp_path / "c", {"t/runs/x.txt": RUN, "t/qrels": QRELS})
    assert names_of(irmeta.ingest(collection, store)) == ["s"]
    assert names_of(irmeta.ingest(collection, tmp_path / "other", names="file")) == ["x"]
    put(collection, {"collection.toml": CONFIG.replace("[tracks.t]", '[tracks.t]\nnames = "file"')})
    (collection / "runs").symlink_to("t/runs")
    (collection / "qrels").symlink_to("t/qrels")
    assert states(collection, store) == {"t": "written"}
    assert names_of(irmeta.open_store(store)) == ["x"]


def test_name_runs__skipped_runs_share_no_tag(tmp_path):
    runs = {"t/runs/a": RUN, "t/runs/b": "9 Q0 a 1 1 s\n", "t/runs/c": "x\n", "t/qrels": QRELS}
    with pytest.warns(SkippedRunWarning) as warned:
        store = irmeta.read(put(tmp_path / "c", runs))
    assert len(warned) == 1
    assert names_of(store) == ["s"]


def test_read_track__slow_pattern_fails_the_track(tmp_path, monkeypatch):
    monkeypatch.setattr("irmeta.trec.system_names.MATCH_SECONDS", 0.05)
    monkeypatch.setattr(reading, "_Runs", None)  # before any run is read
    pattern = r"(?:\\w|[a-z])*([0-9])[A-Z]"
    config = CONFIG.replace("[tracks.t]", f'[tracks.t]\nnames = "{pattern}"')
    files = {f"runs/{'a' * 60}": RUN, "qrels": QRELS, "collection.toml": config}
    with pytest.raises(IrmetaError) as error:
        irmeta.read(put(tmp_path / "c", files))
    assert "track t: " in str(error.value)
    assert "takes too long on this name" in str(error.value)


def test_ingest__broken_track_fails_alone_and_is_listed_in_failures(tmp_path, store):
    files = {"a/runs/s": RUN, "a/qrels": QRELS, "b/runs/s": RUN, "b/qrels1": "", "b/qrels2": ""}
    collection = put(tmp_path / "c", files)
    assert irmeta.read(collection, track="a").tracks == ["a"]
    with pytest.raises(IrmetaError, match=r"^1 of 2 tracks failed. track b: one file named qrels"):
        irmeta.ingest(collection, store)
    opened = irmeta.open_store(store)
    assert opened.tracks == ["a"]
    assert list(opened.failures) == ["b"]
    assert irmeta.ingest(collection, store, track="a").failures == opened.failures
    with pytest.raises(DataError, match="track b: one file named qrels"):
        irmeta.read(collection, track="b")
    (collection / "b/qrels1").unlink()
    put(collection, {"b/qrels2": QRELS})
    assert irmeta.ingest(collection, store).failures == {}
