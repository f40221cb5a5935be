"""The cube test against cubetest.py of TREC's Dynamic Domain track, and worked values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from irmeta.measures.catalog import describe
from irmeta.measures.diversity import cube_test
from irmeta.measures.names import parse_measure
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.judgments import Subtopics
from support.making import Track, down

PARAMS = {"gamma": 0.5, "height": 5, "form": "code"}

Ratings = dict[str, list[float]]
"""Rating of each doc for each subtopic, in the order of the docs."""


def truth(path: Path) -> Mapping[str, tuple[list[str], Ratings]]:
    """Read docs and ratings of each topic: sums over passages, where a rating of 0 counts 1."""
    topics = {}
    for topic in ElementTree.parse(path).iter("topic"):
        docs = sorted({node.text for node in topic.iter("docno")})
        ratings: Ratings = {}
        for subtopic in topic.iter("subtopic"):
            of_doc = ratings[subtopic.get("id")] = [0.0] * len(docs)
            for passage in subtopic.iter("passage"):
                rating = int(passage.findtext("rating"))
                of_doc[docs.index(passage.findtext("docno"))] += rating or 1
        topics[topic.get("id")] = docs, ratings
    return topics


def view_of(docs: list[str], ratings: Ratings, listed: list[str]) -> JudgedRanks:
    """Return the view of one list; a doc that is listed again counts as non-relevant."""
    ranks = [listed.index(doc) + 1 if doc in listed else 0 for doc in docs]
    view = JudgedRanks.from_arrays(
        np.array(ranks)[:, None], np.ones(len(docs), np.int8), lengths=np.array([[len(listed)]])
    )
    subtopics = Subtopics(
        names=tuple(ratings),
        offsets=np.array([0, len(ratings)]),
        starts=np.arange(len(docs) + 1) * len(ratings),
        subtopic=np.tile(np.arange(len(ratings), dtype=np.int32), len(docs)),
        grade=np.ones(len(docs) * len(ratings), np.int8),
        weights=np.full(len(ratings), np.nan),
        types=(None,) * len(ratings),
    )
    return replace(view, subtopics=subtopics)


def with_empty(listed: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Add a non-relevant doc to an iteration without docs: the program's ACT counts one there."""
    turns = {turn for _, turn in listed}
    empty = [("(none)", turn) for turn in range(1, max(turns)) if turn not in turns]
    return sorted(listed + empty, key=lambda pair: pair[1])


@pytest.mark.parametrize("cutoff", [1, 2, 4, 10])
@pytest.mark.parametrize("folder", ["cubetest", "dynamic"])
def test_cube_test__equals_trec_program(shared: Path, folder: str, cutoff: int):
    lines = (shared / "oracles" / "cubetest" / "run.txt").read_text().splitlines()
    rows = [line.split() for line in lines]
    topics = truth(shared / "oracles" / "cubetest" / "topic.xml")
    printed = shared / "oracles" / folder / f"out.cubetest.cutoff{cutoff}.txt"
    compared = 0
    for line in printed.read_text().splitlines()[2:-1]:
        topic, *expected = line.split()
        docs, ratings = topics[topic]
        listed = with_empty([(d, int(turn) + 1) for q, turn, d, *_ in rows if q == topic])
        iterations = np.array([0.0, *(turn for _, turn in listed)])
        k = int((iterations[1:] <= cutoff).sum())
        view = view_of(docs, ratings, [doc for doc, _ in listed])
        rated = np.array([*ratings.values()]).T.ravel()
        shares = np.full(len(ratings), 1 / len(ratings))
        steps = cube_test.fill(view, rated, shares, PARAMS)
        ct = cube_test.rates(view, steps, iterations, [k]) / 5
        act = cube_test.mean_rates(view, steps, iterations, [k]) / 5
        best = cube_test.fullest(view, rated, shares, PARAMS, np.array([5 * cutoff + 1]))
        found = [values.item() for values in (ct, act, ct / (best / 5 / cutoff))]
        assert found == pytest.approx([float(value) for value in expected], abs=5.1e-8), topic
        compared += 1
    assert compared == 2


ASPECTS = {"1": {f"a{i}": 1 for i in range(5)}, "2": {f"b{i}": 1 for i in range(5)}}


