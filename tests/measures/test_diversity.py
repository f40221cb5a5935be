"""Identities and edge cases of measures by subtopic; test_ndeval compares their values."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import irmeta
from irmeta.errors import UsageError
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import parse_measures
from irmeta.policies import EvalPolicy
from irmeta.rankings.judged import JudgedRanks
from support.examples import scaled
from support.making import Track, described_tracks, down, tracks
from support.viewing import view_of
from twins import diversity as naive

AD_HOC = ("AP", "P@2", "nDCG@3", "RR", "Bpref", "IPrec@0.3", "ASL", "AP(norm=pool)@2", "AvgSL")
NEEDS = ("subtopics", "pool", "retrieved")


def values_of(view: JudgedRanks, *names: str) -> np.ndarray:
    """Return the values of measures: [measure, query, system]."""
    return evaluate_block(view, parse_measures(names), EvalPolicy()).values


def derived(name: str) -> str:
    """Return the name of the intent-aware form of a measure."""
    measure, at, cut = name.partition("@")
    return f"{measure.replace('(', '_IA(') if '(' in measure else measure + '_IA'}{at}{cut}"


@pytest.mark.exhaustive
@settings(max_examples=scaled(20))
@given(tracks())
def test_intent_aware__one_subtopic_equals_measure(track: Track):
    diversity = {query: {"s": docs} for query, docs in track.qrels.items()}
    view = view_of(Track(track.runs, track.qrels, diversity=diversity).read(), *NEEDS)
    has_relevant = view.by_subtopic().counts(1) > 0
    plain, aware = values_of(view, *AD_HOC), values_of(view, *map(derived, AD_HOC))
    np.testing.assert_allclose(aware[:, has_relevant], plain[:, has_relevant], rtol=1e-12)


@pytest.mark.exhaustive
@settings(max_examples=scaled(20))
@given(described_tracks())
def test_intent_aware__equals_mean_over_views_of_single_subtopics(track: Track):
    view = view_of(track.read(), *NEEDS).by_subtopic()
    aware = values_of(view, *map(derived, AD_HOC))
    expected = np.full(aware.shape, np.nan)
    expected[[not name.startswith(("ASL", "AvgSL")) for name in AD_HOC]] = 0.0
    counts = np.zeros(len(view.queries))
    sums = np.zeros(aware.shape)
    for name in {name for subtopics in track.diversity.values() for name in subtopics}:
        one = view.one_subtopic(name)
        queries = [q for q, n in zip(one.queries, one.counts(1), strict=True) if n]
        places = [view.queries.index(q) for q in queries]
        if queries:
            sums[:, places] += values_of(one.only_queries(queries), *AD_HOC)
            counts[places] += 1
    has_any = counts > 0
    expected[:, has_any] = sums[:, has_any] / counts[has_any, None]
    np.testing.assert_allclose(aware, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(described_tracks())
def test_alpha_ndcg__without_novelty_equals_dndcg_of_binary_gains(track: Track):
    view = view_of(track.read(), "subtopics")
    for cut in ("", "@1", "@3"):
        found, expected = values_of(view, f"alpha_nDCG(alpha=0){cut}", f"DnDCG(gain=binary){cut}")
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(described_tracks())
def test_err_ia__of_one_grade_is_proportional_to_ndevals(track: Track):
    diversity = {
        query: {name: {d: min(g, 1) for d, g in docs.items()} for name, docs in subtopics.items()}
        for query, subtopics in track.diversity.items()
    }
    view = view_of(Track(track.runs, track.qrels, diversity=diversity).read(), "subtopics")
    for k in (1, 2, 5):
        graded, of_ndeval = values_of(view, f"ERR_IA(norm=none,gain=exp,gmax=1)@{k}", f"ERR_IA@{k}")
        perfect = sum(0.5**i / i for i in range(1, k + 1))
        np.testing.assert_allclose(graded, of_ndeval * perfect, rtol=1e-12)


@pytest.mark.exhaustive
@settings(max_examples=scaled(15))
@given(described_tracks())
def test_measures_by_subtopic__do_not_depend_on_other_systems(track: Track):
    view = view_of(track.read(), "subtopics")
    names = ("ndeval@3", "DnDCG@3", "DQ", "DSharpnDCG(weights=given)@2", "nDCG_IA")
    together = values_of(view, *names)
    alone = values_of(view.only_systems(view.systems[-1]), *names)
    np.testing.assert_array_equal(alone[..., 0], together[..., -1])


@pytest.mark.exhaustive
def test_measures_by_subtopic__equal_for_wide_ranks(made_store: irmeta.Store):
    """Lists of more than 65,534 docs have ranks of 32 bits."""
    (view,) = made_store.views("web", needs=["subtopics"])
    view = view.by_subtopic()
    missing = np.uint32(np.iinfo(np.uint32).max)
    ranks = np.where(view.ranks == view.missing, missing, view.ranks.astype(np.uint32))
    wide = replace(view, ranks=ranks, _cache={})
    names = ("ndeval", "DnDCG@5", "DQ", "ERR_IA(norm=none,gain=exp)@10")
    np.testing.assert_array_equal(values_of(wide, *names), values_of(view, *names))


def test_alpha_ndcg__equal_gains_are_ranked_by_name_descending():
    subtopics = {"1": {"a": 1}, "2": {"a": 1, "c": 1}, "3": {"b": 1, "c": 1}, "4": {"b": 1}}
    track = Track({"s": {"q": down("a", "b", "c")}}, {}, diversity={"q": subtopics})
    store = track.read()
    second = 1 / math.log2(3)
    means = store.means(["alpha_nDCG@1", "alpha_nDCG@2"])["value"].to_list()
    # The greedy list is c, b, a with gains 2, 1.5, 1.5; better is a, b, c with 2, 2, 1.
    assert means == pytest.approx([1.0, (2 + 2 * second) / (2 + 1.5 * second)])
    assert means[1] > 1


def test_ndeval__divisor_counts_rank_1():
    """ndeval leaves rank 1 out of its divisor, and gives 1 where half the subtopics are found."""
    track = Track({"s": {"q": down("a")}}, {}, diversity={"q": {"1": {"a": 1}, "2": {"b": 1}}})
    means = track.read().means(["ERR_IA@1", "alpha_DCG@1", "StRecall@1"])
    assert means["value"].to_list() == [0.5, 0.5, 0.5]


def test_measures_by_subtopic__hundreds_of_subtopics():
    docs = [f"d{i:02}" for i in range(40)]
    nuggets = {f"n{i:03}": {docs[i % 40]: 1, docs[i * 7 % 40]: 2} for i in range(300)}
    track = Track({"s": {"q": down(*docs[::-1])}}, {}, diversity={"q": nuggets})
    names = ("alpha_nDCG@10", "StRecall@10", "NRBP", "P_IA@5")
    found = track.read().evaluate(names, per_query=True)
    ranking = docs[::-1]
    expected = {
        "alpha_nDCG@10": naive.over_greedy(ranking, nuggets, 10, naive.log_discount),
        "StRecall@10": naive.subtopic_recall(ranking, nuggets, 10, {}),
        "NRBP": naive.nrbp(ranking, nuggets, {}),
        "P_IA@5": sum(d in ranking[:5] for docs in nuggets.values() for d in docs) / 5 / 300,
    }
    for measure, value in found.select("measure", "value").rows():
        assert value == pytest.approx(expected[measure], rel=1e-12)


DIVERSITY = {"q": {"1": {"a": 1}, "2": {"b": 1}, "never": {"a": 0}}}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("described", "found", "every"),
    [
        ({}, 1 / 2, 1 / 3),
        ({"1": (1, None), "2": (1, None), "unjudged": (2, None), "x": (0, None)}, 1 / 2, 1 / 4),
        ({"2": (1, "nav")}, 1 / 2, 0.0),
        ({"2": (None, None)}, 1 / 2, 1 / 3),
    ],
)
def test_subtopics_all__are_those_of_the_file_else_of_the_qrels(described, found, every):
    runs, described = {"s": {"q": down("a")}}, {"q": described} if described else {}
    store = Track(runs, {}, diversity=DIVERSITY, described=described).read()
    means = store.means(["StRecall@5", "StRecall(subtopics=all)@5"])
    assert means["value"].to_list() == pytest.approx([found, every])


@pytest.mark.exhaustive
def test_weights_given__are_normalised_over_the_subtopics_that_count():
    described = {"q": {"1": (3, None), "2": (1, None), "never": (4, None)}}
    track = Track({"s": {"q": down("a")}}, {}, diversity=DIVERSITY, described=described)
    names = ["P_IA(weights=given)@1", "P_IA(subtopics=all,weights=given)@1"]
    assert track.read().means(names)["value"].to_list() == [0.75, 0.375]
    none = {"q": dict.fromkeys(DIVERSITY["q"], (0, None))}
    track = Track({"s": {"q": down("a")}}, {}, diversity=DIVERSITY, described=none)
    names = ["P_IA(weights=given)@1", "ERR_IA(weights=given)@1", "DQ(weights=given)"]
    assert track.read().means(names)["value"].to_list() == [0.0, 0.0, 0.0]


@pytest.mark.exhaustive
def test_weights_given__subtopic_without_weight_is_refused():
    described = {"q": {"1": (3, "inf"), "2": (None, "inf")}}
    track = Track({"s": {"q": down("a")}}, {}, diversity=DIVERSITY, described=described)
    problem = r"track 't' has no weight for subtopic '2' of query 'q': add it to the subtopics_file"
    for name in ("AP_IA(weights=given)", "DnDCG(weights=given)@5", "ERR_IA(weights=given)@5"):
        with pytest.raises(UsageError, match=problem):
            track.read().means(name)


def test_dinndcg__subtopic_without_type_is_refused():
    described = {"q": {"1": (1, "inf"), "2": (1, "vital")}}
    track = Track({"s": {"q": down("a")}}, {}, diversity=DIVERSITY, described=described)
    with pytest.raises(UsageError, match=r"subtopic '2' the type 'vital', neither 'inf' nor 'nav'"):
        track.read().means("DINnDCG@5")


def test_dinndcg__subtopics_without_types_are_refused():
    track = Track({"s": {"q": down("a")}}, {}, diversity=DIVERSITY)
    with pytest.raises(UsageError, match=r"no type for subtopic '1' of query 'q': add .*or use D"):
        track.read().means("DINnDCG@5")


def test_intent_aware__track_without_subtopics_is_refused():
    store = Track({"s": {"q": down("a")}}, {"q": {"a": 1}}).read()
    with pytest.raises(UsageError, match=r"no qrels by subtopic.*subtopics = true"):
        store.means("AP_IA")


def test_intent_aware__reads_the_set_with_subtopics_beside_an_ad_hoc_set():
    track = Track({"s": {"q": down("a")}}, {"q": {"a": 1, "b": 1}}, diversity=DIVERSITY)
    means = track.read().means(["AP", "AP_IA", "AP_IA(subtopics=all)"])
    assert means["value"].to_list() == pytest.approx([0.5, 0.5, 1 / 3])
    store: irmeta.Store = track.read()
    assert store.means("AP_IA", qrels="diversity")["value"].to_list() == [0.5]


def test_d_measures__docs_below_rel_have_no_gain():
    """With one subtopic, DnDCG(rel=2) and DQ(rel=2) are nDCG(rel=2) and Q(rel=2)."""
    runs = {"s": {"1": down("c", "a", "b", "d")}, "t": {"1": down("a", "c", "x")}}
    qrels = {"1": {"a": 3, "b": 2, "c": 1, "d": 0}}
    view = view_of(Track(runs, qrels, diversity={"1": {"s": qrels["1"]}}).read(), *NEEDS)
    found = values_of(view, "DnDCG(rel=2)", "DQ(rel=2)", "nDCG(rel=2)", "Q(rel=2)")
    np.testing.assert_allclose(found[:2], found[2:], rtol=1e-12)
