"""The study of recall-paired preference on real tracks against independent values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pytest

import irmeta
from irmeta.studies.framework.study_results import StudyResults
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.preference.orders import ComparedTrack, significant_pairs
from irmeta.studies.papers.preference.study import PreferenceOptions

pytestmark = pytest.mark.real
WEIGHTS = {"uniform": "RPP", "dcg": "RPP(p=dcg)", "inverse": "RPP(p=inverse)"}
NAMES = {
    "dcgRPP": "RPP(p=dcg)",
    "invRPP": "RPP(p=inverse)",
    "-AvgSL": "AvgSL(corpus=relevant)",
}


@pytest.fixture(scope="module")
def results(
    real_store: irmeta.Store, tmp_path_factory: pytest.TempPathFactory, undrawn_module: None
) -> StudyResults:
    out = tmp_path_factory.mktemp("preference")
    few: dict[str, Any] = {
        "replicates": 2,
        "label_replicates": 1,
        "shares": [0.5],
        "resamples": 1500,
    }
    return irmeta.studies.preference(real_store, out, track=["robust-2003", "web-2012"], **few)


@pytest.fixture
def oracles(shared: Path) -> Path:
    return shared / "oracles" / "preference"


def ours(name: str) -> str:
    """Return our name of a measure of the oracles."""
    return NAMES.get(name, name)


def load(oracles: Path, name: str) -> dict[str, Any]:
    return json.loads((oracles / f"preference_robust2003{name}.json").read_text())


def robust(results: StudyResults, table: str) -> pl.DataFrame:
    return results.tables[table].filter(track="robust-2003")


def by_key(frame: pl.DataFrame, key: str, value: str) -> dict[str, Any]:
    return dict(frame.select(key, value).iter_rows())


@pytest.mark.parametrize("weights", WEIGHTS)
def test_orders__equal_the_oracle(results: StudyResults, oracles: Path, weights: str):
    oracle = load(oracles, "")[f"graded {weights}"]
    frame = robust(results, "orders").filter(preference=WEIGHTS[weights])
    assert frame.height == 17
    win_rates = {s: 16 * v for s, v in by_key(frame, "system", "win_rate").items()}
    assert win_rates == pytest.approx(oracle["mean_win_rate_eq7"], abs=1e-9)
    assert by_key(frame, "system", "borda") == oracle["borda_of_win_rates"]
    assert by_key(frame, "system", "mc4") == pytest.approx(oracle["mc4_10_steps"], rel=1e-9)
    rounds = {system: values[0] for system, values in oracle["mc4_rounds"].items()}
    assert by_key(frame, "system", "mc4_round") == rounds
    zeros = sum(value == 0 for value in oracle["mc4_limit"].values())
    agreed = robust(results, "order_agreement").filter(preference=WEIGHTS[weights])
    assert agreed["limit_zeros"].unique().to_list() == [zeros]
    assert agreed.filter(rule="mc4-rounds")["tau_b"].item() >= 0.99


def test_figure_5__agreement_equals_the_oracle(results: StudyResults, oracles: Path):
    oracle = load(oracles, "_agreement")
    frame = robust(results, "figure_5").filter(measure_a="RPP")
    rows = {row["measure_b"]: row for row in frame.iter_rows(named=True)}
    for name, expected in oracle["RPP(graded) against"].items():
        if name != "RPPbin":
            found = rows[ours(name)]
            r, sa = expected.values()
            assert (found["r"], found["sa"]) == pytest.approx((r, sa), abs=1e-9), name
            assert found["points"] == oracle["points"]
    readings = oracle["offline interleaving, readings tried (r with RPP, sign agreement)"]
    chosen = [value for key, value in readings.items() if "CHOSEN" in key]
    for name, expected in zip(("OI", "OI(p=dcg)"), chosen, strict=True):
        assert (rows[name]["r"], rows[name]["sa"]) == pytest.approx(expected, abs=6e-4)
    of_rr = by_key(robust(results, "figure_5").filter(measure_a="RR"), "measure_b", "sa")
    expected = {ours(name): sa for name, sa in oracle["RR against"].items()}
    assert of_rr == pytest.approx(expected, abs=1e-9)


def test_ties__equal_the_oracle(results: StudyResults, oracles: Path):
    oracle = load(oracles, "_agreement")["share tied"]
    found = by_key(robust(results, "ties"), "measure", "tied")
    for name, tied in oracle.items():
        if name != "RPPbin":
            assert found[ours(name)] == pytest.approx(tied, abs=1e-9), name


def test_unequal_levels__equal_the_oracle(results: StudyResults, oracles: Path):
    oracle = load(oracles, "_unequal_levels")
    (row,) = robust(results, "unequal_levels").iter_rows(named=True)
    assert row["levels"] == oracle["levels"]
    assert row["share"] == pytest.approx(oracle["share f_i != f_i'"], abs=1e-9)
    assert row["neither"] / row["levels"] == pytest.approx(
        oracle["share both unretrieved"], abs=1e-9
    )
    assert row["share_reached"] == pytest.approx(
        oracle["share unequal where either is retrieved"], abs=1e-9
    )
    decided = by_key(robust(results, "ties"), "measure", "deciding_levels")
    assert decided["RPP"] == decided["AP"] == row["share"]
    assert decided["RR"] < 0.01
    assert decided["OI"] is None


def test_tables_3_and_4__equal_the_oracle(results: StudyResults, oracles: Path):
    oracle = load(oracles, "_power")["separated"]
    for table, column, slack in (
        ("table_3", "randomised_hsd_05 (B=1500)", 3),
        ("table_4", "t_bonferroni_05", 0),
    ):
        frame = robust(results, table)
        found = by_key(frame, "measure", "separated")
        for name in ("RPP", "dcgRPP", "invRPP", "AP", "nDCG", "RR"):
            difference = abs(found[ours(name)] - oracle[name][column])
            assert difference <= slack, (table, name)
        assert frame["pairs"].unique().to_list() == [136]
        assert frame["printed"].null_count() == frame.height


@pytest.mark.parametrize("grades", ["graded", "binary"])
def test_tables_3_and_4__on_win_rates_equal_the_oracle(
    real_store: irmeta.Store, oracles: Path, grades: Literal["graded", "binary"]
):
    oracle = load(oracles, "_power")["separated"]
    options = PreferenceOptions(grades=grades, on="win-rate", resamples=1500)
    track = TrackView(real_store.track("robust-2003"), options)
    compared = ComparedTrack.of(track, options)
    for table, column, slack in (
        ("table_3", "winrate_randomised_hsd_05", 3),
        ("table_4", "winrate_t_bonferroni_05", 0),
    ):
        rows = list(significant_pairs(compared, options, table, None))
        suffix = "" if grades == "graded" else "(binary)"
        for row, name in zip(rows, ("RPP", "dcgRPP", "invRPP"), strict=False):
            assert abs(row["separated"] - oracle[name + suffix][column]) <= slack, (table, name)


def test_table_1__web_2012_equals_the_oracle(results: StudyResults, oracles: Path):
    rows = pl.read_csv(oracles / "preference_paper_table1.csv").rows_by_key("dataset", named=True)
    (oracle,) = rows["web (2012)"]
    (row,) = results.tables["table_1"].filter(track="web-2012").iter_rows(named=True)
    assert round(row["pairs_per_request"], 2) == float(oracle["found_rel"])
    assert oracle["found_subtopics"] == "3.90 (3.74 with a relevant doc)"
    subtopics = row["subtopics_per_request"], row["relevant_subtopics_per_request"]
    assert [round(value, 2) for value in subtopics] == [3.90, 3.74]
    assert round(row["relevant_per_request"], 2) == 70.46
    assert (row["qrels"], row["subtopic_qrels"], row["runs"]) == ("adhoc", "diversity", 8)
    assert row["dataset"] is None  # 8 of the 48 runs


def test_orders__by_subtopic_equal_the_oracle(results: StudyResults, oracles: Path):
    pairs = pl.read_csv(oracles / "preference_web2012_strpp_means.csv")
    frame = results.tables["orders"].filter(track="web-2012")
    for p, name in (("uniform", ""), ("dcg", "(p=dcg)"), ("inverse", "(p=inverse)")):
        sums: dict[str, float] = {}
        for a, b, mean in (
            pairs.filter(preference=f"STRPP(p={p})").select("a", "b", "mean_of_a_over_b").rows()
        ):
            sums[a], sums[b] = sums.get(a, 0.0) + mean, sums.get(b, 0.0) - mean
        found = by_key(frame.filter(preference=f"STRPP{name}"), "system", "win_rate")
        assert {s: 7 * v for s, v in found.items()} == pytest.approx(sums, abs=1e-9)
