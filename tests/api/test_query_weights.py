"""Weights of queries in evaluate, compare and the gate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import irmeta
from irmeta.results.tidy_files import provenance

QRELS = {"q1": {"d1": 1}, "q2": {"d1": 1}, "q3": {"d2": 1}}
RUNS = {
    "a": {"q1": {"d1": 2, "d2": 1}, "q2": {"d1": 2, "d2": 1}, "q3": {"d1": 2, "d2": 1}},
    "b": {"q1": {"d1": 1, "d2": 2}, "q2": {"d1": 1, "d2": 2}, "q3": {"d1": 1, "d2": 2}},
}
WEIGHTS = pl.DataFrame({"query": ["q1", "q2", "q3"], "weight": [1, 2, 5]})


@pytest.fixture
def news_weights(made_store: irmeta.Store, tmp_path: Path) -> Path:
    """Weights 1, 2, ... of the queries of the track news."""
    queries = made_store.evaluate("AP", track="news", per_query=True)["query"].unique().sort()
    file = tmp_path / "weights.csv"
    pl.DataFrame({"query": queries, "weight": range(1, len(queries) + 1)}).write_csv(file)
    return file


def test_evaluate__means_are_weighted():
    # a has RR 1, 1, 1/2 and b 1/2, 1/2, 1: (1 + 2 + 5/2) / 8 and (1/2 + 1 + 5) / 8
    for source, runs in ((QRELS, RUNS), (irmeta.from_data(QRELS, RUNS), None)):
        arguments = (source,) if runs is None else (source, runs)
        means = irmeta.evaluate(*arguments, "RR", query_weights=WEIGHTS)
        assert means["value"].to_list() == [0.6875, 0.8125]
        assert means["queries"].to_list() == [3, 3]
        scaled = WEIGHTS.with_columns(pl.col("weight") * 0.01)
        scaled = irmeta.evaluate(*arguments, "RR", query_weights=scaled)
        assert_frame_equal(scaled, means)


def test_evaluate__weights_of_segments_and_intervals(made_store: irmeta.Store, news_weights: Path):
    segments = pl.DataFrame({"query": ["901", "902", "903"], "segment": ["x", "x", "x"]})
    asked: Any = {"track": "news", "query_weights": news_weights}
    with pytest.warns(irmeta.SegmentWarning):
        means = made_store.evaluate("AP", segments=segments, interval="t", **asked)
    part = made_store.evaluate("AP", query=["901", "902", "903"], interval="t", **asked)
    assert_frame_equal(means.filter(segment="x").drop("segment"), part)
    values = made_store.evaluate("AP", track="news", per_query=True)
    by_query = pl.read_csv(news_weights, schema_overrides={"query": pl.String})
    product = pl.col("value") * pl.col("weight")
    expected = (
        values.join(by_query, on="query")
        .group_by("system")
        .agg((product.sum() / pl.col("weight").sum()).alias("value"))
        .sort("system")
    )
    every = means.filter(pl.col("segment").is_null())
    assert_frame_equal(every.select("system", "value"), expected)
    assert (every["low"] < every["value"]).all()
    with pytest.raises(irmeta.UsageError, match="intervals 't' alone"):
        made_store.evaluate("AP", interval="bootstrap", **asked)


def test_compare__tests_weighted_means(made_store: irmeta.Store, news_weights: Path):
    asked: Any = {"track": "news", "query_weights": str(news_weights)}
    (compared,) = made_store.compare("AP", **asked)
    assert compared.pairs.weighted
    assert compared.pairs.test_name == "weighted paired t-test"
    assert compared.rank_sets is None
    assert "rank_low" not in compared.systems.columns
    means = made_store.evaluate("AP", **asked).select("system", mean="value")
    assert_frame_equal(compared.systems.select("system", "mean").sort("system"), means)
    assert len(str(compared.settings["query_weights_sha256"])) == 64
    texts = made_store.compare("AP", baseline="aldBM25", **asked)
    assert "Weighted means over queries" in texts.to_text()
    assert "weighted paired t-test, Holm-corrected" in texts.to_text()
    (plain,) = made_store.compare("AP", track="news")
    assert not plain.pairs.weighted
    assert (plain.pairs.p_adjusted != compared.pairs.p_adjusted).any()


def test_gate__is_of_weighted_means():
    values = [[0.5, 0.4], [0.5, 0.6], [0.4, 0.5], [0.6, 0.6]]
    matrix = irmeta.Matrix(values, ("q1", "q2", "q3", "q4"), ("old", "new"), "AP")
    weights = pl.DataFrame({"query": matrix.queries, "weight": [9, 1, 1, 1]})
    asked: Any = {"baseline": "old", "query_weights": weights}
    (row,) = irmeta.compare(matrix, **asked).gate(0.05).rows.iter_rows(named=True)
    assert row["drop"] == pytest.approx((9 * 0.1 - 0.2) / 12)
    assert not row["passed"]
    assert "over 4 weighted queries" in row["reason"]
    assert irmeta.compare(matrix, baseline="old").gate(0.05).passed
    checked = irmeta.compare(matrix, **asked).gate(0.5, non_inferior=True)
    limit = irmeta.compare(matrix, alternative="greater", **asked)[0].pairs.low
    assert limit is not None
    assert checked.rows["lower"].item() == pytest.approx(limit[1, 0])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"q1": "1", "q2": "2"}, r"no weight for 1 of 3 queries of track data: 'q3'"),
        ({"q1": "1", "q2": "-2", "q3": "1"}, r"line 3.*not a number above 0"),
        ({"q1": "1", "q2": "x", "q3": "1"}, r"line 3.*not a number above 0"),
        ({"q1": "1", "q2": "", "q3": "1"}, r"line 3.*a query or weight is missing"),
        ({"q1": "1", "q2": "1", "q3": "1", "q33": "1"}, r"no value of the query 'q33'"),
    ],
)
def test_query_weights__wrong_files_are_errors(tmp_path: Path, rows: dict[str, str], message: str):
    file = tmp_path / "weights.csv"
    file.write_text("query,weight\n" + "".join(f"{q},{w}\n" for q, w in rows.items()))
    for ask in (irmeta.evaluate, irmeta.compare):
        with pytest.raises(irmeta.DataError, match=message):
            ask(QRELS, RUNS, "RR", query_weights=file)


def test_query_weights__other_errors(made_store: irmeta.Store, news_weights: Path):
    asked: Any = {"track": "news", "query_weights": news_weights}
    with pytest.raises(irmeta.UsageError, match="`query_weights` is for means"):
        made_store.evaluate("AP", per_query=True, **asked)
    with pytest.raises(irmeta.UsageError, match=r"AP\(average=geometric\) is no weighted mean"):
        made_store.evaluate("AP(average=geometric)", **asked)
    for choices in ({"robust": True}, {"relative": True, "baseline": "aldBM25"}):
        with pytest.raises(irmeta.UsageError, match="has no form for weights of queries"):
            made_store.compare("AP", **choices, **asked)
    twice = pl.DataFrame({"query": ["q1", "q1"], "weight": [1, 1]})
    with pytest.raises(irmeta.DataError, match="has a weight already"):
        irmeta.evaluate(QRELS, RUNS, "RR", query_weights=twice)


def test_query_weights__a_row_of_a_track_goes_first(made_store: irmeta.Store, news_weights: Path):
    every = pl.read_csv(news_weights, infer_schema=False)
    frame = pl.concat([
        every.select(pl.lit(None, pl.String).alias("track"), "query", "weight"),
        pl.DataFrame({"track": ["news"], "query": ["901"], "weight": ["1000000"]}),
    ])  # fmt: skip
    mean = made_store.evaluate("AP", track="news", system="aldBM25", query_weights=frame)
    value = made_store.evaluate("AP", track="news", system="aldBM25", query="901")
    assert mean["value"].item() == pytest.approx(value["value"].item(), abs=1e-4)


@pytest.mark.filterwarnings("ignore::irmeta.errors.SegmentWarning")
@pytest.mark.parametrize("arguments", [("evaluate",), ("compare", "--baseline", "aldBM25")])
def test_query_weights_option__is_recorded_and_cited(
    run: Callable[..., Any],
    made_store: irmeta.Store,
    news_weights: Path,
    tmp_path: Path,
    arguments: tuple[str, ...],
):
    out = tmp_path / ("means.parquet" if arguments == ("evaluate",) else "out")
    segments = tmp_path / "segments.csv"
    segments.write_text("query,segment\n901,a\n902,a\n903,b\n904,b\n")
    command, *options = arguments
    source = (made_store.path, "--track", "news", "-m", "AP", "--query-weights", news_weights)
    done = run(command, *source, *options, "--segment", segments, "--out", out)
    assert done.status == 0, done.err
    made = provenance(out if out.is_file() else out / "systems.parquet") or {}
    digest = (made.get("compare") or made)["query_weights_sha256"]
    text = irmeta.cite(out).text
    assert f"Queries have weights (file with SHA-256 {digest})" in text
    assert "Classes of queries were compared" not in text
    assert not (tmp_path / "out" / "interactions.parquet").exists()
    assert ("by a weighted paired t-test [student1908, bell2002" in text) == (command == "compare")


def test_query_weights_option__refuses_what_is_not_weighted(
    run: Callable[..., Any], made_store: irmeta.Store, news_weights: Path
):
    source = (made_store.path, "--track", "news", "-m", "AP", "--query-weights", news_weights)
    for arguments, text in (
        (("evaluate", *source, "--per-query"), "--query-weights prints means"),
        (("compare", *source, "--test", "wilcoxon"), "wilcoxon has no form for weights"),
        (("compare", *source, "--robust"), "--robust has no form for weights of queries"),
    ):
        done = run(*arguments)
        assert done.status == 2
        assert text in done.err
