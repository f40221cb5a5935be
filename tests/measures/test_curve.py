"""Curves over cutoffs and pool depths, compared with one evaluation per point."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import irmeta
from irmeta.errors import MeasureError, UsageError
from irmeta.measures import curve
from irmeta.measures.curve import curves
from irmeta.measures.names import parse_measure, registry
from irmeta.policies import EvalPolicy
from irmeta.rankings.load import judged_ranks
from support.examples import EVERY_EXAMPLE, scaled
from support.making import Track, tracks
from support.viewing import is_by_subtopic

KS = (1, 2, 3, 5, 8, 20)
CURVED = [
    m.name
    for m in registry().values()
    if m.cutoff != "none" and m.cutoff_is == "rank" and m.name != "DINnDCG"
]
"""Measures with a cutoff; the tracks lack the types of subtopics that DINnDCG needs."""
VARIANTS = [
    *CURVED,
    *("AP(norm=min)", "AP(norm=pool)", "AP(rel=2)", "nDCG(ideal=pool)", "nDCG(gain=exp)"),
    *("nDCG(discount=zipf)", "Q(norm=min)", "Q(norm=pool,ideal=pool)", "ERR(stop=linear)"),
    *("AP(unjudged=condensed)", "RBP(unjudged=upper)", "P(ties=share)", "ERR(unjudged=upper)"),
]


def named(measure: str, k: int) -> str:
    """Return the measure's name with a cutoff."""
    return f"{measure}@{'g' if measure.startswith('ASL') else ''}{k}"


def assert_one_by_one(store: irmeta.Store, frame: pl.DataFrame, measure: str, **choices: str):
    """Check that every point of a curve is the mean at its cutoff."""
    means = store.means([named(measure, k) for k in KS], **choices)
    by_cutoff = means.partition_by("measure", maintain_order=True)
    assert len(by_cutoff) == len(KS)
    for k, expected in zip(KS, by_cutoff, strict=True):
        expected = expected.sort("track", "system")
        found = frame.filter(k=k).sort("track", "system")
        np.testing.assert_allclose(found["value"], expected["value"], rtol=1e-12, atol=1e-12)
        assert found["queries"].to_list() == expected["queries"].to_list()


@pytest.mark.one_in(5)
@pytest.mark.parametrize("measure", VARIANTS)
def test_curve__value_equals_mean_at_cutoff(measure: str, made_store: irmeta.Store):
    by_subtopic = is_by_subtopic(registry()[measure.partition("(")[0]])
    turn = None if EVERY_EXAMPLE else made_store.tracks[VARIANTS.index(measure) % 3]
    choices = {"track": "web" if by_subtopic else turn}
    frame = made_store.curve(measure, KS, **choices)
    assert_one_by_one(made_store, frame, measure, **choices)


@pytest.mark.exhaustive
@pytest.mark.parametrize("queries", ["judged", "relevant", "retrieved"])
@settings(max_examples=scaled(10))
@given(track=tracks())
def test_curve__averages_the_queries_of_the_policy(queries: str, track: Track):
    store = track.read()
    for measure in ("AP", "P", "nDCG", "AP(norm=pool)", "ASL"):
        frame = store.curve(measure, KS, queries=queries)
        assert_one_by_one(store, frame, measure, queries=queries)


@pytest.mark.exhaustive
@settings(max_examples=scaled(15))
@given(track=tracks())
def test_curve__pool_depth_drops_deeper_judgments(track: Track):
    store = track.read()
    frame = store.curve("AP,nDCG", KS, ds=(1, 2, 4))
    view = next(iter(judged_ranks(store.track("t"), needs=("pool",))))
    depth = dict(
        zip(
            ((q, d) for q, d in zip(_queries(view), view.docs, strict=True)),
            view.pool_depth.tolist(),
            strict=True,
        )
    )
    for d in (1, 2, 4):
        lesser = _judged_to(track, depth, d).read()
        for measure in ("AP", "nDCG"):
            own = frame.filter(d=d, measure=measure)
            assert_one_by_one(lesser, own, measure)


def _queries(view) -> list[str]:
    return [view.queries[q] for q in view.query_of(np.arange(len(view.grades)))]


def _judged_to(track: Track, depth: dict[tuple[str, str], int], d: int) -> Track:
    """Keep the judgments of a depth-d pool; an additional doc keeps every query judged."""
    qrels = {}
    for query, docs in track.qrels.items():
        kept = {doc: g for doc, g in docs.items() if depth[query, doc] <= d}
        qrels[query] = {"nowhere": 0} | kept
    return Track(track.runs, qrels)


