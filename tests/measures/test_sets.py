"""Sets, counts, and precision at levels of recall: worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

import irmeta
from irmeta.measures.average_precision import docs_needed
from irmeta.measures.names import parse_measure
from support.cells import assert_twins
from support.making import Track, down
from twins import sets as twin
from twins.binary_families import COUNTS
from twins.registry import FAMILIES


def relevant_at(ranks: set[int], length: int) -> list[str]:
    return [f"r{i}" if i in ranks else f"x{i}" for i in range(1, length + 1)]


def test_set_measures__long_list_equals_naive_implementation(tmp_path):
    ranks = {1, 2, 5, 9, 14, 30, 31, 32, 70, 199}
    runs = {
        "long": {"q": down(*relevant_at(ranks, 200)), "none": down("a")},
        "cut": {"q": down(*relevant_at(ranks, 40))},
    }
    qrels = {"q": {f"r{i}": 1 + i % 3 for i in (*ranks, 500, 501, 502)}, "none": {"a": 0}}
    track = Track(runs, qrels)
    assert_twins(track.ingest(tmp_path), track, FAMILIES["sets"].twins)


@pytest.mark.parametrize(
    ("level", "relevant", "nine", "ten"),
    [
        (0.0, 5, 0, 0),
        (0.1, 1, 1, 0),
        (0.5, 1, 1, 1),
        (0.5, 3, 2, 2),
        (0.1, 25, 3, 3),  # half a doc rounds away from zero
        (0.1, 24, 3, 2),
        (0.1, 11, 2, 1),  # 1.1 + 0.9 is 2.0 in float64
        (0.7, 3, 2, 2),  # 2.0999... + 0.9 is 2.9999...
        (1.0, 7, 7, 7),
    ],
)
def test_docs_needed__recall_levels_round_as_in_trec_eval(
    level: float, relevant: int, nine: int, ten: int
):
    for version, expected in (("9", nine), ("10", ten)):
        found = docs_needed(np.array([level]), np.array([relevant]), version)[0, 0]
        assert found == expected == twin.recall_target(level, relevant, int(version))


def test_counts__sum_includes_queries_without_a_list(tmp_path):
    qrels = {"q": {"a": 1, "b": 1, "c": 0}, "r": {"a": 1, "d": 2}, "s": {"e": 0}}
    track = Track(
        {"one": {"q": down("a", "c", "x")}, "two": {"q": down("b"), "r": down("d")}}, qrels
    )
    means = track.ingest(tmp_path).means(COUNTS, system="one")
    assert dict(means.select("measure", "value").rows()) == {
        "NumQ": 3.0,
        "NumRet": 3.0,
        "NumRel": 4.0,
        "NumRelRet": 1.0,
        "NumNonrelJudgedRet": 1.0,
    }


def test_set_measures__unjudged_docs_condensed_or_assumed_relevant(tmp_path):
    track = Track({"s": {"q": down("x", "a", "y", "b")}}, {"q": {"a": 1, "b": 0, "c": 1}})
    names = {
        "SetP": 0.25,
        "SetP(unjudged=condensed)": 0.5,
        "SetP(unjudged=upper)": 0.75,
        "SetRelP(unjudged=condensed)": 0.5,
        "NumRet(unjudged=condensed)": 2.0,
        "IPrec(unjudged=condensed)@0.5": 1.0,
        "Rprec(unjudged=condensed,mult=0.5)": 1.0,
        "Utility(unjudged=condensed)": 0.0,
    }
    means = track.ingest(tmp_path).means(list(names))
    assert means["value"].to_list() == list(names.values())


@pytest.mark.parametrize(
    "name", ["SetF(beta=-1)", "Rprec(mult=0)", "Rprec(mult=inf)", "IPrec", "IPrec@1.1", "SetP@10"]
)
def test_parse_measure__invalid_set_measure_is_refused(name: str):
    with pytest.raises(irmeta.MeasureError):
        parse_measure(name)
