"""All measures of trec_eval's all_trec, per query and mean, on its test files and on case 1."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from irmeta.measures.names import PRESETS, Spec, parse_measure, parse_measures
from support.making import Track, read_qrels, read_run

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
