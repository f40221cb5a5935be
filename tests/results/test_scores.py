"""`Scores`: tidy frames and means from arrays, and the summary of each query."""

from __future__ import annotations

import math
import statistics
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import irmeta
from irmeta.errors import IrmetaError, UsageError
from irmeta.results.scores import Scores, wide
from irmeta.schema.columns import Table
from irmeta.schema.result_tables import MEANS, SCORES

NAN = math.nan
VALUES = np.array(
    [
        [[0.5, 1.0], [0.25, 0.0], [0.0, 0.0]],  # AP: [query, system]
        [[2.0, 1.0], [NAN, NAN], [4.0, NAN]],  # ASL
    ]
)


def scores(**changes: object) -> Scores:
    """Two systems, three queries, two measures."""
    given = {
        "track": "t",
        "measures": ("AP", "ASL"),
        "queries": ("1", "10", "2"),
        "systems": ("a", "b"),
        "values": VALUES,
        "included": np.ones(VALUES.shape, bool),
        "no_list": np.array([[False, False], [True, False], [False, True]]),
        "lists_without_nonrelevant": {
            "ASL": np.array([[True, False], [True, False], [True, False]])
        },
        "directions": {"AP": 1, "ASL": -1},
    }
    return Scores(**(given | changes))


def included(*left_out: tuple[int, int, int]) -> np.ndarray:
    cells = np.ones(VALUES.shape, bool)
    for cell in left_out:
        cells[cell] = False
    return cells


PER_QUERY = [
    ("t", "a", "1", "AP", 0.5),
    ("t", "a", "1", "ASL", 2.0),
    ("t", "a", "10", "AP", 0.25),
    ("t", "a", "10", "ASL", NAN),
    ("t", "a", "2", "AP", 0.0),
    ("t", "a", "2", "ASL", 4.0),
    ("t", "b", "1", "AP", 1.0),
    ("t", "b", "1", "ASL", 1.0),
    ("t", "b", "10", "AP", 0.0),
    ("t", "b", "10", "ASL", NAN),
    ("t", "b", "2", "AP", 0.0),
    ("t", "b", "2", "ASL", NAN),
]
COLUMNS = ["track", "system", "query", "measure", "value"]


def test_per_query__sorted_by_system_query_and_measure():
    expected = pl.DataFrame(PER_QUERY, schema=COLUMNS, orient="row")
    assert_frame_equal(scores().per_query(), expected, check_exact=True)


def test_per_query__omits_excluded_values():
    found = scores(included=included((0, 0, 1), (1, 2, 0), (1, 1, 1))).per_query()
    kept = [row for i, row in enumerate(PER_QUERY) if i not in (6, 5, 9)]
    assert_frame_equal(found, pl.DataFrame(kept, schema=COLUMNS, orient="row"))


def test_means__skip_undefined_values_and_count_queries():
    assert scores().means().rows() == [
        ("t", "a", "AP", 0.25, 3, 1, None),
        ("t", "a", "ASL", 3.0, 2, 0, 2),
        ("t", "b", "AP", 1 / 3, 3, 1, None),
        ("t", "b", "ASL", 1.0, 1, 0, 0),
    ]


def test_means__omit_excluded_values():
    means = scores(included=included((0, 1, 0), (1, 0, 0))).means()
    assert means.rows()[:2] == [("t", "a", "AP", 0.25, 2, 0, None), ("t", "a", "ASL", 4.0, 1, 0, 1)]


def test_means__undefined_without_values():
    means = scores(included=np.zeros(VALUES.shape, bool)).means()
    assert means["value"].is_nan().all()
    assert means["queries"].to_list() == [0, 0, 0, 0]
    assert scores(values=np.full(VALUES.shape, NAN)).means()["value"].is_nan().all()


