"""Judgments that a smaller pool would have made, slowly (paper 3, Sections 2.2 and 4.2)."""

from __future__ import annotations

Lists = dict[str, list[str]]  # the list of each contributing system for one query
Grades = dict[str, int]


def least_ranks(lists: list[list[str]]) -> dict[str, int]:
    """The least rank of each doc over some lists."""
    ranks: dict[str, int] = {}
    for docs in lists:
        for rank, doc in enumerate(docs, 1):
            ranks[doc] = min(rank, ranks.get(doc, rank))
    return ranks


def complete_depth(lists: list[list[str]], judged: Grades) -> int:
    """The greatest d at which every doc in the top d of every list is judged."""
    depth = 0
    while depth < max(map(len, lists), default=0):
        if any(depth < len(docs) and docs[depth] not in judged for docs in lists):
            break
        depth += 1
    return depth


def rejudged(lists: Lists, judged: Grades, depth: int | None, removed: str | None) -> Grades:
    """The judgments of one query that a pool of this depth, without a system, would have made.

    Without a depth, only docs go that the removed system alone ranks within the complete depth.
    """
    remaining = least_ranks([docs for system, docs in lists.items() if system != removed])
    if depth is not None:
        return {
            doc: grade for doc, grade in judged.items() if remaining.get(doc, depth + 1) <= depth
        }
    limit = complete_depth(list(lists.values()), judged)
    gone = least_ranks([lists[removed]]) if removed in lists else {}
    lost = {d for d, r in gone.items() if r <= limit and remaining.get(d, limit + 1) > limit}
    return {doc: grade for doc, grade in judged.items() if doc not in lost}
