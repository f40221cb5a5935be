"""The claims of the paper on correlation, missing data and significantly different pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import polars as pl

from irmeta.studies.framework.claims import (
    CannotBeSaid,
    Claim,
    Found,
    Number,
    Statistic,
    cell,
    minus,
    over_rows,
    rho_of_tracks,
    row_minus,
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
    yield from _by_subtopic(options)
    yield from _agreement(options)
    yield from _interleaving(options)
    yield from _missing(options)
    yield from _pairs(options)
    yield from _power(options)


def _correlations(options: Options) -> Iterator[Claim]:
    (rpp, dcg, inverse), (ap, ndcg, rr) = options.preferences, options.measures
    tau, where = partial(_tau, options.correlated["single"]), "Section 6.1, Table 2(a)"
    for measure, printed in ((ap, "0.86"), (ndcg, "0.87")):
        short = measure.partition("(")[0]
        yield Claim(f"correlates-{short.lower()}", f"RPP correlates with {short}.", where,
                    f"tau-b of the orders by RPP and {short}", tau(rpp, measure), ">= 0.8", "mean",
                    printed, bound="irmeta")  # fmt: skip
    for name, text, first, second, holds, printed in (
        ("as-measures", "RPP correlates with AP about as nDCG does", (rpp, ap), (ap, ndcg),
         ">= -0.05", "0.86 against 0.89"),
        ("dcg-nearer", "Weights of DCG bring RPP nearer to AP", (dcg, ap), (rpp, ap), "> 0",
         "0.88 against 0.86"),
        ("inverse-nearer", "Weights 1/i bring RPP nearer to RR", (inverse, rr), (rpp, rr), "> 0",
         "0.61 against 0.45"),
    ):  # fmt: skip
        yield Claim(name, f"{text}.", where, "difference of two tau-b",
                    minus(tau(*first), tau(*second)), holds, "mean", printed,
                    bound="paper" if holds == "> 0" else "irmeta")  # fmt: skip


def _tau(order: Sequence[str], a: str, b: str) -> Number:
    first, second = sorted((a, b), key=order.index)
    return cell("table_2", "tau_b", order="mc4", measure_a=first, measure_b=second)


def _by_subtopic(options: Options) -> Iterator[Claim]:
    order = options.correlated["subtopic"]
    strpp, _, _, inverse, *top_heavy = order
    for measure, printed in zip(top_heavy, ("0.52 against 0.26", "0.49 against 0.30"), strict=True):
        short = measure.partition("@")[0].replace("_", "-")
        nearer = minus(_tau(order, measure, inverse), _tau(order, measure, strpp))
        yield Claim(f"top-heavy-{short.lower()}", f"{short}, which is top-heavy, goes with ST-RPP "
                    "of weights 1/i more than with ST-RPP.", "Section 6.1, Table 2(b)",
                    f"tau-b of {short} and ST-invRPP minus that of {short} and ST-RPP",
                    _in_subtopics("table_2", nearer), "> 0", "mean", printed)  # fmt: skip


def _in_subtopics(table: str, statistic: Statistic) -> Statistic:
    def of_subtopics(tables: Tables) -> float | Found:
        if tables[table].filter(part="subtopic").is_empty():
            raise CannotBeSaid("no relevant doc of the track has a subtopic")
        return statistic(tables)

    return of_subtopics


def _agreement(options: Options) -> Iterator[Claim]:
    rpp, (ap, ndcg, rr) = options.preference(), options.measures
    uniform, where = options.interleavings[0], "Section 6.1, Figure 5"

    def signs(measure: str) -> Number:
        return cell("figure_5", "sa", measure_a=rpp, measure_b=measure)

    for measure in (ap, ndcg):
        short = measure.partition("(")[0]
        yield Claim(f"signs-{short.lower()}", f"RPP and {short} mostly prefer the same list.",
                    where, "share of pairs and queries with equal signs", signs(measure), ">= 0.85",
                    "mean", "close to 0.90", bound="irmeta")  # fmt: skip
    yield Claim("signs-rr", "RPP and RR often do not, since RR ties many lists.", where,
                "share of pairs and queries with equal signs", signs(rr), "< 0.7", "mean",
                "0.50", bound="irmeta")  # fmt: skip
    yield Claim("interleaving", "RPP agrees with offline interleaving.", where,
                "Pearson's r of RPP and OI", cell("figure_5", "r", measure_a=rpp,
                measure_b=uniform), ">= 0.95", "mean", "0.98", bound="irmeta")  # fmt: skip
    yield Claim("levels-differ", "Two lists differ at nearly every recall level.",
                "Section 2, Figure 2", "share of the reached recall levels whose ranks differ",
                cell("unequal_levels", "share_reached"), ">= 0.9", "mean", "93%",
                "percent", bound="irmeta")  # fmt: skip


def _interleaving(options: Options) -> Iterator[Claim]:
    """Yield the claims on OI with both users, and on the size of differences."""
    rpp, (ap, ndcg, rr), asl = options.preference(), options.measures, options.search_length
    where = "Section 6.1, Figure 5"
    uniform, dcg = (cell("figure_5", "r", measure_a=rpp, measure_b=name)
                    for name in options.interleavings)  # fmt: skip
    signs = cell("figure_5", "sa", measure_a=rpp, measure_b=options.interleavings[0])
    r_most, signs_most = (
        over_rows("figure_5", name, "max", "no measure has a correlation with RPP",
                  pl.col("measure_b").is_in([ap, ndcg, asl, rr]), measure_a=rpp)
        for name in ("r", "sa")
    )  # fmt: skip
    for name, text, number, statistic, holds, printed in (
        ("interleaving-dcg", "With users of DCG, offline interleaving agrees less with RPP than "
         "with uniform users.", "Pearson's r of RPP and OI(p=dcg) minus that of RPP and OI",
         minus(dcg, uniform), "< 0", "0.94 against 0.98"),
        ("interleaving-nearest", "With users of DCG, offline interleaving still agrees more "
         "with RPP than the measures do.",
         "Pearson's r of RPP and OI(p=dcg) minus the greatest of AP, nDCG, AvgSL and RR",
         minus(dcg, r_most), "> 0", "higher"),
        ("interleaving-signs", "RPP and offline interleaving prefer the same list more often than "
         "RPP and any measure.", "share of equal signs of RPP and OI minus the greatest of AP, "
         "nDCG, AvgSL and RR", minus(signs, signs_most), "> 0", "higher"),
    ):  # fmt: skip
        yield Claim(name, text, where, number, statistic, holds, "mean", printed)
    for measure in (ap, ndcg, asl):
        short = measure.partition("(")[0]
        size = cell("figure_5", "opposite_size", measure_a=rpp, measure_b=measure)
        yield Claim(f"small-differences-{short.lower()}", f"RPP and {short} prefer different lists "
                    f"where these differ little by {short}.", where, f"median difference by {short}"
                    " where the preferences are opposite, over that where they are equal", size,
                    "<= 0.5", "most", "for small differences", ".2f",
                    bound="irmeta")  # fmt: skip


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
                        _mean(figure, measure)), f">= {GRACE}", "all",
                        bound="irmeta")  # fmt: skip
        yield Claim(f"rr-degrades-{name}", f"With {what}, RR degrades fastest.", where,
                    number.format("RR", "AP"), minus(_mean(figure, rr), _mean(figure, ap)), "< 0",
                    "all")  # fmt: skip
    many = pl.col("removed") > MANY
    yield Claim("ap-degrades-labels", "Without most judgments, AP degrades more than RPP.",
                "Section 6.2, Figure 7", number.format("RPP", "AP"), minus(_mean(7, rpp, many),
                _mean(7, ap, many)), "> 0", "all")  # fmt: skip


def _mean(figure: int, measure: str, *conditions: pl.Expr) -> Number:
    rows = {"labels": "random"} if figure == 7 else {}
    why = f"no order by {measure} by fewer data is defined"
    return over_rows(f"figure_{figure}", "mean", "mean", why, *conditions, measure=measure, **rows)


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
                        number.format("STRPP", short, test), _in_subtopics(table, _more(table,
                        subtopic[0], measure)), "> 0", "nearly all", "all datasets",
                        ".2f")  # fmt: skip


def _power(options: Options) -> Iterator[Claim]:
    """Yield the claims on the measures of Tables 3 and 4, and on the number of requests."""
    ap, ndcg, rr = options.measures
    for table, test in TESTS.items():
        where = f"Section 6.3, Table {table[-1]}"
        yield Claim(f"power-{table[-1]}-ap", f"AP separates fewer pairs than nDCG, by {test}.",
                    where, f"% of pairs by AP minus that by nDCG, {test}", _more(table, ap, ndcg),
                    "< 0", "most", "tends to be lower", ".2f")  # fmt: skip
        least = over_rows(table, "percent", "min", "no other measure separates pairs",
                          pl.col("measure") != rr, part="single")  # fmt: skip
        yield Claim(f"power-{table[-1]}-rr", f"RR separates the fewest pairs, by {test}.", where,
                    f"% of pairs by RR minus the least of all others, {test}",
                    minus(cell(table, "percent", measure=rr), least, ".2f"), "< 0", "most",
                    "lowest", ".2f")  # fmt: skip
        yield Claim(f"requests-{table[-1]}", "With more requests, all methods separate more pairs, "
                    f"by {test}.", where, "least Spearman's rho over tracks of requests and % of "
                    "pairs, of six methods", _of_requests(table, options), "> 0", "once",
                    "improves for all methods", ".2f")  # fmt: skip


def _of_requests(table: str, options: Options) -> Callable[[Tables], Found]:
    def statistic(tables: Tables) -> Found:
        requests = tables["table_1"].select("track", "requests")
        rho = {
            name: rho_of_tracks(
                tables[table].filter(measure=name).join(requests, on="track"), "requests", "percent"
            )
            for name in options.compared
        }
        least = min(rho, key=lambda name: rho[name].number)
        return Found(rho[least].number, f"{least}, {rho[least].why}")

    return statistic


def _more(table: str, preference: str, measure: str) -> Statistic:
    """Return how much more the first separates than the second."""
    return row_minus(table, "percent", ".2f", {"measure": preference}, {"measure": measure})
