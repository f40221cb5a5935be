"""Twins of the measures of gain: DCG and its kin, Q, ERR, and what tied docs are worth.

A gain is "grade", "binary" (1 from grade `rel` on), "linear" (g / gmax), "exp"
((2^g - 1) / 2^gmax), "ntcir" (g / (gmax + 1)) or a dict of own gains by grade, where a grade it
does not name keeps gain = grade. Unjudged docs and negative grades gain 0.
"""

import math
from collections.abc import Callable

from twins.measures import Qrels, Ranking, relevant_docs

Gain = str | dict[int, float]


def gain_of(grade: int | None, gain: Gain = "grade", gmax: int = 1, rel: int = 1) -> float:
    """Paper 3, Table 1, where g - 1 in the exponent is a misprint; own gains as in trec_eval."""
    if grade is None or grade < 0:
        return 0.0
    if isinstance(gain, dict):
        return float(gain.get(grade, grade))
    return {
        "grade": float(grade),
        "binary": 1.0 if grade >= rel else 0.0,
        "linear": grade / gmax,
        "exp": (2**grade - 1) / 2**gmax,
        "ntcir": grade / (gmax + 1),
    }[gain]


def gains_of(
    ranking: Ranking, qrels: Qrels, gain: Gain = "grade", gmax: int = 1, rel: int = 1
) -> list[float]:
    """The gain at each rank."""
    return [gain_of(qrels.get(doc), gain, gmax, rel) for doc in ranking or []]


def ideal_gains(qrels: Qrels, gain: Gain = "grade", gmax: int = 1, rel: int = 1) -> list[float]:
    """m_ndcg.c: the gains of all judged docs, best first; it stops where they are not positive."""
    gains = [gain_of(grade, gain, gmax, rel) for grade in qrels.values()]
    return sorted((g for g in gains if g > 0), reverse=True)


def discount(rank: int, how: str = "log2", b: float = 2) -> float:
    """What a gain at this rank is multiplied by; "jk" is Jarvelin and Kekalainen's, with base b."""
    if how == "log2":
        return 1 / math.log2(rank + 1)
    if how == "zipf":
        return 1 / rank
    if how == "jk":
        return 1.0 if rank < b else math.log2(b) / math.log2(rank)
    raise ValueError(how)


def dcg_of(gains: list[float], how: str = "log2", b: float = 2) -> float:
    """Paper 3, Table 2: the sum of gain times discount."""
    return sum((g * discount(rank, how, b) for rank, g in enumerate(gains, start=1)), start=0.0)


def without_low(qrels: Qrels, rel: int) -> Qrels:
    """The judgments of at least a grade above 1; all of them for 1."""
    return qrels if rel == 1 else {doc: grade for doc, grade in qrels.items() if grade >= rel}


def only_relevant(qrels: Qrels, rel: float) -> Qrels:
    """The judgments of relevant docs: only these have a gain in Q (Sakai)."""
    return {doc: qrels[doc] for doc in relevant_docs(qrels, rel)}


def dcg(
    ranking: Ranking,
    qrels: Qrels,
    k: int | None = None,
    gain: Gain = "grade",
    gmax: int = 1,
    how: str = "log2",
    b: float = 2,
    rel: int = 1,
) -> float:
    """DCG of the list, to rank k; `rel` above 1 is the least grade with a gain."""
    return dcg_of(gains_of(ranking, without_low(qrels, rel), gain, gmax, rel)[:k], how, b)


def ndcg(
    ranking: Ranking,
    qrels: Qrels,
    k: int | None = None,
    gain: Gain = "grade",
    gmax: int = 1,
    how: str = "log2",
    b: float = 2,
    rel: int = 1,
) -> float:
    """m_ndcg.c, m_ndcg_cut.c; paper 3, Eq. 3: DCG over that of the ideal list, both to rank k."""
    ideal = dcg_of(ideal_gains(without_low(qrels, rel), gain, gmax, rel)[:k], how, b)
    return dcg(ranking, qrels, k, gain, gmax, how, b, rel) / ideal if ideal else 0.0


def q_sum(
    ranking: Ranking,
    qrels: Qrels,
    ideal: list[float],
    k: int | None = None,
    beta: float = 1,
    gain: Gain = "grade",
    gmax: int = 1,
    rel: int = 1,
) -> float:
    """Paper 3, Table 2, QM without 1/R: the blended ratios at the relevant docs (to k), summed."""
    relevant = set(relevant_docs(qrels, rel))
    gains = gains_of(ranking, only_relevant(qrels, rel), gain, gmax, rel)
    total = 0.0
    for rank, doc in enumerate((ranking or [])[:k], start=1):
        if doc in relevant:
            count = len(relevant.intersection(ranking[:rank]))
            total += (count + beta * sum(gains[:rank])) / (rank + beta * sum(ideal[:rank]))
    return total


