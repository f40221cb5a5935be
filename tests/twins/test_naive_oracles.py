"""Naive measures against output of programs other than trec_eval, and by hand."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.making import read_qrels, read_run
from support.printed import differing
from twins import average as naive_average
from twins import cooper as naive_cooper
from twins import gain as naive_gain
from twins import incomplete as naive_incomplete
from twins import measures as naive
from twins import sets as naive_sets


def test_naive_measures__equal_pref_eval_output(shared: Path) -> None:
    folder = shared / "oracles/case1_adhoc"
    qrels = read_qrels(folder / "qrels.txt")
    twins = {
        "ap": naive.average_precision,
        "rbp": lambda ranking, qrels: naive.rbp(ranking, qrels, 0.5),
        "rr": naive.reciprocal_rank,
        "ndcg": naive_gain.ndcg,
        "rp": naive_sets.r_precision,
        "p@1": lambda ranking, qrels: naive.precision(ranking, qrels, 1),
        "p@10": lambda ranking, qrels: naive.precision(ranking, qrels, 10),
        "r@1": lambda ranking, qrels: naive.recall(ranking, qrels, 1),
        "r@10": lambda ranking, qrels: naive.recall(ranking, qrels, 10),
    }
    for line in (folder / "out.pref_eval.all.q.jsonl").read_text().splitlines():
        printed = json.loads(line)
        if printed.get("type") == "metric":
            rows = read_run(folder / printed["run"]).get(printed["qid"], [])
            one = naive.order(rows, "trec_eval"), qrels[printed["qid"]]
            assert {name: printed[name] for name in twins} == pytest.approx(
                {name: twin(*one) for name, twin in twins.items()}, abs=1e-12
            )


# Ties and unjudged docs


RBP_EVAL = [
    ("s", "score-file", 0),  # at a cutoff it shares the weights of a whole block, unlike paper 3
    *(("o", "file", depth) for depth in (0, 3, 5)),
    *(("r", "rank", depth) for depth in (0, 3, 5)),
]


@pytest.mark.parametrize(("option", "order", "depth"), RBP_EVAL)
def test_naive_rbp__equals_rbp_eval_output(
    shared: Path, option: str, order: str, depth: int
) -> None:
    folder = shared / "oracles/case1_adhoc"
    qrels, run = read_qrels(folder / "qrels.txt"), read_run(folder / "run_ties.txt")
    blocks = {
        query: naive.tied_blocks(rows, order) for query, rows in run.items() if query in qrels
    }
    k = depth or None

    def pairs() -> Iterator[tuple[object, str, float]]:
        output = folder / f"out.rbp_eval.B.order_{option}.d{depth}.run_ties.txt"
        line = r"p= (\S+) q= +(\S+) d= .* rbp= (\S+) \+(\S+)"
        for p, query, rbp, residual in re.findall(line, output.read_text()):
            queries = list(blocks) if query == "all" else [query]
            values = [naive_gain.rbp_tied(blocks[q], qrels[q], float(p), k) for q in queries]
            residuals = [
                naive_incomplete.rbp_residual_tied(blocks[q], qrels[q], float(p), k)
                for q in queries
            ]
            yield (p, query), rbp, naive_average.arithmetic(values)
            yield (p, query, "residual"), residual, naive_average.arithmetic(residuals)

    assert not differing(pairs())


@pytest.mark.parametrize("run", ["run_plain", "run_ties"])
def test_naive_measures__equal_cwl_eval_output(shared: Path, run: str) -> None:
    """Expected utility (EU) per doc and its residual (ResEU), for lists in file order.

    cwl_eval continues lists with unjudged docs, its AP counts only retrieved relevant docs,
    and its NDCG-k is DCG over the sum of the discounts.
    """
    folder = shared / "oracles/case1_adhoc"
    all_qrels, rows = read_qrels(folder / "qrels_bin.txt"), read_run(folder / f"{run}.txt")

    def pairs() -> Iterator[tuple[object, str, float]]:
        with (folder / f"out.cwl_eval.bin.nr.{run}.tsv").open() as file:
            lines = list(csv.DictReader(file, delimiter="\t"))
        for line in lines:
            query, name = line["Topic"], line["Metric"]
            if name.startswith("INST"):
                continue
            ranking = naive.order(rows[query], "file")
            qrels = all_qrels.get(query, {})
            lower, upper = cwl_bounds(name, ranking, qrels)
            yield (query, name), line["EU"], lower
            if upper is not None:
                yield (query, name, "residual"), line["ResEU"], upper - lower

    assert not differing(pairs())


def cwl_bounds(name: str, ranking: list[str], qrels: naive.Qrels) -> tuple[float, float | None]:
    """Compute a measure of cwl_eval with unjudged docs nonrelevant, then relevant."""
    endless = ranking + [f"unjudged {place}" for place in range(1000)]
    upper = naive_incomplete.upper_gains(endless, qrels)
    measure, _, parameter = name.partition("@")
    if measure == "P":
        k = int(parameter)
        return naive.precision(ranking, qrels, k), naive_incomplete.precision_of(upper, k)
    if measure == "RBP":
        p = float(parameter)
        rbp = naive.rbp(ranking, qrels, p)
        assert naive_incomplete.rbp_of(upper, p) == pytest.approx(
            rbp + naive_incomplete.rbp_residual(ranking, qrels, p)
        )
        return rbp, naive_incomplete.rbp_of(upper, p)
    if measure == "NDCG-k":
        k = int(parameter)
        most = naive_gain.dcg_of([1.0] * k)
        lower = naive_gain.dcg(ranking, qrels, k, gain="binary")
        return lower / most, naive_gain.dcg_of(upper[:k]) / most
    if measure == "RR":
        lower = naive.reciprocal_rank(ranking, qrels)
        return lower, naive_incomplete.reciprocal_rank_of(upper)
    assert measure == "AP"
    listed = {doc: qrels[doc] for doc in ranking if doc in qrels}
    return naive.average_precision(ranking, listed), None


# Graded gains


@pytest.mark.parametrize(
    ("output", "run", "qrels", "k", "complete"),
    [
        ("out.gdeval.k20.run_plain.csv", "run_plain", "qrels", 20, False),
        ("out.gdeval.k20.run_ties.csv", "run_ties", "qrels", 20, False),
        ("out.gdeval.c.k5.run_plain.csv", "run_plain", "qrels", 5, True),
        ("out.gdeval.c.k5.run_ties.csv", "run_ties", "qrels", 5, True),
        ("out.gdeval.neg.k20.run_plain.csv", "run_plain", "qrels_neg", 20, False),
        ("out.gdeval.neg.k20.run_ties.csv", "run_ties", "qrels_neg", 20, False),
    ],
)
def test_naive_ndcg_and_err__equal_gdeval_output(
    shared: Path, output: str, run: str, qrels: str, k: int, complete: bool
) -> None:
    """gdeval omits queries without relevant docs."""
    folder = shared / "oracles/case1_adhoc"
    rows = read_run(folder / f"{run}.txt")
    kept = {
        query: (naive.order(rows.get(query, []), "trec_eval10"), docs)
        for query, docs in read_qrels(folder / f"{qrels}.txt").items()
        if naive.relevant_docs(docs, 1) and (complete or query in rows)
    }

    def pairs() -> Iterator[tuple[object, str, float]]:
        for line in csv.DictReader((folder / output).read_text().splitlines()):
            topic = line["topic"]
            evaluated = kept.values() if topic == "amean" else [kept[topic]]
            ndcgs = [naive_gain.ndcg(*one, k, "exp", 4) for one in evaluated]
            errs = [naive_gain.err(*one, k, "exp", 4) for one in evaluated]
            yield ("nDCG", topic), line[f"ndcg@{k}"], naive_average.arithmetic(ndcgs)
            yield ("ERR", topic), line[f"err@{k}"], naive_average.arithmetic(errs)

    assert not differing(pairs())


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("Q", lambda ranking, qrels: naive_gain.q_measure(ranking, qrels, 10, norm="min")),
        ("nERR", lambda ranking, qrels: naive_gain.nerr(ranking, qrels, 10, "ntcir", 4)),
        ("MSnDCG", lambda ranking, qrels: naive_gain.ndcg(ranking, qrels, 10)),
    ],
)
def test_naive_measures__equal_ntcir_13_matrices(shared: Path, name: str, twin: Callable) -> None:
    """The official topic-by-run matrices of NTCIR-13 WWW; the file's order is the rank."""
    folder = shared / "oracles/ntcir13_www"
    qrels = read_qrels(folder / "wwwE.trec.qrels")
    matrix = (folder / f"wwwE.official.{name}@0010.topic-by-run.csv").read_text().splitlines()

    def pairs() -> Iterator[tuple[object, str, float]]:
        for system in (f"RMIT-E-NU-Own-{number}" for number in range(1, 5)):
            run = read_run(folder / f"{system}.run.gz")
            for line in csv.DictReader(matrix):
                topic = line[""]
                ranking = naive.order(run.get(topic, []), "file")
                yield (system, topic), line[system], twin(ranking, qrels[topic])

    assert not differing(pairs())


