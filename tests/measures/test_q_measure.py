"""The Q-measure against AP and NTCIR-13."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import irmeta
from irmeta.measures.names import parse_measure
from support.cells import named
from support.examples import scaled
from support.making import Track, down, read_qrels, read_run, tracks


@pytest.mark.exhaustive
def test_q__beta_zero_equals_ap(made_store: irmeta.Store):
    cut = [(f"Q(beta=0,norm={n})@10", f"AP(norm={n})@10") for n in ("min", "pool")]
    for q, ap in [("Q(beta=0)", "AP"), ("Q(beta=0,rel=2)@7", "AP(rel=2)@7"), *cut]:
        found = [made_store.scores(name, track="web").values for name in (q, ap)]
        np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-15)


@pytest.mark.exhaustive
@settings(max_examples=scaled(20))
@given(tracks())
def test_q__norm_all_never_decreases_with_cutoff(track: Track):
    """Lu et al. (2016) say that every form of Q may decrease."""
    store = track.read()
    values = store.scores([named("Q", k, beta=2) for k in range(1, 13)], track="t").values
    assert np.diff(values, axis=0).min() >= 0


def test_q__norm_min_may_decrease_with_cutoff(tmp_path: Path):
    track = Track({"s": {"q": down("a", "x")}}, {"q": {"a": 1, "b": 1}})
    values = track.ingest(tmp_path).scores(["Q(norm=min)@1", "Q(norm=min)@2"], track="t").values
    assert values.ravel().tolist() == [1.0, 0.5]


def test_q__undefined_without_relevant_docs_in_pool(tmp_path: Path):
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
        ("Q(beta=inf)", "beta=inf is not finite"),
    ],
)
def test_parse_measure__invalid_q_parameters_are_refused(name: str, said: str):
    with pytest.raises(irmeta.MeasureError, match=said):
        parse_measure(name)


@pytest.mark.exhaustive
def test_q__equals_ntcir_13(shared: Path, tmp_path: Path):
    folder = shared / "oracles" / "ntcir13_www"
    names = [f"RMIT-E-NU-Own-{number}" for number in range(1, 5)]
    runs = {name: read_run(folder / f"{name}.run.gz") for name in names}
    track = Track(runs, read_qrels(folder / "wwwE.trec.qrels"))
    frame = track.ingest(tmp_path).evaluate("Q(norm=min)@10", tie_order="file", per_query=True)
    found = {(s, q): v for _, s, q, _, v in frame.iter_rows()}
    printed = (folder / "wwwE.official.Q@0010.topic-by-run.csv").read_text().splitlines()
    expected = {(n, row[""]): float(row[n]) for row in csv.DictReader(printed) for n in names}
    assert len(expected) == 400
    assert found == pytest.approx(expected, abs=0.5e-4 + 1e-9)


def test_q__docs_below_rel_have_no_gain():
    """Sakai's gain of a non-relevant doc is 0, in the list and in the ideal list."""
    grades = {"high": 3, "low": 1, "none": 0}
    store = Track({"s": {"q": down("low", "high", "none")}}, {"q": grades}).read()
    # (1 + 3) / (2 + 3), and with the gain of grade 1 (1 + 4) / (2 + 4)
    assert store.scores("Q(rel=2)", track="t").values.item() == pytest.approx(4 / 5)
    # (1 + 1) / (1 + 3) at rank 1, (2 + 4) / (2 + 4) at rank 2
    assert store.scores("Q", track="t").values.item() == pytest.approx((1 / 2 + 1) / 2)
