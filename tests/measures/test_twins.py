"""Every measure against its naive twin: values in all tie orders, and the arithmetic of explain."""

from __future__ import annotations

import csv
from itertools import cycle

import pytest
from hypothesis import given, settings

import irmeta
from irmeta.measures.names import PRESETS, parse_measure, registry
from support.cells import NEGATIVE, OTHER_ORDERS, assert_explained, assert_twins
from support.examples import scaled
from support.making import Track
from twins.registry import FAMILIES, TWINS, Family

COSTLY = dict.fromkeys(
    (
        "D-measures",
        "intent-aware",
        "ERR_IA",
        "cube tests",
        "Q of pools",
        "users",
        "rareness of gains",
    ),
    pytest.mark.exhaustive,
)
"""Families of which each takes a second; novelty and DCG stand for them by default."""
families = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def test_registry__every_measure_has_a_naive_twin():
    assert {parse_measure(name).measure.name for name in TWINS} == registry().keys()


@pytest.mark.one_in(4)
@families
def test_registry__names_are_canonical(family: Family):
    assert [parse_measure(name).name for name in family.twins] == list(family.twins)


@pytest.mark.parametrize(
    "family",
    [pytest.param(FAMILIES[name], id=name, marks=COSTLY.get(name, ())) for name in FAMILIES],
)
def test_evaluate__values_equal_naive_twins(family: Family):
    @settings(max_examples=scaled(family.examples))
    @given(family.tracks())
    def compare(track: Track) -> None:
        assert_twins(track.read(), track, family.twins)

    compare()


@pytest.mark.exhaustive
@families
def test_evaluate__values_equal_naive_twins_in_other_tie_orders(family: Family):
    twins = {name: twin for name, twin in family.twins.items() if family.in_tie_orders(name)}
    assert twins

    @settings(max_examples=scaled(family.tie_order_examples))
    @given(family.tracks(systems=3, queries=2))
    def compare(track: Track) -> None:
        store = track.read()
        for order, policy in zip(OTHER_ORDERS, cycle(NEGATIVE), strict=False):
            assert_twins(store, track, twins, order, [policy])

    compare()


@pytest.mark.exhaustive
@families
def test_explain__arithmetic_equals_naive_twins(family: Family):
    assert_explained({n: twin for n, twin in family.twins.items() if family.in_explain(n)})


@pytest.fixture(scope="module")
def store(worked_examples, tmp_path_factory):
    return irmeta.ingest(worked_examples, tmp_path_factory.mktemp("worked") / "store")


@pytest.fixture(scope="module")
def expected(worked_examples):
    with (worked_examples / "expected.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_evaluate__equals_worked_examples(store, expected):
    measures = list(dict.fromkeys(row["measure"] for row in expected))
    frame = store.evaluate(measures, per_query=True)
    found = {row[:4]: row[4] for row in frame.iter_rows()}
    wrong = {}
    for row in expected:
        cell = (row["track"], row["system"], row["query"], row["measure"])
        if found[cell] != pytest.approx(float(row["value"]), rel=1e-12, abs=1e-12):
            wrong[cell] = (found[cell], row["value"], row["source"])
    assert not wrong


@pytest.mark.exhaustive
def test_worked_examples__cover_every_list_and_default_measure(store, expected):
    default = {name for name in PRESETS["default"] if "unretrieved=depth)@" not in name}
    assert default <= {row["measure"] for row in expected}
    by_hand = {(row["track"], row["system"], row["query"]) for row in expected}
    every = (
        store.evaluate("ASL", per_query=True)
        .filter(value=float("nan"))
        .select("track", "system", "query")
    )
    without_relevant = set(every.rows())
    lists = set(store.evaluate("ASL", per_query=True).select("track", "system", "query").rows())
    assert by_hand == lists - without_relevant
    assert len(expected) > 500


def test_means__paper_1_two_queries(store):
    """Section 3.2: AP puts the mean of ranks 1 and 1000 near rank 2, ASL midway."""
    means = store.means("AP,ASL", track="paper1-two-queries")
    assert means["value"].to_list() == pytest.approx([0.5005, 500.5], abs=1e-12)


def test_rarity__paper_2_worked_example(store):
    """Eqs. 1 to 3; a doc that no system retrieves has rarity 1."""
    found = store.per_doc.rarity(track="paper2-rarity")
    assert dict(zip(found["doc"], found["rarity"], strict=True)) == {
        "all": 0.0,
        "nobody": 1.0,
        "one": 0.75,
        "three": 0.25,
        "two": 0.5,
    }
