"""Messages about files: paths as given, no content of outside files, common mistakes."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import irmeta
from irmeta.errors import IrmetaError, QrelsWarning, SkippedRunWarning
from support.ingesting import QRELS, RUN, put

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
