"""Naive implementations for orderings: scipy, reference outputs and worked examples."""

from __future__ import annotations

import csv
import gzip
import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.stats

from twins import orders

NAN = math.nan


def close(x, tolerance=1e-12):
    return pytest.approx(x, rel=tolerance, abs=tolerance, nan_ok=True)


def draw(seed: int, queries: int, systems: int, decimals: int | None = None) -> list[list[float]]:
    """Return random values; few decimals make ties."""
    values = np.random.default_rng(seed).beta(2, 4, (queries, systems))
    return (values if decimals is None else values.round(decimals)).tolist()


@pytest.fixture(scope="module")
def oracle(shared):
    return json.loads((shared / "oracles/case3_innov/out.stats_scipy.json").read_text())


@pytest.fixture(scope="module")
def ecir(shared):
    return json.loads((shared / "oracles/case3_innov/out.ecir2023.json").read_text())


def test_naive_kendall_tau_b__equals_ecir2023_reference_output(ecir):
    for alpha in ("0.5", "1.0"):
        x, y = ([values["all"] for values in ecir[f"P_rareness@10,alpha={a}"].values()]
                for a in ("0", alpha))  # fmt: skip
        assert orders.kendall_tau_b(x, y) == close(
            ecir[f"kendalltau P@10 vs P_rareness alpha={alpha}"]
        )


def test_naive_correlations__equal_reference_output(oracle):
    x, y = oracle["x=P@10"], oracle["y=AP_rareness@10 alpha=1"]
    assert orders.kendall_tau_b(x, y) == close(oracle["scipy kendall tau-b (p)"][0])
    assert orders.pearson(x, y) == close(oracle["pearson"][0])
    assert orders.spearman(x, y) == close(oracle["spearman"][0])
    assert orders.tau_ap(x, y) == close(oracle["trectools tau_ap(estimated=y,truth=x)"])
    assert orders.tau_ap(y, x) == close(oracle["trectools tau_ap(estimated=x,truth=y)"])
    first, second = (
        orders.ranking_of(dict(zip("abcdef", values, strict=True))) for values in (x, y)
    )
    for p in (0.8, 0.9):
        assert orders.rbo(first, second, p, "w")["ext"] == close(oracle[f"rbo pkg rbo_ext(p={p})"])
        at = [orders.agreement_at(first, second, d, "w", "min") for d in range(1, 7)]
        cut = (1 - p) * sum(p**d * a for d, a in enumerate(at))  # no extrapolation
        assert cut == close(oracle[f"rbo pkg rbo(p={p})"])


def test_naive_correlations__equal_scipy():
    for seed, decimals in product(range(10), (None, 1)):
        x, y = draw(seed, 2, 9, decimals)
        assert orders.kendall_tau_b(x, y) == close(scipy.stats.kendalltau(x, y).statistic)
        assert orders.spearman(x, y) == close(scipy.stats.spearmanr(x, y).statistic)
        assert orders.pearson(x, y) == close(scipy.stats.pearsonr(x, y).statistic)
        root = float(np.sqrt(np.mean((np.array(x) - np.array(y)) ** 2)))
        assert orders.rmse(x, y) == close(root)
        if decimals is None:
            assert orders.kendall_tau_a(x, y) == close(orders.kendall_tau_b(x, y))
    assert orders.kendall_tau_a([1, 1, 2], [1, 2, 3]) == close(2 / 3)
    assert orders.kendall_tau_b([1, 1, 2], [1, 2, 3]) == close(2 / math.sqrt(6))


def test_naive_tau_ap__worked_examples():
    assert orders.tau_ap([3, 2, 1], [30, 20, 10]) == close(1)
    assert orders.tau_ap([3, 2, 1], [10, 20, 30]) == close(-1)
    # The estimate is b a c: C(2) = 0 of 1, C(3) = 2 of 2. A swap lower down costs less.
    assert orders.tau_ap([3, 2, 1], [20, 30, 10]) == close(0)
    assert orders.tau_ap([3, 2, 1], [30, 10, 20]) == close(2 * (1 + 1 / 2) / 2 - 1)


