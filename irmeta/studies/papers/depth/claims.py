"""The claims of the paper on its four research questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import comb, fsum, log2

import polars as pl

from irmeta.measures.curve import spec_without_cutoff
from irmeta.phrases import count
from irmeta.studies.framework.claims import (
    CannotBeSaid,
    Claim,
    Found,
    Number,
    Statistic,
    cell,
    minus,
    over_rows,
    value,
)
from irmeta.studies.framework.study import Tables
from irmeta.studies.papers.depth.study import NUMBERS, SQUARE, one_without_cutoff
from irmeta.studies.papers.depth.study import DepthOptions as Options

UTILITY, RECALL = KINDS = ("utility", "recall")
"""Families of measures that the paper compares."""
AP, DEEP, TOP = "AP(norm=min)", "RBP(p=0.95)", "RBP(p=0.8)"
LAST = SQUARE[-1]
SMALL = 10
"""Theta up to which an order of systems hardly depends on the cutoff."""
DEEP_POOL = 100
"""Depth of the paper's deep pools."""


def claims(options: Options) -> Iterator[Claim]:
    """Yield the claims of the paper."""
    named = {
        kind: [n for n in options.compared if spec_without_cutoff(n).measure.family == kind]
        for kind in KINDS
    }
    yield from _pools(named)
    yield Claim("ties", "Rules for tied scores hardly change the order of systems (RQ2).",
                "Section 4, Table 6", "tau-b of the orders in line order and by trec_eval",
                cell("table_6", "tau_b"), ">= 0.9", "most", format=".3f")  # fmt: skip
    yield from _cutoffs(named, options)
    yield from _condensed(named)
    yield from _orders(options)
    yield from _worked()


def _pools(named: dict[str, list[str]]) -> Iterator[Claim]:
    yield Claim("pool-incomplete", "Pooling leaves many relevant docs unfound (RQ1).",
                "Section 4, Figure 1", "share of relevant docs among those that the pool adds last",
                _last_relevant, "> 0.2", "most", "above 1/4 up to d = 10 (ClueWeb)",
                "percent", about="queries")  # fmt: skip
    table_5, everything = "Section 4, Table 5", [*named[UTILITY], *named[RECALL]]
    for level, printed in (("run", "-17% to -23% (ClueWeb09), about -1% (TREC 8)"),
                           ("group", "-41% to -49% (ClueWeb09), -3% to -4% (TREC 8)")):  # fmt: skip
        text = f"Without its {level} in the pool, a system loses more than 5% of its score."
        yield Claim(f"{level}-left-out", text, table_5,
                    f"mean change of scores, each {level} left out, in %",
                    _left_out(level, everything), "< -5", "most", printed, ".1f",
                    about="queries", bound="irmeta")  # fmt: skip
    recall, utility = (_left_out("group", named[kind]) for kind in (RECALL, UTILITY))
    yield Claim("recall-loses-more", "Without its group in the pool, a system loses more by "
                "recall than by utility measures.", table_5,
                "change by recall minus that by utility measures, each group left out, in % points",
                minus(recall, utility, ".1f"), "< 0", "most", format=".1f",
                about="queries")  # fmt: skip
    yield Claim("contributors-gain", "Contributors gain with k: the docs of others are unjudged.",
                table_5, "judged docs of contributors minus those of others, deeper minus shallower"
                " of Judged@k and Judged@10", _gain, "> 0", format=".1%", check=True,
                about="queries")  # fmt: skip


