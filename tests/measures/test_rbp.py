"""RBP and its residual against rbp_eval and trec_eval 10."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings

import irmeta
from irmeta.measures.names import parse_measure
from support.cells import close
from support.examples import scaled
from support.making import Track, down, read_qrels, read_run, tracks


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


@pytest.mark.parametrize("unjudged", ["upper", "upper-gmax"])
def test_rbp__shared_ties_cannot_be_combined_with_assumed_relevance(unjudged: str):
    with pytest.raises(irmeta.MeasureError, match="ties=share cannot be combined with"):
        parse_measure(f"RBP(ties=share,unjudged={unjudged})")


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
