"""Whole fetches from a server or a folder, up to results of the collection."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tomllib
from collections.abc import Generator
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.archive import fetch as fetching
from irmeta.archive.catalog import QrelsChoice
from irmeta.archive.fetch_options import FetchOptions
from irmeta.archive.fetch_plan import plan
from irmeta.archive.fetch_records import FetchedTrack, merge_collection, merge_systems
from irmeta.trec.collection import read_collection
from irmeta.trec.source import TrackSource
from support.serving import FakePauses, FileServer, sending, serving, with_password

QRELS = "/data/qrels_eng/qrels.trec8.small_web.gz"
TRACK = "trec8-web"


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


SYSTEMS = pl.DataFrame({"system": ["a", "b"], "group": ["g", None], "type": ["auto, x", "manual"]})
ADHOC = (QrelsChoice("adhoc", ("x",), format="prels"), "t/qrels.adhoc.txt")
DIVERSE = (QrelsChoice("diversity", ("y",), format="subtopics"), "t/qrels.diversity.txt")


def track(*sets: tuple[QrelsChoice, str], name: str = "t") -> FetchedTrack:
    return FetchedTrack(name, (f"{name}/runs",), r"(.+)(?:\.gz)", sets or (ADHOC,), SYSTEMS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files of the track."""
    (tmp_path / "t" / "runs").mkdir(parents=True)
    (tmp_path / "t" / "runs" / "a.gz").touch()
    for _, file in (ADHOC, DIVERSE):
        (tmp_path / file).touch()
    return tmp_path


def table(folder: Path) -> dict:
    return tomllib.loads((folder / "collection.toml").read_text(encoding="utf-8"))["tracks"]


def test_merge_collection__new_file(folder: Path):
    assert merge_collection(folder, [track(ADHOC, DIVERSE)]) == []
    (source,) = read_collection(folder)
    assert isinstance(source, TrackSource)
    assert [(one.name, one.format, one.subtopics) for one in source.qrels] == [
        ("adhoc", "prels", False),
        ("diversity", "trec", True),
    ]
    assert source.policy.names == r"(.+)(?:\.gz)"
    assert source.facts is not None
    facts = (folder / source.facts.file).read_text(encoding="utf-8")
    assert facts == 'system,group,type\na,g,"auto, x"\nb,,manual\n'


def test_merge_collection__again_changes_nothing(folder: Path):
    merge_collection(folder, [track()])
    files = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    merge_collection(folder, [track()])
    assert files == {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_merge_collection__keeps_comments_and_values_of_a_user(folder: Path):
    merge_collection(folder, [track()])
    file = folder / "collection.toml"
    text = "# mine\n" + file.read_text().replace('"(.+)', '"(a.*)') + "pool_depth_by_query = 1 # x"
    file.write_text(text)
    merge_collection(folder, [track(ADHOC, DIVERSE), track(name="u")])
    merged = file.read_text()
    assert merged.startswith(text)
    assert [one["name"] for one in table(folder)["t"]["qrels"]] == ["adhoc", "diversity"]
    assert table(folder)["t"]["names"] == r"(a.*)(?:\.gz)"
    assert set(table(folder)) == {"t", "u"}


def test_merge_collection__adds_facts_to_a_track_of_a_user(folder: Path):
    given = '[tracks.t]\nruns = ["t/runs/*"]\nqrels = "t/qrels.adhoc.txt"\n'
    (folder / "collection.toml").write_text(given)
    assert merge_collection(folder, [track(ADHOC, DIVERSE)]) == []
    assert table(folder)["t"]["qrels"] == "t/qrels.adhoc.txt"
    assert table(folder)["t"]["systems"]["file"] == "t/systems.csv"


def test_merge_collection__table_that_cannot_be_extended(folder: Path):
    given = 'tracks = { t = { runs = ["t/runs/*"], qrels = [{ name = "a", file = "b" }] } }\n'
    (folder / "collection.toml").write_text(given)
    (note,) = merge_collection(folder, [track()])
    assert note.startswith("t: add to collection.toml by hand: [tracks.t.systems] / file = ")
    assert (folder / "collection.toml").read_text() == given


def test_merge_collection__new_file_names_tracks_found_by_convention(folder: Path):
    (folder / "own" / "runs").mkdir(parents=True)
    (folder / "own" / "runs" / "x").touch()
    (folder / "own" / "qrels.txt").touch()
    merge_collection(folder, [track()])
    assert [source.name for source in read_collection(folder)] == ["own", "t"]
    assert table(folder)["own"] == {"runs": ["own/runs/*"], "qrels": "own/qrels.txt"}


def test_merge_collection__malformed_file(folder: Path):
    (folder / "collection.toml").write_text("tracks = [")
    with pytest.raises(irmeta.DataError, match="cannot be read as TOML"):
        merge_collection(folder, [track()])


def test_merge_systems__keeps_rows_and_columns_of_a_user(tmp_path: Path):
    file = tmp_path / "systems.csv"
    file.write_text("system,group,mine\nb,other,1\n")
    merge_systems(file, SYSTEMS)
    assert file.read_text() == "system,group,mine\nb,other,1\na,g,\n"
    file.write_text("name,group\n")
    with pytest.raises(irmeta.DataError, match="has no column 'system'"):
        merge_systems(file, SYSTEMS)
