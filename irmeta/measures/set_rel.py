"""Measures under the least relevant grade that a qrels set states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from irmeta.errors import MeasureError, NoMeasureError, RelevanceWarning, warn
from irmeta.measures.names import Spec, merged, named_spec, parse_call
from irmeta.naming.parameters import REL
from irmeta.phrases import count, listed
from irmeta.policies import EvalPolicy
from irmeta.rankings.qrels_sets import policies_of_sets, set_facts, stated_rel
from irmeta.store.scan import StoreReader, Tracks, read_table, tracks_of
from irmeta.trec.qrels import plain


def relevant_in_set(
    store: StoreReader, track: str, specs: Sequence[Spec], policy: EvalPolicy
) -> list[Spec]:
    """Return measures as they are named on a track: with the `rel` of their qrels set.

    A name that states `rel` keeps it. Graded gains, such as those of nDCG, have no threshold, and
    keep the docs of every grade. Where a set has decimal grades and nobody states a least relevant
    one, binary measures of a preset are left out, with a `RelevanceWarning`, if hardly any query
    has a doc of grade 1 or above.
    """
    chosen, decimals = list[Spec](), dict[str, list[Spec]]()
    for spec in specs:
        named = _in_set(store, track, spec, policy)
        chosen += named
        if spec in named and (qrels := _decimal_set(store, track, spec, policy)):
            decimals.setdefault(qrels, []).append(spec)
    for qrels, binary in decimals.items():
        left_out = _Decimals.of(store, track, qrels).check(track, binary)
        chosen = [spec for spec in chosen if spec not in left_out]
    if specs and not chosen:
        raise NoMeasureError(f"track {track!r}: no measure remains. Name one, or `rel=GRADE`.")
    return merged(chosen)


@dataclass(frozen=True)
class _Decimals:
    """Decimal grades of a qrels set whose least relevant grade nobody states.

    Attributes
    ----------
    grades
        The grades in words.
    queries, relevant
        Number of judged queries, and of those with a doc of grade 1 or above.
    """

    qrels: str
    grades: str
    queries: int
    relevant: int

    @classmethod
    def of(cls, store: StoreReader, track: str, qrels: str) -> _Decimals:
        rows = read_table(store, "qrels", track, pl.col("set") == qrels)
        best = rows.group_by("query").agg(pl.col("grade").max())["grade"]
        low, high = rows.select(low=pl.col("grade").min(), high=pl.col("grade").max()).row(0)
        number = count(rows["grade"].n_unique(), "grade")
        grades = f"{number} from {plain(low)} to {plain(high)}"
        return cls(qrels, grades, len(best), int((best >= 1).sum()))

    def check(self, track: str, specs: Sequence[Spec]) -> list[Spec]:
        """Return the measures to leave out; warn, or raise an error if one was named."""
        names = [name for spec in specs for name in spec.names if name not in spec.stated]
        what = (
            f"track {track}: the qrels set {self.qrels!r} has {self.grades}, and a doc of grade 1 "
            f"or above for {self.relevant:,} of {count(self.queries, 'judged query')}, the default "
            "for binary measures"
        )
        fix = "`rel=GRADE` names the least relevant grade."
        names = listed(names, MOST_NAMED)
        if self.relevant >= LEAST_RELEVANT * self.queries:
            warn(f"{what} ({names}). {fix}", RelevanceWarning, stacklevel=4)
            return []
        if not all(spec.preset for spec in specs):
            raise MeasureError(f"{what} such as {names}. {fix}")
        warn(f"{what}: {names} left out. {fix}", RelevanceWarning, stacklevel=4)
        return list(specs)


MOST_NAMED = 5  # measures that a message lists
LEAST_RELEVANT = 0.01
"""Least share of judged queries with a relevant doc, for the default `rel` with decimal grades."""


def _decimal_set(store: StoreReader, track: str, spec: Spec, policy: EvalPolicy) -> str | None:
    """Return the set of decimal grades that a binary measure without a stated `rel` reads."""
    if not any("levels" in one for one in store.read_record(track)["qrels"]):
        return None
    is_default = spec.rel == 1 and is_thresholded(spec) and set(spec.names) - set(spec.stated)
    if not is_default or stated_rel(store, track, spec, policy) is not None:
        return None
    facts = set_facts(store, track, spec, policy)
    return None if facts.levels is None else facts.qrels


def relevant_in_sets(
    store: StoreReader, tracks: Iterable[str], specs: Sequence[Spec], policy: EvalPolicy
) -> list[Spec]:
    """Return measures as they are named on any of some tracks and of the sets of a policy.

    Raises
    ------
    NoMeasureError
        If none remains on any track.
    """
    chosen, problem = list[Spec](), None
    for track in tracks:
        for of_set in policies_of_sets(store, track, policy):
            try:
                chosen += relevant_in_set(store, track, specs, of_set)
            except NoMeasureError as error:
                problem = error
    if problem is not None and not chosen:
        raise problem
    return merged(chosen)


def measures_of_call(
    store: StoreReader, tracks: Tracks, names: str | Iterable[str], choices: Mapping[str, Any]
) -> list[Spec]:
    """Return the measures of a call as they are named on its tracks."""
    specs, policy = parse_call(names, choices)
    return relevant_in_sets(store, tracks_of(store, tracks), specs, policy)


def _in_set(store: StoreReader, track: str, spec: Spec, policy: EvalPolicy) -> list[Spec]:
    if spec.rel != 1 or not is_thresholded(spec):
        return [spec]
    return with_rel(spec, stated_rel(store, track, spec, policy) or 1)


def with_rel(spec: Spec, rel: float) -> list[Spec]:
    """Return a measure with a least relevant grade, and as it is for names that state theirs."""
    if rel == 1 or spec.rel != 1 or not is_thresholded(spec):
        return [spec]
    keeping = [name for name in spec.names if name in spec.stated]
    others = [name for name in spec.names if name not in spec.stated]
    chosen = list[Spec]()
    if keeping:
        chosen.append(replace(spec, asked=keeping[0], asked_too=tuple(keeping[1:])))
    if others:
        params = tuple((name, rel if name == REL.name else old) for name, old in spec.params)
        name = replace(spec, params=params).name
        chosen.append(named_spec(name, others[0], tuple(others[1:])))
    return chosen if spec.names[0] in spec.stated else chosen[::-1]


def is_thresholded(spec: Spec) -> bool:
    """Check whether no doc counts for a measure if all grades are below its `rel`."""
    binary = spec.settings.get("gain", "binary") == "binary" or "beta" in spec.settings
    return binary and REL in spec.measure.parameters
