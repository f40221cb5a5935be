"""Slow, obvious twins of the study of paper 1: Table 2, Sections 3.1 and 4.4, Appendix A.1.

Written from the paper; they share no code with irmeta. `twins.track_means` says what a track
is, and `twins.atomized` has the twins of all other tables.
"""

import math
import statistics
from collections.abc import Iterable
from fractions import Fraction

from twins import measures as naive
from twins import stats as naive_stats
from twins.atomized import Row
from twins.measures import Qrels, Ranking
from twins.track_means import (
    Track,
    Values,
    best_system,
    deepest_rank,
    highest_grade,
    judged_means,
    mean,
    means_of,
    per_query,
    relevant_queries,
    sd,
    tau_b,
)

# The chain from a measure to lengths

FULL_CHAINS = ("AP", "nDCG", "RBP", "ERR")
SHORT_CHAINS = {"P@20": "ASL@g10", "RR": "ASL@g1"}
Stage = tuple[Values, bool, dict[str, int]]  # values, whether less is better, better counts


def discount(name: str, length: float) -> float:
    """c(r): what a doc at rank r is worth, or a mean length in P space."""
    if name == "nDCG":
        return 1 / math.log2(1 + length)
    return 0.8 ** (length - 1) if name == "RBP" else 1 / length


def weight(name: str, grade: int, gmax: int) -> float:
    """w_d of a relevant doc."""
    if name == "nDCG":
        return float(grade)
    return (2**grade - 1) / 2**gmax if name == "ERR" else 1.0


def chain_values(
    track: Track, name: str, rel: int = 1, unretrieved: str = "floor"
) -> list[tuple[Values, bool]]:
    """The values after steps 0 (the old measure) to 3, and whether less is better."""
    old = (per_query(track, name, rel), False)
    if name in SHORT_CHAINS:
        return [old, (per_query(track, SHORT_CHAINS[name], rel, unretrieved), True)]
    rel = 1 if name in ("nDCG", "ERR") else rel
    atomized, docs, lengths = ({s: {} for s in track["runs"]} for _ in range(3))
    for s, run in track["runs"].items():
        for q in relevant_queries(track, rel):
            qrels = track["qrels"][q]
            sl = naive.search_lengths(run.get(q), qrels, rel, unretrieved, deepest_rank(track))
            w = {d: weight(name, qrels[d], highest_grade(track)) for d in sl}
            total = math.fsum(w.values())
            atomized[s][q] = math.fsum(w[d] * discount(name, sl[d]) for d in sl) / total
            lengths[s][q] = math.fsum(w[d] * sl[d] for d in sl) / total
            docs[s][q] = discount(name, lengths[s][q])
    return [old, (atomized, False), (docs, False), (lengths, True)]


def better_counts(values: Values, less: bool) -> dict[str, int]:
    """How many systems are better than each: ratio of means >= 1.10, and paired t, p <= .05."""
    systems = sorted(values)
    means, direction = means_of(values), -1 if less else 1
    # The ratio first: most tests need not be computed then.
    return {
        s: sum(
            naive_stats.ratio_in_favour(means[other], means[s], direction) >= 1.10 - 1e-12
            and naive_stats.t_p(*([values[name][q] for q in values[s]] for name in (other, s)))
            <= 0.05
            for other in systems
        )
        for s in systems
    }


def step(name: str, old: Stage, new: Stage) -> Row:
    """What a change of measure does to the systems of a track: Section 4.4.

    better_old, better_new, moved and value (new / old in P space; NaN where old is 0) have one
    entry a system.
    """
    systems = sorted(old[0])
    means = [means_of(values) for values, _, _ in (old, new)]
    better = [old[2], new[2]]
    worth = [
        {s: discount(name, m[s]) if less else m[s] for s in systems}
        for m, less in zip(means, (old[1], new[1]), strict=True)
    ]
    moved = {s: 100 * abs(better[0][s] - better[1][s]) / len(systems) for s in systems}
    value = {s: worth[1][s] / worth[0][s] if worth[0][s] else math.nan for s in systems}
    return {
        "old": old[0],
        "new": new[0],
        "better_old": better[0],
        "better_new": better[1],
        "moved": moved,
        # the first of those that tie; None where none moves
        "furthest": max(systems, key=lambda s: moved[s]) if max(moved.values()) else None,
        "delta_sort": max(moved.values()),
        "tau": tau_b(*means, (old[1], new[1])),
        "value": value,
        "delta_value": mean(v for v in value.values() if not math.isnan(v)),
        "left_out": sum(math.isnan(v) for v in value.values()),
        "systems": len(systems),
        "queries": len(old[0][systems[0]]),
    }


