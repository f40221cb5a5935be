"""Fetches of made plans: joined qrels, data sets, checksums, and names of runs."""

from __future__ import annotations

import gzip
import hashlib
import sys
from collections import namedtuple
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

import irmeta
from irmeta.archive.catalog import QrelsChoice
from irmeta.archive.fetch import fetch_plan
from irmeta.archive.fetch_options import FetchOptions
from irmeta.archive.fetch_plan import Plan, Wanted, WantedSet, WantedTrack
from support.serving import serving
from support.tarring import tar_of

OTHER_HOST = "https://trec.nist.gov"
RUN = b"1 Q0 a 1 2 other\n1 Q0 b 2 1 other\n"


def made(choice: QrelsChoice, path: str, *parts: str, runs: dict[str, str | None]) -> Plan:
    """Return a plan of one track with runs (and their MD5) at OTHER_HOST/t/NAME."""
    files = [
        Wanted("x/t", "t", "run", name, f"t/runs/{name}", f"{OTHER_HOST}/t/{name}", md5)
        for name, md5 in runs.items()
    ]
    sources = [
        Wanted("x/t", "t", "qrels", choice.name, part, address)
        for part, address in zip(parts, choice.addresses, strict=True)
    ]
    systems = pl.DataFrame({"system": list(runs), "group": "g", "type": "auto"})
    one = WantedSet(choice, path, tuple(sources))
    return Plan((WantedTrack("x/t", "t", tuple(files), (one,), systems, "(.+)"),), pl.DataFrame())


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    folder = tmp_path / "mirror" / "t"
    folder.mkdir(parents=True)
    (folder / "r").write_bytes(RUN)
    (folder / "q").write_bytes(b"1 0 a 1\n2 0 a 1\n")
    parts = {f"part{i}.gz": gzip.compress(b"%d 0 a 1\n" % i) for i in (1, 2)}
    tar_of(folder / "q.tar.gz", parts)
    return folder.parent


PLAIN = QrelsChoice("qrels", (f"{OTHER_HOST}/t/q",))
PARTS = QrelsChoice("qrels", (f"{OTHER_HOST}/t/q.tar.gz",), ("part?.gz",))


def test_fetch_plan__joins_qrels_once(mirror: Path, tmp_path: Path):
    to, options = tmp_path / "to", FetchOptions(mirror=str(mirror))
    planned = made(PARTS, "t/qrels.txt", "t/sources/q.tar.gz", runs={"r": None})
    report = fetch_plan(planned, to, options)
    assert report.files["status"].to_list() == ["joined", "linked", "linked"]
    assert irmeta.read(to).means("RR").select("system", "queries", "value").rows() == [
        ("r", 2, 0.5)
    ]
    again = fetch_plan(planned, to, options)
    assert set(again.files["status"]) == {"up to date"}
    # another choice of members or queries
    some = replace(PARTS, queries=(2, 9))
    planned = made(some, "t/qrels.txt", "t/sources/q.tar.gz", runs={"r": None})
    assert fetch_plan(planned, to, options).files["status"].to_list()[0] == "joined"
    assert (to / "t" / "qrels.txt").read_bytes() == b"2 0 a 1\n"


def test_fetch_plan__archive_without_the_member(mirror: Path, tmp_path: Path):
    choice = replace(PARTS, members=("other",))
    planned = made(choice, "t/qrels.txt", "t/sources/q.tar.gz", runs={"r": None})
    report = fetch_plan(planned, tmp_path / "to", FetchOptions(mirror=str(mirror)))
    assert report.lost["reason"].to_list() == [
        "q.tar.gz: has no such member: 'other'. Known: part1.gz, part2.gz."
    ]
    assert not report.is_complete


def test_fetch_plan__qrels_of_ir_datasets(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")
    data = SimpleNamespace(has_qrels=lambda: True, qrels_iter=lambda: [qrel("1", "b", 1, "0")])
    known = {"made": data}
    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=known.__getitem__))
    choice = QrelsChoice("qrels", ("ir_datasets:made",))
    planned = made(choice, "t/qrels.txt", "t/qrels.txt", runs={"r": None})
    to, options = tmp_path / "to", FetchOptions(mirror=str(mirror))
    looked = fetch_plan(planned, to, replace(options, dry_run=True))
    assert looked.files["status"].to_list() == ["to fetch", "to fetch"]
    assert fetch_plan(planned, to, options).is_complete
    assert irmeta.read(to).means("RR")["value"].to_list() == [0.5]
    known.clear()
    report = fetch_plan(planned, tmp_path / "new", options)
    assert report.lost["reason"].str.contains("ir_datasets has no data set 'made'").all()


@pytest.mark.exhaustive
@pytest.mark.parametrize("place", ["folder", "host"])
@pytest.mark.parametrize("md5", [hashlib.md5(RUN).hexdigest(), "0" * 32])
@pytest.mark.parametrize("check", ["check", "note"])
def test_fetch_plan__md5(mirror: Path, tmp_path: Path, place: str, md5: str, check: str):
    planned = made(PLAIN, "t/qrels.txt", "t/qrels.txt", runs={"r": md5})
    with serving({"/t/r": RUN, "/t/q": b"1 0 a 1\n"}) as server:
        source = str(mirror) if place == "folder" else server.address
        report = fetch_plan(planned, tmp_path / "to", FetchOptions(mirror=source, md5=check))
    run = report.files.row(1, named=True)
    if md5 != "0" * 32:
        assert run["reason"] is None
    elif check == "note":
        assert run["reason"] == "the MD5 is not the catalogue's"
        assert run["sha256"] == hashlib.sha256(RUN).hexdigest()
    else:
        assert run["status"] == "failed"
        assert not (tmp_path / "to" / "t" / "runs" / "r").exists()


def test_fetch_plan__file_of_a_killed_fetch_with_the_md5(mirror: Path, tmp_path: Path):
    to = tmp_path / "to"
    (to / "t" / "runs").mkdir(parents=True)
    (to / "t" / "runs" / "r").write_bytes(RUN)
    planned = made(PLAIN, "t/qrels.txt", "t/qrels.txt", runs={"r": hashlib.md5(RUN).hexdigest()})
    report = fetch_plan(planned, to, FetchOptions(mirror=str(mirror)))
    assert report.files["status"].to_list() == ["linked", "up to date"]


def test_fetch_plan__odd_addresses(tmp_path: Path):
    names = {"a b": "/t/a%20b", "é": "/t/%C3%A9", "a%2Fb": "/t/a%2Fb"}
    planned = made(PLAIN, "t/qrels.txt", "t/qrels.txt", runs=dict.fromkeys(names))
    with serving(dict.fromkeys(names.values(), RUN) | {"/t/q": b"1 0 a 1\n"}) as server:
        report = fetch_plan(planned, tmp_path / "to", FetchOptions(mirror=server.address))
        assert sorted(server.paths()) == sorted([*names.values(), "/t/q"])
    assert report.is_complete
