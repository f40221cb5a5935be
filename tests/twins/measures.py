"""Slow, obvious twins of the measures, written from the papers and from trec_eval.

They share no code with irmeta, so that a mistake there is not repeated here. A ranking is a
list of docs, best first, or None where the system has no list for the query. Qrels are
{doc: grade}; a doc is relevant if its grade is at least `rel`, which is positive. A negative
grade means in the pool but unjudged. R is the number of relevant docs.
"""

import math
import re
import struct

Ranking = list[str] | None
Qrels = dict[str, int]
Rows = list[tuple[str, float, int | None]]


def read_run(text: str) -> list[tuple[str, str, int | None, float, str]]:
    """The lines `query Q0 doc rank score tag` of a run (trec_eval's get_trec_results.c).

    A rank that is no integer is None.
    """
    rows = []
    # Not str.split() or splitlines(): both also split at Unicode spaces, which may be in a doc.
    for line in text.split("\n"):
        line = line.strip(" \t\r")
        if line and not line.startswith("#"):
            query, _, doc, rank, score, tag = re.split(r"[ \t]+", line, maxsplit=5)
            rank_given = int(rank) if re.fullmatch(r"-?[0-9]+", rank) else None
            rows.append((query, doc, rank_given, float(score), tag))
    return rows


def float32(x: float) -> float:
    """The C float nearest to x; infinity where x is too large for one."""
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def order(rows: Rows, how: str) -> list[str]:
    """The docs of one query, best first, from (doc, score, rank_given) in file order.

    "trec_eval" is comp_sim_docno in form_res_rels.c of versions 7-9, where a score is a float;
    in 10 it is a double. The others are DESIGN's tie orders.
    """
    # sorted() is stable, also with reverse=True: rows that compare equal keep their line order.
    if how == "trec_eval":
        rows = sorted(rows, key=lambda row: (float32(row[1]), row[0].encode()), reverse=True)
    elif how == "trec_eval10":
        rows = sorted(rows, key=lambda row: (row[1], row[0].encode()), reverse=True)
    elif how == "score-file":
        rows = sorted(rows, key=lambda row: row[1], reverse=True)
    elif how == "rank":
        rows = sorted(rows, key=lambda row: row[2])
    elif how != "file":
        raise ValueError(how)
    return [doc for doc, _, _ in rows]


def tied_blocks(rows: Rows, how: str) -> list[list[str]]:
    """The docs of one query in that order, in blocks whose scores (or ranks) are the same."""
    key = {
        "trec_eval": lambda score, rank: float32(score),
        "trec_eval10": lambda score, rank: score,
        "score-file": lambda score, rank: score,
        "rank": lambda score, rank: rank,
        "file": lambda score, rank: object(),  # equal to itself alone
    }[how]
    keys = {doc: key(score, rank) for doc, score, rank in rows}
    blocks: list[list[str]] = []
    for doc in order(rows, how):
        if blocks and keys[blocks[-1][0]] == keys[doc]:
            blocks[-1].append(doc)
        else:
            blocks.append([doc])
    return blocks


def relevant_docs(qrels: Qrels, rel: int) -> list[str]:
    """The relevant docs, in the order of the qrels."""
    return [doc for doc, grade in qrels.items() if grade >= rel]


def relevant_ranks(ranking: Ranking, qrels: Qrels, rel: int, k: int | None = None) -> list[int]:
    """The ranks (from 1, at most k) that hold a relevant doc, ascending."""
    relevant = set(relevant_docs(qrels, rel))
    return [rank for rank, doc in enumerate((ranking or [])[:k], start=1) if doc in relevant]


def precision(ranking: Ranking, qrels: Qrels, k: int, rel: int = 1) -> float:
    """m_P.c: relevant docs at ranks 1..k, divided by k even where the list is shorter."""
    return len(relevant_ranks(ranking, qrels, rel, k)) / k


def recall(ranking: Ranking, qrels: Qrels, k: int, rel: int = 1) -> float:
    """m_recall.c: relevant docs at ranks 1..k, divided by R; 0 without relevant docs."""
    r = len(relevant_docs(qrels, rel))
    return len(relevant_ranks(ranking, qrels, rel, k)) / r if r else 0.0


def average_precision(ranking: Ranking, qrels: Qrels, k: int | None = None, rel: int = 1) -> float:
    """m_map.c, m_map_cut.c: the precisions at the relevant docs (to k), summed, divided by R."""
    r = len(relevant_docs(qrels, rel))
    ranks = relevant_ranks(ranking, qrels, rel, k)
    return sum(found / rank for found, rank in enumerate(ranks, start=1)) / r if r else 0.0


def reciprocal_rank(ranking: Ranking, qrels: Qrels, k: int | None = None, rel: int = 1) -> float:
    """m_recip_rank.c: 1 / rank of the first relevant doc; 0 where none is retrieved (to k)."""
    ranks = relevant_ranks(ranking, qrels, rel, k)
    return 1 / ranks[0] if ranks else 0.0


def dcg(grades: list[int]) -> float:
    """The sum of gain / log2(rank + 1), where the gain is the grade if positive, else 0."""
    return sum(max(g, 0) / math.log2(rank + 1) for rank, g in enumerate(grades, start=1))


def ndcg(ranking: Ranking, qrels: Qrels, k: int | None = None) -> float:
    """m_ndcg.c, m_ndcg_cut.c: the DCG over that of all judged docs by grade, both cut at k."""
    ideal = dcg(sorted(qrels.values(), reverse=True)[:k])
    actual = dcg([qrels.get(doc, 0) for doc in (ranking or [])[:k]])
    return actual / ideal if ideal else 0.0