@pytest.mark.exhaustive
def test_curve__sorted_by_system_depth_and_cutoff(made_store: irmeta.Store):
    frame = made_store.curve(["AP", "P"], [1, 10], [1, 20], track="web")
    assert frame.columns == ["track", "system", "measure", "d", "k", "value", "queries"]
    first = frame.filter(measure="AP")
    assert first.select("system", "d", "k").equals(first.select("system", "d", "k").sort(pl.all()))
    assert frame["d"].null_count() == 0
    assert made_store.curve("AP", [1])["d"].null_count() > 0


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("AP@10", "without a cutoff"),
        ("NumRet", "NumRet has no cutoff"),
        ("IPrec", "not a rank"),
        ("AP(average=median)", "arithmetic"),
        ("APP", "unknown measure"),
        ("", "no measure was given"),
        ("P_5", "P_5 has a cutoff.*name 'P'"),
        ("P.5,10", "P.5,10 has a cutoff.*name 'P'"),
        ("ndcg_cut_10", "ndcg_cut_10 has a cutoff.*name 'nDCG'"),
        ("map_cut.7", "map_cut.7 has a cutoff.*name 'AP'"),
        ("map_cut", "map_cut has a cutoff.*name 'AP'"),
        ("recall_100", "recall_100 has a cutoff.*name 'R'"),
        ("success", "success has a cutoff.*name 'Success'"),
        ("gm_map", "arithmetic"),
        ("11pt_avg", "has no cutoff"),
        ("num_ret", "has no cutoff"),
    ],
)
def test_curve__unsuitable_measure_is_refused(measure: str, said: str, made_store: irmeta.Store):
    with pytest.raises(MeasureError, match=said):
        made_store.curve(measure, [1])


@pytest.mark.parametrize("ks", [[], [0, 1], [2, 1], [1, 1], [1.5], [True], [1, 2**31]])
def test_curve__cutoffs_and_depths_must_ascend(ks: list[int], made_store: irmeta.Store):
    with pytest.raises(UsageError, match="ks must be ascending integers from 1"):
        made_store.curve("AP", ks)
    with pytest.raises(UsageError, match="ds must be ascending integers"):
        made_store.curve("AP", [1], ks)


def test_curves__result_has_arrays_per_measure(made_store: irmeta.Store):
    names = ["P", "AP(rel=2)"]
    _, found = curves(made_store.track("web"), names, [1, 5], None)
    assert found.values.shape == found.queries.shape == (1, 2, len(found.systems))
    assert (found.measure, found.ks, found.ds) == ("AP(rel=2)", (1, 5), (None,))
    assert found.pool is None


@pytest.mark.exhaustive
def test_curve__size_limit_evaluates_measures_one_by_one(
    made_store: irmeta.Store, monkeypatch: pytest.MonkeyPatch
):
    asked = "AP,P,nDCG", [1, 5], [2, 7]
    together = made_store.curve(*asked)
    passes, real = [], curve.over_blocks
    monkeypatch.setattr(curve, "over_blocks", lambda *a, **k: passes.append(a) or real(*a, **k))
    monkeypatch.setattr(curve, "SUMS", 1)
    assert made_store.curve(*asked).equals(together)
    assert len(passes) == 3 * len(made_store.tracks)


def test_curves__pool_lists_pooled_systems(made_store: irmeta.Store):
    names, policy = ["P", "AP(norm=pool)"], EvalPolicy()
    plain, pooled = curves(made_store.track("web", policy), names, [1], None)
    assert plain.pool is None
    assert pooled.pool
    assert all(one.pool for one in curves(made_store.track("web", policy), names, [1], [2]))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("measure", ["R", "AllRel", "AP", "P", "Success", "RR", "RelP", "DCG", "Q"])
def test_curve__unretrieved_doc_never_counts_at_deep_cutoffs(measure: str, tmp_path):
    """65,535 is the rank of unretrieved docs."""
    track = Track({"s": {"q": [("a", 1)]}}, {"q": {"a": 1, "b": 1}})
    store = track.ingest(tmp_path)
    for k in (65_534, 65_535, 70_000, 2**31 - 1):
        expected = store.means(f"{measure}@{k}")["value"].item()
        assert store.curve(measure, [1, k])["value"][-1] == pytest.approx(expected)


def test_ap__pool_norm_with_condensed_lists(tmp_path):
    """At k = 2 the pool is a and x, so n1 is left out of the other list: a is its first doc."""
    runs = {"in": {"q": [("a", 3), ("x", 2), ("n1", 1)]}, "out": {"q": [("n1", 2), ("a", 1)]}}
    track = Track(runs, {"q": {"a": 1, "n1": 0, "x": 0, "r": 1}})
    source = track.write(tmp_path / "c")
    (source / "systems.csv").write_text("name,judged\nin,yes\nout,no\n")
    (source / "collection.toml").write_text(
        '[tracks.t]\nruns = ["t/runs/*"]\nqrels = "t/qrels"\n'
        'systems = { file = "systems.csv", name = "name", pooled = "judged" }\n'
    )
    store = irmeta.ingest(source, tmp_path / "store")
    measure = "AP(norm=pool,unjudged=condensed)"
    assert store.evaluate(f"{measure}@2", system="out", per_query=True)["value"].to_list() == [1.0]
    explained = store.explain(f"{measure}@2", system="out", query="q")
    assert explained.trace.value == 1.0
    curve = store.curve("AP(unjudged=condensed,norm=min)", [2], [2]).filter(system="out")
    assert curve["value"].to_list() == [1.0]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "ours"),
    [("map", "AP"), ("ndcg", "nDCG"), ("recip_rank", "RR"), ("MAP", "AP"), ("rbp", None)],
)
def test_curve__accepts_trec_eval_names(name: str, ours: str | None, made_store: irmeta.Store):
    found = made_store.curve(name, [1, 5], track="web")
    ours = ours or parse_measure(name).name
    assert found.equals(made_store.curve(ours, [1, 5], track="web"))
    assert found["measure"].unique().to_list() == [ours]
