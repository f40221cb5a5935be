"""Rank aggregation: worked examples, naive implementations and orders of pref_eval."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from irmeta.errors import UsageError
from irmeta.kernels.rank_agreement import settle
from irmeta.results.matrix import Matrix
from irmeta.results.verdicts import Verdicts
from irmeta.stats.aggregation import borda, mc4, mc4_ranks, win_rate, wins
from twins import orders as naive

NAN = math.nan


def of(*queries: list[float]) -> Verdicts:
    """Return verdicts of systems a, b, ... from one list of values per query."""
    values = np.array(queries, float).reshape(len(queries), -1)
    names = tuple("abcdefgh"[: values.shape[1]])
    return Verdicts.of(Matrix(values, tuple(str(i) for i in range(len(queries))), names))


def of_signs(signs: np.ndarray, queries: tuple[str, ...], systems: tuple[str, ...]) -> Verdicts:
    return Verdicts(queries, systems, lambda query: signs[query].astype(np.int8))


def majority(*beats: str, systems: str) -> Verdicts:
    """Return verdicts for one query: in each pair of letters the first system is better."""
    signs = np.zeros((1, len(systems), len(systems)), int)
    for a, b in beats:
        i, j = systems.index(a), systems.index(b)
        signs[0, i, j], signs[0, j, i] = 1, -1
    return of_signs(signs, ("1",), tuple(systems))


def scores(frame: pl.DataFrame) -> dict[str, float]:
    return dict(frame.select("system", "score").iter_rows())


def test_borda_and_win_rate__worked_example():
    # a wins 2, ties 1 and loses 1; b wins 1, ties 1, loses 2; c wins 2, loses 2.
    verdicts = of([3, 3, 1], [2, 1, 3])
    assert borda(verdicts).rows() == [
        ("a", 2.5, 1, ""),
        ("c", 2.0, 2, ""),
        ("b", 1.5, 3, ""),
    ]
    assert win_rate(verdicts)["score"].to_list() == [2.5 / 4, 2 / 4, 1.5 / 4]
    assert scores(win_rate(verdicts, "out")) == pytest.approx({"a": 2 / 3, "c": 2 / 4, "b": 1 / 3})


def test_borda__equal_scores_share_a_rank_and_list_their_ties():
    found = borda(of([3, 1, 3, 1, 0]))
    assert found.columns == ["system", "score", "rank", "ties"]
    assert found.rows() == [
        ("a", 3.5, 1, "c"),
        ("c", 3.5, 1, "a"),
        ("b", 1.5, 3, "d"),
        ("d", 1.5, 3, "b"),
        ("e", 0.0, 5, ""),
    ]


def test_borda_and_win_rate__missing_value_neither_wins_nor_loses():
    assert scores(borda(of([NAN, 2, 1]))) == {"b": 1.5, "a": 1.0, "c": 0.5}
    assert scores(win_rate(of([NAN, 2, 1]), "out"))["b"] == 1.0
    assert math.isnan(scores(win_rate(of([NAN, 2, 1]), "out"))["a"])


def test_win_rate__system_without_score_has_no_rank_and_comes_last():
    assert win_rate(of([NAN, 2, 1]), "out").select("system", "rank", "ties").rows() == [
        ("b", 1, ""),
        ("c", 2, ""),
        ("a", None, ""),
    ]


RULES = {
    "borda": borda,
    "win": win_rate,
    "mc4": mc4,
    "steps": lambda v: mc4(v, steps=3),
    "rounds": lambda v: mc4(v, rounds=True),
}


@pytest.mark.parametrize(("name", "score"), [("borda", 0.0), ("mc4", 0.5), ("win", NAN)])
def test_aggregation__without_queries(name, score):
    none = Verdicts.of(Matrix(np.zeros((0, 2)), (), ("a", "b")))
    found = RULES[name](none)
    assert found["score"].to_list() == pytest.approx([score] * 2, nan_ok=True)
    undefined = math.isnan(score)
    assert found["rank"].to_list() == ([None] * 2 if undefined else [1, 1])
    assert found["ties"].to_list() == (["", ""] if undefined else ["b", "a"])


@pytest.mark.parametrize("name", RULES)
def test_aggregation__without_systems_gives_empty_frame(name):
    none = Verdicts.of(Matrix(np.zeros((2, 0)), ("1", "2"), ()))
    assert RULES[name](none).height == 0


# MC4


def test_mc4__condorcet_winner_has_probability_one():
    found = mc4(of([4, 3, 2, 1], [4, 3, 2, 1], [4, 1, 2, 3]))
    assert found.rows() == [
        ("a", 1.0, 1, ""),
        ("b", 0.0, 2, "c d"),
        ("c", 0.0, 2, "b d"),
        ("d", 0.0, 2, "b c"),
    ]


def test_mc4__cycle_has_equal_probabilities():
    found = mc4(majority("ab", "bc", "ca", systems="abc"))
    assert found["score"].to_list() == pytest.approx([1 / 3] * 3)
    assert found["rank"].to_list() == [1, 1, 1]


def test_mc4__stationary_distribution_of_a_closed_class():
    # pi of four systems, solved by hand.
    verdicts = majority("ab", "bc", "ca", "ad", "bd", "dc", systems="abcd")
    # Moves: a to c; b to a; c to b and d; d to a and b. Balance: pi_a = pi_b + pi_d,
    # 2 pi_c = pi_a, 2 pi_d = pi_c, pi_b = pi_c + pi_d.
    assert scores(mc4(verdicts)) == pytest.approx({"a": 4 / 10, "b": 3 / 10, "c": 2 / 10, "d": 0.1})


def test_mc4__closed_classes_share_the_probability_of_transient_states():
    # a and b tie; c loses to both, d to a alone: a gets 1/4 + 1/4 + 1/8.
    verdicts = majority("ac", "bc", "ad", systems="abcd")
    assert scores(mc4(verdicts)) == {"a": 0.625, "b": 0.375, "c": 0.0, "d": 0.0}


def test_mc4__rounds_rank_systems_of_probability_zero():
    verdicts = of([5, 4, 3, 2, 2], [5, 3, 4, 2, 2], [4, 5, 3, 2, 2])
    found = mc4(verdicts, rounds=True)
    assert found.rows() == [
        ("a", 1.0, 1, "", 1),
        ("b", 1.0, 2, "", 2),
        ("c", 1.0, 3, "", 3),
        ("d", 0.5, 4, "e", 4),
        ("e", 0.5, 4, "d", 4),
    ]


def test_mc4__majority_of_all_or_of_decided_queries():
    verdicts = of([2, 1], [1, 1], [1, 1])
    assert scores(mc4(verdicts)) == {"a": 0.5, "b": 0.5}
    assert scores(mc4(verdicts, majority="decided")) == {"a": 1.0, "b": 0.0}
    half = of([2, 1], [1, 1])
    assert scores(mc4(half)) == {"a": 0.5, "b": 0.5}


def test_mc4__steps_worked_example():
    # b moves to a with 1/2.
    verdicts = of([2, 1])
    assert scores(mc4(verdicts, steps=0)) == {"a": 0.5, "b": 0.5}
    assert scores(mc4(verdicts, steps=2)) == {"a": 0.875, "b": 0.125}


def test_mc4__tiny_probability_has_full_relative_precision():
    """Each system loses to the next one and beats all systems after that."""
    size = 18
    names = tuple(f"s{i:02}" for i in range(size))
    signs = np.tril(np.full((size, size), -1), -2)
    signs[np.arange(size - 1), np.arange(1, size)] = -1
    signs = signs - signs.T
    found = scores(mc4(of_signs(signs[None], ("1",), names)))
    exact = naive.limit(naive.mc4_moves([signs.tolist()]))
    assert min(exact) < 1e-12
    assert [found[n] for n in names] == pytest.approx([float(x) for x in exact], rel=1e-12, abs=0)


def test_mc4__large_chain_with_vanishing_states_is_finite():
    size = 400
    signs = np.tril(np.full((size, size), -1), -2)
    signs[np.arange(size - 1), np.arange(1, size)] = -1
    signs = signs - signs.T
    names = tuple(f"s{i}" for i in range(size))
    found = mc4(of_signs(signs[None], ("1",), names))["score"]
    assert found.is_finite().all()
    assert found.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    "choices",
    [{"steps": -1}, {"steps": 1, "rounds": True}, {"majority": "most"}],
)
def test_mc4__rejects_invalid_options(choices):
    with pytest.raises(UsageError):
        mc4(of([1, 2]), **choices)


def test_win_rate__rejects_unknown_choice():
    with pytest.raises(UsageError, match=r"'outt' is not a choice. Did you mean 'out'"):
        win_rate(of([1, 2]), "outt")


# Naive implementations

SIGNS = st.tuples(st.integers(1, 4), st.integers(1, 6)).flatmap(
    lambda shape: arrays.arrays(np.int8, (*shape, shape[1]), elements=st.integers(-1, 1))
)


@given(SIGNS)
def test_aggregation__equals_naive_implementation(drawn):
    upper = np.triu(drawn, 1)
    signs = upper - upper.transpose(0, 2, 1)
    names = tuple("abcdef"[: signs.shape[1]])
    verdicts = of_signs(signs, tuple(map(str, range(len(signs)))), names)
    slow = signs.tolist()
    for found, expected in (
        (win_rate(verdicts), naive.win_rate(slow)),
        (borda(verdicts), naive.borda(slow)),
        (mc4(verdicts), naive.mc4(slow)),
        (mc4(verdicts, majority="decided"), naive.mc4(slow, "more")),
        (mc4(verdicts, steps=10), naive.mc4_steps(slow)),
        (mc4(verdicts, steps=3, majority="decided"), naive.mc4_steps(slow, 3, "more")),
    ):
        own = scores(found)
        assert [own[n] for n in names] == pytest.approx(expected, abs=1e-14, nan_ok=True)
        assert_ranked(found)


VALUES = st.tuples(st.integers(0, 4), st.integers(1, 6)).flatmap(
    lambda shape: arrays.arrays(
        float, shape, elements=st.sampled_from([0.0, 1e-13, 1.0, 1.5, -2.0, math.inf, NAN])
    )
)


@given(VALUES, st.sampled_from(["queries", "decided"]))
def test_wins__of_values_equal_those_of_their_signs(values, majority):
    names = tuple("abcdef"[: values.shape[1]])
    verdicts = Verdicts.of(Matrix(values, tuple(map(str, range(len(values)))), names))
    signs = Verdicts(verdicts.queries, names, verdicts.sign)
    np.testing.assert_array_equal(wins(verdicts), wins(signs))
    ranks = dict(mc4(signs, majority=majority, steps=10).select("system", "rank").iter_rows())
    expected = [ranks[name] for name in names]
    assert mc4_ranks([verdicts, verdicts], majority, 10).tolist() == [expected, expected]


def assert_ranked(found: pl.DataFrame) -> None:
    """Check that ranks and ties follow from the scores."""
    for system, score, rank, ties in found.iter_rows():
        if not math.isnan(score):
            others = [(n, s) for n, s in scores(found).items() if n != system]
            assert rank == 1 + sum(s > score + 1e-12 for _, s in others)
            assert ties.split() == sorted(n for n, s in others if abs(s - score) <= 1e-12)


MOVES = st.integers(1, 7).flatmap(
    lambda size: arrays.arrays(bool, (size, size), elements=st.booleans(), fill=st.just(False))
)


@given(MOVES)
def test_settle__equals_naive_limit_of_the_chain(moves):
    """Closed classes may come before or after transient states."""
    size = len(moves)
    np.fill_diagonal(moves, False)
    exact = [[Fraction(int(m), size) for m in row] for row in moves]
    for i in range(size):
        exact[i][i] = 1 - sum(exact[i], Fraction(0))
    limit, home = np.empty(size), np.empty(size, np.int64)
    settle(moves.astype(float), np.full(size, 1 / size), limit, home)
    expected = naive.limit(exact)
    assert limit.tolist() == pytest.approx([float(x) for x in expected], abs=1e-14)
    assert (home >= 0).tolist() == [x > 0 for x in expected]


@given(SIGNS)
def test_mc4__rounds_rank_all_systems_and_start_with_the_limit(drawn):
    upper = np.triu(drawn[:1], 1)
    signs = upper - upper.transpose(0, 2, 1)
    names = tuple("abcdef"[: signs.shape[1]])
    verdicts = of_signs(signs, ("1",), names)
    found, limit = mc4(verdicts, rounds=True), scores(mc4(verdicts))
    first = scores(found.filter(round=1))
    assert first == pytest.approx({n: s for n, s in limit.items() if s > 0})
    assert (found["score"] > 0).all()
    assert found.group_by("round").agg(pl.col("score").sum())["score"].to_list() == pytest.approx(
        [1.0] * found["round"].n_unique()
    )
    # No system is in an earlier round than a system that beats it.
    place = dict(found.select("system", "round").iter_rows())
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if signs[0, i, j] > 0:
                assert place[a] <= place[b]


# pref_eval

PREFERENCES = ("rpp", "dcgrpp", "invrpp", "lexirecall", "lexiprecision", "rrlexiprecision")
SYSTEMS = tuple(f"sys{c}" for c in "ABCDEF")


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def by_name(frame: pl.DataFrame) -> list[str]:
    """Sort systems as pref_eval does: equal scores by name, descending."""
    return frame.sort("score", "system", descending=True)["system"].to_list()


@pytest.mark.parametrize("name", PREFERENCES)
def test_aggregation__same_orders_as_pref_eval(shared, name):
    """pref_eval ranks the systems of a query by summed preferences (paper 4, Eq. 7).

    Equal sums are sorted by name, descending, so the merged rankings have no ties.
    """
    folder = shared / "oracles" / "case3_innov"
    oracle = {line["qid"]: line for line in lines(folder / "out.pref_aggregate.jsonl")}
    total: dict[str, dict[str, float]] = defaultdict(lambda: dict.fromkeys(SYSTEMS, 0.0))
    for line in lines(folder / "out.pref_eval.all.q.jsonl"):
        if line["qid"] != "all" and line["type"] == "preference":
            total[line["qid"]][line["runi"]] += line[name]
            total[line["qid"]][line["runj"]] -= line[name]
    queries = tuple(total)
    lists = {q: sorted(SYSTEMS, key=lambda s, q=q: (total[q][s], s), reverse=True) for q in total}
    assert lists == {q: oracle[q][name] for q in queries}

    values = np.array([[-lists[q].index(s) for s in SYSTEMS] for q in queries], float)
    strict = Verdicts.of(Matrix(values, queries, SYSTEMS))
    assert by_name(borda(strict)) == oracle["all"][name]["borda"]
    assert by_name(win_rate(strict)) == oracle["all"][name]["borda"]
    assert by_name(mc4(strict, steps=10)) == oracle["all"][name]["mc4"]
    # These queries have a Condorcet order, so rounds give the same ranking.
    assert mc4(strict, rounds=True)["system"].to_list() == oracle["all"][name]["mc4"]
    assert mc4(strict)["system"][0] == oracle["all"][name]["mc4"][0]

    # With ties kept, the orders are the same.
    tied = Verdicts.of(
        Matrix(np.array([list(total[q].values()) for q in queries]), queries, SYSTEMS)
    )
    assert by_name(mc4(tied, steps=10)) == oracle["all"][name]["mc4"]
    assert by_name(borda(tied)) == oracle["all"][name]["borda"]


def test_wins__many_systems_fit_in_memory():
    """600 x 600 x 200 signs of int8 would need 72 MB at once."""
    import tracemalloc

    values = np.random.default_rng(1).normal(size=(200, 600))
    verdicts = Verdicts.of(Matrix(values, tuple(map(str, range(200))), tuple(map(str, range(600)))))
    tracemalloc.start()
    found = wins(verdicts)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found + found.T + 200 * np.eye(600, dtype=int) == 200).all()
    assert peak < 12e6
