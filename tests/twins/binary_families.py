"""Twins of measures by canonical name: families that see relevant and nonrelevant docs."""

from __future__ import annotations

from collections.abc import Callable

from support.cells import Cell, Twins
from twins import cooper, incomplete, sets
from twins import gain as naive_gain
from twins import measures as naive

COUNTS = ("NumQ", "NumRet", "NumRel", "NumRelRet", "NumNonrelJudgedRet")
LEVELS = (0, 0.05, 0.1, 0.25, 0.3, 0.5, 0.7, 1)


def exp(x: Cell) -> naive.Qrels:
    """Grades as exponential gains, before the division by 2 ** gmax."""
    return {doc: 2**g - 1 if g > 0 else 0 for doc, g in x.qrels.items()}


def well_known() -> Twins:
    """Twins of the measures that most papers report, with some of their parameters."""
    twins: Twins = {
        "AP": lambda x: naive.average_precision(x.ranking, x.qrels),
        "AP(rel=2)": lambda x: naive.average_precision(x.ranking, x.qrels, rel=2),
        "AP(rel=4)@6": lambda x: naive.average_precision(x.ranking, x.qrels, 6, rel=4),
        "RR": lambda x: naive.reciprocal_rank(x.ranking, x.qrels),
        "RR(rel=3)": lambda x: naive.reciprocal_rank(x.ranking, x.qrels, rel=3),
        "nDCG": lambda x: naive.ndcg(x.ranking, x.qrels),
        "nDCG(gain=exp)": lambda x: naive.ndcg(x.ranking, exp(x)),
        "nDCG(gain=exp)@3": lambda x: naive.ndcg(x.ranking, exp(x), 3),
        "Bpref": lambda x: naive.bpref(x.ranking, x.qrels, 1, x.negative),
        "Bpref(rel=2)": lambda x: naive.bpref(x.ranking, x.qrels, 2, x.negative),
        "P(rel=2)@5": lambda x: naive.precision(x.ranking, x.qrels, 5, 2),
        "R(rel=2)@5": lambda x: naive.recall(x.ranking, x.qrels, 5, 2),
        "RBP(p=0.8,rel=1)": lambda x: naive.rbp(x.ranking, x.qrels, 0.8),
        "RBP(p=0.95,rel=2)@4": lambda x: naive.rbp(x.ranking, x.qrels, 0.95, 2, 4),
        "RBP(p=0.5,gain=linear)": lambda x: naive.rbp_graded(x.ranking, x.qrels, 0.5, x.highest),
        "RBP(p=0.5,gain=linear,gmax=7)@3": lambda x: naive.rbp_graded(
            x.ranking, x.qrels, 0.5, 7, 3
        ),
        "RBP(p=0.3,gain=exp)": lambda x: naive.rbp_graded(x.ranking, exp(x), 0.3, 2**x.highest),
        "ASL(rel=2)@g2": lambda x: naive.asl(x.ranking, x.qrels, 2, 2, deepest=x.deepest),
    }
    for k in (1, 3, 10, 1000):
        twins |= {
            f"P@{k}": lambda x, k=k: naive.precision(x.ranking, x.qrels, k),
            f"R@{k}": lambda x, k=k: naive.recall(x.ranking, x.qrels, k),
            f"AP@{k}": lambda x, k=k: naive.average_precision(x.ranking, x.qrels, k),
            f"RR@{k}": lambda x, k=k: naive.reciprocal_rank(x.ranking, x.qrels, k),
            f"nDCG@{k}": lambda x, k=k: naive.ndcg(x.ranking, x.qrels, k),
            f"RBP(p=0.8,rel=1)@{k}": lambda x, k=k: naive.rbp(x.ranking, x.qrels, 0.8, 1, k),
        }
    for choice in ("irrel", "floor", "irrel+1", "depth"):
        said = "" if choice == "irrel" else f"(unretrieved={choice})"
        for n in (None, 1, 3, 10):
            cut = "" if n is None else f"@g{n}"
            twins[f"ASL{said}{cut}"] = lambda x, c=choice, n=n: naive.asl(
                x.ranking, x.qrels, n, 1, c, x.deepest
            )
    return twins


