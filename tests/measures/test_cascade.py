"""ERR, nERR and ERRResidual against gdeval and NTCIR-13."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import irmeta
from irmeta.measures.names import parse_measure
from support.cells import named
from support.making import Track, down, read_qrels, read_run
from twins import measures as naive


def test_err__docs_after_a_certain_stop_do_not_count(tmp_path: Path):
    track = Track({"s": {"q": down("a", "b", "c")}}, {"q": {"b": 4, "c": 4}})
    store = track.ingest(tmp_path)
    names = ["ERR(stop=linear)", "nERR(stop=linear)", "ERRResidual(stop=linear)"]
    assert store.means(names)["value"].to_list() == [0.5, 0.5, 0.0]


def test_err_residual__equals_gain_of_highest_grade_at_next_rank(tmp_path: Path):
    lists = {"s": {"q": down("a", "b")}, "more": {"q": down("a", "b", "c")}}
    store = Track(lists, {"q": {"a": 1, "b": 3, "c": 4}}).ingest(tmp_path)
    cell = {(s, m): v for _, s, _, m, v in store.evaluate(
        ["ERR(stop=linear)", "ERRResidual(stop=linear)@2"]
    , per_query=True).iter_rows()}  # fmt: skip
    added = cell["more", "ERR(stop=linear)"] - cell["s", "ERR(stop=linear)"]
    assert cell["s", "ERRResidual(stop=linear)@2"] == pytest.approx(added, abs=1e-15)
    assert added == pytest.approx(3 / 4 * 1 / 4 / 3)


def test_err_residual__query_without_a_list_has_largest_residual(tmp_path: Path):
    lists = {"s": {"q": down("a")}, "absent": {"r": down("a")}}
    store = Track(lists, {"q": {"a": 1}, "r": {"a": 1}}).ingest(tmp_path)
    names = ["ERRResidual", "ERRResidual@4", "ERRResidual(form=bound)"]
    frame = store.evaluate(names, per_query=True).rows()
    assert [v for _, s, q, _, v in frame if (s, q) == ("absent", "q")] == [1.0, 0.2, 1.0]


@pytest.mark.parametrize("name", ["ERR", "nERR(stop=linear)", "ERRResidual(stop=ntcir)"])
def test_err__gmax_below_highest_grade_of_track_is_refused(name: str, made_store: irmeta.Store):
    below = named(name.partition("(")[0], gmax=3)
    with pytest.raises(irmeta.MeasureError, match=r"gmax=3 is below 4, the highest grade"):
        made_store.means(below, track="web")


@pytest.mark.parametrize("extra", ["stop=linear", "gmax=4"])
def test_err_residual__form_bound_with_stop_or_gmax_is_refused(extra: str):
    with pytest.raises(irmeta.MeasureError, match="form=bound is the same for any stop and gmax"):
        parse_measure(f"ERRResidual(form=bound,{extra})")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("run", ["run_plain", "run_ties"])
@pytest.mark.parametrize(
    ("output", "qrels", "k", "queries"),
    [
        ("k20", "qrels", 20, "retrieved"),
        ("c.k5", "qrels", 5, "judged"),
        ("neg.k20", "qrels_neg", 20, "retrieved"),
    ],
)
def test_err__equals_gdeval(
    shared: Path, tmp_path: Path, output: str, qrels: str, k: int, queries: str, run: str
):
    """gdeval omits queries without relevant docs."""
    case = shared / "oracles" / "case1_adhoc"
    track = Track({run: read_run(case / f"{run}.txt")}, read_qrels(case / f"{qrels}.txt"))
    frame = track.ingest(tmp_path).evaluate(f"ERR(gmax=4)@{k}", queries=queries, per_query=True)
    kept = {q for q, docs in track.qrels.items() if naive.relevant_docs(docs, 1)}
    found = {q: v for _, _, q, _, v in frame.iter_rows() if q in kept}
    found["amean"] = sum(found.values()) / len(found)
    printed = (case / f"out.gdeval.{output}.{run}.csv").read_text().splitlines()
    expected = {row["topic"]: float(row[f"err@{k}"]) for row in csv.DictReader(printed)}
    assert len(expected) > 2
    # gdeval -c averages a query without a list as 0, but prints no line for it.
    expected = {q: 0.0 for q in found if q == "105"} | expected
    assert found == pytest.approx(expected, abs=0.5e-5 + 1e-9)


@pytest.mark.exhaustive
def test_nerr__equals_ntcir_13(shared: Path, tmp_path: Path):
    folder = shared / "oracles" / "ntcir13_www"
    names = [f"RMIT-E-NU-Own-{number}" for number in range(1, 5)]
    runs = {name: read_run(folder / f"{name}.run.gz") for name in names}
    track = Track(runs, read_qrels(folder / "wwwE.trec.qrels"))
    frame = track.ingest(tmp_path).evaluate("nERR(stop=ntcir)@10", tie_order="file", per_query=True)
    found = {(s, q): v for _, s, q, _, v in frame.iter_rows()}
    printed = (folder / "wwwE.official.nERR@0010.topic-by-run.csv").read_text().splitlines()
    expected = {(n, row[""]): float(row[n]) for row in csv.DictReader(printed) for n in names}
    assert len(expected) == 400
    assert found == pytest.approx(expected, abs=0.5e-4 + 1e-9)
