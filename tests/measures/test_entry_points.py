"""Measures that other packages register by entry points."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import irmeta
from irmeta.errors import EntryPointWarning, MeasureError
from irmeta.measures.names import parse_measure, registry
from irmeta.measures.spec import Measure
from support.entry_points import Entry, entry_points_of, loading


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Install other packages' entry points for one test."""
    with entry_points_of("irmeta.measures", registry, monkeypatch) as install:
        yield install


def other(name: str) -> Measure:
    """Return a measure of another package."""
    return replace(registry()["RR"], name=name, summary="theirs")


def test_registry__entry_point_measure_is_computed(installed, made_store):
    mine = other("Mine")
    installed(Entry("mine", "their.module:MINE", lambda: mine))
    assert parse_measure("Mine(rel=2)@5").name == "Mine(rel=2)@5"
    frame = made_store.means("RR,Mine", track="passage")
    rr, theirs = (frame.remove(measure=m)["value"].to_list() for m in ("Mine", "RR"))
    assert rr == theirs
    with pytest.raises(MeasureError, match="Did you mean 'Mine'"):
        parse_measure("Mien")


def _raises(view, params, ks):
    raise ValueError("\x1b[31mred")


@pytest.mark.parametrize(
    ("compute", "said"),
    [
        (_raises, "^measure Mine failed: ValueError: .*red"),
        (lambda view, params, ks: sys.exit(3), "^measure Mine failed: SystemExit: 3"),
        (lambda view, params, ks: np.ones((1, 1)), r"returned float64 of shape \(1, 1\), not"),
        (lambda view, params, ks: 1.0, r"returned float of shape \(\), not float64"),
        (
            lambda view, params, ks: np.ones((len(ks), *view.lengths.shape), np.int64),
            "returned int64 of shape",
        ),
    ],
    ids=["raises", "exits", "shape", "scalar", "dtype"],
)
def test_registry__entry_point_measure_is_checked_at_the_door(installed, made_store, compute, said):
    mine = replace(other("Mine"), compute=compute)
    installed(Entry("mine", "their.module:MINE", lambda: mine))
    with pytest.raises(MeasureError, match=said):
        made_store.means("Mine", track="passage")


def _writes_ranks(view):
    view.ranks[:] = 1


def _writes_sorted(view):
    view.sorted_ranks(1)[0][:] = 1


def _makes_writeable(view):
    view.grades.flags.writeable = True


def _writes_scale(view):
    view.facts.policy["tie_order"] = "file"
    object.__setattr__(view, "ranks", view.ranks * 0 + 1)
    object.__setattr__(view.facts, "highest_grade", 100)
    view.docs[0] = "another"
    raise ValueError("written")


@pytest.mark.parametrize("kind", ["compute", "events"])
@pytest.mark.parametrize("write", [_writes_ranks, _writes_sorted, _makes_writeable, _writes_scale])
def test_registry__measures_of_other_packages_cannot_change_a_view(
    installed, kind: str, write: Callable[[Any], None]
):
    original = getattr(registry()["AP"], kind)

    def hostile(view: Any, *arguments: Any) -> Any:
        with pytest.raises(ValueError, match=r"read-only|WRITEABLE|written"):
            write(view)
        return original(view, *arguments)

    mine = replace(registry()["AP"], **{"name": "Mine", kind: hostile})
    installed(Entry("mine", "their.module:MINE", lambda: mine))
    view = irmeta.JudgedRanks.from_arrays(
        np.array([[1, 3], [2, 1], [3, 2]]), np.array([2, 1, 0]), systems=["a", "b"]
    )
    names = "AP,nDCG@2,RR,P@1"
    before = irmeta.scores_of(view, names).values.tobytes()
    arguments = [parse_measure("AP").settings, *([[None]] if kind == "compute" else [])]
    getattr(registry()["Mine"], kind)(view, *arguments)
    assert view.sorted_ranks(1)[0].flags.writeable  # kernels know one form
    assert irmeta.scores_of(view, names).values.tobytes() == before


