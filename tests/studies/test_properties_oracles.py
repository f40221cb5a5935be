"""The study of desirable properties against reference programs and independent counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.measures.evaluate import score_rankings
from irmeta.measures.names import parse_measure
from irmeta.rankings.enumeration import RankingSpace
from irmeta.stats.properties import PAPER
from irmeta.studies.papers.properties.compute import count_properties, count_rows
from irmeta.studies.papers.properties.study import PropertiesOptions

pytestmark = pytest.mark.real
CUBE = {"CT": "CT(per=all)@10", "ACT": "ACT(per=all)@10", "nCT": "nCT(per=all,iterations=10)@10"}
NAMES = {
    "CT(code)": "CT(per=all)@10",
    "ACT(code)": "ACT(per=all)@10",
    "CT(Eq.7)": "CT(per=all,form=paper)@10",
    "ACT(Eq.7)": "ACT(per=all,form=paper)@10",
    "ERR_IA(unnormalised)": "ERR_IA(norm=none)@10",
    "alpha_DCG(unnormalised)": "alpha_DCG(norm=none)@10",
}
CASE_4 = {
    "relevance_monotonicity": "relevance",
    "irrelevance_monotonicity": "irrelevance",
    "redundancy": "redundancy",
}


def counted(space: RankingSpace, names: list[str]) -> dict[tuple[str, str], dict[str, Any]]:
    """Rows of `count_rows` by name and property."""
    specs = [parse_measure(name) for name in names]
    counts = count_properties(PAPER, space, specs, score_rankings(space, specs))
    rows = list(count_rows(counts, specs))
    ours = {spec.name: name for spec, name in zip(specs, names, strict=True)}
    return {(ours[row["measure"]], row["property"]): row for row in rows}


@pytest.mark.parametrize("relevant", [10, 5])
def test_score_rankings__equal_ndeval_and_cubetest(shared: Path, relevant: int):
    """ndeval prints 6 decimals, cubetest all."""
    folder = shared / "oracles" / "case4_axioms"
    expected = pl.read_csv(folder / "out.scores_all_len_le_10.csv.gz")
    space = RankingSpace(2, 10, relevant)
    numbers = np.array([space.number(name) for name in expected["ranking"]])
    assert len(set(numbers)) == space.count - 1
    columns = {c.split("|")[0]: c for c in expected.columns if c.endswith(f"|R{relevant}")}
    del columns["gain"]
    specs = [parse_measure(CUBE.get(name, name)) for name in columns]
    values = score_rankings(space, specs)[:, numbers]
    for name, found in zip(columns, values, strict=True):
        tolerance = 1e-9 if name in CUBE else 5.1e-7
        np.testing.assert_allclose(
            found, expected[columns[name]], rtol=0, atol=tolerance, err_msg=name
        )
    violations = json.loads((folder / "out.violations.json").read_text())
    counts = counted(space, [CUBE.get(name, name) for name in columns])
    for of_oracle, name in CASE_4.items():
        for column, cell in violations[of_oracle].items():
            measure, of = column.split("|")
            if of != f"R{relevant}" or measure == "gain":
                continue
            row = counts[CUBE.get(measure, measure), name]
            assert row["applicable"] == cell["applicable"], column
            assert row["violated"] == cell["violations_eps1e-9"], column


def test_count_rows__equal_independent_counts(shared: Path):
    cases = json.loads((shared / "oracles" / "properties" / "counts.json").read_text())
    checked = 0
    for case in cases:
        if case["R_per_aspect"] < case["h"]:
            continue  # there, R divides only; here, docs beyond R are not relevant
        space = RankingSpace(case["m"], case["h"], case["R_per_aspect"])
        assert space.count == case["rankings"]
        names = {name: NAMES.get(name, name) for name in case["violated"]}
        counts = counted(space, list(names.values()))
        for theirs, ours in names.items():
            for name in CASE_4.values():
                row = counts[ours, name]
                assert row["applicable"] == case["applicable"][name]
                assert row["violated"] == case["violated"][theirs][name], (case["h"], theirs, name)
                both = case["applicable"][name] + row["with_empty"]
                assert both == case["applicable_with_empty"][name]
            if "induction" in case:
                induced, row = case["induction"], counts[ours, "induction"]
                assert row["applicable"] == induced["comparable_pairs"]
                assert row["indirect"] == induced["of_these_indirect"]
                assert row["violated"] == induced["violated_of_all"][theirs]
                assert row["indirect_violated"] == induced["violated_of_indirect"][theirs]
            checked += 1
    assert checked > 60


def test_study__numbers_of_the_paper(shared: Path, tmp_path: Path, undrawn: None):
    induced = json.loads((shared / "oracles" / "properties" / "induction_h10.json").read_text())
    tables = irmeta.studies.properties(tmp_path / "out").tables
    table = tables["table_1"]
    names = [spec.name for spec in PropertiesOptions().specs]
    assert table["measure"].unique(maintain_order=True).to_list() == names
    applicable = dict(table.select("property", "applicable").unique().iter_rows())
    assert applicable == {
        "relevance": 59_046,
        "irrelevance": 29_523,
        "redundancy": 2_026,
        "induction": induced["comparable_pairs"],
    }
    failed = table.filter(pl.col("violated") > 0).select("measure", "property", "violated")
    assert {row[:2]: row[2] for row in failed.iter_rows()} == {
        ("AP_IA", "redundancy"): 2_026,
        ("AP_IA", "induction"): induced["violated_of_all"]["AP_IA"],
        ("ACT(per=all)@10", "irrelevance"): 29_496,
        ("ACT(per=all)@10", "induction"): induced["violated_of_all"]["ACT(code)"],
    }
    (indirect,) = table.filter(property="induction")["indirect"].unique()
    assert indirect == induced["of_these_indirect"]
    of_act = (
        tables["single_subtopic"]
        .filter(measure="ACT(per=all)@10")
        .rows_by_key("property", named=True, unique=True)
    )
    assert of_act["irrelevance"]["violated"] == 1_004
    assert of_act["irrelevance"]["applicable"] == 1_022
    assert of_act["redundancy"]["applicable"] == 0
