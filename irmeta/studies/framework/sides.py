"""Sides of a comparison: the best system, the median system, a group, or a system."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from irmeta.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    import polars as pl

FACTS = ("group", "type", "pooled")
ROLES = ("best", "median")


def check_side(side: str, systems: pl.DataFrame) -> None:
    """Check that a side of a comparison exists.

    Parameters
    ----------
    side
        ``best``, ``median``, ``COLUMN=VALUE`` of the system facts, or a system.
    systems
        The table `systems` of all tracks.

    Raises
    ------
    UsageError
        For a column that is not a fact of systems, or a value or a system that no track has.
    """
    import polars as pl

    known = systems.filter(pl.col("skip_reason").is_null())
    names = known["system"].drop_nulls().unique().sort().to_list()
    column, is_group, value = side.partition("=")
    if side in ROLES or side in names:
        return
    if not is_group:
        hint = did_you_mean(side, [*names, *ROLES])
        raise UsageError(f"no system {side!r} for a side of the comparison. {hint}")
    if column not in FACTS:
        hint = did_you_mean(column, FACTS)
        raise UsageError(f"{side!r}: systems have no fact {column!r}. {hint}")
    values = known[column].drop_nulls().cast(pl.String).unique().sort().to_list()
    if value not in values:
        hint = did_you_mean(value, values) if values else f"No track has the {column} of systems."
        raise UsageError(f"{side!r}: no system has {column} {value!r}. {hint}")


def systems_of(side: str, systems: pl.DataFrame, median: str | None) -> Collection[str]:
    """Return the candidate systems of a side on one track.

    Parameters
    ----------
    side, systems
        See `check_side`; the systems of one track.
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
