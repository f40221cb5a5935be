"""Preferences on recommender data: ratings, where relevant is 4 and above, and many users."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.stats.preferences import preference_pairs
from twins import preferences as naive

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
