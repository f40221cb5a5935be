"""Runs and qrels in memory: forms that are read, and values and objects that are refused."""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import irmeta
from irmeta import DataError, UsageError
from irmeta.trec.readers.columns import RunColumns
from irmeta.trec.readers.given import given_qrels, given_runs, name_of

RUN = {"q": {"a": 2.0, "b": 1.0}}
QRELS = {"q": {"a": 1}}
FRAME = pl.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "score": [2.0, 1.0]})
JUDGED = pl.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "label": [1, 0]})


def with_values(frame: pl.DataFrame, **columns: Any) -> pl.DataFrame:
    return frame.with_columns(**{name: pl.Series(v, strict=False) for name, v in columns.items()})


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (
            FRAME.drop("score"),
            r"runs: no column of the score. Rename one of qid, docno to score, or add a",
        ),
        (
            FRAME.rename({"qid": "question"}),
            r"no column of the query.*to query_id \(or qid, q_id, query",
        ),
        (with_values(FRAME, score=[1.0, None]), "runs, row 1: column 'score' has no value. Drop"),
        (
            with_values(FRAME, score=[np.nan, 1.0]),
            "row 0: column 'score' is not a finite number: nan",
        ),
        (
            with_values(FRAME, score=[1.0, np.inf]),
            "row 1: column 'score' is not a finite number: inf",
        ),
        (with_values(FRAME, score=["1", "2"]), "runs: column 'score' is String, not numeric"),
        (with_values(FRAME, docno=["a", None]), "row 1: column 'docno' has no value"),
        (with_values(FRAME, docno=["", "b"]), "row 0: column 'docno' is empty"),
        (
            with_values(FRAME, qid=[1.0, 1.0]),
            "column 'qid' is Float64, neither text nor whole.*301.0",
        ),
        (FRAME.clear(), "runs: has no rows"),
        (pd.DataFrame({"qid": ["q", 1], "docno": "a", "score": 1.0}), "cannot be converted"),
        ({"s": with_values(FRAME, score=[1.0, None])}, r"runs\['s'\], row 1: column 'score'"),
        ({"q": {"a": None}}, "runs: query q, doc a: the value is not a number"),
        ({"q": {"a": 1, "b": "2"}}, "query q, doc b: the value is not a number: '2'"),
        ({"q": {"a": 1}, "p": {"b": float("nan")}}, "query p, doc b: the score is not a finite"),
        ({"q": {"a": -np.inf}}, "query q, doc a: the score is not a finite number: -inf"),
        ({"q": {"a": 1, "b": [2]}}, r"query q, doc b: the value is not a number: \[2\]"),
        ({"q": {1.5: 1}}, "a doc is float, neither text nor a whole number: 1.5. Convert ids"),
        ({None: {"a": 1}}, "a query is NoneType, neither text nor a whole number"),
        ({"q": {"": 1}}, "a doc has an empty name"),
        ({"q": {"a": 1}, "": {"b": 1}}, "a query has an empty name"),
        ({"q": {"a\0b": 1}}, "the name of a doc contains NUL"),
        ({"q": {"\udc80": 1}}, "the name of a doc is not Unicode text"),
        ({"q": {}}, "runs: has no doc"),
        ({}, "runs: has no doc"),
        (iter([]), "runs: has no rows"),
        ([ir_measures.ScoredDoc("q", "a", 1.0), ("q", "a", 1.0)], "not named tuples of one kind"),
        (
            [ir_measures.ScoredDoc("q", 1, 1.0), ir_measures.ScoredDoc("q", "a", 1.0)],
            "a field cannot",
        ),
    ],
)
def test_from_data__invalid_run_is_refused(runs: object, said: str):
    with pytest.raises(DataError, match=said):
        irmeta.from_data(QRELS, runs)


