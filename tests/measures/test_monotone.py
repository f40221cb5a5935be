"""Monotonicity of measures in the cutoff k, for a fixed list and fixed judgments."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import irmeta
from support.examples import scaled
from support.making import Track, down, tracks

KS = (1, 2, 3, 4, 5, 6, 8, 10, 20, 50)
MONOTONE = (
    *(
        "R@{}",
        "AllRel@{}",
        "Success@{}",
        "RR@{}",
        "AP@{}",
        "RBP@{}",
        "RBP(gain=linear)@{}",
        "ERR@{}",
    ),
    *("DCG@{}", "DCG(gain=exp)@{}", "Q@{}", "Q(beta=10,gain=linear)@{}"),
)
# One list [a, x], another [x, b]; a has grade 1, b 3, x 0. From k = 1 to k = 2 the pool grows by b.
FALLING = {
    "P@{}": (1, 1 / 2),
    "AP(norm=min)@{}": (1, 1 / 2),
    "AP(norm=pool)@{}": (1, 1 / 2),
    "nDCG@{}": (1 / 3, 1 / (3 + 1 / math.log2(3))),
    "nDCG(ideal=pool)@{}": (1, 1 / (3 + 1 / math.log2(3))),
    "Q(norm=min)@{}": ((1 + 1) / (1 + 3), (1 + 1) / (1 + 3) / 2),
    "Q(norm=min,ideal=pool)@{}": (1, (1 + 1) / (1 + 3) / 2),
    "Q(norm=pool)@{}": ((1 + 1) / (1 + 3), (1 + 1) / (1 + 3) / 2),
    "Q(norm=pool,ideal=pool)@{}": (1, (1 + 1) / (1 + 3) / 2),
    "Q(ideal=pool)@{}": (1 / 2, (1 + 1) / (1 + 3) / 2),
}


def at_cutoffs(store: irmeta.Store, measure: str, track: str) -> np.ndarray:
    """Return values [cutoff, query, system]."""
    return store.scores([measure.format(k) for k in KS], track=track).values


@pytest.mark.one_in(3)
@pytest.mark.parametrize("measure", MONOTONE)
def test_monotone_measures__never_decrease_on_synthetic_tracks(
    measure: str, made_store: irmeta.Store
):
    for track in made_store.tracks:
        assert (np.diff(at_cutoffs(made_store, measure, track), axis=0) >= -1e-12).all()


@pytest.mark.exhaustive
@settings(max_examples=scaled(30))
@given(tracks())
def test_monotone_measures__never_decrease_on_random_tracks(track: Track):
    store = track.read()
    names = [m.format(k) for m in MONOTONE for k in KS]
    values = store.scores(names, track="t").values.reshape(len(MONOTONE), len(KS), -1)
    assert (np.diff(values, axis=1) >= -1e-12).all()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("measure", FALLING)
def test_other_measures__decrease_on_a_counterexample(measure: str, tmp_path: Path):
    track = Track(
        {"own": {"q": down("a", "x")}, "other": {"q": down("x", "b")}},
        {"q": {"a": 1, "b": 3, "x": 0}},
    )
    store = track.ingest(tmp_path)
    frame = store.evaluate([measure.format(k) for k in (1, 2)], system="own", per_query=True)
    assert frame["value"].to_list() == pytest.approx(FALLING[measure], rel=1e-12)
    assert frame["value"][1] < frame["value"][0]
