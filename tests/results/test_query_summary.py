"""Best, median and worst value of all systems on each query."""

from __future__ import annotations

import statistics
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import irmeta
from irmeta.errors import UsageError


@pytest.mark.parametrize("track", ["news", "web"])
def test_query_summary__equals_the_values_of_all_systems(made_store: irmeta.Store, track: str):
    names = "AP,ASL,nDCG@10,AP(rel=2)"
    values = made_store.evaluate(names, track=track, per_query=True)
    rows = made_store.scores(names, track=track).query_summary()
    assert rows.columns == ["track", "query", "measure", "systems", "best", "median", "worst"]
    assert rows.height == values.select("query", "measure").n_unique()
    for row in rows.iter_rows(named=True):
        mine = values.filter(query=row["query"], measure=row["measure"])["value"].drop_nans()
        assert row["systems"] == len(mine)
        if not len(mine):
            assert row["best"] != row["best"]
            assert row["median"] != row["median"]
            continue
        ends = (min(mine), max(mine))
        best, worst = ends if row["measure"].startswith("ASL") else ends[::-1]
        assert (row["best"], row["worst"]) == (best, worst)
        assert row["median"] == pytest.approx(statistics.median(mine), rel=1e-12)


def test_query_summary__columns_as_asked(made_store: irmeta.Store):
    rows = made_store.scores("AP", track="news").query_summary("worst, best")
    assert rows.columns == ["track", "query", "measure", "systems", "worst", "best"]
    for wrong in ("mean", "best,best"):
        with pytest.raises(UsageError, match="summary"):
            made_store.scores("AP", track="news").query_summary(wrong)


def test_evaluate__summary_of_each_query(made_store: irmeta.Store):
    asked: Any = {"per_query": True, "summary": "best,worst"}
    rows = made_store.evaluate("AP,ASL", track="news", **asked)
    expected = made_store.scores("AP,ASL", track="news").query_summary(["best", "worst"])
    assert_frame_equal(rows, expected)
    assert made_store.evaluate("AP", **asked)["track"].n_unique() == 3
    data = {"q": {"d": 1}}, {"a": {"q": {"d": 1.0}}, "b": {"q": {"e": 1.0}}}
    assert irmeta.evaluate(*data, "RR", **asked).rows() == [("q", "RR", 2, 1.0, 0.0)]
    assert_frame_equal(irmeta.evaluate(made_store, "AP,ASL", track="news", **asked), expected)
    for wrong, message in (
        ({"summary": "best"}, "`summary` is of all systems on each query: use `per_query`"),
        ({"summary": "bst", "per_query": True}, "Did you mean 'best'"),
    ):
        for source in ((made_store,), data):
            with pytest.raises(UsageError, match=message):
                irmeta.evaluate(*source, "AP", **wrong)


def test_evaluate_command__summary_of_each_query(made_store: irmeta.Store, run):
    words = ("evaluate", made_store.path, "-m", "AP", "--track", "news", "--summary", "median,best")
    printed = pl.read_csv(run(*words, "-q").out.encode())
    assert printed.columns == ["track", "query", "measure", "systems", "median", "best"]
    assert printed.height == 25
    for more, message in (
        ((), "give --per-query"),
        (("-q", "--wide"), "omit --wide"),
        (("-q", "--sort", "AP"), "--summary has no column 'AP' to sort by"),
    ):
        done = run(*words, *more)
        assert (done.status, done.out) == (2, "")
        assert message in done.err
