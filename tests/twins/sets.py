"""Twins of the measures that count relevant docs: at a rank, at a recall, in the whole list.

Where there is nothing to divide by they are 0, as trec_eval prints them.
"""

import math
from collections.abc import Sequence

from twins.measures import Qrels, Ranking, precision, recall, relevant_docs, relevant_ranks

ELEVEN_POINTS = tuple(tenth / 10 for tenth in range(11))


def success(ranking: Ranking, qrels: Qrels, k: int, rel: int = 1) -> float:
    """m_success.c: 1 if a relevant doc is at a rank <= k, else 0."""
    return 1.0 if relevant_ranks(ranking, qrels, rel, k) else 0.0


def all_relevant(ranking: Ranking, qrels: Qrels, k: int, rel: int = 1) -> float:
    """Is every relevant doc among the first k? 1 if so, else 0, and 0 if there is none."""
    relevant = relevant_docs(qrels, rel)
    return 1.0 if relevant and set(relevant) <= set((ranking or [])[:k]) else 0.0


def accuracy(ranking: Ranking, qrels: Qrels, k: int | None = None, rel: int = 1) -> float:
    """Share of pairs of a relevant and another doc to k that are in order, pair by pair."""
    if not relevant_docs(qrels, rel):
        return float("nan")
    is_relevant = [qrels.get(doc, 0) >= rel for doc in (ranking or [])[:k]]
    pairs = [
        first
        for i, first in enumerate(is_relevant)
        for second in is_relevant[i + 1 :]
        if first != second
    ]
    return sum(pairs) / len(pairs) if pairs else float(any(is_relevant))


def yaap(ranking: Ranking, qrels: Qrels, rel: int = 1) -> float:
    """m_yaap.c: log((1 + s) / (1 + R - s)), s the sum of the precisions at relevant docs."""
    r = len(relevant_docs(qrels, rel))
    ranks = relevant_ranks(ranking, qrels, rel, None)
    s = sum(found / rank for found, rank in enumerate(ranks, start=1))
    return math.log((1 + s) / (1 + r - s))


def r_precision(ranking: Ranking, qrels: Qrels, mult: float = 1.0, rel: int = 1) -> float:
    """m_Rprec.c, m_Rprec_mult.c: precision at int(mult * R + 0.9)."""
    cut = int(mult * len(relevant_docs(qrels, rel)) + 0.9)
    return precision(ranking, qrels, cut, rel) if cut else 0.0


def relative_precision(ranking: Ranking, qrels: Qrels, k: int, rel: int = 1) -> float:
    """m_rel_P.c: relevant docs at ranks 1..k over the most there can be, min(k, R)."""
    most = min(k, len(relevant_docs(qrels, rel)))
    return len(relevant_ranks(ranking, qrels, rel, k)) / most if most else 0.0


def recall_target(level: float, r: int, trec_eval: int = 9) -> int:
    """How many relevant docs are that much recall: m_iprec_at_recall.c before and since 10."""
    if trec_eval == 9:
        return int(level * r + 0.9)
    whole, part = divmod(level * r, 1)
    return int(whole) + (part >= 0.5)  # lround


def interpolated_precision(
    ranking: Ranking, qrels: Qrels, level: float, rel: int = 1, trec_eval: int = 9
) -> float:
    """m_iprec_at_recall.c: the best precision at any rank to which recall is at least `level`."""
    target = recall_target(level, len(relevant_docs(qrels, rel)), trec_eval)
    ranks = relevant_ranks(ranking, qrels, rel)
    # Precision is best at a relevant doc.
    found_here = [found / rank for found, rank in enumerate(ranks, start=1) if found >= target]
    return max(found_here, default=0.0)


def interpolated_average(
    ranking: Ranking,
    qrels: Qrels,
    levels: Sequence[float] = ELEVEN_POINTS,
    rel: int = 1,
    trec_eval: int = 9,
) -> float:
    """m_11pt_avg.c: the mean of the interpolated precisions."""
    values = [interpolated_precision(ranking, qrels, x, rel, trec_eval) for x in levels]
    return sum(values) / len(values)


def counts(
    ranking: Ranking, qrels: Qrels, rel: int = 1, negative: str = "unjudged"
) -> dict[str, int]:
    """m_num_q.c, m_num_ret.c, ...: what trec_eval sums over queries, by measure name."""
    judged = [doc for doc, g in qrels.items() if g >= 0 or negative == "nonrelevant"]
    found = len(relevant_ranks(ranking, qrels, rel))
    return {
        "NumQ": 1,
        "NumRet": len(ranking or []),
        "NumRel": len(relevant_docs(qrels, rel)),
        "NumRelRet": found,
        "NumNonrelJudgedRet": len([doc for doc in ranking or [] if doc in judged]) - found,
    }


def set_precision(ranking: Ranking, qrels: Qrels, rel: int = 1) -> float:
    """m_set_P.c: relevant docs found over docs listed."""
    return len(relevant_ranks(ranking, qrels, rel)) / len(ranking) if ranking else 0.0


def set_recall(ranking: Ranking, qrels: Qrels, rel: int = 1) -> float:
    """m_set_recall.c: relevant docs found over R."""
    r = len(relevant_docs(qrels, rel))
    return len(relevant_ranks(ranking, qrels, rel)) / r if r else 0.0


def set_f(ranking: Ranking, qrels: Qrels, beta: float = 1.0, rel: int = 1) -> float:
    """m_set_F.c with x = beta^2: the weighted harmonic mean of set precision and recall."""
    p, r = set_precision(ranking, qrels, rel), set_recall(ranking, qrels, rel)
    return (1 + beta**2) * p * r / (beta**2 * p + r) if p and r else 0.0


def f(ranking: Ranking, qrels: Qrels, k: int, beta: float = 1.0, rel: int = 1) -> float:
    """Weighted harmonic mean of precision and recall at rank k."""
    p, r = precision(ranking, qrels, k, rel), recall(ranking, qrels, k, rel)
    return (1 + beta**2) * p * r / (beta**2 * p + r) if p and r else 0.0


def set_ap(ranking: Ranking, qrels: Qrels, rel: int = 1) -> float:
    """m_set_map.c: set precision times set recall."""
    return set_precision(ranking, qrels, rel) * set_recall(ranking, qrels, rel)


def set_relative_precision(ranking: Ranking, qrels: Qrels, rel: int = 1) -> float:
    """m_set_rel_P.c: relevant docs found over the most there can be, min(n, R)."""
    return relative_precision(ranking, qrels, len(ranking or []), rel)


def utility(
    ranking: Ranking,
    qrels: Qrels,
    a: float = 1,
    b: float = -1,
    c: float = 0,
    d: float = 0,
    n_docs: int = 0,
    rel: int = 1,
) -> float:
    """m_utility.c: a, b, c, d for each doc that is relevant and listed, listed, relevant, neither.

    `n_docs` is trec_eval's -N, the docs of the collection.
    """
    n, r = len(ranking or []), len(relevant_docs(qrels, rel))
    found = len(relevant_ranks(ranking, qrels, rel))
    return a * found + b * (n - found) + c * (r - found) + d * (n_docs - n - r + found)
