"""Comparison of a measure with its slow twin."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, given, settings

from irmeta.api import Store
from irmeta.measures.evaluate import evaluate
from irmeta.measures.names import Spec, parse_measure
from irmeta.measures.spec import Measure
from irmeta.policies import EvalPolicy
from irmeta.testing.checks import equal, require
from irmeta.testing.samples import CUTOFFS, crowd, written
from irmeta.testing.tracks import Track, tracks

Twin = Callable[[list[str], dict[str, int], int | float | None], float]
"""Function from ranking (best first), grades by doc and cutoff to the value."""


def check_twin(measure: Measure, twin: Twin) -> None:
    """Check that a measure agrees with a slow twin, under its default parameters."""
    specs = []
    for cutoff in CUTOFFS[measure.cutoff_is]:
        if cutoff is None and measure.cutoff == "required":
            continue
        if cutoff is None or measure.cutoff != "none":
            specs.append(parse_measure(written(measure, {}, cutoff)))

    def agrees(track: Track) -> None:
        _agrees(track, specs, twin)

    on_tracks(agrees)


def on_tracks(check: Callable[[Track], None]) -> None:
    """Check `crowd`, and tracks that hypothesis draws: the same everywhere, without a deadline."""

    @settings(
        max_examples=30,
        deadline=None,
        derandomize=True,
        report_multiple_bugs=False,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(tracks(systems=3, queries=3))
    def check_drawn(track: Track) -> None:
        check(track)

    check(crowd())
    check_drawn()


def rankings_of(store: Store) -> dict[tuple[str, str], list[str]]:
    """Return the docs of each system and query, best first."""
    ranked = store.runs().sort("rank").group_by("system", "query").agg("doc").collect()
    return {(system, query): docs for system, query, docs in ranked.iter_rows()}


def _agrees(track: Track, specs: list[Spec], twin: Twin) -> None:
    store = track.read()
    rankings = rankings_of(store)
    scores = evaluate(store.reader, track.name, specs, EvalPolicy())
    for spec, values in zip(specs, scores.values, strict=True):
        for q, query in enumerate(scores.queries):
            for s, system in enumerate(scores.systems):
                docs, grades = rankings.get((system, query), []), track.qrels[query]
                expected, value = twin(list(docs), dict(grades), spec.cutoff), values[q, s]
                message = (
                    f"{value!r}, but the twin says {expected!r}, of {docs} with grades {grades}"
                )
                require(equal(expected, value, 1e-9), spec.name, message)
