"""Values and means of `evaluate`: by tie order and policy, on the made tracks, by pytrec_eval."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from hypothesis import example, given, settings

import irmeta
from irmeta import Store
from irmeta.measures.names import parse_measure
from support.cells import ORDERS, assert_equal, close, twin_values, values_of
from support.examples import scaled
from support.making import Track, down, read_qrels, read_run, tracks
from twins import measures as naive
from twins.registry import FAMILIES

TWINS = FAMILIES["well known"].twins

_TIED = [("a", 3, 0), ("b", 3, 0)]


@pytest.mark.exhaustive
@settings(max_examples=scaled(10))
@given(tracks(systems=3, queries=2))
@example(
    Track(  # ties in the second list of a system
        runs={"s0": {"q0": [("a", 1, 1)]}, "s1": {"q0": [("a", 3, 0)], "q1": _TIED}},
        qrels={"q0": {"a": 0}, "q1": {"a": 1}},
        name="t",
    )
)
def test_evaluate__tie_order_option_equals_ingest_in_that_tie_order(track: Track):
    store = track.read()
    for order in ORDERS:
        expected = twin_values(track, TWINS, order)
        assert_equal(values_of(store, TWINS, tie_order=order), expected)
        other = track.read(tie_order=order)
        assert_equal(values_of(other, TWINS), expected)
        assert_equal(values_of(other, TWINS, tie_order="trec_eval"), values_of(store, TWINS))


@pytest.mark.exhaustive
@pytest.mark.parametrize("queries", ["judged", "relevant", "retrieved"])
@settings(max_examples=scaled(20))
@given(track=tracks())
def test_means__average_the_queries_of_the_policy(queries: str, track: Track):
    cells = twin_values(track, TWINS)
    covered = {
        "judged": lambda system, query, rel: True,
        "relevant": lambda system, query, rel: naive.relevant_docs(track.qrels[query], rel),
        "retrieved": lambda system, query, rel: query in track.runs[system],
    }[queries]
    rels = {name: parse_measure(name).rel for name in TWINS}
    kept = {cell: v for cell, v in cells.items() if covered(*cell[:2], rels[cell[2]])}
    store = track.read()
    assert_equal(values_of(store, TWINS, queries=queries), kept)
    means = store.means(TWINS, queries=queries)
    for system, measure, value, number, no_list in means.select(
        "system", "measure", "value", "queries", "no_list"
    ).iter_rows():
        own = {q: v for (s, q, m), v in kept.items() if (s, m) == (system, measure)}
        expected, defined = naive.mean(own.values())
        assert close(value, expected)
        assert number == defined
        assert no_list == sum(
            q not in track.runs[system] for q, v in own.items() if not math.isnan(v)
        )


def test_means__count_lists_without_nonrelevant_docs(tmp_path: Path):
    lists = {"q": [("a", 1)], "r": [("b", 1)], "unjudged": [("a", 1)]}
    track = Track({"s": lists, "t": {"q": [("a", 2), ("x", 1)]}}, {"q": {"a": 1}, "r": {"b": 2}})
    means = track.ingest(tmp_path).means("ASL,ASL(rel=2),AP")
    counted = {
        (s, m): n
        for s, m, n in means.select("system", "measure", "lists_without_nonrelevant").rows()
    }
    assert counted == {
        ("s", "ASL"): 2,
        ("s", "ASL(rel=2)"): 1,
        ("s", "AP"): None,
        ("t", "ASL"): 0,
        ("t", "ASL(rel=2)"): 0,
        ("t", "AP"): None,
    }


MADE = {"news": "news/qrels.txt", "web": "web/adhoc.qrels.txt", "passage": "passage/qrels.txt"}


@pytest.fixture(scope="module", params=sorted(MADE))
def made(request: pytest.FixtureRequest, collections: Path) -> Track:
    """Read a synthetic track naively, without its unreadable run."""
    files = (collections / request.param / "runs").iterdir()
    names = {file.name.split(".")[0]: file for file in files}
    names.pop("nuthFirst", None)
    runs = {system: read_run(names[system]) for system in sorted(names)}
    return Track(runs, read_qrels(collections / MADE[request.param]), request.param)


@pytest.mark.exhaustive
def test_evaluate__synthetic_tracks_equal_naive_implementation(
    made: Track, made_store: irmeta.Store
):
    assert_equal(values_of(made_store, TWINS, track=made.name), twin_values(made, TWINS))


def test_evaluate__diversity_qrels_equal_naive_implementation(
    collections: Path, made_store: irmeta.Store
):
    runs = {"finchDiv": read_run(collections / "web" / "runs" / "finchDiv.gz")}
    track = Track(runs, read_qrels(collections / "web" / "diversity.qrels.txt"), "web")
    found = values_of(made_store, TWINS, track="web", system="finchDiv", qrels="diversity")
    assert_equal(found, twin_values(track, TWINS))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("order", ORDERS)
def test_evaluate__tie_orders_equal_naive_implementation(
    made: Track, made_store: irmeta.Store, order: str
):
    some = replace(made, runs={s: made.runs[s] for s in sorted(made.runs)[::4]})
    deepest = made.deepest
    found = values_of(made_store, "AP,ASL(unretrieved=depth)", track=made.name, tie_order=order)
    for system in some.runs:
        for query, qrels in made.qrels.items():
            ranking = made.ranking(system, query, order)
            ap = naive.average_precision(ranking, qrels)
            asl = naive.asl(ranking, qrels, unretrieved="depth", deepest=deepest)
            assert close(found[system, query, "AP"], ap)
            assert close(found[system, query, "ASL(unretrieved=depth)"], asl)


PYTREC_EVAL = {
    "map": "AP",
    "map_cut_10": "AP@10",
    "P_20": "P@20",
    "recall_1000": "R@1000",
    "recip_rank": "RR",
    "ndcg": "nDCG",
    "ndcg_cut_10": "nDCG@10",
    "bpref": "Bpref",
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("rel", [1, 2])
def test_evaluate__synthetic_tracks_equal_pytrec_eval(
    made: Track, made_store: irmeta.Store, rel: int
):
    names = {
        theirs: parse_measure(ours if rel == 1 or ours.startswith("nDCG") else at_rel(ours, rel))
        for theirs, ours in PYTREC_EVAL.items()
    }
    found = values_of(made_store, [spec.name for spec in names.values()], track=made.name)
    evaluator = pytrec_eval.RelevanceEvaluator(made.qrels, names.keys(), relevance_level=rel)
    compared = 0
    for system, lists in made.runs.items():
        scores = {q: {doc: score for doc, score, _ in lines} for q, lines in lists.items()}
        for query, values in evaluator.evaluate(scores).items():
            for theirs, spec in names.items():
                assert close(found[system, query, spec.name], values[theirs], 1e-9)
                compared += 1
    assert compared > 1000


def at_rel(name: str, rel: int) -> str:
    """Add the parameter `rel` to a measure's name."""
    stem, at, cut = name.partition("@")
    return f"{stem}(rel={rel}){at}{cut}"


