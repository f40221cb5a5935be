"""DCG and nDCG against gdeval, NTCIR's and trec_eval's own numbers."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import irmeta
from irmeta.measures.names import parse_measure
from support.cells import close
from support.making import Track, down, read_qrels, read_run


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
def test_parse_measure__invalid_dcg_parameters_are_refused(name: str, match: str):
    with pytest.raises(irmeta.MeasureError, match=match):
        parse_measure(name)


def test_dcg__tied_docs_share_discounts(tmp_path: Path):
    lists = {"q": [("a", 9), ("b", 5), ("c", 5), ("x", 5)]}
    track = Track({"s": lists, "t": {"q": down("x")}}, {"q": {"a": 1, "c": 2}})
    (value,) = track.ingest(tmp_path).means("DCG(discount=zipf,ties=share)@3", system="s")["value"]
    assert close(value, 1 + 2 * (1 / 2 + 1 / 3) / 3)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("output", ["k20", "neg.k20", "c.k5"])
@pytest.mark.parametrize("run", ["plain", "ties"])
def test_ndcg__exponential_gain_equals_gdeval(shared: Path, tmp_path: Path, output: str, run: str):
    folder, k = shared / "oracles" / "case1_adhoc", output.rpartition("k")[2]
    qrels = "qrels_neg.txt" if "neg" in output else "qrels.txt"
    track = Track({"s": read_run(folder / f"run_{run}.txt")}, read_qrels(folder / qrels))
    found = values_of(track, tmp_path, f"nDCG(gain=exp)@{k}", tie_order="trec_eval10")
    with (folder / f"out.gdeval.{output}.run_{run}.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["topic"] != "amean"]
    assert len(rows) >= 3
    for row in rows:
        assert close(found["s", row["topic"]], float(row[f"ndcg@{k}"]), 0.5e-5 + 1e-9)


@pytest.mark.exhaustive
def test_ndcg__equals_ntcir_13_msndcg(shared: Path, tmp_path: Path):
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
def test_ndcg__custom_gains_equal_trec_eval(shared: Path, tmp_path: Path, name: str):
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
    """Map (system, query) to the value of a measure."""
    frame = track.ingest(folder).evaluate(name, **policy, per_query=True)
    return {(system, query): value for _, system, query, _, value in frame.iter_rows()}
