"""The study of judges on TREC 2021 deep learning, against reference values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau, spearmanr

import irmeta
from irmeta.studies.framework.study_results import StudyResults
from support.judged import judged_store

pytestmark = pytest.mark.real

TRACK = "trec-dl-2021-passage"
MEASURES = ("nDCG@10", "AP", "P@10")
UMBRELA = {"judge": "gpt4o-umbrela", "measure": "nDCG@10"}


@pytest.fixture(scope="module")
def results(
    shared: Path, tmp_path_factory: pytest.TempPathFactory, undrawn_module: None
) -> StudyResults:
    """The study of nDCG@10, AP and P@10 with all 14 judges, read from files."""
    source = shared / "judges" / TRACK
    oracle = pl.read_csv(shared / "oracles" / "judges" / "leaderboard.csv")
    rels = dict(oracle.select("judge", "rel_judge").unique().rows())

    folder = tmp_path_factory.mktemp("judges")
    judges = {name: source / "judges" / f"{name}.txt" for name in rels if name != "human"}
    return irmeta.studies.judges(
        judged_store(source, folder),
        folder / "study",
        judges=[f"{name}={path}" for name, path in judges.items()],
        rels=[str(rels["human"]), *(f"{name}={rels[name]}" for name in judges)],
        measures=list(MEASURES),
        tests=["t", "t+holm"],
        raw=True,
    )


@pytest.fixture(scope="session")
def oracle(shared: Path) -> pl.DataFrame:
    return pl.read_csv(shared / "oracles" / "judges" / "leaderboard.csv").filter(
        pl.col("judge") != "human"
    )


def row_of(results: StudyResults, table: str, **key: object) -> dict[str, object]:
    (row,) = results.tables[table].filter(**key).to_dicts()
    return row


def test_leaderboards__equal_the_oracle(results: StudyResults, oracle: pl.DataFrame):
    both = oracle.join(results.tables["leaderboards"], on=["judge", "measure"], suffix="_ours")
    assert both.height == oracle.height == 14 * 3
    # The reference values order P@10 by the last bits of means that are equal: see below.
    exact = both.filter(pl.col("measure") != "P@10")
    for name in ("tau_b", "spearman"):
        assert (exact[name] - exact[f"{name}_ours"]).abs().max() < 1e-9, name
    for name in ("mean_human", "mean_judge"):
        ours = {"mean_human": "mean_reference"}.get(name, f"{name}_ours")
        gap = (both[name] - both[ours]).abs()
        assert gap.max() < 1e-9, name
    for name, ours in (("max_drop", "drop"), ("dropped", "dropped_ours"), ("max_rise", "rise")):
        assert exact[name].to_list() == exact[ours].to_list(), name
    assert exact["top1_same"].to_list() == exact["same_best"].to_list()
    for size in (5, 10):
        wrong = exact.filter((pl.col(f"top{size}") - pl.col(f"common_{size}")).abs() > 1e-9)
        assert wrong.is_empty(), wrong.select("judge", "measure", f"top{size}", f"common_{size}")


def test_leaderboards__of_precision_equal_the_oracle_without_rounding(
    results: StudyResults, oracle: pl.DataFrame
):
    """Equal means of P@10 differ in their last bit there, by the order of summation."""
    rows = results.tables["systems"].filter(measure="P@10").sort("judge", "system")
    names = "tau_b", "spearman", "max_drop", "dropped", "max_rise"
    for judge, *expected in oracle.filter(measure="P@10").select("judge", *names).rows():
        systems, *sides = rows.filter(judge=judge).select("system", "mean_reference", "mean_judge")
        own, other = (side.to_numpy() for side in sides)
        assert kendalltau(own, other).statistic == pytest.approx(expected[0], abs=1e-9)
        assert spearmanr(own, other).statistic == pytest.approx(expected[1], abs=1e-9)
        places = [np.argsort(np.argsort(-side, kind="stable")) for side in (own, other)]
        falls = sorted(zip((places[1] - places[0]).tolist(), systems, strict=True))
        assert [*falls[-1], -falls[0][0]] == expected[2:]

        board = row_of(results, "leaderboards", measure="P@10", judge=judge)
        rounded = kendalltau(own.round(12), other.round(12)).statistic
        assert board["tau_b"] == pytest.approx(rounded, abs=1e-12)


def test_conclusions__equal_the_oracle(results: StudyResults, oracle: pl.DataFrame):
    for test, prefix in (("t", "none"), ("t+holm", "holm")):
        found = results.tables["conclusions"].filter(test=test)
        both = oracle.join(found, on=["judge", "measure"])
        for name in ("kept", "reversed", "lost", "new", "neither"):
            assert both[f"{prefix}_{name}"].to_list() == both[name].to_list(), (test, name)


def test_queries__tau_b_equals_the_oracle(results: StudyResults, shared: Path):
    table = pl.read_csv(
        shared / "oracles" / "judges" / "per_query_ndcg10.csv",
        schema_overrides={"query": pl.String},
    )
    found = results.tables["single_queries"].filter(measure="nDCG@10")
    both = table.join(found, on=["judge", "query"], suffix="_ours")
    assert both.height == 14 * 53
    gap = (both["tau_b"].fill_nan(None) - both["tau_b_ours"].fill_nan(None)).abs()
    assert gap.max() < 0.004  # values that tie differ by the order of summation there
    assert (gap < 1e-9).mean() > 0.85
    difference = both["mean_judge"] - both["mean_human"]
    assert (difference - both["difference"]).abs().max() < 1e-9


def test_leaderboards__of_umbrela(results: StudyResults):
    row = row_of(results, "leaderboards", **UMBRELA)
    assert row["tau_b"] == pytest.approx(0.939487, abs=5e-7)
    assert row["tau_ap"] == pytest.approx(0.894965, abs=5e-7)
    assert row["tau_ap_judge"] == pytest.approx(0.895098, abs=5e-7)
    assert row["sd"] == pytest.approx(0.014, abs=0.001)
    assert row["drawn"] == pytest.approx(0.912, abs=0.002)


def test_query_noise__of_three_judges(results: StudyResults):
    row = row_of(results, "query_noise", **UMBRELA)
    assert row["tau_reference"] == pytest.approx(0.807, abs=0.003)
    assert row["tau_judge"] == pytest.approx(0.818, abs=0.003)
    assert row["orders_as"] == "as well"
    expected = (("gpt4o-binary", 0.792, "as well"), ("gpt4o-nuggets-all", 0.700, "worse"))
    for judge, tau, orders_as in expected:
        found = row_of(results, "query_noise", judge=judge, measure="nDCG@10")
        assert found["tau_judge"] == pytest.approx(tau, abs=0.003)
        assert found["orders_as"] == orders_as


def test_conclusions__of_halves_and_new_ones(results: StudyResults):
    row = row_of(results, "conclusions", **UMBRELA, test="t")
    assert row["new"] == row["new_agree"] == 96
    assert row["survived_halves"] == pytest.approx(0.840, abs=0.002)
    assert row["false_halves"] == pytest.approx(0.0003, abs=0.0001)


def test_top__regret_of_the_best_five(results: StudyResults):
    for judge, regret in (
        ("gpt4o-umbrela", 0),
        ("gpt4o-binary", 0.000092),
        ("gpt4-binary", 0.0055),
    ):
        row = row_of(results, "top", judge=judge, measure="nDCG@10", size=5)
        assert row["regret"] == pytest.approx(regret, abs=5e-5 if regret > 0.001 else 5e-7)


def test_agreement__equals_the_oracle(results: StudyResults, shared: Path):
    table = pl.read_csv(shared / "oracles" / "judges" / "label_agreement.csv")
    both = table.filter(track=TRACK).join(results.tables["agreement"], on="judge", suffix="_ours")
    assert both.height == 14
    for name in ("kappa", "kappa_quadratic", "alpha_ordinal", "ac1", "spearman", "kappa_binary"):
        gap = (both[name] - both[f"{name}_ours"]).abs()
        assert gap.fill_nan(0).max() < 1e-9, name


def test_mixtures__reference_alone_with_11_and_27_queries(results: StudyResults):
    rows = results.tables["mixtures"].filter(**UMBRELA)
    alone = dict(rows.select("labelled", "alone").rows())
    assert alone[11] == pytest.approx(0.810, abs=0.01)
    assert alone[27] == pytest.approx(0.906, abs=0.01)


def test_corrected__widths_and_coverage(results: StudyResults):
    every = results.tables["corrected"].filter(**UMBRELA, method="ppi++")
    assert every["coverage"].is_between(0.93, 0.97).all()
    assert (every["least_coverage"] <= every["coverage"]).all()
    assert every.filter(target="pairs")["least_b"].null_count() == 0
    rows = every.filter(target="systems")
    found = rows.rows_by_key("labelled", named=True, unique=True)
    for size, alone, width in ((15, 0.234, 0.191), (20, 0.199, 0.168), (25, 0.176, 0.153)):
        assert found[size]["width_reference"] == pytest.approx(alone, abs=0.003)
        assert found[size]["width"] == pytest.approx(width, abs=0.003)
        assert found[size]["width_all"] == pytest.approx(0.120, abs=0.001)
    assert found[15]["coverage"] == pytest.approx(0.935, abs=0.006)
    assert found[30]["coverage"] == pytest.approx(0.948, abs=0.006)


def test_bias__of_a_judge_that_favours_what_neural_systems_retrieve(results: StudyResults):
    rows = results.tables["systems"].filter(**UMBRELA)
    flagged = rows.filter("flagged")
    assert 20 <= flagged.height <= 30
    too_low = set(flagged.filter(pl.col("contrast") < 0)["system"])
    assert {"p_bm25", "paug_bm25", "WLUPassage"} <= too_low
    every = row_of(results, "groups", **UMBRELA, by="all")
    assert every["contrast"] == pytest.approx(0.0968, abs=0.001)
    assert every["flagged"]
    exam = results.tables["systems"].filter(judge="gpt4o-exam-binary", measure="P@10")
    assert not exam["flagged"].any()
