"""Sides of a comparison: the best system, the median system, a group, or a system."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

FACTS = ("group", "type", "pooled")
ROLES = ("best", "median")


def systems_of(side: str, systems: pl.DataFrame, median: str | None) -> Collection[str]:
    """Return the candidate systems of a side on one track.

    Parameters
    ----------
    side
        ``best``, ``median``, ``COLUMN=VALUE`` of the system facts, or a system.
    systems
        The table `systems` of one track.
    median
        The track's median system.
    """
    import polars as pl

    known = systems.filter(pl.col("skip_reason").is_null())
    names = known["system"].drop_nulls().to_list()
    column, is_group, value = side.partition("=")
    if side == "best":
        return names
    if side == "median":
        return [median] if median is not None else []
    if side in names:
        return [side]
    if not is_group:
        return []
    return known.filter(pl.col(column).cast(pl.String) == value)["system"].to_list()
