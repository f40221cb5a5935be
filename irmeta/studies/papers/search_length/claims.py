"""The claims of the paper on headroom, techniques, orders of systems and the weights of MAP."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from irmeta.phrases import count
from irmeta.stats.search_lengths import equivalent_lengths, harmonic_mean
from irmeta.studies.framework.claims import (
    CannotBeSaid,
    Claim,
    Found,
    Over,
    Statistic,
    cell,
    minus,
    rho_of_tracks,
    value,
)
from irmeta.studies.framework.study import Tables
from irmeta.studies.framework.track_view import SIDE_ROLES
from irmeta.studies.papers.search_length.compute import ALL_BEYOND, TOP_BEYOND
from irmeta.studies.papers.search_length.study import EFFECTIVE_FRACTION
from irmeta.studies.papers.search_length.study import SearchLengthOptions as Options

SOLVED = 0.5  # P@20 from which a track is near-solved
SIMILAR = 0.5  # our bound of "similarly large": no step moves less than half as much
MOST_MISSED = 0.5  # share of missed docs above which the lengths of Eq. 3 say nothing
FEWEST_BARS = 3  # of the shape of a figure
RANKS = np.array([1.0, 1000.0])
EXAMPLE = np.array([1.0, 1.0, 1.0, 2.0, 4.0, 5.0, 10.0, 1e4, 1e4])
"""Search lengths of the example of Appendix A.1."""


def claims(options: Options) -> Iterator[Claim]:
    """Yield the claims of the paper."""
    yield from _headroom(options)
    yield from _correspondence(options)
    yield from _techniques(options)
    yield from _orders()
    yield from _shapes(options)
    yield from _weights(options)


def _headroom(options: Options) -> Iterator[Claim]:
    top, asl, ap, p20 = options.asl(10), options.asl(), options.ap, options.p20
    best = {m: cell("headroom", "value", measure=m) for m in (ap, p20)}
    lengths = {m: _best_length(m, options) for m in options.headroom if m not in best}

    def hidden(tables: Tables, measure: str) -> Found:
        if (deep := lengths[measure](tables)) <= 10:
            raise CannotBeSaid("the relevant docs lie above rank 10 on average")
        number = best[ap](tables)
        return Found(number, f"the best {measure} is {deep:,.1f}, and 1 / ASL {1 / deep:.3f}")

    def in_solved(tables: Tables, measure: str) -> Found:
        if (solved := best[p20](tables)) < SOLVED:
            raise CannotBeSaid(f"the track is not near-solved: the best P@20 is below {SOLVED}")
        return Found(lengths[measure](tables), f"the best {p20} is {solved:.3f}")

    yield Claim("near-solved", "By P@20, about half of the tracks look near-solved.",
                "Section 4.2, Figure 1", f"best {p20}", best[p20], f">= {SOLVED}", "about half",
                "roughly half", about="queries")  # fmt: skip
    for measure, docs, figure, ranks in (
        (top, "first ten relevant", 2, TOP_BEYOND),
        (asl, "relevant", 4, ALL_BEYOND),
    ):
        for low, over, printed in ranks:
            text = f"The {docs} docs of the best system lie beyond rank {low:g} on average."
            yield from _by_both(
                Claim(f"{docs.split()[0]}-beyond-{low:g}", text, f"Section 4.2, Figure {figure}",
                      f"best {measure}", lengths[measure], f"> {low}", over, printed, "length",
                      about="queries"),
                f"best {options.deep[measure]}", lengths[options.deep[measure]],
            )  # fmt: skip
    deep, number = options.deep[asl], "best {} where the best {} is above 10"
    text = "MAP hides headroom: it is above .1 although the relevant docs lie beyond rank 10."
    yield from _by_both(
        Claim("map-hides", text, "Section 4.2, Figures 3 and 4", number.format(ap, asl),
              partial(hidden, measure=asl), "> 0.1", "nearly all", "nearly all", about="queries"),
        number.format(ap, deep), partial(hidden, measure=deep),
    )  # fmt: skip
    text = "Near-solved tracks have headroom: their relevant docs lie beyond rank 10 on average."
    yield from _by_both(
        Claim("headroom-if-solved", text, "Section 4.2, Figure 4", f"best {asl}",
              partial(in_solved, measure=asl), "> 10", "nearly all", "nearly all", "length",
              about="queries"),
        f"best {deep}", partial(in_solved, measure=deep),
    )  # fmt: skip


def _by_both(
    claim: Claim, number: str, statistic: Statistic, over: Over | None = None
) -> Iterator[Claim]:
    """Yield a claim, and beside it as a check its statistic with missed docs below rank D.

    No check where the claim has these lengths itself.
    """
    if claim.number == number:
        yield claim
        return
    text = f"{claim.text.removesuffix('.')}, with missed docs counted below rank D."
    check = replace(claim, name=f"{claim.name}-deep", text=text, number=number, printed="",
                    statistic=statistic, over=over or claim.over, check=True)  # fmt: skip
    yield replace(claim, beside=(check.name, "unretrieved=depth"))
    yield check


def _best_length(measure: str, options: Options) -> Callable[[Tables], float]:
    """Return the mean of the best system, unless Eq. 3 gives it short lengths for most docs."""

    def statistic(tables: Tables) -> float:
        number = value(tables, "headroom", "value", measure=measure)
        if measure not in options.deep.values():
            row = tables["headroom"].row(by_predicate=pl.col("measure") == measure, named=True)
            _check_retrieved(row["system"], measure, row["missed_counted"])
        return number

    return statistic


def _check_retrieved(system: str, measure: str, missed: float) -> None:
    """Raise CannotBeSaid if a system misses most of the docs that its search length counts."""
    if missed > MOST_MISSED:
        docs = f"{missed:.0%} of the relevant docs that {measure} counts"
        raise CannotBeSaid(f"{system}, the best system by Eq. 3, misses {docs}")


def _correspondence(options: Options) -> Iterator[Claim]:
    ap, p20, asl = options.ap, options.p20, options.asl()

    def rho(tables: Tables, measure: str) -> Found:
        ours, others = (tables["headroom"].filter(measure=m) for m in (ap, measure))
        return rho_of_tracks(ours.join(others, on="track"), "value", "value_right")

    number = f"Spearman's rho over tracks of the best {ap} and the best {{}}"
    yield Claim("map-follows-p20", "The best MAP of the tracks follows their best P@20.",
                "Sections 4.2 and 4.3, Figures 1 and 3", number.format(p20),
                partial(rho, measure=p20), ">= 0.8", "once", format=".2f", about="queries",
                bound="irmeta")  # fmt: skip
    deep = options.deep[asl]
    yield from _by_both(
        Claim("map-not-asl", "The best MAP of the tracks has little correspondence with their best "
              "ASL.",
              "Section 4.2, Figures 3 and 4", number.format(asl), partial(rho, measure=asl),
              "-0.5 to 0.5", "once", format=".2f", about="queries", bound="irmeta"),
        number.format(deep), partial(rho, measure=deep),
    )  # fmt: skip


def _techniques(options: Options) -> Iterator[Claim]:
    """Yield the claims of Table 1, and as checks those of the best and the median system."""
    are_roles = {options.baseline, options.contender} <= set(SIDE_ROLES)

    def no_groups(_: Tables) -> float:
        raise CannotBeSaid("the options baseline and contender name no traditional and no neural "
                           "system or group")  # fmt: skip

    sides = "Of neural over traditional systems"
    if not are_roles:
        sides = f"{sides} (here {options.contender} over {options.baseline})"
    top, p20 = options.asl(10), options.p20
    for name, text, a, b, holds, printed in (
        ("top", "ASL@g10 shows a greater gain at the top than P@20", top, p20, "> 0",
         "69% against 25%, 90% against 39%"),
        ("tail", "the gain over all relevant docs is smaller than at the top", options.asl(), top,
         "< 0", "32% against 69%, 19% against 90%"),
        ("map", "MAP shows about the gain of P@20", options.ap, p20, "-0.1 to 0.1",
         "24% against 25%, 29% against 39%"),
    ):  # fmt: skip
        deep_a, deep_b = (options.deep.get(measure, measure) for measure in (a, b))
        gain, deep_gain = (minus(_gain(m, options), _gain(n, options), ".0%")
                           for m, n in ((a, b), (deep_a, deep_b)))  # fmt: skip
        deep = f"RRIE by {deep_a} minus RRIE by {deep_b}"
        claim = Claim(f"rrie-{name}", f"{sides}, {text}.", "Section 4.3, Table 1",
                      f"RRIE by {a} minus RRIE by {b}", gain, holds, "most", printed,
                      "percent", bound="irmeta" if name == "map" else "paper")  # fmt: skip
        if are_roles:
            yield replace(claim, statistic=no_groups)
            claim = replace(claim, name=f"{claim.name}-best", printed="", check=True,
                            text=f"Of the best over the median system, {text}.")  # fmt: skip
        yield from _by_both(claim, deep, deep_gain)


def _gain(measure: str, options: Options) -> Callable[[Tables], float]:
    """Return RRIE by a measure, unless Eq. 3 gives a side short lengths for most docs."""

    def statistic(tables: Tables) -> float:
        gain = value(tables, "table_1", "rrie", measure=measure)
        if options.deep.get(measure, measure) != measure:
            missed = value(tables, "table_1", "missed_counted", measure=measure)
            if missed > MOST_MISSED:
                raise CannotBeSaid(f"one of both systems misses {missed:.0%} of the relevant docs "
                                   f"that {measure} counts")  # fmt: skip
        return gain

    return statistic


def _orders() -> Iterator[Claim]:
    choice = ", docs not retrieved: {}"
    for chain, new, mean, printed in (
        ("AP", "ASL instead of MAP", 43, "26\u201360%"),
        ("P@20", "ASL@g10 instead of P@20", 58, "40\u201376%"),
        ("RR", "ASL@g1 instead of MRR", 67, "49\u201385%"),
    ):
        text = f"{new} moves a system past {mean}% of the systems, the middle of the paper's range."
        number = f"Delta-sort of chain {chain}, % of the systems{choice}"
        floor, deep = (cell("reordering", "delta_sort", chain=chain, step=0, unretrieved=name)
                       for name in ("floor", "depth"))  # fmt: skip
        yield from _by_both(
            Claim(f"reorders-{chain.lower()}", text, "Section 4.4, Table 2", number.format("floor"),
                  floor, f">= {mean}", "mean", printed, ".0f"),
            number.format("depth"), deep,
        )  # fmt: skip
    number = f"least Delta-sort of a step over the greatest{choice}"
    text = "Each of the three steps from MAP to ASL changes the order about as much."
    yield from _by_both(
        Claim("similar-steps", text, "Section 4.4, Table 2", number.format("floor"),
              _similarity("reordering", "floor"), f">= {SIMILAR}",
              _similarity("table_2", "floor"), "similarly large", ".2f", bound="irmeta"),
        number.format("depth"), _similarity("reordering", "depth"), _similarity("table_2", "depth"),
    )  # fmt: skip


def _similarity(table: str, choice: str) -> Callable[[Tables], Found]:
    def statistic(tables: Tables) -> Found:
        key = {"chain": "AP", "unretrieved": choice}
        moved = [value(tables, table, "delta_sort", **key, step=step) for step in (1, 2, 3)]
        if not max(moved):
            raise CannotBeSaid("no step changes the order")
        return Found(min(moved) / max(moved), ", ".join(f"{step:.1f}" for step in moved))

    return statistic


class Bars(NamedTuple):
    """The bars of Figure 5: docs of the best system by search length."""

    docs: Sequence[int]  # retrieved docs of each bar, from the shortest lengths on
    missed: int

    @classmethod
    def of(cls, tables: Tables, measure: str, deep: str) -> Bars:
        """Return the bars of the best system by a search length; `deep`: that of missed docs."""
        system = _best_system(tables, measure, deep)
        bars = tables["search_length_histogram"].filter(system=system).sort("low", nulls_last=True)
        *docs, missed = bars["docs"].to_list()
        if len(docs) < FEWEST_BARS:
            raise CannotBeSaid(f"Figure 5 has fewer than {FEWEST_BARS} bars of retrieved docs")
        return cls(docs, missed)

    def leftmost(self) -> Found:
        """Return by how much the leftmost bar is higher than every other."""
        (first, *others), docs = self.docs, sum(self.docs)
        missed = f"{self.missed / (docs + self.missed):.0%} not retrieved"
        why = f"{first:,} docs against {max(others):,}; {missed}"
        return Found((first - max(others)) / docs, why)

    def falloff(self) -> Found:
        """Return the rank correlation of docs and lengths."""
        rows = pl.DataFrame({"docs": self.docs}).with_row_index()
        rho = rows.select(pl.corr("index", "docs", method="spearman")).item()
        return Found(rho, count(rows.height, "bar"))


class Moves(NamedTuple):
    """The bars of Figure 6: wins and losses, each from the smallest to the largest."""

    wins: Sequence[int]
    losses: Sequence[int]
    docs: int  # all, but for those that neither system retrieves

    @classmethod
    def of(cls, tables: Tables, measure: str, deep: str) -> Moves:
        """Return the bars of the best and the median system by a search length."""
        rows = tables["length_differences"].filter(measure=measure)
        if rows.is_empty():
            raise CannotBeSaid("the best and the median system are the same")
        _best_system(tables, measure, deep)
        docs = pl.col("docs").filter(pl.col("retrieved") != "neither").sum()
        bars = rows.group_by("low", "high").agg(docs).sort("low")
        wins = bars.filter(pl.col("high") < 0)["docs"].to_list()[::-1]
        losses = bars.filter(pl.col("low") > 0)["docs"].to_list()
        if min(len(wins), len(losses)) < FEWEST_BARS or not bars["docs"].sum():
            raise CannotBeSaid(f"Figure 6 has fewer than {FEWEST_BARS} bars on a side")
        return cls(wins, losses, int(bars["docs"].sum()))

    def small(self) -> Found:
        """Return by how much the two middle bars are higher than the middling ones."""
        middle = (self.wins[0] + self.losses[0]) / 2
        middling = [*self.wins[1:-1], *self.losses[1:-1]]
        mean = sum(middling) / len(middling)
        return Found((middle - mean) / self.docs, f"{middle:,.1f} docs a bar against {mean:,.1f}")

    def balanced(self) -> Found:
        """Return the share of wins in the middling bars."""
        wins, losses = sum(self.wins[1:-1]), sum(self.losses[1:-1])
        if not wins + losses:
            raise CannotBeSaid("no doc is in a middling bar")
        return Found(wins / (wins + losses), _against(wins, losses))

    def largest(self) -> Found:
        """Return by how much the outermost bar of wins is higher than that of losses."""
        wins, losses = self.wins[-1], self.losses[-1]
        return Found((wins - losses) / self.docs, _against(wins, losses))

    def share_of_losses(self) -> Found:
        """Return the share of docs with a longer search length in the best system."""
        losses = sum(self.losses)
        return Found(losses / self.docs, f"{losses:,} of {self.docs:,} docs")


def _against(wins: int, losses: int) -> str:
    return f"{count(wins, 'win')} against {count(losses, 'loss', 'losses')}"


def _best_system(tables: Tables, measure: str, deep: str) -> str:
    rows = tables["best_by_choice"].filter(measure=measure)
    if rows.is_empty():
        raise CannotBeSaid(f"no system has a value of {measure}")
    system, missed = rows.select("system", "missed").row(0)
    if measure != deep:
        _check_retrieved(system, measure, missed)
    return system


class Shape(NamedTuple):
    """A claim on the shape of a figure, which the paper makes of every track."""

    name: str
    text: str
    number: str
    statistic: Callable[[Any], Found]  # of `Bars`, or of `Moves`
    holds: str
    over: Over
    printed: str
    format: str = "percent"
    bound: Literal["paper", "irmeta"] = "paper"


FIGURE_5 = (
    Shape("leftmost", "The leftmost bar, of the shortest search lengths in the best system, is "
          "the highest.", "docs of the leftmost bar less those of the highest other, share of "
          "the retrieved docs", Bars.leftmost, "> 0", "all", "all tracks"),
    Shape("falloff", "The bars of longer search lengths fall off.", "Spearman's rho of the docs "
          "and the lengths of the bars", Bars.falloff, "<= -0.5", "all", "all tracks", ".2f",
          "irmeta"),
)  # fmt: skip
FIGURE_6 = (
    Shape("small-moves", "Many docs move little: the two middle bars are higher than the middling "
          "ones.", "mean docs of the two middle bars less those of the middling bars, share of the "
          "docs", Moves.small, "> 0", "all", "all tracks"),
    Shape("balanced-moves", "Middling wins and losses are relatively balanced.", "wins, share of "
          "the docs in middling bars", Moves.balanced, "0.25 to 0.75", "most",
          "relatively balanced", bound="irmeta"),
    Shape("largest-wins", "The largest wins are more than the largest losses.", "docs of the "
          "outermost bar of wins less those of losses, share of the docs", Moves.largest, "> 0",
          "most", "usually"),
    Shape("losses", "A substantial part of the docs loses.", "losses, share of the docs",
          Moves.share_of_losses, ">= 0.1", "all", "substantial on all tracks", bound="irmeta"),
)  # fmt: skip


def _shapes(options: Options) -> Iterator[Claim]:
    """Yield the claims on Figures 5 and 6."""
    asl, deep = options.asl(), options.deep[options.asl()]

    def shape_of(tables: Tables, shape: Shape, measure: str) -> Found:
        figure = Bars if shape in FIGURE_5 else Moves
        return shape.statistic(figure.of(tables, measure, deep))

    for figure, shapes, systems in (
        (5, FIGURE_5, "in the best system by {}"),
        (6, FIGURE_6, "best less median system by {}"),
    ):
        for shape in shapes:
            number = f"{shape.number}, {systems}"
            yield from _by_both(
                Claim(shape.name, shape.text, f"Section 4.5, Figure {figure}", number.format(asl),
                      partial(shape_of, shape=shape, measure=asl), shape.holds, shape.over,
                      shape.printed, shape.format, about="queries", bound=shape.bound),
                number.format(deep), partial(shape_of, shape=shape, measure=deep),
            )  # fmt: skip


def _weights(options: Options) -> Iterator[Claim]:
    def averaged(tables: Tables) -> float:
        if tables["effective_by_track"]["trivial"].any():
            raise CannotBeSaid("no query has two relevant docs")
        return value(tables, "effective_by_track", "fraction")

    def squashed(tables: Tables) -> Found:
        ap, asl = (tables["means"].filter(measure=m) for m in (options.ap, options.asl()))
        runs = ap.filter(ap["value"] > 0).join(asl, on="system")
        if runs.is_empty():
            raise CannotBeSaid("no run has MAP above 0")
        longest, mean = 1 + 1 / runs["value"].to_numpy(), runs["value_right"].to_numpy()
        ends = f"{longest.min():,.1f} to {longest.max():,.1f} over {len(longest)} runs"
        why = f"1 + 1/MAP is {np.median(longest):,.1f} (median; {ends}), ASL {np.median(mean):,.1f}"
        return Found(float(np.median(longest / mean)), why)

    a1, lengths = "Appendix A.1", equivalent_lengths(EXAMPLE)
    worked = Found(lengths[-1], ", ".join(f"{length:.1f}" for length in lengths))
    yield Claim("map-averages", "MAP averages only the top of the relevant docs, about half.", a1,
                "share of the docs that MAP averages", averaged, "0.41 to 0.73", "mean",
                EFFECTIVE_FRACTION.value, "percent", about="queries")  # fmt: skip
    text = "MAP counts a doc at any depth as if its search length were at most 1 + 1/MAP."
    yield Claim("map-squashes", text, a1, "median over runs of (1 + 1/MAP) / ASL", squashed, "< 1",
                "most", "3.2 for lengths of 10,000", ".2f", about="queries",
                bound="irmeta")  # fmt: skip
    yield Claim("worked-lengths", "MAP turns search lengths of 10,000 into lengths of 3.2.", a1,
                "equivalent length of 10,000", lambda _: worked, "3.15 to 3.25", "once",
                "1, 1, 1, 2.1, 2.7, 2.9, 3, 3.2, 3.2", ".2f")  # fmt: skip
    yield Claim("rank-2", "By P, ranks 1 and 1000 average to rank 2.", "Section 3.2, Eq. 9",
                "rank of the mean precision", lambda _: harmonic_mean(RANKS), "1.9 to 2.1", "once",
                "2")  # fmt: skip
    yield Claim("rank-500", "By 1/P, ranks 1 and 1000 average to a rank midway.",
                "Section 3.2, Eq. 10", "mean of both ranks", lambda _: float(RANKS.mean()),
                "495 to 505", "once", "500", ".1f")  # fmt: skip
