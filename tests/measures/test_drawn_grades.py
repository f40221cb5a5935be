"""Drawn grades of unjudged docs: every draw against all that a twin enumerates, and means."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.errors import UsageError
from irmeta.measures.names import canonical_name
from irmeta.rankings.derive.sample import draw_grades, unjudged_in
from support.examples import scaled
from support.making import Track, tracks
from twins import measures
from twins import unjudged as naive

K = 3
TWINS: dict[str, Callable[..., float]] = {
    "P@3": partial(measures.precision, k=K),
    "AP@3": partial(measures.average_precision, k=K),
    "nDCG@3": partial(measures.ndcg, k=K),
    "RBP(p=0.8)@3": partial(measures.rbp, p=0.8, k=K),
    "R@3": partial(measures.recall, k=K),
}
SOURCES = st.sampled_from(["query", "run"])
NEGATIVE = st.sampled_from(["unjudged", "nonrelevant"])


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(tracks(), SOURCES, NEGATIVE)
def test_draw_grades__draws_are_those_of_the_twin_with_their_chances(
    track: Track, source: Any, negative: Any
):
    draws = 400
    (view,) = track.read().views("t", negative=negative)
    for q, query in enumerate(view.queries):
        for s, system in enumerate(view.systems):
            if not len(unjudged_in(view, q, s, K)):
                continue
            how: Any = {"source": source, "draws": draws, "rng": np.random.default_rng(1)}
            made = list(draw_grades(view, q, s, K, **how))
            assert sum(len(one.queries) for one in made) == draws
            scores = irmeta.scores_of(made[0], list(TWINS))
            ranking = track.ranking(system, query)
            for (name, twin), values in zip(TWINS.items(), scores.values[..., 0], strict=True):
                every = naive.drawn(ranking, track.qrels[query], K, source, negative, twin)
                assert {round(one, 9) for one in values} <= {round(one, 9) for _, one in every}
                mean = sum(chance * one for chance, one in every)
                spread = sum(chance * (one - mean) ** 2 for chance, one in every)
                assert values.mean() == pytest.approx(
                    mean, abs=6 * math.sqrt(spread / draws) + 1e-9
                ), name


QRELS = {"1": {"a": 2, "b": 1, "n": 0, "m": 0}, "2": {"a": 1, "n": 0}}
RUNS = {
    "holes": {"1": ["u", "a", "v", "n"], "2": ["u", "v", "w"]},
    "judged": {"1": ["a", "n", "b"], "2": ["n", "a"]},
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("source", ["query", "run"])
def test_drawn__means_are_the_exact_expectation(source: Any):
    store = irmeta.from_data(QRELS, RUNS)
    draws = 4000
    found = store.pools.drawn(list(TWINS), source=source, draws=draws)
    for name, row in zip(TWINS, found.filter(system="holes").iter_rows(named=True), strict=True):
        mean = spread = 0.0
        for query, qrels in QRELS.items():
            every = naive.drawn(RUNS["holes"][query], qrels, K, source, "unjudged", TWINS[name])
            of_query = sum(chance * value for chance, value in every)
            mean += of_query / 2
            spread += sum(chance * (value - of_query) ** 2 for chance, value in every) / 4
        assert row["drawn"] == pytest.approx(mean, abs=5 * math.sqrt(spread / draws))
        assert row["drawn_low"] < row["drawn"] < row["drawn_high"]
        assert row["unjudged"] == 2.5
    judged = found.filter(system="judged")
    for column in ("condensed", "drawn", "drawn_low", "drawn_high"):
        assert judged[column].to_list() == pytest.approx(judged["value"].to_list())
    assert judged["unjudged"].to_list() == [0.0] * len(TWINS)


def test_drawn__worked_example():
    """One unjudged doc at rank 1 of 2 and half of the judged docs relevant: P@2 is .5 or 1."""
    qrels, runs = {"q": {"a": 1, "n": 0}}, {"one": {"q": ["u", "a"]}}
    (row,) = (
        irmeta.from_data(qrels, runs).pools.drawn("P@2,AP", draws=100)[:1].iter_rows(named=True)
    )
    assert (row["value"], row["condensed"], row["upper"], row["residual"]) == (0.5, 0.5, 1.0, 0.5)
    assert (row["drawn_low"], row["drawn_high"]) == (0.5, 1.0)
    assert 0.6 < row["drawn"] < 0.9
    always = irmeta.from_data(qrels, runs).pools.drawn("P@2", source="run", draws=100)
    assert always["drawn_low"].to_list() == always["drawn_high"].to_list() == [1.0]


@pytest.fixture(scope="module")
def web(made_store: irmeta.Store):
    names = "P@10,RBP(p=0.8)@10,AP,nDCG@10,Judged@10,Bpref"
    return made_store.pools.drawn(names, "web", draws=50)


@pytest.mark.exhaustive
def test_drawn__stands_beside_the_values_of_evaluate(made_store: irmeta.Store, web):
    treatments = {
        "value": ("P@10", "AP", "nDCG@10", "Bpref"),
        "condensed": ("P(unjudged=condensed)@10", "AP(unjudged=condensed)"),
        "upper": ("P(unjudged=upper)@10", "RBP(p=0.8,unjudged=upper)@10"),
    }
    for column, names in treatments.items():
        for name in names:
            expected = made_store.means(name, track="web")["value"].to_list()
            plain = canonical_name(re.sub(rf"\(unjudged={column}\)|,unjudged={column}", "", name))
            assert web.filter(measure=plain)[column].to_list() == expected
    binary = web.filter(web["upper"].is_not_nan())
    assert binary["measure"].n_unique() == 2
    assert (binary["value"] <= binary["drawn_low"] + 1e-12).all()
    assert (binary["drawn_high"] <= binary["upper"] + 1e-12).all()
    judged = web.filter(measure="Judged@10", system="ibisBase")
    assert judged["drawn"].to_list() == pytest.approx([0.95])  # one of 20 queries has no list
    assert judged["value"][0] < 0.6
    assert web.filter(measure="AP")["upper"].is_nan().all()


@pytest.mark.exhaustive
def test_drawn__a_list_has_its_own_draws(made_store: irmeta.Store, web):
    alone = made_store.pools.drawn("nDCG@10", "web", system="ibisBase", draws=50, workers=2)
    assert alone.equals(web.filter(system="ibisBase", measure="nDCG@10"))
    other = made_store.pools.drawn("nDCG@10", "web", system="ibisBase", draws=50, rng=1)
    assert other["drawn"][0] != alone["drawn"][0]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"measures": "AP(unjudged=condensed)"}, "has its own treatment of unjudged docs"),
        ({"measures": "P(ties=share)@5"}, "reads ties"),
        ({"measures": "AP", "source": "runs"}, "source = 'runs' is not a choice"),
        ({"measures": "AP", "draws": 0}, "draws"),
        ({"measures": "AP", "system": "ibisBas"}, "no system 'ibisBas'"),
    ],
)
def test_drawn__wrong_calls_are_refused(made_store: irmeta.Store, asked: Any, said: str):
    with pytest.raises(UsageError, match=said):
        made_store.pools.drawn(track="web", **asked)


@pytest.mark.exhaustive
def test_draw_option__prints_drawn_means(run, made_store: irmeta.Store):
    asked = ("evaluate", made_store.path, "-m", "P@10", "--track", "web")
    done = run(*asked, "--unjudged", "--draw", "run", "--draws", 20, "--seed", 3)
    heads, first = done.out.splitlines()[:2]
    assert heads == (
        "track,system,measure,value,condensed,upper,residual,drawn,drawn_low,drawn_high,unjudged"
    )
    expected = made_store.pools.drawn("P@10", "web", source="run", draws=20, rng=3)
    assert float(first.split(",")[7]) == pytest.approx(expected["drawn"][0])
    assert "have a mean Judged@10 below" in done.err


@pytest.mark.exhaustive
def test_draw_option__of_files_with_names_as_written(run, tmp_path: Path):
    (tmp_path / "qrels.txt").write_text("q 0 a 1\nq 0 n 0\n")
    (tmp_path / "one.txt").write_text("q Q0 u 1 2 t\nq Q0 a 2 1 t\n")
    files = (tmp_path / "qrels.txt", tmp_path / "one.txt")
    done = run("evaluate", *files, "-m", "P_5", "--unjudged", "--draw", "run")
    heads, row = (line.split(",") for line in done.out.splitlines())
    found = dict(zip(heads, row, strict=True))
    assert (found["asked"], found["value"], found["drawn"]) == ("P_5", "0.2", "0.4")
    assert "track" not in found
    done = run("evaluate", *files, "-m", "P_5", "--unjudged", "--draw", "run", "--sort", "drawn")
    assert done.status == 0
    latex = run("evaluate", *files, "-m", "P_5", "--unjudged", "--draw", "run", "--format", "latex")
    assert "drawn" in latex.out
