"""Text to the store: bad runs set aside, nothing read twice, nothing half-written."""

import gzip
import os
import shutil
from pathlib import Path
from typing import get_args

import naive
import polars as pl
import pytest
from making import read_text

import irmeta
from irmeta.errors import DataError, IrmetaError, SetAsideWarning, UsageError
from irmeta.policies import ReadPolicy, TieOrder
from irmeta.store import ingest as room
from irmeta.store.ingest import Outcome, ingest_collection
from irmeta.store.layout import FOLDERS, Layout
from irmeta.store.lock import only_writer

RUN = "1 Q0 a 1 2.0 s\n1 Q0 b 2 1.0 s\n2 Q0 a 1 3.0 s\n"
QRELS = "1 0 a 1\n1 0 c 0\n2 0 z 2\n"
TWO = {"a/runs/s": RUN, "a/qrels": QRELS, "b/runs/s": RUN, "b/qrels": QRELS}


def put(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        raw = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(raw)
    return folder


def outcomes(collection: Path, store: Path, **policy) -> list[Outcome]:
    return ingest_collection(collection, Layout(store), ReadPolicy(**policy))


def states(collection: Path, store: Path) -> dict[str, str]:
    return {o.track: o.state for o in outcomes(collection, store)}


def touched(store: Path, *, but: str = "-") -> dict[str, tuple[int, int]]:
    """What tells whether a file of the store was written again."""
    files = [path for path in store.rglob("*") if path.is_file()]
    facts = {str(p.relative_to(store)): (p.stat().st_ino, p.stat().st_mtime_ns) for p in files}
    return {name: fact for name, fact in facts.items() if name not in (".lock", but)}


def content(store: Path) -> dict[str, bytes]:
    """Every file of the store that readers see."""
    kept = [store / "manifest.json"]
    kept += [p for kind in (*FOLDERS, "tracks") for p in (store / kind).rglob("*") if p.is_file()]
    return {str(path.relative_to(store)): path.read_bytes() for path in kept}


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A collection of the tracks a and b."""
    return put(tmp_path / "two", TWO)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


# What can be wrong with a run


BAD_RUNS = {
    "malformed": ("1 Q0 a 1\n", "line 1: 4 fields where a run has six: '1 Q0 a 1'"),
    "nan": ("1 Q0 a 1 nan n\n", "line 1: field 5 (the score) is not a finite number: 'nan'"),
    "empty": ("", "is empty"),
    "comments": ("# nothing\n", "holds no result"),
    "nul": ("1 Q0 a 1 2 \0\n", "line 1: NUL byte"),
    "cut.gz": (gzip.compress(RUN.encode())[:-9], "compressed data cannot be read"),
    "damaged.gz": (gzip.compress(RUN.encode() * 99)[:12] + b"\xff" * 99, "compressed data cannot"),
    "long": ("1 Q0 a 1 2 " + "x" * (2 << 20), "line 1: a line of 2,097,163 bytes"),
    "twice": ("1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n", "line 2: query 1 has doc a a second time, first in"),
    "namesake": (RUN, "system 's' is already read from t/runs/a-good. Name systems by file"),
    "unjudged": ("9 Q0 a 1 2 u\n", "none of its queries is judged. Are these the runs of another"),
    "folder/x": (RUN, "is a directory, not a file"),
}


@pytest.mark.parametrize("file", BAD_RUNS)
def test_a_bad_run_is_set_aside_with_its_reason_and_the_rest_goes_on(tmp_path, store, file):
    bad, reason = BAD_RUNS[file]
    files = {"t/runs/a-good": RUN, f"t/runs/{file}": bad, "t/qrels": QRELS}
    with pytest.warns(SetAsideWarning, match=r"^1 runs? set aside: t/runs/"):
        opened = irmeta.ingest(put(tmp_path / "c", files), store)
    name = file.split("/")[0]
    systems = opened.systems()
    (aside,) = systems.filter(pl.col("set_aside").is_not_null()).iter_rows(named=True)
    assert aside["file"] == f"t/runs/{name}"
    assert aside["set_aside"].startswith(f"t/runs/{name}")
    assert reason in aside["set_aside"]
    assert len(aside["set_aside"]) < 300
    assert "\n" not in aside["set_aside"]
    assert (aside["rows"], aside["lists"]) == (0, 0)
    assert systems.filter(pl.col("set_aside").is_null())["system"].to_list() == ["s"]
    assert opened.info().select("systems", "set_aside", "rows").row(0) == (1, 1, 3)
    assert opened.runs().collect().height == 3
    assert opened.means("AP")["system"].to_list() == ["s"]


def test_a_file_that_is_not_there_is_set_aside(tmp_path, store):
    collection = put(tmp_path / "c", {"t/runs/s": RUN, "t/qrels": QRELS})
    (collection / "t/runs/gone").symlink_to(tmp_path / "nowhere")
    with pytest.warns(SetAsideWarning, match=r"t/runs/gone: cannot be read .No such file"):
        assert irmeta.ingest(collection, store).info()["set_aside"].item() == 1


@pytest.mark.parametrize("renamed", ["a/runs/s", "a/qrels"])
def test_a_file_name_that_is_not_utf8_does_not_stop_the_batch(two, store, renamed):
    if renamed == "a/runs/s":
        put(two, {"a/runs/other": RUN.replace(" s\n", " other\n")})
    other = os.fsdecode((two / renamed).parent.as_posix().encode() + b"/qrels\xe9")
    (two / renamed).rename(other)
    for again in ("written", "unchanged"):
        assert states(two, store)["b"] == again
    assert "b" in irmeta.open_store(store).tracks


def test_a_folder_name_that_is_not_utf8_is_one_clear_error(two, store):
    (two / "a").rename(two / os.fsdecode(b"\xe9"))
    with pytest.raises(IrmetaError, match="UTF-8"):
        irmeta.ingest(two, store)


def test_a_track_name_too_long_for_a_folder_is_one_clear_error(tmp_path, store):
    track = "t" * 300
    config = CONFIG.replace("[tracks.t]", f"[tracks.{track}]")
    collection = put(tmp_path / "c", {"runs/s": RUN, "qrels": QRELS, "collection.toml": config})
    with pytest.raises(IrmetaError, match=track[:60]):
        irmeta.ingest(collection, store)


def test_the_first_of_several_namesakes_is_kept_whatever_the_workers(tmp_path, store):
    runs = {f"t/runs/{i:02}": f"1 Q0 d{i} 1 1 same\n" for i in range(30)}
    collection = put(tmp_path / "c", {**runs, "t/qrels": QRELS})
    ingest_collection(collection, Layout(store), ReadPolicy(), workers=8)
    opened = irmeta.open_store(store)
    assert opened.runs().collect()["doc"].to_list() == ["d0"]
    assert opened.info()["set_aside"].item() == 29


def test_a_track_without_a_usable_run_fails_with_the_first_reason(tmp_path, store):
    collection = put(tmp_path / "c", {"t/runs/s": "x\n", "t/runs/t": "", "t/qrels": QRELS})
    (outcome,) = outcomes(collection, store)
    assert outcome.state == "failed"
    assert str(outcome.error).startswith("track t: none of its 2 runs can be used. The first: t/ru")
    assert irmeta.open_store(store).tracks == []


def test_a_failed_track_raises_after_the_others_are_done(two, store):
    put(two, {"a/qrels": "1 0 a one\n"})
    with pytest.raises(IrmetaError, match=r"^1 of 2 tracks failed. track a: a/qrels, line 1"):
        irmeta.ingest(two, store)
    assert irmeta.open_store(store).tracks == ["b"]


def test_a_reader_is_told_how_far_reading_is(two, store):
    put(two, {"a/runs/t": RUN.replace(" s\n", " t\n")})
    said = []
    ingest_collection(
        two, Layout(store), ReadPolicy(), workers=2, progress=lambda *step: said.append(step)
    )
    assert said == [("a", 0, 2), ("a", 1, 2), ("a", 2, 2), ("b", 0, 1), ("b", 1, 1)]


# What was noticed


FACTS = 'systems = { file = "f.csv", name = "run", group = "team", type = "kind", pooled = "p" }\n'
CONFIG = '[tracks.t]\nruns = ["runs/*"]\nqrels = "qrels"\n'


def test_facts_about_systems_are_in_their_table(tmp_path, store):
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
    kept = made_store.systems().filter(pl.col("set_aside").is_null())
    return dict(kept.filter(pl.col(column) > 0).select("system", column).iter_rows())


def test_missing_and_unjudged_queries_of_the_made_runs(made_store):
    missing = {"birchDep": 1, "doumAuto": 2, "grebeAnchor": 2, "ibisBase": 1, "merlDense": 1}
    assert noticed(made_store, "missing_queries") == missing
    assert noticed(made_store, "unjudged_queries") == {"grebeQL": 1}
    assert noticed(made_store, "duplicates") == noticed(made_store, "malformed") == {}
    found = made_store.runs().filter(query="399").select("system").unique().collect()
    assert found["system"].to_list() == ["grebeQL"]


def test_depths_and_short_lists_of_the_made_runs(made_store):
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


def test_ties_of_the_made_runs(made_store):
    systems = made_store.systems().filter(pl.col("rows") > 0)
    share = dict(systems.select("system", pl.col("tied_rows") / pl.col("rows")).iter_rows())
    tied = "aldBM25 aldDFR aldTitle cedarVec cedarLSI cedarRoc doumAuto doumExp heronCat kestBM25"
    for system in (*tied.split(), "larkSplade"):
        assert 0.145 < share[system] < 0.295, system
    assert round(share["cedarBool"], 2) == 0.95
    assert round(share["merlDense"], 2) == 0.19  # as float32


def test_ranks_from_0_and_ranks_against_the_scores_of_the_made_runs(made_store):
    lowest = made_store.runs().group_by("system").agg(pl.col("rank_given").min()).collect()
    from_0 = lowest.filter(rank_given=0)["system"].sort().to_list()
    assert from_0 == ["aldDesc", "birchRM3", "heronQE", "kestBM25p", "merlTiny"]
    notes = made_store.systems().drop_nulls("notes").select("system", "notes").rows()
    assert dict(notes) == {
        "cedarFuse": "the rank column disagrees with the scores in 25 lists",
        "finchDiv": "the rank column disagrees with the scores in 20 lists",
    }


def test_the_unreadable_made_run_is_set_aside(made_store):
    aside = made_store.systems().drop_nulls("set_aside")
    assert aside.select("track", "file", "system").rows() == [
        ("passage", "passage/runs/nuthFirst.txt", None)
    ]
    problem = "line 611: 4 fields where a run has six: '443396 Q0 4505079 51'"
    assert aside["set_aside"].item().startswith(f"passage/runs/nuthFirst.txt, {problem}")
    assert made_store.info().select("track", "systems", "set_aside", "queries").rows() == [
        ("news", 20, 0, 25),
        ("passage", 9, 1, 15),
        ("web", 12, 0, 20),
    ]


@pytest.mark.real
def test_the_real_tracks_are_read_whole(real_store):
    facts = real_store.info().select("track", "systems", "set_aside", "rows", "deepest_rank")
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
def test_nothing_in_a_real_run_is_lost(real_store, shared, track):
    for system, file in real_store.systems(track).select("system", "file").iter_rows():
        lines = naive.read_run(read_text(shared / "tracks" / file).replace(",", "."))
        rows = real_store.runs(track).filter(system=system).sort("position")
        found = rows.select("query", "doc", "rank_given", "score").collect().rows()
        assert found == [line[:4] for line in lines]


# How runs become lists


def test_the_greatest_grade_serves_only_where_all_judgments_are_of_subtopics(tmp_path, store):
    qrels = "1 1 a 0\n1 2 a 2\n1 3 a 1\n1 1 b -2\n1 2 b -1\n2 1 z 1\n"
    runs = "1 Q0 a 1 3 s\n1 Q0 b 2 2 s\n1 Q0 c 3 1 s\n"
    sets = {
        "only": '[{ name = "div", file = "div", subtopics = true }]',
        "second": '[{ name = "adhoc", file = "adhoc" },'
        ' { name = "div", file = "div", subtopics = true }]',
    }
    config = "".join(f'[tracks.{t}]\nruns = ["r"]\nqrels = {q}\n' for t, q in sets.items())
    files = {"r": runs, "div": qrels, "adhoc": "1 0 a 1\n1 0 y 1\n", "collection.toml": config}
    opened = irmeta.ingest(put(tmp_path / "c", files), store)
    assert opened.runs("only").collect()["grade"].to_list() == [2, -1, None]
    assert opened.runs("second").collect()["grade"].to_list() == [1, None, None]
    judged = opened.qrels("second").filter(query="1").select("doc", "doc_id").unique().collect()
    assert sorted(judged.rows()) == [("a", 0), ("b", 1), ("y", 2)]


def passage_alone(collections: Path, tmp_path: Path, **keys: str) -> Path:
    """The made passage track without its unreadable run, its collection.toml with more keys."""
    folder = tmp_path / "passage"
    folder.mkdir()
    (folder / "qrels").symlink_to(collections / "passage" / "qrels.txt")
    (folder / "runs").mkdir()
    for run in (collections / "passage" / "runs").iterdir():
        if run.name != "nuthFirst.txt":
            (folder / "runs" / run.name).symlink_to(run)
    more = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return put(folder, {"collection.toml": CONFIG + more})


def naive_lists(collections: Path, order: str) -> dict[tuple[str, str], list[str]]:
    lists: dict[tuple[str, str], list[tuple]] = {}
    for path in (collections / "passage" / "runs").iterdir():
        if path.name != "nuthFirst.txt":
            for query, doc, rank, score, tag in naive.read_run(read_text(path)):
                lists.setdefault((tag, query), []).append((doc, score, rank))
    return {key: naive.order(rows, order) for key, rows in lists.items()}


def stored_lists(store: irmeta.Store) -> dict[tuple[str, str], list[str]]:
    lists: dict[tuple[str, str], list[str]] = {}
    runs = store.runs().sort("system", "query", "rank").select("system", "query", "doc")
    for system, query, doc in runs.collect().iter_rows():
        lists.setdefault((system, query), []).append(doc)
    return lists


@pytest.mark.parametrize("depth", [None, 7])
@pytest.mark.parametrize("order", get_args(TieOrder))
def test_lists_are_in_the_tie_order_and_cut_after_it(collections, tmp_path, store, order, depth):
    opened = irmeta.ingest(
        passage_alone(collections, tmp_path), store, tie_order=order, depth=depth
    )
    expected = naive_lists(collections, order)
    assert stored_lists(opened) == {key: docs[:depth] for key, docs in expected.items()}
    assert opened.info()["tie_order"].item() == order
    assert opened.info()["deepest_rank"].item() == (depth or 200)


def test_a_tracks_own_tie_order_and_depth_come_before_the_stores(collections, tmp_path, store):
    collection = passage_alone(collections, tmp_path, tie_order='"file"', depth="3")
    opened = irmeta.ingest(collection, store, tie_order="rank", depth=9)
    expected = naive_lists(collections, "file")
    assert stored_lists(opened) == {key: docs[:3] for key, docs in expected.items()}


def test_queries_systems_and_docs_are_sorted_by_their_bytes(tmp_path, store):
    names = ["é", "b", "B", "10", "9", "a"]
    lines = [f"{query} Q0 {doc} 1 1" for query in names for doc in names]
    runs = {f"t/runs/{i}": "".join(f"{x} {s}\n" for x in lines) for i, s in enumerate(names)}
    qrels = "".join(f"{query} 0 9 0\n" for query in names)
    opened = irmeta.ingest(put(tmp_path / "c", {**runs, "t/qrels": qrels}), store)
    ordered = ["10", "9", "B", "a", "b", "é"]
    assert opened.systems()["system"].to_list() == ordered
    rows = opened.runs().select("query", "system", "doc").collect().rows()
    assert rows == [(q, s, d) for q in ordered for s in ordered for d in ordered[::-1]]
    docs = opened.docs().filter(query="a").collect()["doc"].to_list()
    assert docs == ["9", "10", "B", "a", "b", "é"]  # the judged one first


def test_order_by_rank_sets_runs_without_whole_ranks_aside(tmp_path, store):
    runs = {"t/runs/s": RUN, "t/runs/x": "1 Q0 a first 2 x\n", "t/qrels": QRELS}
    with pytest.warns(SetAsideWarning, match="t/runs/x: tie order `rank`, but some ranks are not"):
        opened = irmeta.ingest(put(tmp_path / "c", runs), store, tie_order="rank")
    assert opened.systems().drop_nulls("set_aside")["system"].to_list() == ["x"]


def test_the_first_of_duplicate_lines_is_kept_on_request(tmp_path, store):
    run = "1 Q0 a 1 1 s\n1 Q0 b 2 5 s\n2 Q0 a 1 9 s\n1 Q0 a 3 7 s\n1 Q0 c 4 0 s\n1 Q0 a 9 8 s\n"
    collection = put(tmp_path / "c", {"t/runs/s": run, "t/qrels": QRELS})
    opened = irmeta.ingest(collection, store, duplicates="first")
    rows = opened.runs().select("query", "doc", "rank", "score", "position").collect().rows()
    assert rows == [
        ("1", "b", 1, 5.0, 2),
        ("1", "a", 2, 1.0, 1),
        ("1", "c", 3, 0.0, 5),
        ("2", "a", 1, 9.0, 3),
    ]
    assert opened.systems().select("rows", "duplicates").row(0) == (4, 2)


def test_malformed_lines_are_dropped_and_counted_on_request(tmp_path, store):
    collection = put(tmp_path / "c", {"t/runs/s": RUN + "1 Q0\n1 Q0 c 3 x s\n", "t/qrels": QRELS})
    opened = irmeta.ingest(collection, store, malformed="skip")
    assert opened.systems().select("rows", "malformed", "notes").row(0) == (
        3,
        2,
        "2 malformed lines dropped",
    )


# Once, whole, and always the same


def test_a_second_ingest_touches_nothing(made_store, collections, tmp_path):
    copy = tmp_path / "store"
    shutil.copytree(made_store.path, copy)
    before = touched(copy)
    assert set(states(collections, copy).values()) == {"unchanged"}
    assert touched(copy) == before


def test_unchanged_input_is_not_even_opened(two, store, monkeypatch):
    states(two, store)
    for name in ("read_text", "read_run", "sha256_of"):
        monkeypatch.delattr(room, name)
    assert states(two, store) == {"a": "unchanged", "b": "unchanged"}


def test_a_touched_file_of_equal_content_is_not_ingested_again(two, store):
    states(two, store)
    before = touched(store, but=".cache.json")
    os.utime(two / "a/runs/s", ns=(1, 1))
    os.utime(two / "b/qrels", ns=(1, 1))
    assert states(two, store) == {"a": "unchanged", "b": "unchanged"}
    assert touched(store, but=".cache.json") == before


@pytest.mark.parametrize("lost", [None, b"", b'{"a"'])
def test_a_lost_or_damaged_cache_does_no_harm(two, store, lost):
    states(two, store)
    before = touched(store, but=".cache.json")
    (store / ".cache.json").unlink()
    if lost is not None:
        (store / ".cache.json").write_bytes(lost)
    assert states(two, store) == {"a": "unchanged", "b": "unchanged"}
    assert touched(store, but=".cache.json") == before


CONFIGURED = {
    "a/r": RUN,
    "b/r": RUN,
    "b/u": RUN.replace(" s\n", " u\n"),
    "b/f.csv": "run,team,kind,p\ns,x,x,no\nu,x,x,no\n",
    "q": QRELS,
    "collection.toml": '[tracks.a]\nruns = ["a/*"]\nqrels = "q"\n[tracks.b]\nruns = ["b/[ru]"]\n'
    + 'qrels = [{ name = "one", file = "b/q" }]\n'
    + FACTS.replace("f.csv", "b/f.csv"),
    "b/q": QRELS,
}


@pytest.mark.parametrize(
    "change",
    [
        {"b/r": RUN.replace("2.0", "0.5")},
        {"b/r": RUN[:-1]},
        {"b/r": "x\n"},
        {"b/q": QRELS.replace("1 0 c 0", "1 0 c 1")},
        {"b/f.csv": "run,team,kind,p\ns,x,x,yes\nu,x,x,no\n"},
        {"b/u": None},
        {"collection.toml": CONFIGURED["collection.toml"].replace("[ru]", "r")},
        {"collection.toml": CONFIGURED["collection.toml"].replace('"one"', '"two"')},
        {"collection.toml": CONFIGURED["collection.toml"] + 'tie_order = "file"\n'},
        {"collection.toml": CONFIGURED["collection.toml"] + "depth = 1\n"},
    ],
)
def test_a_change_brings_only_its_own_track_up_to_date(tmp_path, store, change):
    collection = put(tmp_path / "c", CONFIGURED)
    assert states(collection, store) == {"a": "written", "b": "written"}
    before = {name: fact for name, fact in touched(store).items() if "/a" in name}
    assert before
    old = content(store)
    put(collection, {name: new for name, new in change.items() if new is not None})
    for name, new in change.items():
        if new is None:
            (collection / name).unlink()
    assert states(collection, store) == {"a": "unchanged", "b": "written"}
    assert {name: fact for name, fact in touched(store).items() if "/a" in name} == before
    states(collection, tmp_path / "anew")
    assert content(store) == content(tmp_path / "anew")
    assert content(store) != old


def test_a_file_that_changes_while_it_is_read_is_read_again_next_time(two, store):
    def edit(track: str, done: int, files: int) -> None:
        if track == "a" and done == files:  # it is read, and the track not yet written
            (two / "a/runs/s").write_text(RUN.replace("1 Q0 b", "1 Q0 c"))

    ingest_collection(two, Layout(store), ReadPolicy(), workers=1, progress=edit)
    assert states(two, store) == {"a": "written", "b": "unchanged"}
    assert "c" in irmeta.open_store(store).runs("a").collect()["doc"].to_list()


def test_tracks_that_the_collection_does_not_name_are_left_alone(two, store):
    states(two, store)
    shutil.rmtree(two / "a")
    assert states(two, store) == {"b": "unchanged"}
    assert irmeta.open_store(store).tracks == ["a", "b"]


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_a_store_is_the_same_bytes_whatever_the_workers_and_wherever_it_lies(
    made_store, collections, tmp_path, workers
):
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(collections, elsewhere, copy_function=shutil.copyfile)  # other times
    with pytest.warns(SetAsideWarning):
        again = irmeta.ingest(elsewhere, tmp_path / "deep" / "store", workers=workers)
    assert content(again.path) == content(made_store.path)
    assert again.fingerprint == made_store.fingerprint


WRITERS = ["read_text", "write_qrels", "write_docs_and_runs", "write_systems"]
MOVES = [*FOLDERS, "tracks"]


def kill_at(monkeypatch: pytest.MonkeyPatch, point: str, track: str) -> None:
    """Have Ctrl-C pressed when work on `track` comes to `point`: a writer, or a move into place."""
    replace, writer = os.replace, getattr(room, point, None)

    def write(place, named, *rest):  # every writer is told the track, or a file in it
        if named.split("/")[0] == track:
            raise KeyboardInterrupt
        return writer(place, named, *rest)

    def move(source, target):
        if (Path(target).parent.name, Path(target).stem) == (point, track):
            raise KeyboardInterrupt
        replace(source, target)

    if point in WRITERS:
        monkeypatch.setattr(room, point, write)
    else:
        monkeypatch.setattr(os, "replace", move)


@pytest.mark.parametrize("before", ["nothing", "an older b"])
@pytest.mark.parametrize("point", WRITERS + MOVES)
def test_an_interrupted_ingest_leaves_whole_tracks_and_is_taken_up_again(
    two, store, tmp_path, monkeypatch, point, before
):
    if before == "an older b":
        states(two, store)
    put(two, {"b/runs/s": RUN.replace("2.0", "0.25")})
    with monkeypatch.context() as patch:
        kill_at(patch, point, "b")
        with pytest.raises(KeyboardInterrupt):
            states(two, store)
    opened = irmeta.open_store(store)
    # The old track until the new one is moved into place, then none until it is whole.
    still_there = before == "an older b" and point in WRITERS
    assert opened.tracks == (["a", "b"] if still_there else ["a"])
    assert opened.runs().collect().height == 3 * len(opened.tracks)
    assert sorted(set(opened.evaluate("AP")["track"])) == opened.tracks
    assert states(two, store) == {"a": "unchanged", "b": "written"}
    states(two, tmp_path / "anew")
    assert content(store) == content(tmp_path / "anew")
    assert not (store / ".staging").exists()
    assert states(two, store) == {"a": "unchanged", "b": "unchanged"}


@pytest.mark.parametrize("bad", [{"b/qrels": "1 0 a x\n"}, {"b/runs/s": "x\n"}])
def test_a_changed_track_that_fails_leaves_the_old_one(two, store, bad):
    states(two, store)
    before = touched(store)
    put(two, bad)
    outcome = outcomes(two, store)[1]
    assert outcome.state == "failed"
    assert isinstance(outcome.error, DataError)
    assert str(outcome.error).startswith("track b: ")
    assert touched(store) == before
    assert irmeta.open_store(store).runs("b").collect().height == 3
    put(two, TWO)
    assert states(two, store)["b"] == "unchanged"


@pytest.mark.parametrize("file", ["x", "sub/x", "manifest.json"])
def test_a_folder_of_other_files_is_refused(two, tmp_path, file):
    folder = put(tmp_path / "other", {file: '{"name": "not a store"}'})
    before = touched(folder)
    with pytest.raises((UsageError, DataError), match=f"{folder}"):
        irmeta.ingest(two, folder)
    assert touched(folder) == before


def test_a_file_is_no_place_for_a_store(two):
    with pytest.raises(UsageError, match="exists and is not an irmeta store"):
        irmeta.ingest(two, two / "a/qrels")


@pytest.mark.parametrize("hidden", [{}, {".DS_Store": "x"}, {".manifest.json.7.tmp": "{"}])
def test_a_folder_without_visible_files_becomes_a_store(two, tmp_path, hidden):
    (tmp_path / "empty").mkdir()
    assert irmeta.ingest(two, put(tmp_path / "empty", hidden)).tracks == ["a", "b"]


def test_one_process_writes_at_a_time(two, store):
    states(two, store)
    with only_writer(store), pytest.raises(UsageError, match="another process is writing"):
        states(two, store)
    assert states(two, store) == {"a": "unchanged", "b": "unchanged"}


@pytest.mark.parametrize("damage", ["gone", "cut", "record cut"])
def test_a_damaged_track_is_made_again(two, store, damage):
    states(two, store)
    whole = content(store)
    part = Layout(store).files("runs", "b")[0]
    if damage == "gone":
        part.unlink()
    elif damage == "cut":
        part.write_bytes(part.read_bytes()[:-9])
    else:
        record = store / "tracks" / "b.json"
        record.write_bytes(record.read_bytes()[:-9])
    assert states(two, store) == {"a": "unchanged", "b": "written"}
    assert content(store) == whole


def test_another_read_policy_is_refused(two, store):
    irmeta.ingest(two, store, depth=5)
    before = touched(store)
    with pytest.raises(UsageError, match=r"was made with ReadPolicy.*depth=5.*use another folder"):
        irmeta.ingest(two, store, depth=6)
    assert touched(store) == before
    assert irmeta.open_store(store).policy == ReadPolicy(depth=5)