def q_measure(
    ranking: Ranking,
    qrels: Qrels,
    k: int | None = None,
    beta: float = 1,
    gain: Gain = "grade",
    gmax: int = 1,
    rel: int = 1,
    norm: str = "all",
) -> float:
    """QM of paper 3, Table 2, over R (norm="all", its a) or min(R, k) (norm="min", its b)."""
    r = len(relevant_docs(qrels, rel))
    divisor = {"all": r, "min": min(r, k or r)}[norm]
    ideal = ideal_gains(only_relevant(qrels, rel), gain, gmax, rel)
    total = q_sum(ranking, qrels, ideal, k, beta, gain, gmax, rel)
    return total / divisor if divisor else 0.0


def err_of(stops: list[float]) -> float:
    """Paper 3, Table 2: 1 / rank, where a reader who may stop at every doc is expected to."""
    total, reading = 0.0, 1.0
    for rank, stop in enumerate(stops, start=1):
        total += reading * stop / rank
        reading *= 1 - stop
    return total


def err(
    ranking: Ranking, qrels: Qrels, k: int | None = None, stop: str = "exp", gmax: int = 1
) -> float:
    """ERR to rank k; `stop` is "exp" (gdeval), "linear" or "ntcir"."""
    return err_of(gains_of(ranking, qrels, stop, gmax)[:k])


def nerr(
    ranking: Ranking, qrels: Qrels, k: int | None = None, stop: str = "exp", gmax: int = 1
) -> float:
    """ERR over that of all judged docs by grade, both to rank k (NTCIR's nERR)."""
    ideal = err_of(ideal_gains(qrels, stop, gmax)[:k])
    return err(ranking, qrels, k, stop, gmax) / ideal if ideal else 0.0


def tied_weights(
    blocks: list[list[str]], weight: Callable[[int], float], k: int | None = None
) -> list[float]:
    """Weight of each doc; tied docs share that of their ranks to k (paper 3, "Breaking Ties")."""
    weights: list[float] = []
    for block in blocks:
        ranks = range(len(weights) + 1, len(weights) + len(block) + 1)
        counted = [rank for rank in ranks if k is None or rank <= k]
        each = sum(weight(rank) for rank in counted) / len(block)
        weights.extend([each] * len(block))
    return weights


def tied_sum(blocks: list[list[str]], gains: list[float], weights: list[float]) -> float:
    """Gain times weight, summed; `gains` and `weights` go with the docs of the blocks in turn."""
    assert sum(len(block) for block in blocks) == len(gains) == len(weights)
    return sum((g * w for g, w in zip(gains, weights, strict=True)), start=0.0)


def precision_tied(blocks: list[list[str]], qrels: Qrels, k: int, rel: int = 1) -> float:
    """Precision to rank k with shared weights."""
    weights = tied_weights(blocks, lambda rank: 1 / k, k)
    return tied_sum(blocks, gains_of(flat(blocks), qrels, "binary", rel=rel), weights)


def recall_tied(blocks: list[list[str]], qrels: Qrels, k: int, rel: int = 1) -> float:
    """Recall to rank k with shared weights; 0 without relevant docs."""
    r = len(relevant_docs(qrels, rel))
    return precision_tied(blocks, qrels, k, rel) * k / r if r else 0.0


def rbp_tied(
    blocks: list[list[str]],
    qrels: Qrels,
    p: float,
    k: int | None = None,
    gain: Gain = "binary",
    gmax: int = 1,
    rel: int = 1,
) -> float:
    """RBP to rank k with shared weights."""
    weights = tied_weights(blocks, lambda rank: (1 - p) * p ** (rank - 1), k)
    return tied_sum(blocks, gains_of(flat(blocks), qrels, gain, gmax, rel), weights)


def dcg_tied(
    blocks: list[list[str]],
    qrels: Qrels,
    k: int | None = None,
    gain: Gain = "grade",
    gmax: int = 1,
    how: str = "log2",
    b: float = 2,
) -> float:
    """DCG to rank k with shared weights."""
    weights = tied_weights(blocks, lambda rank: discount(rank, how, b), k)
    return tied_sum(blocks, gains_of(flat(blocks), qrels, gain, gmax), weights)


