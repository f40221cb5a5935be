"""ranx and PyTerrier themselves: objects as people pass them to irmeta, and their values.

irmeta does not depend on these packages: `pip install ranx python-terrier` before.
"""

from __future__ import annotations

import random

import pandas as pd
import polars as pl
import pytest

import irmeta
from irmeta import pyterrier

pytestmark = [
    pytest.mark.slow,
    # ranx: unsafe casts in its kernels; pandas and PyTerrier: deprecations of each other.
    pytest.mark.filterwarnings("ignore"),
]

QUERIES = [f"q{i}" for i in range(20)]
DOCS = [f"d{j}" for j in range(60)]
RANX = [
    *("map", "map@10", "mrr", "mrr@10", "ndcg", "ndcg@10", "ndcg_burges@10", "precision@5"),
    *("recall@10", "hit_rate@10", "r-precision", "f1@10", "rbp.80"),
]
"""Measures of ranx; its bpref is NaN where no judged doc is nonrelevant."""


def made_qrels(grades: list[int]) -> dict[str, dict[str, int]]:
    drawn = random.Random(1)
    return {q: {doc: drawn.choice(grades) for doc in drawn.sample(DOCS, 12)} for q in QUERIES}


def made_runs() -> dict[str, dict[str, dict[str, float]]]:
    drawn = random.Random(2)
    return {
        system: {q: {doc: drawn.random() for doc in drawn.sample(DOCS, 40)} for q in QUERIES}
        for system in ("first", "second", "third")
    }


@pytest.mark.parametrize("name", RANX)
def test_evaluate__ranx_objects_have_the_means_of_ranx(name: str):
    ranx = pytest.importorskip("ranx", reason="pip install ranx")
    # ranx's RBP adds up grades, so that a list may exceed 1; it is binary in its paper and here.
    qrels = ranx.Qrels(made_qrels([1] if name.startswith("rbp") else [1, 1, 2]))
    runs = [ranx.Run(run, name=system) for system, run in made_runs().items()]
    found = irmeta.evaluate(qrels, runs, name)
    expected = [ranx.evaluate(qrels, run, name) for run in runs]
    assert found["value"].to_list() == pytest.approx(expected, abs=1e-12)


def test_measures__experiment_of_pyterrier_has_the_means_of_evaluate():
    pt = pytest.importorskip("pyterrier", reason="pip install python-terrier")
    qrels = pd.DataFrame(
        [
            (q, doc, grade)
            for q, docs in made_qrels([0, 1, 2]).items()
            for doc, grade in docs.items()
        ],
        columns=["qid", "docno", "label"],
    )
    runs = {
        system: pd.DataFrame(
            [(q, *row, 0) for q, docs in run.items() for row in docs.items()],
            columns=["qid", "docno", "score", "rank"],
        )
        for system, run in made_runs().items()
    }
    names = ["AP", "nDCG@10", "ASL@g10"]
    topics = pd.DataFrame({"qid": QUERIES, "query": "words"})
    metrics = pyterrier.measures(",".join(names))
    table = pt.Experiment([*runs.values()], topics, qrels, eval_metrics=metrics, names=[*runs])
    means = irmeta.evaluate(qrels, runs, names)
    for system, measure, mean in means.select("system", "measure", "value").iter_rows():
        (found,) = table.loc[table["name"] == system, measure]
        assert found == pytest.approx(mean, abs=1e-12)
    assert pl.DataFrame(table[["name", *names]]).height == len(runs)
