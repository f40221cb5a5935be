"""The overview study, compared with methods of the store."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import irmeta
from irmeta.api import EvalChoices
from irmeta.results.tidy_files import provenance
from irmeta.studies.reanalysis.study import STUDY
from support.making import ALIKE

COMBINED = [table.name for table in STUDY.by_table.values() if not table.apart]
APART = [table.name for table in STUDY.by_table.values() if table.apart]


@pytest.fixture(scope="module")
def results(made_store: irmeta.Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("results")
    irmeta.reanalyze(made_store.path, out)
    return out


def read(results: Path, table: str) -> pl.DataFrame:
    if table in COMBINED:
        return pl.read_parquet(results / f"{table}.parquet")
    return pl.concat(pl.read_parquet(p) for p in sorted((results / table).glob("*.parquet")))


def test_overview__scores_and_means_equal_store(results: Path, made_store: irmeta.Store) -> None:
    assert_frame_equal(read(results, "scores"), made_store.evaluate(per_query=True))
    assert_frame_equal(read(results, "means"), made_store.means())


def test_overview__queries_have_judgments_lists_and_the_mean_of_all_systems(
    results: Path, made_store: irmeta.Store
) -> None:
    queries, scores = read(results, "queries"), read(results, "scores")
    means = scores.group_by("track", "query", "measure").agg(pl.col("value").drop_nans().mean())
    joined = queries.join(means, on=["track", "query", "measure"], how="full", coalesce=True)
    assert joined.height == queries.height == means.height
    both = joined.select(pl.col("value").fill_nan(None), "value_right")
    assert_frame_equal(both.select(value="value"), both.select(value="value_right"))
    rows = made_store.qrels(track="news").filter(query="901").lazy().collect()
    runs = made_store.runs(track="news").filter(query="901").collect()
    row = queries.filter(track="news", query="901", measure="AP").row(0, named=True)
    assert row["judged"] == rows.height
    assert row["relevant"] == rows.filter(pl.col("grade") >= 1).height
    assert row["lists"] == runs["system"].n_unique()


def test_overview__measures_have_direction_range_revision_and_source(results: Path) -> None:
    rows = {row["measure"]: row for row in read(results, "measures").iter_rows(named=True)}
    assert [*rows] == read(results, "means")["measure"].unique(maintain_order=True).to_list()
    assert (rows["AP"]["direction"], rows["AP"]["low"], rows["AP"]["high"]) == (1, 0.0, 1.0)
    made = provenance(results / "means.parquet")
    assert made is not None
    for name, facts in made["measures"].items():
        assert rows[name]["revision"] == facts["revision"]
        assert rows[name]["source"]


def test_overview__search_lengths_and_rarity_equal_store(
    results: Path, made_store: irmeta.Store
) -> None:
    assert_frame_equal(read(results, "search_lengths"), made_store.per_doc.search_lengths())
    assert_frame_equal(read(results, "rarity"), made_store.per_doc.rarity())


def test_overview__histogram_counts_every_search_length(
    results: Path, made_store: irmeta.Store
) -> None:
    lengths = made_store.per_doc.search_lengths(track="news")
    buckets = read(results, "search_length_histogram").filter(pl.col("track") == "news")
    for system in ("doumMan1", "aldBM25"):
        own = lengths.filter(pl.col("system") == system)
        for row in buckets.filter(pl.col("system") == system).iter_rows(named=True):
            found = own.filter(pl.col("rank").is_null())
            if row["low"] is not None:
                high = row["high"] if row["high"] is not None else 10**9
                inside = pl.col("search_length").is_between(row["low"], high)
                found = own.filter(pl.col("rank").is_not_null() & inside)
            assert row["docs"] == found.height, row
    assert buckets["docs"].sum() == lengths.height


def test_overview__best_systems_have_their_rank_sets(
    results: Path, made_store: irmeta.Store
) -> None:
    best = read(results, "best").filter(track="news")
    scores = made_store.scores("AP,ASL", track="news")
    summary = read(results, "best_systems").filter(track="news")
    for name in scores.measures:
        sets = irmeta.stats.rank_sets(scores.matrix(name))
        columns = ("system", "rank", "rank_low", "rank_high", "tier")
        own = best.filter(measure=name).select(columns)
        assert own.equals(sets.systems.select(columns))
        assert summary.filter(measure=name)["could_be_first"].item() == sets.could_be_first


def test_overview__best_follows_measure_direction(results: Path) -> None:
    best = read(results, "best").filter((pl.col("track") == "news") & (pl.col("rank") == 1))
    by = dict(zip(best["measure"], best["system"], strict=False))
    assert (by["AP"], by["ASL"]) == ("doumMan2", "doumMan1")
    shared = best.filter(pl.col("measure") == "RR")["system"].to_list()
    assert shared == ["doumMan1", "doumMan2"], "equal values share the first place"


def test_overview__means_equal_up_to_rounding_share_a_rank(tmp_path: Path) -> None:
    irmeta.reanalyze(ALIKE.write(tmp_path / "in"), tmp_path / "out", measures="ASL")
    best = read(tmp_path / "out", "best")
    best = best.filter(measure="ASL")
    assert best["value"].n_unique() == 3
    assert best.select("rank", "system").rows() == [(1, "a"), (1, "b"), (3, "c")]


def test_overview__tracks_table_counts_judgments(results: Path) -> None:
    tracks = {row["track"]: row for row in read(results, "tracks").iter_rows(named=True)}
    assert tracks["news"]["judged"] == 7292
    assert tracks["news"]["relevant"] == 1012
    assert tracks["web"]["relevant"] == 536
    assert tracks["passage"]["queries_without_relevant"] == 1
    assert tracks["passage"]["skipped_runs"] == 1


@pytest.mark.parametrize("table", [*COMBINED, *APART])
def test_overview__tables_match_schema_and_have_provenance(
    results: Path, made_store: irmeta.Store, table: str
) -> None:
    frame = read(results, table)
    columns = STUDY.table(table).columns
    assert frame.columns == list(columns)
    for name, column in columns.items():
        assert column.null or frame[name].null_count() == 0, name
    file = results / f"{table}.parquet" if table in COMBINED else results / table / "news.parquet"
    record = provenance(file)
    assert record is not None
    assert record["irmeta"] == irmeta.__version__
    expected = made_store.provenance("default", track=None if table in COMBINED else "news")
    assert {name: record[name] for name in expected} == expected


def test_overview__report_shows_every_figure(results: Path) -> None:
    assert (results / "report.html").read_text().count("<figure") == 30
    figure = results / "figures" / "tracks" / "news" / "search_lengths_asl.svg"
    assert figure.read_text().startswith("<svg")


def test_overview__page_has_a_folded_table_of_all_systems(
    results: Path, made_store: irmeta.Store
) -> None:
    page = (results / "report.html").read_text(encoding="utf-8")
    (section,) = re.findall(r'<section class="track" id="track-passage".*?</section>', page, re.S)
    tables = re.findall(r"<details>\n<summary>All systems, .*?</details>", section, re.S)
    (table,) = tables
    assert '<table class="data sortable">' in table
    head = [re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<th scope=\"col.*?</th>", table)]
    systems = made_store.systems("passage").filter(pl.col("skip_reason").is_null())
    means = made_store.means("AP,ASL", track="passage").pivot(
        "measure", index="system", values="value"
    )
    expected = systems.join(means, on="system").sort("AP", "system", descending=[True, False])
    rows = [
        dict(zip(head, (re.sub("<[^>]*>", "", cell) for cell in cells), strict=True))
        for line in table.split("<tr>")[2:]
        for cells in [re.findall(r"<t[hd][ >].*?</t[hd]>", line)]
    ]
    assert [row["system"] for row in rows] == expected["system"].to_list()
    for row, known in zip(rows, expected.iter_rows(named=True), strict=True):
        assert row["AP \u2191"] == f"{known['AP']:.4f}"
        assert row["ASL \u2193"] == f"{known['ASL']:,.1f}"
        assert row["rows"] == f"{known['rows']:,}"
        assert row["tied rows"] == f"{known['tied_rows']:,}"
        assert row["missing queries"] == str(known["missing_queries"])
        assert row["group"] == known["group"]
    assert not [file.name for file in (results / "latex").iterdir() if "system" in file.name]


def test_reanalyze__report_without_ap_and_asl(made_store: irmeta.Store, tmp_path: Path) -> None:
    irmeta.reanalyze(made_store.path, tmp_path / "r", measures="P@5")
    assert "P@5" in (tmp_path / "r" / "report.html").read_text()


def test_reanalyze__read_option_with_a_store_is_refused(
    made_store: irmeta.Store, tmp_path: Path
) -> None:
    with pytest.raises(irmeta.UsageError, match="fixed at ingest"):
        irmeta.reanalyze(made_store.path, tmp_path / "r", depth=10)


@pytest.mark.usefixtures("undrawn")
def test_reanalyze__failures_are_raised_after_other_tracks(tmp_path: Path) -> None:
    """As in `ingest`, a track may be unreadable and runs may be skipped."""
    source, out = tmp_path / "in", tmp_path / "out"
    for name in ("bad", "good"):
        replace(ALIKE, name=name).write(source)
    (source / "good" / "runs" / "odd").write_text("1 Q0 d\n")
    (source / "bad" / "qrels").write_text("1 0 d\n")
    with pytest.raises(irmeta.IrmetaError, match=r"1 of 2 tracks failed\. track bad: .*qrels"):
        irmeta.reanalyze(source, out, measures="AP")
    assert set(read(out, "means")["track"]) == {"good"}
    shutil.rmtree(source / "bad")
    with pytest.warns(irmeta.SkippedRunWarning, match="1 run skipped: .*odd, line 1"):
        done = irmeta.reanalyze(source, out, measures="AP")
    assert done.batch.unchanged == ("good",)


@pytest.mark.usefixtures("undrawn")
def test_reanalyze__policy_option_equals_store(made_store: irmeta.Store, tmp_path: Path) -> None:
    choices = EvalChoices(queries="retrieved", negative="nonrelevant")
    out = tmp_path / "r"
    irmeta.reanalyze(made_store.path, out, measures="AP", unretrieved="depth", policy=choices)
    assert_frame_equal(read(out, "means"), made_store.means("AP", **choices))
    assert_frame_equal(read(out, "rarity"), made_store.per_doc.rarity(**choices))
    lengths = made_store.per_doc.search_lengths(unretrieved="depth", **choices)
    assert_frame_equal(read(out, "search_lengths"), lengths)
    assert "<dd>retrieved</dd>" in (out / "report.html").read_text()
