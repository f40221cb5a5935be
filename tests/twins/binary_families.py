"""Twins of measures by canonical name: families that see relevant and nonrelevant docs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from support.cells import Cell, Twins, of_blocks, of_condensed, of_condensed_blocks, of_list
from twins import cooper, incomplete, review, sampled, sets
from twins import gain as naive_gain
from twins import measures as naive


@dataclass(frozen=True)
class Sampled:
    """How the docs of each query were sampled."""

    stratum: dict[str, dict[str, str]] | None = None
    prels: dict[str, dict[str, tuple[int, float | None]]] | None = None


COUNTS = ("NumQ", "NumRet", "NumRel", "NumRelRet", "NumNonrelJudgedRet")
LEVELS = (0, 0.05, 0.1, 0.25, 0.3, 0.5, 0.7, 1)


def exp(x: Cell) -> naive.Qrels:
    """Grades as exponential gains, before the division by 2 ** gmax."""
    return {doc: 2**g - 1 if g > 0 else 0 for doc, g in x.qrels.items()}


def well_known() -> Twins:
    """Twins of the measures that most papers report, with some of their parameters."""
    twins: Twins = {
        "AP": of_list(naive.average_precision),
        "AP(rel=2)": of_list(naive.average_precision, rel=2),
        "AP(rel=4)@6": of_list(naive.average_precision, 6, rel=4),
        "RR": of_list(naive.reciprocal_rank),
        "RR(rel=3)": of_list(naive.reciprocal_rank, rel=3),
        "nDCG": of_list(naive.ndcg),
        "nDCG(gain=exp)": lambda x: naive.ndcg(x.ranking, exp(x)),
        "nDCG(gain=exp)@3": lambda x: naive.ndcg(x.ranking, exp(x), 3),
        "Bpref": lambda x: naive.bpref(x.ranking, x.qrels, 1, x.negative),
        "Bpref(rel=2)": lambda x: naive.bpref(x.ranking, x.qrels, 2, x.negative),
        "Bpref(form=original)": lambda x: naive.older_bpref(x.ranking, x.qrels, 0, x.negative),
        "Bpref(form=bpref-10)": lambda x: naive.older_bpref(x.ranking, x.qrels, 10, x.negative),
        "Bpref(form=trec_eval7)": lambda x: naive.older_bpref(
            x.ranking, x.qrels, 0, x.negative, by_retrieved=True
        ),
        "P(rel=2)@5": of_list(naive.precision, 5, 2),
        "R(rel=2)@5": of_list(naive.recall, 5, 2),
        "RBP(p=0.8,rel=1)": of_list(naive.rbp, 0.8),
        "RBP(p=0.95,rel=2)@4": of_list(naive.rbp, 0.95, 2, 4),
        "RBP(p=0.5,gain=linear)": lambda x: naive.rbp_graded(x.ranking, x.qrels, 0.5, x.highest),
        "RBP(p=0.5,gain=linear,gmax=7)@3": of_list(naive.rbp_graded, 0.5, 7, 3),
        "RBP(p=0.3,gain=exp)": lambda x: naive.rbp_graded(x.ranking, exp(x), 0.3, 2**x.highest),
        "ASL(rel=2)@g2": lambda x: naive.asl(x.ranking, x.qrels, 2, 2, deepest=x.deepest),
    }
    for k in (1, 3, 10, 1000):
        twins |= {
            f"P@{k}": of_list(naive.precision, k),
            f"R@{k}": of_list(naive.recall, k),
            f"AP@{k}": of_list(naive.average_precision, k),
            f"RR@{k}": of_list(naive.reciprocal_rank, k),
            f"nDCG@{k}": of_list(naive.ndcg, k),
            f"RBP(p=0.8,rel=1)@{k}": of_list(naive.rbp, 0.8, 1, k),
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
    """Twins of P, R, Success, Accuracy, RelP, RR and AP in their other forms."""
    twins: Twins = {
        "AP(unjudged=condensed)": of_condensed(naive.average_precision),
        "AP(rel=2,unjudged=condensed)@3": of_condensed(naive.average_precision, 3, 2),
        "AP(rel=2,norm=min)@3": of_list(incomplete.ap_min, 3, 2),
        "AP(rel=2,norm=pool)@3": lambda x: incomplete.ap_pool(x.ranking, x.qrels, x.depths, 3, 2),
        "RR(unjudged=condensed)": of_condensed(naive.reciprocal_rank),
        "RR(unjudged=upper)": lambda x: incomplete.reciprocal_rank_of(x.upper()),
        "P(rel=3,unjudged=upper-gmax)@3": lambda x: incomplete.precision_of(
            x.upper("upper-gmax", rel=3), 3
        ),
        "P(rel=9,unjudged=upper-gmax)@3": lambda x: 0.0,
        "P(rel=9,unjudged=upper)@3": lambda x: incomplete.precision_of(x.upper(rel=9), 3),
        "P(ties=share,unjudged=condensed)@3": of_condensed_blocks(naive_gain.precision_tied, 3),
        "F(beta=0)@3": of_list(sets.f, 3, 0),
        "F(beta=2,rel=2)@4": of_list(sets.f, 4, 2, 2),
        "F(unjudged=condensed)@3": of_condensed(sets.f, 3),
        "BestF": of_list(review.best_f),
        "BestF(beta=0,rel=2)": of_list(review.best_f, None, 0, 2),
        "BestF(beta=2)@3": of_list(review.best_f, 3, 2),
        "Success(rel=2)@2": of_list(sets.success, 2, 2),
        "AllRel(rel=2)@2": of_list(sets.all_relevant, 2, 2),
        "AllRel(unjudged=condensed)@3": of_condensed(sets.all_relevant, 3),
        "Accuracy": of_list(sets.accuracy),
        "Accuracy(rel=2)@4": of_list(sets.accuracy, 4, 2),
        "Accuracy(unjudged=condensed)@3": of_condensed(sets.accuracy, 3),
        "YAAP": of_list(sets.yaap),
        "YAAP(rel=2,unjudged=condensed)": of_condensed(sets.yaap, 2),
        "RelP(rel=2)@2": of_list(sets.relative_precision, 2, 2),
    }
    for k in (1, 2, 4, 1000):
        twins |= {
            f"AP(norm=min)@{k}": of_list(incomplete.ap_min, k),
            f"AP(norm=pool)@{k}": lambda x, k=k: incomplete.ap_pool(
                x.ranking, x.qrels, x.depths, k
            ),
            f"P(ties=share)@{k}": of_blocks(naive_gain.precision_tied, k),
            f"R(ties=share)@{k}": of_blocks(naive_gain.recall_tied, k),
            f"P(unjudged=upper)@{k}": lambda x, k=k: incomplete.precision_of(x.upper(), k),
            f"Success(unjudged=upper)@{k}": lambda x, k=k: incomplete.success_of(x.upper(), k),
            f"RR(unjudged=upper)@{k}": lambda x, k=k: incomplete.reciprocal_rank_of(x.upper(), k),
            f"Success@{k}": of_list(sets.success, k),
            f"AllRel@{k}": of_list(sets.all_relevant, k),
            f"Accuracy@{k}": of_list(sets.accuracy, k),
            f"F@{k}": of_list(sets.f, k),
            f"RelP@{k}": of_list(sets.relative_precision, k),
        }
    return twins


def retrieved_sets() -> Twins:
    """Twins of the measures of sets, of counts, and of precision at levels of recall."""

    def count(name: str, rel: int = 1) -> Callable[[Cell], float]:
        return lambda x: sets.counts(x.ranking, x.qrels, rel, x.negative)[name]

    twins: Twins = {
        "SetP": of_list(sets.set_precision),
        "SetP(rel=2)": of_list(sets.set_precision, 2),
        "SetR": of_list(sets.set_recall),
        "SetR(rel=3)": of_list(sets.set_recall, 3),
        "SetF": of_list(sets.set_f),
        "SetF(beta=0)": of_list(sets.set_f, 0),
        "SetF(beta=0.3)": of_list(sets.set_f, 0.3),
        "SetF(beta=2,rel=2)": of_list(sets.set_f, 2, 2),
        "SetAP": of_list(sets.set_ap),
        "SetAP(rel=2)": of_list(sets.set_ap, 2),
        "SetRelP": of_list(sets.set_relative_precision),
        "SetRelP(rel=2)": of_list(sets.set_relative_precision, 2),
        **{name: count(name) for name in COUNTS},
        **{f"{name}(rel=2)": count(name, 2) for name in COUNTS[2:]},
        "Utility": of_list(sets.utility),
        "Utility(a=2,b=-0.5,c=-3,d=0.25,N=1000)": of_list(sets.utility, 2, -0.5, -3, 0.25, 1000),
        "Utility(d=-1,rel=2)": of_list(sets.utility, d=-1, rel=2),
        "Utility(a=2,low=-1.5)": lambda x: max(sets.utility(x.ranking, x.qrels, 2), -1.5),
        "ScaledUtility": of_list(review.scaled_utility),
        "ScaledUtility(a=3,b=-0.5,least=-0.25,rel=2)": of_list(
            review.scaled_utility, 3, -0.5, -0.25, rel=2
        ),
        "ScaledUtility(least=-3,bound=utility)": of_list(
            review.scaled_utility, least=-3, bound="utility"
        ),
        "Rprec": of_list(sets.r_precision),
        "Rprec(rel=2)": of_list(sets.r_precision, 1, 2),
        "IPrecAvg": of_list(sets.interpolated_average),
        "IPrecAvg(trec_eval=10)": of_list(sets.interpolated_average, trec_eval=10),
        "IPrecAvg(levels=0.25;0.5;0.9,rel=2)": of_list(
            sets.interpolated_average, (0.9, 0.25, 0.5), 2
        ),
        "IPrec(rel=3)@0.5": of_list(sets.interpolated_precision, 0.5, 3),
        "IPrec(rel=2,trec_eval=10)@0.5": of_list(sets.interpolated_precision, 0.5, 2, 10),
    }
    for level in LEVELS:
        twins |= {
            f"IPrec@{level:g}": of_list(sets.interpolated_precision, level),
            f"IPrec(trec_eval=10)@{level:g}": of_list(sets.interpolated_precision, level, 1, 10),
        }
    for mult in (0.01, 0.2, 0.6, 1.4, 5):
        twins[f"Rprec(mult={mult:g})"] = of_list(sets.r_precision, mult)
    return twins


def reviews() -> Twins:
    """Twins of the measures of technology-assisted review."""
    measures: dict[str, tuple[Callable[..., float], dict[str, dict[str, object]]]] = {
        "LastRel": (
            review.last_relevant,
            {"": {}, "unretrieved=ignored": {"unretrieved": "ignored"}},
        ),
        "NormArea": (review.norm_area, {"": {}}),
        "LossR": (review.recall_loss, {"": {}}),
        "LossE": (review.effort_loss, {"": {}, "b=2.5": {"b": 2.5}}),
        "LossER": (review.loss, {"": {}, "b=0": {"b": 0}}),
        "ReviewCost": (
            review.cost,
            {
                "": {},
                "penalty=uniform": {"penalty": "uniform"},
                "doc=3,penalty=weighted,missed=5": {"penalty": "weighted", "doc": 3, "missed": 5},
            },
        ),
    }
    for level in (0, 0.15, 0.5, 0.95, 1):
        other = {"needed": "nearest", "unreached": "zero"}
        written = ",".join(f"{name}={choice}" for name, choice in other.items())
        measures |= {
            f"EffortR@{level:g}": (review.effort_recall, {"": {"level": level}}),
            f"WSS@{level:g}": (
                review.work_saved,
                {"": {"level": level}, written: {"level": level, **other}},
            ),
        }
    twins: Twins = {}
    for name, (twin, variants) in measures.items():
        word, at, cutoff = name.partition("@")
        for inside, choices in variants.items():
            for common, rel, n in (("", 1, None), ("rel=2", 2, None), ("N=3", 1, 3)):
                settings = ",".join(filter(None, (common, inside)))
                written = word + (f"({settings})" if settings else "") + at + cutoff
                twins[written] = lambda x, twin=twin, rel=rel, n=n, choices=choices: twin(
                    *review.review(x.ranking, x.qrels, rel, n, x.negative), **choices
                )
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
        "(corpus=relevant)": ("rank", "relevant", 1),
        "(corpus=relevant,rel=2)": ("rank", "relevant", 2),
    }

    def length(
        measure: str, count: str, corpus: int | str | None, rel: int
    ) -> Callable[[Cell], float]:
        def value(x: Cell) -> float:
            docs = corpus or cooper.corpus_size(x.rankings, x.qrels, x.negative)
            if docs == "relevant":
                docs = cooper.relevant_corpus_size(x.rankings, x.qrels, rel)
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


def estimates(x: Sampled | None = None) -> Twins:
    """Twins of the estimates of sampled judgments; without a sample, all docs are one stratum."""
    stratum = {} if x is None or x.stratum is None else x.stratum
    prels = None if x is None else x.prels

    def of_strata(twin: Callable[..., float], rel: int | None = 1, **choices: object):
        return lambda c: twin(
            c.ranking,
            c.qrels,
            stratum.get(c.query),
            *(() if rel is None else (rel,)),
            negative=c.negative,
            **choices,
        )

    def of_chances(twin: Callable[..., float], *args: object, rel: int = 1, **choices: object):
        return lambda c: twin(
            c.ranking,
            c.qrels,
            *args,
            prels=None if prels is None else prels[c.query],
            stratum=stratum.get(c.query),
            negative=c.negative,
            rel=rel,
            **choices,
        )

    strata: Twins = {
        "infNumRel": of_strata(sampled.inferred_relevant),
        "infNumRel(rel=2)": of_strata(sampled.inferred_relevant, 2),
        "infNumRelRet": of_strata(sampled.inferred_within),
        "infNumRelRet(rel=2,smoothing=none)": of_strata(
            sampled.inferred_within, 2, smoothing="none"
        ),
        "xinfAP": of_strata(sampled.xinfap),
        "xinfAP(rel=2)@4": of_strata(sampled.xinfap, 2, k=4),
        "xinfAP(smoothing=infAP)": of_strata(sampled.xinfap, smoothing="infAP"),
        "xinfAP(smoothing=none)": of_strata(sampled.xinfap, smoothing="none"),
        "xinfAP(norm=min)@3": of_strata(sampled.xinfap, k=3, norm="min"),
        "infNDCG": of_strata(sampled.inf_ndcg, None),
        "infNDCG@3": of_strata(sampled.inf_ndcg, None, k=3),
        "infNDCG(form=2011)": of_strata(sampled.inf_ndcg, None, form="2011"),
        "infNDCG(form=2011)@3": of_strata(sampled.inf_ndcg, None, form="2011", k=3),
    }
    for k in (1, 4, 1000):
        strata[f"infP@{k}"] = of_strata(
            lambda *args, k=k, **choices: sampled.inferred_within(*args, k=k, **choices) / k
        )
    probabilities: Twins = {}
    for mtc in ("certain", "excluded"):
        inside = "" if mtc == "certain" else "mtc=excluded"
        for rel in (1, 2):
            said = ",".join(filter(None, ("" if rel == 1 else "rel=2", inside)))
            form = f"({said})" if said else ""
            probabilities |= {
                f"statAP{form}": of_chances(sampled.stat_ap, rel=rel, mtc=mtc),
                f"statAP{form}@2": of_chances(sampled.stat_ap, rel=rel, mtc=mtc, k=2),
                f"statP{form}@3": of_chances(sampled.stat_precision, 3, rel=rel, mtc=mtc),
                f"statRprec{form}": of_chances(sampled.stat_r_precision, rel=rel, mtc=mtc),
                f"statNumRel{form}": of_chances(sampled.stat_relevant, rel=rel, mtc=mtc),
            }
    return probabilities if prels is not None else strata | probabilities
