"""Pool depths by query: `pool_depth_by_query` in collection.toml."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import irmeta
from irmeta.errors import IrmetaError
from irmeta.rankings.load import judged_ranks
from support.making import Track, down

LISTS = {"1": down("x", "a", "b"), "2": down("a", "x", "b"), "3": down("a", "b", "y")}
QRELS = {"1": {"a": 1, "b": 1}, "2": {"a": 1, "b": 1}, "3": {"a": 1, "b": 1}}


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """A track whose pools are complete to depths 0, 1 and 2."""
    folder = Track({"s": LISTS}, QRELS).write(tmp_path / "c")
    state(folder, "1 3\n2 2\n3 1\n")
    return folder


def state(folder: Path, depths: str | bytes, more: str = "") -> None:
    raw = depths if isinstance(depths, bytes) else depths.encode()
    (folder / "depths.txt").write_bytes(raw)
    (folder / "collection.toml").write_text(
        '[tracks.t]\nruns = ["t/runs/*"]\nqrels = "t/qrels"\n'
        f'pool_depth_by_query = "depths.txt"\n{more}'
    )


def complete(store: irmeta.Store) -> list[int]:
    (view,) = judged_ranks(store.track("t"), needs=["pool"])
    assert view.complete_depth is not None
    return view.complete_depth.tolist()


@pytest.mark.exhaustive
def test_pool_depth_by_query__is_the_depth_of_each_query(collection: Path, tmp_path: Path):
    store = irmeta.ingest(collection, tmp_path / "store")
    assert complete(store) == [3, 2, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = store.evaluate("AP(norm=pool)@1,AP(norm=pool)@2", per_query=True)[
            "value"
        ].to_list()
    # At k below the stated depth the pool of depth k judges; otherwise all judgments do.
    assert values[:2] == pytest.approx([float("nan"), 1 / 2], nan_ok=True)
    assert values[2:4] == pytest.approx([1.0, 1 / 2])
    assert values[4:] == pytest.approx([1 / 2, 1.0])
    assert store.warnings("t") == {}
    made = store.provenance("AP(norm=pool)@2")["tracks"]["t"]
    assert made["pool_depth"] == "stated for 3 queries, otherwise as far as it is complete"
    memory = irmeta.read(collection)
    assert complete(memory) == [3, 2, 1]
    assert memory.fingerprint == store.fingerprint


def test_pool_depth_by_query__derived_views_keep_it(collection: Path):
    (view,) = irmeta.read(collection).views("t", needs=["pool"])
    some = view.only_queries(["3", "1"])
    assert dict(zip(some.queries, some.complete_depth.tolist(), strict=True)) == {"1": 3, "3": 1}
    assert view.with_pool(2).complete_depth.tolist() == [2, 2, 1]
    assert view.drop_relevant(0.5).complete_depth.tolist() == [3, 2, 1]


def test_pool_depth_by_query__other_queries_have_the_computed_depth(collection: Path):
    state(collection, "# query depth\n\n2\t7 \n9 4\n")
    with pytest.warns(irmeta.PoolDepthWarning, match="depths.txt has no depth for 2 of 3"):
        store = irmeta.read(collection)
    assert complete(store) == [0, 7, 2]
    note = (
        "depths.txt has no depth for 2 of 3 judged queries (the first is '1'): their depth is as "
        "far as their pools are complete"
    )
    assert store.warnings("t") == {"pool_depth": note}
    assert store.info()["notes"].to_list() == [note]


def test_pool_depth_by_query__overrides_the_depth_of_the_track(collection: Path):
    state(collection, "2 007\n", "pool_depth = 5\n")
    store = irmeta.read(collection)
    assert complete(store) == [5, 7, 5]
    assert store.warnings("t")["pool_depth"].endswith("their depth is pool_depth = 5")
    assert store.provenance("AP(norm=pool)@2")["tracks"]["t"]["pool_depth"] == (
        "stated for 1 queries, otherwise 5"
    )


@pytest.mark.exhaustive
def test_pool_depth_by_query__changed_file_is_read_again(collection: Path, tmp_path: Path):
    store = irmeta.ingest(collection, tmp_path / "store")
    before = store.fingerprint
    assert irmeta.ingest(collection, tmp_path / "store").fingerprint == before
    state(collection, "1 30\n2 20\n3 10\n")
    store = irmeta.ingest(collection, tmp_path / "store")
    assert complete(store) == [30, 20, 10]
    assert store.fingerprint != before
    (collection / "collection.toml").unlink()
    (collection / "depths.txt").unlink()
    assert complete(irmeta.ingest(collection, tmp_path / "store")) == [0, 1, 2]


@pytest.mark.parametrize(
    ("depths", "error"),
    [
        ("1 3\n2\n", r"depths.txt, line 2: 1 fields where a line is: query depth"),
        ("1 3 0\n", r"depths.txt, line 1: 3 fields where a line is: query depth"),
        ("\n1 0\n", r"line 2: the depth is not a whole number of at least 1: '1 0'"),
        ("1 -2\n", r"line 1: the depth is not a whole number of at least 1"),
        ("1 2.5\n", r"line 1: the depth is not a whole number of at least 1"),
        ("1 ten\n", r"line 1: the depth is not a whole number of at least 1"),
        ("1 12345678901\n", r"line 1: the depth is not a whole number of at least 1"),
        ("1 3\n# x\n1 3\n", r"line 3: the query has a depth already: '1 3'"),
        ("7 3\n", r"depths.txt: none of its queries is judged"),
        ("", r"depths.txt: is empty"),
        (b"1\x00 3\n", r"line 1: NUL byte"),
    ],
)
def test_pool_depth_by_query__rejects_bad_files(collection: Path, depths: str | bytes, error: str):
    state(collection, depths)
    with pytest.raises(IrmetaError, match=error):
        irmeta.read(collection)


def test_pool_depth_by_query__rejects_missing_and_foreign_files(collection: Path, tmp_path: Path):
    (collection / "depths.txt").unlink()
    error = r"tracks.t.pool_depth_by_query = 'depths.txt' is not a file"
    with pytest.raises(IrmetaError, match=error):
        irmeta.read(collection)
    (tmp_path / "secret").write_text("1 password\n")
    (collection / "depths.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(IrmetaError, match="depth is not a whole number") as raised:
        irmeta.read(collection)
    assert "password" not in str(raised.value)
    config = collection / "collection.toml"
    config.write_text(config.read_text().replace("depths.txt", "../secret"))
    with pytest.raises(IrmetaError, match=r"'\.\./secret' is outside of the collection"):
        irmeta.read(collection)
