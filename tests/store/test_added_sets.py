"""Qrels sets added to a store in memory, compared with a store that has read them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irmeta
from irmeta.measures.evaluate import evaluate
from irmeta.measures.names import parse_measures
from irmeta.policies import EvalPolicy
from irmeta.rankings.track import Track as StoreTrack
from irmeta.store.derived_tracks import AddedSets
from support.making import Track, tracks

GRADES = st.sampled_from([-1, 0, 1, 2, 0.5, 1.25])
LABELS = st.dictionaries(
    st.sampled_from(["q0", "q1"]),
    st.dictionaries(st.sampled_from(["a", "b", "doc1", "e", "new", "other"]), GRADES, min_size=1),
    min_size=1,
)
MEASURES = "AP,nDCG@10,P@2,Bpref,Judged@10,RBP,Compat"


def frame_of(labels: dict[str, dict[str, float]]) -> pl.DataFrame:
    rows = [(q, d, float(g)) for q, docs in labels.items() for d, g in docs.items()]
    schema = {"query": pl.String, "doc": pl.String, "grade": pl.Float64}
    return pl.DataFrame(rows, schema, orient="row")


@pytest.mark.exhaustive
@given(tracks(queries=2), LABELS)
def test_added_set__scores_equal_those_of_a_store_that_has_read_it(track: Track, labels):
    runs = {
        name: {q: {line[0]: float(line[1]) for line in lines} for q, lines in run.items()}
        for name, run in track.runs.items()
    }
    alone = irmeta.from_data({"human": track.qrels}, runs)
    both = irmeta.from_data({"human": track.qrels, "judge": labels}, runs)
    added = AddedSets(alone.reader.track("data"), {"judge": frame_of(labels)}, {})
    specs = parse_measures(MEASURES)
    for qrels in ("judge", "human"):
        policy = EvalPolicy(qrels=qrels)
        found = evaluate(StoreTrack(added, policy), specs)
        expected = evaluate(both.track("data", policy), specs)
        assert found.queries == expected.queries
        np.testing.assert_allclose(found.values, expected.values, rtol=1e-12)


def test_added_set__is_in_the_record_with_its_relevant_grade():
    store = irmeta.from_data({"human": {"q": {"d": 2}}}, {"r": {"q": {"d": 1.0}}})
    added = AddedSets(
        store.reader.track("data"), {"j": frame_of({"q": {"d": 0.5, "x": 3}})}, {"j": 0.5}
    )
    *_, record = added.record["qrels"]
    assert (record["name"], record["levels"], record["queries"]) == ("j", [0.5, 3.0], 1)
    assert added.record["config"]["qrels"][-1]["rel"] == 0.5
    docs = added.read("docs")
    assert docs["doc_id"].to_list() == [0, 1]
    assert added.read("qrels", pl.col("set") == "j")["doc"].to_list() == ["d", "x"]
    assert [one["name"] for one in store.reader.track("data").record["qrels"]] == ["human"]
