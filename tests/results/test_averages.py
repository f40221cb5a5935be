"""Averages over queries: naive implementations and worked examples."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irmeta.errors import MeasureError, UsageError
from irmeta.results.averages import average
from support.making import Track, down, tracks
from twins import average as naive_average
from twins import measures as naive

TWINS = {
    "arithmetic": naive_average.arithmetic,
    "geometric": naive_average.geometric,
    "harmonic": naive_average.harmonic,
    "median": naive_average.median,
    "sum": naive_average.total,
}
values = st.one_of(st.just(math.nan), st.just(0.0), st.floats(1e-9, 1), st.floats(1, 1e6))
columns = st.integers(1, 6).flatmap(
    lambda queries: st.lists(
        st.lists(st.tuples(values, st.booleans()), min_size=queries, max_size=queries),
        min_size=1,
        max_size=3,
    )
)


@pytest.mark.parametrize("how", TWINS)
@given(columns=columns)
def test_average__equals_naive_implementation(how: str, columns: list[list[tuple[float, bool]]]):
    cells = np.array([[value for value, _ in column] for column in columns]).T
    counted = np.array([[kept for _, kept in column] for column in columns]).T & ~np.isnan(cells)
    found = average(how, cells, counted)
    for s, column in enumerate(columns):
        expected = TWINS[how]([value for value, kept in column if kept])
        assert found[s] == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)


@given(track=tracks())
def test_average__difficulty_weights_equal_naive_implementation(track: Track):
    store = track.read()
    scores = store.scores("AP,nDCG(average=difficulty),ASL(average=difficulty)", track="t")
    means = store.means("nDCG(average=difficulty),ASL(average=difficulty)")
    aps = dict(zip(scores.queries, scores.values[0].tolist(), strict=True))
    for system, measure, value in means.select("system", "measure", "value").iter_rows():
        s, m = scores.systems.index(system), scores.measures.index(measure)
        own = dict(zip(scores.queries, scores.values[m, :, s].tolist(), strict=True))
        expected = naive_average.difficulty(own, aps)
        assert value == pytest.approx(expected, rel=1e-9, nan_ok=True)


def test_average_parameter__changes_names_and_means_but_not_query_values(tmp_path: Path):
    track = Track(
        {"s": {"q1": down("a", "x"), "q2": down("x", "a")}},
        {q: {"a": 1} for q in ("q1", "q2", "q3")},
    )
    store = track.ingest(tmp_path)
    names = "AP,map,gm_map,AP(average=harmonic),AP(average=median),NumRet,NumRet(average=median)"
    means = dict(store.means(names).select("measure", "value").iter_rows())
    assert means == pytest.approx(
        {
            "AP": 0.5,
            "AP(average=geometric)": math.exp((math.log(1) + math.log(0.5) + math.log(1e-5)) / 3),
            "AP(average=harmonic)": 0.0,
            "AP(average=median)": 0.5,
            "NumRet": 4.0,
            "NumRet(average=median)": 2.0,
        }
    )
    per_query = store.evaluate("AP,AP(average=median)", per_query=True)
    assert per_query.filter(measure="AP")["value"].equals(
        per_query.filter(measure="AP(average=median)")["value"]
    )
    retrieved = store.means("AP(average=harmonic)", queries="retrieved")
    assert retrieved["value"].to_list() == [pytest.approx(naive.mean([2 / 3])[0])]


def test_average__rejects_unknown_choice(made_store):
    with pytest.raises(MeasureError, match="average=mean is not a choice"):
        made_store.means("AP(average=mean)")
    with pytest.raises(UsageError, match="average = 'mean' is not a choice"):
        average("mean", np.ones((1, 1)), np.ones((1, 1), bool))
    with pytest.raises(UsageError, match="needs the difficulty"):
        average("difficulty", np.ones((1, 1)), np.ones((1, 1), bool))
