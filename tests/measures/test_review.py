"""Measures of technology-assisted review and filtering: worked by hand."""

from __future__ import annotations

import pytest

from irmeta.errors import MeasureError
from irmeta.measures.names import canonical
from support.making import Track, down

# 20 docs of the topic, 4 of them relevant, at ranks 1, 3, 9 and 16 of the long list.
RANKED = [f"r{i}" if i in (1, 3, 9, 16) else f"n{i}" for i in range(1, 21)]
QRELS = {"q": {doc: int(doc[0] == "r") for doc in RANKED}, "none": {"n1": 0}}
RUNS = {
    "complete": {"q": down(*RANKED)},
    "stopped": {"q": down(*RANKED[:10])},
    "feedback": {"q": down(*RANKED[:10])},
}
WORKED = {
    ("complete", "EffortR@0.1"): 1 / 4,
    ("complete", "EffortR@0.45"): 3 / 4,
    ("complete", "EffortR(N=40)@0.1"): 2 / 4,
    ("complete", "WSS@0.75"): 11 / 20 - 0.25,
    ("complete", "WSS@0.95"): 4 / 20 - 0.05,
    ("complete", "wss_100"): 4 / 20,
    ("complete", "wss_95"): 4 / 20 - 0.05,
    ("complete", "last_rel"): 16.0,
    ("complete", "LastRel"): 16.0,
    ("complete", "norm_area"): (19.5 + 17.5 + 11.5 + 4.5) / (4 * 20 - 8),
    ("complete", "loss_er"): (100 / 20) ** 2 * (20 / 104) ** 2,
    ("stopped", "WSS@0.95"): -0.05,
    ("stopped", "wss_95"): 0.0,
    ("stopped", "last_rel"): 9.0,
    ("stopped", "LastRel"): 20.0,
    ("stopped", "norm_area"): (19.5 + 17.5 + 11.5) / (4 * 20 - 8),
    ("stopped", "loss_r"): 1 / 16,
    ("stopped", "loss_e"): (100 / 20) ** 2 * (10 / 104) ** 2,
    ("stopped", "total_cost"): 10.0,
    ("stopped", "total_cost_uniform"): 10 + 10 * 2 / 4,
    ("stopped", "total_cost_weighted"): 10.0,  # a single relevant doc is lost
    ("feedback", "ReviewCost(doc=3)"): 30.0,
    ("complete", "BestF"): 2 * 2 / (4 + 3),
    ("stopped", "T11SU"): (2 * 3 - 7 + 4) / (8 + 4),
    ("stopped", "T11F"): 1.25 * 3 / (0.25 * 4 + 10),
    ("complete", "T9U"): 2 * 4 - 16.0,
    ("complete", "Utility(a=2,low=-5)"): -5.0,
    ("complete", "T10SU"): (2 * 4 - 16 + 100) / 108,
}


@pytest.mark.exhaustive
def test_review__values_equal_worked_numbers(tmp_path):
    store = Track(RUNS, QRELS).ingest(tmp_path)
    for (system, name), expected in WORKED.items():
        value = (
            store.evaluate(name, system=system, per_query=True).filter(query="q")["value"].item()
        )
        assert value == pytest.approx(expected, abs=1e-12), (system, name)


def test_review__queries_without_relevant_docs_are_undefined(tmp_path):
    means = Track(RUNS, QRELS).ingest(tmp_path).means("tar", system="stopped")
    judged = means.filter(~means["measure"].str.contains("^(Num|AP)"))
    assert set(judged["queries"]) == {1}


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("recall@10%", "EffortR@0.1"),
        ("NCG@30%", "EffortR@0.3"),
        ("wss@95%", "WSS@0.95"),
        ("t11u", "Utility(a=2)"),
        ("LOSS_ER", "LossER"),
    ],
)
def test_canonical__names_of_tar_eval_and_filtering_tracks(written: str, name: str):
    assert canonical(written) == [name]


@pytest.mark.parametrize("name", ["NCG@10", "WSS@95", "recall@101%"])
def test_canonical__cutoff_that_is_no_share_is_refused(name: str):
    with pytest.raises(MeasureError, match=r"NCG@10%|between 0 and 1"):
        canonical(name)
