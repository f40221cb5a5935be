"""DCG, nDCG, cascades and gains alone, against other programs and numbers worked by hand."""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings

import irmeta
from irmeta.measures import pools as module
from irmeta.measures.evaluate import evaluate_block, reads_gained_only
from irmeta.measures.names import parse_measures, registry
from irmeta.measures.pools import reduced_pools
from irmeta.policies import EvalPolicy
from irmeta.rankings.derive.select import keep_gained
from irmeta.testing.samples import samples, view_for
from support.cells import close, named
from support.examples import scaled
from support.making import Track, down, read_qrels, read_run, tracks
from support.viewing import NEEDS, view_of
from twins import measures as naive


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


GAINED = [name for name, measure in registry().items() if measure.gained_only]


def test_gained_only__measures_of_the_depth_study():
    assert {"AP", "nDCG", "Q", "ERR", "RR", "RBP"} <= set(GAINED)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", GAINED)
def test_gained_only__other_judged_docs_change_no_bit(name: str):
    specs = [
        spec
        for spec in samples(registry()[name])
        if reads_gained_only(spec) and spec.settings.get("gmax") is None
    ]
    assert specs
    for spec in specs:
        for negative in ("unjudged", "nonrelevant"):
            view = view_for(spec, negative)
            every, gained = (
                evaluate_block(one, [spec], EvalPolicy(negative=negative)).values
                for one in (view, keep_gained(view))
            )
            np.testing.assert_array_equal(every, gained, spec.name)


@pytest.mark.parametrize("name", ["nDCG(gain=0:1)", "AP(unjudged=condensed)", "AP(norm=pool)@5"])
def test_gained_only__not_of_names_that_read_other_docs(name: str):
    assert not any(map(reads_gained_only, parse_measures(name)))


SPECS = parse_measures("AP(norm=min)@3,nDCG,Q@2,ERR@3,RR,RBP(p=0.8),P@2,AP(rel=2)")


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(tracks())
def test_reduced_pools__same_bits_as_by_all_judged_docs(track: Track):
    view = view_of(track.read(), *NEEDS)
    assume(len(view.systems) > 1)
    parts = {name: (name,) for name in view.systems}
    for depth in (None, 1, 3):
        for queries, rel in (("judged", 1), ("relevant", 1), ("judged", 2)):
            policy = EvalPolicy(queries=queries)
            contributors = list(view.systems)
            made = list(reduced_pools([view], SPECS, policy, parts, depth, rel=rel))
            scored = partial(evaluate_block, specs=SPECS, policy=policy)
            anew = map(
                module._of_judged([view], scored, contributors, depth, rel),
                [("", ()), *parts.items()],
            )
            for one, other in zip(made, anew, strict=True):
                facts = ("part", "left_out", "judged", "relevant")
                assert [getattr(one, n) for n in facts] == [getattr(other, n) for n in facts]
                for array in ("values", "included", "no_list"):
                    left, right = (getattr(side.scores, array) for side in (one, other))
                    np.testing.assert_array_equal(left, right)
                np.testing.assert_array_equal(one.means, other.scores.mean_values())
