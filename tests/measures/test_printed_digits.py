"""Bitwise equality with trec_eval's values, so that printed digits are equal."""

from __future__ import annotations

import math
import random

import polars as pl
import pytest
import pytrec_eval

import irmeta
from irmeta.measures.names import parse_measure
from support.making import Track, down

TRACKS = {"robust-2003": 100, "clef-ehealth-2015": 66, "trec-covid-r1": 30, "clef-tar-2017": 30}
NO_NUMBER = {"runid", "relstring"}
LOGARITHMS = {"gm_map", "gm_bpref"}  # pytrec_eval gives the logarithm of each query's value
VALUES = {  # queries of lists times measures of all_trec
    "robust-2003": 158_100,
    "clef-ehealth-2015": 214_830,
    "trec-covid-r1": 398_970,
    "clef-tar-2017": 16_740,
}


def test_set_ap__half_digit_rounds_as_in_trec_eval():
    """9 / 4000 in one division is a little less than 0.00225; (3/1000)(3/4) is a little more."""
    docs = [f"d{i}" for i in range(1000)]
    track = Track({"s": {"q": down(*docs)}}, {"q": {"d0": 1, "d1": 1, "d2": 1, "elsewhere": 1}})
    (value,) = track.read().evaluate("set_map", per_query=True)["value"]
    assert (value, f"{value:.4f}") == (9 / 4000, "0.0022")


def test_bpref__sums_in_the_order_of_trec_eval():
    """m_bpref.c adds 1 - x for each relevant doc in one step."""
    chance = random.Random(0)
    docs = [f"d{i}" for i in range(40)]
    lists = {f"q{i}": chance.sample(docs, 30) for i in range(50)}
    qrels = {q: {d: chance.randint(0, 1) for d in chance.sample(docs, 30)} for q in lists}
    track = Track({"s": {q: down(*own) for q, own in lists.items()}}, qrels)
    found = dict(
        track.read().evaluate("bpref", per_query=True).select("query", "value").iter_rows()
    )
    for query, own in lists.items():
        grades = qrels[query]
        relevant = sum(grades.values())
        bound, above, total = min(relevant, len(grades) - relevant), 0, 0.0
        for doc in own:
            if grades.get(doc) == 1:
                total += 1.0 - min(above, relevant) / bound if above else 1.0
            above += grades.get(doc) == 0
        assert found[query] == total / relevant


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("news", 46_221),
        pytest.param("web", 22_041, marks=pytest.mark.exhaustive),
        pytest.param("passage", 12_462, marks=pytest.mark.exhaustive),
    ],
)
def test_evaluate__synthetic_tracks_equal_pytrec_eval_bit_for_bit(
    made_store: irmeta.Store, name: str, values: int
):
    assert compared_bit_for_bit(made_store, name) == values


@pytest.mark.real
@pytest.mark.parametrize("name", TRACKS)
def test_evaluate__real_tracks_equal_pytrec_eval_bit_for_bit(real_store: irmeta.Store, name: str):
    assert compared_bit_for_bit(real_store, name) == VALUES[name]
    assert len(real_store.scores("AP", track=name).queries) == TRACKS[name]


def compared_bit_for_bit(store: irmeta.Store, name: str) -> int:
    """Check that all_trec's values and means are those of pytrec_eval; return their number."""
    qrels: dict[str, dict[str, int]] = {}
    primary = store.qrels(name).filter(pl.col("set") == pl.col("set").first())
    for query, doc, grade in primary.select("query", "doc", "grade").collect().iter_rows():
        qrels.setdefault(query, {})[doc] = grade
    theirs = pytrec_eval.RelevanceEvaluator(
        qrels, pytrec_eval.supported_nicknames["all_trec"] - NO_NUMBER
    )
    expected = {
        system: theirs.evaluate(_lists(rows))
        for (system,), rows in store.runs(name)
        .collect()
        .partition_by("system", as_dict=True)
        .items()
    }
    names = sorted(next(iter(next(iter(expected.values())).values())))
    specs = {n: parse_measure(n) for n in names}
    asked = sorted({spec.name for spec in specs.values()})
    values = store.evaluate(asked, track=name, queries="retrieved", per_query=True)
    found = {
        tuple(row): v for *row, v in values.select("system", "query", "measure", "value").rows()
    }
    wrong, compared = [], 0
    for system, queries in expected.items():
        for query, own in queries.items():
            for measure, value in own.items():
                ours = found[system, query, specs[measure].name]
                if measure in LOGARITHMS:
                    ours = math.log(max(ours, 1e-5))
                compared += 1
                if ours != value:
                    wrong.append((system, query, measure, ours, value))
    assert not wrong
    means = store.means(asked, track=name, queries="retrieved")
    averages = {tuple(row): v for *row, v in means.select("system", "measure", "value").rows()}
    for system, queries in expected.items():
        for measure in set(names) - LOGARITHMS:
            total = 0.0
            for query in sorted(queries, key=str.encode):
                total += queries[query][measure]
            if specs[measure].average == "arithmetic":
                total /= len(queries)
            assert averages[system, specs[measure].name] == total, (system, measure)
    return compared


def _lists(rows: pl.DataFrame) -> dict[str, dict[str, float]]:
    return {
        query: dict(zip(own["doc"].to_list(), own["score"].to_list(), strict=True))
        for (query,), own in rows.partition_by("query", as_dict=True).items()
    }
