"""Subtopic recall: the share of subtopics that a list covers."""

from __future__ import annotations

import numpy as np

from irmeta.measures.cutoffs import add_up, per_query
from irmeta.measures.diversity.subtopic_gains import GainPairs, gains_by_rank
from irmeta.measures.diversity.subtopic_shares import (
    SUBTOPICS,
    UNJUDGED,
    count_subtopics,
    counted,
    counted_of,
    needs_subtopics,
)
from irmeta.measures.spec import Cutoffs, Events, Measure, OneList, Params, Steps, Term, Trace
from irmeta.naming.parameters import REL
from irmeta.rankings.judged import JudgedRanks


def _new_subtopics(view: JudgedRanks, params: Params) -> Steps:
    """Return ranks, offsets, and the number of new subtopics of each doc."""
    _, is_counted = counted(view, params)
    pairs = GainPairs.relevant(view, params["rel"], 0.0)
    return gains_by_rank(view, pairs, is_counted.astype(np.float64))


def compute_strecall(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Count the subtopics with a relevant doc down to k, over the number of subtopics.

    Notes
    -----
    ``found`` is ndeval's number of subtopics. In the qrels of the TREC 2009 Web track the docs that
    are relevant to no subtopic have a subtopic 0 of their own: ``all`` counts it, unless the
    collection has a subtopics_file without it.
    """
    covered = add_up(view, *_new_subtopics(view, params), ks)
    return per_query(covered, count_subtopics(view, params)[None], 0.0)


def events_strecall(view: JudgedRanks, params: Params) -> Events:
    """Step by the number of new subtopics of each doc."""
    return Events(*_new_subtopics(view, params), lambda ks: count_subtopics(view, params)[None])


def trace_strecall(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace subtopic recall as the new subtopics of each doc, over the number of subtopics."""
    names = counted_of(one, params)
    terms = tuple(
        Term(rank, doc, grade, f"{count} new", float(count))
        for rank, doc, grade, count in new_subtopics(one, names, params["rel"], k)
    )
    return Trace(terms, len(names), "subtopics", None if names else 0.0)


def new_subtopics(
    one: OneList, names: list[str], rel: float, k: int | None
) -> list[tuple[int, str, float, int]]:
    """List (rank, doc, grade, number of new subtopics) of docs down to k with any, for traces."""
    uncovered, steps = set(names), []
    for rank, doc, grade in one.within(k):
        new = {s for s, g in one.subtopic_grades.get(doc, {}).items() if g >= rel} & uncovered
        uncovered -= new
        if new:
            steps.append((rank, doc, grade, len(new)))
    return steps


MEASURES = (
    Measure(
        name="StRecall",
        summary="subtopic recall: share of the subtopics with a relevant doc",
        compute=compute_strecall,
        trace=trace_strecall,
        source="Zhai, Cohen and Lafferty 2003, doi:10.1145/860435.860440; ndeval 4.5, strec",
        parameters=(REL, SUBTOPICS),
        unjudged=UNJUDGED,
        needs=needs_subtopics,
        events=events_strecall,
    ),
)
