"""DCG and nDCG against their slow twins, gdeval, NTCIR's and trec_eval's own numbers."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings

import irmeta
from irmeta.measures.names import parse_measure
from irmeta.rankings.load import judged_ranks
from support.cells import (
    OTHER_ORDERS,
    Twins,
    assert_explained,
    assert_twins,
    close,
    every_cut,
    named,
)
from support.making import Track, down, read_qrels, read_run, tracks
from support.steps import assert_steps_add_up
from twins import gain as naive_gain
from twins import incomplete as naive_incomplete

OWN = {"0:0.5;1:3;3:1": {0: 0.5, 1: 3.0, 3: 1.0}, "2:0": {2: 0.0}}
DISCOUNTS = {"log2": ("log2", 2), "zipf": ("zipf", 2), "jk": ("jk", 2), "jk,b=3.5": ("jk", 3.5)}


def _twins() -> Twins:
    twins: Twins = {}
    for gain in ("grade", "binary", "linear", "exp", *OWN):
        for said, how in DISCOUNTS.items():
            as_named, own = f"gain={gain},discount={said}", OWN.get(gain, gain)

            def dcg(x, k, g=own, how=how):
                return naive_gain.dcg(x.ranking, x.qrels, k, g, x.highest, *how)

            def ndcg(x, k, g=own, how=how):
                return naive_gain.ndcg(x.ranking, x.qrels, k, g, x.highest, *how)

            def dcg_tied(x, k, g=own, how=how):
                return naive_gain.dcg_tied(x.blocks, x.qrels, k, g, x.highest, *how)

            def ndcg_tied(x, k, g=own, how=how):
                return naive_gain.ndcg_tied(x.blocks, x.qrels, k, g, x.highest, *how)

            twins |= every_cut(f"DCG({as_named})", dcg)
            twins |= every_cut(f"nDCG({as_named})", ndcg)
            twins |= every_cut(f"DCG({as_named},ties=share)", dcg_tied)
            twins |= every_cut(f"nDCG({as_named},ties=share)", ndcg_tied)
            for k in (1, 3, 5, 50):
                twins[named(f"nDCG({as_named},ideal=pool)", k)] = lambda x, g=own, how=how, k=k: (
                    naive_incomplete.ndcg_pool(x.ranking, x.qrels, x.depths, k, g, x.highest, *how)
                )
    twins |= every_cut(
        "DCG(gain=exp,gmax=6)", lambda x, k: naive_gain.dcg(x.ranking, x.qrels, k, "exp", 6)
    )
    for unjudged in ("upper", "upper-gmax"):
        twins |= every_cut(
            f"DCG(gain=exp,gmax=6,unjudged={unjudged})",
            lambda x, k, u=unjudged: naive_gain.dcg_of(x.upper(u, gain="exp", gmax=6)[:k]),
        )
    return twins | every_cut(
        "nDCG(ties=share,unjudged=condensed)",
        lambda x, k: naive_gain.ndcg_tied(x.condensed_blocks, x.qrels, k),
    )


TWINS = _twins()
STEPS = [name for name in TWINS if "@" not in name and "ties" not in name]
TIED = {name: twin for name, twin in TWINS.items() if "share" in name or "pool" in name}


@settings(max_examples=20)
@given(tracks())
def test_values_equal_the_twins(track: Track):
    assert_twins(track.read(), track, TWINS)


@pytest.mark.parametrize("order", OTHER_ORDERS)
@settings(max_examples=5)
@given(track=tracks(systems=3, queries=2))
def test_ties_are_those_of_the_tie_order(order: str, track: Track):
    assert_twins(track.read(), track, TIED, order)


def test_the_arithmetic_gives_the_twins_number():
    """Of every gain and every discount, but not of every pair."""
    pairs = {name for name in TWINS if "gain=" in name and "discount=" in name}
    assert_explained({name: twin for name, twin in TWINS.items() if name not in pairs})


@settings(max_examples=20)
@given(tracks())
def test_steps_add_up_to_the_value(track: Track):
    assert_steps_add_up(track.read(), "t", STEPS)


def test_tied_docs_and_pools_have_no_events(made_store: irmeta.Store):
    (view,) = judged_ranks(made_store.reader, "news", irmeta.EvalPolicy())
    for name in ("DCG(ties=share)", "nDCG(ties=share)", "nDCG(ideal=pool)@5"):
        spec = parse_measure(name)
        assert spec.measure.events(view, spec.settings) is None


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("nDCG(ideal=pool)", "needs a cutoff"),
        ("nDCG(b=3)@10", "base of discount=jk"),
        ("DCG(discount=zipf,b=3)", "base of discount=jk"),
        ("nDCG(discount=jk,b=1)", "not above 1"),
        ("DCG(gmax=4)", "gain=linear or gain=exp"),
        ("DCG(gain=1:3,gmax=4)", "gain=linear or gain=exp"),
        ("DCG(ties=share,unjudged=upper)", "cannot be combined with unjudged=upper"),
        ("nDCG(gain=exq)", "exp"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(name: str, match: str):
    with pytest.raises(irmeta.MeasureError, match=match):
        parse_measure(name)


def test_the_weights_of_tied_docs_are_shared(tmp_path: Path):
    lists = {"q": [("a", 9), ("b", 5), ("c", 5), ("x", 5)]}
    track = Track({"s": lists, "t": {"q": down("x")}}, {"q": {"a": 1, "c": 2}})
    (value,) = track.ingest(tmp_path).means("DCG(discount=zipf,ties=share)@3", system="s")["value"]
    assert close(value, 1 + 2 * (1 / 2 + 1 / 3) / 3)


@pytest.mark.parametrize("output", ["k20", "neg.k20", "c.k5"])
@pytest.mark.parametrize("run", ["plain", "ties"])
def test_exponential_ndcg_is_gdevals(shared: Path, tmp_path: Path, output: str, run: str):
    folder, k = shared / "oracles" / "case1_adhoc", output.rpartition("k")[2]
    qrels = "qrels_neg.txt" if "neg" in output else "qrels.txt"
    track = Track({"s": read_run(folder / f"run_{run}.txt")}, read_qrels(folder / qrels))
    found = values_of(track, tmp_path, f"nDCG(gain=exp)@{k}", tie_order="trec_eval10")
    with (folder / f"out.gdeval.{output}.run_{run}.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["topic"] != "amean"]
    assert len(rows) >= 3
    for row in rows:
        assert close(found["s", row["topic"]], float(row[f"ndcg@{k}"]), 0.5e-5 + 1e-9)


def test_ndcg_is_ntcirs_msndcg(shared: Path, tmp_path: Path):
    folder, compared = shared / "oracles" / "ntcir13_www", 0
    names = [f"RMIT-E-NU-Own-{i}" for i in range(1, 5)]
    runs = {name: read_run(folder / f"{name}.run.gz") for name in names}
    track = Track(runs, read_qrels(folder / "wwwE.trec.qrels"))
    found = values_of(track, tmp_path, "nDCG@10", tie_order="file")
    with (folder / "wwwE.official.MSnDCG@0010.topic-by-run.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            for name in names:
                if (name, row[""]) in found:
                    assert close(found[name, row[""]], float(row[name]), 0.5e-4 + 1e-9)
                    compared += 1
    assert compared >= 400


@pytest.mark.parametrize("name", ["nDCG(gain=1:3;2:9;4:4.5)", "ndcg.1=3,2=9,4=4.5"])
def test_own_gains_are_trec_evals(shared: Path, tmp_path: Path, name: str):
    folder = shared / "oracles" / "trec_eval_tests"
    track = Track({"s": read_run(folder / "results.test")}, read_qrels(folder / "qrels.test"))
    found, compared = values_of(track, tmp_path, name), 0
    for line in (folder / "out.test.meas_params").read_text().splitlines():
        measure, query, value = line.split()
        if measure == "ndcg_1=3,2=9,4=4.5" and query != "all":
            assert close(found["s", query], float(value), 0.5e-4 + 1e-9)
            compared += 1
    assert compared == 3


def values_of(track: Track, folder: Path, name: str, **policy: str) -> dict[tuple[str, str], float]:
    """Values of one measure by (system, query)."""
    frame = track.ingest(folder).evaluate(name, **policy)
    return {(system, query): value for _, system, query, _, value in frame.iter_rows()}
