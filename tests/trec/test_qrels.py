"""Qrels files: the three forms, grades, and judgments given twice."""

import gzip

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irmeta.errors import DataError
from irmeta.trec import qrels as room
from irmeta.trec.qrels import QrelsText, parse_qrels
from irmeta.trec.streams import InputFile
from support.parsing import file_of

FAST_AND_SLOW = pytest.mark.parametrize("head", ["", "# a comment\n"], ids=["fast", "slow"])


def parse(content: str, form: str = "trec", **choices) -> QrelsText:
    return parse_qrels(file_of(content, "a.qrels"), form, **choices)


def judged(qrels: QrelsText) -> list[tuple]:
    return qrels.frame.select("query", "subtopic", "doc", "grade").rows()


def refused(content: str, form: str = "trec", **choices) -> str:
    with pytest.raises(DataError) as error:
        parse(content, form, **choices)
    return str(error.value)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("1 0 a 1\n2 0 b -2\n", [1, 2]),
        ("1\t0\ta\t1\r\n2  0 b -2", [1, 2]),
        ("\n# c\n 1 0 a 1 \n\n2 Q0 b -2\n", [3, 5]),
        ("1 4.5  a 1\n2 5  b -2\n", [1, 2]),  # any iteration field
        ("1 0 a +1\n2 0 b -02\n", [1, 2]),
    ],
)
def test_any_spacing_and_any_iteration_is_read(content, line):
    qrels = parse(content)
    assert judged(qrels) == [("1", None, "a", 1), ("2", None, "b", -2)]
    assert qrels.frame["line"].to_list() == line
    assert qrels.frame.schema["grade"] == pl.Int8
    assert qrels.notes == ()


@FAST_AND_SLOW
def test_subtopics_are_kept_where_they_are_named(head):
    qrels = parse(f"{head}1 2 a 1\n1 1 a 0\n1 01 b 1\n", subtopics=True)
    assert judged(qrels) == [("1", "2", "a", 1), ("1", "1", "a", 0), ("1", "01", "b", 1)]


def test_five_columns_are_read_as_the_form_that_is_named():
    assert judged(parse("1 a 2 0 0.5\n", "prels")) == [("1", None, "a", 2)]
    assert judged(parse("1 0 a 2 -1\n", "sample-eval")) == [("1", None, "a", -1)]


def test_five_columns_without_a_form_are_an_error_that_lists_the_choices():
    said = refused("1 0 a 1\n1 0 b 2 0\n")
    assert said.startswith("a.qrels, line 2: 5 fields where trec qrels have 4: '1 0 b 2 0'.")
    assert 'format = "prels"' in said
    assert 'format = "sample-eval"' in said
    assert "collection.toml" in said


@FAST_AND_SLOW
@pytest.mark.parametrize("grade", ["1.0", "0.-1", "", "NO", "1_0", "0x1", "١", "1e0", "--1"])
def test_a_grade_that_is_no_whole_number_is_an_error_naming_line_and_field(head, grade):
    said = refused(f"{head}1 0 a 1\n1 0 b {grade}\n")
    assert said.startswith(f"a.qrels, line {3 if head else 2}: ")
    fields = "field 4 (the grade) is not a whole number" if grade else "3 fields where trec qrels"
    assert fields in said


@FAST_AND_SLOW
@pytest.mark.parametrize("grade", [-129, 128, 1000, 99999999999])
def test_a_grade_outside_int8_is_an_error(head, grade):
    said = refused(f"{head}1 0 a {grade}\n")
    assert f"line {2 if head else 1}: the grade is outside -128..127: '{grade}'" in said


@FAST_AND_SLOW
def test_the_whole_range_of_int8_is_read(head):
    assert judged(parse(f"{head}1 0 a -128\n1 0 b 127\n")) == [
        ("1", None, "a", -128),
        ("1", None, "b", 127),
    ]


@pytest.mark.parametrize("content", ["# nothing\n", "1 0 a\n", "1 0 a b 1 2\n"])
def test_lines_that_are_no_judgments_are_errors_that_show_the_form(content):
    assert "A trec line is: query second doc grade." in refused(content)


def test_an_equal_judgment_given_twice_is_noted():
    qrels = parse("1 0 a 1\n1 0 b 1\n1 0 a 1\n1 0 a 1\n")
    assert judged(qrels) == [("1", None, "a", 1), ("1", None, "b", 1)]
    assert qrels.notes == ("2 judgments given twice with equal grades",)


@pytest.mark.parametrize("subtopics", [False, True])
def test_different_grades_of_one_judgment_are_an_error_naming_both_lines(subtopics):
    said = refused("1 0 b 2\n#\n1 0 a 1\n2 0 a 0\n1 0 a 2\n", subtopics=subtopics)
    assert said.startswith("a.qrels, line 5: query 1, doc a has grades 1 and 2, first in line 3.")


