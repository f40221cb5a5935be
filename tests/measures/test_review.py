"""Measures of technology-assisted review, filtering and RBP: worked by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings

from irmeta.errors import MeasureError
from irmeta.measures.names import canonical
from support.cells import close
from support.examples import scaled
from support.making import Track, down, read_qrels, read_run, tracks

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


@pytest.mark.exhaustive
@settings(max_examples=scaled(20))
@given(track=tracks())
def test_rbp_residual__value_and_residual_sum_to_one_if_all_are_relevant(track: Track):
    qrels = {q: {doc: max(g, 1) for doc, g in docs.items()} for q, docs in track.qrels.items()}
    store = Track(track.runs, qrels).read()
    for how in ("order", "share"):
        value = store.scores(f"RBP(p=0.6,ties={how})", track="t").values
        residual = store.scores(f"RBPResidual(p=0.6,ties={how})", track="t").values
        assert abs(value + residual - 1).max() < 1e-12


@pytest.mark.exhaustive
def test_rbp_residual__deep_judged_list_is_never_negative(tmp_path: Path):
    docs = [f"d{i}" for i in range(1000)]
    qrels = {f"q{i}": dict.fromkeys(docs, 1) for i in range(3)}
    track = Track({"s": dict.fromkeys(qrels, down(*docs))}, qrels)
    store = track.ingest(tmp_path)
    for p in (1e-300, 1e-9, 0.1, 0.3, 0.77, 0.9):
        for ties in ("order", "share"):
            values = store.scores(f"RBPResidual(p={p},ties={ties})", track="t").values
            assert values.min() >= 0
            assert values.max() < 1e-12


CASES = {"s": ("trec_eval10", "share"), "o": ("file", "order"), "r": ("rank", "order")}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("option", "depth"), [("s", 0), *product("or", (0, 3, 5))])
def test_rbp__value_and_residual_equal_rbp_eval(
    shared: Path, tmp_path: Path, option: str, depth: int
):
    folder, compared = shared / "oracles" / "case1_adhoc", 0
    track = Track({"s": read_run(folder / "run_ties.txt")}, read_qrels(folder / "qrels.txt"))
    store = track.ingest(tmp_path)
    order, ties = CASES[option]
    at = f"@{depth}" if depth else ""
    for p, query, value, residual in printed(folder, option, depth):
        names = f"RBP(p={p},ties={ties}){at},RBPResidual(p={p},ties={ties}){at}"
        scores = store.scores(names, track="t", tie_order=order)
        found = scores.values[:, scores.queries.index(query), 0]
        assert close(found[0], value, 0.5e-4 + 1e-9), (query, p)
        assert close(found[1], residual, 0.5e-4 + 1e-9), (query, p)
        compared += 1
    assert compared == 12


def printed(folder: Path, option: str, depth: int) -> Iterator[tuple[float, str, float, float]]:
    """Yield p, query, value and residual, as printed by rbp_eval."""
    text = (folder / f"out.rbp_eval.B.order_{option}.d{depth}.run_ties.txt").read_text()
    line = r"p= (\S+) q= +(\d+) d= +\S+ rbp= (\S+) \+(\S+)"
    for p, query, value, residual in re.findall(line, text):
        yield float(p), query, float(value), float(residual)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("run", ["plain", "ties"])
@pytest.mark.parametrize("qrels", ["qrels", "qrels_neg"])
def test_rbp_residual__equals_trec_eval_10(shared: Path, tmp_path: Path, qrels: str, run: str):
    folder, compared = shared / "oracles" / "case1_adhoc", 0
    track = Track({"s": read_run(folder / f"run_{run}.txt")}, read_qrels(folder / f"{qrels}.txt"))
    scores = track.ingest(tmp_path).scores("rbp_resid", track="t", tie_order="trec_eval10")
    values = dict(zip(scores.queries, scores.values[0, :, 0].tolist(), strict=True))
    for line in (folder / f"out.te10.{qrels}.run_{run}.c.all_trec").read_text().splitlines():
        measure, query, value = line.split()
        if measure == "rbp_resid" and query != "all":
            assert close(values[query], float(value), 0.5e-4 + 1e-9), query
            compared += 1
    assert compared >= 4
