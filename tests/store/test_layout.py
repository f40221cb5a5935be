"""Layout of a store: folders, manifest, records, tables, and lists in every tie order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args
from urllib.parse import unquote

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import irmeta
from irmeta.checksums import add_checksum, parse_record, to_json
from irmeta.errors import DataError, SkippedRunWarning, UsageError
from irmeta.files import file_names, folder_name, write_bytes
from irmeta.policies import ReadPolicy, TieOrder
from irmeta.schema import FORMAT, TABLES
from irmeta.store import long_table, parquet
from irmeta.store.layout import FOLDERS, Layout
from irmeta.store.scan import row_blocks
from support.ingesting import CONFIG, QRELS, RUN, put
from support.made_once import made_once
from support.making import read_text
from twins import measures as naive

TRACKS = ("news", "passage", "web")
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=15)


@pytest.mark.exhaustive
@given(NAMES)
@example("..")
@example(".")
@example("%2E")
@example(".hidden")
@example("track=2012")
@example("a/../../b")
@example("aux")
@example("COM1.old")
@example("news.")
def test_folder_name__is_safe_for_any_track(track):
    name = folder_name(track)
    assert name.isascii()
    assert name[0] != "."
    assert not set(name) & set("/\\=*?[]{}:\0 ")
    assert not name.endswith(".")
    assert unquote(name) == track
    assert name.split(".")[0].upper() not in {"CON", "PRN", "AUX", "NUL", "COM1", "LPT9"}


@given(st.sets(st.text("aAbB.%6/", min_size=1, max_size=3), max_size=6))
def test_file_names__differ_where_case_is_ignored(systems):
    files = file_names(systems)
    assert {unquote(file): file.lower() for file in files.values()}.keys() == systems
    assert len({file.lower() for file in files.values()}) == len(systems)


@given(st.sets(NAMES, max_size=5))
def test_layout__track_names_round_trip_through_records(tmp_path_factory, names):
    layout = Layout(tmp_path_factory.mktemp("store"))
    for name in names:
        write_bytes(layout.record(name), add_checksum(to_json({"track": name, "files": {}})))
    assert layout.tracks() == sorted(names)
    assert [layout.track(name).name for name in names] == list(names)


def test_store__unknown_track_suggests_nearest(made_store):
    with pytest.raises(UsageError, match=r"has no track 'newz'. Did you mean 'news'\?"):
        made_store.runs("newz")


def test_manifest__has_format_version_and_read_policy(made_store):
    content = (made_store.path / "manifest.json").read_bytes()
    manifest = parse_record(content)
    assert json.loads(content).keys() - manifest.keys() == {"sha256"}
    policy = ReadPolicy().record()
    assert manifest == {"format": FORMAT, "irmeta": irmeta.__version__, "read_policy": policy}


def test_store__has_only_documented_files(made_store):
    found = {path.name for path in made_store.path.iterdir()}
    assert found == {"manifest.json", "tracks", ".cache.json", ".lock", *FOLDERS}
    for kind in FOLDERS:
        files = {
            p.relative_to(made_store.path / kind) for p in (made_store.path / kind).rglob("*.*")
        }
        assert files == {Path(track, "part-0.parquet") for track in TRACKS}


def test_store__does_not_contain_the_collection_path(made_store, collections):
    for path in made_store.path.rglob("*.*"):
        if path.is_file():
            assert str(collections).encode() not in path.read_bytes()


@pytest.mark.parametrize(
    "manifest",
    [b'{"name": "a web app"}', b"[1]", b"{}", b"no json", b'{"format": "1"}', b'{"format": 1}'],
)
def test_open_store__foreign_manifest_is_refused(tmp_path, manifest):
    (tmp_path / "manifest.json").write_bytes(manifest)
    with pytest.raises((UsageError, DataError), match=str(tmp_path)):
        irmeta.open_store(tmp_path)


def test_open_store__folder_without_manifest_is_refused(tmp_path):
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(UsageError, match=r"is not an irmeta store .no manifest.json."):
            irmeta.open_store(path)


def test_open_store__newer_format_is_refused(tmp_path):
    layout = Layout(tmp_path / "store")
    layout.create(ReadPolicy())
    manifest = layout.read_manifest() | {"format": FORMAT + 1, "irmeta": "9.1"}
    layout.manifest.write_bytes(add_checksum(to_json(manifest)))
    with pytest.raises(UsageError, match=r"was made by a newer irmeta .9\.1."):
        irmeta.open_store(layout.root)


@pytest.mark.parametrize("kind", FOLDERS)
def test_tables__columns_equal_schema(made_store, kind):
    columns = TABLES[kind].arrow()
    for path in (made_store.path / kind).rglob("*.parquet"):
        assert pq.read_schema(path).equals(columns)


def run_lines(collections: Path, track: str, file: str) -> pl.DataFrame:
    """Read the lines of a run file naively, in file order."""
    rows = naive.read_run(read_text(collections / file))
    names = {"query": pl.String, "doc": pl.String, "rank_given": pl.Int32, "score": pl.Float64}
    frame = pl.DataFrame([row[:4] for row in rows], names, orient="row")
    return frame.with_columns(position=pl.int_range(1, pl.len() + 1, dtype=pl.Int32))


@pytest.mark.exhaustive
@pytest.mark.parametrize("track", TRACKS)
def test_runs__equal_lines_of_run_files(made_store, collections, track):
    runs = made_store.runs(track).collect()
    systems = made_store.systems(track).filter(pl.col("skip_reason").is_null())
    assert runs["system"].unique().sort().to_list() == systems["system"].to_list()
    for system, file in systems.select("system", "file").iter_rows():
        expected = run_lines(collections, track, file)
        found = runs.filter(system=system).sort("position").select(expected.columns)
        assert found.equals(expected), system


def qrels_lines(collections: Path, file: str) -> pl.DataFrame:
    rows = [line.split() for line in read_text(collections / file).splitlines()]
    frame = pl.DataFrame(rows, ["query", "subtopic", "doc", "grade"], orient="row")
    return frame.with_columns(pl.col("grade").cast(pl.Int8))


QRELS_FILES = [
    ("news", "binary", "news/qrels.txt"),
    ("web", "adhoc", "web/adhoc.qrels.txt"),
    ("web", "diversity", "web/diversity.qrels.txt"),
    ("passage", "graded", "passage/qrels.txt"),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("track", "name", "file"), QRELS_FILES)
def test_qrels__equal_lines_of_qrels_files(made_store, collections, track, name, file):
    found = made_store.qrels(track, sets="all").filter(set=name).collect()
    expected = qrels_lines(collections, file)
    if name != "diversity":
        expected = expected.with_columns(subtopic=pl.lit(None, pl.String))
    assert found.select(expected.columns).equals(expected.sort("query", "subtopic", "doc"))


@pytest.mark.parametrize("track", TRACKS)
def test_runs__sorted_by_query_system_and_rank_from_one(made_store, track):
    runs = made_store.runs(track).collect()
    assert runs.equals(runs.sort("query", "system", "rank"))
    expected = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("query", "system")
    assert runs.select((pl.col("rank") == expected).all()).item()


@pytest.mark.parametrize("track", TRACKS)
def test_docs__numbered_per_query_with_judged_docs_first(made_store, track):
    docs = made_store.docs(track).collect()
    judged = (
        made_store.qrels(track, sets="all").select("query", "doc", judged=True).unique().collect()
    )
    docs = docs.join(judged, ["query", "doc"], "left", maintain_order="left")
    order = docs.with_columns(pl.col("judged").fill_null(False)).sort(
        "query", "judged", "doc", descending=[False, True, False]
    )
    expected = pl.int_range(pl.len(), dtype=pl.Int32).over("query")
    assert order.select("query", "doc", doc_id=expected).equals(
        docs.select("query", "doc", "doc_id")
    )
    assert docs["judged"].sum() == judged.height
    for table in (made_store.runs(track), made_store.qrels(track)):
        found = table.select("query", "doc", "doc_id").unique().collect()
        joined = found.join(docs, ["query", "doc", "doc_id"])
        assert joined.height == found.height
    listed = made_store.runs(track).select("query", "doc").collect()
    assert docs.join(listed, ["query", "doc"], "anti")["judged"].all()


@pytest.mark.parametrize(
    ("track", "name", "file"), [QRELS_FILES[0], QRELS_FILES[1], QRELS_FILES[3]]
)
def test_runs__grade_from_primary_qrels_or_null(made_store, collections, track, name, file):
    runs = made_store.runs(track).collect()
    judged = qrels_lines(collections, file).select("query", "doc", expected="grade")
    joined = runs.join(judged, ["query", "doc"], "left")
    assert joined.height == runs.height
    assert joined.select(pl.col("grade").eq_missing(pl.col("expected")).all()).item()
    assert 0 < joined["grade"].null_count() < joined.height


@pytest.fixture(scope="session")
def parts(collections: Path, tmp_path_factory: pytest.TempPathFactory) -> irmeta.Store:
    """Return a store with row groups of a few thousand rows, and files of a few row groups."""

    def ingest(store: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(long_table, "GROUP_ROWS", 5000)
            patch.setattr(parquet, "PART_ROWS", 12_000)
            with pytest.warns(irmeta.SkippedRunWarning):
                irmeta.ingest(collections, store)

    return irmeta.open_store(made_once(tmp_path_factory, "parts", ingest))


def row_groups(store: irmeta.Store, track: str, kind: str = "runs") -> list[pl.DataFrame]:
    files = [pq.ParquetFile(path) for path in Layout(store.path).files(kind, track)]
    return [
        pl.DataFrame(file.read_row_group(i)) for file in files for i in range(file.num_row_groups)
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize("track", TRACKS)
def test_ingest__row_groups_hold_complete_queries(parts, made_store, track):
    groups = row_groups(parts, track)
    queries = [query for group in groups for query in group["query"].unique()]
    assert len(queries) == len(set(queries))
    last_query = [group.filter(query=group["query"][-1]).height for group in groups]
    for group, last in zip(groups[:-1], last_query, strict=False):
        assert group.height - last < 5000 <= group.height
    assert pl.concat(groups).equals(made_store.runs(track).collect())
    docs = pl.concat(row_groups(parts, track, "docs"))
    assert docs.equals(made_store.docs(track).collect())

    files = [pq.read_metadata(path) for path in Layout(parts.path).files("runs", track)]
    assert len(files) > 1
    for file in files[:-1]:
        last = file.row_group(file.num_row_groups - 1).num_rows
        assert file.num_rows - last < 12_000 <= file.num_rows


def test_layout__parts_are_sorted_by_number(tmp_path):
    folder = Layout(tmp_path).folder("runs", "t")
    folder.mkdir(parents=True)
    for n in (10, 9, 2, 0, 1):
        (folder / f"part-{n}.parquet").touch()
    names = [path.name for path in Layout(tmp_path).files("runs", "t")]
    assert names == [f"part-{n}.parquet" for n in (0, 1, 2, 9, 10)]


@pytest.mark.exhaustive
def test_evaluate__values_do_not_depend_on_parts(parts, made_store):
    measures = "AP,nDCG@10,ASL,Bpref"
    assert parts.evaluate(measures, per_query=True).equals(
        made_store.evaluate(measures, per_query=True), null_equal=True
    )
    assert parts.per_doc.rarity().equals(made_store.per_doc.rarity())


@pytest.mark.exhaustive
@pytest.mark.parametrize("max_rows", [1, 6000, 1 << 24])
def test_row_blocks__partition_all_queries_and_rows(parts, max_rows):
    track = "news"
    judged = parts.qrels(track).select("query").unique().collect()["query"]
    queries = sorted([*judged, "0 before all", "910.5", "z after all"])
    systems = sorted(parts.runs(track).select("system").unique().collect()["system"])
    blocks = list(row_blocks(Layout(parts.path).track(track), queries, systems, max_rows))
    assert (blocks[0].first_query, blocks[-1].last_query) == (0, len(queries))
    rows = []
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        assert following is None or block.last_query == following.first_query
        lists = block.lists(["doc_id", "position"])
        assert lists.query.min() >= block.first_query
        assert lists.query.max() < block.last_query
        query, system = (lists.by_row(codes).tolist() for codes in (lists.query, lists.system))
        rank = [rank for n in np.diff(lists.starts).tolist() for rank in range(1, n + 1)]
        held = (lists.columns[name].tolist() for name in ("doc_id", "position"))
        rows += zip(query, system, rank, *held, strict=True)
    columns = ["query", "system", "rank", "doc_id", "position"]
    expected = parts.runs(track).select(columns).collect().rows()
    assert [(queries[q], systems[s], *row) for q, s, *row in rows] == expected
    assert (len(blocks) > 1) == (max_rows < 1 << 24)


def test_runs__highest_subtopic_grade_only_without_plain_qrels(tmp_path, store):
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
    judged = (
        opened.qrels("second", sets="all")
        .filter(query="1")
        .select("doc", "doc_id")
        .unique()
        .collect()
    )
    assert sorted(judged.rows()) == [("a", 0), ("b", 1), ("y", 2)]


def passage_alone(collections: Path, tmp_path: Path, **keys: str) -> Path:
    """Copy the synthetic passage track without its unreadable run; keys extend its config."""
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


@pytest.mark.exhaustive
@pytest.mark.parametrize("depth", [None, 7])
@pytest.mark.parametrize("order", get_args(TieOrder))
def test_ingest__lists_are_sorted_by_tie_order_before_depth_cut(
    collections, tmp_path, store, order, depth
):
    opened = irmeta.ingest(
        passage_alone(collections, tmp_path), store, tie_order=order, depth=depth
    )
    expected = naive_lists(collections, order)
    assert stored_lists(opened) == {key: docs[:depth] for key, docs in expected.items()}
    assert opened.info()["tie_order"].item() == order
    assert opened.info()["deepest_rank"].item() == (depth or 200)


@pytest.mark.exhaustive
def test_ingest__track_options_override_store_options(collections, tmp_path, store):
    collection = passage_alone(collections, tmp_path, tie_order='"file"', depth="3")
    opened = irmeta.ingest(collection, store, tie_order="rank", depth=9)
    expected = naive_lists(collections, "file")
    assert stored_lists(opened) == {key: docs[:3] for key, docs in expected.items()}


def test_ingest__names_are_sorted_by_bytes(tmp_path, store):
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
    assert docs == ["9", "10", "B", "a", "b", "é"]  # the judged doc first


def test_ingest__duplicates_first_keeps_first_line(tmp_path, store):
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


def test_ingest__duplicate_doc_across_interleaved_queries_is_detected(tmp_path, store):
    run = "1 Q0 a 1 3 s\n2 Q0 a 1 9 s\n1 Q0 a 2 1 s\n"
    collection = put(tmp_path / "c", {"t/runs/s": run, "t/runs/u": RUN, "t/qrels": QRELS})
    (collection / "t/runs/u").write_text(RUN.replace(" s\n", " u\n"))
    with pytest.warns(SkippedRunWarning, match="line 3: query 1 has doc a a second time"):
        irmeta.ingest(collection, store)
    kept = irmeta.ingest(collection, tmp_path / "first", duplicates="first")
    assert kept.systems()["duplicates"].to_list() == [1, 0]


def test_ingest__malformed_skip_drops_and_counts_lines(tmp_path, store):
    collection = put(tmp_path / "c", {"t/runs/s": RUN + "1 Q0\n1 Q0 c 3 x s\n", "t/qrels": QRELS})
    opened = irmeta.ingest(collection, store, malformed="skip")
    assert opened.systems().select("rows", "malformed", "notes").row(0) == (
        3,
        2,
        "2 malformed lines dropped",
    )
