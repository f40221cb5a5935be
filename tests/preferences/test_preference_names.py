"""Names of preferences: canonical names, aliases, errors, and preferences of other packages."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest

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


@dataclass(frozen=True)
class Entry:
    """Stub for an entry point of another package."""

    name: str
    value: str
    loaded: object

    def load(self) -> object:
        if isinstance(self.loaded, Exception):
            raise self.loaded
        return self.loaded


@pytest.fixture
def installed(monkeypatch):
    """Install other packages' entry points for one test."""

    def install(*entries: Entry) -> None:
        def entry_points(group: str) -> list[Entry]:
            assert group == "irmeta.preferences"
            return list(entries)

        monkeypatch.setattr("irmeta.naming.entry_points", entry_points)
        preference_registry.cache_clear()

    yield install
    monkeypatch.undo()
    preference_registry.cache_clear()


def test_registry__entry_point_preference_is_computed(installed):
    mine = replace(LEXI_RECALL, name="Mine")
    installed(Entry("mine", "their.module:MINE", mine))
    view = irmeta.JudgedRanks.from_arrays(np.array([[1, 2]]), np.array([1]))
    (found,) = irmeta.preferences_of(view, "Mine")
    assert found.name == "Mine"
    assert found.means().tolist() == [[0, 1], [-1, 0]]


def test_registry__preferences_of_other_packages_cannot_change_a_view(installed):
    def hostile(view, params, k):
        view.sorted_ranks(1)[0][:] = 1

    installed(
        Entry("mine", "their.module:MINE", replace(LEXI_RECALL, name="Mine", compare=hostile))
    )
    view = irmeta.JudgedRanks.from_arrays(np.array([[1, 2], [3, 0]]), np.array([1, 1]))
    before = irmeta.preferences_of(view, "RPP")[0].means().tolist()
    with pytest.raises(MeasureError, match=r"preference Mine failed: ValueError: .*read-only"):
        irmeta.preferences_of(view, "Mine")
    assert irmeta.preferences_of(view, "RPP")[0].means().tolist() == before


def test_registry__entry_point_that_cannot_be_loaded_is_warned_of(installed):
    taken = Entry("taken", "a:B", [replace(LEXI_RECALL, name="RPP")])
    wrong = Entry("wrong", "c:D", ["text"])
    absent = Entry("absent", "e:F", ImportError("no module"))
    alias = Entry("alias", "g:H", replace(LEXI_RECALL, name="rpp"))
    broken = Entry("broken", "i:J", replace(LEXI_RECALL, name="Broken", needs=lambda params: 1 / 0))
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