def ndcg_tied(
    blocks: list[list[str]],
    qrels: Qrels,
    k: int | None = None,
    gain: Gain = "grade",
    gmax: int = 1,
    how: str = "log2",
    b: float = 2,
) -> float:
    """DCG with shared weights over that of the ideal list, where docs of one grade gain alike."""
    ideal = dcg_of(ideal_gains(qrels, gain, gmax)[:k], how, b)
    return dcg_tied(blocks, qrels, k, gain, gmax, how, b) / ideal if ideal else 0.0


def flat(blocks: list[list[str]]) -> list[str]:
    """The docs of all blocks."""
    return [doc for block in blocks for doc in block]


def ndcg_rel(ranking: Ranking, qrels: Qrels, gain: Gain = "grade") -> float:
    """m_ndcg_rel.c: the mean over docs with a gain of nDCG at their rank; at the end if not found.

    trec_eval prints a negative sum, which own gains may give, as 0.
    """
    gains, ideal = gains_of(ranking, qrels, gain), ideal_gains(qrels, gain)
    if not ideal:
        return 0.0
    at = [rank for rank, g in enumerate(gains, start=1) if g > 0]
    found = sum(dcg_of(gains[:rank]) / dcg_of(ideal[:rank]) for rank in at)
    missed = (len(ideal) - len(at)) * dcg_of(gains) / dcg_of(ideal)
    return max(0.0, found + missed) / len(ideal)


def rndcg(ranking: Ranking, qrels: Qrels, gain: Gain = "grade", rel: int = 1) -> float:
    """m_Rndcg.c: the mean of nDCG at the ranks where the ideal list's gain falls, and at the end.

    The end counts only if the list is longer than the ideal one by more than a doc. No relevant
    doc makes it 0, even if there is a gain.
    """
    gains, ideal = gains_of(ranking, qrels, gain), ideal_gains(qrels, gain)
    if not ideal or not relevant_docs(qrels, rel):
        return 0.0
    falls = [rank for rank in range(1, len(ideal)) if ideal[rank] != ideal[rank - 1]]
    values = [dcg_of(gains[:rank]) / dcg_of(ideal[:rank]) for rank in [*falls, len(ideal)]]
    if len(gains) > len(ideal) + 1:
        values.append(dcg_of(gains) / dcg_of(ideal))
    return sum(values) / len(values)


def g_measure(ranking: Ranking, qrels: Qrels, gain: Gain = "grade") -> float:
    """m_G.c: each gain over log2(2 + what the ideal list has by then and this one lacks).

    A rank at which the ideal list gains less than 1, or is at its end, still costs 1.
    """
    gains, ideal = gains_of(ranking, qrels, gain), ideal_gains(qrels, gain)
    total = cost = own = 0.0
    for place, g in enumerate(gains):
        cost += max(ideal[place] if place < len(ideal) else 0.0, 1.0)
        own += g
        total += g / math.log2(2 + cost - own)
    return total / sum(ideal) if ideal else 0.0


def bin_g(ranking: Ranking, qrels: Qrels, rel: int = 1) -> float:
    """m_binG.c: 1 / log2(2 + nonrelevant docs above), summed over the relevant found, over R."""
    relevant = relevant_docs(qrels, rel)
    total, others_above = 0.0, 0
    for doc in ranking or []:
        if doc in relevant:
            total += 1 / math.log2(2 + others_above)
        else:
            others_above += 1
    return total / len(relevant) if relevant else 0.0


def compatibility(
    ranking: Ranking, qrels: Qrels, p: float, depth: int | str = 1000, *, normalize: bool = True
) -> float:
    """RBO of a list and the nearest ideal list, which is put in order depth by depth."""
    ranked = list(ranking or [])
    places = {doc: place for place, doc in enumerate(ranked)}
    ideal = [doc for doc in qrels if qrels[doc] > 0]
    if not ideal:
        return math.nan
    ideal.sort(key=lambda doc: (-qrels[doc], places.get(doc, len(ranked))))
    deepest = max(len(ranked), len(ideal)) if depth == "lists" else int(depth)
    value = _overlaps(ranked, ideal, p, deepest)
    return value / _overlaps(ideal, ideal, p, deepest) if normalize else value


def _overlaps(one: list[str], other: list[str], p: float, depth: int) -> float:
    total = weights = 0.0
    for i in range(1, depth + 1):
        shared = set(one[:i]) & set(other[:i])
        total += p ** (i - 1) * len(shared) / i
        weights += p ** (i - 1)
    return total / weights
