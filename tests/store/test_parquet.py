"""Parquet files: lists from chunks, damaged files, and other readers of a store."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irmeta
from irmeta import checksums
from irmeta.checksums import content_checksum
from irmeta.errors import DataError
from irmeta.kernels.lists import list_starts
from irmeta.store import long_table, parquet
from irmeta.store.parquet import _lists
from irmeta.store.scan import StoredLists, read_table, row_blocks

QUERIES, SYSTEMS = ["q1", "q2", "unjudged"], ["a", "b", "c"]
CODES = {"query": {"q1": 0, "q2": 1}, "system": {"a": 0, "b": 1, "c": 2}}
LISTS = st.dictionaries(
    st.tuples(st.sampled_from(QUERIES), st.sampled_from(SYSTEMS)), st.integers(1, 4), min_size=1
)


def cut(values: list[str], places: list[int]) -> pa.ChunkedArray:
    """Return a chunked column, each chunk with its own dictionary."""
    bounds = [0, *places, len(values)]
    parts = [values[i:j] for i, j in itertools.pairwise(bounds) if i < j]
    return pa.chunked_array([pa.array(part).dictionary_encode() for part in parts])


@given(LISTS, st.data())
def test_lists__independent_of_column_chunks(lists, data):
    order = sorted(lists)
    rows = [pair for pair in order for _ in range(lists[pair])]
    places = st.lists(st.integers(0, len(rows)), max_size=4).map(sorted)
    table = pa.table(
        {
            name: cut([pair[i] for pair in rows], data.draw(places))
            for i, name in enumerate(("query", "system"))
        }
    )
    begin, query, system = _lists(table, CODES)
    found = StoredLists(query, system, np.append(begin, len(rows)), {})
    known = [(CODES["query"].get(q, -1), CODES["system"][s]) for q, s in rows]
    by_row = (found.by_row(found.query).tolist(), found.by_row(found.system).tolist())
    assert list(zip(*by_row, strict=True)) == known
    assert found.rows == len(rows)
    pairs = list(zip(query.tolist(), system.tolist(), strict=True))
    assert all(a != b for a, b in itertools.pairwise(pairs))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=20))
def test_list_starts__where_query_or_system_changes(rows):
    query, system = np.array(rows, np.int32).reshape(-1, 2).T.copy()
    expected = [i for i in range(len(rows)) if i == 0 or rows[i] != rows[i - 1]]
    assert list_starts(query, system).tolist() == expected


def test_stored_lists__selection_keeps_rows():
    lists = StoredLists(
        np.array([0, -1, 1], np.int32),
        np.array([2, 2, 0], np.int32),
        np.array([0, 2, 3, 6]),
        {"doc_id": np.arange(6, dtype=np.int32)},
    )
    kept = lists.only(lists.query >= 0)
    assert kept.query.tolist() == [0, 1]
    assert kept.system.tolist() == [2, 0]
    assert kept.starts.tolist() == [0, 2, 5]
    assert kept.columns["doc_id"].tolist() == [0, 1, 3, 4, 5]
    assert kept.by_row(np.array([7, 8])).tolist() == [7, 7, 8, 8, 8]


@pytest.fixture
def store(made_store: irmeta.Store, tmp_path: Path) -> irmeta.Store:
    """Return a copy of the store that a test may damage."""
    return irmeta.open_store(shutil.copytree(made_store.path, tmp_path / "store"))


def flip(file: Path, column: str) -> None:
    """Flip the last bit of a column in a file; the value remains readable."""
    metadata = pq.read_metadata(file)
    place = metadata.schema.names.index(column)
    found = metadata.row_group(0).column(place)
    begin = found.dictionary_page_offset or found.data_page_offset
    content = bytearray(file.read_bytes())
    content[begin + found.total_compressed_size - 1] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("column", ["query", "system", "doc", "doc_id", "score", "position"])
def test_block_lists__flipped_bit_is_an_error(store: irmeta.Store, column: str):
    flip(store.path / "runs" / "web" / "part-0.parquet", column)
    (block,) = row_blocks(store.reader.track("web"), ["101"], ["s"])
    always = {"query", "system"}
    for asked in {"doc", "doc_id", "score", "position"} - {column} if column not in always else ():
        assert block.lists([asked]).rows > 0
    with pytest.raises(DataError, match=r"web: its files .* cannot be read .*CRC"):
        block.lists([] if column in always else [column])


@pytest.mark.parametrize(("kind", "column"), [("qrels", "grade"), ("systems", "pooled")])
def test_read_table__flipped_bit_is_an_error(store: irmeta.Store, kind: str, column: str):
    before = read_table(store.reader.track("web"), kind)
    assert before.equals(store.reader.track("web").table(kind).collect())
    flip(store.path / kind / "web" / "part-0.parquet", column)
    with pytest.raises(
        DataError, match=r"part-0\.parquet .*Ingest the track again: `irmeta ingest"
    ):
        read_table(store.reader.track("web"), kind)


@pytest.mark.parametrize(
    ("kind", "column", "ask"),
    [
        ("runs", "score", lambda store: store.runs("web")),
        ("runs", "rank", lambda store: store.runs()),
        ("qrels", "grade", lambda store: store.qrels("web")),
        ("docs", "doc", lambda store: store.docs("web")),
        (
            "runs",
            "score",
            lambda store: store.explain("AP", system="ibisMan", query="301", track="web"),
        ),
    ],
)
def test_table__damaged_file_is_an_error(store: irmeta.Store, kind: str, column: str, ask):
    """polars does not verify page checksums, so it would return wrong values."""
    ask(store)
    flip(store.path / kind / "web" / "part-0.parquet", column)
    with pytest.raises(DataError, match=r"web: its files .*part-0\.parquet was changed"):
        ask(store)


def test_table__checksum_is_verified_once_per_process(store: irmeta.Store, monkeypatch):
    read = []

    def counted(file: Path) -> str:
        read.append(file.parent.name)
        return content_checksum(file)

    monkeypatch.setattr(checksums, "content_checksum", counted)
    for _ in range(3):
        store.runs()
    assert sorted(read) == ["news", "passage", "web"]
    store.means("AP")  # verifies only the pages read
    assert len(read) == 3


@pytest.mark.exhaustive
@pytest.mark.parametrize("other", ["part-1.parquet", "part-7.parquet"])
def test_table__missing_or_additional_file_is_an_error(
    collections: Path, tmp_path: Path, monkeypatch, other: str
):
    """Without this check, a missing part would silently drop rows."""
    monkeypatch.setattr(long_table, "GROUP_ROWS", 5000)
    monkeypatch.setattr(parquet, "PART_ROWS", 12_000)
    made = irmeta.ingest(collections, tmp_path / "store", track="news")
    folder = made.path / "runs" / "news"
    assert len(list(folder.iterdir())) > 3
    if other == "part-1.parquet":
        (folder / other).unlink()
    else:
        shutil.copy(folder / "part-1.parquet", folder / other)
    for ask in (made.runs, lambda: made.means("AP")):
        with pytest.raises(DataError, match=f"news: its files .*{other} is "):
            ask()


TRACKS = ("2012", "007", "2004-05-01", "a b", "x/y", "ü")
ROWS = [  # query, system, doc
    ("0301", "1e5", "00012"),
    ("2004-05-01", "1e5", "1.50"),
    ("true", "1e5", "NaN"),
    ("0301", "2012", "null"),
    ("2004-05-01", "2012", "é"),
    ("true", "2012", "12:30"),
]
NAMES = ["track", "query", "system", "doc"]


@pytest.fixture(scope="module")
def odd_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store whose names look like numbers, dates or booleans."""
    folder = tmp_path_factory.mktemp("interop")
    for system in ("1e5", "2012"):
        lines = [f"{q} Q0 {d} 1 1.0 {s}\n" for q, s, d in ROWS if s == system]
        (folder / f"{system}.run").write_text("".join(lines), encoding="utf-8")
    (folder / "q.txt").write_text("".join(f"{q} 01 {d} 1\n" for q, _, d in ROWS), "utf-8")
    config = [
        f'[tracks.{json.dumps(t, ensure_ascii=False)}]\nruns = ["*.run"]\nqrels = "q.txt"\n'
        for t in TRACKS
    ]
    (folder / "collection.toml").write_text("".join(config), "utf-8")
    return irmeta.ingest(folder, folder / "store").path


