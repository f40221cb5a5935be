"""Twins of the search lengths of paper 4, section 3.1, after Cooper (1968)."""

import math
from collections.abc import Iterable

from twins.measures import Qrels, Ranking, relevant_docs, relevant_ranks


def corpus_size(rankings: Iterable[Ranking], qrels: Qrels, negative: str = "unjudged") -> int:
    """How many docs the systems list for the query, together with the judged docs."""
    docs = {doc for doc, grade in qrels.items() if grade >= 0 or negative == "nonrelevant"}
    for ranking in rankings:
        docs.update(ranking or [])
    return len(docs)


def relevant_corpus_size(rankings: Iterable[Ranking], qrels: Qrels, rel: int) -> int:
    """Section 5.5: the unique docs in the union of all rankings and the relevant docs."""
    docs = {doc for doc, grade in qrels.items() if grade >= rel}
    for ranking in rankings:
        docs.update(ranking or [])
    return len(docs)


def positions(ranking: Ranking, qrels: Qrels, corpus: int, rel: int = 1) -> list[int]:
    """Paper 4's f_1 .. f_m: where the relevant docs are; at the corpus' end if not retrieved."""
    found = relevant_ranks(ranking, qrels, rel)
    missed = len(relevant_docs(qrels, rel)) - len(found)
    if corpus < len(ranking or []) + missed:
        raise ValueError(f"{corpus} docs are too few")
    return found + list(range(corpus - missed + 1, corpus + 1))


def search_lengths(
    ranking: Ranking, qrels: Qrels, corpus: int, rel: int = 1, count: str = "rank"
) -> list[int]:
    """f_i, or f_i - i: the docs, or (Cooper) the nonrelevant docs, to read for i relevant ones."""
    f = positions(ranking, qrels, corpus, rel)
    if count == "rank":
        return f
    if count == "nonrelevant":
        return [f_i - i for i, f_i in enumerate(f, start=1)]
    raise ValueError(count)


def isl(ranking: Ranking, qrels: Qrels, corpus: int, rel: int = 1, count: str = "rank") -> float:
    """Initial search length, to the first relevant doc; NaN without one."""
    lengths = search_lengths(ranking, qrels, corpus, rel, count)
    return float(lengths[0]) if lengths else math.nan


def tsl(ranking: Ranking, qrels: Qrels, corpus: int, rel: int = 1, count: str = "rank") -> float:
    """Total search length, to the last relevant doc; NaN without one."""
    lengths = search_lengths(ranking, qrels, corpus, rel, count)
    return float(lengths[-1]) if lengths else math.nan


def average_search_length(
    ranking: Ranking, qrels: Qrels, corpus: int, rel: int = 1, count: str = "rank"
) -> float:
    """Paper 4's ASL (our AvgSL): the mean search length over the relevant docs; NaN without one."""
    lengths = search_lengths(ranking, qrels, corpus, rel, count)
    return sum(lengths) / len(lengths) if lengths else math.nan