def _cutoffs(named: dict[str, list[str]], options: Options) -> Iterator[Claim]:
    """Yield the claims on cutoffs k deeper than the depth d of the pool (RQ3)."""
    table_7 = "Section 4, Table 7"
    texts = {UTILITY: "Utility measures lead to the same conclusions at any depth",
             RECALL: "Recall measures lead to the same conclusions only to the depth of the pool",
             }  # fmt: skip
    for kind, column, how, holds, printed in (
        (UTILITY, "coverage", "mean", ">= 0.9", ""),
        (RECALL, "coverage", "mean", "< 0.9", ""),
        (UTILITY, "inversion", "max", "<= 0.01", "1.0% (ClueWeb10), 0% (TREC 8)"),
        (RECALL, "inversion", "max", "> 0.01", "6.7% (ClueWeb10), 0% (TREC 8)"),
    ):
        text = f"{texts[kind]} ({column}, RQ3)."
        yield Claim(f"{kind}-{column}", text, table_7, f"{how} {column} at k > d",
                    _deep(named[kind], column, how), holds, "most", printed, ".1%",
                    bound="irmeta")  # fmt: skip
    utility, recall = (_deep(named[kind], "coverage", "mean") for kind in KINDS)
    text = "Conclusions by {} depend on k less than those by {} (RQ3)."
    yield Claim("coverage-by-family", text.format("utility measures", "recall measures"), table_7,
                "mean coverage at k > d, utility minus recall measures",
                minus(utility, recall, ".1%"), "> 0", format=".1%")  # fmt: skip
    deep, ap = (_deep([options.at(one_without_cutoff(n))], "coverage", "mean") for n in (DEEP, AP))
    yield Claim("coverage-as-deep", text.format("RBP(.95)", "AP, which is as deep"), table_7,
                "mean coverage at k > d, RBP(p=0.95) minus AP(norm=min)", minus(deep, ap, ".1%"),
                "> 0", format=".1%", check=True)  # fmt: skip
    top_heavy = _deep([options.at(one_without_cutoff(TOP))], "discrimination", "mean")
    yield Claim("rbp-discriminates", "In shallow pools RBP(.8) separates as many pairs as recall "
                "measures.", table_7, "mean discrimination at k > d, RBP(p=0.8) minus recall "
                "measures", _shallow(minus(top_heavy, _deep(named[RECALL], "discrimination",
                "mean"), ".1%")), ">= -0.05", format=".1%", bound="irmeta")  # fmt: skip
    yield Claim("median-p-rises", "In shallow pools the median p-value rises at k > d.",
                "Section 4, Figure 4(a)", f"median p-value by {options.drawn} at the deepest k "
                "minus that at the reference's", _shallow(partial(_rise, measure=options.drawn)),
                "> 0", format=".2g")  # fmt: skip
    yield Claim("residual", "Deep RBP is uncertain: unjudged docs may raise it much (RQ3).",
                "Section 4, Table 9", "residual of RBP(p=0.95) over its score at the deepest k",
                _residual, "> 0.1", "most", "0.189 of 0.266 (ClueWeb10), 0.002 of 0.317 (TREC 8)",
                "percent", about="queries", bound="irmeta")  # fmt: skip


def _condensed(named: dict[str, list[str]]) -> Iterator[Claim]:
    every = [*named[UTILITY], *named[RECALL]]
    tables = "Section 4, Tables 7 and 8"
    for column, how, holds, printed in (
        ("inversion", "max", ">= 0", "28.9% against 6.7% (ClueWeb10)"),
        ("coverage", "mean", "<= 0.02", ""),
    ):
        condensed, full = (_deep(every, column, how, lists) for lists in ("condensed", "full"))
        text = f"Lists without unjudged docs lead to no better conclusions ({column}, RQ3)."
        yield Claim(f"condensed-{column}", text, tables,
                    f"{how} {column} of condensed minus full lists at k > d",
                    minus(condensed, full, ".1%"), holds, "most", printed, ".1%",
                    bound="paper" if column == "inversion" else "irmeta")  # fmt: skip


