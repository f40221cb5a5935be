"""Added runs and left-out groups in the study of innovation, against naive code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irmeta.studies.papers.innovation.compute import ALPHA, COUNTED, Attacks, added_runs, pool_bias
from support.examples import scaled
from support.innovating import data_of, groups_of, rare_track, rows_of
from support.making import Track, down, tracks
from twins import innovation as naive
from twins.innovation import Data

MEASURES = ("RareP", "RareAP")
RUNS = {
    "s0": {"1": down("x", "n", "y"), "2": down("p", "q", "v")},
    "s1": {"1": down("n", "x", "z"), "2": down("q", "n", "p")},
    "s2": {"1": down("n", "o", "y"), "2": down("n", "p")},
    "s3": {"1": down("x", "z"), "2": down("r")},
}
QRELS = {
    "1": {"x": 1, "y": 2, "z": 1, "n": 0, "o": 0},
    "2": {"p": 1, "q": 1, "r": 1, "v": 1, "n": 0},
}
TRACK = Track(RUNS, QRELS)


def attacked(data: Data, attack: str, best: str, of_all: str, k: int) -> Data:
    """Return the data with the runs of an attack by the group of the system `best`."""
    number, _, kind = attack.partition(" ")
    if attack == "spoiler":
        runs = {"added": naive.spoiler(data, of_all, k)}
    else:
        copied = {q: lists[best] for q, (lists, _) in data.items()} if "clone" in kind else {}
        runs = {f"added {i}": copied for i in range(int(number))}
    return naive.with_runs(data, runs)


@settings(max_examples=scaled(5))
@given(tracks(), st.integers(1, 6))
def test_gaming__any_track_equals_naive_values_with_the_runs(track: Track, k: int):
    rare, data, groups = rare_track(track, k=k), data_of(track), groups_of(track)
    pieces = list(added_runs(rare))
    frame = pl.concat([rows_of("gaming", rows) for name, rows in pieces if name == "gaming"])
    attacks = Attacks.of(rare).attacks
    of_all = rare.facts.systems[attacks[0].best]
    names = {rare.options.name(m, ALPHA): m for m in MEASURES}
    for attack in attacks[1::4]:
        best = rare.facts.systems[attack.best]
        joined = attacked(data, attack.runs, best, of_all, k)
        own = groups[best] or best
        of_run = {
            s: groups.get(s) or (own if s.startswith("added") else s) for s in joined_of(joined)
        }
        for counted in COUNTED:
            for name, measure in names.items():
                expected = naive.means(joined, measure, k, ALPHA, counted=counted, groups=of_run)
                rows = frame.filter(
                    target=attack.target, attack=attack.runs, counted=counted, measure=name
                )
                values = [expected[s] for s in rows["system"]]
                assert rows["value"].to_list() == pytest.approx(values, abs=1e-9), attack
                places = [naive.place(v, values) - 0.5 for v in values]
                assert rows["rank"].to_list() == places


def joined_of(data: Data) -> list[str]:
    return list(next(iter(data.values()))[0])


def tables_of(track: Track, **choices) -> dict[str, pl.DataFrame]:
    pieces = list(added_runs(rare_track(track, **choices)))
    names = ("gaming", "gaming_effects")
    return {n: pl.concat([rows_of(n, rows) for of, rows in pieces if of == n]) for n in names}


def test_gaming__clones_and_empty_runs_change_nothing_where_groups_count():
    frame = tables_of(TRACK, k=3)["gaming"].filter(counted="groups")
    before = frame.filter(attack="none").select("measure", "system", before="value")
    after = frame.filter(~pl.col("attack").is_in(["none", "spoiler"]))
    assert after["attack"].n_unique() == 5
    changed = after.join(before, on=["measure", "system"]).filter(
        (pl.col("value") - pl.col("before")).abs() > 1e-12
    )
    assert changed.is_empty()
    spoiled = frame.filter(attack="spoiler").join(before, on=["measure", "system"])
    assert (spoiled["before"] - spoiled["value"]).max() > 0.01


def test_gaming__clones_do_not_lower_their_own_group_where_others_count():
    frame = tables_of(TRACK, k=3)["gaming"].filter(pl.col("system").is_in(["s1", "s2"]))
    rows = frame.filter(pl.col("attack").is_in(["20 clones"]), target="g")
    before = frame.filter(attack="none").select("counted", "measure", "system", before="value")
    change = rows.join(before, on=["counted", "measure", "system"]).with_columns(
        change=pl.col("value") - pl.col("before")
    )
    assert change.filter(counted="others")["change"].abs().max() < 1e-12
    assert change.filter(counted="systems", system="s1")["change"].max() < -0.01


def test_gaming__no_spoiler_by_the_group_of_the_best_system():
    frame = tables_of(TRACK, k=3)["gaming"]
    spoilers = frame.filter(attack="spoiler")["target"].unique().to_list()
    every = frame.filter(pl.col("attack") != "none")["target"].unique().to_list()
    assert sorted(every) == ["g", "s0", "s3"]
    assert sorted(spoilers) == ["g", "s3"]  # s0 has the best AP


def test_gaming_effects__compare_with_no_attack():
    tables = tables_of(TRACK, k=3)
    keys = ["target", "attack", "counted", "measure"]
    every = tables["gaming"].filter(pl.col("attack") != "none")
    before = (
        tables["gaming"].filter(attack="none").select("counted", "measure", "system", before="rank")
    )
    moves = every.join(before, on=["counted", "measure", "system"]).with_columns(
        move=(pl.col("rank") - pl.col("before")).abs()
    )
    expected = moves.group_by(keys).agg(moved=(pl.col("move") > 0).sum(), furthest=pl.max("move"))
    joined = tables["gaming_effects"].join(expected, on=keys, suffix="_expected")
    assert joined.height == tables["gaming_effects"].height == expected.height
    assert (joined["moved"] == joined["moved_expected"]).all()
    assert (joined["furthest"] == joined["furthest_expected"]).all()
    assert joined["moved"].max() > 0


@settings(max_examples=scaled(10))
@given(tracks(), st.integers(1, 6))
def test_pool_bias__any_track_equals_naive_values(track: Track, k: int):
    rare, data, groups = rare_track(track, k=k), data_of(track), groups_of(track)
    frame = rows_of("pool_bias", pool_bias(rare))
    parts = {
        groups[s] or s: {t for t in groups if (groups[t] or t) == (groups[s] or s)} for s in groups
    }
    assert {*frame["left_out"]} == ({*parts} if len(parts) > 1 else set())
    names = {rare.options.name(m, a): (m, a) for m in MEASURES for a in (0.0, 1.0)}
    for (part, name), rows in frame.group_by("left_out", "measure"):
        measure, alpha = names[name]
        removed, others = parts[part], {*groups} - parts[part]
        reduced = naive.without_group(data, removed)
        before = naive.means(data, measure, k, alpha)
        after = naive.means(reduced, measure, k, alpha, counted="pooled", pooled=others)
        assert {*rows["system"]} == removed
        for row in rows.iter_rows(named=True):
            system = row["system"]
            for when, means in (("before", before), ("after", after)):
                assert row[f"value_{when}"] == pytest.approx(means[system], abs=1e-9)
                place = naive.place(means[system], [*means.values()]) - 0.5
                assert row[f"rank_{when}"] == place
        lost = [
            {d: g for d, g in qrels.items() if d not in reduced[q][1]}
            for q, (_, qrels) in data.items()
        ]
        judged = sum(g >= 0 for one in lost for g in one.values())
        relevant = sum(g >= 1 for one in lost for g in one.values())
        assert rows["judged_lost"].unique().to_list() == [judged]
        assert rows["relevant_lost"].unique().to_list() == [relevant]


def test_groups__a_system_with_the_name_of_another_group_is_apart():
    rare = rare_track(TRACK)
    facts = replace(rare.facts, groups=(None, "s0", "s0", None))
    assert replace(rare, facts=facts).groups == {"s0 (system)": [0], "s0": [1, 2], "s3": [3]}
    assert replace(rare, facts=replace(facts, groups=())).groups == {f"s{i}": [i] for i in range(4)}


def test_pool_bias__states_judged_docs_and_contributors():
    rare = rare_track(TRACK, k=2)
    frame = rows_of("pool_bias", pool_bias(rare))
    assert frame["pooled"].is_null().all()  # unknown
    facts = replace(rare.facts, pooled=(True, True, False, False), pool_known=True)
    views = [replace(view, facts=facts) for view in rare.views]
    known = rows_of("pool_bias", pool_bias(replace(rare, facts=facts, views=views)))
    assert {*known["left_out"]} == {"s0", "g"}
    assert dict(known.select("system", "pooled").rows()) == {"s0": True, "s1": True, "s2": False}
    # Only s3 retrieves r, its one doc of query 2; others retrieve both of its docs of query 1.
    (row,) = frame.filter(system="s3", measure=rare.options.name("RareP", 0)).rows(named=True)
    assert row["judged"] == pytest.approx(np.mean([1.0, 0.0]))
