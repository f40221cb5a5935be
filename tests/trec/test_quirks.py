"""Excerpts of real run files, each with a quirk."""

from pathlib import Path

import numpy as np
import pytest

from irmeta.policies import ReadPolicy
from irmeta.store.read_run import SkippedRun, read_run
from irmeta.trec.runs import RowReader
from irmeta.trec.source import TrackSource
from support.parsing import parse, rows
from twins.measures import read_run as naive_run


def read_quirk(shared: Path, file: str, **choices):
    """Read a quirk file as the run of a track, or return it as skipped with a reason."""
    source = TrackSource("t", shared / "quirks", (file,), (), policy=ReadPolicy(**choices))
    return read_run(source, source.input_file(file), RowReader())


@pytest.mark.parametrize(
    ("file", "count", "tag", "notes"),
    [
        ("crlf", 300, "ecnuEn", []),
        ("negative-scores", 300, "UIUC03Rd1", []),
        ("all-ranks-zero", 300, "0", []),
        ("tag-with-spaces", 300, '"Colbert fine tune on touche data"', []),
        (
            "ranks-reversed",
            714,
            "BRPHJ_NLP2",
            ["the rank column disagrees with the scores in 1 list"],
        ),
        (
            "five-columns",
            300,
            None,
            ["five columns: no tag, the system is named after the file"],
        ),
        ("decimal-comma", 300, "MMR.AU_03", ["decimal comma in 300 scores"]),
    ],
)
def test_read_run__readable_quirks(shared, file, count, tag, notes):
    run = read_quirk(shared, f"{file}.run.txt")
    assert (run.rows, run.tag, run.notes) == (count, tag, notes)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (
            "header-line",
            [
                "line 1: field 5 (the score) is not a finite number: 'Jelinek-Mercer'",
                "A run line is: query Q0 doc rank score tag",
                '`malformed="skip"` drops such lines and counts them',
            ],
        ),
        (
            "duplicate-docs",
            [
                "line 928: query 152001 has doc 3c91f203-b306-468f-b0d3-044a9580e4be a second time",
                "first in line 927",
                '`duplicates="first"` keeps the first line',
            ],
        ),
        (
            "no-final-newline",  # the excerpt itself ends within line 100
            [
                "line 100: 3 fields where a run has six: '1 Q0 clu'",
                "A run line is: query Q0 doc rank score tag",
            ],
        ),
    ],
)
def test_read_run__refused_quirk_names_line_problem_and_advice(shared, file, said):
    aside = read_quirk(shared, f"{file}.run.txt")
    assert isinstance(aside, SkippedRun)
    assert aside.reason.startswith(f"{file}.run.txt, {said[0]}")
    assert all(part in aside.reason for part in said)


def test_read_run__duplicates_first_keeps_first_line(shared):
    run = read_quirk(shared, "duplicate-docs.run.txt", duplicates="first")
    assert (run.rows, run.duplicates) == (999, 1)
    assert run.notes == ["1 row dropped: its doc came before in the same list"]
    assert np.setdiff1d(np.arange(1, 1001), run.columns.rows(0, 999)["position"]).tolist() == [928]


def test_read_run__malformed_skip_drops_header_line(shared):
    run = read_quirk(shared, "header-line.run.txt", malformed="skip")
    assert (run.rows, run.malformed, run.tag) == (199, 1, "Anserini-qljm")


@pytest.mark.parametrize("newline", [b"\r\n", b""])
def test_parse_run__final_newline_is_optional(shared, newline):
    content = (shared / "quirks" / "no-final-newline.run.txt").read_bytes()
    whole = content[: content.rindex(b"\r\n")] + newline
    run = parse(whole)
    assert (len(run.rows.score), run.tag, run.notes) == (99, "indri", [])
    assert rows(run)[-1] == ("1", "clueweb09-en0009-30-02641", 372, -4.86809)


def test_parse_run__readable_quirks_equal_naive_reader(shared):
    for file in ("crlf", "negative-scores", "all-ranks-zero", "tag-with-spaces", "ranks-reversed"):
        content = (shared / "quirks" / f"{file}.run.txt").read_bytes().decode()
        assert rows(parse(content)) == [row[:4] for row in naive_run(content)]