@pytest.mark.parametrize(
    ("qrels", "said"),
    [
        (
            JUDGED.drop("label"),
            r"no column of the grade.*relevance \(or label, grade, rel, rating, score\)",
        ),
        (with_values(JUDGED, label=[None, None]), "column 'label' .*(has no value|not numeric)"),
        (with_values(JUDGED, label=[1, math.inf]), "row 1: column 'label' is not a finite number"),
        (with_values(JUDGED, label=["1", "0"]), "column 'label' is String, not numeric"),
        (with_values(JUDGED, docno=["a", "a"]), "qrels, row 1: query q, doc a has grades 1 and 0"),
        ({"q": {"a": math.nan}}, "query q, doc a: the grade is not a finite number: nan"),
        ({"x": QRELS, "y": {"q": {"a": math.inf}}}, r"qrels\['y'\]: query q, doc a"),
        ([JUDGED, with_values(JUDGED, label=[0, 0])], "row 2: query q, doc a has grades 1 and 0"),
    ],
)
def test_from_data__invalid_qrels_are_refused(qrels: object, said: str):
    with pytest.raises(DataError, match=said):
        irmeta.from_data(qrels, RUN)


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (3, "runs is int: pass a dict of dicts or of lists of docs, a frame"),
        (b"text", "runs is bytes: pass"),
        ("none.run", "runs: 'none.run' does not exist: pass"),
        ([], "no run was given"),
        ([{"q": 1}], r"runs\[0\] is a dict with values other than dicts"),
        (
            {"s": with_values(FRAME, system=["x", "y"])},
            r"runs\['s'\] holds 2 runs: pass them without",
        ),
        (
            [with_values(FRAME, system=["x", "x"])] * 2,
            "two runs are called 'x': name them in a dict",
        ),
    ],
)
def test_from_data__unknown_form_is_refused(runs: object, said: str):
    with pytest.raises(UsageError, match=said):
        irmeta.from_data(QRELS, runs)


@pytest.mark.exhaustive
def test_from_data__docs_of_a_query_may_be_a_list_or_a_set():
    ranked = {"none": [], "q": ["b", "a"], "p": (7,)}
    scored = {"q": {"b": -1, "a": -2}, "p": {7: -1}}
    graded = {"q": {"a": 1, "c": 1}, "p": {"7": 1}}
    expected = irmeta.evaluate(graded, {"run": scored, "x": scored}, "AP,P@1")
    for relevant in ({"q": ["a", "c"], "p": [7]}, {"q": {"c", "a"}, "p": frozenset("7")}):
        assert irmeta.evaluate(relevant, {"run": ranked, "x": ranked}, "AP,P@1").equals(expected)
    alone = irmeta.evaluate(graded, ranked, "AP")
    assert alone.equals(expected.filter(system="run", measure="AP"))
    sets = irmeta.evaluate({"some": {"q": ["a"]}, "all": graded}, ranked, "P@1")
    assert sets["qrels"].to_list() == ["some", "all"]


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ({"q": ["a", "a"]}, "query q has doc a a second time"),
        ({"q": {"a", "b"}}, "query q: a set of docs has no order. Pass a list"),
        ({"x": {"q": ["a", 1.5]}}, "a doc is float, neither text nor a whole number"),
        ({"x": {"q": ["a"], "p": {"a": 1.0}}}, "a dict with values other than dicts, or lists"),
    ],
)
def test_from_data__invalid_lists_of_docs_are_refused(runs: object, said: str):
    with pytest.raises((DataError, UsageError), match=said):
        irmeta.from_data(QRELS, runs)


def test_from_data__lists_of_files_are_files(tmp_path: Path):
    (tmp_path / "a.txt").write_text("q 0 a 1\n")
    (tmp_path / "b.txt").write_text("q 0 b 1\n")
    parts = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    assert irmeta.evaluate({"both": parts}, RUN, "P@2")["value"].to_list() == [1.0]


def test_from_data__subtopics_need_a_column():
    with pytest.raises(DataError, match=r"no column of the subtopic\. Add a column"):
        irmeta.from_data(QRELS, RUN, subtopics=True)


def columns_of(runs: object) -> RunColumns:
    (run,) = given_runs(runs)
    read = run.load()
    assert isinstance(read, RunColumns)
    return read


@pytest.mark.parametrize(
    "frame",
    [
        FRAME.rename({"qid": "Query-ID", "docno": "corpus_id"}),
        FRAME.with_columns(query=pl.lit("text"), docid=7),
        FRAME.rename({"qid": "query", "docno": "doc"}).with_columns(track=pl.lit("t"), doc_id=3),
        FRAME.with_columns(pl.col("score").cast(pl.Int8), embedding=pl.lit([1.0])),
        FRAME.with_columns(pl.col("docno").cast(pl.Enum(["a", "b"]))),
        pd.DataFrame(FRAME.to_dict(as_series=False), index=[5, 5]),
    ],
)
def test_given_runs__columns_are_known_by_their_names(frame: object):
    read = columns_of(frame)
    assert read.queries.to_list() == ["q"]
    assert read.docs.to_pylist() == ["a", "b"]
    assert read.score.tolist() == [2.0, 1.0]
    assert read.sha256() == columns_of(RUN).sha256()


