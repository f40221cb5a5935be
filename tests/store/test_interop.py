"""Other Parquet readers open a store without irmeta and read every name as a string."""

import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import irmeta

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
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
def test_parquet_readers__names_of_runs_are_strings(store, reader: Callable):
    frame = reader(str(store / "runs"))
    found = list(frame[NAMES].itertuples(index=False, name=None))
    assert all(type(value) is str for row in found for value in row)
    assert sorted(found) == sorted((t, q, s, d) for t in TRACKS for q, s, d in ROWS)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", ["qrels", "docs", "systems"])
def test_parquet_readers__open_every_table(store, reader, kind):
    frame = reader(str(store / kind))
    assert sorted(set(frame["track"])) == sorted(TRACKS)
    names = [c for c in ("track", "set", "query", "doc", "system", "file") if c in frame.columns]
    assert all(type(value) is str for name in names for value in frame[name])


def test_open_store__reads_tracks_with_unusual_names(store):
    opened = irmeta.open_store(store)
    assert opened.tracks == sorted(TRACKS)
    for track in TRACKS:
        assert set(opened.runs(track).collect()["track"]) == {track}
    values = opened.evaluate("AP", per_query=True)
    assert values.height == len(TRACKS) * 2 * 3
    assert values["query"].unique().sort().to_list() == ["0301", "2004-05-01", "true"]
