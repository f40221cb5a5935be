"""Relevant docs that systems retrieve, alone or not, and the rarity of each doc."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.errors import UsageError
from irmeta.rankings.holders import RARITIES
from irmeta.results.per_doc import contributions_frame, count_contributions
from support.examples import scaled
from support.making import Track, down, tracks
from twins import rareness

GROUPED = Track(
    {
        "a1": {"q": down("x", "y", "only"), "r": down("x")},
        "a2": {"q": down("z", "y", "x")},
        "b": {"q": down("n", "z", "late"), "r": down("n")},
        "empty": {"q": down("n")},
    },
    {"q": {"x": 1, "y": 2, "z": 1, "only": 1, "late": 3, "none": 1, "n": 0}, "r": {"x": 1}},
)


@pytest.fixture
def grouped(tmp_path) -> irmeta.Store:
    """Four systems; a1 and a2 are of one group, `empty` is of none."""
    facts = "name,group,pooled\na1,A,no\na2,A,yes\nb,B,yes\n"
    return irmeta.read(GROUPED.write_with(tmp_path, facts))


def test_contributions__worked_by_hand(grouped):
    """Within 3 ranks: x of q is found by a1, a2; y by a1, a2; z by a2, b; only by a1; late by b."""
    frame = grouped.per_doc.contributions(rarity_depth=3)
    assert frame.columns == [
        *("track", "system", "found", "unique", "unique_to_group", "share", "mean_rarity")
    ]
    rows = [row[1:] for row in frame.iter_rows()]
    assert rows[:3] == [
        ("a1", 4, 2, 4, 4 / 6, 1 - (2 + 2 + 1 + 1) / 4 / 4),
        ("a2", 3, 0, 2, 3 / 6, 1 - (2 + 2 + 2) / 3 / 4),
        ("b", 2, 1, 1, 2 / 6, 1 - (2 + 1) / 2 / 4),
    ]
    assert rows[3][:5] == ("empty", 0, 0, 0, 0.0)
    assert math.isnan(rows[3][5])


def test_contributions__nothing_retrieved_has_no_share(tmp_path):
    store = Track({"s": {"q": down("n")}, "t": {"q": down("n")}}, {"q": {"a": 1, "n": 0}}).read()
    frame = store.per_doc.contributions()
    assert frame["found"].to_list() == [0, 0]
    assert frame["unique_to_group"].to_list() == [None, None]  # no groups are stated
    assert frame["share"].is_nan().all()
    assert frame["mean_rarity"].is_nan().all()


@settings(max_examples=scaled(40))
@given(tracks(), st.data())
def test_contributions__equal_naive_twins(track: Track, data: st.DataObject):
    depth, rel = data.draw(st.sampled_from([1, 3, 100])), data.draw(st.sampled_from([1, 2]))
    (view,) = track.read().views("t")
    drawn = st.lists(st.sampled_from(["g", "h", None]), min_size=len(view.systems))
    groups = dict(zip(view.systems, ("g", *data.draw(drawn)), strict=False))
    facts = replace(view.facts, groups=tuple(groups[s] for s in view.systems))
    view = replace(view, facts=facts)
    frame = contributions_frame(facts, [count_contributions(view, depth, rel)])
    queries = [
        ({s: track.ranking(s, query) for s in track.runs}, qrels)
        for query, qrels in track.qrels.items()
    ]
    for row in frame.drop("track").iter_rows():
        expected = rareness.contribution(row[0], queries, depth, rel, groups)
        assert row[1:4] == expected[:3]
        assert row[4:] == pytest.approx(expected[3:], nan_ok=True, abs=1e-12)


def test_contributions__same_rows_for_any_number_of_workers(made_store):
    assert made_store.per_doc.contributions(workers=1).equals(
        made_store.per_doc.contributions(workers=2)
    )


@pytest.mark.real
def test_contributions__robust_2003_equals_reference(real_store, shared):
    path = shared / "oracles" / "innovation" / "innovation_robust2003_facts_k100.json"
    facts = json.loads(path.read_text())
    frame = real_store.per_doc.contributions("robust-2003")
    found = {row["system"]: row for row in frame.iter_rows(named=True)}
    assert {s: row["found"] for s, row in found.items()} == facts["retrieved_relevant"]
    assert {s: row["unique"] for s, row in found.items()} == facts["unique_relevant"]
    union = sum(count for held, count in facts["docs_by_S_d"].items() if held != "0")
    for system, row in found.items():
        assert row["share"] == pytest.approx(facts["retrieved_relevant"][system] / union, abs=1e-12)
    rarity = real_store.per_doc.rarity("robust-2003")
    counted = rarity.group_by("retrieved_by").len().iter_rows()
    assert {str(held): docs for held, docs in counted} == facts["docs_by_S_d"]


def test_rarity__counts_groups_and_pooled_systems(grouped):
    def of(doc: str, **choices) -> tuple:
        frame = grouped.per_doc.rarity(rarity_depth=3, **choices).filter(query="q", doc=doc)
        return frame.select("retrieved_by", "systems", "rarity").row(0)

    assert of("y") == (2, 4, 0.5)
    assert of("y", counted="groups") == (1, 3, pytest.approx(2 / 3))
    assert of("z", counted="groups", rarity="revised") == (2, 3, 0.5)
    assert of("y", counted="pooled") == (1, 2, 0.5)
    assert of("only", counted="pooled") == (0, 2, 1.0)  # only a system that was not pooled
    assert of("z", rarity="idf") == (2, 4, 0.5)
    assert of("only", rarity="unique") == (1, 4, 1.0)
    for kind in RARITIES:
        assert of("none", rarity=kind) == (0, 4, 1.0)


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(tracks(), st.sampled_from(RARITIES), st.sampled_from([1, 3, 100]))
def test_rarity__kinds_equal_naive_twins(track: Track, kind: str, depth: int):
    frame = track.read().per_doc.rarity(rarity=kind, rarity_depth=depth)
    for query, doc, value in frame.select("query", "doc", "rarity").iter_rows():
        lists = {s: track.ranking(s, query) for s in track.runs}
        held = len(rareness.holders(doc, lists, depth))
        assert value == pytest.approx(rareness.rarity(held, len(lists), kind), abs=1e-12)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"counted": "others"}, "counted = 'others' gives a doc a rarity for each group"),
        ({"counted": "group"}, "counted = 'group' is not a choice. Did you mean 'groups'"),
        ({"rarity": "liner"}, "rarity = 'liner' is not a choice. Did you mean 'linear'"),
    ],
)
def test_rarity__rejects_unknown_choices(made_store, choices, message):
    with pytest.raises(UsageError) as raised:
        made_store.per_doc.rarity("news", **choices)
    assert message in str(raised.value)


@pytest.mark.parametrize("depth", [0, 1.5])
def test_contributions__rejects_invalid_depth(made_store, depth):
    with pytest.raises(UsageError, match="depth"):
        made_store.per_doc.contributions(rarity_depth=depth)


def test_rarity__is_linear_by_default(made_store):
    frame = made_store.per_doc.rarity("news")
    expected = 1.0 - frame["retrieved_by"].to_numpy() / frame["systems"].to_numpy()
    np.testing.assert_array_equal(frame["rarity"].to_numpy(), expected)
