"""The claims of the paper on its four research questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from irmeta.measures.curve import spec_without_cutoff
from irmeta.studies.framework.claims import (
    CannotBeSaid,
    Claim,
    Found,
    Number,
    cell,
    minus,
    over_rows,
    value,
)
from irmeta.studies.framework.study import Tables
from irmeta.studies.papers.depth.study import DepthOptions as Options

UTILITY, RECALL = KINDS = ("utility", "recall")
"""Families of measures that the paper compares."""


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
    yield from _cutoffs(named)
    yield from _orders(named)


def _pools(named: dict[str, list[str]]) -> Iterator[Claim]:
    yield Claim("pool-incomplete", "Pooling leaves many relevant docs unfound (RQ1).",
                "Section 4, Figure 1", "share of relevant docs among those that the pool adds last",
                _last_relevant, "> 0.2", "most", "above 1/4 up to d = 10 (ClueWeb)",
                "percent")  # fmt: skip
    table_5, everything = "Section 4, Table 5", [*named[UTILITY], *named[RECALL]]
    for level, printed in (("run", "-17% to -23% (ClueWeb09), about -1% (TREC 8)"),
                           ("group", "-41% to -49% (ClueWeb09), -3% to -4% (TREC 8)")):  # fmt: skip
        yield Claim(f"{level}-left-out", f"Without its {level} in the pool, a system scores less.",
                    table_5, f"mean change of scores, each {level} left out, in %",
                    _left_out(level, everything), "< -5", "most", printed, ".1f")  # fmt: skip
    recall, utility = (_left_out("group", named[kind]) for kind in (RECALL, UTILITY))
    yield Claim("recall-loses-more", "It loses more by recall than by utility measures.", table_5,
                "change by recall minus that by utility measures, each group left out, in % points",
                minus(recall, utility, ".1f"), "< 0", "most", format=".1f")  # fmt: skip
    yield Claim("contributors-gain", "Contributors gain with k: the docs of others are unjudged.",
                table_5, "judged docs of contributors minus those of others, deeper minus shallower"
                " of Judged@k and Judged@10", _gain, "> 0", format=".1%", check=True)  # fmt: skip


def _cutoffs(named: dict[str, list[str]]) -> Iterator[Claim]:
    """Yield the claims on cutoffs k deeper than the depth d of the pool (RQ3)."""
    texts = {UTILITY: "Utility measures lead to the same conclusions at any depth",
             RECALL: "Recall measures do so only to the depth of the pool"}  # fmt: skip
    for kind, column, how, holds, printed in (
        (UTILITY, "coverage", "mean", ">= 0.9", ""),
        (RECALL, "coverage", "mean", "< 0.9", ""),
        (UTILITY, "inversion", "max", "<= 0.01", "1.0% (ClueWeb10), 0% (TREC 8)"),
        (RECALL, "inversion", "max", "> 0.01", "6.7% (ClueWeb10), 0% (TREC 8)"),
    ):
        text = f"{texts[kind]} ({column}, RQ3)."
        yield Claim(f"{kind}-{column}", text, "Section 4, Table 7", f"{how} {column} at k > d",
                    _deep(named[kind], column, how), holds, "most", printed, ".1%")  # fmt: skip
    every = [*named[UTILITY], *named[RECALL]]
    condensed, full = (_deep(every, "coverage", "mean", lists) for lists in ("condensed", "full"))
    yield Claim("condensed", "Lists without unjudged docs lead to no better conclusions (RQ3).",
                "Section 4, Tables 7 and 8", "mean coverage of condensed minus full lists at k > d",
                minus(condensed, full, ".1%"), "<= 0.01", format=".1%")  # fmt: skip
    yield Claim("residual", "Deep RBP is uncertain: unjudged docs may raise it much (RQ3).",
                "Section 4, Table 9", "residual of RBP(p=0.95) over its score at the deepest k",
                _residual, "> 0.1", "most", "71% (ClueWeb10), 1% (TREC 8)", "percent")  # fmt: skip


def _orders(named: dict[str, list[str]]) -> Iterator[Claim]:
    """Yield the claims on orders of systems at two cutoffs (RQ4)."""
    utility, recall = (_stable(named[kind]) for kind in KINDS)
    share = "share of pairs of cutoffs up to 50 with a tau of .9 or more"
    for name, text, described, statistic, holds in (
        ("utility-stable", "Orders by utility measures do not depend on k", share, utility,
         ">= 0.9"),
        ("recall-volatile", "Orders by recall measures depend on k", share, recall, "< 0.9"),
        ("utility-stabler", "Orders by utility measures depend on k less than orders by recall "
         "measures", f"{share}, utility minus recall", minus(utility, recall, ".0%"), "> 0"),
    ):  # fmt: skip
        yield Claim(name, f"{text} (RQ4).", "Section 4, Figures 5 and 6", described, statistic,
                    holds, format="percent")  # fmt: skip


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


def _left_out(level: str, names: Sequence[str]) -> Number:
    of_measures = pl.col("measure").str.replace(r"@\d+$", "").is_in(list(names))
    why = f"no {level} of systems is known, or none can be left out"
    rows = {"level": level, "judgments": "pool"}
    return over_rows("table_5", "delta_percent", "mean", why, of_measures, **rows)


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


def _stable(names: Sequence[str]) -> Number:
    conditions = (
        pl.col("measure_a") == pl.col("measure_b"),
        pl.col("measure_a").is_in(list(names)),
    )
    why = "none of these measures orders systems at two cutoffs"
    return over_rows("stability", "stable", "mean", why, *conditions)