def with_polars(place: str) -> pd.DataFrame:
    frame = pl.read_parquet(f"{place}/*/*.parquet")
    assert {frame.schema[name] for name in NAMES if name in frame.columns} == {pl.String}
    return frame.to_pandas()


def with_polars_folder(place: str) -> pd.DataFrame:
    return pl.scan_parquet(place).collect().to_pandas()


def with_polars_hive(place: str) -> pd.DataFrame:
    return pl.read_parquet(f"{place}/**/*.parquet", hive_partitioning=True).to_pandas()


def with_pyarrow_dataset(place: str) -> pd.DataFrame:
    table = ds.dataset(place, partitioning="hive").to_table()
    types = {field.name: str(field.type) for field in table.schema}
    assert {types[name] for name in NAMES if name in types} == {"string"}
    return table.to_pandas()


def with_pyarrow_parquet(place: str) -> pd.DataFrame:
    return pq.read_table(place).to_pandas()


def with_pandas(place: str) -> pd.DataFrame:
    return pd.read_parquet(place)


def with_duckdb(place: str) -> pd.DataFrame:
    with duckdb.connect() as connection:
        found = connection.sql(f"select * from '{place}/*/*.parquet'")
        types = dict(zip(found.columns, map(str, found.types), strict=True))
        assert {types[name] for name in NAMES if name in types} == {"VARCHAR"}
        return found.df()


def with_duckdb_hive(place: str) -> pd.DataFrame:
    with duckdb.connect() as connection:
        query = f"from read_parquet('{place}/*/*.parquet', hive_partitioning = true)"
        return connection.sql(query).df()


READERS = [
    with_polars,
    with_polars_folder,
    with_polars_hive,
    with_pyarrow_dataset,
    with_pyarrow_parquet,
    with_pandas,
    with_duckdb,
    with_duckdb_hive,
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("reader", READERS)
def test_parquet_readers__names_of_runs_are_strings(odd_store, reader: Callable):
    frame = reader(str(odd_store / "runs"))
    found = list(frame[NAMES].itertuples(index=False, name=None))
    assert all(type(value) is str for row in found for value in row)
    assert sorted(found) == sorted((t, q, s, d) for t in TRACKS for q, s, d in ROWS)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", ["qrels", "docs", "systems"])
def test_parquet_readers__open_every_table(odd_store, reader, kind):
    frame = reader(str(odd_store / kind))
    assert sorted(set(frame["track"])) == sorted(TRACKS)
    names = [c for c in ("track", "set", "query", "doc", "system", "file") if c in frame.columns]
    assert all(type(value) is str for name in names for value in frame[name])


def test_open_store__reads_tracks_with_unusual_names(odd_store):
    opened = irmeta.open_store(odd_store)
    assert opened.tracks == sorted(TRACKS)
    for track in TRACKS:
        assert set(opened.runs(track).collect()["track"]) == {track}
    values = opened.evaluate("AP", per_query=True)
    assert values.height == len(TRACKS) * 2 * 3
    assert values["query"].unique().sort().to_list() == ["0301", "2004-05-01", "true"]