def precision() -> Twins:
    """Twins of P, R, Success, RelP, RR and AP in their other forms."""
    twins: Twins = {
        "AP(unjudged=condensed)": lambda x: naive.average_precision(x.condensed, x.qrels),
        "AP(rel=2,unjudged=condensed)@3": lambda x: naive.average_precision(
            x.condensed, x.qrels, 3, 2
        ),
        "AP(rel=2,norm=min)@3": lambda x: incomplete.ap_min(x.ranking, x.qrels, 3, 2),
        "AP(rel=2,norm=pool)@3": lambda x: incomplete.ap_pool(x.ranking, x.qrels, x.depths, 3, 2),
        "RR(unjudged=condensed)": lambda x: naive.reciprocal_rank(x.condensed, x.qrels),
        "RR(unjudged=upper)": lambda x: incomplete.reciprocal_rank_of(x.upper()),
        "P(rel=3,unjudged=upper-gmax)@3": lambda x: incomplete.precision_of(
            x.upper("upper-gmax", rel=3), 3
        ),
        "P(rel=9,unjudged=upper-gmax)@3": lambda x: 0.0,
        "P(rel=9,unjudged=upper)@3": lambda x: incomplete.precision_of(x.upper(rel=9), 3),
        "P(ties=share,unjudged=condensed)@3": lambda x: naive_gain.precision_tied(
            x.condensed_blocks, x.qrels, 3
        ),
        "Success(rel=2)@2": lambda x: sets.success(x.ranking, x.qrels, 2, 2),
        "RelP(rel=2)@2": lambda x: sets.relative_precision(x.ranking, x.qrels, 2, 2),
    }
    for k in (1, 2, 4, 1000):
        twins |= {
            f"AP(norm=min)@{k}": lambda x, k=k: incomplete.ap_min(x.ranking, x.qrels, k),
            f"AP(norm=pool)@{k}": lambda x, k=k: incomplete.ap_pool(
                x.ranking, x.qrels, x.depths, k
            ),
            f"P(ties=share)@{k}": lambda x, k=k: naive_gain.precision_tied(x.blocks, x.qrels, k),
            f"R(ties=share)@{k}": lambda x, k=k: naive_gain.recall_tied(x.blocks, x.qrels, k),
            f"P(unjudged=upper)@{k}": lambda x, k=k: incomplete.precision_of(x.upper(), k),
            f"Success(unjudged=upper)@{k}": lambda x, k=k: incomplete.success_of(x.upper(), k),
            f"RR(unjudged=upper)@{k}": lambda x, k=k: incomplete.reciprocal_rank_of(x.upper(), k),
            f"Success@{k}": lambda x, k=k: sets.success(x.ranking, x.qrels, k),
            f"RelP@{k}": lambda x, k=k: sets.relative_precision(x.ranking, x.qrels, k),
        }
    return twins


