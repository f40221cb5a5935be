"""Qrels: the three formats, grades, duplicate judgments, and data sets of ir_datasets."""

from __future__ import annotations

import gzip
import sys
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irmeta
from irmeta.errors import DataError
from irmeta.trec import qrels as room
from irmeta.trec.qrels import QrelsText, grade_column, parse_qrels
from irmeta.trec.source import dataset_qrels
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
def test_parse_qrels__accepts_any_spacing_and_iteration(content, line):
    qrels = parse(content)
    assert judged(qrels) == [("1", None, "a", 1), ("2", None, "b", -2)]
    assert qrels.frame["line"].to_list() == line
    assert qrels.frame.schema["grade"] == pl.Int8
    assert qrels.notes == ()


@FAST_AND_SLOW
def test_parse_qrels__subtopics_option_keeps_column_2(head):
    qrels = parse(f"{head}1 2 a 1\n1 1 a 0\n1 01 b 1\n", subtopics=True)
    assert judged(qrels) == [("1", "2", "a", 1), ("1", "1", "a", 0), ("1", "01", "b", 1)]


def test_parse_qrels__five_columns_follow_the_given_format():
    assert judged(parse("1 a 2 0 0.5\n", "prels")) == [("1", None, "a", 2)]
    assert judged(parse("1 0 a 2 -1\n", "sample-eval")) == [("1", None, "a", -1)]


@FAST_AND_SLOW
def test_parse_qrels__sample_follows_the_rows_without_repeated_judgments(head):
    prels = parse(f"{head}1 b 2 0 1\n1 a 0 1 1e-3\n1 b 2 0 0.5\n1 c 1 4 NA\n", "prels")
    assert prels.frame["doc"].to_list() == ["b", "a", "c"]
    assert prels.sample.rows() == [(None, 0, 1.0), (None, 1, 0.001), (None, 4, None)]
    strata = parse(f"{head}1 0 b 2 -1\n1 0 a X 3\n", "sample-eval")
    assert strata.sample.rows() == [("2", None, None), ("X", None, None)]
    assert parse("1 0 a 1\n").sample is None


@FAST_AND_SLOW
@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ("1 x 0.5", "the method is not a small whole number: 'x'"),
        ("1 1 0", "the inclusion probability is not above 0 and at most 1: '0'"),
        ("1 1 1.01", "the inclusion probability is not above 0 and at most 1: '1.01'"),
        ("1 1 nan", "the inclusion probability is not above 0 and at most 1: 'nan'"),
        ("1 1 p", "the inclusion probability is not above 0 and at most 1: 'p'"),
    ],
)
def test_parse_qrels__malformed_sample_error_names_line(head, fields, problem):
    said = refused(f"{head}1 a 0 1 1\n1 b {fields}\n", "prels")
    assert said.startswith(f"a.qrels, line {3 if head else 2}: {problem}")


def test_parse_qrels__five_columns_without_format_list_the_choices():
    said = refused("1 0 a 1\n1 0 b 2 0\n")
    assert said.startswith("a.qrels, line 2: 5 fields where trec qrels have 4: '1 0 b 2 0'.")
    assert 'format = "prels"' in said
    assert 'format = "sample-eval"' in said
    assert "collection.toml" in said


@FAST_AND_SLOW
@pytest.mark.parametrize(
    "grade", ["0.-1", "", "NO", "1_0", "0x1", "١", "nan", "inf", "1e999", "--1"]
)
def test_parse_qrels__malformed_grade_error_names_line_and_field(head, grade):
    said = refused(f"{head}1 0 a 1\n1 0 b {grade}\n")
    assert said.startswith(f"a.qrels, line {3 if head else 2}: ")
    fields = "field 4 (the grade) is not a finite number" if grade else "3 fields where trec qrels"
    assert fields in said


@FAST_AND_SLOW
@pytest.mark.parametrize("grade", ["-129", "128", "2147483647", "0.05", "1.7", "-.5", "1e-3"])
def test_parse_qrels__other_grades_than_int8_are_read_as_float64(head, grade):
    frame = parse(f"{head}1 0 a {grade}\n1 0 b 1\n").frame
    assert frame["grade"].dtype == pl.Float64
    assert frame["grade"].to_list() == [float(grade), 1.0]


@FAST_AND_SLOW
def test_parse_qrels__whole_grades_written_as_decimals_are_int8(head):
    frame = parse(f"{head}1 0 a 1.0\n1 0 b -0.0\n1 0 c 2e0\n").frame
    assert frame["grade"].dtype == pl.Int8
    assert frame["grade"].to_list() == [1, 0, 2]


