"""The claims of the paper on orders of systems, significant differences, stability and rarity."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import polars as pl

from irmeta.studies.framework.claims import (
    CannotBeSaid,
    Claim,
    Found,
    cell,
    minus,
    row_minus,
    value,
)
from irmeta.studies.framework.study import Tables
from irmeta.studies.papers.innovation.compute import FIRST, PAPER_TEST, TESTS, TIES
from irmeta.studies.papers.innovation.study import MEASURES, PAPER_LEVELS
from irmeta.studies.papers.innovation.study import InnovationOptions as Options

SAME = 0.005  # differences of stability up to this say nothing: trials are random
SIMILAR = 0.05  # largest difference of two correlations called similar
FEW_RANKS = 0.05  # share of all ranks that a largely unaffected system moves on average
TAUS = {"RareP": ("< 0.9", "below 0.9 (DLT20)"), "RareAP": (">= 0.9", "not below 0.9 (DLT20)")}
"""Condition of tau-b at the greatest alpha by measure, and what Figure 2 shows."""


def claims(options: Options) -> Iterator[Claim]:
    """Yield the claims of the paper; each compares alpha = 0 with the greatest alpha."""
    most = options.weights[-1]
    for measure in MEASURES:
        family = options.family(measure)
        yield from _orders(measure, family, most)
        yield from _pairs(measure, family, most)
        yield from _stability(measure, family, most)
        drawn = options.drawn_weights[-1]
        yield Claim(f"{measure.lower()}-few-systems", f"Few systems order as all do by {measure}.",
                    "Section 4.5, Table 3", f"least tau-b by N systems, alpha = {drawn:g}",
                    _few(family, drawn), ">= 0.9", "all", "0.970 to 0.996 (TREC-8)",
                    bound="irmeta")  # fmt: skip
    yield Claim("rare-first", "With rarity, S_rare is first with fewer relevant docs.",
                "Section 3, Figure 1", f"D at alpha = {most:g} minus D at alpha = 0",
                minus(_first(most), _first(0.0), ".0f"), "< 0", "all", "28 against 44 (DLT20)",
                ".0f", about="queries", of_queries=False)  # fmt: skip
    yield Claim("common-unaffected", "Rarity hardly changes the rank of S_common.",
                "Section 3, Figure 1", "mean over D of the share of all ranks that S_common moves "
                f"from alpha = 0 to {most:g}", partial(_moved, most=most), f"<= {FEW_RANKS}", "all",
                format=".1%", about="queries", bound="irmeta",
                of_queries=False)  # fmt: skip
    yield Claim("stability-converged", f"Stability has largely converged after {FIRST} trials.",
                "Section 4.4", f"greatest difference of stability after {FIRST} and after all "
                "trials", partial(_converged, families=options.families()), "<= 0.01", "all",
                format=".4f", bound="irmeta")  # fmt: skip
    yield Claim("rare-less-relevant", "Rarely retrieved docs are less relevant.", "Section 4.6",
                "share of higher grades among the rarest minus that among the most common docs",
                _grades, "< 0", "all", format="percent", check=True,
                about="queries")  # fmt: skip


def _orders(measure: str, family: str, most: float) -> Iterator[Claim]:
    def falls(tables: Tables) -> Found:
        rows = tables["figure_2"].filter(pl.col("alpha") <= most, measure=family, method="tau-b")
        values = rows.sort("alpha")["value"]
        if values.is_nan().any() or values.len() < 2:
            raise CannotBeSaid("tau-b is undefined, or no alpha is above 0")
        steps = values.diff().drop_nulls()
        fall, movement = values[0] - values[-1], steps.abs().sum()
        why = f"tau-b {values[-1]:.3f} at alpha = {most:g}; it rises by {steps.clip(0).sum():.3f}"
        return Found(fall / movement if movement else 0.0, why)

    yield Claim(f"{measure.lower()}-tau-falls", f"By {measure}, tau-b falls steadily with alpha.",
                "Section 4.2, Figure 2", "fall of tau-b over the sum of its falls and rises", falls,
                ">= 0.9", "all", "steady", bound="irmeta")  # fmt: skip
    holds, printed = TAUS[measure]
    text = f"{measure} {'changes' if holds[0] == '<' else 'keeps'} the order of systems of DLT20."
    yield Claim(f"{measure.lower()}-order", text, "Section 4.2, Figure 2",
                f"tau-b at alpha = {most:g}", cell("figure_2", "value", measure=family, alpha=most,
                method="tau-b"), holds, printed=printed, check=True)  # fmt: skip

    def differs(tables: Tables) -> Found:
        rows = tables["figure_2"].filter(pl.col("alpha") <= most, measure=family)
        tau, tau_ap = (
            rows.filter(method=method).sort("alpha")["value"] for method in ("tau-b", "tau-ap-b")
        )
        if tau.is_empty() or tau.len() != tau_ap.len() or (tau_ap - tau).is_nan().any():
            raise CannotBeSaid("tau-b or tau_AP,b is undefined")
        taus = f"{tau_ap[-1]:.3f} and {tau[-1]:.3f}".replace("-", "\u2212")
        why = f"{taus} by tau_AP,b and tau-b at alpha = {most:g}"
        return Found(float((tau_ap - tau).abs().to_numpy().max()), why)

    yield Claim(f"{measure.lower()}-tau-ap", f"For {measure}, tau_AP yields results like tau's.",
                "Section 4.2", "greatest difference of tau_AP,b and tau-b over alpha", differs,
                f"<= {SIMILAR}", "all", bound="irmeta")  # fmt: skip


def _pairs(measure: str, family: str, most: float) -> Iterator[Claim]:
    for test in TESTS:
        for level in PAPER_LEVELS if test == PAPER_TEST else PAPER_LEVELS[:1]:
            key = {"measure": family, "test": test, "level": round(1 - level / 100, 2)}
            by = f" by {test}" if test != PAPER_TEST else ""
            text = f"{measure} separates more pairs than without rarity{by}, at {level}%."
            yield Claim(f"{measure.lower()}-separates-{test}-{level}", text, "Section 4.3, Table 1",
                        f"pairs at alpha = {most:g} minus pairs at alpha = 0, {test}",
                        _gain("table_1", "separated", ",.0f", most, **key), "> 0", "most",
                        "" if by else "on 3 of 4 collections" if measure == "RareP" else "all",
                        ",.0f", check=bool(by))  # fmt: skip


def _stability(measure: str, family: str, most: float) -> Iterator[Claim]:
    for ties in TIES:
        is_papers = ties == "absolute"
        printed = "0.709 against 0.532 (RareP, TREC-5)" if measure == "RareP" else ""
        how = {"relative": " with a relative margin of ties", "none": " if equal means alone tie"}
        yield Claim(f"{measure.lower()}-stable-{ties}",
                    f"{measure} is more stable than without rarity{how.get(ties, '')}.",
                    "Section 4.4, Table 2",
                    f"stability at alpha = {most:g} minus that at alpha = 0, ties: {ties}",
                    _gain("table_2", "stability", ".3f", most, measure=family, ties=ties),
                    f"> {SAME}", "all", printed if is_papers else "",
                    check=not is_papers, bound="irmeta")  # fmt: skip


def _gain(
    table: str, column: str, form: str, most: float, **row: object
) -> Callable[[Tables], Found]:
    """Return the gain of the greatest alpha over alpha = 0, with the paper's numbers."""
    gain = row_minus(table, column, form, {"alpha": most}, {"alpha": 0.0}, **row)

    def statistic(tables: Tables) -> Found:
        if most == 0:
            raise CannotBeSaid("no alpha is above 0")
        return gain(tables)

    return statistic


