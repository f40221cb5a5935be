"""All measures of trec_eval's all_trec, per query and mean, on its test files and on case 1."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import irmeta
from irmeta.measures.names import PRESETS, Spec, parse_measure, parse_measures
from irmeta.rankings.load import judged_ranks
from support.cells import named
from support.making import Track, down, read_qrels, read_run
from twins import gain as naive_gain

TEXT = ("runid", "relstring")


@dataclass(frozen=True)
class Case:
    """One output file of trec_eval, with its input files and options."""

    folder: str
    out: str
    qrels: str
    run: str
    version: int
    complete: bool = False  # -c
    condensed: bool = False  # -J
    rel: int = 1  # -l
    depth: int | None = None  # -M

    def __str__(self) -> str:
        return f"{self.folder}/{self.out}"


def own_tests() -> Iterator[Case]:
    for version, folder in ((10, "trec_eval_tests"), (9, "trec_eval_tests/v9.0.8")):
        case = Case(folder, "out.test", "qrels.test", "results.test", version)
        yield case
        for out in ("a", "aq", "meas_params"):
            yield replace(case, out=f"out.test.{out}")
        trunc = replace(case, run="results.trunc", complete=True)
        yield replace(trunc, out="out.test.aqc")
        yield replace(trunc, out="out.test.aqcM", depth=100)
        yield replace(case, out="out.test.aql", qrels="qrels.rel_level", rel=2)


def case1() -> Iterator[Case]:
    for qrels in ("qrels", "qrels_neg"):
        for run in ("run_plain", "run_ties"):
            case = Case("case1_adhoc", "", f"{qrels}.txt", f"{run}.txt", 9)
            yield replace(case, out=f"out.te908.{qrels}.{run}.all_trec")
            yield replace(case, out=f"out.te908.{qrels}.{run}.c.all_trec", complete=True)
            yield replace(case, out=f"out.te908.{qrels}.{run}.J.all_trec", condensed=True)
            yield replace(case, out=f"out.te908.{qrels}.{run}.l2.all_trec", rel=2)
            ten = replace(case, version=10)
            yield replace(ten, out=f"out.te10.{qrels}.{run}.c.all_trec", complete=True)
            if run == "run_plain":  # without -c, trec_eval 10 stops at a query missing from the run
                yield replace(ten, out=f"out.te10.{qrels}.{run}.all_trec")


CASES = [*own_tests(), *case1()]


def lines_of(path: Path) -> Iterator[tuple[str, str, float]]:
    """Yield (measure, query, value) for each line with a number."""
    for line in path.read_text(encoding="utf-8").splitlines():
        name, query, value = line.split("\t")
        if not name.startswith(TEXT):
            yield name.strip(), query, float(value)


def ours(name: str, case: Case) -> Spec:
    """Return the measure for a name printed by trec_eval, under the case's flags."""
    spec = parse_measure(name)
    asked = {"rel": case.rel, "trec_eval": str(case.version)}
    asked["unjudged"] = "condensed" if case.condensed else "nonrelevant"
    if spec.measure.name in ("nDCG", "RBP"):
        del asked["rel"]  # in trec_eval, grades below -l have a gain
    return replace(spec, params=tuple((n, asked.get(n, v)) for n, v in spec.params))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_evaluate__equals_trec_eval_output(case: Case, shared: Path, tmp_path: Path):
    folder = shared / "oracles" / case.folder
    track = Track({"run": read_run(folder / case.run)}, read_qrels(folder / case.qrels))
    order = "trec_eval" if case.version == 9 else "trec_eval10"
    store = track.ingest(tmp_path, tie_order=order, depth=case.depth)
    expected = list(lines_of(folder / case.out))
    specs = {name: ours(name, case) for name, _, _ in expected}
    queries = "judged" if case.complete else "retrieved"
    names = [spec.name for spec in specs.values()]
    values = {
        (row["query"], row["measure"]): row["value"]
        for row in store.evaluate(names, queries=queries, per_query=True).iter_rows(named=True)
    }
    means = store.means(names, queries=queries)
    values |= {("all", m): v for m, v in means.select("measure", "value").iter_rows()}
    wrong = {
        (name, query): (values.get((query, specs[name].name)), value)
        for name, query, value in expected
        if f"{values.get((query, specs[name].name), math.inf):.4f}" != f"{value:.4f}"
    }
    assert len(expected) > 20
    assert not wrong


def test_trec_eval_preset__has_all_measures_of_all_trec(shared: Path):
    out = shared / "oracles" / "trec_eval_tests" / "out.test.a"
    printed = [name for name, _, _ in lines_of(out)]
    assert len(PRESETS["trec_eval"]) == len(printed)
    for version, preset in ((9, "trec_eval"), (10, "trec_eval10")):
        case = Case("", "", "", "", version)
        assert {s.name for s in parse_measures(preset)} == {ours(n, case).name for n in printed}


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
