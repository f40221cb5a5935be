"""Twins of the measures of technology-assisted review, doc by doc as tar_eval.py goes, and F."""

import math
from collections.abc import Sequence
from fractions import Fraction

from twins.measures import Qrels, Ranking, relevant_docs

NAN = math.nan


def review(
    ranking: Ranking, qrels: Qrels, rel: int = 1, n: int | None = None, negative: str = "unjudged"
) -> tuple[list[bool], int, int]:
    """Whether each doc that is read is relevant; docs to review; relevant docs."""
    judged = [doc for doc, grade in qrels.items() if grade >= 0 or negative == "nonrelevant"]
    docs = len(judged) if n is None else n
    relevant = relevant_docs(qrels, rel)
    return [doc in relevant for doc in (ranking or [])[:docs]], docs, len(relevant)


def percent(level: float) -> Fraction:
    """A level as the decimal number that is written."""
    return Fraction(str(level))


def effort_recall(read: Sequence[bool], docs: int, relevant: int, level: float) -> float:
    """tar_eval_2018.py, recall@%: relevant docs in the first round(level * docs), over all."""
    return sum(read[: round(percent(level) * docs)]) / relevant if relevant else NAN


def work_saved(
    read: Sequence[bool],
    docs: int,
    relevant: int,
    level: float,
    needed: str = "least",
    unreached: str = "level-1",
) -> float:
    """Cohen et al. 2006: (TN + FN) / N - (1 - r) when the review stops; wss_95 of tar_eval.py."""
    if not relevant:
        return NAN
    target = percent(level) * relevant
    enough = round(target) if needed == "nearest" else math.ceil(target)
    found = 0
    for stop in range(len(read) + 1):
        found += stop > 0 and read[stop - 1]
        if found >= enough:
            return (docs - stop) / docs - (1 - level)
    return 0.0 if unreached == "zero" else level - 1


def last_relevant(
    read: Sequence[bool], docs: int, relevant: int, unretrieved: str = "all"
) -> float:
    """last_rel of tar_eval.py; docs to review where not all relevant docs are found."""
    if not relevant:
        return NAN
    if unretrieved == "all" and sum(read) < relevant:
        return float(docs)
    return float(max((rank for rank, is_relevant in enumerate(read, 1) if is_relevant), default=0))


def norm_area(read: Sequence[bool], docs: int, relevant: int) -> float:
    """norm_area of tar_eval.py, summed rank by rank to the last doc to review."""

    def area(of: Sequence[bool]) -> float:
        total, found = 0.0, 0
        for rank in range(docs):
            is_relevant = rank < len(of) and of[rank]
            total += found + is_relevant * 0.5
            found += is_relevant
        return total

    return area(read) / area([True] * relevant) if relevant else NAN


def recall_loss(read: Sequence[bool], docs: int, relevant: int) -> float:
    """loss_r of tar_eval.py."""
    return (1 - sum(read) / relevant) ** 2 if relevant else NAN


def effort_loss(read: Sequence[bool], docs: int, relevant: int, b: float = 100) -> float:
    """loss_e of tar_eval.py."""
    return (b / docs) ** 2 * (len(read) / (relevant + b)) ** 2 if relevant else NAN


def loss(read: Sequence[bool], docs: int, relevant: int, b: float = 100) -> float:
    """loss_er of tar_eval.py."""
    return recall_loss(read, docs, relevant) + effort_loss(read, docs, relevant, b)


def cost(
    read: Sequence[bool],
    docs: int,
    relevant: int,
    penalty: str = "none",
    doc: float = 1,
    missed: float = 2,
) -> float:
    """total_cost, total_cost_uniform and total_cost_weighted of tar_eval.py."""
    if not relevant:
        return NAN
    lost, unread = relevant - sum(read), docs - len(read)
    total = float(doc * len(read))
    if penalty == "uniform":
        total += unread * missed * lost / relevant
    if penalty == "weighted":
        for i in range(1, lost):
            total += unread * missed / 2.0**i
    return total


def best_f(
    ranking: Ranking, qrels: Qrels, k: int | None = None, beta: float = 1, rel: int = 1
) -> float:
    """F of precision and recall at the best of all ranks up to k."""
    relevant, best = set(relevant_docs(qrels, rel)), 0.0
    for stop in range(1, len((ranking or [])[:k]) + 1):
        hits = len(relevant & set((ranking or [])[:stop]))
        if hits:
            p, r = hits / stop, hits / len(relevant)
            best = max(best, (1 + beta**2) * p * r / (beta**2 * p + r))
    return best


def scaled_utility(
    ranking: Ranking,
    qrels: Qrels,
    a: float = 2,
    b: float = -1,
    least: float = -0.5,
    bound: str = "share",
    rel: int = 1,
) -> float:
    """T11SU of TREC 2002 (share) and T10SU of TREC 2001 (utility)."""
    relevant = set(relevant_docs(qrels, rel))
    if not relevant:
        return NAN
    hits = len(relevant & set(ranking or []))
    utility, greatest = a * hits + b * (len(ranking or []) - hits), a * len(relevant)
    if bound == "share":
        normalized = utility / greatest
        return (max(normalized, least) - least) / (1 - least)
    return (max(utility, least) - least) / (greatest - least)
