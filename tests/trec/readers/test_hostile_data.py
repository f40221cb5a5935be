"""Data in memory that cannot be read end in one short error of irmeta."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import irmeta

QRELS, RUN = {"q": {"a": 1}}, {"q": {"a": 1.0}}
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
