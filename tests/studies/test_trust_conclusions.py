"""The study of trust: conclusions that other conditions undo, and `compare(robust=True)`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import parse_measures
from irmeta.rankings.derive.drop import drop_relevant_shares
from irmeta.results.scores import Scores
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.original.trust.study import DRAWS, TrustOptions
from support.trusted import FEW, lists, results_of
from twins import conclusions as twin

pytestmark = pytest.mark.usefixtures("undrawn")

RESAMPLES = 40
NOTHING = (set(), set())


def two_sets(seed: int, noise: float) -> irmeta.Store:
    """Return a track with a second qrels set that has other labels on a third of the docs."""
    qrels, runs = lists(systems=6, queries=9, noise=noise, seed=seed)
    rng = np.random.default_rng(seed)
    other = {
        q: {d: 1 - g if rng.random() < 0.3 else g for d, g in docs.items()}
        for q, docs in qrels.items()
    }
    return irmeta.from_data({"own": qrels, "other": other}, runs)


def of_conditions(
    store: irmeta.Store, measure: str, other: str
) -> dict[str, list[list[list[float]]]]:
    def values(name: str, **choices: Any) -> list[list[float]]:
        (matrix,) = irmeta.matrices(store, name, **choices)
        return matrix.values.tolist()

    options = TrustOptions(measures=(measure,))
    views = list(TrackView(store.track(store.tracks[0]), options).blocks({"pool"}))
    specs, draws = parse_measures([measure]), []
    for draw in range(DRAWS):
        dropped = [drop_relevant_shares(view, (0.5,), rel=1, rng=draw)[0] for view in views]
        scores = Scores.concat([evaluate_block(view, specs, options.policy) for view in dropped])
        draws.append(scores.matrix(scores.measures[0]).values.tolist())
    return {
        f"measure {other}": [values(other)],
        "qrels set other": [values(measure, qrels="other")],
        "pool to depth 10": [values(measure, pool_depth=10)],
        "half of the relevant docs": draws,
    }


@pytest.mark.parametrize(
    ("seed", "noise", "alpha"), [(0, 1.0, 0.05), (1, 2.0, 0.05), (2, 0.4, 0.05), (1, 2.0, 0.9)]
)
def test_conclusions__equal_the_twin(seed: int, noise: float, alpha: float):
    store = two_sets(seed, noise)
    choices = {"alpha": alpha, "resamples": RESAMPLES}
    found = irmeta.compare(store, ["AP", "nDCG@10"], robust=True, **choices).robust
    assert found is not None
    drawn = np.random.default_rng(0).random((RESAMPLES, 9), dtype=np.float32).astype(float)
    draws = (drawn * 9).astype(int).tolist()
    for measure, other in (("AP", "nDCG@10"), ("nDCG@10", "AP")):
        (matrix,) = irmeta.matrices(store, measure)
        conditions = of_conditions(store, measure, other)
        expected = twin.conclusions(matrix.values.tolist(), conditions, draws, alpha)
        rows = found.conclusions.filter(measure=measure).to_dicts()
        got = {
            (matrix.systems.index(row["better"]), matrix.systems.index(row["worse"])): tuple(
                {text.partition(" (p = ")[0] for text in (row[by] or "").split("; ")} - {""}
                for by in ("undone_by", "reversed_by")
            )
            for row in rows
        }
        assert got == expected
        assert [row["safe"] for row in rows] == [
            not row["undone_by"] and not row["reversed_by"] for row in rows
        ]
        best = found.best.filter(measure=measure)
        assert {matrix.systems.index(s) for s in best["system"]} == twin.best(6, expected)
        for row in best.to_dicts():
            i = matrix.systems.index(row["system"])
            assert row["beats"] == sum(a == i and expected[a, b] == NOTHING for a, b in expected)
            assert row["worse_than"] == sum(b == i for _, b in expected)
        sets = irmeta.stats.rank_sets(matrix, confidence=1 - alpha).systems
        columns = ("system", "rank", "rank_low", "rank_high", "mean")
        assert best.select(columns).equals(sets.select(columns).join(best, "system", "semi"))
        counts = found.conditions.filter(measure=measure).rows_by_key("condition", named=True)
        for name in (*conditions, "other queries"):
            kept = sum(name not in undone | turned for undone, turned in expected.values())
            assert counts[name][0]["kept"] == kept
            assert counts[name][0]["reversed"] == sum(name in t for _, t in expected.values())
        assert counts["all conditions together"][0]["kept"] == sum(r["safe"] for r in rows)


def test_conclusions__reversed_labels_reverse_all(tmp_path: Path):
    qrels, runs = lists(noise=0.5)
    turned = {q: {d: 1 - g for d, g in docs.items()} for q, docs in qrels.items()}
    tables = results_of(tmp_path, {"people": qrels, "turned": turned}, runs).tables
    rows = tables["conclusions"]
    assert rows.height > 10
    assert rows["reversed_by"].str.contains("qrels set turned").all()
    assert not rows["safe"].any()
    assert (
        tables["best"].filter(measure="AP")["system"].to_list() == [f"s{i}" for i in range(8)][::-1]
    )


def test_conclusions__best_of_a_reliable_track(tmp_path: Path):
    qrels, runs = lists(queries=120, noise=0.3)
    tables = results_of(tmp_path, qrels, runs).tables
    best = tables["best"].filter(measure="AP")
    assert "s7" in best["system"].to_list()
    assert "s0" not in best["system"].to_list()
    assert best["rank"].is_sorted()
    counts = tables["conditions"].filter(measure="AP", condition="all conditions together")
    assert counts["kept_share"].item() > 0.5


def test_compare__robust_equals_the_study(tmp_path: Path):
    qrels, runs = lists(noise=0.8)
    store = irmeta.from_data(qrels, runs)
    tables = irmeta.studies.trust(store, tmp_path, **FEW, concluded=("AP",)).tables
    compared = irmeta.compare(store, "AP", robust=True, resamples=FEW["resamples"]).robust
    assert compared is not None
    (comparison,) = irmeta.compare(store, "AP")
    assert (
        tables["conclusions"].height == comparison.pairs.separated()[comparison.pairs.upper].sum()
    )
    own = tables["conditions"].filter(~pl.col("condition").str.contains("measure|together"))
    joined = own.join(compared.conditions, on=("condition", "kept", "reversed"), how="inner")
    assert joined.height == own.height == 3
    # the study had no nDCG@10 to check with
    assert set(compared.conditions["condition"]) - set(own["condition"]) == {
        "measure nDCG@10",
        "all conditions together",
    }


def test_compare__robust_refuses(tmp_path: Path):
    qrels, runs = lists(systems=4, queries=6)
    store = irmeta.from_data({"a": qrels, "b": qrels}, runs)
    with pytest.raises(irmeta.UsageError, match="omit `baseline` or `robust`"):
        irmeta.compare(store, "AP", robust=True, baseline="s0")
    with pytest.raises(irmeta.UsageError, match="name it by `qrels=`"):
        irmeta.compare(store, "AP", robust=True, qrels="a,b")
    (matrix,) = irmeta.matrices(store, "AP", qrels="a")
    with pytest.raises(irmeta.UsageError, match="scores the runs again"):
        irmeta.compare(matrix, robust=True)


def test_conclusions__say_p_where_they_are_not_significant():
    store = two_sets(1, 2.0)
    found = irmeta.compare(store, "AP", robust=True, resamples=RESAMPLES).robust
    assert found is not None
    (other,) = irmeta.compare(irmeta.matrices(store, "AP", qrels="other")[0])
    (row,) = found.conclusions.filter(pl.col("undone_by").str.contains("qrels set other"))[
        :1
    ].to_dicts()
    a, b = (other.pairs.systems.index(row[name]) for name in ("better", "worse"))
    assert (
        f"qrels set other (p = {float(f'{other.pairs.p_adjusted[a, b]:.2g}')})" in row["undone_by"]
    )
    half = found.conditions.filter(condition="half of the relevant docs").row(0, named=True)
    assert half["draws"] == DRAWS
    assert half["kept_low"] <= half["kept"] <= half["kept_high"]


def test_compare__robust_where_the_primary_set_states_another_relevant_grade():
    """AP is AP(rel=2) by that set, and AP by one with grades 0 and 1: same relevant docs."""
    qrels, runs = lists(systems=6, queries=30, noise=0.5)
    graded = {q: {d: 2 * g for d, g in docs.items()} for q, docs in qrels.items()}
    store = irmeta.from_data({"graded": graded, "binary": qrels}, runs, rel={"graded": 2})
    for names in ("AP", "RBP(p=0.8)", "P@5"):
        found = irmeta.compare(store, names, robust=True, resamples=RESAMPLES).robust
        assert found is not None
        counts = found.conditions.filter(condition="qrels set binary").row(0, named=True)
        assert "rel=2" in counts["measure"]
        assert counts["kept"] == counts["conclusions"] > 0
        assert counts["reversed"] == 0
    stated = irmeta.compare(store, "AP(rel=2)", robust=True, resamples=RESAMPLES).robust
    assert stated is not None
    counts = stated.conditions.filter(condition="qrels set binary").row(0, named=True)
    assert counts["kept"] == 0  # the name states the grade: no doc of the binary set has it