# Values that no program here prints, by hand


def test_naive_dcg__jk_discount_starts_after_rank_b() -> None:
    # With b = 2 ranks 1 and 2 count in full, with b = 3 so does rank 3, where log_3(3) is 1.
    assert naive_gain.dcg_of([3, 2, 0, 1], "jk") == pytest.approx(3 + 2 / 1 + 1 / 2)
    assert naive_gain.dcg_of([3, 2, 1], "jk", b=3) == pytest.approx(3 + 2 + 1)
    assert naive_gain.dcg_of([0, 0, 1, 1], "zipf") == pytest.approx(1 / 3 + 1 / 4)


def test_naive_tied_measures__ties_share_weights_up_to_the_cutoff() -> None:
    blocks, qrels = [["a"], ["b", "c", "d"]], {"b": 1, "d": 2}
    assert naive_gain.precision_tied(blocks, qrels, 2) == pytest.approx(2 * (1 / 2) / 3)
    assert naive_gain.recall_tied(blocks, qrels, 3) == pytest.approx(2 * (2 / 3) / 2)
    assert naive_gain.dcg_tied(blocks, qrels, 2) == pytest.approx(3 * (1 / math.log2(3)) / 3)
    # Half, a quarter, an eighth, a sixteenth; rank 2 is one of the three ranks of b, c and d.
    assert naive_gain.rbp_tied(blocks, qrels, 0.5, 2) == pytest.approx(2 * (1 / 4) / 3)
    # Unjudged are a, alone at rank 1, and c; what is below rank 2 weighs a quarter.
    residual = naive_incomplete.rbp_residual_tied
    assert residual(blocks, qrels, 0.5, 2) == pytest.approx(1 / 2 + (1 / 4) / 3 + 1 / 4)
    assert naive_incomplete.condensed_blocks(blocks, qrels) == [["b", "d"]]


