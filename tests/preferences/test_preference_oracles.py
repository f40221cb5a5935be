"""Reference values: independent plain Python, and pref_eval on binary judgments."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.preferences.evaluate import evaluate_preferences
from irmeta.preferences.registry import parse_preference, parse_preferences
from irmeta.results.verdicts import TrackPreferences

WITHIN = 1e-9
PREF_EVAL = {
    "rpp": "RPP(grades=binary)",
    "dcgrpp": "RPP(p=dcg,grades=binary)",
    "invrpp": "RPP(p=inverse,grades=binary)",
    "lexirecall": "LexiRecall",
    "lexiprecision": "LexiPrecision",
    "rrlexiprecision": "RRLexiPrecision",
}


def compared(store: irmeta.Store, names: list[str], track: str = "") -> list[TrackPreferences]:
    specs = parse_preferences(names)
    return evaluate_preferences(store.track(track or store.tracks[0]), specs)


def by_pair(found: TrackPreferences) -> dict[tuple[str, str, str], float]:
    """Return the preferences by query, system and other system."""
    return {
        (query, a, b): values[i, j]
        for query, values in found.differences()
        for i, a in enumerate(found.systems)
        for j, b in enumerate(found.systems)
    }


def store_of(shared: Path, worked_examples: Path, case: str, folder: Path) -> irmeta.Store:
    """Read one case of preference_small.csv; its systems are named by file."""
    oracles = shared / "oracles"
    if case == "case3_innov":
        runs = sorted((oracles / case / "inputs").glob("sys*"))
        return irmeta.read_files(oracles / case / "qrels.txt", runs, names="file")
    if case.startswith("case1"):
        name = "qrels_neg.txt" if case == "case1_neg" else "qrels.txt"
        runs = sorted((oracles / "case1_adhoc").glob("run_*.txt"))
        return irmeta.read_files(oracles / "case1_adhoc" / name, runs, names="file")
    if case == "case2_subtopics":
        (folder / "t" / "runs").mkdir(parents=True)
        for file in (oracles / case).glob("*.txt"):
            to = folder / "t" if file.name == "qrels.txt" else folder / "t" / "runs"
            (to / file.name).write_bytes(file.read_bytes())
        (folder / "collection.toml").write_text(
            '[tracks.t]\nruns = ["t/runs/*"]\n[[tracks.t.qrels]]\nname = "diversity"\n'
            'file = "t/qrels.txt"\nsubtopics = true\n'
        )
        return irmeta.read(folder, names="file")
    return irmeta.read(worked_examples, track=case)


@pytest.fixture(scope="module")
def small(shared: Path) -> dict[str, list[dict[str, str]]]:
    rows = defaultdict(list)
    with (shared / "oracles" / "preference" / "preference_small.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            rows[row["case"]].append(row)
    return rows


CASES = ("case1_adhoc", "case1_neg", "case2_subtopics", "case3_innov", "negative-grades")
EXAMPLES = ("paper4-same-first", "paper4-x-y", "ties", "unretrieved")


@pytest.mark.one_in(3)
@pytest.mark.filterwarnings("ignore::irmeta.QrelsWarning")
@pytest.mark.parametrize("case", [*CASES, *EXAMPLES])
def test_preferences__equal_independent_values(shared, worked_examples, small, case, tmp_path):
    rows = small[case]
    assert rows
    store = store_of(shared, worked_examples, case, tmp_path)
    names = list({row["preference"] for row in rows})
    values = {}
    for name in names:
        values[name] = by_pair(compared(store, [name])[0])
    for row in rows:
        expected = float(row["value_of_a_over_b"])
        found = values[row["preference"]][row["query"], row["a"], row["b"]]
        assert found == pytest.approx(expected, abs=WITHIN), row


def pref_eval(file: Path) -> list[dict[str, Any]]:
    """Return the preferences in pref_eval's output, without its values of single runs."""
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [row for row in rows if row.get("type") == "preference"]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", PREF_EVAL)
@pytest.mark.parametrize("case", ["case1_adhoc", "case3_innov"])
def test_preferences__binary_values_equal_pref_eval(shared, worked_examples, tmp_path, case, name):
    file = shared / "oracles" / case / "out.pref_eval.all.q.jsonl"
    store = store_of(shared, worked_examples, case, tmp_path)
    (found,) = compared(store, [PREF_EVAL[name]])
    values, number = by_pair(found), 0
    for row in pref_eval(file):
        pair = [str(row[key]).removesuffix(".txt") for key in ("qid", "runi", "runj")]
        expected = row[name]
        if tuple(pair) not in values:
            assert expected in (0, None), row  # pref_eval has 0 without a relevant doc
            continue
        assert values[tuple(pair)] == pytest.approx(expected, abs=WITHIN), row
        number += 1
    assert number >= 2


