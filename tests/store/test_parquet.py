"""Lists from Arrow columns in any chunks, and damaged Parquet files."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
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
