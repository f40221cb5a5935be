"""The study of pooling and evaluation depth on small tracks: unusual pools, and notes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.errors import IrmetaError, PoolDepthWarning, UsageError
from irmeta.studies.framework.study_results import StudyResults
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.depth.pool import StudiedPool, on_parts
from irmeta.studies.papers.depth.study import DepthOptions
from support.examples import SHARED_FIXTURE, scaled
from support.making import Track, down, tracks
from support.undrawn import charts_are_built

pytestmark = [
    pytest.mark.usefixtures("undrawn_module"),
    pytest.mark.filterwarnings("ignore::irmeta.errors.PoolDepthWarning"),
]
NOISE = [f"n{i}" for i in range(30)]


def studied(track: Track, out: Path, facts: str = "", toml: str = "", **choices) -> StudyResults:
    """Run the study on one track; `facts` is a CSV table of its systems."""
    store = irmeta.ingest(track.write_with(out, facts, toml), out / "store")
    return irmeta.studies.depth(store, out / "results", **choices)


def notes(results: StudyResults) -> str:
    return results.tables["studied_tracks"]["notes"].item() or ""


def complete(runs: dict[str, dict[str, list]], depth: int, relevant: set[str]) -> Track:
    """Judge the first docs of every list."""
    qrels: dict[str, dict[str, int]] = {}
    for lists in runs.values():
        for query, lines in lists.items():
            docs = qrels.setdefault(query, {})
            docs |= {line[0]: int(line[0] in relevant) for line in lines[:depth]}
    return Track(runs, qrels)


LISTS = {
    "a": {"1": down("x", "y", *NOISE[:8]), "2": down("p", "q", *NOISE[:8])},
    "b": {"1": down("y", "z", *NOISE[:8]), "2": down("q", "r", *NOISE[:8])},
    "c": {"1": down("u", "x", *NOISE[4:12]), "2": down("s", "p", *NOISE[4:12])},
}
TRACK = complete(LISTS, 6, {"x", "u", "p", "s"})


@settings(max_examples=scaled(3), suppress_health_check=SHARED_FIXTURE)
@given(tracks(), st.sampled_from(("score-file", "trec_eval")), st.none() | st.integers(1, 3))
def test_depth__any_track_gives_sound_tables(
    tmp_path_factory: pytest.TempPathFactory, track: Track, order: str, depth: int | None
):
    out = tmp_path_factory.mktemp("any")
    choices = {} if depth is None else {"pool_depths": [depth]}
    with charts_are_built():
        results = studied(track, out, tie_order=order, **choices)
    tables = results.tables
    (collection,) = tables["collections"].to_dicts()
    assert (collection["depth_source"] == "given") == (depth is not None)
    grades = [grade for docs in track.qrels.values() for grade in docs.values()]
    assert collection["relevant"] == sum(grade > 0 for grade in grades)
    assert collection["judged"] == sum(grade >= 0 for grade in grades)
    means = tables["table_4"].drop_nulls("depth").pivot("quantity", index="depth", values="mean")
    growth = tables["pool_growth"].select("depth", "relevant_per_query")
    for row in means.join(growth, on="depth").iter_rows(named=True):
        total = row["RelInPool"] + row["NumRelPast"]
        assert total == pytest.approx(row["relevant_per_query"], abs=1e-12)
    shares = tables["table_7"].select("discrimination", "coverage", "inversion").fill_nan(0)
    assert shares.select(pl.all().is_between(0, 1).all()).row(0) == (True, True, True)


def test_depth__unknown_contributors_are_all_systems(tmp_path: Path):
    results = studied(TRACK, tmp_path)
    (row,) = results.tables["collections"].to_dicts()
    assert (row["depth"], row["depth_source"], row["depth_bound"]) == (
        "6",
        "comprehensive",
        "at least",
    )
    assert (row["contributors"], row["groups"]) == (3, None)
    assert "so all systems count as contributors" in notes(results)
    assert "the group of no system is stated" in notes(results)
    assert results.tables["leave_out"]["level"].unique().to_list() == ["run"]


def test_depth__the_default_depth_is_never_called_comprehensive(tmp_path: Path):
    track = complete(LISTS, 1, {"x"})
    with pytest.warns(PoolDepthWarning, match="so pools are cut at 10; give `pool_depths=`"):
        results = studied(track, tmp_path)
    (row,) = results.tables["collections"].to_dicts()
    assert (row["depth"], row["depth_source"]) == ("10", "default")
    assert row["comprehensive_depth"] == 1
    assert results.tables["pool_growth"].filter("comprehensive")["depth"].to_list() == [1]
    # Which judged docs a run alone brought about is unknown: no verdict on all judgments.
    assert results.tables["reusability"]["judgments"].unique().to_list() == ["pool"]
    assert "the depth of the pool is unknown" in notes(results)


def judged_but(unjudged: int) -> Track:
    """Judge the first 6 docs of 20 lists of a query, but not the first doc of some lists."""
    lists = {f"s{i:02}": {"1": down(*(f"d{i}_{r}" for r in range(9)))} for i in range(20)}
    judged = {f"d{i}_{r}": int(r == 2) for i in range(20) for r in range(6)}
    for i in range(unjudged):
        del judged[f"d{i}_0"]
    return Track(lists, {"1": judged})


@pytest.mark.parametrize(
    ("unjudged", "choices", "depth", "source"),
    [
        *((0, {}, 6, "comprehensive"), (1, {}, 6, "estimated"), (2, {}, 9, "default")),
        *((2, {"least_judged": 0.9}, 6, "estimated"), (1, {"pool_depths": [5]}, 5, "given")),
        (1, {"least_judged": 0.96}, 9, "default"),
    ],
)
def test_depth__estimated_where_few_docs_are_unjudged(
    unjudged: int, choices: dict, depth: int, source: str
):
    options = DepthOptions(**choices)
    pool = StudiedPool.of(TrackView(judged_but(unjudged).read().track("t"), options), options)
    assert (pool.depths, pool.source) == ((depth,), source)
    share = [judged / listed for listed, judged in zip(*pool.judged_by_rank, strict=True)]
    assert share == [1 - unjudged / 20, *(1.0,) * 5, *(0.0,) * 3]


def test_depth__an_estimated_depth_is_used_and_warned_of(tmp_path: Path):
    with pytest.warns(PoolDepthWarning, match="so 6 is taken as an estimate: at each rank"):
        results = studied(judged_but(1), tmp_path)
    (row,) = results.tables["collections"].to_dicts()
    known = ("depth", "depth_source", "comprehensive_depth", "least_judged")
    assert [row[name] for name in known] == ["6", "estimated", 0, 0.95]
    by_rank = results.tables["judged_by_rank"]
    assert by_rank.select("rank", "lists", "judged").rows()[:2] == [(1, 20, 19), (2, 20, 20)]
    assert not results.tables["pool_growth"]["comprehensive"].any()
    assert set(results.tables["reusability"]["judgments"]) == {"pool", "all"}


def test_depth__a_given_depth_counts_as_the_depth_of_the_pool(tmp_path: Path):
    track = complete(LISTS, 1, {"x", "u", "p", "s"})
    results = studied(track, tmp_path, pool_depths=[1])
    lost = results.tables["leave_out"].filter(left_out="c", measure="RR@1")
    assert lost.select("judgments", "judged_lost").rows() == [("pool", 2), ("all", 2)]


def test_depth__a_stated_depth_is_used(tmp_path: Path):
    results = studied(TRACK, tmp_path, toml="pool_depth = 3\n")
    (row,) = results.tables["collections"].to_dicts()
    assert (row["depth"], row["depth_source"], row["comprehensive_depth"]) == ("3", "given", 6)


def test_depth__one_contributor_cannot_be_left_out(tmp_path: Path):
    facts = "run,pooled\na,yes\nb,no\nc,no\n"
    results = studied(TRACK, tmp_path, facts)
    assert results.tables["leave_out"].is_empty()
    assert "run a is the complete pool, so it is not left out" in notes(results)
    (row,) = results.tables["collections"].to_dicts()
    assert (row["contributors"], row["depth_bound"]) == (1, "exact")
    assert results.tables["table_7"]["pairs"].unique().to_list() == [0]
    by_contribution = results.tables["judged_by_contribution"]
    assert by_contribution.select("pooled", "systems").rows() == [(False, 2), (True, 1)]


def test_depth__a_group_that_is_the_complete_pool_is_not_left_out(tmp_path: Path):
    results = studied(TRACK, tmp_path, "run,group\na,g\nb,g\nc,g\n")
    assert results.tables["leave_out"]["level"].unique().to_list() == ["run"]
    assert "group g is the complete pool" in notes(results)


def test_depth__leaving_out_may_empty_the_pool_of_a_query(tmp_path: Path):
    lists = {"a": {"1": LISTS["a"]["1"]}, "b": {"1": LISTS["b"]["1"], "2": LISTS["b"]["2"]}}
    results = studied(complete(lists, 6, {"y", "q"}), tmp_path)
    row = (
        results.tables["leave_out"]
        .filter(left_out="b", measure="RR@6", judgments="pool")
        .to_dicts()[0]
    )
    assert (row["value"], row["value_left_out"]) == (1.0, 0.5)


def test_depth__a_pool_cut_to_d_has_that_depth_on_every_query(tmp_path: Path):
    """An unjudged first doc does not make R_k undefined; both measures use the same queries."""
    qrels = {"1": {"x": 1, "u": 0}, "2": {"r": 1, "p": 0, "s": 0}}  # y and q are unjudged
    results = studied(Track(LISTS, qrels), tmp_path, pool_depths=[2])
    assert results.tables["collections"]["comprehensive_depth"].item() == 0
    pairs = results.scan("volatility").filter(pl.col("k_a") == 1, pl.col("k_b") <= 2).collect()
    numbers = {(b, k): n for b, k, n in pairs.select("measure_b", "k_b", "queries").iter_rows()}
    # R_1 is 0 on the second query, whose relevant doc is at rank 2.
    for measure in ("AP(norm=pool)", "nDCG(ideal=pool)"):
        assert [numbers[measure, k] for k in (1, 2)] == [1, 2]
    assert {n for (b, _), n in numbers.items() if "pool" not in b} == {2}
    assert results.tables["stability"].filter(measure_b="AP(norm=pool)")["queries"].item() == 1


def test_depth__table_7_compares_over_the_queries_where_both_are_defined(tmp_path: Path):
    qrels = {"1": {"x": 1, "y": 0, "u": 0}, "2": {"r": 1, "p": 0, "q": 0, "s": 0}}
    choices = {"measures": ["AP(norm=pool)"], "pool_depths": [2], "ks": [1, 2]}
    rows = studied(Track(LISTS, qrels), tmp_path, **choices).tables["table_7"]
    of_pool = rows.filter(measure="AP(norm=pool)", lists="full").select("k", "queries").rows()
    assert of_pool == [(1, 1), (2, 2)]  # R_1 is 0 on the second query


def test_depth__a_depth_beyond_all_lists_keeps_all_retrieved_docs(tmp_path: Path):
    results = studied(TRACK, tmp_path, pool_depths=[500])
    assert results.tables["collections"]["depth"].item() == "500"
    both = results.tables["leave_out"].filter(measure="RR@500")
    assert (
        both.filter(judgments="pool")["value"].to_list()
        == both.filter(judgments="all")["value"].to_list()
    )
    assert results.tables["pool_growth"]["depth"].max() == 10


def test_depth__duplicates_of_a_run_lose_nothing(tmp_path: Path):
    runs = {"a": LISTS["a"], "twin": LISTS["a"], "c": LISTS["c"]}
    results = studied(complete(runs, 6, {"x", "u", "p", "s"}), tmp_path)
    lost = results.tables["leave_out"].group_by("left_out").agg(pl.col("judged_lost").max())
    assert dict(lost.iter_rows()) == {"a": 0, "twin": 0, "c": 10}
    same = results.tables["table_7"].filter(lists="full", measure="RR", k=1)
    assert same["inverted"].item() == 0


def test_depth__only_relevant_docs_judged_leaves_residuals_out(tmp_path: Path):
    track = Track(
        LISTS, {q: {d: 1 for d, g in docs.items() if g} for q, docs in TRACK.qrels.items()}
    )
    results = studied(track, tmp_path)
    for table in ("table_9", "unjudged", "undecided", "judged_by_contribution"):
        assert results.tables[table].is_empty(), table
    assert "RankUnj" not in results.tables["table_4"]["quantity"].to_list()
    assert "first unjudged ranks and residuals mean nothing here" in notes(results)


def test_depth__track_without_relevant_docs(tmp_path: Path):
    lists = LISTS | dict.fromkeys("defg", LISTS["c"])
    track = Track(lists, {q: dict.fromkeys(docs, 0) for q, docs in TRACK.qrels.items()})
    claims = studied(track, tmp_path).tables["claims"]
    assert claims.drop_nulls("track").filter(verdict="holds").is_empty()
    said = "the mean score is 0, so that no residual is a share of it"
    assert said in claims["why"].to_list()


def test_depth__sampled_judgments_have_no_pool_of_a_depth(tmp_path: Path):
    folder = TRACK.write(tmp_path)
    lines = [f"{q} {d} {g} 1 0.5" for q, docs in TRACK.qrels.items() for d, g in docs.items()]
    (folder / "t" / "qrels").write_text("\n".join(lines) + "\n")
    (folder / "collection.toml").write_text(
        '[tracks.t]\nruns = "t/runs/*"\n[[tracks.t.qrels]]\nname = "p"\nfile = "t/qrels"\n'
        'format = "prels"\n'
    )
    results = irmeta.studies.depth(irmeta.ingest(folder, tmp_path / "s"), tmp_path / "r")
    (row,) = results.tables["studied_tracks"].to_dicts()
    assert (row["used"], row["left_out"]) == (
        False,
        "the judgments are a sample of the pool, so no pool has a depth",
    )
    assert results.tables["collections"].is_empty()


def test_depth__cutoffs_beyond_lists_cut_at_reading_are_refused(tmp_path: Path):
    store = irmeta.ingest(TRACK.write(tmp_path), tmp_path / "s", depth=8)
    order = {"tie_order": "trec_eval", "pool_order": "trec_eval"}
    with pytest.raises(IrmetaError, match=r"was cut at depth 8, so there is no cutoff 9"):
        irmeta.studies.depth(store, tmp_path / "r", ks=[3, 9], **order)
    results = irmeta.studies.depth(store, tmp_path / "r", **order)
    assert results.tables["table_7"]["k"].max() == 7
    assert "no cutoff is deeper" in notes(results)
    (row,) = results.tables["collections"].to_dicts()
    assert (row["depth_trec_eval"], row["depth_file"]) == (6, None)


def test_depth__a_lone_group_and_similar_runs_get_opposite_verdicts(tmp_path: Path):
    queries = [str(i) for i in range(12)]
    base = [f"d{i}" for i in range(12)]

    def alike(shift: int) -> dict[str, list]:
        return {q: down(*base[:shift], *base[shift + 1 :], base[shift]) for q in queries}

    similar = {name: alike(i) for i, name in enumerate("abcd")}
    relevant = {f"d{i}" for i in range(0, 12, 3)} | {f"{q}l{i}" for q in queries for i in range(6)}
    lone = {"lone": {q: down(*(f"{q}l{i}" for i in range(12))) for q in queries}}
    facts = "run,group\na,g1\nb,g1\nc,g2\nd,g2\nlone,alone\n"
    verdicts = {}
    for name, runs in (("similar", similar), ("lone", similar | lone)):
        chosen = "".join(
            line + "\n" for line in facts.splitlines() if line.split(",")[0] in {"run", *runs}
        )
        results = studied(
            complete(runs, 8, relevant), tmp_path / name, chosen, measures=["RBP(p=0.8)"]
        )
        rows = results.tables["reusability"].filter(level="group", judgments="all")
        verdicts[name] = rows["verdict"].to_list()
    assert verdicts == {"similar": ["reusable"], "lone": ["not for new systems"]}


def test_depth__rel_counts_the_docs_of_judgments_with_its_grades_alone(tmp_path: Path):
    """Measures without graded gains have the values of judgments where rel = 2 is 1 and 1 is 0."""
    rng = np.random.default_rng(3)
    graded = {q: {doc: int(rng.integers(0, 3)) for doc in docs} for q, docs in TRACK.qrels.items()}
    binary = {q: {doc: grade // 2 for doc, grade in docs.items()} for q, docs in graded.items()}
    choices = {
        "measures": ["AP(norm=min)", "RR", "RBP(p=0.95)", "nDCG(gain=binary)"],
        "figure_measure": "RR",
    }
    found = {
        rel: studied(Track(LISTS, qrels), tmp_path / str(rel), rel=rel, **choices).tables
        for rel, qrels in ((2, graded), (1, binary))
    }
    assert set(found[2]["table_7"]["measure"]) == {
        *("AP(rel=2,norm=min)", "RR(rel=2)", "RBP(p=0.95,rel=2)", "nDCG(gain=binary,rel=2)")
    }
    plain = pl.col("^measure.*$").str.replace_all(r"rel=2,|\(rel=2\)|,rel=[12]", "")
    for name in ("collections", "pool_growth", "table_4", "table_5", "table_6", "table_7",
                 "pool_budget", "unjudged", "reusability"):  # fmt: skip
        one, other = (tables[name] for tables in found.values())
        if "measure" in one.columns:
            one, other = (frame.with_columns(plain) for frame in (one, other))
        assert one.height
        assert one.equals(other), name


@pytest.mark.parametrize("order", ["trec_eval", "trec_eval10", "file"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_ties__equal_naive_shares_with_scores_that_float32_merges(
    tmp_path: Path, order: str, precision: str
):
    rng = np.random.default_rng(5)
    levels = [1.0, 1 + 1e-9, 1 + 2e-9, 2.0, 2 + 1e-9, 3.0]
    runs = {
        system: {q: [(f"d{i}", float(rng.choice(levels)), 0) for i in range(size)] for q in "12"}
        for system, size in (("a", 30), ("b", 40), ("c", 9))
    }
    track = Track(runs, {q: {"d0": 1, "d1": 0} for q in "12"})
    results = studied(track, tmp_path, toml=f'tie_order = "{order}"\n', scores_compared=precision)
    for row in results.tables["ties"].to_dicts():
        shares = [naive_share(lines, precision) for lines in runs[row["system"]].values()]
        assert row["mean_percent_tied"] == pytest.approx(sum(shares) / 2)


def naive_share(lines: list, precision: str) -> float:
    """Return the percentage of the 20 greatest scores that another of them equals."""
    compared = np.float32 if precision == "float32" else float
    top = sorted((compared(line[1]) for line in lines), reverse=True)[:20]
    return 100 * sum(top.count(score) > 1 for score in top) / len(top)


@pytest.mark.parametrize(
    ("choices", "error"),
    [
        ({"measures": ["AP@10"]}, "name the measure of a curve without a cutoff"),
        ({"measures": ["Rprec"]}, "Rprec"),
    ],
)
def test_depth__rejects_bad_options(tmp_path: Path, choices: dict, error: str):
    with pytest.raises((UsageError, IrmetaError), match=error):
        studied(TRACK, tmp_path, **choices)


@pytest.mark.parametrize("source", ["comprehensive", "given", "estimated", "default"])
@pytest.mark.parametrize(("text", "depths"), [("10", (10,)), ("10, 20", (10, 20))])
def test_on_parts__pools_are_as_deep_as_on_all_queries(source, text, depths):
    tables = {"collections": pl.DataFrame({"depth": [text], "depth_source": [source]})}
    assert on_parts(DepthOptions(), tables).pool_depths == depths
