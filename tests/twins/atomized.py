"""Slow, obvious twins of the study of paper 1, "Atomized Search Length", written from the paper.

They share no code with irmeta; `twins.chain` has those of Table 2 and Appendix A.1, and
`twins.track_means` says what a track is. Results are rows, with the columns of the study's tables.
"""

import math
from collections import Counter
from collections.abc import Iterable

from twins import measures as naive
from twins.track_means import (
    Track,
    best_system,
    cut,
    deepest_rank,
    judged_means,
    less_is_better,
    mean,
    median_system,
    relevant_queries,
    tau_b,
)

Row = dict[str, object]
Bucket = tuple[int | None, int | None]

FIGURES = {"Figure 1": "P@20", "Figure 2": "ASL@g10", "Figure 3": "AP", "Figure 4": "ASL"}
DEEP = {"ASL@g10": "ASL(unretrieved=depth)@g10", "ASL": "ASL(unretrieved=depth)"}
P_LOWS = [i / 10 for i in range(10)]
ASL_LOWS = [1, 2, 5, 10, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000, 10000]
LENGTH_LOWS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000]


# Headroom and Table 1


def measures_of(unretrieved: str = "irrel") -> list[str]:
    """The measures of the figures, and the search lengths whose missed docs lie at the end."""
    deep = [] if unretrieved == "depth" else [*DEEP.values()]
    return [*FIGURES.values(), *deep]


def missed_shares(track: Track, rel: int = 1) -> dict[str, float]:
    """The share of the relevant docs of all queries that each system does not retrieve."""
    return {
        s: mean(not there for _, there in doc_lengths(track, s, rel).values())
        for s in track["runs"]
    }


def middle(values: Iterable[float]) -> float:
    """The median."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def misses(track: Track, measure: str, system: str, rel: int = 1) -> Row:
    """What a system misses that a search length calls the best; nothing by other measures."""
    if not less_is_better(measure):
        return {"missed": None, "median_missed": None, "short": False}
    shares = missed_shares(track, rel)
    own, half = shares[system], middle(shares.values())
    return {"missed": own, "median_missed": half, "short": own > half + 1e-12}


def headroom(track: Track, rel: int = 1, unretrieved: str = "irrel", best_by: str = "") -> list:
    """The best system's value and the median system's, of each figure's measure."""
    rows: list[Row] = []
    for measure in measures_of(unretrieved):
        best = best_system(track, best_by or measure, rel, unretrieved)
        if best is not None:
            means = judged_means(track, measure, rel, unretrieved)
            half = median_system(track, rel, unretrieved, best_by or measure)
            rows.append({"track": track["name"], "measure": measure, "system": best})
            rows[-1] |= {"value": means[best], "median": means[half]}
            rows[-1] |= {"chosen_by": best_by or measure, **misses(track, measure, best, rel)}
    return sorted(rows, key=lambda row: row["measure"])


def bucket_counts(values: list[float], lows: list[float], closed: bool) -> list[Row]:
    """How many lie in each [low, next low); the last has no end, or ends at a closed 1.

    A bucket below the first low is there only if anything lies in it. Values are rounded to 12
    digits, so that a mean of 0.3 is not below 0.3.
    """
    ends = list(zip(lows, [*lows[1:], 1.0 if closed else None], strict=True))
    values = [round(v, 12) for v in values]
    if any(v < lows[0] for v in values):
        ends.insert(0, (None, lows[0]))
    rows = []
    for low, high in ends:
        above = [v for v in values if low is None or v >= low]
        last = high is None or (closed and high == 1.0)
        inside = [v for v in above if last or v < high]
        share = len(inside) / len(values) if values else 0.0
        rows.append({"low": low, "high": high, "tracks": len(inside), "share": share})
    return rows


def best_values(rows: list[Row], measure: str) -> list[float]:
    """The best system's value of every track that has one."""
    return [row["value"] for row in rows if row["measure"] == measure]