@pytest.fixture(scope="module")
def robust(shared: Path) -> dict:
    file = shared / "oracles" / "preference" / "preference_robust2003.json"
    return json.loads(file.read_text())


VARIANTS = {
    f"{grades} {p}": f"RPP(p={p},grades={grades})"
    for grades in ("graded", "binary")
    for p in ("uniform", "dcg", "inverse")
}


@pytest.mark.real
@pytest.mark.parametrize("variant", VARIANTS)
def test_means_and_win_rates__equal_independent_values_on_robust_2003(real_store, robust, variant):
    (found,) = compared(real_store, [VARIANTS[variant]], "robust-2003")
    assert list(found.systems) == robust["systems"]
    expected = robust[variant]
    np.testing.assert_allclose(found.means(), expected["mean_rpp"], rtol=0, atol=WITHIN)
    rates = found.win_rates().means * (len(found.systems) - 1)
    values = dict(zip(found.systems, rates, strict=True))
    assert values == pytest.approx(expected["mean_win_rate_eq7"], abs=WITHIN)


@pytest.mark.real
@pytest.mark.parametrize("variant", VARIANTS)
def test_orders__equal_independent_values_on_robust_2003(real_store, robust, variant):
    (found,) = compared(real_store, [VARIANTS[variant]], "robust-2003")
    verdicts = irmeta.stats.Verdicts.of(found.win_rates())
    orders = {
        "borda_of_win_rates": irmeta.stats.borda(verdicts),
        "mc4_10_steps": irmeta.stats.mc4(verdicts, steps=10),
        "mc4_limit": irmeta.stats.mc4(verdicts),
        "mc4_rounds": irmeta.stats.mc4(verdicts, rounds=True),
    }
    for name, order in orders.items():
        expected = robust[variant][name]
        columns = ["round", "score"] if name == "mc4_rounds" else ["score"]
        assert order.height == len(expected) == 17
        for row in order.iter_rows(named=True):
            values = np.atleast_1d(expected[row["system"]])
            assert [row[c] for c in columns] == pytest.approx(values.tolist(), abs=WITHIN), name


@pytest.mark.real
def test_preferences__equal_independent_values_by_query_on_robust_2003(shared, real_store):
    file = shared / "oracles" / "preference" / "preference_robust2003_per_query.csv"
    rows = pl.read_csv(file, schema_overrides={"query": pl.String})
    columns = {
        "RPP_graded": "RPP",
        "RPP_binary": "RPP(grades=binary)",
        "dcgRPP_graded": "RPP(p=dcg)",
        "invRPP_graded": "RPP(p=inverse)",
        "lexirecall": "LexiRecall",
        "lexiprecision": "LexiPrecision",
    }
    found = compared(real_store, list(columns.values()), "robust-2003")
    for column, one in zip(columns, found, strict=True):
        values = by_pair(one)
        keys = rows.select("query", "a", "b").iter_rows()
        assert [values[key] for key in keys] == pytest.approx(rows[column].to_list(), abs=WITHIN)


