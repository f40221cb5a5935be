"""Stores on object storage: the values of local stores, few requests, and clear errors."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import irmeta
from irmeta import locations
from irmeta.errors import DataError, UsageError
from irmeta.store.scan import undisturbed
from support.making import Track, down
from support.object_storage import Bucket, running

pytestmark = pytest.mark.exhaustive

TRACK = Track(
    {s: {q: down(*docs) for q in ("1", "2")} for s, docs in {"s": "ab", "t": "ba"}.items()},
    {q: {"a": 1, "b": 0} for q in ("1", "2")},
)
NAME = "ü %20+#=1"
ASKED: dict[str, Callable[[irmeta.Store], pl.DataFrame]] = {
    "evaluate": lambda store: store.evaluate(
        "AP,nDCG,Judged@10,Bpref,ERR-IA@10", track="web", per_query=True
    ),
    "means": lambda store: store.means("AP", tie_order="file"),
    "info": lambda store: store.info(),
    "systems": lambda store: store.systems(),
    "qrels": lambda store: store.qrels().collect(),
    "runs": lambda store: store.runs().collect(),
    "filter": lambda store: store.runs("web").filter(rank=2).select("doc", "score").collect(),
    "head": lambda store: store.runs("web").head(7).collect(),
    "slice": lambda store: store.runs("web").slice(30_000, 10).collect(),
    "curve": lambda store: store.curve("AP", [5, 10], track="web"),
}


@pytest.fixture(scope="module")
def bucket() -> Iterator[Bucket]:
    with running() as bucket:
        yield bucket


@pytest.fixture(scope="module")
def remote(bucket: Bucket, made_store: irmeta.Store) -> irmeta.Store:
    """The made store on S3."""
    return irmeta.open_store(bucket.upload(made_store.path, "made"))


@pytest.fixture
def tiny(bucket: Bucket, tmp_path: Path) -> tuple[irmeta.Store, str]:
    """A store of one tiny track, and its copy on S3."""
    store = replace(TRACK, name=NAME).ingest(tmp_path)
    return store, bucket.upload(store.path, tmp_path.name)


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED.keys())
def test_store__equals_the_local_store(
    ask: Callable[[irmeta.Store], pl.DataFrame], remote: irmeta.Store, made_store: irmeta.Store
):
    assert ask(remote).equals(ask(made_store))


def test_store__large_files_are_read_by_ranges(
    remote: irmeta.Store, made_store: irmeta.Store, monkeypatch: pytest.MonkeyPatch, bucket: Bucket
):
    monkeypatch.setattr(locations, "SMALL", 1000)
    for end in (100, 1 << 16):  # less than a footer, more than one
        monkeypatch.setattr(locations, "END", end)
        for name in ("evaluate", "filter", "qrels"):
            assert ASKED[name](remote).equals(ASKED[name](made_store))
    bucket.requests.clear()
    remote.runs("web").select("rank").collect()
    heads = [line for line in bucket.requests if "HEAD" in line and "runs" in line]
    assert len(heads) == 1


def test_store__few_requests(remote: irmeta.Store, bucket: Bucket):
    bucket.requests.clear()
    remote.evaluate("AP", track="news", per_query=True)
    assert len(bucket.requests) <= 14  # the record may be requested twice
    assert not any("list-type" in line for line in bucket.requests)
    assert not any("/docs/" in line for line in bucket.requests)


def test_store__explanation_and_provenance(remote: irmeta.Store, made_store: irmeta.Store):
    found, expected = (
        store.explain("AP@5", system="aldBM25", query=901, track="news")
        for store in (remote, made_store)
    )
    assert found.value == expected.value
    assert remote.provenance("AP") == made_store.provenance("AP")
    assert remote.fingerprint == made_store.fingerprint
    with pytest.raises(UsageError, match="has no path"):
        _ = remote.path


def test_store__percent_encoded_track(tiny: tuple[irmeta.Store, str]):
    store, url = tiny
    remote = irmeta.Store(f"{url}/")
    assert remote.tracks == [NAME]
    assert remote.evaluate("AP", per_query=True).equals(store.evaluate("AP", per_query=True))
    assert irmeta.check(url).is_empty()


def test_commands__equal_those_of_a_local_store(remote: irmeta.Store, made_store: Any, run: Any):
    web = ("-m", "AP", "--track", "web")
    for command in (("evaluate", *web), ("info",), ("compare", *web)):
        name, *options = command
        there, here = (run(name, s.reader, *options) for s in (remote, made_store))
        assert (there.status, there.out) == (here.status, here.out) == (0, here.out)


@pytest.mark.usefixtures("undrawn")
def test_results__are_read_and_made_from_a_store(
    remote: irmeta.Store, made_store: irmeta.Store, bucket: Bucket, tmp_path: Path, run: Any
):
    there, here = tmp_path / "there", tmp_path / "here"
    for store, out in ((remote, there), (made_store, here)):
        irmeta.reanalyze(str(store.reader), out, measures="AP,P@10", track="web")
    names = [path.relative_to(here) for path in here.rglob("*") if path.is_file()]
    for name in names:
        assert (there / name).read_bytes() == (here / name).read_bytes() or ".lock" in str(name)
    url = bucket.upload(here, "results")
    found, expected = irmeta.studies.open(url), irmeta.studies.open(here)
    assert all(found.tables[name].equals(frame) for name, frame in expected.tables.items())
    assert found.scan("scores").collect().equals(expected.scan("scores").collect())
    assert irmeta.check(url).is_empty()
    (one, _), (other, _) = irmeta.matrices(url), irmeta.matrices(here)
    assert (one.values == other.values).all()
    assert irmeta.diff(f"{url}/means.parquet", here / "means.parquet").same
    assert irmeta.compare(f"{url}/scores/web.parquet", "AP")[0].pairs.track == "web"
    ran = run("compare", url, "-m", "AP")
    assert ran.out == run("compare", here / "scores" / "web.parquet", "-m", "AP").out != ""
    content = bucket.get("results/means.parquet")
    bucket.put("results/means.parquet", content[:100] + b"?" + content[101:])
    assert irmeta.check(url)["file"].to_list() == [f"{url}/means.parquet"]
    with pytest.raises(DataError, match=f"{url}/means.parquet: cannot be read"):
        _ = found.tables["means"]


def test_csv__is_read(bucket: Bucket, made_store: irmeta.Store, tmp_path: Path):
    made_store.means("AP").write_csv(tmp_path / "means.csv")
    bucket.upload(tmp_path, "csv")
    assert irmeta.diff("s3://bucket/csv/means.csv", tmp_path / "means.csv").same
    made_store.evaluate("AP", track="web", per_query=True).write_csv(tmp_path / "values.csv")
    bucket.upload(tmp_path, "csv")
    (matrix,) = irmeta.matrices("s3://bucket/csv/values.csv")
    assert matrix.values.shape == (20, 12)


@pytest.mark.parametrize("kind", ["runs", "qrels"])
def test_check__damaged_object(tiny: tuple[irmeta.Store, str], bucket: Bucket, kind: str):
    url = tiny[1]
    folder = "%C3%BC%20%2520%2B%23%3D1"
    key = f"{url.rpartition('/')[2]}/{kind}/{folder}/part-0.parquet"
    content = bytearray(bucket.get(key))
    content[60] ^= 255  # within the first page
    bucket.put(key, bytes(content))
    (row,) = irmeta.check(url).iter_rows()
    assert row == (f"s3://bucket/{key}", "was changed after it was written")
    with pytest.raises(DataError, match=r"cannot be read.*Copy the track again"):
        getattr(irmeta.open_store(url), kind)().collect()
    bucket.delete(key)
    assert irmeta.check(url)["problem"].to_list() == ["is missing"]
    with pytest.raises(DataError, match="is missing"):
        irmeta.open_store(url).evaluate("AP", per_query=True)


def test_check__unknown_object(tiny: tuple[irmeta.Store, str], bucket: Bucket):
    url = tiny[1]
    key = f"{url.rpartition('/')[2]}/runs/%C3%BC%20%2520%2B%23%3D1"
    bucket.put(f"{key}/part-1.parquet", bucket.get(f"{key}/part-0.parquet"))
    assert irmeta.check(url)["problem"].to_list() == ["is not in the track's record"]
    assert irmeta.open_store(url).runs().collect().height == 8  # the record names what is read


def test_undisturbed__replaced_track(
    tiny: tuple[irmeta.Store, str], bucket: Bucket, tmp_path: Path
):
    url = tiny[1]
    reader = irmeta.open_store(url).reader
    new = replace(TRACK, name=NAME, runs={"s": TRACK.runs["s"]}).ingest(tmp_path / "new")
    with (
        pytest.raises(DataError, match="was replaced while it was read"),
        undisturbed(reader.track(NAME)),
    ):
        bucket.upload(new.path, url.rpartition("/")[2])


def test_evaluate__new_files_under_an_old_record(
    tiny: tuple[irmeta.Store, str], bucket: Bucket, tmp_path: Path
):
    """Copying has not come to the record yet: no value is computed of mixed files."""
    url = tiny[1]
    new = replace(TRACK, name=NAME, runs={"s": TRACK.runs["s"]}).ingest(tmp_path / "new")
    shutil.rmtree(new.path / "tracks")
    bucket.upload(new.path, url.rpartition("/")[2])
    with pytest.raises(DataError, match=r"was changed after it was written.*Copy the track again"):
        irmeta.open_store(url).evaluate("AP", per_query=True)


def test_open_store__errors(bucket: Bucket, remote: irmeta.Store, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(DataError, match=r"s3://none/made.*does not exist.*Check the name"):
        irmeta.open_store("s3://none/made")
    with pytest.raises(UsageError, match=r"s3://bucket/none is not an irmeta store"):
        irmeta.open_store("s3://bucket/none")
    with pytest.raises(UsageError, match="s3://bucket/made has no track 'new'"):
        remote.means(track="new")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    start = time.monotonic()
    with pytest.raises(DataError, match=r"s3://bucket/made.*connect.*Check the network"):
        irmeta.open_store("s3://bucket/made")
    assert time.monotonic() - start < 10


def test_open_store__refused_credentials(monkeypatch: pytest.MonkeyPatch, bucket: Bucket):
    from pyarrow.fs import S3FileSystem

    def refuse(system: Any, key: str) -> None:
        raise OSError(f"When reading {key}: AWS Error ACCESS_DENIED during HeadObject operation")

    class Refusing(S3FileSystem):
        get_file_info = refuse

    monkeypatch.setattr(locations, "_s3", lambda settings: Refusing(anonymous=True))
    with pytest.raises(DataError, match=r"ACCESS_DENIED.*AWS_ACCESS_KEY_ID.*AWS_SKIP_SIGNATURE"):
        irmeta.open_store("s3://bucket/made")


def test_writing__is_an_error(
    remote: irmeta.Store, collections: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for write in (
        lambda: irmeta.ingest(collections, "s3://bucket/new"),
        lambda: irmeta.reanalyze(remote.reader.root, "s3://bucket/new"),
        lambda: irmeta.studies.search_length(remote, "s3://bucket/new"),
        lambda: remote.to_trec("s3://bucket/new"),
    ):
        with pytest.raises(UsageError, match="s3://bucket/new: irmeta writes to local folders"):
            write()
    with pytest.raises(UsageError, match="runs and qrels are read from local files"):
        irmeta.ingest("s3://bucket/collection", tmp_path / "store")
    assert list(tmp_path.iterdir()) == []


def test_commands__write_no_object(
    remote: irmeta.Store, run: Any, tmp_path: Path, monkeypatch: Any
):
    monkeypatch.chdir(tmp_path)
    for command in (
        ("evaluate", remote.reader, "--out", "s3://bucket/x.csv"),
        ("compare", remote.reader, "-m", "AP", "--out", "s3://bucket/x"),
        ("pool", remote.reader, "--track", "web", "--pool-depth", "5", "--out", "s3://bucket/x"),
    ):
        ran = run(*command)
        assert (ran.status, ran.out) == (2, "")
        assert "irmeta writes to local folders only" in ran.err
    assert run("evaluate", "s3://bucket/qrels", "s3://bucket/run").status == 2
    assert "s3://bucket/none: not a store" in run("evaluate", "s3://bucket/none").err
    assert list(tmp_path.iterdir()) == []
