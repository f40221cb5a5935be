"""Views with the judgments of single subtopics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from irmeta.rankings.derive.change import changed
from irmeta.rankings.derive.select_rows import rejudged
from irmeta.rankings.derive.unjudged import condense

if TYPE_CHECKING:
    from irmeta.rankings.judged import JudgedRanks


def one_subtopic(view: JudgedRanks, name: str) -> JudgedRanks:
    """Keep the judgments of one subtopic, and its grades.

    Queries without a doc judged for the subtopic are dropped.

    Raises
    ------
    UsageError
        If the view has no subtopics.
    """
    view = view.by_subtopic()
    subtopics = view.require("subtopics")
    is_judged = np.zeros(len(subtopics.names), bool)
    is_judged[subtopics.name_indices(view.offsets)] = True
    is_named = np.array([known == name for known in subtopics.names], bool)
    return _alone(view, np.flatnonzero(is_named & is_judged))


def each_subtopic(view: JudgedRanks) -> JudgedRanks:
    """Return a view with a query for each subtopic of each query, judged for it alone.

    Its queries are in the order of `Subtopics.names`, so that names of queries are repeated.

    Raises
    ------
    UsageError
        If the view has no subtopics.
    """
    view = view.by_subtopic()
    count = len(view.require("subtopics").names)
    return view.cached("each subtopic", lambda: _alone(view, np.arange(count)))


def _alone(view: JudgedRanks, kept: np.ndarray) -> JudgedRanks:
    """Return a view with a query for each kept subtopic, by ascending indices of its name."""
    subtopics = view.require("subtopics")
    place = np.full(len(subtopics.names), -1)
    place[kept] = np.arange(len(kept))
    rows = subtopics.rows
    query = place[subtopics.name_indices(view.offsets)]
    order = np.lexsort((view.doc_ids[rows], -subtopics.grade.astype(np.float64), query))
    order = order[np.searchsorted(query[order], 0) :]
    rows, query, grades = rows[order], query[order], subtopics.grade[order]
    source = subtopics.queries[kept]
    offsets = np.searchsorted(query, np.arange(len(kept) + 1))
    ties, lists = view.ties, view.pooled_lists
    if lists is not None:
        judged = lists.judged[source]
        lists = replace(
            lists, ranks=lists.ranks[rows], lengths=lists.lengths[source], judged=judged
        )
    alone = replace(
        subtopics,
        names=tuple(subtopics.names[i] for i in kept.tolist()),
        offsets=np.arange(len(kept) + 1),
        starts=np.arange(len(rows) + 1),
        subtopic=np.zeros(len(rows), np.int32),
        grade=grades,
        weights=subtopics.weights[kept],
        types=tuple(subtopics.types[i] for i in kept.tolist()),
    )
    made = changed(
        view,
        queries=tuple(view.queries[q] for q in source.tolist()),
        offsets=offsets,
        ranks=view.ranks[rows],
        grades=grades,
        docs=view.docs.gather(rows),
        doc_ids=view.doc_ids[rows],
        lengths=view.lengths[source],
        ties=None if ties is None else (ties[0][rows], ties[1][rows]),
        pooled_lists=lists,
        pool_depth=None if view.pool_depth is None else view.pool_depth[rows],
        complete_depth=None if view.complete_depth is None else view.complete_depth[source],
        retrieved=None if view.retrieved is None else view.retrieved[source],
        in_qrels=None,
        subtopics=alone,
        diversity=None,
        sample=None,
    )
    return rejudged(condense(made) if view.condensed else made)