def test_parse_qrels__any_number_of_grades_is_read_and_rounded_on_request():
    text = "".join(f"1 0 d{i} {i / 1000}\n" for i in range(1000))
    assert parse(text).frame["grade"].to_list() == [i / 1000 for i in range(1000)]
    assert parse(text, grade_digits=2).frame["grade"].n_unique() == 101


def test_parse_qrels__rounded_judgments_of_one_doc_may_be_equal():
    text = "1 0 a 0.501\n1 0 a 0.502\n"
    assert "has grades 0.501 and 0.502" in refused(text)
    assert parse(text, grade_digits=2).frame["grade"].to_list() == [0.5]


@FAST_AND_SLOW
def test_parse_qrels__grade_limits_of_int8_are_read(head):
    assert judged(parse(f"{head}1 0 a -128\n1 0 b 127\n")) == [
        ("1", None, "a", -128),
        ("1", None, "b", 127),
    ]


@pytest.mark.parametrize("content", ["# nothing\n", "1 0 a\n", "1 0 a b 1 2\n"])
def test_parse_qrels__malformed_line_error_shows_the_format(content):
    assert "A trec line is: query second doc grade." in refused(content)


def test_parse_qrels__equal_duplicate_judgment_is_noted():
    qrels = parse("1 0 a 1\n1 0 b 1\n1 0 a 1\n1 0 a 1\n")
    assert judged(qrels) == [("1", None, "a", 1), ("1", None, "b", 1)]
    assert qrels.notes == ("2 judgments given twice with equal grades",)


@pytest.mark.parametrize("subtopics", [False, True])
def test_parse_qrels__conflicting_grades_error_names_both_lines(subtopics):
    said = refused("1 0 b 2\n#\n1 0 a 1\n2 0 a 0\n1 0 a 2\n", subtopics=subtopics)
    assert said.startswith("a.qrels, line 5: query 1, doc a has grades 1 and 2, first in line 3.")


@pytest.mark.parametrize("grade", [1, 0])
def test_parse_qrels__several_values_of_column_2_suggest_subtopics(grade):
    content = f"1 0 b 1\n1 1 a 1\n1 2 a {grade}\n"
    said = refused(content)
    assert said.startswith(
        "a.qrels, line 3: query 1, doc a is judged under several values of column 2"
    )
    assert "first in line 2" in said
    assert "`subtopics=True`" in said
    assert len(judged(parse(content, subtopics=True))) == 3


def test_parse_qrels__column_2_may_differ_between_docs():
    assert len(judged(parse("1 AF a 1\n1 NF b 1\n2 NF a 1\n"))) == 3


def test_parse_qrels__notes_on_encoding_come_first():
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
def test_parse_qrels__column_reader_equals_line_reader(grades, data):
    content = [f"{q} 0\t{d}  {g}\n" for (q, d), g in grades.items()]
    qrels = parse("".join(content))
    assert judged(qrels) == [(q, None, d, g) for (q, d), g in grades.items()]
    at = data.draw(st.integers(0, len(content)))
    commented = parse("".join([*content[:at], "#\n", *content[at:]]))
    assert judged(commented) == judged(qrels)
    lines = qrels.frame["line"].to_list()
    assert commented.frame["line"].to_list() == [n + (n > at) for n in lines]


@pytest.mark.parametrize("blank", ["", "\n"])
def test_parse_qrels__second_byte_order_mark_belongs_to_the_query(blank, tmp_path):
    file = tmp_path / "qrels"
    file.write_text(f"\ufeff\ufeff1 0 d 1\n{blank}2 0 d 1\n")
    found = parse_qrels(InputFile.at(file, "qrels"), "trec")
    assert found.frame["query"].to_list() == ["\ufeff1", "2"]


def test_parse_qrels__clean_file_is_not_read_line_by_line(monkeypatch):
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
def test_parse_qrels__readable_quirks(shared, file, form, count):
    path = shared / "quirks" / f"{file}.qrels.txt"
    qrels = parse_qrels(InputFile.at(path, path.name), form)
    assert (qrels.frame.height, qrels.notes) == (count, ())
    place = {"trec": 3, "prels": 2, "sample-eval": 4}[form]
    grades = [int(line.split()[place]) for line in path.read_text().splitlines()]
    assert qrels.frame["grade"].to_list() == grades