def test_naive_tau_ap__ties_as_in_the_ircor_manual():
    """https://rdrr.io/cran/ircor/man/tauAP.html; R rounds .45 to .4."""
    x = [0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54]
    y = [0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84]
    assert orders.tau_ap(x, y) == close(0.3928571, 1e-7)
    assert orders.tau_ap_a(x, y) == close(orders.tau_ap(x, y))
    y = [round(v, 1) for v in y]
    assert orders.tau_ap_a(x, y) == close(0.39903, 1e-6)
    assert orders.tau_ap_b(x, y) == close(0.3317019, 1e-7)
    x = [0.7, 0.4, 0.3, 0.1, 0.6, 0.2, 0.9, 0.8, 0.1, 0.5]
    assert orders.tau_ap_b(x, y) == close(0.339418, 1e-6)
    assert orders.tau_ap_b(y, x) == orders.tau_ap_b(x, y)


def test_naive_tau_ap_a__tied_reference_is_mean_over_tie_breaks():
    truth, estimate = [3.0, 2.0, 2.0, 1.0, 1.0], [5.0, 5.0, 4.0, 1.0, 2.0]
    ways = [
        orders.tau_ap_a([-float(order.index(i)) for i in range(5)], estimate)
        for order in orders.orders(truth)
    ]
    assert len(ways) == 4
    assert orders.tau_ap_a(truth, estimate) == close(sum(ways) / 4)
    assert orders.tau_ap_a(truth, estimate, tied=0) < orders.tau_ap_a(truth, estimate)
    assert math.isnan(orders.tau_ap_b([1, 1, 1], [1, 2, 3]))