def bpref(ranking: Ranking, qrels: Qrels, rel: int = 1, negative: str = "unjudged") -> float:
    """m_bpref.c: how seldom a judged nonrelevant doc stands above a relevant one.

    negative="nonrelevant" takes negative grades as judged nonrelevant; trec_eval skips them.
    """
    if negative not in ("unjudged", "nonrelevant"):
        raise ValueError(negative)
    nonrelevant = {
        doc for doc, g in qrels.items() if g < rel and (g >= 0 or negative == "nonrelevant")
    }
    relevant = set(relevant_docs(qrels, rel))
    r = len(relevant)
    total = 0.0
    nonrelevant_above = 0
    for doc in ranking or []:
        if doc in nonrelevant:
            nonrelevant_above += 1
        elif doc in relevant and nonrelevant_above == 0:
            total += 1  # also where the denominator below would be 0
        elif doc in relevant:
            total += 1 - min(nonrelevant_above, r) / min(len(nonrelevant), r)
    return total / r if r else 0.0


def older_bpref(
    ranking: Ranking, qrels: Qrels, more: int, negative: str, by_retrieved: bool = False
) -> float:
    """Buckley and Voorhees (2004): only the first R + more judged nonrelevant docs count.

    With by_retrieved as old_bpref of trec_eval 8.1: divided by their number, if that is smaller.
    """
    judged = [doc for doc in ranking or [] if doc in qrels]
    ignored = [doc for doc in judged if qrels[doc] < 0 and negative == "unjudged"]
    bound = len(relevant_docs(qrels, 1)) + more
    retrieved = sum(qrels[doc] < 1 and doc not in ignored for doc in judged)
    divisor = min(bound, max(1, retrieved)) if by_retrieved else bound
    total, first_nonrelevant = 0.0, []
    for doc in judged:
        if qrels[doc] >= 1:
            total += 1 - len(first_nonrelevant) / divisor
        elif doc not in ignored and len(first_nonrelevant) < bound:
            first_nonrelevant.append(doc)
    return total / (bound - more) if bound > more else 0.0


def rbp(ranking: Ranking, qrels: Qrels, p: float, rel: int = 1, k: int | None = None) -> float:
    """Paper 3, Table 2 with binary gain: the sum of (1-p) p^(rank-1) over the relevant docs."""
    ranks = relevant_ranks(ranking, qrels, rel, k)
    return sum(((1 - p) * p ** (rank - 1) for rank in ranks), start=0.0)


def rbp_graded(ranking: Ranking, qrels: Qrels, p: float, gmax: int, k: int | None = None) -> float:
    """Paper 3, Table 2 with linear gain g / gmax; negative grades and unjudged docs gain 0."""
    total = 0.0
    for rank, doc in enumerate((ranking or [])[:k], start=1):
        total += max(qrels.get(doc, 0), 0) / gmax * (1 - p) * p ** (rank - 1)
    return total


def unretrieved_length(listed: int, found: int, how: str, deepest: int | None) -> float:
    """Paper 1, Eq. 3 and the other choices, after `listed` docs, `found` of them relevant.

    A system without a list gets the "depth" value: Eq. 3 would make it 0, the best of all.
    """
    irrel_q = listed - found
    if how == "depth" or listed == 0:
        # Eq. 2, as if the doc were at the first rank that no system of the track reaches.
        return float(deepest + 1 - found)
    return float({"irrel": irrel_q, "floor": max(1, irrel_q), "irrel+1": irrel_q + 1}[how])


def search_lengths(
    ranking: Ranking,
    qrels: Qrels,
    rel: int = 1,
    unretrieved: str = "irrel",
    deepest: int | None = None,
) -> dict[str, float]:
    """Paper 1, Eqs. 2 and 3: of each relevant doc, retrieved ones first and by rank.

    `deepest`, the track's deepest rank, is needed for "depth" and where there is no list.
    """
    ranking = ranking or []
    ranks = relevant_ranks(ranking, qrels, rel)
    lengths = {}
    for above, rank in enumerate(ranks):
        lengths[ranking[rank - 1]] = float(rank - above)
    for doc in relevant_docs(qrels, rel):
        if doc not in lengths:
            lengths[doc] = unretrieved_length(len(ranking), len(ranks), unretrieved, deepest)
    return lengths


def asl(
    ranking: Ranking,
    qrels: Qrels,
    n: int | None = None,
    rel: int = 1,
    unretrieved: str = "irrel",
    deepest: int | None = None,
) -> float:
    """Paper 1, Eq. 4 (inner sum): the mean search length; NaN without relevant docs.

    With n, Eq. 5 over the first min(n, R). Unretrieved docs come last even where Eq. 3 gives
    them less than a retrieved one.
    """
    lengths = list(search_lengths(ranking, qrels, rel, unretrieved, deepest).values())[:n]
    return sum(lengths) / len(lengths) if lengths else math.nan


def rarity(rankings: dict[str, Ranking], qrels: Qrels, depth: int, rel: int = 1) -> dict[str, int]:
    """S_d of paper 2, Eq. 2: how many systems have each relevant doc at a rank <= depth."""
    tops = [set((ranking or [])[:depth]) for ranking in rankings.values()]
    return {doc: sum(doc in top for top in tops) for doc in relevant_docs(qrels, rel)}


def mean(values) -> tuple[float, int]:
    """The mean of those values that are not NaN, and their number; (NaN, 0) without any."""
    kept = [value for value in values if not math.isnan(value)]
    return (sum(kept) / len(kept) if kept else math.nan, len(kept))
