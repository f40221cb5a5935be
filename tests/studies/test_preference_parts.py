"""Parts of the study of recall-paired preference: the paper's cells, sizes, recall levels."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.rankings.derive.drop import drop_relevant_shares
from irmeta.results.verdicts import Preference
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.preference import orders, study
from irmeta.studies.papers.preference.compute import TwoLists
from irmeta.studies.papers.preference.orders import (
    ComparedTrack,
    significant_pairs,
    table_2_mean,
)
from irmeta.studies.papers.preference.page import _orders
from irmeta.studies.papers.preference.study import PreferenceOptions
from support.examples import scaled
from support.making import Track, tracks
from support.viewing import view_of
from twins import preference_study as naive


def test_significant_pairs__prints_the_paper_beside_a_dataset_of_the_paper(
    made_store: irmeta.Store,
):
    options = PreferenceOptions(resamples=50)
    compared = ComparedTrack.of(TrackView(made_store.track("web"), options), options)
    rows = significant_pairs(compared, options, "table_3", "web (2012)")
    printed = {row["measure"]: row["printed"] for row in rows}
    assert (printed["RPP"], printed["RR"], printed["STRPP"]) == ("41.05", "12.77", "44.15")
    assert printed["STRPP(p=dcg)"] is None


def test_significant_pairs__tests_share_the_preferences_of_a_query(
    made_store: irmeta.Store, monkeypatch: pytest.MonkeyPatch
):
    options, asked = PreferenceOptions(resamples=50), list[tuple[str, int]]()
    compared = ComparedTrack.of(TrackView(made_store.track("web"), options), options)
    tested_by = orders._tested

    def tested(*arguments: Any) -> Any:
        preference = tested_by(*arguments)
        if not isinstance(preference, Preference):
            return preference

        def difference(query: int) -> np.ndarray:
            asked.append((preference.name, query))
            return preference.difference(query)

        return replace(preference, difference=difference)

    monkeypatch.setattr(orders, "_tested", tested)
    for table in orders.TESTS:
        assert list(significant_pairs(compared, options, table, None))
    assert len({*asked}) == len(asked) > 0


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        ((50, 48, 187.36), "web (2012)"),
        ((48, 32, 187.625), "web (2010)"),
        ((50, 8, 187.36), None),
        ((50, 48, 187.4), None),
    ],
)
def test_dataset_of__needs_equal_facts(facts: tuple[int, int, float], name: str | None):
    assert orders.dataset_of(*facts) == name


def test_paper__has_all_cells_of_tables_2_to_4():
    assert len(study.TABLE_2) == 30
    assert len(orders.PERCENT["table_3"]) == len(orders.PERCENT["table_4"]) == 16 * 6 + 6 * 4
    printed = {(*key[:2], *sorted(key[2:])): value for key, value in study.TABLE_2.items()}
    assert printed["single", "mc4", "AP", "RPP"].value == "0.86"
    assert printed["subtopic", "mc4", "ERR_IA@20", "StRecall@20"].value == "0.66"
    assert orders.PERCENT["table_4"]["robust", "nDCG"] == "49.34"
    assert len(printed) == 30


def test_kept__ten_sizes_up_to_all_queries():
    options = PreferenceOptions()
    assert options.kept(50) == (5, 10, 15, 20, 25, 30, 35, 40, 45, 50)
    assert options.kept(3) == (1, 2, 3)
    assert PreferenceOptions(sizes=(2, 9)).kept(3) == (2,)


def test_deltas__a_list_that_alone_misses_a_doc_loses_the_level():
    ranks = np.array([[1, 1], [2, 2], [3, 3]])  # in a corpus of the relevant docs
    is_missing = np.array([[False, False], [False, True], [True, True]])
    lists = TwoLists("1", ("a", "b"), ranks, is_missing)
    assert lists.deltas()["RPP"].tolist() == [0, 1, 0]


def test_sections__captions_of_table_2_name_the_tracks_of_each_part():
    """Table 2b said that the mean over all tracks was of the one track with subtopics."""
    options = PreferenceOptions()
    rows = [
        {"track": track, "part": part, "order": "mc4", "measure_a": a, "measure_b": b, "tau_b": tau}
        for track, part, tau in (
            ("news", "single", 0.9), ("web", "single", 0.7), ("web", "subtopic", 0.5),
            ("passage", "single", float("nan")),
        )
        for a, b in [options.correlated[part][:2]]
    ]  # fmt: skip
    table_2 = pl.DataFrame(rows)
    tables = {
        "table_2": table_2,
        "table_2_mean": table_2_mean({"table_2": table_2}, options),
        "order_agreement": pl.DataFrame({"limit_zeros": [0]}),
        "table_1": pl.DataFrame({"track": ["web"], "subtopic_qrels": ["diversity"]}),
    }
    captions = [show.caption for show in _orders(tables, options).show]
    assert captions[0].endswith("mean over the 2 tracks news and web (Table 2a).")
    assert captions[1].endswith("on web (Table 2b).")
    assert captions[2].endswith("mean over the 2 tracks news and web; by subtopic on web.")


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
