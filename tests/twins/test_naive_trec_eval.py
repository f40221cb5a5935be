"""Naive measures against output of trec_eval and pytrec_eval."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.making import read_qrels, read_run
from support.printed import differing
from twins import average as naive_average
from twins import gain as naive_gain
from twins import incomplete as naive_incomplete
from twins import measures as naive
from twins import sets as naive_sets


@dataclass(frozen=True)
class List:
    """One list, the qrels of its query, and options of measures."""

    ranking: naive.Ranking
    qrels: naive.Qrels
    rel: int
    version: int

    @property
    def counts(self) -> dict[str, int]:
        return naive_sets.counts(self.ranking, self.qrels, self.rel)


Twin = Callable[[List], float]

SUMMED: dict[str, Twin] = {
    "num_q": lambda x: x.counts["NumQ"],
    "num_ret": lambda x: x.counts["NumRet"],
    "num_rel": lambda x: x.counts["NumRel"],
    "num_rel_ret": lambda x: x.counts["NumRelRet"],
    "num_nonrel_judged_ret": lambda x: x.counts["NumNonrelJudgedRet"],
}
GEOMETRIC: dict[str, Twin] = {
    "gm_map": lambda x: naive.average_precision(x.ranking, x.qrels, rel=x.rel),
    "gm_bpref": lambda x: naive.bpref(x.ranking, x.qrels, x.rel),
}
PLAIN: dict[str, Twin] = {
    "map": lambda x: naive.average_precision(x.ranking, x.qrels, rel=x.rel),
    "Rprec": lambda x: naive_sets.r_precision(x.ranking, x.qrels, rel=x.rel),
    "bpref": lambda x: naive.bpref(x.ranking, x.qrels, x.rel),
    "recip_rank": lambda x: naive.reciprocal_rank(x.ranking, x.qrels, rel=x.rel),
    "infAP": lambda x: naive_incomplete.inferred_ap(x.ranking, x.qrels, x.rel),
    "utility": lambda x: naive_sets.utility(x.ranking, x.qrels, rel=x.rel),
    "11pt_avg": lambda x: naive_sets.interpolated_average(
        x.ranking, x.qrels, rel=x.rel, trec_eval=x.version
    ),
    "binG": lambda x: naive_gain.bin_g(x.ranking, x.qrels, x.rel),
    "G": lambda x: naive_gain.g_measure(x.ranking, x.qrels),
    "ndcg": lambda x: naive_gain.ndcg(x.ranking, x.qrels),
    "ndcg_rel": lambda x: naive_gain.ndcg_rel(x.ranking, x.qrels),
    "Rndcg": lambda x: naive_gain.rndcg(x.ranking, x.qrels, rel=x.rel),
    "set_P": lambda x: naive_sets.set_precision(x.ranking, x.qrels, x.rel),
    "set_relative_P": lambda x: naive_sets.set_relative_precision(x.ranking, x.qrels, x.rel),
    "set_recall": lambda x: naive_sets.set_recall(x.ranking, x.qrels, x.rel),
    "set_map": lambda x: naive_sets.set_ap(x.ranking, x.qrels, x.rel),
    "set_F": lambda x: naive_sets.set_f(x.ranking, x.qrels, rel=x.rel),
    # Only with binary grades; otherwise m_rbp.c reads uninitialized memory.
    "rbp": lambda x: naive.rbp(x.ranking, x.qrels, 0.9),
    "rbp_resid": lambda x: naive_incomplete.rbp_residual(
        x.ranking, x.qrels, 0.9, tail="trec_eval10"
    ),
}
WITH_PARAMETER: dict[str, Callable[[List, str], float]] = {
    "P": lambda x, k: naive.precision(x.ranking, x.qrels, int(k), x.rel),
    "recall": lambda x, k: naive.recall(x.ranking, x.qrels, int(k), x.rel),
    "map_cut": lambda x, k: naive.average_precision(x.ranking, x.qrels, int(k), x.rel),
    "ndcg_cut": lambda x, k: naive_gain.ndcg(x.ranking, x.qrels, int(k)),
    "relative_P": lambda x, k: naive_sets.relative_precision(x.ranking, x.qrels, int(k), x.rel),
    "success": lambda x, k: naive_sets.success(x.ranking, x.qrels, int(k), x.rel),
    "unj": lambda x, k: naive_incomplete.unjudged_share(x.ranking, x.qrels, int(k)),
    "iprec_at_recall": lambda x, level: naive_sets.interpolated_precision(
        x.ranking, x.qrels, float(level), x.rel, x.version
    ),
    "11pt_avg": lambda x, levels: naive_sets.interpolated_average(
        x.ranking, x.qrels, [float(level) for level in levels.split(",")], x.rel, x.version
    ),
    "Rprec_mult": lambda x, mult: naive_sets.r_precision(x.ranking, x.qrels, float(mult), x.rel),
    "utility": lambda x, abcd: naive_sets.utility(
        x.ranking, x.qrels, *(float(weight) for weight in abcd.split(",")), rel=x.rel
    ),
    "ndcg": lambda x, gains: naive_gain.ndcg(
        x.ranking, x.qrels, gain={int(g): float(v) for g, v in re.findall("(.+?)=([^,]+),?", gains)}
    ),
}


@dataclass(frozen=True)
class Command:
    """A call of trec_eval, whose output is in the file `output`."""

    output: str
    qrels: str
    run: str
    version: int
    complete: bool = False
    judged_only: bool = False
    rel: int = 1
    depth: int | None = None

    def lists(self, folder: Path) -> dict[str, List]:
        """Return the evaluated lists by query."""
        qrels, run = read_qrels(folder / self.qrels), read_run(folder / self.run)
        order = "trec_eval" if self.version == 9 else "trec_eval10"
        lists = {}
        for query, docs in qrels.items():
            ranking = naive.order(run.get(query, []), order)[: self.depth]
            if self.judged_only:
                ranking = naive_incomplete.condensed(ranking, docs)
            if query in run or self.complete:
                lists[query] = List(ranking, docs, self.rel, self.version)
        return lists

    def pairs(self, folder: Path) -> Iterator[tuple[object, str, float]]:
        """Yield each printed number with the naive value."""
        lists = self.lists(folder)
        graded = any(grade > 1 for x in lists.values() for grade in x.qrels.values())
        for line in (folder / self.output).read_text().splitlines():
            name, query, printed = (part.strip() for part in line.split("\t"))
            if name == "runid" or name.startswith("relstring") or (name == "rbp" and graded):
                continue
            evaluated = lists.values() if query == "all" else [lists[query]]
            yield (name, query), printed, value_of(name, evaluated)


def value_of(name: str, lists: Iterable[List]) -> float:
    """Compute a trec_eval measure, averaged as in trec_eval."""
    if name in SUMMED:
        return naive_average.total(SUMMED[name](x) for x in lists)
    if name in GEOMETRIC:
        return naive_average.geometric(GEOMETRIC[name](x) for x in lists)
    if name in PLAIN:
        return naive_average.arithmetic(PLAIN[name](x) for x in lists)
    name, _, parameter = name.rpartition("_")
    return naive_average.arithmetic(WITH_PARAMETER[name](x, parameter) for x in lists)


FLAGS: dict[str, dict] = {
    "": {},
    "c.": {"complete": True},
    "J.": {"judged_only": True},
    "l2.": {"rel": 2},
}


def its_own_tests() -> Iterator[Command]:
    whole = ("qrels.test", "results.test")
    trunc = ("qrels.test", "results.trunc")
    for version, folder in ((10, ""), (9, "v9.0.8/")):
        for name, qrels, run, options in (
            ("out.test", *whole, {}),
            ("out.test.a", *whole, {}),
            ("out.test.aq", *whole, {}),
            ("out.test.aqc", *trunc, {"complete": True}),
            ("out.test.aqcM", *trunc, {"complete": True, "depth": 100}),
            ("out.test.aql", "qrels.rel_level", "results.test", {"rel": 2}),
            ("out.test.meas_params", *whole, {}),
        ):
            yield Command(folder + name, folder + qrels, folder + run, version, **options)


def case1() -> Iterator[Command]:
    for qrels in ("qrels", "qrels_neg"):
        for run in ("run_plain", "run_ties"):
            for version, program, flags in ((10, "te10", ("", "c.")), (9, "te908", FLAGS)):
                for flag in flags:
                    output = f"out.{program}.{qrels}.{run}.{flag}all_trec"
                    yield Command(output, f"{qrels}.txt", f"{run}.txt", version, **FLAGS[flag])


def case3() -> Iterator[Command]:
    for system in "ABCDEF":
        output = f"out.te908.cM10.sys{system}"
        yield Command(output, "qrels.txt", f"inputs/sys{system}", 9, complete=True, depth=10)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("folder", "command"),
    [
        pytest.param(folder, command, id=command.output)
        for folder, commands in (
            ("trec_eval_tests", its_own_tests()),
            ("case1_adhoc", case1()),
            ("case3_innov", case3()),
        )
        for command in commands
    ],
)
def test_naive_measures__equal_trec_eval_output(
    shared: Path, folder: str, command: Command
) -> None:
    assert not differing(command.pairs(shared / "oracles" / folder))


@pytest.mark.parametrize("run", ["run_plain", "run_ties"])
@pytest.mark.parametrize("qrels", ["qrels", "qrels_neg"])
def test_naive_measures__equal_pytrec_eval_to_1e_12(shared: Path, qrels: str, run: str) -> None:
    folder = shared / "oracles/case1_adhoc"
    lists = Command("", f"{qrels}.txt", f"{run}.txt", 9).lists(folder)
    printed = json.loads((folder / f"out.pytrec_eval.{qrels}.{run}.json").read_text())
    assert printed.keys() == lists.keys()
    for query, values in printed.items():
        # pytrec_eval gives the logarithm, of which trec_eval takes the mean.
        values["gm_map"] = math.exp(values["gm_map"])
        expected = {name: value_of(name, [lists[query]]) for name in values}
        assert values == pytest.approx(expected, rel=1e-12, abs=1e-12)
