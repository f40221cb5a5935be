"""Whole fetches from a server or a folder, up to results of the collection."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tomllib
from collections.abc import Generator
from pathlib import Path

import pytest

import irmeta
from irmeta.archive import fetch as fetching
from irmeta.archive.fetch_options import FetchOptions
from irmeta.archive.fetch_plan import plan
from support.serving import FakePauses, FileServer, sending, serving, with_password

RUNS = "/results/trec8/web"
QRELS = "/data/qrels_eng/qrels.trec8.small_web.gz"
TRACK = "trec8-web"
NAMES = ("acsys8wm", "CL99SDopt2", "uwmt8w1")  # of trec8/web, which has 44 runs


def run_of(name: str, doc: str) -> bytes:
    return gzip.compress(f"401 Q0 {doc} 1 2.0 {name}\n401 Q0 other 2 1.0 {name}\n".encode())


@pytest.fixture(scope="module")
def addresses() -> dict[str, str]:
    """Paths on the host by run."""
    given = irmeta.catalog("trec8/web").runs.select("run", "address").rows()
    return {run: "/" + address.split("/", 3)[3] for run, address in given}


@pytest.fixture
def served(addresses: dict[str, str]) -> dict[str, bytes]:
    names = sorted(addresses)[:3]
    files = {addresses[name]: run_of(name, f"d{i}") for i, name in enumerate(names)}
    return files | {QRELS: gzip.compress(b"401 0 d0 1\n401 0 d1 0\n401 0 other 1\n")}


@pytest.fixture
def server(served: dict[str, bytes]) -> Generator[FileServer]:
    with serving(served) as state:
        yield state


@pytest.fixture
def mirror(served: dict[str, bytes], tmp_path: Path) -> Path:
    """The same files in a folder."""
    for path, content in served.items():
        file = tmp_path / "mirror" / path[1:]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return tmp_path / "mirror"


def fetch(to: Path, mirror: object, **given: object) -> irmeta.FetchReport:
    return irmeta.fetch("trec8/web", to, mirror=str(mirror), **given)


def statuses(report: irmeta.FetchReport) -> dict[str, int]:
    counts = report.files.group_by("status").len()
    return dict(counts.iter_rows())


def test_fetch__from_a_host_to_results(server: FileServer, tmp_path: Path, run, undrawn):
    to = tmp_path / "tracks"
    done = run("fetch", "trec8/web", "--out", to, "--mirror", server.address)
    assert done.status == 3  # 41 runs are missing
    assert "41 files missing, 404 Not Found: trec8-web/runs/" in done.err
    assert server.most_busy <= 4
    results = tmp_path / "results"
    assert run("reanalyze", to, "--out", results).status == 0
    systems = irmeta.open_store(results / "store").systems()
    assert systems["system"].to_list() == sorted(irmeta.catalog("trec8/web").runs["run"])[:3]
    assert systems["group"].null_count() == 0
    means = irmeta.open_store(results / "store").means("RR")
    assert sorted(means["value"]) == [0.5, 0.5, 1.0]


def test_fetch__writes_lock_and_collection(server: FileServer, tmp_path: Path):
    report = fetch(tmp_path, server.address)
    assert statuses(report) == {"fetched": 4, "missing": 41}
    assert repr(report).startswith("FetchReport(4 files fetched, 41 files missing)\ntrack")
    lock = json.loads((tmp_path / "fetch.lock.json").read_bytes())
    assert list(lock["files"]) == sorted(report.files.drop_nulls("sha256")["path"])
    record = lock["files"][f"{TRACK}/qrels.gz"]
    assert record["source"] == server.address + QRELS
    assert record["bytes"] == len(server.files[QRELS])
    table = tomllib.loads((tmp_path / "collection.toml").read_text())["tracks"][TRACK]
    assert table["names"] == r"(.+)(?:\.gz)"
    assert table["qrels"] == [{"name": "qrels", "file": f"{TRACK}/qrels.gz"}]


@pytest.mark.exhaustive
def test_fetch__keeps_what_is_there(server: FileServer, tmp_path: Path):
    fetch(tmp_path, server.address)
    before = (tmp_path / "fetch.lock.json").read_bytes()
    server.requests.clear()
    assert statuses(fetch(tmp_path, server.address)) == {"up to date": 4, "missing": 41}
    assert len(server.requests) == 41
    assert (tmp_path / "fetch.lock.json").read_bytes() == before


@pytest.mark.exhaustive
def test_fetch__fetches_changed_and_removed_files_again(server: FileServer, tmp_path: Path):
    report = fetch(tmp_path, server.address)
    changed, removed = report.files.filter(status="fetched", kind="run")["path"].head(2)
    size = (tmp_path / changed).stat().st_size
    (tmp_path / changed).write_bytes(bytes(size))
    (tmp_path / removed).unlink()
    assert statuses(fetch(tmp_path, server.address)) == {
        "up to date": 2, "fetched": 2, "missing": 41,
    }  # fmt: skip


@pytest.mark.exhaustive
def test_fetch__empty_answer_is_a_failure(server: FileServer, tmp_path: Path):
    full = dict(server.files)
    run = next(path for path in full if path != QRELS)
    server.files |= {run: b"", QRELS: gzip.compress(b"Not found\n")}
    report = fetch(tmp_path, server.address, md5="note")
    assert statuses(report) == {"fetched": 2, "failed": 2, "missing": 41}
    reasons = report.lost.filter(status="failed")["reason"].to_list()
    assert reasons == ["has no line of qrels", "is empty"]
    server.files |= full
    assert statuses(fetch(tmp_path, server.address)) == {
        "up to date": 2, "fetched": 2, "missing": 41,
    }  # fmt: skip


@pytest.mark.exhaustive
def test_fetch__files_of_earlier_checks_are_checked_again(server: FileServer, tmp_path: Path):
    """A fetch that believed an empty answer is mended by the next."""
    report = fetch(tmp_path, server.address)
    file = tmp_path / "fetch.lock.json"
    record = json.loads(file.read_bytes())
    empty = report.files.filter(status="fetched", kind="run")["path"][0]
    (tmp_path / empty).write_bytes(b"")
    record["files"][empty] |= {"bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()}
    for one in record["files"].values():
        assert one.pop("checks") == 1
    file.write_text(json.dumps(record), encoding="utf-8")
    assert statuses(fetch(tmp_path, server.address)) == {
        "up to date": 3, "fetched": 1, "missing": 41,
    }  # fmt: skip
    assert all(one["checks"] == 1 for one in json.loads(file.read_bytes())["files"].values())


@pytest.mark.exhaustive
def test_fetch__hostile_answer_is_a_failure_of_its_file(server: FileServer, tmp_path: Path):
    run = next(path for path in server.files if path != QRELS)
    server.faults[run] = [sending(200, b"", Content_Length="9" * 5000)] * 5
    pauses, options = FakePauses(), FetchOptions(mirror=server.address)  # the client tries again
    report = fetching.fetch_plan(plan(["trec8/web"]), tmp_path, options, pauses=pauses)
    assert statuses(report) == {"fetched": 3, "failed": 1, "missing": 41}


@pytest.mark.exhaustive
def test_fetch__without_qrels_is_not_a_track(server: FileServer, tmp_path: Path):
    qrels = server.files.pop(QRELS)
    report = fetch(tmp_path, server.address)
    assert report.notes == (
        f"{TRACK}: not in collection.toml, since its primary qrels are not there",
    )
    assert not (tmp_path / "collection.toml").exists()
    server.files[QRELS] = qrels
    assert fetch(tmp_path, server.address).notes == ()
    assert irmeta.read(tmp_path).tracks == [TRACK]


def test_fetch__dry_run(server: FileServer, tmp_path: Path, run):
    to = tmp_path / "new"
    report = fetch(to, server.address, dry_run=True)
    assert statuses(report) == {"to fetch": 4, "missing": 41}
    assert report.files["bytes"].sum() == sum(map(len, server.files.values()))
    assert server.paths() == []
    assert not to.exists()


@pytest.mark.parametrize("placement", ["link", "copy"])
def test_fetch__from_a_folder(mirror: Path, tmp_path: Path, placement: str, run):
    to = tmp_path / "tracks"
    done = run("fetch", "trec8/web", "--out", to, "--mirror", mirror, f"--{placement}")
    assert done.status == 3
    assert "not in the mirror" in done.err
    assert (to / TRACK / "qrels.gz").is_symlink() == (placement == "link")
    assert irmeta.read(to).means("RR").height == 3
    assert statuses(fetch(to, mirror, placement=placement)) == {"up to date": 4, "missing": 41}


@pytest.mark.exhaustive
def test_fetch__refused_without_password(server: FileServer, tmp_path: Path, run, monkeypatch):
    server.always = with_password("me", "secret")
    monkeypatch.setenv("NETRC", str(tmp_path / "none"))
    report = fetch(tmp_path / "tracks", server.address)
    assert statuses(report)["refused"] >= 3
    assert len(server.requests) < 12  # the host is not asked for all files
    assert report.lost["reason"].str.contains("not asked, since").any()
    asked = run("fetch", "trec8/adhoc", "--out", tmp_path, "--user", "me")
    assert asked.status == 2
    assert "password of me cannot be asked for without a terminal: set IRMETA_PASSWORD" in asked.err
    monkeypatch.setenv("IRMETA_PASSWORD", "secret")
    done = run("fetch", "trec8/web", "--out", tmp_path / "t", "--mirror", server.address,
               "--user", "me")  # fmt: skip
    assert "41 files missing" in done.err
    for file in (tmp_path / "t").rglob("*"):
        assert not file.is_file() or b"secret" not in file.read_bytes()


@pytest.mark.exhaustive
def test_fetch__interrupted(server: FileServer, tmp_path: Path):
    """An interrupt keeps what came, and the next fetch continues."""
    done: list[str] = []

    def interrupt(what: str, finished: int, files: int) -> None:
        done.append(what)
        if finished == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(tmp_path, server.address, progress=interrupt)
    lock = json.loads((tmp_path / "fetch.lock.json").read_bytes())
    assert lock["files"]
    assert not (tmp_path / "collection.toml").exists()
    report = fetch(tmp_path, server.address)
    assert statuses(report)["up to date"] >= len(lock["files"])
    assert statuses(report)["missing"] == 41


@pytest.mark.exhaustive
def test_fetch__command_interrupted(server: FileServer, tmp_path: Path, run, monkeypatch):
    left: list[int] = []

    def leave(code: int) -> None:
        left.append(code)
        raise SystemExit(code)

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "_exit", leave)
    monkeypatch.setattr(fetching, "merge_collection", interrupt)
    done = run("fetch", "trec8/web", "--out", tmp_path, "--mirror", server.address)
    assert left == [130]
    assert "run again to continue" in done.err


@pytest.mark.exhaustive
def test_fetch__killed_before_the_lock_was_written(server: FileServer, tmp_path: Path):
    """Files with the catalogue's MD5 need no record; others are fetched again."""
    fetch(tmp_path, server.address)
    (tmp_path / "fetch.lock.json").unlink()
    assert statuses(fetch(tmp_path, server.address)) == {"fetched": 4, "missing": 41}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{}", "its fields are others"),
        ('{"format": 2, "files": {}}', "format 2"),
        ('{"format": 1, "files": {"a": {"other": 1}}}', "its fields"),
        ('{"format": 1, "files', "line 1 column 15"),
    ],
)
def test_fetch__damaged_lock(server: FileServer, tmp_path: Path, text: str, why: str):
    (tmp_path / "fetch.lock.json").write_text(text)
    with pytest.raises(irmeta.DataError, match=f"cannot be read as a lock file of fetch.*{why}"):
        fetch(tmp_path, server.address)


