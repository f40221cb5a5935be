"""Twins of the estimates of sampled judgments, in the steps of the two programs.

`stratum` maps docs to strata, and without it all docs of the qrels are one stratum; `prels` maps
docs to a method and an inclusion probability, and without it every probability is 1.
"""

import math
from collections import defaultdict
from collections.abc import Mapping

from twins.measures import Qrels, Ranking

Strata = Mapping[str, str] | None
Prels = Mapping[str, tuple[int, float | None]] | None
SMOOTHING = {"sample_eval": (1e-5, 3e-5), "infAP": (1e-5, 2e-5), "none": (0, 0)}


class Pool:
    """Docs, judged docs and relevant docs of each stratum, and grades of judged docs."""

    def __init__(self, qrels: Qrels, stratum: Strata, rel: int, negative: str) -> None:
        self.stratum = {doc: stratum[doc] if stratum else "all" for doc in qrels}
        self.grade = {d: g for d, g in qrels.items() if g >= 0 or negative == "nonrelevant"}
        self.docs, self.judged, self.relevant = (defaultdict(int) for _ in range(3))
        for doc in qrels:
            self.count(doc, rel, self.docs, self.judged, self.relevant)

    def count(self, doc: str, rel: int, docs: dict, judged: dict, relevant: dict) -> None:
        """Count one doc of the pool."""
        stratum = self.stratum[doc]
        docs[stratum] += 1
        if doc in self.grade:
            judged[stratum] += 1
            if self.grade[doc] >= rel:
                relevant[stratum] += 1


def expected(docs: int, judged: int, relevant: int, smoothing: str) -> float:
    """Relevant docs that are expected among docs of one stratum."""
    extra, extra_judged = SMOOTHING[smoothing]
    if docs == 0 or judged + extra_judged == 0:
        return 0.0
    return docs * (relevant + extra) / (judged + extra_judged)


def inferred_relevant(
    ranking: Ranking, qrels: Qrels, stratum: Strata = None, rel: int = 1, negative: str = "unjudged"
) -> float:
    """inum_rel of sample_eval.pl."""
    pool = Pool(qrels, stratum, rel, negative)
    return sum(
        pool.relevant[s] * pool.docs[s] / judged for s, judged in pool.judged.items() if judged
    )


def xinfap(
    ranking: Ranking,
    qrels: Qrels,
    stratum: Strata = None,
    rel: int = 1,
    negative: str = "unjudged",
    k: int | None = None,
    norm: str = "all",
    smoothing: str = "sample_eval",
) -> float:
    """infAP of sample_eval.pl: the mean of precisions within strata, then over strata."""
    pool = Pool(qrels, stratum, rel, negative)
    docs, judged, relevant = (defaultdict(int) for _ in range(3))
    precisions = defaultdict(float)
    for rank, doc in enumerate((ranking or [])[:k], 1):
        if doc not in qrels:
            continue
        if pool.grade.get(doc, -1) >= rel and doc in pool.grade:
            above = sum(expected(docs[s], judged[s], relevant[s], smoothing) for s in pool.docs)
            precisions[pool.stratum[doc]] += 1 / rank + above / rank
        pool.count(doc, rel, docs, judged, relevant)
    total = inferred_relevant(ranking, qrels, stratum, rel, negative)
    if total == 0:
        return 0.0
    value = 0.0
    for s, count in pool.relevant.items():
        if count:
            chance = count * pool.docs[s] / pool.judged[s] / total
            value += chance * precisions[s] / count
    if norm == "min" and k is not None and total > k:
        value *= total / k
    return value


def inferred_within(
    ranking: Ranking,
    qrels: Qrels,
    stratum: Strata = None,
    rel: int = 1,
    negative: str = "unjudged",
    k: int | None = None,
    smoothing: str = "sample_eval",
) -> float:
    """inum_rel_ret of sample_eval.pl, or k times iPk."""
    pool = Pool(qrels, stratum, rel, negative)
    docs, judged, relevant = (defaultdict(int) for _ in range(3))
    for doc in (ranking or [])[:k]:
        if doc in qrels:
            pool.count(doc, rel, docs, judged, relevant)
    return sum(expected(docs[s], judged[s], relevant[s], smoothing) for s in pool.docs)