@pytest.mark.exhaustive
def test_naive_rbo__equals_every_tenth_published_vector(shared):
    with gzip.open(shared / "oracles/rbo/rbo_vectors.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10_000
    for row in rows[::10]:
        x, y = orders.parse_ranking(row["x"]), orders.parse_ranking(row["y"])
        for ties in "wab":
            found = orders.rbo(x, y, float(row["p"]), ties)
            expected = {name: float(row[f"{ties}.{name}"]) for name in found}
            assert found == close(expected)


def test_naive_rbo__bounds_equal_the_infinite_sum():
    """Unseen items are all distinct (min) or shared as far as possible (max)."""
    x, y = orders.parse_ranking("a (b c) d"), orders.parse_ranking("(b e) a f g")
    found = orders.rbo(x, y, 0.7, "a")
    ends = [0.7**d * 2 / d for d in range(6, 200)]  # both rankings have a and b
    seen = [0.7**d * orders.agreement_at(x, y, d, "a", "min") for d in range(1, 6)]
    assert found["min"] == close((sum(seen) + sum(ends)) * 0.3 / 0.7)
    # At depth 7 both rankings can hold all of a to g.
    best = [0.7**d * orders.agreement_at(x, y, d, "a", "max") for d in range(1, 6)]
    ends = [0.7**d * min(d, 2 + 2 * d - 9) / d for d in range(6, 200)]
    assert found["max"] == close((sum(best) + sum(ends)) * 0.3 / 0.7)


# Rank aggregation


def signs_of_ranking(ranking: list[str], systems: list[str]) -> orders.Signs:
    return orders.signs_of([-float(ranking.index(system)) for system in systems])


def best_first(scores: list[float], systems: list[str]) -> list[str]:
    """Sort systems by score and break ties as the code of paper 4: by name, descending."""
    return [name for _, name in sorted(zip(scores, systems, strict=True), reverse=True)]


def test_naive_aggregation__equals_code_of_paper_4(shared):
    folder = shared / "oracles/case3_innov"
    *queries, every = map(
        json.loads, (folder / "out.pref_aggregate.jsonl").read_text().splitlines()
    )
    systems = sorted(queries[0]["rpp"])
    merged = [name for name, found in every.items() if isinstance(found, dict) and "mc4" in found]
    assert len(merged) == 6
    for name in merged:
        verdicts = [signs_of_ranking(query[name], systems) for query in queries]
        assert best_first(orders.borda(verdicts), systems) == every[name]["borda"]
        for majority in ("half", "more"):
            steps = orders.mc4_steps(verdicts, 10, majority)
            # The code adds floats, so equal systems may differ in the last bit.
            assert best_first([round(s, 12) for s in steps], systems) == every[name]["mc4"]


def test_reference_output__queries_ranked_by_sum_of_preferences(shared):
    folder = shared / "oracles/case3_innov"
    sums: dict[str, dict[str, float]] = {}
    for line in (folder / "out.pref_eval.all.q.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row.get("type") == "preference":
            query = sums.setdefault(row["qid"], {})
            query[row["runi"]] = query.get(row["runi"], 0) + row["rpp"]
            query[row["runj"]] = query.get(row["runj"], 0) - row["rpp"]
    for line in (folder / "out.pref_aggregate.jsonl").read_text().splitlines()[:-1]:
        row = json.loads(line)
        found = sums[row["qid"]]
        assert best_first(list(found.values()), list(found)) == row["rpp"]


def test_naive_mc4__worked_examples():
    """A cycle has equal probabilities; a Condorcet winner has probability 1."""
    cycle = [signs_of_ranking(list(order), list("abc")) for order in ("bac", "cba", "acb")]
    assert orders.mc4(cycle) == close([1 / 3] * 3)
    queries = [signs_of_ranking(list(order), list("abc")) for order in ("abc", "acb", "bac")]
    assert orders.mc4(queries) == [1.0, 0.0, 0.0]
    after = orders.mc4_steps(queries, 1)
    assert after == close([1 / 3 + 2 / 9, 1 / 3, 1 / 9])
    assert orders.win_rate(queries) == close([5 / 6, 3 / 6, 1 / 6])
    assert orders.borda(queries) == close([5, 3, 1])


def test_naive_mc4__ties_and_undefined_verdicts():
    """b wins one query of three and ties two: a majority of decided queries, not of all."""
    verdicts = [orders.signs_of(values) for values in ([0.0, 1.0], [1.0, 1.0], [NAN, 1.0])]
    assert orders.mc4(verdicts) == [0.5, 0.5]
    assert orders.mc4(verdicts, "more") == [0.0, 1.0]
    halves = [orders.signs_of(values) for values in ([0.0, 1.0], [1.0, 0.0])]
    for majority in ("half", "more"):  # half of the queries is not a strict majority
        assert orders.mc4_moves(halves, majority) == [[1, 0], [0, 1]]
    assert orders.win_rate(verdicts) == close([1 / 3, 2 / 3])
    assert orders.borda(verdicts) == [1.0, 2.0]


def test_naive_mc4__limit_of_many_steps():
    for seed in range(20):
        values = draw(seed, 5, 6, 1)
        verdicts = [orders.signs_of(row) for row in values]
        moves = np.array([[float(v) for v in row] for row in orders.mc4_moves(verdicts)])
        far = np.full(6, 1 / 6) @ np.linalg.matrix_power(moves, 4000)
        assert orders.mc4(verdicts) == close(far.tolist(), 1e-9)
        near = np.full(6, 1 / 6) @ np.linalg.matrix_power(moves, 10)
        assert orders.mc4_steps(verdicts) == close(near.tolist())


def test_naive_solve__two_linear_equations():
    assert orders.solve([[Fraction(0), Fraction(2)], [Fraction(1), Fraction(1)]],
                        [Fraction(4), Fraction(5)]) == [3, 2]  # fmt: skip
