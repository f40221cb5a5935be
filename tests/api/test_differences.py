"""Differences of systems by query: table, figure, and `compare --differences`."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.api.differences import differences_chart
from irmeta.report.theme import to_spec, to_svg
from irmeta.results.matrix import query_differences
from irmeta.results.tidy_files import provenance

QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}, "q3": {"a": 2, "b": 0}}
RUNS = {
    "new": {"q1": {"a": 2.0, "x": 1.0}, "q2": {"a": 2.0}, "q3": {"x": 2.0, "a": 1.0}},
    "old": {"q1": {"x": 2.0, "a": 1.0}, "q2": {"a": 2.0}, "q3": {"a": 2.0}},
}
COLUMNS = ("query", "value", "baseline_value", "difference", "better", "relevant")


@pytest.fixture(scope="module")
def store() -> irmeta.Store:
    return irmeta.from_data(QRELS, RUNS)


@pytest.mark.parametrize(
    ("measure", "rows"),
    [
        (
            "RR",
            [
                ("q1", 1.0, 0.5, 0.5, "new", 2),
                ("q2", 1.0, 1.0, 0.0, None, 1),
                ("q3", 0.5, 1.0, -0.5, "old", 1),
            ],
        ),
        (
            "RR(rel=2)",
            [
                ("q1", 0.0, 0.0, 0.0, None, 0),
                ("q2", 0.0, 0.0, 0.0, None, 0),
                ("q3", 0.5, 1.0, -0.5, "old", 1),
            ],
        ),
    ],
)
def test_differences__queries_are_in_order_with_their_relevant_docs(
    store: irmeta.Store, measure: str, rows: list[tuple]
):
    found = store.pairs.differences("new", "old", measure)
    assert found.select(COLUMNS).rows() == rows
    labels = found.select("measure", "system", "baseline").unique().rows()
    assert labels == [(measure, "new", "old")]


def test_differences__shorter_search_lengths_are_better(store: irmeta.Store):
    found = store.pairs.differences("new", "old", "ASL")
    assert found["better"].to_list() == ["new", None, "old"]
    assert found["difference"].to_list() == sorted(found["difference"].to_list())


def test_differences__unknown_system_is_named(store: irmeta.Store):
    with pytest.raises(irmeta.UsageError, match=r"no system 'nw'\. Did you mean 'new'"):
        store.pairs.differences("nw", "old", "RR")


@pytest.mark.exhaustive
def test_plot_differences__has_a_bar_per_query_and_counts_of_both_sides(store: irmeta.Store):
    svg = to_svg(store.plot.differences("new", "old", "RR"))
    texts = ("q1 (2)", "q3 (1)", "new better: 1", "old better: 1", "1 with equal values")
    assert all(text in svg for text in texts)
    assert "q1 (2): +0.5000" in svg


@pytest.mark.exhaustive
def test_differences_chart__many_queries_have_some_labels():
    queries = 60
    names = [f"q{i:03d}" for i in range(queries)]
    frame = pl.DataFrame(
        {
            "track": "",
            "measure": "RR",
            "query": names,
            "system": "a",
            "baseline": "b",
            "difference": [1 - 2 * i / queries for i in range(queries)],
            "better": ["a" if 2 * i < queries else "b" for i in range(queries)],
            "relevant": pl.Series([None] * queries, dtype=pl.Int64),
        }
    )
    svg = to_svg(differences_chart(frame))
    labelled = sum(f">{name}<" in svg for name in names)
    assert 20 < labelled < 60
    assert "a better: " in svg


@pytest.mark.parametrize("direction", [1, -1])
def test_differences_chart__thousands_of_queries_are_a_density_with_its_tails_named(direction: int):
    names = tuple(f"q{i}" for i in range(2000))
    gains = [(i - 1200) / 2000 if i % 2 else 0.0 for i in range(2000)]  # half are ties
    matrix = irmeta.Matrix(
        [[0.5, 0.5 + gain] for gain in gains], names, ("old", "new"), "X", "t", direction
    )
    frame = query_differences(matrix, "new", "old").with_columns(relevant=pl.lit(None, pl.Int64))
    chart = differences_chart(frame)
    spec = to_spec(chart)
    (bins,) = (rows for rows in spec["datasets"].values() if "queries" in rows[0])
    better = ("new", "old")[::-direction]
    counts = {
        side: sum(b["queries"] for b in bins if b["side"].startswith(side)) for side in better
    }
    assert counts == {better[0]: 600, better[1]: 400}  # below and above 0
    assert all((b["high"] <= 0) == b["side"].startswith(better[0]) for b in bins)
    texts = to_svg(chart)
    said = (f"{better[0]} better: 600", f"{better[1]} better: 400", "q1: \u22120.6", "q1999: +0.39")
    for text in ("2,000 queries; 1,000 with equal values, not drawn", "q9: \u22120.59", *said):
        assert text in texts, text
    assert "q11: " not in texts


@pytest.mark.parametrize("queries", [[], [math.nan]])
def test_differences_chart__says_where_there_is_nothing_to_draw(queries: list[float]):
    names = [f"q{i}" for i in range(len(queries) or 1)]
    value = queries or [math.nan]
    matrix = irmeta.Matrix([[v, 1.0] for v in value], tuple(names), ("a", "b"), "RR")
    frame = query_differences(matrix, "a", "b").with_columns(relevant=pl.lit(None, pl.Int64))
    assert "No query has a value of both systems." in to_svg(differences_chart(frame))


def files(folder: Path) -> list[Path]:
    irmeta.from_data(QRELS, RUNS, track="t").to_trec(folder)
    return [next(folder.rglob("*qrels*")), *sorted((folder / "t" / "runs").iterdir(), reverse=True)]


@pytest.mark.exhaustive
def test_differences_option__writes_a_table_with_provenance_or_a_figure(run, tmp_path: Path):
    named = files(tmp_path / "in")
    table, figure = tmp_path / "q.parquet", tmp_path / "q.svg"
    assert run("compare", *named, "-m", "RR", "--differences", table).status == 0
    frame = pl.read_parquet(table)
    assert frame.select("system", "baseline").unique().height == 1
    assert frame["relevant"].to_list() == [2, 1, 1][:: 1 if frame["query"][0] == "q1" else -1]
    assert (provenance(table) or {})["differences"]["source"]["measures"].keys() == {"RR"}
    assert run("compare", *named, "-m", "RR", "--differences", figure).status == 0
    assert "better: 1" in figure.read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-m", "RR", "--differences", "q.txt"], "a table, .csv or .parquet, or a figure"),
        (
            ["-m", "RR,P@1", "--differences", "q.svg"],
            "two systems by one measure on one track, not",
        ),
    ],
)
def test_per_query_option__says_what_it_takes(run, tmp_path: Path, options: list[str], said: str):
    options = [*options[:-1], str(tmp_path / options[-1])]
    done = run("compare", *files(tmp_path / "in"), *options)
    assert done.status == 2
    assert said in done.err


@pytest.mark.exhaustive
def test_per_query_option__of_many_systems_needs_a_baseline(run, made_store, tmp_path: Path):
    line = ("compare", made_store.path, "-m", "AP", "--track", "passage")
    done = run(*line, "--differences", tmp_path / "q.csv")
    assert "differences by query of 9 systems: name one as the baseline" in done.err
    best = made_store.means("AP", track="passage")["system"][0]
    done = run(*line, "--differences", tmp_path / "q.csv", "--baseline", best)
    assert pl.read_csv(tmp_path / "q.csv")["system"].n_unique() == 8
