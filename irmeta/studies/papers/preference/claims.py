"""The claims of the paper on correlation, missing data and significantly different pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

from irmeta.studies.framework.claims import (
    CannotBeSaid,
    Claim,
    Found,
    Number,
    cell,
    minus,
    over_rows,
)
from irmeta.studies.framework.study import Tables
from irmeta.studies.papers.preference.study import SUBTOPIC_MEASURES
from irmeta.studies.papers.preference.study import PreferenceOptions as Options

GRACE = -0.01  # a tau-b lower by less degrades as gracefully
TESTS = {"table_3": "the randomised HSD", "table_4": "t with Bonferroni's correction"}
MANY = 0.5  # share of the relevant docs removed above which AP degrades poorly


def claims(options: Options) -> Iterator[Claim]:
    """Yield the claims of the paper."""
    yield from _correlations(options)
    yield from _agreement(options)
    yield from _missing(options)
    yield from _pairs(options)


def _correlations(options: Options) -> Iterator[Claim]:
    (rpp, dcg, inverse), (ap, ndcg, rr) = options.preferences, options.measures
    where = "Section 6.1, Table 2(a)"
    for measure, printed in ((ap, "0.86"), (ndcg, "0.87")):
        short = measure.partition("(")[0]
        yield Claim(f"correlates-{short.lower()}", f"RPP correlates with {short}.", where,
                    f"tau-b of the orders by RPP and {short}", _tau(rpp, measure), ">= 0.8", "mean",
                    printed)  # fmt: skip
    for name, text, first, second, holds, printed in (
        ("as-measures", "RPP correlates with AP about as nDCG does", (rpp, ap), (ap, ndcg),
         ">= -0.05", "0.86 against 0.89"),
        ("dcg-nearer", "Weights of DCG bring RPP nearer to AP", (dcg, ap), (rpp, ap), "> 0",
         "0.88 against 0.86"),
        ("inverse-nearer", "Weights 1/i bring RPP nearer to RR", (inverse, rr), (rpp, rr), "> 0",
         "0.61 against 0.45"),
    ):  # fmt: skip
        yield Claim(name, f"{text}.", where, "difference of two tau-b",
                    minus(_tau(*first), _tau(*second)), holds, "mean", printed)  # fmt: skip


def _tau(a: str, b: str) -> Number:
    first, second = sorted((a, b))
    return cell("table_2", "tau_b", order="mc4", measure_a=first, measure_b=second)


def _agreement(options: Options) -> Iterator[Claim]:
    rpp, (ap, ndcg, rr) = options.preference(), options.measures
    uniform, where = options.interleavings[0], "Section 6.1, Figure 5"

    def signs(measure: str) -> Number:
        return cell("figure_5", "sa", measure_a=rpp, measure_b=measure)

    for measure in (ap, ndcg):
        short = measure.partition("(")[0]
        yield Claim(f"signs-{short.lower()}", f"RPP and {short} mostly prefer the same list.",
                    where, "share of pairs and queries with equal signs", signs(measure), ">= 0.85",
                    "mean", "close to 0.90")  # fmt: skip
    yield Claim("signs-rr", "RPP and RR often do not, since RR ties many lists.", where,
                "share of pairs and queries with equal signs", signs(rr), "< 0.7", "mean",
                "0.50")  # fmt: skip
    yield Claim("interleaving", "RPP agrees with offline interleaving.", where,
                "Pearson's r of RPP and OI", cell("figure_5", "r", measure_a=rpp,
                measure_b=uniform), ">= 0.95", "mean", "0.98")  # fmt: skip
    yield Claim("levels-differ", "Two lists differ at nearly every recall level.",
                "Section 2, Figure 2", "share of the reached recall levels whose ranks differ",
                cell("unequal_levels", "share_reached"), ">= 0.9", "mean", "93%",
                "percent")  # fmt: skip


def _missing(options: Options) -> Iterator[Claim]:
    rpp, (ap, ndcg, rr) = options.preference(), options.measures
    number = "mean tau-b by fewer data, that of {} minus that of {}"
    for name, what, figure, measures in (
        ("queries", "missing queries", 6, (ap, ndcg)),
        ("labels", "missing judgments", 7, (ndcg,)),
    ):
        where = f"Section 6.2, Figure {figure}"
        for measure in measures:
            short = measure.partition("(")[0]
            yield Claim(f"robust-{name}-{short.lower()}", f"With {what}, RPP is as robust as "
                        f"{short}.", where, number.format("RPP", short), minus(_mean(figure, rpp),
                        _mean(figure, measure)), f">= {GRACE}", "all")  # fmt: skip
        yield Claim(f"rr-degrades-{name}", f"With {what}, RR degrades fastest.", where,
                    number.format("RR", "AP"), minus(_mean(figure, rr), _mean(figure, ap)), "< 0",
                    "all")  # fmt: skip
    many = pl.col("removed") > MANY
    yield Claim("ap-degrades-labels", "Without most judgments, AP degrades more than RPP.",
                "Section 6.2, Figure 7", number.format("RPP", "AP"), minus(_mean(7, rpp, many),
                _mean(7, ap, many)), "> 0", "all")  # fmt: skip


def _mean(figure: int, measure: str, *kept: pl.Expr) -> Number:
    rows = {"labels": "random"} if figure == 7 else {}
    why = f"no order by {measure} by fewer data is defined"
    return over_rows(f"figure_{figure}", "mean", "mean", why, *kept, measure=measure, **rows)


def _pairs(options: Options) -> Iterator[Claim]:
    subtopic = options.by_subtopic
    for table, test in TESTS.items():
        where, number = f"Section 6.3, Table {table[-1]}", "% of pairs by {} minus that by {}, {}"
        for measure in options.measures:
            short = measure.partition("(")[0]
            yield Claim(f"separates-{table[-1]}-{short.lower()}",
                        f"RPP separates more pairs of systems than {short}, by {test}.", where,
                        number.format("RPP", short, test), _more(table, options.preference(),
                        measure), "> 0", "nearly all", "almost all datasets", ".2f")  # fmt: skip
        for measure, short in zip(subtopic[-3:], SUBTOPIC_MEASURES, strict=True):
            short = short.partition("@")[0].replace("_", "-")
            yield Claim(f"separates-{table[-1]}-{short.lower()}",
                        f"STRPP separates more pairs than {short}, by {test}.", where,
                        number.format("STRPP", short, test), _more(table, subtopic[0], measure,
                        True), "> 0", "nearly all", "all datasets", ".2f")  # fmt: skip


def _more(
    table: str, preference: str, measure: str, in_subtopics: bool = False
) -> Callable[[Tables], Found]:
    """Return how much more a preference separates, with the paper's numbers of the track."""
    of_preference, of_measure = (
        cell(table, "percent", measure=name) for name in (preference, measure)
    )

    def statistic(tables: Tables) -> Found:
        if in_subtopics and tables[table].filter(part="subtopic").is_empty():
            raise CannotBeSaid("no relevant doc of the track has a subtopic")
        difference = minus(of_preference, of_measure, ".2f")(tables)
        by_name = dict(tables[table].select("measure", "printed").iter_rows())
        printed = [by_name[name] for name in (preference, measure)]
        if None in printed:
            return difference
        return difference._replace(printed=" against ".join(printed))

    return statistic
