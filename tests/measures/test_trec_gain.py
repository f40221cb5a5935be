"""nDCGRel, RnDCG, G and BinG against trec_eval's own output."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import irmeta
from irmeta.measures.names import parse_measure
from irmeta.rankings.load import judged_ranks
from support.cells import named
from support.making import Track, down, read_qrels, read_run
from twins import gain as naive_gain


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["nDCGRel", "RnDCG", "G", "BinG", "ERR@5", "nERR", "Q@7"])
def test_compute__uint32_ranks_give_the_same_values(name: str, made_store: irmeta.Store):
    """Lists with more than 65,534 docs have uint32 ranks."""
    spec = parse_measure(name)
    (view,) = judged_ranks(made_store.track("web"))
    ranks = np.where(view.ranks == view.missing, np.uint32(2**32 - 1), view.ranks)
    wide = replace(view, ranks=ranks, _cache={})
    found = [spec.measure.compute(v, spec.settings, [spec.cutoff]) for v in (view, wide)]
    assert found[0].max() > 0
    np.testing.assert_array_equal(*found)


def test_rndcg__list_two_docs_longer_than_ideal_adds_final_ndcg(tmp_path: Path):
    """trec_eval adds nDCG at the end of the longer list, but not of one with one doc fewer."""
    qrels = {"q": {"a": 2, "b": 1}}
    lists = {"even": ["x", "a", "b"], "longer": ["x", "a", "b", "y"]}
    track = Track({s: {"q": down(*docs)} for s, docs in lists.items()}, qrels)
    even, longer = track.ingest(tmp_path).means("RnDCG")["value"]
    assert even == pytest.approx(naive_gain.rndcg(lists["even"], qrels["q"]))
    assert longer == pytest.approx(naive_gain.rndcg(lists["longer"], qrels["q"]))
    assert longer > even


def test_g__better_order_may_lower_value(tmp_path: Path):
    """A doc at a later rank may lag less behind the ideal list, which G rewards."""
    lists = {"worse": ["c", "b", "a"], "better": ["c", "a", "b"]}
    track = Track({s: {"q": down(*docs)} for s, docs in lists.items()}, {
        "q": {"a": 4, "b": 3, "c": 1}
    })  # fmt: skip
    found = dict(track.ingest(tmp_path).means("G").select("system", "value").iter_rows())
    assert found["better"] < found["worse"]


TREC = {"ndcg_rel": "nDCGRel", "Rndcg": "RnDCG", "G": "G", "binG": "BinG"}
CASE1 = [
    (f"case1_adhoc/out.te908.{qrels}.{run}{flag}.all_trec", f"{qrels}.txt", f"{run}.txt")
    for qrels in ("qrels", "qrels_neg")
    for run in ("run_plain", "run_ties")
    for flag in ("", ".c", ".J", ".l2")
]
OWN = [
    (f"{folder}/out.test.{out}", qrels, run)
    for folder in ("trec_eval_tests", "trec_eval_tests/v9.0.8")
    for out, qrels, run in (
        ("aq", "qrels.test", "results.test"),
        ("aqc", "qrels.test", "results.trunc"),
        ("aql", "qrels.rel_level", "results.test"),
    )
]


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("output", "qrels", "run"), [*CASE1, *OWN])
def test_gain_measures__equal_trec_eval_output(
    shared: Path, tmp_path: Path, output: str, qrels: str, run: str
):
    file = shared / "oracles" / output
    track = Track({"run": read_run(file.parent / run)}, read_qrels(file.parent / qrels))
    rel = 2 if ".l2" in output or output.endswith("aql") else 1
    params = {"unjudged": "condensed" if ".J" in output else "nonrelevant"}
    names = {n: named(o, **params, **({"rel": rel} if o in ("RnDCG", "BinG") else {}))
             for n, o in TREC.items()}  # fmt: skip
    complete = ".c." in output or output.endswith("aqc")
    choices = {"queries": "judged" if complete else "retrieved"}
    store = track.ingest(tmp_path)
    found = {
        (q, m): v
        for _, _, q, m, v in store.evaluate(names.values(), **choices, per_query=True).iter_rows()
    }
    means = store.means(names.values(), **choices)
    found |= {("all", m): v for m, v in means.select("measure", "value").iter_rows()}
    expected = {}
    for line in file.read_text().splitlines():
        name, query, value = line.split()
        if name in names:
            expected[query, names[name]] = float(value)
    # trec_eval -c averages a query without a list as 0, but prints no line for it.
    expected = dict.fromkeys(found, 0.0) | expected
    assert len(expected) >= 16
    assert found == pytest.approx(expected, abs=0.5e-4 + 1e-9)
