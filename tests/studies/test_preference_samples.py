"""Samples of queries and of relevant docs in the study of recall-paired preference."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.rankings.derive.drop import drop_relevant_shares
from support.examples import scaled
from support.making import Track, tracks
from support.viewing import view_of
from twins import preference_study as naive


@settings(max_examples=scaled(20))
@given(tracks(), st.integers(0, 9))
def test_drop_relevant_shares__are_nested_and_equal_to_single_shares(track: Track, seed: int):
    view, shares = view_of(track.read()), (0.0, 0.3, 0.5, 0.9)
    views = drop_relevant_shares(view, shares, rng=seed)
    for share, made in zip(shares, views, strict=True):
        alone = view.drop_relevant(share, rng=seed)
        assert docs_of(made) == docs_of(alone)
        assert np.array_equal(made.counts(1) > 0, view.counts(1) > 0)  # one remains
    for more, fewer in pairwise(views):
        assert set(docs_of(fewer)) <= set(docs_of(more))


def docs_of(view: irmeta.JudgedRanks) -> list[tuple[str, str]]:
    """Return the query and name of each judged doc."""
    query = view.query_of(np.arange(len(view.grades))).tolist()
    return list(zip((view.queries[q] for q in query), view.docs, strict=True))


@pytest.mark.parametrize("majority", ["queries", "decided"])
def test_preference_subsets__equal_naive_chains_of_the_same_samples(
    majority: Literal["queries", "decided"],
):
    rng = np.random.default_rng(5)
    rates = irmeta.Matrix(rng.integers(-2, 3, (7, 5)) / 4, tuple("1234567"), tuple("abcde"), "RPP")
    found = irmeta.stats.preference_subsets(rates, (2, 6), 8, majority=majority, rng=3)
    plan = irmeta.stats.Plan("queries", (2, 6), 8, 7, 5)
    whole = naive.mc4_scores(rates.values.tolist(), majority=majority)
    for row, sample in zip(found.iter_rows(named=True), plan.samples(3), strict=True):
        scores = naive.mc4_scores(rates.values[sample.queries].tolist(), majority=majority)
        expected = naive.tau_b(whole, scores)
        assert row["tau"] == pytest.approx(expected, nan_ok=True)
        assert (row["size"], row["measure"], row["systems"]) == (sample.size, "RPP", 5)
