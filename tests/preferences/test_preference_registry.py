"""Registered preferences: names, properties, and the checks that find a broken one."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irmeta
from irmeta.errors import EntryPointWarning, MeasureError
from irmeta.preferences.registry import (
    ALIASES,
    is_preference,
    parse_preference,
    parse_preferences,
    preference_registry,
)
from irmeta.preferences.rules import RULES
from irmeta.results.verdicts import BlockPreferences
from irmeta.testing import PREFERENCE_CHECKS, check_preference
from irmeta.testing.preference_checks import PreferenceSubject
from irmeta.testing.samples import crowd
from support.entry_points import Entry, entry_points_of, loading
from support.making import Track
from twins import preferences as naive

RPP = RULES[0]
SUBJECTS = {name: PreferenceSubject(rule) for name, rule in preference_registry().items()}


COSTLY = {"trace": "RPP", "sums": "LexiRecall", "dominance": "LexiRecall"}
"""Checks of every query and pair of systems; each has a rule that stands for all by default."""


@pytest.mark.parametrize(
    ("name", "check"),
    [
        pytest.param(
            name,
            check,
            marks=pytest.mark.exhaustive if check in COSTLY and name != COSTLY[check] else (),
        )
        for name in SUBJECTS
        for check in PREFERENCE_CHECKS
    ],
)
def test_preference__has_property(name: str, check: str):
    PREFERENCE_CHECKS[check](SUBJECTS[name])


@pytest.mark.exhaustive
def test_check_preference__accepts_a_twin():
    def twin(a, b, qrels, k):
        return naive.graded_rpp((a, b), qrels, k=k)

    check_preference(RPP, twin=twin, skip=set(COSTLY))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("wrong", [{"grades": "binary"}, {"k": None}])
def test_check_preference__finds_a_wrong_twin(wrong):
    def twin(a, b, qrels, k):
        return naive.graded_rpp((a, b), qrels, **{"k": k, **wrong})

    with pytest.raises(AssertionError, match="the twin says"):
        check_preference(RPP, twin=twin, skip=PREFERENCE_CHECKS)


def broken(change):
    """Return RPP with changed matrices."""

    def compare(view, params, k):
        found = RPP.compare(view, params, k)
        return BlockPreferences(found.defined, found.systems, lambda q: change(found, q))

    return replace(RPP, compare=compare)


def scaled_by_systems(found, q):
    return found.difference(q) / found.systems


class HalfWinRates(BlockPreferences):
    """Preferences with win rates that are half as large."""

    def win_rates(self, opponents):
        return super().win_rates(opponents) / 2


def half_win_rates(view, params, k):
    found = RPP.compare(view, params, k)
    return HalfWinRates(found.defined, found.systems, found.difference)


def undefined(view, params, k):
    found = RPP.compare(view, params, k)
    return BlockPreferences(found.defined & False, found.systems, found.difference)


BROKEN = {
    "sums": replace(RPP, compare=half_win_rates),
    "defined": replace(RPP, compare=undefined),
    "antisymmetry": broken(lambda found, q: np.abs(found.difference(q))),
    "dominance": broken(lambda found, q: -found.difference(q)),
    "independence": broken(scaled_by_systems),
    "trace": broken(lambda found, q: found.difference(q) / 2),
    "registration": replace(RPP, summary=" "),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("check", BROKEN)
def test_check_preference__finds_a_broken_preference(check: str):
    with pytest.raises(AssertionError, match="RPP"):
        PREFERENCE_CHECKS[check](PreferenceSubject(BROKEN[check]))


def test_check_preference__unknown_check_is_an_error():
    with pytest.raises(ValueError, match="no check is named 'range'"):
        check_preference(RPP, skip=["range"])


def ranks_and_grades(relevant: int, highest: int) -> st.SearchStrategy:
    """Draw the ranks of `relevant` docs in five lists of up to 9 docs, and their grades."""
    orders = st.permutations(range(1, 10)).map(lambda order: order[:relevant])
    ranks = st.lists(orders, min_size=5, max_size=5).map(lambda lists: np.array(lists).T)
    kept = ranks.map(lambda array: np.where(array > 6, 0, array))
    grades = st.lists(st.integers(1, highest), min_size=relevant, max_size=relevant)
    return st.tuples(kept, grades.map(lambda one: sorted(one, reverse=True)))


def values(drawn: tuple[np.ndarray, list[int]], names: str) -> list[np.ndarray]:
    view = irmeta.JudgedRanks.from_arrays(drawn[0], np.array(drawn[1]))
    return [found.means() for found in irmeta.preferences_of(view, names)]


@given(ranks_and_grades(1, 3))
def test_preferences__equal_with_a_single_relevant_doc(drawn):
    rpp, recall, precision = values(drawn, "RPP,LexiRecall,LexiPrecision")
    np.testing.assert_array_equal(rpp, recall)
    np.testing.assert_array_equal(rpp, precision)


@given(ranks_and_grades(5, 1))
def test_rpp__binary_equals_graded_with_a_single_grade(drawn):
    graded, binary = values(drawn, "RPP(p=dcg),RPP(p=dcg,grades=binary)")
    np.testing.assert_array_equal(graded, binary)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("p", ["uniform", "dcg", "inverse"])
def test_strpp__equals_binary_rpp_with_a_single_subtopic(p: str):
    qrels = {query: dict(docs) for query, docs in crowd().qrels.items()}
    store = Track(crowd().runs, qrels, diversity={q: {"1": d} for q, d in qrels.items()}).read()
    names = [f"STRPP(p={p})", f"STRPP(p={p},background=no)", f"RPP(p={p},grades=binary)"]
    both, alone, binary = (
        irmeta.preferences_of(next(store.views("t", needs=["subtopics"])), name)[0]
        for name in names
    )
    np.testing.assert_allclose(both.means(), binary.means(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(alone.means(), binary.means(), rtol=0, atol=1e-12)
    assert np.abs(binary.means()).max() > 0.1


@given(ranks_and_grades(4, 2), st.integers(1, 3))
def test_preferences__nonrelevant_docs_below_the_last_relevant_doc_change_nothing(drawn, added):
    names = ",".join(set(preference_registry()) - {"STRPP"})
    ranks, grades = drawn
    lengths = np.where(ranks.max(axis=0) > 0, ranks.max(axis=0), 1)[None]
    views = [
        irmeta.JudgedRanks.from_arrays(ranks, np.array(grades), lengths=lengths + more)
        for more in (0, added)
    ]
    for one, other in zip(*(irmeta.preferences_of(v, names) for v in views), strict=True):
        np.testing.assert_array_equal(one.means(), other.means())


def test_preferences__one_system_has_no_opponent():
    view = irmeta.JudgedRanks.from_arrays(np.array([[1], [2]]), np.array([1, 1]))
    for found in irmeta.preferences_of(view, ",".join(set(preference_registry()) - {"STRPP"})):
        assert found.means().tolist() == [[0.0]]
        assert np.isnan(found.win_rates().values).all()
        assert found.frame().height == found.per_query().height == 0


def test_preferences__without_relevant_docs_are_undefined_and_counted():
    view = irmeta.JudgedRanks.from_arrays(
        np.array([[1, 2], [1, 0]]), np.array([1, 0]), offsets=[0, 1, 2, 2]
    )
    (found,) = irmeta.preferences_of(view, "RPP")
    assert found.defined.tolist() == [True, False, False]
    assert found.frame().select("value", "queries").rows() == [(1.0, 1), (-1.0, 1)]
    nothing = irmeta.JudgedRanks.from_arrays(np.array([[1, 2]]), np.array([0]))
    (found,) = irmeta.preferences_of(nothing, "RPP")
    assert np.isnan(found.means()).all()
    assert found.frame()["queries"].to_list() == [0, 0]
    assert found.per_query().height == 0


def test_preferences__two_empty_lists_tie_and_lose_to_any_relevant_doc():
    view = irmeta.JudgedRanks.from_arrays(np.array([[0, 0, 9], [0, 0, 0]]), np.array([1, 1]))
    expected = {"RPP": 0.5, "LexiRecall": 1.0, "LexiPrecision": 1.0, "OI": 0.5}
    expected["RRLexiPrecision"] = 1 / 9
    for name, value in expected.items():
        (found,) = irmeta.preferences_of(view, name)
        assert found.means().tolist() == [[0, 0, -value], [0, 0, -value], [value, value, 0]]


def test_win_rates__under_groups_clones_leave_other_groups_alone():
    ranks, grades = np.array([[1, 2, 3, 4], [5, 0, 2, 1]]), np.array([2, 1])

    def rates(systems: list[int], groups: list[str]) -> dict[str, float]:
        view = irmeta.JudgedRanks.from_arrays(ranks[:, systems], grades)
        (found,) = irmeta.preferences_of(view, "RPP(p=dcg)")
        found = replace(found, groups=tuple(groups))
        return dict(zip(groups, found.win_rates(by_group=True).means.tolist(), strict=True))

    plain = rates([0, 1, 2], ["a", "b", "c"])
    cloned = rates([0, 0, 0, 1, 2], ["a", "a", "a", "b", "c"])
    assert cloned == pytest.approx({**plain, "a": cloned["a"]}, abs=1e-15)
    assert rates([0, 1, 2, 3], ["a", "b", "c", "d"]) != plain


LEXI_RECALL = next(rule for rule in RULES if rule.name == "LexiRecall")


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("RPP", "RPP"),
        (" RPP(p=uniform, grades=graded) ", "RPP"),
        ("RPP(grades=binary,p=dcg)@100", "RPP(p=dcg,grades=binary)@100"),
        ("RPP(p=geometric)", "RPP(p=geometric,g=0.8)"),
        ("RPP(g=0.5,p=geometric,rel=2)", "RPP(p=geometric,g=0.5,rel=2)"),
        ("RPP(g=0.8)", "RPP"),
        ("STRPP(background=yes)", "STRPP"),
        ("STRPP(background=no,p=inverse)", "STRPP(p=inverse,background=no)"),
        ("STRPP(background=adhoc)", "STRPP(background=adhoc)"),
        ("LexiRecall(rel=1)@5", "LexiRecall@5"),
        ("OI(p=dcg,unjudged=condensed)", "OI(p=dcg,unjudged=condensed)"),
        ("dcgrpp", "RPP(p=dcg)"),
        ("invRPP@10", "RPP(p=inverse)@10"),
        ("ST-RPP", "STRPP"),
    ],
)
def test_parse_preference__prints_the_canonical_name(written: str, printed: str):
    spec = parse_preference(written)
    assert spec.name == printed
    assert parse_preference(printed) == spec


def test_parse_preferences__splits_a_text_and_drops_duplicates():
    names = [s.name for s in parse_preferences("rpp,RPP(p=dcg,grades=binary), dcgrpp,RPP(p=dcg)")]
    assert names == ["RPP", "RPP(p=dcg,grades=binary)", "RPP(p=dcg)"]


@pytest.mark.parametrize("name", ALIASES)
def test_aliases__name_registered_preferences(name: str):
    assert parse_preference(name).name == ALIASES[name]
    assert is_preference(name)


def test_is_preference__not_a_measure():
    assert is_preference("RPP(p=dcg)@5")
    assert not any(map(is_preference, ("AP", "R@10", "RR", "rp")))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("RPPP", "unknown preference 'RPPP'. Did you mean 'RPP'?"),
        ("RPP(p)", "write parameters as name=value"),
        ("RPP(q=1)", "RPP has no parameter 'q'"),
        ("RPP@0", "a cutoff is at least 1"),
        ("RPP@k", "cannot be read"),
        ("RPP(g=0.5,p=dcg)", "g=0.5 needs p=geometric"),
        ("RPP(g=1,p=geometric)", "g=1 is not between 0 and 1"),
        ("RPP(average=sum)", "has no parameter 'average'"),
        ("LexiRecall(p=dcg)", "LexiRecall has no parameter 'p'"),
    ],
)
def test_parse_preference__invalid_name_is_an_error(name: str, message: str):
    with pytest.raises(MeasureError) as raised:
        parse_preference(name)
    assert message in str(raised.value)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Install other packages' entry points for one test."""
    with entry_points_of("irmeta.preferences", preference_registry, monkeypatch) as install:
        yield install


