"""The Q-measure against its slow twins and NTCIR-13."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import irmeta
from irmeta.measures.names import parse_measure
from irmeta.policies import EvalPolicy
from irmeta.rankings.load import judged_ranks
from support.cells import OTHER_ORDERS, Cell, Twins, assert_explained, assert_twins, named
from support.making import Track, down, read_qrels, read_run, tracks
from support.steps import assert_steps_add_up
from twins import gain as naive_gain
from twins import incomplete as naive_incomplete
from twins import measures as naive

CUTS = (None, 1, 2, 4, 7, 1000)
GAINS = (
    *({}, {"rel": 2}, {"beta": 0}, {"beta": 0.3, "rel": 3}, {"gain": "linear"}),
    *({"gain": "exp", "rel": 2}, {"gain": "binary"}, {"gain": "binary", "rel": 2, "beta": 10}),
    {"gain": "exp", "gmax": 7},
)


def q(x: Cell, ranking: naive.Ranking, k: int | None, own: dict, norm: str = "all") -> float:
    return naive_gain.q_measure(ranking, x.qrels, k, norm=norm, **{"gmax": x.highest} | own)


def q_pool(x: Cell, k: int, norm: str, ideal: str, own: dict) -> float:
    how = {"norm": norm, "ideal": ideal, "gmax": x.highest} | own
    return naive_incomplete.q_pool(x.ranking, x.qrels, x.depths, k, **how)


def _twins() -> Twins:
    """All judged docs count: norm=all and norm=min."""
    found: Twins = {}
    for own in GAINS:
        for k in CUTS:
            found[named("Q", k, **own)] = lambda x, h=(k, own): q(x, x.ranking, *h)
        for k in (1, 3, 7):
            how = (k, own, "min")
            found[named("Q", k, **own, norm="min")] = lambda x, h=how: q(x, x.ranking, *h)
        for k in (None, 3):
            how = (k, own)
            found[named("Q", k, **own, unjudged="condensed")] = lambda x, h=how: q(
                x, x.condensed, *h
            )
    return found


def _pool_twins() -> Twins:
    """The divisor, the ideal list or both are of the depth-k pool."""
    found: Twins = {}
    for own in GAINS:
        for norm, ideal in (("pool", "all"), ("pool", "pool"), ("all", "pool"), ("min", "pool")):
            for k in (1, 2, 5, 1000):
                how = (k, norm, ideal, own)
                found[named("Q", k, **own, norm=norm, ideal=ideal)] = lambda x, h=how: q_pool(x, *h)
    return found


TWINS = _twins()
POOL_TWINS = _pool_twins()
STEPS = ("Q", "Q(norm=min)@1", "Q(beta=3,gain=exp,rel=2)", "Q(norm=min,unjudged=condensed)@1")


@settings(max_examples=25)
@given(tracks())
def test_values_equal_the_twins(track: Track):
    assert_twins(track.read(), track, TWINS)


@settings(max_examples=25)
@given(tracks())
def test_values_by_the_pool_equal_the_twins(track: Track):
    assert_twins(track.read(), track, POOL_TWINS)


@settings(max_examples=5)
@given(tracks())
def test_values_follow_the_tie_order(track: Track):
    store = track.read()
    for order in OTHER_ORDERS:
        assert_twins(store, track, TWINS | POOL_TWINS, order)


def test_the_arithmetic_gives_the_twins_number():
    assert_explained(TWINS | POOL_TWINS)


@settings(max_examples=20)
@given(tracks())
def test_steps_add_up_to_the_value(track: Track):
    assert_steps_add_up(track.read(), "t", STEPS)


def test_steps_add_up_on_longer_lists(made_store: irmeta.Store):
    for track in made_store.tracks:
        assert_steps_add_up(made_store, track, STEPS)


def test_there_are_no_steps_where_the_pool_depends_on_k(made_store: irmeta.Store):
    (view, *_) = judged_ranks(made_store.reader, "web", EvalPolicy(), needs={"pool"})
    for name in ("Q(norm=pool)@5", "Q(ideal=pool)@5"):
        spec = parse_measure(name)
        assert spec.measure.events(view, spec.settings) is None


def test_without_weight_on_gains_it_is_ap(made_store: irmeta.Store):
    cut = [(f"Q(beta=0,norm={n})@10", f"AP(norm={n})@10") for n in ("min", "pool")]
    for q, ap in [("Q(beta=0)", "AP"), ("Q(beta=0,rel=2)@7", "AP(rel=2)@7"), *cut]:
        found = [made_store.scores(name, track="web").values for name in (q, ap)]
        np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-15)


@settings(max_examples=20)
@given(tracks())
def test_with_all_judged_docs_it_never_falls_as_k_grows(track: Track):
    """Lu et al. (2016) say of all of Q that it may."""
    store = track.read()
    values = store.scores([named("Q", k, beta=2) for k in range(1, 13)], track="t").values
    assert np.diff(values, axis=0).min() >= 0


def test_with_the_lesser_of_r_and_k_it_may_fall_as_k_grows(tmp_path: Path):
    track = Track({"s": {"q": down("a", "x")}}, {"q": {"a": 1, "b": 1}})
    values = track.ingest(tmp_path).scores(["Q(norm=min)@1", "Q(norm=min)@2"], track="t").values
    assert values.ravel().tolist() == [1.0, 0.5]


def test_a_pool_without_relevant_docs_leaves_it_undefined(tmp_path: Path):
    track = Track({"s": {"q": down("x", "a")}}, {"q": {"x": 0, "a": 1}})
    values = (
        track.ingest(tmp_path)
        .scores(["Q(norm=pool)@1", "Q(norm=pool)@2"], track="t")
        .values.ravel()
    )
    assert math.isnan(values[0])
    assert values[1] == (1 + 1) / (2 + 1)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Q(norm=min)", r"Q\(norm=min\) needs a cutoff"),
        ("Q(norm=pool)", r"Q\(norm=pool\) needs a cutoff"),
        ("Q(ideal=pool)", r"Q\(ideal=pool\) needs a cutoff"),
        ("Q(gmax=4)@10", "gmax needs gain=linear or gain=exp"),
        ("Q(gain=binary,gmax=4)", "gmax needs gain=linear or gain=exp"),
        ("Q(beta=-1)", "beta=-1 is not between"),
        ("Q(beta=inf)", "beta=inf is not between"),
    ],
)
def test_what_does_not_go_together_is_refused(name: str, said: str):
    with pytest.raises(irmeta.MeasureError, match=said):
        parse_measure(name)


def test_q_is_ntcirs(shared: Path, tmp_path: Path):
    folder = shared / "oracles" / "ntcir13_www"
    names = [f"RMIT-E-NU-Own-{number}" for number in range(1, 5)]
    runs = {name: read_run(folder / f"{name}.run.gz") for name in names}
    track = Track(runs, read_qrels(folder / "wwwE.trec.qrels"))
    frame = track.ingest(tmp_path).evaluate("Q(norm=min)@10", tie_order="file")
    found = {(s, q): v for _, s, q, _, v in frame.iter_rows()}
    printed = (folder / "wwwE.official.Q@0010.topic-by-run.csv").read_text().splitlines()
    expected = {(n, row[""]): float(row[n]) for row in csv.DictReader(printed) for n in names}
    assert len(expected) == 400
    assert found == pytest.approx(expected, abs=0.5e-4 + 1e-9)
