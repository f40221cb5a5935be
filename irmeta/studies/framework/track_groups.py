"""Means of tables over tracks, of all tracks and by group of tracks such as newswire and web."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import DataError, UsageError, did_you_mean
from irmeta.phrases import listed
from irmeta.schema.columns import Table
from irmeta.studies.framework.claim_tracks import read_facts
from irmeta.studies.framework.study import EVERY, GroupedOptions, Show, Tables


def groups_of(file: str | None, tracks: Collection[str]) -> dict[str, str]:
    """Read the groups of tracks; empty without a file.

    Raises
    ------
    DataError
        If the file lacks a column or the name of a track, or has a track twice.
    UsageError
        If there is no such file, or it has no group for one of the tracks.
    """
    if file is None:
        return {}
    rows = read_facts(Path(file))
    if "group" not in rows.columns:
        fix = "It needs the columns track and group."
        raise DataError("has no column 'group'", file=file, fix=fix)
    groups = dict(rows.select("track", "group").drop_nulls().iter_rows())
    if EVERY in groups.values():
        raise DataError("is the name of all tracks together", file=file, value=EVERY)
    for track in sorted({*tracks} - groups.keys()):
        raise UsageError(
            f"track_groups = {file!r} has no group of track {track!r}. "
            f"{did_you_mean(track, groups)} Add a line {track},GROUP, or choose other tracks."
        )
    return groups


def over_tracks(
    table: Table,
    tables: Tables,
    options: GroupedOptions,
    *,
    frame: pl.DataFrame | None = None,
) -> list[dict[str, Any]] | None:
    """Return the rows of a table NAME_tracks: means of the table NAME, each track with one vote.

    Parameters
    ----------
    table
        A table of `table_over_tracks`.
    tables
        The tables of included tracks; the table NAME has a row for each track and key.
    options
        With the file of groups.
    frame
        Rows instead of those of the table NAME.

    Returns
    -------
    list of dict, or None
        Means and sample standard deviations over tracks, undefined values left out; None for fewer
        than two tracks.
    """
    frame = tables[table.name.removesuffix("_tracks")] if frame is None else frame
    if frame["track"].n_unique() < 2:
        return None

    values = [name for name, column in table.columns.items() if column.joined is not None]
    named = sorted(groups_of(options.track_groups, frame["track"].unique()).items())
    groups = pl.DataFrame(named, {"track": pl.String, "group": pl.String}, orient="row")
    in_order = groups.sort("group", maintain_order=True)
    of_groups = in_order.join(frame, on="track", maintain_order="left_right")
    every = frame.with_columns(group=pl.lit(EVERY))
    both = pl.concat([every, of_groups.select(every.columns)])

    rows = list[dict[str, Any]]()
    by_key = both.group_by(table.key, maintain_order=True).agg("track", *values)
    for of_key in by_key.iter_rows(named=True):
        row = {name: of_key[name] for name in table.key}
        row["tracks"] = len(of_key["track"])
        for name in values:
            known = np.array(of_key[name], np.float64)
            known = known[~np.isnan(known)]
            row[name] = float(known.mean()) if len(known) else np.nan
            row[f"{name}_sd"] = float(known.std(ddof=1)) if len(known) > 1 else np.nan
            row[f"{name}_tracks"] = len(known)
        rows.append(row)
    return rows


def show_over_tracks(tables: Tables, show: Show) -> list[Show]:
    """Return a table over tracks with the numbers of tracks in its caption; none without rows."""
    rows = tables[show.table].sort(pl.col("group") != EVERY, maintain_order=True)
    sizes = rows.group_by("group", maintain_order=True).agg(pl.col("tracks").max())
    texts = [f"{group} ({number})" for group, number in sizes.iter_rows()]
    if not texts:
        return []
    about = {"": f"Mean \u00b1 standard deviation over tracks: {listed(texts)}."}
    return [replace(show, about=about)]
