"""Properties of each run in the systems table."""

import polars as pl
import pytest

import irmeta
from support.ingesting import CONFIG, FACTS, QRELS, RUN, put
from support.making import read_text
from twins import measures as naive


def test_systems__has_system_facts(tmp_path, store):
    facts = "run,team,kind,p\ns,alpha,auto,yes\ngone,x,x,no\n"
    collection = put(
        tmp_path / "c",
        {"runs/s": RUN, "runs/u": RUN.replace(" s\n", " u\n"), "qrels": QRELS}
        | {"f.csv": facts, "collection.toml": CONFIG + FACTS},
    )
    systems = irmeta.ingest(collection, store).systems()
    assert systems.select("system", "group", "type", "pooled", "notes").rows() == [
        ("s", "alpha", "auto", True, None),
        ("u", None, None, None, "not among the track's system facts"),
    ]


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


def test_systems__unreadable_synthetic_run_is_skipped(made_store):
    aside = made_store.systems().drop_nulls("skip_reason")
    assert aside.select("track", "file", "system").rows() == [
        ("passage", "passage/runs/nuthFirst.txt", None)
    ]
    problem = "line 611: 4 fields where a run has six: '443396 Q0 4505079 51'"
    assert aside["skip_reason"].item().startswith(f"passage/runs/nuthFirst.txt, {problem}")
    assert made_store.info().select("track", "systems", "skipped_runs", "queries").rows() == [
        ("news", 20, 0, 25),
        ("passage", 9, 1, 15),
        ("web", 12, 0, 20),
    ]


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
