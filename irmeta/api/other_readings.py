"""Other policies and measures under which a published value may have been computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from irmeta.measures.names import parse_measure
from irmeta.measures.spec import Spec
from irmeta.policies import Averaged, TieOrder

CUTOFFS = (5, 10, 15, 20, 30, 100, 1000)
"""Cutoffs of trec_eval that a column may hold under another name."""
DEPTHS = (1000, 100)
"""Depths to which evaluators cut lists."""


@dataclass(frozen=True)
class Reading:
    """A way of computing a measure that may explain a published value.

    Attributes
    ----------
    reason : str
        The way in words.
    choices : dict
        Fields of `EvalPolicy` that differ.
    other : callable
        Function from a measure to the one that is computed; None: this reading does not concern it.
    """

    reason: str
    choices: dict[str, Any] = field(default_factory=dict)
    other: Callable[[Spec], Spec | None] = lambda spec: spec


def other_readings(tie_order: str, sets: list[str], highest_grade: int) -> Iterator[Reading]:
    """Yield readings of a track's values, the likelier first.

    Parameters
    ----------
    tie_order
        Tie order of the store.
    sets
        Names of the track's qrels sets; the first is primary.
    highest_grade
        Highest grade of the track.
    """
    likely = ("trec_eval10", "file", "score-file", "rank", "trec_eval")
    assert set(likely) == set(get_args(TieOrder))
    for order in likely:
        if order != tie_order:
            yield Reading(f"tie order {order}", {"tie_order": order})
    for queries in get_args(Averaged)[::-1]:
        if queries != "judged":
            yield Reading(f"mean over {queries} queries", {"queries": queries})
    for name in sets[1:]:
        yield Reading(f"qrels set {name}", {"qrels": name})
    for rel in range(2, highest_grade + 1):
        yield Reading(f"relevant from grade {rel}", other=_setter("rel", rel))
    for depth in DEPTHS:
        yield Reading(f"lists cut at {depth:,} docs", other=_cutter(depth, is_new=True))
    yield Reading("negative grades as nonrelevant", {"negative": "nonrelevant"})
    for form in ("original", "bpref-10"):
        yield Reading(f"{form} definition of bpref", other=_setter("form", form))
    for k in CUTOFFS:
        yield Reading(f"measured at cutoff {k}", other=_cutter(k, is_new=False))


def _setter(name: str, value: Any) -> Callable[[Spec], Spec | None]:
    return lambda spec: with_parameter(spec, name, value)


def with_parameter(spec: Spec, name: str, value: Any) -> Spec | None:
    """Return a measure with another value of a parameter; None if nothing changes."""
    if spec.settings.get(name, value) == value:
        return None
    changed = tuple((n, value if n == name else old) for n, old in spec.params)
    return _parsed(replace(spec, params=changed, asked=""))


def _cutter(k: int, *, is_new: bool) -> Callable[[Spec], Spec | None]:
    """Return a function that gives a measure its first cutoff, or another one."""

    def change(spec: Spec) -> Spec | None:
        measure = spec.measure
        if measure.cutoff == "none" or measure.cutoff_is != "rank" or measure.cutoff_prefix:
            return None
        if (spec.cutoff is None) != is_new or spec.cutoff == k:
            return None
        return _parsed(replace(spec, cutoff=k, asked=""))

    return change


def _parsed(spec: Spec) -> Spec:
    return parse_measure(spec.name)  # one name for equal measures
