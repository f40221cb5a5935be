"""`validate`: errors and notes of run files, against a plain reader of their lines."""

from __future__ import annotations

import gzip
import math
import re
import tarfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irmeta
from irmeta.api.validate import MOST_ERRORS

GOOD = "".join(f"{q} Q0 d{i} {i} {9 - i} good\n" for q in (1, 2) for i in range(1, 5))


def plain_errors(text: str) -> dict[int, str]:
    """The kind of error of each malformed or repeated line, by its number."""
    errors, seen = dict[int, str](), set[tuple[str, str]]()
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) < 6:
            # the score comes first where it is there
            is_number = len(fields) == 5 and re.fullmatch(r"[-+]?\d+(\.\d+)?(e\d+)?", fields[4])
            errors[number] = "score" if len(fields) == 5 and not is_number else "fields"
            continue
        if not re.fullmatch(r"[-+]?\d+(\.\d+)?(e\d+)?", fields[4]) or math.isinf(float(fields[4])):
            errors[number] = "score"
        elif (fields[0], fields[2]) in seen:
            errors[number] = "second time"
        seen |= set() if number in errors else {(fields[0], fields[2])}
    return errors


SCORES = st.sampled_from(["1", "2.5", "-3", "1e400", "nan", "x", "inf"])
ROWS = st.builds(
    lambda query, doc, score: f"{query} Q0 {doc} 1 {score} tag",
    st.sampled_from(["1", "2"]),
    st.sampled_from("abcdefgh"),
    SCORES,
)
BROKEN = st.sampled_from(["", "1 Q0 a", "1 Q0 a 1 2", "1 Q0 a 1 x", "junk"])


@given(st.lists(ROWS | BROKEN, min_size=1, max_size=40))
def test_errors__equal_those_of_a_plain_reader(tmp_path_factory: pytest.TempPathFactory, lines):
    text = "1 Q0 first 1 9 tag\n" + "\n".join(lines) + "\n"
    path = tmp_path_factory.mktemp("v") / "tag"
    path.write_text(text)
    done = irmeta.validate(path)
    expected = plain_errors(text)
    errors = done.findings.filter(kind="error")
    assert done.runs["errors"].item() == len(expected)
    assert done.passed == (not expected)
    assert errors["line"].to_list() == [*expected][:MOST_ERRORS]
    for problem, kind in zip(errors["problem"], expected.values(), strict=False):
        assert kind in problem


def notes_of(done: irmeta.Validation, run: str) -> list[str]:
    return done.findings.filter(run=run, kind="note")["problem"].to_list()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "good").write_text(GOOD)
    return runs


def test_good_run__has_neither_errors_nor_notes(folder: Path):
    done = irmeta.validate(folder)
    assert done.passed
    assert done.findings.is_empty()
    assert done.runs.rows(named=True) == [
        {
            "run": "good",
            "file": f"{folder}/good",
            "valid": True,
            "errors": 0,
            "notes": 0,
            "tag": "good",
            "queries": 2,
            "rows": 8,
        }
    ]
    assert repr(done).startswith("Validation(1 run, 0 not valid)\nrun   valid  errors")


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (GOOD, {"max_depth": 3}, "2 queries have more than 3 docs: 1 (4), 2 (4)"),
        (GOOD.replace("good", "my run"), {}, "the tag 'my run' has blanks"),
        (GOOD.replace("good", "x"), {}, "the tag 'x' is not the name of the file, 'good'"),
        (
            GOOD.replace(" 9 ", " 1 "),
            {"query_file": ["1", "2\ttwo", "7"]},
            "1 topic has no docs: 7",
        ),
        (GOOD, {"query_file": ["1 a"]}, "1 query is no topic: 2"),
        (
            re.sub(r"\d+ good", "1 good", GOOD),
            {},
            "all scores of 2 queries are equal: 1, 2",
        ),
        (
            GOOD.replace("Q0 d1 1 8", "Q0 d1 4 8"),
            {},
            "the rank column disagrees with the scores in 2 lists",
        ),
        (GOOD, {"doc_file": ["d1", "d3 x"]}, "2 docs are not in the collection, in 4 rows: d2, d4"),
        (GOOD.replace("d1 1 8 good", "d1 1 8,5 good"), {}, "decimal comma in 2 scores"),
        (GOOD + "3 Q0 d 1 1 other\n", {}, "2 tags, the first is used"),
    ],
)
def test_notes(folder: Path, text: str, options: dict[str, object], expected: str):
    (folder / "good").write_text(text)
    for name, lines in options.items():
        if isinstance(lines, list):
            path = folder.parent / name
            path.write_bytes(gzip.compress("\n".join(lines).encode()))
            options = options | {name: path}
    done = irmeta.validate(folder, **options)
    assert done.passed
    assert expected in notes_of(done, "good")


