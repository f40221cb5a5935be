"""The claims of the paper on headroom, techniques, orders of systems and the weights of MAP."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from irmeta.stats.search_lengths import equivalent_lengths, harmonic_mean
from irmeta.studies.framework.claims import CannotBeSaid, Claim, Found, cell, minus, value
from irmeta.studies.framework.study import Tables
from irmeta.studies.framework.systems import ROLES
from irmeta.studies.papers.search_length.compute import ALL_BEYOND, TOP_BEYOND
from irmeta.studies.papers.search_length.study import EFFECTIVE_FRACTION
from irmeta.studies.papers.search_length.study import SearchLengthOptions as Options

SOLVED = 0.5  # P@20 from which a track is near-solved
SIMILAR = 0.5  # our bound of "similarly large": no step moves less than half as much
RANKS = np.array([1.0, 1000.0])
EXAMPLE = np.array([1.0, 1.0, 1.0, 2.0, 4.0, 5.0, 10.0, 1e4, 1e4])
"""Search lengths of the example of Appendix A.1."""


def claims(options: Options) -> Iterator[Claim]:
    """Yield the claims of the paper."""
    yield from _headroom(options)
    yield from _techniques(options)
    yield from _orders()
    yield from _weights(options)


def _headroom(options: Options) -> Iterator[Claim]:
    top, asl, ap, p20 = options.asl(10), options.asl(), options.ap, options.p20
    best = {m: cell("headroom", "value", measure=m) for m in options.headroom}
    yield Claim("near-solved", "By P@20, about half of the tracks look near-solved.",
                "Section 4.2, Figure 1", f"best {p20}", best[p20], f">= {SOLVED}", "about half",
                "roughly half")  # fmt: skip
    for measure, docs, figure, ranks in (
        (top, "first ten relevant", 2, TOP_BEYOND),
        (asl, "relevant", 4, ALL_BEYOND),
    ):
        for low, over, printed in ranks:
            name = f"{docs.split()[0]}-beyond-{low:g}"
            text = f"The {docs} docs of the best system lie beyond rank {low:g} on average"
            where, deep = f"Section 4.2, Figure {figure}", options.deep[measure]
            yield Claim(name, f"{text}.", where, f"best {measure}", best[measure], f"> {low}",
                        over, printed, "length")  # fmt: skip
            if deep != measure:  # docs that a short list misses have long lengths
                yield Claim(f"{name}-deep", f"{text}, missed docs below rank D.", where,
                            f"best {deep}", best[deep], f"> {low}", over, format="length",
                            check=True)  # fmt: skip

    def hidden(tables: Tables) -> Found:
        if (deep := best[asl](tables)) <= 10:
            raise CannotBeSaid("the relevant docs lie above rank 10 on average")
        return Found(best[ap](tables), f"the best {asl} is {deep:,.1f}, and 1 / ASL {1 / deep:.3f}")

    def in_solved(tables: Tables) -> Found:
        if (solved := best[p20](tables)) < SOLVED:
            raise CannotBeSaid(f"the track is not near-solved: the best P@20 is below {SOLVED}")
        return Found(best[asl](tables), f"the best {p20} is {solved:.3f}")

    text = "MAP hides headroom: it is above .1 although the relevant docs lie beyond rank 10."
    yield Claim("map-hides", text, "Section 4.2, Figures 3 and 4", f"best {ap}", hidden, "> 0.1",
                "nearly all", "nearly all")  # fmt: skip
    text = "Near-solved tracks have headroom: their relevant docs lie beyond rank 10 on average."
    yield Claim("headroom-if-solved", text, "Section 4.2, Figure 4", f"best {asl}", in_solved,
                "> 10", "nearly all", "nearly all", "length")  # fmt: skip


def _techniques(options: Options) -> Iterator[Claim]:
    """Yield the claims of Table 1, and as checks those of the best and the median system."""
    are_roles = {options.baseline, options.contender} <= set(ROLES)

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
        gain_a, gain_b = (cell("table_1", "rrie", measure=measure) for measure in (a, b))
        gain = minus(gain_a, gain_b, ".0%")
        about = ("Section 4.3, Table 1", f"RRIE by {a} minus RRIE by {b}")
        yield Claim(f"rrie-{name}", f"{sides}, {text}.", *about,
                    no_groups if are_roles else gain, holds, "most", printed,
                    "percent")  # fmt: skip
        if are_roles:
            yield Claim(f"rrie-{name}-best", f"Of the best over the median system, {text}.", *about,
                        gain, holds, format="percent", check=True)  # fmt: skip


def _orders() -> Iterator[Claim]:
    for chain, new, least, printed in (
        ("AP", "ASL instead of MAP", 26, "26-60%"),
        ("P@20", "ASL@g10 instead of P@20", 40, "40-76%"),
        ("RR", "ASL@g1 instead of MRR", 49, "49-85%"),
    ):
        yield Claim(f"reorders-{chain.lower()}", f"{new} moves a system past many others.",
                    "Section 4.4", f"Delta-sort of chain {chain}, % of the systems",
                    cell("reordering", "delta_sort", chain=chain, step=0), f">= {least}", "mean",
                    printed, ".0f")  # fmt: skip
    yield Claim("similar-steps", "Each of the three steps from MAP to ASL changes the order about "
                "as much.", "Section 4.4, Table 2", "least Delta-sort of a step over the greatest",
                _similarity("reordering"), f">= {SIMILAR}", _similarity("table_2"),
                "similarly large", ".2f")  # fmt: skip


def _similarity(table: str) -> Callable[[Tables], Found]:
    def statistic(tables: Tables) -> Found:
        moved = [value(tables, table, "delta_sort", chain="AP", step=step) for step in (1, 2, 3)]
        if not max(moved):
            raise CannotBeSaid("no step changes the order")
        return Found(min(moved) / max(moved), ", ".join(f"{step:.1f}" for step in moved))

    return statistic


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
                EFFECTIVE_FRACTION.value, "percent")  # fmt: skip
    text = "MAP counts a doc at any depth as if its search length were at most 1 + 1/MAP."
    yield Claim("map-squashes", text, a1, "median over runs of (1 + 1/MAP) / ASL", squashed, "< 1",
                "most", "3.2 for lengths of 10,000", ".2f")  # fmt: skip
    yield Claim("worked-lengths", "It turns search lengths of 10,000 into lengths of 3.2.", a1,
                "equivalent length of 10,000", lambda _: worked, "3.15 to 3.25", "once",
                "1, 1, 1, 2.1, 2.7, 2.9, 3, 3.2, 3.2", ".2f")  # fmt: skip
    yield Claim("rank-2", "By P, ranks 1 and 1000 average to rank 2.", "Section 3.2, Eq. 9",
                "rank of the mean precision", lambda _: harmonic_mean(RANKS), "1.9 to 2.1", "once",
                "2")  # fmt: skip
    yield Claim("rank-500", "By 1/P, they average to a rank midway.", "Section 3.2, Eq. 10",
                "mean of both ranks", lambda _: float(RANKS.mean()), "495 to 505", "once",
                "500", ".1f")  # fmt: skip