def inf_ndcg(
    ranking: Ranking,
    qrels: Qrels,
    stratum: Strata = None,
    negative: str = "unjudged",
    k: int | None = None,
    form: str = "2012",
) -> float:
    """infNDCG of sample_eval.pl, with an ideal list that ends at k.

    The change of 10 Oct 2011 coerces the number of docs of each grade: int(number + 0.5).
    """
    pool = Pool(qrels, stratum, 1, negative)
    docs, judged = defaultdict(int), defaultdict(int)
    gained = defaultdict(float)
    for rank, doc in enumerate((ranking or [])[:k], 1):
        if doc in qrels:
            pool.count(doc, 1, docs, judged, defaultdict(int))
            gained[pool.stratum[doc]] += max(pool.grade.get(doc, 0), 0) / math.log2(rank + 1)
    dcg = sum(docs[s] * gained[s] / judged[s] for s in docs if judged[s])
    ideal, start = 0.0, 0.0
    for grade in sorted({g for g in pool.grade.values() if g > 0}, reverse=True):
        of_grade = [pool.stratum[d] for d, g in pool.grade.items() if g == grade]
        count = sum(pool.docs[s] / pool.judged[s] for s in of_grade)
        if form == "2011":
            count = int(count + 1e-9 + 0.5)
        place = 1
        while place <= count + 1e-9:
            if k is None or start + place <= k:
                ideal += grade / math.log2(start + place + 1)
            place += 1
        start += count
    return dcg / ideal if ideal else 0.0


def chances(
    qrels: Qrels,
    prels: Prels = None,
    stratum: Strata = None,
    mtc: str = "certain",
    negative: str = "unjudged",
) -> dict[str, float]:
    """Inclusion probability of each doc that counts, as statAP_MQ_eval_v3.pl reads it."""
    pool = Pool(qrels, stratum, 1, negative)
    found = {}
    for doc in pool.grade:
        if stratum:
            found[doc] = pool.judged[stratum[doc]] / pool.docs[stratum[doc]]
        elif prels is None:
            found[doc] = 1.0
        else:
            method, probability = prels[doc]
            if probability is None or (method == 0 and mtc == "excluded"):
                continue
            found[doc] = 1.0 if method in (0, 2) and mtc == "certain" else probability
    return found


def stat_relevant(
    ranking: Ranking, qrels: Qrels, prels: Prels = None, rel: int = 1, **how: object
) -> float:
    """RQ_estimated of statAP_MQ_eval_v3.pl; NaN for a topic that MTC alone judged."""
    if prels is not None and all(m == 0 or p is None for m, p in prels.values()):
        return math.nan
    return sum(1 / p for doc, p in chances(qrels, prels, **how).items() if qrels[doc] >= rel)


def _listed(ranking: Ranking, qrels: Qrels, known: Mapping[str, float], rel: int) -> list:
    return [
        (rank, known[doc])
        for rank, doc in enumerate(ranking or [], 1)
        if doc in known and qrels[doc] >= rel
    ]


def stat_ap(
    ranking: Ranking,
    qrels: Qrels,
    prels: Prels = None,
    rel: int = 1,
    k: int | None = None,
    **how: object,
) -> float:
    """statAP."""
    total = stat_relevant(ranking, qrels, prels, rel, **how)
    if not total > 0:
        return math.nan
    value = above = 0.0
    for rank, chance in _listed(ranking, qrels, chances(qrels, prels, **how), rel):
        if k is None or rank <= k:
            value += (1 + above) / rank / chance
            above += 1 / chance
    return value / total


def stat_precision(
    ranking: Ranking, qrels: Qrels, k: int, prels: Prels = None, rel: int = 1, **how: object
) -> float:
    """Prec_at_k."""
    if not stat_relevant(ranking, qrels, prels, rel, **how) > 0:
        return math.nan
    known = chances(qrels, prels, **how)
    return sum(1 / p for rank, p in _listed(ranking, qrels, known, rel) if rank <= k) / k


def stat_r_precision(
    ranking: Ranking, qrels: Qrels, prels: Prels = None, rel: int = 1, **how: object
) -> float:
    """R-prec."""
    total = stat_relevant(ranking, qrels, prels, rel, **how)
    if not total > 0:
        return math.nan
    cut = int(total + 0.5)
    value = stat_precision(ranking, qrels, cut, prels, rel, **how) * cut
    return value / (cut if len(ranking or []) >= cut else total)
