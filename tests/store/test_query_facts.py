"""The file queries.csv beside a track's runs: read, stored, shown, and used as segments."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

import irmeta
from irmeta.summaries import Line

FACTS = "query,class,length\nq1,easy,2\nq2,hard,\nq3,easy,3\nq4,hard,2\nq9,easy,2\n"
ROWS = [
    ("t", "q1", "class", "easy"), ("t", "q1", "length", "2"), ("t", "q2", "class", "hard"),
    ("t", "q3", "class", "easy"), ("t", "q3", "length", "3"), ("t", "q4", "class", "hard"),
    ("t", "q4", "length", "2"),
]  # fmt: skip
NOTED = pytest.mark.filterwarnings("ignore::irmeta.errors.SegmentWarning")


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """A track of 4 queries and 2 systems, of which one is better on easy queries."""
    folder = tmp_path / "collection" / "t"
    (folder / "runs").mkdir(parents=True)
    names = ("q1", "q2", "q3", "q4")
    (folder / "qrels").write_text("".join(f"{q} 0 d1 1\n" for q in names))
    for system, first in (("a", ("q1", "q3", "q4")), ("b", ("q2",))):
        lines = [
            f"{q} Q0 {doc} {rank} {3 - rank} {system}\n"
            for q in names
            for rank, doc in enumerate(("d1", "d2") if q in first else ("d2", "d1"), 1)
        ]
        (folder / "runs" / system).write_text("".join(lines))
    (folder / "queries.csv").write_text(FACTS)
    return folder.parent


def test_queries__are_read_into_memory_and_stores(collection: Path, tmp_path: Path):
    held = irmeta.read(collection)
    stored = irmeta.ingest(collection, tmp_path / "store")
    for store in (held, stored):
        assert store.queries().collect().rows() == ROWS
    assert stored.queries("t").collect()["value"].dtype == pl.String
    stored.to_trec(tmp_path / "again")
    assert irmeta.read(tmp_path / "again").queries().collect().rows() == ROWS


def test_queries__of_a_collection_file_and_changes(collection: Path, tmp_path: Path):
    (collection / "t" / "queries.csv").rename(collection / "facts.csv")
    config = collection / "collection.toml"
    config.write_text('[tracks.t]\nqueries = "facts.csv"\n')
    store = irmeta.ingest(collection, tmp_path / "store")
    assert store.queries().collect().rows() == ROWS
    (collection / "facts.csv").write_text(FACTS.replace("easy,3", "hard,3"))
    again = irmeta.ingest(collection, tmp_path / "store")
    assert again.queries().collect().rows()[3] == ("t", "q3", "class", "hard")
    config.unlink()
    without = irmeta.ingest(collection, tmp_path / "store")
    assert without.queries().collect().is_empty()
    assert not [*(tmp_path / "store" / "queries").glob("*/*.parquet")]
    config.write_text('[tracks.t]\nqueries = "nosuch.csv"\n')
    with pytest.raises(irmeta.IrmetaError, match=r"tracks.t.queries = 'nosuch.csv' is not a file"):
        irmeta.read(collection)


@NOTED
def test_segments__may_be_a_column(collection: Path, tmp_path: Path):
    store = irmeta.ingest(collection, tmp_path / "store")
    means = store.evaluate("RR", segments="class")
    values = {(row[1], row[2]): row[4] for row in means.rows()}
    assert values[("easy", "a")] == 1.0
    assert values[("hard", "b")] == 0.75
    frame = pl.DataFrame({"query": ["q1", "q2", "q3", "q4"], "segment": ["easy", "hard"] * 2})
    assert_frame_equal(store.evaluate("RR", segments=frame), means)
    compared = irmeta.compare(tmp_path / "store", "RR", segments="class", baseline="a")
    assert [one.pairs.segment for one in compared] == [None, "easy", "hard"]
    assert compared[0].settings["segments_column"] == "class"
    assert [gate["segment"] for gate in compared.gate(0.1).rows.to_dicts()] == [
        None,
        "easy",
        "hard",
    ]
    boards = store.prefer("RPP", segments="class")
    assert [board.segment for board in boards] == [None, "easy", "hard"]
    with pytest.raises(irmeta.UsageError, match=r"clas is neither a file .*Did you mean 'class'"):
        store.evaluate("RR", segments="clas")
    (collection / "t" / "queries.csv").unlink()
    with pytest.raises(irmeta.UsageError, match=r"The tracks have no queries\.csv"):
        irmeta.read(collection).evaluate("RR", segments="class")


@NOTED
def test_commands__take_and_show_columns(run: Callable[..., Any], collection: Path, tmp_path: Path):
    assert run("ingest", collection, "--out", tmp_path / "store").status == 0
    shown = run("info", tmp_path / "store").out
    assert "Columns of queries" in shown
    assert "easy (2), hard (2)" in shown
    assert '"column":"length"' in run("info", collection, "--format", "json").out
    for line in (
        ("evaluate", "-m", "RR"),
        ("compare", "-m", "RR", "--baseline", "a"),
        ("prefer", "-m", "RPP"),
    ):
        done = run(*line, tmp_path / "store", "--segment", "class", "--format", "csv")
        assert done.status == 0, done.err
        assert ",easy," in done.out
    done = run("evaluate", collection, "-m", "RR", "--segment", "clas")
    assert done.status == 2
    assert "Did you mean 'class'" in done.err


SYSTEMS = "system,group,method,seed\na,team,m,1\nb,team,m,2\nc,team,n,1\n"
FACTORS = [
    ("t", "judge", "qrels", "category", "human"), ("t", "system", "a", "method", "m"),
    ("t", "system", "a", "seed", "1"), ("t", "system", "b", "method", "m"),
    ("t", "system", "b", "seed", "2"), ("t", "system", "c", "method", "n"),
    ("t", "system", "c", "seed", "1"),
]  # fmt: skip


@pytest.fixture
def described(collection: Path) -> Path:
    """The collection with tables of systems, judges and variants of queries."""
    (collection / "t" / "systems.csv").write_text(SYSTEMS)
    (collection / "t" / "judges.csv").write_text("judge,category\nqrels,human\n")
    (collection / "t" / "queries.csv").write_text("query,variant_of\nq2,q1\nq4,q3\n")
    third = (collection / "t" / "runs" / "a").read_text().replace(" a\n", " c\n")
    (collection / "t" / "runs" / "c").write_text(third)
    return collection


def test_factors__are_read_stored_and_written(described: Path, tmp_path: Path):
    held, stored = irmeta.read(described), irmeta.ingest(described, tmp_path / "store")
    stored.to_trec(tmp_path / "again")
    for store in (held, stored, irmeta.read(tmp_path / "again")):
        assert store.factors().collect().sort(pl.all()).rows() == FACTORS
        assert store.systems().select("system", "group").rows()[0] == ("a", "team")
    (described / "t" / "systems.csv").write_text(SYSTEMS.replace("b,team,m", "b,team,n"))
    again = irmeta.ingest(described, tmp_path / "store")
    methods = again.factors().filter(column="method").collect()
    assert methods["value"].to_list() == ["m", "n", "n"]


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("systems.csv", "id,method\na,m\n", "is no table of systems"),
        ("systems.csv", "system,method\na,m\na,n\n", "system named twice"),
        ("judges.csv", "judge\nqrels\n", "is no table of judges"),
        ("judges.csv", "judge,x\nother,y\n", "none of its judges has a qrels set"),
        ("queries.csv", "id,text\nq1,x\n", "is no table of queries"),
        ("queries.csv", "query\nq1\n", "is no table of queries"),
        ("queries.csv", "query,class\nq1,x\nq1,y\n", "line 3: the query has a row already"),
        ("queries.csv", "query,class\n,x\nq1,x\n", "line 2: the query is missing"),
        ("queries.csv", "query,class\nq7,x\n", "none of its queries is judged"),
        ("queries.csv", "query,class\nq1,x,y\n", "3 fields where the first line has 2"),
        ("queries.csv", "query,class,class\nq1,x,y\n", "two columns have the same name"),
    ],
)
def test_tables__wrong_files_are_errors(described: Path, file: str, text: str, message: str):
    (described / "t" / file).write_text(text)
    with pytest.raises(irmeta.errors.IrmetaError, match=message):
        irmeta.read(described)


def test_compare__takes_columns_of_systems_and_queries(described: Path, tmp_path: Path):
    store = irmeta.ingest(described, tmp_path / "store")
    (compared,) = results = store.compare("RR")
    assert compared.matrix.queries == ("q1", "q3")
    assert results.variants is not None
    assert results.variants.variants.row(0)[:5] == ("t", "RR", "a", 2, 4)
    assert "each the mean over its variants (variant_of)" in " ".join(compared.lines())
    assert compared.settings["variants_column"] == "variant_of"
    (compared,) = store.compare("RR", resample_by="variant_of", replicates="method")
    assert compared.pairs.clusters == "2 clusters (variant_of) of 4 queries"
    assert compared.pairs.systems == ("m", "n")
    assert compared.settings["replicates_column"] == "method"
    tables = store.compare("RR", replicates="method").replicates
    assert tables is not None
    (matrix,) = irmeta.matrices(store, "RR", system=["a", "b"])
    of_variants = [
        matrix.values[[i, i + 1]].mean(axis=0) for i in (0, 2)
    ]  # no queries of their own
    expected = sum(of_query.var(ddof=1) for of_query in of_variants) / 2
    assert tables.methods["query_variance"][0] == pytest.approx(expected)
    (compared,) = store.compare("RR", replicates="group")
    assert compared.pairs.systems == ("team",)
    with pytest.raises(irmeta.UsageError, match=r"a column of systems\.csv: its runs share"):
        store.compare("RR", resample_by="method")
    with pytest.raises(irmeta.UsageError, match=r"of queries\.csv: `segment` and `resample_by`"):
        store.compare("RR", replicates="variant_of")
    with pytest.raises(irmeta.UsageError, match="Did you mean 'method'"):
        store.compare("RR", replicates="metod")
    with pytest.raises(irmeta.UsageError, match="`components` are of replicates"):
        store.compare("RR", components="reml")


def test_commands__show_and_take_factors(run: Callable[..., Any], described: Path):
    shown = run("info", described).out
    assert "Columns of systems" in shown
    assert "m (2), n (1)" in shown
    assert "Columns of judges" in shown
    done = run("compare", described, "-m", "RR", "--replicates", "method", "--components", "reml")
    assert done.status == 0, done.err


def test_over_tracks__averages_the_variants_of_a_query(described: Path, tmp_path: Path):
    shutil.copytree(described / "t", described / "u")
    (described / "t" / "queries.csv").write_text("query,variant_of\nq2,q1\nq3,q1\n")
    (described / "u" / "queries.csv").write_text("query,class\nq1,easy\n")
    store = irmeta.ingest(described, tmp_path / "store")
    compared = irmeta.over_tracks(store, "RR", snapshots=True, resamples=50)
    of_systems = dict(compared.systems.select("system", "macro_mean").iter_rows())
    scores = store.scores("RR", track="u")
    for place, system in enumerate(scores.systems):
        q1, q2, q3, q4 = scores.values[0, :, place]
        means = ((q1 + q2 + q3) / 3 + q4) / 2, (q1 + q2 + q3 + q4) / 4
        assert means[0] != means[1]
        assert of_systems[system] == pytest.approx(sum(means) / 2)
    assert compared.changes["shared"].unique().to_list() == [2]  # q1, with its variants, and q4
    assert compared.settings["variants_column"] == "variant_of"
    lines = [part.text for part in compared.parts() if isinstance(part, Line)]
    assert "queries: each the mean over its variants (variant_of)." in lines
    alone = irmeta.over_tracks(store, "RR", track=["t", "u"], query=["q2", "q4"], resamples=50)
    (means,) = {tuple(m.means) for m in irmeta.matrices(store, "RR", query=["q2", "q4"])}
    assert sorted(alone.systems["macro_mean"]) == pytest.approx(sorted(means))


def test_intervals__are_by_the_variants_of_queries(
    described: Path, tmp_path: Path, run: Callable[..., Any]
):
    (described / "t" / "queries.csv").write_text("query,variant_of\nq2,q1\n")
    store = irmeta.ingest(described, tmp_path / "store")
    (described / "t" / "queries.csv").unlink()
    plain = irmeta.read(described)
    for interval in ("t", "bootstrap"):
        found = store.evaluate("RR", interval=interval)
        named = store.evaluate("RR", interval=interval, resample_by="variant_of")
        assert_frame_equal(found, named)
        without = plain.evaluate("RR", interval=interval)
        assert found["value"].equals(without["value"])
        assert not found["low"].equals(without["low"])
        alone: Any = {"interval": interval, "query": ["q2", "q3", "q4"]}  # q2 for q1
        assert_frame_equal(store.evaluate("RR", **alone), plain.evaluate("RR", **alone))
    weights = pl.DataFrame({"query": ["q1", "q2", "q3", "q4"], "weight": [1.0, 2.0, 1.0, 1.0]})
    with pytest.raises(irmeta.UsageError, match="omit the weights or the intervals"):
        store.evaluate("RR", interval="t", query_weights=weights)
    out = tmp_path / "means.parquet"
    done = run("evaluate", store.path, "-m", "RR", "--interval", "t", "--out", out)
    assert "where queries are variants of others (column variant_of), intervals draw" in done.err
    assert _record(out)["variants_column"] == "variant_of"


COUNTED = (
    r"track t: 4 of 4 queries are variants of 2 \(column variant_of of queries\.csv\) and count"
)


def test_prefer__says_that_variants_count_as_queries(described: Path, tmp_path: Path):
    store = irmeta.ingest(described, tmp_path / "store")
    few: Any = {"resamples": 20, "rank_resamples": 20}
    with pytest.warns(irmeta.SegmentWarning, match=COUNTED) as warned:
        store.prefer("RPP,LexiRecall", **few)
    assert len(warned) == 1
    store.prefer("RPP", query=["q2", "q4"], **few)  # no warning: one variant of each query


@pytest.mark.filterwarnings("default::irmeta.SegmentWarning")
def test_prefer_command__prints_and_records_that_variants_count_as_queries(
    described: Path, tmp_path: Path, run: Callable[..., Any]
):
    store = irmeta.ingest(described, tmp_path / "store")
    asked = ("prefer", store.path, "-m", "RPP", "--resamples", "20")
    done = run(*asked, "--out", tmp_path / "prefer.parquet")
    assert done.err.count("4 of 4 queries are variants of 2") == 1
    assert "`--query-file FILE`, with one variant of each query, leaves out the others." in done.err
    text = _record(tmp_path / "prefer.parquet")["tracks"]["t"]["variants"]
    assert text.startswith("4 of 4 queries are variants of 2")
    one_each = tmp_path / "one-each"
    one_each.write_text("q2\nq4\n")
    done = run(*asked, "--query-file", one_each, "--out", tmp_path / "alone.parquet")
    assert "variants of" not in done.err
    assert "variants" not in _record(tmp_path / "alone.parquet")["tracks"]["t"]


def test_studies__note_that_variants_count_as_queries(described: Path, tmp_path: Path):
    store = irmeta.ingest(described, tmp_path / "store")
    asked: Any = {"figures": False, "resamples": 20}
    with pytest.warns(irmeta.SegmentWarning, match=COUNTED) as warned:
        made = irmeta.studies.search_length(store, tmp_path / "all", **asked)
    assert len(warned) == 1
    notes = made.tables["studied_tracks"]["notes"].item()
    assert notes.startswith("4 of 4 queries are variants of 2")
    assert "4 of 4 queries are variants of 2" in made.report.read_text()
    made = irmeta.studies.search_length(store, tmp_path / "one", query=["q2", "q4"], **asked)
    assert "variants" not in made.tables["studied_tracks"]["notes"].item()


def _record(path: Path) -> dict[str, Any]:
    """Return the provenance of a table."""
    return json.loads(pq.read_schema(path).metadata[b"irmeta"])


HEAD = """# ir_metadata.start
# tag: {tag}
# platform:
#   caches: l1: 32 KB, l2
# actor:
#   name: A. Person
#   team: {team}
# method:
#   automatic: true
#   seed: {seed}
#   retrieval:
#   - name: bm25
#     k1: 0.9
#   - method: io.anserini.rerank.lib.AxiomReranker
#     reranks: bm25
# ir_metadata.end
"""
NOT_IN_FACTS = "not among the track's system facts"
METHOD = "bm25 + io.anserini.rerank.lib.AxiomReranker"


def described_by(collection: Path, heads: dict[str, str], files: dict[str, str]) -> irmeta.Store:
    """Put heads before runs and files beside them, and read the collection."""
    runs = collection / "t" / "runs"
    for run, head in heads.items():
        (runs / run).write_text(head + (runs / run).read_text())
    for name, text in files.items():
        (runs / name).write_text(text)
    return irmeta.read(collection)


def columns_of(store: irmeta.Store) -> dict[str, dict[str, str]]:
    """Return the columns of each system."""
    columns = dict[str, dict[str, str]]()
    for _, _, name, column, value in store.factors().collect().sort(pl.all()).rows():
        columns.setdefault(name, {})[column] = value
    return columns


def test_metadata__of_heads_fills_systems_and_leaves_lists_alone(collection: Path, tmp_path: Path):
    before = irmeta.read(collection)
    with pytest.raises(irmeta.UsageError, match=r"no systems\.csv, and their runs no ir_metadata"):
        before.compare("RR", replicates="seed")
    heads = {name: HEAD.format(tag=name, team="no", seed=f"0{i}") for i, name in enumerate("ab")}
    held = described_by(collection, heads, {})
    stored = irmeta.ingest(collection, tmp_path / "store")
    stored.to_trec(tmp_path / "again")
    for store in (held, stored, irmeta.read(tmp_path / "again")):
        assert store.systems().select("group", "type", "notes").unique().rows() == [
            ("no", "automatic", None)
        ]
        seeds = {name: {"method": METHOD, "seed": f"0{i}"} for i, name in enumerate("ab")}
        assert columns_of(store) == seeds
    assert_frame_equal(held.runs().collect(), before.runs().collect())
    (compared,) = stored.compare("RR", replicates="seed")
    assert compared.pairs.systems == ("00", "01")
    qrels, runs = collection / "t" / "qrels", collection / "t" / "runs"
    files = irmeta.read_files(qrels, [runs / "a", runs / "b"])
    assert columns_of(files) == columns_of(held)


def test_metadata__of_all_readers_is_the_same(run: Callable[..., Any], collection: Path):
    runs = collection / "t" / "runs"
    for name, text in {"a": (runs / "a").read_text(), "b": (runs / "b").read_text()}.items():
        (runs / name).write_text(HEAD.format(tag=name, team=name.upper(), seed=1) + text)
    line = ("compare", collection, "-m", "RR", "--replicates", "group", "--format", "csv")
    done = run(*line)
    assert done.status == 0, done.err
    assert [row.split(",")[4] for row in done.out.split()] == ["system", "A", "B"]
    shown = run("info", collection).out
    assert "Columns of systems" in shown
    assert METHOD[:20] in shown


def test_metadata__files_beside_runs_fill_what_is_not_stated(collection: Path, tmp_path: Path):
    described = (
        "ir_metadata.start\nactor: {team: X}\nmethod: {name: dense, fold: 3}\nir_metadata.end\n"
    )
    store = described_by(collection, {}, {"b.ir-metadata.yml": described})
    assert columns_of(store) == {"b": {"method": "dense", "fold": "3"}}
    assert store.systems()["group"].to_list() == [None, "X"]
    of_folder = "---\ntag: a\nactor:\n  team: ENTER_VALUE_HERE\nmethod:\n  retrieval: [q, r]\n"
    store = described_by(collection, {}, {"ir-metadata.yml": of_folder})
    assert columns_of(store)["a"] == {"method": "q + r"}
    (collection / "t" / "systems.csv").write_text("system,team\nb,X\n")
    assert irmeta.read(collection).systems()["notes"].to_list() == [NOT_IN_FACTS, None]
    (collection / "t" / "systems.csv").write_text("system,team,method\na,T,\nb,Y,dense\n")
    store = irmeta.ingest(collection, tmp_path / "store")
    assert store.systems()["group"].to_list() == ["T", "Y"]
    assert store.systems()["notes"].to_list() == [
        None,
        "group: 'Y' in t/systems.csv, 'X' in t/runs/b.ir-metadata.yml",
    ]
    assert columns_of(store) == {"a": {"method": "q + r"}, "b": {"fold": "3", "method": "dense"}}
    (collection / "t" / "runs" / "b.ir-metadata.yml").write_text(described.replace("3", "4"))
    store = irmeta.ingest(collection, tmp_path / "store")
    assert columns_of(store)["b"]["fold"] == "4"
    (collection / "t" / "runs" / "b.ir-metadata.yml").unlink()
    assert "fold" not in columns_of(irmeta.ingest(collection, tmp_path / "store"))["b"]


@pytest.mark.parametrize(
    ("head", "note"),
    [
        ("# ir_metadata.start\n# actor:\n#   team: [x\n# method: {}\n", "line 4: .* no YAML"),
        ("# ir_metadata.start\n# actor:\n#   team: [x]\n", r"actor\.team is no text: \['x'\]"),
        ("# ir_metadata.start\n# actor: x\n", "actor is no mapping: 'x'"),
        ("# ir_metadata.start\n# method:\n#   automatic: maybe\n", "neither true nor false"),
        ("# ir_metadata.start\n# tag: b\n", "tag: 'a' in the rows, 'b' in t/runs/a"),
        ("# ir_metadata.start\n# actor: " + "[" * 9999 + "\n", "no YAML"),
    ],
)
def test_metadata__what_cannot_be_read_is_a_note(collection: Path, head: str, note: str):
    store = described_by(collection, {"a": head}, {})
    notes = store.systems()["notes"]
    assert notes.str.contains(note).to_list() == [True, None]
    assert notes[0].startswith(("t/runs/a", "tag"))


def test_metadata__without_a_run_or_without_yaml_is_a_warning(
    collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with pytest.warns(UserWarning, match=r"describes no run: t/runs/c.ir-metadata.yml"):
        described_by(collection, {}, {"c.ir-metadata.yml": "tag: a\n"})
    (collection / "t" / "runs" / "c.ir-metadata.yml").rename(
        collection / "t" / "runs" / "a.ir-metadata.yaml"
    )
    with monkeypatch.context() as patch:
        for module in ("facts", "ingest"):
            patch.setattr(f"irmeta.store.{module}.find_spec", {}.get)
        for _ in range(2):
            with pytest.warns(UserWarning, match="install the extra 'metadata'"):
                irmeta.ingest(collection, tmp_path / "store")
    assert irmeta.ingest(collection, tmp_path / "store").warnings("t") == {}


def test_power__says_that_variants_are_averaged(described: Path):
    store = irmeta.read(described)
    with pytest.warns(
        irmeta.SegmentWarning,
        match=r"of \d+ queries are variants of 2 .*whose mean over variants is",
    ):
        irmeta.power(store, "P@1", tests="t")