@pytest.mark.parametrize(
    ("file", "problem", "fix"),
    [
        ("fractional-grades", "field 4 (the grade) is not a finite number: '0.-1'", "Grades are"),
        ("text-grades", "field 4 (the grade) is not a finite number: 'NO'", "translate the file's"),
        ("six-columns-non-ascii", "6 fields where trec qrels have 4: '21 clueweb09", "line is:"),
        ("prels-five-columns", "5 fields where trec qrels have 4: '1 clueweb09", '"prels"'),
        ("sample-eval-stratum", "5 fields where trec qrels have 4: '1 0 1007", '"sample-eval"'),
    ],
)
def test_parse_qrels__refused_quirk_names_line_problem_and_advice(shared, file, problem, fix):
    path = shared / "quirks" / f"{file}.qrels.txt"
    with pytest.raises(DataError) as error:
        parse_qrels(InputFile.at(path, path.name))
    assert str(error.value).startswith(f"{path.name}, line 1: {problem}")
    assert fix in str(error.value)


@pytest.mark.real
def test_parse_qrels__real_qrels_follow_their_format(shared):
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


@pytest.mark.parametrize("grade", ["9" * 300, "-2147483648", "3e9"])
def test_read__grade_that_no_table_holds_is_an_error(grade: str):
    with pytest.raises(DataError, match=r"is beyond 2,147,483,647. Map the grades"):
        grade_column(pl.Series([1.0, float(grade)]), "q", None)


Qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")
SubQrel = namedtuple("SubQrel", "query_id doc_id relevance subtopic_id")
ROWS = {
    "made": [Qrel("1", "a", 1, "0"), Qrel("1", "b", -1, "0")],
    "diverse": [SubQrel("1", "a", 1, "2"), SubQrel("1", "a", 0, "3")],
    "spaced": [Qrel("1", "a b", 1, "0")],
}


@pytest.fixture
def datasets(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[object]]:
    """Data sets of ir_datasets by name, which a test may change."""
    rows = dict(ROWS)

    def load(name: str) -> SimpleNamespace:
        return SimpleNamespace(has_qrels=lambda: True, qrels_iter=lambda r=rows[name]: iter(r))

    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=load))
    return rows


@pytest.fixture
def collection(tmp_path: Path, datasets: dict[str, list[object]]) -> Path:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "x").write_text("1 Q0 b 1 2 x\n1 Q0 a 2 1 x\n", encoding="utf-8")
    text = '[tracks.t]\nruns = ["runs/*"]\nqrels = "ir_datasets:made"\n'
    (tmp_path / "collection.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_dataset_qrels__second_column_is_iteration_or_subtopic(datasets: dict[str, list[object]]):
    assert dataset_qrels("ir_datasets:made") == b"1 0 a 1\n1 0 b -1\n"
    assert dataset_qrels("irds:diverse") == b"1 2 a 1\n1 3 a 0\n"


def test_dataset_qrels__id_with_a_space(datasets: dict[str, list[object]]):
    with pytest.raises(irmeta.DataError, match="row 0: an id is empty or has a space: '1 0 a b 1'"):
        dataset_qrels("ir_datasets:spaced")


def test_collection__qrels_of_ir_datasets(collection: Path, tmp_path: Path):
    store = irmeta.ingest(collection, tmp_path / "store")
    assert store.means("RR")["value"].to_list() == [0.5]
    assert store.qrels().collect()["grade"].to_list() == [1, -1]


def test_collection__reads_a_data_set_again_where_it_changed(
    collection: Path, tmp_path: Path, datasets: dict[str, list[object]]
):
    irmeta.ingest(collection, tmp_path / "store")
    datasets["made"] = [Qrel("1", "b", 1, "0")]
    assert irmeta.ingest(collection, tmp_path / "store").means("RR")["value"].to_list() == [1.0]


def test_collection__unknown_data_set(collection: Path):
    file = collection / "collection.toml"
    file.write_text(file.read_text().replace("made", "other"), encoding="utf-8")
    with pytest.raises(irmeta.IrmetaError, match="ir_datasets has no data set 'other'"):
        irmeta.read(collection)


def test_evaluate__qrels_of_ir_datasets(collection: Path, run):
    done = run("evaluate", "ir_datasets:made", collection / "runs" / "x", "-m", "RR")
    assert done.status == 0
    assert "x,RR,0.5" in done.out
    done = run("trec_eval", "-m", "recip_rank", "irds:made", collection / "runs" / "x")
    assert done.out.split() == ["recip_rank", "all", "0.5000"]


def test_read_files__data_set_without_a_run(datasets: dict[str, list[object]]):
    with pytest.raises(irmeta.UsageError, match="ir_datasets:made alone is not a track"):
        irmeta.read_files("ir_datasets:made", [])
