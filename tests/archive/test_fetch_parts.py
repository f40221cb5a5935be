"""Parts of a fetch: plans, mirrors, joined files, and the limits of a host."""

from __future__ import annotations

import gzip
import re
import threading
import zipfile
from contextlib import ExitStack
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.archive import content, fetch_plan
from irmeta.archive.catalog import QrelsChoice, TaskChoice, TrackChoices
from irmeta.archive.content import join_parts
from irmeta.archive.fetch import FolderMirror, UrlMirror
from irmeta.archive.fetch_plan import plan
from irmeta.archive.http_client import HostLimits, StoppedError
from support.serving import FakePauses
from support.tarring import tar_of

HOST = "https://trec.nist.gov"


def made_plan(
    monkeypatch: pytest.MonkeyPatch, runs: dict[str, str], *sets: QrelsChoice
) -> fetch_plan.WantedTrack:
    """Return the plan of a made track with runs at these addresses."""
    rows = [
        {"id": "x/y", "task": "", "run": run, "group": "g", "type": None, "address": address}
        for run, address in runs.items()
    ]
    frame = pl.DataFrame(rows, schema_overrides={"type": pl.String}).with_columns(
        md5=pl.lit(None, pl.String)
    )
    task = TaskChoice("", "x-y", ("",), sets or (QrelsChoice("qrels", (f"{HOST}/q.txt",)),))
    monkeypatch.setattr(fetch_plan, "runs", lambda: frame)
    monkeypatch.setattr(fetch_plan, "choices", lambda one: TrackChoices(one, "ready", "", (task,)))
    (track,) = plan(["x/y"]).tracks
    return track


@pytest.mark.exhaustive
def test_plan__all_ready_tracks():
    """Paths are distinct where case is ignored, stay below the folder, and give systems' names."""
    ready = irmeta.catalog(state="ready")
    planned = plan(ready.ids)
    paths = [file.path.lower() for file in planned.files()]
    paths += [one.path.lower() for t in planned.tracks for one in t.sets if one.is_joined]
    assert len(set(paths)) == len(paths)
    assert not [path for path in paths if not re.fullmatch(r"[\w.%-]+(/[\w.%-]+)+", path)]
    for track in planned.tracks:
        if track.names is not None:
            files = [run.path.rpartition("/")[2] for run in track.runs]
            matches = [re.fullmatch(track.names, file) for file in files]
            assert {m[1] for m in matches if m} <= set(track.systems["system"])
            assert all(matches)
    systems = sum(len(track.runs) for track in planned.tracks)
    assert systems > 7000


def test_plan__left_out_is_named_with_its_reason():
    left = plan(irmeta.catalog(["trec4/adhoc", "trec8/qa", "trec20/entity"]).ids).left_out
    assert set(left["id"]) == {"trec4/adhoc", "trec8/qa", "trec20/entity"}
    assert left["reason"].str.len_chars().min() > 10
    assert left.filter(id="trec4/adhoc")["task"].to_list() == ["b"]


def test_plan__odd_names_of_runs(monkeypatch: pytest.MonkeyPatch):
    names = ["CON", "a b", "a/../b", "é", "Run1", "run1", "x.gz", "%41", ".hidden"]
    track = made_plan(monkeypatch, {name: f"{HOST}/{i}.gz" for i, name in enumerate(names)})
    assert {run.name: run.path.removeprefix("x-y/") for run in track.runs} == {
        "CON": "runs/%43ON.gz",
        "a b": "runs/a%20b.gz",
        "a/../b": "runs/a%2F..%2Fb.gz",
        "é": "runs/%C3%A9.gz",
        "Run1": "runs/Run1.gz",
        "run1": "runs2/run1.gz",  # some file systems ignore case
        "x.gz": "runs/x.gz.gz",
        "%41": "runs/%2541.gz",
        ".hidden": "runs/%2Ehidden.gz",
    }
    assert track.names == r"(.+)(?:\.gz)"