def distributions(tracks: list[Track], **choices) -> list[Row]:
    """Figures 1 to 4, and those of search lengths under unretrieved=depth."""
    figures = dict(FIGURES)
    if choices.get("unretrieved") != "depth":
        figures |= {f"{f}, unretrieved=depth": DEEP[m] for f, m in FIGURES.items() if m in DEEP}
    rows = []
    every = [row for track in tracks for row in headroom(track, **choices)]
    for figure, measure in figures.items():
        less = less_is_better(measure)
        best = [row for row in every if row["measure"] == measure]
        lows = ASL_LOWS if less else P_LOWS
        counts = bucket_counts([row["value"] for row in best], lows, closed=not less)
        short = bucket_counts([row["value"] for row in best if row["short"]], lows, closed=not less)
        by = {row["low"]: row["tracks"] for row in short}
        rows += [
            {"figure": figure, "measure": measure, **row, "short": by.get(row["low"], 0)}
            for row in counts
        ]
    return rows


def classes(tracks: list[Track], **choices) -> list[Row]:
    """Section 4.2: best P@20 in three classes, best MAP below .1, best lengths over some ranks."""
    rows = []
    every = [row for track in tracks for row in headroom(track, **choices)]
    for measure in measures_of(choices.get("unretrieved", "irrel")):
        values = [round(v, 12) for v in best_values(every, measure)]
        bounds = [10, 20, 30, 100] if measure.endswith("@g10") else [10, 100]
        for bound in bounds if measure.startswith("ASL") else []:
            over = sum(v > bound for v in values)
            share = over / len(values) if values else 0.0
            row = {"measure": measure, "low": bound, "high": None}
            rows.append(row | {"tracks": over, "share": share})
    low = bucket_counts(best_values(every, "AP"), [0, 0.1], closed=True)[:1]
    counts = bucket_counts(best_values(every, "P@20"), [0, 0.3, 0.5], closed=True)
    return [
        *rows,
        *({"measure": "AP", **row} for row in low),
        *({"measure": "P@20", **row} for row in counts),
    ]


def rrie(baseline: float, contender: float, direction: int) -> float:
    """Eq. 11 where greater is better (1), Eq. 12 for lengths (-1).

    NaN from a baseline that is perfect, or where either has less than no error: Eq. 3 can make a
    length 0.
    """
    if direction > 0:
        before, after = 1 - baseline, 1 - contender
    else:
        before, after = baseline - 1, contender - 1
    return (before - after) / before if before > 0 and after >= 0 else math.nan


def groups(track: Track, baseline: str, contender: str, **choices) -> list[Row]:
    """Table 1 for two systems by name."""
    rows = []
    for measure in sorted(measures_of(choices.get("unretrieved", "irrel"))):
        means = judged_means(track, measure, **choices)
        b, c = means[baseline], means[contender]
        row = {"track": track["name"], "measure": measure}
        row |= {"baseline": baseline, "contender": contender}
        row |= {"baseline_value": b, "contender_value": c}
        rows.append({**row, "rrie": rrie(b, c, -1 if less_is_better(measure) else 1)})
    return rows


# Figures 5 and 6


def bucket_width(longest: float, bars: int) -> int:
    """The least of 1, 2, 5, 10, 20, 50, ... of which `bars` reach from 1 to `longest`."""
    return next(w for w in (d * 10**n for n in range(9) for d in (1, 2, 5)) if w * bars >= longest)


def length_bucket(length: float, retrieved: bool = True, width: int | None = None) -> Bucket:
    """(low, high) of a search length; (None, None) of a doc not retrieved, (100000, None) last.

    With a width, the buckets are 1 to width, width + 1 to 2 width, and so on.
    """
    if not retrieved:
        return None, None
    if width is not None:
        high = math.ceil(length / width) * width
        return high - width + 1, high
    low = max(low for low in LENGTH_LOWS if low <= length)
    later = [other for other in LENGTH_LOWS if other > length]
    return low, (later[0] - 1 if later else None)


def difference_bucket(difference: float, width: int | None = None) -> tuple[int, int]:
    """(low, high) of a difference: 0, 1, 2-4, 5-9, 10-19, 20-49, ..., mirrored below zero.

    With a width, the buckets are 0, 1 to width, width + 1 to 2 width, and so on.
    """
    if difference < 0:
        low, high = difference_bucket(-difference, width)
        return -high, -low
    if difference == 0:
        return 0, 0
    if width is not None:
        high = math.ceil(difference / width) * width
        return high - width + 1, high
    low, factors = 1, [2, 2.5, 2]  # 1, 2, 5, 10, 20, 50, ...
    while True:
        following = int(low * factors[0])
        if difference < following:
            return low, following - 1
        low, factors = following, [*factors[1:], factors[0]]


