"""The study of pooling and evaluation depth on trec-covid-r1 against independent values."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import irmeta
from irmeta.store.scan import lazy
from irmeta.studies.framework.study_results import StudyResults
from twins.gain import gains_of
from twins.incomplete import err_residual_with_unjudged, upper_gains

pytestmark = pytest.mark.real
MEASURES = (
    "AP(norm=min)", "AP", "nDCG", "nDCG(discount=zipf)", "Q(gain=linear)", "RR", "ERR",
    "RBP(p=0.8)", "RBP(p=0.95)",
)  # fmt: skip
NAMES = {
    "nDCG(disc=zipf)": "nDCG(discount=zipf)",
    "Q(beta=1,gain=linear)": "Q(gain=linear)",
    "ERR(gmax=2)": "ERR",
}


@pytest.fixture(scope="module")
def results(
    real_store: irmeta.Store, tmp_path_factory: pytest.TempPathFactory, undrawn_module: None
) -> StudyResults:
    out = tmp_path_factory.mktemp("depth")
    return irmeta.studies.depth(
        real_store, out, track="trec-covid-r1", measures=MEASURES, pool_depths=[3, 5, 7]
    )


@pytest.fixture
def oracles(shared: Path) -> Path:
    return shared / "oracles" / "depth_study"


def read(oracles: Path, name: str) -> pl.DataFrame:
    frame = pl.read_csv(oracles / name, infer_schema_length=None)
    named = [pl.col(n).replace(NAMES) for n in frame.columns if n.startswith("measure")]
    return frame.with_columns(named)


def of(results: StudyResults, table: str, depth: int = 7) -> pl.DataFrame:
    return results.scan(table).filter(depth=depth).collect()


def assert_equal(made: pl.DataFrame, oracle: pl.DataFrame, key: list[str]) -> None:
    """Compare the columns of the oracle; its rows must be among ours."""
    rows = oracle.select(key).join(made, on=key, how="left", maintain_order="left")
    assert_frame_equal(
        rows.select(oracle.columns), oracle, check_dtypes=False, rel_tol=0, abs_tol=1e-9
    )


def test_depth__collection_equals_the_oracle(results: StudyResults, oracles: Path):
    row = results.tables["collections"].row(0, named=True)
    oracle = read(oracles, "comprehensive_depth.csv")
    assert row["comprehensive_depth"] == oracle["comprehensive_depth"].min() == 7
    assert row["deepest_judged"] == oracle["deepest_judged"].max()
    assert row["judged_unretrieved"] == oracle["judged_in_no_contributing_list"].sum()
    assert (row["contributors"], row["queries"]) == (56, 30)
    by_order = {name: row[f"depth_{name}"] for name in ("trec_eval", "score_file", "file")}
    assert by_order == {"trec_eval": 5, "score_file": 7, "file": 7}


def test_depth__pool_growth_equals_the_oracle(results: StudyResults, oracles: Path):
    oracle = read(oracles, "pool_by_depth.csv").select(
        "relevant_per_query",
        depth="d",
        judged="judged_in_pool",
        relevant="relevant_in_pool",
    )
    made = results.tables["pool_growth"]
    shared = oracle.filter(pl.col("depth").is_in(made["depth"].to_list()))
    assert shared.height >= 12
    assert_equal(made, shared, ["depth"])


def test_depth__table_4_equals_the_oracle(results: StudyResults, oracles: Path):
    made = results.tables["table_4"]
    for row in read(oracles, "table4.csv").iter_rows(named=True):
        depth = None if row["mode"] == "all" else int(row["mode"])
        for quantity in ("RelInPool", "RankUnj", "NumRelPast"):
            ours = made.filter(pl.col("depth").eq_missing(depth), quantity=quantity)
            if row[quantity] is None:
                assert ours.is_empty()
                continue
            found = ours.select("mean", "sd_population", "sd").row(0)
            expected = [row[f"{quantity}{end}"] for end in ("", "_sd0", "_sd1")]
            assert found == pytest.approx(expected, abs=1e-9)


def test_depth__docs_of_the_pool_listed_below_its_depth(results: StudyResults):
    means = dict(results.tables["table_4"].filter(depth=5).select("quantity", "mean").iter_rows())
    listed = (means["NumRelPast"], means["NumRelListed"], means["AllRelListed"])
    assert [round(value, 1) for value in listed] == [51.1, 23.2, 32.2]


def test_depth__table_7_equals_the_oracle(results: StudyResults, oracles: Path):
    oracle = read(oracles, "table7_8_figure4.csv")
    assert oracle.height == 270
    made = of(results, "table_7")
    assert_equal(made, oracle.drop("median_p"), ["lists", "measure", "k"])
    # The oracle has no p for two systems of equal values, which only k = 1 has; ours is 1.
    oracle = oracle.filter(pl.col("k") > 1)
    assert_equal(made, oracle, ["lists", "measure", "k"])


def test_depth__table_9_equals_the_oracle(results: StudyResults, oracles: Path):
    assert_equal(of(results, "table_9"), read(oracles, "table9.csv"), ["measure", "k"])


def test_depth__residual_of_err_counts_unjudged_docs(
    results: StudyResults, real_store: irmeta.Store
):
    names = results.tables["unjudged"].filter("pooled")["system"].to_list()
    runs, qrels = (lazy(real_store.reader, kind, "trec-covid-r1") for kind in ("runs", "qrels"))
    by_score = ["system", "query", -pl.col("score"), "position"]
    top = runs.filter(pl.col("system").is_in(names)).sort(by_score).group_by("system", "query")
    lists = {
        (system, query): docs
        for system, query, docs in top.agg(pl.col("doc").head(40)).collect().iter_rows()
    }
    grades = {(q, d): g for q, d, g in qrels.select("query", "doc", "grade").collect().iter_rows()}
    pool = {(q, d) for (_, q), docs in lists.items() for d in docs[:7]} & grades.keys()
    found = of(results, "table_9").filter(measure="ERR")
    for k in (4, 10, 40):
        residuals = []
        for system, query in product(names, {q for q, _ in grades}):
            docs = lists.get((system, query), [])
            judged = {d: grades[query, d] for d in docs if (query, d) in pool}
            upper = upper_gains(docs, judged, "exp", 2, unjudged="upper-gmax")
            known = gains_of(docs, judged, "exp", 2)
            residuals.append(err_residual_with_unjudged(upper, known, k))
        expected = sum(residuals) / len(residuals)
        assert found.filter(k=k)["residual"].item() == pytest.approx(expected, abs=1e-12)
    assert found.filter(k=1000)["residual"].item() == pytest.approx(0.0260, abs=5e-5)


def test_depth__volatility_equals_the_oracle(results: StudyResults, oracles: Path):
    oracle = read(oracles, "volatility.csv").rename(
        {"measure_1": "measure_a", "measure_2": "measure_b", "k1": "k_a", "k2": "k_b",
         "tau_b": "value"}
    )  # fmt: skip
    assert_equal(of(results, "volatility"), oracle, ["measure_a", "measure_b", "k_a", "k_b"])


def test_depth__score_curves_equal_the_oracle(results: StudyResults, oracles: Path):
    key = ["lists", "measure", "system"]
    oracle = read(oracles, "means_by_k.csv").unpivot(index=key, variable_name="k")
    oracle = oracle.with_columns(pl.col("k").str.strip_prefix("k").cast(pl.Int32))
    made = of(results, "score_curves")
    oracle = oracle.filter(pl.col("measure") != "AP(norm=pool)")
    oracle = oracle.filter(pl.col("k").is_in(made["k"].unique().to_list()))
    assert oracle["k"].n_unique() >= 8
    assert_equal(made, oracle, [*key, "k"])


def test_depth__ties_equal_the_oracle(results: StudyResults, oracles: Path):
    oracle = read(oracles, "ties.csv").select(
        "system",
        mean_percent_tied="mean_percent_tied_top20",
        median_percent_tied="median_percent_tied_top20",
    )
    assert oracle.height == results.tables["ties"].height == 143
    assert_equal(results.tables["ties"], oracle, ["system"])
    taus = {row["order_b"]: row["tau_b"] for row in results.tables["ties_tau"].to_dicts()}
    assert taus["file"] == taus["score-file"] == pytest.approx(0.9998029168, abs=1e-10)


def test_depth__guidance_equals_the_oracle(results: StudyResults, oracles: Path):
    safe = json.loads((oracles / "safe_k.json").read_text())["safe"]
    made = of(results, "guidance")
    found = {
        (lists, measure): [low, high]
        for measure, lists, low, high in made.select(
            "measure", "lists", "k_low", "k_high"
        ).iter_rows()
    }
    for lists, by_measure in safe.items():
        for measure, ends in by_measure.items():
            assert found[lists, NAMES.get(measure, measure)] == ends


def test_depth__pool_budget_equals_the_oracle(results: StudyResults, oracles: Path):
    oracle = read(oracles, "pool_depth_tau.csv").filter(systems="contributing")
    oracle = oracle.filter(pl.col("measure") != "nDCG@10").select(
        "measure", depth="d", tau_b="tau_b_with_all_judgments"
    )
    assert oracle.height == 10
    assert_equal(results.tables["pool_budget"], oracle, ["measure", "depth"])
    least = dict(of(results, "guidance").select("measure", "least_depth").iter_rows())
    assert (least["AP"], least["RBP(p=0.8,rel=1)"]) == (2, 2)


def test_depth__table_5_equals_the_oracle(results: StudyResults, oracles: Path):
    summary = json.loads((oracles / "leave_one_run_out_summary.json").read_text())["pool d=k=7"]
    made = of(results, "table_5").filter(level="run")
    for measure, expected in summary.items():
        row = made.filter(measure=measure).row(0, named=True)
        assert row["delta_percent"] == pytest.approx(expected["delta_percent"], abs=1e-9)
        assert row["delta_rank"] == pytest.approx(expected["delta_rank_all_rescored"], abs=1e-9)


def test_depth__full_and_condensed_lists_agree_up_to_the_complete_depth(results: StudyResults):
    curves = of(results, "score_curves").filter(pl.col("k") <= 7)
    by_lists = curves.pivot("lists", index=["measure", "system", "k"], values="value")
    assert by_lists.height > 1000
    assert (by_lists["full"] - by_lists["condensed"]).abs().max() == 0


def test_depth__utility_measures_do_not_change_with_a_deeper_pool(results: StudyResults):
    curves = results.scan("score_curves").filter(pl.col("k") <= 3, lists="full").collect()
    by_depth = curves.pivot("depth", index=["measure", "system", "k"], values="value")
    utility = by_depth.filter(pl.col("measure").str.contains("RBP|ERR|RR"))
    assert utility.height > 500
    assert utility["3"].equals(utility["7"])
    assert not by_depth["3"].equals(by_depth["7"])


def test_depth__residual_of_rbp_is_the_weight_below_the_cutoff_or_the_list(
    results: StudyResults, real_store: irmeta.Store
):
    contributors = results.tables["unjudged"].filter("pooled").select("system")
    queries = pl.DataFrame({"query": [str(number) for number in range(1, 31)]})
    rows = lazy(real_store.reader, "runs", "trec-covid-r1").group_by("system", "query").len()
    lists = contributors.join(queries, how="cross").join(
        rows.collect(), on=["system", "query"], how="left"
    )
    lengths = lists["len"].fill_null(0).cast(pl.Int64).to_numpy()
    assert len(lengths) == 56 * 30
    table = of(results, "table_9").filter(pl.col("k") <= 7)
    for p in (0.8, 0.95):
        of_p = table.filter(measure=f"RBP(p={p},rel=1)")
        expected = [(p ** lengths.clip(max=k)).mean() for k in of_p["k"].to_list()]
        assert of_p["residual"].to_list() == pytest.approx(expected, abs=1e-12)
        assert len(expected) == 6


def test_pool__the_tie_order_matters_where_many_scores_tie(real_store: irmeta.Store):
    pools = [
        set(
            real_store.pools.to_judge("clef-ehealth-2015", pool_depth=10, tie_order=order)[
                "doc"
            ].to_list()
        )
        for order in ("score-file", "trec_eval")
    ]
    assert pools[0] != pools[1]
