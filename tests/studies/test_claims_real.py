"""Claims on real tracks: the numbers that a reader of the papers would look up."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

import irmeta

pytestmark = [pytest.mark.usefixtures("undrawn_module"), pytest.mark.real]
TRACKS = ("robust-2003", "web-2012", "legaldiv")


def rows_of(results, claim: str) -> dict[str | None, tuple[str, str | None]]:
    """Return verdict and why by track."""
    rows = results.tables["claims"].filter(claim=claim)
    return {track: (v, why) for track, v, why in rows.select("track", "verdict", "why").iter_rows()}


def test_search_length__saturated_track_cannot_be_said_and_map_averages_half(
    real_store: irmeta.Store, tmp_path: Path
):
    made = irmeta.studies.search_length(real_store, tmp_path / "asl", track=TRACKS, resamples=5)
    beyond = rows_of(made, "relevant-beyond-100")
    misses = "NLPR03vb10, the best system by Eq. 3, misses 93% of the relevant docs that ASL counts"
    assert beyond["robust-2003"] == ("cannot be said", f"{misses}; unretrieved=depth: 276.2, holds")
    assert beyond["web-2012"][1].endswith("docs that ASL counts; unretrieved=depth: 601.3, holds")
    assert beyond["legaldiv"][0] == "cannot be said"
    assert "4,624 of 4,624 lists hold no doc that is not relevant" in (beyond["legaldiv"][1] or "")
    averaged = made.tables["claims"].filter(claim="map-averages").row(0, named=True)
    summary = made.tables["effective_summary"].row(0, named=True)
    assert averaged["number"] == pytest.approx(summary["fraction"], abs=1e-12)
    assert (averaged["verdict"], averaged["printed"]) == ("holds", "57% \u00b1 16")
    table_2 = made.tables["table_2"].filter(pl.col("step") > 0, chain="AP", unretrieved="floor")
    steps = table_2.sort("step")["delta_sort"]
    similar = made.tables["claims"].filter(claim="similar-steps").row(0, named=True)
    assert similar["number"] == pytest.approx(min(steps) / max(steps))


def test_search_length__both_choices_for_docs_not_retrieved(
    real_store: irmeta.Store, tmp_path: Path
):
    """Values of an independent audit."""
    made = irmeta.studies.search_length(real_store, tmp_path / "asl", resamples=5)
    steps = made.tables["reordering"].filter(chain="AP", step=0)
    moved = {(t, how): v for t, how, v in steps.select("track", "unretrieved", "delta_sort").rows()}
    for track, floor, depth in (("trec-covid-r1", 139, 55), ("robust-2003", 14, 4)):
        systems = steps.filter(track=track)["systems"][0]
        assert moved[track, "floor"] == pytest.approx(100 * floor / systems)
        assert moved[track, "depth"] == pytest.approx(100 * depth / systems)
    assert rows_of(made, "reorders-ap")["robust-2003"] == (
        "holds", "unretrieved=depth: 24, does not hold")  # fmt: skip
    wins = rows_of(made, "largest-wins-deep")
    assert wins["web-2012"] == ("does not hold", "36 wins against 114 losses")
    assert [v for v, _ in wins.values()].count("holds") == 5, "four tracks, and over tracks"
    losses = made.tables["claims"].filter(claim="losses-deep").drop_nulls("track")
    shares = losses["number"].drop_nans().round(2).sort().to_list()
    assert (shares[1], shares[-1]) == (0.25, 0.42)
    first = rows_of(made, "leftmost-deep")
    assert {v for v, _ in first.values()} == {"holds", "cannot be said"}
    latex = (tmp_path / "asl" / "latex" / "table_2.tex").read_text(encoding="utf-8")
    means = made.tables["table_2"]["tracks"].unique().to_list()
    assert means == [3]
    assert "mean over clef-ehealth-2015, robust-2003 and trec-covid-r1, in brackets" in latex
    best = made.tables["headroom"].pivot("measure", index="track", values="value")
    rho = stats.spearmanr(best["AP"], best["P@20"]).statistic
    followed = made.tables["claims"].filter(claim="map-follows-p20").row(0, named=True)
    assert (followed["number"], followed["verdict"]) == (pytest.approx(rho), "holds")


def test_preference__rpp_separates_more_on_robust_and_no_more_than_ndcg_on_web(
    real_store: irmeta.Store, tmp_path: Path
):
    made = irmeta.studies.preference(
        real_store, tmp_path / "rpp", track=TRACKS, resamples=5, replicates=2,
        label_replicates=1, sizes=[20], shares=[0.6],
    )  # fmt: skip
    table = made.tables["table_4"].filter(track="web-2012")
    percent = dict(table.select("measure", "percent").iter_rows())
    methods = (made.options.preference(), made.options.measures[1])
    assert [round(percent[method], 2) for method in methods] == [14.29, 14.29]
    by_t = rows_of(made, "separates-4-ndcg")
    assert by_t["robust-2003"] == ("holds", "67.65 against 62.50")
    assert by_t["web-2012"] == ("cannot be said", "8 systems, fewer than 10")
    assert by_t["legaldiv"][0] == "cannot be said"
    assert rows_of(made, "separates-4-ap")["robust-2003"] == ("holds", "67.65 against 61.03")
    assert rows_of(made, "power-4-ap")["robust-2003"] == ("holds", "61.03 against 62.50")
    assert rows_of(made, "interleaving-dcg")["robust-2003"] == ("holds", "0.960 against 0.985")
    assert rows_of(made, "interleaving-nearest")["robust-2003"] == ("holds", "0.960 against 0.841")
    assert rows_of(made, "top-heavy-err-ia")["web-2012"][1] == "8 systems, fewer than 10"
    order = made.tables["table_2_mean"].filter(part="single", order="mc4")["measure_a"]
    assert order.unique(maintain_order=True).to_list() == [
        "RR", "RPP(p=inverse)", "RPP", "RPP(p=dcg)", "AP"]  # fmt: skip
    page = made.report.read_text(encoding="utf-8")
    assert "of orders of systems, on robust-2003 (Table 2a)" in page
    assert "(Table 2b)" not in page
    subtopics = rows_of(made, "separates-4-ap-ia")
    why = "no relevant doc of the track has a subtopic"
    assert subtopics["robust-2003"] == ("cannot be said", why)
    assert subtopics["web-2012"] == ("cannot be said", "8 systems, fewer than 10")


def test_properties__counts_of_the_paper(tmp_path: Path):
    made = irmeta.studies.properties(tmp_path / "properties")
    claims = made.tables["claims"]
    why = dict(claims.select("claim", "why").iter_rows())
    assert why["act-irrelevance"] == "29,496 of 29,523 pairs"
    assert why["ap-ia-redundancy"] == "2,026 of 2,026 pairs"
    assert why["act-example"] == "0.0833 against 0.0750"
    assert claims.filter(kind="paper")["verdict"].unique().to_list() == ["holds"]
    by_docs = claims.filter(pl.col("claim").str.starts_with("ct-relevance"))
    assert by_docs["why"].to_list() == ["48,714 of 59,046 pairs", "474 of 59,046 pairs"]


KS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 100, 400, 1000)  # of the independent values
FAMILIES = {
    "utility": ["ERR(gmax=2)", "RR", "RBP(p=0.8,rel=1)", "RBP(p=0.95,rel=1)"],
    "recall": ["AP(norm=min)", "nDCG", "Q(beta=1,gain=linear)"],
}


@pytest.fixture(scope="module")
def depth(real_store: irmeta.Store, tmp_path_factory: pytest.TempPathFactory):
    """The study of depth on trec-covid-r1, whose pool is 7 deep."""
    out = tmp_path_factory.mktemp("depth")
    return irmeta.studies.depth(real_store, out, track="trec-covid-r1", ks=KS)


def on_track(results, claim: str) -> dict:
    """Return the row of a claim on the only track."""
    claims = results.tables["claims"].filter(pl.col("track").is_not_null(), claim=claim)
    return claims.row(0, named=True)


def test_depth__conclusions_below_the_pool_equal_independent_values(depth, shared: Path):
    oracle = pl.read_csv(shared / "oracles" / "depth_study" / "table7_8_figure4.csv")
    below = oracle.filter(pl.col("k") > 7).with_columns(
        coverage=pl.col("covered") / pl.col("separated_reference"),
        inversion=pl.col("inverted") / pl.col("separated_reference"),
    )
    full = below.filter(lists="full")
    for family, names in FAMILIES.items():
        rows = full.filter(pl.col("measure").is_in(names))
        assert rows.height == 9 * len(names)
        coverage, inversion = (on_track(depth, f"{family}-{n}") for n in ("coverage", "inversion"))
        assert coverage["number"] == pytest.approx(rows["coverage"].mean(), abs=1e-12)
        assert inversion["number"] == pytest.approx(rows["inversion"].max(), abs=1e-12)
    verdicts = [on_track(depth, f"{f}-inversion")["verdict"] for f in ("utility", "recall")]
    assert verdicts == ["holds", "holds"]
    every = pl.col("measure").is_in([*FAMILIES["utility"], *FAMILIES["recall"]])
    by_lists = below.filter(every).group_by("lists").agg(
        pl.col("coverage").mean(), pl.col("inversion").max()
    )  # fmt: skip
    of = {lists: ratios for lists, *ratios in by_lists.iter_rows()}
    for n, (column, verdict) in enumerate({"coverage": "holds", "inversion": "holds"}.items()):
        condensed = on_track(depth, f"condensed-{column}")
        expected = of["condensed"][n] - of["full"][n]
        assert condensed["number"] == pytest.approx(expected, abs=1e-12)
        assert condensed["verdict"] == verdict
    recall, utility = (
        full.filter(pl.col("measure").is_in(FAMILIES[f])) for f in ("recall", "utility")
    )
    difference = utility["coverage"].mean() - recall["coverage"].mean()
    assert on_track(depth, "coverage-by-family")["number"] == pytest.approx(difference, abs=1e-12)


def test_depth__systems_left_out_and_residuals_equal_independent_values(depth, shared: Path):
    folder = shared / "oracles" / "depth_study"
    lost = json.loads((folder / "leave_one_run_out_summary.json").read_text())["pool d=k=7"]
    changes = [row["delta_percent"] for row in lost.values()]
    of_study = depth.tables["table_5"].filter(level="run", judgments="pool")
    by_name = dict(of_study.select("measure", "delta_percent").iter_rows())
    assert [by_name[name] for name in lost] == pytest.approx(changes, abs=1e-9)
    claim = on_track(depth, "run-left-out")
    assert claim["number"] == pytest.approx(sum(by_name.values()) / len(by_name), abs=1e-9)
    assert claim["verdict"] == "holds"
    last = pl.read_csv(folder / "table9.csv").filter(measure="RBP(p=0.95,rel=1)", k=1000)
    score, residual = last.select("score", "residual").row(0)
    assert on_track(depth, "residual")["number"] == pytest.approx(residual / score, abs=1e-9)


def test_depth__theta_of_each_measure_from_the_stored_matrices(depth):
    """RQ4 on a pool of depth 7; of all pairs of cutoffs above theta none is at .9 or below."""
    thetas = {"err": 0, "rbp-80": 4, "rbp-95": 11, "ap": 16, "ndcg": 11}
    rows = {name: on_track(depth, f"theta-{name}") for name in thetas}
    assert {name: row["number"] for name, row in rows.items()} == thetas
    assert [row["verdict"] for row in rows.values()] == ["holds"] * 2 + ["does not hold"] + [
        "holds"
    ] * 2
    cells = depth.scan("volatility").collect()
    names = {"ap": "AP(norm=min)", "ndcg": "nDCG", "err": "ERR"}
    for name, measure in names.items():
        of = cells.filter(measure_a=measure, measure_b=measure)
        low = of.filter(pl.col("value") <= 0.9).select(pl.min_horizontal("k_a", "k_b"))
        assert (low.to_series().max() or 0) == thetas[name]
        beside = of.filter(pl.col("k_a") != pl.col("k_b"))["value"]
        share = depth.tables["stability"].filter(measure_a=measure, measure_b=measure)["stable"]
        assert share.item() == pytest.approx((beside >= 0.9).mean())
    assert on_track(depth, "theta-rbp-ap")["why"] == "11 against 16"
    assert on_track(depth, "theta-rbp-ndcg")["verdict"] == "does not hold"
    zipf = cells.filter(measure_a="nDCG", measure_b="nDCG(discount=zipf)").pivot(
        "k_b", index="k_a", values="value"
    )
    matrix = zipf.sort("k_a").drop("k_a").to_numpy()
    deeper = np.mean([matrix[k, m] - matrix[m, k] for k in range(50) for m in range(k + 1, 50)])
    row = on_track(depth, "ndcg-zipf")
    assert (row["verdict"], row["number"]) == ("holds", pytest.approx(deeper))


def test_innovation__more_pairs_by_the_unpaired_t_alone(real_store: irmeta.Store, tmp_path: Path):
    made = irmeta.studies.innovation(
        real_store, tmp_path / "rare", track="trec-covid-r1", resamples=20, trials=150, draws=5
    )
    upper = np.triu_indices(143, 1)
    found = {}
    for measure in ("RareP", "RareAP"):
        for alpha in (0, 1):
            name = f"{measure}(alpha={alpha})@100"
            values = real_store.evaluate(name, track="trec-covid-r1", per_query=True)
            matrix = values.pivot("system", index="query", values="value").drop("query").to_numpy()
            one, other = matrix[:, upper[0]], matrix[:, upper[1]]
            tests = {"t-unpaired": stats.ttest_ind(one, other), "t": stats.ttest_rel(one, other)}
            for test, result in tests.items():
                found[measure, test, alpha] = int((result.pvalue <= 0.05).sum())
    for measure in ("RareP", "RareAP"):
        for test, verdict in (("t-unpaired", "holds"), ("t", "does not hold")):
            row = on_track(made, f"{measure.lower()}-separates-{test}-95")
            after, before = found[measure, test, 1], found[measure, test, 0]
            assert (row["verdict"], row["why"]) == (verdict, f"{after:,} against {before:,}")
    assert found["RareP", "t-unpaired", 1] == 6397
    assert found["RareP", "t", 0] == 7508
    similar = on_track(made, "rarep-tau-ap")
    assert similar["why"] == "0.952 and 0.980 by tau_AP,b and tau-b at alpha = 1"
    assert on_track(made, "common-unaffected")["why"].startswith("1.3 of 144 ranks, at most 7;")
    assert on_track(made, "stability-converged")["verdict"] == "holds"
    stable = {ties: on_track(made, f"rarep-stable-{ties}") for ties in ("absolute", "none")}
    assert stable["absolute"]["verdict"] == "holds"
    assert stable["none"]["verdict"] == "does not hold", "more stable only with a margin of .05"


def test_preference__pairs_and_correlations_equal_independent_values(
    real_store: irmeta.Store, shared: Path, tmp_path: Path
):
    made = irmeta.studies.preference(
        real_store, tmp_path / "rpp", track="robust-2003", resamples=20, replicates=2,
        label_replicates=1, sizes=[20], shares=[0.6],
    )  # fmt: skip
    folder = shared / "oracles" / "preference"
    power = json.loads((folder / "preference_robust2003_power.json").read_text())
    separated, pairs = power["separated"], power["pairs"]
    percent = {name: 100 * row["t_bonferroni_05"] / pairs for name, row in separated.items()}
    for short in ("AP", "nDCG", "RR"):
        row = on_track(made, f"separates-4-{short.lower()}")
        assert row["number"] == pytest.approx(percent["RPP"] - percent[short])
        assert row["why"] == f"{percent['RPP']:.2f} against {percent[short]:.2f}"
        assert row["verdict"] == "holds"
    agreement = json.loads((folder / "preference_robust2003_agreement.json").read_text())
    for name, row in agreement["RPP(graded) against"].items():
        if name in ("AP", "nDCG", "RR"):
            found = on_track(made, f"signs-{name.lower()}")
            signs = row["sign_agreement (ties count as a sign)"]
            assert (found["verdict"], found["number"]) == ("holds", pytest.approx(signs))
    ours = on_track(made, "correlates-ap")
    assert (ours["verdict"], round(ours["number"], 2)) == ("holds", 0.93)


def test_search_length__map_counts_deep_docs_as_shallow(real_store: irmeta.Store, tmp_path: Path):
    made = irmeta.studies.search_length(
        real_store, tmp_path / "asl", track="robust-2003", resamples=5
    )
    means = {}
    for name in ("AP", "ASL"):
        frame = real_store.evaluate(name, track="robust-2003").sort("system")
        means[name] = frame["value"].to_numpy()
    squashed = np.median((1 + 1 / means["AP"]) / means["ASL"])
    row = on_track(made, "map-squashes")
    assert row["number"] == pytest.approx(squashed, rel=1e-12)
    worked = made.tables["claims"].filter(claim="worked-lengths").row(0, named=True)
    assert (worked["verdict"], worked["why"][-8:]) == ("holds", "3.2, 3.2")