@pytest.mark.real
def test_subtopic_preferences__equal_independent_means_on_web_2012(shared, real_store):
    file = shared / "oracles" / "preference" / "preference_web2012_strpp_means.csv"
    rows = pl.read_csv(file, infer_schema=False).to_dicts()
    for name in {row["preference"] for row in rows}:
        (found,) = compared(real_store, [name], "web-2012")
        means, systems = found.means(), list(found.systems)
        for row in (row for row in rows if row["preference"] == name):
            value = means[systems.index(row["a"]), systems.index(row["b"])]
            assert value == pytest.approx(float(row["mean_of_a_over_b"]), abs=WITHIN), row
            assert int(found.defined.sum()) == int(row["queries"])
        assert parse_preference(name).rule.name == "STRPP"


AGAINST = {
    "RPPbin": "RPP(grades=binary)",
    "dcgRPP": "RPP(p=dcg)",
    "invRPP": "RPP(p=inverse)",
    "AP": "AP",
    "nDCG": "nDCG",
    "RR": "RR",
    "-AvgSL": "AvgSL(corpus=relevant)",
    "OI": "OI",
    "OI(p=dcg)": "OI(p=dcg)",
}
READINGS = {
    "OI": "uniform p over recall levels i of m, 0 where unreached (CHOSEN; paper .98)",
    "OI(p=dcg)": "DCG p over recall levels (CHOSEN; paper .94)",
}


@pytest.mark.real
@pytest.mark.parametrize("name", AGAINST)
def test_agreement__equals_independent_values_on_robust_2003(shared, real_store, name):
    file = shared / "oracles" / "preference" / "preference_robust2003_agreement.json"
    expected = json.loads(file.read_text())
    (rpp,) = compared(real_store, ["RPP"], "robust-2003")
    if name in ("AP", "nDCG", "RR", "-AvgSL"):
        other = real_store.scores(AGAINST[name], track="robust-2003").matrix(AGAINST[name])
    else:
        other = compared(real_store, [AGAINST[name]], "robust-2003")[0].preference()
    found = irmeta.stats.agreement(rpp.preference(), other)
    numbers = found.pearson, found.sign_agreement
    if name in READINGS:
        readings = "offline interleaving, readings tried (r with RPP, sign agreement)"
        assert numbers == pytest.approx(expected[readings][READINGS[name]], abs=6e-4)
    else:
        assert numbers == pytest.approx(
            tuple(expected["RPP(graded) against"][name].values()), abs=WITHIN
        )
    assert found.points == expected["points"]


@pytest.mark.real
def test_ties__equal_independent_shares_on_robust_2003(shared, real_store):
    folder = shared / "oracles" / "preference"
    expected = json.loads((folder / "preference_robust2003_agreement.json").read_text())
    names = {name: AGAINST[name] for name in ("RPPbin", "dcgRPP", "invRPP", "AP", "nDCG", "RR")}
    names |= {"RPP": "RPP", "-AvgSL": "AvgSL(corpus=relevant)"}
    ties = real_store.pairs.ties(list(names.values()), track="robust-2003")
    shares = dict(ties.select("measure", "tied").iter_rows())
    for name, share in expected["share tied"].items():
        assert shares[names[name]] == pytest.approx(share, abs=WITHIN), name
    assert ties["points"].unique().to_list() == [expected["points"]]
    levels = json.loads((folder / "preference_robust2003_unequal_levels.json").read_text())
    row = ties.filter(measure="RPP(grades=binary)").row(0, named=True)
    assert row["levels"] == levels["levels"]
    assert row["decided"] == pytest.approx(levels["share f_i != f_i'"], abs=WITHIN)
    absent = levels["share both unretrieved"]
    assert row["retrieved"] == pytest.approx(1 - absent, abs=WITHIN)
    of_retrieved = levels["share unequal where either is retrieved"]
    assert row["decided"] / row["retrieved"] == pytest.approx(of_retrieved, abs=WITHIN)