@settings(max_examples=scaled(40))
@given(tracks())
def test_evaluate__random_tracks_equal_pytrec_eval(track: Track):
    names = [theirs for theirs in PYTREC_EVAL if theirs != "recall_1000"]
    # pytrec_eval crashes on a query whose grades are all negative; naive code covers those.
    qrels = {q: docs for q, docs in track.qrels.items() if max(docs.values()) >= 0}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, names)
    store = track.read()
    found = values_of(store, names)
    for system, lists in track.runs.items():
        scores = {q: {str(line[0]): float(line[1]) for line in lines} for q, lines in lists.items()}
        for query, values in evaluator.evaluate(scores).items():
            for theirs in names:
                cell = found[system, query, PYTREC_EVAL[theirs]]
                assert close(cell, values[theirs], 1e-9), (system, query, theirs)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("p", [1e-310, 1e-20, 0.999999999999])
def test_rbp__persistence_near_bounds_equals_naive_implementation(p: float, tmp_path: Path):
    track = Track({"s": {"q": down("a", "b", "x", "c")}}, {"q": {"a": 1, "c": 2}})
    (value,) = track.ingest(tmp_path).means(f"RBP(p={p})")["value"]
    assert close(value, naive.rbp(["a", "b", "x", "c"], track.qrels["q"], p))


@pytest.mark.parametrize("gain", ["linear", "exp"])
def test_rbp__gmax_below_highest_grade_of_track_is_refused(gain: str, made_store: irmeta.Store):
    """Gains above 1 would make values above 1."""
    with pytest.raises(irmeta.MeasureError, match=r"gmax=3 is below 4, the highest grade"):
        made_store.means(f"RBP(gain={gain},gmax=3)", track="web")
    diversity = made_store.means(f"RBP(gain={gain},gmax=3)", track="web", qrels="diversity")
    plain = made_store.means(f"RBP(gain={gain})", track="web", qrels="diversity")
    assert diversity["value"].equals(plain["value"])


def test_scores__query_without_judgments_is_excluded(made_store: irmeta.Store):
    scores = made_store.scores("AP", track="web")
    assert "399" not in scores.queries
    assert not np.isnan(scores.values).any()


HIGHEST = (
    r"track news: no doc is relevant for {}: the highest grade of the qrels set 'binary' is 1\."
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("names", "call"),
    [
        ("AP(rel=2)", lambda s, m: s.means(["AP", m], track="news")),
        (
            "AP(rel=2), nDCG(gain=exp,rel=3)@5",
            lambda s, m: s.evaluate(m, track=["news"], per_query=True),
        ),
        ("AP(rel=2)", lambda s, m: s.curve([m, "P"], [5, 10], track="news")),
        ("AP(rel=2)", lambda s, m: s.stability.truncation(m, track="news")),
        ("AP(rel=2)", lambda s, m: s.pools.leave_out(m, track="news", pool_depth=5)),
        ("AP(rel=2)", lambda s, m: s.explain(m, system="aldDFR", query=901, track="news")),
        ("RPP(rel=2)", lambda s, m: s.prefer(m, track="news")),
        ("RPP(rel=2)", lambda s, m: s.pairs.win_rates(m, track="news")),
    ],
)
def test_values__rel_above_the_highest_grade_is_one_warning(
    names: str, call: Callable[[Store, str], Any], made_store: Store
):
    with pytest.warns(irmeta.RelevanceWarning, match=HIGHEST.format(re.escape(names))) as found:
        call(made_store, names)
    assert len(found) == 1


def test_values__rel_is_compared_with_the_set_that_is_used(made_store: Store):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made_store.means("AP(rel=4),alpha_nDCG(rel=3)@5", track="web")
    with pytest.warns(irmeta.RelevanceWarning, match=r"rel=4\)@5: .*set 'diversity' is 3"):
        made_store.means("alpha_nDCG(rel=4)@5", track="web")


@pytest.mark.filterwarnings("default::irmeta.RelevanceWarning")
def test_evaluate_command__rel_above_the_highest_grade_is_named_once(run, made_store: Store):
    command = ("evaluate", made_store.path, "-m", "AP(rel=2),AP", "--track", "news", "-q")
    done = run(*command, "--format", "trec_eval")
    assert done.status == 0
    said = [line for line in done.err.splitlines() if " systems ha" not in line]
    assert re.fullmatch(f"irmeta: {HIGHEST.format(re.escape('AP(rel=2)'))}", "\n".join(said))
