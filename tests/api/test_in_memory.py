"""A qrels file and run files as input, as in trec_eval."""

from __future__ import annotations

import csv
import gzip
import io
import os
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

import irmeta
from irmeta.api import in_memory
from irmeta.api import store as api_store
from irmeta.errors import UsageError

QRELS = "1 0 a 1\n1 0 b 0\n2 0 a 1\n"
RUNS = {
    "first.run": "1 Q0 a 1 9 x\n1 Q0 b 2 8 x\n2 Q0 b 1 9 x\n",
    "second.txt.gz": "1 Q0 b 1 9 y\n1 Q0 a 2 8 y\n",
}
MEANS = {"x": "0.5", "y": "0.25"}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Return the qrels file, then the run files, each in its own folder."""
    paths = [tmp_path / "q" / "qrels.made.txt", *(tmp_path / name[:3] / name for name in RUNS)]
    for path, text in zip(paths, [QRELS, *RUNS.values()], strict=True):
        path.parent.mkdir()
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return paths


def columns(text: str) -> dict[str, list[str]]:
    head, *rows = csv.reader(io.StringIO(text))
    return dict(zip(head, map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.exhaustive
def test_read_files__values_equal_collection(collections: Path) -> None:
    news = collections / "news"
    (qrels,) = news.glob("qrels*")
    store = irmeta.read_files(qrels, (news / "runs").iterdir(), workers=2)
    assert store.tracks == ["news"]
    measures = "trec_eval,ASL,Judged@10"
    expected = irmeta.read(news).evaluate(measures, per_query=True).drop("track")
    assert_frame_equal(store.evaluate(measures, per_query=True).drop("track"), expected)


def test_read_files__result_does_not_depend_on_paths_and_order(
    files: list[Path], monkeypatch
) -> None:
    whole = irmeta.read_files(files[0], files[1:])
    monkeypatch.chdir(files[0].parent)
    odd = [Path("..") / file.parent.name / file.name for file in reversed(files[1:])]
    store = irmeta.read_files(files[0].name, [*odd, odd[0]])
    assert store.fingerprint == whole.fingerprint
    assert store.systems().equals(whole.systems())
    assert sorted(store.systems()["file"]) == ["fir/first.run", "sec/second.txt.gz"]


def test_read_files__accepts_a_single_path(files: list[Path]) -> None:
    store = irmeta.read_files(str(files[0]), files[1], depth=1)
    assert store.means("AP", track="qrels.made")["system"].to_list() == ["x"]
    assert store.runs().collect().height == 2


def test_read_files__names_option(files: list[Path]) -> None:
    store = irmeta.read_files(files[0], files[1:], names="(.*)[.].*")
    assert sorted(store.systems()["system"]) == ["first", "second.txt"]


def test_read_files__malformed_run_is_reported(files: list[Path]) -> None:
    files[2].write_text("1 Q0 b 1 nine y\n")
    with pytest.warns(irmeta.SkippedRunWarning, match="1 run skipped: .*second.*line 1"):
        store = irmeta.read_files(files[0], files[1:])
    assert store.means("AP")["value"].to_list() == [0.5]
    with pytest.raises(irmeta.IrmetaError, match=r"none of its 1 runs can be used.*nine"):
        irmeta.read_files(files[0], files[2])


def test_read_files__missing_file_is_refused(files: list[Path]) -> None:
    for wrong, said in (
        ([files[0].with_name("none"), files[1]], "none does not exist: name the file of the qrels"),
        ([files[0], files[1], files[2].parent], "is a folder: name"),
        ([files[0]], "alone is not a track"),
    ):
        with pytest.raises(UsageError, match=said):
            irmeta.read_files(wrong[0], wrong[1:])


@pytest.mark.parametrize(
    ("names", "said"), [("(", "is not a pattern"), (".*", "has 0 groups, not one")]
)
def test_read_files__invalid_names_option_is_refused(
    files: list[Path], names: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        irmeta.read_files(files[0], files[1:], names=names)


def test_read_files__qrels_name_that_is_not_utf8_is_refused(files: list[Path]) -> None:
    odd = Path(os.fsdecode(os.fsencode(files[0].parent) + b"/\xff"))
    odd.write_text(QRELS, encoding="utf-8")
    with pytest.raises(irmeta.DataError, match="its name is not UTF-8"):
        irmeta.read_files(odd, files[1])


def test_read_files__files_on_different_drives_are_refused(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def commonpath(paths: list[Path]) -> str:
        raise ValueError("Paths don't have the same drive")

    monkeypatch.setattr(os.path, "commonpath", commonpath)
    with pytest.raises(UsageError, match="on different drives: copy them to one"):
        irmeta.read_files(files[0], files[1:])


def test_evaluate_command__accepts_qrels_and_run_files(files: list[Path], run) -> None:
    done = run("evaluate", *files, "-m", "map")
    assert done.status == 0
    found = columns(done.out)
    assert dict(zip(found["system"], found["value"], strict=True)) == MEANS
    assert "track" not in found  # one track without a name


def test_workers_option__applies_to_reading_and_evaluation(
    files: list[Path], run, monkeypatch
) -> None:
    asked: list[object] = []
    read, evaluate = in_memory.read_into_memory, api_store.evaluate_tracks

    def reads(*arguments, workers, **more):
        asked.append(workers)
        return read(*arguments, workers=workers, **more)

    def evaluates(*arguments):
        asked.append(arguments[4])
        return evaluate(*arguments)

    monkeypatch.setattr(in_memory, "read_into_memory", reads)
    monkeypatch.setattr(api_store, "evaluate_tracks", evaluates)
    for source in (files, [files[0].parent.parent / "folder"]):
        if source != files:
            (source[0] / "runs").mkdir(parents=True)
            (source[0] / "qrels").write_text(QRELS)
            (source[0] / "runs" / "x").write_text(RUNS["first.run"])
        assert run("evaluate", *source, "-m", "AP", "--workers", 3).status == 0
    assert asked == [3, 3, 3, 3]


def test_track_option__other_track_than_the_files_is_refused(files: list[Path], run) -> None:
    assert run("evaluate", *files, "-m", "AP", "--track", "qrels.made").status == 0
    done = run("evaluate", *files, "-m", "AP", "--track", "other")
    assert (done.status, done.out) == (2, "")
    assert "has no track 'other'" in done.err


def test_evaluate_command__runs_with_a_shared_tag_are_named_by_file(files: list[Path], run) -> None:
    files[2].write_text(RUNS["first.run"])
    done = run("evaluate", *files, "-m", "AP")
    assert (done.status, columns(done.out)["system"]) == (0, ["first", "second"])
    assert done.err == (
        "irmeta: qrels.made: 2 of 2 runs share a tag with another run (such as 'x'): "
        "all systems are named by file\n"
        "irmeta: qrels.made: 1 of 2 systems has the same judged docs at the same ranks as another: "
        "second (as first). Equal systems raise numbers of systems and ties, and agreement.\n"
    )
    done = run("evaluate", *files, "-m", "AP", "--names", "tag")
    assert columns(done.out)["system"] == ["x"]
    assert f"{files[2]}: system 'x' is already read from " in done.err
    assert "Name systems by file: `--names file`" in done.err


def test_evaluate__memory_is_for_a_collection(collections: Path, made_store: irmeta.Store):
    asked = {"track": "news", "system": "aldBM25", "memory": 2**31}
    assert irmeta.evaluate(collections, "AP", **asked).height == 1
    with pytest.raises(irmeta.IrmetaError, match="exceed the memory limit"):
        irmeta.evaluate(collections, "AP", track="news", memory=10**6)
    with pytest.raises(irmeta.UsageError, match="omit memory"):
        irmeta.evaluate(made_store.path, "AP", memory=2**31)
    with pytest.raises(irmeta.UsageError, match="`memory` is for a collection"):
        irmeta.evaluate({"q": {"d": 1}}, {"r": {"q": {"d": 1.0}}}, "AP", memory=2**31)