@pytest.mark.parametrize("grade", [1, 0])
def test_several_values_of_column_2_are_an_error_that_proposes_subtopics(grade):
    content = f"1 0 b 1\n1 1 a 1\n1 2 a {grade}\n"
    said = refused(content)
    assert said.startswith(
        "a.qrels, line 3: query 1, doc a is judged under several values of column 2"
    )
    assert "first in line 2" in said
    assert "`subtopics = true`" in said
    assert len(judged(parse(content, subtopics=True))) == 3


def test_column_2_may_differ_between_docs_without_being_a_subtopic():
    assert len(judged(parse("1 AF a 1\n1 NF b 1\n2 NF a 1\n"))) == 3


def test_what_reading_the_file_noted_comes_first():
    file = file_of(b"1 0 a 1\n1 0 a 1\n1 0 \xe9 1\n", "a.qrels")
    notes = (
        "1 lines not UTF-8: read as Latin-1",
        "1 judgments given twice with equal grades",
    )
    assert parse_qrels(file).notes == notes


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)


@given(
    st.dictionaries(
        st.tuples(NAMES.filter(lambda q: q[0] != "#"), NAMES), st.integers(-128, 127), min_size=1
    ),
    st.data(),
)
def test_both_ways_of_reading_agree(grades, data):
    content = [f"{q} 0\t{d}  {g}\n" for (q, d), g in grades.items()]
    qrels = parse("".join(content))
    assert judged(qrels) == [(q, None, d, g) for (q, d), g in grades.items()]
    at = data.draw(st.integers(0, len(content)))
    commented = parse("".join([*content[:at], "#\n", *content[at:]]))
    assert judged(commented) == judged(qrels)
    lines = qrels.frame["line"].to_list()
    assert commented.frame["line"].to_list() == [n + (n > at) for n in lines]


@pytest.mark.parametrize("blank", ["", "\n"])
def test_a_second_byte_order_mark_is_of_the_query_in_both_ways_of_reading(blank, tmp_path):
    file = tmp_path / "qrels"
    file.write_text(f"\ufeff\ufeff1 0 d 1\n{blank}2 0 d 1\n")
    found = parse_qrels(InputFile.at(file, "qrels"), "trec")
    assert found.frame["query"].to_list() == ["\ufeff1", "2"]


def test_clean_files_are_not_read_line_by_line(monkeypatch):
    monkeypatch.delattr(room, "lines")
    assert judged(parse("1 0\ta 1\r\n")) == [("1", None, "a", 1)]


@pytest.mark.parametrize(
    ("file", "form", "count"),
    [
        ("fractional-iteration", "trec", 400),
        ("prels-five-columns", "prels", 1500),
        ("sample-eval-stratum", "sample-eval", 300),
    ],
)
def test_quirks_that_are_read(shared, file, form, count):
    path = shared / "quirks" / f"{file}.qrels.txt"
    qrels = parse_qrels(InputFile.at(path, path.name), form)
    assert (qrels.frame.height, qrels.notes) == (count, ())
    place = {"trec": 3, "prels": 2, "sample-eval": 4}[form]
    grades = [int(line.split()[place]) for line in path.read_text().splitlines()]
    assert qrels.frame["grade"].to_list() == grades


@pytest.mark.parametrize(
    ("file", "problem", "fix"),
    [
        ("fractional-grades", "field 4 (the grade) is not a whole number: '0.-1'", "Grades are"),
        ("text-grades", "field 4 (the grade) is not a whole number: 'NO'", "translate the file's"),
        ("six-columns-non-ascii", "6 fields where trec qrels have 4: '21 clueweb09", "line is:"),
        ("prels-five-columns", "5 fields where trec qrels have 4: '1 clueweb09", '"prels"'),
        ("sample-eval-stratum", "5 fields where trec qrels have 4: '1 0 1007", '"sample-eval"'),
    ],
)
def test_quirks_that_are_errors_say_where_what_and_what_to_do(shared, file, problem, fix):
    path = shared / "quirks" / f"{file}.qrels.txt"
    with pytest.raises(DataError) as error:
        parse_qrels(InputFile.at(path, path.name))
    assert str(error.value).startswith(f"{path.name}, line 1: {problem}")
    assert fix in str(error.value)


@pytest.mark.real
def test_real_qrels_of_three_decades_are_read_as_what_they_are(shared):
    five = "5 fields where trec qrels have 4"
    several = "is judged under several values of column 2"
    for path in sorted((shared / "qrels").iterdir()):
        file = InputFile.at(path, path.name)
        prels = path.name.startswith("prels")
        if prels or "diversity" in path.name or "ndeval" in path.name:
            with pytest.raises(DataError, match=five if prels else several):
                parse_qrels(file)
        qrels = parse_qrels(file, "prels" if prels else "trec", subtopics=not prels)
        assert qrels.frame.height == gzip.decompress(path.read_bytes()).count(b"\n")
        assert qrels.notes == ()