def test_act__worked_values_of_the_paper():
    """Section 4.3: ACT(ab) = 0.0750 and ACT(abx) = 0.0833; Eq. 7 as printed gives 10 times that."""
    runs = {"ab": {"q": down("a0", "b0")}, "abx": {"q": down("a0", "b0", "x")}}
    means = (
        Track(runs, {}, diversity={"q": ASPECTS})
        .read()
        .means(["ACT(per=all)@10", "ACT(per=all,form=paper)@10"])
    )
    values = means.sort("measure", "system")["value"].to_list()
    assert values == pytest.approx([0.075, 0.25 / 3, 0.75, 2.5 / 3], rel=1e-12)


def test_ct__form_of_the_paper_with_graded_judgments():
    """Without full subtopics, MH / (gamma times the highest grade) times TREC's program."""
    docs = {"a0": 3, "a1": 1, "a2": 2}
    store = Track({"s": {"q": down("a1", "x", "a0")}}, {}, diversity={"q": {"1": docs}}).read()
    code, paper = store.means(["CT(height=9)@5", "CT(height=9,form=paper)@5"])["value"].to_list()
    assert paper == pytest.approx(9 / (0.5 * 3) * code, rel=1e-12)
    assert code == pytest.approx((0.5 * 1 + 0.25 * 3) / 9, rel=1e-12)


def test_nct__exceeds_1_by_the_bound_of_trecs_program_alone():
    docs = {f"a{i}": 4 for i in range(3)}
    store = Track({"s": {"q": down(*docs)}}, {}, diversity={"q": {"1": docs}}).read()
    means = store.means(["nCT@50", "nCT(bound=time)@50"])["value"].to_list()
    # Gains 2 + 1 + 0.5, over a cube of height 5 that 4 + 2 + 1 fill; ten iterations, of which one.
    assert means == pytest.approx([10 * 3.5 / 5, 3.5 / 5], rel=1e-12)


def test_ct__missing_topic_is_0_if_queries_are_the_judged_ones():
    runs = {"s": {"q": down("a0"), "unknown": down("a0")}, "t": {"q": down("b0"), "r": down("a0")}}
    store = Track(runs, {}, diversity={"q": ASPECTS, "r": ASPECTS}).read()
    judged = store.means("CT@10", queries="judged").filter(system="s")
    assert judged.select("value", "queries").row(0) == (0.025, 2)
    retrieved = store.means("CT@10", queries="retrieved").filter(system="s")
    assert retrieved.select("value", "queries").row(0) == (0.05, 1)


def test_ct__full_subtopic_gains_no_more():
    docs = {f"a{i}": 4 for i in range(4)}
    store = Track({"s": {"q": down(*docs)}}, {}, diversity={"q": {"1": docs}}).read()
    names = [f"CT(gamma=1,height=6)@{k}" for k in (1, 2, 3)]
    assert store.means(names)["value"].to_list() == pytest.approx([4 / 6, 1, 1], rel=1e-12)


def test_ct__ratings_without_discount_fill_the_cube_of_the_paper():
    """Eq. 7: two docs of rating 1 fill a height of 1.6, although they gain only 1 + 0.5."""
    docs = {f"a{i}": 1 for i in range(4)}
    store = Track({"s": {"q": down(*docs)}}, {}, diversity={"q": {"1": docs}}).read()
    names = [f"CT(form=paper,height={height})@5" for height in (1.6, 2.5)]
    assert store.means(names)["value"].to_list() == pytest.approx([1.5, 1.75], rel=1e-12)


@pytest.mark.parametrize(
    ("name", "ours"), [("ct@10", "CT@50"), ("act@1", "ACT@5"), ("nct@4", "nCT@20")]
)
def test_parse_measure__cutoffs_of_trecs_program_are_iterations(name: str, ours: str):
    assert parse_measure(name).name == ours
    assert f"{name.partition('@')[0]}@i = " in describe(name).facts["in cubetest.py"]


def test_explain__act_counts_a_gain_once_for_each_doc_from_its_rank_on():
    runs = {"abx": {"q": down("a0", "b0", "x")}}
    store = Track(runs, {}, diversity={"q": ASPECTS}).read()
    trace = store.explain("ACT(per=all)", system="abx", query="q").trace
    texts = [term.arithmetic for term in trace.terms]
    assert texts == ["0.5 x 0.5^1 x 1 x 3", "0.5 x 0.5^1 x 1 x 2"]
    assert trace.divisor == 15
    assert math.isclose(trace.value, 0.25 / 3)
