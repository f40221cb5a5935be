"""The files of the catalogue, read once: runs, qrels addresses and published scores."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import polars as pl

FOLDER = Path(__file__).parent


@cache
def runs() -> pl.DataFrame:
    """Return every run of TREC from 1993 to 2023.

    Returns
    -------
    DataFrame
        id, edition, year, track (the title), task (empty where a track has one), run, group, type,
        address and md5 (null where unknown), sorted by id and run. A name may occur twice in a
        track with several tasks: (id, task, run) is unique.
    """
    return pl.read_parquet(FOLDER / "runs.parquet")


@cache
def qrels() -> pl.DataFrame:
    """Return the address of every qrels file.

    Returns
    -------
    DataFrame
        id, name (as NIST writes it), address. Some addresses are pages that link to files.
    """
    return pl.read_parquet(FOLDER / "qrels.parquet")


@cache
def published() -> pl.DataFrame:
    """Return every published mean score of a run.

    Returns
    -------
    DataFrame
        id, run, evaluator, measure (as published), occurrence, value (text: its digits matter).
        Where a key repeats, because a run was scored for several tasks, `occurrence` counts from 0.
    """
    return pl.read_parquet(FOLDER / "published.parquet")