def test_given_runs__ranks_that_are_not_whole_are_counted():
    frame = pl.concat([FRAME, FRAME]).with_columns(rank=pl.Series([1.0, 2.5, None, 4.0]))
    read = columns_of(frame)
    assert read.rank[[0, 3]].tolist() == [1, 4]
    assert read.odd_ranks == 2


@pytest.mark.parametrize(
    "values",
    [
        (2, 1),
        (True, False),
        (2, 1.5),
        (np.float32(2), np.int8(1)),
        (Fraction(5, 2), Decimal("0.5")),
    ],
)
def test_given_runs__scores_of_dicts_are_any_numbers(values: tuple[Any, Any]):
    read = columns_of({"q": dict(zip("ab", values, strict=True))})
    assert read.score.tolist() == [float(value) for value in values]


def test_given_runs__names():
    class Run(NamedTuple):
        query_id: str
        doc_id: str
        score: float

    rows = [Run("q", "a", 1.0)]
    assert [run.name for run in given_runs([RUN, rows, iter(rows)])] == ["run1", "run2", "run3"]
    assert [run.name for run in given_runs(rows)] == ["run"]
    assert [run.name for run in given_runs({1: RUN})] == ["1"]
    assert [run.name for run in given_runs(with_values(FRAME, tag=["x", "y"]))] == ["x", "y"]
    assert [len(one.parts) for one in given_qrels([QRELS, JUDGED])] == [2]
    assert [one.name for one in given_qrels({"x": QRELS, "y": JUDGED})] == ["x", "y"]


def test_name_of__qrels_name_the_track():
    assert name_of(Path("folder/qrels.web.txt.gz")) == "qrels.web"
    assert name_of("ir_datasets:msmarco/dev") == "msmarco/dev"
    assert name_of(QRELS) is None


class TrecQrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class DataSet:
    """A data set with the methods of ir_datasets that are called."""

    def __init__(self, scored: bool) -> None:
        self._scored = scored

    def has_qrels(self) -> bool:
        return True

    def qrels_iter(self) -> Iterator[TrecQrel]:
        yield TrecQrel("q", "a", 1, "0")

    def has_scoreddocs(self) -> bool:
        return self._scored

    def scoreddocs_iter(self) -> Iterator[ir_measures.ScoredDoc]:
        yield ir_measures.ScoredDoc("q", "b", 2.0)
        yield ir_measures.ScoredDoc("q", "a", 1.0)


def test_from_data__ir_datasets_is_not_installed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(UsageError, match=r"install the extra 'datasets' \(ir-datasets\) first"):
        irmeta.from_data("ir_datasets:none", RUN)


@pytest.mark.parametrize("prefix", ["ir_datasets:", "irds:"])
def test_from_data__data_set_of_ir_datasets(prefix: str, monkeypatch: pytest.MonkeyPatch):
    known = {"some/set": DataSet(True), "plain": DataSet(False)}
    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=known.__getitem__))
    name = f"{prefix}some/set"
    store = irmeta.from_data(name, {"s": RUN, "scored": name})
    assert store.tracks == ["some/set"]
    assert store.means("RR").select("system", "value").rows() == [("s", 1.0), ("scored", 0.5)]
    with pytest.raises(UsageError, match="ir_datasets has no data set 'other'"):
        irmeta.from_data(f"{prefix}other", RUN)
    with pytest.raises(UsageError, match="the data set 'plain' has no scoreddocs"):
        irmeta.from_data(name, f"{prefix}plain")


SURROGATE, LONG, HUGE = "\ud800", "x" * 100_000, 10**5000


class Unprintable:
    """An object whose text raises an error."""

    def __repr__(self) -> str:
        raise RuntimeError


def closed_file() -> io.StringIO:
    file = io.StringIO("q 0 a 1 1 t\n")
    file.close()
    return file