def test_plan__archives_of_runs_keep_their_name(monkeypatch: pytest.MonkeyPatch):
    one = f"{HOST}/all%20runs.tar.gz"
    track = made_plan(monkeypatch, {"a": one, "b": one, "c": f"{HOST}/c.gz"})
    assert [run.path for run in track.runs] == ["x-y/runs/all%2520runs.tar.gz", "x-y/runs/c.gz"]
    assert track.names is None


def test_plan__runs_without_an_address(monkeypatch: pytest.MonkeyPatch):
    made_plan(monkeypatch, {"a": f"{HOST}/a.gz", "b": None})
    left = plan(["x/y"]).left_out
    assert left["state"].to_list() == ["no address"]
    assert left["reason"].to_list() == ["the catalogue has no address of 1 run: b"]


def test_plan__qrels_sets(monkeypatch: pytest.MonkeyPatch):
    track = made_plan(
        monkeypatch,
        {"a": f"{HOST}/a"},
        QrelsChoice("adhoc", (f"{HOST}/1.gz",), format="prels"),
        QrelsChoice("both", (f"{HOST}/1.tar", f"{HOST}/2.tar"), ("*",), primary=False),
        QrelsChoice("some", (f"{HOST}/q",), primary=False, queries=(1, 50)),
    )
    first, second, third = track.sets
    assert third.is_joined
    assert (first.path, first.is_joined) == ("x-y/qrels.adhoc.gz", False)
    assert (second.path, second.is_joined) == ("x-y/qrels.both.txt", True)
    assert [part.path for part in second.parts] == ["x-y/sources/1.tar", "x-y/sources/2.tar"]