def test_naive_gains__custom_gains_may_be_negative_or_partial() -> None:
    # As the help texts of trec_eval's m_ndcg.c have it.
    own = {0: -1.0, 1: 0.5}
    ranking, qrels = ["n", "u", "a", "b"], {"n": 0, "a": 1, "b": 2, "c": -1}
    assert naive_gain.gains_of(ranking, qrels, own) == [-1, 0, 0.5, 2]
    assert naive_gain.ideal_gains(qrels, own) == [2, 0.5]
    assert naive_gain.ndcg_rel(["n"], qrels, own) == 0


def test_naive_upper_gains__by_hand() -> None:
    ranking, qrels = ["u", "a", "n"], {"a": 1, "n": -1, "b": 3}
    upper = naive_incomplete.upper_gains
    assert upper(ranking, qrels, "binary") == [1, 1, 1]
    assert upper(ranking, qrels, "binary", negative="nonrelevant") == [1, 1, 0]
    assert upper(ranking, qrels, "grade", 3, unjudged="upper-gmax") == [3, 1, 3]
    assert upper(ranking, qrels, "exp", 3) == [1, 1 / 8, 1]
    assert upper(ranking, qrels, "exp", 3, unjudged="upper-gmax") == [7 / 8, 1 / 8, 7 / 8]


