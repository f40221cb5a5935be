"""Every preference against its naive twin, and recommenders as users."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given

import irmeta
from irmeta.policies import EvalPolicy
from irmeta.preferences.evaluate import evaluate_preferences
from irmeta.preferences.registry import parse_preference, parse_preferences, preference_registry
from irmeta.results.verdicts import TrackPreferences
from irmeta.stats.preferences import preference_pairs
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


NAME = "RPP(grades=binary,rel=4)"


@pytest.fixture(scope="module")
def movies(collections) -> irmeta.Store:
    """200 users and 12 recommenders."""
    return irmeta.read(collections.parent / "recommender")


def test_recommender__rpp_of_ratings_equals_its_twin(movies):
    (found,) = movies.pairs.compare(NAME, track="movies")
    runs = movies.runs("movies").sort("rank").group_by("system", "query").agg("doc").collect()
    lists = {(system, query): docs for system, query, docs in runs.iter_rows()}
    qrels = movies.qrels("movies").collect()
    assert set(qrels["grade"]) == {1, 2, 3, 4, 5}
    values = dict(found.differences())
    assert len(values) == 200
    for user in ("u1", "u57", "u200"):
        judged = dict(qrels.filter(query=user).select("doc", "grade").iter_rows())
        rankings = [lists[system, user] for system in found.systems]
        expected = [
            [naive.graded_rpp((a, b), judged, rel=4, grades="binary") for b in rankings]
            for a in rankings
        ]
        np.testing.assert_allclose(values[user], expected, rtol=0, atol=1e-12)


def test_recommender__lower_ratings_do_not_count(movies, tmp_path):
    qrels = movies.qrels("movies").filter(pl.col("grade") >= 4).collect()
    lines = (f"{query} 0 {doc} 1\n" for query, doc in qrels.select("query", "doc").iter_rows())
    (tmp_path / "movies" / "runs").mkdir(parents=True)
    (tmp_path / "movies" / "qrels").write_text("".join(lines))
    for system in ("pop1", "slim2"):
        docs = movies.runs("movies").filter(pl.col("system") == system).sort("query", "rank")
        rows = docs.select("query", "doc", "score").collect().iter_rows()
        text = "".join(f"{query} Q0 {doc} 0 {score} {system}\n" for query, doc, score in rows)
        (tmp_path / "movies" / "runs" / system).write_text(text)
    binary = irmeta.read(tmp_path)
    for name, plain in (("AP(rel=4)", "AP"), ("nDCG(gain=binary,rel=4)", "nDCG"), (NAME, "RPP")):
        if plain == "RPP":
            rated = movies.pairs.preferences(name).filter(system="slim2", other="pop1")
            others = binary.pairs.preferences(plain).filter(system="slim2")
        else:
            rated, others = (
                s.means(n, system="slim2") for s, n in ((movies, name), (binary, plain))
            )
        assert rated["value"].to_list() == others["value"].to_list()


@pytest.mark.exhaustive
def test_recommender__many_users_with_one_relevant_doc():
    rng = np.random.default_rng(0)
    queries, systems = 17_564, 21
    ranks = rng.integers(1, 101, (queries, systems)).astype(np.uint16)
    ranks[rng.random(ranks.shape) < 0.5] = 0  # not retrieved
    offsets = np.arange(queries + 1)
    view = irmeta.JudgedRanks.from_arrays(ranks, np.ones(queries, np.int8), offsets=offsets)
    rpp, recall, precision = irmeta.preferences_of(view, "RPP,LexiRecall,LexiPrecision")
    f = np.where(ranks == 0, 10_000, ranks).astype(np.int32)
    wins = np.array([np.sign(f - f[:, [s]]).sum(axis=0) for s in range(systems)])
    np.testing.assert_array_equal(rpp.means(), wins / queries)
    np.testing.assert_array_equal(recall.means(), rpp.means())
    np.testing.assert_array_equal(precision.means(), rpp.means())
    rates = rpp.win_rates()
    assert rates.values.shape == (queries, systems)
    np.testing.assert_allclose(rates.means, wins.sum(axis=1) / queries / (systems - 1), atol=1e-12)
    pairs = preference_pairs(rpp.preference(), "t")
    np.testing.assert_allclose(pairs.difference, wins / queries, atol=1e-12)
    assert not np.isnan(pairs.p_adjusted).any()
