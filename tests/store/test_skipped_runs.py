"""Unreadable runs are skipped with a reason; messages quote no content of other files."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.errors import IrmetaError, QrelsWarning, SkippedRunWarning
from irmeta.policies import ReadPolicy
from irmeta.progress import showing
from irmeta.store.ingest import ingest_collection
from irmeta.store.layout import Layout
from support.ingesting import QRELS, RUN, outcomes, put, states

BAD_RUNS = {
    "malformed": ("1 Q0 a 1\n", "line 1: 4 fields where a run has six: '1 Q0 a 1'"),
    "nan": ("1 Q0 a 1 nan n\n", "line 1: field 5 (the score) is not a finite number: 'nan'"),
    "empty": ("", "is empty"),
    "comments": ("# nothing\n", "holds no result"),
    "nul": ("1 Q0 a 1 2 \0\n", "line 1: NUL byte"),
    "cut.gz": (gzip.compress(RUN.encode())[:-9], "compressed data cannot be read"),
    "damaged.gz": (gzip.compress(RUN.encode() * 99)[:12] + b"\xff" * 99, "compressed data cannot"),
    "long": ("1 Q0 a 1 2 " + "x" * (2 << 20), "line 1: a line of more than a megabyte"),
    "twice": ("1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n", "line 2: query 1 has doc a a second time, first in"),
    "unjudged": ("9 Q0 a 1 2 u\n", "none of its queries is judged. Are these the runs of another"),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("file", BAD_RUNS)
def test_ingest__invalid_run_is_skipped_with_reason(tmp_path, store, file):
    bad, reason = BAD_RUNS[file]
    files = {"t/runs/a-good": RUN, f"t/runs/{file}": bad, "t/qrels": QRELS}
    collection = put(tmp_path / "c", files)
    with pytest.warns(SkippedRunWarning, match=f"^1 run skipped: {collection}/t/runs/"):
        opened = irmeta.ingest(collection, store)
    systems = opened.systems()
    (aside,) = systems.filter(pl.col("skip_reason").is_not_null()).iter_rows(named=True)
    assert aside["file"] == f"t/runs/{file}"
    assert aside["skip_reason"].startswith(f"t/runs/{file}")
    assert reason in aside["skip_reason"]
    assert len(aside["skip_reason"]) < 300
    assert "\n" not in aside["skip_reason"]
    assert (aside["rows"], aside["lists"]) == (0, 0)
    assert systems.filter(pl.col("skip_reason").is_null())["system"].to_list() == ["s"]
    assert opened.info().select("systems", "skipped_runs", "rows").row(0) == (1, 1, 3)
    assert opened.runs().collect().height == 3
    assert opened.means("AP")["system"].to_list() == ["s"]


@pytest.mark.parametrize(
    ("target", "reason"), [("nowhere", "cannot be read .No such file"), ("c", "is a directory")]
)
def test_ingest__link_that_is_no_file_is_skipped(tmp_path, store, target, reason):
    collection = put(tmp_path / "c", {"t/runs/s": RUN, "t/qrels": QRELS})
    (collection / "t/runs/link").symlink_to(tmp_path / target)
    with pytest.warns(SkippedRunWarning, match=f"t/runs/link: {reason}"):
        assert irmeta.ingest(collection, store).info()["skipped_runs"].item() == 1


@pytest.mark.parametrize("renamed", ["a/runs/s", "a/qrels"])
def test_ingest__file_name_that_is_not_utf8_fails_alone(two, store, renamed):
    if renamed == "a/runs/s":
        put(two, {"a/runs/other": RUN.replace(" s\n", " other\n")})
    other = os.fsdecode((two / renamed).parent.as_posix().encode() + b"/qrels\xe9")
    (two / renamed).rename(other)
    for again in ("written", "unchanged"):
        assert states(two, store)["b"] == again
    assert "b" in irmeta.open_store(store).tracks


def test_ingest__folder_name_that_is_not_utf8_is_refused(two, store):
    (two / "a").rename(two / os.fsdecode(b"\xe9"))
    with pytest.raises(IrmetaError, match="UTF-8"):
        irmeta.ingest(two, store)


def test_ingest__first_run_of_a_tag_is_kept_for_any_workers(tmp_path, store):
    runs = {f"t/runs/{i:02}": f"1 Q0 d{i} 1 1 same\n" for i in range(30)}
    collection = put(tmp_path / "c", {**runs, "t/qrels": QRELS})
    ingest_collection(collection, Layout(store), ReadPolicy(names="tag"), workers=8)
    opened = irmeta.open_store(store)
    assert opened.runs().collect()["doc"].to_list() == ["d0"]
    assert opened.info()["skipped_runs"].item() == 29
    said = "system 'same' is already read from t/runs/00. Name systems by file: `names="
    assert said in opened.systems()["skip_reason"][29]


@pytest.mark.exhaustive
@pytest.mark.parametrize("bad", ["graded", "binary"])
def test_ingest__unreadable_qrels_set_is_left_out_and_named(tmp_path, store, run, bad):
    config = "[tracks.t]\n" + "".join(
        f'[[tracks.t.qrels]]\nname = "{name}"\nfile = "t/{name}"\n' for name in ("binary", "graded")
    )
    files = {"t/binary": QRELS, "t/graded": QRELS, "t/runs/s": RUN, "collection.toml": config}
    collection = put(tmp_path / "c", files | {f"t/{bad}": "1 0 a x\n"})
    said = f"qrels set '{bad}' is left out: t/{bad}, line 1: field 4 "
    with pytest.warns(QrelsWarning, match=f"^track t: {said}"):
        opened = irmeta.ingest(collection, store)
    (good,) = {"binary", "graded"} - {bad}
    assert opened.qrels("t").collect()["set"].unique().to_list() == [good]
    assert ("primary" in opened.warnings("t")["qrels_sets"]) is (bad == "binary")
    with pytest.warns(QrelsWarning, match=said):
        irmeta.read(collection)
    done = run("ingest", collection, "--out", store, "--strict")
    assert (done.status, said in done.err) == (3, True)
    assert states(collection, store) == {"t": "unchanged"}
    put(collection, {f"t/{bad}": QRELS})
    assert states(collection, store) == {"t": "written"}
    assert irmeta.open_store(store).warnings("t") == {}


def test_ingest__track_without_usable_run_fails_with_first_reason(tmp_path, store):
    collection = put(tmp_path / "c", {"t/runs/s": "x\n", "t/runs/t": "", "t/qrels": QRELS})
    (outcome,) = outcomes(collection, store)
    assert outcome.state == "failed"
    assert str(outcome.error).startswith(
        f"track t: none of its 2 runs can be used. The first: {collection}/t/runs/s, line 1"
    )
    assert irmeta.open_store(store).tracks == []


def test_ingest__failed_track_raises_after_other_tracks(two, store):
    put(two, {"a/qrels": "1 0 a one\n"})
    with pytest.raises(IrmetaError, match=f"^1 of 2 tracks failed. track a: {two}/a/qrels, line 1"):
        irmeta.ingest(two, store)
    assert irmeta.open_store(store).tracks == ["b"]


def test_ingest__skipped_run_does_not_occupy_a_system_name(tmp_path, store):
    runs = {"t/runs/a": "1 Q0 a x 2 s\n", "t/runs/b": "1 Q0 a 1 2 s\n", "t/qrels": QRELS}
    with pytest.warns(SkippedRunWarning, match="t/runs/a: tie order `rank`"):
        opened = irmeta.ingest(put(tmp_path / "c", runs), store, tie_order="rank")
    kept = opened.systems().filter(pl.col("skip_reason").is_null())
    assert kept.select("system", "file").rows() == [("s", "t/runs/b")]


def test_ingest__progress_reports_each_file(two, store):
    put(two, {"a/runs/t": RUN.replace(" s\n", " t\n")})
    said = []
    for _ in range(2):  # the second ingest reads nothing
        with showing("Reading", lambda *step: said.append(step)):
            ingest_collection(two, Layout(store), ReadPolicy(), workers=1)
    assert said == [("a", 1, 3), ("a", 2, 3), ("b", 3, 3), ("a", 2, 3), ("b", 3, 3)]


def test_ingest__progress_counts_parallel_tracks_together(two, store):
    said = []
    with showing("Reading", lambda *step: said.append(step)):
        ingest_collection(two, Layout(store), ReadPolicy(), workers=2)
    assert [step[1:] for step in said] == [(1, 2), (2, 2)]
    assert {step[0] for step in said} == {"a", "b"}


SECRET = "root:x:0:0:secret\n"


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """Return a collection with link targets outside it."""
    put(tmp_path, {"secret": SECRET, "elsewhere/r": RUN.replace(" s\n", " r\n")})
    return put(tmp_path / "c", {"t/runs/s": RUN, "t/qrels": QRELS})


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (SECRET, "line 1: 1 fields where a run has six (not quoted, since the file lies outside"),
        ("1 Q0 secret 1 2 t\n" * 2, "line 2: query '...' has doc '...' a second time"),
        ("1 Q0 a 1 secret t\n", "line 1: field 5 (the score) is not a finite number (not quoted"),
        ("secret " * 300_000, "line 1: a line of more than a megabyte"),
    ],
)
def test_ingest__content_of_linked_outside_run_is_not_quoted(linked, tmp_path, content, said):
    put(tmp_path, {"secret": content})
    (linked / "t/runs/r").symlink_to(tmp_path / "secret")
    with pytest.warns(SkippedRunWarning) as warned:
        store = irmeta.ingest(linked, tmp_path / "store")
    (message,) = (str(one.message) for one in warned)
    assert "c/t/runs/r" in message
    assert said.replace("'...'", "...") in message
    reasons = store.systems()["skip_reason"].to_list()
    assert "secret" not in message.replace("/secret", "") + str(reasons)


def test_read__content_of_linked_outside_qrels_is_not_quoted(linked, tmp_path):
    (linked / "t/qrels").unlink()
    (linked / "t/qrels").symlink_to(tmp_path / "secret")
    with pytest.raises(IrmetaError, match=r"qrels, line 1: 1 fields where trec qrels") as error:
        irmeta.read(linked)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (SECRET, "no such column"),
        ("run,pooled\nsecret,\nsecret,\n", "line 3: system named twice"),
        ("run,pooled\ns,secret\n", "column 'pooled' is neither yes nor no"),
        ('run,pooled\ns,"secret\n', "cannot be read as CSV"),
    ],
)
def test_read__content_of_linked_outside_facts_is_not_quoted(linked, tmp_path, content, error):
    put(tmp_path, {"secret": content})
    (linked / "facts.csv").symlink_to(tmp_path / "secret")
    facts = 'systems = { file = "facts.csv", name = "run", pooled = "pooled" }'
    config = f'[tracks.t]\nruns = "t/runs/*"\nqrels = "t/qrels"\n{facts}\n'
    put(linked, {"collection.toml": config})
    with pytest.raises(IrmetaError, match=error) as raised:
        irmeta.read(linked)
    assert "facts.csv" in str(raised.value)
    assert "secret" not in str(raised.value)


def test_read__content_of_outside_file_named_in_config_is_quoted(linked):
    config = 'allow_outside = true\n[tracks.t]\nruns = "PATH"\nqrels = "t/qrels"\n'
    for path in ("../secret", str(linked.parent / "secret"), "../se*"):
        put(linked, {"collection.toml": config.replace("PATH", path)})
        with pytest.raises(IrmetaError) as error:
            irmeta.read(linked)
        assert "root:x:0:0:secret" in str(error.value), path


def test_read__content_of_link_inside_the_collection_is_quoted(linked):
    put(linked, {"other/r": SECRET})
    (linked / "t/runs/r").symlink_to(linked / "other/r")
    with pytest.warns(SkippedRunWarning, match="root:x:0:0:secret"):
        irmeta.read(linked)


def test_read_files__messages_use_the_given_paths(tmp_path, monkeypatch):
    put(tmp_path, {"q/qrels": QRELS, "x/good": RUN, "x/bad": "1 Q0 a 1\n", "y/z/deep": "1\n"})
    monkeypatch.chdir(tmp_path / "q")
    given = ["../x/good", tmp_path / "x/bad", "../y/../y/z/deep"]
    with pytest.warns(SkippedRunWarning) as warned:
        irmeta.read_files("qrels", given)
    said = str(warned[0].message)
    assert f"{tmp_path}/x/bad, line 1" in said
    assert "../y/../y/z/deep, line 1" in said
    put(tmp_path, {"q/qrels": "1 0 a x\n"})
    with pytest.raises(IrmetaError, match="track q: qrels, line 1"):
        irmeta.read_files("qrels", given)


@pytest.mark.exhaustive
def test_skipped_run_warning__many_runs_are_abbreviated(tmp_path, run):
    files = {f"t/runs/bad{i:02}": "1\n" for i in range(20)}
    collection = put(tmp_path / "c", {**files, "t/runs/s": RUN, "t/qrels": QRELS})
    last = run("evaluate", collection, "-m", "AP").err.splitlines()[-1]
    assert last.startswith("irmeta: 20 runs skipped: ")
    assert last.count("runs/bad") == 5
    assert last.endswith(" and 15 more: the reasons are above")
    with pytest.warns(SkippedRunWarning) as warned:
        irmeta.read(collection)
    assert str(warned[0].message).count("runs/bad") == 5


@pytest.mark.parametrize("pack", [str.encode, lambda text: gzip.compress(text.encode())])
def test_evaluate_command__swapped_qrels_and_runs_are_detected(tmp_path, run, pack):
    put(tmp_path, {"q": pack(QRELS), "r": pack(RUN), "r2": RUN})
    done = run("evaluate", tmp_path / "r", tmp_path / "q", "-m", "AP")
    assert (done.status, done.out) == (1, "")
    said = f"{tmp_path}/r: a run, and {tmp_path}/q holds qrels: these look swapped. Name the qrels"
    assert said in done.err
    done = run("evaluate", tmp_path / "r", tmp_path / "r2", "-m", "AP")
    assert f"{tmp_path}/r: a run, where qrels are expected. Name the qrels first" in done.err
    assert "look swapped" not in done.err


def test_evaluate_command__malformed_qrels_are_not_taken_for_a_run(tmp_path, run):
    put(tmp_path, {"q": "1 0 a one two three\n", "r": RUN})
    done = run("evaluate", tmp_path / "q", tmp_path / "r", "-m", "AP")
    assert "q, line 1: 6 fields where trec qrels have 4" in done.err


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("qrels", "said"),
    [
        (
            "1 0 a 1\n7 0 a 1\n8 0 a 1\n",
            "2 of 3 judged queries have no list in any run: are these the qrels of another track?",
        ),
        (
            "1 0 x 1\n2 0 y 1\n2 0 z 0\n",
            "none of 3 judged docs is retrieved by any run: are these the qrels of another track?",
        ),
    ],
)
def test_qrels_warning__qrels_of_another_track(tmp_path, store, run, qrels, said):
    collection = put(tmp_path / "c", {"t/runs/s": RUN, "t/qrels": qrels})
    for read in (irmeta.read, lambda folder: irmeta.ingest(folder, store)):
        with pytest.warns(QrelsWarning) as warned:
            read(collection)
        assert [str(one.message) for one in warned] == [f"track t: {said}"]
    done = run("evaluate", collection, "-m", "AP")
    assert (done.status, done.err.splitlines()[0]) == (0, f"irmeta: t: {said}")
    assert said in irmeta.open_store(store).info()["notes"].item()


@pytest.mark.filterwarnings("error")
def test_qrels_warning__none_for_matching_qrels(tmp_path):
    irmeta.read(put(tmp_path / "c", {"t/runs/s": RUN, "t/qrels": "1 0 a 1\n9 0 q 1\n"}))