def _orders(options: Options) -> Iterator[Claim]:
    """Yield the claims on orders of systems at two cutoffs (RQ4)."""
    ap, ndcg, err, deep, top = (
        options.at(one_without_cutoff(name)) for name in (AP, options.ndcg, "ERR", DEEP, TOP)
    )
    where = "Section 4, Figures 5 and 6"
    number = f"theta, above which all orders by {{}} at k up to {LAST} correlate above 0.9"
    for name, measure, shown, depends in (
        ("err", err, "ERR", False),
        ("rbp-80", top, "RBP(.8)", False),
        ("rbp-95", deep, "RBP(.95)", False),
        ("ap", ap, "AP", True),
        ("ndcg", ndcg, "nDCG", True),
    ):
        text = f"The order of systems by {shown} {'depends' if depends else 'hardly depends'} on k"
        holds = f"{'>' if depends else '<='} {SMALL}"
        yield Claim(f"theta-{name}", f"{text} (RQ4).", where, number.format(shown), _theta(measure),
                    holds, format=".0f", bound="irmeta")  # fmt: skip
    for name, measure, shown in (("ap", ap, "AP"), ("ndcg", ndcg, "nDCG")):
        text = f"The order by RBP(.95) depends on k less than that by {shown}, which is as deep."
        yield Claim(f"theta-rbp-{name}", text, where, f"theta of RBP(.95) minus that of {shown}",
                    _theta_minus(deep, measure), "< 0", format=".0f")  # fmt: skip
        share, as_deep = (_of_deepest("stable", n, n) for n in (deep, measure))
        yield Claim(f"stable-rbp-{name}", text, where, "share of pairs of cutoffs with a tau of .9 "
                    f"or more, RBP(.95) minus {shown}", minus(share, as_deep, ".0%"), "> 0",
                    format="percent", check=True)  # fmt: skip
    zipf = next(b for a, b in options.matrices if a == ndcg and "zipf" in b)
    yield Claim("ndcg-zipf", "Shallow nDCG orders systems as deeper nDCG with Zipf's discount.",
                "Section 4, Figure 7(c)", "mean tau of nDCG at k with Zipf at l minus that of nDCG "
                "at l with Zipf at k, k < l", _of_deepest("deeper", ndcg, zipf), "> 0")  # fmt: skip
    for name, text, number, column, holds in (
        ("alike", "RBP(.95) and nDCG order systems alike at equal cutoffs.", "mean tau at equal k",
         "same_cutoff", ">= 0.9"),
        ("symmetric", "RBP(.95) and nDCG agree as well if either has the deeper cutoff.",
         "mean difference of the taus at (k, l) and (l, k)", "asymmetry", "<= 0.05"),
    ):  # fmt: skip
        yield Claim(f"rbp-ndcg-{name}", text, "Section 4, Figure 7(e)", number,
                    _of_deepest(column, deep, ndcg), holds,
                    bound="paper" if column == "same_cutoff" else "irmeta")  # fmt: skip


def _worked() -> Iterator[Claim]:
    """Yield the paper's arithmetic, on no track."""
    weights = [1 / fsum(1 / log2(1 + rank) for rank in range(1, k + 1)) for k in (5, 10, 20)]
    ratios = [35 / comb(10, 2), 28 / 35, 6 / 35]
    for name, text, where, item, computed in (
        ("first-weights", "The first doc of nDCG@k has a weight of .34 at k = 5, .22 at 10 and .14 "
         "at 20.", "Section 4", "Section 4 (weights)", weights),
        ("worked-ratios", "Of 10 systems, 35 pairs by the reference, 28 covered and 6 inverted: "
         "discrimination .78, coverage .80, inversion .17.", "Section 3", "Section 3", ratios),
    ):  # fmt: skip
        printed = [row["value"] for row in NUMBERS if row["item"] == item]
        differences = [abs(a - float(b)) for a, b in zip(computed, printed, strict=True)]
        texts = ", ".join(f"{number:.3f}" for number in computed), ", ".join(printed)
        beside = Found(max(differences), *texts)
        yield Claim(name, text, where, "greatest difference from the printed numbers",
                    lambda _, beside=beside: beside, "<= 0.005", "once")  # fmt: skip


def _depths(tables: Tables) -> list[int]:
    known = tables["collections"].filter(pl.col("depth_source") != "default")["depth"]
    if known.is_empty():
        raise CannotBeSaid("the depth of the pool is unknown")
    return [int(depth) for depth in known.item().split(", ")]


def _last_relevant(tables: Tables) -> Found:
    deepest = _depths(tables)[-1]
    rate = value(tables, "pool_growth", "new_relevant_rate", depth=deepest)
    before = tables["pool_growth"].filter(pl.col("depth") < deepest)["depth"].to_list()
    return Found(rate, f"docs at depths {max([0, *before]) + 1} to {deepest}")


def _left_out(level: str, measures: Sequence[str]) -> Number:
    of_measures = pl.col("measure").str.replace(r"@\d+$", "").is_in(list(measures))
    why = f"no {level} of systems is known, or none can be left out"
    rows = {"level": level, "judgments": "pool"}
    over_measures = over_rows("table_5", "delta_percent", "mean", why, of_measures, **rows)

    def statistic(tables: Tables) -> float:
        _depths(tables)  # raises where the depth of the pool is unknown
        if tables["collections"]["depth_bound"].item() == "at least":
            raise CannotBeSaid("the contributors are unknown")
        return over_measures(tables)

    return statistic


