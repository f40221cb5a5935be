"""Ingest: up-to-date tracks, interruption, damage, and reproducible bytes."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import irmeta
from irmeta.checksums import to_json
from irmeta.errors import DataError, SkippedRunWarning, UsageError
from irmeta.files import only_writer
from irmeta.policies import ReadPolicy
from irmeta.progress import showing
from irmeta.store import ingest as room
from irmeta.store import read_track as reading
from irmeta.store.ingest import ingest_collection
from irmeta.store.layout import FOLDERS, Layout
from irmeta.trec.streams import InputFile
from support.ingesting import FACTS, QRELS, RUN, TWO, content, outcomes, put, states, touched


def test_ingest__second_ingest_writes_nothing(made_store, collections, tmp_path):
    copy = tmp_path / "store"
    shutil.copytree(made_store.path, copy)
    before = touched(copy)
    assert set(states(collections, copy).values()) == {"unchanged"}
    assert touched(copy) == before


def test_ingest__unchanged_files_are_not_opened(two, store, monkeypatch):
    states(two, store)
    for place, name in ((reading, "read_qrels"), (reading, "read_run"), (room, "stored_sha256")):
        monkeypatch.delattr(place, name)
    assert states(two, store) == {"a": "unchanged", "b": "unchanged"}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("lost", [None, b"", b'{"a"', b"[]", b"null", b'{"a":[]}', b'{"a":5}'])
def test_ingest__lost_or_damaged_cache_is_harmless(two, store, lost):
    states(two, store)
    before = touched(store, but=".cache.json")
    (store / ".cache.json").unlink()
    if lost is not None:
        (store / ".cache.json").write_bytes(lost)
    assert states(two, store) == {"a": "unchanged", "b": "unchanged"}
    assert touched(store, but=".cache.json") == before


@pytest.mark.parametrize("how", ["touched", "lost"])
def test_ingest__file_hashes_are_cached(two, store, monkeypatch, how):
    states(two, store)
    if how == "lost":
        (store / ".cache.json").unlink()
    for file in two.rglob("*"):
        os.utime(file, ns=(1, 1))
    assert states(two, store) == {"a": "unchanged", "b": "unchanged"}
    monkeypatch.delattr(room, "stored_sha256")
    assert states(two, store) == {"a": "unchanged", "b": "unchanged"}


CONFIGURED = {
    "a/r": RUN,
    "b/r": RUN,
    "b/u": RUN.replace(" s\n", " u\n"),
    "b/f.csv": "run,team,kind,p\ns,x,x,no\nu,x,x,no\n",
    "q": QRELS,
    "collection.toml": '[tracks.a]\nruns = ["a/*"]\nqrels = "q"\n[tracks.b]\nruns = ["b/[ru]"]\n'
    + 'qrels = [{ name = "one", file = "b/q" }]\n'
    + FACTS.replace("f.csv", "b/f.csv"),
    "b/q": QRELS,
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "change",
    [
        {"b/r": RUN.replace("2.0", "0.5")},
        {"b/r": RUN[:-1]},
        {"b/r": "x\n"},
        {"b/q": QRELS.replace("1 0 c 0", "1 0 c 1")},
        {"b/f.csv": "run,team,kind,p\ns,x,x,yes\nu,x,x,no\n"},
        {"b/u": None},
        {"collection.toml": CONFIGURED["collection.toml"].replace("[ru]", "r")},
        {"collection.toml": CONFIGURED["collection.toml"].replace('"one"', '"two"')},
        {"collection.toml": CONFIGURED["collection.toml"] + 'tie_order = "file"\n'},
        {"collection.toml": CONFIGURED["collection.toml"] + "depth = 1\n"},
    ],
)
def test_ingest__change_rewrites_only_its_track(tmp_path, store, change):
    collection = put(tmp_path / "c", CONFIGURED)
    assert states(collection, store) == {"a": "written", "b": "written"}
    before = {name: fact for name, fact in touched(store).items() if "/a" in name}
    assert before
    old = content(store)
    put(collection, {name: new for name, new in change.items() if new is not None})
    for name, new in change.items():
        if new is None:
            (collection / name).unlink()
    assert states(collection, store) == {"a": "unchanged", "b": "written"}
    assert {name: fact for name, fact in touched(store).items() if "/a" in name} == before
    states(collection, tmp_path / "anew")
    assert content(store) == content(tmp_path / "anew")
    assert content(store) != old


@pytest.mark.exhaustive
def test_ingest__file_changed_during_ingest_is_read_again(two, store):
    def edit(track: str, done: int, files: int) -> None:
        if (track, done) == ("a", 1):  # the run is read, the track not yet written
            (two / "a/runs/s").write_text(RUN.replace("1 Q0 b", "1 Q0 c"))

    with showing("Reading", edit):
        ingest_collection(two, Layout(store), ReadPolicy(), workers=1)
    assert states(two, store) == {"a": "written", "b": "unchanged"}
    assert "c" in irmeta.open_store(store).runs("a").collect()["doc"].to_list()


def test_ingest__tracks_removed_from_collection_stay_in_store(two, store):
    states(two, store)
    shutil.rmtree(two / "a")
    assert states(two, store) == {"b": "unchanged"}
    assert irmeta.open_store(store).tracks == ["a", "b"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("workers", [1, 2, 7])
def test_ingest__bytes_do_not_depend_on_workers_or_path(made_store, collections, tmp_path, workers):
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(collections, elsewhere, copy_function=shutil.copyfile)  # new modification times
    with pytest.warns(SkippedRunWarning):
        again = irmeta.ingest(elsewhere, tmp_path / "deep" / "store", workers=workers)
    assert content(again.path) == content(made_store.path)
    assert again.fingerprint == made_store.fingerprint


READER = "read_qrels"
WRITERS = ["write_qrels", "write_docs_and_runs", "write_systems"]
MOVES = [*FOLDERS, "tracks"]
READ_ALL = [
    lambda store: store.evaluate("AP"),
    lambda store: store.runs(),
    lambda store: store.systems(),
    lambda store: store.fingerprint,
]


def kill_at(monkeypatch: pytest.MonkeyPatch, point: str, track: str) -> None:
    """Raise KeyboardInterrupt when work on `track` reaches `point`: a function or a move."""
    replace, place = os.replace, reading if point == READER else room
    function = getattr(place, point, None)

    def stop(where, *rest, **named):  # a file of a track or its staging folder
        path = where.name if isinstance(where, InputFile) else where
        if track in Path(path).parts:
            raise KeyboardInterrupt
        return function(where, *rest, **named)

    def move(source, target):
        path = Path(target)
        is_mark = path.suffix == ".json" and b"is_being_replaced" in Path(source).read_bytes()
        if (path.parent.name, path.stem) == (point, track) and not is_mark:
            raise KeyboardInterrupt
        replace(source, target)

    if function is not None:
        monkeypatch.setattr(place, point, stop)
    else:
        monkeypatch.setattr(os, "replace", move)


@pytest.mark.exhaustive
@pytest.mark.parametrize("before", ["nothing", "an older b"])
@pytest.mark.parametrize("point", [READER, *WRITERS, *MOVES])
def test_ingest__interrupted_ingest_keeps_complete_tracks_and_resumes(
    two, store, tmp_path, monkeypatch, point, before
):
    if before == "an older b":
        states(two, store)
    put(two, {"b/runs/s": RUN.replace("2.0", "0.25")})
    with monkeypatch.context() as patch:
        kill_at(patch, point, "b")
        with pytest.raises(KeyboardInterrupt):
            states(two, store)
    opened = irmeta.open_store(store)
    # The old track stays until the move begins; then it is an error until the new is complete.
    assert opened.tracks == (["a", "b"] if before == "an older b" else ["a"])
    assert set(opened.evaluate("AP", track="a")["track"]) == {"a"}
    if before == "an older b" and point in MOVES:
        for read in READ_ALL:
            with pytest.raises(DataError, match="track b: is being replaced by an ingest"):
                read(opened)
        assert list(irmeta.check(store)["file"]) == [str(store / "tracks" / "b.json")]
    else:
        assert opened.runs().collect().height == 3 * len(opened.tracks)
        assert sorted(set(opened.evaluate("AP", per_query=True)["track"])) == opened.tracks
    assert states(two, store) == {"a": "unchanged", "b": "written"}
    states(two, tmp_path / "anew")
    assert content(store) == content(tmp_path / "anew")
    assert not (store / ".staging").exists()
    assert states(two, store) == {"a": "unchanged", "b": "unchanged"}


@pytest.mark.exhaustive
def test_ingest__reader_of_all_tracks_never_misses_a_replaced_track(two, store, monkeypatch):
    """A reader looks after each rename of an ingest that replaces a track."""
    states(two, store)
    opened = irmeta.open_store(store)
    old = opened.evaluate("AP").rows()
    put(two, {"b/runs/s": RUN.replace("2.0", "0.25")})
    replace, seen = os.replace, []

    def move(source, target):
        replace(source, target)
        try:
            seen.append(irmeta.open_store(store).evaluate("AP").rows())
        except DataError as error:
            seen.append(str(error))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", move)
        states(two, store)
    new = opened.evaluate("AP").rows()
    assert new != old
    errors = [found for found in seen if isinstance(found, str)]
    assert len(errors) == 1 + len(FOLDERS)
    assert all("track b: is being replaced by an ingest" in found for found in errors)
    assert [found for found in seen if found not in errors] == [new] * (len(seen) - len(errors))


@pytest.mark.parametrize("bad", [{"b/qrels": "1 0 a x\n"}, {"b/runs/s": "x\n"}])
def test_ingest__failed_update_keeps_the_old_track(two, store, bad):
    states(two, store)
    before = touched(store)
    put(two, bad)
    outcome = outcomes(two, store)[1]
    assert outcome.state == "failed"
    assert isinstance(outcome.error, DataError)
    assert str(outcome.error).startswith("track b: ")
    after = touched(store)
    assert after.pop(".failed.json")
    assert after == before
    opened = irmeta.open_store(store)
    assert opened.failures == {"b": str(outcome.error)}
    assert opened.runs("b").collect().height == 3
    put(two, TWO)
    assert states(two, store)["b"] == "unchanged"
    assert irmeta.open_store(store).failures == {}


@pytest.mark.parametrize("file", ["x", "sub/x", "manifest.json"])
def test_ingest__folder_with_other_files_is_refused_as_store(two, tmp_path, file):
    folder = put(tmp_path / "other", {file: '{"name": "not a store"}'})
    before = touched(folder)
    with pytest.raises((UsageError, DataError), match=f"{folder}"):
        irmeta.ingest(two, folder)
    assert touched(folder) == before


def test_ingest__file_is_refused_as_store(two):
    with pytest.raises(UsageError, match="exists and is not an irmeta store"):
        irmeta.ingest(two, two / "a/qrels")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("hidden", [{}, {".DS_Store": "x"}, {".manifest.json.7.tmp": "{"}])
def test_ingest__folder_without_visible_files_becomes_a_store(two, tmp_path, hidden):
    (tmp_path / "empty").mkdir()
    assert irmeta.ingest(two, put(tmp_path / "empty", hidden)).tracks == ["a", "b"]


def test_ingest__second_writer_is_refused(two, store):
    states(two, store)
    with only_writer(store), pytest.raises(UsageError, match="another process is writing"):
        states(two, store)
    assert states(two, store) == {"a": "unchanged", "b": "unchanged"}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("damage", ["gone", "cut", "record cut"])
def test_ingest__damaged_track_is_rewritten(two, store, damage):
    states(two, store)
    whole = content(store)
    part = Layout(store).files("runs", "b")[0]
    if damage == "gone":
        part.unlink()
    elif damage == "cut":
        part.write_bytes(part.read_bytes()[:-9])
    else:
        record = store / "tracks" / "b.json"
        record.write_bytes(record.read_bytes()[:-9])
    assert states(two, store) == {"a": "unchanged", "b": "written"}
    assert content(store) == whole


def test_ingest__different_read_policy_is_refused(two, store):
    irmeta.ingest(two, store, depth=5)
    before = touched(store)
    with pytest.raises(UsageError, match=r"was made with ReadPolicy.*depth=5.*use another folder"):
        irmeta.ingest(two, store, depth=6)
    assert touched(store) == before
    assert irmeta.open_store(store).policy == ReadPolicy(depth=5)


def test_ingest__tracks_that_differ_only_in_case_are_refused(two, store):
    states(put(two, {"c/runs/s": RUN, "c/qrels": QRELS}), store)
    (two / "c").rename(two / "B")
    with pytest.raises(UsageError, match="tracks 'B' and 'b' differ only in case"):
        states(two, store)
    shutil.rmtree(two / "b")  # but the store has it
    with pytest.raises(UsageError, match="tracks 'B' and 'b' differ only in case"):
        states(two, store)


def test_ingest__track_name_too_long_for_a_folder_fails_alone(two, store):
    long = "検" * 30
    (two / "b").rename(two / long)
    (first, second) = outcomes(two, store)
    assert (first.track, first.state) == ("a", "written")
    assert (second.track, second.state) == (long, "failed")
    assert "too long for a folder's name" in str(second.error)


def test_ingest__named_pipe_among_runs_is_skipped(two, store):
    os.mkfifo(two / "a/runs/pipe")
    with pytest.warns(SkippedRunWarning, match="pipe: cannot be read .a pipe or a device"):
        irmeta.ingest(two, store)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("said", [b"{}", b"[]", b"null", b'{"files": {}}', b"{"])
def test_ingest__invalid_record_is_rewritten(two, store, said):
    states(two, store)
    before = content(store)
    (store / "tracks" / "a.json").write_bytes(said)
    assert states(two, store) == {"a": "written", "b": "unchanged"}
    assert content(store) == before


@pytest.mark.one_in(3)
@pytest.mark.parametrize("said", ["deepest_rank", "highest", "track"])
def test_ingest__record_with_checksum_mismatch_is_rewritten(two, store, said):
    states(two, store)
    before = content(store)
    file = store / "tracks" / "a.json"
    found = json.loads(file.read_bytes())
    place = found["qrels"][0] if said == "highest" else found
    place[said] = "b" if said == "track" else place[said] + 1
    file.write_bytes(to_json(found))
    with pytest.raises(DataError, match=r"a\.json: cannot be read \(checksum mismatch"):
        irmeta.open_store(store).means("AP", track="a")
    assert states(two, store) == {"a": "written", "b": "unchanged"}
    assert content(store) == before


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", FOLDERS)
def test_ingest__damaged_footer_is_detected_and_rewritten(two, store, kind):
    """Checksums of pages do not cover the footer."""
    states(two, store)
    before = content(store)
    file = store / kind / "a" / "part-0.parquet"
    raw = bytearray(file.read_bytes())
    raw[-100] ^= 1
    file.write_bytes(raw)
    with pytest.raises(DataError, match=r"track a: its files .* cannot be read .* was changed"):
        irmeta.open_store(store).reader.track("a").table(kind)
    assert states(two, store) == {"a": "written", "b": "unchanged"}
    assert content(store) == before


def test_ingest__tracks_may_be_an_iterator(two, store):
    put(two, {"b/runs/torn": "1 Q0 a\n"})
    with pytest.warns(SkippedRunWarning):
        irmeta.ingest(two, store, track=iter(["b"]))
    assert irmeta.ingest(two, store, track=iter(["a"])).tracks == ["a", "b"]
    (store / "tracks" / "b.json").write_text("{")
    assert irmeta.ingest(two, store, track="a").means("AP", track="a").height == 1


def changed_in_secret(file):
    """Change a file but keep its size and modification time."""
    before = os.stat(file)
    file.write_text(file.read_text().replace("1 Q0 b", "1 Q0 c"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert os.stat(file).st_size == before.st_size


def test_rehash__detects_change_with_equal_size_and_time(two, store):
    states(two, store)
    changed_in_secret(two / "a" / "runs" / "s")
    assert states(two, store) == {"a": "unchanged", "b": "unchanged"}
    assert states(two, store, rehash=True) == {"a": "written", "b": "unchanged"}
    assert "c" in irmeta.open_store(store).runs("a").collect()["doc"].to_list()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", FOLDERS)
def test_rehash__detects_damaged_page_in_store(two, store, kind):
    """The size and the footer of the file are unchanged."""
    states(two, store)
    before = content(store)
    file = store / kind / "a" / "part-0.parquet"
    raw = bytearray(file.read_bytes())
    raw[60] ^= 1
    file.write_bytes(raw)
    assert states(two, store) == {"a": "unchanged", "b": "unchanged"}
    assert states(two, store, rehash=True) == {"a": "written", "b": "unchanged"}
    assert content(store) == before


def test_ingest__temporary_files_of_killed_writers_are_removed(two, store):
    states(two, store)
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    for file in (".manifest.json", "tracks/.a.json"):
        (store / f"{file}.{killed.pid}.irmeta.tmp").write_text("half")
    states(two, store)
    assert not list(store.rglob("*.tmp"))
