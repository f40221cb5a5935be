"""The study of innovation on unusual tracks, its options, and the paper's values beside ours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import irmeta
from irmeta.errors import UsageError
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.innovation.compute import compute, table_1, table_2, table_3
from irmeta.studies.papers.innovation.rare_track import table_4
from irmeta.studies.papers.innovation.study import TABLES, InnovationOptions
from support.innovating import rare_track, rows_of
from support.making import Track, down
from support.undrawn import charts_are_built

FEW: dict[str, Any] = {"trials": 5, "draws": 5, "resamples": 20}
RUNS = {
    "a": {"1": down("x", "n", "y"), "2": down("p", "q")},
    "b": {"1": down("n", "x", "y"), "2": down("q", "o", "p")},
    "c": {"1": down("n", "o", "y"), "2": down("n", "p")},
}
QRELS = {"1": {"x": 1, "y": 2, "n": 0}, "2": {"p": 1, "q": 1, "r": 1}}
TRACK = Track(RUNS, QRELS)
SAME = {s: {"1": down(*docs)} for s, docs in (("a", "xyn"), ("b", "yxn"), ("c", "nyx"))}


def computed(folder: Path, **choices: Any) -> tuple[dict[str, pl.DataFrame], dict[str, Any]]:
    """Return the tables of a collection of one track, and its row of `studied_tracks`."""
    options = InnovationOptions(**{**FEW, **choices})
    track = TrackView(irmeta.read(folder, workers=1).track("t"), options)
    tables = {table.name: table.empty() for table in TABLES if table.by == "track"}
    for name, rows in compute(track, options):
        tables[name] = pl.concat([tables[name], rows_of(name, rows)])
    return tables, track.studied()


ALONE = Track({"a": RUNS["a"]}, QRELS)
UNUSUAL: dict[str, tuple[Track, str | None, set[str]]] = {
    # the reason to leave the track out, and the tables without rows
    "one system": (ALONE, "one system, so none to compare it with",
                   {"table_3", "pool_bias", "overlap"}),
    "no relevant doc": (Track(RUNS, {"1": {"x": 0}}), "no query has a relevant doc",
                        {"docs_by_holders", "figure_1", "first_places", "table_4", "rare_grades"}),
    "nothing retrieved": (Track(RUNS, {"1": {"u": 1, "v": 1}}), None, {"table_4"}),
    "all docs held by all": (Track(SAME, {"1": {"x": 1, "y": 1, "n": 0}}), None, set()),
    "identical systems": (Track({"a": RUNS["a"], "b": RUNS["a"]}, QRELS), None, set()),
    "query without relevant docs": (Track(RUNS, {**QRELS, "3": {"z": 0}}), None, set()),
}  # fmt: skip
OFTEN_EMPTY = {"swaps", "label_sets", "label_confirmations", "paper_numbers", "gaming"}


@pytest.mark.parametrize("case", UNUSUAL)
def test_innovation__unusual_tracks_have_every_table(tmp_path: Path, case: str):
    track, reason, empty = UNUSUAL[case]
    store = irmeta.ingest(track.write(tmp_path), tmp_path / "store")
    with charts_are_built():
        results = irmeta.studies.innovation(store, tmp_path / "results", **FEW)
    assert results.tables["studied_tracks"]["left_out"].to_list() == [reason]
    names = {table.name for table in TABLES}
    assert names - {"gaming"} <= {*results.tables}
    assert results.scan("gaming").collect().height > 0
    without = {name for name in names - OFTEN_EMPTY if results.tables[name].is_empty()}
    assert without == empty
    assert (tmp_path / "results" / "report.html").stat().st_size > 5_000


def test_compute__docs_held_by_all_order_systems_as_p(tmp_path: Path):
    tables, _ = computed(UNUSUAL["all docs held by all"][0].write(tmp_path))
    assert tables["swaps"].is_empty()
    assert tables["dethroned"]["alpha"].is_null().all()
    tau = {m: rows["value"] for (m,), rows in
           tables["figure_2"].filter(method="tau-b").group_by("measure")}  # fmt: skip
    assert tau["RareAP@100"].to_list() == pytest.approx([1.0] * 101)
    assert tau["RareP@100"].is_nan().all()  # P ties


def test_compute__queries_without_relevant_docs_are_noted(tmp_path: Path):
    _, row = computed(UNUSUAL["query without relevant docs"][0].write(tmp_path))
    assert "1 judged query has no relevant doc, and the value 0" in row["notes"]


def test_compute__one_group_is_not_left_out(tmp_path: Path):
    facts = "name,group,type,pooled\na,g,manual,yes\nb,g,automatic,yes\nc,g,automatic,no\n"
    tables, row = computed(TRACK.write_with(tmp_path, facts), counted="groups")
    assert tables["pool_bias"].is_empty()
    assert tables["docs_by_holders"]["counted"].unique().to_list() == [1]
    assert set(tables["docs_by_holders"]["rarity"]) == {0.0, 1.0}
    levels = tables["contributions"]["level"].value_counts().sort("level").rows()
    assert levels == [("group", 1), ("system", 3), ("type", 2)]
    assert "group g is the complete pool, so it is not left out" in row["notes"]
    assert "unknown" not in row["notes"]


def test_compute__no_contributor_is_noted(tmp_path: Path):
    facts = "name,group,type,pooled\na,g,,no\nb,h,,no\nc,i,,no\n"
    tables, row = computed(TRACK.write_with(tmp_path, facts), counted="pooled")
    assert tables["pool_bias"].is_empty()
    assert "no system contributed to the pool, so no group is left out of it" in row["notes"]
    assert tables["docs_by_holders"]["rarity"].to_list() == [1.0]  # S and S_d are 0


def test_compute__unknown_groups_and_contributors_are_noted(tmp_path: Path):
    tables, row = computed(TRACK.write(tmp_path), counted="others")
    assert "each system counts as a group" in row["notes"]
    assert "all systems count as contributors" in row["notes"]
    assert tables["contributions"]["level"].unique().to_list() == ["system"]


@pytest.mark.parametrize("choices", [{"k": 100_000}, {"k": 2, "rarity_depth": 1, "rarity": "idf"}])
def test_compute__any_cutoff_and_depth(tmp_path: Path, choices: dict[str, Any]):
    tables, row = computed(TRACK.write(tmp_path), **choices)
    assert row["used"]
    assert tables["figure_1"]["docs"].max() == min(choices["k"], row["deepest_rank"])
    assert tables["first_places"]["most"].max() == tables["figure_1"]["docs"].max()


def test_compute__a_named_query_that_is_absent_is_noted(tmp_path: Path):
    tables, row = computed(TRACK.write(tmp_path), figure_query="9", examples=["9"])
    assert "Figure 1 is absent: no query 9 with a relevant doc" in row["notes"]
    assert "Table 4 is absent: no query 9 with a relevant doc that is retrieved" in row["notes"]
    assert tables["figure_1"].is_empty()
    assert tables["table_4"].is_empty()


def test_compute__named_queries_and_sizes_that_are_absent_are_noted(tmp_path: Path):
    _, row = computed(TRACK.write(tmp_path), examples=["9", "2", "8"], sizes=[2, 7, 4])
    assert "Table 4 is without queries 8 and 9: no relevant doc is retrieved" in row["notes"]
    assert "Table 3 is without N = 4 and 7: the track has 3 systems" in row["notes"]


def test_innovation__a_file_of_texts_that_cannot_be_read(tmp_path: Path):
    store = irmeta.read(TRACK.write(tmp_path / "in"), workers=1)
    with pytest.raises(UsageError, match=r"texts = 'absent' cannot be read: No such file"):
        irmeta.studies.innovation(store, out=tmp_path / "out", texts="absent")


def test_compute__means_over_other_queries_are_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="queries=retrieved averages other queries"):
        computed(TRACK.write(tmp_path), queries="retrieved")


def test_compute__recommendations_to_users(tmp_path: Path):
    """Queries are users, docs are items; every recommender has its own taste."""
    users, items = [f"u{i}" for i in range(12)], [f"i{i}" for i in range(30)]
    runs = {
        f"r{s}": {u: down(*[items[(7 * s + 5 * n + j) % 30] for j in range(6)])
                  for n, u in enumerate(users)}
        for s in range(5)
    }  # fmt: skip
    liked = {u: {item: 1 for j, item in enumerate(items) if (j + n) % 4 == 0}
             for n, u in enumerate(users)}  # fmt: skip
    tables, _ = computed(Track(runs, liked).write(tmp_path), k=6)
    found = tables["contributions"].filter(level="system")
    assert found["found"].min() > 0
    assert found["unique"].sum() <= found["found"].sum()
    assert tables["table_4"]["query"].n_unique() == 6


def test_tables__have_the_papers_values_where_the_track_is_the_papers():
    runs = {s: {"431": down("FBIS4-44815", *docs)} for s, docs in (("a", "pq"), ("b", "qr"))}
    track = Track(runs, {"431": {"FBIS4-44815": 1, "p": 1, "q": 1, "r": 0}})
    rare = replace(rare_track(track, **FEW), collection="TREC-8")
    table = rows_of("table_1", table_1(rare)).filter(measure="RareP@100", test="t-unpaired")
    assert table.filter(alpha=0.5)["printed"].to_list() == ["3778", "3050"]
    assert rows_of("table_1", table_1(rare)).filter(test="t")["printed"].null_count() == 12
    table = rows_of("table_2", table_2(rare)).drop_nulls("printed")
    assert table["ties"].unique().to_list() == ["absolute"]
    assert table["printed"].to_list() == ["0.545", "0.628", "0.684", "0.580", "0.623", "0.656"]
    table = rows_of("table_3", table_3(rare))
    assert table.select("measure", "systems", "printed").rows() == [
        ("RareP@100", 2, "0.970"), ("RareAP@100", 2, "0.970"),
    ]  # fmt: skip
    table = rows_of("table_4", table_4(rare))
    assert table.select("doc", "printed").rows() == [("FBIS4-44815", "0.08")]  # no other doc


def test_table_2__first_trials_are_those_of_a_run_with_fewer():
    runs = {
        s: {q: down(*docs) for q, docs in zip("123456", of, strict=True)}
        for s, of in (("a", ["pq", "p", "xq", "p", "x", "q"]), ("b", ["q"] * 3 + ["p"] * 3))
    }
    track = Track(runs, {q: {"p": 1, "q": 1} for q in "123456"})
    long, short = (
        rows_of("table_2", table_2(rare_track(track, **FEW | {"trials": trials})))
        for trials in (150, 100)
    )
    assert long["first_trials"].to_list() == short["stability"].to_list()
    assert short["first_trials"].to_list() == short["stability"].to_list()
    assert long["first_trials"].to_list() != long["stability"].to_list()


def test_collection__other_measures_are_not_the_papers():
    assert InnovationOptions().is_papers
    for choices in (
        {"k": 20},
        {"rel": 2},
        {"rarity_depth": 5},
        {"counted": "groups"},
        {"rarity": "idf"},
    ):
        assert not InnovationOptions(**choices).is_papers


def test_options__names_without_alpha():
    options = InnovationOptions(k=10, counted="groups", rel=2, rarity_weights=[2.0, 0.5])
    assert options.families() == (
        "RareP(counted=groups,rel=2)@10",
        "RareAP(counted=groups,rel=2)@10",
    )
    assert options.name("RareP", 0) == "P(rel=2)@10"
    assert options.weights == (0.0, 0.5, 2.0)
    assert options.convex_weights == (0.5,)  # Eq. 4 ends at 1
    assert "RareAP(alpha=2,counted=groups,rel=2)@10" in options.scored()
    assert list(options.sizes_of(17)) == [2, 4, 8, 16]
    assert list(InnovationOptions(sizes=[3, 9, 99]).sizes_of(17)) == [3, 9]
