"""Systems of a track: names by tag, file or pattern, and properties of their runs."""

from __future__ import annotations

import warnings

import polars as pl
import pytest

import irmeta
from irmeta.errors import DataError, IrmetaError, NamesWarning, SkippedRunWarning
from irmeta.store import read_track as reading
from support.ingesting import CONFIG, QRELS, RUN, content, put, states
from support.making import read_text
from twins import measures as naive


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


def noticed(made_store: irmeta.Store, column: str) -> dict[str, int]:
    kept = made_store.systems().filter(pl.col("skip_reason").is_null())
    return dict(kept.filter(pl.col(column) > 0).select("system", column).iter_rows())


def test_systems__missing_and_unjudged_queries_of_synthetic_runs(made_store):
    missing = {"birchDep": 1, "doumAuto": 2, "grebeAnchor": 2, "ibisBase": 1, "merlDense": 1}
    assert noticed(made_store, "missing_queries") == missing
    assert noticed(made_store, "unjudged_queries") == {"grebeQL": 1}
    assert noticed(made_store, "duplicates") == noticed(made_store, "malformed") == {}
    found = made_store.runs().filter(query="399").select("system").unique().collect()
    assert found["system"].to_list() == ["grebeQL"]


def test_systems__depths_and_short_lists_of_synthetic_runs(made_store):
    deepest = noticed(made_store, "deepest_rank")
    shallow = {"doumMan1": 60, "elmBase": 100, "ibisMan": 40, "merlTiny": 50}
    assert {name: deepest[name] for name in shallow} == shallow
    lengths = made_store.runs().group_by("track", "system", "query").len().collect()
    short = lengths.filter(pl.col("len") < pl.col("len").max().over("system"))
    assert sorted(short.select("system", "query", "len").rows()) == [
        ("cedarBool", "903", 17),
        ("cedarBool", "909", 4),
        ("cedarBool", "914", 140),
        ("cedarBool", "921", 9),
        ("doumMan1", "904", 25),
        ("doumMan1", "907", 13),
        ("doumMan1", "912", 12),
        ("doumMan1", "923", 18),
        ("heronCat", "305", 15),
        ("heronCat", "317", 7),
        ("larkDoc2q", "130510", 11),
    ]
    only_relevant = made_store.runs("news").filter(system="doumMan1", query="907").collect()
    assert only_relevant["grade"].to_list() == [1] * 13


def test_systems__tied_rows_of_synthetic_runs(made_store):
    systems = made_store.systems().filter(pl.col("rows") > 0)
    share = dict(systems.select("system", pl.col("tied_rows") / pl.col("rows")).iter_rows())
    tied = "aldBM25 aldDFR aldTitle cedarVec cedarLSI cedarRoc doumAuto doumExp heronCat kestBM25"
    for system in (*tied.split(), "larkSplade"):
        assert 0.145 < share[system] < 0.295, system
    assert round(share["cedarBool"], 2) == 0.95
    assert round(share["merlDense"], 2) == 0.19  # as float32


def test_systems__notes_on_ranks_of_synthetic_runs(made_store):
    lowest = made_store.runs().group_by("system").agg(pl.col("rank_given").min()).collect()
    from_0 = lowest.filter(rank_given=0)["system"].sort().to_list()
    assert from_0 == ["aldDesc", "birchRM3", "heronQE", "kestBM25p", "merlTiny"]
    notes = made_store.systems().drop_nulls("notes").select("system", "notes").rows()
    assert dict(notes) == {
        "cedarFuse": "the rank column disagrees with the scores in 25 lists",
        "finchDiv": "the rank column disagrees with the scores in 20 lists",
    }


@pytest.mark.real
def test_info__real_tracks_are_complete(real_store):
    facts = real_store.info().select("track", "systems", "skipped_runs", "rows", "deepest_rank")
    assert facts.rows() == [
        ("clef-ehealth-2015", 35, 0, 2_323_331, 1000),
        ("clef-tar-2017", 6, 0, 409_803, 12_803),
        ("legaldiv", 16, 0, 163_253, 37),
        ("robust-2003", 17, 0, 1_510_973, 1000),
        ("trec-covid-r1", 143, 0, 3_509_493, 1000),
        ("web-2012", 8, 0, 259_144, 1000),
    ]
    covid = real_store.runs("trec-covid-r1").group_by("system")
    assert covid.agg(pl.col("rank_given").min()).filter(rank_given=0).collect().height == 30
    assert real_store.systems("trec-covid-r1")["pooled"].sum() == 56
    commas = real_store.systems("legaldiv")["notes"].to_list()
    assert all(note.startswith("decimal comma in ") for note in commas)


@pytest.mark.real
@pytest.mark.parametrize("track", ["legaldiv", "web-2012"])
def test_runs__real_run_equals_naive_reader(real_store, shared, track):
    for system, file in real_store.systems(track).select("system", "file").iter_rows():
        lines = naive.read_run(read_text(shared / "tracks" / file).replace(",", "."))
        rows = real_store.runs(track).filter(system=system).sort("position")
        found = rows.select("query", "doc", "rank_given", "score").collect().rows()
        assert found == [line[:4] for line in lines]
