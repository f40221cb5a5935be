"""Averages of a system do not depend on other systems or the number of threads."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import irmeta
from irmeta.rankings import load
from irmeta.results.averages import average, mean_over_queries, sum_over_queries
from irmeta.results.matrix import Matrix
from irmeta.stats.paired import paired_differences, unpaired_differences
from irmeta.store import long_table
from irmeta.store.layout import Layout
from irmeta.store.memory import MemoryStore
from support.examples import scaled
from support.making import Track

MEASURES = "trec_eval,AP(average=harmonic),AP(average=median),AP(average=sum),RBP,ERR,Q"
CURVED = "AP,P,nDCG,RBP,AP(norm=min),ERR,P(ties=share),AP(unjudged=condensed)"
KS = (1, 5, 10, 100)
seeds = st.integers(0, 2**32 - 1)


def random_track(seed: int) -> Track:
    """Return four systems and 20 queries; numpy sums up to 8 values in order."""
    chance = random.Random(seed)
    docs = [f"d{i}" for i in range(12)]
    queries = [f"q{i:02}" for i in range(20)]

    def lists() -> dict[str, list[tuple[str, float, int]]]:
        drawn = {q: chance.sample(docs, chance.randint(1, 12)) for q in queries}
        return {
            q: [(doc, chance.choice([0.5, -i]), i) for i, doc in enumerate(own, 1)]
            for q, own in drawn.items()
        }

    qrels = {q: {d: chance.randint(0, 2) for d in chance.sample(docs, 8)} for q in queries}
    return Track({f"s{i}": lists() for i in range(4)}, qrels)


def random_values(seed: int, queries: int = 30, systems: int = 5) -> np.ndarray:
    """Return values [query, system], one tenth of them undefined."""
    generator = np.random.default_rng(seed)
    values = generator.random((queries, systems))
    values[generator.random(values.shape) < 0.1] = np.nan
    return values


def added_up(values: list[float]) -> float:
    """Sum the values in order."""
    total = 0.0
    for value in values:
        total += value
    return total


@given(seed=seeds, systems=st.integers(1, 4))
def test_sum_over_queries__adds_queries_in_order(seed: int, systems: int):
    values = random_values(seed, systems=systems)
    counted = ~np.isnan(values)
    columns = [[v for v in column if not math.isnan(v)] for column in values.T.tolist()]
    expected = [added_up(column) for column in columns]
    assert sum_over_queries(values, counted).tolist() == expected
    half = sum_over_queries(values[:7], counted[:7])
    assert sum_over_queries(values[7:], counted[7:], half).tolist() == expected
    means = [total / len(own) for total, own in zip(expected, columns, strict=True)]
    assert mean_over_queries(values).tolist() == means
    assert Matrix(values, tuple(map(str, range(30))), tuple("abcd"[:systems])).means.tolist() == (
        means
    )


@pytest.mark.parametrize(
    "how", ["arithmetic", "geometric", "harmonic", "median", "sum", "difficulty"]
)
@given(seed=seeds)
def test_average__independent_of_other_systems(how: str, seed: int):
    values = random_values(seed)
    difficulty = np.linspace(0.1, 0.9, len(values))
    together = average(how, values, ~np.isnan(values), difficulty)
    for some in ([0], [4], [1, 3], [0, 1, 2, 4]):
        own = np.ascontiguousarray(values[:, some])
        found = average(how, own, ~np.isnan(own), difficulty)
        assert found.tolist() == together[some].tolist()


@settings(max_examples=scaled(20))
@given(seed=seeds)
def test_differences__independent_of_other_systems(seed: int):
    values = random_values(seed)
    complete = np.nan_to_num(values, nan=0.5)
    for differences in (paired_differences, unpaired_differences):
        for given_values in (values, complete):
            together = differences(given_values)
            for some in ([0, 4], [1, 2, 3]):
                own = differences(given_values[:, some])
                for name in ("mean", "deviation", "queries"):
                    whole = getattr(together, name)[np.ix_(some, some)]
                    np.testing.assert_array_equal(getattr(own, name), whole)


@pytest.mark.exhaustive
@settings(max_examples=scaled(10))
@given(seed=seeds)
def test_means_and_curves__independent_of_other_systems(seed: int):
    track = random_track(seed)
    whole = track.read()
    means, curves = whole.means(MEASURES), whole.curve(CURVED, KS)
    for systems in (["s0"], ["s2"], ["s1", "s3"]):
        store = Track({s: track.runs[s] for s in systems}, track.qrels).read()
        own = pl.col("system").is_in(systems)
        assert_same(store.means(MEASURES), means.filter(own))
        assert_same(store.curve(CURVED, KS), curves.filter(own))
        assert_same(whole.means(MEASURES, system=systems), means.filter(own))


def assert_same(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    """Compare two tables bit for bit, ignoring the order of rows."""
    keys = [name for name in ("track", "measure", "system", "k") if name in found.columns]
    assert_frame_equal(found.sort(keys), expected.sort(keys), check_exact=True)


@pytest.mark.exhaustive
@settings(max_examples=scaled(10))
@given(seed=seeds)
def test_curve__equals_means_at_each_cutoff_bit_for_bit(seed: int):
    store = random_track(seed).read()
    for measure in CURVED.split(","):
        curve = store.curve(measure, KS).sort("system", "k")["value"].to_list()
        at_cutoffs = store.means([f"{measure}@{k}" for k in KS])
        assert at_cutoffs["value"].to_list() == curve, measure


@pytest.mark.exhaustive
def test_means_and_curves__independent_of_block_size_and_workers(monkeypatch: pytest.MonkeyPatch):
    whole = random_track(0).read()
    means, curves = whole.means(MEASURES), whole.curve(CURVED, KS)
    monkeypatch.setattr(long_table, "GROUP_ROWS", 20)
    monkeypatch.setattr(MemoryStore, "block_rows", 1)
    monkeypatch.setattr(load, "LEAST_ROWS", 1)
    store = random_track(0).read()
    for workers in (1, 2, 3):
        assert_same(store.means(MEASURES, workers=workers), means)
        assert_same(store.curve(CURVED, KS, workers=workers), curves)


@pytest.mark.real
def test_means_and_curves__independent_of_other_systems_on_robust_2003(
    real_store: irmeta.Store, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    track = shared / "tracks" / "robust-2003"
    name = "SABIR03BASE"
    alone = irmeta.read_files(track / "qrels.txt", [track / "runs" / f"input.{name}.gz"])
    means = real_store.means(MEASURES, track="robust-2003")
    curves = real_store.curve(CURVED, KS, track="robust-2003")
    own = pl.col("system") == name
    assert_same(_without_track(alone.means(MEASURES)), _without_track(means.filter(own)))
    assert_same(_without_track(alone.curve(CURVED, KS)), _without_track(curves.filter(own)))
    (p1000,) = alone.means("P@1000")["value"]
    assert (p1000, f"{p1000:.4f}") == (0.03324999999999998, "0.0332")
    monkeypatch.setattr(Layout, "block_rows", 1 << 18)
    for workers in (1, 2):
        assert_same(real_store.means(MEASURES, track="robust-2003", workers=workers), means)
        again = real_store.curve(CURVED, KS, track="robust-2003", workers=workers)
        assert_same(again, curves)


def _without_track(table: pl.DataFrame) -> pl.DataFrame:
    return table.drop("track")