@pytest.mark.exhaustive
def test_fetch__only_one_at_a_time(server: FileServer, tmp_path: Path):
    problems: list[str] = []

    def again(what: str, finished: int, files: int) -> None:
        if finished == 1 and not problems:
            problems.append("")
            try:
                fetch(tmp_path, server.address)
            except irmeta.UsageError as error:
                problems[0] = str(error)

    fetch(tmp_path, server.address, progress=again)
    assert "another process is writing" in problems[0]


@pytest.mark.exhaustive
def test_fetch__one_request_a_second_at_the_start(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("irmeta.archive.http_client.is_loopback", lambda address: False)
    pauses, options = FakePauses(), FetchOptions(mirror=server.address)
    fetching.fetch_plan(plan(["trec8/web"]), tmp_path, options, pauses=pauses)
    # 20 intervals of a second, 20 of half a second, 4 of a quarter; threads may overlap.
    assert 20 <= pauses.time <= 45


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"mirror": "no-folder"}, "mirror = 'no-folder' is neither a folder nor an http address"),
        ({"mirror": "https://me:secret@host/"}, "holds a user's name: use `user=`"),
        ({"placement": "move"}, "placement = 'move' is not a choice"),
        ({"tracks": "trec8/wep"}, "Did you mean 'trec8/web'"),
    ],
)
def test_fetch__invalid_argument(tmp_path: Path, given: dict[str, str], problem: str):
    with pytest.raises(irmeta.UsageError, match=problem):
        irmeta.fetch(**{"tracks": "trec8/web", "out": tmp_path, "mirror": tmp_path, **given})


def test_fetch__without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "httpx", None)
    with pytest.raises(irmeta.UsageError, match=r"pip install 'irmeta\[fetch\]'"):
        irmeta.fetch("trec8/web", tmp_path)