def retrieved_sets() -> Twins:
    """Twins of the measures of sets, of counts, and of precision at levels of recall."""

    def count(name: str, rel: int = 1) -> Callable[[Cell], float]:
        return lambda x: sets.counts(x.ranking, x.qrels, rel, x.negative)[name]

    twins: Twins = {
        "SetP": lambda x: sets.set_precision(x.ranking, x.qrels),
        "SetP(rel=2)": lambda x: sets.set_precision(x.ranking, x.qrels, 2),
        "SetR": lambda x: sets.set_recall(x.ranking, x.qrels),
        "SetR(rel=3)": lambda x: sets.set_recall(x.ranking, x.qrels, 3),
        "SetF": lambda x: sets.set_f(x.ranking, x.qrels),
        "SetF(beta=0)": lambda x: sets.set_f(x.ranking, x.qrels, 0),
        "SetF(beta=0.3)": lambda x: sets.set_f(x.ranking, x.qrels, 0.3),
        "SetF(beta=2,rel=2)": lambda x: sets.set_f(x.ranking, x.qrels, 2, 2),
        "SetAP": lambda x: sets.set_ap(x.ranking, x.qrels),
        "SetAP(rel=2)": lambda x: sets.set_ap(x.ranking, x.qrels, 2),
        "SetRelP": lambda x: sets.set_relative_precision(x.ranking, x.qrels),
        "SetRelP(rel=2)": lambda x: sets.set_relative_precision(x.ranking, x.qrels, 2),
        **{name: count(name) for name in COUNTS},
        **{f"{name}(rel=2)": count(name, 2) for name in COUNTS[2:]},
        "Utility": lambda x: sets.utility(x.ranking, x.qrels),
        "Utility(a=2,b=-0.5,c=-3,d=0.25,N=1000)": lambda x: sets.utility(
            x.ranking, x.qrels, 2, -0.5, -3, 0.25, 1000
        ),
        "Utility(d=-1,rel=2)": lambda x: sets.utility(x.ranking, x.qrels, d=-1, rel=2),
        "Rprec": lambda x: sets.r_precision(x.ranking, x.qrels),
        "Rprec(rel=2)": lambda x: sets.r_precision(x.ranking, x.qrels, 1, 2),
        "IPrecAvg": lambda x: sets.interpolated_average(x.ranking, x.qrels),
        "IPrecAvg(trec_eval=10)": lambda x: sets.interpolated_average(
            x.ranking, x.qrels, trec_eval=10
        ),
        "IPrecAvg(levels=0.25;0.5;0.9,rel=2)": lambda x: sets.interpolated_average(
            x.ranking, x.qrels, (0.9, 0.25, 0.5), 2
        ),
        "IPrec(rel=3)@0.5": lambda x: sets.interpolated_precision(x.ranking, x.qrels, 0.5, 3),
        "IPrec(rel=2,trec_eval=10)@0.5": lambda x: sets.interpolated_precision(
            x.ranking, x.qrels, 0.5, 2, 10
        ),
    }
    for level in LEVELS:
        twins |= {
            f"IPrec@{level:g}": lambda x, r=level: sets.interpolated_precision(
                x.ranking, x.qrels, r
            ),
            f"IPrec(trec_eval=10)@{level:g}": lambda x, r=level: sets.interpolated_precision(
                x.ranking, x.qrels, r, 1, 10
            ),
        }
    for mult in (0.01, 0.2, 0.6, 1.4, 5):
        twins[f"Rprec(mult={mult:g})"] = lambda x, m=mult: sets.r_precision(x.ranking, x.qrels, m)
    return twins


def cooper_lengths() -> Twins:
    """Twins of ISL, TSL and AvgSL."""
    measures = {"ISL": cooper.isl, "TSL": cooper.tsl, "AvgSL": cooper.average_search_length}
    variants = {
        "": ("rank", None, 1),
        "(rel=2)": ("rank", None, 2),
        "(count=nonrelevant)": ("nonrelevant", None, 1),
        "(corpus=5000)": ("rank", 5000, 1),
        "(count=nonrelevant,corpus=18,rel=2)": ("nonrelevant", 18, 2),
    }

    def length(measure: str, count: str, corpus: int | None, rel: int) -> Callable[[Cell], float]:
        def value(x: Cell) -> float:
            docs = corpus or cooper.corpus_size(x.rankings, x.qrels, x.negative)
            return measures[measure](x.ranking, x.qrels, docs, rel, count)

        return value

    return {
        f"{name}{said}": length(name, *variants[said]) for name in measures for said in variants
    }


def unjudged_docs() -> Twins:
    """Twins of infAP, and of how much of a list is judged."""
    twins: Twins = {
        "infAP": lambda x: incomplete.inferred_ap(x.ranking, x.qrels, 1, x.negative),
        "infAP(rel=2)": lambda x: incomplete.inferred_ap(x.ranking, x.qrels, 2, x.negative),
        "infAP(rel=4)": lambda x: incomplete.inferred_ap(x.ranking, x.qrels, 4, x.negative),
        "Judged": lambda x: incomplete.judged_share(x.ranking, x.qrels, None, x.negative),
        "FirstUnjudged": lambda x: incomplete.first_unjudged(x.ranking, x.qrels, x.negative),
    }
    for k in (1, 2, 5, 1000):
        twins |= {
            f"Judged@{k}": lambda x, k=k: incomplete.judged_share(
                x.ranking, x.qrels, k, x.negative
            ),
            f"Unjudged@{k}": lambda x, k=k: incomplete.unjudged_share(
                x.ranking, x.qrels, k, x.negative
            ),
        }
    return twins
