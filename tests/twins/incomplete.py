"""Twins of what is done about docs without a judgement, and of the depth of the pool.

A doc is unjudged if the qrels do not have it, or if its grade is negative and negative="unjudged".
`depths` is each judged doc's pool depth, as `pool_depths` has it; math.inf: nobody lists it.
"""

import math
from collections.abc import Iterable

from twins.gain import (
    Gain,
    dcg_of,
    err_of,
    gain_of,
    gains_of,
    ideal_gains,
    only_relevant,
    q_sum,
    tied_weights,
)
from twins.measures import Qrels, Ranking, average_precision, relevant_docs


class Depths(dict[str, float]):
    """Each judged doc's pool depth, and the depth to which the pool is complete."""

    complete = 0


def judged_docs(qrels: Qrels, negative: str = "unjudged") -> set[str]:
    """The docs with a judgement."""
    return {doc for doc, grade in qrels.items() if grade >= 0 or negative == "nonrelevant"}


def condensed(ranking: Ranking, qrels: Qrels, negative: str = "unjudged") -> list[str]:
    """Paper 3, "condensed runs"; form_res_rels.c with -J: the list without its unjudged docs."""
    return [doc for doc in ranking or [] if doc in judged_docs(qrels, negative)]


def condensed_blocks(
    blocks: list[list[str]], qrels: Qrels, negative: str = "unjudged"
) -> list[list[str]]:
    """The condensed list, where docs that were tied still are."""
    left = [condensed(block, qrels, negative) for block in blocks]
    return [block for block in left if block]


def judged_share(
    ranking: Ranking, qrels: Qrels, k: int | None = None, negative: str = "unjudged"
) -> float:
    """Judged@k: judged docs at ranks <= k, over the docs there; 0 for no list."""
    head = (ranking or [])[:k]
    return len(condensed(head, qrels, negative)) / len(head) if head else 0.0


def unjudged_share(ranking: Ranking, qrels: Qrels, k: int, negative: str = "unjudged") -> float:
    """m_unjudged.c: unjudged docs at ranks <= k, over k."""
    head = (ranking or [])[:k]
    return (len(head) - len(condensed(head, qrels, negative))) / k


def first_unjudged(ranking: Ranking, qrels: Qrels, negative: str = "unjudged") -> int:
    """The rank of the first unjudged doc; the rank after the last, if all are judged."""
    judged = judged_docs(qrels, negative)
    for rank, doc in enumerate(ranking or [], start=1):
        if doc not in judged:
            return rank
    return len(ranking or []) + 1


def upper_gains(
    ranking: Ranking,
    qrels: Qrels,
    gain: Gain = "binary",
    gmax: int = 1,
    rel: int = 1,
    unjudged: str = "upper",
    negative: str = "unjudged",
) -> list[float]:
    """Paper 3, "computed score ranges": the gains where unjudged docs are as good as they may be.

    "upper": they gain 1. "upper-gmax": they gain what the highest grade does.
    """
    best = {"upper": 1.0, "upper-gmax": gain_of(gmax, gain, gmax, rel)}[unjudged]
    judged = judged_docs(qrels, negative)
    known = gains_of(ranking, qrels, gain, gmax, rel)
    return [g if doc in judged else best for doc, g in zip(ranking or [], known, strict=True)]


def precision_of(gains: list[float], k: int) -> float:
    """Precision at k of a list with these gains, 0 or 1."""
    return sum(gains[:k]) / k


def success_of(gains: list[float], k: int) -> float:
    """Success at k of a list with these gains, 0 or 1."""
    return max(gains[:k], default=0.0)


def reciprocal_rank_of(gains: list[float], k: int | None = None) -> float:
    """Reciprocal rank to k of a list with these gains, 0 or 1."""
    return max((g / rank for rank, g in enumerate(gains[:k], start=1)), default=0.0)


def rbp_of(gains: list[float], p: float, k: int | None = None) -> float:
    """RBP to k of a list with these gains."""
    return sum(((1 - p) * p**place * g for place, g in enumerate(gains[:k])), start=0.0)


def rbp_residual(
    ranking: Ranking,
    qrels: Qrels,
    p: float,
    k: int | None = None,
    tail: str = "always",
    negative: str = "unjudged",
) -> float:
    """Moffat and Zobel's residual: the weight of unjudged docs (to k) and of all ranks below.

    m_rbp_resid.c, for "trec_eval10", leaves the tail out where no doc of the list is unjudged.
    """
    blocks = [[doc] for doc in ranking or []]
    return rbp_residual_tied(blocks, qrels, p, k, tail, negative)


def rbp_residual_tied(
    blocks: list[list[str]],
    qrels: Qrels,
    p: float,
    k: int | None = None,
    tail: str = "always",
    negative: str = "unjudged",
) -> float:
    """rbp_eval's rbp.c: the residual where tied docs share their weights as in `tied_weights`."""
    docs = [doc for block in blocks for doc in block]
    weights = tied_weights(blocks, lambda rank: (1 - p) * p ** (rank - 1), k)
    judged = judged_docs(qrels, negative)
    unjudged = [weight for doc, weight in zip(docs, weights, strict=True) if doc not in judged]
    if tail == "trec_eval10" and not unjudged:
        return 0.0
    return sum(unjudged) + p ** len(docs[:k])


def err_residual(
    ranking: Ranking,
    qrels: Qrels,
    k: int | None = None,
    form: str = "product",
    stop: str = "exp",
    gmax: int = 1,
) -> float:
    """Paper 3, after Eq. 4: what ERR@k may still gain below k, for this list or for any."""
    deepest = len(ranking or []) if k is None else k
    reading = 1.0
    if form == "product":
        reading = math.prod(1 - g for g in gains_of(ranking, qrels, stop, gmax)[:k])
    return reading / (deepest + 1)


