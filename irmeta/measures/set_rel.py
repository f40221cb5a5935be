"""Measures under the least relevant grade that a qrels set states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from irmeta.measures.names import Spec, merged, named_spec, parse_call
from irmeta.naming.parameters import REL
from irmeta.policies import EvalPolicy
from irmeta.rankings.set_rel import policies_of_sets, stated_rel
from irmeta.store.scan import StoreReader, Tracks, tracks_of


def relevant_in_set(
    store: StoreReader, track: str, specs: Sequence[Spec], policy: EvalPolicy
) -> list[Spec]:
    """Return measures as they are named on a track: with the `rel` of their qrels set.

    A name that states `rel` keeps it. Graded gains, such as those of nDCG, have no threshold, and
    keep the docs of every grade.
    """
    return merged(one for spec in specs for one in _in_set(store, track, spec, policy))


def relevant_in_sets(
    store: StoreReader, tracks: Iterable[str], specs: Sequence[Spec], policy: EvalPolicy
) -> list[Spec]:
    """Return measures as they are named on any of some tracks and of the sets of a policy."""
    return merged(
        one
        for track in tracks
        for of_set in policies_of_sets(store, track, policy)
        for one in relevant_in_set(store, track, specs, of_set)
    )


def measures_of_call(
    store: StoreReader, tracks: Tracks, names: str | Iterable[str], choices: Mapping[str, Any]
) -> list[Spec]:
    """Return the measures of a call as they are named on its tracks."""
    specs, policy = parse_call(names, choices)
    return relevant_in_sets(store, tracks_of(store, tracks), specs, policy)


def _in_set(store: StoreReader, track: str, spec: Spec, policy: EvalPolicy) -> list[Spec]:
    if spec.rel != 1 or not is_thresholded(spec):
        return [spec]
    return with_rel(spec, stated_rel(store, track, spec, policy.qrels))


def with_rel(spec: Spec, rel: float) -> list[Spec]:
    """Return a measure with a least relevant grade, and as it is for names that state theirs."""
    if rel == 1 or spec.rel != 1 or not is_thresholded(spec):
        return [spec]
    keeping = [name for name in spec.names if name in spec.stated]
    others = [name for name in spec.names if name not in spec.stated]
    found = list[Spec]()
    if keeping:
        found.append(replace(spec, asked=keeping[0], asked_too=tuple(keeping[1:])))
    if others:
        params = tuple((name, rel if name == REL.name else old) for name, old in spec.params)
        name = replace(spec, params=params).name
        found.append(named_spec(name, others[0], tuple(others[1:])))
    return found if spec.names[0] in spec.stated else found[::-1]


def is_thresholded(spec: Spec) -> bool:
    """Check whether no doc counts for a measure if all grades are below its `rel`."""
    binary = spec.settings.get("gain", "binary") == "binary" or "beta" in spec.settings
    return binary and REL in spec.measure.parameters
