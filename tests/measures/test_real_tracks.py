"""The six real tracks against published numbers, pytrec_eval and the slow twins."""

from __future__ import annotations

import csv
import gzip
import re
from pathlib import Path

import polars as pl
import pytest
import pytrec_eval

import irmeta
from support.cells import Cell, assert_equal, values_of
from support.making import Track, read_qrels, read_run, read_text
from twins import measures as naive
from twins.binary_families import reviews

real = pytest.mark.real


@pytest.fixture(scope="module")
def robust(shared: Path) -> Track:
    return read_track(shared / "tracks" / "robust-2003", "qrels.txt", r"input\.(.*)\.gz")


@pytest.fixture(scope="module")
def clef_tar(shared: Path) -> Track:
    return read_track(shared / "tracks" / "clef-tar-2017", "qrels.txt.gz", r"(.*)\.gz")


def read_track(folder: Path, qrels: str, names: str) -> Track:
    """Read a track naively, with systems named after their files."""
    files = {re.fullmatch(names, f.name)[1]: f for f in (folder / "runs").iterdir()}
    return Track(
        {s: read_run(f) for s, f in files.items()}, read_qrels(folder / qrels), folder.name
    )


def test_robust_2003__run_tags_equal_file_names(shared: Path):
    """The store names systems by run tag, these tests by file name."""
    for file in (shared / "tracks" / "robust-2003" / "runs").iterdir():
        with gzip.open(file, "rt") as lines:
            assert next(lines).split()[5] == file.name.removeprefix("input.").removesuffix(".gz")


LEADERBOARD = {
    "MAP": "AP",
    "p@5": "P@5",
    "ndcg@10": "nDCG@10",
    "bpref": "Bpref",
    "RBP(p=.5)": "RBP(p=0.5,gain=linear)",
}


@real
def test_means__trec_covid_equal_nist_leaderboard(real_store: irmeta.Store, shared: Path):
    with (shared / "tracks" / "trec-covid-r1" / "leaderboard.csv").open(newline="") as file:
        published = {row["run"]: row for row in csv.DictReader(file)}
    means = real_store.means(LEADERBOARD.values(), track="trec-covid-r1")
    found = {(s, m): f"{v:.4f}" for s, m, v in means.select("system", "measure", "value").rows()}
    expected = {
        (run, ours): row[theirs]
        for run, row in published.items()
        for theirs, ours in LEADERBOARD.items()
    }
    assert len(published) == 143
    assert found == expected
    assert means["queries"].unique().to_list() == [30]


@real
def test_systems__trec_covid_have_pooled_and_group(real_store: irmeta.Store):
    systems = real_store.systems("trec-covid-r1")
    assert systems.height == 143
    assert systems["pooled"].sum() == 56
    assert systems["group"].null_count() == 0