def chain(track: Track, name: str, rel: int = 1, unretrieved: str = "floor") -> dict[int, Row]:
    """Steps 1, 2, 3 against the one before and 0, the cumulative one; {} without a query.

    "P@20" and "RR" have step 0 alone.
    """
    values = chain_values(track, name, rel, unretrieved)
    if not means_of(values[0][0]):
        return {}
    stages = [(rows, less, better_counts(rows, less)) for rows, less in values]
    found = {0: step(name, stages[0], stages[-1])}
    if name in FULL_CHAINS:
        for i in (1, 2, 3):
            found[i] = step(name, stages[i - 1], stages[i])
    return found


def reordering(track: Track, name: str, rel: int = 1, unretrieved: str = "floor") -> list[Row]:
    """The table's rows, without the names of the old and new measure."""
    columns = ("delta_sort", "tau", "delta_value", "left_out", "systems", "queries", "furthest")
    rows = []
    for number, found in chain(track, name, rel, unretrieved).items():
        row: Row = {"track": track["name"], "chain": name, "step": number}
        row |= {column: found[column] for column in columns}
        row |= {
            which: found[which].get(found["furthest"]) for which in ("better_old", "better_new")
        }
        rows.append(row)
    return rows


def moves(track: Track, name: str, rel: int = 1, unretrieved: str = "floor") -> list[Row]:
    """The table's rows: one a step and system."""
    columns = ("better_old", "better_new", "moved", "value")
    return [
        {"track": track["name"], "chain": name, "step": number, "system": system}
        | {column: found[column][system] for column in columns}
        for number, found in chain(track, name, rel, unretrieved).items()
        for system in sorted(found["moved"])
    ]


# Docs that are not retrieved


def best_by_choice(track: Track, rel: int = 1) -> list[Row]:
    """Who is best by AP, P@20, RR, and ASL under each choice; how much it misses, and its lists.

    The measure is (name, choice), the choice None where there is none.
    """
    queries = relevant_queries(track, rel)
    relevant = [(q, d) for q in queries for d in naive.relevant_docs(track["qrels"][q], rel)]
    missed = {
        s: mean(float(d not in run.get(q, [])) for q, d in relevant)
        for s, run in track["runs"].items()
    }
    rows: list[Row] = []
    pairs = [(name, None) for name in ("AP", "P@20", "RR")]
    choices = ("irrel", "floor", "irrel+1", "depth")
    pairs += [(name, how) for name in ("ASL", "ASL@g10", "ASL@g1") for how in choices]
    for name, how in pairs if relevant else ():
        best = best_system(track, name, rel, how or "irrel")
        value = judged_means(track, name, rel, how or "irrel")[best]
        sizes = [len(track["runs"][best].get(q, [])) for q in track["qrels"]]
        row: Row = {"track": track["name"], "measure": (name, how), "system": best}
        row |= {"value": value, "missed": missed[best], "rows": mean(sizes)}
        rows.append({**row, "median_missed": statistics.median(missed.values())})
    return rows


# Appendix A.1


def weight_identity(lengths: list[float]) -> tuple[float, float]:
    """Both sides of Eq. 14, with P = 1/SL and the weights w = 1/SL of Eq. 15."""
    precisions = [1 / length for length in lengths]
    weights = [1 / length for length in lengths]
    left = len(lengths) / math.fsum(precisions)
    weighted = [length * w for length, w in zip(lengths, weights, strict=True)]
    return left, math.fsum(weighted) / math.fsum(weights)


def equivalent_lengths(lengths: list[float]) -> list[float]:
    """w SL + (1 - w) H, whose unweighted mean is H, the harmonic mean of SL; w = 1/SL."""
    harmonic = len(lengths) / math.fsum(1 / length for length in lengths)
    return [1 / length * length + (1 - 1 / length) * harmonic for length in lengths]


