"""Every measure against its naive twin: values in all tie orders, and the arithmetic of explain."""

from __future__ import annotations

from itertools import cycle

import pytest
from hypothesis import given, settings

from irmeta.measures.names import parse_measure, registry
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