def err_residual_with_unjudged(upper: list[float], known: list[float], k: int | None) -> float:
    """The most that ERR could be, minus ERR@k, from `upper_gains` and the gains of judged docs.

    The doc after the last of the list, or after rank k, may end the search.
    """
    return err_of([*upper[:k], 1.0]) - err_of(known[:k])


def inferred_ap(ranking: Ranking, qrels: Qrels, rel: int = 1, negative: str = "unjudged") -> float:
    """m_infap.c: AP where precision above a relevant doc is estimated from the judged docs there.

    A doc that the qrels do not have is out of the pool; one with a negative grade is in it, but
    unjudged, and as likely to be relevant as the judged ones are.
    """
    epsilon = 0.00001
    pooled = relevant = nonrelevant = 0
    total = 0.0
    for above, doc in enumerate(ranking or []):
        if doc not in qrels:
            continue
        if qrels[doc] >= rel:
            total += 1 / (above + 1)
            if above:
                share = (relevant + epsilon) / (relevant + nonrelevant + 2 * epsilon)
                total += above / (above + 1) * pooled / above * share
            relevant += 1
        elif doc in judged_docs(qrels, negative):
            nonrelevant += 1
        pooled += 1
    r = len(relevant_docs(qrels, rel))
    return total / r if r else 0.0


def complete_depth(contributing: Iterable[Ranking], qrels: Qrels) -> int:
    """The greatest d at which all docs in the top d of all contributing lists are in the qrels."""
    lists = [ranking or [] for ranking in contributing]
    depth = 0
    while depth < max(map(len, lists), default=0):
        if any(doc not in qrels for ranking in lists for doc in ranking[: depth + 1]):
            break
        depth += 1
    return depth


def pool_depths(contributing: Iterable[Ranking], qrels: Qrels) -> Depths:
    """The least rank at which a contributing system has each doc of the qrels."""
    lists = list(contributing)
    depths = Depths.fromkeys(qrels, math.inf)
    depths.complete = complete_depth(lists, qrels)
    for ranking in lists:
        for rank, doc in enumerate(ranking or [], start=1):
            if doc in depths:
                depths[doc] = min(depths[doc], rank)
    return depths


def pooled_to(qrels: Qrels, depths: Depths, k: int) -> Qrels:
    """What a pool of depth k would have judged."""
    return {doc: grade for doc, grade in qrels.items() if depths[doc] <= k}


def pooled_at(qrels: Qrels, depths: Depths, k: int) -> Qrels | None:
    """What a pool of depth k would have judged; None if that is no less deep than the real pool."""
    return None if k >= depths.complete else pooled_to(qrels, depths, k)


def ap_min(ranking: Ranking, qrels: Qrels, k: int, rel: int = 1) -> float:
    """Paper 3, Eq. 2: AP to rank k over min(R, k)."""
    r = len(relevant_docs(qrels, rel))
    return average_precision(ranking, qrels, k, rel) * r / min(r, k) if r else 0.0


def ap_pool(ranking: Ranking, qrels: Qrels, depths: Depths, k: int, rel: int = 1) -> float:
    """Paper 3, Table 2, AP's c: what a pool of depth k would have judged is all there is."""
    if not depths.complete:
        return math.nan
    pooled = pooled_at(qrels, depths, k)
    if pooled is None:
        return average_precision(ranking, qrels, k, rel)
    if not relevant_docs(pooled, rel):
        return math.nan
    return average_precision(ranking, pooled, k, rel)


def ndcg_pool(
    ranking: Ranking,
    qrels: Qrels,
    depths: Depths,
    k: int,
    gain: Gain = "grade",
    gmax: int = 1,
    how: str = "log2",
    b: float = 2,
) -> float:
    """Paper 3, Table 2, NDCG's b: what a pool of depth k would have judged is all there is."""
    if not depths.complete:
        return math.nan
    pooled = pooled_at(qrels, depths, k)
    ideal = dcg_of(ideal_gains(qrels if pooled is None else pooled, gain, gmax)[:k], how, b)
    if not ideal:
        return 0.0 if pooled is None else math.nan
    gains = gains_of(ranking, qrels if pooled is None else pooled, gain, gmax)
    return dcg_of(gains[:k], how, b) / ideal


def q_pool(
    ranking: Ranking,
    qrels: Qrels,
    depths: Depths,
    k: int,
    norm: str = "pool",
    ideal: str = "pool",
    beta: float = 1,
    gain: Gain = "grade",
    gmax: int = 1,
    rel: int = 1,
) -> float:
    """Paper 3, Table 2, QM with norm="pool" (its c), ideal="pool" (its ii) or both.

    Either makes the list's docs that a pool of depth k would not have judged unjudged.
    """
    if not depths.complete:
        return math.nan
    pooled = pooled_at(qrels, depths, k)
    r, r_k = len(relevant_docs(qrels, rel)), len(relevant_docs(pooled or {}, rel))
    if pooled is None:
        pooled, r_k = qrels, r
    elif norm == "pool" and not r_k:
        return math.nan
    divisor = {"all": r, "min": min(r, k), "pool": r_k}[norm]
    best = ideal_gains(only_relevant(pooled if ideal == "pool" else qrels, rel), gain, gmax, rel)
    total = q_sum(ranking, pooled, best, k, beta, gain, gmax, rel)
    return total / divisor if divisor else 0.0
