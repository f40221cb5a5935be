"""Orders of systems in the study of innovation, against naive code: Figures 1 and 2, Table 3."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irmeta.rankings.holders import RARITIES
from irmeta.studies.papers.innovation.compute import (
    dethroned,
    figure_2,
    swap_alphas,
    swaps,
    table_3,
)
from irmeta.studies.papers.innovation.rare_track import figure_1, first_places, query_of_figure_1
from support.examples import scaled
from support.innovating import data_of, of_views, rare_track, rows_of
from support.making import Track, down, tracks
from twins import innovation as naive
from twins import orders

MEASURES = ("RareP", "RareAP")
MADE = {"rare", "common"}


@settings(max_examples=scaled(8))
@given(tracks(), st.integers(1, 5), st.sampled_from(RARITIES))
def test_figure_1__any_query_equals_naive_values(track: Track, k: int, kind):
    rare, data = (
        rare_track(track, grouped=False, k=k, rarity=kind, rarity_weights=[2]),
        data_of(track),
    )
    query = query_of_figure_1(rare)
    if query is None:
        assert not any(g >= 1 for _, qrels in data.values() for g in qrels.values())
        return
    frame = rows_of("figure_1", figure_1(rare, query))
    longest = max(len(docs) for lists in track.runs.values() for docs in lists.values())
    expected = {
        (made, alpha, docs): value
        for made in MADE
        for alpha in (0.0, 2.0)
        for docs in range(1, min(k, longest) + 1)
        if (value := naive.made_system(*data[query], made, docs, k, alpha, kind=kind))
    }
    found = {
        row[:3]: row[3:] for row in frame.select("made", "alpha", "docs", "value", "rank").rows()
    }
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, abs=1e-9), key
    assert frame["systems"].unique().to_list() == [len(track.runs) + 1]


@pytest.mark.parametrize(
    "choices", [{"rarity_depth": 2}, {"rarity_depth": 9}, {"counted": "groups"}]
)
def test_figure_1__made_systems_exceed_the_relevant_docs_of_the_query(choices: dict[str, Any]):
    """Three docs are relevant; a list of six lets D run to six."""
    runs = {"a": {"1": down("x", "y", "n", "o", "p", "q")}, "b": {"1": down("x", "z", "n")}}
    track = Track(runs, {"1": {"x": 1, "y": 1, "z": 1, "n": 0}})
    rare = rare_track(track, grouped=False, k=8, rarity_weights=[2], **choices)
    made = figure_1(rare, "1")
    found = {
        row[:3]: row[3:] for row in made.select("made", "alpha", "docs", "value", "rank").rows()
    }
    assert {name: docs for name, _, docs in found} == {"rare": 6, "common": 3}
    theirs = {name.replace("rarity_depth", "depth"): value for name, value in choices.items()}
    for (name, alpha, docs), value in found.items():
        expected = naive.made_system(*data_of(track)["1"], name, docs, 8, alpha, **theirs)
        assert value == pytest.approx(expected), (name, alpha, docs)
    table = rows_of("first_places", first_places(rare, made))
    # by alpha = 0, three new docs beat the two docs of each system
    assert table.select("query", "relevant", "alpha", "first", "most").row(0) == ("1", 3, 0, 3, 6)
    assert table["printed"].to_list() == [None, None]


def test_first_places__none_where_a_list_is_full_of_relevant_docs():
    track = Track({"a": {"1": down("x", "y")}, "b": {"1": down("x")}}, {"1": {"x": 1, "y": 1}})
    rare = rare_track(track, grouped=False)
    table = first_places(rare, figure_1(rare, "1")).sort("alpha")
    assert table.select("alpha", "first", "printed").rows() == [
        (0, None, "44"), (0.5, 2, "33"), (1, 2, "28"),
    ]  # fmt: skip


def test_query_of_figure_1__has_the_median_number_of_relevant_docs():
    runs = {"a": {"1": down("x"), "2": down("y", "z")}, "b": {"1": down("x", "w")}}
    qrels = {"1": dict.fromkeys("xvu", 1), "2": {"y": 1, "z": 2}, "3": {"n": 0}, "4": {"x": 1}}
    track = Track(runs, qrels)
    assert query_of_figure_1(rare_track(track)) == "2"  # 3, 2 and 1 docs
    fewer = Track(runs, {q: qrels[q] for q in "124"} | {"5": {"n": 2}})
    assert query_of_figure_1(rare_track(fewer)) == "4"  # the first with the lower of 1 and 2
    assert query_of_figure_1(rare_track(track, figure_query="1")) == "1"
    assert query_of_figure_1(rare_track(track, figure_query="3")) is None
    papers = Track(runs, {**track.qrels, "1127540": {"x": 1}})
    assert query_of_figure_1(rare_track(papers)) == "1127540"


@settings(max_examples=scaled(8))
@given(tracks(), st.integers(1, 6))
def test_figure_2__any_track_equals_naive_correlations(track: Track, k: int):
    rare, data = rare_track(track, k=k), data_of(track)
    frame = rows_of("figure_2", figure_2(rare))
    assert frame.height == 404
    for measure, family in zip(MEASURES, rare.options.families(), strict=True):
        plain = naive.means(data, measure, k, 0.0)
        for alpha in (0.0, 0.25, 1.0):
            means = naive.means(data, measure, k, alpha)
            x, y = ([float(f"{of[s]:.11e}") for s in sorted(of)] for of in (plain, means))
            tau_ap = orders.tau_ap_b(x, y) if len({*x}) > 1 and len({*y}) > 1 else math.nan
            expected = {"tau-b": naive.tau(plain, means), "tau-ap-b": tau_ap}
            for method, value in expected.items():
                (found,) = frame.filter(measure=family, alpha=alpha, method=method)["value"]
                assert found == pytest.approx(value, nan_ok=True), (measure, alpha, method)


def test_figure_2__an_order_with_ties_has_the_correlation_1_with_itself():
    runs = {"a": {"1": down("x", "y")}, "b": {"1": down("x")}, "c": {"1": down("x")}}
    frame = rows_of("figure_2", figure_2(rare_track(Track(runs, {"1": {"x": 1, "y": 1}}))))
    assert set(frame.filter(alpha=0)["value"]) == {1.0}


@settings(max_examples=scaled(8))
@given(tracks(), st.integers(1, 6), st.sampled_from([0.5, 1.0]))
def test_table_3__all_sets_of_systems_equal_naive_values(track: Track, k: int, alpha: float):
    rare, data = rare_track(track, k=k, sizes=[2, 3], draw_rarity_weights=[alpha]), data_of(track)
    frame = rows_of("table_3", table_3(rare))
    assert frame["systems"].unique().to_list() == [n for n in (2, 3) if n <= len(track.runs)]
    for row in frame.iter_rows(named=True):
        measure = row["measure"].partition("@")[0]
        taus = naive.subset_taus(data, measure, k, alpha, row["systems"])
        known = [tau for tau in taus if not math.isnan(tau)]
        assert row["enumerated"]
        assert (row["draws"], row["undefined"]) == (len(known), len(taus) - len(known))
        mean = sum(known) / len(known) if known else math.nan
        assert row["tau_b"] == pytest.approx(mean, nan_ok=True)


def test_table_3__draws_depend_on_the_seed_alone(made_store):
    (view,) = made_store.views("news", needs=("pool",))
    few = {"draws": 20, "sizes": [4], "k": 20}
    first, again, other = (
        rows_of("table_3", table_3(of_views([view], seed=seed, **few))) for seed in (1, 1, 2)
    )
    assert first.equals(again)
    assert not first.equals(other)
    assert first["enumerated"].to_list() == [False, False]
    assert (first["draws"] + first["undefined"]).to_list() == [20, 20]


@settings(max_examples=scaled(20))
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=5))
def test_swap_alphas__orders_change_there_and_nowhere_else(parts: list[tuple[int, int]]):
    plain, rare = (np.array(one) / 7 for one in zip(*parts, strict=True))
    alphas = swap_alphas(plain, rare)
    for a, b in np.argwhere(plain[:, None] > plain):
        if np.isinf(alphas[a, b]):
            assert plain[a] + 1e6 * rare[a] > plain[b] + 1e6 * rare[b]
        else:
            below, above = ((1 + e) * alphas[a, b] for e in (-1e-6, 1e-6))
            assert plain[a] + below * rare[a] > plain[b] + below * rare[b]
            assert plain[a] + above * rare[a] < plain[b] + above * rare[b]
    assert np.isinf(alphas[plain[:, None] <= plain]).all()


@settings(max_examples=scaled(10))
@given(tracks(), st.integers(1, 6))
def test_swaps__are_the_pairs_whose_order_differs_at_alpha_1(track: Track, k: int):
    rare, data = rare_track(track, k=k), data_of(track)
    frame, best = rows_of("swaps", swaps(rare)), rows_of("dethroned", dethroned(rare))
    for measure, family in zip(MEASURES, rare.options.families(), strict=True):
        plain, at_1 = (naive.means(data, measure, k, alpha) for alpha in (0.0, 1.0))
        changed = {
            (a, b)
            for a in plain
            for b in plain
            if plain[a] - plain[b] > 1e-12 and at_1[b] - at_1[a] > 1e-12
        }
        rows = frame.filter(measure=family)
        assert {(a, b) for a, b in rows.select("system_a", "system_b").rows()} == changed
        (row,) = best.filter(measure=family).iter_rows(named=True)
        assert (row["pairs"], row["swapped"]) == (math.comb(len(plain), 2), len(changed))
        assert plain[row["best"]] == pytest.approx(max(plain.values()))


def test_swaps__end_at_an_alpha_of_1():
    """b finds two docs of its own, a three that two others find: P .3, B .075 and P .2, B .15."""
    runs = {s: {"1": down("x", "y", "z")} for s in "acd"} | {"b": {"1": down("u", "v")}}
    rare = rare_track(Track(runs, {"1": dict.fromkeys("uvxyz", 1)}), k=10)
    assert rows_of("swaps", swaps(rare)).filter(measure="RareP@10").is_empty()
    (p, _) = rows_of("dethroned", dethroned(rare)).rows(named=True)
    assert (p["swapped"], p["best"], p["next"]) == (0, "a", "b")
    assert p["alpha"] == pytest.approx(4 / 3)


def test_dethroned__worked_example():
    """a retrieves two docs that b does too, b a third; so P is 2/3 each, and b is rarer."""
    docs = {"1": {"x": 1, "y": 1, "z": 1}}
    runs = {
        "a": {"1": down("x", "y", "n")},
        "b": {"1": down("z", "n", "x")},
        "c": {"1": down("x", "y", "o")},
    }
    (p, _) = rows_of("dethroned", dethroned(rare_track(Track(runs, docs), k=3))).rows(named=True)
    assert (p["best"], p["next"], p["alpha"]) == ("a", "b", 0.0)
    runs["d"] = {"1": down("x", "y", "z")}  # every doc of b is held by d too
    (p, _) = rows_of("dethroned", dethroned(rare_track(Track(runs, docs), k=3))).rows(named=True)
    assert (p["best"], p["next"], p["alpha"]) == ("d", None, None)