def test_naive_err_residual__equals_gain_of_a_perfect_next_doc() -> None:
    ranking, qrels = ["a", "b"], {"a": 1, "b": 2}
    assert naive_incomplete.err_residual(ranking, qrels, form="bound", gmax=2) == 1 / 3
    assert naive_incomplete.err_residual(ranking, qrels, gmax=2) == 3 / 4 * 1 / 4 / 3
    assert naive_incomplete.err_residual(ranking, qrels, 9, gmax=2) == 3 / 4 * 1 / 4 / 10
    perfect = naive_gain.err_of([1 / 4, 3 / 4, 1]) - naive_gain.err_of([1 / 4, 3 / 4])
    assert naive_incomplete.err_residual(ranking, qrels, gmax=2) == pytest.approx(perfect)


def test_naive_pool_measures__use_only_docs_of_the_depth_k_pool() -> None:
    qrels = {"a": 1, "b": 2, "c": 1, "d": 0, "e": 1}
    depths = naive_incomplete.pool_depths([["a", "d", "b", "x"], ["d", "c"], None], qrels)
    assert depths == {"a": 1, "b": 3, "c": 2, "d": 1, "e": math.inf}
    assert depths.complete == 3
    ranking = ["b", "a"]
    # To depth 2: a, c and d; b is unjudged.
    assert naive_incomplete.ap_pool(ranking, qrels, depths, 2) == (1 / 2) / 2
    assert naive_incomplete.ap_min(ranking, qrels, 2) == (1 + 1) / 2
    ideal = 1 + 1 / math.log2(3)
    ndcg = naive_incomplete.ndcg_pool(ranking, qrels, depths, 2)
    assert ndcg == pytest.approx(1 / math.log2(3) / ideal)
    assert naive_incomplete.q_pool(ranking, qrels, depths, 2) == pytest.approx(2 / 4 / 2)
    mixed = naive_incomplete.q_pool(ranking, qrels, depths, 2, ideal="all")
    assert mixed == pytest.approx(2 / (2 + 3) / 2)
    # To depth 3, that of the pool itself: also e, which no system retrieves.
    assert naive_incomplete.ap_pool(ranking, qrels, depths, 3) == (1 + 1) / 4
    # Nothing relevant to depth 1.
    none = naive_incomplete.pool_depths([["d", "a"]], qrels)
    assert math.isnan(naive_incomplete.ap_pool(ranking, qrels, none, 1))
    assert math.isnan(naive_incomplete.ndcg_pool(ranking, qrels, none, 1))
    assert math.isnan(naive_incomplete.q_pool(ranking, qrels, none, 1))


def test_naive_cooper__search_lengths_by_hand() -> None:
    ranking, qrels = ["x", "a", "b", "y"], {"a": 1, "b": 1, "c": 2, "d": 1, "z": 0}
    corpus = naive_cooper.corpus_size([ranking, ["x", "c", "w"], None], qrels)
    assert corpus == len("xabycwdz")
    assert naive_cooper.positions(ranking, qrels, corpus) == [2, 3, 7, 8]
    assert naive_cooper.isl(ranking, qrels, corpus) == 2
    assert naive_cooper.tsl(ranking, qrels, corpus) == 8
    assert naive_cooper.average_search_length(ranking, qrels, corpus) == 20 / 4
    fewer = naive_cooper.average_search_length(ranking, qrels, corpus, count="nonrelevant")
    assert fewer == (1 + 1 + 4 + 4) / 4
    assert naive_cooper.isl(None, qrels, 10) == 7
    assert math.isnan(naive_cooper.tsl(ranking, {"a": 0}, 10))
    with pytest.raises(ValueError, match="too few"):
        naive_cooper.isl(ranking, qrels, 5)


def test_naive_averages__ignore_nan() -> None:
    values = {"1": 0.5, "2": 0.0, "3": math.nan, "4": 1.0}
    assert naive_average.arithmetic(values.values()) == 0.5
    assert naive_average.geometric(values.values()) == pytest.approx((0.5 * 1e-5) ** (1 / 3))
    assert naive_average.harmonic(values.values()) == 0
    assert naive_average.harmonic([0.5, math.nan, 1.0]) == pytest.approx(2 / 3)
    assert naive_average.median(values.values()) == 0.5
    assert naive_average.total(values.values()) == 1.5
    aps = {"1": [0.4, 0.6], "2": [0.0, 0.0], "3": [0.9, 0.9], "4": [0.5, 1.0]}
    weighted = naive_average.difficulty(values, aps)
    assert weighted == pytest.approx((0.5 * 0.5 + 1 * 0 + 0.25 * 1) / 1.75)
