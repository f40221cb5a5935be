"""`Store.pairs`: `preferences`, `win_rates`, `compare`, `explain`, `ties`."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.errors import IrmetaError, MeasureError, UsageError
from irmeta.preferences.registry import preference_registry
from irmeta.schema.result_tables import PREFERENCES, PREFERENCES_BY_QUERY, WIN_RATES

EVERY = ["RPP", "RPP(p=dcg)", "LexiRecall", "LexiPrecision", "RRLexiPrecision", "OI"]


@pytest.mark.exhaustive
def test_preferences__is_the_mean_of_preferences_by_query(made_store):
    means = made_store.pairs.preferences(EVERY, track="news")
    assert means.columns == list(PREFERENCES.columns)
    assert means.height == len(EVERY) * 20 * 19
    queries = made_store.pairs.preferences(EVERY, track="news", per_query=True)
    assert queries.columns == list(PREFERENCES_BY_QUERY.columns)
    again = queries.group_by("system", "other", "preference").agg(
        pl.col("value").mean().alias("mean"), pl.len().alias("number")
    )
    both = means.join(again, on=["system", "other", "preference"])
    assert both.height == means.height
    assert (both["value"] - both["mean"]).abs().max() < 1e-12
    assert both.filter(pl.col("queries") != pl.col("number")).is_empty()


def test_preferences__all_tracks_in_order(made_store):
    found = made_store.pairs.preferences("LexiRecall")
    assert found["track"].unique(maintain_order=True).to_list() == made_store.tracks


@pytest.mark.one_in(3)
@pytest.mark.parametrize("names", ["RPP(p=inverse)", "OI", "LexiRecall", "STRPP(p=dcg)"])
def test_preferences__same_bits_for_any_number_of_workers_and_other_systems(made_store, names):
    one, two = (made_store.pairs.preferences(names, track="web", workers=w) for w in (1, 3))
    assert one.equals(two)
    (view,) = made_store.views("web", needs=["subtopics"])
    some = sorted(view.systems)[:3]
    (fewer,) = irmeta.preferences_of(view.only_systems(some), names)
    kept = one.filter(pl.col("system").is_in(some) & pl.col("other").is_in(some))
    assert fewer.frame()["value"].to_list() == kept["value"].to_list()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", EVERY)
def test_win_rates__is_the_mean_preference_over_other_systems(made_store, name):
    found = made_store.pairs.win_rates(name, track="news")
    assert found.columns == list(WIN_RATES.columns)
    pairs = (
        made_store.pairs.preferences(name, track="news").group_by("system").agg(pl.mean("value"))
    )
    both = found.join(pairs, on="system", suffix="_of_pairs")
    assert both.height == 20
    assert (both["value"] - both["value_of_pairs"]).abs().max() < 1e-12
    assert found["rank"].is_sorted()
    assert found.filter(~pl.col("rank").is_between("rank_low", "rank_high")).height <= 3


def test_win_rates__groups_weigh_as_one_opponent(made_store):
    (found,) = made_store.pairs.compare("RPP", track="news")
    means, groups = found.means(), list(found.groups)
    rates = made_store.pairs.win_rates("RPP", track="news", opponents="groups")
    values = dict(rates.select("system", "value").iter_rows())
    for i, system in enumerate(found.systems):
        weights = [(j != i) / groups.count(groups[j]) for j in range(len(groups))]
        assert values[system] == pytest.approx(means[i] @ weights / sum(weights))
    plain = made_store.pairs.win_rates("RPP", track="news")
    assert plain.sort("system")["value"].to_list() != rates.sort("system")["value"].to_list()


def test_win_rates__groups_need_names(worked_examples):
    store = irmeta.read(worked_examples, track="paper4-x-y")
    with pytest.raises(UsageError, match="names no groups"):
        store.pairs.win_rates("RPP", opponents="groups")


@pytest.mark.parametrize(
    ("names", "choices", "error", "message"),
    [
        ("APP", {}, MeasureError, "unknown preference 'APP'. Did you mean 'RPP'?"),
        ("RPP(p=log)", {}, MeasureError, "p=log is not a choice"),
        ("RPP(g=0.5)", {}, MeasureError, "g=0.5 needs p=geometric"),
        ("OI(p=inverse)", {}, MeasureError, "p=inverse is not a choice"),
        ("STRPP(background=a b)", {}, MeasureError, "not the name of a qrels set"),
        ([], {}, MeasureError, "no preference was given"),
        (3, {}, MeasureError, "name preferences as a text"),
        ("RPP", {"queries": "retrieved"}, UsageError, "differs between systems"),
        ("STRPP", {}, UsageError, "has no qrels by subtopic"),
    ],
)
def test_preferences__invalid_argument_is_an_error(made_store, names, choices, error, message):
    with pytest.raises(error) as raised:
        made_store.pairs.preferences(names, track="news", **choices)
    assert message in str(raised.value)


@pytest.mark.exhaustive
def test_strpp__background_of_another_set(made_store):
    other = made_store.pairs.preferences("STRPP(background=adhoc)", track="web")
    own, without = (
        made_store.pairs.preferences(f"STRPP{x}", track="web") for x in ("", "(background=no)")
    )
    assert other.equals(own.with_columns(preference=other["preference"]))  # the same relevant docs
    assert own["value"].to_list() != without["value"].to_list()
    same = made_store.pairs.preferences("STRPP(background=adhoc)", track="web", qrels="diversity")
    assert same.equals(other)
    with pytest.raises(UsageError, match="write background=yes"):
        made_store.pairs.preferences("STRPP(background=diversity)", track="web")
    with pytest.raises(UsageError, match="needs a view of that qrels set"):
        irmeta.preferences_of(
            next(made_store.views("web", needs=["subtopics"], qrels="diversity")),
            "STRPP(background=adhoc)",
        )


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name",
    [*EVERY, "RPP(p=geometric)@20", "STRPP", "STRPP(background=adhoc)", "OI(unjudged=condensed)@9"],
)
def test_explain_preference__terms_add_up_to_the_value(made_store, name):
    (found,) = made_store.pairs.compare(name, track="web")
    a, b = found.systems[:2]
    compared = 0
    for query, values in found.differences():
        explained = made_store.pairs.explain(name, system=a, baseline=b, query=query, track="web")
        assert explained.value == values[0, 1]
        assert explained.preference == found.name
        total = math.fsum(term.sign * term.weight for term in explained.trace.terms)
        assert total == pytest.approx(explained.value, abs=1e-12)
        compared += 1
    assert compared >= 10


def test_explain_preference__names_the_policies(made_store):
    system, against = made_store.systems("news")["system"][:2]
    (found,) = made_store.pairs.compare("RPP", track="news", pool_depth=3, pool_without=(system,))
    query, values = next(found.differences())
    explained = made_store.pairs.explain(
        "RPP",
        system=system,
        baseline=against,
        query=query,
        track="news",
        pool_depth=3,
        pool_without=(system,),
    )
    names = list(found.systems)
    assert explained.value == values[names.index(system), names.index(against)]
    assert explained.policies["pool depth"] == 3
    assert explained.policies["removed from the pool"] == system


def test_explain_preference__undefined_without_relevant_docs(worked_examples):
    store = irmeta.read_files(
        worked_examples / "ties" / "qrels.txt",
        sorted((worked_examples / "ties" / "runs").iterdir()),
    )
    (view,) = store.views("ties")
    a, b = view.systems[:2]
    explained = store.pairs.explain("RPP(rel=9)", system=a, baseline=b, query=view.queries[0])
    assert math.isnan(explained.value)
    assert explained.trace.terms == ()


def test_explain_preference__unknown_names_are_errors(made_store):
    system, against = made_store.systems("news")["system"][:2]
    ask = made_store.pairs.explain
    with pytest.raises(UsageError, match="has no system 'x'"):
        ask("RPP", system=system, baseline="x", query=901, track="news")
    with pytest.raises(UsageError, match="no judged query '1'"):
        ask("RPP", system=system, baseline=against, query=1, track="news")
    with pytest.raises(UsageError, match="specify a track"):
        ask("RPP", system=system, baseline=against, query=901)


def test_explain_preference__wrong_arithmetic_is_reported_as_a_bug(made_store, monkeypatch):
    system, against = made_store.systems("news")["system"][:2]
    rule = preference_registry()["RPP"]
    lexi = preference_registry()["RRLexiPrecision"]
    broken = replace(rule, trace=lexi.trace)
    monkeypatch.setitem(preference_registry(), "RPP", broken)
    with pytest.raises(IrmetaError, match="this is a bug in irmeta"):
        made_store.pairs.explain("RPP", system=system, baseline=against, query=901, track="news")


def test_preference_provenance__names_the_qrels_by_subtopic(made_store):
    record = made_store.pairs.provenance(["STRPP", "RPP(p=dcg)"], track="web")
    assert record["tracks"]["web"]["qrels"] == "adhoc"
    assert record["tracks"]["web"]["qrels_by_subtopic"] == "diversity"
    assert record["preferences"]["RPP(p=dcg)"]["revision"] == 1


def test_compare_pairs__preferences_agree_with_measures_in_statistics(made_store):
    (rpp,) = made_store.pairs.compare("RPP", track="news")
    ap = made_store.scores("AP", track="news").matrix("AP")
    found = irmeta.stats.agreement(rpp.preference(), ap)
    assert found.sign_agreement > 0.8
    assert np.isfinite(rpp.means()).all()


def test_ties__equal_naive_counts(made_store):
    found = made_store.pairs.ties(["RPP@3", "LexiRecall", "R@3"], track="web")
    rows = {row["measure"]: row for row in found.iter_rows(named=True)}
    assert list(rows) == ["RPP@3", "LexiRecall", "R@3"]
    values = made_store.pairs.preferences("RPP@3", track="web", per_query=True)
    tied = values.select((pl.col("value").abs() <= 1e-12).mean()).item()
    assert rows["RPP@3"]["tied"] == pytest.approx(tied)
    assert rows["RPP@3"]["points"] == values.height / 2
    assert 0 < rows["RPP@3"]["decided"] <= rows["RPP@3"]["retrieved"] < 1
    assert rows["LexiRecall"]["levels"] is rows["R@3"]["levels"] is None
    assert rows["R@3"]["tied"] > tied
