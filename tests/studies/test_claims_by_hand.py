"""Every claim of the papers with tables made by hand: it holds, does not hold, cannot be said."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from irmeta.studies.papers.depth.compute import across_cutoffs, by_one_measure
from irmeta.studies.papers.depth.study import NUMBERS, DepthOptions
from irmeta.studies.papers.depth.study import STUDY as DEPTH
from irmeta.studies.papers.innovation.study import STUDY as INNOVATION
from irmeta.studies.papers.innovation.study import InnovationOptions
from irmeta.studies.papers.preference.study import STUDY as PREFERENCE
from irmeta.studies.papers.preference.study import PreferenceOptions
from irmeta.studies.papers.properties.study import STUDY as PROPERTIES
from irmeta.studies.papers.properties.study import PropertiesOptions
from irmeta.studies.papers.search_length.study import STUDY as SEARCH_LENGTH
from irmeta.studies.papers.search_length.study import SearchLengthOptions
from support.claiming import Case, Rows, by_number, verdicts, wrong

# search length

ASL = SearchLengthOptions(baseline="bm25", contender="type=neural")
TOP, ALL, AP, P20 = ASL.asl(10), ASL.asl(), ASL.ap, ASL.p20


def best(*values: tuple[str, float], missed: float = 0.5) -> Rows:
    return {"headroom": [{"measure": m, "value": v, "missed_counted": missed} for m, v in values]}


def over_tracks(*values: tuple[float, float], measure: str) -> Rows:
    """Best MAP and best value of another measure of each track."""
    rows = [[{"measure": AP, "value": a}, {"measure": measure, "value": b}] for a, b in values]
    return {"headroom": [row | {"track": f"t{i}"} for i, two in enumerate(rows) for row in two]}


UP = [(i / 10, float(i)) for i in range(5)]
MIXED = [(i / 10, float(v)) for i, v in enumerate((3, 5, 1, 4, 2))]


def bars(*docs: int, missed: float = 0.5, measure: str = "") -> Rows:
    """Docs of the best system by search length, last those not retrieved."""
    best_system = {"measure": measure or ALL, "system": "s", "missed": missed}
    low = [*range(1, len(docs)), None]
    return {"best_by_choice": [best_system], "search_length_histogram": [
        {"system": "s", "low": n, "docs": d} for n, d in zip(low, docs, strict=True)]}  # fmt: skip


def moves(*docs: int, missed: float = 0.5, measure: str = "") -> Rows:
    """Docs of the bars of Figure 6, from the largest wins to the largest losses."""
    low, name = range(-(len(docs) // 2), len(docs) // 2 + 1), measure or ALL
    rows = [{"measure": name, "low": n, "high": n, "docs": d, "retrieved": "both"}
            for n, d in zip(low, docs, strict=True)]  # fmt: skip
    rows.append(rows[0] | {"docs": 10_000, "retrieved": "neither"})
    return bars(3, 2, 1, 1, missed=missed, measure=name) | {"length_differences": rows}


def rrie(one: str, a: float, other: str, b: float, missed: float = 0.5) -> Rows:
    both = ((one, a), (other, b))
    return {"table_1": [{"measure": m, "rrie": v, "missed_counted": missed} for m, v in both]}


def steps(*moved: float, chain: str = "AP", first: int = 1, unretrieved: str = "floor") -> Rows:
    key = {"chain": chain, "unretrieved": unretrieved}
    rows = [{"step": s, "delta_sort": v, **key} for s, v in enumerate(moved, first)]
    return {"reordering": rows, "table_2": rows}


def runs(ap: float, asl: float) -> Rows:
    found = ((AP, ap), (ALL, asl), (AP, 0.0), (ALL, 5.0))
    return {"means": [{"system": f"s{i // 2}", "measure": m, "value": v}
                      for i, (m, v) in enumerate(found)]}  # fmt: skip


def averaged(fraction: float, trivial: bool = False) -> Rows:
    return {"effective_by_track": [{"fraction": fraction, "trivial": trivial}]}


TRACK_MISSES = ", the best system by Eq. 3, misses 93% of the relevant docs that ASL counts"
DEEP_TOP, DEEP_ALL = ASL.deep[TOP], ASL.deep[ALL]


def shapes(measure: str, name: str) -> dict[str, Case]:
    """Cases of Figures 5 and 6 by one choice for docs not retrieved."""
    by = {"measure": measure}
    few = bars(9, 8, 1, **by)
    unsaid = bars(9, 8, 7, 1, missed=0.6, **by) if measure == ALL else few
    made = {
        "leftmost": Case(bars(9, 8, 7, 99, missed=0.9 if measure == DEEP_ALL else 0.5, **by),
                         bars(8, 8, 7, 1, **by), unsaid),
        "falloff": Case(bars(9, 7, 8, 99, **by), bars(7, 8, 9, 1, **by), few),
        "small-moves": Case(moves(9, 1, 5, 0, 5, 1, 9, **by), moves(9, 5, 5, 9, 5, 5, 9, **by)),
        "balanced-moves": Case(moves(9, 1, 0, 0, 0, 3, 0, **by), moves(9, 1, 0, 0, 0, 4, 0, **by),
                               moves(9, 0, 5, 9, 5, 0, 9, **by)),
        "largest-wins": Case(moves(9, 1, 5, 0, 5, 1, 8, **by), moves(8, 1, 5, 0, 5, 1, 8, **by),
                             moves(9, 5, 0, 5, 8, **by)),
        "losses": Case(moves(9, 0, 0, 0, 0, 0, 1, **by), moves(10, 0, 0, 0, 0, 0, 1, **by)),
    }  # fmt: skip
    return {f"{claim}{name}": case for claim, case in made.items()}


SEARCH_LENGTHS = {
    "near-solved": Case(best((P20, 0.5)), best((P20, 0.49))),
    **{f"first-beyond-{n}": Case(best((TOP, n + 0.1)), best((TOP, n)),
                                 best((TOP, n + 0.1), missed=0.51)) for n in (10, 20, 30)},
    **{f"relevant-beyond-{n}": Case(best((ALL, n + 0.1)), best((ALL, n)),
                                    best((ALL, n + 0.1), missed=0.51)) for n in (10, 100)},
    **{f"first-beyond-{n}-deep": Case(best((DEEP_TOP, n + 0.1), missed=0.9), best((DEEP_TOP, n)))
       for n in (10, 20, 30)},
    **{f"relevant-beyond-{n}-deep": Case(best((DEEP_ALL, n + 0.1), missed=0.9), best((DEEP_ALL, n)))
       for n in (10, 100)},
    **{f"map-hides{name}": Case(best((AP, 0.11), (m, 11)), best((AP, 0.1), (m, 11)),
                                best((AP, 0.11), (m, 10)))
       for name, m in (("", ALL), ("-deep", DEEP_ALL))},
    **{f"headroom-if-solved{name}": Case(best((P20, 0.5), (m, 11)), best((P20, 0.5), (m, 10)),
                                         best((P20, 0.4), (m, 11)))
       for name, m in (("", ALL), ("-deep", DEEP_ALL))},
    "map-follows-p20": Case(over_tracks(*UP, measure=P20), over_tracks(*MIXED, measure=P20),
                            over_tracks(*UP[1:], measure=P20)),
    **{f"map-not-asl{name}": Case(over_tracks(*MIXED, measure=m), over_tracks(*UP, measure=m))
       for name, m in (("", ALL), ("-deep", DEEP_ALL))},
    "rrie-top": Case(rrie(TOP, 0.5, P20, 0.4), rrie(TOP, 0.4, P20, 0.4),
                     rrie(TOP, 0.5, P20, 0.4, missed=0.51)),
    "rrie-top-deep": Case(rrie(DEEP_TOP, 0.5, P20, 0.4, missed=0.9),
                          rrie(DEEP_TOP, 0.4, P20, 0.4)),
    "rrie-tail": Case(rrie(ALL, 0.3, TOP, 0.4), rrie(ALL, 0.4, TOP, 0.4),
                      rrie(ALL, 0.3, TOP, 0.4, missed=0.51)),
    "rrie-tail-deep": Case(rrie(DEEP_ALL, 0.3, DEEP_TOP, 0.4, missed=0.9),
                           rrie(DEEP_ALL, 0.4, DEEP_TOP, 0.4)),
    "rrie-map": Case(rrie(AP, 0.3, P20, 0.4), rrie(AP, 0.2, P20, 0.4)),
    **{f"reorders-{chain.lower()}{name}": Case(*(
        steps(moved, chain=chain, first=0, unretrieved=choice) for moved in (mean, mean - 1)))
       for chain, mean in (("AP", 43), ("P@20", 58), ("RR", 67))
       for name, choice in (("", "floor"), ("-deep", "depth"))},
    **{f"similar-steps{name}": Case(*(
        steps(*moved, unretrieved=choice) for moved in ((10, 20, 15), (9, 20, 15), (0, 0, 0))))
       for name, choice in (("", "floor"), ("-deep", "depth"))},
    **shapes(ALL, ""),
    **shapes(DEEP_ALL, "-deep"),
    "map-averages": Case(averaged(0.5), averaged(0.8), averaged(1.0, trivial=True)),
    "map-squashes": Case(runs(0.5, 100), runs(0.5, 2), runs(0.0, 100)),
}  # fmt: skip
ONCE = {"worked-lengths", "rank-2", "rank-500"}


def test_search_length__claims_by_hand():
    assert wrong(SEARCH_LENGTH, ASL, SEARCH_LENGTHS, ONCE) == []


def test_search_length__both_readings_of_a_claim_are_in_its_row():
    rows = best((ASL.asl(), 5.7), (DEEP_ALL, 276.2), missed=0.93)
    found = verdicts(SEARCH_LENGTH, ASL, rows).filter(claim="relevant-beyond-100")
    depth = "unretrieved=depth:"
    over, on_track = found["why"].to_list()
    assert found["verdict"].to_list() == ["cannot be said"] * 2
    assert over == f"{TRACK_MISSES}; {depth} 1 of 1 track, holds"
    assert on_track == f"{TRACK_MISSES}; {depth} 276.2, holds"
    choice = SearchLengthOptions(unretrieved="depth")
    names = [claim.name for claim in SEARCH_LENGTH.call("claims", choice)]
    assert "relevant-beyond-100" in names
    assert "relevant-beyond-100-deep" not in names, "the claim itself has these lengths"
    assert "reorders-ap-deep" in names


def test_search_length__neural_and_traditional_cannot_be_said_of_best_and_median():
    rows = rrie(TOP, 0.5, P20, 0.4)
    found = verdicts(SEARCH_LENGTH, SearchLengthOptions(), rows).filter(track="news")
    shown = dict(found.select("claim", "verdict").iter_rows())
    assert (shown["rrie-top"], shown["rrie-top-best"]) == ("cannot be said", "holds")
    assert (
        "baseline and contender name no traditional and no neural system"
        in found.filter(claim="rrie-top")["why"].item()
    )
    assert found.filter(claim="rrie-top-best")["why"].item() == "50% against 40%"


def test_search_length__arithmetic_of_the_paper():
    found = verdicts(SEARCH_LENGTH, ASL, {}).filter(pl.col("claim").is_in(ONCE))
    numbers = dict(found.select("claim", "number").iter_rows())
    assert numbers["rank-2"] == pytest.approx(2 / (1 / 1 + 1 / 1000))
    assert numbers["rank-500"] == (1 + 1000) / 2
    lengths = [1, 1, 1, 2, 4, 5, 10, 10_000, 10_000]
    mean = len(lengths) / sum(1 / n for n in lengths)
    equivalent = [1 / n * n + (1 - 1 / n) * mean for n in lengths]
    assert sum(equivalent) / len(lengths) == pytest.approx(mean)
    assert numbers["worked-lengths"] == pytest.approx(equivalent[-1])
    assert found["verdict"].unique().to_list() == ["holds"]


# innovation

RARE = InnovationOptions()


def rare(name: str, family: str, rows: list[dict[str, object]]) -> Rows:
    return {name: [{"measure": family, **row} for row in rows]}


def taus(family: str, *values: float) -> Rows:
    ends = [i / (len(values) - 1) for i in range(len(values))]
    return rare("figure_2", family, [{"alpha": a, "method": "tau-b", "value": v}
                                     for a, v in zip(ends, values, strict=True)])  # fmt: skip


def pairs(family: str, test: str, level: float, before: int, after: int) -> Rows:
    key = {"test": test, "level": level}
    return rare("table_1", family, [{"alpha": 0.0, "separated": before, **key},
                                    {"alpha": 1.0, "separated": after, **key}])  # fmt: skip


def stable(family: str, ties: str, before: float, after: float) -> Rows:
    return rare("table_2", family, [{"alpha": 0.0, "ties": ties, "stability": before},
                                    {"alpha": 1.0, "ties": ties, "stability": after}])  # fmt: skip


def drawn(family: str, *values: float) -> Rows:
    return rare("table_3", family, [{"alpha": 1.0, "systems": 2**i, "tau_b": v}
                                    for i, v in enumerate(values, 1)])  # fmt: skip


def both_taus(family: str, *pairs: tuple[float, float]) -> Rows:
    """Rows of tau-b and tau_AP,b at alpha = 0, ..., 1."""
    rows = [{"alpha": i / (len(pairs) - 1), "method": method, "value": value}
            for i, pair in enumerate(pairs) for method, value in zip(("tau-b", "tau-ap-b"), pair,
                                                                     strict=True)]  # fmt: skip
    return rare("figure_2", family, rows)


def moved(common: float, rarest: float) -> Rows:
    """Ranks of both hypothetical systems with one doc, and unmoved with two."""
    return {"figure_1": [
        {"made": made, "docs": docs, "alpha": alpha, "rank": 20 - alpha * ranks * (docs == 1),
         "systems": 40}
        for made, ranks in (("common", common), ("rare", rarest))
        for docs in (1, 2) for alpha in (0.0, 1.0)]}  # fmt: skip


def converged(difference: float, trials: int = 1000) -> Rows:
    rows = [{"alpha": alpha, "ties": "absolute", "trials": trials, "stability": 0.7,
             "first_trials": 0.7 - alpha * difference} for alpha in (0.0, 1.0)]  # fmt: skip
    return {"table_2": [{"measure": family, **row} for family in RARE.families() for row in rows]}


def first(before: int | None, after: int | None) -> Rows:
    return {"first_places": [{"alpha": 0.0, "first": before}, {"alpha": 1.0, "first": after}]}


def grades(rarest: float, common: float, *grades: int) -> Rows:
    return {"rare_grades": [
        {"low": low, "grade": grade, "share_at_least": share if grade > 1 else 1.0}
        for low, share in ((1, rarest), (5, common)) for grade in grades
    ]}  # fmt: skip


def rare_cases() -> dict[str, Case]:
    made = {
        "common-unaffected": Case(moved(4, 8), moved(4.2, 8), {"figure_1": []}),
        "stability-converged": Case(converged(0.01), converged(-0.011), converged(0.0, 100)),
        "rare-first": Case(first(44, 28), first(44, 44), first(44, None)),
        "rare-less-relevant": Case(grades(0.1, 0.2, 1, 2), grades(0.2, 0.2, 1, 2),
                                   grades(0.1, 0.2, 1)),
    }  # fmt: skip
    for name, family in zip(("rarep", "rareap"), RARE.families(), strict=True):
        made |= {
            f"{name}-tau-falls": Case(taus(family, 1, 0.9, 0.91, 0.8), taus(family, 1, 0.9, 0.95),
                                      taus(family, 1, float("nan"))),
            f"{name}-order": Case(*[taus(family, 1, tau) for tau in
                                    ((0.89, 0.9) if name == "rarep" else (0.9, 0.89))]),
            f"{name}-tau-ap": Case(both_taus(family, (1, 1), (0.9, 0.86), (0.9, 0.88)),
                                   both_taus(family, (1, 1), (0.94, 0.86), (0.9, 0.89)),
                                   both_taus(family, (1, 1), (0.9, float("nan")))),
            f"{name}-few-systems": Case(drawn(family, 0.97, 0.9), drawn(family, 0.89, 0.99),
                                        drawn(family, float("nan"))),
        }  # fmt: skip
        for test, percent in (("t-unpaired", 95), ("t-unpaired", 99), ("t", 95), ("hsd", 95),
                              ("hsd-blocked", 95), ("hsd-randomised", 95)):  # fmt: skip
            key = family, test, (100 - percent) / 100
            made[f"{name}-separates-{test}-{percent}"] = Case(
                pairs(*key, 4414, 4450), pairs(*key, 4504, 4504))  # fmt: skip
        for ties in ("absolute", "relative", "none"):
            made[f"{name}-stable-{ties}"] = Case(
                stable(family, ties, 0.967, 0.973), stable(family, ties, 0.967, 0.971))  # fmt: skip
    return made


def test_innovation__claims_by_hand():
    assert wrong(INNOVATION, RARE, rare_cases()) == []


def test_innovation__printed_numbers_of_the_track_and_both_numbers():
    rows = pairs(RARE.families()[0], "t-unpaired", 0.05, 600, 700)
    for row, printed in zip(rows["table_1"], ("598", "728"), strict=True):
        row["printed"] = printed
    found = verdicts(INNOVATION, RARE, rows).filter(claim="rarep-separates-t-unpaired-95")
    assert found["printed"].to_list() == ["on 3 of 4 collections", "728 against 598"]
    assert found["why"].to_list() == ["holds on 1 of 1 track", "700 against 600"]
    assert found["shown"].to_list() == ["1 of 1 track", "100"]
    only_0 = InnovationOptions(rarity_weights=(0.0,))
    found = verdicts(INNOVATION, only_0, rows).filter(claim="rarep-separates-t-unpaired-95")
    assert set(found["why"]) == {"no alpha is above 0"}


# depth

POOLED = DepthOptions()
KNOWN = {"collections": [{"depth": "20", "depth_source": "comprehensive"}]}
UNKNOWN = {"collections": [{"depth": "20", "depth_source": "default"}]}
ALL = {"collections": [{"depth": "20", "depth_source": "given", "depth_bound": "at least"}]}
UTILITY, RECALL = ("ERR", "RBP(p=0.8,rel=1)"), ("AP(norm=min)", "nDCG")
TOP_RBP, DEEP_RBP, ZIPF = "RBP(p=0.8,rel=1)", "RBP(p=0.95,rel=1)", "nDCG(discount=zipf)"


def growth(rate: float) -> Rows:
    return KNOWN | {"pool_growth": [{"depth": 15, "new_relevant_rate": 1.0},
                                    {"depth": 20, "new_relevant_rate": rate},
                                    {"depth": 40, "new_relevant_rate": 0.5}]}  # fmt: skip


def lost(level: str, recall: float, utility: float) -> Rows:
    changes = {"AP(norm=min)@20": recall, "ERR@20": utility}
    rows = [{"level": level, "judgments": "pool", "measure": m, "delta_percent": v}
            for m, v in changes.items()]  # fmt: skip
    return KNOWN | {"table_5": rows}


def deep(names: tuple[str, ...], column: str, *values: float, lists: str = "full") -> Rows:
    rows = [{"measure": n, "depth": 20, "lists": lists, "k": k, column: v}
            for n in names for k, v in zip((20, 40, 100), (0.0, *values), strict=True)]  # fmt: skip
    return KNOWN | {"table_7": rows}


def condensed(column: str, one: float, other: float) -> Rows:
    rows = (deep(("ERR",), column, v, v, lists=n) for n, v in (("condensed", one), ("full", other)))
    return KNOWN | {"table_7": [row for made in rows for row in made["table_7"]]}


def compared(column: str, *values: tuple[str, float], depth: str = "20") -> Rows:
    """Rows of table_7 at two cutoffs deeper than the pool, of some measures."""
    rows = [row for m, v in values for row in deep((m,), column, v, v)["table_7"]]
    return {"collections": [{"depth": depth, "depth_source": "given"}], "table_7": rows}


def median_p(deepest: float, depth: int = 20) -> Rows:
    return {"collections": [{"depth": f"{depth}", "depth_source": "given"}], "table_7": [
        {"measure": "nDCG", "depth": depth, "lists": "full", "k": depth + more, "median_p": v,
         "reference_k": depth} for more, v in ((-1, 0.9), (0, 0.2), (1, 0.1), (80, deepest))
    ]}  # fmt: skip


def ordered(**columns: dict[str, float | None]) -> Rows:
    """Rows of stability: by column, the values of one measure, or of a pair as "one, other"."""
    return {"stability": [
        dict(zip(("measure_a", "measure_b"), (name.split(", ") * 2)[:2], strict=True), **{c: v})
        for c, values in columns.items() for name, v in values.items()]}  # fmt: skip


def thetas(first: str, one: float | None, second: str, other: float | None) -> Rows:
    return ordered(theta={first: one, second: other})


def judged(deeper: float, depth: str = "20") -> Rows:
    return {"collections": [{"depth": depth, "depth_source": "given"}], "judged_by_contribution": [
        {"pooled": True, "judged_at_k": 1.0, "judged_at_10": 1.0},
        {"pooled": False, "judged_at_k": deeper, "judged_at_10": 0.6}]}  # fmt: skip


def residual(score: float, rest: float) -> Rows:
    return {"table_9": [{"measure": "RBP(p=0.95,rel=1)", "k": k, "score": s, "residual": r}
                        for k, s, r in ((1, 0.1, 0.9), (1000, score, rest))]}  # fmt: skip


DEEP = UNKNOWN | {"table_7": deep(UTILITY + RECALL, "coverage", 0.9, 0.9)["table_7"]}
DEPTHS = {
    "pool-incomplete": by_number(growth, 0.21, 0.2, UNKNOWN),
    "run-left-out": Case(lost("run", -6, -5), lost("run", -6, -4), lost("run", -6, -5) | UNKNOWN),
    "group-left-out": Case(lost("group", -6, -5), lost("group", -6, -4), lost("run", -6, -5)),
    "recall-loses-more": Case(lost("group", -6, -5), lost("group", -5, -5),
                              lost("group", -6, -5) | ALL),
    "contributors-gain": by_number(judged, 0.5, 0.6, judged(0.5, "10")),
    "ties": by_number(lambda tau: {"table_6": [{"tau_b": tau}]}, 0.9, 0.89,
                      {"table_6": [{"tau_b": None}]}),
    "utility-coverage": Case(deep(UTILITY, "coverage", 0.9, 0.9),
                             deep(UTILITY, "coverage", 0.9, 0.89), DEEP),
    "recall-coverage": Case(deep(RECALL, "coverage", 0.9, 0.89),
                            deep(RECALL, "coverage", 0.9, 0.9), DEEP),
    "utility-inversion": Case(deep(UTILITY, "inversion", 0.01, 0.0),
                              deep(UTILITY, "inversion", 0.02, 0.0), DEEP),
    "recall-inversion": Case(deep(RECALL, "inversion", 0.02, 0.0),
                             deep(RECALL, "inversion", 0.01, 0.0), DEEP),
    "coverage-by-family": Case(compared("coverage", ("ERR", 0.9), ("nDCG", 0.8)),
                               compared("coverage", ("ERR", 0.8), ("nDCG", 0.8)), DEEP),
    "coverage-as-deep": Case(compared("coverage", (DEEP_RBP, 0.9), ("AP(norm=min)", 0.8)),
                             compared("coverage", (DEEP_RBP, 0.8), ("AP(norm=min)", 0.8)), DEEP),
    "rbp-discriminates": Case(
        compared("discrimination", (TOP_RBP, 0.45), ("AP(norm=min)", 0.5)),
        compared("discrimination", (TOP_RBP, 0.44), ("AP(norm=min)", 0.5)),
        compared("discrimination", (TOP_RBP, 0.45), ("AP(norm=min)", 0.5), depth="100")),
    "median-p-rises": Case(median_p(0.21), median_p(0.2), median_p(0.21, 100)),
    "condensed-inversion": by_number(condensed, ("inversion", 0.02, 0.02),
                                     ("inversion", 0.01, 0.02), DEEP),
    "condensed-coverage": by_number(condensed, ("coverage", 0.92, 0.9),
                                    ("coverage", 0.93, 0.9), DEEP),
    "residual": Case(residual(0.5, 0.06), residual(0.5, 0.05)),
    **{f"theta-{name}": Case(*(ordered(theta={measure: v}) for v in (10, 11, float("nan"))))
       for name, measure in (("err", "ERR"), ("rbp-80", TOP_RBP), ("rbp-95", DEEP_RBP))},
    **{f"theta-{name}": Case(*(ordered(theta={measure: v}) for v in (None, 10, float("nan"))))
       for name, measure in (("ap", "AP(norm=min)"), ("ndcg", "nDCG"))},
    **{f"theta-rbp-{name}": Case(thetas(DEEP_RBP, 11, measure, None),
                                 thetas(DEEP_RBP, 11, measure, 11),
                                 thetas(DEEP_RBP, None, measure, None))
       for name, measure in (("ap", "AP(norm=min)"), ("ndcg", "nDCG"))},
    **{f"stable-rbp-{name}": Case(ordered(stable={DEEP_RBP: 0.9, measure: 0.89}),
                                  ordered(stable={DEEP_RBP: 0.9, measure: 0.9}))
       for name, measure in (("ap", "AP(norm=min)"), ("ndcg", "nDCG"))},
    "ndcg-zipf": Case(ordered(deeper={f"nDCG, {ZIPF}": 0.01}),
                      ordered(deeper={f"nDCG, {ZIPF}": 0.0})),
    "rbp-ndcg-alike": Case(ordered(same_cutoff={f"{DEEP_RBP}, nDCG": 0.9}),
                           ordered(same_cutoff={f"{DEEP_RBP}, nDCG": 0.89})),
    "rbp-ndcg-symmetric": Case(ordered(asymmetry={f"{DEEP_RBP}, nDCG": 0.05}),
                               ordered(asymmetry={f"{DEEP_RBP}, nDCG": 0.06})),
}  # fmt: skip


WORKED = {"first-weights", "worked-ratios"}


def test_depth__claims_by_hand():
    assert wrong(DEPTH, POOLED, DEPTHS, WORKED) == []


def test_depth__arithmetic_of_the_paper():
    found = verdicts(DEPTH, POOLED, {}).filter(pl.col("claim").is_in(WORKED))
    assert found["verdict"].to_list() == ["holds", "holds"]
    assert found["why"].to_list() == ["0.339, 0.220, 0.142", "0.778, 0.800, 0.171"]
    discounts = [sum(1 / math.log2(1 + i) for i in range(1, k + 1)) for k in (5, 10, 20)]
    greatest = max(abs(1 / d - p) for d, p in zip(discounts, (0.34, 0.22, 0.14), strict=True))
    assert found["number"].to_list() == pytest.approx([greatest, 0.78 - 35 / 45])


def test_depth__condensed_lists_have_no_benefit_in_the_papers_own_tables():
    """Tables 7(b) and 8, on the measures that both print; extended evaluation of ClueWeb10."""
    names = {"Disc.": "discrimination", "Covr.": "coverage", "Invr.": "inversion"}
    rows = {}
    for row in NUMBERS:
        if row["item"] in ("Table 7", "Table 8") and row["collection"].startswith("ClueWeb10"):
            measure, _, ratio = row["column"].rpartition(" ")
            lists = {"Table 7": "full", "Table 8": "condensed"}[row["item"]]
            key = (
                measure.replace(")", ",rel=1)") if "RBP" in measure else measure,
                lists,
                row["row"],
            )
            rows.setdefault(key, {})[names[ratio]] = float(row["value"]) / 100
    both = {key[:1] + key[2:] for key in rows if key[1] == "condensed"}
    table = [
        {"measure": m, "lists": lists, "k": int(k.removeprefix("k = ")), "depth": 10, **ratios}
        for (m, lists, k), ratios in rows.items()
        if (m, k) in both
    ]
    known = {"collections": [{"depth": "10", "depth_source": "comprehensive"}]}
    found = verdicts(DEPTH, POOLED, known | {"table_7": table}).filter(track="news")
    number, verdict = (
        dict(found.select("claim", column).iter_rows()) for column in ("number", "verdict")
    )
    assert number["condensed-inversion"] == pytest.approx(0.289 - 0.048)
    assert number["condensed-coverage"] == pytest.approx(0.0105, abs=1e-3)
    assert verdict["condensed-inversion"] == verdict["condensed-coverage"] == "holds"


@pytest.mark.parametrize(
    ("low", "theta"), [([], 0), ([(0, 1)], 1), ([(2, 4)], 3), ([(3, 4)], None)]
)
def test_depth__theta_is_the_least_k_above_which_all_orders_correlate(low, theta):
    """Of five cutoffs, the pairs in `low` correlate at .9, which does not exceed .9."""
    values, means = np.full((5, 5), 0.95), np.ones((5, 3)) * [1, 2, 2]
    for i, j in low:
        values[i, j] = values[j, i] = 0.9
    row = by_one_measure(values, [1, 2, 3, 4, 5], means)
    assert (row["theta"], row["tied"]) == (theta, 1)
    assert (row["stable"], row["least"]) == (1.0, 0.9 if low else 0.95), "without the diagonal"
    nothing = by_one_measure(np.full((5, 5), np.nan), [1, 2, 3, 4, 5], np.ones((5, 3)))
    assert np.isnan(nothing["theta"])
    assert nothing["tied"] is None


def test_depth__pairs_of_cutoffs_on_both_sides_of_the_diagonal():
    values = np.array([[0.9, 0.8, np.nan], [0.6, 1.0, 0.7], [0.5, 0.8, np.nan]])
    row = across_cutoffs(values)
    assert row["same_cutoff"] == pytest.approx(0.95)
    assert row["deeper"] == pytest.approx((0.2 - 0.1) / 2)
    assert row["asymmetry"] == pytest.approx((0.2 + 0.1) / 2)
    assert (row["stable"], row["least"]) == (pytest.approx(2 / 7), 0.5)


def test_depth__depth_below_10_compares_judged_at_10_with_judged_at_k():
    found = verdicts(DEPTH, POOLED, judged(0.7, "7")).filter(
        claim="contributors-gain", track="news"
    )
    assert found["number"].item() == pytest.approx(0.1)


def test_depth__every_default_measure_is_of_utility_or_recall():
    found = verdicts(DEPTH, POOLED, compared("coverage", *((m, 0.4) for m in UTILITY),
                                             *((m, 0.8) for m in RECALL)))  # fmt: skip
    of_track = dict(found.filter(track="news").select("claim", "number").iter_rows())
    assert of_track["utility-coverage"] == pytest.approx(0.4)
    assert of_track["recall-coverage"] == pytest.approx(0.8)


# preference

PAIRED = PreferenceOptions()
(RPP, DCG, INVERSE), (PAP, NDCG, RR) = PAIRED.preferences, PAIRED.measures


def tau_bs(*rows: tuple[str, str, float], part: str = "single") -> Rows:
    order = PAIRED.correlated[part].index
    named = [(*sorted((a, b), key=order), v) for a, b, v in rows]
    return {"table_2": [{"order": "mc4", "part": part, "measure_a": a, "measure_b": b, "tau_b": v}
                        for a, b, v in named]}  # fmt: skip


def agreements(column: str, *values: tuple[str, float]) -> Rows:
    return {"figure_5": [{"measure_a": RPP, "measure_b": m, column: v} for m, v in values]}


def requested(table: str, *percents: float, turned: str = "") -> Rows:
    """Tracks of more and more requests with the percentages of all methods, of one `turned`."""
    tracks = [f"t{i}" for i in range(len(percents))]
    rows = [{"track": t, "measure": m, "percent": -v if m == turned else v}
            for m in PAIRED.compared for t, v in zip(tracks, percents, strict=True)]  # fmt: skip
    requests = [{"track": t, "requests": i} for i, t in enumerate(tracks)]
    return {table: rows, "table_1": requests}


def agree(other: str, **columns: float) -> Rows:
    return {"figure_5": [{"measure_a": RPP, "measure_b": other, **columns}]}


def kept(figure: int, *rows: tuple[str, float, float]) -> Rows:
    """Rows of a measure, its tau-b by most data and by few."""
    return {f"figure_{figure}": [
        {"measure": m, "mean": v, "removed": r, "queries": int(100 * r), "labels": "random"}
        for m, high, low in rows for r, v in ((0.2, high), (0.8, low))]}  # fmt: skip


def percents(table: str, *rows: tuple[str, float]) -> Rows:
    known = {"printed": None, "part": "subtopic" if rows[0][0].startswith("ST") else "single"}
    return {table: [{"measure": m, "percent": v, **known} for m, v in rows]}


def paired_cases() -> dict[str, Case]:
    made = {
        "correlates-ap": Case(tau_bs((RPP, PAP, 0.8)), tau_bs((RPP, PAP, 0.79))),
        "correlates-ndcg": Case(tau_bs((RPP, NDCG, 0.8)), tau_bs((RPP, NDCG, 0.79))),
        "as-measures": Case(tau_bs((RPP, PAP, 0.85), (PAP, NDCG, 0.9)),
                            tau_bs((RPP, PAP, 0.84), (PAP, NDCG, 0.9))),
        "dcg-nearer": Case(tau_bs((DCG, PAP, 0.9), (RPP, PAP, 0.8)),
                           tau_bs((DCG, PAP, 0.8), (RPP, PAP, 0.8))),
        "inverse-nearer": Case(tau_bs((INVERSE, RR, 0.6), (RPP, RR, 0.5)),
                               tau_bs((INVERSE, RR, 0.5), (RPP, RR, 0.5))),
        "signs-ap": Case(agree(PAP, sa=0.85), agree(PAP, sa=0.84)),
        "signs-ndcg": Case(agree(NDCG, sa=0.85), agree(NDCG, sa=0.84)),
        "signs-rr": Case(agree(RR, sa=0.69), agree(RR, sa=0.7)),
        "interleaving": Case(agree(PAIRED.interleaving(), r=0.95),
                             agree(PAIRED.interleaving(), r=0.94)),
        "levels-differ": Case(*({"unequal_levels": [{"share_reached": share}]}
                                for share in (0.9, 0.89))),
        "ap-degrades-labels": Case(kept(7, (RPP, 0.1, 0.6), (PAP, 0.9, 0.5)),
                                   kept(7, (RPP, 0.9, 0.5), (PAP, 0.1, 0.5))),
    }  # fmt: skip
    uniform, dcg_users = PAIRED.interleavings
    made |= {
        "interleaving-dcg": Case(agreements("r", (uniform, 0.98), (dcg_users, 0.94)),
                                 agreements("r", (uniform, 0.94), (dcg_users, 0.94))),
        "interleaving-nearest": Case(
            agreements("r", (dcg_users, 0.91), (PAP, 0.9), (PAIRED.search_length, 0.2)),
            agreements("r", (dcg_users, 0.91), (PAP, 0.2), (PAIRED.search_length, 0.91)),
            agreements("r", (dcg_users, 0.91))),
        "interleaving-signs": Case(agreements("sa", (uniform, 0.91), (PAP, 0.9), (RR, 0.2)),
                                   agreements("sa", (uniform, 0.91), (PAP, 0.9), (RR, 0.91))),
        **{f"small-differences-{m.partition('(')[0].lower()}": Case(
            agree(m, opposite_size=0.5), agree(m, opposite_size=0.51),
            agree(m, opposite_size=float("nan")))
           for m in (PAP, NDCG, PAIRED.search_length)},
    }  # fmt: skip
    st_rpp, _, _, st_inverse, *top_heavy = PAIRED.correlated["subtopic"]
    for short, measure in zip(("err-ia", "strecall"), top_heavy, strict=True):
        made[f"top-heavy-{short}"] = Case(*(
            tau_bs((measure, st_inverse, 0.52), (measure, st_rpp, v), part="subtopic")
            for v in (0.26, 0.52)))  # fmt: skip
    for n in (3, 4):
        table, names = f"table_{n}", [*PAIRED.preferences, PAP, NDCG]
        made |= {
            f"power-{n}-ap": Case(percents(table, (PAP, 0.39), (NDCG, 0.4)),
                                  percents(table, (PAP, 0.4), (NDCG, 0.4))),
            f"power-{n}-rr": Case(percents(table, (RR, 0.1), *((m, 0.2) for m in names)),
                                  percents(table, (RR, 0.2), *((m, 0.2) for m in names)),
                                  percents(table, (RR, 0.1))),
            f"requests-{n}": Case(requested(table, 1, 3, 2, 4, 5),
                                  requested(table, 1, 3, 2, 4, 5, turned=RR),
                                  requested(table, 1, 2, 3, 4)),
        }  # fmt: skip
    for name, figure, measures in (("queries", 6, (PAP, NDCG)), ("labels", 7, (NDCG,))):
        for measure in measures:
            short = measure.partition("(")[0].lower()
            made[f"robust-{name}-{short}"] = Case(
                kept(figure, (RPP, 0.9, 0.78), (measure, 0.9, 0.8)),
                kept(figure, (RPP, 0.9, 0.77), (measure, 0.9, 0.8)))  # fmt: skip
        made[f"rr-degrades-{name}"] = Case(
            kept(figure, (RR, 0.9, 0.5), (PAP, 0.9, 0.6)),
            kept(figure, (RR, 0.9, 0.6), (PAP, 0.9, 0.6)))  # fmt: skip
    subtopic = PAIRED.by_subtopic
    others = {"ap": PAP, "ndcg": NDCG, "rr": RR} | dict(
        zip(("strecall", "err-ia", "ap-ia"), subtopic[-3:], strict=True))  # fmt: skip
    for n in (3, 4):
        for short, measure in others.items():
            own = RPP if measure in PAIRED.measures else subtopic[0]
            made[f"separates-{n}-{short}"] = Case(
                percents(f"table_{n}", (own, 70.0), (measure, 66.9)),
                percents(f"table_{n}", (own, 32.5), (measure, 32.5)))  # fmt: skip
    return made


def test_preference__claims_by_hand():
    assert wrong(PREFERENCE, PAIRED, paired_cases()) == []


def test_preference__no_claim_on_subtopics_where_no_doc_has_one():
    rows = percents("table_4", (RPP, 70.0), (PAP, 66.9))
    found = verdicts(PREFERENCE, PAIRED, rows).filter(claim="separates-4-err-ia", track="news")
    assert found["why"].to_list() == ["no relevant doc of the track has a subtopic"]


# properties

SPACE = PropertiesOptions(length=4)
ACT = "ACT(per=all)@10"


def counted(table: str, *rows: tuple[str, str, int], **more: object) -> Rows:
    return {table: [{"measure": m, "property": p, "applicable": 9, "violated": v, **more}
                    for m, p, v in rows]}  # fmt: skip


def worked(measure: str, **values: float) -> Rows:
    return {"worked": [{"measure": measure, "ranking": r, "value": v} for r, v in values.items()]}


def padding(*treatments: str | None) -> Rows:
    return {"truncation": [{"measure": f"P@{i}", "treatment": t}
                           for i, t in enumerate(treatments, 5)]}  # fmt: skip


def property_cases() -> dict[str, Case]:
    made = {
        "single-act": Case(counted("single_subtopic", (ACT, "irrelevance", 1)),
                           counted("single_subtopic", (ACT, "irrelevance", 0))),
        "single-ap-ia": Case(counted("single_subtopic", ("AP_IA", "relevance", 0)),
                             counted("single_subtopic", ("AP_IA", "relevance", 1))),
        "act-example": Case(worked(ACT, ab=0.1, abx=0.2),
                            worked(ACT, ab=0.1, abx=0.1)),
        "ap-ia-example": Case(worked("AP_IA", axxa=0.2, axxb=0.1),
                              worked("AP_IA", axxa=0.1, axxb=0.1)),
        "pads": Case(padding("pads", "pads"), padding("pads", "other"), padding(None)),
    }  # fmt: skip
    for name, measure, prop in (("act-irrelevance", ACT, "irrelevance"),
                                ("ap-ia-redundancy", "AP_IA", "redundancy"),
                                ("act-induction", ACT, "induction"),
                                ("ap-ia-induction", "AP_IA", "induction")):  # fmt: skip
        made[name] = Case(counted("table_1", (measure, prop, 1)),
                          counted("table_1", (measure, prop, 0)))  # fmt: skip
    for prop, allowed in (("relevance", ()), ("irrelevance", (ACT,)), ("redundancy", ("AP_IA",)),
                          ("induction", (ACT, "AP_IA"))):  # fmt: skip
        own = [(measure, prop, 5) for measure in allowed]
        made[f"only-{prop}"] = Case(counted("table_1", *own, ("P@5", prop, 0)),
                                    counted("table_1", *own, ("P@5", prop, 1)),
                                    counted("table_1", *own))  # fmt: skip
    for docs in ("1", "5"):
        for test, prop, good in (("ACT", "irrelevance", 1), ("CT", "relevance", 0),
                                 ("nCT", "relevance", 0)):  # fmt: skip
            rows = [counted("iterations", (f"{test}(per={docs})@10", prop, n), per=docs)
                    for n in (good, 1 - good)]  # fmt: skip
            made[f"{test.lower()}-{prop}-{docs}"] = Case(*rows)
    return made


def test_properties__claims_by_hand():
    assert wrong(PROPERTIES, SPACE, property_cases()) == []