def _gain(tables: Tables) -> float:
    depth, why = _depths(tables)[0], "the contributors are unknown, or every system contributed"

    def mean(column: str, pooled: bool) -> float:
        return over_rows("judged_by_contribution", column, "mean", why, pooled=pooled)(tables)

    gain = mean("judged_at_k", True) - mean("judged_at_k", False)
    gain = gain - mean("judged_at_10", True) + mean("judged_at_10", False)
    if depth == 10:
        raise CannotBeSaid("the pool is 10 deep, so that both cutoffs are 10")
    return gain if depth > 10 else -gain


def _deep(names: Sequence[str], column: str, how: str, lists: str = "full") -> Number:
    conditions = (pl.col("k") > pl.col("depth"), pl.col("measure").is_in(list(names)))
    why = "no cutoff is deeper than the pool, or no pair is separated at its depth"
    over_deep_cutoffs = over_rows("table_7", column, how, why, *conditions, lists=lists)

    def statistic(tables: Tables) -> float:
        _depths(tables)  # raises where the depth of the pool is unknown
        return over_deep_cutoffs(tables)

    return statistic


def _residual(tables: Tables) -> Found:
    rows = tables["table_9"].filter(pl.col("measure").str.contains("p=0.95")).sort("k")
    if rows.is_empty():
        raise CannotBeSaid("no doc is judged non-relevant, so that residuals mean nothing")
    k, score, residual = rows.select("k", "score", "residual").row(-1)
    if not score or residual is None:
        raise CannotBeSaid("the mean score is 0, so that no residual is a share of it")
    return Found(residual / score, f"{score:.3f} + {residual:.3f} at k = {k}")


def _shallow(statistic: Statistic) -> Statistic:
    """Return a statistic that cannot be said of a pool as deep as the paper's deep ones."""

    def of_shallow(tables: Tables) -> float | Found:
        if (depth := _depths(tables)[0]) >= DEEP_POOL:
            raise CannotBeSaid(f"the pool is {depth} deep, and the claim is about shallow pools")
        return statistic(tables)

    return of_shallow


def _rise(tables: Tables, measure: str) -> Found:
    rows = tables["table_7"].filter(pl.col("median_p").is_finite(), measure=measure, lists="full")
    rows = rows.filter(pl.col("k") >= pl.col("reference_k"), depth=_depths(tables)[0]).sort("k")
    if rows.height < 2:
        raise CannotBeSaid("no cutoff is deeper than the pool, or no pair has a p-value")
    at_reference, deepest = rows["median_p"][0], rows["median_p"][-1]
    where = f"at k = {rows['k'][-1]}, {at_reference:.2g} at k = {rows['k'][0]}"
    return Found(deepest - at_reference, f"{deepest:.2g} {where}")


def _of_deepest(column: str, a: str, b: str) -> Number:
    """Return a column of the table `stability` as a statistic, at the deepest pool studied."""

    def statistic(tables: Tables) -> float:
        rows = tables["stability"].filter(pl.col("depth") == pl.col("depth").max())
        return value({"stability": rows}, "stability", column, measure_a=a, measure_b=b)

    return statistic


def _theta(measure: str) -> Callable[[Tables], Found]:
    """Return the statistic that is the greatest theta of a measure over depths of the pool."""

    def statistic(tables: Tables) -> Found:
        rows = tables["stability"].filter(measure_a=measure, measure_b=measure)
        if rows.is_empty() or rows["theta"].is_nan().any():
            raise CannotBeSaid("all systems tie, or no order has a correlation")
        if rows["theta"].null_count():
            return Found(LAST, "not reached at the deepest cutoffs")
        theta, tied = rows.sort("theta").select("theta", "tied").row(-1)
        return Found(theta, f"at most {count(tied, 'pair')} of systems tie above theta")

    return statistic


def _theta_minus(first: str, second: str) -> Statistic:
    def statistic(tables: Tables) -> Found:
        thetas = [_theta(name)(tables) for name in (first, second)]
        if all(theta.number == LAST for theta in thetas):
            raise CannotBeSaid("neither theta is reached at the deepest cutoffs")
        texts = (theta.why if theta.number == LAST else f"{theta.number:.0f}" for theta in thetas)
        return Found(thetas[0].number - thetas[1].number, " against ".join(texts))

    return statistic
