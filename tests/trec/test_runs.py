"""Run files: accepted formats, errors for the others, and excerpts of real files."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irmeta.errors import DataError
from irmeta.policies import ReadPolicy
from irmeta.store.read_run import SkippedRun, read_run
from irmeta.trec import runs as room
from irmeta.trec.runs import NO_RANK, RowReader, parse_run
from irmeta.trec.source import TrackSource
from irmeta.trec.streams import InputFile
from support.parsing import READER, by_line, parse, rows
from twins.measures import read_run as naive_run

TWO = [("1", "a", 1, 2.5), ("1", "b", 2, 1.0)]
FAST_AND_SLOW = pytest.mark.parametrize("way", [parse, by_line], ids=["fast", "slow"])


@pytest.mark.parametrize(
    "content",
    [
        "1 Q0 a 1 2.5 t\n1 Q0 b 2 1.0 t\n",
        "1\tQ0\ta\t1\t2.5\tt\n1\tQ0\tb\t2\t1.0\tt\n",
        " 1 \t Q0   a 1\t\t2.5 t \n1 Q0\tb 2  1.0 t\t\n",
        "1 Q0 a 1 2.5 t\r\n1 Q0 b 2 1.0 t\r\n",
        "1 Q0 a 1 2.5 t\n1 Q0 b 2 1.0 t",
        "1 Q0 a 1 2.5 t\r\n1 Q0 b 2 1.0 t\r",
        "\n1 Q0 a 1 2.5 t\n \t\r\n\n1 Q0 b 2 1.0 t\n\n\n",
        "#q i d r s t\n1 Q0 a 1 2.5 t\n#\n# 1 Q0 x 9 9 t\n1 Q0 b 2 1.0 t\n#",
        "#1 Q0 x 9\n1 Q0 a 1 2.5 t\n1 Q0 b 2 1.0 t\n#1 Q0 y 9 high t\n",
        "1 - a +1 +2.5 t\n1 x b 02 1. t\n",
        "1 Q0 a 1 25e-1 t\n1 Q0 b 2 .1E1 t\n",
    ],
)
def test_parse_run__accepts_any_spacing_line_ends_and_comments(content):
    run = parse(content)
    assert (rows(run), run.tag, run.notes) == (TWO, "t", [])


@FAST_AND_SLOW
def test_parse_run__five_columns_have_no_tag(way):
    run = way("1 Q0 a 1 2.5\n1 Q0 b 2 1.0\n")
    assert (rows(run), run.tag) == (TWO, None)
    assert run.notes == ["five columns: no tag, the system is named after the file"]


@pytest.mark.parametrize("content", ["1 Q0 a b 2.5\n", "1 Q0 a 1.5 2.5\n", "1 Q0 a 1 x\n"])
def test_parse_run__five_columns_need_rank_and_score(content):
    with pytest.raises(DataError, match=r"^a.run, line 1: field [45]"):
        parse(content)


@FAST_AND_SLOW
@pytest.mark.parametrize(
    ("tags", "tag", "notes"),
    [
        (["my tag, \t2 "] * 2, "my tag, \t2", []),
        (["x", "y"], "x", ["2 tags, the first is used"]),
        (["z", "a b"], "z", ["2 tags, the first is used"]),
    ],
)
def test_parse_run__tag_is_the_rest_of_the_line(way, tags, tag, notes):
    run = way(f"1 Q0 a 1 2.5 {tags[0]}\n1 Q0 b 2 1.0 {tags[1]}\n")
    assert (rows(run), run.tag, run.notes) == (TWO, tag, notes)


def test_parse_run__decimal_comma_is_read_and_noted():
    run = parse("1 Q0 a 1 2,5 t\n1 Q0 b 2 1.0 t\n1 Q0 c 3 -,5e1 t\n")
    assert run.rows.score.tolist() == [2.5, 1.0, -5.0]
    assert run.notes == ["decimal comma in 2 scores"]


@FAST_AND_SLOW
@pytest.mark.parametrize(
    "score",
    [
        "inf",
        "-Infinity",
        "nan",
        "NaN",
        "abc",
        "1_0",
        "0x10",
        "1e999",
        "-1e999",
        "1,2,3",
        "",
        "-",
        ".",
        "e5",
        "1e",
        "1.5f",
        "١",
        "1.5.2",
        "''",
    ],
)
def test_parse_run__nonfinite_score_error_names_line_and_field(way, score):
    with pytest.raises(DataError, match=r"the score. is not a finite number") as error:
        way(f"1 Q0 a 1 2.5 t\n1 Q0 b 2 {score} t\n")
    assert str(error.value).startswith("a.run, line 2: field 5 (the score)")
    assert repr(score or "t") in str(error.value)
    assert "A run line is: query Q0 doc rank score tag." in str(error.value)


@FAST_AND_SLOW
@pytest.mark.parametrize(
    ("printed", "rank", "noted"),
    [("0", 0, False), ("-3", -3, False), ("+4", 4, False), ("2147483647", 2147483647, False)]
    + [(p, NO_RANK, True) for p in ("1.0", "x", "-", "2147483648", "9" * 30, "0x10", "1_0")],
)
def test_parse_run__fractional_rank_is_noted(way, printed, rank, noted):
    run = way(f"1 Q0 a {printed} 2.5 t\n")
    assert run.rows.rank.tolist() == [rank]
    assert run.notes == (["1 ranks are not whole numbers"] if noted else [])


@FAST_AND_SLOW
@pytest.mark.parametrize(
    "name",
    [
        "007",
        "1e5",
        "null",
        "NA",
        "-",
        '"a',
        "a'b",
        "a,b;c",
        "a\\n",
        "a#b",
        "a=b",
        "%2F",
        "0xruezf2",
        "..",
        "*",
        "a\xa0b",
        "a\u2028b",
        "文書",
        "é" * 150,
        "d" * 300,
        "d" * 70000,
    ],
)
def test_parse_run__names_are_kept_verbatim(way, name):
    run = way(f"{name} Q0 {name} 1 2.5 t\n{name} Q0 b 2 1.0 t\n")
    assert rows(run) == [(name, name, 1, 2.5), (name, "b", 2, 1.0)]


def test_parse_run__interleaved_queries_keep_file_order():
    run = parse("2 Q0 a 1 1 t\n1 Q0 a 1 2 t\n2 Q0 b 2 3 t\n1 Q0 b 2 4 t\n")
    assert [row[0] for row in rows(run)] == ["2", "1", "2", "1"]
    assert run.rows.score.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("1 Q0 a 1 2.5 t\n1 Q0 b 2\n", "line 2: 4 fields where a run has six: '1 Q0 b 2'. A run"),
        ("1 Q0 a 1 2.5 t\nx\n", "line 2: 1 fields where a run has six: 'x'. A run line is"),
        ("1 Q0 a 1 2.5 t\n1 Q0 b 2 1.0\n", "line 2: 5 fields where a run has six"),
        ("1 Q0 a 1 2.5\n1 Q0 b 2 1.0 t\n", "line 1: 5 fields where a run has six"),
        ("<html><head>\n", "line 1: 1 fields where a run has six: '<html><head>'. A run line is"),
        ("# only\n#comments\n", "a.run: holds no result. A run line is: query Q0 doc rank score"),
    ],
)
def test_parse_run__line_with_wrong_field_count_is_refused(content, said):
    with pytest.raises(DataError) as error:
        parse(content)
    assert said in str(error.value)


def test_parse_run__very_long_line_is_a_short_error():
    with pytest.raises(DataError, match="line 1: a line of more than a megabyte") as error:
        parse(b"1 Q0 a 1 2.5 t" + b"x" * 3_000_000)
    assert len(str(error.value)) < 300


def test_parse_run__malformed_skip_drops_and_counts_lines():
    content = "1 Q0 a 1 2.5 t\nx\n1 Q0 z 9 nan t\n#\n1 Q0 b 2 1.0 t\n1 Q0 c 3 0.5\n"
    run = parse(content, malformed="skip")
    assert (rows(run), run.malformed) == (TWO, 3)
    assert run.notes == ["3 malformed lines dropped"]
    with pytest.raises(DataError, match="line 2: 1 fields"):
        parse(content)


def test_read_run__duplicate_doc_line_number_counts_dropped_lines(tmp_path):
    content = "1 Q0 a 1 2.5 t\nx\n1 Q0 b 9 nan t\n1 Q0 b 2 1.0 t\n\n1 Q0 a 3 0.5 t\n"
    (tmp_path / "r").write_text(content)
    policy = ReadPolicy(malformed="skip")
    source = TrackSource("t", tmp_path, ("r",), (), policy=policy)
    aside = read_run(source, source.input_file("r"), RowReader())
    assert isinstance(aside, SkippedRun)
    said = "r, line 6: query '1' has doc 'a' a second time, first in line 1"
    assert aside.reason.replace("query 1 has doc a", "query '1' has doc 'a'").startswith(said)


@pytest.mark.parametrize("first", ["query iter doc rank score", "x", "a b c d e f g", "1 Q0 z 9 9"])
def test_parse_run__malformed_first_line_keeps_the_others(first):
    run = parse(f"{first}\n1 Q0 a 1 2.5 t\n1 Q0 b 2 1.0 t\n", malformed="skip")
    assert (rows(run), run.malformed) == (TWO, 1)


@pytest.mark.parametrize(
    ("content", "opened"),
    [
        (b"1 Q0 a 1 2.5 t\n1 Q0 b 2 1.0 t\n", 1),
        ("1 Q0 é 1 2.5 t\nx\n".encode(), 2),
        (b"1 Q0 \xe9 1 2.5 t\n", 2),  # Latin-1
        (b"1 Q0 \xe9 1 2.5 t\nx\n", 3),
        (b"1 Q0 a 1 2.5\nx\n", 3),  # a later line may have a tag
    ],
)
def test_parse_run__file_is_not_opened_more_often_than_needed(content: bytes, opened: int):
    streams = list[io.BytesIO]()

    def open_file() -> io.BytesIO:
        streams.append(io.BytesIO(content))
        return streams[-1]

    parse_run(InputFile("a.run", open_file), RowReader(), "skip")
    assert len(streams) == opened


def test_parse_run__malformed_skip_needs_a_readable_line():
    with pytest.raises(DataError, match=r"^a.run: no line can be read as a result. A run line"):
        parse("x\ny z\n", malformed="skip")


def test_parse_run__lone_carriage_returns_are_refused():
    with pytest.raises(DataError):
        parse("1 Q0 a 1 2.5 t\r1 Q0 b 2 1.0 t\r1 Q0 c 3 0.5 t\r")


@pytest.mark.parametrize(
    ("raw", "query", "notes"),
    [
        ("\ufeff1 Q0 é 1 2.5 t\n".encode(), "1", []),
        (b"\xef\xbb\xbf1 Q0 a 1 2.5 t\n", "1", []),
        (b" \xef\xbb\xbf1 Q0 a 1 2.5 t\n", "\ufeff1", []),  # of a name, since not at the start
        (b"\xe9 Q0 a 1 2.5 t\n", "é", ["1 lines not UTF-8: read as Latin-1"]),
        (
            b"\xe9 Q0 a 1 2,5 t\n",
            "é",
            ["1 lines not UTF-8: read as Latin-1", "decimal comma in 1 scores"],
        ),
    ],
)
def test_parse_run__encoding_is_detected_and_noted(tmp_path, raw, query, notes):
    (tmp_path / "a.run").write_bytes(raw)
    run = parse_run(InputFile.at(tmp_path / "a.run", "a.run"), READER)
    assert ([row[0] for row in rows(run)], run.notes) == ([query], notes)
    assert run.rows.score.tolist() == [2.5]


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=9)
SPACES = st.sampled_from([" ", " ", " ", "\t", "  ", " \t"])
SCORES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-5, 5).map(str),
    st.floats(-1e6, 1e6).map(lambda x: f"{x:.4e}"),
)
ROWS = st.tuples(NAMES, NAMES, NAMES, st.integers(-9, 10**6).map(str), SCORES, NAMES)


@st.composite
def clean_files(draw: st.DrawFn) -> list[str]:
    """Draw the lines of a valid file."""
    kept = [row for row in draw(st.lists(ROWS, min_size=1, max_size=9)) if row[0][0] != "#"]
    end = draw(st.sampled_from(["\n", "\r\n", " \n"]))
    return [draw(SPACES).join(row) + end for row in kept or [("1", "Q0", "a", "1", "2.5", "t")]]


@given(clean_files(), st.data())
def test_parse_run__clean_files_equal_naive_reader(content, data):
    expected = naive_run("".join(content))
    run = parse("".join(content))
    assert rows(run) == [row[:4] for row in expected]
    assert run.tag == expected[0][4]

    at = data.draw(st.integers(0, len(content)))
    commented = parse("".join([*content[:at], "# a comment\n", *content[at:]]))
    assert rows(commented) == rows(run)
    assert (commented.tag, commented.notes) == (run.tag, run.notes)


@pytest.mark.exhaustive
def test_parse_run__kernel_equals_line_reader_on_large_file():
    rng = np.random.default_rng(1)
    query, rank = rng.integers(0, 900, 60_000), rng.integers(0, 1000, 60_000)
    score = rng.normal(size=60_000)
    content = "".join(
        f"{q} Q0 doc-{i % 7919:05d}-é {r} {s!r} tag-of-the-run\n"
        for i, (q, r, s) in enumerate(
            zip(query.tolist(), rank.tolist(), score.tolist(), strict=True)
        )
    )
    assert len(content) > 3 << 20
    fast, slow = parse(content), by_line(content)
    assert fast.rows.score.tolist() == score.tolist()
    assert rows(fast) == rows(slow)
    assert rows(fast) == [row[:4] for row in naive_run(content)]


def test_parse_run__clean_file_is_not_read_line_by_line(monkeypatch):
    monkeypatch.delattr(room, "lines")
    assert rows(parse("1 Q0 a 1 2.5 t\r\n1\tQ0  b 2 1.0 t")) == TWO


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


def test_parse_run__readable_quirks_equal_naive_reader(shared):
    for file in ("crlf", "negative-scores", "all-ranks-zero", "tag-with-spaces", "ranks-reversed"):
        content = (shared / "quirks" / f"{file}.run.txt").read_bytes().decode()
        assert rows(parse(content)) == [row[:4] for row in naive_run(content)]