PANDAS_ROW = [["q", "a", 1.0]]
TUPLES = pd.MultiIndex.from_tuples([("a", "qid"), ("a", "docno"), ("b", "score")])
RUNS: dict[str, tuple[Any, str]] = {
    "columns without names": (pd.DataFrame(PANDAS_ROW), "no column of the query. Rename one of 0"),
    "columns of tuples": (pd.DataFrame(PANDAS_ROW, columns=TUPLES), "no column of the query"),
    "two columns of a name": (
        pd.DataFrame([["q", "a", 1.0, 2.0]], columns=["qid", "docno", "score", "score"]),
        "two columns have the same name",
    ),
    "two Arrow columns": (pa.table([["q"], ["q"]], names=["qid", "qid"]), "the same name"),
    "one column": (pd.Series([1.0]), "not named tuples of one kind"),
    "numbers too large": (
        pd.DataFrame({"qid": ["q"], "docno": ["a"], "score": [10**400]}),
        "a column cannot be converted",
    ),
    "arrays as scores": ({"q": {"a": np.ones(2), "b": np.ones(2)}}, "the value is an array"),
    "arrays of one score": ({"q": {"a": np.ones(1), "b": 2.0}}, "the value is an array"),
    "dates as scores": ({"q": {"a": np.datetime64("2020-01-01")}}, "is not a number: 2020"),
    "scores too large": ({"q": {"a": HUGE}}, "too large: <number of 16,610 bits>"),
    "a scalar": (np.array(1.0), "runs is ndarray"),
    "queries too large": ({HUGE: {"a": 1.0}}, "a query is too large a number"),
    "docs too large": ({"q": {HUGE: 1.0}}, "a doc is too large a number"),
    "a name that is not Unicode": ({SURROGATE: RUN}, r"the name of a run, '\\ud800', is not"),
    "a long path": (LONG, "does not exist"),
    "a long name": ({LONG: 5}, "is int: pass a dict"),
    "a closed file": (closed_file(), "the open file cannot be read"),
    "an unprintable score": ({"q": {"a": Unprintable()}}, "not a number: <Unprintable without"),
    "an unprintable doc": ({"q": {Unprintable(): 1.0}}, "a doc is Unprintable"),
    "an unprintable name": ({Unprintable(): RUN}, "the name of a run is <Unprintable without"),
}
QRELS_DATA: dict[str, tuple[Any, str]] = {
    "an empty list": ([], "no qrels were given"),
    "a set without qrels": ({"s": []}, "no qrels were given"),
    "a set whose name is not Unicode": ({SURROGATE: QRELS}, "the name of a qrels set"),
    "a closed file": (closed_file(), "the open file cannot be read"),
    "grades too large": ({"q": {"a": HUGE}}, "the value is too large"),
}
CHOICES: dict[str, tuple[dict[str, Any], str]] = {
    "a number as track": ({"track": 5}, "track = 5 is not the name of a track"),
    "a track that is not Unicode": ({"track": SURROGATE}, "the name of the track"),
    "an unprintable choice": ({"tie_order": Unprintable()}, "is not a choice"),
    "a long choice": ({"tie_order": LONG}, r"100,000 characters\)' is not a choice"),
}
CASES = [
    *(pytest.param(QRELS, run, {}, said, id=f"runs: {n}") for n, (run, said) in RUNS.items()),
    *(pytest.param(q, RUN, {}, said, id=f"qrels: {n}") for n, (q, said) in QRELS_DATA.items()),
    *(pytest.param(QRELS, RUN, c, said, id=n) for n, (c, said) in CHOICES.items()),
]


@pytest.mark.parametrize(("qrels", "runs", "choices", "said"), CASES)
def test_from_data__unusable_data_are_one_short_error(
    qrels: Any, runs: Any, choices: dict[str, Any], said: str
):
    with pytest.raises(irmeta.IrmetaError, match=said) as error:
        irmeta.from_data(qrels, runs, **choices)
    assert len(str(error.value)) < 400


def test_from_data__columns_without_text_names_are_ignored():
    frame = pd.DataFrame([["q", "a", 1.0, 0]], columns=["qid", "docno", "score", 7])
    assert irmeta.from_data(QRELS, frame).means("AP")["value"].to_list() == [1.0]


@pytest.mark.parametrize("measures", [LONG, f"P@{'9' * 5000}", Unprintable(), [Unprintable()]])
def test_evaluate__unusable_measures_are_one_short_error(measures: Any):
    with pytest.raises(irmeta.MeasureError) as error:
        irmeta.evaluate(QRELS, RUN, measures, per_query=True)
    assert len(str(error.value)) < 800
