"""Simulated orders of judging: budgets, goals, teams, samples, rules that end judging."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.api.arguments import BudgetOptions
from irmeta.api.budgets import simulation_of
from irmeta.api.judging_simulation import (
    Outcome,
    Simulation,
    estimator,
    least_budget,
    mean_interval,
    reached_by,
)
from irmeta.api.stop_rules import (
    Stop,
    after_nonrelevant,
    at_knee,
    at_target,
    chosen_rule,
    run_name,
    stop_rows,
)
from irmeta.errors import MeasureError, SkippedRunWarning, UsageError
from irmeta.measures.names import parse_measure
from support.examples import scaled
from support.making import Track, tracks


def simulated(store: irmeta.Store, measure: str = "AP", **options: Any) -> Simulation:
    (track,) = store.each(None, store.policy_with({}))
    return simulation_of(track, measure, BudgetOptions(**options))


@pytest.mark.exhaustive
@settings(max_examples=scaled(15))
@given(tracks(), st.sampled_from(["AP", "P@3", "nDCG", "Bpref"]), st.data())
def test_outcome__equals_an_evaluation_by_the_judged_docs(
    track: Track, measure: str, data: st.DataObject
):
    store = track.read()
    simulation = simulated(store, measure)
    number = len(simulation.pooled[1])
    assume(number > 0)
    budget = data.draw(st.integers(1, number))
    order = data.draw(st.sampled_from(["depth", "movetofront", "hedge", "thompson", "random"]))
    ((judged, probability),) = simulation.selections(order, 3, [budget])
    assert probability is None
    outcome = simulation.outcome(judged)
    assert outcome.judged == budget
    docs = {(view.queries[view.query_of(np.array([row]))[0]], view.docs[row])
            for view, start in zip(simulation.views, simulation.offsets, strict=False)
            for row in range(len(view.grades)) if judged[start + row]}  # fmt: skip
    qrels = {
        query: {doc: grade for doc, grade in of.items() if (query, doc) in docs}
        for query, of in track.qrels.items()
    }
    relevant = [(q, d) for q, of in track.qrels.items() for d, grade in of.items() if grade >= 1]
    share = len(docs.intersection(relevant)) / max(len(relevant), 1)
    assert outcome.relevant == pytest.approx(share)
    fewer = {query: of for query, of in qrels.items() if of}
    with warnings.catch_warnings():  # a run none of whose queries is judged any more has no values
        warnings.simplefilter("ignore", SkippedRunWarning)
        values = Track(track.runs, fewer).read().evaluate(measure, per_query=True)
    by_query = {(s, q): value for s, q, value in values.select("system", "query", "value").rows()}
    systems, means = simulation.views[0].systems, simulation.means(simulation.values(judged))
    counted = ~np.isnan(simulation.full)
    queries = [query for view in simulation.views for query in view.queries]
    for s, system in enumerate(systems):
        expected = [
            by_query.get((system, query), 0.0) for q, query in enumerate(queries) if counted[q, s]
        ]
        total = sum(0.0 if math.isnan(value) else value for value in expected)
        if expected:
            assert means[s] == pytest.approx(total / len(expected))


def test_outcome__of_all_docs_is_perfect(made_store: irmeta.Store):
    budgets = made_store.pools.budget("AP", track="news", order=["depth", "sample"], draws=2)
    for row in budgets.budgets.filter(budget=budgets.goals["pool"][0]).iter_rows(named=True):
        assert (row["relevant"], row["tau"], row["kept"], row["false"]) == (1, 1, 1, 0)
    assert budgets.budgets["tau_low"].is_between(-1, 1).all()


def test_budget__records_the_orders_that_it_simulated(made_store: irmeta.Store):
    budgets = made_store.pools.budget("RR", track="passage", budget=10, draws=1)
    orders = ["depth", "movetofront", "hedge", "rbp", "maxmean", "thompson", "random"]
    assert budgets.settings["order"] == budgets.goals["order"].to_list() == orders


def test_significant_pairs__kept_and_false_by_hand(made_store: irmeta.Store):
    (track,) = made_store.each("news", made_store.policy_with({}))
    simulation = simulation_of(track, "AP", BudgetOptions())
    ((judged, _),) = simulation.selections("depth", 1, [365])
    few = np.nan_to_num(simulation.values(judged))
    before, after = _signs(simulation.full), _signs(few)
    outcome = simulation.outcome(judged)
    alike = sum(a == b != 0 for a, b in zip(before, after, strict=True))
    assert outcome.kept == pytest.approx(alike / sum(a != 0 for a in before))
    assert outcome.false == pytest.approx(1 - alike / sum(b != 0 for b in after))


def _signs(values: np.ndarray) -> list[int]:
    """Significant directions of all pairs by scipy's paired t-test and Holm's correction."""
    from scipy.stats import ttest_rel

    pairs = [(i, j) for i in range(values.shape[1]) for j in range(i + 1, values.shape[1])]
    p = [float(ttest_rel(values[:, i], values[:, j]).pvalue) for i, j in pairs]
    is_significant, order = [False] * len(p), np.argsort(p)
    for place, pair in enumerate(order):
        if not p[pair] <= 0.05 / (len(p) - place):
            break
        is_significant[pair] = True
    signs = [int(np.sign(values[:, i].mean() - values[:, j].mean())) for i, j in pairs]
    return [sign * known for sign, known in zip(signs, is_significant, strict=True)]


def test_sample__sums_of_precisions_are_unbiased():
    runs = {s: {"1": [(d, -r) for r, d in enumerate(docs)]}
            for s, docs in {"a": "uvwxyz", "b": "zwvq"}.items()}  # fmt: skip
    track = Track(runs, {"1": {"u": 1, "v": 0, "w": 1, "x": 0, "y": 0, "z": 1, "q": 1}})
    simulation = simulated(track.read())
    rows = simulation.pooled[1]
    sums = []
    for seed in range(800):
        ((judged, probability),) = simulation.selections("sample", seed, [3])
        assert probability is not None
        values = simulation.values(judged, probability)[0]
        relevant = (judged & simulation.relevant)[rows] / probability[rows]
        sums.append(np.nan_to_num(values) * relevant.sum())  # AP times the estimated R
    sums = np.array(sums)
    error = sums.std(axis=0) / len(sums) ** 0.5
    assert (np.abs(sums.mean(axis=0) - 4 * simulation.full[0]) < 4 * error).all()


def test_estimator__only_of_measures_that_a_sample_estimates():
    names = ["AP", "AP@10", "AP(rel=2)", "P@10", "Rprec", "nDCG", "AP(norm=min)@10", "R@10"]
    estimators = [estimator(parse_measure(name)) for name in names]
    known = [None if spec is None else spec.name for spec in estimators]
    assert known[:5] == ["statAP", "statAP@10", "statAP(rel=2)", "statP@10", "statRprec"]
    assert known[5:] == [None, None, None]


def test_reached_by__is_the_value_that_so_many_draws_reach():
    assert reached_by([0.1, 0.4, 0.3, 0.2], 0.75) == 0.2
    assert reached_by([*range(30)], 0.95) == 1  # 29 of 30
    assert math.isnan(reached_by([math.nan, 0.5], 0.9))
    assert reached_by([math.nan, 0.5], 0.5) == 0.5


def test_least_budget__holds_for_all_greater_budgets():
    def draws(*taus: float) -> list[Outcome]:
        return [Outcome(1, 0.5, tau, math.nan, 0.0) for tau in taus]

    outcomes = {10: draws(1, 1), 20: draws(0.5, 1), 30: draws(0.9, 1), 40: draws(0.9, 0.95)}
    assert least_budget(outcomes, "tau", 0.9, 0.95) == (30, 2)
    assert least_budget(outcomes, "tau", 0.9, 0.5) == (10, 2)
    assert least_budget(outcomes, "tau", 0.96, 0.95) == (None, 0)
    assert least_budget(outcomes, "kept", 0.1, 0.5) == (None, 0)  # undefined


def test_mean_interval__needs_five_teams():
    mean, low, high = mean_interval(np.array([1.0, 2, 3, 4, 5]), 0.95)
    assert (mean, low, high) == pytest.approx((3, 3 - 1.96324, 3 + 1.96324), abs=1e-4)
    assert np.isnan(mean_interval(np.ones(4), 0.95)[1:]).all()


def test_displacements__of_a_team_with_unique_docs():
    runs = {
        "a1": {"1": [("u", 3), ("v", 2)]},  # alone holds the relevant docs u and v
        "b1": {"1": [("x", 3), ("y", 2)]},
        "c1": {"1": [("y", 3), ("z", 2)]},
    }
    track = Track(runs, {"1": {"u": 1, "v": 1, "x": 0, "y": 1, "z": 0}})
    simulation = simulated(track.read())
    assert simulation.teams() == [[0], [1], [2]]
    lost = simulation.displacements("depth", [5], 1, 0)[0]
    # By all judgments a1 (AP 2/3) is before c1 (1/3) and b1 (1/6); without its docs it is last.
    assert lost[0].tolist() == [0, 2, 2]
    assert lost[:, 0].tolist() == [0, 0, 0]


def test_budget__of_one_system_and_of_a_pool_without_judged_docs():
    alone = Track({"a": {"1": [("u", 2), ("v", 1)]}}, {"1": {"u": 0, "v": 1}})
    budgets = alone.read().pools.budget(order=["depth", "hedge", "sample"], draws=2, teams=False)
    assert budgets.budgets.filter(budget=2)["relevant"].to_list() == [1, 1, 1]
    assert budgets.budgets.select("tau", "kept", "false").to_numpy().size
    assert budgets.goals["budget"].null_count() == 3  # a single system has no order
    none = Track({"a": {"1": [("u", 2)]}}, {"1": {"w": 1}})
    with pytest.raises(UsageError, match="no list that made the pool holds a judged doc"):
        none.read().pools.budget()


def test_refusals__say_what_is_lacking(made_store: irmeta.Store):
    pools = made_store.pools
    for wrong, message in (
        ({"order": "depht"}, "depth"),
        ({"order": ["bandit", "maxmean"]}, "twice"),
        ({"order": "judge"}, "name it by `judge`"),
        ({"judge": "adhoc"}, "full judgments themselves"),
        ({"judge": "diversity", "order": "depth"}, "not among the orders"),
        ({"budget": 10**6}, r"has 1,\d\d\d judged docs"),
        ({"goal": "tau"}, "no level"),
        ({"goal": "taus=.9"}, "tau"),
        ({"measure": "nDCG", "order": "sample"}, "AP, P@k and Rprec can"),
        ({"measure": "AP,P@10"}, "name one"),
        ({"system": "ibisBase"}, "all systems"),
    ):
        with pytest.raises(UsageError, match=message):
            pools.budget(track="web", draws=1, **wrong)
    with pytest.raises(MeasureError, match="ranks and grades alone"):
        pools.budget("AP(norm=pool)@10", track="web", draws=1)


def test_command__prints_writes_and_draws(made_store: irmeta.Store, tmp_path: Path, run):
    orders = ["--order", "bandit", "--order", "rbp", "--budget", "50", "--budget", "500"]
    asked = ["pool", made_store.path, "--track", "web", "--simulate", "--draws", "2", *orders]
    ran = run(*asked, "--teams", "--seed", "4")
    assert "Least budget for tau of 0.9 or more in 95 % of the draws" in ran.out
    assert "bias: lost more" in ran.out
    run(*asked, "--goal", "kept=.5", "--out", tmp_path / "b.csv")
    lines = (tmp_path / "b.csv").read_text().splitlines()
    assert [line.split(",")[2:4] for line in lines[1:]] == [
        *(["maxmean", "50"], ["maxmean", "500"], ["rbp", "50"], ["rbp", "500"])
    ]
    refused = run("pool", made_store.path, "--track", "web", "--goal", "tau=.5")
    assert "--goal is for --simulate" in refused.err
    several = run("pool", made_store.path, "--track", "web", *orders[4:])
    assert "several budgets" in several.err


@pytest.mark.exhaustive
def test_command__draws_a_figure(made_store: irmeta.Store, tmp_path: Path, run):
    asked = ["pool", made_store.path, "--track", "web", "--simulate", "--order", "rbp"]
    run(*asked, "--figure", tmp_path / "orders.svg")
    assert (tmp_path / "orders.svg").stat().st_size > 1000
    several = made_store.pools.budget(track=["web", "news"], order="rbp", budget=100)
    with pytest.raises(UsageError, match="of one track"):
        several.show()


@pytest.mark.real
def test_robust_2003__orders_by_labels_need_fewer_judgments_than_depth(shared: Path):
    store = irmeta.read(shared / "tracks" / "robust-2003")
    budgets = store.pools.budget(order=["depth", "movetofront", "random"], draws=5, budget=12_000)
    relevant = dict(budgets.budgets.select("order", "relevant").rows())
    tau = dict(budgets.budgets.select("order", "tau").rows())
    assert relevant["movetofront"] > relevant["depth"] > relevant["random"]
    assert tau["movetofront"] > 0.9 > tau["random"]


LABELS = st.lists(st.integers(0, 1), max_size=40).map(lambda labels: np.array(labels, np.int64))


@given(LABELS, st.integers(1, 6))
def test_after_nonrelevant__equals_a_walk(labels: np.ndarray, number: int):
    streak = judged = relevant = 0
    for label in labels.tolist():
        streak = 0 if label else streak + 1
        judged, relevant = judged + 1, relevant + label
        if streak == number:
            break
    assert after_nonrelevant(labels, number) == Stop(judged, relevant)


def test_at_knee__by_hand():
    labels = np.array([1] * 10 + [0] * 4000, np.int64)
    # R = 10: the ratio (10/10) / (1 / (s - 10)) is 146 from 156 docs on, and from 1,000 docs on.
    sizes, batch = [1], 1
    while sizes[-1] < 2000:
        batch += -(-batch // 10)
        sizes.append(sizes[-1] + batch)
    assert at_knee(labels, least=1).judged == next(size for size in sizes if size >= 156)
    assert at_knee(labels).judged == next(size for size in sizes if size >= 1000)
    assert at_knee(labels[:900]) == Stop(900, 10)  # too few docs
    assert at_knee(np.zeros(1500, np.int64)) == Stop(1500, 0)


def test_at_target__judges_the_sample_and_all_docs_before_its_last_relevant_one():
    labels = np.array([1, 0, 1, 0, 0, 1, 0, 1], np.int64)
    random_order = np.array([6, 5, 2, 0, 1, 3, 4, 7])
    # The sample 6, 5, 2 holds two relevant docs, 5 and 2: docs 0 to 5 are judged, and 6.
    assert at_target(labels, random_order, 2) == Stop(7, 3)
    assert at_target(labels, random_order, 5) == Stop(8, 4)


def test_chosen_rule__is_chosen_without_the_track_that_it_is_judged_on():
    def track(*least: int) -> dict[str, np.ndarray]:
        """Queries that need so many non-relevant docs."""
        rules = ["knee", "target 10", *map(run_name, (10, 20, 30, 40, 50, 75, 100, 150, 200, 300))]
        numbers = [0, 0, 10, 20, 30, 40, 50, 75, 100, 150, 200, 300]
        rules, numbers = [*rules, run_name(500)], [*numbers, 500]
        return {
            rule: np.array([[(1.0 if number >= need else 0.5, 0.3) for need in least]])
            for rule, number in zip(rules, numbers, strict=True)
        }

    easy, hard = track(10, 10, 10), track(100, 100, 10)
    assert chosen_rule([easy], 0.8) == "10 non-relevant"
    assert chosen_rule([hard], 0.8) == "100 non-relevant"
    rows = [row for row in stop_rows({"easy": easy, "hard": hard}, 0.8) if "chosen_on" in row]
    assert [(row["track"], row["rule"], row["chosen_on"]) for row in rows] == [
        ("easy", "chosen: 100 non-relevant", "hard"),
        ("hard", "chosen: 10 non-relevant", "easy"),
    ]
    assert [row["erred"] for row in rows] == pytest.approx([0, 2 / 3])
    low, high = rows[1]["low"], rows[1]["high"]  # of 2 of 3, by statsmodels
    assert (low, high) == pytest.approx((0.20765, 0.93851), abs=1e-5)


def test_budget__has_stop_rules_of_several_tracks(made_store: irmeta.Store):
    asked = {"order": ["rbp"], "budget": 100, "stops": 0.8}
    budgets = made_store.pools.budget(track=["news", "web"], **asked)
    assert budgets.stops["rule"].str.starts_with("chosen").sum() == 2
    assert budgets.stops.select("erred", "recall", "judged").to_numpy().min() >= 0
    assert "Rules that end judging, for 80 % of the relevant docs" in str(budgets)
    single = made_store.pools.budget(track="news", **asked).stops
    assert single["rule"].to_list() == ["50 non-relevant", "knee", "target 10"]
