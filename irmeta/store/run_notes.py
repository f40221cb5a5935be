"""Notes on the runs of tracks: what reading counted that changes how values are understood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from irmeta.phrases import count, listed
from irmeta.policies import TieOrder
from irmeta.trec.runs import ODD_RANKS
from irmeta.trec.text import MARK
from irmeta.trec.tie_orders import TIE_RULES

_MOST = 3
"""Number of systems that a note names."""


class _Kind(NamedTuple):
    """One kind of notes: expressions over the systems table, and what its systems have (`text`).

    `detail` follows the name of a system, those of the greatest `size` first, and `more` all names.
    """

    noticed: pl.Expr
    text: str
    detail: pl.Expr | None
    size: pl.Expr
    more: str = ""


_LISTS, _WRONG, _MISSING = map(pl.col, ("lists", "contradicting_lists", "missing_queries"))
_UNJUDGED, _JUDGED_ROWS, _ROUNDED = map(pl.col, ("unjudged_queries", "judged_rows", "rounded_rows"))
_NOTES = pl.col("notes")
_JUDGED = _MISSING + _LISTS - _UNJUDGED
_OF_LISTS = "{} of {} lists"
_BY_RANK = "Lists are ordered by score. `tie_order='rank'` takes the rank column."
_KINDS = {
    "any order": (
        _Kind(
            _MISSING > 0,
            "no list for some judged queries",
            pl.format("{} of {}", _MISSING, _JUDGED),
            _MISSING / _JUDGED,
            "By default they score the worst value. `queries='retrieved'` leaves them out.",
        ),
        _Kind(
            _UNJUDGED > 0,
            "lists for queries that are not judged, which are ignored",
            pl.format(_OF_LISTS, _UNJUDGED, _LISTS),
            _UNJUDGED,
        ),
        _Kind(
            (_JUDGED_ROWS == 0) & (_JUDGED_ROWS.max().over("track") > 0),
            "no judged doc in any list, and others have",
            None,
            _LISTS,
            "Do the doc ids have another form?",
        ),
        _Kind(
            _NOTES.str.contains(MARK, literal=True),
            "lines that begin with #",
            _NOTES.str.extract(f"{MARK}([^;]+)"),
            _LISTS,
        ),
        _Kind(
            _NOTES.str.contains(ODD_RANKS, literal=True),
            "a rank column with other values than whole numbers",
            _NOTES.str.extract(rf"([\d,]+ {ODD_RANKS})"),
            _LISTS,
            "Are the columns shifted, by a blank in an id?",
        ),
        _Kind(
            pl.col("equal_to").is_not_null(),
            "the same judged docs at the same ranks as another",
            pl.format("as {}", "equal_to"),
            _LISTS,
            "Equal systems raise numbers of systems and ties, and agreement.",
        ),
    ),
    "score": (
        _Kind(
            2 * _WRONG > _LISTS,
            "a rank column that contradicts the scores in most lists",
            pl.format(_OF_LISTS, _WRONG, _LISTS),
            _WRONG,
            f"Are the scores distances, of which the smallest is best? {_BY_RANK}",
        ),
        _Kind(
            (_WRONG > 0) & (2 * _WRONG <= _LISTS),
            "a rank column that contradicts the scores in some lists",
            pl.format(_OF_LISTS, _WRONG, _LISTS),
            _WRONG,
            _BY_RANK,
        ),
    ),
    "float32": (
        _Kind(
            _ROUNDED > 0,
            "docs whose scores are equal as float32 but not as given",
            pl.format("{} docs", _ROUNDED),
            _ROUNDED,
            "The tie order decides their order. `tie_order='trec_eval10'` keeps their order.",
        ),
    ),
}


def notes_on_runs(systems: pl.DataFrame, order: TieOrder) -> list[str]:
    """Return notes on systems (rows of the systems table), one for each kind and tie order."""
    used = systems.filter(pl.col("skip_reason").is_null())
    rule = TIE_RULES[order]
    kinds = [*_KINDS["any order"], *_KINDS.get(rule.column, ())]
    kinds += _KINDS["float32"] if rule.float32 else ()
    notes = [note for kind in kinds if (note := _note(used, kind))]
    return [*notes, *_notes_on_parts(used)]


def _note(systems: pl.DataFrame, kind: _Kind) -> str | None:
    """Return the note of one kind; None if no system has it."""
    found = systems.filter(kind.noticed).sort(
        kind.size, "track", "system", descending=[True, False, False]
    )
    if found.is_empty():
        return None
    names = _names(found, several=systems["track"].n_unique() > 1)
    if kind.detail is not None:
        details = found.select(kind.detail.alias("detail"))["detail"]
        names = [f"{name} ({detail})" for name, detail in zip(names, details, strict=True)]
    has = "has" if found.height == 1 else "have"
    counted = f"{found.height:,} of {count(systems.height, 'system')} {has} {kind.text}"
    return " ".join(filter(None, (f"{counted}: {listed(names, _MOST)}.", kind.more)))


def _names(systems: pl.DataFrame, *, several: bool) -> list[str]:
    """Return the names of systems, after their tracks if there are several."""
    rows = systems.select("track", "system").iter_rows()
    return [f"{track}/{system}" if several else str(system) for track, system in rows]


def _notes_on_parts(systems: pl.DataFrame) -> list[str]:
    """Return a note for each track whose systems divide its queries among them."""
    if "part" not in systems.columns:
        return []
    several = systems["track"].n_unique() > 1
    found = systems.drop_nulls("part").partition_by("track", maintain_order=True)
    return [
        f"{listed(_names(one.sort('part', 'system'), several=several), _MOST)} have lists for "
        f"{one['part'].n_unique()} sets of judged queries without a query in common. Are they "
        "parts of one system? Put its parts into one file."
        for one in found
    ]


def equal_systems(names: Sequence[str], hashes: np.ndarray, judged: np.ndarray) -> list[str | None]:
    """Return for each system the first one with the same hash, None for the first of them.

    Systems that retrieve no judged doc are equal to none.
    """
    first = dict[int, str]()
    found = list[str | None]()
    for name, one, rows in zip(names, hashes.tolist(), judged.tolist(), strict=True):
        known = first.setdefault(one, name) if rows else name
        found.append(None if known == name else known)
    return found


def disjoint_parts(queries: Sequence[np.ndarray], judged: np.ndarray) -> list[int | None]:
    """Return the number of each system's set of judged queries, from 1, if no two sets overlap.

    `queries` has the judged queries of each system's lists. None for a system with lists for all
    queries or none, and for all systems unless there are several disjoint sets.
    """
    keys = [np.sort(one).tobytes() if 0 < len(one) < len(judged) else b"" for one in queries]
    sets = {key: one for key, one in zip(keys, queries, strict=True) if key}
    together = np.concatenate([*sets.values()]) if sets else np.empty(0)
    if len(sets) < 2 or len(np.unique(together)) < len(together):
        return [None] * len(keys)
    numbers = {key: number for number, key in enumerate(sets, 1)}
    return [numbers.get(key) for key in keys]