def test_evaluate_command__message_of_a_failing_measure_is_escaped(installed, made_store, run):
    mine = replace(other("Mine"), compute=_raises)
    installed(Entry("mine", "their.module:MINE", lambda: mine))
    done = run("evaluate", made_store.path, "-m", "Mine", "--track", "passage")
    assert done.status == 2
    assert r"irmeta: measure Mine failed: ValueError: \x1b[31mred" in done.err
    assert "\x1b" not in done.err


def test_registry__entry_point_may_register_several_measures(installed):
    pair = (other("One"), other("Two"))
    installed(Entry("pair", "their.module:PAIR", lambda: pair))
    assert {"One", "Two", "AP"} <= registry().keys()


def failing(function: str) -> Measure:
    """Return a measure one of whose functions raises an exception."""
    return replace(other("Bad"), **{function: lambda *arguments: 1 / 0})


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: ImportError("no module\nnamed x"), "ImportError: no module named x"),
        (lambda: ZeroDivisionError(), "ZeroDivisionError"),
        (lambda: SystemExit(3), "SystemExit: 3"),
        (lambda: 3, "TypeError"),
        (lambda: [3], "it registers 3, not a Measure"),
        (lambda: other("AP"), "it registers 'AP', an existing name"),
        (lambda: other("Mine"), "it registers 'Mine', an existing name"),
        (lambda: other("a-b"), "it registers 'a-b', not a word"),
        (lambda: (other("Good"), other("AP")), "it registers 'AP', an existing name"),
        (lambda: other("MAP"), "it registers 'MAP', another name of AP"),
        (lambda: other("mrr"), "it registers 'mrr', another name of RR"),
        (lambda: other("Basic"), "it registers 'Basic', another name of several measures"),
        (lambda: other("Mine10"), "it registers 'Mine10', not a word"),
        (lambda: other("é"), "it registers 'é', not a word"),
        (lambda: failing("needs"), "measure Bad failed: ZeroDivisionError"),
        (lambda: failing("simplify"), "measure Bad failed: ZeroDivisionError"),
        (lambda: failing("printed"), "ZeroDivisionError"),
        (lambda: replace(other("Bad"), needs=lambda params: ["costs", "x"]), "need = 'x'"),
        (lambda: replace(other("Bad"), bounds=(1, 0)), "bounds 1 and 0 of Bad do not ascend"),
        (lambda: replace(other("Bad"), bounds=None), "TypeError"),
        (lambda: replace(other("Bad"), parameters=(3,)), "AttributeError"),
        (lambda: replace(other("Bad"), no_relevant="0"), "Bad.no_relevant is no number: '0'"),
        (lambda: replace(other("Bad"), summary=None), "Bad.summary is no text: None"),
    ],
)
def test_registry__entry_point_load_failure_warns_once(installed, make, reason):
    """Other measures stay available; the failed entry point registers none."""
    bad = make()
    installed(
        Entry("a", "a.module:A", loading(other("Mine"))), Entry("bad", "b.module:B", loading(bad))
    )
    said = rf"the entry point 'bad' \(b\.module:B\) could not be loaded: .*{re.escape(reason)}"
    with pytest.warns(EntryPointWarning, match=said) as warned:
        assert parse_measure("Mine").measure.name == "Mine"
    assert len(warned) == 1
    assert parse_measure("AP").measure.summary != "theirs"
    with pytest.raises(MeasureError, match=said):
        parse_measure("Good")


@pytest.mark.filterwarnings("default::irmeta.errors.EntryPointWarning")
def test_measures_command__entry_point_load_failure_prints_one_line(installed, run):
    installed(Entry("bad", "b.module:B", loading(ImportError("\x1b[31mred"))))
    done = run("measures", "AP")
    assert done.status == 0
    assert done.err == (
        "irmeta: the entry point 'bad' (b.module:B) could not be loaded: "
        "ImportError: \\x1b[31mred. Fix or remove its package.\n"
    )
