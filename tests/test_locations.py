"""Locations: which texts are URLs, and folders of a storage that fsspec reads."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

import irmeta
from irmeta.errors import UsageError
from irmeta.files import write_text
from irmeta.locations import RemotePath, local, location


@pytest.fixture
def memory() -> Iterator[RemotePath]:
    """A folder in memory."""
    system = pytest.importorskip("fsspec").filesystem("memory")
    yield RemotePath("memory://folder/")
    system.rm("/folder", recursive=True)


def put(path: RemotePath, content: bytes) -> None:
    import fsspec

    fsspec.filesystem("memory").pipe(path.url.removeprefix("memory:/"), content)


@pytest.mark.parametrize("given", ["s3://b/k", "s3://b/k/", Path("s3://b/k"), "S3:/b/k"])
def test_location__url(given: str | Path):
    assert location(given) == RemotePath("s3://b/k") == location(RemotePath("s3://b/k"))


@pytest.mark.parametrize("given", ["s3://me:secret@b/k", "S3a:/me:sec/secret@b", "s3://secret@b"])
def test_location__password_is_refused_and_not_shown(given: str):
    with pytest.raises(UsageError, match="AWS_SECRET_ACCESS_KEY") as error:
        location(given)
    assert "secret" not in str(error.value)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("option", "arguments"),
    [
        ("info", ("info", "URL")),
        ("evaluate", ("evaluate", "URL", "-m", "AP")),
        ("run", ("evaluate", "QRELS", "URL", "-m", "AP")),
        ("out", ("evaluate", "STORE", "-m", "AP", "--out", "URL")),
        ("store", ("ingest", "URL", "--out", "OUT")),
        ("reanalyze", ("reanalyze", "URL", "--out", "OUT")),
        ("reanalyze out", ("reanalyze", "STORE", "--out", "URL")),
        ("study", ("study", "depth", "URL", "--out", "OUT")),
        ("check", ("check", "URL")),
        ("diff", ("diff", "URL", "URL")),
        ("trec_eval", ("trec_eval", "URL", "URL")),
        ("verify", ("verify", "STORE", "--published", "URL")),
        ("mirror", ("fetch", "trec8/web", "--out", "OUT", "--mirror", "URL")),
        ("track", ("evaluate", "STORE", "-m", "AP", "--track", "URL")),
    ],
)
def test_commands__password_of_a_url_is_not_shown(
    made_store: irmeta.Store, tmp_path: Path, run, option: str, arguments: tuple[str, ...]
):
    (tmp_path / "qrels").write_text("1 0 a 1\n", encoding="utf-8")
    named = {"STORE": made_store.path, "OUT": tmp_path / "out", "QRELS": tmp_path / "qrels"}
    named["URL"] = "s3://me:secret@bucket/x.csv"
    done = run(*(named.get(argument, argument) for argument in arguments))
    assert done.status != 0, option
    assert "secret" not in done.out + done.err


@pytest.mark.parametrize("given", ["store", "/a/b", "C:/a", "C:\\a", "a:b", "a b://c", "", "é://a"])
def test_location__local_path(given: str):
    assert location(given) == local(given) == Path(given)


def test_local__url():
    with pytest.raises(UsageError, match=r"^gs://b/k: irmeta writes to local folders only"):
        local("gs://b/k")
    with pytest.raises(UsageError, match=r"^gs://b/k: irmeta writes"):
        write_text(Path("gs://b/k"), "text")


def test_remote_path__names():
    path = RemotePath("s3://b/a b%20.x") / "t.1.parquet"
    assert str(path) == "s3://b/a b%20.x/t.1.parquet" == str(pickle.loads(pickle.dumps(path)))
    assert (path.name, path.stem, path.suffix) == ("t.1.parquet", "t.1", ".parquet")
    assert RemotePath("s3://b").joinpath("x", "y") == RemotePath("s3://b/x/y")


def test_remote_path__folder(memory: RemotePath):
    names = ["a.json", "x/b.json", "x/c.txt", "x/y/d.json", "z%20ü/b.json"]
    for name in names:
        put(memory / name, name.encode())
    assert [path.name for path in memory.iterdir()] == ["a.json", "x", "z%20ü"]
    found = {
        pattern: [path.url.removeprefix("memory://folder/") for path in memory.glob(pattern)]
        for pattern in ("*.json", "*/b.json", "x/*.json", "**/*.json", "x/**/d*", "none/*")
    }
    assert found == {
        "*.json": ["a.json"],
        "*/b.json": ["x/b.json", "z%20ü/b.json"],
        "x/*.json": ["x/b.json"],
        "**/*.json": ["a.json", "x/b.json", "x/y/d.json", "z%20ü/b.json"],
        "x/**/d*": ["x/y/d.json"],
        "none/*": [],
    }
    assert (memory / "x").is_dir()
    assert not (memory / "x").is_file()
    assert (memory / "a.json").is_file()
    assert (memory / "a.json").exists()
    assert not (memory / "none").exists()
    with pytest.raises(FileNotFoundError):
        (memory / "none").read_bytes()


def test_remote_path__open(memory: RemotePath, monkeypatch: pytest.MonkeyPatch):
    content = bytes(range(256)) * 10
    put(memory / "file", content)
    monkeypatch.setattr("irmeta.locations.SMALL", 100)
    monkeypatch.setattr("irmeta.locations.END", 50)
    path = memory / "file"
    assert path.end == content[-50:]
    with path.open("rb") as stream:
        assert [stream.read(3), stream.seek(-3, 2), stream.read()] == [
            content[:3],
            2557,
            content[-3:],
        ]
        assert stream.seek(2500) == 2500
        assert stream.read() == content[2500:]
    path.hold()
    put(path, b"other")
    assert path.read_bytes() == content


def test_open_store__fsspec(memory: RemotePath, made_store: irmeta.Store):
    for path in made_store.path.rglob("*"):
        if path.is_file():
            put(memory / path.relative_to(made_store.path).as_posix(), path.read_bytes())
    store = irmeta.open_store("memory://folder")
    assert store.tracks == made_store.tracks
    assert store.means("AP,ERR-IA@5", track="web").equals(
        made_store.means("AP,ERR-IA@5", track="web")
    )
    assert irmeta.check(str(store.reader)).is_empty()


@pytest.mark.parametrize(("url", "says"), [("gs://b/k", "gcsfs"), ("nothing://b", "nothing")])
def test_open_store__unreadable_scheme(url: str, says: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "gcsfs", None)
    with pytest.raises(UsageError, match=says):
        irmeta.open_store(url)
