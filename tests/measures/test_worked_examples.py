"""The papers' worked examples and irmeta's conventions, each number worked out by hand."""

from __future__ import annotations

import csv

import pytest

import irmeta
from irmeta.measures.names import PRESETS


@pytest.fixture(scope="module")
def store(worked_examples, tmp_path_factory):
    return irmeta.ingest(worked_examples, tmp_path_factory.mktemp("worked") / "store")


@pytest.fixture(scope="module")
def expected(worked_examples):
    with (worked_examples / "expected.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_evaluate__equals_worked_examples(store, expected):
    measures = list(dict.fromkeys(row["measure"] for row in expected))
    frame = store.evaluate(measures, per_query=True)
    found = {row[:4]: row[4] for row in frame.iter_rows()}
    wrong = {}
    for row in expected:
        cell = (row["track"], row["system"], row["query"], row["measure"])
        if found[cell] != pytest.approx(float(row["value"]), rel=1e-12, abs=1e-12):
            wrong[cell] = (found[cell], row["value"], row["source"])
    assert not wrong


@pytest.mark.exhaustive
def test_worked_examples__cover_every_list_and_default_measure(store, expected):
    default = {name for name in PRESETS["default"] if "unretrieved=depth)@" not in name}
    assert default <= {row["measure"] for row in expected}
    by_hand = {(row["track"], row["system"], row["query"]) for row in expected}
    every = (
        store.evaluate("ASL", per_query=True)
        .filter(value=float("nan"))
        .select("track", "system", "query")
    )
    without_relevant = set(every.rows())
    lists = set(store.evaluate("ASL", per_query=True).select("track", "system", "query").rows())
    assert by_hand == lists - without_relevant
    assert len(expected) > 500


def test_means__paper_1_two_queries(store):
    """Section 3.2: AP puts the mean of ranks 1 and 1000 near rank 2, ASL midway."""
    means = store.means("AP,ASL", track="paper1-two-queries")
    assert means["value"].to_list() == pytest.approx([0.5005, 500.5], abs=1e-12)


def test_rarity__paper_2_worked_example(store):
    """Eqs. 1 to 3; a doc that no system retrieves has rarity 1."""
    found = store.per_doc.rarity(track="paper2-rarity")
    assert dict(zip(found["doc"], found["rarity"], strict=True)) == {
        "all": 0.0,
        "nobody": 1.0,
        "one": 0.75,
        "three": 0.25,
        "two": 0.5,
    }