@real
def test_means__robust_2003_ap_equals_published_map(real_store: irmeta.Store, shared: Path):
    published = {}
    with gzip.open(shared / "catalog" / "trec_published_scores.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            if (row["edition"], row["track_dir"], row["measure"]) == ("trec12", "robust", "map"):
                published[row["run"]] = row["value"]
    means = real_store.means("AP", track="robust-2003")
    found = {s: f"{v:.4f}" for s, v in means.select("system", "value").rows()}
    assert len(found) == 17
    assert found == {s: published[s] for s in found}


@real
def test_runs__web_2012_grades_come_from_adhoc_qrels(real_store: irmeta.Store, shared: Path):
    folder = shared / "tracks" / "web-2012"
    adhoc, greatest = (read_qrels(folder / f"{name}-qrels.txt") for name in ("adhoc", "diversity"))
    pairs = [(q, d) for q, docs in adhoc.items() for d in docs]
    assert len(pairs) == 16_055
    assert sum(adhoc[q][d] != greatest[q].get(d) for q, d in pairs) == 2_434
    runs = real_store.runs("web-2012").select("query", "doc", "grade").unique().collect()
    judged = runs.drop_nulls("grade")
    assert judged.height > 5_000
    assert all(adhoc[q][d] == g for q, d, g in judged.iter_rows())
    unjudged = runs.filter(pl.col("grade").is_null()).iter_rows()
    assert not any(d in adhoc.get(q, ()) for q, d, _ in unjudged)
    assert real_store.scores("AP", track="web-2012").queries == tuple(sorted(adhoc))


@real
def test_ingest__legaldiv_decimal_commas_and_subtopics_are_read(
    real_store: irmeta.Store, shared: Path
):
    systems = real_store.systems("legaldiv")
    assert systems.height == 16
    commas = systems.filter(pl.col("notes").str.contains("decimal comma"))
    assert commas.height > 0
    texts = {
        row["system"]: read_text(shared / "tracks" / row["file"])
        for row in commas.select("system", "file").iter_rows(named=True)
    }
    for system, text in texts.items():
        lines = text.splitlines()
        scores = real_store.runs("legaldiv").filter(pl.col("system") == system).collect()
        first = scores.sort("position").row(0, named=True)
        assert first["score"] == float(lines[0].split()[4].replace(",", "."))
    sets = real_store.qrels("legaldiv").select("set", "subtopic").unique().collect()
    assert sets["set"].unique().to_list() == ["diversity"]
    assert sorted(sets["subtopic"]) == ["1", "2", "3", "4", "5"]


@real
def test_means__every_track_has_every_default_measure(real_store: irmeta.Store):
    means = real_store.means("default")
    systems = {"clef-ehealth-2015": 35, "clef-tar-2017": 6, "legaldiv": 16}
    systems |= {"robust-2003": 17, "trec-covid-r1": 143, "web-2012": 8}
    counted = means.group_by("track").agg(pl.col("system").n_unique(), pl.len())
    assert {t: n for t, n, _ in counted.iter_rows()} == systems
    assert {t: rows for t, _, rows in counted.iter_rows()} == {
        t: 14 * n for t, n in systems.items()
    }
    assert means["value"].is_nan().sum() == 0
    assert real_store.systems()["skip_reason"].null_count() == sum(systems.values())


PYTREC_EVAL = {
    "map": "AP",
    "ndcg": "nDCG",
    "P_20": "P@20",
    "recip_rank": "RR",
    "recall_1000": "R@1000",
    "bpref": "Bpref",
    "ndcg_cut_10": "nDCG@10",
}


@real
def test_evaluate__clef_tar_equals_pytrec_eval_with_zero_for_absent_lists(
    clef_tar: Track, real_store: irmeta.Store
):
    """The queries with lists of all tracks are compared in test_printed_digits."""
    track = clef_tar
    frame = real_store.evaluate(PYTREC_EVAL.values(), track=track.name, per_query=True)
    found = {row[1:4]: row[4] for row in frame.iter_rows()}
    evaluator = pytrec_eval.RelevanceEvaluator(track.qrels, PYTREC_EVAL.keys())
    expected = dict.fromkeys(found, 0.0)  # a query without a list
    for system, lists in track.runs.items():
        scores = {q: {doc: score for doc, score, _ in lines} for q, lines in lists.items()}
        for query, values in evaluator.evaluate(scores).items():
            for theirs, ours in PYTREC_EVAL.items():
                expected[system, query, ours] = values[theirs]
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@real
def test_evaluate__review_of_clef_tar_equals_naive_implementation(
    clef_tar: Track, real_store: irmeta.Store
):
    twins = {name: twin for name, twin in reviews().items() if "rel=2" not in name}
    cells = [Cell(clef_tar, s, q) for s in clef_tar.runs for q in sorted(clef_tar.qrels)[::9]]
    expected = {(x.system, x.query, name): twin(x) for x in cells for name, twin in twins.items()}
    found = values_of(real_store, list(twins), track=clef_tar.name)
    assert_equal({cell: found[cell] for cell in expected}, expected)


@real
def test_search_lengths__robust_2003_equals_naive_implementation(
    robust: Track, real_store: irmeta.Store
):
    found = {"irrel": {}, "depth": {}}
    for choice, cells in found.items():
        frame = real_store.per_doc.search_lengths("robust-2003", unretrieved=choice)
        for _, system, query, doc, grade, rank, length, *_ in frame.iter_rows():
            assert robust.qrels[query][doc] == grade
            cells.setdefault((system, query), {})[doc] = (rank, length)
    deepest = robust.deepest
    for system in robust.runs:
        for query, qrels in robust.qrels.items():
            ranking = robust.ranking(system, query)
            places = {doc: rank for rank, doc in enumerate(ranking or (), 1)}
            for choice, cells in found.items():
                lengths = naive.search_lengths(ranking, qrels, 1, choice, deepest)
                expected = {d: (places.get(d), length) for d, length in lengths.items()}
                assert cells.get((system, query), {}) == expected


@real
@pytest.mark.parametrize("depth", [10, 100])
def test_rarity__robust_2003_equals_naive_implementation(
    robust: Track, real_store: irmeta.Store, depth: int
):
    found: dict[str, dict[str, int]] = {}
    frame = real_store.per_doc.rarity("robust-2003", rarity_depth=depth)
    for query, doc, retrieved_by in frame.select("query", "doc", "retrieved_by").iter_rows():
        found.setdefault(query, {})[doc] = retrieved_by
    assert frame["systems"].unique().to_list() == [17]
    for query, qrels in robust.qrels.items():
        rankings = {s: robust.ranking(s, query) for s in robust.runs}
        assert found.get(query, {}) == naive.rarity(rankings, qrels, depth)


@real
@pytest.mark.parametrize("order", ["file", "score-file"])
def test_means__tie_order_option_equals_ingest_in_that_tie_order(
    real_store: irmeta.Store, shared: Path, tmp_path: Path, order: str
):
    """Real lists have enough docs to spread their names over several row groups."""
    folder = tmp_path / "collection"
    folder.mkdir()
    (folder / "robust-2003").symlink_to(shared / "tracks" / "robust-2003")
    other = irmeta.ingest(folder, tmp_path / "store", tie_order=order)
    means = other.means("AP,nDCG@10", track="robust-2003", tie_order="trec_eval")
    assert means.equals(real_store.means("AP,nDCG@10", track="robust-2003"))
    again = real_store.means("AP,nDCG@10", track="robust-2003", tie_order=order)
    assert again.equals(other.means("AP,nDCG@10"))
    assert not again.equals(means)