def nearest_prefix(parts: list[tuple[Fraction, Fraction]], target: Fraction) -> int:
    """How many (length, weight) from the front have the weighted mean nearest to the target.

    The greatest count of those that tie, within 1e-12 of the target.
    """
    distances = []
    total = weights = Fraction(0)
    for length, w in parts:
        total, weights = total + length * w, weights + w
        distances.append(abs(total / weights - target))
    limit = min(distances) + target / 10**12
    return max(i for i, distance in enumerate(distances, start=1) if distance <= limit)


def effective_count(lengths: Iterable[float | Fraction], relevant: int) -> int | None:
    """n of Appendix A.1, from 1/P of the retrieved of `relevant` docs; None where AP is 0."""
    exact = sorted(Fraction(length) for length in lengths)
    if not exact:
        return None
    target = relevant / sum(1 / length for length in exact)  # 1 / AP
    return nearest_prefix([(length, Fraction(1)) for length in exact], target)


def inverse_precisions(ranking: Ranking, qrels: Qrels, rel: int = 1) -> list[Fraction]:
    """1/P of the retrieved relevant docs by rank: Eq. 6."""
    ranks = naive.relevant_ranks(ranking, qrels, rel)
    return [Fraction(rank, found) for found, rank in enumerate(ranks, start=1)]


def effective_per_query(track: Track, system: str, rel: int = 1) -> dict[str, float]:
    """n / n_q of each query; NaN where AP is 0."""
    shares = {}
    for q in relevant_queries(track, rel):
        qrels = track["qrels"][q]
        relevant = len(naive.relevant_docs(qrels, rel))
        lengths = inverse_precisions(track["runs"][system].get(q), qrels, rel)
        n = effective_count(lengths, relevant)
        shares[q] = math.nan if n is None else n / relevant
    return shares


def pooled_fraction(track: Track, system: str, rel: int = 1) -> float:
    """The same over all queries' docs at once, weights 1/n_q; equal lengths stand by query."""
    queries = relevant_queries(track, rel)
    docs = []
    for q in queries:
        qrels = track["qrels"][q]
        share = Fraction(1, len(naive.relevant_docs(qrels, rel)))
        lengths = inverse_precisions(track["runs"][system].get(q), qrels, rel)
        docs += [(length, q, share) for length in lengths]
    if not docs:
        return math.nan
    parts = [(length, share) for length, _, share in sorted(docs)]
    target = len(queries) / sum(share / length for length, share in parts)  # 1 / MAP
    n = nearest_prefix(parts, target)
    return float(sum(share for _, share in parts[:n]) / len(queries))


def effective_fraction(track: Track, rel: int = 1) -> list[Row]:
    """One row a system; `queries` are those with a fraction, `undefined` those with AP = 0."""
    rows = []
    for system in sorted(track["runs"]):
        shares = list(effective_per_query(track, system, rel).values())
        known = [share for share in shares if not math.isnan(share)]
        row: Row = {"track": track["name"], "system": system, "fraction": mean(known)}
        row |= {"pooled": pooled_fraction(track, system, rel), "queries": len(known)}
        rows.append({**row, "undefined": len(shares) - len(known)})
    return rows


def effective_summary(tracks: list[Track], rel: int = 1) -> Row:
    """Mean and sample sd over tracks of each track's mean over systems, undefined ones left out.

    A track of queries with one relevant doc each is left out: its fractions are all 1.
    """
    row: Row = {}
    tracks = [t for t in tracks if max(map(len, relevant_by_query(t, rel)), default=0) > 1]
    for column in ("fraction", "pooled"):
        per_track = []
        for track in tracks:
            values = [row[column] for row in effective_fraction(track, rel)]
            per_track.append(mean(v for v in values if not math.isnan(v)))
        known = [v for v in per_track if not math.isnan(v)]
        row |= {"tracks": max(row.get("tracks", 0), len(known))}
        row |= {column: mean(known), f"{column}_sd": sd(known)}
    return row


def relevant_by_query(track: Track, rel: int) -> list[list[str]]:
    """The relevant docs of each query that has one."""
    every = ([d for d, grade in qrels.items() if grade >= rel] for qrels in track["qrels"].values())
    return [docs for docs in every if docs]