@pytest.mark.parametrize(("table", "frame"), [(SCORES, "per_query"), (MEANS, "means")])
def test_per_query_and_means__columns_of_the_schema(table: Table, frame: str):
    found = getattr(scores(), frame)()
    wanted = table.arrow()
    assert found.columns == wanted.names
    assert found.schema == pl.DataFrame(wanted.empty_table()).schema


def test_mean_values__equal_the_frame_of_means():
    assert scores().mean_values().T.ravel().tolist() == scores().means()["value"].to_list()


def test_concat__joins_blocks_of_queries():
    def block(queries: slice) -> Scores:
        whole = scores()
        return scores(
            queries=whole.queries[queries],
            values=whole.values[:, queries],
            included=whole.included[:, queries],
            no_list=whole.no_list[queries],
            lists_without_nonrelevant={"ASL": whole.lists_without_nonrelevant["ASL"][queries]},
        )

    joined = Scores.concat([block(slice(0, 1)), block(slice(1, 1)), block(slice(1, 3))])
    assert joined.queries == scores().queries
    assert_frame_equal(joined.means(), scores().means())
    assert_frame_equal(joined.per_query(), scores().per_query())
    assert joined.directions == scores().directions


def test_only__keeps_selected_systems_in_the_requested_order():
    found = scores(included=included((0, 0, 1))).only(["b"])
    assert found.systems == ("b",)
    assert found.per_query().rows()[0] == PER_QUERY[7]
    assert found.means().rows() == [
        ("t", "b", "AP", 0.0, 2, 1, None),
        ("t", "b", "ASL", 1.0, 1, 0, 0),
    ]
    assert scores().only(["b", "a"]).means()["system"].to_list() == ["b", "b", "a", "a"]


def test_wide__column_for_each_measure():
    per_query = wide(scores().per_query())
    assert per_query.columns == ["track", "system", "query", "AP", "ASL"]
    assert per_query.rows()[0] == ("t", "a", "1", 0.5, 2.0)
    assert per_query.height == 6
    means = wide(scores().means())
    assert means.rows() == [("t", "a", 0.25, 3.0), ("t", "b", 1 / 3, 1.0)]


def test_wide__null_for_missing_values():
    assert wide(scores(included=included((1, 0, 0))).per_query())["ASL"][0] is None


def test_store__scores_equal_evaluate_and_means(made_store):
    arrays = made_store.scores("AP,ASL", track="passage")
    assert_frame_equal(
        arrays.per_query(), made_store.evaluate("AP,ASL", track="passage", per_query=True)
    )
    assert_frame_equal(arrays.means(), made_store.means("AP,ASL", track="passage"))
    q = arrays.queries.index("264014")
    assert np.isnan(arrays.values[1, q]).all()
    assert (arrays.values[0, q] == 0).all()
    counted = made_store.means("AP,ASL", track="passage", system="larkSplade")["queries"]
    assert counted.to_list() == [15, 14]


@pytest.mark.exhaustive
def test_store_means__selects_systems_and_tracks(made_store):
    every = made_store.means("AP")
    assert every["track"].unique(maintain_order=True).to_list() == ["news", "passage", "web"]
    some = made_store.means("AP", system=["aldBM25", "finchDiv"])
    assert_frame_equal(some, every.filter(pl.col("system").is_in(["aldBM25", "finchDiv"])))
    one = made_store.means("AP", system="finchDiv", track="web")
    assert_frame_equal(one, every.filter(system="finchDiv"))


def test_store_means__rejects_empty_list_of_systems(made_store):
    with pytest.raises(IrmetaError):
        made_store.means("AP", system=[])


def test_store_means__suggests_the_nearest_system_or_track(made_store):
    with pytest.raises(IrmetaError, match=r"no system 'finchDvi'.*Did you mean 'finchDiv'"):
        made_store.means("AP", system=["aldBM25", "finchDvi"])
    with pytest.raises(IrmetaError, match=r"no track 'wbe'.*Did you mean 'web'"):
        made_store.evaluate("AP", track="wbe", per_query=True)


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