def test_equal_lists__are_noted_of_the_later_run(folder: Path):
    (folder / "other").write_text(
        "".join(f"{q} Q0 d{i} {i} {0.5 / i} other\n" for q in (2, 1) for i in range(1, 5))
    )
    done = irmeta.validate([folder / "other", folder / "good"])
    assert notes_of(done, "good") == ["the same lists as the run other"]
    assert notes_of(done, "other") == []


def test_members_of_archives__are_runs_of_their_own(folder: Path):
    with tarfile.open(folder.parent / "runs.tar.gz", "w:gz") as archive:
        archive.add(folder / "good", "in/good")
    done = irmeta.validate([folder.parent / "runs.tar.gz"])
    assert done.runs["file"].item() == f"{folder.parent}/runs.tar.gz/in/good"
    assert done.passed


def test_other_forms_and_unreadable_files__have_one_error(folder: Path):
    (folder / "a.json").write_text('{"1": {"d": "x"}}')
    (folder / "empty").write_text("")
    (folder / "nul").write_bytes(GOOD.encode() + b"\0\n")
    for name in (".hidden", "README.md"):
        (folder / name).write_text("x")
    done = irmeta.validate(folder)
    assert done.runs.filter("valid")["run"].to_list() == ["good"]
    problems = dict(done.findings.select("run", "problem").iter_rows())
    assert "the value is not a number" in problems["a"]
    assert problems["empty"] == "is empty"
    assert problems["nul"] == "NUL byte"
    assert not any(str(folder) in problem for problem in problems.values())


def test_policies_of_reading__let_lines_pass(folder: Path):
    (folder / "good").write_text(GOOD + "1 Q0 d1 9 0 good\njunk\n")
    assert irmeta.validate(folder).runs["errors"].item() == 2
    done = irmeta.validate(folder, malformed="skip", duplicates="first")
    assert done.passed
    assert "1 malformed lines dropped" in notes_of(done, "good")
    with pytest.raises(irmeta.UsageError, match="no option 'names'"):
        irmeta.validate(folder, names="file")


def test_texts__one_per_run_and_never_over_files_of_others(folder: Path, tmp_path: Path, run):
    (folder / "bad").write_text("1 Q0 a 1 x bad\n" * 30)
    out = tmp_path / "letters"
    done = run("validate", folder, "--out", out)
    assert done.status == 1
    assert {path.name for path in out.iterdir()} == {"bad.txt", "good.txt"}
    text = (out / "bad.txt").read_text()
    assert "30 errors, the first 20:\n- line 1: field 5 (the score)" in text
    assert "2 runs, 1 not valid" in done.out
    (out / "good.txt").write_text("mine")
    (out / "bad.txt").unlink()
    done = run("validate", folder, "--out", out)
    assert done.status == 2
    assert "good.txt exists and irmeta did not write it" in done.err
    assert not (out / "bad.txt").exists()
    assert run("validate", folder, "--out", out, "--force").status == 1
    assert run("validate", folder / "good").status == 0


def test_usage__is_explained(folder: Path, tmp_path: Path):
    with pytest.raises(irmeta.UsageError, match="name the run files"):
        irmeta.validate([])
    (tmp_path / "none").mkdir()
    with pytest.raises(irmeta.UsageError, match="holds no run"):
        irmeta.validate(tmp_path / "none")
    with pytest.raises(irmeta.UsageError, match="does not exist"):
        irmeta.validate(tmp_path / "missing")
    (tmp_path / "topics.xml").write_text("<top>\n<num> Number: 1\n")
    with pytest.raises(irmeta.UsageError, match="one per line"):
        irmeta.validate(folder, query_file=tmp_path / "topics.xml")
    with pytest.raises(irmeta.DataError, match="cannot be read"):
        irmeta.validate(folder, doc_file=tmp_path / "missing")
    with pytest.raises(irmeta.UsageError, match="max_depth"):
        irmeta.validate(folder, max_depth=0)
    with pytest.raises(irmeta.UsageError, match="no run 'x'"):
        irmeta.validate(folder).text("x")


@pytest.mark.real
def test_official_runs__are_valid(shared: Path):
    done = irmeta.validate(shared / "tracks" / "trec-covid-r1" / "runs")
    assert done.passed
    assert done.runs.height > 50
    assert done.findings.filter(pl.col("kind") == "error").is_empty()
