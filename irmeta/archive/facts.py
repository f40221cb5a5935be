"""The catalogue of TREC as frames: tracks, runs, qrels files and published scores.

A track's id is its edition and NIST's name of the track's folder, such as ``trec8/adhoc``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from functools import cache

import polars as pl

from irmeta.archive.choices import STATES, all_choices, published, qrels, runs
from irmeta.errors import UsageError, check_choice, did_you_mean

__all__ = ["find", "published", "qrels", "runs", "tracks"]

HAS = ("qrels", "runs", "published")
_YEARS = re.compile(r"(\d{4})(?:-(\d{4}))?")


@cache
def tracks() -> pl.DataFrame:
    """Return every track with its counts and state, in the order of years.

    Returns
    -------
    DataFrame
        id, edition, year, track, tasks (list), runs, addresses (runs with one), groups, qrels
        (files), published (scores), evaluators (list), state, reason.
    """
    task = pl.col("task")
    counted = (
        runs()
        .group_by("id", maintain_order=True)
        .agg(
            pl.col("edition", "year", "track").first(),
            task.filter(task != "").unique().sort().alias("tasks"),
            pl.len().alias("runs"),
            pl.col("address").count().alias("addresses"),
            pl.col("group").n_unique().alias("groups"),
        )
    )
    files = qrels().group_by("id").agg(pl.len().alias("qrels"))
    scores = (
        published()
        .group_by("id")
        .agg(pl.len().alias("published"), pl.col("evaluator").unique().sort().alias("evaluators"))
    )
    states = pl.DataFrame(
        [(key, one.state, one.reason) for key, one in all_choices().items()],
        schema={"id": pl.String, "state": pl.String, "reason": pl.String},
        orient="row",
    )
    joined = counted
    for other in (files, scores, states):
        joined = joined.join(other, on="id", how="left")
    no_names = pl.lit([], pl.List(pl.String))
    return joined.with_columns(
        pl.col("qrels", "published").fill_null(0), pl.col("evaluators").fill_null(no_names)
    ).sort("year", pl.col("edition").str.extract(r"(\d+)$").cast(pl.Int32), "id")


def find(
    patterns: Sequence[str] = (),
    *,
    year: str | int | None = None,
    track: str | None = None,
    task: str | None = None,
    has: Collection[str] = (),
    state: str | None = None,
) -> list[str]:
    """Return the ids of the tracks that pass all filters, in the order of years.

    Parameters
    ----------
    patterns
        Ids, or patterns of ids such as ``trec1?/web``; all tracks by default.
    year
        A year, a range such as ``1999-2005``, or several joined by commas.
    track, task
        Name or pattern of the track's folder or title, and of a task of its runs; case is ignored.
        A track's folder counts as a task, too: the categories of ``trec5/adhoc`` are A and B.
    has
        Any of ``qrels``, ``runs`` (an address of at least one) and ``published``.
    state
        A state, such as ``ready``.

    Raises
    ------
    UsageError
        If a pattern matches no track, or a filter is malformed.

    Examples
    --------
    >>> find(["trec1?/robust"], year="2003-2004")
    ['trec12/robust', 'trec13/robust']
    """
    for name in has:
        check_choice("has", name, HAS)
    if state is not None:
        check_choice("state", state, STATES)
    years = None if year is None else _years(str(year))
    named = None if not patterns else {key for one in patterns for key in _matching(one)}
    return [
        row["id"]
        for row in tracks().iter_rows(named=True)
        if (named is None or row["id"] in named)
        and (years is None or row["year"] in years)
        and (track is None or _any_like(track, (row["id"].partition("/")[2], row["track"])))
        and (task is None or _any_like(task, (*row["tasks"], row["id"].partition("/")[2])))
        and all(row["addresses" if name == "runs" else name] for name in has)
        and state in (None, row["state"])
    ]


def _matching(pattern: str) -> list[str]:
    """Return the ids that a pattern matches; at least one."""
    ids = tracks()["id"].to_list()
    if matched := [key for key in ids if fnmatchcase(key, pattern)]:
        return matched
    raise UsageError(f"No track {pattern!r} in the catalogue. {did_you_mean(pattern, ids)}")


def _any_like(pattern: str, names: Sequence[str]) -> bool:
    return any(fnmatchcase(name.lower(), pattern.lower()) for name in names)


def _years(given: str) -> set[int]:
    """Parse years and ranges of years joined by commas."""
    years: set[int] = set()
    for part in given.split(","):
        match = _YEARS.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise UsageError(f"year = {given!r} is not a year, nor a range such as 1999-2005.")
        years.update(range(first, last + 1))
    return years
