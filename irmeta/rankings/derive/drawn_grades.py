"""Views of one list whose unjudged docs have drawn grades."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import polars as pl

from irmeta.rankings.derive.changes import UNJUDGED_DOC, changed
from irmeta.rankings.pool import POOL_ARRAYS

if TYPE_CHECKING:
    from irmeta.rankings.judged import JudgedRanks

Source = Literal["query", "run"]
"""Judged docs whose grades are drawn: all of the query, or those of the list."""
SOURCES: tuple[Source, ...] = get_args(Source)
MOST_ROWS = 1 << 21
"""Rows of a view, over its draws."""
_LOST = "docs with drawn grades stand for other docs in every list"
_UNREAD = ("ties", "retrieved", "subtopics", "diversity", "sample", "costs", *POOL_ARRAYS)


def unjudged_in(view: JudgedRanks, query: int, system: int, deepest: int) -> np.ndarray:
    """Return the ranks of the unjudged docs of a list down to rank `deepest`: int64, ascending."""
    rows = slice(view.offsets[query], view.offsets[query + 1])
    last = min(int(view.lengths[query, system]), deepest)
    is_open = np.ones(last + 1, bool)
    ranks = view.ranks[rows, system][view.is_judged[rows]]
    is_open[ranks[ranks <= last]] = False
    return np.flatnonzero(is_open[1:]) + 1


def draw_grades(
    view: JudgedRanks,
    query: int,
    system: int,
    deepest: int,
    *,
    source: Source,
    draws: int,
    rng: np.random.Generator,
) -> Iterator[JudgedRanks]:
    """Yield views of one list, whose queries are draws of the grades of its unjudged docs.

    Docs with drawn grades count as judged, so that relevant ones are also among the relevant docs
    of the query. Docs with a negative grade that means unjudged are drawn, too, where the list has
    them, and are not among the judged docs.

    Parameters
    ----------
    deepest
        Deepest rank of the docs whose grades are drawn, at least one: see `unjudged_in`.
    source
        ``query``: grades of the judged docs of the query; ``run``: of those that the list has at
        ranks up to `deepest`, or of the query where the list has none. Each grade is drawn by
        itself and put back.
    draws
        Number of queries of all views together.
    """
    unjudged = unjudged_in(view, query, system, deepest)
    rows = slice(view.offsets[query], view.offsets[query + 1])
    is_judged = view.is_judged[rows]
    ranks, grades = view.ranks[rows, system][is_judged], view.grades[rows][is_judged]
    known = (
        grades[ranks <= min(deepest, int(view.lengths[query, system]))]
        if source == "run"
        else grades
    )
    known = known if len(known) else grades if len(grades) else np.zeros(1, grades.dtype)
    number = len(grades) + len(unjudged)
    one_list = np.concatenate([ranks, unjudged.astype(ranks.dtype)])
    facts = view.facts.select([system])
    step = max(1, MOST_ROWS // number)
    for first in range(0, draws, step):
        size = min(step, draws - first)
        drawn = known[rng.integers(0, len(known), (size, len(unjudged)))]
        every = np.concatenate([np.broadcast_to(grades, (size, len(grades))), drawn], axis=1)
        wide = every.astype(np.int16 if every.dtype == np.int8 else np.float64)
        order = np.argsort(-wide, axis=1, kind="stable")
        yield changed(
            view,
            dict.fromkeys(_UNREAD, _LOST),
            facts=facts,
            queries=(view.queries[query],) * size,
            offsets=np.arange(size + 1) * number,
            ranks=one_list[order].reshape(-1, 1),
            grades=np.take_along_axis(every, order, axis=1).ravel(),
            docs=pl.repeat(UNJUDGED_DOC, size * number, dtype=pl.String, eager=True),
            doc_ids=np.zeros(size * number, view.doc_ids.dtype),
            lengths=np.full((size, 1), view.lengths[query, system], view.lengths.dtype),
            in_qrels=None,
        )
