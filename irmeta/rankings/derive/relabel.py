"""Views with other labels of the same docs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import starmap
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import UsageError
from irmeta.rankings.derive.sample import hash_of, random_numbers
from irmeta.rankings.derive.select import take_rows
from irmeta.rankings.view import (
    JudgedView,
    View,
    also_diversity,
    replace_arrays,
    through_all_systems,
)
from irmeta.trec.qrels import MOST_LISTED

Confusion = float | Mapping[Any, Mapping[Any, float]] | pl.DataFrame
"""Share of labels that move by one grade; or weights of new grades by grade, or their table."""
_COLUMNS = ("reference_grade", "judge_grade", "docs")


@also_diversity
def alter_labels(view: View, confusion: Confusion, by_query: bool, seed: int) -> View:
    """Draw new labels, and sort the rows by them: see `JudgedRanks.alter_labels`."""
    drawn, subtopics = _draw(view, confusion, by_query, seed), view.subtopics
    if subtopics is not None:
        levels = np.unique(drawn)
        subtopics = replace(subtopics, grade=_whole_numbers(drawn, view.grades.dtype))
        highest = np.full(len(view.grades), -np.inf)
        np.maximum.at(highest, subtopics.rows, drawn)
        drawn = np.where(np.isneginf(highest), view.grades, highest)
        return _relabelled(replace_arrays(view, subtopics=subtopics), drawn, levels)
    return _relabelled(view, drawn, np.unique(drawn))


@through_all_systems
def relabelled(view: View, grades: np.ndarray) -> View:
    """Return a view without subtopics with another grade, float64, for each row."""
    return _relabelled(view, grades, np.unique(grades))


def _relabelled(view: View, drawn: np.ndarray, labels: np.ndarray) -> View:
    """Replace the grades of a view, and sort its rows by them; `labels` are all distinct grades."""
    grades = _whole_numbers(drawn, view.grades.dtype)
    order = np.lexsort((view.doc_ids, -drawn, view.query_of(np.arange(len(drawn)))))
    levels = view.facts.levels if grades.dtype == np.int8 else tuple(labels.tolist())
    highest_grade = max(view.facts.highest_grade, float(drawn.max(initial=0)))
    relabelled = replace_arrays(
        view,
        grades=grades,
        facts=replace(view.facts, highest_grade=highest_grade, levels=levels),
        condensed=False,  # a condensed view would be condensed again
    )
    return replace(take_rows(relabelled, order), condensed=view.condensed)


def _draw(view: JudgedView, confusion: Confusion, by_query: bool, seed: int) -> np.ndarray:
    """Return a new grade for each label: float64 [rows], or [pairs] by subtopic."""
    old, rows = view.grades, np.arange(len(view.grades))
    keyed_by = [view.docs]
    if view.subtopics is not None:
        old, rows = view.subtopics.grade, view.subtopics.rows
        subtopic = view.subtopics.name_indices(view.offsets).tolist()
        keyed_by = [view.docs.gather(rows), (view.subtopics.names[i] for i in subtopic)]
    query = view.query_of(rows)
    keys = zip((view.queries[q] for q in query), *keyed_by, strict=True)
    # Names are hashed once for all draws of a view, which takes a microsecond each.
    hashes = view.cached("hashed names", lambda: np.array([*starmap(hash_of, keys)], np.uint64))
    share = random_numbers(seed, hashes) / 2.0**64
    if by_query:
        of_query = np.array([hash_of(name) for name in view.queries], np.uint64)
        share = (random_numbers(seed, of_query)[query] % 2 + share) / 2
    return _chances(view, old, confusion).draw(old.astype(np.float64), share)


def _whole_numbers(grades: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Cast grades to int8 if they fit and `dtype` is int8, otherwise to float64."""
    is_whole = dtype == np.int8 and (grades == np.round(grades)).all()
    return grades.astype(np.int8 if is_whole and np.abs(grades).max(initial=0) < 127 else float)


@dataclass(frozen=True)
class _Chances:
    """Distribution of the new grade of each grade, both float64 and ascending.

    `below` is float64 [old, new]: the probability of a grade up to the new one.
    """

    old: np.ndarray
    new: np.ndarray
    below: np.ndarray

    def draw(self, grades: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Return the quantiles at `share` of the new grades; grades below 0 unchanged."""
        row = np.searchsorted(self.old, np.maximum(grades, 0.0))
        column = np.zeros(len(grades), np.int64)
        for limits in self.below.T[:-1]:  # few grades, many docs
            column += share >= limits[row]
        return np.where(grades < 0, grades, self.new[column])


def _chances(view: JudgedView, grades: np.ndarray, confusion: Confusion) -> _Chances:
    """Return the distribution of new grades for each old grade."""
    if isinstance(confusion, pl.DataFrame):
        missing = [name for name in _COLUMNS if name not in confusion.columns]
        if missing:
            raise UsageError(f"the confusion matrix has no column {missing[0]!r}.")
        rows = confusion.select(_COLUMNS)
        if rows.select(_COLUMNS[:2]).is_duplicated().any():
            raise UsageError(
                "the confusion matrix has two rows of the same grades: select a judge."
            )
        table = dict[float, dict[float, float]]()
        for old, new, docs in rows.iter_rows():
            table.setdefault(old, {})[new] = docs
        return _of_weights(grades, table)
    if isinstance(confusion, Mapping):
        return _of_weights(grades, confusion)
    if isinstance(confusion, bool) or not 0 <= confusion <= 1:
        raise UsageError(f"confusion = {confusion!r} is neither a share from 0 to 1 nor a matrix.")
    return _moved(view, float(confusion))


def _of_weights(labels: np.ndarray, table: Mapping[Any, Mapping[Any, float]]) -> _Chances:
    grades = np.unique(labels[labels >= 0]).astype(np.float64)
    by_grade = {float(old): weights for old, weights in table.items()}
    missing = [f"{grade:g}" for grade in grades.tolist() if grade not in by_grade]
    if missing:
        raise UsageError(f"the confusion matrix has no row for grade {missing[0]}.")
    old = np.union1d(np.array([*by_grade], np.float64), [0.0])
    new = np.unique([float(grade) for weights in by_grade.values() for grade in weights])
    weights = np.array(
        [[by_grade.get(a, {}).get(b, 0.0) for b in new.tolist()] for a in old.tolist()]
    )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise UsageError("weights of a confusion matrix must be numbers of at least 0.")
    total = weights.sum(axis=1)
    for grade in old[total == 0].tolist():
        if grade in grades:
            raise UsageError(f"all weights of grade {grade:g} in the confusion matrix are 0.")
    return _Chances(old, new, np.cumsum(weights, axis=1) / np.where(total > 0, total, 1)[:, None])


def _moved(view: JudgedView, share: float) -> _Chances:
    """Return the chances where labels move to the next grade of the set, from 0 to the highest."""
    if view.facts.levels is not None:
        levels = np.unique([0.0, *(grade for grade in view.facts.levels if grade >= 0)])
        if not 1 < len(levels) <= MOST_LISTED + 1:
            raise UsageError(
                f"labels that move to the next grade need at most {MOST_LISTED} grades: round "
                "them at reading by `grade_digits=`."
            )
    else:
        levels = np.arange(max(view.facts.highest_grade, 1.0) + 1)
    number = len(levels)
    weights = np.eye(number) * (1 - share)
    for i in range(number):
        steps = [j for j in (i - 1, i + 1) if 0 <= j < number]
        weights[i, steps] = share / len(steps)
    return _Chances(levels, levels, np.cumsum(weights, axis=1))