def test_registry__entry_point_preference_is_computed(installed):
    mine = replace(LEXI_RECALL, name="Mine")
    installed(Entry("mine", "their.module:MINE", loading(mine)))
    view = irmeta.JudgedRanks.from_arrays(np.array([[1, 2]]), np.array([1]))
    (found,) = irmeta.preferences_of(view, "Mine")
    assert found.name == "Mine"
    assert found.means().tolist() == [[0, 1], [-1, 0]]


def test_registry__preferences_of_other_packages_cannot_change_a_view(installed):
    def hostile(view, params, k):
        view.sorted_ranks(1)[0][:] = 1

    installed(
        Entry(
            "mine",
            "their.module:MINE",
            loading(replace(LEXI_RECALL, name="Mine", compare=hostile)),
        )
    )
    view = irmeta.JudgedRanks.from_arrays(np.array([[1, 2], [3, 0]]), np.array([1, 1]))
    before = irmeta.preferences_of(view, "RPP")[0].means().tolist()
    with pytest.raises(MeasureError, match=r"preference Mine failed: ValueError: .*read-only"):
        irmeta.preferences_of(view, "Mine")
    assert irmeta.preferences_of(view, "RPP")[0].means().tolist() == before


def test_registry__entry_point_that_cannot_be_loaded_is_warned_of(installed):
    taken = Entry("taken", "a:B", loading([replace(LEXI_RECALL, name="RPP")]))
    wrong = Entry("wrong", "c:D", loading(["text"]))
    absent = Entry("absent", "e:F", loading(ImportError("no module")))
    alias = Entry("alias", "g:H", loading(replace(LEXI_RECALL, name="rpp")))
    broken = Entry(
        "broken", "i:J", loading(replace(LEXI_RECALL, name="Broken", needs=lambda params: 1 / 0))
    )
    installed(taken, wrong, absent, alias, broken)
    with pytest.warns(EntryPointWarning) as warned:
        names = preference_registry().keys()
    assert {"RPP", "LexiRecall"} <= names
    messages = [str(one.message) for one in warned]
    for text in (
        "an existing name",
        "not a PreferenceRule",
        "no module",
        "'rpp', another name of RPP",
        "preference Broken failed: ZeroDivisionError",
    ):
        assert any(text in message for message in messages)
    with pytest.raises(MeasureError, match="Its package may be missing"):
        parse_preference("Mine")


@pytest.mark.parametrize("name", ["RPP(p=dcg)@10", "STRPP(background=yes)"])
def test_spec__is_pickled_by_name(name):
    spec = parse_preference(name)
    assert pickle.loads(pickle.dumps(spec)) == spec
