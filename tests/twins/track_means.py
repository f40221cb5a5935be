"""Slow, obvious values and means of a whole track, and the order of systems by them.

They share no code with irmeta. A track is {"name": str, "runs": {system: {query: [doc, ...]}},
"qrels": {query: {doc: grade}}}, lists best first. Values are {system: {query: float}}.
"""

import math
from collections.abc import Iterable

from twins import gain as naive_gain
from twins import measures as naive
from twins import orders as naive_orders
from twins.measures import Qrels, Ranking

Track = dict
Values = dict[str, dict[str, float]]


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean; NaN of nothing."""
    return naive_orders.mean(list(values))


def sd(values: Iterable[float]) -> float:
    """The sample standard deviation; NaN of fewer than two."""
    values = list(values)
    if len(values) < 2:
        return math.nan
    return math.sqrt(math.fsum((v - mean(values)) ** 2 for v in values) / (len(values) - 1))


def has_lengths(track: Track, rel: int = 1) -> bool:
    """Whether most lists hold a doc that is not relevant: without, search lengths say nothing.

    Those of queries with a relevant doc count.
    """
    holds = [
        len(naive.relevant_ranks(run[q], track["qrels"][q], rel)) < len(run[q])
        for run in track["runs"].values()
        for q in relevant_queries(track, rel)
        if q in run
    ]
    return bool(relevant_queries(track, rel)) and 2 * sum(holds) >= len(holds)


def relevant_queries(track: Track, rel: int = 1) -> list[str]:
    """The queries with a relevant doc, by name."""
    return sorted(q for q, qrels in track["qrels"].items() if naive.relevant_docs(qrels, rel))


def deepest_rank(track: Track) -> int:
    """The length of the longest list, whether or not its query was judged."""
    return max((len(docs) for run in track["runs"].values() for docs in run.values()), default=0)


def highest_grade(track: Track) -> int:
    """The greatest grade of any doc of any query."""
    return max(grade for qrels in track["qrels"].values() for grade in qrels.values())


def cut(track: Track, depth: int) -> Track:
    """The track with every list cut at this rank."""
    runs = {s: {q: docs[:depth] for q, docs in run.items()} for s, run in track["runs"].items()}
    return {**track, "runs": runs}


def less_is_better(measure: str) -> bool:
    """Whether the measure is a search length."""
    return measure.startswith("ASL")


def value_of(
    track: Track, measure: str, ranking: Ranking, qrels: Qrels, rel: int, unretrieved: str
) -> float:
    """One value: P@k, AP, RR, nDCG, RBP (p=0.8), ERR (exp, the track's gmax), ASL, ASL@gN."""
    name, _, k = measure.partition("@")
    if name == "ASL(unretrieved=depth)":
        name, unretrieved = "ASL", "depth"
    if name == "ASL":
        first = int(k[1:]) if k else None
        return naive.asl(ranking, qrels, first, rel, unretrieved, deepest_rank(track))
    return {
        "P": lambda: naive.precision(ranking, qrels, int(k), rel),
        "AP": lambda: naive.average_precision(ranking, qrels, rel=rel),
        "RR": lambda: naive.reciprocal_rank(ranking, qrels, rel=rel),
        "nDCG": lambda: naive.ndcg(ranking, qrels),
        "RBP": lambda: naive.rbp(ranking, qrels, 0.8, rel),
        "ERR": lambda: naive_gain.err(ranking, qrels, None, "exp", highest_grade(track)),
    }[name]()


def per_query(
    track: Track,
    measure: str,
    rel: int = 1,
    unretrieved: str = "irrel",
    queries: Iterable[str] | None = None,
) -> Values:
    """The measure of every system, by default on queries with a relevant doc (nDCG, ERR: >= 1)."""
    rel = 1 if measure in ("nDCG", "ERR") else rel
    queries = relevant_queries(track, rel) if queries is None else queries
    return {
        system: {
            q: value_of(track, measure, run.get(q), track["qrels"][q], rel, unretrieved)
            for q in queries
        }
        for system, run in track["runs"].items()
    }


def means_of(values: Values) -> dict[str, float]:
    """The mean over queries of each system that has one."""
    return {s: mean(row.values()) for s, row in values.items() if row}


def judged_means(
    track: Track, measure: str, rel: int = 1, unretrieved: str = "irrel"
) -> dict[str, float]:
    """The mean over all judged queries: without a relevant doc P and AP are 0, and ASL not there.

    Nothing at all for a track without a relevant doc.
    """
    if not relevant_queries(track, rel):
        return {}
    queries = relevant_queries(track, rel) if less_is_better(measure) else track["qrels"]
    return means_of(per_query(track, measure, rel, unretrieved, queries))


def digits12(means: dict[str, float]) -> dict[str, float]:
    """The means rounded to 12 significant digits of the greatest, so that equal ones are equal."""
    greatest = max((abs(m) for m in means.values()), default=0.0)
    if greatest == 0:
        return means
    return {s: round(m, 11 - math.floor(math.log10(greatest))) for s, m in means.items()}


def in_order(means: dict[str, float], less: bool) -> list[str]:
    """The systems, best first, ties by name."""
    rounded = digits12(means)
    return sorted(means, key=lambda s: (rounded[s] if less else -rounded[s], s))


def best_system(track: Track, measure: str, rel: int = 1, unretrieved: str = "irrel") -> str | None:
    """The system with the best mean; None where there is no mean."""
    means = judged_means(track, measure, rel, unretrieved)
    return next(iter(in_order(means, less_is_better(measure))), None)


def median_system(
    track: Track, rel: int = 1, unretrieved: str = "irrel", measure: str = "ASL"
) -> str | None:
    """The middle one in order of ASL, of an even count the better of two: Section 4.5."""
    means = judged_means(track, measure, rel, unretrieved)
    names = in_order(means, less_is_better(measure))
    return names[(len(names) - 1) // 2] if names else None


def tau_b(old: dict[str, float], new: dict[str, float], less: tuple[bool, bool]) -> float:
    """tau-b between two orders of the systems by mean, each in its own direction."""
    x, y = digits12(old), digits12(new)
    return naive_orders.kendall_tau_b(
        [-x[s] if less[0] else x[s] for s in old], [-y[s] if less[1] else y[s] for s in old]
    )
