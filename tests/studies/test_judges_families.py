"""Families of systems that a judge favours, by hand and against the twin of the test of bias."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_ind

import irmeta
from irmeta.errors import IrmetaError
from irmeta.results.averages import PermutedMeans
from irmeta.stats.bias import Families, family_bias
from twins import judges as twin

pytestmark = pytest.mark.usefixtures("undrawn")

SYSTEMS = [f"s{s:02}" for s in range(10)]
FAMILY = dict(zip(SYSTEMS, "aaaaabbbcc", strict=True))
TEAM = dict(zip(SYSTEMS, "1123412412", strict=True))
FEW: dict[str, Any] = {"resamples": 20, "splits": 20, "draws": 99, "tests": "t", "adoption": 0}


def permuted(seed: int, judge: str, direction: int = 1) -> PermutedMeans:
    values = np.random.default_rng(seed).random((40, 10))
    return PermutedMeans("t", judge, "P@10", SYSTEMS, direction, 5, values, np.full(10, 0.1))


def outside(units: dict[tuple[str, str], float], family: str) -> list[float]:
    """Return the means of the teams outside a family: each team once, whatever its families."""
    by_team: dict[str, list[float]] = {}
    for (of_unit, team), value in units.items():
        if of_unit != family:
            by_team.setdefault(team, []).append(value)
    return [twin.mean(values) for values in by_team.values()]


def test_family_bias__equals_the_twin_with_teams_as_units():
    judges = [permuted(0, "x"), permuted(1, "y")]
    rows = family_bias(judges, Families.of(SYSTEMS, FAMILY, TEAM))
    assert rows.select("family", "teams", "systems").rows() == [
        *[("a", 4, 5), ("b", 3, 3), ("c", 2, 2)] * 2
    ]
    pairs = sorted({(FAMILY[s], TEAM[s]) for s in SYSTEMS})
    tables = []
    for means in judges:
        drawn = means.values.tolist()
        expected = [twin.mean(list(column)) for column in zip(*drawn, strict=True)]
        table = []
        for values in drawn:
            moved = [v - e for v, e in zip(values, expected, strict=True)]
            units = {
                pair: twin.mean(
                    [moved[i] for i, s in enumerate(SYSTEMS) if (FAMILY[s], TEAM[s]) == pair]
                )
                for pair in pairs
            }
            table.append(
                [
                    twin.mean([units[pair] for pair in pairs if pair[0] == family])
                    - twin.mean(outside(units, family))
                    for family in "abc"
                ]
            )
        tables.append(table)
    sds = [[twin.variance(list(c)) ** 0.5 for c in zip(*table, strict=True)] for table in tables]
    greatest = [
        max(abs(tables[j][d][f] / sds[j][f]) for j in (0, 1) for f in (0, 1)) for d in range(40)
    ]
    for j, judge in enumerate("xy"):
        for f, family in enumerate("abc"):
            (row,) = rows.filter(judge=judge, family=family).to_dicts()
            z = tables[j][0][f] / sds[j][f]
            assert (row["contrast"], row["z"]) == pytest.approx((tables[j][0][f], z))
            above = sum(value >= abs(z) - 1e-9 for value in greatest) / 40
            assert row["p"] == pytest.approx(above if family != "c" else np.nan, nan_ok=True)
            assert np.isnan(row["contrast_low"]) == (family == "c")
    displaced = judges[0].values[0] - judges[0].values.mean(axis=0)
    units = {
        pair: displaced[[(FAMILY[s], TEAM[s]) == pair for s in SYSTEMS]].mean() for pair in pairs
    }
    inside = [value for (family, _), value in units.items() if family == "a"]
    low, high = ttest_ind(inside, outside(units, "a"), equal_var=False).confidence_interval()
    assert rows.row(0, named=True)["contrast_low"] == pytest.approx(low)
    assert rows.row(0, named=True)["contrast_high"] == pytest.approx(high)


def test_family_bias__of_a_favoured_family_is_positive_in_values_and_places():
    values = np.tile(np.linspace(0.5, 0.6, 10), (40, 1))
    values += np.random.default_rng(3).normal(0, 0.001, values.shape)
    values[0, :5] += 0.2
    means = PermutedMeans("t", "x", "P@10", SYSTEMS, 1, 5, values, np.zeros(10))
    rows = family_bias([means], Families.of(SYSTEMS, FAMILY, TEAM))
    favoured = rows.row(0, named=True)
    assert favoured["p"] == pytest.approx(1 / 40)
    assert favoured["contrast_low"] > 0
    assert favoured["rank_displacement"] > 4
    reverse = PermutedMeans("t", "x", "ASL", SYSTEMS, -1, 5, values, np.zeros(10))
    assert family_bias([reverse], Families.of(SYSTEMS, FAMILY, TEAM))["contrast"][0] < 0


def study(out: Path, text: str, **choices: Any) -> Any:
    rng = np.random.default_rng(0)
    queries, docs = [f"q{q}" for q in range(6)], [f"d{d:02}" for d in range(30)]
    human = {q: {d: int(rng.integers(0, 4)) for d in docs} for q in queries}
    half = {q: {d: g for d, g in of.items() if int(d[1:]) < 15} for q, of in human.items()}
    runs = {s: {q: {d: rng.random() for d in docs} for q in queries} for s in SYSTEMS}
    file = out / "families.csv"
    file.write_text(text, encoding="utf-8")
    store = irmeta.from_data({"human": human, "same": human, "half": half}, runs)
    return irmeta.studies.judges(
        store, out / "study", families=str(file), measures="nDCG@10", **FEW | choices
    )


ROWS = "".join(f"{s},{FAMILY[s]},team{TEAM[s]}\n" for s in SYSTEMS)


def test_families__are_compared_on_the_pairs_of_all_judges(tmp_path: Path):
    tables = study(tmp_path, f"system,family,team\n{ROWS[:-12]}other,a,team1\n").tables
    rows = tables["families"]
    notes = tables["studied_tracks"]["notes"][0]
    assert notes.count("left out of families: s09") == 1
    assert "names systems that the track lacks: other in line 11" in notes
    assert rows["pairs"].to_list() == [0.5] * 6
    assert rows["contrast"].to_list() == pytest.approx([0.0] * 6)  # both label as the reference
    assert rows["verdict"].null_count() == 6
    holes = dict(rows.filter(family="a").select("judge", "unjudged").rows())
    assert (holes["same"], holes["half"]) == (0, pytest.approx(0.5, abs=0.1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system,family\ns00,a\n", "no team of this system"),
        ("system,famly,team\ns00,a,1\n", "Did you mean 'famly'"),
        ("system,family,team\ns00,a,1\ns00,b,1\n", "system named twice"),
        ("system,family,team\nz,a,1\n", "has no system of this track"),
    ],
)
def test_families__of_wrong_files_are_errors(tmp_path: Path, text: str, message: str):
    with pytest.raises(IrmetaError, match=message):
        study(tmp_path, text)
