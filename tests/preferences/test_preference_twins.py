"""Every preference against its naive twin: values, win rates, and the arithmetic of traces."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given

import irmeta
from irmeta.policies import EvalPolicy
from irmeta.preferences.evaluate import evaluate_preferences
from irmeta.preferences.registry import parse_preference, parse_preferences, preference_registry
from irmeta.results.verdicts import TrackPreferences
from support.making import Track, diverse_tracks, tracks
from twins import preferences as naive

AD_HOC = {
    "RPP": naive.graded_rpp,
    "RPP(p=dcg)": partial(naive.graded_rpp, p="dcg"),
    "RPP(p=inverse,grades=binary)": partial(naive.graded_rpp, p="inverse", grades="binary"),
    "RPP(p=geometric,g=0.8)": partial(naive.graded_rpp, p="geometric"),
    "RPP(grades=binary,rel=2)@3": partial(naive.graded_rpp, rel=2, grades="binary", k=3),
    "RPP(p=dcg,rel=2)@4": partial(naive.graded_rpp, p="dcg", rel=2, k=4),
    "LexiRecall": partial(naive.lexicographic, first=False),
    "LexiRecall@4": partial(naive.lexicographic, first=False, k=4),
    "LexiPrecision": partial(naive.lexicographic, first=True),
    "RRLexiPrecision": partial(naive.lexicographic, first=True, reciprocal=True),
    "RRLexiPrecision@2": partial(naive.lexicographic, first=True, reciprocal=True, k=2),
    "OI": naive.offline_interleaving,
    "OI(p=dcg)@5": partial(naive.offline_interleaving, p="dcg", k=5),
}
BY_SUBTOPIC = {
    "STRPP": naive.subtopic_rpp,
    "STRPP(p=dcg,rel=2)@4": partial(naive.subtopic_rpp, p="dcg", rel=2, k=4),
    "STRPP(p=inverse,background=no)": partial(naive.subtopic_rpp, p="inverse", background={}),
}


def compared(store: irmeta.Store, names: list[str], **choices: str) -> list[TrackPreferences]:
    specs = parse_preferences(names)
    return evaluate_preferences(store.track("t", EvalPolicy(**choices)), specs)


def rankings_of(store: irmeta.Store) -> dict[tuple[str, str], list[str]]:
    ranked = store.runs().sort("rank").group_by("system", "query").agg("doc").collect()
    return {(system, query): docs for system, query, docs in ranked.iter_rows()}


def assert_twins(found, rankings, judged, twin, tolerance=1e-12) -> None:
    """Compare all pairs on all queries, their mean, and the win rates with a naive twin."""
    preference, systems = found.preference(), found.systems
    rows = []
    for q, query in enumerate(found.queries):
        lists = [rankings.get((system, query), []) for system in systems]
        expected = np.array([[twin((a, b), judged[query]) for b in lists] for a in lists])
        np.testing.assert_allclose(
            preference.difference(q), expected, rtol=0, atol=tolerance, err_msg=found.name
        )
        assert found.defined[q] == (not math.isnan(expected[0, 0]))
        rows.append(expected)
    defined = [row for row in rows if not np.isnan(row).any()]
    means = np.mean(defined, axis=0) if defined else np.full((len(systems),) * 2, np.nan)
    np.testing.assert_allclose(found.means(), means, rtol=0, atol=tolerance, err_msg=found.name)
    rates = np.array([row.sum(axis=1) / (len(systems) - 1) for row in rows])
    values = found.win_rates().values
    np.testing.assert_allclose(values, rates, rtol=0, atol=tolerance, err_msg=found.name)


@given(tracks())
def test_preferences__equal_naive_twins(track: Track):
    store = track.read()
    rankings = rankings_of(store)
    for found, twin in zip(compared(store, list(AD_HOC)), AD_HOC.values(), strict=True):
        assert_twins(found, rankings, track.qrels, twin)


@pytest.mark.exhaustive
@given(tracks())
def test_preferences__condensed_equal_twins_of_lists_without_unjudged_docs(track: Track):
    store, names = track.read(), ["RPP(unjudged=condensed)", "OI(unjudged=condensed)"]
    rankings = {
        (system, query): [d for d in docs if track.qrels.get(query, {}).get(d, -1) >= 0]
        for (system, query), docs in rankings_of(store).items()
    }
    for found, name in zip(compared(store, names), ("RPP", "OI"), strict=True):
        assert_twins(found, rankings, track.qrels, AD_HOC[name])


@pytest.mark.exhaustive
@given(diverse_tracks())
def test_preferences__equal_naive_twins_by_subtopic(track: Track):
    store = track.read()
    rankings = rankings_of(store)
    for found, twin in zip(compared(store, list(BY_SUBTOPIC)), BY_SUBTOPIC.values(), strict=True):
        judged = {query: track.diversity.get(query, {}) for query in found.queries}
        assert_twins(found, rankings, judged, twin)


@pytest.mark.exhaustive
@given(diverse_tracks())
def test_preferences__background_of_another_qrels_set_equals_twin(track: Track):
    assume(track.qrels)
    store = track.read()

    def twin(lists, judged):
        return naive.subtopic_rpp(lists, judged[0], background=judged[1])

    names = ["STRPP(background=qrels)", "STRPP"]
    found, plain = compared(store, names, qrels="diversity")
    sets = track.diversity, track.qrels
    judged = {query: tuple(of.get(query, {}) for of in sets) for query in found.queries}
    assert_twins(found, rankings_of(store), judged, twin)
    assert plain.queries == tuple(sorted(track.diversity))


def test_registry__every_preference_has_a_naive_twin():
    names = {parse_preference(name).rule.name for name in (*AD_HOC, *BY_SUBTOPIC)}
    assert names == preference_registry().keys()


@pytest.mark.parametrize(
    ("grades", "expected"), [("binary", -5 / 9), ("graded", -1 / 2)], ids=["Eq. 4", "Eq. 5"]
)
def test_rpp__worked_example_of_the_paper(worked_examples, grades: str, expected: float):
    store = irmeta.read(worked_examples, track="paper4-x-y")
    view = next(store.views("paper4-x-y"))
    (found,) = irmeta.preferences_of(view, f"RPP(grades={grades})")
    x, y = (list(found.systems).index(name) for name in "XY")
    assert found.means()[x, y] == pytest.approx(expected, abs=1e-15)
    assert found.means()[y, x] == -found.means()[x, y]