def doc_lengths(
    track: Track, system: str, rel: int = 1, unretrieved: str = "irrel"
) -> dict[tuple[str, str], tuple[float, bool]]:
    """(length, whether retrieved) of every (query, relevant doc) in a system's lists: Eqs. 2, 3."""
    found = {}
    for q in relevant_queries(track, rel):
        docs, qrels = track["runs"][system].get(q), track["qrels"][q]
        lengths = naive.search_lengths(docs, qrels, rel, unretrieved, deepest_rank(track))
        for doc, length in lengths.items():
            found[q, doc] = length, doc in (docs or [])
    return found


def length_histogram(
    track: Track,
    system: str | None = None,
    rel: int = 1,
    unretrieved: str = "irrel",
    buckets: str = "linear",
) -> list[Row]:
    """Figure 5, by default of the best system by ASL: the buckets with a doc, unretrieved last.

    Linear buckets, at most 20, reach to the longest length of any system.
    """
    system = system or best_system(track, "ASL", rel, unretrieved)
    if system is None:
        return []
    found = doc_lengths(track, system, rel, unretrieved).values()
    everywhere = [doc_lengths(track, s, rel, unretrieved).values() for s in track["runs"]]
    longest = max(
        (length for docs in everywhere for length, retrieved in docs if retrieved), default=1
    )
    width = bucket_width(longest, 20) if buckets == "linear" else None
    counts = Counter(length_bucket(length, retrieved, width) for length, retrieved in found)
    return [
        {"track": track["name"], "system": system, "low": low, "high": high, "docs": docs}
        for (low, high), docs in sorted(counts.items(), key=lambda item: item[0][0] or math.inf)
    ]


def difference_histogram(
    track: Track,
    rel: int = 1,
    unretrieved: str = "irrel",
    measure: str = "ASL",
    buckets: str = "linear",
) -> list[Row]:
    """Figure 6: SL(best) - SL(median) of every relevant doc, by who retrieves it.

    Linear buckets, at most 10 on a side, reach to the greatest difference.
    """
    best = best_system(track, measure, rel, unretrieved)
    median = median_system(track, rel, unretrieved, measure)
    if best is None:
        return []
    choice = "depth" if measure in DEEP.values() else unretrieved
    a = doc_lengths(track, best, rel, choice)
    b = doc_lengths(track, median, rel, choice)
    most = max(abs(a[doc][0] - b[doc][0]) for doc in a)
    width = bucket_width(most, 10) if buckets == "linear" else None
    who = {(True, True): "both", (True, False): "best", (False, True): "median"}
    counts = Counter(
        (
            difference_bucket(a[doc][0] - b[doc][0], width),
            who.get((a[doc][1], b[doc][1]), "neither"),
        )
        for doc in a
    )
    common = {"track": track["name"], "measure": measure, "best": best, "median": median}
    return [
        {**common, "low": low, "high": high, "docs": docs, "retrieved": retrieved}
        for ((low, high), retrieved), docs in sorted(counts.items())
    ]


def depth_sensitivity(track: Track, measure: str, depth: int = 100, **choices) -> Row:
    """Footnote 6: the best system and its mean, whole and with all lists cut at `depth`."""
    less = less_is_better(measure)
    shallow = cut(track, depth)
    whole, part = (judged_means(t, measure, **choices) for t in (track, shallow))
    best, best_cut = (best_system(t, measure, **choices) for t in (track, shallow))
    row: Row = {"track": track["name"], "measure": measure, "depth": depth}
    row |= {"best": best, "value": whole[best], "best_cut": best_cut, "value_cut": part[best_cut]}
    rel = choices.get("rel", 1)
    row |= {"short": misses(track, measure, best, rel)["short"]}
    row |= {"short_cut": misses(shallow, measure, best_cut, rel)["short"]}
    # Both orders are by the same queries: a cut changes no judgment.
    queries = relevant_queries(track, rel) if less else track["qrels"]
    return {**row, "queries": len(queries), "tau": tau_b(whole, part, (less, less))}
