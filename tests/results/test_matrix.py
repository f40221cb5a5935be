"""`Matrix`, and reading of matrices from files and frames."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from irmeta.errors import DataError, UsageError
from irmeta.results.matrix import Matrix, matrix_of, read_matrices
from irmeta.results.tidy_files import write_out

NAN = math.nan
VALUES = np.array([[0.5, NAN, 0.25], [1.0, NAN, NAN], [0.0, NAN, 0.75]])


def matrix(**changes: object) -> Matrix:
    given = {"values": VALUES, "queries": ("1", "2", "3"), "systems": ("a", "b", "c")}
    return Matrix(**(given | changes))


def same(a: Matrix, b: Matrix) -> bool:
    names = ("queries", "systems", "measure", "track", "direction")
    return np.array_equal(a.values, b.values, equal_nan=True) and all(
        getattr(a, n) == getattr(b, n) for n in names
    )


def test_means__skip_undefined_values():
    assert matrix().means.tolist() == pytest.approx([0.5, NAN, 0.5], nan_ok=True)
    assert np.isnan(matrix(values=np.zeros((0, 3)), queries=()).means).all()


def test_oriented__greater_is_better():
    assert matrix().oriented[0, 0] == 0.5
    assert matrix(direction=-1).oriented[0, 0] == -0.5


def test_complete__keeps_queries_defined_for_all_systems():
    assert matrix().complete().queries == ()
    some = matrix(measure="M", track="t", direction=-1).only_systems(np.array([2, 0]))
    found = some.complete()
    expected = Matrix(np.array([[0.25, 0.5], [0.75, 0.0]]), ("1", "3"), ("c", "a"), "M", "t", -1)
    assert same(found, expected)


def test_only_queries_and_only_systems__keep_the_requested_order():
    found = matrix().only_queries(np.array([2, 0]))
    assert found.queries == ("3", "1")
    assert found.values[:, 0].tolist() == [0.0, 0.5]
    assert matrix().only_systems(np.array([], int)).values.shape == (3, 0)
    assert matrix().only_systems([]).values.shape == (3, 0)


def test_only_queries_and_only_systems__take_names():
    assert same(matrix().only_queries(["3", "1"]), matrix().only_queries(np.array([2, 0])))
    assert same(matrix().only_systems(["c"]), matrix().only_systems(np.array([2])))
    with pytest.raises(UsageError, match=r"no query '4'\. Known: 1, 2, 3\."):
        matrix().only_queries(["1", "4"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"values": VALUES.T[:2]}, r"shape \(2, 3\) do not fit 3 queries and 3 systems"),
        ({"systems": ("a", "b", "a")}, "system 'a' occurs twice"),
        ({"queries": ("1", "2", "2")}, "query '2' occurs twice"),
    ],
)
def test_matrix__rejects_wrong_shapes_and_duplicate_names(change, said):
    with pytest.raises(UsageError, match=said):
        matrix(**change)


# Frames


def test_matrix_of__numbers_queries_without_a_query_column():
    found = matrix_of(pl.DataFrame({"s1": [0.5, None], "s2": [1, 2]}), "AP")
    assert same(
        found, Matrix(np.array([[0.5, 1.0], [NAN, 2.0]]), ("1", "2"), ("s1", "s2"), measure="AP")
    )
    assert found.values.dtype == np.float64
    assert found.values.flags.c_contiguous
    assert found.values.flags.writeable


@pytest.mark.parametrize("name", ["query", "Topic", " qid", "query_id", "", "topics"])
def test_matrix_of__first_column_names_the_queries(name):
    """The first column is recognised by its header or by nonnumeric values."""
    queries = ["q1", "q2"] if name == "topics" else [301, 302]
    found = matrix_of(pl.DataFrame({name: queries, "s": [1.0, 2.0]}))
    assert found.queries == tuple(map(str, queries))
    assert found.systems == ("s",)


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(["1", "n/a", " 2 "])])
def test_matrix_of__accepts_numbers_as_text(kind):
    found = matrix_of(pl.DataFrame({"s": pl.Series(["1", "n/a", " 2 "], dtype=kind)}))
    assert found.values[:, 0].tolist() == pytest.approx([1, NAN, 2], nan_ok=True)


def test_matrix_of__keeps_systems_without_values():
    frame = pl.DataFrame(
        {"a": [None, None], "b": [1, 2], "c": pl.Series([None, None], dtype=pl.String)}
    )
    found = matrix_of(frame)
    assert found.systems == ("a", "b", "c")
    assert np.isnan(found.values[:, [0, 2]]).all()


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"s": [1.0], "note": ["good"]}, "a column that holds no numbers: 'note'. Columns are"),
        ({"s": [1.0], "ok": [True]}, "a column that holds no numbers: 'ok'"),
        ({"s": ["0.5", "0,5"]}, "not a number in the column 's': '0,5'"),
        ({"query": ["1"]}, "no column of numbers"),
        ({}, "no column of numbers"),
        ({"a;b": ["1;2"]}, "with commas between"),
    ],
)
def test_matrix_of__rejects_nonnumeric_columns(columns, said):
    with pytest.raises(DataError, match=said):
        matrix_of(pl.DataFrame(columns))


def test_matrix_of__frame_without_rows_keeps_its_systems():
    found = matrix_of(pl.DataFrame({"a": [], "b": []}))
    assert (found.queries, found.systems, found.values.shape) == ((), ("a", "b"), (0, 2))


# Plain tables


def read(tmp_path: Path, text: str, measures: tuple[str, ...] | None = None) -> Matrix:
    path = tmp_path / "own.csv"
    path.write_text(text, encoding="utf-8")
    (found,) = read_matrices(path, measures)
    return found


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("a,b\n.5,1\n.25,\n", ("1", "2")),
        ("query,a,b\n007,.5,1\n7,.25,\n", ("007", "7")),
        ("TOPIC,a,b\n301,.5,1\n302,.25,NA\n", ("301", "302")),
        (",a,b\n0,.5,1\n1,.25,\n", ("0", "1")),  # pandas
        ('"","a","b"\n"1",0.5,1\n"2",0.25,NA\n', ("1", "2")),  # R
        ("t,a,b\nq1,.5,1\nq2,.25,nan\n", ("q1", "q2")),
        ("\ufeffa,b\r\n.5, 1\r\n.25, NaN\r\n", ("1", "2")),
        ("# made by hand\na,b\n.5,1\n\n.25,null\n\n", ("1", "2")),
        ("a,b,\n.5,1,\n.25,,\n", ("1", "2")),
        ("query,a,b\n1,.5,1\n\n2,.25,N/A\n\n\n", ("1", "2")),
        ("a,b\n+5e-1,1\n0.25,none", ("1", "2")),
    ],
)
def test_read_matrices__csv_dialects(tmp_path, text, queries):
    expected = Matrix(np.array([[0.5, 1.0], [0.25, NAN]]), queries, ("a", "b"), "own")
    assert same(read(tmp_path, text), expected)


def test_read_matrices__fraction_and_text_after_many_integers(tmp_path):
    text = "a\n" + "1\n" * 2000 + "0.5\nNA\n"
    found = read(tmp_path, text)
    assert found.values[:2001].sum() == 2000.5
    assert math.isnan(found.values[2001, 0])


def test_read_matrices__header_only_has_systems_but_no_queries(tmp_path):
    found = read(tmp_path, "a,b\n")
    assert found.systems == ("a", "b")
    assert found.values.shape == (0, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "own.csv: cannot be read as CSV"),
        ("a,b\n1,2,3\n", "own.csv: cannot be read as CSV"),
        ("a,b,a\n1,2,3\n", "own.csv: two columns have the same name: 'a'"),
        ("a,,b\n1,2,3\n", "own.csv: a column without a name"),
        (",,b\n1,2,3\n", "own.csv: a column without a name"),
        ("a,b\n1,x\n", "own.csv: a column that holds no numbers: 'b'"),
        ("a,b\n1,x\n2,3\n", "own.csv: not a number in the column 'b': 'x'"),
        ("run1,run2\n.1,.2\noops,.3\n", "own.csv: not a number in the column 'run1': 'oops'"),
        ("a;b\n1;2\n", "own.csv: no column of numbers"),
        ("query,a\n1,.5\n1,.6\n", "query '1' occurs twice"),
    ],
)
def test_read_matrices__rejects_malformed_csv(tmp_path, text, said):
    with pytest.raises((DataError, UsageError), match=said):
        read(tmp_path, text)


def test_read_matrices__rejects_invalid_utf8(tmp_path):
    path = tmp_path / "own.csv"
    path.write_bytes(b"a,b\n\xff\xfe,1\n")
    with pytest.raises(DataError, match=r"own\.csv: cannot be read as CSV"):
        read_matrices(path)


def test_read_matrices__parquet_table_with_query_column(tmp_path):
    pl.DataFrame({"qid": [1, 2], "a": [0.5, None]}).write_parquet(tmp_path / "own.parquet")
    (found,) = read_matrices(tmp_path / "own.parquet")
    assert same(found, Matrix(np.array([[0.5], [NAN]]), ("1", "2"), ("a",), "own"))


@pytest.mark.parametrize("content", [b"", b"not parquet at all"])
def test_read_matrices__rejects_invalid_parquet(tmp_path, content):
    path = tmp_path / "own.parquet"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"own\.parquet: cannot be read as Parquet"):
        read_matrices(path)


def test_read_matrices__rejects_missing_file_and_folder(tmp_path):
    with pytest.raises(UsageError, match=r"none\.csv does not exist"):
        read_matrices(tmp_path / "none.csv")
    with pytest.raises(UsageError, match="is not a file"):
        read_matrices(tmp_path)


def test_read_matrices__file_name_is_the_measure_of_a_plain_table(tmp_path):
    assert read(tmp_path, "a\n1\n", ("own",)).measure == "own"
    with pytest.raises(UsageError, match=r"own\.csv has no measure 'AP'. Known: own"):
        read(tmp_path, "a\n1\n", ("AP",))


@pytest.mark.exhaustive
def test_read_matrices__published_score_matrices(shared):
    """R writes headers with or without quotes, and no query column."""
    shapes = {}
    for path in (shared / "score-matrices").glob("*.csv"):
        (found,) = read_matrices(path)
        assert not np.isnan(found.values).any()
        shapes[path.stem] = found.values.shape
    assert shapes["adhoc8_ap"] == (50, 129)
    assert shapes["adhoc5_ap"] == (50, 61)
    assert shapes["web2014_ap"] == (50, 30)


# Results of irmeta


TIDY = pl.DataFrame(
    {
        "track": ["t", "t", "t", "u", "t"],
        "system": ["b", "a", "a", "a", "b"],
        "query": ["10", "10", "9", "1", "10"],
        "measure": ["AP", "AP", "AP", "AP", "RR"],
        "value": [0.1, 0.2, 0.3, 0.4, None],
    }
)


def write(frame: pl.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path)
    return path


endings = pytest.mark.parametrize("ending", ["parquet", "csv"])


@endings
def test_read_matrices__matrix_for_each_track_and_measure(tmp_path, ending):
    found = read_matrices(write(TIDY, tmp_path / f"scores.{ending}"))
    expected = [
        Matrix(np.array([[0.2, 0.1], [0.3, NAN]]), ("10", "9"), ("a", "b"), "AP", "t"),
        Matrix(np.array([[0.4]]), ("1",), ("a",), "AP", "u"),
        Matrix(np.array([[NAN]]), ("10",), ("b",), "RR", "t"),
    ]
    assert len(found) == 3
    assert all(map(same, found, expected))


@endings
def test_read_matrices__selects_measures(tmp_path, ending):
    path = write(TIDY, tmp_path / f"scores.{ending}")
    assert [m.measure for m in read_matrices(path, ("RR",))] == ["RR"]
    with pytest.raises(UsageError, match=r"scores\.\w+ has no measure 'PA'"):
        read_matrices(path, ("AP", "PA"))


@endings
def test_read_matrices__numeric_names_become_text(tmp_path, ending):
    frame = TIDY.with_columns(
        track=pl.lit(2012), query=pl.Series([10, 10, 9, 1, 10]), system=pl.Series([2, 1, 1, 1, 2])
    )
    first = read_matrices(write(frame, tmp_path / f"scores.{ending}"))[0]
    assert (first.track, first.queries, first.systems) == ("2012", ("1", "10", "9"), ("1", "2"))


def test_read_matrices__keeps_leading_zeros(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("system,query,measure,value\n01,007,AP,1\n1,7,AP,NaN\n", encoding="utf-8")
    (found,) = read_matrices(path)
    assert (found.track, found.queries, found.systems) == ("", ("007", "7"), ("01", "1"))
    assert found.values[0, 0] == 1
    assert np.isnan(found.values.ravel()[1:]).all()


@endings
def test_read_matrices__wide_results(tmp_path, ending):
    wide = pl.DataFrame(
        {"track": "t", "system": ["a", "b"], "query": "1", "AP": [0.1, 0.2], "RR": [1.0, None]}
    )
    found = read_matrices(write(wide, tmp_path / f"scores.{ending}"))
    assert [m.measure for m in found] == ["AP", "RR"]
    assert found[0].values.tolist() == [[0.1, 0.2]]
    assert found[1].values.tolist() == [pytest.approx([1.0, NAN], nan_ok=True)]


@endings
@pytest.mark.parametrize("wide", [False, True])
def test_read_matrices__rejects_means(tmp_path, ending, wide):
    frame = TIDY.drop("query") if not wide else pl.DataFrame({"track": "t", "system": "a", "AP": 1})
    with pytest.raises(UsageError, match=r"means\.\w+ holds means: .*--per-query"):
        read_matrices(write(frame, tmp_path / f"means.{ending}"))


@endings
def test_read_matrices__rejects_duplicate_values(tmp_path, ending):
    path = write(pl.concat([TIDY, TIDY[:1]]), tmp_path / f"scores.{ending}")
    with pytest.raises(DataError, match=r"two values for one system, .*: 't b 10 AP'"):
        read_matrices(path)
    assert len(read_matrices(path, ("RR",))) == 1


@pytest.mark.parametrize("key", ["track", "system", "query", "measure"])
def test_read_matrices__rejects_missing_names(tmp_path, key):
    frame = TIDY.with_columns(pl.when(pl.col("value") != 0.1).then(key).alias(key))
    with pytest.raises(DataError, match=rf"scores\.csv: a row without a {key}"):
        read_matrices(write(frame, tmp_path / "scores.csv"))


def test_read_matrices__rejects_nonnumeric_value(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("system,query,measure,value\na,1,AP,1\nb,1,AP,good\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"scores\.csv: not a number in the column 'value': 'good'"):
        read_matrices(path)


def test_read_matrices__empty_for_results_without_rows(tmp_path):
    assert read_matrices(write(TIDY.head(0), tmp_path / "scores.parquet")) == []


def test_read_matrices__reads_results_written_by_irmeta(made_store, tmp_path):
    scores = made_store.scores("AP,ASL", track="passage")
    for ending in ("parquet", "csv"):
        found = read_matrices(write(scores.per_query(), tmp_path / f"scores.{ending}"))
        by_name = {m.measure: m for m in found}
        for name in ("AP", "ASL"):
            whole = scores.matrix(name)
            systems = [whole.systems.index(s) for s in by_name[name].systems]
            queries = [whole.queries.index(q) for q in by_name[name].queries]
            ordered = whole.values[np.ix_(queries, systems)]
            assert np.array_equal(by_name[name].values, ordered, equal_nan=True)
            assert by_name[name].values.shape == whole.values.shape


def test_read_matrices__flipped_bit_fails_the_checksum(made_store, tmp_path):
    file = tmp_path / "scores.parquet"
    write_out(made_store.evaluate("AP", track="news", per_query=True), file, {}, force=False)
    before = read_matrices(file)[0].values
    found = pq.read_metadata(file).row_group(0)
    column = found.column(found.num_columns - 1)
    begin = column.dictionary_page_offset or column.data_page_offset
    raw = bytearray(file.read_bytes())
    raw[begin + column.total_compressed_size - 1] ^= 1
    file.write_bytes(raw)
    with pytest.raises(
        DataError, match=r"scores\.parquet: cannot be read as Parquet .*checksum mismatch"
    ):
        read_matrices(file)
    assert len(before) > 1