def _few(family: str, alpha: float) -> Callable[[Tables], Found]:
    def statistic(tables: Tables) -> Found:
        rows = tables["table_3"].filter(pl.col("tau_b").is_finite(), measure=family, alpha=alpha)
        if rows.is_empty():
            raise CannotBeSaid("no number of systems has a tau-b")
        least = rows.sort("tau_b").row(0, named=True)
        last = rows.sort("systems").row(-1, named=True)
        why = f"N = {least['systems']}; {last['tau_b']:.3f} for N = {last['systems']}"
        return Found(least["tau_b"], why)

    return statistic


def _first(alpha: float) -> Callable[[Tables], float]:
    def statistic(tables: Tables) -> float:
        if tables["first_places"].filter(alpha=alpha)["first"].null_count():
            raise CannotBeSaid(f"S_rare is never alone on rank 1 at alpha = {alpha:g}")
        return value(tables, "first_places", "first", alpha=alpha)

    return statistic


def _moved(tables: Tables, most: float) -> Found:
    rows = tables["figure_1"].filter(pl.col("alpha").is_in([0.0, most]))
    moves = rows.sort("alpha").group_by("made", "docs").agg(
        (pl.col("rank").last() - pl.col("rank").first()).abs().alias("ranks")
    )  # fmt: skip
    rare, common = (moves.filter(made=system)["ranks"] for system in ("rare", "common"))
    if rare.is_empty() or common.is_empty() or most == 0:
        raise CannotBeSaid("no alpha is above 0, or no query has a relevant doc")
    mean, of_rare = (float(ranks.to_numpy().mean()) for ranks in (common, rare))
    ranks = rows["systems"][0]
    why = f"{mean:.1f} of {ranks} ranks, at most {common.max():.4g}; S_rare {of_rare:.1f}"
    return Found(mean / ranks, why)


def _converged(tables: Tables, families: Sequence[str]) -> Found:
    rows = tables["table_2"].filter(pl.col("measure").is_in(families), ties="absolute")
    rows = rows.filter(pl.col("stability").is_finite(), pl.col("trials") > FIRST)
    if rows.is_empty():
        raise CannotBeSaid(f"no stability, or at most {FIRST} trials")
    change = (pl.col("first_trials") - pl.col("stability")).abs()
    measure, alpha, first, last = rows.sort(change).select(
        "measure", "alpha", "first_trials", "stability"
    ).row(-1)  # fmt: skip
    why = f"{first:.3f} and {last:.3f} by {measure.partition('(')[0]} at alpha = {alpha:g}"
    return Found(abs(first - last), why)


def _grades(tables: Tables) -> Found:
    rows = tables["rare_grades"].filter(pl.col("low") > 0, pl.col("docs") > 0).sort("low")
    levels = rows["grade"].unique().sort()
    if levels.len() < 2 or rows["low"].n_unique() < 2:
        raise CannotBeSaid("the relevant docs have one grade, or one number of systems")
    shares = rows.filter(grade=levels[1])["share_at_least"]
    return Found(shares[0] - shares[-1], f"{shares[0]:.1%} against {shares[-1]:.1%}")
