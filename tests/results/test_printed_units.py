"""Values that were printed as decimals: their unit, and tests whose p is that of exact values."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.results.matrix import decimals, units_of

HITS = np.random.default_rng(1).integers(0, 16, (30, 3))  # relevant docs among 15
SYSTEMS = ("a", "b", "c")


@pytest.mark.parametrize(
    ("texts", "unit"),
    [
        (["0.4667", "0.4000"], 1e-4),
        (["0.4667", "0.4", "1"], 1e-4),  # as JSON and CSV omit zeros
        (["4.667e-1", None, "nan", ""], 1e-4),
        (["0.067", "0.200"], 1e-3),
        (["0.013", "0.2"], 0.0),  # P@1000
        (["0.05", "0.25"], 0.0),  # P@20
        (["3", "11"], 0.0),
        ([str(1 / 3), "0.5"], 0.0),
        ([], 0.0),
    ],
)
def test_unit__is_of_the_last_digit_of_rounded_values(texts: list[str], unit: float):
    numbers = decimals(pl.Series([*texts, *texts, "0.5"], dtype=pl.String))
    system = np.repeat([2, 0, 1], [len(texts), len(texts), 1])
    assert units_of(numbers, system, 3) == pytest.approx((unit, 0, unit))


def test_unit__floats_were_not_printed():
    assert units_of(decimals(pl.Series([0.4667, 0.1234])), np.zeros(2, int), 1) == (0,)


def of_trec_eval(folder: Path) -> list[Path]:
    for place, system in enumerate(SYSTEMS):
        lines = [f"P_15\t{q:02}\t{hits / 15:.4f}" for q, hits in enumerate(HITS[:, place])]
        (folder / system).write_text("\n".join(lines) + "\n")
    return [folder / system for system in SYSTEMS]


def of_csv(folder: Path) -> Path:
    rows = [",".join(f"{v / 15:.4f}" for v in row) for row in HITS]
    (folder / "P_15.csv").write_text("\n".join([",".join(SYSTEMS), *rows]) + "\n")
    return folder / "P_15.csv"


def of_json(folder: Path) -> Path:
    values = {
        system: {f"{q:02}": {"P@15": round(hits / 15, 4)} for q, hits in enumerate(HITS[:, place])}
        for place, system in enumerate(SYSTEMS)
    }
    (folder / "values.json").write_text(json.dumps(values))
    return folder / "values.json"


@pytest.mark.parametrize("written", [of_trec_eval, of_csv, of_json])
@pytest.mark.parametrize("test", ["wilcoxon", "sign", "permutation"])
def test_compare__printed_values_give_the_p_of_exact_values(written, test, tmp_path: Path):
    exact = irmeta.Matrix(HITS, tuple(map(str, range(30))), SYSTEMS)
    (right,) = irmeta.compare(exact, test=test)
    (found,) = irmeta.compare(written(tmp_path), test=test)
    np.testing.assert_array_equal(found.pairs.p_adjusted, right.pairs.p_adjusted)
    assert found.pairs.tolerance == pytest.approx(1e-4)
    assert right.pairs.tolerance == pytest.approx(15e-12)


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "permutation"])
def test_compare__p_of_precision_is_that_of_the_number_of_relevant_docs(made_store, test):
    for track in ("news", "web"):
        for depth in (5, 10, 20):
            (precision,) = irmeta.matrices(made_store, f"P@{depth}", track=track)
            hits = irmeta.Matrix(
                np.rint(precision.values * depth), precision.queries, precision.systems
            )
            (found,), (right,) = (irmeta.compare(one, test=test) for one in (precision, hits))
            np.testing.assert_array_equal(found.pairs.p_adjusted, right.pairs.p_adjusted)