def test_join_parts__compressed_members_in_order_of_names(tmp_path: Path):
    """The qrels of TREC-7 ad hoc are five gz files in a tar.gz."""
    parts = {f"d/q.part{i}.gz": gzip.compress(b"%d 0 a 1" % i) for i in (2, 1, 3)}
    file = tar_of(tmp_path / "q.tar.gz", {**parts, "readme": b"text"})
    join_parts([file], ["*part?.gz"], tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"1 0 a 1\n2 0 a 1\n3 0 a 1\n"


def test_join_parts__members_of_zip_in_order_of_patterns(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "q.zip", "w") as file:
        file.writestr("a", "1 0 a 1\n")
        file.writestr("b", "2 0 a 1\n")
    join_parts([tmp_path / "q.zip"], ["b", "a"], tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"2 0 a 1\n1 0 a 1\n"


def test_join_parts__files(tmp_path: Path):
    (tmp_path / "1").write_bytes(gzip.compress(b"1 0 a 1\n"))
    (tmp_path / "2").write_bytes(b"2 0 a 1")
    join_parts([tmp_path / "1", tmp_path / "2"], [], tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"1 0 a 1\n2 0 a 1\n"


def test_join_parts__queries(tmp_path: Path):
    (tmp_path / "q").write_bytes(b"9 0 a 1\n10 0 a 1\n\n11 0 a 1\nx 0 a 1\n12 0 a 1\n")
    join_parts([tmp_path / "q"], [], tmp_path / "out", (10, 11))
    assert (tmp_path / "out").read_bytes() == b"10 0 a 1\n11 0 a 1\n"


def test_join_parts__writes_nothing_under_a_name_of_the_archive(tmp_path: Path):
    file = tar_of(tmp_path / "q.tar.gz", {"../evil": b"1 0 a 1\n", "/abs": b"2 0 a 1\n"})
    (tmp_path / "below").mkdir()
    join_parts([file], ["*"], tmp_path / "below" / "out")
    assert sorted(f.name for f in tmp_path.rglob("*")) == ["below", "out", "q.tar.gz"]
    assert (tmp_path / "below" / "out").read_bytes() == b"1 0 a 1\n2 0 a 1\n"


def test_join_parts__no_such_member(tmp_path: Path):
    file = tar_of(tmp_path / "q.tar.gz", {"qrels.txt": b"1 0 a 1\n"}, {"link": "/etc/passwd"})
    with pytest.raises(irmeta.DataError, match=r"has no such member: 'qrels'. Did you mean"):
        join_parts([file], ["qrels"], tmp_path / "out")
    with pytest.raises(irmeta.DataError, match="a link or a device in an archive is not read"):
        join_parts([file], ["link"], tmp_path / "out")
    (tmp_path / "text").write_bytes(b"1 0 a 1\n")
    with pytest.raises(irmeta.DataError, match="is not a tar or zip archive"):
        join_parts([tmp_path / "text"], ["*"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_join_parts__bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(content, "ALWAYS_EXPANDED", 1 << 20)
    file = tar_of(tmp_path / "q.tar.gz", {"q.gz": gzip.compress(bytes(16 << 20))})
    with pytest.raises(irmeta.DataError, match="expands to more than 200 times its size"):
        join_parts([file], ["*"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "place", ["trec.nist.gov/results/t/x.gz", "results/t/x.gz", "t/x.gz", "trec.nist.gov/t/x.gz"]
)
def test_folder_mirror__layouts(tmp_path: Path, place: str):
    file = tmp_path / place
    file.parent.mkdir(parents=True)
    file.touch()
    found = FolderMirror(tmp_path).find(f"{HOST}/results/t/x.gz")
    assert (found == file) == (place != "trec.nist.gov/t/x.gz")


def test_folder_mirror__ambiguous_file_name_and_parent_folders(tmp_path: Path):
    (tmp_path / "x.gz").touch()
    (tmp_path / "below").mkdir()
    assert FolderMirror(tmp_path).find(f"{HOST}/results/t/x.gz") is None
    assert FolderMirror(tmp_path / "below").find(f"{HOST}/a/%2E%2E/x.gz") is None


def test_url_mirror__keeps_path_and_query():
    mirror = UrlMirror("http://lab.org:8000/trec/")
    assert mirror.address(f"{HOST}/a%20b/c?d=e") == "http://lab.org:8000/trec/a%20b/c?d=e"


def test_host_limits__interval_adapts_to_answers():
    pauses = FakePauses()
    limits, address = HostLimits(pauses), f"{HOST}/x"

    def interval() -> float:
        starts = []
        for _ in range(2):
            with limits.turn(address):
                starts.append(pauses.now())
        return starts[1] - starts[0]

    assert interval() == 1.0
    for expected in (0.5, 0.25, 0.25):
        for _ in range(20):
            limits.answered(address)
        assert interval() == expected
    limits.overloaded(address, 30)
    before = pauses.now()
    with limits.turn(address):
        assert pauses.now() - before >= 30
    assert interval() == 1.0
    limits.overloaded(address, None)
    interval()
    assert interval() == 2.0
    with limits.turn("https://other.org/"):  # a host of its own
        pass


def test_host_limits__four_connections():
    limits, address = HostLimits(FakePauses()), f"{HOST}/x"

    def hold() -> None:
        with limits.turn(address):
            pass

    fifth = threading.Thread(target=hold)
    with ExitStack() as held:
        for _ in range(4):
            held.enter_context(limits.turn(address))
        fifth.start()
        fifth.join(0.05)
        assert fifth.is_alive()
    fifth.join(5)
    assert not fifth.is_alive()


def test_host_limits__this_computer_has_no_interval():
    pauses = FakePauses()
    limits = HostLimits(pauses)
    for address in ("http://localhost:1/", "http://127.0.0.1/", "http://[::1]:80/"):
        for _ in range(3):
            with limits.turn(address):
                pass
    assert pauses.slept == []


def test_host_limits__leaves_a_host_after_failures_in_a_row():
    limits = HostLimits(FakePauses())
    for _ in range(2):
        limits.failed("https://a/1", "reason")
    limits.answered("https://a/2")
    limits.failed("https://a/1", "reason")
    assert limits.left("https://a/") is None
    for _ in range(2):
        limits.failed("https://a/1", "reason")
    assert limits.left("https://a/") == "reason"
    assert limits.left("https://b/") is None


def test_pauses__end_when_stopped():
    pauses = FakePauses()
    pauses.stop()
    with pytest.raises(StoppedError):
        pauses.pause(1000)
