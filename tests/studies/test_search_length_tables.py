"""Tables of the search-length study on the synthetic tracks, compared with naive code."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import irmeta
from irmeta.studies.papers.search_length import compute
from irmeta.studies.papers.search_length.study import TABLE_2, SearchLengthOptions
from support.studying import MADE, assert_rows, choices_of, filled, made_track, same
from twins import atomized as naive
from twins import chain as naive_chain
from twins import track_means

FULL = {"AP": ("AP", "web"), "nDCG": ("nDCG", "web"), "RBP(p=0.8)": ("RBP", "passage")}
FULL |= {"ERR": ("ERR", "web")}
"""Map the name in the table to the naive name and the track to compare."""
CHAINS = ("AP", "nDCG", "RBP(p=0.8)", "ERR", "P@20", "RR")
VALUES = ("atomized", "docs as lengths", "search length")


@pytest.fixture(scope="module")
def tables(
    made_store: irmeta.Store, tmp_path_factory: pytest.TempPathFactory, undrawn_module: None
):
    out = tmp_path_factory.mktemp("study")
    return irmeta.studies.search_length(made_store, out, resamples=200).tables


@pytest.fixture(scope="module")
def tracks(collections: Path) -> dict[str, track_means.Track]:
    return {name: made_track(collections, name) for name in MADE}


def test_studied_tracks__equal_naive_implementation(tables, tracks):
    rows = [
        {
            "track": name,
            "systems": len(track["runs"]),
            "queries": len(track_means.relevant_queries(track)),
            "relevant": sum(grade >= 1 for q in track["qrels"].values() for grade in q.values()),
            "deepest_rank": track_means.deepest_rank(track),
            "highest_grade": track_means.highest_grade(track),
            "used": True,
            "left_out": None,
        }
        for name, track in tracks.items()
    ]
    assert_rows(tables["studied_tracks"], rows, "track")


def test_means__equal_store_means(tables, made_store: irmeta.Store):
    found = tables["means"]
    choices = [
        f"ASL(unretrieved={how}){cut}"
        for how in ("irrel", "floor", "irrel+1", "depth")
        for cut in ("", "@g1", "@g10")
    ]
    wanted = ["AP", "P@20", "RR", "Bpref", "RBP(p=0.8)", "nDCG", "ERR", *choices]
    expected = made_store.means(wanted)
    key = ["track", "system", "measure"]
    assert_frame_equal(found.sort(key), expected.sort(key), check_exact=True)


def test_headroom__equals_naive_implementation(tables, tracks):
    rows = [row for track in tracks.values() for row in naive.headroom(track)]
    assert len({row["system"] for row in rows}) > 3
    assert_rows(tables["headroom"], rows, "track", "measure")


def test_best_by_choice__equals_naive_implementation(tables, tracks):
    rows = [row for track in tracks.values() for row in choices_of(track, SearchLengthOptions())]
    assert_rows(tables["best_by_choice"], rows, "track", "measure")


def test_distributions_and_classes__equal_naive_implementation(tables, tracks):
    own = list(tracks.values())
    assert_rows(tables["distributions"], naive.distributions(own), "figure", "low")
    assert_rows(tables["classes"], naive.classes(own), "measure", "low")
    for (figure,), bars in tables["distributions"].group_by("figure"):
        assert bars["tracks"].sum() == 3, figure


def test_distributions__mean_at_a_bucket_edge_is_in_the_upper_bucket():
    """This holds for means with rounding errors in the last digit."""
    scores = [0.0, 0.3, 0.3 - 1e-16, 0.1 + 0.2, 0.5, 0.95, 1.0]
    lengths = [0.5, 1.0, 20.0, 20.0 + 1e-14, 20.5, 30.0, 10000.0, 1e6]
    values = {"P@20": scores, "AP": scores, "ASL@g10": lengths, "ASL": lengths}
    headroom = pl.DataFrame(
        [{"measure": m, "value": v, "short": False} for m, own in values.items() for v in own]
    )
    tables = {"headroom": headroom}
    found = pl.DataFrame(compute.distributions(tables, SearchLengthOptions()))
    for figure, measure in naive.FIGURES.items():
        less = track_means.less_is_better(measure)
        lows = naive.ASL_LOWS if less else naive.P_LOWS
        rows = naive.bucket_counts(values[measure], lows, closed=not less)
        assert_rows(found.filter(figure=figure), rows, "low")
    classes = pl.DataFrame(compute.classes(tables, SearchLengthOptions()))
    assert classes.select("low", "tracks").rows() == [
        *((0.0, 1), (0.3, 3), (0.5, 3)),
        (0.0, 1),
        *((10.0, 6), (20.0, 4), (30.0, 2), (100.0, 2)),
        *((low, 0) for low in (10.0, 20.0, 30.0, 100.0)),
        *((10.0, 6), (100.0, 2)),
        *((10.0, 0), (100.0, 0)),
    ]


def test_table_1__default_sides_are_median_and_best_system(tables, tracks):
    rows = []
    for track in tracks.values():
        middle = track_means.median_system(track)
        for measure in naive.measures_of():
            best = track_means.best_system(track, measure)
            rows += [row for row in naive.groups(track, middle, best) if row["measure"] == measure]
    assert_rows(tables["table_1"], rows, "track", "measure")


def test_search_length_histogram__equals_naive_implementation(tables, tracks):
    rows = [
        row
        for track in tracks.values()
        for system in track["runs"]
        for row in naive.length_histogram(track, system)
    ]
    found = tables["search_length_histogram"]
    assert_rows(filled(found), rows, "track", "system", "low")
    docs = dict(found.group_by("track", "system").agg(pl.col("docs").sum()).drop("system").rows())
    assert docs == dict(tables["studied_tracks"].select("track", "relevant").rows())


def test_length_differences__equal_naive_implementation(tables, tracks):
    rows = [
        row
        for track in tracks.values()
        for measure in ("ASL", naive.DEEP["ASL"])
        for row in naive.difference_histogram(track, measure=measure)
    ]
    found = tables["length_differences"]
    assert_rows(filled(found), rows, "track", "measure", "low", "retrieved")
    ends = found.select("track", "measure", "low", "high").unique()
    for _, bars in ends.group_by("track", "measure"):
        assert bars["low"].sort().to_list() == (-bars["high"]).sort().to_list(), "symmetric"


def test_depth_sensitivity__equals_naive_implementation(tables, tracks):
    rows = [
        naive.depth_sensitivity(track, measure)
        for track in tracks.values()
        for measure in ("AP", "ASL", "ASL@g10", naive.DEEP["ASL"])
    ]
    assert any(row["value"] != row["value_cut"] for row in rows)
    assert_rows(tables["depth_sensitivity"], rows, "track", "measure")


@pytest.mark.parametrize(("chain", "how"), [*((chain, "floor") for chain in FULL), ("AP", "depth")])
def test_chains__every_step_equals_naive_implementation(tables, tracks, chain: str, how: str):
    name, track = FULL[chain]
    own = {"track": track, "chain": chain, "unretrieved": how}
    steps = naive_chain.reordering(tracks[track], name, unretrieved=how)
    moves = naive_chain.moves(tracks[track], name, unretrieved=how)
    columns = (("reordering", steps, ()), ("moves", moves, ("system",)))
    for table, rows, more in columns:
        found = tables[table].filter(**own)
        assert_rows(found, [row | own for row in rows], "step", *more)


@pytest.mark.parametrize(("chain", "track"), [("P@20", "news"), ("RR", "passage"), ("RR", "web")])
def test_chains__single_step_equals_naive_implementation(tables, tracks, chain: str, track: str):
    how = "depth" if track == "web" else "floor"
    own = {"track": track, "chain": chain, "unretrieved": how}
    found = [tables[table].filter(**own) for table in ("reordering", "moves")]
    wanted = [twin(tracks[track], chain, unretrieved=how)
              for twin in (naive_chain.reordering, naive_chain.moves)]  # fmt: skip
    assert_rows(found[0], wanted[0], "step")
    assert_rows(found[1], wanted[1], "step", "system")


def test_chains__rows_name_old_and_new_measure(tables):
    for track in MADE:
        for chain in CHAINS[:4]:
            own = tables["reordering"].filter(track=track, chain=chain, unretrieved="depth")
            own = own.sort("step")
            assert own["step"].to_list() == [0, 1, 2, 3]
            old = "RBP(p=0.8,rel=1)" if chain.startswith("RBP") else chain
            assert own["old"].to_list() == [old, old, *VALUES[:2]]
            assert own["new"].to_list() == [VALUES[2], *VALUES]
        for chain, new in (("P@20", "@g10"), ("RR", "@g1")):
            own = tables["reordering"].filter(track=track, chain=chain)
            assert own.select("step", "old", "new").rows() == [
                (0, chain, f"ASL(unretrieved={how}){new}") for how in ("floor", "depth")
            ]
    assert set(tables["reordering"]["chain"]) == set(CHAINS)


def test_table_2__means_and_deviations_of_track_rows(tables):
    """Means and sample standard deviations are over tracks; Delta-value is over all systems."""
    found = tables["table_2"]
    assert found.height == 2 * (4 * 4 + 2)
    compared = tables["studied_tracks"].filter(pl.col("not_compared").is_null())["track"].to_list()
    assert sorted(compared) == ["news", "web"]  # passage has 9 systems
    for row in found.iter_rows(named=True):
        step = {name: row[name] for name in ("chain", "step", "unretrieved")}
        tracks, systems = (
            tables[name].filter(pl.col("track").is_in(compared), **step)
            for name in ("reordering", "moves")
        )
        assert (row["tracks"], row["systems"]) == (2, 32)
        columns = {"delta_value": systems["value"]}
        columns |= {name: tracks[name] for name in ("delta_sort", "tau")}
        for name, values in columns.items():
            known = [v for v in values if not math.isnan(v)]
            assert same(row[name], track_means.mean(known)), (step, name)
            assert same(row[f"{name}_sd"], track_means.sd(known)), (step, name)
        known = [v for v in systems["value"] if not math.isnan(v)]
        assert same(row["delta_value_median"], float(np.median(known)))
        assert row["left_out"] == systems.height - len(known)
        for name in ("delta_sort", "tau", "delta_value"):
            printed = TABLE_2[name].get((row["chain"], row["step"], row["unretrieved"]))
            assert row[f"paper_{name}"] == (printed and printed.value)


def test_effective_fraction__equals_naive_implementation(tables, tracks):
    own = list(tracks.values())
    rows = [row for track in own for row in naive_chain.effective_fraction(track)]
    assert_rows(tables["effective_fraction"], rows, "track", "system")
    assert_rows(tables["effective_summary"], [naive_chain.effective_summary(own)], "tracks")
    assert tables["effective_summary"]["paper_fraction"].to_list() == ["57% \u00b1 16"]


def test_asl_differences__equal_naive_implementation(tables, tracks):
    found = tables["asl_differences"]
    names = ["best - median", "best - second", "contender - baseline"]
    assert set(found["comparison"]) == set(names)
    assert found.height == 3 * 4 * 3
    for row in found.iter_rows(named=True):
        track, measure = tracks[row["track"]], row["measure"]
        order = track_means.in_order(track_means.judged_means(track, measure), less=True)
        sides = {
            names[0]: (order[0], track_means.median_system(track, measure=measure)),
            names[1]: (order[0], order[1]),
            names[2]: (track_means.best_system(track, measure), track_means.median_system(track)),
        }[row["comparison"]]
        assert (row["a"], row["b"]) == sides, row
        values = track_means.per_query(track, measure)
        each = [values[row["a"]][q] - values[row["b"]][q] for q in values[row["a"]]]
        assert row["queries"] == len(each)
        assert same(row["difference"], track_means.mean(each))
        error = np.std(each) / math.sqrt(len(each))
        draws = np.random.default_rng(0).choice(each, (4000, len(each))).mean(axis=1)
        ends = np.quantile(draws, [0.025, 0.975])
        assert row["low"] == pytest.approx(ends[0], abs=1.2 * error), row
        assert row["high"] == pytest.approx(ends[1], abs=1.2 * error), row
